/** The table of a hostile run: one row a trial. */
import { mib, table } from '../../../tools/bench/table.ts';
import { ATTACKS } from './attacks.ts';
import { ANSWERED_INSIDE } from './connection_attacks.ts';
import { UNANSWERED } from './desktop_attacks.ts';
import type { Trial } from './trial.ts';

const HEAD = [
  'attack',
  'stood',
  'probe: thrown / answered / lost / doubled',
  'refused / broken',
  'pictures / refused',
  'worst round trip / arrival',
  'memory before → peak → after',
  'admin port',
  'not freed',
  'what the attacker counted',
];

/** Counters of an attack that must be 0. */
const FAULTS = ['500', 'private worlds entered', 'desktops taken over', 'no response', ANSWERED_INSIDE, UNANSWERED];

/** A sentence for each fault that the relay showed in the trial; none when it withstood the attack. */
export function failuresOf(trial: Trial): string[] {
  return [...faultsOf(trial), ...growthOf(trial)];
}

/** What an attack did to the memory of the relay, beyond the bound. It needs a relay of its own: heaps grow for other reasons too. */
function growthOf({ growthBytesMax, beforeBytes, peakBytes, afterBytes }: Trial): string[] {
  const grew = (bytes: number, sentence: string) => (bytes < growthBytesMax ? [] : [sentence]);
  return [
    ...grew(peakBytes - beforeBytes, `memory grew by ${mib(peakBytes - beforeBytes)}`),
    ...grew(afterBytes - beforeBytes, `memory is ${mib(afterBytes - beforeBytes)} higher than before`),
  ];
}

/** What an attack did to the relay and to its other clients. */
export function faultsOf(trial: Trial): string[] {
  const { probe } = trial;
  const failures: string[] = [];
  const hold = (isSo: boolean, sentence: string) => void (isSo || failures.push(sentence));
  hold(trial.died === 0, `${trial.died} processes of the relay ended`);
  hold(!trial.overran, 'the attack failed or did not end by itself');
  hold(probe.ended === '', `the probe was ended: ${probe.ended}`);
  hold(probe.accepted === probe.thrown, `${probe.thrown - probe.accepted} throws of the probe were not answered 202`);
  hold(probe.lost === 0, `${probe.lost} sprites of the probe were lost`);
  hold(probe.doubled === 0, `${probe.doubled} sprites of the probe came twice`);
  // The limits by address must keep room for others.
  const isSpared = ATTACKS[trial.attack].byAddress !== true || probe.picturesRefused === 0;
  hold(isSpared, `${probe.picturesRefused} of ${probe.pictures} pictures of the probe were refused`);
  hold(trial.adminAnswered, 'the admin port did not answer during the attack');
  for (const [gauge, value] of Object.entries(trial.held)) hold(false, `${gauge} stayed at ${value}`);
  for (const finding of FAULTS) {
    hold(trial.counts[finding] === undefined, `${finding}: ${trial.counts[finding]} times`);
  }
  return failures;
}

export function tableOf(trials: readonly Trial[]): string {
  return table(HEAD, trials.map(rowOf));
}

function rowOf(trial: Trial): string[] {
  const { probe, beforeBytes, peakBytes, afterBytes } = trial;
  const ms = (value: number) => (value >= 1000 ? `${(value / 1000).toFixed(1)} s` : `${value.toFixed(0)} ms`);
  return [
    trial.attack,
    failuresOf(trial).length === 0 ? 'yes' : 'no',
    `${probe.thrown} / ${probe.accepted} / ${probe.lost} / ${probe.doubled}`,
    `${[probe.refused, ...Object.keys(probe.refusals)].join(' ')} / ${probe.broken}`,
    `${probe.pictures} / ${probe.picturesRefused}`,
    `${ms(probe.roundTripMsMax)} / ${ms(probe.arrivalMsMax)}`,
    [beforeBytes, peakBytes, afterBytes].map(mib).join(' → '),
    trial.adminAnswered ? 'answers' : 'silent',
    Object.entries(trial.held)
      .map(([name, value]) => `${name.replace('sprites_', '')} ${value}`)
      .join(', '),
    Object.entries(trial.counts)
      .map(([name, count]) => `${name}: ${count}`)
      .join(', '),
  ];
}

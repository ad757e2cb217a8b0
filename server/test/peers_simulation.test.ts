/**
 * Relays on a pretended network, against clients that follow the protocol: nothing is lost or doubled, whatever fails.
 *
 * Each seed is a short history: desktops join, throw, poll and leave on two or three relays; messages are late, lost, repeated and reordered; and
 * faults happen (cluster_fault_list.ts). Then everything works again, and the account of each sprite is checked (simulated_cluster.ts).
 * SEED starts at another seed, SEEDS runs another number of histories.
 *
 * Takes long: it runs some thousand histories.
 */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import './short_lives.ts';
import { FAULTS } from './cluster_fault_list.ts';
import { type Fault, SimulatedCluster } from './simulated_cluster.ts';

const SEEDS = Number(process.env.SEEDS ?? 4_500);
/** Histories of relays without journals: one in ten of all. */
const FORGETFUL_SEEDS = Math.ceil(SEEDS / 9);

async function simulate(
  t: TestContext,
  isJournaled: boolean,
  faults: Readonly<Record<string, Fault>>,
  seeds: number,
): Promise<void> {
  const first = Number(process.env.SEED ?? 1);
  const happened: Record<string, number> = Object.fromEntries(Object.keys(faults).map((name) => [name, 0]));
  const count = (what: string, times: number) => {
    happened[what] = (happened[what] ?? 0) + times;
  };
  for (let seed = first; seed < first + seeds; seed++) {
    const cluster = new SimulatedCluster(seed, isJournaled, faults);
    try {
      await cluster.run();
    } catch (error) {
      throw new Error(`SEED=${seed} SEEDS=1: ${(error as Error).message}`, { cause: error });
    }
    for (const [name, times] of cluster.happened) count(name, times);
    count('accepted', cluster.accepted.size);
    count('passed', cluster.passed);
    count('handed', cluster.handed);
    count('kept', cluster.kept);
    count('answers lost', cluster.answersLost);
    count('stops', cluster.stops);
    count('swaps', cluster.swaps);
    count('joins passed on', cluster.joinsPassed);
    // A relay that forgets a world when it dies does not notice that it moves.
    if (isJournaled) count('worlds moved', cluster.worldsMoved);
    count('lost messages', cluster.network.lost);
    count('repeated messages', cluster.network.repeated);
    if ('restoreBackup' in faults) count('excused', cluster.mayLack.size + cluster.mayDouble.size);
  }
  t.diagnostic(`SEED=${first} SEEDS=${seeds} ${JSON.stringify(happened)}`);
  if (seeds < 1000) return;
  for (const [what, times] of Object.entries(happened)) assert.ok(times > seeds / 100, `${what}: ${times}`);
}

describe('relays on a bad network', () => {
  it(`lose and double nothing in ${SEEDS} histories`, (t) => simulate(t, true, FAULTS, SEEDS));

  it(`double nothing in ${FORGETFUL_SEEDS} histories when they die and come back without memory`, (t) => {
    const { cutNetwork, cutLink, loseClaims, splitNats, killProcess, setClock } = FAULTS;
    const { stopForGood, takeOverName, endLeases, stopMeetingNobody } = FAULTS;
    const ofNetwork = { cutNetwork, cutLink, loseClaims, splitNats };
    const ofRelays = { killProcess, setClock, stopForGood, takeOverName, endLeases, stopMeetingNobody };
    return simulate(t, false, { ...ofNetwork, ...ofRelays }, FORGETFUL_SEEDS);
  });
});

/**
 * `run --fleet`: the record of a fleet with the changes of a command line.
 *
 * Pure. Instances receive their part of the load with the word to start, so the load can still change after the boot.
 */
import { Misused } from '../../tools/command.ts';
import { type FleetRecord, namesOf } from '../fleet.ts';
import type { Load } from '../job.ts';

/** What a command line changes; absent: stays as it was at the boot. */
export type Changes = Partial<Load> & { readySeconds?: number };

/** The record to run and to write down. Throws Misused when the changes do not fit the fleet. */
export function changedRecord(
  record: FleetRecord,
  { readySeconds = record.readySeconds, ...changes }: Changes,
  nowMs: number,
): FleetRecord {
  const { wanted } = record;
  if (Object.keys(changes).length === 0) return { ...record, readySeconds };
  if (!record.load) throw new Misused(`${wanted.fleet} was booted without a load, so there is no load to change.`);
  const { scenario } = record.load;
  const decided = scenario && Object.keys(changes).find((name) => !['relays', 'thresholds', 'more'].includes(name));
  if (decided)
    throw new Misused(`The scenario ${scenario.name}, with which ${wanted.fleet} was booted, decides ${decided}.`);
  const { relays, ...others } = changes;
  const load = { ...record.load, ...others, relay: relays ? namesOf(relays) : record.load.relay };
  const seconds = load.warmUpSeconds + load.seconds;
  const minutes = Math.ceil((seconds + load.desktops / load.connectRate) / 60);
  const left = Math.floor((record.deadlineMs - nowMs) / 60_000);
  if (minutes > left) {
    throw new Misused(`The load takes ${minutes} minutes, and ${wanted.fleet} ends by itself in ${Math.max(0, left)}.`);
  }
  const { relay, desktops, rate } = load;
  return { ...record, readySeconds, load, wanted: { ...wanted, load: { desktops, rate, seconds, relay } } };
}

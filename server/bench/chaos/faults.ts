/**
 * The faults of a chaos run, by name. Each one hurts a relay, NATS or some desktops, and resolves when that has healed.
 *
 * To add one: a row here, with `on` for what it needs for itself; the schedule, the help text and the report take it from there.
 */
import { rm } from 'node:fs/promises';
import type { NatsServer } from '../../../tools/bench/nats_server.ts';
import { LEASE_MS } from '../../wire/rules.ts';
import type { Random } from '../hostile/random.ts';
import type { Account } from './account.ts';
import { readCustody } from './custody.ts';
import type { Desktop } from './desktop.ts';
import type { Station } from './station.ts';

/** Longer than the lease of a desktop. */
const SILENCE_MS = [LEASE_MS + 1_000, LEASE_MS + 10_000] as const;

/** How far a clock is set back or forth, in ms. */
const CLOCK_MS = [60_000, 7_200_000] as const;

/** How often the last desktops of a relay are looked for, in ms, and how long. */
const LOOK_MS = 250;
const LAST_DESKTOPS_MS = 20_000;

export interface Ground {
  account: Account;
  nats: NatsServer;
  natsFolder: string;
  desktops: readonly Desktop[];
  /** Resolves after this time, or at once when the run is interrupted. */
  rest: (ms: number) => Promise<void>;
}

export interface Fault {
  about: string;
  /** What it takes for itself while it lasts: a relay, NATS with the links of all, or nothing. */
  on: 'relay' | 'nats' | 'desktops';
  /** How often it is chosen, beside the others. */
  weight: number;
  /** Whether a relay can have it. */
  fits?: (station: Station) => boolean;
  /** Hurts and heals. Resolves to what was done. */
  run: (ground: Ground, station: Station, random: Random) => Promise<string>;
}

const between = (random: Random, [least, most]: readonly [number, number]) => least + random.below(most - least + 1);

const hasWorkers = ({ options }: Station) => options.workers > 0;

/** Waits until the launcher has brought the relay back. */
async function backAgain(station: Station, before: number): Promise<void> {
  await station.until('is ready again', () => station.readies > before || station.launcher === undefined);
  // The launcher gives up a relay that died too often.
  if (station.readies === before) {
    await station.kill();
    await station.start();
  }
}

async function pauseAndStart({ rest }: Ground, station: Station, random: Random): Promise<string> {
  const pauseMs = random.below(6_000);
  await rest(pauseMs);
  await station.start();
  return `down for ${pauseMs} ms and its start`;
}

/** Sends a signal to the launcher, with which the relay ends, and starts it again. */
async function tellAndStart(ground: Ground, station: Station, random: Random, signal: NodeJS.Signals): Promise<string> {
  station.tell(signal);
  await station.ended();
  return pauseAndStart(ground, station, random);
}

async function halt({ rest }: Ground, station: Station, random: Random, pids: readonly number[]): Promise<string> {
  const ms = 1_000 + random.below(19_000);
  for (const pid of pids) station.signal(pid, 'SIGSTOP');
  await rest(ms);
  for (const pid of pids) station.signal(pid, 'SIGCONT');
  return `stopped for ${ms} ms`;
}

/** The sprites that desktops of a relay have received, and have no answer to the poll that acknowledges them. */
function lastBatchesAt({ desktops }: Ground, { name }: Station): number[] {
  const seats = desktops.flatMap(({ seat }) => (seat?.relay === name ? [seat] : []));
  return seats.flatMap(({ unacknowledged }) => unacknowledged.map(({ sprite }) => sprite));
}

async function rollBack(ground: Ground, station: Station, random: Random, backMs: number): Promise<string> {
  const copy = await station.copy();
  await ground.rest(backMs);
  await station.kill();
  const throws = ground.account.unansweredAt(station.name);
  const [earlier, then] = await Promise.all([readCustody(copy, throws), readCustody(station.data, throws)]);
  const { lost, back } = ground.account.rolledBack(station.name, earlier, then, lastBatchesAt(ground, station));
  await station.putBack(copy);
  const down = await pauseAndStart(ground, station, random);
  return `${backMs} ms back: ${lost} sprites may be lost, ${back} are back; ${down}`;
}

async function lowerLink({ rest }: Ground, { link }: Station, ms: number): Promise<void> {
  link.stall();
  link.break();
  await rest(ms);
  // What came meanwhile waited; it breaks off, as it does in a network that is gone.
  link.break();
  link.resume();
}

export const FAULTS: Readonly<Record<string, Fault>> = {
  'kill-relay': {
    about: 'SIGKILL to launcher, master and workers',
    on: 'relay',
    weight: 4,
    run: async (ground, station, random) => {
      await station.kill();
      return pauseAndStart(ground, station, random);
    },
  },
  'kill-master': {
    about: 'SIGKILL to the master; its launcher starts it again',
    on: 'relay',
    weight: 3,
    run: async (_, station) => {
      const before = station.readies;
      station.signal(station.master, 'SIGKILL');
      await backAgain(station, before);
      return '';
    },
  },
  'kill-worker': {
    about: 'SIGKILL to a worker',
    on: 'relay',
    weight: 2,
    fits: hasWorkers,
    run: async ({ rest }, station, random) => {
      const workers = station.workers();
      if (workers.length === 0) return 'there was none';
      station.signal(random.of(workers), 'SIGKILL');
      await rest(1_000);
      await station.until('has its workers', () => station.workers().length >= workers.length);
      return '';
    },
  },
  'kill-launcher': {
    about: 'SIGKILL to the launcher; the relay stops by itself',
    on: 'relay',
    weight: 1,
    run: (ground, station, random) => tellAndStart(ground, station, random, 'SIGKILL'),
  },
  'stop-relay': {
    about: 'SIGSTOP to all its processes for 1 to 20 s',
    on: 'relay',
    weight: 2,
    run: (ground, station, random) => halt(ground, station, random, station.processes()),
  },
  'stop-master': {
    about: 'SIGSTOP to the master for 1 to 20 s',
    on: 'relay',
    weight: 2,
    run: (ground, station, random) => halt(ground, station, random, [station.master]),
  },
  'stop-worker': {
    about: 'SIGSTOP to a worker for 1 to 20 s',
    on: 'relay',
    weight: 1,
    fits: hasWorkers,
    run: (ground, station, random) => halt(ground, station, random, station.workers().slice(0, 1)),
  },
  drain: {
    about: 'SIGTERM: a stop for good, and a start under the same name',
    on: 'relay',
    weight: 2,
    run: (ground, station, random) => tellAndStart(ground, station, random, 'SIGTERM'),
  },
  'drain-restart': {
    about: 'SIGUSR2: a stop for a restart',
    on: 'relay',
    weight: 2,
    run: async (_, station) => {
      const before = station.readies;
      station.tell('SIGUSR2');
      await backAgain(station, before);
      return '';
    },
  },
  'roll-back': {
    about: 'the machine dies: its data directory is as it was up to 4 s earlier',
    on: 'relay',
    weight: 2,
    run: (ground, station, random) => rollBack(ground, station, random, 200 + random.below(3_800)),
  },
  'old-backup': {
    about: 'its data directory is as it was 10 to 40 s earlier',
    on: 'relay',
    weight: 1,
    run: (ground, station, random) => rollBack(ground, station, random, 10_000 + random.below(30_000)),
  },
  clock: {
    about: 'its wall clock is set back or forth by up to two hours, with a restart or without',
    on: 'relay',
    weight: 1,
    run: async (ground, station, random) => {
      const ms = between(random, CLOCK_MS) * (random.chance(0.5) ? 1 : -1);
      station.shiftClock(ms);
      if (random.chance(0.5)) return `${ms} ms`;
      await station.kill();
      return `${ms} ms, ${await pauseAndStart(ground, station, random)}`;
    },
  },
  'cut-link': {
    about: 'its connections to NATS break, and none comes about for 1 to 15 s',
    on: 'relay',
    weight: 2,
    run: async (ground, station, random) => {
      const ms = 1_000 + random.below(14_000);
      await lowerLink(ground, station, ms);
      return `for ${ms} ms`;
    },
  },
  'stall-link': {
    about: 'nothing passes between it and NATS for 1 to 8 s, then all of it',
    on: 'relay',
    weight: 2,
    run: async ({ rest }, { link }, random) => {
      const ms = 1_000 + random.below(7_000);
      link.stall();
      await rest(ms);
      link.resume();
      return `for ${ms} ms`;
    },
  },
  'kill-nats': {
    about: 'SIGKILL to NATS, which comes back with its store',
    on: 'nats',
    weight: 2,
    run: async ({ nats, rest }, _, random) => {
      await nats.kill();
      const ms = random.below(8_000);
      await rest(ms);
      await nats.restart();
      return `down for ${ms} ms`;
    },
  },
  'empty-nats': {
    about: 'SIGKILL to NATS, which comes back empty',
    on: 'nats',
    weight: 1,
    run: async ({ nats, natsFolder, rest }, _, random) => {
      await nats.kill();
      const ms = random.below(8_000);
      await rest(ms);
      await rm(natsFolder, { recursive: true, force: true });
      await nats.restart();
      return `down for ${ms} ms`;
    },
  },
  'last-desktop': {
    about: 'all desktops in commons of a relay leave it, one after the other',
    on: 'relay',
    weight: 2,
    run: async ({ desktops, rest }, station, random) => {
      let left = 0;
      for (let ms = 0; ms < LAST_DESKTOPS_MS; ms += LOOK_MS) {
        const there = desktops.filter(({ world, seat }) => world === undefined && seat?.relay === station.name);
        if (there.length === 0) break;
        if (await random.of(there).leave(LAST_DESKTOPS_MS)) left++;
        await rest(LOOK_MS);
      }
      return `${left} left`;
    },
  },
  silence: {
    about: 'some desktops poll no more until their leases have ended',
    on: 'desktops',
    weight: 2,
    run: async ({ desktops, rest }, _, random) => {
      const silent = Array.from({ length: 1 + random.below(4) }, () => random.of(desktops));
      const ms = between(random, SILENCE_MS);
      for (const desktop of silent) desktop.fallSilent(ms);
      await rest(ms);
      return `${silent.map(({ number }) => `d${number}`).join(', ')} for ${ms} ms`;
    },
  },
  leave: {
    about: 'some desktops leave, and join again elsewhere',
    on: 'desktops',
    weight: 2,
    run: async ({ desktops }, _, random) => {
      const leavers = Array.from({ length: 1 + random.below(6) }, () => random.of(desktops));
      const left: string[] = [];
      for (const desktop of leavers) if (await desktop.leave(0)) left.push(`d${desktop.number}`);
      return left.join(', ');
    },
  },
};

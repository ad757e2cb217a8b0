/**
 * A trial: one attack on one relay with a probe beside it, and what it did to the relay.
 *
 * The attack runs in a process of its own and is killed when it overruns. Memory is the resident memory of all processes of the
 * relay, sampled every SAMPLE_MS. Linux only.
 */
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Order, type Report, STARTED } from './assault.ts';
import { ATTACKS } from './attacks.ts';
import { Connection } from './connection.ts';
import { processesOf, residentBytes } from './memory.ts';
import { type Findings, Probe } from './probe.ts';
import { headOf, PROBE_ADDRESS, type Target } from './target.ts';

const SAMPLE_MS = 100;

/** An attack may take so much longer than it should before it is killed, in ms. */
const OVERRUN_MS = 20_000;

/** The admin port must answer in this time, in ms, also during an attack. */
const ADMIN_MS_MAX = 5_000;

/** An attack of unknown length (requests are counted) is in its middle after half of this. */
const MIDDLE_SECONDS_MAX = 30;

/**
 * The bound for the growth of the relay's memory, during and after an attack. Each connection of the portable front is objects on V8's
 * heap, whose young space alone may take 96 MiB in each of its processes.
 */
export const GROWTH_BYTES_MAX = { native: 100_000_000, portable: 300_000_000 };

/** Gauges that are what they were before the attack once everything is freed. */
const GAUGES = [
  ...['sprites_desktops', 'sprites_worlds', 'sprites_polls_parked', 'sprites_waiting', 'sprites_mailbox_bytes'],
  ...['sprites_connections', 'sprites_front_stalled', 'sprites_worker_pending', 'sprites_worker_sockets'],
  ...['sprites_worker_connections', 'sprites_peeks', 'sprites_watched'],
];

/** The relay under attack. */
export interface Victim extends Target {
  /** The pid of its master. */
  master: number;
  metrics(): Promise<Map<string, number>>;
}

export type Gauges = Pick<ReadonlyMap<string, number>, 'get'>;

export interface Trial extends Report {
  attack: string;
  probe: Findings;
  growthBytesMax: number;
  beforeBytes: number;
  peakBytes: number;
  afterBytes: number;
  /** The admin port answered in the middle of the attack. */
  adminAnswered: boolean;
  /** Processes of the relay that ended during the trial. */
  died: number;
  /** The attack did not end by itself. */
  overran: boolean;
  /** Gauges that were still above their values from before when the wait ended. */
  held: Readonly<Record<string, number>>;
}

export interface TrialOptions {
  seconds: number;
  seed: number;
  requests?: number;
  /** See AssaultOptions. */
  scale?: number;
  /** How long to wait for gauges and memory to come back, in ms. Silent desktops end with their lease. */
  patienceMs?: number;
  /** One of GROWTH_BYTES_MAX; that of the native front by default. */
  growthBytesMax?: number;
  /** Gauges from before; by default they are read now. */
  atRest?: Gauges;
}

/** Reads the gauges; undefined when the admin port does not answer in time. */
export async function readGauges(victim: Victim): Promise<ReadonlyMap<string, number> | undefined> {
  const metrics = await Promise.race([victim.metrics().catch(() => undefined), sleep(ADMIN_MS_MAX, undefined)]);
  return metrics && new Map(GAUGES.map((name) => [name, metrics.get(name) ?? 0]));
}

/** The admin port answers on a new connection, and has metrics. */
async function adminAnswers(victim: Victim): Promise<boolean> {
  const connection = await Connection.open(victim.admin, 'parse', PROBE_ADDRESS);
  const response = await connection?.ask(headOf('GET /healthz'), ADMIN_MS_MAX);
  connection?.destroy();
  return response?.status === 200 && (await readGauges(victim)) !== undefined;
}

/** Runs one attack to its end. Throws when the probe can't join before it. */
export async function runTrial(victim: Victim, attack: string, options: TrialOptions): Promise<Trial> {
  const { seconds, seed, requests, scale = 1, patienceMs = 0 } = options;
  const { growthBytesMax = GROWTH_BYTES_MAX.native } = options;
  const atRest = options.atRest ?? (await readGauges(victim)) ?? new Map();
  const pids = processesOf(victim.master);
  const probe = await Probe.join(victim);
  await sleep(500);
  const beforeBytes = residentBytes(processesOf(victim.master));
  let peakBytes = beforeBytes;
  const sampler = setInterval(() => {
    peakBytes = Math.max(peakBytes, residentBytes(processesOf(victim.master)));
  }, SAMPLE_MS);
  const target: Target = { api: victim.api, events: victim.events, admin: victim.admin };
  let middle: Promise<boolean> | undefined;
  const report = await send({ attack, seed, seconds, requests, scale, target }, () => {
    middle = sleep(Math.min(seconds, MIDDLE_SECONDS_MAX) * 500).then(() => adminAnswers(victim));
  });
  const adminAnswered = (await middle) ?? false;
  const findings = await probe.finish();
  const held = await settle(victim, atRest, beforeBytes + growthBytesMax, patienceMs, ATTACKS[attack].keeps);
  clearInterval(sampler);
  const alive = new Set(processesOf(victim.master));
  return {
    ...(report ?? { counts: {}, notes: [] }),
    attack,
    probe: findings,
    growthBytesMax,
    beforeBytes,
    peakBytes,
    adminAnswered,
    held,
    afterBytes: residentBytes([...alive]),
    died: pids.filter((pid) => !alive.has(pid)).length,
    overran: report === undefined,
  };
}

/** Waits until gauges are back and the memory is below `bytesMax`. Returns the gauges that are not. */
export async function settle(
  victim: Victim,
  atRest: Gauges,
  bytesMax: number,
  patienceMs: number,
  keeps: readonly string[] = [],
): Promise<Record<string, number>> {
  const untilMs = performance.now() + patienceMs;
  for (;;) {
    const now = await readGauges(victim);
    const held = now
      ? [...now].filter(([name, value]) => !keeps.includes(name) && value > (atRest.get(name) ?? 0))
      : [['admin port', Number.NaN] as const];
    const bytes = residentBytes(processesOf(victim.master));
    if (performance.now() >= untilMs || (held.length === 0 && bytes < bytesMax)) return Object.fromEntries(held);
    await sleep(200);
  }
}

/** Runs the attack in its process and calls back when it has begun. Resolves to undefined when it was killed or failed. */
function send(order: Order, onStart: () => void): Promise<Report | undefined> {
  const child = fork(join(import.meta.dirname, 'attacker.ts'), [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const late = setTimeout(() => child.kill('SIGKILL'), order.seconds * 1000 + OVERRUN_MS);
  return new Promise((resolve) => {
    let report: Report | undefined;
    child.on('message', (message) => {
      if (message === STARTED) onStart();
      else report = message as Report;
    });
    child.once('exit', () => {
      clearTimeout(late);
      resolve(report);
    });
    child.send(order);
  });
}

/** Runs the swarm's engine against a contender: takes members of its plan, returns its account. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { ENGINE } from '../build.js';
import { ENGINE_PLAN, type EnginePlan, planLine } from '../engine_plan.ts';
import type { Contender } from './contender.ts';

/** The part of the engine's last line that benches read; loadtest/engine/run/report.h documents all of it. */
export interface Account {
  ok: boolean;
  message: string;
  parked: number;
  sent: number;
  accepted: number;
  refused: number;
  delivered: number;
  lost: number;
  undelivered: number;
  duplicated: number;
  misrouted: number;
  corrupted: number;
  /** Delivered to a desktop of another relay than the thrower's. */
  across: number;
  timedOut: number;
  failed: number;
  window: { seconds: number; deliveredPerS: number };
  latencyUs: { p50: number; p99: number; p999: number; max: number };
  sayings: Record<'lost' | 'again' | 'unowed' | 'corrupted', number>;
  relay: {
    cpuUsPerSprite: number;
    userUsPerSprite: number;
    systemUsPerSprite: number;
    cpuCores: number;
    rssBytes: { before: number; parked: number; end: number };
    bytesPerParkedPoll: number;
  };
  swarm: { cpuUsPerSprite: number; cpuCores: number };
  limit: string;
  limitReason?: string;
}

/** What to observe of a run, and how. */
export interface Watching {
  /** Whether the engine's line of every second goes to stderr. */
  live?: boolean;
  /** The engine's nice value, 0 … 19. What is measured should not wait for a core that the engine uses. */
  niceness?: number;
  /** Called when a phase begins: connect, settle, warmUp, measure, drain. */
  phase?: (name: string) => void;
  /**
   * Called when all desktops are parked, so that several engines begin to throw at the same time. Resolves to the time of the
   * first throw, Unix ms.
   */
  start?: () => Promise<number>;
}

/**
 * Runs the engine to its end, against one contender or against the relays of a cluster. Throws Error with its message when it failed, or
 * lost or doubled a sprite or a saying.
 */
export async function runEngine(
  contenders: Contender | readonly Contender[],
  load: Partial<EnginePlan>,
  { live = false, niceness = 0, phase = () => {}, start }: Watching = {},
): Promise<Account> {
  const all = [contenders].flat();
  // Relays of a cluster answer joins with their own addresses; those of one contender are known.
  const [{ api, events }] = all;
  const plan: EnginePlan = {
    ...ENGINE_PLAN,
    apis: all.map((one) => `127.0.0.1:${one.api}`),
    ...(all.length === 1 && { events: `127.0.0.1:${events}`, crossings: `127.0.0.1:${api}` }),
    watchPids: all.flatMap(({ pids }) => pids),
    startOnStdin: start !== undefined,
    ...load,
  };
  const child = spawn('nice', ['-n', String(niceness), ENGINE], {
    stdio: ['pipe', 'pipe', live ? 'inherit' : 'ignore'],
  });
  child.stdin.on('error', () => {}); // the engine may end before it reads the time
  child.stdin.write(planLine(plan));
  if (!start) child.stdin.end();
  let last: (Account & { phase: string }) | undefined;
  createInterface({ input: child.stdout }).on('line', (line) => {
    last = JSON.parse(line);
    if (last) phase(last.phase);
    if (start && last?.phase === 'parked') {
      // Without a time, the engine ends with a message.
      start().then(
        (startMs) => child.stdin.end(`${startMs}\n`),
        () => child.stdin.end(),
      );
    }
  });
  await once(child, 'close');
  if (last?.phase !== 'done') throw new Error(`the swarm ended with ${child.exitCode} before it was done`);
  const account: Account = last;
  if (!account.ok) throw new Error(`the swarm failed: ${account.message}`);
  const { lost, undelivered, duplicated, misrouted, corrupted } = account;
  if (lost + undelivered + duplicated + misrouted + corrupted > 0) {
    throw new Error(
      `lost ${lost}, undelivered ${undelivered}, doubled ${duplicated}, misrouted ${misrouted}, corrupted ${corrupted} sprites`,
    );
  }
  const { sayings } = account;
  if (sayings.lost + sayings.again + sayings.unowed + sayings.corrupted > 0) {
    throw new Error(`sayings are lost, or heard too often: ${JSON.stringify(sayings)}`);
  }
  return account;
}

/** From the moment at which all are parked to the first throw, in ms: each engine must have read it by then. */
const START_IN_MS = 2_000;

/** Runs an engine for each load, against its contender. When the desktops of all are parked, all begin at the same time. */
export async function runTogether(loads: readonly (readonly [Contender, Partial<EnginePlan>])[]): Promise<Account[]> {
  const all = Promise.withResolvers<number>();
  let parked = 0;
  const start = () => {
    if (++parked === loads.length) all.resolve(Date.now() + START_IN_MS);
    return all.promise;
  };
  return Promise.all(
    loads.map(([contender, load]) => {
      const run = runEngine(contender, load, { start });
      // The engines wait until all are parked: without this one, the others would wait for ever.
      run.catch(all.reject);
      return run;
    }),
  );
}

/**
 * What does a relayed sprite cost, and a parked poll?
 *
 * One run measures the floor and every shape of the relay under the same loads, so all figures that are compared are from
 * the same machine and hour. CPU is user + system time of all processes of a contender per delivered sprite; memory is the
 * growth of their resident set per parked poll. No shape carries more than one core does for its busiest thread.
 */
import { FLOOR_SHAPE, type Shape, start } from '../../tools/bench/contender.ts';
import { type Account, runEngine } from '../../tools/bench/engine_run.ts';
import { longestBlockMs, pausesOf, type Reading } from '../../tools/bench/pauses.ts';
import { spread } from '../../tools/bench/spread.ts';
import { machine, table, us } from '../../tools/bench/table.ts';
import type { EnginePlan } from '../../tools/engine_plan.ts';
import { threadIds, threadTime } from '../metrics/proc.ts';

interface Load {
  name: string;
  /** Time for V8 to compile the hot code, in seconds. */
  warmUpSeconds: number;
  plan: Partial<EnginePlan>;
}

/** The result of one shape under one load, and its metrics at the start and the end of the measured window. */
interface Measured {
  account: Account;
  before: Reading;
  after: Reading;
  /** CPU of the busiest thread of the contender in the window, in seconds. */
  busiestSeconds: number;
}

const SECONDS = 10;

export const LOADS: Record<string, Load> = {
  '2000/s': {
    name: '2,000 sprites/s, 5,000 desktops',
    warmUpSeconds: 15,
    plan: { load: { kind: 'rate', perSecond: 2000 }, mix: { throwing: 1000, sitting: 4000 } },
  },
  '20000/s': {
    name: '20,000 sprites/s, 10,000 desktops',
    warmUpSeconds: 5,
    plan: { load: { kind: 'rate', perSecond: 20_000 }, mix: { throwing: 5000, sitting: 5000 } },
  },
  '50000/s': {
    name: '50,000 sprites/s, 10,000 desktops',
    warmUpSeconds: 3,
    plan: { load: { kind: 'rate', perSecond: 50_000 }, mix: { throwing: 5000, sitting: 5000 } },
  },
  closed: {
    name: '64 in flight, 10,000 desktops',
    warmUpSeconds: 3,
    plan: { load: { kind: 'closed', inFlight: 64 }, mix: { throwing: 1000, sitting: 9000 } },
  },
};

/** Runs each load against the floor and each shape, `rounds` times in turn. Prints one table per load: medians, with the range. */
export async function relaying(shapes: readonly Shape[], loads: readonly string[], rounds: number): Promise<void> {
  console.log(`\n${machine()}\n`);
  for (const key of loads) {
    const load = LOADS[key];
    const measured = new Map<Shape, Measured[]>([FLOOR_SHAPE, ...shapes].map((shape) => [shape, []]));
    const failed = new Map<Shape, string>();
    for (let round = 0; round < rounds; round++) {
      for (const [shape, runs] of measured) {
        try {
          if (!failed.has(shape)) runs.push(await measure(shape, load));
        } catch (error) {
          // The other shapes may still carry a load that is too much for this one.
          failed.set(shape, (error as Error).message);
        }
      }
    }
    const floors = (measured.get(FLOOR_SHAPE) as Measured[]).map(({ account }) => account.relay.cpuUsPerSprite);
    const rows = [...measured].map(([shape, runs]) => {
      const why = failed.get(shape);
      return why === undefined ? rowOf(shape, runs, floors) : [shape.name, why];
    });
    console.log(`${load.name}, ${rounds} × ${SECONDS} s\n`);
    console.log(
      table(
        [
          '',
          'CPU-µs/sprite',
          '(user)',
          '× floor',
          'bytes/parked poll',
          'sprites/s',
          'p50',
          'p99',
          'p99.9',
          'collections',
          'longest block',
          'swarm CPU-µs',
          'busiest thread, CPU-µs',
        ],
        rows,
      ),
      '\n',
    );
  }
}

async function measure(shape: Shape, load: Load): Promise<Measured> {
  const contender = await start(shape);
  try {
    const readings: Promise<Reading>[] = [];
    const threads: Map<number, number>[] = [];
    const plan = { ...load.plan, warmUp: load.warmUpSeconds, duration: SECONDS };
    const account = await runEngine(contender, plan, (phase) => {
      if (phase !== 'measure' && phase !== 'drain') return;
      readings.push(contender.metrics());
      threads.push(threadSeconds(contender.pids));
    });
    const [before, after] = await Promise.all(readings);
    const [earlier, later] = threads;
    const busiestSeconds = Math.max(...Array.from(later, ([tid, seconds]) => seconds - (earlier.get(tid) ?? 0)));
    return { account, before, after, busiestSeconds };
  } finally {
    await contender.stop();
  }
}

/** CPU of each thread of these processes since its start, by its id. */
function threadSeconds(pids: readonly number[]): Map<number, number> {
  const threads = pids.flatMap((pid) => threadIds(pid).map((tid) => threadTime(pid, tid)));
  return new Map(threads.flatMap((thread) => (thread ? [[thread.tid, thread.cpuSeconds]] : [])));
}

/** `floors`: CPU-µs a sprite of the floor in each round. The ratio of a round is to the floor of the same round. */
function rowOf(shape: Shape, runs: readonly Measured[], floors: readonly number[]): string[] {
  const of = (figure: (account: Account) => number, show: (value: number) => string) =>
    spread(
      runs.map(({ account }) => figure(account)),
      show,
    );
  const digits = (count: number) => (value: number) => value.toFixed(count);
  const ratios = runs.map(({ account }, round) => account.relay.cpuUsPerSprite / floors[round]);
  const blocks = runs.map(({ after }) => longestBlockMs(after) * 1000);
  return [
    shape.name,
    of(({ relay }) => relay.cpuUsPerSprite, digits(1)),
    of(({ relay }) => relay.userUsPerSprite, digits(1)),
    spread(ratios, digits(2)),
    of(({ relay }) => relay.bytesPerParkedPoll, digits(0)),
    of(({ window }) => window.deliveredPerS, digits(0)),
    of(({ latencyUs }) => latencyUs.p50, us),
    of(({ latencyUs }) => latencyUs.p99, us),
    of(({ latencyUs }) => latencyUs.p999, us),
    shape === FLOOR_SHAPE ? '' : runs.map(({ before, after }) => pausesOf(before, after)).join('; '),
    shape === FLOOR_SHAPE ? '' : spread(blocks, us),
    of(({ swarm }) => swarm.cpuUsPerSprite, digits(1)),
    spread(
      runs.map(
        ({ account: { window }, busiestSeconds }) => (busiestSeconds * 1e6) / (window.deliveredPerS * window.seconds),
      ),
      digits(1),
    ),
  ];
}

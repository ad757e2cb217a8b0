/**
 * What V8's flags change for a relay that holds as many polls as one process may hold on this machine.
 *
 * Each set of flags gets its own relay and the same swarm, one after the other. Sets alternate in rounds, so compared runs are
 * at most a quarter of an hour apart. Pauses are the master's, which holds every poll as JavaScript objects.
 */
import { totalmem } from 'node:os';
import { connectionsFor, fileLimit } from '../../server/front/file_limit.ts';
import { type Shape, start } from '../../tools/bench/contender.ts';
import { runEngine } from '../../tools/bench/engine_run.ts';
import { machine, mib, table, us } from '../../tools/bench/table.ts';
import type { EnginePlan } from '../../tools/engine_plan.ts';
import { presetFor } from '../../tools/presets.js';

/** Part of every set: without them the admin port can't collect, and the log has a warning. */
const ALWAYS = ['--expose-gc', '--disable-warning=ExperimentalWarning'];

/** Sets of flags by name. `preset` is what the launcher chooses for this machine. */
const SETS: Record<string, readonly string[]> = {
  default: [],
  old: ['--max-old-space-size=9216'],
  semi8: ['--max-semi-space-size=8'],
  semi16: ['--max-semi-space-size=16'],
  semi64: ['--max-semi-space-size=64'],
  semi128: ['--max-semi-space-size=128'],
  external: ['--external-memory-accounted-in-global-limit'],
  reducer: ['--no-memory-reducer'],
  preset: presetFor(totalmem() / 2 ** 20, 'portable').flags.filter((flag: string) => !ALWAYS.includes(flag)),
};

type FrontKind = 'portable' | 'native';

export const RELAY_SETS = Object.keys(SETS);

/** File descriptors kept free: a newer poll may arrive before the older one's connection is closed. */
const SPARE = 400;

/** Sprites a second: as many as the portable front handles on one core while the swarm uses the other. */
const RATE = 1500;
const SENDERS = 2000;
const SECONDS = 20;

/** Runs each of the named sets `rounds` times and prints a row for each run. */
export async function relayFlags(
  names: readonly string[],
  rounds: number,
  front: FrontKind,
  workers: number,
): Promise<void> {
  // Without workers, this process also holds the throwers' connections.
  const desktops = connectionsFor(fileLimit()) - SPARE - (workers === 0 ? SENDERS : 0);
  const rows: string[][] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const name of names) rows.push(await measure(name, desktops, front, workers));
  }
  console.log(`\n${machine()}\n`);
  const title = `${front} front, ${workers === 0 ? 'one process' : `${workers} worker(s)`}, ${desktops.toLocaleString('en')} polls, ${RATE} sprites/s, ${SECONDS} s`;
  const pauses = ['scavenges', 'majors', 'incremental', 'longest pause', 'longest block'];
  const phases = ['coming up', 'held'].flatMap((phase) => pauses.map((what) => `${phase}: ${what}`));
  console.log(table([title, ...phases, 'CPU-µs/sprite', 'p50', 'p99', 'p99.9', 'heap', 'RSS'], rows));
}

type Metrics = ReadonlyMap<string, number>;

async function measure(name: string, desktops: number, front: FrontKind, workers: number): Promise<string[]> {
  const shape: Shape = { name, front, workers, nodeFlags: [...SETS[name], ...ALWAYS] };
  const relay = await start(shape);
  // At the start, when all polls are parked, and around the measured time. Each reading resets the longest block.
  const readings: Promise<Metrics>[] = [relay.metrics()];
  try {
    const load: Partial<EnginePlan> = {
      ...{ mix: { throwing: SENDERS, sitting: desktops - SENDERS }, load: { kind: 'rate', perSecond: RATE } },
      ...{ warmUp: 5, duration: SECONDS },
    };
    const account = await runEngine(relay, load, (phase) => {
      if (['warmUp', 'measure', 'drain'].includes(phase)) readings.push(relay.metrics());
    });
    const [idle, up, before, after] = await Promise.all(readings);
    const { p50, p99, p999 } = account.latencyUs;
    return [
      [name, ...SETS[name]].join(' '),
      ...pausesBetween(idle, up),
      ...pausesBetween(before, after),
      account.relay.cpuUsPerSprite.toFixed(0),
      ...[p50, p99, p999].map(us),
      mib(after.get('nodejs_heap_size_used_bytes{role="master"}') ?? 0),
      mib(account.relay.rssBytes.end),
    ];
  } catch (error) {
    // A set that can't handle the load does not stop the others.
    return [name, (error as Error).message];
  } finally {
    await relay.stop();
  }
}

/** Collections by kind (their number and the sum of their pauses), the longest pause, and the longest block of the loop. */
function pausesBetween(before: Metrics, after: Metrics): string[] {
  const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
  const kinds = ['minor', 'major', 'incremental'].map((kind) => {
    const labels = `{kind="${kind}",role="master"}`;
    const sumMs = grown(`nodejs_gc_duration_seconds_sum${labels}`) * 1000;
    return `${grown(`nodejs_gc_duration_seconds_count${labels}`)}, ${sumMs.toFixed(0)} ms`;
  });
  const blockMs = (after.get('sprites_loop_delay_max_seconds') ?? Number.NaN) * 1000;
  return [...kinds, longestPause(grown, after), `${blockMs.toFixed(0)} ms`];
}

/** The upper bound of the smallest histogram bucket that includes every pause between two readings. */
function longestPause(grown: (name: string) => number, after: Metrics): string {
  const count = grown('sprites_gc_pause_seconds_count');
  for (const name of after.keys()) {
    const bucket = /^sprites_gc_pause_seconds_bucket\{le="([^"]+)"\}$/.exec(name);
    if (bucket && grown(name) >= count) return `≤ ${Number(bucket[1]) * 1000} ms`;
  }
  return 'unknown';
}

/**
 * What do V8's flags do for a relay with the portable front, at the most polls one process may hold here?
 *
 * Each set of flags gets a relay of its own and the same swarm, one after the other, in rounds, so that what is compared
 * was measured in the same quarter of an hour. The pauses are the master's: it holds every poll as JavaScript objects.
 */
import { totalmem } from 'node:os';
import { connectionsFor, fileLimit } from '../../server/roles/capacity.ts';
import { type Shape, start } from '../../tools/bench/contender.ts';
import { runEngine } from '../../tools/bench/engine_run.ts';
import { machine, mib, table, us } from '../../tools/bench/table.ts';
import { presetFor } from '../../tools/presets.js';

/** Without these the relay's admin port can't collect, and its log has a warning: in every set. */
const ALWAYS = ['--expose-gc', '--disable-warning=ExperimentalWarning'];

/** Sets of flags by name. `preset` is the launcher's for this machine. */
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

type Front = 'portable' | 'native';

export const RELAY_SETS = Object.keys(SETS);

/** Spare descriptors of the relay: a newer poll may come before the older one's connection has gone. */
const SPARE = 400;

/** Sprites a second: what the portable front carries on one core beside its swarm. */
const RATE = 1500;
const SENDERS = 2000;
const SECONDS = 20;

/** Runs the named sets, `rounds` times each, and prints a row for each run. */
export async function relayFlags(
  names: readonly string[],
  rounds: number,
  front: Front,
  workers: number,
): Promise<void> {
  // One process takes the throwers' connections as well.
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

type Reading = ReadonlyMap<string, number>;

async function measure(name: string, desktops: number, front: Front, workers: number): Promise<string[]> {
  const shape: Shape = { name, front, workers, nodeFlags: [...SETS[name], ...ALWAYS] };
  const relay = await start(shape);
  // At the start, when all are parked, and around the measured window; each starts the count of the longest block anew.
  const readings: Promise<Reading>[] = [relay.metrics()];
  try {
    const load = ['--desktops', String(desktops), '--rate', String(RATE), '--senders', String(SENDERS)];
    const account = await runEngine(relay, [...load, '--warm-up', '5', '--duration', String(SECONDS)], {
      phase: (phase) => {
        if (['warmUp', 'measure', 'drain'].includes(phase)) readings.push(relay.metrics());
      },
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
    // A set that can't carry the load says nothing about the others.
    return [name, (error as Error).message];
  } finally {
    await relay.stop();
  }
}

/** Collections by kind (how many, and their pauses together), the longest pause, and the longest block of the loop. */
function pausesBetween(before: Reading, after: Reading): string[] {
  const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
  const kinds = ['minor', 'major', 'incremental'].map((kind) => {
    const labels = `{kind="${kind}",role="master"}`;
    const sumMs = grown(`nodejs_gc_duration_seconds_sum${labels}`) * 1000;
    return `${grown(`nodejs_gc_duration_seconds_count${labels}`)}, ${sumMs.toFixed(0)} ms`;
  });
  const blockMs = (after.get('sprites_loop_delay_max_seconds') ?? Number.NaN) * 1000;
  return [...kinds, longestPause(grown, after), `${blockMs.toFixed(0)} ms`];
}

/** The smallest bucket of the histogram that holds every pause between two readings. */
function longestPause(grown: (name: string) => number, after: Reading): string {
  const count = grown('sprites_gc_pause_seconds_count');
  for (const name of after.keys()) {
    const bucket = /^sprites_gc_pause_seconds_bucket\{le="([^"]+)"\}$/.exec(name);
    if (bucket && grown(name) >= count) return `≤ ${Number(bucket[1]) * 1000} ms`;
  }
  return 'unknown';
}

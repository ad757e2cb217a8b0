/**
 * Buffers beside a large heap: how V8 handles memory outside of its heap, with each flag.
 *
 * Every Buffer is an object of a hundred bytes that owns thousands of bytes outside of the heap. V8 counts these bytes, and
 * collects the whole heap because of them. Two million live objects make such a collection expensive.
 */
import { machine, table } from '../../tools/bench/table.ts';
import { nodeWithYoungLimit } from './emulated.ts';
import { measureCase, type Pauses, paced, settle, watchPauses } from './pauses.ts';

const OBJECTS = 2_000_000;
const SECONDS = 5;

/** Size of the slab that replaces Buffers. */
const SLAB_BYTES = 64 * 2 ** 20;

interface BufferLoad {
  bytes: number;
  /** Buffers a second; Infinity: as many as possible. */
  rate: number;
  /** How many of the newest Buffers are kept alive. */
  window: number;
}

export const LOADS: Record<string, BufferLoad> = {
  'every-4k': { bytes: 4096, rate: Infinity, window: 1 },
  'kept-4k': { bytes: 4096, rate: 50_000, window: 50_000 },
  'short-64k': { bytes: 65_536, rate: 5000, window: 50 },
  'kept-64k': { bytes: 65_536, rate: 5000, window: 5000 },
};

export const MAKERS = ['buffers', 'slab'] as const;
export type Maker = (typeof MAKERS)[number];

const GLOBAL_LIMIT = '--external-memory-accounted-in-global-limit';

interface Case {
  name: string;
  maker?: Maker;
  flags?: readonly string[];
  /** --young-external-memory-limit, the flag of patch 0001, emulated. */
  youngMiB?: number;
}

const CASES: Case[] = [
  { name: 'default' },
  { name: GLOBAL_LIMIT, flags: [GLOBAL_LIMIT] },
  { name: '--young-external-memory-limit=32 (patch 0001)', youngMiB: 32 },
  { name: '--young-external-memory-limit=16 (patch 0001)', youngMiB: 16 },
  { name: 'both, 16', flags: [GLOBAL_LIMIT], youngMiB: 16 },
  { name: '--max-semi-space-size=256', flags: ['--max-semi-space-size=256'] },
  { name: 'no Buffers: views of one slab', maker: 'slab' },
];

/** Measures every case with the named loads and prints a table for each load. */
export async function externalBuffers(names: readonly string[]): Promise<void> {
  console.log(`\n${machine()}\n`);
  for (const name of names) {
    const { bytes, rate, window } = LOADS[name];
    const rows: string[][] = [];
    for (const one of CASES) rows.push(await rowOf(name, one));
    const pace = rate === Infinity ? 'as many as possible' : `${rate.toLocaleString('en')}/s`;
    const title = `${bytes / 1024} KB, ${pace}, ${window.toLocaleString('en')} kept`;
    console.log(table([title, 'Buffers/s', 'scavenges', 'majors', 'longest block', 'CPU'], rows), '\n');
  }
}

async function rowOf(load: string, { name, maker = 'buffers', flags = [], youngMiB }: Case): Promise<string[]> {
  const emulated = youngMiB === undefined ? undefined : nodeWithYoungLimit(youngMiB);
  try {
    const measured = await measureCase(flags, ['buffers', load, maker], emulated?.program);
    const { perSecond, majors, scavenges, longestBlockMs, cpuSeconds } = measured;
    const counts = [perSecond.toFixed(0), String(scavenges.count), String(majors.count)];
    return [name, ...counts, `${longestBlockMs.toFixed(0)} ms`, `${cpuSeconds.toFixed(1)} s`];
  } catch (error) {
    return [name, (error as Error).message];
  } finally {
    emulated?.remove();
  }
}

/** One case; runs in its own process. */
export async function buffersCase(name: string, maker: Maker): Promise<Pauses> {
  const { bytes, rate, window } = LOADS[name];
  const kept: Buffer[] = new Array(window);
  const slab = Buffer.alloc(SLAB_BYTES);
  await settle([slab, Array.from({ length: OBJECTS }, (_, n) => ({ n, next: { n } }))]);
  let made = 0;
  const pauses = watchPauses();
  await paced(rate, SECONDS, () => {
    const at = (made * bytes) % SLAB_BYTES;
    const buffer = maker === 'slab' ? slab.subarray(at, at + bytes) : Buffer.allocUnsafeSlow(bytes);
    buffer[0] = made;
    kept[made++ % window] = buffer;
  });
  return pauses.end(made);
}

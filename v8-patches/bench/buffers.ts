/**
 * Buffers beside a large heap: what V8 does about memory that is not on its heap, with each flag.
 *
 * Every Buffer is an object of a hundred bytes that owns thousands outside of the heap. V8 counts those, and collects the
 * whole heap because of them; two million objects that live make that dear. `window`: so many Buffers are kept.
 */
import { machine, table } from '../../server/bench/table.ts';
import { measureCase, type Pauses, paced, settle, watchPauses } from './pauses.ts';

const OBJECTS = 2_000_000;
const SECONDS = 5;

/** The slab that stands in for Buffers, in bytes. */
const SLAB_BYTES = 64 * 2 ** 20;

interface Load {
  bytes: number;
  /** Buffers a second; Infinity: as many as can be. */
  rate: number;
  window: number;
}

export const LOADS: Record<string, Load> = {
  'every-4k': { bytes: 4096, rate: Infinity, window: 1 },
  'kept-4k': { bytes: 4096, rate: 50_000, window: 50_000 },
  'short-64k': { bytes: 65_536, rate: 5000, window: 50 },
  'kept-64k': { bytes: 65_536, rate: 5000, window: 5000 },
};

export const MAKERS = ['buffers', 'slab'] as const;
export type Maker = (typeof MAKERS)[number];

const CASES: [Maker, string[]][] = [
  ['buffers', []],
  ['buffers', ['--external-memory-accounted-in-global-limit']],
  ['buffers', ['--max-old-space-size=16384']],
  ['buffers', ['--max-semi-space-size=256']],
  ['buffers', ['--no-incremental-marking']],
  ['slab', []],
];

/** Measures every case under the named loads and prints a table for each. */
export async function externalBuffers(names: readonly string[]): Promise<void> {
  console.log(`\n${machine()}\n`);
  for (const name of names) {
    const { bytes, rate, window } = LOADS[name];
    const rows: string[][] = [];
    for (const [maker, flags] of CASES) {
      const { perSecond, majors, scavenges, longestBlockMs, cpuSeconds } = await measureCase(flags, [
        ...['buffers', name],
        maker,
      ]);
      rows.push([
        [maker === 'slab' ? 'one slab and views of it' : 'Buffers', ...flags].join(' '),
        perSecond.toFixed(0),
        String(scavenges.count),
        String(majors.count),
        `${longestBlockMs.toFixed(0)} ms`,
        `${cpuSeconds.toFixed(1)} s`,
      ]);
    }
    const pace = rate === Infinity ? 'as many as can be' : `${rate.toLocaleString('en')}/s`;
    const title = `${bytes / 1024} KB, ${pace}, ${window.toLocaleString('en')} kept`;
    console.log(table([title, 'Buffers/s', 'scavenges', 'majors', 'longest block', 'CPU'], rows), '\n');
  }
}

/** The case itself, in its own process. */
export async function buffersCase(name: string, maker: Maker): Promise<Pauses> {
  const { bytes, rate, window } = LOADS[name];
  await settle(Array.from({ length: OBJECTS }, (_, n) => ({ n, next: { n } })));
  const kept: Buffer[] = new Array(window);
  const slab = Buffer.alloc(SLAB_BYTES);
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

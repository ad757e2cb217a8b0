/**
 * A full collection on demand: `gc()`, the same asked for and done in a turn of its own, and the one of the admin port, which
 * V8 does in steps. Each several times in one process, beside so many live objects and a heap's share of garbage.
 */

import { collect } from '../../server/roles/collection.ts';
import { machine, table } from '../../tools/bench/table.ts';
import { caseOutput, settle } from './pauses.ts';

const HEAPS = [1000, 200_000, 2_000_000];
const ROUNDS = 5;

/** Longest blocks of the loop in ms, one for each round. */
type Blocks = Record<'gc' | 'async' | 'steps', number[]>;

/** Measures each heap and prints the table. */
export async function collections(): Promise<void> {
  const rows: string[][] = [];
  for (const objects of HEAPS) {
    const { gc, async, steps }: Blocks = JSON.parse(await caseOutput([], ['collection', String(objects)]));
    rows.push([objects.toLocaleString('en'), ...[gc, async, steps].map(spread)]);
  }
  console.log(`\n${machine()}\n`);
  const ways = ['`gc()`', "`gc({type: 'major', execution: 'async'})`", '`POST /admin/gc?kind=major`'];
  console.log(table(['live objects; longest block: median (least … most)', ...ways], rows));
}

function spread(blocks: number[]): string {
  const sorted = blocks.toSorted((a, b) => a - b);
  const [least, median, most] = [sorted[0], sorted[ROUNDS >> 1], sorted[ROUNDS - 1]].map((ms) => ms.toFixed(1));
  return `${median} ms (${least} … ${most})`;
}

/** The case itself, in its own process. */
export async function collectionCase(objects: number): Promise<Blocks> {
  await settle(Array.from({ length: objects }, (_, n) => ({ n, next: { n } })));
  const blocks: Blocks = { gc: [], async: [], steps: [] };
  for (let round = 0; round < ROUNDS; round++) {
    await litter();
    blocks.gc.push(timed(() => globalThis.gc?.()));
    await litter();
    // It happens in one go, so the time it takes is the block, but for the turn it waits for.
    blocks.async.push(await pauseOf(async () => globalThis.gc?.({ type: 'major', execution: 'async' })));
    await litter();
    blocks.steps.push((await collect('major')).longestBlockMs);
  }
  return blocks;
}

/** Garbage that has outlived the nursery. */
async function litter(): Promise<void> {
  let kept: object[] | undefined = Array.from({ length: 100_000 }, (_, n) => ({ n }));
  globalThis.gc?.({ type: 'minor' });
  globalThis.gc?.({ type: 'minor' });
  kept = undefined;
  await new Promise((resolve) => setTimeout(resolve, 50, kept));
}

function timed(work: () => void): number {
  const startMs = performance.now();
  work();
  return performance.now() - startMs;
}

async function pauseOf(work: () => Promise<void>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

/**
 * Three ways to collect the whole heap on demand: `gc()`, asynchronous `gc()`, and the admin port's, which V8 does in steps.
 * Each runs several times in one process, with a number of live objects and fresh garbage.
 */
import { collect } from '../../server/operator/garbage_collection.ts';
import { machine, table } from '../../tools/bench/table.ts';
import { caseOutput, settle } from './pauses.ts';

const HEAPS = [1000, 200_000, 2_000_000];
const ROUNDS = 5;

/** The longest block of the event loop in ms, one for each round. */
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

/** One case; runs in its own process. */
export async function collectionCase(objects: number): Promise<Blocks> {
  await settle(Array.from({ length: objects }, (_, n) => ({ n, next: { n } })));
  const blocks: Blocks = { gc: [], async: [], steps: [] };
  for (let round = 0; round < ROUNDS; round++) {
    await makeGarbage();
    blocks.gc.push(timed(() => globalThis.gc?.()));
    await makeGarbage();
    // It stops the program once, so its time is the block, plus the turn of the loop it waits for.
    blocks.async.push(await pauseOf(async () => globalThis.gc?.({ type: 'major', execution: 'async' })));
    await makeGarbage();
    blocks.steps.push((await collect('major')).longestBlockMs);
  }
  return blocks;
}

/** Makes garbage that has survived the young generation. */
async function makeGarbage(): Promise<void> {
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

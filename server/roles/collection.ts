/**
 * A garbage collection on demand, and what it did to whoever else wanted the event loop.
 *
 * Cost: a minor one stops the loop for the time it takes to copy what lives in the nursery; a major one, in one go, for
 * some 0.3 ms a MiB of objects. While it is watched the loop spins, so that each of its turns can be timed.
 */
import { ProblemError } from '../wire/problem.ts';

export const COLLECTIONS = ['minor', 'major'] as const;
export type CollectionKind = (typeof COLLECTIONS)[number];

export interface Collection {
  kind: CollectionKind;
  /** From asking to knowing that it is done, in ms. */
  tookMs: number;
  /** The longest time in which nothing else ran, in ms: a turn of the loop that the collection was a part of. */
  longestBlockMs: number;
  before: NodeJS.MemoryUsage;
  after: NodeJS.MemoryUsage;
}

/**
 * Collects, and resolves when it is done.
 *
 * A major collection is asked for and happens in a turn of its own, with nothing of ours on the stack.
 * Throws  not-found   this process was started without --expose-gc.
 */
export async function collect(kind: CollectionKind): Promise<Collection> {
  const gc = globalThis.gc;
  if (typeof gc !== 'function') {
    throw new ProblemError('not-found', 'This process was started without --expose-gc; npm start sets it.');
  }
  const before = process.memoryUsage();
  const turns = watchTurns();
  await turns.next();
  const startMs = performance.now();
  if (kind === 'major') await gc({ type: 'major', execution: 'async' });
  else gc({ type: 'minor' });
  const tookMs = performance.now() - startMs;
  await turns.next();
  return { kind, tookMs, longestBlockMs: turns.stop(), before, after: process.memoryUsage() };
}

/** Times each turn of the loop from now on. */
function watchTurns(): { next(): Promise<void>; stop(): number } {
  let longestMs = 0;
  let lastMs = performance.now();
  let running = true;
  let arrived = () => {};
  const turn = () => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
    arrived();
    if (running) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    next: () =>
      new Promise((resolve) => {
        arrived = resolve;
      }),
    stop: () => {
      running = false;
      return longestMs;
    },
  };
}

/**
 * A garbage collection on demand, and a measurement of how long it blocked the event loop.
 *
 * Cost: a minor collection blocks the loop while it copies the live objects of the young generation. A major one marks in
 * steps, mostly on other threads; the rest blocks the loop for half of the time that gc() would take. Meanwhile the loop
 * spins, so that each of its turns can be timed.
 */
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { ProblemError } from '../wire/problem.ts';

export const COLLECTIONS = ['minor', 'major'] as const;
export type CollectionKind = (typeof COLLECTIONS)[number];

export interface Collection {
  kind: CollectionKind;
  /** From the request until the end of the collection was noticed, in ms. */
  tookMs: number;
  /** The longest turn of the loop during the collection, in ms: no other work ran in that time. */
  longestBlockMs: number;
  before: NodeJS.MemoryUsage;
  after: NodeJS.MemoryUsage;
}

/**
 * V8 starts incremental marking when external memory has grown by 64 MB, and has no API to start it. So this many bytes are
 * allocated and freed at once. They are never written to, so they use no physical memory.
 */
const PRESSURE_BYTES = 65 * 2 ** 20;

/** If an incremental collection has not ended after this, in ms, or never began, one blocking collection is done. */
const INCREMENTAL_MS_MAX = 5000;

/**
 * Collects, and resolves when it is done.
 *
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
  if (kind === 'minor') gc({ type: 'minor' });
  else if (!(await majorIncremental())) await gc({ type: 'major', execution: 'async' });
  const tookMs = performance.now() - startMs;
  await turns.next();
  return { kind, tookMs, longestBlockMs: turns.stop(), before, after: process.memoryUsage() };
}

/** An incremental major collection by V8. Resolves to false when none has ended in time. */
function majorIncremental(): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (collected: boolean) => {
      clearTimeout(late);
      observer.disconnect();
      resolve(collected);
    };
    const late = setTimeout(end, INCREMENTAL_MS_MAX, false);
    const observer = new PerformanceObserver((list) => {
      const kinds = list
        .getEntries()
        .map((entry) => (entry as PerformanceEntry & { detail: { kind: number } }).detail.kind);
      if (kinds.includes(constants.NODE_PERFORMANCE_GC_MAJOR)) end(true);
    });
    observer.observe({ entryTypes: ['gc'] });
    try {
      new ArrayBuffer(PRESSURE_BYTES).transfer(0);
    } catch {
      // The allocation failed; fall back to a blocking collection.
      end(false);
    }
  });
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

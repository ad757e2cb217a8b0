/**
 * A garbage collection on demand, and what it did to whoever else wanted the event loop.
 *
 * Cost: a minor one stops the loop for the time it takes to copy what lives in the nursery. A major one marks in steps, most
 * of them on other threads; what is left stops the loop for half of the time that gc() takes. While it is
 * watched the loop spins, so that each of its turns can be timed.
 */
import { constants, PerformanceObserver } from 'node:perf_hooks';
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
 * V8 starts to mark in steps when external memory has grown by 64 MB, and offers no other way to ask for that: so this much
 * is allocated, and given back at once. Nothing is written to it, so it takes no memory.
 */
const PRESSURE_BYTES = 65 * 2 ** 20;

/** A collection in steps that has not ended by then, in ms, or never began, is done in one go. */
const STEPS_MS_MAX = 5000;

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
  else if (!(await majorInSteps())) await gc({ type: 'major', execution: 'async' });
  const tookMs = performance.now() - startMs;
  await turns.next();
  return { kind, tookMs, longestBlockMs: turns.stop(), before, after: process.memoryUsage() };
}

/** A major collection that V8 does in steps of its own. Resolves to false when none came to an end in time. */
function majorInSteps(): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (collected: boolean) => {
      clearTimeout(late);
      observer.disconnect();
      resolve(collected);
    };
    const late = setTimeout(end, STEPS_MS_MAX, false);
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
      // The system gives no such piece of memory; in one go, then.
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

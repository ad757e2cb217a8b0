/**
 * Measures how the garbage collector interrupts a process: its pauses by kind, and the longest block of the event loop.
 *
 * perf_hooks does not report the steps of incremental marking, which run inside allocations; the block of the loop includes
 * them. Each case is measured in its own process, with its own flags, which prints one line of JSON.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { constants, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { text } from 'node:stream/consumers';

const CASE = join(import.meta.dirname, 'case.ts');

/** Resolution of the loop's delay, in ms. */
const TICK_MS = 1;

export interface Pauses {
  scavenges: { count: number; p50Ms: number; maxMs: number; sumMs: number };
  majors: { count: number; maxMs: number };
  longestBlockMs: number;
  cpuSeconds: number;
  /** Duration of gc() at the end, when everything is still alive. */
  fullMs: number;
  heapBytes: number;
  rssBytes: number;
  /** Operations a second: messages, or Buffers. */
  perSecond: number;
}

const living: unknown[] = [];

/** Keeps `object` alive until the process ends, and collects once, so that later counts do not include its allocation. */
export async function settle(object: unknown): Promise<void> {
  living.push(object);
  globalThis.gc?.();
  await new Promise((resolve) => setTimeout(resolve, 50));
}

/** Starts to count. `end` stops, collects once more, and resolves to the counts; `done` is the number of operations. */
export function watchPauses(): { end(done: number): Promise<Pauses> } {
  const scavenges: number[] = [];
  const majors: number[] = [];
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { duration } = entry;
      const { kind } = (entry as PerformanceEntry & { detail: { kind: number } }).detail;
      if (kind === constants.NODE_PERFORMANCE_GC_MINOR) scavenges.push(duration);
      else if (kind === constants.NODE_PERFORMANCE_GC_MAJOR) majors.push(duration);
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  const delay = monitorEventLoopDelay({ resolution: TICK_MS });
  delay.enable();
  const startCpu = process.cpuUsage();
  const startMs = performance.now();
  return {
    end: async (done) => {
      const seconds = (performance.now() - startMs) / 1000;
      const cpu = process.cpuUsage(startCpu);
      delay.disable();
      // The observer receives entries one turn later.
      await new Promise((resolve) => setTimeout(resolve, 20));
      observer.disconnect();
      const memory = process.memoryUsage();
      const fullMs = timed(() => globalThis.gc?.());
      return {
        scavenges: {
          count: scavenges.length,
          p50Ms: scavenges.toSorted((a, b) => a - b)[scavenges.length >> 1] ?? 0,
          maxMs: Math.max(0, ...scavenges),
          sumMs: scavenges.reduce((sum, ms) => sum + ms, 0),
        },
        majors: { count: majors.length, maxMs: Math.max(0, ...majors) },
        longestBlockMs: Math.max(0, delay.max / 1e6 - TICK_MS),
        cpuSeconds: (cpu.user + cpu.system) / 1e6,
        fullMs,
        heapBytes: memory.heapUsed,
        rssBytes: memory.rss,
        perSecond: done / seconds,
      };
    },
  };
}

/** Runs one case in its own process. Throws Error when it fails. */
export async function measureCase(
  flags: readonly string[],
  words: readonly string[],
  program = process.execPath,
): Promise<Pauses> {
  return JSON.parse(await caseOutput(flags, words, program));
}

/** Runs one case in its own process and returns the line it prints. Throws Error when it fails. */
export async function caseOutput(
  flags: readonly string[],
  words: readonly string[],
  program = process.execPath,
): Promise<string> {
  const child = spawn(program, ['--expose-gc', ...flags, CASE, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (child.exitCode !== 0) throw new Error(`${words.join(' ')} ended with ${child.exitCode}`);
  return printed;
}

/**
 * Runs `step` `perSecond` times a second for some seconds. A tick that comes late catches up. Returns the number of steps.
 *
 * Shape   perSecond may be Infinity: as often as possible, in slices between which the event loop turns.
 */
export async function paced(perSecond: number, seconds: number, step: () => void): Promise<number> {
  const startMs = performance.now();
  let done = 0;
  for (;;) {
    const elapsedMs = performance.now() - startMs;
    if (elapsedMs >= seconds * 1000) return done;
    const slice = perSecond === Infinity ? SLICE_MAX : Math.floor((perSecond * elapsedMs) / 1000) - done;
    for (let n = 0; n < Math.min(slice, SLICE_MAX); n++) step();
    done += Math.max(0, Math.min(slice, SLICE_MAX));
    await new Promise((resolve) => (slice >= SLICE_MAX ? setImmediate(resolve) : setTimeout(resolve, TICK_MS)));
  }
}

/** The most steps between two turns of the event loop. */
const SLICE_MAX = 1000;

function timed(work: () => void): number {
  const startMs = performance.now();
  work();
  return performance.now() - startMs;
}

/**
 * What the collector did to a process while it worked: its pauses by kind, and the longest block of the event loop.
 *
 * The entries of perf_hooks leave out the steps of incremental marking, which run inside allocations: the block of the
 * loop has them. A process of its own measures each case, under the flags of that case, and prints one line of JSON.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { constants, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { text } from 'node:stream/consumers';

const CASE = join(import.meta.dirname, 'case.ts');

/** Time between two ticks of the loop that are looked at, in ms. */
const TICK_MS = 1;

export interface Pauses {
  scavenges: { count: number; p50Ms: number; maxMs: number; sumMs: number };
  majors: { count: number; maxMs: number };
  longestBlockMs: number;
  cpuSeconds: number;
  /** gc() at the end, with everything still alive. */
  fullMs: number;
  heapBytes: number;
  rssBytes: number;
  /** Things done a second: messages, or Buffers. */
  perSecond: number;
}

const living: unknown[] = [];

/** Keeps something alive to the end of the process, and the collector's work on it so far out of what is counted. */
export async function settle(alive: unknown): Promise<void> {
  living.push(alive);
  globalThis.gc?.();
  await new Promise((resolve) => setTimeout(resolve, 50));
}

/** Counts from now on. `end` resolves to what was counted, and collects once more. */
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
      // Entries are handed over a turn later.
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

/** Runs one case in a process of its own. Throws Error when it fails. */
export async function measureCase(
  flags: readonly string[],
  words: readonly string[],
  program = process.execPath,
): Promise<Pauses> {
  return JSON.parse(await caseOutput(flags, words, program));
}

/** The line one case prints, in a process of its own. Throws Error when it fails. */
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
 * Does `step` so many times a second, in ticks of the loop, for some seconds. A loop that comes too late makes up for it.
 *
 * Shape   Infinity: as often as it can, in slices that let the loop turn.
 */
export async function paced(perSecond: number, seconds: number, step: () => void): Promise<number> {
  const startMs = performance.now();
  let done = 0;
  for (;;) {
    const elapsedMs = performance.now() - startMs;
    if (elapsedMs >= seconds * 1000) return done;
    const slice = perSecond === Infinity ? SLICE : Math.floor((perSecond * elapsedMs) / 1000) - done;
    for (let n = 0; n < Math.min(slice, SLICE); n++) step();
    done += Math.max(0, Math.min(slice, SLICE));
    await new Promise((resolve) => (slice >= SLICE ? setImmediate(resolve) : setTimeout(resolve, TICK_MS)));
  }
}

/** Steps between two turns of the loop, at the most. */
const SLICE = 1000;

function timed(work: () => void): number {
  const startMs = performance.now();
  work();
  return performance.now() - startMs;
}

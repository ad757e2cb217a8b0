/**
 * What a relay says of itself, once a second: read out of its /metrics, or of nothing when there is no admin address.
 *
 * Source: server/roles/gauges.ts; other servers' metrics are simply absent, and absent is undefined, never 0.
 */
export interface RelaySample {
  /** Wall clock of the machine that asked. */
  atMs: number;
  /** User + system of master and workers since they began. */
  cpuSeconds?: number;
  /** Master and workers. */
  rssBytes?: number;
  /** V8's heap of the master, in use. */
  heapBytes?: number;
  /** Pauses of the collector since the relay began: how many, and how many were at most so many seconds long. */
  gcPauses?: { count: number; seconds: number; atMost: readonly (readonly [seconds: number, count: number])[] };
  /** Longest block of the master's loop since the sample before. */
  loopDelayMaxMs?: number;
  desktops?: number;
  parked?: number;
  waiting?: number;
}

/** Prometheus' text, as values by name with labels. Lines that are none are left out. */
export function readMetrics(text: string): Map<string, number> {
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const space = line.lastIndexOf(' ');
    if (line === '' || line.startsWith('#') || space < 0) continue;
    const value = Number(line.slice(space + 1));
    if (!Number.isNaN(value)) values.set(line.slice(0, space), value);
  }
  return values;
}

/** The sample that these metrics are. */
export function sampleOf(metrics: ReadonlyMap<string, number>, atMs: number): RelaySample {
  const seconds = metrics.get('sprites_loop_delay_max_seconds');
  return {
    atMs,
    cpuSeconds: sumOf(metrics, 'process_cpu_seconds_total', 'sprites_worker_cpu_seconds'),
    rssBytes: sumOf(metrics, 'process_resident_memory_bytes', 'sprites_worker_rss_bytes'),
    heapBytes: sumOf(metrics, 'nodejs_heap_size_used_bytes'),
    gcPauses: pausesOf(metrics),
    loopDelayMaxMs: seconds === undefined ? undefined : seconds * 1000,
    desktops: metrics.get('sprites_desktops'),
    parked: metrics.get('sprites_polls_parked'),
    waiting: metrics.get('sprites_waiting'),
  };
}

/**
 * The longest pause of the collector between two samples, in ms: the upper bound of the histogram's bucket it fell into,
 * and never more than all pauses together. 0 when there was none, undefined when nothing is known.
 */
export function gcMaxMs(before: RelaySample, after: RelaySample): number | undefined {
  const later = after.gcPauses;
  let earlier = before.gcPauses;
  if (!earlier || !later) return undefined;
  // It was started anew, and counts from 0 again.
  if (later.count < earlier.count) earlier = { count: 0, seconds: 0, atMost: [] };
  const count = later.count - earlier.count;
  if (count <= 0) return 0;
  const all = (later.seconds - earlier.seconds) * 1000;
  for (const [index, [seconds, atMost]] of later.atMost.entries()) {
    if (atMost - (earlier.atMost[index]?.[1] ?? 0) >= count) return Math.min(seconds * 1000, all);
  }
  return all;
}

/** CPU seconds over rising samples; a relay that was started anew counts from 0 again. Undefined when nothing is known. */
export function cpuSecondsOver(samples: readonly RelaySample[]): number | undefined {
  let total: number | undefined;
  for (let i = 1; i < samples.length; i++) {
    const [before, after] = [samples[i - 1].cpuSeconds, samples[i].cpuSeconds];
    if (before !== undefined && after !== undefined) total = (total ?? 0) + (after < before ? after : after - before);
  }
  return total;
}

/** The sum over these names, with whatever labels; undefined when the first is not there. */
function sumOf(metrics: ReadonlyMap<string, number>, ...names: string[]): number | undefined {
  let sum: number | undefined;
  for (const [key, value] of metrics) {
    if (names.includes(key.split('{', 1)[0]) && !Number.isNaN(value)) sum = (sum ?? 0) + value;
  }
  return sum;
}

function pausesOf(metrics: ReadonlyMap<string, number>): RelaySample['gcPauses'] {
  const count = metrics.get('sprites_gc_pause_seconds_count');
  const seconds = metrics.get('sprites_gc_pause_seconds_sum');
  if (count === undefined || seconds === undefined) return undefined;
  const atMost: [number, number][] = [];
  for (const [key, value] of metrics) {
    const bound = /^sprites_gc_pause_seconds_bucket\{le="([\d.e-]+)"/.exec(key);
    if (bound) atMost.push([Number(bound[1]), value]);
  }
  return { count, seconds, atMost: atMost.sort((a, b) => a[0] - b[0]) };
}

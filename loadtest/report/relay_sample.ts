/**
 * A sample of the relay's own figures, read from its /metrics once a second.
 *
 * Source: server/metrics/gauges.ts. Another server does not have these metrics; a figure that is absent is undefined, not 0.
 */
export interface RelaySample {
  /** By the wall clock of the machine that asked. */
  atMs: number;
  /** User + system time of master and workers since they started. */
  cpuSeconds?: number;
  /** Of master and workers. */
  rssBytes?: number;
  /** V8's heap of the master, the part in use. */
  heapBytes?: number;
  /** Pauses of the garbage collector since the start: their number, and how many were at most this many seconds long. */
  gcPauses?: { count: number; seconds: number; atMost: readonly (readonly [seconds: number, count: number])[] };
  /** The longest block of the master's loop since the previous sample. */
  loopDelayMaxMs?: number;
  desktops?: number;
  parked?: number;
  /** Sprites in mailboxes: accepted, and not yet acknowledged by a cursor. */
  waiting?: number;
  /** Crossings accepted since the start. */
  accepted?: number;
}

/** The sample in these metrics. */
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
    accepted: metrics.get('sprites_accepted_total'),
  };
}

const SUMS = ['cpuSeconds', 'rssBytes', 'heapBytes', 'desktops', 'parked', 'waiting', 'accepted'] as const;

/**
 * The sample of several relays: sums, the longest block of any loop, and the time of the last one. A figure that one of them does not
 * have is undefined. REQUIRES: at least one.
 */
export function addSamples(samples: readonly RelaySample[]): RelaySample {
  const delays = samples.map(({ loopDelayMaxMs }) => loopDelayMaxMs);
  return {
    atMs: Math.max(...samples.map(({ atMs }) => atMs)),
    gcPauses: addPauses(samples.map(({ gcPauses }) => gcPauses)),
    loopDelayMaxMs: delays.includes(undefined) ? undefined : Math.max(...(delays as number[])),
    ...Object.fromEntries(SUMS.map((name) => [name, knownSum(samples.map((sample) => sample[name]))])),
  };
}

/** The sum; undefined when one is. */
export function knownSum(values: readonly (number | undefined)[]): number | undefined {
  return values.reduce((sum, value) => (sum === undefined || value === undefined ? undefined : sum + value), 0);
}

/** The sum of several histograms with the same bounds. Undefined when one is, or when the bounds differ. */
function addPauses(all: readonly RelaySample['gcPauses'][]): RelaySample['gcPauses'] {
  return all.reduce((sum, one) => {
    const isAlike =
      sum !== undefined &&
      one?.atMost.length === sum.atMost.length &&
      one.atMost.every(([bound], n) => bound === sum.atMost[n][0]);
    if (!isAlike) return undefined;
    const atMost = one.atMost.map(([bound, count], n) => [bound, count + sum.atMost[n][1]] as const);
    return { count: sum.count + one.count, seconds: sum.seconds + one.seconds, atMost };
  });
}

/**
 * The longest pause of the garbage collector between two samples, in ms: the upper bound of its bucket of the histogram, and
 * never more than all pauses together. 0 when there was no pause, undefined when it is not known.
 */
export function gcMaxMs(before: RelaySample, after: RelaySample): number | undefined {
  const later = after.gcPauses;
  let earlier = before.gcPauses;
  if (!earlier || !later) return undefined;
  // The relay was restarted, and counts from 0 again.
  if (later.count < earlier.count) earlier = { count: 0, seconds: 0, atMost: [] };
  const count = later.count - earlier.count;
  if (count <= 0) return 0;
  const all = (later.seconds - earlier.seconds) * 1000;
  for (const [index, [seconds, atMost]] of later.atMost.entries()) {
    if (atMost - (earlier.atMost[index]?.[1] ?? 0) >= count) return Math.min(seconds * 1000, all);
  }
  return all;
}

/** CPU seconds over samples in order of time; a relay that was restarted counts from 0 again. Undefined when not known. */
export function cpuSecondsOver(samples: readonly RelaySample[]): number | undefined {
  let total: number | undefined;
  for (let i = 1; i < samples.length; i++) {
    const [before, after] = [samples[i - 1].cpuSeconds, samples[i].cpuSeconds];
    if (before !== undefined && after !== undefined) total = (total ?? 0) + (after < before ? after : after - before);
  }
  return total;
}

/** The sum of the metrics with these names and any labels; undefined when there are none. */
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

/** Makes results as engines print them, from a list of latencies, for tests of merging and judging. */
import { type Bucket, COUNTS, type EngineResult, type EngineSecond } from '../../tools/engine_result.ts';

export const START_MS = 1_700_000_000_000;

/** The engine's bucket for a value of `ns`: 128 buckets an octave, exact below 128. */
export function bucketOf(ns: number): [low: number, high: number] {
  if (ns < 128) return [ns, ns];
  const width = 2 ** (Math.floor(Math.log2(ns)) - 7);
  const low = Math.floor(ns / width) * width;
  return [low, low + width - 1];
}

export function bucketsOf(latenciesNs: readonly number[]): Bucket[] {
  const buckets = new Map<number, [number, number, number]>();
  for (const ns of latenciesNs) {
    const [low, high] = bucketOf(ns);
    const known = buckets.get(low);
    if (known) known[2]++;
    else buckets.set(low, [low, high, 1]);
  }
  return [...buckets.values()].sort((a, b) => a[0] - b[0]);
}

/** The result of a run that went well, whose sprites had these latencies. Members in `changes` replace those of the result. */
export function resultOf(latenciesNs: readonly number[], changes: Partial<EngineResult> = {}): EngineResult {
  const n = latenciesNs.length;
  const max = Math.max(0, ...latenciesNs);
  const mean = n === 0 ? 0 : latenciesNs.reduce((sum, ns) => sum + ns, 0) / n;
  // Impossible percentiles: a test fails when code averages them.
  const us = { count: n, mean: mean / 1000, p50: -1, p90: -1, p99: -1, p999: -1, max: max / 1000 };
  const none = { count: 0, mean: 0, p50: 0, p90: 0, p99: 0, p999: 0, max: 0 };
  const kernel = { tcpMemoryBytes: 0, slabBytes: 0 };
  return {
    ...(Object.fromEntries(COUNTS.map((name) => [name, 0])) as Record<(typeof COUNTS)[number], number>),
    ...{ scheduled: n, due: n, offered: n, thrown: n, sent: n, answered: n, accepted: n },
    ...{ received: n, delivered: n, arrived: n },
    phase: 'done',
    ok: true,
    message: '',
    mode: 'open',
    transport: 'poll',
    desktops: 10,
    senders: 5,
    processes: 1,
    rate: 100,
    seed: 1,
    startedAtMs: START_MS,
    drainedAtMs: START_MS + 11_000,
    parked: 10,
    refusedByCode: {},
    otherRefusedByCode: {},
    window: {
      ...{ seconds: 10, fromMs: START_MS, untilMs: START_MS + 10_000 },
      ...{ offered: n, sent: n, accepted: n, delivered: n },
    },
    latencyUs: us,
    awayUs: none,
    answerUs: none,
    slipUs: none,
    hearingUs: none,
    latencyBucketsNs: bucketsOf(latenciesNs),
    awayBucketsNs: [],
    answerBucketsNs: [],
    slipBucketsNs: [],
    hearingBucketsNs: [],
    polls: { sent: 0, overdue: 0 },
    joins: { sent: 10, seconds: 1 },
    connections: {},
    sockets: {},
    sayings: {},
    peeks: {},
    behaviours: {},
    swarm: {
      ...{ cpuUsPerSprite: 10, userUsPerSprite: 4, systemUsPerSprite: 6 },
      ...{ cpuCores: 0.1, busiestProcessCores: 0.1, rssBytes: 4096 },
    },
    kernel: { before: kernel, parked: kernel, end: kernel },
    seconds: [],
    limit: 'none',
    limitReason: '',
    ...changes,
  };
}

export function secondOf(
  atS: number,
  latenciesNs: readonly number[],
  changes: Partial<EngineSecond> = {},
): EngineSecond {
  const n = latenciesNs.length;
  return {
    ...{ atS, phase: 'measure', parked: 10, connections: 15, sent: n, accepted: n, delivered: n, refused: 0 },
    ...{ heard: 0, hearingsMissed: 0, bytesIn: 0 },
    ...{ p50Us: -1, p90Us: -1, p99Us: -1, p999Us: -1, maxUs: Math.max(0, ...latenciesNs) / 1000 },
    ...{ relayCores: 0, swarmCores: 0.1, relayRssBytes: 0, tcpMemoryBytes: 0, slabBytes: 0 },
    latencyBucketsNs: bucketsOf(latenciesNs),
    ...changes,
  };
}

/**
 * The report of a run that is still on, from the seconds so far: for the page that grows.
 *
 * Pure. It has no account, because the engine counts up only at the end: counts are sums over the seconds, and what is known only
 * then is 0. Invariant: it is never `ok`, so it cannot pass for a report of a run that has ended.
 */
import { COUNTS, type EngineResult, type EngineSecond } from './engine_result.ts';
import { mergeHistograms, quantilesUs } from './histogram.ts';
import { merge, type Origin, type Report } from './merge.ts';

export interface Begun {
  mode: EngineResult['mode'];
  transport: EngineResult['transport'];
  desktops: number;
  senders: number;
  processes: number;
  rate: number;
  seed: number;
  startedAtMs: number;
}

export function unfinishedReport(begun: Begun, seconds: readonly EngineSecond[], origin: Origin): Report {
  return merge([resultSoFar(begun, seconds)], origin);
}

function resultSoFar(begun: Begun, seconds: readonly EngineSecond[]): EngineResult {
  const measured = seconds.filter(({ phase }) => phase === 'measure');
  const latency = mergeHistograms(
    measured.map(({ latencyBucketsNs: buckets, maxUs }) => {
      const count = buckets.reduce((sum, [, , n]) => sum + n, 0);
      const total = buckets.reduce((sum, [low, high, n]) => sum + ((low + high) / 2) * n, 0);
      return { buckets, count, mean: count === 0 ? 0 : total / count, max: maxUs * 1000 };
    }),
  );
  const sum = (of: (second: EngineSecond) => number, over = seconds) => over.reduce((all, one) => all + of(one), 0);
  const none = { count: 0, mean: 0, p50: 0, p90: 0, p99: 0, p999: 0, max: 0 };
  const kernel = (one: EngineSecond | undefined) => ({
    tcpInUse: 0,
    availableBytes: 0,
    tcpMemoryBytes: one?.tcpMemoryBytes ?? 0,
    slabBytes: one?.slabBytes ?? 0,
  });
  const last = seconds.at(-1);
  const delivered = sum((second) => second.delivered, measured);
  return {
    ...(Object.fromEntries(COUNTS.map((name) => [name, 0])) as Record<(typeof COUNTS)[number], number>),
    ...begun,
    phase: 'done',
    ok: false,
    message: 'it is still on',
    inFlightTarget: 0,
    drainedAtMs: 0,
    sent: sum((second) => second.sent),
    accepted: sum((second) => second.accepted),
    delivered: sum((second) => second.delivered),
    refused: sum((second) => second.refused),
    parked: last?.parked ?? 0,
    refusedByCode: {},
    otherRefusedByCode: {},
    window: {
      seconds: measured.length,
      // The only machine: its window is the common one, whenever it was.
      fromMs: 0,
      untilMs: measured.length * 1000,
      offered: sum((second) => second.sent, measured),
      sent: sum((second) => second.sent, measured),
      accepted: sum((second) => second.accepted, measured),
      delivered,
    },
    latencyUs: quantilesUs(latency),
    awayUs: none,
    answerUs: none,
    slipUs: none,
    latencyBucketsNs: latency.buckets,
    awayBucketsNs: [],
    answerBucketsNs: [],
    slipBucketsNs: [],
    polls: {},
    joins: { seconds: 0 },
    connections: {},
    sockets: {},
    behaviours: {},
    swarm: {
      cpuUsPerSprite: 0,
      userUsPerSprite: 0,
      systemUsPerSprite: 0,
      busiestProcessCores: 0,
      rssBytes: 0,
      cpuCores: last?.swarmCores ?? 0,
    },
    kernel: { before: kernel(seconds[0]), parked: kernel(last), end: kernel(last) },
    seconds: [...seconds],
    limit: 'none',
    limitReason: '',
  };
}

/**
 * The report of a run that is still on, from the seconds so far: for the page that grows.
 *
 * Pure. It has no account, because the engine counts up only at the end: counts are sums over the seconds, and what is known only
 * then is 0. Invariant: it is never `ok`, so it cannot pass for a report of a run that has ended.
 */
import {
  COUNTS,
  type EngineResult,
  type EngineSecond,
  GROUPS,
  type Groups,
  HISTOGRAMS,
  type Histograms,
} from './engine_result.ts';
import { mergeHistograms, quantilesUs } from './histogram.ts';
import { merge, type Origin, type Report, secondsHistogram } from './merge.ts';

export interface Begun {
  mode: EngineResult['mode'];
  transport: EngineResult['transport'];
  desktops: number;
  senders: number;
  rate: number;
  seed: number;
  startedAtMs: number;
}

export function unfinishedReport(begun: Begun, seconds: readonly EngineSecond[], origin: Origin): Report {
  return merge([resultSoFar(begun, seconds)], origin);
}

const NONE = { count: 0, mean: 0, p50: 0, p90: 0, p99: 0, p999: 0, max: 0 };

/** What the engine knows only at the end. */
const NOT_KNOWN = {
  ...(Object.fromEntries(COUNTS.map((name) => [name, 0])) as Record<(typeof COUNTS)[number], number>),
  ...(Object.fromEntries(GROUPS.map((name) => [name, {}])) as Groups),
  ...(Object.fromEntries(
    HISTOGRAMS.flatMap((name) => [
      [`${name}Us`, NONE],
      [`${name}BucketsNs`, []],
    ]),
  ) as Histograms),
  phase: 'done',
  ok: false,
  message: 'it is still on',
  processes: 0,
  inFlightTarget: 0,
  drainedAtMs: 0,
  limit: 'none',
  limitReason: '',
} satisfies Partial<EngineResult>;

function resultSoFar(begun: Begun, seconds: readonly EngineSecond[]): EngineResult {
  const measured = seconds.filter(({ phase }) => phase === 'measure');
  const latency = mergeHistograms(measured.map(secondsHistogram));
  const last = seconds.at(-1);
  const { sent, accepted, delivered } = countsOver(measured);
  return {
    ...NOT_KNOWN,
    ...begun,
    ...countsOver(seconds),
    parked: last?.parked ?? 0,
    // The only machine: its window is the common one, whenever it was.
    window: {
      seconds: measured.length,
      fromMs: 0,
      untilMs: measured.length * 1000,
      offered: sent,
      sent,
      accepted,
      delivered,
    },
    latencyUs: quantilesUs(latency),
    latencyBucketsNs: latency.buckets,
    swarm: {
      cpuUsPerSprite: 0,
      userUsPerSprite: 0,
      systemUsPerSprite: 0,
      busiestProcessCores: 0,
      rssBytes: 0,
      cpuCores: last?.swarmCores ?? 0,
    },
    kernel: { before: kernelIn(seconds[0]), parked: kernelIn(last), end: kernelIn(last) },
    seconds: [...seconds],
  };
}

function countsOver(seconds: readonly EngineSecond[]) {
  const sum = (of: (second: EngineSecond) => number) => seconds.reduce((all, second) => all + of(second), 0);
  return {
    sent: sum(({ sent }) => sent),
    accepted: sum(({ accepted }) => accepted),
    delivered: sum(({ delivered }) => delivered),
    refused: sum(({ refused }) => refused),
  };
}

function kernelIn(second: EngineSecond | undefined) {
  const { tcpMemoryBytes = 0, slabBytes = 0 } = second ?? {};
  return { tcpMemoryBytes, slabBytes };
}

/**
 * The figures of a run as an OpenTelemetry metrics request, in the JSON encoding of OTLP/HTTP.
 *
 * Pure. Whole numbers of 64 bits are strings and enumerations are numbers, as the encoding wants. Counts and the histogram are
 * cumulative since the start of the run, so a request that gets lost costs nothing but resolution.
 * Source  OpenTelemetry Protocol 1.x, "JSON Protobuf Encoding"; the metrics data model for sums, gauges and histograms.
 */
import { notArrived } from './account.ts';
import { COUNTS, type EngineSecond } from './engine_result.ts';
import { type Bucket, NEVER_US } from './histogram.ts';
import type { Report } from './merge.ts';

/** What identifies a run: attributes of the resource. */
export interface OtlpOrigin {
  scenario: string;
  transport: string;
  desktops: number;
  /** The number of the run: several with --runs and in a sweep. */
  run: number;
  machine: string;
  startedAtMs: number;
}

type Attributes = Record<string, string>;
type AnyValue = { stringValue: string } | { intValue: string };
type KeyValue = { key: string; value: AnyValue };

interface NumberPoint {
  attributes: KeyValue[];
  startTimeUnixNano?: string;
  timeUnixNano: string;
  asInt?: string;
  asDouble?: number;
}

interface HistogramPoint {
  attributes: KeyValue[];
  startTimeUnixNano: string;
  timeUnixNano: string;
  count: string;
  sum: number;
  bucketCounts: string[];
  explicitBounds: number[];
}

export interface Metric {
  name: string;
  description: string;
  unit: string;
  sum?: { aggregationTemporality: number; isMonotonic: boolean; dataPoints: NumberPoint[] };
  gauge?: { dataPoints: NumberPoint[] };
  histogram?: { aggregationTemporality: number; dataPoints: HistogramPoint[] };
}

/** ExportMetricsServiceRequest. */
export interface MetricsRequest {
  resourceMetrics: {
    resource: { attributes: KeyValue[] };
    scopeMetrics: { scope: { name: string }; metrics: Metric[] }[];
  }[];
}

/** AGGREGATION_TEMPORALITY_CUMULATIVE */
const CUMULATIVE = 2;

/** The bounds of the latency's buckets, in seconds: 1, 2 and 5 of each decade, from 10 µs to 10 s. */
export const LATENCY_BOUNDS = [-5, -4, -3, -2, -1, 0]
  .flatMap((decade) => [1, 2, 5].map((digit) => Number(`${digit}e${decade}`)))
  .concat(10);

/** Counts of the end that are no sums: what had not ended. */
const STATES: readonly string[] = ['waiting', 'inFlight'];

/** The request for a run that is on: what its seconds have so far. */
export function metricsSoFar(origin: OtlpOrigin, seconds: readonly EngineSecond[], nowMs: number): MetricsRequest {
  return requestOf(origin, metricsOf(origin, seconds, nowMs));
}

/** The request for a run that has ended: also its account, and what was judged. */
export function metricsAtEnd(
  origin: OtlpOrigin,
  seconds: readonly EngineSecond[],
  report: Report,
  nowMs: number,
): MetricsRequest {
  const { gauge, total } = writersOf(origin, nowMs);
  const { latencyUs, window, judgements } = report;
  const quantiles = (['p50', 'p90', 'p99', 'p999', 'max'] as const).filter((name) => latencyUs[name] < NEVER_US);
  const all = metricsOf(origin, seconds, nowMs).filter(({ name }) => name !== 'sprites.swarm.sprites');
  return requestOf(origin, [
    ...all,
    total(
      'sprites.swarm.sprites',
      SPRITES,
      '{sprite}',
      COUNTS.filter((kind) => !STATES.includes(kind)).map((kind) => [{ kind }, report[kind]]),
    ),
    gauge('sprites.swarm.not_arrived', 'Throws due in the measured window that did not arrive', '{sprite}', [
      [{}, notArrived(report)],
    ]),
    gauge('sprites.swarm.window.delivered', 'Sprites delivered in the measured window', '{sprite}/s', [
      [{}, window.deliveredPerS],
    ]),
    gauge(
      'sprites.swarm.window.latency',
      'From when a throw of the measured window was due to its arrival',
      's',
      latencyUs.count === 0 ? [] : quantiles.map((quantile) => [{ quantile }, latencyUs[quantile] / 1e6]),
    ),
    gauge('sprites.swarm.pass', '1 when the run is complete, its accounts agree and every threshold held', '1', [
      [{}, +report.pass],
    ]),
    gauge(
      'sprites.swarm.threshold.held',
      '1 when the threshold held',
      '1',
      judgements.map(({ threshold, outcome }) => [{ threshold }, +(outcome === 'held')]),
    ),
  ]);
}

const SPRITES = 'Throws and arrivals of the run by what became of them';

function metricsOf(origin: OtlpOrigin, seconds: readonly EngineSecond[], nowMs: number): Metric[] {
  const { gauge, total, histogram } = writersOf(origin, nowMs);
  const last = seconds.at(-1);
  const kinds = ['sent', 'accepted', 'delivered', 'refused'] as const;
  const sum = (kind: (typeof kinds)[number]) => seconds.reduce((all, second) => all + second[kind], 0);
  return [
    total(
      'sprites.swarm.sprites',
      SPRITES,
      '{sprite}',
      kinds.map((kind) => [{ kind }, sum(kind)]),
    ),
    histogram('sprites.swarm.latency', 'From when a throw was due to its arrival', seconds),
    gauge('sprites.swarm.parked', 'Desktops that hold a poll', '{desktop}', [[{}, last?.parked ?? 0]]),
    gauge('sprites.swarm.connections', 'Open connections', '{connection}', [[{}, last?.connections ?? 0]]),
    gauge('sprites.swarm.cpu', 'Cores in use', '{core}', [
      [{ of: 'swarm' }, last?.swarmCores ?? 0],
      [{ of: 'relay' }, last?.relayCores ?? 0],
    ]),
    gauge('sprites.swarm.relay.memory', 'Resident memory of the relay, 0 when it is not watched', 'By', [
      [{}, last?.relayRssBytes ?? 0],
    ]),
  ];
}

function requestOf(origin: OtlpOrigin, metrics: readonly Metric[]): MetricsRequest {
  const { scenario, transport, desktops, run, machine } = origin;
  const attributes = [
    ...attributesOf({ 'service.name': 'sprites-swarm', 'service.instance.id': machine }),
    ...attributesOf({ 'sprites.scenario': scenario, 'sprites.transport': transport }),
    { key: 'sprites.desktops', value: { intValue: String(desktops) } },
    { key: 'sprites.run', value: { intValue: String(run) } },
  ];
  const known = metrics.filter(({ sum, gauge, histogram }) => (sum ?? gauge ?? histogram)?.dataPoints.length);
  return {
    resourceMetrics: [
      { resource: { attributes }, scopeMetrics: [{ scope: { name: 'sprites-swarm' }, metrics: known }] },
    ],
  };
}

type Points = readonly (readonly [attributes: Attributes, value: number])[];

/** Functions that write one metric each, of this run at this time. */
function writersOf({ startedAtMs }: OtlpOrigin, nowMs: number) {
  const [startTimeUnixNano, timeUnixNano] = [startedAtMs, nowMs].map(nanosecondsOf);
  return {
    gauge: (name: string, description: string, unit: string, points: Points): Metric => ({
      ...{ name, description, unit },
      gauge: {
        dataPoints: points.map(([attributes, asDouble]) => ({
          ...{ attributes: attributesOf(attributes), timeUnixNano, asDouble },
        })),
      },
    }),
    total: (name: string, description: string, unit: string, points: Points): Metric => ({
      ...{ name, description, unit },
      sum: {
        ...{ aggregationTemporality: CUMULATIVE, isMonotonic: true },
        dataPoints: points.map(([attributes, value]) => ({
          ...{ attributes: attributesOf(attributes), startTimeUnixNano, timeUnixNano, asInt: String(value) },
        })),
      },
    }),
    histogram: (name: string, description: string, seconds: readonly EngineSecond[]): Metric => {
      const { counts, count, sum } = addedUp(seconds.map(({ latencyBucketsNs }) => latencyBucketsNs));
      const bucketCounts = counts.map(String);
      const point = { attributes: [], startTimeUnixNano, timeUnixNano, count: String(count), sum, bucketCounts };
      return {
        ...{ name, description, unit: 's' },
        histogram: {
          aggregationTemporality: CUMULATIVE,
          dataPoints: [{ ...point, explicitBounds: LATENCY_BOUNDS }],
        },
      };
    },
  };
}

/** The engine's buckets in those of LATENCY_BOUNDS, the last of which has no bound. The sum is that of the buckets' middles. */
function addedUp(parts: readonly (readonly Bucket[])[]): { counts: number[]; count: number; sum: number } {
  const counts = new Array<number>(LATENCY_BOUNDS.length + 1).fill(0);
  let [count, sum] = [0, 0];
  for (const [lowNs, highNs, n] of parts.flat()) {
    const index = LATENCY_BOUNDS.findIndex((bound) => highNs / 1e9 <= bound);
    counts[index < 0 ? LATENCY_BOUNDS.length : index] += n;
    count += n;
    sum += ((lowNs + highNs) / 2e9) * n;
  }
  return { counts, count, sum };
}

function attributesOf(attributes: Attributes): KeyValue[] {
  return Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } }));
}

/** More than a double can hold exactly, so it is a string of digits. */
function nanosecondsOf(ms: number): string {
  return `${Math.round(ms)}000000`;
}

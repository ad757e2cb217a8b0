import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resultOf, secondOf } from '../test/results.ts';
import { merge } from './merge.ts';
import { LATENCY_BOUNDS, type Metric, type MetricsRequest, metricsAtEnd, metricsSoFar } from './otlp.ts';
import { judge, readThreshold } from './verdict.ts';

const ORIGIN = {
  ...{ scenario: 'village', transport: 'poll', desktops: 1000, run: 2, machine: 'a machine' },
  startedAtMs: 1_700_000_000_000,
};
const NOW_MS = 1_700_000_010_000;

function metricsIn({ resourceMetrics }: MetricsRequest): Map<string, Metric> {
  assert.equal(resourceMetrics.length, 1);
  return new Map(resourceMetrics[0].scopeMetrics[0].metrics.map((metric) => [metric.name, metric]));
}

function pointsOf(metric: Metric | undefined): [string, string | number | undefined][] {
  const points = (metric?.sum ?? metric?.gauge)?.dataPoints ?? [];
  return points.map(({ attributes, asInt, asDouble }) => [
    attributes.map(({ value }) => Object.values(value)[0]).join(),
    asInt ?? asDouble,
  ]);
}

describe('OTLP', () => {
  it('encodes 64-bit numbers as strings, enumerations as numbers and times in ns', () => {
    const request = metricsSoFar(ORIGIN, [secondOf(1, [1e6, 2e6]), secondOf(2, [3e6])], NOW_MS);
    const sprites = metricsIn(request).get('sprites.swarm.sprites');
    assert.deepEqual(sprites?.sum?.aggregationTemporality, 2);
    assert.equal(sprites?.sum?.isMonotonic, true);
    assert.deepEqual(sprites?.sum?.dataPoints[2], {
      attributes: [{ key: 'kind', value: { stringValue: 'delivered' } }],
      startTimeUnixNano: '1700000000000000000',
      timeUnixNano: '1700000010000000000',
      asInt: '3',
    });
    assert.deepEqual(request.resourceMetrics[0].resource.attributes, [
      { key: 'service.name', value: { stringValue: 'sprites-swarm' } },
      { key: 'service.instance.id', value: { stringValue: 'a machine' } },
      { key: 'sprites.scenario', value: { stringValue: 'village' } },
      { key: 'sprites.transport', value: { stringValue: 'poll' } },
      { key: 'sprites.desktops', value: { intValue: '1000' } },
      { key: 'sprites.run', value: { intValue: '2' } },
    ]);
  });

  it('has a histogram whose buckets add up to its count, with the first and last bucket in use', () => {
    const ns = [5e3, 10e3, 11e3, 999e3, 9e9, 11e9, 100e9];
    const request = metricsSoFar(ORIGIN, [secondOf(1, ns.slice(0, 3)), secondOf(2, ns.slice(3))], NOW_MS);
    const [point] = metricsIn(request).get('sprites.swarm.latency')?.histogram?.dataPoints ?? [];
    assert.ok(point);
    assert.deepEqual(point.explicitBounds, LATENCY_BOUNDS);
    assert.ok(LATENCY_BOUNDS.every((bound, i) => i === 0 || bound > LATENCY_BOUNDS[i - 1]));
    assert.equal(point.bucketCounts.length, LATENCY_BOUNDS.length + 1);
    assert.equal(point.count, '7');
    assert.equal(
      point.bucketCounts.reduce((sum, n) => sum + Number(n), 0),
      7,
    );
    assert.equal(point.bucketCounts.at(-1), '2');
    assert.ok(Number(point.bucketCounts[0]) >= 1);
    assert.ok(Math.abs(point.sum - 120.001) < 1, String(point.sum));
  });

  it('never falls from one request to the next, for what is cumulative', () => {
    const seconds = [secondOf(1, [1e6]), secondOf(2, [1e6, 2e6])];
    const [before, after] = [seconds.slice(0, 1), seconds].map((some) => metricsIn(metricsSoFar(ORIGIN, some, NOW_MS)));
    for (const [i, [kind, value]] of pointsOf(before.get('sprites.swarm.sprites')).entries()) {
      assert.ok(Number(pointsOf(after.get('sprites.swarm.sprites'))[i][1]) >= Number(value), kind);
    }
  });

  it('has the account, the percentiles and the thresholds at the end, and no metric twice', () => {
    const thresholds = ['lost == 0', 'p99 < 1µs'].map(readThreshold);
    const report = judge(
      merge([resultOf([1e6, 2e6], { lost: 1 })], { name: 'x', command: '', machines: [] }),
      thresholds,
    );
    const request = metricsAtEnd(ORIGIN, [secondOf(1, [1e6])], report, NOW_MS);
    const metrics = metricsIn(request);
    assert.equal(metrics.size, request.resourceMetrics[0].scopeMetrics[0].metrics.length);
    const sprites = new Map(pointsOf(metrics.get('sprites.swarm.sprites')));
    assert.equal(sprites.get('delivered'), '2');
    assert.equal(sprites.get('lost'), '1');
    assert.ok(!sprites.has('inFlight'));
    assert.deepEqual(new Map(pointsOf(metrics.get('sprites.swarm.window.latency'))).get('max'), 0.002);
    assert.deepEqual(pointsOf(metrics.get('sprites.swarm.pass')), [['', 0]]);
    assert.deepEqual(pointsOf(metrics.get('sprites.swarm.threshold.held')), [
      ['lost == 0', 0],
      ['p99 < 1µs', 0],
    ]);
  });

  it('leaves out a percentile that is never, a metric without points, and what JSON cannot write', () => {
    const report = merge([resultOf([1e6], { due: 10 })], { name: 'x', command: '', machines: [] });
    const request = metricsAtEnd(ORIGIN, [], report, NOW_MS);
    const latency = pointsOf(metricsIn(request).get('sprites.swarm.window.latency')).map(([quantile]) => quantile);
    assert.deepEqual(latency, ['max']);
    assert.equal(metricsIn(request).get('sprites.swarm.threshold.held'), undefined);
    assert.doesNotMatch(JSON.stringify(request), /null/);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Gauge, Registry } from 'prom-client';
import { type MetricsRequest, WORKER_METRICS_MS_MAX, WorkerMetrics } from './worker_metrics.ts';

/** The metrics of a worker that has one gauge. */
async function metricsOf(value: number) {
  const registry = new Registry();
  new Gauge({ name: 'pending', help: 'Requests', registers: [registry] }).set(value);
  return registry.getMetricsAsJSON();
}

describe('the metrics of workers', () => {
  it('are summed as soon as all have answered', async () => {
    const metrics = new WorkerMetrics();
    const answer = (value: number) => async (request: MetricsRequest) =>
      metrics.receive({ ...request, metrics: await metricsOf(value) });
    const { text, unanswered } = await metrics.collect([answer(2), answer(3)]);
    assert.match(text, /^pending 5$/m);
    assert.equal(unanswered, 0);
  });

  it('are those of the others when one does not answer in time; its late answer is dropped', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const metrics = new WorkerMetrics();
    const two = await metricsOf(2);
    let late: MetricsRequest | undefined;
    const collected = metrics.collect([
      (request) => metrics.receive({ ...request, metrics: two }),
      (request) => {
        late = request;
      },
    ]);
    t.mock.timers.tick(WORKER_METRICS_MS_MAX);
    const { text, unanswered } = await collected;
    assert.match(text, /^pending 2$/m);
    assert.equal(unanswered, 1);
    metrics.receive({ ...(late as MetricsRequest), metrics: two });
  });

  it('are empty without workers', async () => {
    const { text, unanswered } = await new WorkerMetrics().collect([]);
    assert.deepEqual([text.trim(), unanswered], ['', 0]);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { workerGauges } from './gauges.ts';
import { type WorkerSample, WorkerSamples } from './worker_samples.ts';

function sampleOf(pid: number, pending: number): WorkerSample {
  const stored = { files: pending, bytes: 10, evicted: 1 };
  return {
    pid,
    pending,
    stored,
    rssBytes: 100,
    cpuSeconds: 0.5,
    refused: { malformed: pending },
  } as unknown as WorkerSample;
}

const isLate = (worker: string) => worker === 'late';

describe('the samples of workers', () => {
  it('are the newest of each that is not late', () => {
    const samples = new WorkerSamples<string>();
    for (const pending of [1, 2]) samples.receive('a', sampleOf(7, pending), []);
    samples.receive('late', sampleOf(8, 3), []);
    assert.deepEqual(
      samples.newest(isLate).map(({ pending }) => pending),
      [2],
    );
  });

  it('count what was refused by workers that are late, and by those that have ended', () => {
    const samples = new WorkerSamples<string>();
    for (const [n, worker] of ['a', 'late', 'ended'].entries()) samples.receive(worker, sampleOf(7 + n, 1 + n), []);
    samples.remove('ended');
    samples.remove('never heard of');
    assert.deepEqual(samples.refused, { malformed: 6 });
  });

  it('give the malformed requests of all of them once', () => {
    const samples = new WorkerSamples<string>();
    samples.receive('a', sampleOf(7, 1), [[2, 3]]);
    samples.receive('a', sampleOf(7, 1), [[2, 1]]);
    const all = [
      [2, 3],
      [2, 1],
    ];
    assert.deepEqual([samples.takeMalformed(), samples.takeMalformed()], [all, []]);
  });
});

describe('the metrics of workers', () => {
  const metricsOf = async (...samples: WorkerSample[]) => {
    const registry = new Registry();
    workerGauges(registry, () => samples);
    return registry.metrics();
  };

  it('are summed; of the directory, which all of them count, they are the highest', async () => {
    const text = await metricsOf(sampleOf(7, 2), sampleOf(8, 3));
    for (const line of ['sprites_worker_pending 5', 'sprites_worker_rss_bytes 200', 'sprites_store_files 3']) {
      assert.match(text, new RegExp(`^${line}$`, 'm'));
    }
  });

  it('have no memory and no time of a worker inside the master, whose process has its own', async () => {
    const text = await metricsOf(sampleOf(process.pid, 2));
    for (const line of ['sprites_worker_pending 2', 'sprites_worker_rss_bytes 0', 'sprites_worker_cpu_seconds 0']) {
      assert.match(text, new RegExp(`^${line}$`, 'm'));
    }
  });

  it('are 0 without workers', async () => {
    assert.match(await metricsOf(), /^sprites_store_bytes 0$/m);
  });
});

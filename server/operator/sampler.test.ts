import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Clients } from '../domain/state/clients.ts';
import { stampOf, Waits } from '../domain/state/waits.ts';
import type { Malformed } from '../http/worker.ts';
import type { WorkerSample } from '../metrics/worker_samples.ts';
import { ProcessNames, Sampler, type SamplerSources } from './sampler.ts';

/** Sources whose numbers a test sets. */
function sources(over: { samples?: WorkerSample[]; pids?: number[]; malformed?: Malformed } = {}) {
  const counters = { accepted: 0, acknowledged: 0, refusedFull: 0, refusedFast: 0, refusedPicture: 6 };
  const waits = new Waits();
  const clients = new Clients(4);
  const speech = { counters: { said: 0 }, sayings: { counters: { heard: 0 } } };
  const relay = {
    counters,
    waits,
    clients,
    speech,
    desktops: { count: 3 },
    parkedCount: 2,
    waiting: 1,
    slab: { usedBytes: 64 },
  };
  const workers = {
    pids: over.pids ?? [],
    refused: { malformed: 4, connections: 1, 'picture-refused': 1, 'limits by address': 2 },
    samples: () => over.samples ?? [],
    takeMalformed: () => over.malformed?.splice(0) ?? [],
  };
  const front = { gauges: () => ({ refused: 2 }) };
  return {
    counters,
    speech,
    waits,
    clients,
    made: { relay, front, workers, joinsRefused: () => 5, loopDelay: () => 0.02 } as unknown as SamplerSources,
  };
}

function sampleOf(pid: number): WorkerSample {
  return { pid, rssBytes: 5, heapBytes: 4, loopDelayMaxSeconds: 0.001 } as WorkerSample;
}

async function seriesOf(sampler: Sampler): Promise<Record<string, (number | null)[]>> {
  let text = '';
  for await (const piece of sampler.history.document(0, sampler.about)) text += piece;
  return JSON.parse(text).series;
}

describe('the sampler', () => {
  it('samples the relay, and counters as what they rise by in a second', async () => {
    const { counters, speech, made } = sources();
    const sampler = new Sampler(made);
    await sampler.sample();
    counters.accepted = 10;
    speech.counters.said = 5;
    speech.sayings.counters.heard = 20;
    await sampler.sample();
    const series = await seriesOf(sampler);
    assert.deepEqual([series.desktops, series.parked, series.waiting, series.slab].map(String), [
      '3,3',
      '2,2',
      '1,1',
      '64,64',
    ]);
    assert.equal(series['sprites/accepted'][0], null, 'a rate needs two samples');
    assert.ok((series['sprites/accepted'][1] ?? 0) > 0);
    const [said, heard] = [series['sayings/said'][1] ?? 0, series['sayings/heard'][1] ?? 0];
    assert.ok(said > 0 && heard > said);
    assert.equal(series['refused/mailbox-full'][1], 0);
    assert.deepEqual(series['delay/master'], [20, 20]);
  });

  it('has the waits of the last minute alone', async () => {
    const { waits, made } = sources();
    const sampler = new Sampler(made);
    await sampler.sample();
    for (let n = 0; n < 100; n++) waits.record(stampOf(0), stampOf(1000));
    for (let n = 0; n < 12; n++) await sampler.sample();
    waits.record(stampOf(0), stampOf(2));
    await sampler.sample();
    const series = await seriesOf(sampler);
    assert.equal(series['wait/p50'][0], null);
    assert.deepEqual([series['wait/p50'][12], series['wait/p99'][12]], [750, 995]);
    assert.deepEqual([series['wait/p50'][13], series['wait/p99'][13]], [1.5, 1.99]);
  });

  it('counts the malformed requests of the workers for the clients of the slots that they name', async () => {
    const { clients, made } = sources({
      malformed: [
        [2, 3],
        [9, 1],
      ],
    });
    clients.add(2, { kind: 'linux', version: '1.0.0' });
    const sampler = new Sampler(made);
    await sampler.sample();
    await sampler.sample();
    const rows = clients.rows.map(({ kind, refused }) => [kind, refused.get('malformed')]);
    assert.deepEqual(
      rows.filter(([, times]) => times !== 0),
      [
        ['unknown', 1],
        ['linux', 3],
      ],
    );
  });

  it('adds the refusals of master and workers, by reason', () => {
    const { made } = sources();
    const expected = {
      ...{ 'mailbox-full': 0, 'too-fast': 0, connections: 3, malformed: 4 },
      ...{ 'picture-refused': 7, 'limits by address': 7 },
    };
    assert.deepEqual(new Sampler(made).refused, expected);
  });

  it('knows the threads of each process by name', { skip: process.platform !== 'linux' }, async () => {
    const { made } = sources();
    const sampler = new Sampler(made);
    await sampler.sample();
    const main = sampler.threads.find(({ process, thread }) => process === 'master' && thread === 'main');
    assert.ok(main && main.cpuSeconds > 0, JSON.stringify(sampler.threads));
    const series = await seriesOf(sampler);
    assert.ok('cpu/master/main' in series && 'machine/steal' in series && 'machine/busy' in series);
  });

  it('leaves a worker out that sends no samples', async () => {
    const samples = [sampleOf(2 ** 30)];
    const { made } = sources({ pids: [2 ** 30], samples });
    const sampler = new Sampler(made);
    await sampler.sample();
    assert.deepEqual([...sampler.processes.keys()], ['master', 'worker:1']);
    samples.length = 0;
    await sampler.sample();
    assert.deepEqual([...sampler.processes.keys()], ['master']);
    assert.deepEqual((await seriesOf(sampler))['rss/worker:1'], [5, null]);
  });

  it('reads the master itself, also when the master has the worker inside', async () => {
    const { made } = sources({ samples: [sampleOf(process.pid)] });
    const sampler = new Sampler(made);
    await sampler.sample();
    assert.deepEqual([...sampler.processes.keys()], ['master']);
    assert.equal(sampler.processes.get('master')?.loopDelayMaxSeconds, 0.02);
  });
});

describe('the names of processes', () => {
  it('are numbers that a worker keeps, and that its replacement gets', () => {
    const names = new ProcessNames();
    const namesNow = () => Object.fromEntries(names.pids);
    names.update(10, [20, 30]);
    assert.deepEqual(namesNow(), { master: 10, 'worker:1': 20, 'worker:2': 30 });
    names.update(10, [30]);
    assert.deepEqual(namesNow(), { master: 10, 'worker:2': 30 });
    names.update(10, [30, 40, 50]);
    assert.deepEqual(namesNow(), { master: 10, 'worker:1': 40, 'worker:2': 30, 'worker:3': 50 });
    assert.equal(names.nameOf(40), 'worker:1');
    assert.equal(names.nameOf(20), undefined);
  });
});

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { RelaySample } from '../loadtest/report/relay_sample.ts';
import { resultOf, START_MS } from '../loadtest/test/results.ts';
import type { EngineResult } from '../tools/engine_result.ts';
import type { Aws } from './aws.ts';
import { collect } from './collect.ts';
import type { FleetRecord } from './fleet.ts';
import { keys } from './job.ts';

const FLEET = 'swarm-261121-0000-abcd';
const UNKNOWN = { unread: 'no price' };
const folder = mkdtempSync(join(tmpdir(), 'sprites-collect-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const ids = (n: number) => Array.from({ length: n }, (_, i) => `i-${String(i).padStart(2, '0')}`);

const record = (instances: number, changes: Partial<FleetRecord> = {}, thresholds: string[] = []): FleetRecord => ({
  wanted: {
    ...{ fleet: FLEET, role: 'swarm', owner: 'ann', region: 'eu-west-1', bucket: 'sprites-a', buy: 'spot' },
    ...{ types: ['c6i.large'], instances, atLeast: 1, minutes: 60, maxCostUsd: 1 },
  },
  load: {
    ...{
      relay: 'http://relay.example:8080/',
      desktops: 10,
      rate: 100,
      seconds: 10,
      warmUpSeconds: 0,
      connectRate: 100,
    },
    ...{ thresholds, more: {} },
  },
  ...{ readySeconds: 60, startedMs: 0, deadlineMs: 0, started: ids(instances), rootGib: 8 },
  prices: { instance: {}, address: UNKNOWN, volume: UNKNOWN, transfer: UNKNOWN },
  ...changes,
});

const MACHINE = { name: 'i', cores: 2, model: 'm', memoryBytes: 1, system: 's', node: 'v26', commit: 'c' };

/** An account whose bucket has what these instances posted: a result of each, or a log. */
function account(results: Record<string, EngineResult | string>, samples?: readonly RelaySample[]): Aws {
  const objects = new Map<string, string>();
  if (samples) objects.set(keys.samples(FLEET), JSON.stringify(samples));
  for (const [id, posted] of Object.entries(results)) {
    objects.set(`${keys.prefix(FLEET)}${id}.ready.json`, JSON.stringify({ ...MACHINE, name: id }));
    const [end, body] = typeof posted === 'string' ? ['.log', posted] : ['.result.json', JSON.stringify(posted)];
    objects.set(`${keys.prefix(FLEET)}${id}${end}`, body);
  }
  return {
    buckets: {
      list: async () => [...objects.keys()],
      get: async (_: string, key: string) => objects.get(key) as string,
    },
    compute: { instances: async () => [], consoleOutput: async () => '' },
  } as unknown as Aws;
}

const all = (n: number, of: (i: number) => EngineResult | string = () => resultOf([1000])) =>
  Object.fromEntries(ids(n).map((id, i) => [id, of(i)]));
const collected = async (aws: Aws, of: FleetRecord) => {
  const { text, ok } = await collect(aws, of, folder, 0);
  return { text, ok, report: JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) };
};

describe('collected results', () => {
  it('pass when every machine has a result and every threshold holds', async () => {
    const { ok, text, report } = await collected(account(all(20)), record(20, {}, ['lost == 0', 'p99 < 1s']));
    assert.equal(ok, true, text);
    assert.match(text, /PASS\n/);
    assert.deepEqual([report.machines.length, report.delivered, report.judgements.length], [20, 20, 2]);
  });

  it('are void, and never pass, with 3 of 20 machines missing', async () => {
    const some = all(20, (i) => (i < 3 ? 'line 1\nFAILED: no memory\n' : resultOf([1000])));
    const { ok, text } = await collected(account(some), record(20));
    assert.equal(ok, false);
    assert.match(text, /VOID\n/);
    assert.doesNotMatch(text, /PASS/);
    assert.match(text.replace(/\n!/g, ''), /3 of 20 machines have no result: i-00, i-01, i-02/);
    assert.match(text, /i-00 posted no result; the end of its log:\n {4}line 1\n {4}FAILED: no memory/);
    assert.match(text, /200 desktops, 2,000 sprites\/s, for 10 s/);
  });

  it('are void when EC2 never started some of them', async () => {
    const { ok, report } = await collected(account(all(18)), record(20, { started: ids(18) }));
    assert.deepEqual([ok, report.voidReason], [false, '2 of 20 machines have no result: 2 that EC2 did not start']);
  });

  it('are void when the machines did not measure at the same time', async () => {
    const later = resultOf([1000]);
    later.window = { ...later.window, fromMs: START_MS + 60_000, untilMs: START_MS + 70_000 };
    const { ok, report } = await collected(account(all(2, (i) => (i === 0 ? resultOf([1000]) : later))), record(2));
    assert.deepEqual([ok, report.window.deliveredPerS], [false, 0]);
    assert.match(report.voidReason, /windows of the 2 machines have only 0 s of 10\.0 s in common/);
  });

  it('judge thresholds over the merged result, not over each machine', async () => {
    // Each machine alone has one slow sprite in ten; together it is two in a hundred.
    const slow = resultOf([...Array(8).fill(1000), 5e9, 5e9]);
    const fast = resultOf(Array(90).fill(1000));
    const aws = account({ 'i-00': slow, 'i-01': fast });
    assert.equal((await collected(aws, record(2, {}, ['p90 < 1ms']))).ok, true);
    const { ok, report } = await collected(aws, record(2, {}, ['p99 < 1ms', 'desktops == 20']));
    assert.equal(ok, false);
    assert.deepEqual(
      report.judgements.map(({ outcome }: { outcome: string }) => outcome),
      ['broken', 'held'],
    );
  });

  it('of instances that were started from the console are those of every instance that posted anything', async () => {
    const pasted = record(7, { started: [] });
    const { ok, report } = await collected(account(all(3)), pasted);
    assert.deepEqual([ok, report.machines.length], [true, 3]);
    const failed = await collected(account({ ...all(2), 'i-09': 'FAILED' }), pasted);
    assert.deepEqual([failed.ok, failed.report.voidReason], [false, '1 of 3 machines have no result: i-09']);
  });

  it('of the console that did not measure together say why, and show each machine in its own window', async () => {
    const pasted = record(7, { started: [] }, ['p99 < 1s']);
    const at = (ms: number, n: number) => {
      const result = resultOf(Array(n).fill(1000));
      return { ...result, window: { ...result.window, fromMs: START_MS + ms, untilMs: START_MS + ms + 10_000 } };
    };
    const { ok, report, text } = await collected(account({ 'i-00': at(0, 20), 'i-01': at(30_000, 40) }), pasted);
    assert.equal(ok, false);
    assert.match(text, /VOID\n/);
    assert.match(report.voidReason, /only 0 s .* because they were started from the console, without a barrier: judge/);
    assert.deepEqual(
      report.runs.map(({ window, desktops }: EngineResult) => [desktops, window.delivered / window.seconds]),
      [
        [10, 2],
        [10, 4],
      ],
    );
    assert.deepEqual([report.delivered, report.window.deliveredPerS], [60, 0]);
    assert.equal(report.judgements[0].outcome, 'void');
    assert.match(report.shows, /started from the console without a barrier/);
    const together = await collected(account({ 'i-00': at(0, 20), 'i-01': at(0, 40) }), record(2));
    assert.equal(together.report.runs.length, 1);
    assert.doesNotMatch(together.report.shows, /console/);
  });

  describe('with the gauges of the relay', () => {
    const DRAINED_MS = START_MS + 21_000;
    const losing = (lost: number, drainedAtMs = DRAINED_MS) => resultOf(Array(10).fill(1000), { lost, drainedAtMs });
    const sample = (atMs: number, waiting: number): RelaySample => ({ atMs, waiting, desktops: 20 });
    const figures = async (results: Record<string, EngineResult>, samples?: readonly RelaySample[], of = record(2)) => {
      const { report } = await collected(account(results, samples), of);
      return [report.lost, report.undelivered, report.relayAccount?.waiting];
    };
    const two = { 'i-00': losing(3), 'i-01': losing(2) };

    it('call undelivered what still waited when the drain ended, once for all machines', async () => {
      const samples = [sample(START_MS + 5_000, 90), sample(DRAINED_MS - 500, 4), sample(DRAINED_MS + 500, 0)];
      assert.deepEqual(await figures(two, samples), [1, 4, 4]);
      assert.deepEqual(await figures(two, [sample(DRAINED_MS, 0)]), [5, 0, 0]);
      assert.deepEqual(await figures(two, [sample(DRAINED_MS, 50)]), [0, 5, 50]);
    });

    it('take the gauge of the last moment at which every machine that misses sprites had its desktops', async () => {
      const others = { 'i-00': losing(3), 'i-01': losing(2, DRAINED_MS + 5_000), 'i-02': losing(0, START_MS + 10_100) };
      const samples = [sample(START_MS + 10_000, 99), sample(DRAINED_MS - 100, 5), sample(DRAINED_MS + 4_900, 2)];
      assert.deepEqual(await figures(others, samples, record(3)), [0, 5, 5]);
    });

    it('know of nothing that is lost when the relay did not answer then, and all of it when nobody asked', async () => {
      for (const samples of [[], [sample(DRAINED_MS - 2_001, 0)], [sample(DRAINED_MS + 1, 0)]]) {
        assert.deepEqual(await figures(two, samples), [0, 5, undefined]);
      }
      assert.deepEqual(await figures(two, [sample(DRAINED_MS - 2_000, 0)]), [5, 0, 0]);
      assert.deepEqual(await figures(two), [5, 0, undefined]);
    });

    it('say how many desktops the relay counted in the common window', async () => {
      const samples = [18, 20, 30].map((desktops, i) => ({ atMs: START_MS + 1_000 * (i + 1), desktops }));
      const { report } = await collected(account(two, [...samples, sample(DRAINED_MS, 0)]), record(2));
      assert.deepEqual(report.relayAccount.counted, { times: 3, least: 18, most: 30 });
    });
  });

  it('say so when there is not one result', async () => {
    const { text, ok } = await collect(account(all(2, () => 'FAILED')), record(2), folder, 0);
    assert.match(text, /^No instance of swarm-\S+ posted a result\./);
    assert.equal(ok, false);
  });
});

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { EngineResult } from '../loadtest/report/engine_result.ts';
import { resultOf, START_MS } from '../loadtest/test/results.ts';
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
    ...{ thresholds, more: [] },
  },
  ...{ readySeconds: 60, startedMs: 0, deadlineMs: 0, started: ids(instances), rootGib: 8 },
  prices: { instance: {}, address: UNKNOWN, volume: UNKNOWN, transfer: UNKNOWN },
  ...changes,
});

const MACHINE = { name: 'i', cores: 2, model: 'm', memoryBytes: 1, system: 's', node: 'v26', commit: 'c' };

/** An account whose bucket has what these instances posted: a result of each, or a log. */
function account(results: Record<string, EngineResult | string>): Aws {
  const objects = new Map<string, string>();
  for (const [id, posted] of Object.entries(results)) {
    objects.set(`${keys.prefix(FLEET)}${id}.ready.json`, JSON.stringify({ ...MACHINE, name: id }));
    const [end, body] = typeof posted === 'string' ? ['.log', posted] : ['.result.json', JSON.stringify(posted)];
    objects.set(`${keys.prefix(FLEET)}${id}${end}`, body);
  }
  return {
    list: async () => [...objects.keys()],
    get: async (_: string, key: string) => objects.get(key) as string,
    instances: async () => [],
    consoleOutput: async () => '',
  } as Partial<Aws> as Aws;
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

  it('say so when there is not one result', async () => {
    const { text, ok } = await collect(account(all(2, () => 'FAILED')), record(2), folder, 0);
    assert.match(text, /^No instance of swarm-\S+ posted a result\./);
    assert.equal(ok, false);
  });
});

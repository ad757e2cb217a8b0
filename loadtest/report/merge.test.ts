import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { describe, it } from 'node:test';
import { bucketOf, resultOf, secondOf } from '../test/results.ts';
import { readResult } from './engine_result.ts';
import { merge, overRuns, overSweep } from './merge.ts';
import type { RelaySample } from './relay_sample.ts';
import { text } from './report.ts';
import { generatorSentence, judge, limitSentence, readThreshold } from './verdict.ts';

const ORIGIN = { name: 'a test', command: 'npm run swarm', machines: [] };
const START = 1_700_000_000_000;

/** A small generator, so that a seed repeats a test. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('merge', () => {
  it('has the percentiles of all values together, not an average of percentiles', (t) => {
    const seed = randomInt(2 ** 31);
    t.diagnostic(`seed ${seed}`);
    const random = randomOf(seed);
    const machines = Array.from({ length: 5 }, (_, k) =>
      Array.from({ length: 200 + 300 * k }, () => Math.floor(50_000 * 10 ** (random() * (1 + k)))),
    );
    const report = merge(
      machines.map((latencies) => resultOf(latencies)),
      ORIGIN,
    );
    const all = machines.flat().sort((a, b) => a - b);
    for (const [share, name] of [
      [0.5, 'p50'],
      [0.9, 'p90'],
      [0.99, 'p99'],
      [0.999, 'p999'],
    ] as const) {
      const [low, high] = bucketOf(all[Math.ceil(share * all.length) - 1]);
      assert.equal(report.latencyUs[name], Math.round((low + high) / 2) / 1000, name);
    }
    assert.equal(report.latencyUs.max, (all.at(-1) as number) / 1000);
    assert.equal(report.latencyUs.count, all.length);
    assert.equal(report.delivered, all.length);
  });

  it('adds counts and tables up, and CPU over all sprites', () => {
    const cheap = resultOf([1000, 1000, 1000], { lost: 1, refused: 2, refusedByCode: { 'mailbox-full': 2 } });
    const costly = resultOf([1000], { lost: 2, refusedByCode: { 'mailbox-full': 1, 'too-fast': 4 } });
    costly.swarm.cpuUsPerSprite = 50;
    const report = merge([cheap, costly], ORIGIN);
    assert.equal(report.lost, 3);
    assert.equal(report.refused, 2);
    assert.deepEqual(report.refusedByCode, { 'mailbox-full': 3, 'too-fast': 4 });
    assert.equal(report.desktops, 20);
    assert.equal(report.swarm.cpuUsPerSprite, (3 * 10 + 50) / 4);
    assert.equal(report.window.deliveredPerS, 0.4);
  });

  it('is not ok when one machine is not, and says why once', () => {
    const gone = { ok: false, message: 'the relay is gone' };
    const report = merge([resultOf([1]), resultOf([1], gone), resultOf([1], gone)], ORIGIN);
    assert.equal(report.ok, false);
    assert.equal(report.pass, false);
    assert.equal(report.message, 'the relay is gone');
  });

  it('names the swarm as the limit when any of it was, else the relay', () => {
    const relay = resultOf([1], { limit: 'relay', limitReason: 'it was slow' });
    const swarm = resultOf([1], { limit: 'swarm', limitReason: 'it was late' });
    assert.equal(merge([resultOf([1]), relay], ORIGIN).limit, 'relay');
    assert.deepEqual((({ limit, limitReason }) => ({ limit, limitReason }))(merge([relay, swarm], ORIGIN)), {
      limit: 'swarm',
      limitReason: 'it was late',
    });
    assert.equal(merge([resultOf([1])], ORIGIN).limit, 'none');
  });

  it('puts the seconds of a machine that began later beside those in which they happened', () => {
    const early = resultOf([], { seconds: [secondOf(1.003, [100]), secondOf(2.001, [100]), secondOf(3.004, [100])] });
    const late = resultOf([], {
      startedAtMs: START + 1_400,
      seconds: [secondOf(1.001, [900, 900]), secondOf(2.002, [])],
    });
    const { seconds } = merge([late, early], ORIGIN);
    assert.deepEqual(
      seconds.map(({ atS, delivered, p50Us, parked }) => [atS, delivered, p50Us, parked]),
      [
        [1, 1, 0.1, 10],
        [2, 3, 0.9, 20],
        [3, 1, 0.1, 20],
      ],
    );
  });

  it("puts the relay's own figures beside the seconds they were asked in", () => {
    const seconds = [1, 2, 3, 4].map((at) => secondOf(at, [1000], { phase: at === 1 ? 'warmUp' : 'measure' }));
    const sample = (at: number, pauses: number): RelaySample => ({
      atMs: START + at * 1000 - 100,
      cpuSeconds: 0.5 * at,
      rssBytes: 1e6 * at,
      heapBytes: 1e5 * at,
      loopDelayMaxMs: at,
      gcPauses: {
        count: pauses,
        seconds: pauses * 0.004,
        atMost: [
          [0.001, 0],
          [0.005, pauses],
        ],
      },
    });
    const samples = [sample(1, 7), sample(2, 8), sample(3, 8), sample(4, 10)];
    const part = resultOf([1000, 1000], { seconds });
    const { relay, seconds: merged } = merge([part], { ...ORIGIN, samples });
    assert.deepEqual(
      merged.map(({ heapBytes, gcMaxMs, relayRssBytes }) => [heapBytes, gcMaxMs, relayRssBytes]),
      [
        [1e5, undefined, 1e6],
        [2e5, 4, 2e6],
        [3e5, 0, 3e6],
        [4e5, 5, 4e6],
      ],
    );
    assert.equal(merged[2].relayCores, 0.5);
    assert.equal(relay.cpuCores, 0.5);
    assert.equal(relay.cpuUsPerSprite, (0.5 * 1e6) / 0.2);
    assert.equal(relay.heapBytes, 4e5);
    assert.equal(relay.gcMaxMs, 5);
    assert.equal(relay.loopDelayMaxMs, 4);
  });

  it('has null for the figures of a relay that could not be watched', () => {
    const { relay } = merge([resultOf([1000])], ORIGIN);
    assert.equal(relay.cpuUsPerSprite, null);
    assert.equal(relay.heapBytes, null);
    assert.equal(relay.gcMaxMs, null);
  });

  it('rejects an empty list, and loads of different kinds', () => {
    assert.throws(() => merge([], ORIGIN), /no result/);
    assert.throws(() => merge([resultOf([1]), resultOf([1], { mode: 'closed' })], ORIGIN), /open and closed/);
  });

  it('merges several runs, and keeps each by itself', () => {
    const report = overRuns([[1000, 2000], [4000]].map((latencies) => merge([resultOf(latencies)], ORIGIN)));
    assert.equal(report.desktops, 10);
    assert.equal(report.delivered, 3);
    assert.equal(report.latencyUs.max, 4);
    assert.equal(report.window.seconds, 20);
    assert.deepEqual(
      report.runs.map(({ latencyUs }) => latencyUs.max),
      [2, 4],
    );
  });
});

describe('sweep', () => {
  const point = (desktops: number, changes: Parameters<typeof resultOf>[1] = {}) =>
    judge(merge([resultOf([1000], { desktops, ...changes })], ORIGIN), ['lost == 0', 'p99 < 1s'].map(readThreshold));
  const full = { limit: 'swarm', limitReason: 'its core was full' } as const;

  it('names the limit that its rows name, and at which points', () => {
    const report = overSweep([point(10), point(1000, full), point(2000)], '');
    assert.deepEqual(
      report.runs.map(({ limit }) => limit),
      ['none', 'swarm', 'none'],
    );
    assert.equal(report.limit, 'swarm');
    assert.equal(limitSentence(report), 'swarm, with 1,000 desktops: its core was full');
    assert.match(
      generatorSentence(report),
      /^With 1,000 desktops the swarm was the limit, not the relay: its core was full\./,
    );
    assert.match(text(report), /^! With 1,000 desktops the swarm was the limit/m);
    assert.equal(limitSentence(overSweep([point(10), point(20)], '')), 'neither relay nor swarm');
    const relay = { limit: 'relay', limitReason: 'it was slow' } as const;
    const both = overSweep([point(10, relay), point(20, relay)], '');
    assert.match(text(both), /^! With 10 and 20 desktops the relay was the limit: it was slow\.$/m);
    assert.equal(limitSentence(both), 'relay, with 10 and 20 desktops: it was slow');
  });

  it('fails by the threshold that one of its points broke, and says which', () => {
    const report = overSweep([point(10, { lost: 3 }), point(1000, full), point(2000)], '');
    assert.equal(report.pass, false);
    assert.deepEqual(
      report.judgements.map(({ value, outcome }) => [value, outcome]),
      [
        ['3 with 10 desktops', 'broken'],
        ['1.00 µs with 1,000 desktops', 'void'],
      ],
    );
    assert.equal(overSweep([point(10), point(20)], '').pass, true);
  });

  it('is not complete when a point is missing, and keeps those before it', () => {
    const report = overSweep([point(10)], 'the relay is gone');
    assert.deepEqual([report.ok, report.pass, report.message], [false, false, 'the relay is gone']);
    assert.throws(() => overSweep([], ''), /no run/);
  });
});

describe('engine result', () => {
  it('is read from everything that an engine printed', () => {
    const result = resultOf([1000]);
    const printed = `{"phase":"connect"}\n${JSON.stringify(result)}\n`;
    assert.deepEqual(readResult(printed, 'engine.json'), result);
  });

  it('is rejected with the member that is wrong and its file', () => {
    const wrong = (changes: object) => JSON.stringify({ ...resultOf([1]), ...changes });
    assert.throws(() => readResult('', 'a.json'), /^Error: a\.json: .*not JSON/);
    assert.throws(() => readResult('{"phase":"drain"}', 'a.json'), /a\.json: .*has not ended/);
    assert.throws(() => readResult(wrong({ lost: 'none' }), 'a.json'), /a\.json: .*lost must be a number/);
    assert.throws(() => readResult(wrong({ limit: 'me' }), 'a.json'), /limit must be one of/);
    assert.throws(() => readResult(wrong({ latencyBucketsNs: [[1, 2]] }), 'a.json'), /latencyBucketsNs must be/);
    assert.throws(() => readResult(wrong({ slipUs: undefined }), 'a.json'), /slipUs must have/);
  });
});

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { describe, it } from 'node:test';
import { randomFrom } from '../../tools/bench/random.ts';
import { readResult } from '../../tools/engine_result.ts';
import { bucketOf, resultOf, START_MS as START, secondOf } from '../test/results.ts';
import { merge, overRuns, overSweep, WINDOW_COMMON_SHARE_MIN } from './merge.ts';
import type { RelaySample } from './relay_sample.ts';
import { text } from './report.ts';
import { generatorSentence, judge, limitSentence, readThreshold } from './verdict.ts';
import { verdictWord } from './words.ts';

const ORIGIN = { name: 'a test', command: 'npm run swarm', machines: [] };

describe('merge', () => {
  it('has the percentiles of all values together, not an average of percentiles', (t) => {
    const seed = randomInt(2 ** 31);
    t.diagnostic(`seed ${seed}`);
    const random = randomFrom(seed);
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

  it('does not double what stands when a late machine has two rows in one second and none in the one before', () => {
    const late = { connections: 50, relayRssBytes: 300, slabBytes: 7, parked: 40, delivered: 1 };
    const steady = { ...late, delivered: 2 };
    const rows = (at: number[], one: object) => at.map((second) => secondOf(second, [100], one));
    const parts = [rows([1, 1.4, 2.6, 3.4, 4], late), rows([1, 2, 3, 4], steady)];
    const { seconds } = merge(
      parts.map((rows) => resultOf([], { seconds: rows })),
      ORIGIN,
    );
    assert.deepEqual(
      seconds.map(({ atS, connections, relayRssBytes, slabBytes, parked, delivered }) => [
        atS,
        connections,
        relayRssBytes,
        slabBytes,
        parked,
        delivered,
      ]),
      [
        [1, 100, 600, 14, 80, 4],
        [2, 100, 600, 14, 80, 2],
        [3, 100, 600, 14, 80, 4],
        [4, 100, 600, 14, 80, 3],
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
    const window = { ...part.window, fromMs: START + 1000, untilMs: START + 4000 };
    const { relay, seconds: merged } = merge([{ ...part, window }], { ...ORIGIN, samples });
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

  /** The result of a machine that delivered all of its 1,000 sprites in a window of 10 s. */
  const machine = (fromMs: number, n = 1000, untilMs = fromMs + 10_000) => {
    const part = resultOf(Array(n).fill(1000));
    return { ...part, window: { ...part.window, seconds: (untilMs - fromMs) / 1000, fromMs, untilMs } };
  };

  it('adds up the rates of machines that measured at the same time', () => {
    const { window, voidReason, pass } = merge([machine(START), machine(START), machine(START)], ORIGIN);
    assert.deepEqual(window, { seconds: 10, offered: 3000, delivered: 3000, offeredPerS: 300, deliveredPerS: 300 });
    assert.deepEqual([voidReason, pass], ['', true]);
  });

  it('never has a higher rate than the relay delivered, however far apart the windows are', () => {
    // One after the other: the relay never delivered more than 100 a second, and three machines' sprites in one window would be 300.
    const after = merge([machine(START), machine(START + 10_000), machine(START + 20_000)], ORIGIN);
    assert.equal(after.window.deliveredPerS, 0);
    assert.deepEqual([after.window.seconds, after.pass, verdictWord(after)], [0, false, 'VOID']);
    assert.match(after.voidReason, /^the windows of the 3 machines have only 0 s of 10\.0 s in common$/);
    const half = merge([machine(START), machine(START + 5_000)], ORIGIN);
    assert.deepEqual([half.window.seconds, half.window.delivered, half.window.deliveredPerS], [5, 1000, 200]);
    assert.equal(half.pass, false);
    assert.match(
      text(half),
      /^! This run is void: the windows of the 2 machines have only 5\.00 s of 10\.0 s in common\./m,
    );
  });

  it('counts windows of different lengths over their common time', () => {
    const { window, pass } = merge([machine(START), machine(START, 2000, START + 20_000)], ORIGIN);
    assert.deepEqual([window.seconds, window.delivered, window.deliveredPerS, pass], [10, 2000, 200, false]);
  });

  it('is void below the share that windows must have in common, not at it', () => {
    const apart = (ms: number) => merge([machine(START), machine(START + ms)], ORIGIN).voidReason;
    const allowedMs = Math.round(10_000 * (1 - WINDOW_COMMON_SHARE_MIN));
    assert.equal(apart(allowedMs - 1), '');
    assert.equal(apart(allowedMs), '');
    assert.notEqual(apart(allowedMs + 1), '');
  });

  it('is void when machines are missing, and still shows a fault that the others found', () => {
    const thresholds = ['p99 < 1s', 'lost == 0'].map(readThreshold);
    const missing = '3 of 20 machines have no result';
    const judged = judge(merge([resultOf([1000])], { ...ORIGIN, missing }), thresholds);
    assert.deepEqual([judged.ok, judged.pass, verdictWord(judged)], [true, false, 'VOID']);
    assert.deepEqual(
      judged.judgements.map(({ outcome }) => outcome),
      ['void', 'void'],
    );
    assert.match(text(judged), /VOID\n[\s\S]*! This run is void: 3 of 20 machines have no result\./);
    assert.match(text(judged), /\? p99 < 1s .*not judged: the run is void/);
    const lost = judge(merge([resultOf([1000], { lost: 1 })], { ...ORIGIN, missing }), thresholds);
    assert.equal(verdictWord(lost), 'FAIL');
    assert.deepEqual(overRuns([judged, judged]).voidReason, missing);
    assert.deepEqual([overSweep([judged, judged], '').voidReason, overSweep([judged], '').pass], [missing, false]);
  });

  it("has the relay's CPU in the common window, on the clock of the machines", () => {
    const samples = [0, 5, 10, 15].map(
      (at): RelaySample => ({ atMs: START + at * 1000, cpuSeconds: at < 10 ? at : 10 }),
    );
    const { relay } = merge([machine(START), machine(START + 5_000)], { ...ORIGIN, samples });
    assert.equal(relay.cpuCores, 1); // from 5 s to 10 s
    assert.equal(relay.cpuUsPerSprite, 1e6 / 200);
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
    assert.throws(() => readResult(wrong({ window: { seconds: 1 } }), 'a.json'), /window\.fromMs must be a number/);
  });
});

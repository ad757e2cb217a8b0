import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Misused } from '../../tools/command.ts';
import { resultOf, secondOf } from '../test/results.ts';
import { merge } from './merge.ts';
import { generatorSentence, judge, readThreshold } from './verdict.ts';

const ORIGIN = { name: 'a test', command: 'npm run swarm', machines: [] };

/** Latencies of exactly 1 ms, up to what a bucket rounds. */
function outcomes(texts: string[], changes: Parameters<typeof resultOf>[1] = {}) {
  const report = merge([resultOf(Array(100).fill(1_048_576), changes)], ORIGIN);
  const judged = judge(report, texts.map(readThreshold));
  return { pass: judged.pass, outcomes: judged.judgements.map(({ outcome }) => outcome) };
}

describe('verdict', () => {
  it('passes what holds every threshold, and only that', () => {
    assert.deepEqual(outcomes(['p99 < 2ms', 'lost == 0', 'delivered >= 100']), {
      pass: true,
      outcomes: ['held', 'held', 'held'],
    });
    assert.deepEqual(outcomes(['p99 < 2ms', 'lost == 0'], { lost: 1 }), { pass: false, outcomes: ['held', 'broken'] });
  });

  it('compares at the bound, below and above it', () => {
    const five = { lost: 5, arrived: 95, delivered: 95, received: 95 };
    const at = (comparison: string) => outcomes([`lost ${comparison} 5`], five).pass;
    assert.deepEqual(['<', '<=', '==', '>=', '>'].map(at), [false, true, true, true, false]);
    assert.equal(outcomes(['lost < 6'], five).pass, true);
    assert.equal(outcomes(['lost > 4'], five).pass, true);
  });

  it('does not judge the relay when the swarm was the limit, except by counts', () => {
    const limited = { limit: 'swarm', limitReason: 'it turned late' } as const;
    assert.deepEqual(outcomes(['p99 < 2ms', 'lost == 0'], limited), { pass: false, outcomes: ['void', 'held'] });
    assert.deepEqual(outcomes(['lost == 0'], limited), { pass: true, outcomes: ['held'] });
    assert.match(generatorSentence(limited), /^The swarm was the limit, not the relay: it turned late\./);
    assert.equal(generatorSentence({ limit: 'relay', limitReason: 'slow' }), '');
  });

  it('judges growth over the window: the last fifth against the first', () => {
    const grown = (percent: number, seconds = 20) =>
      outcomes(['rssGrowth <= 5%'], {
        seconds: Array.from({ length: seconds }, (_, i) =>
          secondOf(i, [1000], { relayRssBytes: i < seconds / 2 ? 1000 : 1000 + 10 * percent }),
        ),
      }).outcomes[0];
    assert.deepEqual(
      [-50, 0, 5, 6].map((percent) => grown(percent)),
      ['held', 'held', 'held', 'broken'],
    );
    assert.equal(grown(0, 4), 'broken', 'not known from so few seconds');
  });

  it('judges the number of desktops that the relay counted, by the least', () => {
    const report = { ...merge([resultOf([1000])], ORIGIN) };
    const with10 = { ...report, relayAccount: { counted: { times: 5, least: 10, most: 12 } } };
    const outcome = (one: typeof report) => judge(one, [readThreshold('counted == desktops')]).judgements[0].outcome;
    assert.equal(outcome(with10), 'held');
    assert.equal(outcome({ ...with10, desktops: 11 }), 'broken');
    assert.equal(outcome(report), 'broken');
  });

  it('does not pass a run that is not complete', () => {
    assert.equal(outcomes(['lost == 0'], { ok: false }).pass, false);
  });

  it('takes a threshold on an unknown figure for broken', () => {
    assert.deepEqual(outcomes(['heap < 100MiB']), { pass: false, outcomes: ['broken'] });
  });

  it('compares a count with another count, or with a share of it, at every size', () => {
    for (const desktops of [10, 400, 15_000]) {
      const judged = outcomes(['parked == desktops', 'refused <= 1% of offered'], { desktops, parked: desktops });
      assert.deepEqual(judged, { pass: true, outcomes: ['held', 'held'] });
    }
    assert.deepEqual(outcomes(['parked == desktops'], { desktops: 10, parked: 9 }).outcomes, ['broken']);
    assert.deepEqual(outcomes(['parked >= 90% of desktops'], { desktops: 10, parked: 9 }).outcomes, ['held']);
    assert.deepEqual(outcomes(['refused <= 1% of offered'], { offered: 200, refused: 2 }).outcomes, ['held']);
    assert.deepEqual(outcomes(['refused <= 1% of offered'], { offered: 200, refused: 3 }).outcomes, ['broken']);
    const report = merge([resultOf([], { desktops: 15_000, parked: 14_990 })], ORIGIN);
    const [judgement] = judge(report, [readThreshold('parked == desktops')]).judgements;
    assert.equal(judgement.value, '14,990 of 15,000 desktops');
    for (const wrong of ['parked == desktop', 'p99 < 5% of offered', 'lost == p99', 'lost == -1% of offered']) {
      assert.throws(() => readThreshold(wrong), { constructor: Misused, message: /is compared with/ });
    }
  });

  it('reads values in the unit of their figure, and says which form it expects', () => {
    assert.equal(readThreshold('p99<50ms').value, 50_000);
    assert.equal(readThreshold('rss <= 300 MiB').value, 300 * 2 ** 20);
    assert.equal(readThreshold('achieved >= 99%').value, 99);
    assert.throws(() => readThreshold('p99 < 50'), /p99 is compared with a time like 50ms, not "50"/);
    assert.throws(
      () => readThreshold('lost == none'),
      /lost is compared with a whole number, another count, or a share like 1% of offered, not "none"/,
    );
    assert.throws(() => readThreshold('speed > 5'), /there is no figure "speed"; there are p50, /);
    assert.throws(() => readThreshold('constructor == 1'), /there is no figure/);
    assert.throws(() => readThreshold('p99'), /is not a threshold/);
  });
});

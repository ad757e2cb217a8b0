import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EngineResult } from '../../tools/engine_result.ts';
import { resultOf } from '../test/results.ts';
import { accountOf, notArrived } from './account.ts';
import { merge, overRuns, type Report } from './merge.ts';
import { page } from './page.ts';
import { addRelayAccounts, relayAccountOf, withGauge } from './relay_account.ts';
import { text } from './report.ts';
import { judge, readThreshold } from './verdict.ts';
import { addressLimitSentence, verdictWord } from './words.ts';

const ORIGIN = { name: 'a test', command: 'npm run swarm', machines: [] };
const TEN = Array(10).fill(1000);

function reportOf(changes: Partial<EngineResult> = {}, origin: object = {}): Report {
  return merge([resultOf(TEN, changes)], { ...ORIGIN, ...origin });
}

const broken = (report: Report) => accountOf(report).filter(({ holds }) => !holds);

describe('account', () => {
  it('agrees for a run that went well, and for one with every kind of end', () => {
    assert.deepEqual(broken(reportOf()), []);
    const mixed = reportOf({
      ...{ scheduled: 30, skipped: 6, missed: 2, offered: 24, thrown: 24, accepted: 12, refused: 3, unexpected: 1 },
      ...{ failed: 2, timedOut: 4, inFlight: 1, waiting: 1, arrived: 9, undelivered: 2, lost: 1 },
      ...{ delivered: 10, deliveredUnaccepted: 1, received: 13, repeated: 1, foreign: 2 },
    });
    assert.deepEqual(broken(mixed), []);
  });

  it('finds a count that is off by one, whichever it is, and the run does not pass', () => {
    const counted = [
      ...['scheduled', 'skipped', 'offered', 'thrown', 'accepted', 'refused', 'unexpected', 'failed', 'timedOut'],
      ...['inFlight', 'waiting', 'arrived', 'undelivered', 'lost', 'delivered', 'deliveredUnaccepted', 'received'],
      ...['repeated', 'foreign'],
    ] as const;
    for (const name of counted) {
      const report = judge(reportOf({ [name]: reportOf()[name] + 1 }), [readThreshold('misrouted == 0')]);
      assert.ok(broken(report).length > 0, name);
      assert.equal(report.pass, false, name);
      assert.equal(verdictWord(report), 'FAIL', name);
      assert.match(text(report), /^! The accounts do not agree: /m);
      assert.match(page(report), /do not agree/);
    }
  });

  it('finds a count of sayings that is off by one, also in a run without sprites', () => {
    const sayings = {
      ...{ due: 20, skipped: 3, accepted: 10, refused: 3, failed: 1, timedOut: 2, unanswered: 1 },
      ...{ owed: 50, heard: 40, unowed: 2, missed: 5, gone: 4, underWay: 2, lost: 1 },
      ...{ received: 44, again: 1, foreign: 3 },
    };
    assert.deepEqual(broken(reportOf({ sayings })), []);
    for (const name of Object.keys(sayings) as (keyof typeof sayings)[]) {
      const wrong = { ...sayings, [name]: sayings[name] + 1 };
      assert.ok(broken(reportOf({ sayings: wrong, mode: 'sitting' })).length > 0, name);
    }
  });

  it('finds a count of peeks that is off by one, also in a run without sprites, whose text has the account', () => {
    const peeks = { due: 20, skipped: 3, accepted: 10, hidden: 3, refused: 1, failed: 2, unanswered: 1 };
    assert.deepEqual(broken(reportOf({ peeks })), []);
    assert.match(text(reportOf({ peeks, mode: 'sitting' })), /✓ peeks due − skipped = accepted/);
    for (const name of Object.keys(peeks) as (keyof typeof peeks)[]) {
      const wrong = { ...peeks, [name]: peeks[name] + 1 };
      assert.ok(broken(reportOf({ peeks: wrong, mode: 'sitting' })).length > 0, name);
    }
  });

  it('is on the page and in the text', () => {
    assert.match(text(reportOf()), /✓ scheduled − skipped = offered +10$/m);
    assert.match(page(reportOf()), /scheduled − skipped = offered<\/td><td>10<\/td><td>agree/);
  });

  it('compares with the relay: it may have accepted only throws that the swarm saw accepted or got no answer for', () => {
    const relay = (accepted: number) => ({ relayAccount: { accepted, waiting: 0 } });
    assert.deepEqual(broken(reportOf({}, relay(10))), []);
    assert.equal(broken(reportOf({}, relay(11))).length, 1);
    assert.equal(broken(reportOf({}, relay(9))).length, 1);
    const two = { scheduled: 12, due: 12, offered: 12, thrown: 12, timedOut: 1, failed: 1 };
    assert.deepEqual(broken(reportOf(two, relay(12))), []);
    assert.equal(broken(reportOf(two, relay(13))).length, 1);
  });

  it('takes what waits at the relay for undelivered, and all of it when the relay does not say', () => {
    const result = resultOf(TEN, { accepted: 15, lost: 5 });
    assert.deepEqual([withGauge(result, 0).lost, withGauge(result, 0).undelivered], [5, 0]);
    assert.deepEqual([withGauge(result, 2).lost, withGauge(result, 2).undelivered], [3, 2]);
    assert.deepEqual([withGauge(result, 9).lost, withGauge(result, 9).undelivered], [0, 5]);
    assert.deepEqual([withGauge(result, undefined).lost, withGauge(result, undefined).undelivered], [0, 5]);
  });

  it('knows what the relay accepted only if nobody else throws there', () => {
    const [before, after] = [
      { atMs: 0, accepted: 5, waiting: 0 },
      { atMs: 9, accepted: 25, waiting: 3 },
    ];
    assert.deepEqual(relayAccountOf(before, after, true), { accepted: 20, waiting: 3 });
    assert.deepEqual(relayAccountOf(before, after, false), { waiting: 3 });
    assert.equal(relayAccountOf(before, undefined, true), undefined);
    const within = [10, 12, 11].map((desktops, i) => ({ atMs: i, desktops }));
    const { counted } = relayAccountOf(before, after, false, within) ?? {};
    assert.deepEqual(counted, { times: 3, least: 10, most: 12 });
    assert.deepEqual(addRelayAccounts([{ counted }, { counted: { times: 1, least: 4, most: 5 } }])?.counted, {
      ...{ times: 4, least: 4, most: 12 },
    });
    assert.deepEqual(addRelayAccounts([{ accepted: 1, waiting: 2 }, { waiting: 3 }]), { waiting: 5 });
    assert.equal(addRelayAccounts([{ accepted: 1 }, undefined]), undefined);
  });

  it('adds up over runs', () => {
    const report = reportOf({ scheduled: 12, skipped: 2, sayings: { lost: 1, missed: 2 } });
    assert.deepEqual(broken(overRuns([reportOf(), report])), []);
    assert.deepEqual(overRuns([report, report]).sayings, { lost: 2, missed: 4 });
  });
});

describe('percentiles of a run in which throws did not arrive', () => {
  const outcome = (threshold: string, changes: Partial<EngineResult>) =>
    judge(reportOf(changes), [readThreshold(threshold)]).judgements[0];

  it('count skipped, failed and lost throws as slower than all others', () => {
    // Ten of twenty throws arrived: the median is the slowest of those, and the next percentile is never.
    const half = { scheduled: 20, due: 20, skipped: 10 };
    assert.equal(notArrived(reportOf(half)), 10);
    assert.deepEqual(outcome('p50 < 5ms', half), { threshold: 'p50 < 5ms', value: '1.00 µs', outcome: 'held' });
    assert.deepEqual(outcome('p90 < 10h', half), { threshold: 'p90 < 10h', value: 'never', outcome: 'broken' });
    assert.deepEqual(outcome('max < 5ms', half).outcome, 'held');
    for (const why of ['failed', 'timedOut', 'undelivered', 'lost', 'refused'] as const) {
      assert.equal(outcome('p99 < 10h', { due: 11, [why]: 1 }).outcome, 'broken', why);
      assert.equal(outcome('p99 < 10h', { due: 10 }).outcome, 'held');
    }
  });

  it('do not count arrivals at desktops that were away: these have percentiles of their own', () => {
    const awayUs = { count: 5, mean: 2e6, p50: 0, p90: 0, p99: 0, p999: 0, max: 3e6 };
    const changes = { due: 15, away: 5, awayUs, awayBucketsNs: [[2e9, 2e9, 5] as const] };
    assert.equal(notArrived(reportOf(changes)), 0);
    assert.equal(outcome('p99 < 5ms', changes).outcome, 'held');
    assert.equal(outcome('away.p50 < 1s', changes).outcome, 'broken');
    assert.equal(outcome('away.p99 < 5s', changes).outcome, 'held');
    assert.match(text(reportOf(changes)), /5 more arrived at desktops that storm, churn or read late: p50 2\.00 s/);
  });
});

describe('limits by address', () => {
  it('are named with their code, and with how the operator lifts them', () => {
    assert.equal(addressLimitSentence({ refusedByCode: { 'mailbox-full': 3 }, otherRefusedByCode: {} }), '');
    const limits = ['too-many-joins', 'too-many-places', 'too-many-worlds', 'too-many-connections', 'too-many-uploads'];
    for (const code of limits) {
      const sentence = addressLimitSentence({ refusedByCode: {}, otherRefusedByCode: { [code]: 12 } });
      assert.ok(sentence.includes(`(${code}, 12 times)`), sentence);
      assert.ok(sentence.includes('--admission open'), sentence);
    }
    assert.match(
      text(reportOf({ otherRefusedByCode: { 'too-many-joins': 7 } })),
      /^! The relay limits what one address/m,
    );
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resultOf, secondOf } from '../test/results.ts';
import { merge } from './merge.ts';
import { growingPage } from './page.ts';
import { type Begun, unfinishedReport } from './unfinished.ts';

const ORIGIN = { name: 'a test', command: 'npm run swarm', machines: [], load: 'a load' };
const BEGUN: Begun = {
  ...{ mode: 'open' as const, transport: 'poll' as const, desktops: 10, senders: 5, rate: 100, seed: 1 },
  startedAtMs: 0,
};

describe('unfinished report', () => {
  const seconds = [
    secondOf(1, [1e6], { phase: 'warmUp' }),
    secondOf(2, [2e6, 3e6], { refused: 4 }),
    secondOf(3, [9e6, 9e6, 9e6]),
  ];

  it('adds up the seconds so far, with the percentiles of the window only', () => {
    const report = unfinishedReport(BEGUN, seconds, ORIGIN);
    assert.deepEqual([report.accepted, report.refused, report.window.delivered, report.window.seconds], [6, 4, 5, 2]);
    assert.equal(report.latencyUs.count, 5);
    assert.equal(report.latencyUs.max, 9000);
    assert.deepEqual([report.ok, report.pass], [false, false]);
  });

  it('is a page that grows, with what is left and the runs before it, and claims no verdict', () => {
    const before = merge([resultOf([5e6])], ORIGIN);
    const html = growingPage(unfinishedReport(BEGUN, seconds, ORIGIN), '12 s', before.runs);
    assert.match(html, /http-equiv="refresh"/);
    assert.match(html, /RUNNING/);
    assert.match(html, /12 s left/);
    assert.match(html, /CPU-µs a sprite/, 'the table of the runs before');
    assert.doesNotMatch(html, /INCOMPLETE|PASS|FAIL|do not agree|NaN|undefined/);
  });

  it('has a page before the first second of the window, and for desktops that sit', () => {
    assert.match(growingPage(unfinishedReport(BEGUN, [], ORIGIN), '', []), /RUNNING/);
    const sitting = unfinishedReport({ ...BEGUN, mode: 'sitting' }, [secondOf(1, []), secondOf(2, [])], ORIGIN);
    const html = growingPage(sitting, '1 min', []);
    assert.doesNotMatch(html, /p99|NaN|undefined/);
    assert.match(html, /Connections/);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EngineSecond } from '../../tools/engine_result.ts';
import { resultOf, secondOf } from '../test/results.ts';
import { merge, soFar } from './merge.ts';
import { type Growing, growingPage } from './page.ts';

const ORIGIN = { name: 'a test', command: 'npm run swarm', machines: [], load: 'a load' };

function growingOf(seconds: readonly EngineSecond[], mode: Growing['mode'] = 'open'): Growing {
  const about = { ...ORIGIN, shows: '', relayIs: '', startedAt: '2026-11-28T00:00:00.000Z', seed: 1, desktops: 10 };
  return { ...about, mode, ...soFar(0, seconds, []) };
}

describe('the page of a run that is still on', () => {
  const seconds = [
    secondOf(1, [1e6], { phase: 'warmUp' }),
    secondOf(2, [2e6, 3e6], { refused: 4 }),
    secondOf(3, [9e6, 9e6, 9e6]),
  ];

  it('has the percentiles of the window only, and adds up the seconds', () => {
    const growing = growingOf(seconds);
    assert.equal(growing.latencyUs.count, 5);
    assert.equal(growing.latencyUs.max, 9000);
    const html = growingPage(growing, '12 s', []);
    assert.match(html, />2\.50 in the window so far</, '5 sprites in 2 s');
    assert.match(html, />refused<\/p><p class="figure">4</);
  });

  it('grows, with what is left and the runs before it, and claims no verdict', () => {
    const before = merge([resultOf([5e6])], ORIGIN);
    const html = growingPage(growingOf(seconds), '12 s', before.runs);
    assert.match(html, /http-equiv="refresh"/);
    assert.match(html, /RUNNING/);
    assert.match(html, /12 s left/);
    assert.match(html, /CPU-µs a sprite/, 'the table of the runs before');
    assert.doesNotMatch(html, /INCOMPLETE|PASS|FAIL|do not agree|NaN|undefined/);
  });

  it('is there before the first second of the window, and for desktops that sit', () => {
    assert.match(growingPage(growingOf([]), '', []), /RUNNING/);
    const html = growingPage(growingOf([secondOf(1, []), secondOf(2, [])], 'sitting'), '1 min', []);
    assert.doesNotMatch(html, /p99|NaN|undefined/);
    assert.match(html, /Connections/);
  });
});

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { advance, createFrameClock } from './frame_clock.ts';

it('frame clock › counts frames, stands still while paused, and drops the time of a tab in the background', () => {
  const clock = createFrameClock();
  const times: number[] = [];
  for (const [frameMs, paused] of [
    [16, false],
    [33, false],
    [50, true],
    [90, true],
    [100, false],
    [60_000, false],
    [59_990, false],
  ] as const) {
    clock.paused = paused;
    assert.equal(advance(clock, frameMs), !paused);
    times.push(clock.nowMs);
  }
  assert.deepEqual(times, [16, 33, 33, 33, 43, 143, 143]);
});

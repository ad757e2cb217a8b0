import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DELAY_STEP_MS, LoopDelay } from './loop_delay.ts';

describe('loop delay', () => {
  it('is what the timer comes late by, the longest one until it is asked for', () => {
    const delay = new LoopDelay(1000, 0);
    delay.look(1000 + DELAY_STEP_MS, 1);
    assert.equal(delay.takeLongestMs(), 0);
    delay.look(1030 + 2 * DELAY_STEP_MS, 2);
    delay.look(1035 + 3 * DELAY_STEP_MS, 3);
    assert.equal(delay.takeLongestMs(), 30);
    assert.equal(delay.takeLongestMs(), 0);
  });

  it('was work for no longer than the thread took CPU time, nor than it lasted', () => {
    const delay = new LoopDelay(0, 50);
    delay.look(40 + DELAY_STEP_MS, 53);
    assert.deepEqual([delay.takeBusiestMs(), delay.takeLongestMs()], [3, 40]);
    delay.look(47 + 2 * DELAY_STEP_MS, 53 + 15);
    assert.equal(delay.takeBusiestMs(), 7);
  });

  it('was work in one delay, though another one was longer', () => {
    const delay = new LoopDelay(0, 0);
    delay.look(40 + DELAY_STEP_MS, 3);
    delay.look(50 + 2 * DELAY_STEP_MS, 13);
    assert.deepEqual([delay.takeBusiestMs(), delay.takeLongestMs()], [10, 40]);
    assert.equal(delay.takeBusiestMs(), 0);
  });

  it('is none while the timer comes in time, or early', () => {
    const delay = new LoopDelay(0, 0);
    for (let n = 1; n < 5; n++) delay.look(n * DELAY_STEP_MS - 0.5, n * DELAY_STEP_MS);
    assert.deepEqual([delay.takeBusiestMs(), delay.takeLongestMs()], [0, 0]);
  });
});

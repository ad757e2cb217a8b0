import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HAND_OVER_MS, LAST_ANSWERS_MS, LAST_ANSWERS_PER_SECOND, LAST_POLLS_MS, waitsOn } from './closing.ts';

describe('closing', () => {
  it('waits for answers for LAST_ANSWERS_MS, longer for many parked polls, and not when there are none', () => {
    for (const [ms, isWaiting] of [
      [LAST_ANSWERS_MS - 1, true],
      [LAST_ANSWERS_MS, false],
      [LAST_ANSWERS_MS + 1, false],
    ] as const) {
      assert.equal(waitsOn(ms, 0, true, false), isWaiting);
      assert.equal(waitsOn(ms + 1000, LAST_ANSWERS_PER_SECOND, true, false), isWaiting);
    }
    assert.equal(waitsOn(0, 0, false, false), false);
  });

  it('waits for sprites that are handed on for HAND_OVER_MS', () => {
    for (const [ms, isWaiting] of [
      [HAND_OVER_MS - 1, true],
      [HAND_OVER_MS, false],
      [HAND_OVER_MS + 1, false],
    ] as const) {
      assert.equal(waitsOn(ms, 0, false, true), isWaiting);
      assert.equal(waitsOn(ms, 0, true, true), isWaiting);
    }
  });

  it('takes less than the 5 s of a stop, and in a cluster less than the 10 s after which Docker kills', () => {
    assert.ok(LAST_POLLS_MS + LAST_ANSWERS_MS < 5_000);
    assert.ok(LAST_POLLS_MS + HAND_OVER_MS < 10_000);
  });
});

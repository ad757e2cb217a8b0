import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { moved } from './body.ts';

const FRAME = { width: 32, height: 24 };

describe('the body', () => {
  it('has sides that are moved one by one, inside of the frame, and never past each other', () => {
    const from = [4, 2, 20, 22] as const; // its right side is at 24, its feet at 24
    for (const [side, by, hitbox] of [
      ['left', 3, [7, 2, 17, 22]],
      ['left', -9, [0, 2, 24, 22]],
      ['left', 99, [23, 2, 1, 22]],
      ['right', 8, [4, 2, 28, 22]],
      ['right', 9, [4, 2, 28, 22]],
      ['right', -99, [4, 2, 1, 22]],
      ['top', -3, [4, 0, 20, 24]],
      ['top', 99, [4, 23, 20, 1]],
      ['bottom', 1, [4, 2, 20, 22]],
      ['bottom', -4, [4, 2, 20, 18]],
      ['bottom', -99, [4, 2, 20, 1]],
    ] as const) {
      assert.deepEqual(moved(from, side, by, FRAME), hitbox, `${side} by ${by}`);
    }
  });
});

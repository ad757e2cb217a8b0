import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keepNewest } from './keep_newest.ts';

describe('keepNewest', () => {
  it('removes what was added first, and only what is over the limit', () => {
    for (const size of [0, 3, 4, 5, 9]) {
      const entries = new Map(Array.from({ length: size }, (_, n) => [n, true]));
      keepNewest(entries, 4);
      const first = Math.max(0, size - 4);
      assert.deepEqual(
        [...entries.keys()],
        Array.from({ length: size - first }, (_, n) => first + n),
      );
    }
  });
});

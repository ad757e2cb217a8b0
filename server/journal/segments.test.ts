import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FRAME_HEAD_BYTES, frameEnd, sealFrame } from './segments.ts';

describe('a frame of the journal', () => {
  it('is whole only when its records are words: none, one, one and a byte less or more, two', () => {
    for (const [recordBytes, isWhole] of [
      [0, false],
      [3, false],
      [4, true],
      [5, false],
      [8, true],
    ] as const) {
      const end = FRAME_HEAD_BYTES + recordBytes;
      const bytes = Buffer.alloc(end + 8);
      sealFrame(bytes, end, 7);
      assert.equal(frameEnd(bytes, 0, 7), isWhole ? end : -1, `${recordBytes} bytes`);
      assert.equal(frameEnd(bytes, 0, 8), -1, 'it has another number');
      assert.equal(frameEnd(bytes.subarray(0, end - 1), 0, 7), -1, 'its last byte is missing');
    }
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readFrameList, writeFrameList } from './frame_list.ts';

describe('a list of frames', () => {
  it('has frames and ranges, forwards and backwards', () => {
    assert.deepEqual(readFrameList('4,5,6,5'), [4, 5, 6, 5]);
    assert.deepEqual(readFrameList(' 0-3 , 2 - 1,7'), [0, 1, 2, 3, 2, 1, 7]);
    for (const wrong of ['', ',', '1,', 'a', '1-', '-1', '1.5', '1--2', '12345']) {
      assert.equal(readFrameList(wrong), undefined, wrong);
    }
  });

  it('is written so that it reads back the same', () => {
    assert.equal(writeFrameList([0, 1, 2, 3, 2, 1, 7]), '0-3, 2, 1, 7');
    for (const frames of [[5], [1, 1, 1], [3, 2, 1, 0], [0, 2, 4], [1, 2, 4, 5, 6, 5, 4]]) {
      assert.deepEqual(readFrameList(writeFrameList(frames)), frames);
    }
    assert.deepEqual([[], [1], [1, 2], [1, 2, 3]].map(writeFrameList), ['', '1', '1, 2', '1-3']);
  });
});

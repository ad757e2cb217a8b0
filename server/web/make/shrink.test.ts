import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drawn, letters } from '../../test/drawn_pixels.ts';
import { shrink, sizeAt } from './shrink.ts';

describe('shrink', () => {
  it('makes each pixel the mean of those that it covers', () => {
    assert.equal(letters(shrink(drawn('rrgg rrgg bbkk bbkk'), 2, true)), 'rg bk');
    const { data } = shrink(drawn('kw wk'), 1, true);
    assert.deepEqual([...data], [128, 128, 128, 255]);
  });

  it('leaves pixels that are at least half covered solid, and no others, and takes no colour from what is transparent', () => {
    assert.equal(letters(shrink(drawn('r. .. rr r. rr ..'), 3, true)), '. r r');
    assert.equal(letters(shrink(drawn('rr. r.. r..'), 1, true)), '.', 'four of nine');
    assert.equal(letters(shrink(drawn('rrr r.. r..'), 1, true)), 'r', 'five of nine');
  });

  it('leaves soft edges soft when it is not to be pixel art, and a picture of that height as it is', () => {
    assert.deepEqual([...shrink(drawn('r. r.'), 1, false).data], [220, 30, 30, 128]);
    const picture = drawn('rg bk');
    assert.equal(shrink(picture, 2, false), picture);
  });

  it('keeps the proportions, and never makes a picture larger', () => {
    assert.deepEqual(sizeAt({ width: 300, height: 200 }, 50), { width: 75, height: 50 });
    assert.deepEqual(sizeAt({ width: 1, height: 200 }, 50), { width: 1, height: 50 });
    for (const height of [2, 3, 1000])
      assert.deepEqual(sizeAt({ width: 3, height: 2 }, height), { width: 3, height: 2 });
    assert.equal(letters(shrink(drawn('rg bk'), 9, true)), 'rg bk');
    const odd = shrink(drawn('rrr rrr rrr rrr rrr'), 2, true);
    assert.equal(letters(odd), 'r r');
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drawn, letters } from '../../test/drawn_pixels.ts';
import { contentBox, trim } from './trim.ts';

describe('trim', () => {
  it('cuts off what is empty around all frames, alike', () => {
    const frames = [drawn('..... ..r.. ..... .....'), drawn('..... ..... ...g. .....')];
    assert.deepEqual(contentBox(frames), { left: 2, top: 1, width: 2, height: 2 });
    assert.deepEqual(trim(frames).map(letters), ['r. ..', '.. .g']);
    const empty = [drawn('.. ..')];
    assert.equal(contentBox(empty), undefined);
    assert.deepEqual(trim(empty).map(letters), ['.. ..'], 'an empty picture stays as it is');
  });
});

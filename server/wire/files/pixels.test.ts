import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drawn, letters } from '../../test/drawn_pixels.ts';
import { FRAMES_MAX } from './description.ts';
import { crop, cutExport, cutGrid, layOut, newPixels } from './pixels.ts';
import { SHEET_SIDE_PIXELS_MAX, SprRefused } from './png.ts';

const exported = (frame: { width: number; height: number }, ...frames: Parameters<typeof cutExport>[0]['frames']) => ({
  ...{ image: undefined, frame, frames },
  ...{ animations: {}, hitbox: undefined },
});

describe('pixels', () => {
  it('are cropped, also where nothing is', () => {
    const picture = drawn('rg bk');
    assert.equal(letters(crop(picture, 1, 0, { width: 1, height: 2 })), 'g k');
    assert.equal(letters(crop(picture, -1, -1, { width: 3, height: 2 })), '... .rg');
    assert.equal(letters(crop(picture, 5, 5, { width: 1, height: 1 })), '.');
  });

  it('of a sheet are cut into frames row by row, and laid out again', () => {
    const frames = cutGrid(drawn('rgbkw rgbkw wwrrb wwrrb ggggg'), { width: 2, height: 2 });
    assert.deepEqual(frames.map(letters), ['rg rg', 'bk bk', 'ww ww', 'rr rr']);
    assert.equal(letters(layOut(frames, { width: 2, height: 2 })), 'rgbk rgbk wwrr wwrr');
    assert.equal(letters(layOut(frames.slice(0, 3), { width: 2, height: 2 })), 'rgbk rgbk ww.. ww..');
  });

  it('are refused as frames when there are none or too many', () => {
    const line = newPixels({ width: FRAMES_MAX + 1, height: 1 });
    assert.equal(
      cutGrid(crop(line, 0, 0, { width: FRAMES_MAX, height: 1 }), { width: 1, height: 1 }).length,
      FRAMES_MAX,
    );
    for (const frame of [
      { width: 1, height: 1 },
      { width: 1, height: 2 },
      { width: 0, height: 1 },
      { width: -1, height: -1 },
      { width: Number.NaN, height: 1 },
    ]) {
      assert.throws(() => cutGrid(line, frame), SprRefused);
    }
  });

  it('of an export are put where they belong on their canvas', () => {
    const frame = { x: 1, y: 0, width: 2, height: 1, offsetX: 1, offsetY: 1 };
    assert.deepEqual(cutExport(exported({ width: 3, height: 2 }, frame), drawn('rgb')).map(letters), ['... .gb']);
    const empty = { x: 0, y: 0, width: 0, height: 0, offsetX: 0, offsetY: 0 };
    assert.deepEqual(cutExport(exported({ width: 1, height: 1 }, empty), drawn('r')).map(letters), ['.']);
  });

  it('of an export are refused where they leave the picture or the canvas', () => {
    const picture = drawn('rgb');
    const frame = { x: 0, y: 0, width: 3, height: 1, offsetX: 0, offsetY: 0 };
    const canvas = { width: 3, height: 1 };
    assert.equal(cutExport(exported(canvas, frame), picture).length, 1);
    for (const wrong of [{ x: 1 }, { y: 1 }, { offsetX: 1 }, { offsetY: 1 }, { width: 4 }]) {
      assert.throws(() => cutExport(exported(canvas, { ...frame, ...wrong }), picture), /does not lie on the picture/);
    }
  });

  it('never need more memory than a sheet may have', () => {
    const one = { x: 0, y: 0, width: 1, height: 1, offsetX: 0, offsetY: 0 };
    for (const side of [SHEET_SIDE_PIXELS_MAX + 1, 2 ** 31, Number.MAX_SAFE_INTEGER, 0]) {
      assert.throws(() => cutExport(exported({ width: side, height: 1 }, one), drawn('r')), /The sheet would have/);
    }
    const frames = Array(5).fill(newPixels({ width: 1, height: SHEET_SIDE_PIXELS_MAX }));
    assert.equal(layOut(frames, frames[0]).height, SHEET_SIDE_PIXELS_MAX);
  });
});

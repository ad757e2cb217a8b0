import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newPixels, type Pixels } from '../../wire/files/pixels.ts';
import { guessFrame } from './strip.ts';

/** A picture of columns × rows frames. A body fills the middle of each, `margin` pixels away from its sides. */
function sheet(columns: number, rows: number, width: number, height: number, margin: number): Pixels {
  const pixels = newPixels({ width: columns * width, height: rows * height });
  const isBody = (at: number, side: number) => at % side >= margin && at % side < side - margin;
  for (let y = 0; y < pixels.height; y++) {
    for (let x = 0; x < pixels.width; x++) {
      if (isBody(x, width) && isBody(y, height)) pixels.data.set([200, 20, 20, 255], 4 * (y * pixels.width + x));
    }
  }
  return pixels;
}

describe('strip', () => {
  it('is divided where lines are empty', () => {
    for (const [columns, rows, width, height] of [
      [4, 1, 32, 32],
      [6, 1, 24, 48],
      [3, 5, 16, 16],
      [1, 8, 20, 12],
    ]) {
      assert.deepEqual(guessFrame(sheet(columns, rows, width, height, 2)), { width, height }, `${columns}×${rows}`);
    }
  });

  it('is divided into squares when nothing is transparent and it is low', () => {
    assert.deepEqual(guessFrame(sheet(5, 1, 48, 48, 0)), { width: 48, height: 48 });
  });

  it('is one frame when it looks like a picture', () => {
    for (const [picture, what] of [
      [sheet(1, 1, 64, 64, 6), 'a character with room around it'],
      [sheet(1, 1, 900, 600, 0), 'a photograph'],
      [sheet(2, 1, 800, 800, 0), 'a wide photograph'],
      [sheet(1, 1, 7, 3, 0), 'a few pixels'],
      [newPixels({ width: 1, height: 1 }), 'a pixel'],
    ] as const) {
      const { width, height } = picture;
      assert.deepEqual(guessFrame(picture), { width, height }, what);
    }
  });
});

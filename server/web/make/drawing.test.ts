import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { drawn } from '../../test/drawn_pixels.ts';
import { RIM_MAX } from '../pictures/cutout.ts';
import type { Picturing } from './draft.ts';
import { draw, HEIGHT_MAX, HEIGHT_MIN } from './drawing.ts';

const PICTURING: Picturing = {
  ...{ frame: null, height: 24, isPixelArt: false, colours: 24, isAlive: false },
  cut: { fromEdges: false, picks: [], tolerance: 0, rim: 0 },
};

/** Returns the height of the frame that is made of a picture of `sourceHeight` when `height` is asked for. */
function heightOf(sourceHeight: number, height: number): number {
  const frames = [drawn('rg '.repeat(sourceHeight))];
  return draw({ name: 'Bar', frames, isWhole: true, isPhoto: false }, { ...PICTURING, height }).frame.height;
}

describe('a drawing', () => {
  it('has frames of HEIGHT_MIN to HEIGHT_MAX pixels, and never more than the picture has', () => {
    const made = (height: number) => heightOf(HEIGHT_MAX + 10, height);
    assert.deepEqual([0, HEIGHT_MIN - 1, HEIGHT_MIN, HEIGHT_MIN + 1].map(made), [
      ...[HEIGHT_MIN, HEIGHT_MIN],
      ...[HEIGHT_MIN, HEIGHT_MIN + 1],
    ]);
    assert.deepEqual([HEIGHT_MAX - 1, HEIGHT_MAX, HEIGHT_MAX + 1].map(made), [HEIGHT_MAX - 1, HEIGHT_MAX, HEIGHT_MAX]);
    assert.equal(heightOf(HEIGHT_MIN - 3, HEIGHT_MIN), HEIGHT_MIN - 3);
  });

  it('has its limits on the sliders of the page', () => {
    const page = readFileSync(join(import.meta.dirname, './make.html'), 'utf8');
    const rangeOf = (id: string) => new RegExp(`id="${id}" min="(\\d+)" max="(\\d+)"`).exec(page)?.slice(1).map(Number);
    assert.deepEqual(rangeOf('height'), [HEIGHT_MIN, HEIGHT_MAX]);
    assert.deepEqual(rangeOf('rim'), [0, RIM_MAX]);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drawn, letters } from '../../test/drawn_pixels.ts';
import { newPixels, type Pixels } from '../../wire/files/pixels.ts';
import { reduceColours } from './palette.ts';

const coloursOf = (frames: readonly Pixels[]) =>
  new Set(
    frames.flatMap(({ data }) =>
      Array.from({ length: data.length / 4 }, (_, i) => data.slice(4 * i, 4 * i + 4).join()),
    ),
  );

/** A picture with a gradient of as many colours as it is wide. */
function gradient(width: number): Pixels {
  const pixels = newPixels({ width, height: 1 });
  for (let x = 0; x < width; x++) pixels.data.set([(255 * x) / width, 90, 40, 255], 4 * x);
  return pixels;
}

describe('palette', () => {
  it('has at most as many colours as were wanted, for all frames together', () => {
    for (const colours of [2, 3, 8, 16]) {
      const frames = reduceColours([gradient(256), gradient(100)], colours);
      assert.equal(coloursOf(frames).size, colours);
    }
  });

  it('keeps the colours of a picture that has few', () => {
    const picture = drawn('rgb kww ...');
    assert.equal(letters(reduceColours([picture], 5)[0]), letters(picture));
    assert.equal(letters(reduceColours([picture], 256)[0]), letters(picture));
  });

  it('does not lose a small part of a different colour, such as an eye', () => {
    const picture = drawn(`${'wlwlwlwlwlwlwlwlwlwl '.repeat(10)}wlwlwlwlkwlwlwlwlwlw`);
    assert.match(letters(reduceColours([picture], 2)[0]), /k/);
  });

  it('keeps what is transparent, without a colour, and copes with nothing else', () => {
    const hidden = newPixels({ width: 2, height: 1 });
    hidden.data.set([9, 9, 9, 0, 255, 0, 0, 77]);
    assert.deepEqual([...reduceColours([hidden], 4)[0].data], [0, 0, 0, 0, 255, 0, 0, 77]);
    assert.equal(letters(reduceColours([drawn('.. ..')], 4)[0]), '.. ..');
    assert.deepEqual(reduceColours([], 4), []);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { crc32, inflateSync } from 'node:zlib';
import { PNG } from 'pngjs';
import { readPng } from '../../server/wire/png.ts';
import { COLOURS_MAX, writeAnimatedPng } from './animated_png.ts';

const [WIDTH, HEIGHT] = [5, 4];
const RED_GREEN_BLUE = [0xff0000, 0x00ff00, 0x0000ff];
const filled = (number: number) => new Uint8Array(WIDTH * HEIGHT).fill(number);
const withPixel = (pixels: Uint8Array, at: number, number: number) => pixels.with(at, number);

/** Reads an animation as a viewer shows it. */
function shownBy(bytes: Uint8Array): { pixels: Uint8Array; ms: number; area: number[] }[] {
  const frames: { pixels: Uint8Array; ms: number; area: number[] }[] = [];
  let numbers = 0;
  for (const { type, content } of readPng(bytes, crc32).chunks) {
    const view = Buffer.from(content);
    if (type === 'fcTL') {
      assert.equal(view.readUInt32BE(0), numbers++);
      const area = [4, 8, 12, 16].map((at) => view.readUInt32BE(at));
      frames.push({ pixels: frames.at(-1)?.pixels.slice() ?? filled(0), ms: view.readUInt16BE(20), area });
    }
    if (type === 'fdAT') assert.equal(view.readUInt32BE(0), numbers++);
    if (type !== 'IDAT' && type !== 'fdAT') continue;
    const { pixels, area } = frames.at(-1)!;
    const [width, height, left, top] = area;
    const raw = inflateSync(type === 'fdAT' ? view.subarray(4) : view);
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const number = raw[y * (1 + width) + 1 + x];
        if (number !== 0) pixels[(top + y) * WIDTH + left + x] = number;
      }
    }
  }
  return frames;
}

describe('a picture that moves', () => {
  it('plays the frames unchanged, each for its duration', () => {
    const one = filled(1);
    const two = withPixel(withPixel(one, 6, 2), 13, 3);
    const bytes = writeAnimatedPng(WIDTH, HEIGHT, RED_GREEN_BLUE, [
      { pixels: one, ms: 100 },
      { pixels: two, ms: 70 },
      { pixels: one, ms: 300 },
    ]);
    assert.deepEqual(
      shownBy(bytes).map(({ pixels, ms }) => ({ pixels, ms })),
      [
        { pixels: one, ms: 100 },
        { pixels: two, ms: 70 },
        { pixels: one, ms: 300 },
      ],
    );
  });

  it('holds only the rectangle that changes, and shows a frame longer when nothing does', () => {
    const one = filled(1);
    const bytes = writeAnimatedPng(WIDTH, HEIGHT, RED_GREEN_BLUE, [
      { pixels: one, ms: 100 },
      { pixels: one, ms: 100 },
      { pixels: withPixel(withPixel(one, 6, 2), 13, 3), ms: 50 },
    ]);
    const frames = shownBy(bytes);
    assert.deepEqual(
      frames.map(({ ms }) => ms),
      [200, 50],
    );
    assert.deepEqual(frames[1].area, [3, 2, 1, 1]); // from column 1 to 3, rows 1 and 2
  });

  it('is its first frame for a program that shows no animations', () => {
    const bytes = writeAnimatedPng(WIDTH, HEIGHT, RED_GREEN_BLUE, [
      { pixels: filled(3), ms: 100 },
      { pixels: filled(1), ms: 100 },
    ]);
    assert.deepEqual([...PNG.sync.read(Buffer.from(bytes)).data.subarray(0, 4)], [0, 0, 255, 255]);
  });

  it('rejects more colours than a palette has', () => {
    const frames = [{ pixels: filled(1), ms: 1 }];
    assert.doesNotThrow(() => writeAnimatedPng(WIDTH, HEIGHT, Array(COLOURS_MAX).fill(0), frames));
    assert.throws(() => writeAnimatedPng(WIDTH, HEIGHT, Array(COLOURS_MAX + 1).fill(0), frames));
  });
});

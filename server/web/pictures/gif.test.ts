import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { GifReader } from 'omggif';
import { GifWriter, toGif } from './gif.ts';
import { Palette } from './palette.ts';

interface Case {
  name: string;
  width: number;
  height: number;
  /** Noise in a box, over the frame before: its seed, and the bits of each channel that it may set. */
  frames: { ms: number; box: [left: number, top: number, right: number, bottom: number]; seed: number; mask: number }[];
  size: number;
  sha256: string;
}

const FILE = join(import.meta.dirname, '../../../client-win/gif.vectors.json');
const CASES: Case[] = JSON.parse(readFileSync(FILE, 'utf8'));
const ROOM = 2 ** 20;

/** The pixels of each frame of a case. */
function framesOf({ width, height, frames }: Case): { pixels: Uint8ClampedArray; ms: number }[] {
  const shown = new Uint8ClampedArray(4 * width * height).fill(255);
  return frames.map(({ ms, box: [left, top, right, bottom], seed, mask }) => {
    let state = seed;
    for (let y = top; y <= bottom; y++) {
      for (let at = 4 * (y * width + left); at < 4 * (y * width + right + 1); at += 4) {
        for (let i = 0; i < 3; i++) {
          state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
          shown[at + i] = (state >>> 24) & mask;
        }
      }
    }
    return { pixels: shown.slice(), ms };
  });
}

function gifOf(one: Case, bytesMax: number): Uint8Array | null {
  const frames = framesOf(one);
  const palette = new Palette();
  for (const { pixels } of frames) palette.count(pixels);
  palette.choose();
  const gif = new GifWriter(one, palette, bytesMax);
  return frames.every(({ pixels, ms }) => gif.add(pixels, ms)) ? gif.end() : null;
}

const caseOf = (name: string) => CASES.find((one) => one.name === name) as Case;

describe('an animated GIF', () => {
  for (const one of CASES) {
    it(`is the same bytes as those of the programs: ${one.name}`, () => {
      const bytes = gifOf(one, ROOM) as Uint8Array;
      assert.equal(bytes.length, one.size);
      assert.equal(createHash('sha256').update(bytes).digest('hex'), one.sha256);
    });

    it(`has the pixels that were drawn, and their times: ${one.name}`, () => {
      const frames = framesOf(one);
      const reader = new GifReader(gifOf(one, ROOM) as never);
      assert.deepEqual([reader.width, reader.height, reader.loopCount()], [one.width, one.height, 0]);
      const shown = new Uint8ClampedArray(4 * one.width * one.height);
      let [read, untilMs] = [-1, 0];
      let passedMs = 0;
      // Eight levels of a channel are one bucket, and a box of buckets one colour: no pixel is far from what was drawn.
      const far = one.frames.some(({ mask }) => mask % 8 !== 0) ? 40 : 0;
      for (const [i, { pixels, ms }] of frames.entries()) {
        if (i === 0 || !pixels.every((value, at) => value === frames[i - 1].pixels[at])) {
          read++;
          reader.decodeAndBlitFrameRGBA(read, shown as never);
          untilMs += 10 * reader.frameInfo(read).delay;
        }
        for (let at = 0; at < shown.length; at++)
          assert.ok(Math.abs(shown[at] - pixels[at]) <= far, `frame ${i}, byte ${at}: ${shown[at]} for ${pixels[at]}`);
        passedMs += ms;
      }
      assert.equal(read, reader.numFrames() - 1);
      assert.ok(Math.abs(untilMs - passedMs) <= 5, `${untilMs} ms for ${passedMs}`);
    });
  }

  it('is not longer than it may be', () => {
    const one = caseOf('noise');
    assert.equal(gifOf(one, one.size)?.length, one.size);
    assert.equal(gifOf(one, one.size + 1)?.length, one.size);
    assert.equal(gifOf(one, one.size - 1), null);
  });

  it('leaves out every second frame when it would be too long, and is as long in time', async () => {
    const one = caseOf('noise');
    const frames = framesOf(one).map(({ pixels, ms }) => ({ ms, draw: async () => pixels }));
    const delays = async (bytesMax: number) => {
      const reader = new GifReader((await toGif(one, frames, bytesMax)) as never);
      return [...Array(reader.numFrames()).keys()].map((i) => reader.frameInfo(i).delay);
    };
    assert.deepEqual(await delays(one.size + 1), [5, 5, 5]);
    assert.deepEqual(await delays(one.size), [5, 5, 5]);
    assert.deepEqual(await delays(one.size - 1), [10, 5]);
    assert.deepEqual(await delays(one.size / 2), [15]);
  });

  it('makes a frame longer whose follower is the same', () => {
    const reader = new GifReader(gifOf(caseOf('a pause'), ROOM) as never);
    assert.deepEqual(
      [...Array(reader.numFrames()).keys()].map((i) => reader.frameInfo(i).delay),
      [15, 5],
    );
  });
});

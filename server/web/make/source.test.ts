import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PNG_SIGNATURE } from '../../wire/files/png.ts';
import { PHOTO_SIDE } from '../pictures/picture_files.ts';
import { readSource, SOURCE_BYTES_MAX, SOURCE_PIXELS_MAX } from './source.ts';

/** The browser's decoder and canvas, for pictures of any size without their pixels. Undefined: the decoder can't read the picture. */
let decoded: { width: number; height: number } | undefined;
Object.assign(globalThis, {
  createImageBitmap: async () => {
    if (decoded === undefined) throw new DOMException('The source image could not be decoded.', 'InvalidStateError');
    return { ...decoded, close: () => {} };
  },
  OffscreenCanvas: class {
    readonly width: number;
    readonly height: number;
    constructor(width: number, height: number) {
      [this.width, this.height] = [width, height];
    }
    getContext() {
      const { width, height } = this;
      return {
        drawImage: () => {},
        getImageData: () => ({ width, height, data: new Uint8ClampedArray(4 * width * height) }),
      };
    }
  },
});

const JPEG = Uint8Array.of(0xff, 0xd8, 0xff);

/** Reads a file of this kind that the browser decodes to this size. */
async function read(width: number, height: number, bytes = JPEG, sizeBytes = bytes.length) {
  decoded = { width, height };
  const file = new File([bytes], 'Picture');
  Object.defineProperty(file, 'size', { value: sizeBytes });
  const { frames, isPhoto } = await readSource([file]);
  return { width: frames[0].width, height: frames[0].height, isPhoto };
}

describe('a source', () => {
  it('is a photograph scaled down to PHOTO_SIDE, and never up', async () => {
    for (const side of [PHOTO_SIDE - 1, PHOTO_SIDE]) {
      assert.deepEqual(await read(side, 10), { width: side, height: 10, isPhoto: true });
    }
    assert.deepEqual(await read(PHOTO_SIDE + 1, 10), { width: PHOTO_SIDE, height: 10, isPhoto: true });
    assert.deepEqual(await read(10, 4 * PHOTO_SIDE), { width: 3, height: PHOTO_SIDE, isPhoto: true });
    assert.deepEqual(await read(100 * PHOTO_SIDE, 1), { width: PHOTO_SIDE, height: 1, isPhoto: true });
  });

  it('is drawn when it is a PNG of at most DRAWN_PIXELS_MAX pixels, and else a photograph', async () => {
    const png = Uint8Array.from(PNG_SIGNATURE);
    assert.deepEqual(await read(2048, 1024, png), { width: 2048, height: 1024, isPhoto: false });
    assert.deepEqual(await read(2048, 1023, png), { width: 2048, height: 1023, isPhoto: false });
    assert.deepEqual(await read(2048, 1025, png), { width: PHOTO_SIDE, height: 320, isPhoto: true });
  });

  it('is a file of at most SOURCE_BYTES_MAX', async () => {
    for (const sizeBytes of [SOURCE_BYTES_MAX - 1, SOURCE_BYTES_MAX]) {
      assert.deepEqual(await read(10, 10, JPEG, sizeBytes), { width: 10, height: 10, isPhoto: true });
    }
    await assert.rejects(read(10, 10, JPEG, SOURCE_BYTES_MAX + 1), /file\.too-large/);
  });

  it('is refused by its name when the browser cannot decode it', async () => {
    decoded = undefined;
    await assert.rejects(readSource([new File([JPEG], 'cat.jpg')]), /^Error: file\.no-picture/);
  });

  it('is left to the browser when it is a GIF whose frames cannot be read', async () => {
    const gif = new TextEncoder().encode('GIF89a');
    assert.deepEqual(await read(30, 20, gif), { width: 30, height: 20, isPhoto: false });
  });

  it('has at most SOURCE_PIXELS_MAX pixels in all frames of an export', async () => {
    const side = Math.sqrt(SOURCE_PIXELS_MAX / 2); // a sheet of two halves
    for (const [height, isRefused] of [
      [side - 1, false],
      [side, false],
      [side + 1, true],
    ] as const) {
      decoded = { width: 2 * side, height };
      const frame = { frame: { x: 0, y: 0, w: 2 * side, h: height }, duration: 100 };
      const json = JSON.stringify({ frames: [frame], meta: { image: 'a.png', size: { w: 2 * side, h: height } } });
      const files = [new File([json], 'a.json', { type: 'application/json' }), new File([JPEG], 'a.png')];
      const outcome = await readSource(files).then(
        () => '',
        (error: Error) => error.message,
      );
      assert.equal(outcome === 'file.too-many-pixels', isRefused, `${height}: ${outcome}`);
    }
  });
});

/**
 * Writes an animated GIF (GIF89a), the one animation that every program shows which gets it from somebody.
 *
 * All frames share one palette, whose colour 0 is what has not changed: a frame only has what has changed since the one before. The programs
 * write the same bytes: gif.vectors.json holds both to them.
 * Cost: O(pixels) a frame; 2 MB for the codes, and the file.
 */
import type { Size } from '../motion/simulation.ts';
import { Palette } from './palette.ts';

const [CLEAR, END, CODES_MAX] = [256, 257, 4096];
const BLOCK_BYTES_MAX = 255;
const CS_MS = 10; // ms: a GIF counts hundredths of a second

/** A frame, which is drawn when its pixels are needed: four bytes each, as those of a canvas. */
export interface Frame {
  readonly ms: number;
  readonly draw: () => Promise<Uint8ClampedArray>;
}

/** Writes an animation. If it would be too long, every second frame is left out, of that again every second one, and so on. REQUIRES: one frame fits. */
export async function toGif(size: Size, frames: readonly Frame[], bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const palette = new Palette();
  for (const { draw } of frames) palette.count(await draw());
  palette.choose();
  for (let every = 1; ; every *= 2) {
    const gif = new GifWriter(size, palette, bytesMax);
    let hasRoom = true;
    for (let i = 0; i < frames.length && hasRoom; i += every) {
      const shown = frames.slice(i, i + every);
      hasRoom = gif.add(
        await shown[0].draw(),
        shown.reduce((sum, { ms }) => sum + ms, 0),
      );
    }
    if (hasRoom) return gif.end();
  }
}

export class GifWriter {
  readonly #width: number;
  readonly #height: number;
  readonly #palette: Palette;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #codes = new Uint16Array(CODES_MAX * 256);
  #size = 0;
  #shown: Uint8Array | null = null;
  #delayAt = 0;
  #lateMs = 0;

  /** An animation that repeats for ever, of at most `bytesMax` bytes. */
  constructor({ width, height }: Size, palette: Palette, bytesMax: number) {
    [this.#width, this.#height, this.#palette] = [width, height, palette];
    this.#bytes = new Uint8Array(bytesMax);
    this.#put(...ascii('GIF89a'), ...word(width), ...word(height), 0xf7, 0, 0, ...palette.colours);
    this.#put(0x21, 0xff, 11, ...ascii('NETSCAPE2.0'), 3, 1, 0, 0, 0);
  }

  /** Adds a frame that is shown for `ms`. One like the frame before makes that longer. Returns false when the file is full. */
  add(pixels: Uint8ClampedArray, ms: number): boolean {
    const delay = Math.round((ms + this.#lateMs) / CS_MS);
    this.#lateMs += ms - delay * CS_MS;
    const indices = this.#palette.indicesOf(pixels);
    const [left, top, right, bottom] = this.#changed(indices);
    if (right < left) {
      const { [this.#delayAt]: low, [this.#delayAt + 1]: high } = this.#bytes;
      this.#bytes.set(word(low + 256 * high + delay), this.#delayAt);
      return this.#size < this.#bytes.length;
    }
    this.#delayAt = this.#size + 4;
    this.#put(0x21, 0xf9, 4, 0x05, ...word(delay), 0, 0); // what is drawn stays; 0 is transparent
    this.#put(0x2c, ...[left, top, right - left + 1, bottom - top + 1].flatMap(word), 0, 8);
    this.#compress(indices, [left, top, right, bottom]);
    this.#shown = indices;
    return this.#size < this.#bytes.length;
  }

  /** Returns the whole file. */
  end(): Uint8Array<ArrayBuffer> {
    this.#put(0x3b);
    return this.#bytes.slice(0, this.#size);
  }

  #put(...bytes: number[]): void {
    for (const byte of bytes) this.#bytes[this.#size++] = byte; // those beyond its end are dropped
  }

  /** Returns the box of what has changed: all of the first frame. Its right is left of its left when nothing has. */
  #changed(indices: Uint8Array): [left: number, top: number, right: number, bottom: number] {
    const shown = this.#shown;
    if (shown === null) return [0, 0, this.#width - 1, this.#height - 1];
    let [left, top, right, bottom] = [this.#width, this.#height, -1, -1];
    for (let i = 0, y = 0; y < this.#height; y++) {
      for (let x = 0; x < this.#width; x++, i++) {
        if (indices[i] === shown[i]) continue;
        left = Math.min(left, x);
        right = Math.max(right, x);
        top = Math.min(top, y);
        bottom = y;
      }
    }
    return [left, top, right, bottom];
  }

  /** Writes the pixels of a box with LZW codes of 9 to 12 bits, the lowest bit first (GIF89a, appendix F). */
  #compress(indices: Uint8Array, [left, top, right, bottom]: readonly number[]): void {
    const shown = this.#shown;
    let [codeBits, next, held, bits, block] = [9, END + 1, 0, 0, this.#size++];
    const putByte = () => {
      this.#put(held & 255);
      held >>>= 8;
      bits -= 8;
      if (this.#size - block <= BLOCK_BYTES_MAX) return;
      this.#bytes[block] = BLOCK_BYTES_MAX;
      block = this.#size++;
    };
    const putCode = (code: number) => {
      held |= code << bits;
      bits += codeBits;
      while (bits >= 8) putByte();
    };
    const addCode = (key: number) => {
      if (next === 1 << codeBits) codeBits++;
      this.#codes[key] = next++;
    };
    this.#codes.fill(0);
    putCode(CLEAR);
    let prefix = -1;
    for (let y = top; y <= bottom; y++) {
      for (let i = y * this.#width + left; i <= y * this.#width + right; i++) {
        const index = shown !== null && shown[i] === indices[i] ? 0 : indices[i];
        const key = (prefix << 8) | index;
        const known = prefix < 0 ? index : this.#codes[key];
        if (prefix < 0 || known !== 0) {
          prefix = known;
          continue;
        }
        putCode(prefix);
        prefix = index;
        if (next < CODES_MAX) {
          addCode(key);
          continue;
        }
        putCode(CLEAR);
        this.#codes.fill(0);
        [codeBits, next] = [9, END + 1];
      }
    }
    putCode(prefix);
    if (next < CODES_MAX) addCode(0); // as the reader does
    putCode(END);
    while (bits > 0) putByte();
    this.#bytes[block] = this.#size - block - 1;
    if (this.#bytes[block] > 0) this.#put(0);
  }
}

const word = (value: number) => [value & 255, value >> 8];
const ascii = (text: string) => [...text].map((letter) => letter.charCodeAt(0));

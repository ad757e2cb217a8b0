/**
 * Writes a picture that moves: a PNG with a palette whose frames change only what moves. Any PNG program shows its first frame.
 *
 * Cost: O(pixels of all frames), and zlib at its slowest.
 * Source  https://www.w3.org/TR/png-3/#apng-frame-based-animation
 */
import { crc32, deflateSync } from 'node:zlib';
import { type Chunk, writePng } from '../../server/wire/png.ts';

export interface AnimatedFrame {
  /** The colour of each pixel, row by row, as its number in the palette from 1 on. */
  pixels: Uint8Array;
  /** How long it is shown. */
  ms: number;
}

/** The colour number of pixels that a frame leaves as they were. */
const UNCHANGED = 0;

/** Colours of a palette: number 0 is UNCHANGED. */
export const COLOURS_MAX = 255;

/** The longest time of a frame, in ms: 16 bits hold it. */
export const FRAME_MS_MAX = 65_535;

/** `palette`: 0xRRGGBB of the colours 1, 2, …. It repeats for ever. */
export function writeAnimatedPng(
  width: number,
  height: number,
  palette: readonly number[],
  frames: readonly AnimatedFrame[],
): Uint8Array<ArrayBuffer> {
  if (palette.length > COLOURS_MAX) throw new Error(`A palette has at most ${COLOURS_MAX} colours.`);
  const chunks: Chunk[] = [];
  let sequence = 0;
  let shown: Uint8Array | undefined;
  const seen: { ms: number; control: Buffer }[] = [];
  for (const { pixels, ms } of frames) {
    const area = shown === undefined ? { left: 0, top: 0, width, height } : changedArea(shown, pixels, width);
    const last = seen.at(-1);
    if (area === undefined && last !== undefined) {
      last.ms = Math.min(FRAME_MS_MAX, last.ms + ms);
      last.control.writeUInt16BE(last.ms, 20);
      continue;
    }
    const { left, top, width: wide, height: high } = area!;
    const raw = Buffer.alloc(high * (1 + wide)); // a filter byte of 0 before each row
    for (let y = 0; y < high; y++) {
      for (let x = 0; x < wide; x++) {
        const at = (top + y) * width + left + x;
        raw[y * (1 + wide) + 1 + x] = shown?.[at] === pixels[at] ? UNCHANGED : pixels[at];
      }
    }
    const control = Buffer.alloc(26);
    for (const [i, value] of [sequence++, wide, high, left, top].entries()) control.writeUInt32BE(value, 4 * i);
    control.writeUInt16BE(Math.min(FRAME_MS_MAX, ms), 20);
    control.writeUInt16BE(1000, 22);
    control[24] = 0; // leave the frame as it is
    control[25] = shown === undefined ? 0 : 1; // draw the next one over it
    seen.push({ ms, control });
    chunks.push({ type: 'fcTL', content: control });
    const packed = deflateSync(raw, { level: 9, memLevel: 9 });
    if (shown === undefined) chunks.push({ type: 'IDAT', content: packed });
    else {
      const content = Buffer.alloc(4 + packed.length);
      content.writeUInt32BE(sequence++);
      content.set(packed, 4);
      chunks.push({ type: 'fdAT', content });
    }
    shown = pixels;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8); // bits of a colour's number, and the colour type: palette
  const counts = Buffer.alloc(8);
  counts.writeUInt32BE(seen.length);
  const colours = [0, ...palette].flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]);
  return writePng(
    [
      { type: 'IHDR', content: header },
      { type: 'acTL', content: counts },
      { type: 'PLTE', content: Buffer.from(colours) },
      { type: 'tRNS', content: Buffer.from([0]) },
      ...chunks,
      { type: 'IEND', content: Buffer.alloc(0) },
    ],
    crc32,
  );
}

/** The smallest rectangle with all pixels that differ; undefined if none does. */
function changedArea(before: Uint8Array, after: Uint8Array, width: number) {
  let [left, right, top, bottom] = [width, -1, -1, -1];
  for (let at = 0; at < after.length; at++) {
    if (before[at] === after[at]) continue;
    const [x, y] = [at % width, Math.floor(at / width)];
    left = Math.min(left, x);
    right = Math.max(right, x);
    if (top < 0) top = y;
    bottom = y;
  }
  return bottom < 0 ? undefined : { left, top, width: right - left + 1, height: bottom - top + 1 };
}

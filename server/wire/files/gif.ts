/**
 * Reads a GIF into whole frames, each drawn over what the previous frame left, as browsers do.
 *
 * A library (omggif), which the caller passes, unpacks the frames. This file decides what a frame leaves behind, and how large a GIF may
 * be. Browser-safe.
 * Cost: the pixels of the whole screen for each frame. Sizes are checked before anything is unpacked.
 */
import { type Animation, FPS_MAX, FRAMES_MAX } from './description.ts';
import { SHEET_SIDE_PIXELS_MAX, SprRefused } from './png.ts';

/** A frame, as the library describes it. */
interface Frame {
  x: number;
  y: number;
  width: number;
  height: number;
  /** In hundredths of a second. */
  delay: number;
  disposal: number;
}

/** What this file needs of the library's GifReader. */
interface Reader {
  width: number;
  height: number;
  numFrames(): number;
  frameInfo(frame: number): Frame;
  decodeAndBlitFrameRGBA(frame: number, rgba: Uint8Array): void;
}

type GifReaderClass = new (bytes: Uint8Array) => Reader;

interface Gif {
  width: number;
  height: number;
  frames: { rgba: Uint8Array<ArrayBuffer>; ms: number }[];
}

/** Browsers replace a delay of at most this, which nobody meant, by the usual one. In ms. */
const DELAY_MS_IGNORED_MAX = 10;
const DELAY_MS_USUAL = 100;

/** What GIF calls disposal: the frame's area becomes transparent, or what it was before the frame. */
const [CLEAR, RESTORE] = [2, 3];

/** Throws SprRefused, part `gif`, when the file is broken or too large. */
export function readGif(bytes: Uint8Array, GifReader: GifReaderClass): Gif {
  try {
    return compose(new GifReader(bytes));
  } catch (error) {
    if (error instanceof SprRefused) throw error;
    throw new SprRefused('gif', `The GIF can't be read: ${error instanceof Error ? error.message : error}.`);
  }
}

/** Repeats each frame according to its share of the time, in steps of the shortest one; if that makes too many, plays each once. */
export function shownFor(ms: number[]): Animation {
  const stepMsMin = 1000 / FPS_MAX;
  const stepMs = Math.max(Math.min(...ms), stepMsMin);
  const frames = ms.flatMap((one, frame) => Array<number>(Math.max(1, Math.round(one / stepMs))).fill(frame));
  if (frames.length <= FRAMES_MAX) return { frames, fps: 1000 / stepMs };
  const meanMs = ms.reduce((sum, one) => sum + one, 0) / ms.length;
  return { frames: [...ms.keys()], fps: 1000 / Math.max(meanMs, stepMsMin) };
}

function compose(reader: Reader): Gif {
  const { width, height } = reader;
  const count = reader.numFrames();
  const infos = Array.from({ length: Math.min(count, FRAMES_MAX + 1) }, (_, i) => reader.frameInfo(i));
  check(width, height, infos);
  const screen = new Uint8Array(4 * width * height);
  const frames = infos.map((frame, i) => {
    const before = frame.disposal === RESTORE ? screen.slice() : undefined;
    reader.decodeAndBlitFrameRGBA(i, screen);
    const rgba = screen.slice();
    if (frame.disposal === CLEAR) clear(screen, width, frame);
    if (before) screen.set(before);
    const ms = 10 * frame.delay;
    return { rgba, ms: ms <= DELAY_MS_IGNORED_MAX ? DELAY_MS_USUAL : ms };
  });
  return { width, height, frames };
}

function check(width: number, height: number, frames: Frame[]): void {
  if (frames.length === 0 || frames.length > FRAMES_MAX) {
    const many = frames.length === 0 ? 'no frames' : `more than ${FRAMES_MAX} frames`;
    throw new SprRefused('gif', `The GIF has ${many}; 1 to ${FRAMES_MAX} are allowed.`);
  }
  // All frames lie side by side on one sheet.
  if (!(width >= 1 && height >= 1 && width * height * frames.length <= SHEET_SIDE_PIXELS_MAX ** 2)) {
    throw new SprRefused('gif', `${frames.length} frames of ${width}×${height} pixels do not fit on a sheet.`);
  }
  for (const [i, frame] of frames.entries()) {
    if (frame.x + frame.width > width || frame.y + frame.height > height) {
      throw new SprRefused('gif', `Frame ${i} lies partly outside of the GIF's ${width}×${height} pixels.`);
    }
  }
}

function clear(screen: Uint8Array, width: number, frame: Frame): void {
  for (let row = frame.y; row < frame.y + frame.height; row++) {
    const start = 4 * (row * width + frame.x);
    screen.fill(0, start, start + 4 * frame.width);
  }
}

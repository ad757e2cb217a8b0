/**
 * A GIF's frames, each whole: drawn over what the one before it left, as browsers do.
 *
 * omggif unpacks them; what a frame leaves behind, and how large all of it may be, is decided here.
 * Cost: the pixels of the screen for each frame that is kept; sizes are checked before any of it is unpacked.
 */
import { type Frame, GifReader } from 'omggif';
import { FRAMES_MAX } from '../wire/description.ts';
import { SHEET_SIDE_PIXELS_MAX, SprRefused } from '../wire/png.ts';

export interface Gif {
  width: number;
  height: number;
  frames: { rgba: Buffer; ms: number }[];
}

const MS_UNMEANT = 10; // ms: up to here a delay was not meant; browsers take it for
const MS_USUAL = 100;
const [CLEAR, RESTORE] = [2, 3];

/** Throws SprRefused, part `gif`: what is wrong with the file, or too much of it. */
export function readGif(bytes: Buffer): Gif {
  try {
    return compose(new GifReader(bytes));
  } catch (error) {
    if (error instanceof SprRefused) throw error;
    throw new SprRefused('gif', `The GIF can't be read: ${error instanceof Error ? error.message : error}.`);
  }
}

function compose(reader: GifReader): Gif {
  const { width, height } = reader;
  const count = reader.numFrames();
  const infos = Array.from({ length: Math.min(count, FRAMES_MAX + 1) }, (_, i) => reader.frameInfo(i));
  check(width, height, infos);
  const screen = Buffer.alloc(4 * width * height);
  const frames = infos.map((frame, i) => {
    const hidden = frame.disposal === RESTORE ? Buffer.from(screen) : undefined;
    reader.decodeAndBlitFrameRGBA(i, screen);
    const rgba = Buffer.from(screen);
    if (frame.disposal === CLEAR) clear(screen, width, frame);
    hidden?.copy(screen);
    const ms = 10 * frame.delay;
    return { rgba, ms: ms <= MS_UNMEANT ? MS_USUAL : ms };
  });
  return { width, height, frames };
}

function check(width: number, height: number, frames: Frame[]): void {
  if (frames.length === 0 || frames.length > FRAMES_MAX) {
    throw new SprRefused('gif', `The GIF has ${frames.length || 'no'} frames or more; 1 to ${FRAMES_MAX} are allowed.`);
  }
  // Of all frames side by side, which is how they come to lie on a sheet.
  if (!(width >= 1 && height >= 1 && width * height * frames.length <= SHEET_SIDE_PIXELS_MAX ** 2)) {
    throw new SprRefused('gif', `${frames.length} frames of ${width}×${height} pixels do not fit on a sheet.`);
  }
  for (const [i, frame] of frames.entries()) {
    if (frame.x + frame.width > width || frame.y + frame.height > height) {
      throw new SprRefused('gif', `Frame ${i} lies partly outside of the GIF's ${width}×${height} pixels.`);
    }
  }
}

function clear(screen: Buffer, width: number, frame: Frame): void {
  for (let row = frame.y; row < frame.y + frame.height; row++) {
    const start = 4 * (row * width + frame.x);
    screen.fill(0, start, start + 4 * frame.width);
  }
}

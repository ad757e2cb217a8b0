/**
 * Strips: guesses how large the frames are of a picture that holds several, side by side or in a grid.
 *
 * Pure. Cost: O(pixels).
 */
import type { Pixels } from '../../wire/files/pixels.ts';
import type { Size } from '../motion/simulation.ts';
import { hasTransparency } from '../pictures/cutout.ts';

const FRAME_SIDE_MIN = 8; // pixels: a smaller part is not a frame, but a pattern
const FRAME_SIDE_MAX = 256; // pixels: larger pictures of plain colours are rarely strips
const FRAMES_MAX = 128; // frames of a guess: more are a coincidence

/**
 * Returns the size of a frame; the whole picture when it seems to be one. The frames of a strip are divided by empty lines, or are
 * squares as high as the strip.
 */
export function guessFrame(picture: Pixels): Size {
  const { width, height } = picture;
  const whole = { width, height };
  if (!hasTransparency(picture)) {
    const isStrip = height >= FRAME_SIDE_MIN && height <= FRAME_SIDE_MAX && width >= 2 * height && width % height === 0;
    return isStrip && width / height <= FRAMES_MAX ? { width: height, height } : whole;
  }
  const { columns, rows } = emptyLines(picture);
  const widths = partsOf(width, columns);
  const heights = partsOf(height, rows);
  const guesses = widths
    .flatMap((frameWidth) => heights.map((frameHeight) => ({ width: frameWidth, height: frameHeight })))
    .filter((frame) => {
      const frames = (width / frame.width) * (height / frame.height);
      return frames >= 2 && frames <= FRAMES_MAX && slimness(frame) <= 3;
    });
  // The smallest that fits is right: to divide it further would cut through a body.
  guesses.sort((a, b) => a.width * a.height - b.width * b.height);
  return guesses[0] ?? whole;
}

/** The lengths that divide a side so that an empty line lies at each border of two parts. The whole side is one of them. */
function partsOf(side: number, isEmpty: readonly boolean[]): number[] {
  const lengths: number[] = [side];
  for (let count = 2; side / count >= FRAME_SIDE_MIN && count <= FRAMES_MAX; count++) {
    const length = side / count;
    if (!Number.isInteger(length)) continue;
    const borders = Array.from({ length: count - 1 }, (_, i) => (i + 1) * length);
    if (borders.every((at) => isEmpty[at] || isEmpty[at - 1])) lengths.push(length);
  }
  return lengths;
}

function slimness({ width, height }: Size): number {
  return Math.max(width, height) / Math.min(width, height);
}

function emptyLines({ width, height, data }: Pixels): { columns: boolean[]; rows: boolean[] } {
  const columns = Array<boolean>(width).fill(true);
  const rows = Array<boolean>(height).fill(true);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (data[4 * (y * width + x) + 3] === 0) continue;
      columns[x] = false;
      rows[y] = false;
    }
  }
  return { columns, rows };
}

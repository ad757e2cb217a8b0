/**
 * Makes pictures smaller: cuts off what is empty around them, and scales them down to pixel art.
 *
 * Pure. Cost: O(pixels).
 */
import { crop, newPixels, type Pixels } from '../../wire/files/pixels.ts';
import type { Size } from '../motion/simulation.ts';

export interface Box extends Readonly<Size> {
  readonly left: number;
  readonly top: number;
}

const SOLID_MIN = 127.5; // alpha from which on a pixel of pixel art is solid: it is half covered

/** Returns the smallest box that holds everything that is seen in any of the frames, or undefined when nothing is. */
export function contentBox(frames: readonly Pixels[]): Box | undefined {
  let [left, top, right, bottom] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, -1, -1];
  for (const { width, height, data } of frames) {
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        if (data[4 * (y * width + x) + 3] === 0) continue;
        if (x < left) left = x;
        if (x > right) right = x;
        if (y < top) top = y;
        if (y > bottom) bottom = y;
      }
    }
  }
  return right < 0 ? undefined : { left, top, width: right - left + 1, height: bottom - top + 1 };
}

/** Cuts off what is empty around all frames alike, so that they stay where they are to each other. */
export function trim(frames: readonly Pixels[]): Pixels[] {
  const box = contentBox(frames);
  return box === undefined ? [...frames] : frames.map((frame) => crop(frame, box.left, box.top, box));
}

/** Returns the size of a picture that is scaled down to this height. It is never scaled up. */
export function sizeAt({ width, height }: Size, heightWanted: number) {
  if (heightWanted >= height) return { width, height };
  return { width: Math.max(1, Math.round((width * heightWanted) / height)), height: heightWanted };
}

/**
 * Scales a picture down to a height: each pixel is the mean of those that it covers. With `isSolid`, it is either solid or
 * transparent, as in pixel art.
 */
export function shrink(source: Pixels, heightWanted: number, isSolid: boolean): Pixels {
  const size = sizeAt(source, heightWanted);
  if (size.height === source.height && !isSolid) return source;
  const small = newPixels(size);
  const [stepX, stepY] = [source.width / size.width, source.height / size.height];
  for (let y = 0; y < size.height; y++) {
    for (let x = 0; x < size.width; x++) {
      small.data.set(meanOf(source, x * stepX, y * stepY, stepX, stepY, isSolid), 4 * (y * size.width + x));
    }
  }
  return small;
}

/** Returns the mean of an area. Pixels that lie in it only partly, or are half transparent, count less. */
function meanOf(
  { width, height, data }: Pixels,
  left: number,
  top: number,
  wide: number,
  high: number,
  isSolid: boolean,
) {
  const [right, bottom] = [Math.min(width, left + wide), Math.min(height, top + high)];
  let [red, green, blue, alpha] = [0, 0, 0, 0];
  for (let y = Math.floor(top); y < bottom; y++) {
    const coveredY = Math.min(bottom, y + 1) - Math.max(top, y);
    for (let x = Math.floor(left); x < right; x++) {
      const at = 4 * (y * width + x);
      const weight = coveredY * (Math.min(right, x + 1) - Math.max(left, x)) * data[at + 3];
      red += data[at] * weight;
      green += data[at + 1] * weight;
      blue += data[at + 2] * weight;
      alpha += weight;
    }
  }
  const mean = alpha / ((right - left) * (bottom - top));
  if (alpha === 0 || (isSolid && mean < SOLID_MIN)) return [0, 0, 0, 0];
  return [red / alpha, green / alpha, blue / alpha, isSolid ? 255 : mean];
}

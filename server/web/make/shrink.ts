/**
 * Scales pictures down, to pixel art if that is wanted.
 *
 * Pure. Cost: O(pixels).
 */
import { newPixels, type Pixels } from '../../wire/files/pixels.ts';
import type { Size } from '../motion/simulation.ts';

const SOLID_MIN = 127.5; // alpha from which on a pixel of pixel art is solid: it is half covered

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

/**
 * Trims pictures: cuts off what is empty around them.
 *
 * Pure. Cost: O(pixels).
 */
import { crop, type Pixels } from '../../wire/files/pixels.ts';
import type { Size } from '../motion/simulation.ts';

export interface Box extends Readonly<Size> {
  readonly left: number;
  readonly top: number;
}

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

/**
 * Gives life to a still picture by squash and stretch: it breathes, hops, stretches as it falls and flattens as it lands.
 *
 * Cost: one canvas of CELLS pictures.
 */

import type { Size } from '../motion/simulation.ts';
import { phrase } from '../texts/language.ts';

const MARGIN = 1.3; // size of a frame in sizes of the picture: room to stretch

/** For each frame: width and height as factors of the picture's, rotation in radians, and lift in picture heights. */
const CELLS = [
  [1, 1, 0, 0],
  [1.03, 0.97, 0, 0],
  [1.06, 0.94, 0, 0],
  [1.06, 0.92, -0.05, 0],
  [0.96, 1.05, 0, 0.06],
  [1.06, 0.92, 0.05, 0],
  [0.86, 1.16, 0, 0],
  [0.9, 1.1, 0.07, 0],
  [0.9, 1.1, -0.07, 0],
  [1.25, 0.7, 0, 0],
  [0.94, 1.08, 0, 0],
  [1.1, 0.84, 0, 0],
  [1.12, 0.8, 0, 0],
] as const;

/** The animations of the frames that `drawLife` draws. */
export const LIFE = {
  idle: { frames: [0, 1, 2, 1], fps: 4 },
  walk: { frames: [3, 4, 5, 4], fps: 8 },
  fall: { frames: [6], fps: 1 },
  drag: { frames: [7, 0, 8, 0], fps: 7 },
  land: { frames: [9, 10, 0], fps: 10 },
  climb: { frames: [4, 0], fps: 5 },
  sleep: { frames: [11, 12], fps: 1 },
};

/** Draws the frames of a picture that is shown in this size, and returns them in a row, with the place where its body is. */
export function drawLife(picture: CanvasImageSource, { width, height }: Size, isSmooth: boolean) {
  const frame = { width: Math.ceil(width * MARGIN), height: Math.ceil(height * MARGIN) };
  const sheet = new OffscreenCanvas(frame.width * CELLS.length, frame.height);
  const context = sheet.getContext('2d');
  if (context === null) throw new Error(phrase('file.no-canvas'));
  context.imageSmoothingEnabled = isSmooth;
  context.imageSmoothingQuality = 'high';
  for (const [i, [wide, high, turn, lift]] of CELLS.entries()) {
    context.save();
    context.translate((i + 0.5) * frame.width, frame.height - lift * height);
    context.beginPath();
    context.rect(-frame.width / 2, -frame.height, frame.width, frame.height * 2);
    context.clip();
    context.rotate(turn);
    context.drawImage(picture, (-width * wide) / 2, -height * high, width * wide, height * high);
    context.restore();
  }
  const hitbox: [number, number, number, number] = [
    Math.floor((frame.width - width) / 2),
    frame.height - height,
    width,
    height,
  ];
  return { sheet, frame, hitbox };
}

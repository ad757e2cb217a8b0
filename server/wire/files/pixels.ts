/**
 * Pictures as pixels: frames are cut out of a sheet, and laid out on a new one.
 *
 * `npm run spr` and the editor in the browser make their sheets with this file. Browser-safe.
 * Cost: O(pixels). Sizes are checked before memory is allocated.
 */
import type { AsepriteExport } from './aseprite.ts';
import { FRAMES_MAX } from './description.ts';
import { SHEET_SIDE_PIXELS_MAX, SprRefused } from './png.ts';

/** A picture. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue and alpha of each pixel, row by row. The colours are not multiplied by alpha. */
  readonly data: Uint8Array<ArrayBufferLike> | Uint8ClampedArray<ArrayBufferLike>;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Returns a transparent picture. */
export function newPixels({ width, height }: Size): Pixels {
  return { width, height, data: new Uint8ClampedArray(4 * width * height) };
}

/** Returns a part of a picture. What lies outside of the picture is transparent. */
export function crop(source: Pixels, left: number, top: number, size: Size): Pixels {
  const part = newPixels(size);
  const [fromX, fromY] = [Math.max(0, left), Math.max(0, top)];
  const width = Math.min(source.width, left + size.width) - fromX;
  const height = Math.min(source.height, top + size.height) - fromY;
  const area = { x: fromX, y: fromY, width, height };
  if (width > 0 && height > 0) copy(source, area, part, fromX - left, fromY - top);
  return part;
}

/** Cuts a sheet into the frames of its grid, row by row. A rest that is smaller than a frame is left out. */
export function cutGrid(sheet: Pixels, frame: Size): Pixels[] {
  const [columns, rows] = [Math.floor(sheet.width / frame.width), Math.floor(sheet.height / frame.height)];
  if (!(columns >= 1 && rows >= 1 && columns * rows <= FRAMES_MAX)) {
    throw new SprRefused(
      'frame',
      `Frames of ${frame.width}×${frame.height} pixels make ${columns * rows || 'none'}; 1 to ${FRAMES_MAX} are allowed.`,
    );
  }
  return Array.from({ length: columns * rows }, (_, cell) =>
    crop(sheet, (cell % columns) * frame.width, Math.floor(cell / columns) * frame.height, frame),
  );
}

/** Cuts the frames of an Aseprite export out of its picture, each at its place on its canvas. */
export function cutExport({ frame, frames }: AsepriteExport, source: Pixels): Pixels[] {
  gridOf(frames.length, frame); // refuses a canvas that is too large before memory is spent on it
  return frames.map(({ x, y, width, height, offsetX, offsetY }, cell) => {
    const outside = x + width > source.width || y + height > source.height;
    if (outside || offsetX + width > frame.width || offsetY + height > frame.height) {
      throw new SprRefused(
        'aseprite',
        `Frame ${cell} does not lie on the picture; does the picture belong to this export?`,
      );
    }
    const canvas = newPixels(frame);
    copy(source, { x, y, width, height }, canvas, offsetX, offsetY);
    return canvas;
  });
}

/** Lays frames of one size out on a sheet that is about square. Throws SprRefused when the sheet would be too large. */
export function layOut(frames: readonly Pixels[], frame: Size): Pixels {
  const { columns, rows } = gridOf(frames.length, frame);
  const sheet = newPixels({ width: columns * frame.width, height: rows * frame.height });
  for (const [cell, pixels] of frames.entries()) {
    const [left, top] = [(cell % columns) * frame.width, Math.floor(cell / columns) * frame.height];
    copy(pixels, { x: 0, y: 0, ...frame }, sheet, left, top);
  }
  return sheet;
}

/** Returns the grid of a sheet with so many frames. It has no more cells than a sheet may have. */
function gridOf(cells: number, frame: Size): { columns: number; rows: number } {
  let columns = Math.ceil(Math.sqrt((cells * frame.height) / frame.width)) || 1;
  while (cells <= FRAMES_MAX && columns * Math.ceil(cells / columns) > FRAMES_MAX) columns++;
  const rows = Math.ceil(cells / columns);
  const [width, height] = [columns * frame.width, rows * frame.height];
  const isPossible = (side: number) => side >= 1 && side <= SHEET_SIDE_PIXELS_MAX;
  if (!isPossible(width) || !isPossible(height)) {
    throw new SprRefused(
      'sheet',
      `The sheet would have ${width}×${height} pixels; a side has 1 to ${SHEET_SIDE_PIXELS_MAX}.`,
    );
  }
  return { columns, rows };
}

/** Copies an area of a picture to a place of another one. */
function copy(from: Pixels, area: Size & { x: number; y: number }, to: Pixels, toX: number, toY: number): void {
  for (let row = 0; row < area.height; row++) {
    const start = 4 * ((area.y + row) * from.width + area.x);
    to.data.set(from.data.subarray(start, start + 4 * area.width), 4 * ((toY + row) * to.width + toX));
  }
}

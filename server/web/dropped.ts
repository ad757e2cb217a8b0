/**
 * Makes a .spr of a file dropped on the page. A .spr stays as it is, and a GIF plays its own frames; any other picture the
 * browser can decode is animated.
 *
 * A still picture is animated by squash and stretch: it breathes, hops, stretches as it falls and flattens as it lands.
 * Cost: one canvas of CELLS pictures, each at most 128 pixels a side; of a GIF, one of its frames.
 */
import { type GifReaderClass, readGif, shownFor } from '../wire/gif.ts';
import { crc32, PNG_SIGNATURE, SHEET_SIDE_PIXELS_MAX } from '../wire/png.ts';
import { SPR_BYTES_MAX, SPR_KEYWORD, writeSheet } from '../wire/sheet.ts';
import type { Size } from './simulation.ts';

export const DROPPED_BYTES_MAX = 33_554_432; // bytes: 32 MiB, a large photograph; decoding a larger one stalls the page

const SIDES = [128, 96, 64, 48]; // pixels of a picture's longer side, tried in turn until the sheet fits into a .spr
const GIF_SIDES = [256, 128, 96, 64, 48, 32]; // the same for a frame of a GIF
const PNG_BYTES_MAX = SPR_BYTES_MAX - 4_096; // bytes of a sheet: the rest of the .spr is room for its description
const SHOWN_SIDE = 96; // device-independent pixels of a picture's longer side on screen
const MARGIN = 1.3; // size of a frame in sizes of the picture: room to stretch

/** The library that unpacks GIFs, as the relay serves it. */
const GIF_LIBRARY: string = '/lib/omggif.js';

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

const ANIMATIONS = {
  idle: { frames: [0, 1, 2, 1], fps: 4 },
  walk: { frames: [3, 4, 5, 4], fps: 8 },
  fall: { frames: [6], fps: 1 },
  drag: { frames: [7, 0, 8, 0], fps: 7 },
  land: { frames: [9, 10, 0], fps: 10 },
  climb: { frames: [4, 0], fps: 5 },
  sleep: { frames: [11, 12], fps: 1 },
};

/** Returns the .spr of a dropped file. Throws an Error whose message is for the person. */
export async function toSpr(file: File): Promise<Uint8Array<ArrayBuffer>> {
  if (file.size > DROPPED_BYTES_MAX) throw new Error(`${file.name} is larger than ${DROPPED_BYTES_MAX >> 20} MiB.`);
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (isSpr(bytes)) return bytes;
  const animated = isGif(bytes) ? await gifToSpr(bytes, nameOf(file.name)) : undefined;
  if (animated !== undefined) return animated;
  let picture: ImageBitmap;
  try {
    picture = await createImageBitmap(new Blob([bytes], { type: file.type }));
  } catch {
    throw new Error(`${file.name} is not a picture this browser can read.`);
  }
  for (const side of SIDES) {
    const size = fitInto(side, picture);
    const { png, frame, hitbox } = await drawCells(picture, size.width, size.height);
    if (png.length > PNG_BYTES_MAX) continue;
    const drawn = { frame, hitbox, scale: scaleOf(size), animations: ANIMATIONS };
    return writeSheet(png, { format: 'spr/1', name: nameOf(file.name), ...drawn }, crc32);
  }
  throw new Error(`${file.name} does not fit into a .spr.`);
}

/**
 * Returns the .spr that plays the frames of a GIF, made smaller until they fit. Undefined for a GIF of one frame and for a
 * broken one: the browser's decoder may read more of it.
 */
async function gifToSpr(bytes: Uint8Array, name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  let gif: ReturnType<typeof readGif>;
  try {
    const { GifReader } = (await import(GIF_LIBRARY)) as { GifReader: GifReaderClass };
    gif = readGif(bytes, GifReader);
  } catch {
    return undefined;
  }
  const { frames } = gif;
  if (frames.length < 2) return undefined;
  const idle = shownFor(frames.map(({ ms }) => ms));
  for (const side of GIF_SIDES) {
    const frame = fitInto(side, gif);
    const columns = Math.min(frames.length, Math.floor(SHEET_SIDE_PIXELS_MAX / frame.width));
    const rows = Math.ceil(frames.length / columns);
    if (rows * frame.height > SHEET_SIDE_PIXELS_MAX) continue;
    const png = await drawFrames(gif, frame, columns, rows);
    if (png.length > PNG_BYTES_MAX) continue;
    return writeSheet(png, { format: 'spr/1', name, frame, scale: scaleOf(frame), animations: { idle } }, crc32);
  }
  throw new Error('This GIF is too long for a sprite: make it shorter or smaller.');
}

/** Returns the size of a picture that is shrunk until its longer side is at most `side`. */
function fitInto(side: number, { width, height }: Size): Size {
  const factor = Math.min(1, side / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * factor)), height: Math.max(1, Math.round(height * factor)) };
}

/** Returns the scale at which a picture of this size is as large on screen as others. */
function scaleOf({ width, height }: Size): number {
  return Math.min(16, Math.max(0.25, SHOWN_SIDE / Math.max(width, height)));
}

async function drawFrames(
  gif: ReturnType<typeof readGif>,
  frame: Size,
  columns: number,
  rows: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const sheet = new OffscreenCanvas(frame.width * columns, frame.height * rows);
  const one = new OffscreenCanvas(gif.width, gif.height);
  const [onSheet, onOne] = [sheet.getContext('2d'), one.getContext('2d')];
  if (onSheet === null || onOne === null) throw new Error('This browser has no canvas.');
  onSheet.imageSmoothingQuality = 'high';
  for (const [i, { rgba }] of gif.frames.entries()) {
    onOne.putImageData(new ImageData(new Uint8ClampedArray(rgba.buffer), gif.width, gif.height), 0, 0);
    const [x, y] = [(i % columns) * frame.width, Math.floor(i / columns) * frame.height];
    onSheet.drawImage(one, x, y, frame.width, frame.height);
  }
  return new Uint8Array(await (await sheet.convertToBlob({ type: 'image/png' })).arrayBuffer());
}

function isGif(bytes: Uint8Array): boolean {
  return ['GIF87a', 'GIF89a'].includes(new TextDecoder('latin1').decode(bytes.subarray(0, 6)));
}

async function drawCells(picture: ImageBitmap, width: number, height: number) {
  const frame = { width: Math.ceil(width * MARGIN), height: Math.ceil(height * MARGIN) };
  const canvas = new OffscreenCanvas(frame.width * CELLS.length, frame.height);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('This browser has no canvas.');
  // Small pictures are pixel art and stay crisp; larger ones are scaled down smoothly.
  context.imageSmoothingEnabled = Math.max(picture.width, picture.height) > SIDES[0];
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
  const png = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/png' })).arrayBuffer());
  const hitbox = [Math.floor((frame.width - width) / 2), frame.height - height, width, height];
  return { png, frame, hitbox };
}

/** Returns whether this is a PNG with a sprite description. If so, it is accepted or refused as a .spr. */
function isSpr(bytes: Uint8Array): boolean {
  if (PNG_SIGNATURE.some((byte, i) => bytes[i] !== byte)) return false;
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, SPR_BYTES_MAX));
  return head.includes(`iTXt${SPR_KEYWORD}\0`);
}

function nameOf(fileName: string): string {
  const bare = fileName
    .replace(/\.[^.]*$/, '')
    .replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '')
    .trim();
  let name = '';
  for (const character of bare) {
    if (new TextEncoder().encode(name + character).length > 24) break;
    name += character;
  }
  return name || 'Picture';
}

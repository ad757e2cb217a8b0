/**
 * Makes a .spr of a file dropped on the page. A .spr stays as it is, and a GIF plays its own frames; any other picture the
 * browser can decode is animated, and a photograph is cut out of its background.
 *
 * The rules are those of client-win/BEHAVIOUR.md (Dropped pictures).
 * Cost: one canvas of 13 pictures, each at most 128 pixels a side; of a GIF, one of its frames.
 */

import type { Pixels } from '../../wire/files/pixels.ts';
import { crc32, SHEET_SIDE_PIXELS_MAX } from '../../wire/files/png.ts';
import { writeSheet } from '../../wire/files/sheet.ts';
import { SPR_BYTES_MAX } from '../../wire/rules.ts';
import type { Size } from '../motion/simulation.ts';
import { phrase } from '../texts/language.ts';
import { withoutBackground } from './cutout.ts';
import {
  type AnimatedGif,
  canvasOf,
  isGif,
  isSpr,
  isZip,
  nameOf,
  pngOf,
  readAnimatedGif,
  readStill,
} from './picture_files.ts';
import { drawLife, LIFE } from './still_life.ts';
import { trim } from './trim.ts';

export const DROPPED_BYTES_MAX = 33_554_432; // bytes: 32 MiB, a large photograph; decoding a larger one stalls the page

const SIDES = [128, 96, 64, 48]; // pixels of a picture's longer side, tried in turn until the sheet fits into a .spr
const GIF_SIDES = [256, 128, 96, 64, 48, 32]; // the same for a frame of a GIF
const PNG_BYTES_MAX = SPR_BYTES_MAX - 4_096; // bytes of a sheet: the rest of the .spr is room for its description
const SHOWN_SIDE = 96; // device-independent pixels of a picture's longer side on screen

/** What became of the background of a picture that has one. */
export type Background = 'cut' | 'kept';

/** What was made of a dropped file. */
export interface Dropped {
  spr: Uint8Array<ArrayBuffer>;
  /** Undefined when the picture has none, so that there is no other version. */
  background?: Background;
}

/**
 * Makes the .spr of a dropped file. A photograph is cut out of its background, and any other picture keeps it, unless the other is
 * `wanted`. Throws an Error whose message is for the person.
 */
export async function toSpr(file: File, wanted?: Background): Promise<Dropped> {
  if (file.size > DROPPED_BYTES_MAX)
    throw new Error(phrase('file.too-large', { name: file.name, mib: DROPPED_BYTES_MAX >> 20 }));
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (isSpr(bytes)) return { spr: bytes };
  if (isZip(bytes)) throw new Error(phrase('file.pack', { name: file.name }));
  const animated = isGif(bytes) ? await readAnimatedGif(bytes) : undefined;
  if (animated !== undefined) return { spr: await gifToSpr(animated, nameOf(file.name)) };
  const { pixels, isPhoto } = await readStill(file, bytes);
  const cut = withoutBackground(pixels, isPhoto);
  const background = cut && (wanted ?? (isPhoto ? 'cut' : 'kept'));
  const spr = await stillToSpr(cut !== undefined && background === 'cut' ? cut : pixels, file.name);
  return { spr, background };
}

/** Returns the .spr of a picture that stands on what is seen of it, made smaller until it fits. */
async function stillToSpr(pixels: Pixels, fileName: string): Promise<Uint8Array<ArrayBuffer>> {
  const picture = canvasOf(trim([pixels])[0]);
  for (const side of SIDES) {
    const size = fitInto(side, picture);
    // Small pictures are pixel art and stay crisp; larger ones are scaled down smoothly.
    const isSmooth = Math.max(picture.width, picture.height) > SIDES[0];
    const { sheet, frame, hitbox } = drawLife(picture, size, isSmooth);
    const png = await pngOf(sheet);
    if (png.length > PNG_BYTES_MAX) continue;
    const drawn = { frame, hitbox, scale: scaleOf(size), animations: LIFE };
    return writeSheet(png, { format: 'spr/1', name: nameOf(fileName), ...drawn }, crc32);
  }
  throw new Error(phrase('file.does-not-fit', { name: fileName }));
}

/** Returns the .spr that plays the frames of a GIF, made smaller until they fit. It stands on what is seen in any of them. */
async function gifToSpr({ frames, width, height, idle }: AnimatedGif, name: string): Promise<Uint8Array<ArrayBuffer>> {
  const pictures = trim(frames.map(({ rgba }) => ({ width, height, data: rgba })));
  for (const side of GIF_SIDES) {
    const frame = fitInto(side, pictures[0]);
    const columns = Math.min(pictures.length, Math.floor(SHEET_SIDE_PIXELS_MAX / frame.width));
    const rows = Math.ceil(pictures.length / columns);
    if (rows * frame.height > SHEET_SIDE_PIXELS_MAX) continue;
    const png = await drawFrames(pictures, frame, columns, rows);
    if (png.length > PNG_BYTES_MAX) continue;
    return writeSheet(png, { format: 'spr/1', name, frame, scale: scaleOf(frame), animations: { idle } }, crc32);
  }
  throw new Error(phrase('file.gif-too-long'));
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
  pictures: readonly Pixels[],
  frame: Size,
  columns: number,
  rows: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const sheet = new OffscreenCanvas(frame.width * columns, frame.height * rows);
  const onSheet = sheet.getContext('2d');
  if (onSheet === null) throw new Error(phrase('file.no-canvas'));
  onSheet.imageSmoothingQuality = 'high';
  for (const [i, picture] of pictures.entries()) {
    const [x, y] = [(i % columns) * frame.width, Math.floor(i / columns) * frame.height];
    onSheet.drawImage(canvasOf(picture), x, y, frame.width, frame.height);
  }
  return pngOf(sheet);
}

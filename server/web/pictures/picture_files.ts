/** Picture files: what kind a file is, its pixels, the name of its sprite, and a canvas as a file. */

import { GifReader } from 'omggif';
import { readGif, shownFor } from '../../wire/files/gif.ts';
import type { Pixels } from '../../wire/files/pixels.ts';
import { PNG_SIGNATURE } from '../../wire/files/png.ts';
import { SPR_KEYWORD } from '../../wire/files/sheet.ts';
import { SPR_BYTES_MAX } from '../../wire/rules.ts';
import { phrase } from '../texts/language.ts';

export type AnimatedGif = ReturnType<typeof readGif> & { idle: ReturnType<typeof shownFor> };

/**
 * Returns the frames of a GIF, and the animation that shows them. Undefined for a GIF of one frame and for a broken one: the browser's
 * decoder may read more of it.
 */
export async function readAnimatedGif(bytes: Uint8Array): Promise<AnimatedGif | undefined> {
  try {
    const gif = readGif(bytes, GifReader);
    return gif.frames.length < 2 ? undefined : { ...gif, idle: shownFor(gif.frames.map(({ ms }) => ms)) };
  } catch {
    return undefined;
  }
}

export const PHOTO_SIDE = 640; // pixels of a photograph's longer side: many times more than a sprite has
export const DRAWN_PIXELS_MAX = 2_097_152; // pixels of a PNG above which it is a photograph, or a screenshot

/** A picture of one frame. */
export interface Still {
  pixels: Pixels;
  /** Whether it is a photograph, not something drawn pixel by pixel. It is scaled down to PHOTO_SIDE. */
  isPhoto: boolean;
}

/** Reads a picture of one frame. Throws an Error whose message is for the person. */
export async function readStill(file: File, bytes: Uint8Array): Promise<Still> {
  const bitmap = await bitmapOf(file, file.name);
  const { width, height } = bitmap;
  const isPhoto = (!isPng(bytes) && !isGif(bytes)) || width * height > DRAWN_PIXELS_MAX;
  const factor = isPhoto ? Math.min(1, PHOTO_SIDE / Math.max(width, height)) : 1;
  const side = (length: number) => Math.max(1, Math.round(length * factor));
  return { pixels: pixelsOf(bitmap, side(width), side(height)), isPhoto };
}

/** Returns the pixels of a picture in this size, and closes it. */
export function pixelsOf(bitmap: ImageBitmap, width: number, height: number): Pixels {
  const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error(phrase('file.no-canvas'));
  context.imageSmoothingQuality = 'high';
  context.drawImage(bitmap, 0, 0, width, height);
  bitmap.close();
  return context.getImageData(0, 0, width, height);
}

/** Decodes a picture. Throws an Error whose message is for the person, and has this name. */
export async function bitmapOf(file: Blob, name: string): Promise<ImageBitmap> {
  try {
    return await createImageBitmap(file);
  } catch {
    throw new Error(phrase('file.no-picture', { name }));
  }
}

export function isGif(bytes: Uint8Array): boolean {
  return ['GIF87a', 'GIF89a'].includes(new TextDecoder('latin1').decode(bytes.subarray(0, 6)));
}

export function isPng(bytes: Uint8Array): boolean {
  return PNG_SIGNATURE.every((byte, i) => bytes[i] === byte);
}

export const isZip = (bytes: Uint8Array): boolean => [0x50, 0x4b, 3, 4].every((byte, i) => bytes[i] === byte);

/** Returns whether this is a PNG with a sprite description. If so, it is accepted or refused as a .spr. */
export function isSpr(bytes: Uint8Array): boolean {
  if (!isPng(bytes)) return false;
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, SPR_BYTES_MAX));
  return head.includes(`iTXt${SPR_KEYWORD}\0`);
}

export function canvasOf({ width, height, data }: Pixels): OffscreenCanvas {
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext('2d')?.putImageData(new ImageData(new Uint8ClampedArray(data), width, height), 0, 0);
  return canvas;
}

export async function pngOf(canvas: OffscreenCanvas): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await (await canvas.convertToBlob({ type: 'image/png' })).arrayBuffer());
}

/** Returns a name for the sprite of a file. */
export function nameOf(fileName: string): string {
  const bare = fileName
    .replace(/\.[^.]*$/, '')
    .replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '')
    .trim();
  let name = '';
  for (const character of bare) {
    if (new TextEncoder().encode(name + character).length > 24) break;
    name += character;
  }
  return name || phrase('make.picture');
}

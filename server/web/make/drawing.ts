/**
 * A drawing: the frames that are made of a source, and the .spr that is made of a drawing and a draft.
 *
 * Cost: each function goes over all pixels; a photograph takes some 50 ms.
 */

import { cutGrid, layOut, type Pixels } from '../../wire/files/pixels.ts';
import { crc32 } from '../../wire/files/png.ts';
import { writeSheet } from '../../wire/files/sheet.ts';
import { SCALE_MAX, SPR_BYTES_MAX } from '../../wire/rules.ts';
import { cutOut, hasTransparency, usualCut, withoutBackground } from '../pictures/cutout.ts';
import { reduceColours } from '../pictures/palette.ts';
import { canvasOf, pngOf } from '../pictures/picture_files.ts';
import { drawLife, LIFE } from '../pictures/still_life.ts';
import { contentBox, trim } from '../pictures/trim.ts';
import { number, phrase } from '../texts/language.ts';
import { type Draft, describe, keptFrames, type Picturing, type Suggested, usualScale } from './draft.ts';
import { shrink } from './shrink.ts';
import type { Source } from './source.ts';
import { guessFrame } from './strip.ts';

export interface Drawing extends Suggested {
  /** The frames of the source, with their background. */
  readonly uncut: readonly Pixels[];
  readonly cut: readonly Pixels[];
  /** The frames of the sprite. */
  readonly frames: readonly Pixels[];
}

export const HEIGHT_MIN = 8; // pixels of a frame
export const HEIGHT_MAX = 256; // pixels of a frame: a larger one does not fit into a .spr with all its frames
const HEIGHT_OF_PHOTO = 64; // pixels: about what the shipped characters have
const HEIGHT_USUAL_MAX = 128; // pixels

/** The usual settings for a source: a photograph becomes pixel art without its background, a drawing stays as it is. */
export function usualPicturing({ frames, isWhole, isPhoto }: Source): Picturing {
  const frame = isWhole && !isPhoto ? guessFrame(frames[0]) : frames[0];
  const isStrip = frame.width !== frames[0].width || frame.height !== frames[0].height;
  const { width, height } = frame;
  const fromEdges = !frames.some(hasTransparency) && withoutBackground(frames[0], isPhoto) !== undefined;
  return {
    frame: isStrip ? { width, height } : null,
    cut: { ...usualCut(isPhoto), fromEdges },
    height: Math.min(height, isPhoto ? HEIGHT_OF_PHOTO : HEIGHT_USUAL_MAX),
    isPixelArt: isPhoto,
    colours: 24,
    isAlive: isWhole && !isStrip,
  };
}

/** Makes the frames. Throws SprRefused when the frame of a strip does not fit it. */
export function draw(source: Source, { frame, cut, height, isPixelArt, colours, isAlive }: Picturing): Drawing {
  const uncut = source.isWhole && frame !== null ? cutGrid(source.frames[0], frame) : source.frames;
  const cutFrames = uncut.map((one) => cutOut(one, cut));
  // Frames of a file that knows where its body is stay as large as they are.
  const trimmed = source.hitbox === undefined && source.isWhole ? trim(cutFrames) : cutFrames;
  const wanted = Math.min(Math.max(height, HEIGHT_MIN), HEIGHT_MAX);
  const small = trimmed.map((one) => shrink(one, wanted, isPixelArt));
  const frames = isPixelArt ? reduceColours(small, colours) : small;
  const cels = { uncut, cut: cutFrames };
  if (isAlive && frames.length === 1) return { ...cels, ...alive(frames[0], isPixelArt) };
  const { width, height: high } = frames[0];
  const size = { width, height: high };
  const factor = high / trimmed[0].height;
  const all = { idle: { frames: [...frames.keys()], fps: 8 } };
  const hitbox = source.hitbox?.map((value) => value * factor) as Drawing['hitbox'] | undefined;
  return {
    ...cels,
    frames,
    count: frames.length,
    frame: size,
    animations: source.animations ?? all,
    hitbox: hitbox ?? bodyOf(frames),
    scale: source.scale === undefined ? usualScale(size) : Math.min(SCALE_MAX, source.scale / factor),
  };
}

/** The frames of a still picture that breathes and hops. */
function alive(picture: Pixels, isPixelArt: boolean) {
  const { width, height } = picture;
  const { sheet, frame, hitbox } = drawLife(canvasOf(picture), { width, height }, !isPixelArt && height > 64);
  const context = sheet.getContext('2d') as OffscreenCanvasRenderingContext2D;
  const frames = cutGrid(context.getImageData(0, 0, sheet.width, sheet.height), frame);
  return { frames, count: frames.length, frame, animations: LIFE, hitbox, scale: usualScale({ width, height }) };
}

/** The place of what is seen in the frames. */
function bodyOf(frames: readonly Pixels[]): Drawing['hitbox'] {
  const { left, top, width, height } = contentBox(frames) ?? { left: 0, top: 0, ...frames[0] };
  return [left, top, width, height];
}

/** Makes the .spr. Throws an Error whose message is for the person. */
export async function packed(drawing: Drawing, draft: Draft): Promise<Uint8Array<ArrayBuffer>> {
  if (draft.name.trim() === '') throw new Error(phrase('make.nameless'));
  const kept = keptFrames(draft, drawing).map((frame) => drawing.frames[frame]);
  if (contentBox(kept) === undefined) throw new Error(phrase('make.nothing-left'));
  const png = await pngOf(canvasOf(layOut(kept, drawing.frame)));
  if (png.length > SPR_BYTES_MAX) {
    throw new Error(phrase('make.too-large', { mib: number(png.length / SPR_BYTES_MAX, 1) }));
  }
  return writeSheet(png, describe(draft, drawing), crc32);
}

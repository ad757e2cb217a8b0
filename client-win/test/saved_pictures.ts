/** Reads the pictures that a client has saved of its sprite: what is in them, by colour. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GifReader } from 'omggif';
import { PNG } from 'pngjs';
import { CYAN, SIDE } from './wine_sprites.ts';
import { type Colour, eventually } from './x_display.ts';

/** A saying with a large bubble. */
export const SMILE = 'Smile, please! This line has many words, so that its bubble is not to be missed in the picture.';

export const PAPER = [255, 255, 255] as const; // of bubbles
const FAR = 12; // by which a colour of a GIF may differ: all frames share one palette

export interface SavedPicture {
  name: string;
  bytes: Buffer;
  frames: number;
  /** The pixels of the first frame that have a colour and are opaque. */
  count(colour: Colour): number;
  /** The alpha of its left top pixel. */
  alpha: number;
}

/** The names of the pictures in a folder. */
export const savedNames = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).filter((name) => /\.(?:png|gif)$/.test(name)) : [];

/** A picture that was not there before, once there is one. */
export async function newPicture(folder: string, before: readonly string[]): Promise<SavedPicture> {
  let name: string | undefined;
  await eventually('a picture is saved', () => {
    name = savedNames(folder).find((one) => !before.includes(one));
    return name !== undefined;
  });
  const bytes = readFileSync(join(folder, name!));
  const [pixels, frames] = name!.endsWith('.png') ? [PNG.sync.read(bytes).data as Uint8Array, 1] : firstFrame(bytes);
  const isAt = (at: number, colour: Colour) =>
    pixels[at + 3] === 255 && colour.every((part, i) => Math.abs(part - pixels[at + i]) <= FAR);
  const count = (colour: Colour) => {
    let found = 0;
    for (let at = 0; at < pixels.length; at += 4) if (isAt(at, colour)) found++;
    return found;
  };
  return { name: name!, bytes, frames, count, alpha: pixels[3] };
}

/** A photograph shows the sprite, and a bubble with SMILE. It is written to `shot`. */
export function checkPhotograph({ name, bytes, alpha, count }: SavedPicture, shot: string): void {
  writeFileSync(shot, bytes);
  assert.match(name, /^Sprites \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d\.png$/);
  assert.equal(alpha, 0);
  assert.ok(count(CYAN) > SIDE, 'it has the sprite');
  assert.ok(count(PAPER) > 2_000, 'it has the bubble');
}

/** An animation shows the sprite and a label, but not what is said. It is written to `shot`. */
export function checkAnimation({ name, bytes, frames, count }: SavedPicture, shot: string): void {
  writeFileSync(shot, bytes);
  assert.match(name, /\.gif$/);
  assert.ok(frames > 1, `it has ${frames} frames`);
  assert.ok(count(CYAN) > SIDE, 'it has the sprite');
  const paper = count(PAPER);
  assert.ok(paper > 200 && paper < 10_000, `it has ${paper} px of paper: a label, and no bubble`);
}

function firstFrame(bytes: Buffer): [Uint8Array, number] {
  const reader = new GifReader(bytes);
  const pixels = new Uint8Array(4 * reader.width * reader.height);
  reader.decodeAndBlitFrameRGBA(0, pixels);
  return [pixels, reader.numFrames()];
}

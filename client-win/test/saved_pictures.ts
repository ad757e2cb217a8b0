/** Reads the pictures that a client has saved: what is in them, by colour. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GifReader } from 'omggif';
import { PNG } from 'pngjs';
import { type Colour, eventually } from './x_display.ts';

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

function firstFrame(bytes: Buffer): [Uint8Array, number] {
  const reader = new GifReader(bytes);
  const pixels = new Uint8Array(4 * reader.width * reader.height);
  reader.decodeAndBlitFrameRGBA(0, pixels);
  return [pixels, reader.numFrames()];
}

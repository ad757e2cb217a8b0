/** Recorded pictures in one palette, for an animation. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import { type AnimatedFrame, COLOURS_MAX, writeAnimatedPng } from './animated_png.ts';

/** The programs that `animate` needs, and the packages they are in. */
export const PALETTE_PROGRAMS = ['convert'];
export const PALETTE_PACKAGES = ['imagemagick'];

const PALETTE_FRAMES = 6; // frames whose colours make the palette

/** Makes an animation of pictures, each of which is shown for so many ms. `scratch` is a folder for files of its own. */
export function animate(frames: readonly PNG[], ms: readonly number[], scratch: string): Uint8Array {
  const [{ width, height }] = frames;
  const palette = paletteOf(frames, scratch);
  const numbers = new Map<number, number>();
  const animated = frames.map(({ data }, i): AnimatedFrame => {
    const pixels = new Uint8Array(width * height);
    for (let at = 0; at < pixels.length; at++) {
      const colour = data.readUIntBE(4 * at, 3);
      let number = numbers.get(colour);
      if (number === undefined) {
        number = nearest(palette, colour) + 1;
        numbers.set(colour, number);
      }
      pixels[at] = number;
    }
    return { pixels, ms: ms[i] };
  });
  return writeAnimatedPng(width, height, palette, animated);
}

/** The colours that come nearest to those of all frames, as 0xRRGGBB. */
function paletteOf(frames: readonly PNG[], scratch: string): number[] {
  const step = Math.max(1, Math.floor(frames.length / PALETTE_FRAMES));
  const chosen = frames.filter((_, i) => i % step === 0);
  const paths = chosen.map((frame, i) => {
    const path = join(scratch, `${i}.png`);
    writeFileSync(path, PNG.sync.write(frame));
    return path;
  });
  const colours = join(scratch, 'colours.png');
  execFileSync('convert', [...paths, '-append', '+dither', '-colors', `${COLOURS_MAX}`, '-unique-colors', colours]);
  const { data, width } = PNG.sync.read(readFileSync(colours));
  return Array.from({ length: width }, (_, i) => data.readUIntBE(4 * i, 3));
}

/** The place in the palette of the colour that differs least. */
function nearest(palette: readonly number[], colour: number): number {
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  for (const [i, other] of palette.entries()) {
    const part = (shift: number) => ((other >> shift) & 255) - ((colour >> shift) & 255);
    const distance = 2 * part(16) ** 2 + 4 * part(8) ** 2 + part(0) ** 2;
    if (distance < least) [best, least] = [i, distance];
  }
  return best;
}

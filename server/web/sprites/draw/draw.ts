/**
 * Draws every character and writes its .spr: `node server/web/sprites/draw/draw.ts [folder]`, by default into ../
 *
 * The committed files are the output of this program, pixel for pixel. A test checks that they still are.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { crc32, deflateSync } from 'node:zlib';
import { writePng } from '../../../wire/png.ts';
import { writeSheet } from '../../../wire/sheet.ts';
import { CAST } from './cast.ts';
import type { Character } from './character.ts';
import { Picture } from './picture.ts';
import { GROUNDED, POSES, type Pose, TIMING } from './pose.ts';
import { GROUND, MIDDLE } from './rig.ts';

export const FRAME_SIDE = 48; // pixels
const COLUMNS = 10;
const SQUASH_WIDE = 0.4; // how much wider the flattest pose is
const SQUASH_HIGH = 0.52; // how much lower
const WALK_SQUASH = 0.4; // part of a walk's squash that characters on legs show, because they do not hop

/** Returns the picture of a character in a pose. */
export function drawPose(character: Character, pose: Pose): Picture {
  const { lean, turn, lift, animation } = pose;
  const picture = new Picture(FRAME_SIDE, FRAME_SIDE);
  const [, height] = character.size;
  const squash = animation === 'walk' && !character.hops ? pose.squash * WALK_SQUASH : pose.squash;
  picture.warp({
    ...{ wide: 1 + squash * SQUASH_WIDE, high: 1 - squash * SQUASH_HIGH, foot: [MIDDLE, GROUND - 1], lean },
    ...{ turn: character.turnOf?.(pose) ?? turn, middle: [MIDDLE, GROUND - height / 2] },
  });
  character.paint(picture, pose);
  picture.outline();
  if (GROUNDED.has(animation)) {
    picture.standOn(GROUND - 1);
    if (animation !== 'walk' || character.hops) picture.move(-lift);
  }
  return picture;
}

/** Returns the .spr of one character. */
export function drawSpr(character: Character): Uint8Array<ArrayBuffer> {
  const [width, height] = [COLUMNS * FRAME_SIDE, Math.ceil(POSES.length / COLUMNS) * FRAME_SIDE];
  const sheet = new Int32Array(width * height).fill(-1);
  for (const [cell, pose] of POSES.entries()) {
    const { pixels } = drawPose(character, pose);
    const corner = [(cell % COLUMNS) * FRAME_SIDE, Math.floor(cell / COLUMNS) * FRAME_SIDE];
    for (let row = 0; row < FRAME_SIDE; row++) {
      const at = (corner[1] + row) * width + corner[0];
      sheet.set(pixels.subarray(row * FRAME_SIDE, (row + 1) * FRAME_SIDE), at);
    }
  }
  return writeSheet(indexedPng(sheet, width, height), describe(character), crc32);
}

/**
 * Returns a PNG with a palette: a third of the bytes of one without. The pixels are 0xRRGGBB, or below 0 for transparent ones.
 *
 * Source  https://www.w3.org/TR/png-3/
 */
function indexedPng(pixels: Int32Array, width: number, height: number): Uint8Array<ArrayBuffer> {
  const colours = [...new Set(pixels)].sort((a, b) => a - b); // the transparent one is first
  if (colours.length > 256) throw new Error(`A palette has 256 colours, not ${colours.length}.`);
  const indexes = new Map(colours.map((colour, i) => [colour, i]));
  const raw = Buffer.alloc(height * (1 + width)); // a filter byte of 0 before each row
  for (const [i, pixel] of pixels.entries()) raw[Math.floor(i / width) + 1 + i] = indexes.get(pixel)!;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8); // bits of an index, and the colour type: palette
  const palette = colours.flatMap((colour) =>
    colour < 0 ? [0, 0, 0] : [colour >> 16, (colour >> 8) & 255, colour & 255],
  );
  return writePng(
    [
      { type: 'IHDR', content: header },
      { type: 'PLTE', content: Buffer.from(palette) },
      { type: 'tRNS', content: Buffer.from([0]) },
      { type: 'IDAT', content: deflateSync(raw, { level: 9, memLevel: 9 }) },
      { type: 'IEND', content: Buffer.alloc(0) },
    ],
    crc32,
  );
}

export const fileName = (character: Character): string => `${character.name.toLowerCase()}.spr`;

function describe({ name, size, behaviour }: Character): object {
  const [width, height] = size;
  const animations = Object.entries(TIMING).map(([animation, { fps, order }]) => {
    const first = POSES.findIndex((pose) => pose.animation === animation);
    return [animation, { frames: order.map((place) => first + place), fps }];
  });
  return {
    format: 'spr/1',
    name,
    author: 'The Sprites project',
    licence: 'CC0-1.0',
    frame: { width: FRAME_SIDE, height: FRAME_SIDE },
    scale: 2,
    hitbox: [MIDDLE - width / 2, GROUND - height, width, height],
    animations: Object.fromEntries(animations),
    behaviour,
  };
}

if (import.meta.main) {
  const folder = process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url));
  for (const character of CAST) writeFileSync(`${folder}/${fileName(character)}`, drawSpr(character));
}

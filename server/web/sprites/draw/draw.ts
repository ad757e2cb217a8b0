/**
 * Draws every character and writes its .spr: `node server/web/sprites/draw/draw.ts [folder]`, by default into ../
 *
 * The committed files are the output of this program, pixel for pixel. A test checks that they still are.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { PNG } from 'pngjs';
import { writeSheet } from '../../../wire/sheet.ts';
import { CAST, type Character } from './cast.ts';
import { POSES, TIMING } from './pose.ts';

export const FRAME_SIDE = 32; // pixels
const COLUMNS = 8;

/** Returns the .spr of one character. */
export function drawSpr(character: Character): Uint8Array<ArrayBuffer> {
  const rows = Math.ceil(POSES.length / COLUMNS);
  const sheet = new PNG({ width: COLUMNS * FRAME_SIDE, height: rows * FRAME_SIDE });
  for (const [cell, pose] of POSES.entries()) {
    const { pixels } = character.draw(pose);
    const corner = [(cell % COLUMNS) * FRAME_SIDE, Math.floor(cell / COLUMNS) * FRAME_SIDE];
    for (const [i, colour] of pixels.entries()) {
      if (colour < 0) continue;
      const at = (corner[1] + Math.floor(i / FRAME_SIDE)) * sheet.width + corner[0] + (i % FRAME_SIDE);
      sheet.data.writeUInt32BE(((colour << 8) | 0xff) >>> 0, at * 4);
    }
  }
  return writeSheet(
    PNG.sync.write(sheet, { deflateLevel: 9, deflateStrategy: 0, filterType: 0 }),
    describe(character),
    crc32,
  );
}

export const fileName = (character: Character): string => `${character.name.toLowerCase()}.spr`;

function describe({ name, hitbox, behaviour }: Character): object {
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
    hitbox,
    animations: Object.fromEntries(animations),
    behaviour,
  };
}

if (import.meta.main) {
  const folder = process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url));
  for (const character of CAST) writeFileSync(`${folder}/${fileName(character)}`, drawSpr(character));
}

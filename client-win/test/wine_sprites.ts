/**
 * Sprites for the tests under Wine and X11, and finders that locate them on a screenshot.
 *
 * Each sprite has one colour, a transparent hole and a half-transparent area. A sprite without gravity keeps the height at
 * which it was released, so it arrives at exactly the height at which it left.
 */
import { crc32 } from 'node:zlib';
import { PNG } from 'pngjs';
import { writeSheet } from '../../server/wire/files/sheet.ts';
import { type Colour, type Finder, SCREEN } from './x_display.ts';

export const MAGENTA: Colour = [255, 0, 255];
export const CYAN: Colour = [0, 255, 255];
export const YELLOW: Colour = [255, 255, 0];

export const SIDE = 64; // px of each sprite on the screen
export const PADDING = 8; // transparent px around it
const SOLID = SIDE - 2 * PADDING; // px of each side of the coloured square
const BAR = 16; // px of width of the solid stripe left of the hole

interface Character {
  name: string;
  colour: Colour;
  behaviour: { walkSpeed: number; jumpSpeed: number; gravity: number; bounce: number };
}
export const TARGET: Character = {
  name: 'Target',
  colour: MAGENTA,
  behaviour: { walkSpeed: 0, jumpSpeed: 0, gravity: 0, bounce: 0 },
};
export const RUNNER: Character = {
  name: 'Runner',
  colour: CYAN,
  behaviour: { walkSpeed: 80, jumpSpeed: 600, gravity: 1800, bounce: 0 },
};
export const RIVAL: Character = { ...RUNNER, name: 'Rival', colour: YELLOW };

/** 32 × 32 px: 4 transparent px all around a coloured square; in it a hole of 8 × 8 and below that 8 × 8 half-transparent green. */
export function spr({ name, colour, behaviour }: Character): Buffer {
  const picture = new PNG({ width: 32, height: 32 });
  for (let y = 4; y < 28; y++) {
    for (let x = 4; x < 28; x++) {
      const isHole = x >= 12 && x < 20 && y >= 8 && y < 16;
      const isGlass = x >= 12 && x < 20 && y >= 18 && y < 26;
      const pixel = isHole ? [0, 0, 0, 0] : isGlass ? [0, 255, 0, 128] : [...colour, 255];
      picture.data.set(pixel, 4 * (32 * y + x));
    }
  }
  const description = {
    ...{ format: 'spr/1', name, frame: { width: 32, height: 32 }, scale: 2, behaviour },
    animations: { idle: { frames: [0], fps: 1 } },
  };
  return Buffer.from(writeSheet(PNG.sync.write(picture), description, crc32));
}

/** A picture that is not a .spr: 48 × 48 px of one colour. */
export function png(colour: Colour): Buffer {
  const picture = new PNG({ width: 48, height: 48 });
  for (let i = 0; i < picture.data.length; i += 4) picture.data.set([...colour, 255], i);
  return PNG.sync.write(picture);
}

/** Finds the solid stripe at the left of a sprite, by which it can be grabbed, if all of the sprite is on the screen. */
export function stripeOf(colour: Colour): Finder {
  return (screenshot) => {
    const found = screenshot.find(colour);
    const isWhole = found && found.right - found.left === SOLID - 1 && found.bottom - found.top === SOLID - 1;
    return isWhole ? { ...found, right: found.left + BAR - 1 } : undefined;
  };
}
export const target = stripeOf(MAGENTA);
export const runner = stripeOf(CYAN);
export const rival = stripeOf(YELLOW);

/** Finds the sprite that was made from cyan.png. */
export const cyan: Finder = (screenshot) => screenshot.find(CYAN);

/** Finds the same as `find`, but only at the bottom of the screen. */
export const onFloor = (find: Finder): Finder => {
  return (screenshot) => {
    const found = find(screenshot);
    return found && SCREEN.height - 1 - found.bottom <= PADDING ? found : undefined;
  };
};

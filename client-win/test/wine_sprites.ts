/**
 * Sprites drawn for tests: one colour each, with a hole and a half to be seen through, and where they are in a picture.
 *
 * Weightless ones stay at the height they were let go at, and so arrive at the very height they left at.
 */
import { crc32 } from 'node:zlib';
import { PNG } from 'pngjs';
import { writeSheet } from '../../server/wire/sheet.ts';
import { type Area, type Colour, type Picture, SCREEN } from './wine_desktop.ts';

export const MAGENTA: Colour = [255, 0, 255];
export const CYAN: Colour = [0, 255, 255];
export const YELLOW: Colour = [255, 255, 0];

export const SIDE = 64; // px of each sprite on the screen
export const PADDING = 8; // px of nothing around it
const SOLID = SIDE - 2 * PADDING; // px of each side that has a colour
const BAR = 16; // px of the solid stripe left of the hole

interface Look {
  name: string;
  colour: Colour;
  behaviour: { walkSpeed: number; jumpSpeed: number; gravity: number; bounce: number };
}
export const TARGET: Look = {
  name: 'Target',
  colour: MAGENTA,
  behaviour: { walkSpeed: 0, jumpSpeed: 0, gravity: 0, bounce: 0 },
};
export const RUNNER: Look = {
  name: 'Runner',
  colour: CYAN,
  behaviour: { walkSpeed: 80, jumpSpeed: 600, gravity: 1800, bounce: 0 },
};
export const RIVAL: Look = { ...RUNNER, name: 'Rival', colour: YELLOW };

/** 32 × 32 pixels: 4 of nothing all around, a colour, in the middle a hole of 8 × 8, below it a green half to see through. */
export function spr({ name, colour, behaviour }: Look): Buffer {
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

/** A picture that is no sprite: 48 × 48 pixels of one colour. */
export function png(colour: Colour): Buffer {
  const picture = new PNG({ width: 48, height: 48 });
  for (let i = 0; i < picture.data.length; i += 4) picture.data.set([...colour, 255], i);
  return PNG.sync.write(picture);
}

/** The solid stripe at its left, by which it can be taken, when all of it is on the screen. */
export function seen(colour: Colour): (picture: Picture) => Area | undefined {
  return (picture) => {
    const found = picture.find(colour);
    const isWhole = found && found.right - found.left === SOLID - 1 && found.bottom - found.top === SOLID - 1;
    return isWhole ? { ...found, right: found.left + BAR - 1 } : undefined;
  };
}
export const target = seen(MAGENTA);
export const runner = seen(CYAN);
export const rival = seen(YELLOW);

/** The picture that became a sprite. */
export const cyan = (picture: Picture) => picture.find(CYAN);

/** The same, when it stands at the foot of the screen. */
export const onFloor = (found: (picture: Picture) => Area | undefined) => (picture: Picture) => {
  const now = found(picture);
  return now && SCREEN.height - 1 - now.bottom <= PADDING ? now : undefined;
};

/**
 * Draws the pictures of the installer: our characters under an evening sky, as bitmaps for NSIS.
 *
 *     node client-win/tools/installer_pictures.ts FOLDER
 *
 * side.bmp stands beside the first and the last page, head.bmp above the others. Both are as large as NSIS shows them at 100 %:
 * Windows enlarges a picture by repeating its pixels, but shrinks it by AND of neighbouring ones, which streaks the sky.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { PNG } from 'pngjs';
import { readSheet } from '../../server/wire/sheet.ts';

const CHARACTERS = join(import.meta.dirname, '../../server/web/sprites');
const SKY = [
  [43, 58, 103],
  [232, 168, 124],
];
const SUN = [255, 227, 184];
const BACK = [95, 96, 136];
const HILL = [55, 73, 107];

type Colour = readonly number[];

interface Figure {
  width: number;
  height: number;
  foot: number; // px of the cell from the top to the feet
  at: (x: number, y: number) => Colour; // red, green, blue, alpha
}

class Picture {
  readonly width: number;
  readonly height: number;
  private readonly pixels: Uint8Array;

  constructor(width: number, height: number) {
    [this.width, this.height] = [width, height];
    this.pixels = new Uint8Array(3 * width * height);
  }

  blend(x: number, y: number, [red, green, blue]: Colour, alpha = 1): void {
    if (x < 0 || y < 0 || x >= this.width || y >= this.height) return;
    const at = 3 * (y * this.width + x);
    for (const [i, part] of [red, green, blue].entries()) {
      this.pixels[at + i] = Math.round(this.pixels[at + i] * (1 - alpha) + part * alpha);
    }
  }

  /** Draws the sky, the sun and two hills; the characters stand on the nearer one, at `ground`. */
  drawSky(ground: number, sun: { x: number; y: number; radius: number }): void {
    const [top, low] = SKY;
    for (let y = 0; y < this.height; y++) {
      for (let x = 0; x < this.width; x++) {
        const part = y / this.height;
        this.blend(
          x,
          y,
          top.map((value, i) => value + (low[i] - value) * part),
        );
        const distance = Math.hypot(x - sun.x, y - sun.y);
        this.blend(x, y, SUN, Math.min(1, Math.max(0, sun.radius - distance + 0.5)));
        const back = ground - 13 - 7 * Math.sin(x / 30 + 1);
        const hill = ground - 3 * Math.sin(x / 35);
        if (y >= back) this.blend(x, y, BACK);
        if (y >= hill) this.blend(x, y, HILL);
      }
    }
  }

  drawFigure({ width, height, foot, at }: Figure, middle: number, bottom: number, zoom: number): void {
    const [left, top] = [Math.round(middle - (width * zoom) / 2), bottom - foot * zoom];
    for (let y = 0; y < height * zoom; y++) {
      for (let x = 0; x < width * zoom; x++) {
        const [red, green, blue, alpha] = at(Math.floor(x / zoom), Math.floor(y / zoom));
        this.blend(left + x, top + y, [red, green, blue], alpha / 255);
      }
    }
  }

  /** The picture as a bitmap of 24 bits: rows from the bottom, blue first, each row a multiple of four bytes. */
  bmp(): Buffer {
    const row = Math.ceil((3 * this.width) / 4) * 4;
    const HEADER = 54;
    const file = Buffer.alloc(HEADER + row * this.height);
    file.write('BM');
    file.writeUInt32LE(file.length, 2);
    file.writeUInt32LE(HEADER, 10);
    file.writeUInt32LE(40, 14);
    file.writeInt32LE(this.width, 18);
    file.writeInt32LE(this.height, 22);
    file.writeUInt16LE(1, 26);
    file.writeUInt16LE(24, 28);
    for (let y = 0; y < this.height; y++) {
      for (let x = 0; x < this.width; x++) {
        const from = 3 * ((this.height - 1 - y) * this.width + x);
        for (let i = 0; i < 3; i++) file[HEADER + y * row + 3 * x + i] = this.pixels[from + 2 - i];
      }
    }
    return file;
  }
}

/** The first cell of a character's animation. */
function figure(name: string, animation = 'idle'): Figure {
  const bytes = readFileSync(join(CHARACTERS, `${name}.spr`));
  const { description } = readSheet(bytes, crc32);
  const { width: sheetWidth, data } = PNG.sync.read(bytes);
  const { width, height } = description.frame;
  const cell = (description.animations[animation] ?? description.animations.idle).frames[0];
  const columns = Math.floor(sheetWidth / width);
  const [left, top] = [(cell % columns) * width, Math.floor(cell / columns) * height];
  const [, hitboxTop, , hitboxHeight] = description.hitbox;
  const at = (x: number, y: number) => data.subarray(4 * ((top + y) * sheetWidth + left + x)).subarray(0, 4);
  return { width, height, foot: hitboxTop + hitboxHeight, at: (x, y) => [...at(x, y)] };
}

/** Beside the first and the last page: a crowd, and two in the air. */
function side(): Picture {
  const picture = new Picture(164, 314);
  const ground = 250;
  picture.drawSky(ground, { x: 84, y: 160, radius: 21 });
  picture.drawFigure(figure('pip', 'fall'), 50, 85, 2);
  picture.drawFigure(figure('wisp', 'fall'), 118, 130, 2);
  picture.drawFigure(figure('bolt'), 42, ground + 8, 2);
  picture.drawFigure(figure('miso'), 118, ground + 5, 2);
  picture.drawFigure(figure('blob'), 82, ground + 58, 2);
  return picture;
}

/** Above the other pages, on the right. */
function head(): Picture {
  const picture = new Picture(150, 57);
  const ground = 46;
  picture.drawSky(ground, { x: 97, y: 15, radius: 7 });
  for (const [i, name] of ['blob', 'miso', 'bolt'].entries()) {
    picture.drawFigure(figure(name), 30 + 45 * i, ground + 3, 1);
  }
  return picture;
}

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('Usage: node client-win/tools/installer_pictures.ts FOLDER');
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'side.bmp'), side().bmp());
writeFileSync(join(folder, 'head.bmp'), head().bmp());

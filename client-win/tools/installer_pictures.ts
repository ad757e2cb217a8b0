/**
 * Draws the pictures of the installer: our characters under an evening sky, as bitmaps for NSIS.
 *
 *     node client-win/tools/installer_pictures.ts FOLDER
 *
 * side.bmp stands beside the first and the last page, head.bmp above the others. Both are twice as large as NSIS shows them at
 * 100 %, so that they are sharp on a monitor with a higher scale. A pixel of a character becomes a whole number of pixels.
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
        const back = ground - 26 - 14 * Math.sin(x / 60 + 1);
        const hill = ground - 6 * Math.sin(x / 70);
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

/** Beside the first and the last page: a crowd, and one that flies in. */
function side(): Picture {
  const picture = new Picture(328, 628);
  const ground = 500;
  picture.drawSky(ground, { x: 96, y: 330, radius: 46 });
  picture.drawFigure(figure('pip', 'fall'), 100, 170, 4);
  picture.drawFigure(figure('wisp', 'fall'), 242, 250, 3);
  picture.drawFigure(figure('bolt'), 84, ground + 16, 4);
  picture.drawFigure(figure('miso'), 236, ground + 10, 4);
  picture.drawFigure(figure('ember'), 82, ground + 114, 3);
  picture.drawFigure(figure('blob'), 226, ground + 108, 3);
  return picture;
}

/** Above the other pages, on the right. */
function head(): Picture {
  const picture = new Picture(300, 114);
  const ground = 92;
  picture.drawSky(ground, { x: 60, y: 40, radius: 16 });
  for (const [i, name] of ['blob', 'miso', 'bolt'].entries()) {
    picture.drawFigure(figure(name), 60 + 90 * i, ground + 6, 2);
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

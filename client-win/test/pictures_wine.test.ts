/**
 * Every kind of picture given to the program for Windows, under Wine: what sprite it becomes, in its file and on the screen.
 *
 * The pictures are made here, byte by byte, in colours nothing else on the screen has; JPEG by ImageMagick.
 * PNG, GIF and BMP are read by the core, JPEG, TIFF and ICO by the codecs of Windows (here Wine's).
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { PNG } from 'pngjs';
import { readSpr } from '../../server/wire/spr.ts';
import { buildWindowsClient, WINDOWS_CLIENT } from '../../tools/build.js';
import { ensurePrograms } from '../../tools/machine.js';
import { type Colour, eventually, noWine, type Picture, WineDesktop } from './wine_desktop.ts';

const SIDE = 48; // px of every picture: drawn twice as large, pixel by pixel
const NEAR = 6; // of 255: what a JPEG makes of a colour
const SHOTS = join(import.meta.dirname, '../../screenshots');

const noJpegs = () =>
  ensurePrograms(['convert'], ['imagemagick']) ? undefined : 'no convert: apt-get install imagemagick';
const skip = noWine() ?? buildWindowsClient() ?? noJpegs() ?? false;

const u16 = (...numbers: number[]) => numbers.flatMap((n) => [n & 255, n >> 8]);
const u32 = (...numbers: number[]) => numbers.flatMap((n) => u16(n & 0xffff, n >>> 16));

/** Its left half of one colour, its right half see-through. */
function png([red, green, blue]: Colour): Buffer {
  const picture = new PNG({ width: SIDE, height: SIDE });
  for (let i = 0; i < SIDE * SIDE; i++) {
    if (i % SIDE < SIDE / 2) picture.data.set([red, green, blue, 255], 4 * i);
  }
  return PNG.sync.write(picture);
}

/** A frame of one colour each, so many ms long; codes of four bits that start anew before they would need five. */
function gif(frames: { colour: Colour; ms: number }[]): Buffer {
  const colours = [...frames.map(({ colour }) => colour), ...Array(8).fill([0, 0, 0])].slice(0, 8);
  const bytes = [...Buffer.from('GIF89a'), ...u16(SIDE, SIDE), 0x82, 0, 0, ...colours.flat()];
  for (const [index, { ms }] of frames.entries()) {
    bytes.push(0x21, 0xf9, 4, 0, ...u16(ms / 10), 0, 0, 0x2c, ...u16(0, 0, SIDE, SIDE), 0, 3);
    const codes: number[] = [];
    for (let i = 0; i < SIDE * SIDE; i++) codes.push(...(i % 6 === 0 ? [8, index] : [index]));
    codes.push(9, 0);
    const packed = Array.from({ length: codes.length >> 1 }, (_, i) => codes[2 * i] | (codes[2 * i + 1] << 4));
    for (let at = 0; at < packed.length; at += 255) {
      const block = packed.slice(at, at + 255);
      bytes.push(block.length, ...block);
    }
    bytes.push(0);
  }
  return Buffer.from([...bytes, 0x3b]);
}

function bmp([red, green, blue]: Colour): Buffer {
  const pixels = Array(SIDE * SIDE)
    .fill([blue, green, red])
    .flat();
  const header = [...u32(40, SIDE, SIDE), ...u16(1, 24), ...u32(0, pixels.length, 0, 0, 0, 0)];
  return Buffer.from([...Buffer.from('BM'), ...u32(54 + pixels.length, 0, 54), ...header, ...pixels]);
}

function tiff(colour: Colour): Buffer {
  const pixels = Array(SIDE * SIDE)
    .fill(colour)
    .flat();
  const [SHORT, LONG] = [3, 4];
  const tags = [
    [256, SHORT, 1, SIDE],
    [257, SHORT, 1, SIDE],
    [258, SHORT, 3, 8 + pixels.length],
    [259, SHORT, 1, 1],
    [262, SHORT, 1, 2],
    [273, LONG, 1, 8],
    [277, SHORT, 1, 3],
    [278, SHORT, 1, SIDE],
    [279, LONG, 1, pixels.length],
  ];
  const directory = 8 + pixels.length + 6;
  const entries = tags.flatMap(([tag, type, count, value]) => [...u16(tag, type), ...u32(count, value)]);
  const head = [...Buffer.from('II'), ...u16(42), ...u32(directory)];
  return Buffer.from([...head, ...pixels, ...u16(8, 8, 8), ...u16(tags.length), ...entries, ...u32(0)]);
}

/** An icon of two sizes, the small one first and of another colour. */
function ico(colour: Colour, small: Colour): Buffer {
  const image = (side: number, [red, green, blue]: Colour) => {
    const pixels = Array(side * side)
      .fill([blue, green, red, 255])
      .flat();
    const mask = Array(side * Math.ceil(side / 32) * 4).fill(0);
    const header = [...u32(40, side, 2 * side), ...u16(1, 32), ...u32(0, pixels.length, 0, 0, 0, 0)];
    return [...header, ...pixels, ...mask];
  };
  const images = [image(16, small), image(SIDE, colour)];
  const entry = (side: number, size: number, at: number) => [side, side, 0, 0, ...u16(1, 32), ...u32(size, at)];
  const first = 6 + 2 * 16;
  return Buffer.from([
    ...u16(0, 1, 2),
    ...entry(16, images[0].length, first),
    ...entry(SIDE, images[1].length, first + images[0].length),
    ...images.flat(),
  ]);
}

function jpeg([red, green, blue]: Colour): Buffer {
  return execFileSync('convert', [
    '-size',
    `${SIDE}x${SIDE}`,
    `xc:rgb(${red},${green},${blue})`,
    '-quality',
    '95',
    'jpg:-',
  ]);
}

/** A photograph that lies on its left side, and says so: one half is at its top as it was written, and right when upright. */
function photograph(right: Colour, left: Colour): Buffer {
  const half = (colour: Colour) => ['-size', `${SIDE}x${SIDE / 2}`, `xc:rgb(${colour})`];
  const picture = execFileSync('convert', [...half(right), ...half(left), '-append', '-quality', '95', 'jpg:-']);
  const tiff = [...Buffer.from('II'), ...u16(42), ...u32(8), ...u16(1, 274, 3), ...u32(1, 6, 0)];
  const exif = Buffer.from([...Buffer.from('Exif\0\0'), ...tiff]);
  return Buffer.concat([
    picture.subarray(0, 2),
    Buffer.from([0xff, 0xe1, 0, exif.length + 2]),
    exif,
    picture.subarray(2),
  ]);
}

const COLOURS = {
  png: [201, 10, 120],
  bmp: [10, 200, 90],
  jpg: [220, 120, 20],
  tif: [30, 90, 230],
  ico: [140, 60, 200],
  gif: [250, 30, 30],
  gifThen: [30, 240, 240],
  last: [90, 20, 60],
  left: [160, 160, 40],
  right: [60, 110, 110],
} as const satisfies Record<string, Colour>;

const pictures: Record<string, Buffer> = skip
  ? {}
  : {
      'p.png': png(COLOURS.png),
      'b.bmp': bmp(COLOURS.bmp),
      'j.jpg': jpeg(COLOURS.jpg),
      'photograph.jpg': photograph(COLOURS.right, COLOURS.left),
      't.tif': tiff(COLOURS.tif),
      'i.ico': ico(COLOURS.ico, [1, 2, 3]),
      'g.gif': gif([
        { colour: COLOURS.gif, ms: 400 },
        { colour: COLOURS.gifThen, ms: 1200 },
      ]),
    };

const WHITE: Colour = [255, 255, 255];

/** A WebP (VP8L) of one pixel, of which this Windows knows only the name. */
const webp = Buffer.from('524946461a000000574542505650384c0d0000002f00000010071011118888fe0700', 'hex');

const isNear = (one: ArrayLike<number>, other: Colour) => other.every((part, i) => Math.abs(part - one[i]) <= NEAR);

describe('pictures in the windows client', { skip, timeout: 180_000 }, () => {
  let desktop: WineDesktop;

  /** The .spr that came of a picture, its frames as pixels. */
  function became(name: string) {
    const kept = desktop.kept().sprites.find((sprite) => sprite.name === name) as { file: string } | undefined;
    assert.ok(kept, `${name}: ${JSON.stringify(desktop.kept())}`);
    const bytes = readFileSync(join(desktop.folder, 'files', 'own', kept.file));
    const { description, width } = readSpr(bytes);
    const sheet = PNG.sync.read(bytes);
    const [left, top, across, down] = description.hitbox;
    /** The pixel of a cell, at parts of the picture's own width and height. */
    const at = (cell: number, x: number, y: number) => {
      const columns = width / description.frame.width;
      const column = (cell % columns) * description.frame.width + left + Math.floor(x * across);
      const row = Math.floor(cell / columns) * description.frame.height + top + Math.floor(y * down);
      return [...sheet.data.subarray(4 * (row * width + column), 4 * (row * width + column) + 4)];
    };
    return { description, at };
  }

  before(async () => {
    mkdirSync(SHOTS, { recursive: true });
    desktop = await WineDesktop.start('pictures');
    desktop.settle({ relay: 'http://127.0.0.1:9', sound: false, calm: true });
    for (const [name, bytes] of Object.entries(pictures)) writeFileSync(join(desktop.prefix, 'drive_c', name), bytes);
    desktop.begin(WINDOWS_CLIENT, ...Object.keys(pictures).map((name) => `C:\\${name}`));
    await eventually('all have become sprites', () => desktop.kept().sprites.length === Object.keys(pictures).length);
  });

  after(async () => await desktop?.stop());

  for (const kind of ['png', 'bmp', 'jpg', 'tif', 'ico'] as const) {
    it(`${kind} becomes a still sprite that breathes, walks and lands`, async () => {
      const { description, at } = became(kind[0]);
      assert.deepEqual(description.hitbox.slice(2), [SIDE, SIDE]);
      assert.equal(description.scale, 2);
      assert.deepEqual(description.animations.idle.frames, [0, 1, 2, 1]);
      const right = kind === 'png' ? [0, 0, 0, 0] : [...COLOURS[kind], 255];
      for (const y of [0.1, 0.5, 0.9]) {
        assert.ok(isNear(at(0, 0.25, y), COLOURS[kind]), `${at(0, 0.25, y)}`);
        assert.ok(isNear(at(0, 0.75, y), right.slice(0, 3) as unknown as Colour), `${at(0, 0.75, y)}`);
        assert.equal(at(0, 0.75, y)[3], right[3]);
      }
      await desktop.seeUntil(`${kind} on the screen`, (picture) => picture.find(at(0, 0.25, 0.5) as never));
    });
  }

  it('a photograph becomes an upright sprite, however the camera was held', () => {
    const { at } = became('photograph');
    for (const y of [0.1, 0.9]) {
      assert.ok(isNear(at(0, 0.1, y), COLOURS.left), `${at(0, 0.1, y)}`);
      assert.ok(isNear(at(0, 0.9, y), COLOURS.right), `${at(0, 0.9, y)}`);
    }
  });

  it('gif becomes a sprite that plays its frames, each as long as it was shown', async () => {
    const { description, at } = became('g');
    assert.deepEqual(description.animations.idle.frames, [0, 1, 1, 1]);
    assert.equal(description.animations.idle.fps, 2.5);
    assert.deepEqual(at(0, 0.5, 0.5), [...COLOURS.gif, 255]);
    assert.deepEqual(at(1, 0.5, 0.5), [...COLOURS.gifThen, 255]);
    for (const colour of [COLOURS.gif, COLOURS.gifThen, COLOURS.gif]) {
      const other = colour === COLOURS.gif ? COLOURS.gifThen : COLOURS.gif;
      // A look taken while the screen is being drawn has some of both.
      const { picture } = await desktop.seeUntil(`${colour} alone on the screen`, (seen) =>
        seen.find(colour) && !seen.find(other) ? seen : undefined,
      );
      picture.save(join(SHOTS, 'wine-pictures.png'));
    }
  });

  it('what nobody can read is no sprite: a balloon says why, and the next one is taken', async () => {
    const before = desktop.kept().sprites.length;
    const inDrive = (name: string, bytes: Buffer) => {
      writeFileSync(join(desktop.prefix, 'drive_c', name), bytes);
      return `C:\\${name}`;
    };
    await desktop.run('wine', WINDOWS_CLIENT, inDrive('cat.webp', webp));
    // Wider than the icon's own window above it, and white between its two lines.
    const BETWEEN_LINES = 72; // px
    const isBalloon = (seen: Picture) => [200, 300, 400].every((x) => isNear(seen.at(x, BETWEEN_LINES), WHITE));
    const { picture } = await desktop.seeUntil('the balloon below the icon', (seen) => isBalloon(seen) || undefined);
    picture.save(join(SHOTS, 'wine-webp.png'));
    const damaged = [
      inDrive('cut.jpg', pictures['j.jpg'].subarray(0, 40)),
      inDrive('cut.gif', pictures['g.gif'].subarray(0, 40)),
      inDrive('cut.tif', pictures['t.tif'].subarray(0, 40)),
      inDrive('notes.txt', Buffer.from('no picture')),
    ];
    await desktop.run('wine', WINDOWS_CLIENT, ...damaged, inDrive('last.png', png(COLOURS.last)));
    await eventually('the last one is a sprite', () => desktop.kept().sprites.some(({ name }) => name === 'last'));
    assert.equal(desktop.kept().sprites.length, before + 1);
  });
});

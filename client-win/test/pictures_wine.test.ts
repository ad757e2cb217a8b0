/**
 * The Windows program under Wine imports pictures of each format: the .spr file and the sprite on the screen.
 *
 * The tests make the pictures byte by byte (ImageMagick makes the JPEGs) in colours that are nowhere else on the screen.
 * The core decodes PNG, GIF and BMP; the codecs of Windows, here Wine's, decode JPEG, TIFF and ICO.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { PNG } from 'pngjs';
import { MASCOT, PACK_ANIMATIONS, PACK_SIDE, shimejiPack } from '../../server/test/shimeji_pack.ts';
import { readSpr } from '../../server/wire/files/spr.ts';
import { buildWindowsClient, WINDOWS_CLIENT } from '../../tools/build.js';
import { ensurePrograms, installHint } from '../../tools/machine.js';
import { WineDesktop, whyNoWine } from './wine_desktop.ts';
import { type Colour, eventually, type Screenshot } from './x_display.ts';

const SIDE = 48; // px of each picture; sprites are drawn at twice this size
const PAPER_MIN = 224; // of 255: the paper of a dialog has more of each colour
const NEAR = 6; // of 255: how much JPEG changes a colour
const SHOTS = join(import.meta.dirname, '../../screenshots');

const noJpegs = () =>
  ensurePrograms(['convert'], ['imagemagick']) ? undefined : `no convert: ${installHint(['imagemagick'])}`;
const skip = whyNoWine() ?? buildWindowsClient() ?? noJpegs() ?? false;

const u16 = (...numbers: number[]) => numbers.flatMap((n) => [n & 255, n >> 8]);
const u32 = (...numbers: number[]) => numbers.flatMap((n) => u16(n & 0xffff, n >>> 16));

/** The left half has one colour, the right half is transparent. */
function png([red, green, blue]: Colour): Buffer {
  const picture = new PNG({ width: SIDE, height: SIDE });
  for (let i = 0; i < SIDE * SIDE; i++) {
    // Its right half is transparent, but for its last column: it has no margin to trim.
    if (i % SIDE < SIDE / 2 || i % SIDE === SIDE - 1) picture.data.set([red, green, blue, 255], 4 * i);
  }
  return PNG.sync.write(picture);
}

/** Each frame has one colour and a duration. Codes have four bits: a clear code comes before they would need five. */
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

/** An icon in two sizes; the first is smaller and of another colour. */
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

/** A photograph stored on its left side, with an EXIF orientation: its upper half is the right one when it is upright. */
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

/** A WebP (VP8L) of one pixel. Wine has no codec for it. */
const webp = Buffer.from('524946461a000000574542505650384c0d0000002f00000010071011118888fe0700', 'hex');

const isNear = (one: ArrayLike<number>, other: Colour) => other.every((part, i) => Math.abs(part - one[i]) <= NEAR);

describe('windows client, imported pictures', { skip, timeout: 900_000 }, () => {
  let desktop: WineDesktop;

  /** Reads the .spr that was made from a picture. */
  function importedSpr(name: string) {
    const kept = desktop.savedState().sprites.find((sprite) => sprite.name === name) as { file: string } | undefined;
    assert.ok(kept, `${name}: ${JSON.stringify(desktop.savedState())}`);
    const bytes = readFileSync(join(desktop.folder, 'files', 'own', kept.file));
    const { description, width } = readSpr(bytes);
    const sheet = PNG.sync.read(bytes);
    const [left, top, across, down] = description.hitbox;
    /** The pixel of a cell at fractions of the picture's width and height. */
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
    desktop.writeSettings({ relay: 'http://127.0.0.1:9', sound: false, calm: true, greeted: true });
    for (const [name, bytes] of Object.entries(pictures)) writeFileSync(join(desktop.prefix, 'drive_c', name), bytes);
    desktop.launch(WINDOWS_CLIENT, ...Object.keys(pictures).map((name) => `C:\\${name}`));
    await eventually(
      'all pictures are imported',
      () => desktop.savedState().sprites.length === Object.keys(pictures).length,
    );
  });

  after(async () => await desktop?.stop());

  for (const kind of ['png', 'bmp', 'jpg', 'tif', 'ico'] as const) {
    it(`${kind} becomes a sprite with animations made from one picture`, async () => {
      const { description, at } = importedSpr(kind[0]);
      assert.deepEqual(description.hitbox.slice(2), [SIDE, SIDE]);
      assert.equal(description.scale, 2);
      assert.deepEqual(description.animations.idle.frames, [0, 1, 2, 1]);
      const right = kind === 'png' ? [0, 0, 0, 0] : [...COLOURS[kind], 255];
      for (const y of [0.1, 0.5, 0.9]) {
        assert.ok(isNear(at(0, 0.25, y), COLOURS[kind]), `${at(0, 0.25, y)}`);
        assert.ok(isNear(at(0, 0.75, y), right.slice(0, 3) as unknown as Colour), `${at(0, 0.75, y)}`);
        assert.equal(at(0, 0.75, y)[3], right[3]);
      }
      await desktop.waitFor(`${kind} on the screen`, (screenshot) => screenshot.find(at(0, 0.25, 0.5) as never));
    });
  }

  it('a photograph with an EXIF orientation becomes an upright sprite', () => {
    const { at } = importedSpr('photograph');
    for (const y of [0.1, 0.9]) {
      assert.ok(isNear(at(0, 0.1, y), COLOURS.left), `${at(0, 0.1, y)}`);
      assert.ok(isNear(at(0, 0.9, y), COLOURS.right), `${at(0, 0.9, y)}`);
    }
  });

  it('gif becomes a sprite that plays its frames, each for its duration', async () => {
    const { description, at } = importedSpr('g');
    assert.deepEqual(description.animations.idle.frames, [0, 1, 1, 1]);
    assert.equal(description.animations.idle.fps, 2.5);
    assert.deepEqual(at(0, 0.5, 0.5), [...COLOURS.gif, 255]);
    assert.deepEqual(at(1, 0.5, 0.5), [...COLOURS.gifThen, 255]);
    for (const colour of [COLOURS.gif, COLOURS.gifThen, COLOURS.gif]) {
      const other = colour === COLOURS.gif ? COLOURS.gifThen : COLOURS.gif;
      // A screenshot taken while the screen is drawn may show both colours.
      const { screenshot } = await desktop.waitFor(`${colour} and not ${other} on the screen`, (now) =>
        now.find(colour) && !now.find(other) ? now : undefined,
      );
      screenshot.save(join(SHOTS, 'wine-pictures.png'));
    }
  });

  it('a Shimeji pack becomes a sprite once one says that its pictures may be passed on', async () => {
    writeFileSync(join(desktop.prefix, 'drive_c', 'Orange.zip'), shimejiPack('japanese'));
    const isHere = () => desktop.savedState().sprites.some(({ name }) => name === 'Orange');
    for (const [key, accepts] of [
      ['Escape', false],
      ['y', true],
    ] as const) {
      await desktop.run('wine', WINDOWS_CLIENT, 'C:\\Orange.zip');
      const { x, y, width, height } = await desktop.focusOn('Sprites');
      const { screenshot } = await desktop.waitFor('its paper is drawn', (now) =>
        now.at(x + width / 2, y + height / 2).every((part) => part > PAPER_MIN) ? now : undefined,
      );
      screenshot.save(join(SHOTS, 'wine-pack.png'));
      await desktop.press(key);
      await desktop.isGone('Sprites');
      if (accepts) await eventually('it is imported', isHere);
      else assert.ok(!isHere());
    }
    const { animations, hitbox, scale } = importedSpr('Orange').description;
    const frames = Object.entries(animations).map(([name, one]) => [name, [...one.frames]]);
    assert.deepEqual(Object.fromEntries(frames), PACK_ANIMATIONS);
    assert.equal(Math.round(scale * Math.max(...hitbox.slice(2))), PACK_SIDE);
    const { screenshot } = await desktop.waitFor('it is on the screen', (now) => now.find(MASCOT) && now);
    screenshot.save(join(SHOTS, 'wine-pack-here.png'));
  });

  it('an unreadable file is rejected with a balloon that says why; the next file is imported', async () => {
    const before = desktop.savedState().sprites.length;
    const writeToDrive = (name: string, bytes: Buffer) => {
      writeFileSync(join(desktop.prefix, 'drive_c', name), bytes);
      return `C:\\${name}`;
    };
    await desktop.run('wine', WINDOWS_CLIENT, writeToDrive('cat.webp', webp));
    // The balloon is wider than the window of the icon above it, and white between its two lines of text.
    const BETWEEN_LINES = 72; // px from the top
    const isBalloon = (now: Screenshot) => [200, 300, 400].every((x) => isNear(now.at(x, BETWEEN_LINES), WHITE));
    const { screenshot } = await desktop.waitFor('the balloon below the icon', (now) => isBalloon(now) || undefined);
    screenshot.save(join(SHOTS, 'wine-webp.png'));
    const damaged = [
      writeToDrive('cut.jpg', pictures['j.jpg'].subarray(0, 40)),
      writeToDrive('cut.gif', pictures['g.gif'].subarray(0, 40)),
      writeToDrive('cut.tif', pictures['t.tif'].subarray(0, 40)),
      writeToDrive('notes.txt', Buffer.from('not a picture')),
    ];
    await desktop.run('wine', WINDOWS_CLIENT, ...damaged, writeToDrive('last.png', png(COLOURS.last)));
    await eventually('the last file is imported', () =>
      desktop.savedState().sprites.some(({ name }) => name === 'last'),
    );
    assert.equal(desktop.savedState().sprites.length, before + 1);
  });
});

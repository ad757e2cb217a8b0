import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { crc32 } from 'node:zlib';
import { GifWriter } from 'omggif';
import { PNG } from 'pngjs';
import { flagOf, helpOf } from '../../tools/command.ts';
import { KNOWN_ANIMATIONS } from '../wire/files/description.ts';
import { readPng, writePng } from '../wire/files/png.ts';
import { readSpr } from '../wire/files/spr.ts';
import { COMMAND, run } from './spr.ts';

const folder = mkdtempSync(join(tmpdir(), 'spr-'));
after(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);

const HELP = helpOf(COMMAND);

/** Runs the command and collects what it prints. */
async function spr(...argv: string[]) {
  const [out, err]: string[][] = [[], []];
  const status = await run({
    argv,
    environment: {},
    print: (line) => out.push(`${line}\n`),
    complain: (line) => err.push(`${line}\n`),
  });
  return { status, out: out.join(''), err: err.join('') };
}

const statusOf = async (...args: string[]) => (await spr(...args)).status;

/** A PNG whose pixel at x, y has red = x and green = y. */
function picture(name: string, width: number, height: number): string {
  const png = new PNG({ width, height });
  for (let i = 0; i < width * height; i++) png.data.set([i % width, Math.floor(i / width), 0, 255], i * 4);
  writeFileSync(at(name), PNG.sync.write(png));
  return at(name);
}

const RED = 0;
const GREEN = 1;
const BLUE = 2;
const PALETTE = [0xff0000, 0x00ff00, 0x0000ff, 0xffffff];

interface GifFrame {
  place: [x: number, y: number, width: number, height: number];
  colour: number;
  ms: number;
  disposal?: number;
}

function gif(name: string, width: number, height: number, frames: GifFrame[]): string {
  const bytes = Buffer.alloc(1 << 20);
  const writer = new GifWriter(bytes, width, height, { palette: PALETTE });
  for (const { place, colour, ms, disposal = 0 } of frames) {
    const pixels = Array<number>(place[2] * place[3]).fill(colour);
    writer.addFrame(...place, pixels, { delay: ms / 10, disposal });
  }
  writeFileSync(at(name), bytes.subarray(0, writer.end()));
  return at(name);
}

const pixel = (png: PNG, x: number, y: number) => [
  ...png.data.subarray((y * png.width + x) * 4, (y * png.width + x) * 4 + 4),
];

describe('spr › the command line', () => {
  it('describes exactly the options it has, and the animations that desktops play', async () => {
    const described = [...HELP.matchAll(/^ {2}(?:-(\w), | {4})--(\w+)/gm)].map(([, short, long]) => [long, short]);
    const known = Object.entries(COMMAND.options).map(([name, { letter }]) => [flagOf(name), letter]);
    assert.deepEqual(described.toSorted(), [...known, ['help', 'h'], ['version', undefined]].toSorted());
    assert.ok(HELP.replace(/\s+/g, ' ').includes(KNOWN_ANIMATIONS.join(' ')));
    assert.deepEqual(await spr('--help'), { status: 0, out: `${HELP}\n`, err: '' });
  });

  it('prints the help and exits 2 when there is no command', async () => {
    assert.deepEqual(await spr(), { status: 2, out: '', err: `${HELP}\n` });
  });

  it('exits 2 and says what is wrong when it is misused', async () => {
    const misuses: [string[], RegExp][] = [
      [['bake'], /^There is no command "bake"; there are pack, show, lint\. See --help\.$/m],
      [['pack'], /^pack: name one file, not 0\./],
      [['show', 'a', 'b'], /^show: name one file, not 2\./],
      [['lint'], /^lint: name at least one file\./],
      [['lint', '--name', 'x', 'a'], /^--name: goes with pack, not with lint\./],
      [['pack', 'a.png', '--colour', 'red'], /^Unknown option '--colour'\./],
      [['pack', picture('misuse.png', 4, 4), '--frame', '4'], /^--frame: must be WxH such as 32x32, not "4"\.$/m],
      [['pack', at('misuse.png'), '--animation', 'idle'], /^--animation: must be NAME=FRAMES@FPS .*, not "idle"\.$/m],
      [['pack', at('misuse.png'), '--animation', 'idle=-3@4'], /^--animation: must be .*, not "idle=-3@4"\.$/m],
      [['pack', at('misuse.png'), '--scale', 'big'], /^--scale: must be a number from 0\.25 to 16 .*, not "big"\.$/m],
      [['pack', at('misuse.png'), '--scale', '-1'], /^--scale: must be a number from 0\.25 to 16 .*, not "-1"\.$/m],
      [['pack', at('misuse.png'), '--behaviour', 'speed=3'], /^--behaviour: must be a list of .*, not "speed=3"\.$/m],
      [['pack', at('misuse.png'), '--hitbox', '1,x'], /^--hitbox: must be numbers such as 4,8,24,24, not "1,x"\.$/m],
    ];
    for (const [args, message] of misuses) {
      const { status, out, err } = await spr(...args);
      assert.deepEqual([status, out], [2, ''], args.join(' '));
      assert.match(err, message);
    }
  });

  it('exits 1 with a sentence that names the file when it does not exist or is not a .spr', async () => {
    for (const [args, message] of [
      [['show', at('none.spr')], /^There is no file \/.*none\.spr\.$/m],
      [['lint', at('none.spr')], /^There is no file \/.*none\.spr\.$/m],
      [['pack', at('none.png')], /^There is no file \/.*none\.png\.$/m],
      [['pack', folder], /^\/.* is a folder, not a file\.$/m],
      [['show', picture('plain.png', 4, 4)], /^\/.*plain\.png: .*0 iTXt chunks/],
    ] as const) {
      const { status, out, err } = await spr(...args);
      assert.deepEqual([status, out], [1, ''], args.join(' '));
      assert.match(err, message);
    }
  });
});

describe('spr › pack', () => {
  it('makes a sprite of one frame from any PNG', async () => {
    const { status, out } = await spr('pack', picture('Rock.png', 200, 100));
    assert.equal(status, 0);
    assert.match(out, /Rock\.spr\n {2}name +Rock\n/);
    const { description, frames } = readSpr(readFileSync(at('Rock.spr')));
    assert.equal(frames, 1);
    assert.equal(description.scale, 96 / 200);
    assert.deepEqual(description.animations.idle, { frames: [0], fps: 8 });
    assert.equal(await statusOf('lint', at('Rock.spr')), 0);
  });

  it('cuts a PNG into frames and reads everything else from its options', async () => {
    const args = ['--frame', '8x8', '--animation', 'idle=0-2@4', '--animation', 'walk=3-1,7@9.5', '--name', 'Ünal'];
    args.push('--author', 'A', '--licence', 'CC0-1.0', '--scale', '3', '--hitbox', '1,2,6,6', '-o', at('out.spr'));
    const { status } = await spr('pack', picture('grid.png', 32, 16), ...args, '--behaviour', 'gravity=900,bounce=0.5');
    assert.equal(status, 0);
    const { description } = readSpr(readFileSync(at('out.spr')));
    assert.deepEqual(JSON.parse(JSON.stringify(description)), {
      format: 'spr/1',
      name: 'Ünal',
      author: 'A',
      licence: 'CC0-1.0',
      frame: { width: 8, height: 8 },
      scale: 3,
      hitbox: [1, 2, 6, 6],
      animations: { idle: { frames: [0, 1, 2], fps: 4 }, walk: { frames: [3, 2, 1, 7], fps: 9.5 } },
      behaviour: { walkSpeed: 60, jumpSpeed: 420, gravity: 900, bounce: 0.5, hopChance: 0.12 },
    });
  });

  it('keeps the description of another sprite, except for what is given', async () => {
    const frog = join(import.meta.dirname, '../web/sprites/puddle.spr');
    assert.equal(await statusOf('pack', frog, '--like', frog, '-o', at('same.spr')), 0);
    assert.deepEqual(readFileSync(at('same.spr')), readFileSync(frog));
    const { width, height, description } = readSpr(readFileSync(frog));
    const painted = picture('painted.png', width, height);
    assert.equal(await statusOf('pack', painted, '--like', frog, '--animation', 'idle=0@1', '--scale', '3'), 0);
    const own = JSON.stringify(readSpr(readFileSync(at('painted.spr'))).description);
    assert.deepEqual(JSON.parse(own), { ...description, animations: { idle: { frames: [0], fps: 1 } }, scale: 3 });
    assert.equal(await statusOf('pack', picture('small.png', 8, 8), '--like', frog), 1, 'its frames are larger');
  });

  it('draws each frame of a GIF over what the previous one left, and plays it for as long as the GIF does', async () => {
    const file = gif('spin.gif', 4, 2, [
      { place: [0, 0, 4, 2], colour: RED, ms: 100 },
      { place: [0, 0, 2, 1], colour: GREEN, ms: 300, disposal: 3 },
      { place: [2, 0, 2, 2], colour: BLUE, ms: 0, disposal: 2 },
      { place: [0, 1, 1, 1], colour: GREEN, ms: 100 },
    ]);
    const { status, err } = await spr('pack', file, '--name', 'Spin');
    assert.deepEqual([status, err], [0, '']);
    const bytes = readFileSync(at('spin.spr'));
    const { description, width } = readSpr(bytes);
    assert.deepEqual(description.frame, { width: 4, height: 2 });
    assert.deepEqual(description.animations.idle, { frames: [0, 1, 1, 1, 2, 3], fps: 10 });
    const sheet = PNG.sync.read(bytes);
    const cell = (i: number) => {
      const [left, top] = [(i * 4) % width, 2 * Math.floor((i * 4) / width)];
      const letters = [0, 1, 2, 3, 4, 5, 6, 7].map((n) => {
        const [red, green, blue, alpha] = pixel(sheet, left + (n % 4), top + (n >> 2));
        return alpha === 0 ? '.' : red ? 'r' : green ? 'g' : blue ? 'b' : '?';
      });
      return letters.join('');
    };
    assert.deepEqual([0, 1, 2, 3].map(cell), ['rrrrrrrr', 'ggrrrrrr', 'rrbbrrbb', 'rr..gr..']);
    const animated = await spr('pack', file, '--animation', 'idle=0@1', '--animation', 'walk=1-3@8');
    assert.equal(animated.status, 0);
    assert.deepEqual(readSpr(readFileSync(at('spin.spr'))).description.animations.walk.frames, [1, 2, 3]);
    assert.equal(await statusOf('pack', file, '--frame', '2x2'), 2);
  });

  it('accepts a GIF of 512 frames, and rejects one that is longer, cut off, too large, or has frames outside of it', async () => {
    const long = (frames: number) =>
      gif(`${frames}.gif`, 1, 1, Array(frames).fill({ place: [0, 0, 1, 1], colour: RED, ms: 20 }));
    for (const frames of [511, 512]) {
      assert.equal(await statusOf('pack', long(frames)), 0);
      const { idle } = readSpr(readFileSync(at(`${frames}.spr`))).description.animations;
      assert.deepEqual([idle.frames.length, idle.fps], [frames, 50]);
    }
    const uneven = Array.from({ length: 100 }, (_, i): GifFrame => {
      return { place: [0, 0, 1, 1], colour: RED, ms: i === 0 ? 20 : 200 };
    });
    assert.equal(await statusOf('pack', gif('uneven.gif', 1, 1, uneven)), 0);
    const { idle } = readSpr(readFileSync(at('uneven.spr'))).description.animations;
    assert.equal(idle.frames.length, 100);
    assert.equal(Math.round(1000 / idle.fps), 198);
    const whole = readFileSync(at('512.gif'));
    writeFileSync(at('cut.gif'), whole.subarray(0, 40));
    const huge = Buffer.from(whole);
    huge.writeUInt16LE(65_535, 6);
    writeFileSync(at('huge.gif'), huge);
    const outside = gif('outside.gif', 2, 2, [{ place: [1, 1, 1, 1], colour: RED, ms: 0 }]);
    const moved = readFileSync(outside);
    moved.writeUInt16LE(2, moved.indexOf(0x2c) + 1);
    writeFileSync(outside, moved);
    for (const file of [long(513), at('cut.gif'), at('huge.gif'), outside]) {
      const { status, err } = await spr('pack', file);
      assert.equal(status, 1, file);
      assert.match(err, /\.\n$/);
    }
  });

  it('counts the frames of a GIF, not the cells of its sheet', async () => {
    const frames = [RED, GREEN, BLUE].map((colour): GifFrame => ({ place: [0, 0, 2, 2], colour, ms: 100 }));
    const { status, out } = await spr('pack', gif('three.gif', 2, 2, frames));
    assert.equal(status, 0);
    assert.match(out, /^ {2}sheet +4 × 4 px, 3 frames in 4 cells of 2 × 2$/m);
    assert.match((await spr('pack', gif('two.gif', 2, 2, frames.slice(1)))).out, /4 × 2 px, 2 frames of 2 × 2$/m);
  });

  it('says which file is not a picture, and what is accepted', async () => {
    writeFileSync(at('notes.txt'), 'a shopping list');
    const { status, err } = await spr('pack', at('notes.txt'));
    assert.equal(status, 1);
    assert.match(err, /notes\.txt: .*not a picture.* a PNG, a GIF, or the \.json of an Aseprite export\.$/m);
  });

  it('writes no file that the relay would reject', async () => {
    const { status, err } = await spr('pack', picture('wide.png', 32, 16), '--frame', '9x9', '-o', at('never.spr'));
    assert.equal(status, 1);
    assert.match(err, /do not divide/);
    assert.throws(() => readFileSync(at('never.spr')), /ENOENT/);
  });

  it('puts the trimmed frames of an Aseprite export back in place, with tags, speeds and hitbox', async () => {
    picture('cat.png', 12, 4);
    const frame = (x: number, offset: number, duration: number) => ({
      ...{ frame: { x, y: 0, w: 4, h: 4 }, rotated: false, trimmed: true, duration },
      ...{ spriteSourceSize: { x: offset, y: 3, w: 4, h: 4 }, sourceSize: { w: 8, h: 8 } },
    });
    const frames = { 'cat 0': frame(0, 0, 100), 'cat 1': frame(4, 1, 100), 'cat 2': frame(8, 4, 200) };
    const frameTags = [
      { name: 'Idle', from: 0, to: 0, direction: 'forward' },
      { name: 'walk', from: 0, to: 2, direction: 'pingpong' },
    ];
    const slices = [{ name: 'hitbox', keys: [{ frame: 0, bounds: { x: 1, y: 3, w: 6, h: 5 } }] }];
    const write = (value: object) => writeFileSync(at('cat.json'), JSON.stringify(value));
    write({ frames, meta: { image: 'cat.png', frameTags, slices } });
    assert.equal(await statusOf('pack', at('cat.json')), 0);
    const bytes = readFileSync(at('cat.spr'));
    const { description, width, height } = readSpr(bytes);
    assert.deepEqual([width, height, description.frame], [16, 16, { width: 8, height: 8 }]);
    assert.deepEqual(description.hitbox, [1, 3, 6, 5]);
    assert.deepEqual(description.animations.idle, { frames: [0], fps: 10 });
    assert.deepEqual(description.animations.walk, { frames: [0, 1, 2, 1], fps: 8 });
    const png = PNG.sync.read(bytes);
    assert.deepEqual(pixel(png, 8 + 1, 3), [4, 0, 0, 255], 'frame 1, its first pixel at offset 1, 3');
    assert.deepEqual(pixel(png, 4, 8 + 3), [8, 0, 0, 255], 'frame 2 begins the second row');
    assert.deepEqual(pixel(png, 8, 3), [0, 0, 0, 0]);

    write({ frames: Object.values(frames), meta: { image: '../../cat.png', frameTags: [frameTags[1]] } });
    assert.equal(await statusOf('pack', at('cat.json')), 0, 'the picture is read from the folder of the JSON only');
    assert.deepEqual(readSpr(readFileSync(at('cat.spr'))).description.animations.idle.frames, [0]);
  });

  it('rejects an export whose picture ends before its last row', async () => {
    const { chunks } = readPng(readFileSync(picture('half.png', 64, 64)), crc32);
    const cut = chunks.map(({ type, content }) => ({
      type,
      content: type === 'IDAT' ? content.subarray(0, 40) : content,
    }));
    writeFileSync(at('half.png'), writePng(cut, crc32));
    writeFileSync(at('half.json'), JSON.stringify({ frames: [{ frame: { x: 0, y: 0, w: 64, h: 64 } }] }));
    const { status, err } = await spr('pack', at('half.json'));
    assert.equal(status, 1);
    assert.match(err, /half\.json: .*IDAT.*not a whole zlib stream/);
  });

  it('rejects exports that can’t be right, each with its reason', async () => {
    picture('bad.png', 4, 4);
    const box = (x: number) => ({ frame: { x, y: 0, w: 4, h: 4 } });
    const cases: [unknown, RegExp][] = [
      ['{', /not valid JSON/],
      [{}, /lists no frames/],
      [{ frames: [{ frame: { x: 'a' } }] }, /lists no frames/],
      [{ frames: [{ ...box(0), rotated: true }] }, /rotated/],
      [
        {
          frames: [
            { ...box(0), sourceSize: { w: 4, h: 4 } },
            { ...box(0), sourceSize: { w: 5, h: 4 } },
          ],
        },
        /one size/,
      ],
      [{ frames: [box(1)] }, /does not lie on the picture/],
      [{ frames: [box(0)], meta: { frameTags: [{ name: 'walk', from: 0, to: 1 }] } }, /tag walk/],
    ];
    for (const [json, reason] of cases) {
      writeFileSync(at('bad.json'), typeof json === 'string' ? json : JSON.stringify(json));
      const { status, err } = await spr('pack', at('bad.json'));
      assert.equal(status, 1);
      assert.match(err, reason);
    }
  });
});

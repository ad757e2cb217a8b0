/**
 * `npm run spr -- pack|show|lint`: makes .spr files, reads them, checks them as the relay would.
 *
 * Parse, act, tell. Exit 0 done, 1 failed, 2 misused. Reads and writes only the files it is told.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, parse } from 'node:path';
import { parseArgs } from 'node:util';
import { crc32 } from 'node:zlib';
import { PNG } from 'pngjs';
import { type AsepriteExport, readAseprite } from '../wire/aseprite.ts';
import { type Animation, FPS_MAX, FRAMES_MAX, SCALE_MIN } from '../wire/description.ts';
import { readPng, SHEET_SIDE_PIXELS_MAX } from '../wire/png.ts';
import { writeSheet } from '../wire/sheet.ts';
import { readSpr, type Spr, SprRefused } from '../wire/spr.ts';
import { readGif } from './gif.ts';

export const HELP = `Usage: npm run spr -- COMMAND

  pack INPUT [options]   make a .spr from an Aseprite export (its .json, the PNG beside it), any PNG, or a GIF with its frames
  show FILE              print what is in a .spr
  lint FILE...           check files as the relay would; silent when all is well

Options of pack:
  -o, --output FILE      where to write it; default: INPUT with .spr
      --name TEXT        its name; default: the file's
      --author TEXT      who drew it
      --licence TEXT     an SPDX name such as CC0-1.0
      --frame WxH        size of a frame in pixels, for a PNG with several; default: the whole picture
      --scale N          pixels on screen for one of the sheet, 0.25 to 16; default: 2, less for big frames
      --hitbox X,Y,W,H   what collides, in pixels of the frame; default: the whole frame
      --animation SPEC   NAME=FRAMES@FPS, for PNG and GIF, once for each: idle=0-3@4, walk=4,5,6,5@10
                         names desktops play: idle walk fall drag land climb sleep; only idle is required
      --behaviour SPEC   any of walkSpeed=60,jumpSpeed=420,gravity=1800,bounce=0.3

  -h, --help             this text

Exit status: 0 done, 1 failed, 2 misused.
`;

export const OPTIONS = {
  output: { type: 'string', short: 'o' },
  name: { type: 'string' },
  author: { type: 'string' },
  licence: { type: 'string' },
  frame: { type: 'string' },
  scale: { type: 'string' },
  hitbox: { type: 'string' },
  animation: { type: 'string', multiple: true },
  behaviour: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

interface PackOptions {
  output?: string;
  name?: string;
  author?: string;
  licence?: string;
  frame?: string;
  scale?: string;
  hitbox?: string;
  animation?: string[];
  behaviour?: string;
}

/** The command line is not one. */
class Misuse extends Error {}

const SHOWN_SIDE = 96; // px of a big frame's longer side on screen when no scale is given
const SCALE_DEFAULT = 2;

/** Runs one command. Returns the exit status. */
export function run(args: string[], print: (text: string) => void, complain: (text: string) => void): number {
  try {
    const { values, positionals } = parseCommand(args);
    const [command, ...files] = positionals;
    if (values.help) {
      print(HELP);
      return 0;
    }
    const { help: _, ...options } = values;
    if (command !== 'pack' && Object.keys(options).length > 0) throw new Misuse(`Only pack takes options.`);
    switch (command) {
      case 'pack':
        print(pack(only(files), options));
        return 0;
      case 'show':
        print(describe(only(files), readSpr(readFileSync(only(files)))));
        return 0;
      case 'lint':
        if (files.length === 0) throw new Misuse('lint wants at least one file.');
        return lint(files, complain);
      default:
        throw new Misuse(command === undefined ? 'There is no command.' : `There is no command ${command}.`);
    }
  } catch (error) {
    if (error instanceof Misuse) {
      complain(`${error.message}\n\n${HELP}`);
      return 2;
    }
    if (error instanceof SprRefused || (error as NodeJS.ErrnoException).code !== undefined) {
      complain(`${(error as Error).message}\n`);
      return 1;
    }
    throw error;
  }
}

function parseCommand(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new Misuse((error as Error).message);
  }
}

function only(files: string[]): string {
  if (files.length !== 1) throw new Misuse(`One file is wanted, and ${files.length} were given.`);
  return files[0];
}

function lint(files: string[], complain: (text: string) => void): number {
  let failed = 0;
  for (const file of files) {
    try {
      readSpr(readFileSync(file));
    } catch (error) {
      complain(`${file}: ${(error as Error).message}\n`);
      failed = 1;
    }
  }
  return failed;
}

function pack(input: string, options: PackOptions): string {
  const output = options.output ?? join(dirname(input), `${parse(input).name}.spr`);
  const bytes = packed(input, options);
  const spr = readSpr(bytes); // what the relay would refuse is not written
  writeFileSync(output, bytes);
  return describe(output, spr);
}

function packed(input: string, options: PackOptions): Uint8Array {
  if (input.toLowerCase().endsWith('.json')) return packAseprite(input, options);
  const bytes = readFileSync(input);
  return bytes.subarray(0, 4).toString('latin1') === 'GIF8'
    ? packGif(input, bytes, options)
    : packPng(input, bytes, options);
}

function packAseprite(input: string, options: PackOptions): Uint8Array {
  if (options.frame || options.animation) throw new Misuse('An Aseprite export has its own frames and animations.');
  const exported = readAseprite(readFileSync(input, 'utf8'));
  const image = readFileSync(join(dirname(input), parse(exported.image ?? `${parse(input).name}.png`).base));
  const { frame, animations, hitbox } = exported;
  const sheet = gridOf(exported, decode(image));
  const own = hitbox === undefined ? {} : { hitbox };
  return writeSheet(sheet, { ...own, ...described(input, frame, options), animations }, crc32);
}

/** All frames on a grid, played as long as they were shown. */
function packGif(input: string, bytes: Buffer, options: PackOptions): Uint8Array {
  if (options.frame) throw new Misuse('A GIF has its own frames.');
  const { width, height, frames } = readGif(bytes);
  const columns = columnsFor(frames.length, { width, height });
  const sheet = newSheet(frames.length, columns, { width, height });
  for (const [cell, { rgba }] of frames.entries()) {
    const [left, top] = [(cell % columns) * width, Math.floor(cell / columns) * height];
    PNG.bitblt(Object.assign(new PNG({ width, height }), { data: rgba }), sheet, 0, 0, width, height, left, top);
  }
  const animations = options.animation?.map(animationOf) ?? [['idle', shownFor(frames.map(({ ms }) => ms))]];
  const description = described(input, { width, height }, options);
  return writeSheet(written(sheet), { ...description, animations: Object.fromEntries(animations) }, crc32);
}

/** Every frame as often as its share of the time, in steps of the shortest one; where those are too many, each once. */
function shownFor(ms: number[]): Animation {
  const stepMsMin = 1000 / FPS_MAX;
  const stepMs = Math.max(Math.min(...ms), stepMsMin);
  const frames = ms.flatMap((one, frame) => Array<number>(Math.max(1, Math.round(one / stepMs))).fill(frame));
  if (frames.length <= FRAMES_MAX) return { frames, fps: 1000 / stepMs };
  const meanMs = ms.reduce((sum, one) => sum + one, 0) / ms.length;
  return { frames: [...ms.keys()], fps: 1000 / Math.max(meanMs, stepMsMin) };
}

function packPng(input: string, image: Buffer, options: PackOptions): Uint8Array {
  const { header } = readPng(image, crc32);
  const frame = options.frame === undefined ? header : sizeOf(options.frame);
  const cells = Math.min(FRAMES_MAX, Math.floor(header.width / frame.width) * Math.floor(header.height / frame.height));
  const all = { idle: { frames: Array.from({ length: cells }, (_, cell) => cell), fps: 8 } };
  const animations = options.animation === undefined ? all : Object.fromEntries(options.animation.map(animationOf));
  const description = { ...described(input, { width: frame.width, height: frame.height }, options), animations };
  return writeSheet(image, description, crc32);
}

/** All of a description but its animations. */
function described(input: string, frame: { width: number; height: number }, options: PackOptions) {
  const { name, author, licence, scale, hitbox, behaviour } = options;
  const fitting = Math.max(SCALE_MIN, Math.min(SCALE_DEFAULT, SHOWN_SIDE / Math.max(frame.width, frame.height)));
  return {
    format: 'spr/1',
    name: name ?? parse(input).name,
    ...(author === undefined ? {} : { author }),
    ...(licence === undefined ? {} : { licence }),
    frame,
    scale: scale === undefined ? fitting : numberOf(scale, '--scale'),
    ...(hitbox === undefined ? {} : { hitbox: hitbox.split(',').map((side) => numberOf(side, '--hitbox')) }),
    ...(behaviour === undefined ? {} : { behaviour: behaviourOf(behaviour) }),
  };
}

/** The exported frames on a grid of their own, each where it belongs on its canvas. */
function gridOf({ frame, frames }: AsepriteExport, source: PNG): Buffer {
  const columns = columnsFor(frames.length, frame);
  const sheet = newSheet(frames.length, columns, frame);
  for (const [cell, { x, y, width, height, offsetX, offsetY }] of frames.entries()) {
    const outside = x + width > source.width || y + height > source.height;
    if (outside || offsetX + width > frame.width || offsetY + height > frame.height) {
      throw new SprRefused('aseprite', `Frame ${cell} does not lie on the picture; is it the one of this export?`);
    }
    const left = (cell % columns) * frame.width + offsetX;
    const top = Math.floor(cell / columns) * frame.height + offsetY;
    PNG.bitblt(source, sheet, x, y, width, height, left, top);
  }
  return written(sheet);
}

/** Of a grid that is about square, and has no more cells than a sheet may. */
function columnsFor(cells: number, frame: { width: number; height: number }): number {
  let columns = Math.ceil(Math.sqrt((cells * frame.height) / frame.width)) || 1;
  while (cells <= FRAMES_MAX && columns * Math.ceil(cells / columns) > FRAMES_MAX) columns++;
  return columns;
}

function newSheet(cells: number, columns: number, frame: { width: number; height: number }): PNG {
  const [width, height] = [columns * frame.width, Math.ceil(cells / columns) * frame.height];
  if (!(width >= 1 && height >= 1 && width <= SHEET_SIDE_PIXELS_MAX && height <= SHEET_SIDE_PIXELS_MAX)) {
    throw new SprRefused('sheet', `The sheet would have ${width}×${height} pixels; a side has 1 to 4096.`);
  }
  return new PNG({ width, height });
}

function written(sheet: PNG): Buffer {
  return PNG.sync.write(sheet, { deflateLevel: 9, deflateStrategy: 0 });
}

function decode(image: Buffer): PNG {
  readPng(image, crc32); // refuses impossible sizes before memory is spent on them
  try {
    return PNG.sync.read(image);
  } catch (error) {
    throw new SprRefused('file', `The picture cannot be decoded: ${(error as Error).message}.`);
  }
}

function animationOf(spec: string): [string, Animation] {
  const [, name, list, fps] = /^([^=]+)=([\d,-]+)@([\d.]+)$/.exec(spec) ?? [];
  if (name === undefined) throw new Misuse(`--animation ${spec} is not NAME=FRAMES@FPS.`);
  const frames = list.split(',').flatMap((part) => {
    const [, first, last] = /^(\d{1,4})(?:-(\d{1,4}))?$/.exec(part) ?? [];
    if (first === undefined) throw new Misuse(`--animation ${spec}: ${part} is no frame and no range.`);
    const length = Number(last ?? first) - Number(first);
    return Array.from({ length: Math.abs(length) + 1 }, (_, i) => Number(first) + Math.sign(length) * i);
  });
  return [name, { frames, fps: Number(fps) }];
}

function behaviourOf(spec: string): Record<string, number> {
  const pairs = spec.split(',').map((pair) => {
    const [, field, value] = /^(walkSpeed|jumpSpeed|gravity|bounce)=(.+)$/.exec(pair) ?? [];
    if (field === undefined)
      throw new Misuse(`--behaviour ${pair}: there is walkSpeed, jumpSpeed, gravity and bounce.`);
    return [field, numberOf(value, '--behaviour')];
  });
  return Object.fromEntries(pairs);
}

function sizeOf(spec: string): { width: number; height: number } {
  const [, width, height] = /^(\d{1,4})x(\d{1,4})$/.exec(spec) ?? [];
  if (!(Number(width) > 0 && Number(height) > 0)) throw new Misuse(`--frame ${spec} is not WxH, such as 32x32.`);
  return { width: Number(width), height: Number(height) };
}

function numberOf(text: string, option: string): number {
  if (!/^-?\d+(\.\d+)?$/.test(text)) throw new Misuse(`${option}: ${text} is not a number.`);
  return Number(text);
}

function describe(file: string, { width, height, frames, description }: Spr): string {
  const { name, author, licence, frame, scale, hitbox, animations, behaviour } = description;
  const rows = [
    ['name', name],
    ['author', author || '–'],
    ['licence', licence || '–'],
    ['sheet', `${width} × ${height} px, ${frames} frames of ${frame.width} × ${frame.height}`],
    ['scale', String(scale)],
    ['hitbox', `${hitbox[2]} × ${hitbox[3]} at ${hitbox[0]}, ${hitbox[1]}`],
    [
      'behaviour',
      Object.entries(behaviour)
        .map(([field, value]) => `${field} ${value}`)
        .join(', '),
    ],
    ...Object.entries(animations).map(([animation, { frames: cells, fps }]) => [
      animation,
      `${fps} fps: ${cells.join(' ')}`,
    ]),
  ];
  const column = Math.max(...rows.map(([label]) => label.length));
  return `${file}\n${rows.map(([label, text]) => `  ${label.padEnd(column)}  ${text}\n`).join('')}`;
}

if (import.meta.main) {
  // npm changes to the package's folder; paths are meant from where the person is.
  if (process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);
  process.exitCode = run(
    process.argv.slice(2),
    (text) => process.stdout.write(text),
    (text) => process.stderr.write(text),
  );
}

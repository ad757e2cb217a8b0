/**
 * `npm run spr -- pack|show|lint`: makes .spr files, prints what is in them, and checks them as the relay would.
 *
 * It reads and writes only the files that the command line names.
 */

import { writeFileSync } from 'node:fs';
import { dirname, join, parse } from 'node:path';
import { crc32 } from 'node:zlib';
import { GifReader } from 'omggif';
import { PNG } from 'pngjs';
import {
  type Command,
  EXIT,
  form,
  goingWith,
  Misused,
  number,
  readInput,
  repeated,
  runCommand,
  type Surroundings,
  sentenceOf,
  surroundings,
  text,
  type Values,
} from '../../tools/command.ts';
import { readAseprite } from '../wire/files/aseprite.ts';
import { type Animation, type Description, FRAMES_MAX } from '../wire/files/description.ts';
import { readFrameList } from '../wire/files/frame_list.ts';
import { readGif, shownFor } from '../wire/files/gif.ts';
import { cutExport, layOut, type Pixels } from '../wire/files/pixels.ts';
import { PNG_SIGNATURE, readPng, SprRefused } from '../wire/files/png.ts';
import { writeSheet } from '../wire/files/sheet.ts';
import { checkPixels, readSpr, type Spr } from '../wire/files/spr.ts';
import { SCALE_MAX, SCALE_MIN } from '../wire/rules.ts';
import { counted } from './admin_query.ts';

const OPTIONS = goingWith(['pack'], {
  output: { ...text('FILE', 'where to write it'), shown: 'INPUT with .spr', letter: 'o' },
  like: text('FILE', 'a .spr whose description it keeps, except for what is given here'),
  name: { ...text('TEXT', 'its name'), shown: "the file's" },
  author: text('TEXT', 'who drew it'),
  licence: text('TEXT', 'an SPDX name such as CC0-1.0'),
  frame: {
    ...form('WxH', 'size of a frame in pixels, for a PNG with several', 'WxH such as 32x32', readSize),
    shown: 'the whole picture',
  },
  scale: {
    ...number('N', `pixels on screen for one of the sheet, ${SCALE_MIN} to ${SCALE_MAX}`, [SCALE_MIN, SCALE_MAX]),
    shown: '2, less for big frames',
  },
  hitbox: {
    ...form('X,Y,W,H', 'what collides, in pixels of the frame', 'numbers such as 4,8,24,24', readNumbers),
    shown: 'the whole frame',
  },
  animation: repeated(
    form(
      'SPEC',
      'NAME=FRAMES@FPS, for PNG and GIF: idle=0-3@4, walk=4,5,6,5@10; names that desktops play: idle walk fall drag land climb sleep throw tumble squash sit hang pet yawn look wave greet; only idle is required',
      'NAME=FRAMES@FPS such as walk=4,5,6,5@10, with frames and ranges of them',
      readAnimation,
    ),
  ),
  behaviour: form(
    'SPEC',
    'any of walkSpeed=60,jumpSpeed=420,gravity=1800,bounce=0.3,hopChance=0.12',
    'a list of walkSpeed=N, jumpSpeed=N, gravity=N, bounce=N and hopChance=N',
    readBehaviour,
  ),
});

type PackOptions = Values<typeof OPTIONS>;

export const COMMAND: Command<typeof OPTIONS> = {
  usage: ['npm run spr -- COMMAND [options]'],
  about: 'Makes and reads .spr files, the sprites that desktops throw.',
  commands: {
    pack: [
      'INPUT',
      'make a .spr from an Aseprite export (its .json, with the PNG beside it), any PNG, or a GIF with its frames',
    ],
    show: ['FILE', 'print what is in a .spr'],
    lint: ['FILE...', 'check files as the relay would; silent when all is well'],
  },
  needsCommand: true,
  options: OPTIONS,
  notes: ['The options belong to pack.'],
};

const SHOWN_SIDE = 96; // px of a big frame's longer side on screen when no scale is given
const SCALE_DEFAULT = 2;

/** Runs one command. Returns the exit code. */
export function run(around: Surroundings): Promise<number> {
  const { print, complain } = around;
  return runCommand(
    COMMAND,
    ({ words: [command, ...files], values }) => {
      switch (command) {
        case 'pack':
          print(naming(only(command, files), (file) => pack(file, values)));
          return EXIT.done;
        case 'show':
          print(naming(only(command, files), (file) => describe(file, readSpr(readInput(file)))));
          return EXIT.done;
        default:
          if (files.length === 0) throw new Misused('lint: name at least one file. See --help.');
          return lint(files, complain);
      }
    },
    around,
  );
}

function only(command: string, files: readonly string[]): string {
  if (files.length !== 1) throw new Misused(`${command}: name one file, not ${files.length}. See --help.`);
  return files[0];
}

/** Puts the file's name before what is wrong with it. */
function naming(file: string, work: (file: string) => string): string {
  try {
    return work(file);
  } catch (error) {
    throw error instanceof SprRefused ? new Error(`${file}: ${error.message}`) : error;
  }
}

function lint(files: readonly string[], complain: (text: string) => void): number {
  let code: number = EXIT.done;
  for (const file of files) {
    try {
      readSpr(readInput(file));
    } catch (error) {
      complain(error instanceof SprRefused ? `${file}: ${error.message}` : sentenceOf(error));
      code = EXIT.failed;
    }
  }
  return code;
}

function pack(input: string, options: PackOptions): string {
  const output = options.output ?? join(dirname(input), `${parse(input).name}.spr`);
  const bytes = packed(input, options);
  const spr = readSpr(bytes); // a file that the relay would reject is not written
  writeFileSync(output, bytes);
  return describe(output, spr);
}

const NOT_A_PICTURE = 'This is not a picture that pack reads: give a PNG, a GIF, or the .json of an Aseprite export.';

function packed(input: string, options: PackOptions): Uint8Array {
  if (input.toLowerCase().endsWith('.json')) return packAseprite(input, options);
  const bytes = readInput(input);
  if (bytes.subarray(0, 4).toString('latin1') === 'GIF8') return packGif(input, bytes, options);
  if (bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) return packPng(input, bytes, options);
  throw new SprRefused('file', NOT_A_PICTURE);
}

function packAseprite(input: string, options: PackOptions): Uint8Array {
  if (options.frame) throw new Misused('--frame: an Aseprite export has its own frames.');
  if (options.animation.length > 0) throw new Misused('--animation: an Aseprite export has its own animations.');
  const exported = readAseprite(readInput(input).toString('utf8'));
  const image = readInput(join(dirname(input), parse(exported.image ?? `${parse(input).name}.png`).base));
  const { frame, animations, hitbox } = exported;
  const sheet = written(layOut(cutExport(exported, decode(image)), frame));
  const own = hitbox === undefined ? {} : { hitbox };
  return writeSheet(sheet, { ...own, ...described(input, frame, options), animations }, crc32);
}

/** Puts all frames on a grid, and plays each for as long as the GIF shows it. */
function packGif(input: string, bytes: Buffer, options: PackOptions): Uint8Array {
  if (options.frame) throw new Misused('--frame: a GIF has its own frames.');
  const { width, height, frames } = readGif(bytes, GifReader);
  const sheet = layOut(
    frames.map(({ rgba }) => ({ width, height, data: rgba })),
    { width, height },
  );
  const animations =
    options.animation.length > 0 ? options.animation : [['idle', shownFor(frames.map(({ ms }) => ms))] as const];
  const description = described(input, { width, height }, options);
  return writeSheet(written(sheet), { ...description, animations: Object.fromEntries(animations) }, crc32);
}

function packPng(input: string, image: Buffer, options: PackOptions): Uint8Array {
  const { header } = readPng(image, crc32);
  const model = modelOf(options);
  const { width, height } = options.frame ?? model?.frame ?? header;
  const cells = Math.min(FRAMES_MAX, Math.floor(header.width / width) * Math.floor(header.height / height));
  const all = { idle: { frames: Array.from({ length: cells }, (_, cell) => cell), fps: 8 } };
  const given = options.animation.length === 0 ? undefined : Object.fromEntries(options.animation);
  const animations = given ?? model?.animations ?? all;
  return writeSheet(image, { ...described(input, { width, height }, options), animations }, crc32);
}

/** The description that `--like` names. */
function modelOf({ like }: PackOptions): Description | undefined {
  return like === undefined ? undefined : readSpr(readInput(like)).description;
}

/** A sprite's description without its animations. */
function described(input: string, frame: { width: number; height: number }, options: PackOptions) {
  const fitting = Math.max(SCALE_MIN, Math.min(SCALE_DEFAULT, SHOWN_SIDE / Math.max(frame.width, frame.height)));
  const model = modelOf(options) ?? { format: 'spr/1', name: parse(input).name, scale: fitting };
  const { name, author, licence, scale, hitbox, behaviour } = options;
  const given = Object.entries({ name, author, licence, frame, scale, hitbox, behaviour });
  return { ...model, ...Object.fromEntries(given.filter(([, value]) => value !== undefined)) };
}

function written({ width, height, data }: Pixels): Buffer {
  const sheet = Object.assign(new PNG({ width, height }), { data: Buffer.from(data.buffer) });
  return PNG.sync.write(sheet, { deflateLevel: 9, deflateStrategy: 0 });
}

function decode(image: Buffer): PNG {
  checkPixels(readPng(image, crc32)); // before memory is spent on them, and because pngjs does not check them
  try {
    return PNG.sync.read(image);
  } catch (error) {
    throw new SprRefused('file', `The picture cannot be decoded: ${(error as Error).message}.`);
  }
}

function readAnimation(spec: string): readonly [string, Animation] | undefined {
  const [, name, list, fps] = /^([^=]+)=([\d,-]+)@(\d+(?:\.\d+)?|\.\d+)$/.exec(spec) ?? [];
  if (name === undefined) return undefined;
  const frames = readFrameList(list);
  return frames && [name, { frames, fps: Number(fps) }];
}

function readBehaviour(spec: string): Record<string, number> | undefined {
  const pairs = spec.split(',').map((pair) => /^(walkSpeed|jumpSpeed|gravity|bounce|hopChance)=(.+)$/.exec(pair));
  if (pairs.some((pair) => pair === null || readNumber(pair[2]) === undefined)) return undefined;
  return Object.fromEntries(pairs.map((pair) => [pair?.[1], readNumber(pair?.[2] as string)]));
}

function readSize(spec: string): { width: number; height: number } | undefined {
  const [, width, height] = /^(\d{1,4})x(\d{1,4})$/.exec(spec) ?? [];
  return Number(width) > 0 && Number(height) > 0 ? { width: Number(width), height: Number(height) } : undefined;
}

function readNumbers(spec: string): number[] | undefined {
  const numbers = spec.split(',').map(readNumber);
  return numbers.includes(undefined) ? undefined : (numbers as number[]);
}

function readNumber(given: string): number | undefined {
  return /^-?\d+(\.\d+)?$/.test(given) ? Number(given) : undefined;
}

function describe(file: string, { width, height, frames, description }: Spr): string {
  const { name, author, licence, frame, scale, hitbox, animations, behaviour } = description;
  const rows = [
    ['name', name],
    ['author', author || '–'],
    ['licence', licence || '–'],
    ['sheet', `${width} × ${height} px, ${framesOf(animations, frames)} of ${frame.width} × ${frame.height}`],
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
  return [file, ...rows.map(([label, text]) => `  ${label.padEnd(column)}  ${text}`)].join('\n');
}

/** The frames that animations play; a sheet may have more cells than that, the last of them empty. */
function framesOf(animations: Spr['description']['animations'], cells: number): string {
  const played = new Set(Object.values(animations).flatMap(({ frames }) => [...frames])).size;
  const frames = counted(played, 'frame');
  return played === cells ? frames : `${frames} in ${cells} cells`;
}

if (import.meta.main) {
  // npm changes to the package's folder; relative paths are meant from where the user is.
  if (process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);
  process.exitCode = await run(surroundings());
}

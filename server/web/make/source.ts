/**
 * A source: the picture, or the frames, of the files that a person has chosen.
 *
 * The files may be anything, so their size is checked first, and what cannot be read is refused with a sentence for the person.
 */
import { readAseprite } from '../../wire/files/aseprite.ts';
import type { Behaviour } from '../../wire/files/description.ts';
import { cutExport, cutGrid, type Pixels } from '../../wire/files/pixels.ts';
import { crc32 } from '../../wire/files/png.ts';
import { readSheet } from '../../wire/files/sheet.ts';
import {
  bitmapOf,
  isGif,
  isSpr,
  isZip,
  nameOf,
  pixelsOf,
  readAnimatedGif,
  readStill,
} from '../pictures/picture_files.ts';
import { phrase } from '../texts/language.ts';
import { part } from '../texts/part.ts';
import type { Animations, Hitbox } from './draft.ts';

export interface Source {
  name: string;
  /** The frames; a single one may be a strip. */
  frames: readonly Pixels[];
  /** Whether the only frame may hold several: a file with its own frames is not divided further. */
  isWhole: boolean;
  /** Whether it is a photograph, not something drawn pixel by pixel. */
  isPhoto: boolean;
  /** What the file says about its animations and its sprite. */
  animations?: Animations;
  hitbox?: Hitbox;
  scale?: number;
  author?: string;
  licence?: string;
  behaviour?: Behaviour;
  /** What the file has besides, for which sprites have no counterpart. */
  leftOut?: readonly string[];
}

export const SOURCE_BYTES_MAX = 33_554_432; // bytes: 32 MiB, a large photograph; decoding a larger one stalls the page
export const SOURCE_PIXELS_MAX = 8_388_608; // pixels of all frames, 32 MiB: each change of a slider goes over all of them

/** Reads the files. Throws an Error whose message is for the person. */
export async function readSource(files: readonly File[]): Promise<Source> {
  for (const { name, size } of files) {
    if (size > SOURCE_BYTES_MAX) throw new Error(phrase('file.too-large', { name, mib: SOURCE_BYTES_MAX >> 20 }));
  }
  const description = files.find(isJson);
  const picture = files.find((file) => !isJson(file));
  const source =
    (await readPackIn(files)) ??
    (await (description === undefined ? readFile(picture) : readExport(description, picture)));
  const pixels = source.frames.reduce((sum, { width, height }) => sum + width * height, 0);
  refuseMore(pixels, files[0].name);
  return source;
}

function refuseMore(pixels: number, name: string): void {
  if (pixels > SOURCE_PIXELS_MAX) {
    throw new Error(phrase('file.too-many-pixels', { name }));
  }
}

/** Few people have a pack. */
const shimeji = part(() => import('./shimeji.ts'));

/** What a pack does not say: the person is asked for the licence. */
const PACKED = { isWhole: false, isPhoto: false, licence: '' };

/** Returns the source of a Shimeji pack: one archive, or the files of a folder, whose names are paths then. */
async function readPackIn(files: readonly File[]): Promise<Source | undefined> {
  const [first] = files;
  const isArchive = first !== undefined && isZip(new Uint8Array(await first.slice(0, 4).arrayBuffer()));
  if (!isArchive && !files.some(({ name }) => /\.xml$/i.test(name))) return undefined;
  const { readPack, readZip } = await shimeji();
  const asSource = async (pack: ReturnType<typeof readPack>) => ({ ...(await pack), ...PACKED });
  if (isArchive) return asSource(readPack(readZip(new Uint8Array(await first.arrayBuffer())), first.name));
  const bytesOf = async (file: File, bytesMax: number) => {
    const { name, size } = file;
    if (size > bytesMax) throw new Error(phrase('file.too-large', { name, mib: bytesMax / 1_048_576 }));
    return new Uint8Array(await file.arrayBuffer());
  };
  const paths = new Map(files.map((file) => [file.name, (bytesMax: number) => bytesOf(file, bytesMax)]));
  return asSource(readPack(paths, first.name.split('/')[0]));
}

async function readFile(picture: File | undefined): Promise<Source> {
  if (picture === undefined) throw new Error(phrase('file.none'));
  const bytes = new Uint8Array(await picture.arrayBuffer());
  if (isSpr(bytes)) return readSpr(bytes, picture.name);
  const name = nameOf(picture.name);
  const animated = isGif(bytes) ? await readAnimatedGif(bytes) : undefined;
  if (animated === undefined) {
    const { pixels, isPhoto } = await readStill(picture, bytes);
    return { name, frames: [pixels], isWhole: true, isPhoto };
  }
  const { width, height, idle } = animated;
  const frames = animated.frames.map(({ rgba }) => ({ width, height, data: rgba }));
  return { name, frames, isWhole: false, isPhoto: false, animations: { idle } };
}

function isJson({ name, type }: File): boolean {
  return type === 'application/json' || /\.json$/i.test(name);
}

async function readExport(description: File, picture: File | undefined): Promise<Source> {
  const exported = readAseprite(await description.text());
  if (picture === undefined) {
    const name = exported.image?.replace(/^.*[/\\]/, '') ?? phrase('file.its-png');
    throw new Error(phrase('file.two', { one: description.name, other: name }));
  }
  const frames = cutExport(exported, await decode(picture, picture.name));
  const { animations, hitbox } = exported;
  return { name: nameOf(description.name), frames, isWhole: false, isPhoto: false, animations, hitbox };
}

async function readSpr(bytes: Uint8Array<ArrayBuffer>, fileName: string): Promise<Source> {
  const { description } = readSheet(bytes, crc32);
  const frames = cutGrid(await decode(new Blob([bytes], { type: 'image/png' }), fileName), description.frame);
  const { name, author, licence, animations, hitbox, scale, behaviour } = description;
  const said = { author, animations, hitbox, scale, behaviour, ...(licence === '' ? {} : { licence }) };
  return { name, frames, isWhole: false, isPhoto: false, ...said };
}

async function decode(file: Blob, name: string): Promise<Pixels> {
  const bitmap = await bitmapOf(file, file instanceof File ? name : phrase('file.this'));
  const { width, height } = bitmap;
  refuseMore(width * height, name); // before they are copied: a small file may have a great many
  return pixelsOf(bitmap, width, height);
}

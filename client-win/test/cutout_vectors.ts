/**
 * Plays the cases of cutout.vectors.json with the page's pictures. As a command it writes their results to the file:
 *
 *   node client-win/test/cutout_vectors.ts        after a change of the rules; the diff shows what changes for users
 *
 * core/picture/cutout_test.cc plays the same file. BEHAVIOUR.md has the rules. A letter of a picture is a pixel of the colour that `colours`
 * names, and spaces divide its rows. In a mask, `#` is what stays.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { withoutBackground } from '../../server/web/pictures/cutout.ts';
import { DRAWN_PIXELS_MAX, PHOTO_SIDE } from '../../server/web/pictures/picture_files.ts';
import { contentBox } from '../../server/web/pictures/trim.ts';

export const CUTOUT_VECTORS = fileURLToPath(new URL('../cutout.vectors.json', import.meta.url));

type Box = [left: number, top: number, width: number, height: number];

export interface CutCase {
  name: string;
  isPhoto: boolean;
  picture: string;
  /** What stays, and the part of the picture that it fills. Null when the picture has no background. */
  expect?: { mask: string; box: Box } | null;
}

export interface TrimCase {
  name: string;
  frames: string[];
  /** Null when nothing is seen. */
  expect?: Box | null;
}

export interface CutoutVectors {
  constants: Record<string, number>;
  colours: Record<string, [red: number, green: number, blue: number, alpha: number]>;
  cuts: CutCase[];
  trims: TrimCase[];
}

export const readCutoutVectors = (): CutoutVectors => JSON.parse(readFileSync(CUTOUT_VECTORS, 'utf8'));

export const cutoutConstants = (): Record<string, number> => ({ PHOTO_SIDE, DRAWN_PIXELS_MAX });

type Pixels = NonNullable<ReturnType<typeof withoutBackground>>;

function drawn(rows: string, colours: CutoutVectors['colours']): Pixels {
  const lines = rows.split(' ');
  const data = Uint8ClampedArray.from([...lines.join('')].flatMap((letter) => colours[letter]));
  return { width: lines[0].length, height: lines.length, data };
}

function maskOf({ width, height, data }: Pixels): string {
  const row = (y: number) =>
    Array.from({ length: width }, (_, x) => (data[4 * (y * width + x) + 3] === 0 ? '.' : '#')).join('');
  return Array.from({ length: height }, (_, y) => row(y)).join(' ');
}

function boxOf(frames: readonly Pixels[]): Box | null {
  const box = contentBox(frames);
  return box === undefined ? null : [box.left, box.top, box.width, box.height];
}

export function playCut({ isPhoto, picture }: CutCase, colours: CutoutVectors['colours']): CutCase['expect'] {
  const cut = withoutBackground(drawn(picture, colours), isPhoto);
  return cut === undefined ? null : { mask: maskOf(cut), box: boxOf([cut])! };
}

export function playTrim({ frames }: TrimCase, colours: CutoutVectors['colours']): TrimCase['expect'] {
  return boxOf(frames.map((frame) => drawn(frame, colours)));
}

if (import.meta.main) {
  const { colours, cuts, trims } = readCutoutVectors();
  const vectors: CutoutVectors = {
    constants: cutoutConstants(),
    colours,
    cuts: cuts.map((one) => ({ ...one, expect: playCut(one, colours) })),
    trims: trims.map((one) => ({ ...one, expect: playTrim(one, colours) })),
  };
  writeFileSync(CUTOUT_VECTORS, JSON.stringify(vectors));
  const biome = fileURLToPath(new URL('../../node_modules/@biomejs/biome/bin/biome', import.meta.url));
  spawnSync(process.execPath, [biome, 'format', '--write', CUTOUT_VECTORS], { stdio: 'inherit' });
}

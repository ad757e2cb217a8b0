/**
 * Shimeji packs: what the `actions.xml` of a mascot says becomes the animations of a sprite.
 *
 * A pack is a folder or an archive with `conf/actions.xml` and `img/shime1.png` …, in English or in Japanese as the first program had
 * it. Packs may be anybody's: a document type, and so every entity, is refused, and a picture is looked for among the names in the
 * pack only. core/picture/packs/ is the same; packs.vectors.json is played with both. BEHAVIOUR.md has the rules.
 */
import { type Animation, FPS_MAX } from '../../wire/files/description.ts';
import { crop, type Pixels } from '../../wire/files/pixels.ts';
import { bitmapOf, isPng, nameOf, pixelsOf } from '../pictures/picture_files.ts';
import { contentBox } from '../pictures/trim.ts';
import { phrase } from '../texts/language.ts';
import { usualScale } from './draft.ts';
import type { PackFiles } from './zip.ts';

export { readZip } from './zip.ts';

export const ACTIONS_BYTES_MAX = 1_048_576; // bytes: 1 MiB, twenty times the usual file
export const ACTIONS_DEPTH_MAX = 16; // nested elements: those that are read have five
export const POSES_MAX = 48; // poses of an animation: those after it are left out. All animations fit on a sheet
export const LEFT_OUT_MAX = 64; // names of actions without a counterpart: a person reads no more
export const PACK_PICTURE_BYTES_MAX = 1_048_576; // bytes of a picture: 1 MiB, a hundred times the usual one
export const PACK_PIXELS_MAX = 8_388_608; // pixels of all frames, 32 MiB: a hundred of 256 × 256 and some
const TICK_MS = 40; // ms of the unit in which durations are
const TICKS_MAX = 250; // 10 s: longer, and a sprite looks like a still picture
const STEPS_MAX = 256; // entries of an animation's list of frames, and the poses besides

/** The animation that an action becomes, by the action's name or the class that carries it out. */
const COUNTERPARTS: Record<string, readonly string[]> = {
  idle: ['Stand', '立つ'],
  walk: ['Walk', '歩く'],
  sit: ['Sit', '座る'],
  sleep: ['Sprawl', '寝そべる'],
  climb: ['ClimbWall', '壁を登る'],
  hang: ['GrabCeiling', '天井に掴まる'],
  land: ['Bouncing', '跳ねる'],
  squash: ['Tripping', '転ぶ'],
  fall: ['com.group_finity.mascot.action.Fall'],
  throw: ['com.group_finity.mascot.action.Jump'],
  drag: ['com.group_finity.mascot.action.Dragged'],
};

/** Elements and attributes in both languages; the first program had no pictures for the right. */
const WORDS = {
  list: ['ActionList', '動作リスト'],
  action: ['Action', '動作'],
  animation: ['Animation', 'アニメーション'],
  condition: ['Condition', '条件'],
  pose: ['Pose', 'ポーズ'],
  name: ['Name', '名前'],
  class: ['Class', 'クラス'],
  image: ['Image', '画像'],
  right: ['ImageRight'],
  anchor: ['ImageAnchor', '基準座標'],
  duration: ['Duration', '長さ'],
};

/** The file of the actions; the last name is the Japanese one in the bytes of Shift JIS. */
const ACTIONS_NAMES = ['actions.xml', '動作.xml', '\x93\xae\x8d\xec.xml'];

/** A picture, and the pixel of it that is where the sprite stands, or holds on when it hangs; if it looks to the right, from its right side. */
export interface Cell {
  image: string;
  anchor: readonly [x: number, y: number];
  looksRight: boolean;
  hangs: boolean;
}

interface Pose extends Omit<Cell, 'hangs'> {
  ticks: number;
}

/** What becomes of a pack. */
export interface Plan {
  cells: readonly Cell[];
  animations: Readonly<Record<string, Animation>>;
  /** The names of actions with pictures that have no counterpart. */
  leftOut: readonly string[];
}

/** A pack with its pictures. */
export interface Pack extends Omit<Plan, 'cells'> {
  name: string;
  /** One for each cell, all of one size. */
  frames: readonly Pixels[];
  hitbox: readonly [left: number, top: number, width: number, height: number];
  /** That of its body: most of a frame may be room to hang. */
  scale: number;
}

/** Reads a pack, which `name` is the file or the folder of. Throws an Error whose message is for the person. */
export async function readPack(files: PackFiles, name: string): Promise<Pack> {
  const paths = [...files.keys()];
  const actions = actionsIn(paths);
  if (actions === undefined) throw new Error(phrase('pack.no-actions'));
  const xml = await files.get(actions)!(ACTIONS_BYTES_MAX).catch(() => undefined);
  if (xml === undefined) throw new Error(phrase('pack.broken'));
  const { cells, animations, leftOut } = planOf(xml, paths);
  const pictures = new Map<string, Uint8Array<ArrayBuffer>>();
  for (const { image } of cells) {
    if (!pictures.has(image)) pictures.set(image, await files.get(image)!(PACK_PICTURE_BYTES_MAX));
  }
  const pixelsFor = async ({ image }: Cell) => {
    const bitmap = await bitmapOf(new Blob([pictures.get(image)!], { type: 'image/png' }), image);
    return pixelsOf(bitmap, bitmap.width, bitmap.height);
  };
  const boxes = cells.map(({ image, anchor }) => ({ anchor, ...sizeOf(pictures.get(image)!, image) }));
  layOutCells(boxes); // refuses what is too large to be decoded
  const standing = contentBox([await pixelsFor(cells[0])]);
  if (standing === undefined) throw new Error(phrase('pack.no-stand'));
  const tall = cells[0].anchor[1] - standing.top;
  const layout = layOutCells(
    boxes.map(({ anchor: [x, y], ...size }, i) => ({ anchor: [x, cells[i].hangs ? y + tall : y], ...size })),
  );
  const frames: Pixels[] = [];
  for (const [i, cell] of cells.entries()) {
    const pixels = await pixelsFor(cell);
    const [left, top] = layout.places[i];
    frames.push(crop(cell.looksRight ? pixels : mirrored(pixels), -left, -top, layout));
  }
  const { left, top, width, height } = contentBox([frames[0]])!;
  const hitbox = [left, top, width, height] as const;
  return { name: nameOf(name), frames, hitbox, scale: usualScale({ width, height }), animations, leftOut };
}

/** The path of the actions that are least deep in the pack; undefined when there are none. */
function actionsIn(paths: readonly string[]): string | undefined {
  return leastDeep(paths.filter((path) => ACTIONS_NAMES.includes(lower(path.slice(path.lastIndexOf('/') + 1)))));
}

function leastDeep(paths: readonly string[]): string | undefined {
  const depth = (path: string) => path.split('/').length;
  return [...paths].sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1))[0];
}

/** In small letters, of ASCII alone: as both programs do it. */
const lower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Reads the actions of a pack that has these files. Throws an Error whose message is for the person. */
export function planOf(xml: Uint8Array, paths: readonly string[]): Plan {
  const find = finderOf(paths);
  const found: Record<string, Pose[]> = {};
  const leftOut = new Set<string>();
  for (const action of actionsOf(xml)) {
    const animations = children(action, 'animation');
    if (animations.every((one) => children(one, 'pose').length === 0)) continue; // it only names others, or is no picture's
    const known = [attribute(action, 'name'), attribute(action, 'class')];
    const role = Object.keys(COUNTERPARTS).find((one) => COUNTERPARTS[one].some((name) => known.includes(name)));
    const poses = animations.map((one) => children(one, 'pose').flatMap((pose) => poseOf(pose, find) ?? []));
    const usual = poses.filter((_, i) => attribute(animations[i], 'condition') === '');
    const first = [...usual, ...poses].find((one) => one.length > 0) ?? [];
    const shown = role === 'drag' ? swinging(poses.flat()) : first;
    if (role !== undefined && found[role] === undefined && shown.length > 0) found[role] = shown.slice(0, POSES_MAX);
    else if (known[0] !== '' && leftOut.size < LEFT_OUT_MAX) leftOut.add(known[0]);
  }
  if (found.idle === undefined) throw new Error(phrase('pack.no-stand'));
  return { ...cast(found), leftOut: [...leftOut] };
}

/** Being held has an animation for each place of the pointer: they are shown one after the other, there and back. */
const swinging = (poses: readonly Pose[]): Pose[] => [...poses, ...poses.slice(1, -1).reverse()];

function actionsOf(xml: Uint8Array): Element[] {
  let read: Document | undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(xml);
    if (!text.includes('<!DOCTYPE')) read = new DOMParser().parseFromString(text, 'application/xml');
  } catch {} // not UTF-8
  const tooDeep = Array(ACTIONS_DEPTH_MAX + 1)
    .fill('*')
    .join('>');
  if (read === undefined || read.querySelector(`parsererror, ${tooDeep}`) !== null) {
    throw new Error(phrase('pack.broken'));
  }
  return children(read.documentElement, 'list').flatMap((list) => children(list, 'action'));
}

function children(parent: Element, word: keyof typeof WORDS): Element[] {
  return [...parent.children].filter(({ tagName }) => WORDS[word].includes(tagName));
}

function attribute(of: Element, word: keyof typeof WORDS): string {
  return WORDS[word].map((name) => of.getAttribute(name)).find((value) => value !== null) ?? '';
}

/**
 * Returns what finds the file of a picture. A pack may have several mascots with pictures of the same names: the folder of the first
 * picture that is found has all others.
 */
function finderOf(paths: readonly string[]): (image: string) => string | undefined {
  const known = new Map([...paths].reverse().map((path) => [lower(path), path]));
  let folder: string | undefined;
  return (image) => {
    const name = lower(image.replaceAll('\\', '/').replace(/^\/+/, ''));
    if (name === '') return undefined;
    if (folder !== undefined) return known.get(folder + name);
    const first = leastDeep([...known.keys()].filter((path) => path === name || path.endsWith(`/${name}`)));
    if (first === undefined) return undefined;
    folder = first.slice(0, -name.length);
    return known.get(first);
  };
}

/** A pose without a picture, a place and a time that can be read is left out. */
function poseOf(element: Element, find: (image: string) => string | undefined): Pose | undefined {
  const anchor = /^(-?\d{1,4}),(-?\d{1,4})$/.exec(attribute(element, 'anchor'));
  const duration = /^\d{1,4}$/.exec(attribute(element, 'duration'));
  if (anchor === null || duration === null) return undefined;
  const left = find(attribute(element, 'image'));
  const right = find(attribute(element, 'right'));
  const image = right ?? left;
  const ticks = Math.min(Math.max(Number(duration[0]), 1), TICKS_MAX);
  if (image === undefined) return undefined;
  return { image, anchor: [Number(anchor[1]), Number(anchor[2])], looksRight: right !== undefined, ticks };
}

/** The cells of all poses, each once, in the order of the counterparts, and the animations that show them. */
function cast(found: Readonly<Record<string, readonly Pose[]>>): Omit<Plan, 'leftOut'> {
  const cells: Cell[] = [];
  const numbers = new Map<string, number>();
  const animations: Record<string, Animation> = {};
  for (const role of Object.keys(COUNTERPARTS).filter((one) => found[one] !== undefined)) {
    const shown = found[role].map(({ ticks: _, ...pose }) => {
      const cell = { ...pose, hangs: role === 'hang' };
      const key = JSON.stringify(cell);
      if (!numbers.has(key)) numbers.set(key, cells.push(cell) - 1);
      return numbers.get(key)!;
    });
    const { frames, fps } = stepsOf(found[role].map(({ ticks }) => ticks * TICK_MS));
    animations[role] = { frames: frames.map((step) => shown[step]), fps };
  }
  return { cells, animations };
}

/** Repeats each pose according to its share of the time, in steps of the shortest one. */
function stepsOf(ms: readonly number[]): Animation {
  const whole = ms.reduce((sum, one) => sum + one, 0);
  const stepMs = Math.max(Math.min(...ms), whole / STEPS_MAX, 1000 / FPS_MAX);
  const frames = ms.flatMap((one, pose) => Array<number>(Math.max(1, Math.round(one / stepMs))).fill(pose));
  return { frames, fps: 1000 / stepMs };
}

/** Returns a canvas for all cells, whose pictures have these sizes, and where each lies on it: it looks to the right. */
export function layOutCells(cells: readonly { anchor: readonly [number, number]; width: number; height: number }[]): {
  width: number;
  height: number;
  places: [left: number, top: number][];
} {
  const left = Math.min(...cells.map(({ anchor: [x], width }) => x - width));
  const top = Math.min(...cells.map(({ anchor: [, y] }) => -y));
  const width = Math.max(...cells.map(({ anchor: [x] }) => x)) - left;
  const height = Math.max(...cells.map(({ anchor: [, y], height }) => height - y)) - top;
  if (width * height * cells.length > PACK_PIXELS_MAX) {
    throw new Error(phrase('pack.too-large', { count: PACK_PIXELS_MAX }));
  }
  return { width, height, places: cells.map(({ anchor: [x, y], width }) => [x - width - left, -y - top]) };
}

/** The size that the header of a PNG gives. */
function sizeOf(bytes: Uint8Array, name: string): { width: number; height: number } {
  if (!isPng(bytes) || bytes.length < 24) throw new Error(phrase('pack.no-png', { name }));
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

/** Mascots look to the left, unless a pose has a picture for the right as well, and sprites to the right. */
function mirrored({ width, height, data }: Pixels): Pixels {
  const turned = new Uint32Array(Uint8ClampedArray.from(data).buffer);
  for (let row = 0; row < height; row++) turned.subarray(row * width, (row + 1) * width).reverse();
  return { width, height, data: new Uint8ClampedArray(turned.buffer) };
}

/**
 * A stage: what a desktop shows of itself to a neighbour that peeks; and the request to peek.
 *
 * A stage is checked once, in the process that received it, and rewritten from the checked values: unknown members and those with their
 * default are dropped, coordinates and speeds become whole numbers. From then on it is bytes, in two parts. The sketch has the numbers
 * that decide whether a watcher could have predicted it; the JSON has the members of the event. Neither is parsed again.
 * Cost: one JSON.parse of ≤ 2 KiB and a string for each sprite: some 15 µs with three sprites, 50 µs with 25.
 */
import {
  checkAnimation,
  checkFacing,
  checkFile,
  checkNumber,
  checkObject,
  checkSwitch,
  malformed,
  readJson,
} from './fields.ts';
import type { Standing } from './pictures.ts';
import { ProblemError } from './problem.ts';
import {
  EDGES,
  type Edge,
  type EdgeNumber,
  SCALE_MAX,
  SCALE_MIN,
  SCREEN_MAX,
  SPEED_MAX,
  SPRITE_ID_MAX,
  STAGE_BYTES_MAX,
  STAGE_SPRITE_MEMBERS,
  STAGE_SPRITES_MAX,
} from './rules.ts';

/**
 * A sketch: 32-bit words, little-endian. The screen's size, the number of sprites, and SKETCH_SPRITE_WORDS for each sprite,
 * in the order of their ids: id, x, y, vx, vy, and a hash of how it looks.
 */
export const SKETCH_HEAD_WORDS = 2;
export const SKETCH_SPRITE_WORDS = 6;
export const SKETCH_BYTES_MAX = 4 * (SKETCH_HEAD_WORDS + STAGE_SPRITES_MAX * SKETCH_SPRITE_WORDS);

const { file: FILE, vx: VX, vy: VY, animation: ANIMATION, facing: FACING, scale: SCALE } = STAGE_SPRITE_MEMBERS;
const DEFAULTS = {
  file: FILE.default,
  vx: VX.default,
  vy: VY.default,
  animation: ANIMATION.default,
  facing: FACING.default,
  scale: SCALE.default,
} as const;

/** A checked stage. */
export interface CheckedStage {
  /** The sketch, and then the JSON: `"width":…,"height":…,"files":[…],"sprites":[…]}`. */
  body: Buffer;
  /** The hashes of its pictures. */
  files: readonly string[];
}

/** A checked stage as it is sent to the master: its body is body[start, end). */
export interface ShownStage {
  readonly body: Buffer;
  readonly start: number;
  readonly end: number;
  /** The lowest of its pictures. */
  readonly standing: Standing;
}

/** Checks a posted stage, bytes[start, end). Throws malformed (with the field), too-large. Source PROTOCOL.md#stage */
export function readStage(bytes: Uint8Array, start: number, end: number): CheckedStage {
  if (end - start > STAGE_BYTES_MAX) throw tooLarge();
  return checkStage(readJson(bytes, start, end));
}

/** Checks a stage that was already parsed from JSON. Throws malformed (with the field), too-large. */
export function checkStage(value: unknown): CheckedStage {
  const stage = checkObject(value, 'body');
  const width = Math.round(checkNumber(stage.width, 'width', 1, SCREEN_MAX));
  const height = Math.round(checkNumber(stage.height, 'height', 1, SCREEN_MAX));
  const files = list(stage.files, 'files').map((file, index) => checkFile(file, `files[${index}]`));
  if (new Set(files).size < files.length) throw malformed('files', 'must be different');
  const hashes = files.map((file) => hash(file));
  const sprites = list(stage.sprites, 'sprites').map((given, index) => checkSprite(given, index, hashes));
  sprites.sort((one, other) => one.id - other.id);
  for (let index = 1; index < sprites.length; index++) {
    if (sprites[index].id === sprites[index - 1].id) throw malformed('sprites', 'must have different ids');
  }
  // Hashes, animations and directions need no escapes.
  const json =
    `"width":${width},"height":${height},"files":[${files.map((file) => `"${file}"`).join()}],` +
    `"sprites":[${sprites.map(writeSprite).join()}]}`;
  if (json.length > STAGE_BYTES_MAX) throw tooLarge();
  const sketchBytes = 4 * (SKETCH_HEAD_WORDS + sprites.length * SKETCH_SPRITE_WORDS);
  const body = Buffer.allocUnsafe(sketchBytes + json.length);
  let at = body.writeInt32LE(width | (height << 16), 0);
  at = body.writeUInt32LE(sprites.length, at);
  for (const { id, x, y, vx, vy, look } of sprites) {
    at = body.writeUInt32LE(id, at);
    at = body.writeInt32LE(x, at);
    at = body.writeInt32LE(y, at);
    at = body.writeInt32LE(vx, at);
    at = body.writeInt32LE(vy, at);
    at = body.writeInt32LE(look, at);
  }
  body.write(json, at, 'latin1');
  return { body, files };
}

interface StageSprite {
  id: number;
  file: number;
  x: number;
  y: number;
  vx: number;
  vy: number;
  animation: string;
  facing: string;
  scale: number;
  /** A hash of everything that is not motion. */
  look: number;
}

function checkSprite(value: unknown, index: number, files: readonly number[]): StageSprite {
  const field = `sprites[${index}]`;
  const given = checkObject(value, field);
  const { id } = given;
  const file = given.file ?? DEFAULTS.file;
  if (!isWhole(id, SPRITE_ID_MAX)) throw malformed(`${field}.id`, 'must be a whole number from 0 to 2^32 - 1');
  if (!isWhole(file, files.length - 1)) throw malformed(`${field}.file`, 'must be an index of files');
  const animation = checkAnimation(given.animation ?? DEFAULTS.animation, '.animation', field);
  const facing = checkFacing(given.facing ?? DEFAULTS.facing, '.facing', field);
  const scale = checkNumber(given.scale ?? DEFAULTS.scale, '.scale', SCALE_MIN, SCALE_MAX, field);
  return {
    id,
    file,
    x: whole(given.x, '.x', SCREEN_MAX, field),
    y: whole(given.y, '.y', SCREEN_MAX, field),
    vx: whole(given.vx ?? DEFAULTS.vx, '.vx', SPEED_MAX, field),
    vy: whole(given.vy ?? DEFAULTS.vy, '.vy', SPEED_MAX, field),
    animation,
    facing,
    scale,
    look: hash(`${animation} ${facing} ${scale}`, files[file]),
  };
}

/** The JSON of a sprite, without the members that have their default. */
function writeSprite({ id, file, x, y, vx, vy, animation, facing, scale }: StageSprite): string {
  let json = `{"id":${id}`;
  if (file !== DEFAULTS.file) json += `,"file":${file}`;
  json += `,"x":${x},"y":${y}`;
  if (vx !== DEFAULTS.vx) json += `,"vx":${vx}`;
  if (vy !== DEFAULTS.vy) json += `,"vy":${vy}`;
  if (animation !== DEFAULTS.animation) json += `,"animation":"${animation}"`;
  if (facing !== DEFAULTS.facing) json += `,"facing":"${facing}"`;
  if (scale !== DEFAULTS.scale) json += `,"scale":${scale}`;
  return `${json}}`;
}

/**
 * Checks the body of a peek. `hasProblem`: a neighbour who shows nothing is told in the answer, not as a refusal. Throws malformed.
 * Source PROTOCOL.md#peeks
 */
export function checkPeek(value: unknown): { edge: EdgeNumber | null; hasProblem: boolean } {
  const { edge, problem } = checkObject(value, 'body');
  return { edge: checkPeekEdge(edge), hasProblem: problem === true };
}

/** Checks the edge of a peek: its number, or null for none. Throws malformed. */
export function checkPeekEdge(edge: unknown): EdgeNumber | null {
  if (edge === null) return null;
  const number = EDGES.indexOf(edge as Edge);
  if (number < 0) throw malformed('edge', `must be ${EDGES.join(', ')} or null`);
  return number as EdgeNumber;
}

/** Checks the body of the switch: whether the desktop shows its stage. Throws malformed. */
export function checkShown(value: unknown): boolean {
  return checkSwitch(checkObject(value, 'body').stage, 'stage');
}

/** FNV-1a of 32 bits. */
function hash(text: string, seed = 0x811c9dc5): number {
  let sum = seed;
  for (let index = 0; index < text.length; index++) sum = Math.imul(sum ^ text.charCodeAt(index), 0x01000193);
  return sum | 0;
}

function tooLarge(): ProblemError {
  return new ProblemError('too-large', `A stage is at most ${STAGE_BYTES_MAX} bytes; show fewer sprites.`);
}

function list(value: unknown, field: string): unknown[] {
  if (!Array.isArray(value) || value.length > STAGE_SPRITES_MAX) {
    throw malformed(field, `must be a list of at most ${STAGE_SPRITES_MAX}`);
  }
  return value;
}

function isWhole(value: unknown, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max;
}

/** The nearest whole number, which is never -0. */
function whole(value: unknown, member: string, max: number, parent: string): number {
  return Math.round(checkNumber(value, member, -max, max, parent)) + 0;
}

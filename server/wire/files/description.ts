/**
 * The description inside a .spr: JSON that names the sprite and defines its animations on the sheet.
 *
 * Invariant: a result has only known fields, each within its limits, with every default filled in; no object of the input
 * is passed on. Unknown fields are ignored, so that spr/1 can grow.
 * Browser-safe: imports nothing of a platform. Cost: O(JSON), which JSON_BYTES_MAX bounds.
 */
import { EMOJI_STYLE, HIDDEN, ONLY_MARKS } from '../hidden.ts';
import { NAME_BYTES_MAX, SCALE_MAX, SCALE_MIN } from '../rules.ts';
import { SprRefused } from './png.ts';

export interface Animation {
  /** Cells of the sheet's grid, row by row from 0. */
  readonly frames: readonly number[];
  /** Frames a second, 0 < fps ≤ FPS_MAX. */
  readonly fps: number;
}

/** Speeds in device-independent px/s, gravity in px/s², bounce as the fraction of the speed that is kept, hopChance that it hops instead of walking. */
export interface Behaviour {
  readonly walkSpeed: number;
  readonly jumpSpeed: number;
  readonly gravity: number;
  readonly bounce: number;
  readonly hopChance: number;
}

export interface Description {
  readonly format: 'spr/1';
  readonly name: string;
  readonly author: string;
  readonly licence: string;
  /** Pixels of the sheet. */
  readonly frame: { readonly width: number; readonly height: number };
  /** Device-independent pixels for each pixel of the sheet. */
  readonly scale: number;
  /** x, y, width, height in pixels of the frame: the part that collides and stands. */
  readonly hitbox: readonly [number, number, number, number];
  /** Always has `idle`. Without a prototype, so that any name can be looked up. */
  readonly animations: Readonly<Record<string, Animation>>;
  readonly behaviour: Behaviour;
}

export const FORMAT = 'spr/1';
export const JSON_BYTES_MAX = 65_536; // bytes: 512 frame numbers in each of 16 animations fit with room to spare
const DEPTH_MAX = 8; // nested values, in fields that nobody knows too; a description has 4
export const FRAMES_MAX = 512; // cells of the grid; bounds every list below
export const ANIMATIONS_MAX = 64; // animations: the known ones and many of the artist's
const CREDIT_BYTES_MAX = 400; // bytes of UTF-8 for author and for licence: a name with an address
export const FPS_MAX = 60; // frames a second, as many as common screens show
const WALK_SPEED_MAX = 2000; // px/s: across a wide screen in a second
const JUMP_SPEED_MAX = 5000; // px/s
const GRAVITY_MAX = 20_000; // px/s²: ten times what still looks like falling
const BOUNCE_MAX = 0.95; // fraction of the speed: above it a sprite would not come to rest

export const SCALE_DEFAULT = 2;
export const BEHAVIOUR_DEFAULT: Behaviour = {
  walkSpeed: 60,
  jumpSpeed: 420,
  gravity: 1800,
  bounce: 0.3,
  hopChance: 0.12,
};

/** How a desktop plays an animation: what it plays instead when a file has none of this name, and whether it ends or repeats. */
export interface Playing {
  readonly instead: string;
  readonly once: boolean;
}

const repeated = (instead: string): Playing => ({ instead, once: false });
const once = (instead: string): Playing => ({ instead, once: true });

/** The animations that desktops play. Only `idle` is required: every name leads to it. */
export const PLAYED: Readonly<Record<string, Playing>> = {
  idle: repeated('idle'),
  walk: repeated('idle'),
  fall: repeated('idle'),
  drag: repeated('idle'),
  land: once('idle'),
  climb: repeated('idle'),
  sleep: repeated('idle'),
  throw: repeated('fall'),
  tumble: repeated('throw'),
  squash: once('land'),
  sit: repeated('idle'),
  hang: repeated('drag'),
  pet: repeated('idle'),
  yawn: once('idle'),
  look: repeated('idle'),
  wave: repeated('idle'),
  greet: repeated('wave'),
};

export const KNOWN_ANIMATIONS: readonly string[] = Object.keys(PLAYED);

/** Returns the name of the animation to play for `wanted`: itself if the file has it, or the first one that it has of those to play instead. */
export function playedFor(animations: Description['animations'], wanted: string): string {
  let name = wanted;
  while (animations[name] === undefined && name !== 'idle') name = PLAYED[name]?.instead ?? 'idle';
  return name;
}

const ANIMATION_NAME = /^[a-z][a-z0-9-]{0,31}$/;

/**
 * The description in `json`, checked against the size of its sheet.
 *
 * Units   sheet in pixels.
 * Throws  SprRefused (part `json`), naming the field.
 */
export function readDescription(json: string, sheet: { width: number; height: number }): Description {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    throw new SprRefused('json', 'The description is not valid JSON.');
  }
  if (!isReadable(parsed, DEPTH_MAX)) {
    throw new SprRefused(
      'json',
      `The description nests deeper than ${DEPTH_MAX}, or has a number or a text that not every reader can read.`,
    );
  }
  const root = objectAt(parsed, 'The description');
  if (root.format !== FORMAT) refuse(`format must be "${FORMAT}"`);
  const frame = readFrameSize(root.frame, sheet);
  const cells = (sheet.width / frame.width) * (sheet.height / frame.height);
  if (cells > FRAMES_MAX) refuse(`the grid has ${cells} frames; at most ${FRAMES_MAX} are allowed`);
  return {
    format: FORMAT,
    name: textAt(root.name, 'name', 1, NAME_BYTES_MAX),
    author: textAt(root.author ?? '', 'author', 0, CREDIT_BYTES_MAX),
    licence: textAt(root.licence ?? '', 'licence', 0, CREDIT_BYTES_MAX),
    frame,
    scale: numberAt(root.scale ?? SCALE_DEFAULT, 'scale', SCALE_MIN, SCALE_MAX),
    hitbox: readHitbox(root.hitbox ?? [0, 0, frame.width, frame.height], frame),
    animations: readAnimations(root.animations, cells),
    behaviour: readBehaviour(root.behaviour ?? {}),
  };
}

/** Whether every desktop can read this value: not all have numbers beyond those of JavaScript, or half a character. */
function isReadable(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return !HALF_CHARACTER.test(value);
  if (typeof value !== 'object' || value === null) return value !== Number.POSITIVE_INFINITY && value !== -Infinity;
  if (depth === 0) return false;
  return Object.entries(value).every(([name, one]) => isReadable(name, 0) && isReadable(one, depth - 1));
}

/** A surrogate without the other one. */
const HALF_CHARACTER = /\p{Surrogate}/u;

function readFrameSize(value: unknown, sheet: { width: number; height: number }): Description['frame'] {
  const frame = objectAt(value, 'frame');
  const width = wholeAt(frame.width, 'frame.width', 1, sheet.width);
  const height = wholeAt(frame.height, 'frame.height', 1, sheet.height);
  if (sheet.width % width !== 0 || sheet.height % height !== 0) {
    refuse(`frames of ${width}×${height} pixels do not divide a sheet of ${sheet.width}×${sheet.height}`);
  }
  return { width, height };
}

function readHitbox(value: unknown, frame: Description['frame']): Description['hitbox'] {
  if (!Array.isArray(value) || value.length !== 4) refuse('hitbox must be [x, y, width, height]');
  const [x, y, width, height] = value as unknown[];
  const left = wholeAt(x, 'hitbox x', 0, frame.width - 1);
  const top = wholeAt(y, 'hitbox y', 0, frame.height - 1);
  return [
    left,
    top,
    wholeAt(width, 'hitbox width', 1, frame.width - left),
    wholeAt(height, 'hitbox height', 1, frame.height - top),
  ];
}

function readAnimations(value: unknown, cells: number): Record<string, Animation> {
  const given = objectAt(value, 'animations');
  const names = Object.keys(given);
  if (names.length > ANIMATIONS_MAX) refuse(`there are ${names.length} animations; at most ${ANIMATIONS_MAX}`);
  const animations: Record<string, Animation> = Object.create(null);
  for (const name of names) {
    if (!ANIMATION_NAME.test(name)) refuse('an animation name is not 1 to 32 of a–z, 0–9 and -, letter first');
    const { frames, fps } = objectAt(given[name], `animations.${name}`);
    if (!Array.isArray(frames) || frames.length < 1 || frames.length > FRAMES_MAX) {
      refuse(`animations.${name}.frames must list 1 to ${FRAMES_MAX} frames`);
    }
    animations[name] = {
      frames: (frames as unknown[]).map((cell) => wholeAt(cell, `animations.${name}.frames`, 0, cells - 1)),
      fps: numberAt(fps, `animations.${name}.fps`, Number.MIN_VALUE, FPS_MAX),
    };
  }
  if (animations.idle === undefined) refuse('animations.idle is missing; it is the one that is required');
  return animations;
}

function readBehaviour(value: unknown): Behaviour {
  const given = objectAt(value, 'behaviour');
  const read = (field: keyof Behaviour, max: number) =>
    numberAt(given[field] ?? BEHAVIOUR_DEFAULT[field], `behaviour.${field}`, 0, max);
  return {
    walkSpeed: read('walkSpeed', WALK_SPEED_MAX),
    jumpSpeed: read('jumpSpeed', JUMP_SPEED_MAX),
    gravity: read('gravity', GRAVITY_MAX),
    bounce: read('bounce', BOUNCE_MAX),
    hopChance: read('hopChance', 1),
  };
}

function objectAt(value: unknown, field: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse(`${field} must be an object`);
  return value as Record<string, unknown>;
}

function textAt(value: unknown, field: string, bytesMin: number, bytesMax: number): string {
  if (typeof value !== 'string' || HIDDEN.test(value.replace(EMOJI_STYLE, ''))) {
    refuse(`${field} must be text without control or invisible characters`);
  }
  if (ONLY_MARKS.test(value as string)) refuse(`${field} must have more than combining marks`);
  const bytes = new TextEncoder().encode(value as string).length;
  if (bytes < bytesMin || bytes > bytesMax) {
    refuse(`${field} has ${bytes} bytes of UTF-8; ${bytesMin} to ${bytesMax} are allowed`);
  }
  return value as string;
}

function numberAt(value: unknown, field: string, min: number, max: number): number {
  if (typeof value !== 'number' || !(value >= min && value <= max)) {
    refuse(`${field} must be a number ${min === Number.MIN_VALUE ? 'above 0' : `from ${min}`} up to ${max}`);
  }
  return value as number;
}

function wholeAt(value: unknown, field: string, min: number, max: number): number {
  if (!Number.isInteger(value)) refuse(`${field} must be a whole number from ${min} to ${max}`);
  return numberAt(value, field, min, max);
}

function refuse(reason: string): never {
  throw new SprRefused('json', `The description is refused: ${reason}.`);
}

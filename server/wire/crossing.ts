/**
 * A crossing: one sprite leaving over one edge, as its sender posts it and as the neighbour's poll gets it.
 *
 * It is checked once, in the process that received it, and rewritten from the checked values: unknown members are
 * dropped, numbers have one form. From then on it is bytes (the passage), which the relay does not parse again.
 * Cost: one JSON.parse and one JSON.stringify of ≤ 1 KiB.
 */
import {
  checkAnimation,
  checkFacing,
  checkFile,
  checkNumber,
  checkObject,
  checkRisingNumber,
  malformed,
  readJson,
} from './fields.ts';
import { ProblemError } from './problem.ts';
import { normalizeName, whyInvalidName } from './text.ts';

export const EDGES = ['left', 'right', 'top', 'bottom'] as const;
export type Edge = (typeof EDGES)[number];

/** Edges as numbers, in the order of EDGES: 0 left, 1 right, 2 top, 3 bottom. The opposite one differs in the last bit. */
export type EdgeNumber = 0 | 1 | 2 | 3;

export function opposite(edge: EdgeNumber): EdgeNumber {
  return (edge ^ 1) as EdgeNumber;
}

/** Body of a crossing in bytes: five times what a browser sends, and small enough to buffer without further checks. */
export const CROSSING_BYTES_MAX = 1024;

/** Speed along one axis in device-independent px/s: a 4K screen crossed in a fifth of a second. */
export const SPEED_MAX = 20_000;

/** Scale of a sprite's pixels: from a quarter up to 16, at which 64 px become 1024 px. */
export const SCALE_MIN = 0.25;
export const SCALE_MAX = 16;

/** A passage in bytes: more than all its members at their longest (each of the 64 bytes of a name may need an escape). */
export const PASSAGE_BYTES_MAX = 448;

export interface Crossing {
  /** The sender's own rising number, 1 … 2^53 − 1. */
  crossing: number;
  edge: EdgeNumber;
  /**
   * The part of the neighbour's event after `"from":{…},`: `"edge":"left","at":…,"vx":…,"vy":…,"sprite":{…}}`.
   * This edge is the one by which the sprite enters: the opposite of `edge`.
   */
  passage: string;
}

/** A checked crossing whose passage is body[start, end), so that reading it allocates no object and no string. */
export interface CheckedCrossing {
  readonly crossing: number;
  readonly edge: EdgeNumber;
  readonly body: Buffer;
  readonly start: number;
  readonly end: number;
}

/**
 * Checks a posted crossing.
 *
 * Shape   bytes[start, end) is the whole body, at most CROSSING_BYTES_MAX.
 * Throws  malformed (with the field), too-large.
 * Source  PROTOCOL.md#crossings
 */
export function readCrossing(bytes: Uint8Array, start = 0, end = bytes.length): Crossing {
  if (end - start > CROSSING_BYTES_MAX) {
    throw new ProblemError('too-large', `The body of a crossing is at most ${CROSSING_BYTES_MAX} bytes.`);
  }
  return checkCrossing(readJson(bytes, start, end));
}

/** Checks a crossing that was already parsed from JSON. Throws malformed (with the field). */
export function checkCrossing(value: unknown): Crossing {
  const body = checkObject(value, 'body');
  const crossing = checkRisingNumber(body.crossing, 'crossing');
  const edge = EDGES.indexOf(body.edge as Edge);
  if (edge < 0) throw malformed('edge', 'must be left, right, top or bottom');
  const at = checkNumber(body.at, 'at', 0, 1);
  const vx = checkNumber(body.vx, 'vx', -SPEED_MAX, SPEED_MAX);
  const vy = checkNumber(body.vy, 'vy', -SPEED_MAX, SPEED_MAX);
  const given = checkObject(body.sprite, 'sprite');
  const file = checkFile(given.file, 'sprite.file');
  const name = given.name ?? '';
  if (typeof name !== 'string') throw malformed('sprite.name', 'must be a string');
  const normalized = normalizeName(name);
  const why = whyInvalidName(normalized);
  if (why) throw malformed('sprite.name', why);
  const animation = checkAnimation(given.animation ?? 'fall', 'sprite.animation');
  const facing = checkFacing(given.facing ?? 'right', 'sprite.facing');
  const scale = checkNumber(given.scale ?? 1, 'sprite.scale', SCALE_MIN, SCALE_MAX);
  const sprite = JSON.stringify({ file, name: normalized, animation, facing, scale });
  const entry = EDGES[opposite(edge as EdgeNumber)];
  return {
    crossing,
    edge: edge as EdgeNumber,
    passage: `"edge":"${entry}","at":${at},"vx":${vx},"vy":${vy},"sprite":${sprite}}`,
  };
}

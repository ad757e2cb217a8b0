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
  checkName,
  checkNumber,
  checkObject,
  checkPerson,
  checkPersons,
  checkRisingNumber,
  checkWhole,
  malformed,
  readJson,
} from './fields.ts';
import { ProblemError } from './problem.ts';
import {
  CROSSING_BYTES_MAX,
  CROSSING_MEMBERS,
  EDGES,
  type Edge,
  type EdgeNumber,
  GOAL_BYTES_MAX,
  GOAL_MEMBERS,
  JOURNEY_BYTES_MAX,
  JOURNEY_MEMBERS,
  type Member,
  opposite,
  PASSAGE_BYTES_MAX,
  SPRITE_MEMBERS,
} from './rules.ts';

/** The members of a crossing that a passage has as they are: those between `edge` and `sprite`. */
const MOTION = Object.entries<Member>(CROSSING_MEMBERS).slice(2, -1);
const SPRITE = Object.entries<Member>(SPRITE_MEMBERS);
const GOAL = Object.entries<Member>(GOAL_MEMBERS);
const JOURNEY = Object.entries<Member>(JOURNEY_MEMBERS);

/**
 * The texts of a passage without a journey and a goal: one before each of its values, and the end. The first value is the edge by which the
 * sprite enters. A journey is the last member of the sprite, and a goal follows the sprite.
 */
export const PASSAGE_TEXTS: readonly string[] = passageTexts();

export interface Crossing {
  /** The sender's own rising number, 1 … 2^53 − 1. */
  crossing: number;
  edge: EdgeNumber;
  /**
   * The part of the neighbour's event after `"from":{…},`: `"edge":"left","at":…,"vx":…,"vy":…,"sprite":{…}}`, perhaps with a goal.
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

/** The crossing that was checked last: its passage as bytes, until the next one is kept. */
export class KeptCrossing implements CheckedCrossing {
  crossing = 0;
  edge: EdgeNumber = 0;
  readonly body: Buffer = Buffer.alloc(PASSAGE_BYTES_MAX);
  readonly start = 0;
  end = 0;

  keep({ crossing, edge, passage }: Crossing): this {
    this.crossing = crossing;
    this.edge = edge;
    this.end = this.body.write(passage);
    return this;
  }
}

/**
 * Checks a posted crossing.
 *
 * Shape   bytes[start, end) is the whole body, at most CROSSING_BYTES_MAX.
 * Throws  malformed (with the field), too-large.
 * Source  PROTOCOL.md#crossings
 */
export function readCrossing(bytes: Uint8Array, start = 0, end = bytes.length): Crossing {
  checkCrossingSize(end - start);
  return checkCrossing(readJson(bytes, start, end));
}

/** Throws too-large. */
export function checkCrossingSize(bytes: number): void {
  if (bytes <= CROSSING_BYTES_MAX) return;
  throw new ProblemError('too-large', `The body of a crossing is at most ${CROSSING_BYTES_MAX} bytes.`);
}

/** Checks a crossing that was already parsed from JSON. Throws malformed (with the field). */
export function checkCrossing(value: unknown): Crossing {
  const body = checkObject(value, 'body');
  const crossing = checkRisingNumber(body.crossing, 'crossing');
  const edge = EDGES.indexOf(body.edge as Edge) as EdgeNumber;
  if (edge < 0) throw malformed('edge', `must be ${EDGES.slice(0, -1).join(', ')} or ${EDGES.at(-1)}`);
  const motion = MOTION.map(([member, rule]) => checkMember(body[member], member, rule));
  const given = checkObject(body.sprite, 'sprite');
  const sprite = SPRITE.map(([member, rule]) => checkMember(given[member], `sprite.${member}`, rule));
  const journey = optional(given.journey, 'sprite.journey', JOURNEY, JOURNEY_BYTES_MAX);
  const goal = optional(body.goal, 'goal', GOAL, GOAL_BYTES_MAX);
  const values = [EDGES[opposite(edge)], ...motion, ...sprite];
  const members = values.map((value, index) => PASSAGE_TEXTS[index] + written(value)).join('');
  return { crossing, edge, passage: `${members}${journey}}${goal}}` };
}

/** Checks an object that a crossing may have. Returns the text of the passage with it, from the comma before its name on; empty without one. */
function optional(value: unknown, field: string, table: readonly [string, Member][], bytesMax: number): string {
  if (value === undefined || value === null) return '';
  const given = checkObject(value, field);
  const checked = table.map(([member, rule]) => [member, checkMember(given[member], `${field}.${member}`, rule)]);
  const json = JSON.stringify(Object.fromEntries(checked));
  if (Buffer.byteLength(json) > bytesMax) throw malformed(field, `must have at most ${bytesMax} bytes as JSON`);
  return `,"${field.slice(field.lastIndexOf('.') + 1)}":${json}`;
}

/** Checks one member of a passage. */
function checkMember(value: unknown, member: string, rule: Member): string | number | string[] {
  const given = 'default' in rule ? (value ?? rule.default) : value;
  switch (rule.is) {
    case 'number':
      return checkNumber(given, member, rule.min, rule.max);
    case 'whole':
      return checkWhole(given, member, rule.min, rule.max);
    case 'person':
      return checkPerson(given, member);
    case 'persons':
      return checkPersons(value ?? [], member, rule.max);
    case 'file':
      return checkFile(given, member);
    case 'name':
      return checkName(given, member);
    case 'animation':
      return checkAnimation(given, member);
    case 'facing':
      return checkFacing(given, member);
    default:
      throw new TypeError(`no passage has a member like ${member}`);
  }
}

/** A value between the texts of a passage: a text is without its quotes. */
function written(value: string | number | string[]): string {
  return typeof value === 'string' ? JSON.stringify(value).slice(1, -1) : JSON.stringify(value);
}

function passageTexts(): string[] {
  const texts: string[] = [];
  let before = '"edge":"';
  let quote = '"';
  const add = (key: string, rule: Member): void => {
    texts.push(before);
    before = `${quote},${key}:`;
    quote = rule.is === 'number' ? '' : '"';
    before += quote;
  };
  for (const [member, rule] of MOTION) add(`"${member}"`, rule);
  for (const [index, [member, rule]] of SPRITE.entries()) add(`${index === 0 ? '"sprite":{' : ''}"${member}"`, rule);
  return [...texts, before, `${quote}}}`];
}

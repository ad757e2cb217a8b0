/**
 * The crossing reader: a fast readCrossing() that allocates no object and no string for the usual crossings.
 *
 * Usual clients send the members in PROTOCOL.md's order, without spaces, escapes or exponents. Such a body is checked in
 * place, and from `"at"` on it already is the passage. Any other body is passed to readCrossing(), which alone refuses.
 * Invariant: both ways return the same crossing, byte for byte (a test compares them).
 * The native front has the same scan in C++ (native/crossing_scan.h); it passes on only bodies that its scan does not accept.
 * Cost: one pass, a nanosecond a byte, and one copy of the passage.
 */
import {
  type CheckedCrossing,
  CROSSING_BYTES_MAX,
  type EdgeNumber,
  PASSAGE_BYTES_MAX,
  readCrossing,
  SCALE_MAX,
  SCALE_MIN,
  SPEED_MAX,
} from './crossing.ts';
import { ANIMATION_LENGTH_MAX } from './fields.ts';
import { NAME_BYTES_MAX } from './text.ts';

const literal = (text: string) => Uint8Array.from(Buffer.from(text));

const CROSSING = literal('{"crossing":');
const EDGE = literal(',"edge":"');
const EDGE_NAMES = ['left', 'right', 'top', 'bottom'].map(literal);
const AT = literal('","at":');
const VX = literal(',"vx":');
const VY = literal(',"vy":');
const FILE = literal(',"sprite":{"file":"');
const NAME = literal('","name":"');
const ANIMATION = literal('","animation":"');
const FACING = literal('","facing":"');
const LEFT = literal('left');
const RIGHT = literal('right');
const SCALE = literal('","scale":');
const END = literal('}}');
/** The beginning of a passage, by the edge that the sprite left by: the opposite edge. */
const ENTRY = ['right', 'left', 'bottom', 'top'].map((edge) => literal(`"edge":"${edge}",`));

const FILE_DIGITS = 64;
/** Up to this many digits a decimal number and its double have the same text. */
const DIGITS_MAX = 15;
/** JavaScript writes smaller fractions with an exponent. */
const FRACTION_MIN = 1e-6;

const QUOTE = 0x22;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const TILDE = 0x7e;

export class CrossingReader implements CheckedCrossing {
  /** The sender's number. */
  crossing = 0;
  edge: EdgeNumber = 0;
  /** The passage is body[0, end), until the next read(). */
  readonly body: Buffer = Buffer.alloc(Math.max(PASSAGE_BYTES_MAX, CROSSING_BYTES_MAX));
  readonly start = 0;
  end = 0;
  #at = 0;
  #number = 0;

  /** Reads the crossing at body[start, end). Throws malformed, too-large. */
  read(body: Uint8Array, start: number, end: number): void {
    if (end - start <= CROSSING_BYTES_MAX && this.#scan(body, start, end)) return;
    const { crossing, edge, passage } = readCrossing(body, start, end);
    this.crossing = crossing;
    this.edge = edge;
    this.end = this.body.write(passage);
  }

  #scan(body: Uint8Array, start: number, end: number): boolean {
    this.#at = start;
    if (!this.#skip(body, end, CROSSING) || !this.#decimal(body, end)) return false;
    const crossing = this.#number;
    if (crossing < 1 || !Number.isSafeInteger(crossing) || !this.#skip(body, end, EDGE)) return false;
    let edge = 0;
    while (edge < 4 && !this.#skip(body, end, EDGE_NAMES[edge])) edge++;
    if (edge === 4) return false;
    const passage = this.#at + 2;
    if (!this.#skip(body, end, AT) || !this.#within(body, end, 0, 1)) return false;
    if (!this.#skip(body, end, VX) || !this.#within(body, end, -SPEED_MAX, SPEED_MAX)) return false;
    if (!this.#skip(body, end, VY) || !this.#within(body, end, -SPEED_MAX, SPEED_MAX)) return false;
    if (!this.#skip(body, end, FILE) || !this.#file(body, end)) return false;
    if (!this.#skip(body, end, NAME) || !this.#name(body, end)) return false;
    if (!this.#skip(body, end, ANIMATION) || !this.#animation(body, end) || !this.#skip(body, end, FACING))
      return false;
    if (!this.#skip(body, end, LEFT) && !this.#skip(body, end, RIGHT)) return false;
    if (!this.#skip(body, end, SCALE) || !this.#within(body, end, SCALE_MIN, SCALE_MAX)) return false;
    if (!this.#skip(body, end, END) || this.#at !== end) return false;
    this.crossing = crossing;
    this.edge = edge as EdgeNumber;
    const entry = ENTRY[edge];
    for (let index = 0; index < entry.length; index++) this.body[index] = entry[index];
    this.body.set(body.subarray(passage, end), entry.length);
    this.end = entry.length + end - passage;
    return true;
  }

  /** Skips `text`; returns false when other bytes are there. */
  #skip(body: Uint8Array, end: number, text: Uint8Array): boolean {
    const at = this.#at;
    const { length } = text;
    if (at + length > end) return false;
    for (let index = 0; index < length; index++) if (body[at + index] !== text[index]) return false;
    this.#at = at + length;
    return true;
  }

  #within(body: Uint8Array, end: number, min: number, max: number): boolean {
    return this.#decimal(body, end) && this.#number >= min && this.#number <= max;
  }

  /** Skips a number in the form in which JavaScript writes it, without an exponent; sets #number. */
  #decimal(body: Uint8Array, end: number): boolean {
    let at = this.#at;
    const negative = body[at] === MINUS;
    if (negative) at++;
    const first = at;
    let value = 0;
    for (; at < end && isDigit(body[at]); at++) value = value * 10 + body[at] - ZERO;
    let digits = at - first;
    if (digits === 0 || digits > DIGITS_MAX || (digits > 1 && body[first] === ZERO)) return false;
    if (at < end && body[at] === DOT) {
      const dot = at++;
      for (; at < end && isDigit(body[at]); at++) value = value * 10 + body[at] - ZERO;
      const decimals = at - dot - 1;
      digits += decimals;
      if (decimals === 0 || digits > DIGITS_MAX || body[at - 1] === ZERO) return false;
      value /= POWERS[decimals];
      if (value < FRACTION_MIN) return false;
    }
    if (negative && value === 0) return false;
    this.#at = at;
    this.#number = negative ? -value : value;
    return true;
  }

  #file(body: Uint8Array, end: number): boolean {
    const stop = this.#at + FILE_DIGITS;
    if (stop > end) return false;
    for (let at = this.#at; at < stop; at++) if (HEX[body[at]] === 0) return false;
    this.#at = stop;
    return true;
  }

  /** Skips printable ASCII without escapes and without spaces at its ends. */
  #name(body: Uint8Array, end: number): boolean {
    let at = this.#at;
    const stop = Math.min(end, at + NAME_BYTES_MAX + 1);
    for (; at < stop && body[at] !== QUOTE; at++) {
      if (body[at] < SPACE || body[at] > TILDE || body[at] === BACKSLASH) return false;
    }
    if (at === stop || body[this.#at] === SPACE || body[at - 1] === SPACE) return false;
    this.#at = at;
    return true;
  }

  #animation(body: Uint8Array, end: number): boolean {
    let at = this.#at;
    const stop = Math.min(end, at + ANIMATION_LENGTH_MAX + 1);
    while (at < stop && LETTERS[body[at]] !== 0) at++;
    if (at === this.#at || at === stop || LETTERS[body[this.#at]] !== 2) return false;
    this.#at = at;
    return true;
  }
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= ZERO + 9;
}

const POWERS = Float64Array.from({ length: DIGITS_MAX + 1 }, (_, power) => 10 ** power);

/** 1 for each lowercase hex digit. */
const HEX = Uint8Array.from({ length: 256 }, (_, code) => (/[0-9a-f]/.test(String.fromCharCode(code)) ? 1 : 0));

/** 2 for a character that an animation may begin with, 1 for one that may only follow. */
const LETTERS = Uint8Array.from({ length: 256 }, (_, code) => {
  const character = String.fromCharCode(code);
  return /[a-z]/.test(character) ? 2 : /[0-9-]/.test(character) ? 1 : 0;
});

/**
 * The crossing reader: a fast readCrossing() that allocates no object and no string for the crossings that clients send.
 *
 * The members may come in any order, with spaces between them, and the optional ones may be missing. A body with anything else (an
 * escape, an exponent, an unknown or repeated member, text beyond ASCII) is passed to readCrossing(), which alone refuses.
 * Invariant: both ways return the same crossing, byte for byte (a test compares them).
 * The native front has the same scan in C++ (native/http/crossing_scan.h); it passes on only bodies that its scan does not accept.
 * Cost: one pass, a nanosecond a byte, and one copy of the values into the passage.
 */
import { type CheckedCrossing, PASSAGE_TEXTS, readCrossing } from './crossing.ts';
import {
  ANIMATION_LENGTH_MAX,
  CROSSING_BYTES_MAX,
  CROSSING_MEMBERS,
  EDGES,
  type EdgeNumber,
  FILE_DIGITS,
  type Member,
  NAME_BYTES_MAX,
  opposite,
  PASSAGE_BYTES_MAX,
  SPRITE_MEMBERS,
} from './rules.ts';

const literal = (text: string) => Uint8Array.from(Buffer.from(text));

/** An object that is read: the names of its members in quotes, what each must be, and as bits those that may not be missing. */
interface Shape {
  readonly names: readonly Uint8Array[];
  readonly rules: readonly Member[];
  readonly required: number;
  /** The value of the passage that its first member is; the next members are the next values. */
  readonly firstValue: number;
}

/** A name is found at once when the members come in this order, PROTOCOL.md's. */
function shapeOf(members: Readonly<Record<string, Member>>, firstValue: number): Shape {
  const rules = Object.values(members);
  const bits = rules.map((rule, index) => ('default' in rule ? 0 : 2 ** index));
  const required = bits.reduce((sum, bit) => sum + bit, 0);
  return { names: Object.keys(members).map((name) => literal(`"${name}"`)), rules, required, firstValue };
}

/** The number of a crossing is in no passage, and the first value of a passage is its edge. */
const CROSSING = shapeOf(CROSSING_MEMBERS, -1);
const SPRITE = shapeOf(SPRITE_MEMBERS, CROSSING.rules.length - 2);

const EDGE_NAMES = EDGES.map(literal);
const [LEFT, RIGHT] = EDGE_NAMES;

/** What a passage has before each of its values. */
const BEFORE = PASSAGE_TEXTS.slice(0, -1).map(literal);
const END = literal(PASSAGE_TEXTS.at(-1) ?? '');

/** The values of optional members that are missing. */
const DEFAULTS = [...CROSSING.rules.slice(1, -1), ...SPRITE.rules].map((rule) =>
  literal('default' in rule ? String(rule.default) : ''),
);

/** Up to this many digits a decimal number and its double have the same text. */
const DIGITS_MAX = 15;
/** JavaScript writes smaller fractions with an exponent. */
const FRACTION_MIN = 1e-6;

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const TAB = 0x09;
const LINE_FEED = 0x0a;
const RETURN = 0x0d;
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
  /** Where each value of the passage is in the body that is read; both 0 for a value that is missing. */
  readonly #starts = new Uint32Array(BEFORE.length);
  readonly #ends = new Uint32Array(BEFORE.length);

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
    this.#starts.fill(0);
    this.#ends.fill(0);
    this.#space(body, end);
    if (!this.#object(body, end, CROSSING)) return false;
    this.#space(body, end);
    if (this.#at !== end) return false;
    this.#write(body);
    return true;
  }

  /** Reads an object of this shape, each member at most once. */
  #object(body: Uint8Array, end: number, { names, rules, required, firstValue }: Shape): boolean {
    let seen = 0;
    let member = 0;
    if (!this.#byte(body, end, OPEN)) return false;
    do {
      this.#space(body, end);
      let tries = 0;
      while (!this.#skip(body, end, names[member])) {
        if (++tries === names.length) return false;
        member = (member + 1) % names.length;
      }
      this.#space(body, end);
      if ((seen & (1 << member)) !== 0 || !this.#byte(body, end, COLON)) return false;
      seen |= 1 << member;
      this.#space(body, end);
      if (!this.#value(body, end, rules[member], firstValue + member)) return false;
      member = (member + 1) % names.length;
      this.#space(body, end);
    } while (this.#byte(body, end, COMMA));
    return this.#byte(body, end, CLOSE) && (seen & required) === required;
  }

  #value(body: Uint8Array, end: number, rule: Member, value: number): boolean {
    switch (rule.is) {
      case 'rising':
        this.crossing = this.#decimal(body, end) ? this.#number : 0;
        return this.crossing >= 1 && Number.isSafeInteger(this.crossing);
      case 'number':
        return this.#within(body, end, rule.min, rule.max, value);
      case 'edge':
        return this.#edge(body, end);
      case 'object':
        return this.#object(body, end, SPRITE);
      default:
        if (!this.#byte(body, end, QUOTE)) return false;
        this.#starts[value] = this.#at;
        if (!this.#text(body, end, rule.is)) return false;
        this.#ends[value] = this.#at;
        return this.#byte(body, end, QUOTE);
    }
  }

  #text(body: Uint8Array, end: number, is: Member['is']): boolean {
    switch (is) {
      case 'file':
        return this.#file(body, end);
      case 'name':
        return this.#name(body, end);
      case 'animation':
        return this.#animation(body, end);
      case 'facing':
        return this.#skip(body, end, LEFT) || this.#skip(body, end, RIGHT);
      default:
        return false;
    }
  }

  #edge(body: Uint8Array, end: number): boolean {
    if (!this.#byte(body, end, QUOTE)) return false;
    let edge = 0;
    while (edge < EDGE_NAMES.length && !this.#skip(body, end, EDGE_NAMES[edge])) edge++;
    if (edge === EDGE_NAMES.length) return false;
    this.edge = edge as EdgeNumber;
    return this.#byte(body, end, QUOTE);
  }

  /** Writes the passage of what was read. */
  #write(body: Uint8Array): void {
    let to = 0;
    for (let value = 0; value < BEFORE.length; value++) {
      to = this.#putAll(BEFORE[value], to);
      const isMissing = this.#starts[value] === 0;
      if (value === 0) to = this.#putAll(EDGE_NAMES[opposite(this.edge)], to);
      else if (isMissing) to = this.#putAll(DEFAULTS[value], to);
      else to = this.#put(body, this.#starts[value], this.#ends[value], to);
    }
    this.end = this.#putAll(END, to);
  }

  #putAll(text: Uint8Array, to: number): number {
    return this.#put(text, 0, text.length, to);
  }

  /** Appends bytes[start, end) to the passage, whose end is `to`; returns its new end. set() would need a view of them. */
  #put(bytes: Uint8Array, start: number, end: number, to: number): number {
    const passage = this.body;
    for (let at = start; at < end; at++) passage[to + at - start] = bytes[at];
    return to + end - start;
  }

  /** Skips spaces between tokens. */
  #space(body: Uint8Array, end: number): void {
    let at = this.#at;
    while (at < end && (body[at] === SPACE || body[at] === LINE_FEED || body[at] === RETURN || body[at] === TAB)) at++;
    this.#at = at;
  }

  #byte(body: Uint8Array, end: number, byte: number): boolean {
    if (this.#at >= end || body[this.#at] !== byte) return false;
    this.#at++;
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

  #within(body: Uint8Array, end: number, min: number, max: number, value: number): boolean {
    this.#starts[value] = this.#at;
    if (!this.#decimal(body, end) || !(this.#number >= min && this.#number <= max)) return false;
    this.#ends[value] = this.#at;
    return true;
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

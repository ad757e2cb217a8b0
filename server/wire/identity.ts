/**
 * The identity of a desktop on the wire: its id (slot and generation) and its token (id and 128 random bits).
 *
 * An id is `<slot>-<generation>`, a token `<id>.<32 hex digits>`; both in lowercase hex, numbers without leading zeros,
 * so each has exactly one text. Invariant: read(write(x)) = x, and any other text is refused.
 * Cost: one pass over the text, no allocation when reading.
 *
 * Relays have names, which follow a rule of their own.
 */
import { SECRET_DIGITS } from './rules.ts';

/** Slots are below this: 16 million rows, more than the sockets that fit into one machine's memory. */
export const SLOTS_MAX = 1 << 24;

/** The longest token text, in characters. */
export const TOKEN_LENGTH_MAX = 6 + 1 + 8 + 1 + SECRET_DIGITS;

/** Names of relays are in subjects, metrics and log lines, where short is better. A label of the DNS may have 63 bytes. */
export const RELAY_NAME_BYTES_MAX = 32;

/** An id and, if it was read from a token, the four words of the token. Readers fill a reused one. */
export interface Identity {
  slot: number;
  generation: number;
  readonly token: Uint32Array;
}

export function blankIdentity(): Identity {
  return { slot: 0, generation: 0, token: new Uint32Array(4) };
}

export function writeId(slot: number, generation: number): string {
  return `${slot.toString(16)}-${generation.toString(16)}`;
}

export function writeToken(slot: number, generation: number, words: Uint32Array): string {
  let digits = '';
  for (const word of words) digits += word.toString(16).padStart(8, '0');
  return `${writeId(slot, generation)}.${digits}`;
}

/**
 * Reads an id at text[start, end) into `into`.
 *
 * Shape   false when that is not an id; `into` may then hold anything.
 */
export function readId(text: string, into: Identity, start = 0, end = text.length): boolean {
  const dash = text.indexOf('-', start);
  if (dash < 0 || dash >= end) return false;
  into.slot = readHex(text, start, dash, 6);
  into.generation = readHex(text, dash + 1, end, 8);
  return into.slot >= 0 && into.generation > 0;
}

/** Reads a token into `into`. Returns false when `text` is not a token; `into` may then hold anything. */
export function readToken(text: string, into: Identity): boolean {
  if (text.length > TOKEN_LENGTH_MAX) return false;
  const dot = text.indexOf('.');
  if (dot < 0 || text.length - dot - 1 !== SECRET_DIGITS || !readId(text, into, 0, dot)) return false;
  for (let word = 0; word < 4; word++) {
    let value = 0;
    for (let digit = 0; digit < 8; digit++) {
      const nibble = hexValue(text.charCodeAt(dot + 1 + word * 8 + digit));
      if (nibble < 0) return false;
      value = value * 16 + nibble;
    }
    into.token[word] = value;
  }
  return true;
}

/** Whether a text can be the name of a relay: small letters, digits and hyphens, beginning with a letter or a digit. */
export function isRelayName(text: string): boolean {
  return text.length <= RELAY_NAME_BYTES_MAX && /^[a-z0-9][a-z0-9-]*$/.test(text);
}

function readHex(text: string, start: number, end: number, digitsMax: number): number {
  const digits = end - start;
  if (digits < 1 || digits > digitsMax) return -1;
  if (digits > 1 && text.charCodeAt(start) === 0x30) return -1;
  let value = 0;
  for (let at = start; at < end; at++) {
    const nibble = hexValue(text.charCodeAt(at));
    if (nibble < 0) return -1;
    value = value * 16 + nibble;
  }
  return value;
}

function hexValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  if (code >= 0x61 && code <= 0x66) return code - 0x57;
  return -1;
}

/**
 * A passage on its way: from the desktop that throws it into a mailbox, a frame to another relay and the journal.
 *
 * Its event is head[0, headLength) and then body[start, end). That of a crossing from here is in two pieces: the relay writes its thrower, and
 * the rest is where its request was read. Any other is whole in `body`.
 * Owner: the caller. It has one record, which it fills before each call; the callee neither changes nor keeps it. So a crossing allocates
 * nothing on its way.
 */
import { type EdgeNumber, FILE_DIGITS } from './rules.ts';

export interface Passage {
  /** The edge by which the sprite enters. */
  edge: EdgeNumber;
  head: Buffer;
  headLength: number;
  body: Buffer;
  start: number;
  end: number;
}

/** A passage with its thrower, by the slot and generation at its own relay, and the thrower's number. */
export interface ThrownPassage extends Passage {
  slot: number;
  generation: number;
  crossing: number;
}

export const NO_HEAD = Buffer.alloc(0);

const FILE_KEY = Buffer.from('"file":"');

/** Where the hash of the sprite's file begins, in the passage that begins at bytes[start]. Only numbers and an edge are before the sprite. */
export function fileAt(bytes: Buffer, start: number): number {
  return bytes.indexOf(FILE_KEY, start) + FILE_KEY.length;
}

/** The hash that begins at bytes[at]. */
export function readFile(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at, at + FILE_DIGITS);
}

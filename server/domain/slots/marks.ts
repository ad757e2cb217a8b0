/**
 * Marks: what the parts of a relay note about the desktop of each slot, one bit for each kind.
 *
 * Writer: the parts that the comment of a mark names set and clear it. The bits themselves are written here alone.
 * Cost: O(1); two bytes a slot, untouched until the first mark.
 */

/** Its parked poll is answered at the end of the turn (way_down.ts). */
export const READY = 1;
/** The next batch names its neighbours (news.ts). */
export const NEIGHBOURS_DUE = 2;
/** Its batch waits until the receiver of its poll has room (way_down.ts). */
export const DEFERRED = 4;
/** It has something to hear: set by speech.ts, cleared when it was sent (way_down.ts). */
export const HEARING = 8;
/** An event of its peek waits for it, or one about its watchers: set by peeks.ts, cleared when it was sent (way_down.ts). */
export const PEEKING = 16;
/** The next batch has notices (news.ts). */
export const NOTICES_DUE = 32;
/** It mutes others (relay.ts). */
export const MUTES = 64;
/** Its world does not carry every picture (relay.ts). */
export const STRICT = 128;
/** The next batch says that the company has changed (news.ts). */
export const COMPANY_DUE = 256;
/** The next batch says who asks it to change places, or with whom it has (news.ts). */
export const SWAP_DUE = 512;

/** Those that end with a desktop. The others are of a parked poll, or of a list that the slot is in. */
const OF_DESKTOP = NEIGHBOURS_DUE | COMPANY_DUE | SWAP_DUE | NOTICES_DUE | MUTES | STRICT | HEARING | PEEKING;

export class Marks {
  readonly #bits: Uint16Array;

  constructor(slots: number) {
    this.#bits = new Uint16Array(slots);
  }

  /** Returns whether a slot has one of these marks. */
  has(slot: number, marks: number): boolean {
    return (this.#bits[slot] & marks) !== 0;
  }

  set(slot: number, mark: number): void {
    this.#bits[slot] |= mark;
  }

  clear(slot: number, marks: number): void {
    this.#bits[slot] &= ~marks;
  }

  /** The desktop of a slot has ended. */
  leave(slot: number): void {
    this.#bits[slot] &= ~OF_DESKTOP;
  }
}

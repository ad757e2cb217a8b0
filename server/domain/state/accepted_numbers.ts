/**
 * Accepted numbers: which of the numbered requests of each slot were accepted, so that a repeat is known.
 *
 * For each slot: the highest accepted number, and one bit for each of the CROSSINGS_REMEMBERED numbers below it. So requests may
 * arrive out of order, and a number that was refused is not mistaken for one that was accepted.
 * Cost: O(1), no allocation; 13 bytes a slot, untouched until something of it is accepted.
 */
import { CROSSINGS_REMEMBERED } from '../../wire/rules.ts';

/** A number, compared with those already accepted: 'stale' is too far below the newest to know. */
export type Recency = 'new' | 'repeated' | 'stale';

export class AcceptedNumbers {
  readonly #newest: Float64Array;
  /** Bit i is set when the number i + 1 below the newest was accepted. */
  readonly #bits: Uint32Array;
  /** How far the number accepted last is below the newest: 0 unless requests arrived out of order. */
  readonly #lastBehind: Uint8Array;

  constructor(slots: number) {
    this.#newest = new Float64Array(slots);
    this.#bits = new Uint32Array(slots);
    this.#lastBehind = new Uint8Array(slots);
  }

  /** The highest accepted number; 0 when there is none. */
  newest(slot: number): number {
    return this.#newest[slot];
  }

  bits(slot: number): number {
    return this.#bits[slot];
  }

  lastBehind(slot: number): number {
    return this.#lastBehind[slot];
  }

  /** The number that was accepted last. */
  last(slot: number): number {
    return this.#newest[slot] - this.#lastBehind[slot];
  }

  recencyOf(slot: number, number: number): Recency {
    const behind = this.#newest[slot] - number;
    if (behind < 0) return 'new';
    if (behind === 0) return 'repeated';
    if (behind > CROSSINGS_REMEMBERED) return 'stale';
    return (this.#bits[slot] >>> (behind - 1)) & 1 ? 'repeated' : 'new';
  }

  /** Records that a number was accepted. REQUIRES: it is not stale. */
  record(slot: number, number: number): void {
    const ahead = number - this.#newest[slot];
    if (ahead < 0) {
      this.#bits[slot] |= 1 << (-ahead - 1);
      this.#lastBehind[slot] = -ahead;
      return;
    }
    // JavaScript shifts modulo 32: a shift by 32 would not move a bit.
    const older = ahead < CROSSINGS_REMEMBERED ? this.#bits[slot] << ahead : 0;
    this.#bits[slot] = ahead <= CROSSINGS_REMEMBERED ? older | (1 << (ahead - 1)) : 0;
    this.#newest[slot] = number;
    this.#lastBehind[slot] = 0;
  }

  /** Sets what newest(), bits() and lastBehind() returned. */
  restore(slot: number, newest: number, bits: number, lastBehind: number): void {
    this.#newest[slot] = newest;
    this.#bits[slot] = bits;
    this.#lastBehind[slot] = lastBehind;
  }

  /** Forgets the numbers of a slot. Writes nothing, and so touches no memory, when there are none. */
  clear(slot: number): void {
    if (this.#newest[slot] !== 0) this.restore(slot, 0, 0, 0);
  }
}

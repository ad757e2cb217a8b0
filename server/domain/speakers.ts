/**
 * Speakers: which sayings of each desktop were accepted, and how fast it says something.
 *
 * It is what desktops.ts knows of crossings, for sayings: the highest accepted number, and one bit for each of the
 * CROSSINGS_REMEMBERED numbers below it, so that a repeat is not said twice and sayings may arrive out of order. It does not
 * survive the relay.
 * Cost: O(1), no allocation; 30 bytes for a slot whose desktop says something, untouched before.
 */
import type { Recency } from './desktops.ts';
import { CROSSINGS_REMEMBERED, SAYINGS_BURST_MAX, SAYINGS_PER_SECOND_MAX } from './limits.ts';

const MS_PER_SAYING = 1000 / SAYINGS_PER_SECOND_MAX;

export class Speakers {
  readonly #newest: Float64Array;
  /** Bit i is set when the saying i + 1 below the newest was accepted. */
  readonly #acceptedBits: Uint32Array;
  /** The saying accepted last, and how many heard it. */
  readonly #last: Float64Array;
  readonly #heard: Uint16Array;
  /** Generic cell rate algorithm: the time at which the whole burst is available again, in ms of the relay's clock. */
  readonly #burstFullMs: Float64Array;

  constructor(slots: number) {
    this.#newest = new Float64Array(slots);
    this.#acceptedBits = new Uint32Array(slots);
    this.#last = new Float64Array(slots);
    this.#heard = new Uint16Array(slots);
    this.#burstFullMs = new Float64Array(slots);
  }

  recencyOf(slot: number, saying: number): Recency {
    const behind = this.#newest[slot] - saying;
    if (behind < 0) return 'new';
    if (behind === 0) return 'repeated';
    if (behind > CROSSINGS_REMEMBERED) return 'stale';
    return (this.#acceptedBits[slot] >>> (behind - 1)) & 1 ? 'repeated' : 'new';
  }

  /** How many heard an accepted saying; null unless it is the one accepted last. */
  heardOf(slot: number, saying: number): number | null {
    return this.#last[slot] === saying ? this.#heard[slot] : null;
  }

  /** Records that a saying was accepted, and how many hear it. */
  recordAccepted(slot: number, saying: number, heard: number): void {
    const ahead = saying - this.#newest[slot];
    if (ahead < 0) this.#acceptedBits[slot] |= 1 << (-ahead - 1);
    else {
      // JavaScript shifts modulo 32: a shift by 32 would not move a bit.
      const older = ahead < CROSSINGS_REMEMBERED ? this.#acceptedBits[slot] << ahead : 0;
      this.#acceptedBits[slot] = ahead <= CROSSINGS_REMEMBERED ? older | (1 << (ahead - 1)) : 0;
      this.#newest[slot] = saying;
    }
    this.#last[slot] = saying;
    this.#heard[slot] = heard;
  }

  /** Whether a desktop may say something now. Counts nothing. */
  allows(slot: number, nowMs: number): boolean {
    return Math.max(this.#burstFullMs[slot], nowMs) - nowMs <= MS_PER_SAYING * (SAYINGS_BURST_MAX - 1);
  }

  /** Counts a saying against the rate limit of its desktop. */
  count(slot: number, nowMs: number): void {
    this.#burstFullMs[slot] = Math.max(this.#burstFullMs[slot], nowMs) + MS_PER_SAYING;
  }

  /** Whether the desktop of a slot has said anything. */
  hasSpoken(slot: number): boolean {
    return this.#burstFullMs[slot] !== 0;
  }

  /** The desktop of a slot has ended. Writes nothing, and so touches no memory, when it has said nothing. */
  clear(slot: number): void {
    if (!this.hasSpoken(slot)) return;
    this.#newest[slot] = 0;
    this.#acceptedBits[slot] = 0;
    this.#last[slot] = 0;
    this.#burstFullMs[slot] = 0;
  }
}

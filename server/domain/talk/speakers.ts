/**
 * Speakers: which sayings of each desktop were accepted, and how fast it says something.
 *
 * A repeat of an accepted saying is not said twice, and sayings may arrive out of order (accepted_numbers.ts). It does not survive
 * the relay.
 * Cost: O(1), no allocation; 23 bytes for a slot whose desktop says something, untouched before.
 */

import { RateLimits } from '../slots/rate_limits.ts';
import { AcceptedNumbers, type Recency } from '../state/accepted_numbers.ts';
import { SAYINGS_BURST_MAX, SAYINGS_PER_SECOND_MAX } from '../state/limits.ts';

export class Speakers {
  readonly #sayings: AcceptedNumbers;
  /** How many heard the saying accepted last. */
  readonly #heard: Uint16Array;
  readonly #rates: RateLimits;

  constructor(slots: number) {
    this.#sayings = new AcceptedNumbers(slots);
    this.#heard = new Uint16Array(slots);
    this.#rates = new RateLimits(slots, SAYINGS_PER_SECOND_MAX, SAYINGS_BURST_MAX);
  }

  recencyOf(slot: number, saying: number): Recency {
    return this.#sayings.recencyOf(slot, saying);
  }

  /** How many heard an accepted saying; null unless it is the one accepted last. */
  heardOf(slot: number, saying: number): number | null {
    return this.#sayings.last(slot) === saying ? this.#heard[slot] : null;
  }

  /** Records that a saying was accepted, and how many hear it. */
  recordAccepted(slot: number, saying: number, heard: number): void {
    this.#sayings.record(slot, saying);
    this.#heard[slot] = heard;
  }

  /** Whether a desktop may say something now. Counts nothing. */
  allows(slot: number, nowMs: number): boolean {
    return this.#rates.allows(slot, nowMs);
  }

  /** Counts a saying against the rate limit of its desktop. */
  count(slot: number, nowMs: number): void {
    this.#rates.count(slot, nowMs);
  }

  /** Whether the desktop of a slot has said anything. */
  hasSpoken(slot: number): boolean {
    return this.#sayings.newest(slot) !== 0;
  }

  /** The desktop of a slot has ended. Writes nothing, and so touches no memory, when it has said nothing. */
  clear(slot: number): void {
    this.#sayings.clear(slot);
    this.#rates.clear(slot);
  }
}

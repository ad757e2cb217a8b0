/**
 * Rate limits: how often each slot may do something. A sustained rate, and a burst after a pause.
 *
 * The generic cell rate algorithm: each slot has one number, the time at which its whole burst is available again.
 * Cost: O(1), no allocation; 8 bytes a slot, untouched until it is counted.
 */

/** The rounding error of sums of fractional milliseconds is less than this. */
const ROUNDING_MS = 0.001;

export class RateLimits {
  /** In ms of the relay's clock; 0: nothing was counted. */
  readonly #fullMs: Float64Array;
  readonly #costMs: number;
  readonly #aheadMsMax: number;

  constructor(slots: number, perSecondMax: number, burstMax: number) {
    this.#fullMs = new Float64Array(slots);
    this.#costMs = 1000 / perSecondMax;
    this.#aheadMsMax = this.#costMs * (burstMax - 1) + ROUNDING_MS;
  }

  /** Whether a slot may do it now. Counts nothing. */
  allows(slot: number, nowMs: number): boolean {
    return this.#fullMs[slot] - nowMs <= this.#aheadMsMax;
  }

  /** Counts once. */
  count(slot: number, nowMs: number): void {
    this.#fullMs[slot] = Math.max(this.#fullMs[slot], nowMs) + this.#costMs;
  }

  /** Counts once and returns true; returns false, and counts nothing, when it is too fast. */
  countIfAllowed(slot: number, nowMs: number): boolean {
    if (!this.allows(slot, nowMs)) return false;
    this.count(slot, nowMs);
    return true;
  }

  /** The whole burst is available now. Writes nothing, and so touches no memory, when nothing was counted. */
  clear(slot: number): void {
    if (this.#fullMs[slot] !== 0) this.#fullMs[slot] = 0;
  }
}

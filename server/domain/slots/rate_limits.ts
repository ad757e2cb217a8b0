/**
 * Rate limits: how often each row, of a slot or of an address, may do something. A sustained rate, and a burst after a pause.
 *
 * The generic cell rate algorithm: each row has one number, the time at which its whole burst is available again.
 * Cost: O(1), no allocation; 8 bytes a row, untouched until it is counted.
 */

/** The rounding error of sums of fractional milliseconds is less than this. */
const ROUNDING_MS = 0.001;

export class RateLimits {
  /** In ms of the caller's clock; 0: nothing was counted. */
  readonly #fullMs: Float64Array;
  readonly #costMs: number;
  readonly #aheadMsMax: number;

  constructor(rows: number, perSecondMax: number, burstMax: number) {
    this.#fullMs = new Float64Array(rows);
    this.#costMs = 1000 / perSecondMax;
    this.#aheadMsMax = this.#costMs * burstMax + ROUNDING_MS;
  }

  /** Whether a row may do it now, `amount` times. Counts nothing. */
  allows(row: number, nowMs: number, amount = 1): boolean {
    return this.#after(row, nowMs, amount) - nowMs <= this.#aheadMsMax;
  }

  /** Counts `amount` times. */
  count(row: number, nowMs: number, amount = 1): void {
    this.#fullMs[row] = this.#after(row, nowMs, amount);
  }

  /** Counts once and returns true; returns false, and counts nothing, when it is too fast. */
  countIfAllowed(row: number, nowMs: number): boolean {
    if (!this.allows(row, nowMs)) return false;
    this.count(row, nowMs);
    return true;
  }

  /** The whole burst is available now. Writes nothing, and so touches no memory, when nothing was counted. */
  clear(row: number): void {
    if (this.#fullMs[row] !== 0) this.#fullMs[row] = 0;
  }

  #after(row: number, nowMs: number, amount: number): number {
    return Math.max(this.#fullMs[row], nowMs) + this.#costMs * amount;
  }
}

/**
 * How long sprites wait in the relay: from the moment when a crossing is accepted to the first answer that carries it. A histogram.
 *
 * A sprite that moves on from a desktop that ended after it was sent counts again, with its whole time. One that a journal brought back waits
 * from the start of the relay.
 * Units   a stamp is a time in tenths of a millisecond, modulo 2³²: a sprite that waits for more than 119 hours seems younger.
 * Cost    record() is a few comparisons, without allocation; 19 numbers in all.
 */

/** The upper bounds of the buckets, in ms; everything above the last one is in one more bucket. */
export const WAIT_BOUNDS_MS = [
  0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 120_000,
] as const;

const STAMPS_PER_MS = 10;

const BOUNDS = Float64Array.from(WAIT_BOUNDS_MS, (ms) => ms * STAMPS_PER_MS);

/** The stamp of a time in ms. */
export function stampOf(ms: number): number {
  return (ms * STAMPS_PER_MS) >>> 0;
}

export class Waits {
  /** Sprites in each bucket, since the start. */
  readonly counts = new Float64Array(BOUNDS.length + 1);
  #stamps = 0;

  /** All times together, in ms. */
  get sumMs(): number {
    return this.#stamps / STAMPS_PER_MS;
  }

  /** Counts a sprite that was accepted at one stamp and sent at another. */
  record(accepted: number, sent: number): void {
    const stamps = (sent - accepted) >>> 0;
    let bucket = 0;
    while (bucket < BOUNDS.length && stamps > BOUNDS[bucket]) bucket++;
    this.counts[bucket]++;
    this.#stamps += stamps;
  }
}

/**
 * The time within which a share of the sprites was sent, in ms, as Prometheus estimates it: evenly within a bucket. NaN without sprites;
 * the last bound when it is above.
 */
export function waitWithin(share: number, counts: ArrayLike<number>): number {
  const wanted = share * Array.from(counts).reduce((sum, count) => sum + count, 0);
  if (wanted === 0) return Number.NaN;
  let before = 0;
  for (const [bucket, boundMs] of WAIT_BOUNDS_MS.entries()) {
    const lowMs = bucket === 0 ? 0 : WAIT_BOUNDS_MS[bucket - 1];
    const count = counts[bucket];
    if (before + count >= wanted) return lowMs + ((boundMs - lowMs) * (wanted - before)) / count;
    before += count;
  }
  return WAIT_BOUNDS_MS[WAIT_BOUNDS_MS.length - 1];
}

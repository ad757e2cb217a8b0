/**
 * Abort: ends a run early when a threshold has not held for some seconds in a row, so that a relay that is far over its limit is
 * not tortured for the rest of the hour.
 *
 * Judged are figures of single seconds of the measured window. Invariant: `feed` returns a sentence at most once. Cost: O(thresholds)
 * a second.
 */
import { Misused } from '../../tools/command.ts';
import type { EngineSecond } from '../../tools/engine_result.ts';
import { COMPARE, readThreshold, type Threshold, unitOf } from '../report/verdict.ts';

/** Fewer would end a run for one slow garbage collection or one moment without a core. */
export const ABORT_SECONDS = 5;

const FIGURES: Record<string, (second: EngineSecond) => number | undefined> = {
  p50: timed(({ p50Us }) => p50Us),
  p90: timed(({ p90Us }) => p90Us),
  p99: timed(({ p99Us }) => p99Us),
  'p99.9': timed(({ p999Us }) => p999Us),
  max: timed(({ maxUs }) => maxUs),
  refused: ({ refused }) => refused,
  parked: ({ parked }) => parked,
  deliveredPerS: ({ delivered }) => delivered,
  rss: ({ relayRssBytes }) => relayRssBytes || undefined,
};

/** Throws Misused, a sentence that says which figures a second has. */
export function readAbort(text: string): Threshold {
  const threshold = readThreshold(text);
  if (!Object.hasOwn(FIGURES, threshold.figure) || threshold.of !== undefined) {
    throw new Misused(`--abort "${text}": a second has ${Object.keys(FIGURES).join(', ')}, each compared with a value`);
  }
  return threshold;
}

export class AbortWatch {
  readonly #thresholds: readonly Threshold[];
  readonly #broken: number[];
  #isOver = false;

  constructor(thresholds: readonly Threshold[]) {
    this.#thresholds = thresholds;
    this.#broken = thresholds.map(() => 0);
  }

  /** Why the run is to be aborted; undefined while it is not. */
  feed(second: EngineSecond): string | undefined {
    if (second.phase !== 'measure' || this.#isOver) return undefined;
    for (const [i, { text, figure, comparison, value }] of this.#thresholds.entries()) {
      const found = FIGURES[figure](second);
      // A second without a figure, such as one in which nothing arrived, decides nothing.
      if (found === undefined) continue;
      this.#broken[i] = COMPARE[comparison](found, value) ? 0 : this.#broken[i] + 1;
      if (this.#broken[i] < ABORT_SECONDS) continue;
      this.#isOver = true;
      return `aborted, because "${text}" had not held for ${ABORT_SECONDS} seconds in a row; it was ${unitOf(figure).show(found)}`;
    }
    return undefined;
  }
}

function timed(of: (second: EngineSecond) => number): (second: EngineSecond) => number | undefined {
  return (second) => (second.latencyBucketsNs.length === 0 ? undefined : of(second));
}

/**
 * Histograms as the engine prints them: [low, high, count] for each bucket that is not empty, both bounds included.
 *
 * Invariant: all engines use the same buckets (engine/account/histogram.h). So adding the counts of equal buckets gives the histogram
 * of all values, and its percentiles are those of one list of all values, at most 0.4 % off. Percentiles are never averaged.
 * Cost: O(buckets), some hundreds a run.
 */
import type { Bucket, Quantiles } from '../../tools/engine_result.ts';

/** A merged histogram. Buckets rise, and each occurs once. Mean and maximum are exact, because they do not come from buckets. */
export interface Histogram {
  buckets: Bucket[];
  count: number;
  mean: number;
  max: number;
}

/** Adds histograms. `max` and `mean` are in the unit of the buckets. */
export function mergeHistograms(parts: readonly Histogram[]): Histogram {
  const byLow = new Map<number, [number, number, number]>();
  let [count, sum, max] = [0, 0, 0];
  for (const part of parts) {
    count += part.count;
    sum += part.mean * part.count;
    max = Math.max(max, part.max);
    for (const [low, high, n] of part.buckets) {
      const known = byLow.get(low);
      if (known) known[2] += n;
      else byLow.set(low, [low, high, n]);
    }
  }
  const buckets = [...byLow.values()].sort((a, b) => a[0] - b[0]);
  return { buckets, count, mean: count === 0 ? 0 : sum / count, max };
}

/** Buckets of the same unit, but in equal steps of the logarithm, and without gaps. Each value is in the bin of its bucket's middle. */
export function binned(buckets: readonly Bucket[], perDecade: number): Bucket[] {
  const counts = new Map<number, number>();
  for (const [low, high, n] of buckets) {
    const bin = Math.floor(Math.log10(Math.max(1, (low + high) / 2)) * perDecade);
    counts.set(bin, (counts.get(bin) ?? 0) + n);
  }
  if (counts.size === 0) return [];
  const [first, last] = [Math.min(...counts.keys()), Math.max(...counts.keys())];
  return Array.from({ length: last - first + 1 }, (_, i) => [
    10 ** ((first + i) / perDecade),
    10 ** ((first + i + 1) / perDecade),
    counts.get(first + i) ?? 0,
  ]);
}

/**
 * A percentile that is no time, because the throw that it falls on did not arrive: the engine's longest time, in ns and in µs.
 * It is a number, so that it is larger than every other and can be kept in JSON. units.ts shows it as "never".
 */
const NEVER_NS = 2 ** 41 - 1;
export const NEVER_US = Math.round(NEVER_NS) / 1000;

/**
 * The value that `share` (0…1) of all values do not exceed; 0 when there are no values.
 *
 * `population` counts the values that were never recorded as well, such as throws that did not arrive. They are larger than all
 * recorded ones: a share that falls on one of them is NEVER_NS.
 */
export function percentile(histogram: Histogram, share: number, population = histogram.count): number {
  const rank = Math.max(1, Math.ceil(share * population));
  if (population === 0) return 0;
  if (rank > histogram.count) return NEVER_NS;
  if (rank === histogram.count) return histogram.max;
  let seen = 0;
  for (const [low, high, count] of histogram.buckets) {
    seen += count;
    if (seen >= rank) return Math.min((low + high) / 2, histogram.max);
  }
  return histogram.max;
}

/** The quantiles in microseconds of a histogram in nanoseconds. Mean and maximum are those of the recorded values. */
export function quantilesUs(histogram: Histogram, population = histogram.count): Quantiles {
  const us = (ns: number) => Math.round(ns) / 1000;
  const of = (share: number) => us(percentile(histogram, share, population));
  return {
    count: histogram.count,
    mean: us(histogram.mean),
    p50: of(0.5),
    p90: of(0.9),
    p99: of(0.99),
    p999: of(0.999),
    max: us(histogram.max),
  };
}

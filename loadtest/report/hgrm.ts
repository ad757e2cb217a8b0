/**
 * The latencies in HdrHistogram's percentile format (`.hgrm`), which wrk2 prints and HdrHistogram's plotter draws. In ms.
 *
 * Pure. Throws that did not arrive are part of the population, so the percentiles end below 1 when there are any.
 * Source: HdrHistogram's `outputPercentileDistribution` with five ticks for each half of the distance to 100 %.
 */

import type { Bucket } from '../../tools/engine_result.ts';
import { notArrived } from './account.ts';
import type { Report } from './merge.ts';

const TICKS_PER_HALF = 5;
const NS_PER_MS = 1e6;

export function hgrm(report: Report): string {
  const { latencyBucketsNs: buckets, latencyUs } = report;
  const missing = notArrived(report);
  const population = latencyUs.count + missing;
  const rows: string[] = [];
  let [seen, level] = [0, 0];
  for (const [i, [, high, n]] of buckets.entries()) {
    seen += n;
    const isLast = i === buckets.length - 1;
    const value = isLast ? latencyUs.max * 1000 : high;
    while (seen < population && seen / population >= level) {
      rows.push(row(value, level, seen));
      level += stepAfter(level);
    }
    if (isLast) rows.push(row(value, seen / population, seen));
  }
  return [
    '       Value     Percentile TotalCount 1/(1-Percentile)',
    '',
    ...rows,
    `#[Mean    = ${cell(latencyUs.mean / 1000)}, StdDeviation   = ${cell(deviationOf(buckets, latencyUs.mean * 1000) / NS_PER_MS)}]`,
    `#[Max     = ${cell(latencyUs.max / 1000)}, Total count    = ${cell(latencyUs.count, 0)}]`,
    '#[Buckets =           34, SubBuckets     =          128]',
    ...(missing === 0 ? [] : [`#[Not arrived = ${missing}, which are slower than all values]`]),
    '',
  ].join('\n');
}

function row(ns: number, share: number, seen: number): string {
  const inverse = share < 1 ? cell(1 / (1 - share), 2, 14) : '';
  return `${cell(ns / NS_PER_MS)} ${share.toFixed(12)} ${cell(seen, 0, 10)} ${inverse}`.trimEnd();
}

/** Twice as fine each time half of the distance to 100 % is left behind. */
function stepAfter(level: number): number {
  return 1 / (TICKS_PER_HALF * 2 ** (Math.floor(Math.log2(1 / (1 - level))) + 1));
}

function cell(value: number, decimals = 3, width = 12): string {
  return value.toFixed(decimals).padStart(width);
}

function deviationOf(buckets: readonly Bucket[], mean: number): number {
  let [count, sum] = [0, 0];
  for (const [low, high, n] of buckets) {
    count += n;
    sum += n * ((low + high) / 2 - mean) ** 2;
  }
  return count === 0 ? 0 : Math.sqrt(sum / count);
}

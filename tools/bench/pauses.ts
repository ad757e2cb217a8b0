/** A relay's pauses between two readings of its metrics. */

/** Prometheus values by name. */
export type Reading = ReadonlyMap<string, number>;

/** The longest block of the master's loop since the previous reading, in ms. NaN when there is no such metric. */
export function longestBlockMs(after: Reading): number {
  return (after.get('sprites_loop_delay_max_seconds') ?? Number.NaN) * 1000;
}

/** The garbage collector's pauses between two readings: their number, and the smallest histogram bucket that holds all. */
export function pausesOf(before: Reading, after: Reading): string {
  const between = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
  const count = between('sprites_gc_pause_seconds_count');
  if (count === 0) return 'none';
  for (const name of after.keys()) {
    const bucket = /^sprites_gc_pause_seconds_bucket\{le="([^"]+)"\}$/.exec(name);
    if (bucket && between(name) >= count) return `${count}, ≤ ${Number(bucket[1]) * 1000} ms`;
  }
  return 'unknown';
}

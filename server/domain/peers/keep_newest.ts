/** Bounds a map: removes the entries that were added first, until at most `max` are left. Cost: O(1) for each of them. */
export function keepNewest(entries: Map<unknown, unknown>, max: number): void {
  // A Map keeps the order of insertion.
  for (const key of entries.keys()) {
    if (entries.size <= max) return;
    entries.delete(key);
  }
}

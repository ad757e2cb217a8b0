/** Views of clusters for tests: by the counts alone, and all of a size. */
import { basesOf } from '../domain/state/cluster_torus.ts';
import type { ClusterView } from '../domain/state/cluster_view.ts';

/** A view of relays with these counts, in this order. */
export function viewOf(counts: readonly number[], width: number): ClusterView {
  const names = counts.map((_, relay) => `r${relay}`);
  return { step: 1, names, counts: Float64Array.from(counts), bases: basesOf(counts), width, digest: 0, self: 0 };
}

/** Calls `each` for every way to divide `total` desktops among `relays` relays, some of which may have none. Owner: this function, of the array. */
export function everySplit(total: number, relays: number, each: (counts: readonly number[]) => void): void {
  const counts = new Array<number>(relays).fill(0);
  const divide = (left: number, relay: number): void => {
    if (relay === relays - 1) {
      counts[relay] = left;
      each(counts);
      return;
    }
    for (let count = 0; count <= left; count++) {
      counts[relay] = count;
      divide(left - count, relay + 1);
    }
  };
  divide(total, 0);
}

/**
 * Every split of up to 256 desktops into up to five relays.
 *
 * Why this proves the torus. To find a neighbour across relays, base + place gives a place of the world, placeBeyond() its neighbour,
 * and locate() the relay and its place. torus.test.ts proves placeBeyond() for every size. So a split has the properties of the torus
 * if locate() is the inverse of base + place. locate() only compares the place with bases, so these cases are enough:
 * - The first and the last place of each relay. The comparisons of all places between them give the same results.
 * - 256 desktops. A split of fewer desktops differs only in the length of the last relay, and all places are below its end.
 * - One to five relays, of which some may have no desktops.
 * These are 189 million splits. Each is checked at the first and the last place of each of its relays, with the right relay and with a
 * wrong one tried first. cluster_torus.test.ts checks the properties themselves, at every place, for splits of few desktops.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { viewOf } from '../../test/cluster_views.ts';
import { locate } from './cluster_torus.ts';
import type { ClusterView } from './cluster_view.ts';

const TOTAL = 256;
const RELAYS_MOST = 5;

describe('cluster torus, every split', { timeout: 900_000 }, () => {
  for (let relays = 1; relays <= RELAYS_MOST; relays++) {
    it(`finds the relay of every place of every split into ${relays}`, () => {
      const view = viewOf(new Array(relays).fill(0), 16);
      const splits = divide(view, 0, TOTAL);
      // The ways to put relays − 1 bars among 256 desktops.
      assert.equal(splits, choose(TOTAL + relays - 1, relays - 1));
    });
  }
});

/** Divides `left` desktops among the relays from `relay` on, and checks each split. Returns how many there were. */
function divide(view: ClusterView, relay: number, left: number): number {
  const { counts, bases } = view;
  if (relay === counts.length - 1) {
    counts[relay] = left;
    bases[relay + 1] = TOTAL;
    check(view);
    return 1;
  }
  let splits = 0;
  for (let count = 0; count <= left; count++) {
    counts[relay] = count;
    bases[relay + 1] = bases[relay] + count;
    splits += divide(view, relay + 1, left - count);
  }
  return splits;
}

const to = { relay: 0, place: 0 };

function check(view: ClusterView): void {
  const { counts, bases } = view;
  for (let relay = 0; relay < counts.length; relay++) {
    const last = counts[relay] - 1;
    if (last < 0) continue;
    for (let other = 0; other < 2; other++) {
      const near = (relay + other) % counts.length;
      locate(view, bases[relay], to, near);
      if (to.relay !== relay || to.place !== 0) assert.fail(`the first place of relay ${relay} of ${counts}`);
      locate(view, bases[relay] + last, to, near);
      if (to.relay !== relay || to.place !== last) assert.fail(`the last place of relay ${relay} of ${counts}`);
    }
  }
}

function choose(n: number, k: number): number {
  let ways = 1;
  for (let i = 1; i <= k; i++) ways = (ways * (n - k + i)) / i;
  return ways;
}

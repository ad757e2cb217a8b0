/**
 * Every split of up to 256 desktops into up to five relays.
 *
 * What is enumerated, and why it is enough. A neighbour across relays is placeBeyond(), which torus.test.ts proves for every size, between
 * two translations: base + place, and locate(). So the properties of the torus hold for a split as soon as locate() is the inverse of
 * base + place there. locate() only compares the place with bases:
 * - places of one relay compare alike with every base, so the first and the last place of each relay stand for all of its places;
 * - the end of the last relay is compared with places only, which are below it, so a split of fewer desktops is that split of 256 whose
 *   last relay is longer;
 * - a split into fewer relays is checked as a split of its own, and those with relays that have no desktop are among the splits into five.
 * So all splits of 256 into one to five relays are enumerated, 189 million, each with the two places of each of its relays, with the right
 * relay and a wrong one tried first. cluster_torus.test.ts checks the properties themselves, at every place, for all splits that are few enough.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { viewOf } from '../test/cluster_views.ts';
import { type ClusterView, locate } from './cluster_torus.ts';

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

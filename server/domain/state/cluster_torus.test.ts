import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { everySplit, viewOf } from '../../test/cluster_views.ts';
import { pickFrom, randomOf } from '../../test/random.ts';
import { EDGES, type EdgeNumber, opposite } from '../../wire/rules.ts';
import { basesOf, beyond, locate, reroute } from './cluster_torus.ts';
import type { ClusterPlace, ClusterView } from './cluster_view.ts';
import { placeBeyond, widthOf } from './torus.ts';

const [LEFT, RIGHT, TOP, BOTTOM] = [0, 1, 2, 3] as const;
const EDGE_NUMBERS: readonly EdgeNumber[] = [LEFT, RIGHT, TOP, BOTTOM];

const globalOf = (view: ClusterView, { relay, place }: ClusterPlace) => view.bases[relay] + place;
const shown = (view: ClusterView) => `${[...view.counts].join('+')}/${view.width}`;

/** Every width that a world of `count` can have. */
function widthsInForce(count: number): number[] {
  const grown = widthOf(count, 1);
  return widthOf(count, 2 * grown) === 2 * grown ? [grown, 2 * grown] : [grown];
}

/** Fails unless the view has all properties of the torus, at every place and edge. */
function holds(view: ClusterView): void {
  const total = view.bases[view.counts.length];
  const [to, back] = [
    { relay: 0, place: 0 },
    { relay: 0, place: 0 },
  ];
  for (const edge of EDGE_NUMBERS) {
    const reached = new Uint8Array(total);
    for (let relay = 0; relay < view.counts.length; relay++) {
      for (let place = 0; place < view.counts[relay]; place++) {
        const at = () => `${EDGES[edge]} of place ${place} of relay ${relay} in ${shown(view)}`;
        beyond(view, relay, place, edge, to);
        if (!(to.place >= 0 && to.place < view.counts[to.relay])) assert.fail(`no such place: ${at()}`);
        const from = view.bases[relay] + place;
        const global = globalOf(view, to);
        if (global !== placeBeyond(from, edge, total, view.width)) assert.fail(`not the torus: ${at()}`);
        if ((global === from) !== (total === 1)) assert.fail(`not another desktop: ${at()}`);
        if (reached[global]++ !== 0) assert.fail(`reached twice: ${at()}`);
        beyond(view, to.relay, to.place, opposite(edge), back);
        if (back.relay !== relay || back.place !== place) assert.fail(`does not lead back: ${at()}`);
      }
    }
  }
  for (const walk of [
    [RIGHT, BOTTOM, LEFT, TOP],
    [BOTTOM, RIGHT, TOP, LEFT],
  ] as const) {
    for (let from = 0; from < total; from++) {
      locate(view, from, to);
      for (const edge of walk) beyond(view, to.relay, to.place, edge, to);
      if (globalOf(view, to) !== from) assert.fail(`${walk} from ${from} in ${shown(view)}`);
    }
  }
}

describe('cluster torus, every edge of every place', () => {
  it('is the torus, for every split of up to 96 and of 255 and 256 desktops into two relays', () => {
    for (const total of [...Array.from({ length: 96 }, (_, n) => n + 1), 255, 256]) {
      for (const width of widthsInForce(total)) everySplit(total, 2, (counts) => holds(viewOf(counts, width)));
    }
  });

  it('is the torus, for every split of up to 40 desktops into three relays, and of up to 16 into five', () => {
    for (const [most, relays] of [
      [40, 3],
      [16, 5],
    ]) {
      for (let total = 1; total <= most; total++) {
        for (const width of widthsInForce(total)) everySplit(total, relays, (counts) => holds(viewOf(counts, width)));
      }
    }
  });

  it('is the torus, for random splits into up to 64 relays', (t) => {
    const pick = pickFrom(randomOf(t));
    for (let round = 0; round < 200; round++) {
      const counts = Array.from({ length: 1 + pick(64) }, () => pick(3) * pick(100));
      const total = counts.reduce((sum, count) => sum + count, 0);
      for (const width of widthsInForce(total)) holds(viewOf(counts, width));
    }
  });

  it('finds places beyond 2^32', () => {
    const view = viewOf([2 ** 31, 0, 2 ** 32, 7], 2 ** 15);
    assert.deepEqual(locate(view, 2 ** 31 + 2 ** 32 - 1, { relay: 0, place: 0 }), { relay: 2, place: 2 ** 32 - 1 });
    assert.deepEqual(beyond(view, 2, 2 ** 32 - 1, RIGHT, { relay: 0, place: 0 }), { relay: 3, place: 0 });
    assert.deepEqual(beyond(view, 3, 6, RIGHT, { relay: 0, place: 0 }), { relay: 0, place: 0 });
  });
});

describe('cluster torus, a desktop that the view does not count yet', () => {
  const to = { relay: 0, place: 0 };

  it('has the neighbours of another desktop of its relay', () => {
    const view = viewOf([3, 4], 2);
    assert.deepEqual({ ...beyond(view, 0, 4, RIGHT, to) }, { relay: 0, place: 2 });
    assert.deepEqual({ ...beyond(view, 1, 7, RIGHT, to) }, { relay: 0, place: 0 });
  });

  it('has neighbours when it is the first of its relay, wherever the relay is in the view', () => {
    for (const empty of [0, 1, 2]) {
      const counts = [5, 6];
      counts.splice(empty, 0, 0);
      const view = viewOf(counts, 2);
      for (const edge of EDGE_NUMBERS) {
        beyond(view, empty, 0, edge, to);
        assert.ok(to.relay !== empty && to.place < view.counts[to.relay], `${EDGES[edge]} of ${shown(view)}`);
      }
    }
  });

  it('is its own neighbour in an empty view', () => {
    assert.deepEqual({ ...beyond(viewOf([0, 0], 1), 1, 3, TOP, to) }, { relay: 1, place: 3 });
  });
});

describe('cluster torus, a place that has gone since the view', () => {
  const to = { relay: 0, place: 0 };

  it('stays as it is while it exists', () => {
    assert.deepEqual({ ...reroute(viewOf([5, 5], 2), 1, 3, 2, to) }, { relay: 1, place: 2 });
  });

  it('is the place as far behind the last desktop of the relay', () => {
    const view = viewOf([5, 5, 5], 2);
    assert.deepEqual({ ...reroute(view, 1, 3, 3, to) }, { relay: 2, place: 0 });
    assert.deepEqual({ ...reroute(view, 1, 3, 4, to) }, { relay: 2, place: 1 });
    assert.deepEqual({ ...reroute(view, 2, 3, 4, to) }, { relay: 0, place: 1 });
    assert.deepEqual({ ...reroute(view, 1, 0, 4, to) }, { relay: 2, place: 4 });
  });

  it('stays with the relay when no other relay has desktops, and does not change when this one has none either', () => {
    assert.deepEqual({ ...reroute(viewOf([0, 5], 2), 1, 2, 4, to) }, { relay: 1, place: 0 });
    assert.deepEqual({ ...reroute(viewOf([0, 5], 2), 1, 0, 4, to) }, { relay: 1, place: 4 });
  });

  it('leads to a desktop that exists, for every split of up to 12 desktops and every later count of the relay', () => {
    for (let total = 1; total <= 12; total++) {
      everySplit(total, 3, (counts) => {
        const view = viewOf(counts, widthOf(total, 1));
        for (let relay = 0; relay < counts.length; relay++) {
          for (let live = 0; live <= counts[relay] + 2; live++) {
            if (total - counts[relay] + live === 0) continue;
            for (let place = 0; place < counts[relay] + 4; place++) {
              reroute(view, relay, live, place, to);
              const there = to.relay === relay ? live : counts[to.relay];
              if (!(to.place >= 0 && to.place < there))
                assert.fail(`${place} of ${live} at ${relay} in ${shown(view)}`);
            }
          }
        }
      });
    }
  });
});

describe('cluster torus, its sums', () => {
  it('are those before each relay, and the whole', () => {
    assert.deepEqual([...basesOf([3, 0, 4])], [0, 3, 3, 7]);
    assert.deepEqual([...basesOf([])], [0]);
  });
});

/**
 * The torus over many relays: which desktop of which relay lies beyond each edge.
 *
 * Relay r owns places base_r … base_r + n_r − 1 of the world, where base_r is the sum of the counts of the relays before it. So a
 * neighbour is the same arithmetic as within one relay (torus.ts), followed by a search for the relay that owns the place.
 * A view has the relays, the count of desktops of each, and the width. It is half a second old. A relay knows its own present count, so
 * for its own places it asks reroute(). When a crossing arrives for a place that has gone, the receiving relay gives it to its last
 * desktop, or refuses it if it has none. A crossing is never passed on to a third relay, so it can't go in circles.
 * Invariant: where views agree, leaving by an edge and returning by the opposite one leads back.
 * Cost: O(1) for a neighbour of the same relay, O(log relays) for another; no allocation.
 */
import type { EdgeNumber } from '../../wire/rules.ts';
import type { ClusterPlace, ClusterView } from './cluster_view.ts';
import { placeBeyond } from './torus.ts';

/** The sums of the counts before each relay, and of all. */
export function basesOf(counts: ArrayLike<number>): Float64Array {
  const bases = new Float64Array(counts.length + 1);
  for (let relay = 0; relay < counts.length; relay++) bases[relay + 1] = bases[relay] + counts[relay];
  return bases;
}

/**
 * The place beyond `edge` of a place of `relay`, as the view has it.
 *
 * Shape   a desktop that joined after the view has a place beyond the relay's count; it gets the neighbours of another place of its relay.
 *         When the view has no desktops, the place itself.
 */
export function beyond(
  view: ClusterView,
  relay: number,
  place: number,
  edge: EdgeNumber,
  into: ClusterPlace,
): ClusterPlace {
  const total = view.bases[view.counts.length];
  if (total === 0) return set(into, relay, place);
  return locate(view, placeBeyond(worldPlace(view, relay, place), edge, total, view.width), into, relay);
}

/**
 * The place in the whole world of a place of `relay`. One beyond the relay's count stands for another place of the relay, or, when it has
 * none in the view, for the first place after its own. REQUIRES: the view has desktops.
 */
export function worldPlace(view: ClusterView, relay: number, place: number): number {
  const count = view.counts[relay];
  const local = place < count ? place : count > 0 ? place % count : 0;
  const at = view.bases[relay] + local;
  // After the last place comes the first.
  return at < view.bases[view.counts.length] ? at : 0;
}

/**
 * Divides `count` places of the world from `first` on among the relays that own them: calls `each` with places of one relay that follow one
 * another. After the last place comes the first. REQUIRES: 0 ≤ first < total, count ≤ total.
 */
export function visitRun(
  view: ClusterView,
  first: number,
  count: number,
  each: (relay: number, place: number, count: number) => void,
): void {
  const { bases, counts } = view;
  const total = bases[counts.length];
  const into: ClusterPlace = { relay: 0, place: 0 };
  for (let at = first, left = count; left > 0; at = at === total ? 0 : at) {
    const { relay, place } = locate(view, at, into);
    const here = Math.min(left, counts[relay] - place);
    each(relay, place, here);
    at += here;
    left -= here;
  }
}

/**
 * Where a place of `relay` is when that relay has `live` desktops now: the place itself if it exists, otherwise the place that is as far
 * behind the relay's last desktop. When there are no desktops, the place itself.
 */
export function reroute(
  view: ClusterView,
  relay: number,
  live: number,
  place: number,
  into: ClusterPlace,
): ClusterPlace {
  if (place < live) return set(into, relay, place);
  const counted = view.counts[relay];
  const total = view.bases[view.counts.length] - counted + live;
  if (total === 0) return set(into, relay, place);
  const base = view.bases[relay];
  const at = (base + place) % total;
  if (at >= base && at < base + live) return set(into, relay, at - base);
  return locate(view, at < base ? at : at - live + counted, into);
}

/** The relay that owns a place of the world, and the place there. REQUIRES: 0 ≤ at < total. `near`: the relay that is tried first. */
export function locate(
  { bases, counts }: Pick<ClusterView, 'bases' | 'counts'>,
  at: number,
  into: ClusterPlace,
  near = 0,
): ClusterPlace {
  if (at >= bases[near] && at < bases[near + 1]) return set(into, near, at - bases[near]);
  // The last relay whose base is at most `at`. Relays without desktops have the base of the next one, so they are never the last.
  let low = 0;
  let high = counts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (bases[middle] <= at) low = middle;
    else high = middle - 1;
  }
  return set(into, low, at - bases[low]);
}

function set(into: ClusterPlace, relay: number, place: number): ClusterPlace {
  into.relay = relay;
  into.place = place;
  return into;
}

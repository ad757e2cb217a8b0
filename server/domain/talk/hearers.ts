/**
 * Hearers: who hears what a desktop says.
 *
 * In a world of up to HEARERS_MAX desktops everybody hears it. In a larger world the HEARERS_MAX nearest places do: the square of
 * 32 × 32 places around the speaker, 16 to the left and above, 15 to the right and below. So two desktops within 15 places of
 * each other hear each other. Where only neighbours hear, these are the desktops beyond the four edges. The
 * speaker always hears itself: what it has said is then in the same order for everybody.
 * Hearers at other relays are not listed one by one, but as runs of places; their relay finds them by findRuns().
 * Invariant: nobody is in the list twice, and the speaker is in it once.
 * Cost: O(hearers), no allocation. Pure.
 */

import type { Run } from '../../wire/peers/peer_sayings.ts';
import { type EdgeNumber, opposite } from '../../wire/rules.ts';
import { NO_EDGE } from '../../wire/saying.ts';
import { visitRun, worldPlace } from '../state/cluster_torus.ts';
import type { ClusterView } from '../state/cluster_view.ts';
import { HEARERS_MAX, SMALL_WORLD_MAX } from '../state/limits.ts';
import { REMOTE, type Routing, type Torus, type World } from '../state/torus.ts';

/** Who hears: everybody near in every world, the four neighbours in every world, or neighbours in the default world only. */
export const SAYINGS = ['worlds', 'neighbours', 'off'] as const;
export type SayingsOption = (typeof SAYINGS)[number];

/** The side of the square of places that hears a speaker, and how far it reaches to the left and above. */
const SIDE = Math.sqrt(HEARERS_MAX);
const BEFORE = SIDE / 2;

export class Hearers {
  /** The slots of those who hear, in the first `count` entries. */
  readonly slots = new Uint32Array(HEARERS_MAX);
  /** For each of them the edge beyond which the speaker is, or NO_EDGE. */
  readonly edges = new Uint8Array(HEARERS_MAX);
  count = 0;
  /** For each other relay with hearers, by its index in the view: their places there. */
  readonly remote = new Map<number, Run[]>();

  /** Finds everybody near `slot`. In a world of up to SMALL_WORLD_MAX, its neighbours are told the edge where it is. */
  findNear(torus: Torus, slot: number): void {
    const world = torus.worldOf(slot);
    const view = torus.sharedView(slot);
    this.remote.clear();
    if (view !== undefined) {
      this.#findShared(torus, world, slot, view);
      return;
    }
    const { count } = world;
    this.count = Math.min(count, HEARERS_MAX);
    this.edges.fill(NO_EDGE, 0, this.count);
    if (count > HEARERS_MAX) this.#addSquare(world, torus.placeOf(slot));
    else for (let place = 0; place < count; place++) this.slots[place] = world.slots[place];
    if (count > SMALL_WORLD_MAX) return;
    for (let edge = 3; edge >= 0; edge--) {
      const neighbour = torus.neighbour(slot, edge as EdgeNumber);
      if (neighbour >= 0 && neighbour !== slot) this.edges[torus.placeOf(neighbour)] = opposite(edge as EdgeNumber);
    }
  }

  /** Finds the neighbours of `slot`, each once: over its first edge in the order left, right, top, bottom. */
  findNeighbours(torus: Torus, slot: number): void {
    this.remote.clear();
    this.slots[0] = slot;
    this.edges[0] = NO_EDGE;
    this.count = 1;
    for (let edge = 0; edge < 4; edge++) {
      const neighbour = torus.neighbour(slot, edge as EdgeNumber);
      const entry = opposite(edge as EdgeNumber);
      if (neighbour === REMOTE) {
        const { relay, place } = (torus.routing as Routing).remotePlace;
        if (!this.remote.get(relay)?.some((run) => run.place === place)) this.#addRun(relay, place, 1, entry);
      } else if (!this.#has(neighbour, this.count)) this.#add(neighbour, entry);
    }
  }

  /** Finds those who hear a speaker of another relay. Edges come first in `runs`. Places that have gone hear nothing. */
  findRuns(world: World, runs: readonly Run[]): void {
    this.remote.clear();
    this.count = 0;
    let neighbours = 0;
    for (const { place, count, edge } of runs) {
      const end = Math.min(place + count, world.count);
      for (let at = place; at < end && this.count < HEARERS_MAX; at++) {
        if (!this.#has(world.slots[at], neighbours)) this.#add(world.slots[at], edge);
        if (edge !== NO_EDGE) neighbours = this.count;
      }
    }
  }

  /** As findNear(), in a world that other relays have desktops of, too. */
  #findShared(torus: Torus, world: World, slot: number, view: ClusterView): void {
    const total = view.bases[view.counts.length];
    this.findNeighbours(torus, slot);
    if (total > SMALL_WORLD_MAX) {
      this.remote.clear();
      this.count = 1;
    }
    const known = this.count;
    const add = (relay: number, place: number, count: number) => {
      if (relay !== view.self) this.#addRun(relay, place, count, NO_EDGE);
      else {
        const end = Math.min(place + count, world.count);
        for (let at = place; at < end && this.count < HEARERS_MAX; at++) {
          if (!this.#has(world.slots[at], known)) this.#add(world.slots[at], NO_EDGE);
        }
      }
    };
    if (total <= HEARERS_MAX) {
      // Its own desktops are known better than the view has them.
      for (const [relay, count] of view.counts.entries()) add(relay, 0, relay === view.self ? world.count : count);
      return;
    }
    const place = worldPlace(view, view.self, torus.placeOf(slot));
    for (let row = 0; row < SIDE; row++) {
      const at = place - BEFORE + (row - BEFORE) * view.width;
      visitRun(view, at - Math.floor(at / total) * total, SIDE, add);
    }
  }

  #addRun(relay: number, place: number, count: number, edge: number): void {
    if (count === 0) return;
    const runs = this.remote.get(relay);
    if (runs === undefined) this.remote.set(relay, [{ place, count, edge }]);
    else runs.push({ place, count, edge });
  }

  #add(slot: number, edge: number): void {
    this.slots[this.count] = slot;
    this.edges[this.count++] = edge;
  }

  /** Whether a slot is one of the first `known` hearers. */
  #has(slot: number, known: number): boolean {
    for (let index = 0; index < known; index++) if (this.slots[index] === slot) return true;
    return false;
  }

  /**
   * Adds the square around `place`, row by row. REQUIRES: more than HEARERS_MAX places. Then the world is at least SIDE wide, and
   * the square is less than once around it: no place is in it twice.
   */
  #addSquare({ slots, count, width }: World, place: number): void {
    let next = 0;
    for (let row = 0; row < SIDE; row++) {
      let at = place - BEFORE + (row - BEFORE) * width;
      at -= Math.floor(at / count) * count;
      for (let column = 0; column < SIDE; column++) {
        this.slots[next++] = slots[at];
        if (++at === count) at = 0;
      }
    }
  }
}

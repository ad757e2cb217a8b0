/**
 * The torus: which desktop lies beyond each edge of every desktop.
 *
 * The places of a world are 0 … n−1 without a gap, so neighbours are computed and never stored:
 * right(k) = k+1, bottom(k) = k+w (mod n), left and top are the inverses. This is the circulant graph C_n(1, w), a grid
 * in which each row continues in the next. w = 2^m grows at n = 4^(m+1) and shrinks below ¾·4^m; the gap is hysteresis.
 * Invariant: leaving by an edge and returning by the opposite one leads back. A desktop is its own neighbour only in a
 * world of one.
 * Cost: neighbour, seat, swap and unseat are O(1); 4 bytes a place, 8 bytes a slot.
 */

import type { Pictures } from '../../wire/pictures.ts';
import type { EdgeNumber } from '../../wire/rules.ts';
import type { ClusterPlace, ClusterView } from './cluster_view.ts';

export interface World {
  readonly name: string;
  /** Index in the torus's table of worlds. */
  readonly index: number;
  /** Admission's row of the address whose desktop was the first here; NO_ADDRESS for none. */
  openedBy: number;
  /** The pictures that this world carries. */
  pictures: Pictures;
  /** Whether its desktops show their stage, unless they choose for themselves. */
  stage: boolean;
  /** Another relay that has the world now: what waits here goes there. Undefined for a world of this relay. */
  home?: string;
  /** n, the number of desktops. */
  count: number;
  /** w, the distance between a place and the one below it. A power of two. */
  width: number;
  /** The slot of the desktop at each place. */
  slots: Uint32Array;
}

/** Decides what is beyond the edges of places in the default world, where other relays have desktops, too. */
export interface Routing {
  /** The slot beyond an edge of a place; REMOTE when it is at another relay. */
  beyond(world: World, place: number, edge: EdgeNumber): number;
  /** The place that the last beyond() found, when that was REMOTE. Owner: the routing, which overwrites it. */
  readonly remotePlace: Readonly<ClusterPlace>;
  /** The relays that share the default world; undefined while this one has all its desktops. */
  readonly shared: ClusterView | undefined;
}

/** Beyond this edge is a desktop of another relay. */
export const REMOTE = -1;

/** The row of an address where addresses are not counted. */
export const NO_ADDRESS = -1;

/** Places a new world has room for. */
const PLACES_MIN = 4;

/** The width of a world of `count` desktops whose width was `width`. */
export function widthOf(count: number, width: number): number {
  let w = width;
  while (count >= 4 * w * w) w *= 2;
  while (w > 1 && count < 0.75 * w * w) w /= 2;
  return w;
}

/** The place beyond `edge` of `place` in a world of `count` desktops. */
export function placeBeyond(place: number, edge: EdgeNumber, count: number, width: number): number {
  const step = edge < 2 ? 1 : width;
  const beyond = edge & 1 ? place + step : place - step;
  // A step is at most n (w < n when n ≥ 2), so one addition or subtraction wraps it.
  return beyond < 0 ? beyond + count : beyond >= count ? beyond - count : beyond;
}

/** How far a place is from another: columns to the right and rows down, both negative for the other way. */
export interface Way {
  column: number;
  row: number;
}

/** A shortest way over edges from a place to another one, in a world of `count` desktops. Cost: O(count / width). */
export function wayBetween(from: number, to: number, count: number, width: number): Way {
  const half = Math.floor((count - 1) / 2);
  const rowsMax = Math.ceil(count / width);
  const best: Way = { column: count, row: 0 };
  for (let step = 0; step <= 2 * rowsMax; step++) {
    // 0, 1, -1, 2, -2, …: of two ways of one length, the one along the row, then the one down.
    const row = step & 1 ? (step + 1) >> 1 : 0 - (step >> 1);
    const column = ((((to - from - row * width + half) % count) + count) % count) - half;
    if (Math.abs(column) + Math.abs(row) >= Math.abs(best.column) + Math.abs(best.row)) continue;
    best.column = column;
    best.row = row;
  }
  return best;
}

export class Torus {
  readonly #byName = new Map<string, World>();
  readonly #worlds: (World | undefined)[] = [];
  readonly #freeIndices: number[] = [];
  readonly #worldOf: Uint32Array;
  readonly #placeOf: Uint32Array;
  readonly #peerParts: { readonly routing?: Routing };
  /** Called with the name of each world that is removed. Writer: Homes, once, when the relay joins a cluster. */
  removed: ((name: string) => void) | undefined;
  /** All worlds, also the default one. */
  readonly #worldsMax: number;

  /** `peerParts`: its routing is set when the relay joins a cluster. */
  constructor(slots: number, worldsMax: number, peerParts: { readonly routing?: Routing } = {}) {
    this.#peerParts = peerParts;
    this.#worldOf = new Uint32Array(slots);
    this.#placeOf = new Uint32Array(slots);
    this.#worldsMax = worldsMax;
  }

  /** Undefined while this relay is alone. */
  get routing(): Routing | undefined {
    return this.#peerParts.routing;
  }

  get worldCount(): number {
    return this.#byName.size;
  }

  worlds(): IterableIterator<World> {
    return this.#byName.values();
  }

  find(name: string): World | undefined {
    return this.#byName.get(name);
  }

  /** Returns the world of this name, and adds it if there is none; undefined when there is no room for another. */
  findOrAdd(name: string): World | undefined {
    const found = this.#byName.get(name);
    if (found) return found;
    if (this.#byName.size >= this.#worldsMax) return undefined;
    const index = this.#freeIndices.pop() ?? this.#worlds.length;
    const world: World = {
      name,
      index,
      openedBy: NO_ADDRESS,
      pictures: 'any',
      stage: false,
      count: 0,
      width: 1,
      slots: new Uint32Array(PLACES_MIN),
    };
    this.#worlds[index] = world;
    this.#byName.set(name, world);
    return world;
  }

  /** Removes an empty world. */
  remove(world: World): void {
    this.#byName.delete(world.name);
    this.#worlds[world.index] = undefined;
    this.#freeIndices.push(world.index);
    this.removed?.(world.name);
  }

  worldOf(slot: number): World {
    return this.#worlds[this.#worldOf[slot]] as World;
  }

  placeOf(slot: number): number {
    return this.#placeOf[slot];
  }

  /** The desktop beyond `edge` of `slot`: `slot` itself in a world of one, REMOTE when it is at another relay. */
  neighbour(slot: number, edge: EdgeNumber): number {
    const { routing } = this.#peerParts;
    if (routing === undefined) return this.ownNeighbour(slot, edge);
    const world = this.worldOf(slot);
    // The default world is the first one.
    return world.index === 0 ? routing.beyond(world, this.#placeOf[slot], edge) : this.ownNeighbour(slot, edge);
  }

  /** The relays that share the world of `slot`; undefined when this one has all its desktops. */
  sharedView(slot: number): ClusterView | undefined {
    return this.#worldOf[slot] === 0 ? this.#peerParts.routing?.shared : undefined;
  }

  /** The desktop of this relay beyond `edge` of `slot`, as if there were no other relay. */
  ownNeighbour(slot: number, edge: EdgeNumber): number {
    const world = this.worldOf(slot);
    return world.slots[placeBeyond(this.#placeOf[slot], edge, world.count, world.width)];
  }

  /** Seats a new desktop at the last place, or with one swap to the right of `friend`, which must be in the same world. */
  seat(slot: number, world: World, friend?: number): void {
    if (world.count === world.slots.length) {
      const larger = new Uint32Array(world.count * 2);
      larger.set(world.slots);
      world.slots = larger;
    }
    this.#worldOf[slot] = world.index;
    this.#put(slot, world, world.count++);
    world.width = widthOf(world.count, world.width);
    if (friend === undefined) return;
    const beside = placeBeyond(this.#placeOf[friend], 1, world.count, world.width);
    const last = world.count - 1;
    // The new desktop is already to the right of a friend at the last-but-one place.
    if (beside === last) return;
    const displaced = world.slots[beside];
    this.#put(slot, world, beside);
    this.#put(displaced, world, last);
  }

  /** Removes a desktop from its place; the desktop at the last place moves into the gap. */
  unseat(slot: number): void {
    const world = this.worldOf(slot);
    const last = world.slots[--world.count];
    if (last !== slot) this.#put(last, world, this.#placeOf[slot]);
    world.width = widthOf(world.count, world.width);
    if (world.slots.length > PLACES_MIN && world.count < world.slots.length / 4) {
      world.slots = world.slots.slice(0, world.slots.length / 2);
    }
  }

  /** Two desktops of one world change places. */
  swap(slot: number, other: number): void {
    const world = this.worldOf(slot);
    const place = this.#placeOf[slot];
    this.#put(slot, world, this.#placeOf[other]);
    this.#put(other, world, place);
  }

  /**
   * Recovery: makes a world with these desktops, by place, and this width. Returns undefined when there is no room for a world.
   *
   * Shape   `left` are slots whose desktops had a place there, and keep its number.
   */
  restore(
    { name, width, pictures, stage }: Pick<World, 'name' | 'width' | 'pictures' | 'stage'>,
    slots: Uint32Array,
    left: readonly (readonly number[])[],
  ): World | undefined {
    const world = this.findOrAdd(name);
    if (!world) return undefined;
    world.count = slots.length;
    world.width = width;
    world.pictures = pictures;
    world.stage = stage;
    world.slots = new Uint32Array(2 ** Math.ceil(Math.log2(Math.max(PLACES_MIN, slots.length))));
    for (const [place, slot] of slots.entries()) {
      this.#worldOf[slot] = world.index;
      this.#put(slot, world, place);
    }
    for (const [slot, place] of left) this.keep(slot, world, place);
    return world;
  }

  /** A slot without a desktop has sprites that wait for one of this world, as if its desktop had had this place. */
  keep(slot: number, world: World, place: number): void {
    this.#worldOf[slot] = world.index;
    this.#placeOf[slot] = place;
  }

  #put(slot: number, world: World, place: number): void {
    world.slots[place] = slot;
    this.#placeOf[slot] = place;
  }
}

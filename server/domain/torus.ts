/**
 * The torus: which desktop lies beyond each edge of every desktop.
 *
 * Places of a world are 0 … n−1 without a gap, so a neighbour is arithmetic: nothing is stored, nothing to keep in step.
 * right(k) = k+1, bottom(k) = k+w (mod n), left and top back again: the circulant graph C_n(1, w), a grid whose rows run
 * on into each other. w = 2^m, grown at n = 4^(m+1) and shrunk below ¾·4^m, so that it does not flutter.
 * Invariant: leaving by an edge and coming back by the opposite one is staying at home; only a world of one leads home.
 * Cost: neighbour, seat and unseat are O(1); 4 bytes a place, 8 bytes a slot.
 */
import type { EdgeNumber } from '../wire/crossing.ts';

export interface World {
  readonly name: string;
  /** Its index in Torus.worlds. */
  readonly index: number;
  /** n: how many desktops sit in it. */
  count: number;
  /** w: how far down is. A power of two. */
  width: number;
  /** slots[place] is who sits there. */
  slots: Uint32Array;
}

const FIRST_PLACES = 4;

/** The width of a world of `count` that had `width`. */
export function widthOf(count: number, width: number): number {
  let w = width;
  while (count >= 4 * w * w) w *= 2;
  while (w > 1 && count < 0.75 * w * w) w /= 2;
  return w;
}

/** The place beyond `edge` of `place` in a world of `count` and `width`. */
export function placeBeyond(place: number, edge: EdgeNumber, count: number, width: number): number {
  const step = edge < 2 ? 1 : width;
  const beyond = edge & 1 ? place + step : place - step;
  // A step is at most n (w < n from two on), so once around is enough.
  return beyond < 0 ? beyond + count : beyond >= count ? beyond - count : beyond;
}

export class Torus {
  readonly #byName = new Map<string, World>();
  readonly #worlds: (World | undefined)[] = [];
  readonly #freeIndices: number[] = [];
  readonly #worldOf: Uint32Array;
  readonly #placeOf: Uint32Array;
  readonly #worldsMax: number;

  constructor(slots: number, worldsMax: number) {
    this.#worldOf = new Uint32Array(slots);
    this.#placeOf = new Uint32Array(slots);
    this.#worldsMax = worldsMax;
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

  /** The world of this name, made when there is none; undefined when there are as many as may be. */
  world(name: string): World | undefined {
    const known = this.#byName.get(name);
    if (known) return known;
    if (this.#byName.size >= this.#worldsMax) return undefined;
    const index = this.#freeIndices.pop() ?? this.#worlds.length;
    const world = { name, index, count: 0, width: 1, slots: new Uint32Array(FIRST_PLACES) };
    this.#worlds[index] = world;
    this.#byName.set(name, world);
    return world;
  }

  /** Forgets an empty world. */
  forget(world: World): void {
    this.#byName.delete(world.name);
    this.#worlds[world.index] = undefined;
    this.#freeIndices.push(world.index);
  }

  worldOf(slot: number): World {
    return this.#worlds[this.#worldOf[slot]] as World;
  }

  placeOf(slot: number): number {
    return this.#placeOf[slot];
  }

  /** Who lies beyond `edge` of `slot`: itself in a world of one. */
  neighbour(slot: number, edge: EdgeNumber): number {
    const world = this.worldOf(slot);
    return world.slots[placeBeyond(this.#placeOf[slot], edge, world.count, world.width)];
  }

  /** Seats a newcomer: at the last place, or to the right of `friend` (who must sit in the same world) by one swap. */
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
    // A friend at the last-but-one place already has the newcomer to its right.
    if (beside === last) return;
    const displaced = world.slots[beside];
    this.#put(slot, world, beside);
    this.#put(displaced, world, last);
  }

  /** Takes a desktop out; the last place moves into the gap. */
  unseat(slot: number): void {
    const world = this.worldOf(slot);
    const last = world.slots[--world.count];
    if (last !== slot) this.#put(last, world, this.#placeOf[slot]);
    world.width = widthOf(world.count, world.width);
    if (world.slots.length > FIRST_PLACES && world.count < world.slots.length / 4) {
      world.slots = world.slots.slice(0, world.slots.length / 2);
    }
  }

  #put(slot: number, world: World, place: number): void {
    world.slots[place] = slot;
    this.#placeOf[slot] = place;
  }
}

/**
 * Hearers: who hears what a desktop says.
 *
 * In a world of up to HEARERS_MAX desktops everybody hears it. In a larger world the HEARERS_MAX nearest places do: the square of
 * 32 × 32 places around the speaker, 16 to the left and above, 15 to the right and below. So two desktops within 15 places of
 * each other hear each other. Where only neighbours hear, these are the desktops beyond the four edges. The
 * speaker always hears itself: what it has said is then in the same order for everybody.
 * Invariant: nobody is in the list twice, and the speaker is in it once.
 * Cost: O(hearers), no allocation. Pure.
 */
import { type EdgeNumber, opposite } from '../wire/crossing.ts';
import { HEARERS_MAX, SMALL_WORLD_MAX } from './limits.ts';
import { NO_EDGE } from './sayings.ts';
import type { Torus, World } from './torus.ts';

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

  /** Finds everybody near `slot`. In a world of up to SMALL_WORLD_MAX, its neighbours are told the edge where it is. */
  findNear(torus: Torus, slot: number): void {
    const world = torus.worldOf(slot);
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
    this.slots[0] = slot;
    this.edges[0] = NO_EDGE;
    this.count = 1;
    for (let edge = 0; edge < 4; edge++) {
      const neighbour = torus.neighbour(slot, edge as EdgeNumber);
      if (neighbour < 0 || this.#has(neighbour)) continue;
      this.slots[this.count] = neighbour;
      this.edges[this.count++] = opposite(edge as EdgeNumber);
    }
  }

  #has(slot: number): boolean {
    for (let index = 0; index < this.count; index++) if (this.slots[index] === slot) return true;
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

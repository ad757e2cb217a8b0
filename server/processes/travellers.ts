/**
 * Travellers: how far from where they set out sprites of the default world are, as far as a relay can know it. In the master.
 *
 * A crossing does not say which sprite it is. So a traveller is what is thrown on by the desktop that has just received it: the same picture under
 * the same name. Which of two sprites that look alike on one desktop goes on, nobody sees. Steps there and back add up to nothing, so two
 * desktops that throw a sprite to and fro take it nowhere.
 * Memory: TRAVELLERS_MAX rows of 20 bytes, 320 KiB. Cost: crossed() looks at eight rows, and allocates nothing.
 */
import type { EdgeNumber } from '../wire/rules.ts';

/** Sprites that are followed at once: four on each desktop of a world of four thousand. */
export const TRAVELLERS_MAX = 16_384;

/** Sprites that share a bucket. In a full one, a sprite that sets out takes the place of the one that is nearest to where it set out. */
export const BUCKET_ROWS = 4;

const BUCKETS = TRAVELLERS_MAX / BUCKET_ROWS;

/** The members of a row: hash of the sprite, slot and generation of the desktop that has it. */
const WORDS = 3;

export class Travellers {
  readonly #rows = new Uint32Array(TRAVELLERS_MAX * WORDS);
  /** Columns and rows from where it set out. A row of the table without any is free. */
  readonly #x = new Int32Array(TRAVELLERS_MAX);
  readonly #y = new Int32Array(TRAVELLERS_MAX);
  readonly #generationOf: (slot: number) => number;

  constructor(generationOf: (slot: number) => number) {
    this.#generationOf = generationOf;
  }

  /** A sprite with this hash went over an edge from one desktop to another. Returns how far it is now from where it set out. */
  crossed(sprite: number, from: number, to: number, edge: EdgeNumber): number {
    const row = this.#find(sprite, from);
    let x = 0;
    let y = 0;
    if (row >= 0) {
      x = this.#x[row];
      y = this.#y[row];
      this.#x[row] = 0;
      this.#y[row] = 0;
    }
    const step = edge & 1 ? 1 : -1; // right and bottom, left and top
    if (edge < 2) x += step;
    else y += step;
    const distance = Math.abs(x) + Math.abs(y);
    if (distance > 0) this.#put(sprite, to, x, y, distance);
    return distance;
  }

  /** From now on all sprites set out where they are. */
  clear(): void {
    this.#x.fill(0);
    this.#y.fill(0);
  }

  /** The row of a sprite on a desktop; -1 for one that is where it set out, or is not followed. */
  #find(sprite: number, slot: number): number {
    const first = bucketOf(sprite, slot) * BUCKET_ROWS;
    for (let row = first; row < first + BUCKET_ROWS; row++) {
      if (this.#isOf(row, sprite, slot) && this.#distance(row) > 0) return row;
    }
    return -1;
  }

  #put(sprite: number, slot: number, x: number, y: number, distance: number): void {
    let row = this.#find(sprite, slot);
    // Of two that look alike the farther one counts: either may be the one that goes on.
    if (row >= 0 && this.#distance(row) >= distance) return;
    if (row < 0) row = this.#nearest(bucketOf(sprite, slot) * BUCKET_ROWS);
    this.#rows[row * WORDS] = sprite;
    this.#rows[row * WORDS + 1] = slot;
    this.#rows[row * WORDS + 2] = this.#generationOf(slot);
    this.#x[row] = x;
    this.#y[row] = y;
  }

  /** The row of a bucket that is free, or whose sprite is nearest to where it set out. */
  #nearest(first: number): number {
    let nearest = first;
    for (let row = first + 1; row < first + BUCKET_ROWS; row++) {
      if (this.#distance(row) < this.#distance(nearest)) nearest = row;
    }
    return nearest;
  }

  #isOf(row: number, sprite: number, slot: number): boolean {
    const rows = this.#rows;
    const at = row * WORDS;
    return rows[at] === sprite && rows[at + 1] === slot && rows[at + 2] === this.#generationOf(slot);
  }

  #distance(row: number): number {
    return Math.abs(this.#x[row]) + Math.abs(this.#y[row]);
  }
}

/** The bucket of a sprite on a desktop. `sprite`: 32 bits that are spread well. */
export function bucketOf(sprite: number, slot: number): number {
  const mixed = Math.imul(sprite ^ Math.imul(slot, 0x9e3779b1), 0x85ebca6b);
  return (mixed ^ (mixed >>> 15)) & (BUCKETS - 1);
}

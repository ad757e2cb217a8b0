/**
 * The slab: memory for events and names, in blocks of a few sizes, which the garbage collector does not scan.
 *
 * A block has a 32-bit reference: its page in the upper 16 bits, its first unit of 16 bytes in the lower. All blocks of a
 * page (1 MiB) have one size. Free blocks of a size form a list, linked through their first four bytes.
 * Invariant: a block is either in use by one owner or in the free list of its size. NO_BLOCK is never allocated.
 * Cost: allocate and free are O(1) and create no JavaScript object; a page is allocated when first needed and kept.
 */

export type BlockRef = number;
export const NO_BLOCK: BlockRef = 0;

const UNIT_BYTES = 16;
const PAGE_UNITS = 1 << 16;
const PAGE_BYTES = UNIT_BYTES * PAGE_UNITS;

/** Sizes of blocks in units: a name needs one or two, a sprite 16 or 24; at most a third of a block is unused. */
const SIZES = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];

/** The largest block in bytes. */
export const BLOCK_BYTES_MAX = SIZES[SIZES.length - 1] * UNIT_BYTES;

/** The index in SIZES of the smallest block for a number of units. */
const CLASS_OF_UNITS = Uint8Array.from({ length: SIZES[SIZES.length - 1] + 1 }, (_, units) =>
  SIZES.findIndex((size) => size >= units),
);

export class Slab {
  /** Pages as bytes: a block begins at offset(ref) of page(ref). */
  readonly #pages: Buffer[] = [];
  readonly #words: Uint32Array[] = [];
  readonly #free = new Uint32Array(SIZES.length);
  readonly #bumpPage = new Int32Array(SIZES.length).fill(-1);
  readonly #bumpUnit = new Uint32Array(SIZES.length);
  readonly #pagesMax: number;
  /** The number of sizes without a page: one page is reserved for each of them. */
  #sizesWithoutPage = SIZES.length;
  #usedBytes = 0;

  /** `bytesMax` is rounded down to whole pages, but there is at least one page for each size. */
  constructor(bytesMax: number) {
    this.#pagesMax = Math.min(1 << 16, Math.max(SIZES.length, Math.floor(bytesMax / PAGE_BYTES)));
  }

  /** Bytes of the blocks in use. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Returns a block of at least `bytes` (1 … BLOCK_BYTES_MAX) with undefined content; NO_BLOCK when the slab is full. */
  allocate(bytes: number): BlockRef {
    const size = sizeOf(bytes);
    let ref = this.#free[size];
    if (ref !== NO_BLOCK) {
      this.#free[size] = this.word(ref);
    } else {
      ref = this.#bump(size);
      if (ref === NO_BLOCK) return NO_BLOCK;
    }
    this.#usedBytes += SIZES[size] * UNIT_BYTES;
    return ref;
  }

  /** Frees a block; `bytes` must be the number it was allocated with. */
  free(ref: BlockRef, bytes: number): void {
    const size = sizeOf(bytes);
    this.setWord(ref, this.#free[size]);
    this.#free[size] = ref;
    this.#usedBytes -= SIZES[size] * UNIT_BYTES;
  }

  page(ref: BlockRef): Buffer {
    return this.#pages[ref >>> 16];
  }

  offset(ref: BlockRef): number {
    return (ref & 0xffff) * UNIT_BYTES;
  }

  /** The block's 32-bit word number `index`. */
  word(ref: BlockRef, index = 0): number {
    return this.#words[ref >>> 16][(ref & 0xffff) * (UNIT_BYTES / 4) + index];
  }

  setWord(ref: BlockRef, value: number, index = 0): void {
    this.#words[ref >>> 16][(ref & 0xffff) * (UNIT_BYTES / 4) + index] = value;
  }

  #bump(size: number): BlockRef {
    if (this.#bumpPage[size] < 0 || this.#bumpUnit[size] + SIZES[size] > PAGE_UNITS) {
      if (this.#bumpPage[size] < 0) this.#sizesWithoutPage--;
      else if (this.#pages.length + this.#sizesWithoutPage >= this.#pagesMax) return NO_BLOCK;
      const memory = new ArrayBuffer(PAGE_BYTES);
      this.#bumpPage[size] = this.#pages.push(Buffer.from(memory)) - 1;
      this.#words.push(new Uint32Array(memory));
      // The first unit of the first page stays unused, because its reference would be NO_BLOCK.
      this.#bumpUnit[size] = this.#bumpPage[size] === 0 ? SIZES[size] : 0;
    }
    const ref = ((this.#bumpPage[size] << 16) | this.#bumpUnit[size]) >>> 0;
    this.#bumpUnit[size] += SIZES[size];
    return ref;
  }
}

/** The size in bytes of a block allocated for `bytes`. */
export function blockBytes(bytes: number): number {
  return SIZES[sizeOf(bytes)] * UNIT_BYTES;
}

function sizeOf(bytes: number): number {
  return CLASS_OF_UNITS[Math.ceil(bytes / UNIT_BYTES)];
}

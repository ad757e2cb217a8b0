/**
 * The slab: memory for what waits, in blocks of a few sizes, outside the collector's sight.
 *
 * A block is named by a 32-bit reference: page in the upper 16 bits, unit of 16 bytes in the lower. A page (1 MiB) holds
 * blocks of one size; freed blocks of a size wait in a list that runs through their own first four bytes.
 * Invariant: a block is either in use by one holder or in the list of its size. NO_BLOCK is never handed out.
 * Cost: allocate and free O(1), no JavaScript object; a page is taken when first needed and kept.
 */

export type BlockRef = number;
export const NO_BLOCK: BlockRef = 0;

const UNIT_BYTES = 16;
const PAGE_UNITS = 1 << 16;
const PAGE_BYTES = UNIT_BYTES * PAGE_UNITS;

/** Sizes of blocks in units: a name in one or two, a sprite in 16 or 24; at most a third of a block is air. */
const SIZES = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];

/** The largest block in bytes. */
export const BLOCK_BYTES_MAX = SIZES[SIZES.length - 1] * UNIT_BYTES;

/** Index in SIZES for a number of units. */
const CLASS_OF_UNITS = Uint8Array.from({ length: SIZES[SIZES.length - 1] + 1 }, (_, units) =>
  SIZES.findIndex((size) => size >= units),
);

export class Slab {
  /** Pages as bytes; a reference's block begins at offset(ref) of page(ref). */
  readonly #pages: Buffer[] = [];
  readonly #words: Uint32Array[] = [];
  readonly #free = new Uint32Array(SIZES.length);
  readonly #bumpPage = new Int32Array(SIZES.length).fill(-1);
  readonly #bumpUnit = new Uint32Array(SIZES.length);
  readonly #pagesMax: number;
  /** Sizes that have no page yet: one is kept for each. */
  #unpaged = SIZES.length;
  #usedBytes = 0;

  /** `bytesMax` is rounded down to whole pages, but one page is kept for each size. */
  constructor(bytesMax: number) {
    this.#pagesMax = Math.min(1 << 16, Math.max(SIZES.length, Math.floor(bytesMax / PAGE_BYTES)));
  }

  /** Bytes of blocks in use. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** A block of at least `bytes` (1 … BLOCK_BYTES_MAX); NO_BLOCK when the slab is full. Its content is anything. */
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

  /** Gives a block back; `bytes` as when it was allocated. */
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
      if (this.#bumpPage[size] < 0) this.#unpaged--;
      else if (this.#pages.length + this.#unpaged >= this.#pagesMax) return NO_BLOCK;
      const memory = new ArrayBuffer(PAGE_BYTES);
      this.#bumpPage[size] = this.#pages.push(Buffer.from(memory)) - 1;
      this.#words.push(new Uint32Array(memory));
      // The first unit of the first page stays unused: its reference is NO_BLOCK.
      this.#bumpUnit[size] = this.#bumpPage[size] === 0 ? SIZES[size] : 0;
    }
    const ref = ((this.#bumpPage[size] << 16) | this.#bumpUnit[size]) >>> 0;
    this.#bumpUnit[size] += SIZES[size];
    return ref;
  }
}

/** What a block for `bytes` really takes. */
export function blockBytes(bytes: number): number {
  return SIZES[sizeOf(bytes)] * UNIT_BYTES;
}

function sizeOf(bytes: number): number {
  return CLASS_OF_UNITS[Math.ceil(bytes / UNIT_BYTES)];
}

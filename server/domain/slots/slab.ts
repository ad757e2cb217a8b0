/**
 * The slab: memory for events and names, in blocks of a few sizes, which the garbage collector does not scan.
 *
 * A block has a 32-bit reference: its page in the upper 16 bits, its first unit of 16 bytes in the lower. All blocks of a
 * page (1 MiB by default) have one size. The free blocks of a page form a list, linked through their first four bytes; the pages of
 * a size that have free blocks form another. When the last block of a page is freed, the page returns to a pool that
 * all sizes share, so one kind of load can't take memory from another for longer than its blocks are in use.
 * Invariant: a block is either in use by one owner or free in its page. NO_BLOCK is never allocated. A size that once had
 * a page keeps at least one.
 * Cost: allocate and free are O(1) and create no JavaScript object; 20 bytes a page, nothing for a block. Of the pages in
 * the pool, IDLE_PAGES_MAX keep their memory; the memory of the others is released.
 */

export type BlockRef = number;
export const NO_BLOCK: BlockRef = 0;

const UNIT_BYTES = 16;

/** The size of a page, which is also the largest: a reference has 16 bits for a unit. */
export const SLAB_PAGE_BYTES = UNIT_BYTES << 16;
const PAGES_MAX = 1 << 16;

/** Pages in the pool that keep their memory: 32 MiB, so that a load that comes and goes allocates nothing. */
export const IDLE_PAGES_MAX = 32;

/** Sizes of blocks in units: a name needs one or two, a sprite 16 or 24; at most a third of a block is unused. */
const SIZES = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];

/** The largest block in bytes. */
export const BLOCK_BYTES_MAX = SIZES[SIZES.length - 1] * UNIT_BYTES;

/** The index in SIZES of the smallest block for a number of units. */
const CLASS_OF_UNITS = Uint8Array.from({ length: SIZES[SIZES.length - 1] + 1 }, (_, units) =>
  SIZES.findIndex((size) => size >= units),
);

/** The end of a list of pages. */
const NO_PAGE = -1;

const NO_BYTES = Buffer.alloc(0);
const NO_WORDS = new Uint32Array(0);

export class Slab {
  /** Pages as bytes: a block begins at offset(ref) of page(ref). */
  readonly #pages: Buffer[] = [];
  readonly #words: Uint32Array[] = [];
  readonly #pageUnits: number;
  readonly #bytesPerPage: number;
  /** The number of pages that the slab may have. */
  readonly pagesMax: number;

  /** Rows of pages: blocks in use, the first free block, and the first unit that was not used since it has its size. */
  readonly #used: Uint32Array;
  readonly #free: Uint32Array;
  readonly #untouched: Uint32Array;
  /** The list of pages with free blocks, for each size: its first page, and each page's neighbours in it. */
  readonly #first = new Int32Array(SIZES.length).fill(NO_PAGE);
  readonly #next: Int32Array;
  readonly #previous: Int32Array;

  /** Pages of each size. One page is reserved for each size that has none. */
  readonly #pagesOf = new Uint32Array(SIZES.length);
  #sizesWithoutPage = SIZES.length;
  #assignedPages = 0;
  /** The pool: pages with memory, and numbers of pages whose memory was released. Both are stacks. */
  readonly #idle: number[] = [];
  readonly #released: number[] = [];
  #usedBytes = 0;

  /** `bytesMax` is rounded down to whole pages, but there is at least one page for each size. `bytesPerPage`: at most SLAB_PAGE_BYTES. */
  constructor(bytesMax: number, bytesPerPage = SLAB_PAGE_BYTES) {
    this.#pageUnits = bytesPerPage / UNIT_BYTES;
    this.#bytesPerPage = bytesPerPage;
    this.pagesMax = Math.min(PAGES_MAX, Math.max(SIZES.length, Math.floor(bytesMax / bytesPerPage)));
    this.#used = new Uint32Array(this.pagesMax);
    this.#free = new Uint32Array(this.pagesMax);
    this.#untouched = new Uint32Array(this.pagesMax);
    this.#next = new Int32Array(this.pagesMax);
    this.#previous = new Int32Array(this.pagesMax);
  }

  /** Bytes of all blocks that the slab may hold. */
  get bytesMax(): number {
    return this.pagesMax * this.#bytesPerPage;
  }

  /** Bytes of the blocks in use. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Bytes of the pages that have memory. */
  get pageBytes(): number {
    return (this.#assignedPages + this.#idle.length) * this.#bytesPerPage;
  }

  /** Returns a block of at least `bytes` (1 … BLOCK_BYTES_MAX) with undefined content; NO_BLOCK when the slab is full. */
  allocate(bytes: number): BlockRef {
    const size = sizeOf(bytes);
    let page = this.#first[size];
    if (page === NO_PAGE) {
      page = this.#assignPage(size);
      if (page === NO_PAGE) return NO_BLOCK;
    }
    let ref = this.#free[page];
    if (ref !== NO_BLOCK) {
      this.#free[page] = this.word(ref);
    } else {
      const unit = this.#untouched[page];
      ref = ((page << 16) | unit) >>> 0;
      this.#untouched[page] = unit + SIZES[size];
    }
    this.#used[page]++;
    if (this.#isFull(page, size)) this.#unlink(page, size);
    this.#usedBytes += SIZES[size] * UNIT_BYTES;
    return ref;
  }

  /** Frees a block; `bytes` must be the number it was allocated with. */
  free(ref: BlockRef, bytes: number): void {
    const size = sizeOf(bytes);
    const page = ref >>> 16;
    if (this.#isFull(page, size)) this.#link(page, size);
    this.setWord(ref, this.#free[page]);
    this.#free[page] = ref;
    this.#usedBytes -= SIZES[size] * UNIT_BYTES;
    if (--this.#used[page] === 0 && this.#pagesOf[size] > 1) this.#returnPage(page, size);
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

  /** Whether `blocks` blocks are all that is in use in the page of `ref`, so that another size can use it when they are free. */
  isPageOf(ref: BlockRef, bytes: number, blocks: number): boolean {
    return this.#used[pageOf(ref)] === blocks && this.#pagesOf[sizeOf(bytes)] > 1;
  }

  #isFull(page: number, size: number): boolean {
    return this.#free[page] === NO_BLOCK && this.#untouched[page] + SIZES[size] > this.#pageUnits;
  }

  /** Gives a size a page of the pool, or a new one; NO_PAGE when none is left beside the reserved ones. */
  #assignPage(size: number): number {
    const isFirst = this.#pagesOf[size] === 0;
    if (!isFirst && this.#assignedPages + this.#sizesWithoutPage >= this.pagesMax) return NO_PAGE;
    const page = this.#idle.pop() ?? this.#addMemory();
    this.#assignedPages++;
    if (isFirst) this.#sizesWithoutPage--;
    this.#pagesOf[size]++;
    this.#free[page] = NO_BLOCK;
    // The first unit of the first page stays unused, because its reference would be NO_BLOCK.
    this.#untouched[page] = page === 0 ? SIZES[size] : 0;
    this.#link(page, size);
    return page;
  }

  #addMemory(): number {
    const memory = new ArrayBuffer(this.#bytesPerPage);
    const page = this.#released.pop() ?? this.#pages.length;
    this.#pages[page] = Buffer.from(memory);
    this.#words[page] = new Uint32Array(memory);
    return page;
  }

  /** Returns a page without a block in use to the pool. */
  #returnPage(page: number, size: number): void {
    this.#unlink(page, size);
    this.#assignedPages--;
    this.#pagesOf[size]--;
    if (this.#idle.length < IDLE_PAGES_MAX) {
      this.#idle.push(page);
      return;
    }
    this.#pages[page] = NO_BYTES;
    this.#words[page] = NO_WORDS;
    this.#released.push(page);
  }

  /** Puts a page first in the list of its size. */
  #link(page: number, size: number): void {
    const next = this.#first[size];
    this.#next[page] = next;
    this.#previous[page] = NO_PAGE;
    if (next !== NO_PAGE) this.#previous[next] = page;
    this.#first[size] = page;
  }

  #unlink(page: number, size: number): void {
    const next = this.#next[page];
    const previous = this.#previous[page];
    if (previous === NO_PAGE) this.#first[size] = next;
    else this.#next[previous] = next;
    if (next !== NO_PAGE) this.#previous[next] = previous;
  }
}

/** The number of a block's page. */
export function pageOf(ref: BlockRef): number {
  return ref >>> 16;
}

/** The size in bytes of a block allocated for `bytes`. */
export function blockBytes(bytes: number): number {
  return SIZES[sizeOf(bytes)] * UNIT_BYTES;
}

function sizeOf(bytes: number): number {
  return CLASS_OF_UNITS[Math.ceil(bytes / UNIT_BYTES)];
}

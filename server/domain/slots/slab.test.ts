import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomOf } from '../../test/random.ts';
import { BLOCK_BYTES_MAX, type BlockRef, blockBytes, IDLE_PAGES_MAX, NO_BLOCK, pageOf, Slab } from './slab.ts';

const PAGE_BYTES = 1 << 20;
const SIZES_BYTES = [16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024];
const PAGES_MIN = SIZES_BYTES.length;

/** Allocates blocks of `bytes` until the slab is full. */
function exhaust(slab: Slab, bytes: number): BlockRef[] {
  const refs: BlockRef[] = [];
  for (let ref = slab.allocate(bytes); ref !== NO_BLOCK; ref = slab.allocate(bytes)) refs.push(ref);
  return refs;
}

const addressOf = (slab: Slab, ref: BlockRef) => slab.page(ref).byteOffset + slab.offset(ref);

describe('slab', () => {
  it('rounds up to the smallest size that fits: at each size, one byte less and one more', () => {
    SIZES_BYTES.forEach((size, index) => {
      assert.equal(blockBytes(size), size);
      assert.equal(blockBytes(size - 1), size);
      if (size < BLOCK_BYTES_MAX) assert.equal(blockBytes(size + 1), SIZES_BYTES[index + 1]);
    });
    assert.equal(blockBytes(1), 16);
    assert.equal(BLOCK_BYTES_MAX, 1024);
  });

  it('wastes at most a third of a block beyond the first unit', () => {
    for (let bytes = 17; bytes <= BLOCK_BYTES_MAX; bytes++) {
      const units = Math.ceil(bytes / 16);
      assert.ok((blockBytes(bytes) / 16 - units) / (blockBytes(bytes) / 16) <= 1 / 3, `${bytes}`);
    }
  });

  it('never allocates NO_BLOCK, whichever size has the first page', () => {
    for (const size of SIZES_BYTES) {
      const slab = new Slab(0);
      const ref = slab.allocate(size);
      assert.notEqual(ref, NO_BLOCK);
      assert.ok(slab.offset(ref) > 0);
    }
  });

  it('allocates blocks that don’t overlap and lie within their page', () => {
    const slab = new Slab(0);
    const blocks: { ref: BlockRef; bytes: number; fill: number }[] = [];
    for (let n = 0; n < 4000; n++) {
      const bytes = 1 + ((n * 37) % BLOCK_BYTES_MAX);
      const ref = slab.allocate(bytes);
      const fill = n & 0xff;
      assert.ok(slab.offset(ref) + blockBytes(bytes) <= slab.page(ref).length);
      slab.page(ref).fill(fill, slab.offset(ref), slab.offset(ref) + blockBytes(bytes));
      blocks.push({ ref, bytes, fill });
    }
    for (const { ref, bytes, fill } of blocks) {
      const block = slab.page(ref).subarray(slab.offset(ref), slab.offset(ref) + blockBytes(bytes));
      assert.ok(block.every((byte) => byte === fill));
    }
  });

  it('reads and writes words in the same memory as the bytes', () => {
    const slab = new Slab(0);
    const ref = slab.allocate(64);
    slab.setWord(ref, 0xfedcba98);
    slab.setWord(ref, 0x01020304, 15);
    assert.equal(slab.word(ref), 0xfedcba98);
    assert.equal(slab.page(ref).readUInt32LE(slab.offset(ref)), 0xfedcba98);
    assert.equal(slab.page(ref).readUInt32LE(slab.offset(ref) + 60), 0x01020304);
  });

  it('reuses a freed block before it allocates memory, and counts the bytes in use', () => {
    const slab = new Slab(0);
    const refs = Array.from({ length: 10 }, () => slab.allocate(300));
    assert.equal(slab.usedBytes, 10 * 384);
    for (const ref of refs) slab.free(ref, 300);
    assert.equal(slab.usedBytes, 0);
    // 257 and 300 bytes round up to the same size.
    const again = Array.from({ length: 10 }, () => slab.allocate(257));
    assert.deepEqual(new Set(again), new Set(refs));
    assert.equal(slab.usedBytes, 10 * 384);
    assert.ok(!refs.includes(slab.allocate(300)));
  });

  it('is full when its pages are used up, each time it is asked, and has room when one block is freed', () => {
    for (const pageBytes of [PAGE_BYTES, PAGE_BYTES / 16]) {
      const slab = new Slab(pageBytes * (PAGES_MIN + 1), pageBytes);
      const refs = exhaust(slab, 1024);
      // Two pages are left beside those reserved for the other sizes; the first block of the first page is NO_BLOCK.
      assert.equal(refs.length, 2 * (pageBytes / 1024) - 1);
      assert.equal(slab.pageBytes, 2 * pageBytes);
      assert.equal(
        new Set(refs.map((ref) => `${slab.page(ref).buffer === slab.page(refs[0]).buffer} ${addressOf(slab, ref)}`))
          .size,
        refs.length,
      );
      assert.equal(slab.usedBytes, refs.length * 1024);
      assert.equal(slab.allocate(1024), NO_BLOCK);
      assert.equal(slab.usedBytes, refs.length * 1024);
      slab.free(refs[17], 1024);
      assert.equal(slab.allocate(1024), refs[17]);
      assert.equal(slab.allocate(1024), NO_BLOCK);
    }
  });

  it('reserves a page for each size, also when another size uses up the rest', () => {
    const slab = new Slab(0);
    for (const size of SIZES_BYTES) {
      const refs = exhaust(slab, size);
      const perPage = Math.floor(PAGE_BYTES / size);
      assert.ok(refs.length === perPage || refs.length === perPage - 1, `${refs.length} blocks of ${size}`);
    }
  });

  it('rounds its bytes down to whole pages', () => {
    for (const [bytes, pages] of [
      [PAGE_BYTES * 20 - 1, 19],
      [PAGE_BYTES * 20, 20],
      [PAGE_BYTES * 20 + 1, 20],
    ]) {
      const blocks = exhaust(new Slab(bytes), 1024).length + 1;
      assert.equal(blocks / (PAGE_BYTES / 1024), pages - (PAGES_MIN - 1));
    }
  });

  it('lets another size use a page when its last block is freed, and not before', () => {
    const pages = 4;
    const slab = new Slab(PAGE_BYTES * (PAGES_MIN + pages));
    for (let round = 0; round < 3; round++) {
      for (const bytes of [1024, 384, 256]) {
        const refs = exhaust(slab, bytes);
        const perPage = Math.floor(PAGE_BYTES / bytes);
        assert.ok(refs.length >= (pages + 1) * perPage - 1, `round ${round}: ${refs.length} blocks of ${bytes}`);
        assert.equal(slab.allocate(bytes), NO_BLOCK);
        // One block of each page pins it: the next size gets its reserved page and no other.
        const pins = new Map(refs.map((ref) => [pageOf(ref), ref]));
        const pinned = new Set(pins.values());
        for (const ref of refs) if (!pinned.has(ref)) slab.free(ref, bytes);
        const other = bytes === 384 ? 512 : 384;
        const reserved = exhaust(slab, other);
        assert.ok(reserved.length <= PAGE_BYTES / other);
        for (const ref of reserved) slab.free(ref, other);
        for (const ref of pinned) slab.free(ref, bytes);
        assert.equal(slab.usedBytes, 0);
      }
    }
  });

  it('returns to the pages that are reserved when all is freed, but for IDLE_PAGES_MAX', () => {
    for (const pages of [IDLE_PAGES_MAX - 1, IDLE_PAGES_MAX, IDLE_PAGES_MAX + 1, IDLE_PAGES_MAX + 20]) {
      const slab = new Slab(PAGE_BYTES * (PAGES_MIN + pages));
      const refs = exhaust(slab, 1024);
      assert.equal(slab.pageBytes, PAGE_BYTES * (pages + 1));
      for (const ref of refs) slab.free(ref, 1024);
      assert.equal(slab.pageBytes, PAGE_BYTES * (Math.min(pages, IDLE_PAGES_MAX) + 1));
      // A block is missing when the page with NO_BLOCK is among them.
      const all = (pages + 1) * (PAGE_BYTES / 512);
      assert.ok([all - 1, all].includes(exhaust(slab, 512).length));
    }
  });

  it('tells which blocks are all that keeps a page from another size', () => {
    const slab = new Slab(PAGE_BYTES * (PAGES_MIN + 1));
    const refs = [slab.allocate(1024), slab.allocate(1024)];
    assert.equal(slab.isPageOf(refs[0], 1024, 2), false, 'the last page of a size stays reserved');
    refs.push(...exhaust(slab, 1024));
    const last = refs[refs.length - 1];
    const perPage = refs.filter((ref) => pageOf(ref) === pageOf(last)).length;
    for (const [blocks, is] of [
      [perPage - 1, false],
      [perPage, true],
      [perPage + 1, false],
    ] as const) {
      assert.equal(slab.isPageOf(last, 1024, blocks), is);
    }
    slab.free(refs[refs.length - 2], 1024);
    assert.ok(slab.isPageOf(last, 1024, perPage - 1));
  });

  it('keeps what its owners wrote through a long run in which sizes replace each other (seeded)', (t) => {
    const random = randomOf(t);
    const slab = new Slab(PAGE_BYTES * (PAGES_MIN + 3));
    const blocks: { ref: BlockRef; bytes: number; stamp: number }[] = [];
    let used = 0;
    for (let n = 0; n < 300_000; n++) {
      // Each phase allocates one range of sizes, then frees most of everything.
      const phase = Math.floor(n / 10_000) % 6;
      if (random() < (n % 10_000 < 6_000 ? 0.8 : 0.1)) {
        const bytes = 1 + Math.floor(((phase + random()) / 6) * BLOCK_BYTES_MAX);
        const ref = slab.allocate(bytes);
        if (ref === NO_BLOCK) continue;
        slab.setWord(ref, n);
        slab.setWord(ref, ~n >>> 0, blockBytes(bytes) / 4 - 1);
        blocks.push({ ref, bytes, stamp: n });
        used += blockBytes(bytes);
      } else if (blocks.length > 0) {
        const at = Math.floor(random() * blocks.length);
        const { ref, bytes, stamp } = blocks[at];
        blocks[at] = blocks[blocks.length - 1];
        blocks.pop();
        assert.equal(slab.word(ref), stamp);
        assert.equal(slab.word(ref, blockBytes(bytes) / 4 - 1), ~stamp >>> 0);
        slab.free(ref, bytes);
        used -= blockBytes(bytes);
      }
      assert.equal(slab.usedBytes, used);
    }
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BLOCK_BYTES_MAX, type BlockRef, blockBytes, NO_BLOCK, Slab } from './slab.ts';

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
    const slab = new Slab(PAGE_BYTES * (PAGES_MIN + 1));
    const refs = exhaust(slab, 1024);
    // Two pages are left beside those reserved for the other sizes; the first block of the first page is NO_BLOCK.
    assert.equal(refs.length, 2 * (PAGE_BYTES / 1024) - 1);
    assert.equal(
      new Set(refs.map((ref) => `${slab.page(ref).buffer === slab.page(refs[0]).buffer} ${addressOf(slab, ref)}`)).size,
      refs.length,
    );
    assert.equal(slab.usedBytes, refs.length * 1024);
    assert.equal(slab.allocate(1024), NO_BLOCK);
    assert.equal(slab.usedBytes, refs.length * 1024);
    slab.free(refs[17], 1024);
    assert.equal(slab.allocate(1024), refs[17]);
    assert.equal(slab.allocate(1024), NO_BLOCK);
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
});

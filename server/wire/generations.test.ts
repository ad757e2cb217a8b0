import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { GENERATION_KEY_BYTES, Generations } from './generations.ts';

describe('generations', () => {
  it('are 1 … 2^32 − 1, one for each owner, and name the owner again', () => {
    const key = randomBytes(GENERATION_KEY_BYTES);
    const generations = new Generations(key);
    for (const slot of [0, 1, 0xffffff]) {
      const seen = new Set<number>();
      for (const owner of [1, 2, 3, 0xffff, 0x10000, 0xfffffffe, 0xffffffff, ...Array(500).keys()].filter(Boolean)) {
        const generation = generations.of(slot, owner);
        assert.ok(generation >= 1 && generation <= 0xffffffff, `${generation}`);
        assert.equal(generations.ownerOf(slot, generation), owner, key.toString('hex'));
        seen.add(generation);
      }
      assert.equal(seen.size, 499 + 4, 'no two owners have the same');
    }
  });

  it('have an owner, whatever is asked, also for the value that would have been 0', () => {
    const generations = new Generations(randomBytes(GENERATION_KEY_BYTES));
    const exception = generations.ownerOf(7, generations.of(7, 1));
    assert.equal(exception, 1);
    for (const generation of [1, 2, 0x7fffffff, 0x80000000, 0xffffffff]) {
      const owner = generations.ownerOf(7, generation);
      assert.ok(owner >= 1 && owner <= 0xffffffff);
      assert.equal(generations.of(7, owner), generation);
    }
  });

  it('of one slot, owner or key say nothing about those of another: about half of the bits differ', () => {
    const [key, other] = [randomBytes(GENERATION_KEY_BYTES), randomBytes(GENERATION_KEY_BYTES)];
    const [here, there] = [new Generations(key), new Generations(other)];
    const pairs: [string, (n: number) => [number, number]][] = [
      ['the next slot', (n) => [here.of(n, 1), here.of(n + 1, 1)]],
      ['the next owner', (n) => [here.of(1, n + 1), here.of(1, n + 2)]],
      ['another run', (n) => [here.of(1, n + 1), there.of(1, n + 1)]],
    ];
    for (const [name, pairOf] of pairs) {
      const differing = new Uint32Array(32);
      for (let n = 0; n < 1000; n++) {
        const [a, b] = pairOf(n);
        for (let bit = 0; bit < 32; bit++) differing[bit] += ((a ^ b) >>> bit) & 1;
      }
      // 500 ± 16: six standard deviations are one failure in 10^7 runs of this suite.
      for (const count of differing) assert.ok(Math.abs(count - 500) < 6 * 16, `${name}: ${[...differing]}`);
    }
  });
});

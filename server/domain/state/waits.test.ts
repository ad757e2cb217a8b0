import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stampOf, WAIT_BOUNDS_MS, Waits, waitWithin } from './waits.ts';

/** The waits of sprites that were sent after these times, in ms. */
function waitsOf(...times: number[]): Waits {
  const waits = new Waits();
  for (const ms of times) waits.record(stampOf(7), stampOf(7 + ms));
  return waits;
}

describe('waits', () => {
  it('count each sprite in the first bucket whose bound it does not exceed', () => {
    for (const [bucket, boundMs] of WAIT_BOUNDS_MS.entries()) {
      const { counts } = waitsOf(boundMs, boundMs + 0.1);
      assert.deepEqual([counts[bucket], counts[bucket + 1]], [1, 1], `${boundMs}`);
    }
  });

  it('add up the times', () => {
    assert.equal(waitsOf(0, 1.5, 3000).sumMs, 3001.5);
  });

  it('measure over the wrap of the stamps', () => {
    const wrapMs = 2 ** 32 / 10;
    const waits = new Waits();
    waits.record(stampOf(wrapMs - 5), stampOf(wrapMs + 5));
    assert.equal(waits.sumMs, 10);
  });
});

describe('the time within which a share of the sprites was sent', () => {
  it('is not known without sprites', () => {
    assert.ok(Number.isNaN(waitWithin(0.5, new Waits().counts)));
  });

  it('lies within a bucket as evenly as its sprites', () => {
    const { counts } = waitsOf(...Array(8).fill(1.5), 15, 15);
    assert.equal(waitWithin(0.4, counts), 1.5);
    assert.equal(waitWithin(0.8, counts), 2);
    assert.equal(waitWithin(0.9, counts), 15);
    assert.equal(waitWithin(1, counts), 20);
  });

  it('is the last bound when it is above', () => {
    assert.equal(waitWithin(0.99, waitsOf(1e6).counts), WAIT_BOUNDS_MS.at(-1));
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Budget } from './budget.ts';

/** Reserves one at a time until it is refused; returns how often that went well. */
function takeAll(budget: Budget, holder: string | undefined): number {
  let taken = 0;
  while (budget.reserve(holder, 1)) taken++;
  return taken;
}

describe('a budget', () => {
  it('has room up to its last byte for clients that are not told apart', () => {
    const budget = new Budget(10);
    assert.equal(budget.reserve(undefined, 11), false);
    assert.equal(budget.used, 0);
    assert.equal(budget.reserve(undefined, 9), true);
    assert.equal(budget.reserve(undefined, 2), false);
    assert.equal(budget.reserve(undefined, 1), true);
    assert.equal(budget.used, 10);
    budget.release(undefined, 4);
    assert.equal(budget.reserve(undefined, 5), false);
    assert.equal(budget.reserve(undefined, 4), true);
  });

  it('gives one holder a third: not one byte more, and what it returns it can have again', () => {
    for (const size of [299, 300, 301]) {
      const budget = new Budget(300);
      const third = 100;
      assert.equal(budget.reserve('a', third - 1), true, 'one below');
      assert.equal(budget.reserve('a', 1), true, 'at the limit');
      assert.equal(budget.reserve('a', 1), false, 'one above');
      budget.release('a', third);
      assert.equal(budget.used, 0);
      assert.equal(new Budget(size).reserve('a', third), size >= 300, `a third of ${size}`);
    }
  });

  it('gives each of n greedy holders at most half of what it leaves, so that a newcomer always finds something', () => {
    const budget = new Budget(32 << 10);
    let left = budget.max;
    for (let n = 0; n < 20; n++) {
      const taken = takeAll(budget, `holder ${n}`);
      assert.ok(taken >= 1, `holder ${n}`);
      assert.ok(taken <= (left - taken) / 2);
      left -= taken;
      assert.equal(budget.used, budget.max - left);
    }
  });

  it('counts a thing that several have in the share of each, and once in the sum', () => {
    const budget = new Budget(90);
    assert.equal(budget.reserve('a', 20), true);
    assert.equal(budget.reserve('b', 20, 0), true);
    assert.equal(budget.used, 20);
    assert.equal(budget.reserve('b', 20), false, 'it has a share of 20 already');
    budget.release('a', 20, 0);
    assert.equal(budget.reserve('a', 20), true, 'its share is free again');
    budget.release('b', 20);
    assert.equal(budget.used, 20);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GOAL_STEPS_MAX, NAME_BYTES_MAX } from './rules.ts';
import { checkSwap, checkSwapAnswer } from './swap.ts';

const WISH = { name: 'Bob', column: 1, row: -1 };

describe('a wish to change places', () => {
  it('is a name and a way, up to their limits', () => {
    assert.deepEqual(checkSwap({ ...WISH, other: 1 }), WISH);
    for (const steps of [GOAL_STEPS_MAX, -GOAL_STEPS_MAX, 0]) {
      assert.equal(checkSwap({ ...WISH, column: steps, row: steps }).row, steps);
      if (steps === 0) continue;
      const more = steps + Math.sign(steps);
      assert.throws(() => checkSwap({ ...WISH, column: more }), isMalformed('column'));
      assert.throws(() => checkSwap({ ...WISH, row: more }), isMalformed('row'));
    }
    assert.equal(checkSwap({ ...WISH, name: 'x'.repeat(NAME_BYTES_MAX) }).name.length, NAME_BYTES_MAX);
    for (const name of ['x'.repeat(NAME_BYTES_MAX + 1), '', undefined, 3])
      assert.throws(() => checkSwap({ ...WISH, name }), isMalformed('name'));
    for (const row of ['1', null, 0.5, undefined]) assert.throws(() => checkSwap({ ...WISH, row }), isMalformed('row'));
    for (const body of [null, [], 'x']) assert.throws(() => checkSwap(body), isMalformed('body'));
  });
});

describe('the answer to it', () => {
  it('is the id of who asks, and yes or no', () => {
    const answer = { from: '1a-3f', accept: false };
    assert.deepEqual(checkSwapAnswer(answer), { from: { slot: 0x1a, generation: 0x3f }, accept: false });
    for (const from of ['', 'Bob', 7, undefined])
      assert.throws(() => checkSwapAnswer({ ...answer, from }), isMalformed('from'));
    for (const accept of [1, 'yes', null])
      assert.throws(() => checkSwapAnswer({ ...answer, accept }), isMalformed('accept'));
  });
});

const isMalformed = (field: string) => (error: unknown) => {
  const { code, field: named } = (error as { document: { code: string; field?: string } }).document;
  return code === 'malformed' && named === field;
};

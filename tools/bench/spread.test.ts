import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { median, spread } from './spread.ts';

describe('spread', () => {
  it('has the median, the least and the most of several rounds', () => {
    assert.equal(
      spread([12.34, 1, 5], (value) => value.toFixed(1)),
      '5.0 (1.0 … 12.3)',
    );
  });

  it('is the value alone after one round', () => assert.equal(spread([7], String), '7'));

  it('takes the higher value in the middle of an even number', () => assert.equal(median([4, 1, 3, 2]), 3));
});

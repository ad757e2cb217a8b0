import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CROSSINGS_REMEMBERED } from '../../wire/rules.ts';
import { AcceptedNumbers } from './accepted_numbers.ts';

describe('the accepted numbers of a desktop', () => {
  it('know each number as far as CROSSINGS_REMEMBERED below the newest, however far that jumps, and call older ones stale', () => {
    for (let jump = 1; jump <= CROSSINGS_REMEMBERED + 1; jump++) {
      for (const first of [1, 2]) {
        const numbers = new AcceptedNumbers(1);
        // With 2, the first number has one behind it already, which the jump carries along.
        for (let number = 1; number <= first; number++) numbers.record(0, number);
        const newest = first + jump;
        numbers.record(0, newest);
        for (let number = 1; number <= newest + 1; number++) {
          const isAccepted = number <= first || number === newest;
          const known = isAccepted ? 'repeated' : 'new';
          const expected = newest - number > CROSSINGS_REMEMBERED ? 'stale' : known;
          assert.equal(numbers.recencyOf(0, number), expected, `${number} after ${first} and ${newest}`);
        }
      }
    }
  });
});

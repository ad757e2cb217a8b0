/** Plays guests.vectors.json with the page's guests. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { guestConstants, playGuests, readGuestVectors } from './guest_vectors.ts';

describe('guests', () => {
  const { constants, cases } = readGuestVectors();

  it('have the numbers of the file', () => assert.deepEqual(guestConstants(), constants));

  for (const one of cases) it(one.name, () => assert.deepEqual(playGuests(one), one.expect));
});

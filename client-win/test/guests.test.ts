/** Plays guests.vectors.json with the page's guests. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Guests } from '../../server/web/desktop/guests.ts';
import { guestConstants, playGuests, readGuestVectors } from './guest_vectors.ts';

describe('guests', () => {
  const { constants, cases } = readGuestVectors();

  it('have the numbers of the file', () => assert.deepEqual(guestConstants(), constants));

  it("are not counted with one's own sprites", () => {
    const guests = new Guests();
    const sprites = [1, 2, 3].map((id) => ({ id }));
    assert.equal(guests.othersOf(sprites), 3);
    guests.add(2, 'Grace', 'right', 0);
    assert.equal(guests.othersOf(sprites), 2);
    guests.remove(2);
    assert.equal(guests.othersOf(sprites), 3);
  });

  for (const one of cases) it(one.name, () => assert.deepEqual(playGuests(one), one.expect));
});

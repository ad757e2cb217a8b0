import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BUCKET_ROWS, bucketOf, TRAVELLERS_MAX, Travellers } from './travellers.ts';

const [LEFT, RIGHT, TOP, BOTTOM] = [0, 1, 2, 3] as const;
const MISO = 0x9e3779b9;
const WISP = 0x7f4a7c15;

/** Travellers between desktops that all have the generation 1, unless the test says otherwise. */
function travellers() {
  const generations = new Map<number, number>();
  return { generations, all: new Travellers((slot) => generations.get(slot) ?? 1) };
}

describe('a traveller', () => {
  it('is a column or a row farther with each desktop that throws it on, in the same direction', () => {
    const { all } = travellers();
    assert.deepEqual(
      [all.crossed(MISO, 1, 2, RIGHT), all.crossed(MISO, 2, 3, RIGHT), all.crossed(MISO, 3, 7, BOTTOM)],
      [1, 2, 3],
    );
  });

  it('gets nowhere when it is thrown to and fro, or once around', () => {
    const { all } = travellers();
    for (let n = 0; n < 5; n++) {
      assert.equal(all.crossed(MISO, 1, 2, RIGHT), 1);
      assert.equal(all.crossed(MISO, 2, 1, LEFT), 0);
    }
    const way = [RIGHT, BOTTOM, LEFT, TOP].map((edge, i) => all.crossed(WISP, i, i + 1, edge));
    assert.deepEqual(way, [1, 2, 1, 0]);
  });

  it('is one picture under one name, and sets out where another one is thrown', () => {
    const { all } = travellers();
    all.crossed(MISO, 1, 2, RIGHT);
    assert.equal(all.crossed(WISP, 2, 3, RIGHT), 1);
    assert.equal(all.crossed(MISO, 2, 3, RIGHT), 2);
    assert.equal(all.crossed(MISO, 2, 3, RIGHT), 1, 'the second one that this desktop throws is its own');
  });

  it('is the farther one of two that look alike on one desktop', () => {
    const { all } = travellers();
    all.crossed(MISO, 1, 2, RIGHT);
    all.crossed(MISO, 2, 3, RIGHT);
    all.crossed(MISO, 4, 3, LEFT);
    assert.equal(all.crossed(MISO, 3, 5, RIGHT), 3);
    all.crossed(MISO, 8, 5, RIGHT);
    assert.equal(all.crossed(MISO, 5, 6, RIGHT), 4, 'a nearer one that came later does not take its place');
  });

  it('sets out again when its desktop has ended and another one has its slot, and on another day', () => {
    const { all, generations } = travellers();
    all.crossed(MISO, 1, 2, RIGHT);
    generations.set(2, 2);
    assert.equal(all.crossed(MISO, 2, 3, RIGHT), 1);
    all.clear();
    assert.equal(all.crossed(MISO, 3, 4, RIGHT), 1);
  });

  it('is forgotten when its bucket is full of others that are farther', () => {
    const { all } = travellers();
    const bucket = bucketOf(MISO, 1000);
    const slots = [1000];
    for (let slot = 1001; slots.length < BUCKET_ROWS + 1; slot++) if (bucketOf(MISO, slot) === bucket) slots.push(slot);
    /** A sprite comes to a desktop from `distance` desktops away. */
    const come = (slot: number, distance: number) => {
      for (let n = 1; n <= distance; n++) all.crossed(MISO, n - 1, n === distance ? slot : n, RIGHT);
    };
    const isThere = (slot: number) => all.crossed(MISO, slot, slot, RIGHT) > 1;
    for (const [i, slot] of slots.slice(0, BUCKET_ROWS - 1).entries()) come(slot, 5 + i);
    assert.deepEqual(slots.map(isThere), [true, true, true, false, false], 'one below the limit');
    all.clear();
    for (const [i, slot] of slots.slice(0, BUCKET_ROWS).entries()) come(slot, 5 + i);
    assert.deepEqual(slots.map(isThere), [true, true, true, true, false], 'at the limit');
    all.clear();
    for (const [i, slot] of slots.entries()) come(slot, 5 + i);
    assert.deepEqual(
      slots.toReversed().map(isThere),
      [true, true, true, true, false],
      'one above: the nearest one is gone',
    );
  });

  it('is one of TRAVELLERS_MAX at most, however many there are', () => {
    const { all } = travellers();
    const count = 2 * TRAVELLERS_MAX;
    for (let n = 0; n < count; n++) all.crossed(Math.imul(n, MISO) >>> 0, 1, 2, RIGHT);
    let followed = 0;
    for (let n = 0; n < count; n++) if (all.crossed(Math.imul(n, MISO) >>> 0, 2, 3, RIGHT) > 1) followed++;
    assert.ok(followed <= TRAVELLERS_MAX && followed > TRAVELLERS_MAX / 4, `${followed} are followed`);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomOf } from '../../test/random.ts';
import { EDGES, type EdgeNumber, opposite } from '../../wire/rules.ts';
import { placeBeyond, Torus, type World, wayBetween, widthOf } from './torus.ts';

const [LEFT, RIGHT, TOP, BOTTOM] = [0, 1, 2, 3] as const;
const EDGE_NUMBERS: readonly EdgeNumber[] = [LEFT, RIGHT, TOP, BOTTOM];
const EXHAUSTIVE_MAX = 4096;

/** 2^⌊log4 n⌋, computed without floating point: the width of a world that has only grown. */
function grownWidth(count: number): number {
  let width = 1;
  while (4 * width * width <= count) width *= 2;
  return width;
}

/** Every width that a world of `count` can have: the one it grows to, and a wider one that it keeps while n ≥ ¾·4^m. */
function widthsInForce(count: number): number[] {
  const grown = grownWidth(count);
  return 4 * count >= 3 * (2 * grown) ** 2 ? [grown, 2 * grown] : [grown];
}

/** Calls `each` for every world size up to EXHAUSTIVE_MAX and every width it can have. */
function everyWorld(each: (count: number, width: number) => void): void {
  for (let count = 1; count <= EXHAUSTIVE_MAX; count++) {
    for (const width of widthsInForce(count)) each(count, width);
  }
}

function worldOf(torus: Torus, name = 'commons'): World {
  const world = torus.findOrAdd(name);
  assert.ok(world);
  return world;
}

const seated = (world: World) => [...world.slots.subarray(0, world.count)];

/** A torus with slots 0 … n−1 in one world, in that order. */
function rowOf(count: number, slots = count + 8): { torus: Torus; world: World } {
  const torus = new Torus(slots, 8);
  const world = worldOf(torus);
  for (let slot = 0; slot < count; slot++) torus.seat(slot, world);
  return { torus, world };
}

describe('torus, every edge of every place at every size', () => {
  it('leads to another place if there are at least two desktops, and back to the only one otherwise', () => {
    everyWorld((count, width) => {
      for (let place = 0; place < count; place++) {
        for (const edge of EDGE_NUMBERS) {
          const beyond = placeBeyond(place, edge, count, width);
          const inside = Number.isInteger(beyond) && beyond >= 0 && beyond < count;
          if (!inside || (beyond === place) !== (count === 1))
            assert.fail(`${place} ${EDGES[edge]} of ${count}/${width}`);
        }
      }
    });
  });

  it('leads back by the opposite edge', () => {
    everyWorld((count, width) => {
      for (let place = 0; place < count; place++) {
        for (const edge of EDGE_NUMBERS) {
          const back = placeBeyond(placeBeyond(place, edge, count, width), opposite(edge), count, width);
          if (back !== place) assert.fail(`${place} ${EDGES[edge]} of ${count}/${width} comes back to ${back}`);
        }
      }
    });
  });

  it('leads back by right, down, left, up, and by left, down, right, up', () => {
    everyWorld((count, width) => {
      for (let place = 0; place < count; place++) {
        for (const walk of [
          [RIGHT, BOTTOM, LEFT, TOP],
          [BOTTOM, RIGHT, TOP, LEFT],
        ] as const) {
          let at = place;
          for (const edge of walk) at = placeBeyond(at, edge, count, width);
          if (at !== place) assert.fail(`${walk} from ${place} of ${count}/${width} ends at ${at}`);
        }
      }
    });
  });

  it('is k ± 1 and k ± w modulo n', () => {
    everyWorld((count, width) => {
      const steps = [-1, 1, -width, width];
      for (let place = 0; place < count; place++) {
        for (const edge of EDGE_NUMBERS) {
          const expected = (((place + steps[edge]) % count) + count) % count;
          if (placeBeyond(place, edge, count, width) !== expected) assert.fail(`${place} ${edge} of ${count}/${width}`);
        }
      }
    });
  });

  it('is reached by exactly one neighbour through each edge', () => {
    for (let count = 1; count <= 512; count++) {
      for (const width of widthsInForce(count)) {
        for (const edge of EDGE_NUMBERS) {
          const reached = new Set(Array.from({ length: count }, (_, place) => placeBeyond(place, edge, count, width)));
          assert.equal(reached.size, count);
        }
      }
    }
  });
});

describe('torus, its width', () => {
  it('is 2^⌊log4 n⌋ in a world that only grows', () => {
    let width = 1;
    for (let count = 0; count <= 300_000; count++) {
      width = widthOf(count, width);
      if (width !== grownWidth(count)) assert.fail(`${width} at ${count}`);
    }
  });

  it('grows at 4^m and shrinks below ¾·4^m, nowhere else', () => {
    const changes: string[] = [];
    let width = 1;
    const step = (count: number) => {
      const next = widthOf(count, width);
      if (next !== width) changes.push(`${count}: ${width} to ${next}`);
      width = next;
    };
    for (let count = 1; count <= 5000; count++) step(count);
    assert.deepEqual(changes.splice(0), [
      '4: 1 to 2',
      '16: 2 to 4',
      '64: 4 to 8',
      '256: 8 to 16',
      '1024: 16 to 32',
      '4096: 32 to 64',
    ]);
    for (let count = 5000; count >= 0; count--) step(count);
    assert.deepEqual(changes, [
      '3071: 64 to 32',
      '767: 32 to 16',
      '191: 16 to 8',
      '47: 8 to 4',
      '11: 4 to 2',
      '2: 2 to 1',
    ]);
  });

  it('does not oscillate: when one desktop joins and leaves repeatedly, at any size, it changes at most once', () => {
    for (let count = 1; count <= EXHAUSTIVE_MAX; count++) {
      for (const before of widthsInForce(count)) {
        let changes = 0;
        let width = before;
        for (let n = 0; n < 6; n++) {
          const next = widthOf(n % 2 ? count : count + 1, width);
          if (next !== width) changes++;
          width = next;
        }
        assert.ok(changes <= 1, `${changes} changes at ${count} from ${before}`);
      }
    }
  });

  it('is right after one call, however much the size has changed', () => {
    assert.equal(widthOf(4096, 1), 64);
    assert.equal(widthOf(1, 64), 1);
    assert.equal(widthOf(0, 64), 1);
    assert.equal(widthOf(2 ** 24, 1), 4096);
  });

  it('follows the size of its world as desktops join and leave', () => {
    const { torus, world } = rowOf(0, 1100);
    for (let slot = 0; slot < 1100; slot++) {
      torus.seat(slot, world);
      assert.equal(world.width, grownWidth(world.count));
    }
    let width = world.width;
    for (let slot = 0; slot < 1100; slot++) {
      torus.unseat(slot);
      width = widthOf(world.count, width);
      assert.equal(world.width, width);
      assert.ok(world.count === 0 || widthsInForce(world.count).includes(width));
    }
  });
});

describe('torus, joining and leaving', () => {
  it('seats a new desktop at the last place and moves no other', () => {
    const { torus, world } = rowOf(0, 300);
    for (let slot = 0; slot < 300; slot++) {
      torus.seat(slot, world);
      assert.equal(torus.placeOf(slot), slot);
      assert.equal(world.count, slot + 1);
    }
    assert.deepEqual(
      seated(world),
      Array.from({ length: 300 }, (_, slot) => slot),
    );
  });

  it('moves the desktop at the last place into the gap and no other, from every place', () => {
    for (const count of [1, 2, 3, 4, 5, 17, 64, 65]) {
      for (let gone = 0; gone < count; gone++) {
        const { torus, world } = rowOf(count);
        torus.unseat(gone);
        const expected = Array.from({ length: count }, (_, slot) => slot);
        const last = expected.pop() as number;
        if (gone !== last) expected[gone] = last;
        assert.deepEqual(seated(world), expected, `${gone} of ${count}`);
        for (const [place, slot] of expected.entries()) assert.equal(torus.placeOf(slot), place);
      }
    }
  });

  it('seats an invited desktop to the right of its friend by exactly one swap, from every place', () => {
    for (const count of [1, 2, 3, 4, 5, 15, 16, 63, 64]) {
      for (let friend = 0; friend < count; friend++) {
        const { torus, world } = rowOf(count);
        torus.seat(count, world, friend);
        assert.equal(torus.neighbour(friend, RIGHT), count, `${friend} of ${count}`);
        assert.equal(torus.neighbour(count, LEFT), friend);
        const moved = seated(world).filter((slot, place) => slot !== place);
        // No desktop moves when the last place is already the one to the right.
        assert.deepEqual(moved, friend === count - 1 ? [] : [count, friend + 1]);
        assert.deepEqual(
          moved.map((slot) => torus.placeOf(slot)),
          friend === count - 1 ? [] : [friend + 1, count],
        );
      }
    }
  });

  it('seats the second desktop on every side of the first', () => {
    const { torus } = rowOf(2);
    for (const edge of EDGE_NUMBERS) {
      assert.equal(torus.neighbour(0, edge), 1);
      assert.equal(torus.neighbour(1, edge), 0);
    }
  });

  it('leads back to the only desktop when all others have left', () => {
    const { torus, world } = rowOf(70);
    for (let slot = 69; slot > 0; slot--) torus.unseat((slot + 35) % 70 || 35);
    const [alone] = seated(world);
    assert.equal(world.count, 1);
    for (const edge of EDGE_NUMBERS) assert.equal(torus.neighbour(alone, edge), alone);
  });

  it('frees the memory of empty places, and never that of others', () => {
    const { torus, world } = rowOf(10_000);
    const slotsAtPeak = world.slots.length;
    for (let slot = 0; slot < 9_990; slot++) {
      torus.unseat(slot);
      assert.ok(world.slots.length >= world.count);
    }
    assert.ok(world.slots.length <= 64 && slotsAtPeak >= 10_000, `${slotsAtPeak} then ${world.slots.length}`);
    assert.deepEqual(
      seated(world).sort((a, b) => a - b),
      Array.from({ length: 10 }, (_, n) => 9_990 + n),
    );
  });
});

describe('torus, worlds', () => {
  it('are added when first requested and found by name', () => {
    const torus = new Torus(8, 4);
    assert.equal(torus.find('commons'), undefined);
    const commons = worldOf(torus);
    assert.equal(worldOf(torus), commons);
    assert.equal(torus.find('commons'), commons);
    assert.equal(torus.worldCount, 1);
    assert.notEqual(worldOf(torus, '__proto__'), worldOf(torus, 'constructor'));
  });

  it('are added up to the limit, and again when one is removed', () => {
    const torus = new Torus(8, 3);
    const worlds = ['a', 'b', 'c'].map((name) => worldOf(torus, name));
    assert.equal(torus.findOrAdd('d'), undefined);
    assert.equal(torus.worldCount, 3);
    assert.equal(torus.findOrAdd('b'), worlds[1]);
    torus.remove(worlds[1]);
    assert.equal(torus.find('b'), undefined);
    const d = worldOf(torus, 'd');
    assert.deepEqual([...torus.worlds()].map(({ name }) => name).sort(), ['a', 'c', 'd']);
    assert.equal(new Set([...torus.worlds()].map(({ index }) => index)).size, 3);
    torus.seat(5, d);
    assert.equal(torus.worldOf(5), d);
  });

  it('have no neighbours in another world', () => {
    const torus = new Torus(3000, 3);
    const worlds = ['a', 'b', 'c'].map((name) => worldOf(torus, name));
    for (let slot = 0; slot < 3000; slot++) torus.seat(slot, worlds[slot % 3]);
    for (let slot = 0; slot < 3000; slot += 7) if (slot % 3 !== 2) torus.unseat(slot);
    for (let slot = 0; slot < 3000; slot++) {
      if (slot % 7 === 0 && slot % 3 !== 2) continue;
      assert.equal(torus.worldOf(slot), worlds[slot % 3]);
      for (const edge of EDGE_NUMBERS) assert.equal(torus.neighbour(slot, edge) % 3, slot % 3);
    }
  });
});

describe('torus, a long random run', () => {
  it('keeps every rule through joins, leaves, swaps and invitations of up to 100,000 desktops in several worlds (seeded)', (t) => {
    const random = randomOf(t);
    const pick = (end: number) => Math.floor(random() * end);
    const slots = 120_000;
    const torus = new Torus(slots, 8);
    // The model: the desktop at each place, in plain arrays, by the rules as they are written.
    const worlds = ['commons', 'office', 'pair'].map((name) => ({
      world: worldOf(torus, name),
      seats: [] as number[],
      width: 1,
    }));
    const free = Array.from({ length: slots }, (_, slot) => slot);
    const placeOf = new Map<number, number>();

    const resize = (model: (typeof worlds)[number]) => {
      const { seats, width } = model;
      const count = seats.length;
      if (count >= 4 * width * width) model.width = 2 * width;
      else if (width > 1 && 4 * count < 3 * width * width) model.width = width / 2;
      assert.equal(model.world.width, model.width, `width of ${count}`);
      assert.equal(model.world.count, count);
    };
    const check = (model: (typeof worlds)[number], place: number) => {
      const { seats, width, world } = model;
      const count = seats.length;
      if (count === 0) return;
      const at = ((place % count) + count) % count;
      const slot = seats[at];
      assert.equal(world.slots[at], slot);
      assert.equal(torus.placeOf(slot), at);
      assert.equal(torus.worldOf(slot), world);
      const beyond = [at - 1, at + 1, at - width, at + width].map((to) => seats[(to + count) % count]);
      for (const edge of EDGE_NUMBERS) {
        const neighbour = torus.neighbour(slot, edge);
        assert.equal(neighbour, beyond[edge]);
        assert.equal(torus.neighbour(neighbour, opposite(edge)), slot);
        assert.equal(neighbour === slot, count === 1);
      }
    };
    const join = (model: (typeof worlds)[number]) => {
      const slot = free.pop();
      if (slot === undefined) return;
      const { seats, world } = model;
      const friend = seats.length > 0 && random() < 0.3 ? pick(seats.length) : undefined;
      torus.seat(slot, world, friend === undefined ? undefined : seats[friend]);
      seats.push(slot);
      const last = seats.length - 1;
      if (friend !== undefined && friend + 1 < last) {
        [seats[friend + 1], seats[last]] = [slot, seats[friend + 1]];
        placeOf.set(seats[friend + 1], friend + 1);
      }
      placeOf.set(seats[last], last);
      resize(model);
      if (friend !== undefined) assert.equal(torus.neighbour(seats[friend], RIGHT), slot);
      for (const place of [0, last, friend ?? pick(last + 1)]) check(model, place);
    };
    const leave = (model: (typeof worlds)[number]) => {
      const { seats } = model;
      if (seats.length === 0) return;
      const gap = pick(seats.length);
      const slot = seats[gap];
      torus.unseat(slot);
      const last = seats.pop() as number;
      if (last !== slot) {
        seats[gap] = last;
        placeOf.set(last, gap);
      }
      placeOf.delete(slot);
      free.push(slot);
      resize(model);
      for (const place of [0, gap, pick(seats.length + 1)]) check(model, place);
    };

    const swap = (model: (typeof worlds)[number]) => {
      const { seats } = model;
      if (seats.length === 0) return;
      const [one, other] = [pick(seats.length), pick(seats.length)];
      torus.swap(seats[one], seats[other]);
      [seats[one], seats[other]] = [seats[other], seats[one]];
      for (const place of [one, other]) {
        placeOf.set(seats[place], place);
        check(model, place);
      }
    };

    // The worlds grow, vary, and shrink again; the small ones become empty and come back.
    for (const [steps, joins] of [
      [110_000, 0.95],
      [40_000, 0.5],
      [110_000, 0.05],
    ]) {
      for (let n = 0; n < steps; n++) {
        const model = random() < 0.9 ? worlds[0] : worlds[1 + pick(2)];
        if (random() < 0.2) swap(model);
        if (random() < (model === worlds[2] ? 0.5 : joins)) join(model);
        else leave(model);
      }
      for (const model of worlds) {
        assert.deepEqual(seated(model.world), model.seats);
        for (let place = 0; place < model.seats.length; place++) check(model, place);
      }
    }
    for (const [slot, place] of placeOf) assert.equal(torus.placeOf(slot), place);
  });
});

describe('torus, the way between two places', () => {
  it('leads there over edges, and no other way is shorter', () => {
    for (let count = 1; count <= 70; count++) {
      for (const width of widthsInForce(count)) {
        const far = new Map([[0, 0]]);
        for (const [place, steps] of far) {
          for (const edge of EDGE_NUMBERS) {
            const beyond = placeBeyond(place, edge, count, width);
            if (!far.has(beyond)) far.set(beyond, steps + 1);
          }
        }
        for (let to = 0; to < count; to++) {
          const { column, row } = wayBetween(0, to, count, width);
          let at = 0;
          for (let n = 0; n < Math.abs(column); n++) at = placeBeyond(at, column > 0 ? RIGHT : LEFT, count, width);
          for (let n = 0; n < Math.abs(row); n++) at = placeBeyond(at, row > 0 ? BOTTOM : TOP, count, width);
          assert.deepEqual([at, Math.abs(column) + Math.abs(row)], [to, far.get(to)], `${to} of ${count}/${width}`);
        }
      }
    }
  });

  it('goes along the row where another one is as short', () => {
    assert.deepEqual(wayBetween(0, 1, 2, 1), { column: 1, row: 0 });
    assert.deepEqual(wayBetween(1, 0, 2, 1), { column: 1, row: 0 });
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY_STEP_MS, MOST_THROWN_MAX } from '../domain/state/limits.ts';
import { checkedCrossing } from '../test/passages.ts';
import { type Guest, joined, makeRelay } from '../test/relay_harness.ts';
import { EDGES, type EdgeNumber } from '../wire/rules.ts';
import { DAY_MS, Flights, LOOKS_PER_STEP_MAX, PART_MS, STEP_MS } from './flights.ts';

const [CAT, DOG] = ['c'.repeat(64), 'd'.repeat(64)];
const [LEFT, RIGHT] = [0, 1] as const;
const NOON_MS = 20_000 * DAY_MS + DAY_MS / 2;

/** Flights of a relay with desktops in the default world, and what they throw. */
function flightsOf(desktops = 2) {
  const relay = makeRelay({ slots: 64 });
  const guests = Array.from({ length: desktops }, (_, i) => joined(relay, { name: `D${i}` }));
  const flights = new Flights(relay);
  let crossings = 0;
  /** A desktop throws a sprite, and the relay accepts it. */
  const cross = (from: Guest, file: string, edge: EdgeNumber = RIGHT, name = 'file') => {
    const motion = `"edge":"${EDGES[edge]}","at":0,"vx":0,"vy":0`;
    const passage = `???,${motion},"sprite":{"file":"${file}","name":"${name}","animation":"fall"}}`;
    const crossing = { ...checkedCrossing(++crossings, edge, passage), start: 3 };
    relay.advance(1_000_000 + 100 * crossings); // no desktop throws too fast
    assert.equal(relay.accept(from, crossing).verdict, 'accepted');
    flights.count(from.slot, crossing);
  };
  /** Throws around a world in which everybody throws to the right what has come. */
  const travel = (steps: number, file = CAT, name = 'Miso') => {
    for (let n = 0; n < steps; n++) cross(guests[n % desktops], file, RIGHT, name);
  };
  return { relay, guests, flights, cross, travel };
}

describe('flights', () => {
  it('of tracked pictures are counted, and forgotten after a minute', () => {
    const { flights, cross, guests } = flightsOf();
    flights.track([CAT]);
    flights.advance(0, NOON_MS);
    for (const file of [CAT, DOG, CAT]) cross(guests[0], file);
    assert.deepEqual(flights.newest, { [CAT]: 2 });
    for (let ms = PART_MS; ms < 6 * PART_MS; ms += PART_MS) flights.advance(ms, NOON_MS);
    assert.deepEqual(flights.newest, { [CAT]: 2 });
    flights.advance(6 * PART_MS, NOON_MS);
    assert.deepEqual(flights.newest, {});
  });

  it('keep their counts when others are tracked too', () => {
    const { flights, cross, guests } = flightsOf();
    flights.track([CAT]);
    flights.advance(0, NOON_MS);
    cross(guests[0], CAT);
    flights.track([DOG, CAT]);
    cross(guests[0], DOG);
    assert.deepEqual(flights.newest, { [DOG]: 1, [CAT]: 1 });
    flights.track([DOG]);
    assert.deepEqual(flights.newest, { [DOG]: 1 });
  });

  it('are estimated from LOOKS_PER_STEP_MAX crossings when a step has more, also those of the day', () => {
    const { flights, relay, guests } = flightsOf();
    const throwAlike = (file: string) =>
      flights.count(
        guests[0].slot,
        checkedCrossing(1, RIGHT, `"sprite":{"file":"${file}","name":"","animation":"x"}}`),
      );
    flights.track([CAT, DOG]);
    flights.advance(0, NOON_MS);
    for (let n = 0; n < 10 * LOOKS_PER_STEP_MAX; n++) throwAlike(n % 2 ? CAT : DOG);
    const half = 5 * LOOKS_PER_STEP_MAX;
    assert.deepEqual(flights.newest, { [CAT]: half, [DOG]: half });
    flights.advance(STEP_MS, NOON_MS);
    throwAlike(CAT);
    assert.ok(flights.newest[CAT] > half, 'the next step looks again');
    flights.advance(PART_MS, NOON_MS);
    // Of 641 crossings 65 were looked at, 33 of the cat.
    assert.deepEqual(relay.day.mostThrown, [
      { file: CAT, times: 325 },
      { file: DOG, times: 316 },
    ]);
  });
});

describe('the day', () => {
  it('has the pictures that were thrown most in the default world, and none of private worlds', () => {
    const { flights, relay, guests, cross } = flightsOf();
    const hidden = joined(relay, { world: 'hidden' });
    flights.track([CAT, DOG]);
    flights.advance(0, NOON_MS);
    for (const file of [CAT, DOG, DOG, 'e'.repeat(64)]) cross(guests[0], file);
    for (let n = 0; n < 5; n++) cross(hidden, CAT);
    flights.advance(DAY_STEP_MS, NOON_MS);
    assert.deepEqual(relay.day.mostThrown, [
      { file: DOG, times: 2 },
      { file: CAT, times: 1 },
    ]);
    assert.equal(relay.day.thrown, 4, 'all that were thrown in the default world');
    assert.deepEqual(flights.newest, { [CAT]: 6, [DOG]: 2 });
  });

  it('ranks MOST_THROWN_MAX pictures at most', () => {
    const { flights, relay, guests, cross } = flightsOf();
    const files = Array.from({ length: MOST_THROWN_MAX + 1 }, (_, i) => i.toString(16).repeat(64));
    flights.track(files);
    flights.advance(0, NOON_MS);
    for (const [i, file] of files.entries()) {
      for (let times = 0; times <= i; times++) cross(guests[0], file);
      flights.advance((i + 1) * DAY_STEP_MS, NOON_MS);
      assert.equal(relay.day.mostThrown.length, Math.min(i + 1, MOST_THROWN_MAX));
    }
    assert.deepEqual(relay.day.mostThrown[0], { file: files.at(-1), times: files.length });
    assert.ok(!relay.day.mostThrown.some(({ file }) => file === files[0]));
  });

  it('has the sprite that came farthest, with the name of its thrower only if that allows it', () => {
    const { flights, relay, guests, travel, cross } = flightsOf(4);
    flights.track([CAT, DOG]);
    flights.advance(0, NOON_MS);
    travel(2);
    assert.deepEqual(flights.show().farthest, { file: CAT, desktops: 2, name: null });
    relay.setNamed(guests[2].slot, true);
    cross(guests[2], CAT, RIGHT, 'Miso');
    assert.deepEqual(flights.show().farthest, { file: CAT, desktops: 3, name: 'D2' });
    cross(guests[3], CAT, RIGHT, 'another');
    travel(3, DOG);
    assert.deepEqual(flights.show().farthest, { file: CAT, desktops: 3, name: 'D2' }, 'as far is not farther');
    relay.setNamed(guests[2].slot, false);
    assert.deepEqual(flights.show().farthest, { file: CAT, desktops: 3, name: null });
  });

  it('has no sprite that came home, or that was thrown in a private world', () => {
    const { flights, relay, guests, cross } = flightsOf(1);
    flights.track([CAT]);
    flights.advance(0, NOON_MS);
    cross(guests[0], CAT);
    const hidden = [joined(relay, { world: 'hidden' }), joined(relay, { world: 'hidden' })];
    for (const one of hidden) cross(one, CAT);
    assert.equal(flights.show().farthest, null);
    joined(relay);
    cross(guests[0], CAT, LEFT);
    assert.equal(flights.show().farthest?.desktops, 1);
  });

  it('ends at midnight in UTC, and when the clock is set to another one, but not the count of all days', () => {
    const { flights, relay, travel, guests, cross } = flightsOf();
    flights.track([CAT]);
    flights.advance(0, NOON_MS);
    travel(3);
    const midnightMs = NOON_MS + DAY_MS / 2;
    flights.advance(DAY_STEP_MS, midnightMs - 1);
    assert.deepEqual([relay.day.mostThrown.length, relay.day.farthest?.desktops], [1, 3]);
    flights.advance(2 * DAY_STEP_MS, midnightMs);
    assert.deepEqual([relay.day.mostThrown, relay.day.farthest, relay.day.thrown], [[], undefined, 3]);
    cross(guests[1], CAT, RIGHT, 'Miso');
    flights.advance(3 * DAY_STEP_MS, midnightMs + 1);
    assert.deepEqual(relay.day.mostThrown, [{ file: CAT, times: 1 }]);
    assert.equal(relay.day.farthest?.desktops, 1, 'travellers set out again');
    flights.advance(4 * DAY_STEP_MS, midnightMs - DAY_MS);
    assert.deepEqual(relay.day.mostThrown, []);
  });

  it('goes on after a restart with what it had, without pictures that are no longer in the gallery', () => {
    const { relay } = flightsOf();
    const farthest = { file: DOG, desktops: 9, slot: 0, generation: 1, name: 'Ann' };
    relay.day.restore({ thrown: 70, day: 20_000, mostThrown: [{ file: CAT, times: 7 }], farthest });
    const flights = new Flights(relay);
    flights.track([CAT, DOG]);
    flights.advance(0, NOON_MS);
    const { thrown, mostThrown, farthest: far } = flights.show();
    assert.deepEqual([thrown, mostThrown, far?.name], [70, [{ file: CAT, times: 7 }], 'Ann']);
    flights.track([]);
    flights.advance(DAY_STEP_MS, NOON_MS);
    assert.deepEqual([relay.day.mostThrown, relay.day.farthest], [[], undefined]);
  });
});

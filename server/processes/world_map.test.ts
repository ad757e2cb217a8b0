import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FLIGHTS_KEPT, MAP_SIDE, SAMPLE_MS, SHOWN_MS, WorldMap } from './world_map.ts';

const CAT = 'c'.repeat(64);
const [LEFT, RIGHT] = [0, 1] as const;

describe('the map of the world', () => {
  it('shows where a sprite left, over which edge, and the size of the grid', () => {
    const map = new WorldMap();
    map.advance(0);
    map.add(CAT, LEFT, 5, 7, 2); // the second of three rows is 2 3, the third 4 5, and the last 6
    const { desktops, columns, rows, flights } = map.show(7, 2);
    assert.deepEqual({ desktops, columns, rows }, { desktops: 7, columns: 2, rows: 4 });
    assert.deepEqual(flights, [{ number: 1, file: CAT, x: 0.75, y: 0.625, edge: 'left' }]);
  });

  it('takes one sprite in SAMPLE_MS', () => {
    const map = new WorldMap();
    for (const atMs of [0, SAMPLE_MS - 1, SAMPLE_MS]) {
      map.advance(atMs);
      map.add(CAT, RIGHT, 0, 1, 1);
      map.add(CAT, RIGHT, 0, 1, 1);
    }
    assert.deepEqual(
      map.show(1, 1).flights.map(({ number }) => number),
      [1, 2],
    );
  });

  it('keeps the newest FLIGHTS_KEPT, and forgets them after SHOWN_MS', () => {
    const map = new WorldMap();
    for (let n = 0; n <= FLIGHTS_KEPT; n++) {
      map.advance(n * SAMPLE_MS);
      map.add(CAT, RIGHT, 0, 1, 1);
      assert.equal(map.show(1, 1).flights.length, Math.min(n + 1, FLIGHTS_KEPT));
    }
    assert.equal(map.show(1, 1).flights[0].number, 2, 'the oldest one is gone');
    const last = FLIGHTS_KEPT * SAMPLE_MS;
    map.advance(last + SHOWN_MS - 1);
    assert.equal(map.show(1, 1).flights.length, 1);
    map.advance(last + SHOWN_MS);
    assert.deepEqual(map.show(1, 1).flights, []);
  });

  it('has a cell for many desktops of a large world, so it does not say which one threw', () => {
    const [width, count] = [1024, 1024 * 1024];
    const cells = new Set<string>();
    const map = new WorldMap();
    for (let place = 0; place < 16; place++) {
      map.advance(place * SAMPLE_MS);
      map.add(CAT, RIGHT, place, count, width);
    }
    for (const { x, y } of map.show(count, width).flights) {
      assert.ok([x, y].every((one) => Number.isInteger(one * MAP_SIDE) && one >= 0 && one < 1));
      cells.add(`${x} ${y}`);
    }
    assert.equal(cells.size, 1, 'sixteen neighbours are in one cell');
  });
});

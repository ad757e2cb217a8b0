import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Arrivals } from './arrivals.ts';
import type { Sprite } from './simulation.ts';
import type { Arrival, RelayEvent } from './transport.ts';

const arrival = (seq: number) => ({ type: 'sprite', seq }) as Arrival;
const ping: RelayEvent = { type: 'ping' };

/** A world with so much room, by the numbers of those who are in it. */
function begin(room: number) {
  const inside: number[] = [];
  const world = { room, inside };
  const arrivals = new Arrivals({
    enter({ seq }) {
      if (inside.length >= world.room) return null;
      inside.push(seq);
      return { x: seq } as Sprite;
    },
    takeAway: ({ x }) => inside.splice(inside.indexOf(x), 1),
  });
  const waiting = () => arrivals.waiting.map(({ seq }) => seq);
  return { arrivals, world, inside, waiting };
}

describe('arrivals', () => {
  it('take in each event once, by its number, and nothing that is no sprite', () => {
    const { arrivals, inside } = begin(9);
    arrivals.takeIn([arrival(0), ping, arrival(1)]);
    arrivals.takeIn([arrival(1), arrival(2)]);
    assert.deepEqual(inside, [0, 1, 2]);
    assert.equal(arrivals.seq, 2);
  });

  it('wait for room, and come in in the order they came', () => {
    const { arrivals, world, inside, waiting } = begin(1);
    arrivals.takeIn([arrival(1), arrival(2), arrival(3)]);
    assert.deepEqual([inside, waiting()], [[1], [2, 3]]);
    world.room = 2;
    arrivals.letIn();
    assert.deepEqual([inside, waiting()], [[1, 2], [3]]);
  });

  it('of the last batch go again when the relay has passed it on, whether they are in, came in late or still wait', () => {
    const { arrivals, world, inside, waiting } = begin(2);
    arrivals.takeIn([arrival(1)]);
    arrivals.takeIn([arrival(2), arrival(3), arrival(4)]);
    world.room = 3;
    arrivals.letIn();
    assert.deepEqual([inside, waiting()], [[1, 2, 3], [4]]);
    arrivals.loseLast();
    assert.deepEqual([inside, waiting()], [[1], []]);
    arrivals.loseLast();
    assert.deepEqual(inside, [1]);
  });

  it('of batches before the last one stay, also those who wait', () => {
    const { arrivals, inside, waiting } = begin(1);
    arrivals.takeIn([arrival(1), arrival(2)]);
    arrivals.takeIn([ping]);
    arrivals.loseLast();
    assert.deepEqual([inside, waiting()], [[1], [2]]);
  });

  it('stay when the relay counts from the beginning, and its numbers are new ones', () => {
    const { arrivals, inside, waiting } = begin(2);
    arrivals.takeIn([arrival(7), arrival(8), arrival(9)]);
    arrivals.beginAnew();
    arrivals.loseLast();
    assert.deepEqual([inside, waiting()], [[7, 8], [9]]);
    arrivals.takeIn([arrival(7)]);
    assert.deepEqual(waiting(), [9, 7]);
  });
});

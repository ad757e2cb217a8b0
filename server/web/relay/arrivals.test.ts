import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Sprite } from '../motion/simulation.ts';
import { Arrivals, REMOVED_MAX, WAITING_MAX } from './arrivals.ts';
import type { Arrival } from './transport.ts';

const arrival = (seq: number) => ({ type: 'sprite', seq }) as Arrival;

/** A page with room for so many sprites; `inside` lists those that entered, by sequence number. */
function begin(room: number) {
  const inside: number[] = [];
  const page = { room, inside };
  const arrivals = new Arrivals({
    enter({ seq, sprite }) {
      if (inside.length >= page.room) return null;
      inside.push(seq);
      return { x: seq, file: sprite?.file } as Sprite;
    },
    remove: ({ x }) => inside.splice(inside.indexOf(x), 1),
  });
  const waiting = () => arrivals.waiting.map(({ seq }) => seq);
  return { arrivals, page, inside, waiting };
}

describe('arrivals', () => {
  it('asks for no more events while too many sprites wait', async () => {
    const { arrivals, page } = begin(0);
    arrivals.receive(Array.from({ length: WAITING_MAX + 1 }, (_, seq) => arrival(seq)));
    let resolved = false;
    const room = arrivals.untilRoom().then(() => {
      resolved = true;
    });
    for (const { limit, expected } of [
      { limit: 1, expected: false },
      { limit: 2, expected: true },
    ]) {
      page.room = limit;
      arrivals.admitWaiting();
      await turn();
      assert.equal(resolved, expected, `${arrivals.waiting.length} wait`);
    }
    await room;
    await arrivals.untilRoom();
  });

  it('removes the last batch also when the page was reloaded after it', () => {
    const before = begin(2);
    before.arrivals.receive([arrival(1)]);
    before.arrivals.receive([arrival(2), arrival(3)]);
    assert.deepEqual(
      before.arrivals.waiting.map((one) => before.arrivals.seqInLastBatch(one)),
      [3],
    );
    const { arrivals, inside, waiting } = begin(0);
    inside.push(1, 2);
    arrivals.waiting.push(arrival(3));
    arrivals.resumeLastBatch({ x: 2 } as Sprite, 2);
    arrivals.resumeLastBatch(arrivals.waiting[0], 3);
    arrivals.removeAfter(2);
    assert.deepEqual([inside, waiting()], [[1, 2], []]);
    arrivals.removeAfter(0);
    assert.deepEqual(inside, [1]);
  });

  it('keeps what is here when the relay numbers its events from the start again', () => {
    const { arrivals, inside, waiting } = begin(1);
    arrivals.receive([arrival(7), arrival(8)]);
    arrivals.restart();
    arrivals.removeAfter(0);
    assert.deepEqual([inside, waiting()], [[7], [8]]);
    arrivals.receive([arrival(0)]);
    assert.deepEqual([arrivals.seq, waiting()], [0, [8, 0]]);
  });

  it('removes what a former seat did not acknowledge, whatever came to the new one meanwhile', () => {
    for (const { lostAfter, left } of [
      { lostAfter: 0, left: [[1], [1]] },
      { lostAfter: 2, left: [[1, 2], [1]] },
      {
        lostAfter: Number.POSITIVE_INFINITY,
        left: [
          [1, 2, 3],
          [4, 1],
        ],
      },
    ]) {
      const { arrivals, page, inside, waiting } = begin(2);
      arrivals.receive([arrival(1)]);
      arrivals.receive([arrival(2), arrival(3), arrival(4)]);
      const doubtful = arrivals.changeSeat();
      arrivals.receive([arrival(1)]);
      page.room = 3;
      arrivals.admitWaiting();
      assert.deepEqual(
        [inside, waiting()],
        [
          [1, 2, 3],
          [4, 1],
        ],
      );
      assert.equal(arrivals.seqInLastBatch(arrivals.waiting[0]), undefined);
      arrivals.settle(doubtful, lostAfter);
      assert.deepEqual([inside, waiting()], left);
    }
  });

  it('lets no sprite of a removed picture wait or enter, and still counts its events as received', async () => {
    const { arrivals, page, inside, waiting } = begin(1);
    const of = (seq: number, file: string) => ({ type: 'sprite', seq, sprite: { file } }) as Arrival;
    arrivals.receive([of(1, 'bad'), of(2, 'good'), of(3, 'bad')]);
    assert.deepEqual([inside, waiting()], [[1], [2, 3]]);
    arrivals.removePicture('bad');
    assert.deepEqual(waiting(), [2]);
    assert.ok(arrivals.isRemoved('bad') && !arrivals.isRemoved('good'));
    // The caller removes those that are inside. Removing the last batch does not remove them again.
    inside.length = 0;
    arrivals.removeAfter(0);
    assert.deepEqual([inside, waiting()], [[], []]);
    page.room = 9;
    arrivals.receive([of(4, 'bad'), of(5, 'good')]);
    assert.deepEqual([inside, arrivals.seq], [[5], 5]);
  });

  it(`remembers ${REMOVED_MAX} removed pictures, the newest`, () => {
    const { arrivals } = begin(1);
    for (let n = 0; n <= REMOVED_MAX; n++) arrivals.removePicture(`${n}`);
    assert.deepEqual(
      [0, 1, REMOVED_MAX].map((n) => arrivals.isRemoved(`${n}`)),
      [false, true, true],
    );
  });
});

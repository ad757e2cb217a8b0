import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HEARTBEAT_MS, Heartbeats, WORKER_SILENCE_MS_MAX, WORKER_START_MS_MAX } from './heartbeats.ts';

const SILENCE_BEATS = WORKER_SILENCE_MS_MAX / HEARTBEAT_MS;

/** Counts beats; returns the workers that were given up, each with the number of the beat. */
function beat(heartbeats: Heartbeats<string>, beats: number): [string, number][] {
  const hung: [string, number][] = [];
  for (let n = 1; n <= beats; n++) for (const worker of heartbeats.beat()) hung.push([worker, n]);
  return hung;
}

describe('heartbeats', () => {
  it('give a worker up, once, when it was silent for longer than the limit', () => {
    const heartbeats = new Heartbeats<string>();
    heartbeats.add('a');
    heartbeats.ready('a');
    assert.deepEqual(beat(heartbeats, SILENCE_BEATS), [], 'at the limit it is kept');
    heartbeats.heard('a');
    assert.deepEqual(beat(heartbeats, 3 * SILENCE_BEATS), [['a', SILENCE_BEATS + 1]]);
  });

  it('give a worker more time to start', () => {
    const heartbeats = new Heartbeats<string>();
    heartbeats.add('a');
    const startBeats = WORKER_START_MS_MAX / HEARTBEAT_MS;
    assert.deepEqual(beat(heartbeats, 2 * startBeats), [['a', startBeats + 1]]);
  });

  it('know a worker that is late, and forget one that has ended', () => {
    const heartbeats = new Heartbeats<string>();
    for (const worker of ['a', 'b']) {
      heartbeats.add(worker);
      heartbeats.ready(worker);
    }
    assert.equal(heartbeats.isLate('a'), false);
    heartbeats.remove('b');
    beat(heartbeats, 2);
    assert.equal(heartbeats.isLate('a'), false, 'a message is on its way');
    beat(heartbeats, 1);
    assert.equal(heartbeats.isLate('a'), true);
    heartbeats.heard('a');
    assert.equal(heartbeats.isLate('a'), false);
    assert.deepEqual(
      beat(heartbeats, 2 * SILENCE_BEATS).map(([worker]) => worker),
      ['a'],
    );
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FAULTS } from './faults.ts';
import { type Planned, schedule } from './schedule.ts';

const NAMES = Object.keys(FAULTS);

function firstOf(
  count: number,
  seed: number,
  faults = NAMES,
  fits: (fault: string) => number[] = () => [0, 1, 2],
): Planned[] {
  return [...schedule(seed, faults, fits).take(count)];
}

describe('the schedule of a chaos run', () => {
  it('names the same faults for the same seed, and others for another seed', () => {
    assert.deepEqual(firstOf(50, 7), firstOf(50, 7));
    assert.notDeepEqual(firstOf(50, 7), firstOf(50, 8));
  });

  it('names every fault, and every relay', () => {
    const planned = firstOf(2_000, 1);
    assert.deepEqual([...new Set(planned.map(({ fault }) => fault))].sort(), NAMES.toSorted());
    assert.deepEqual([...new Set(planned.map(({ relay }) => relay))].sort(), [0, 1, 2]);
  });

  it('names only faults that were asked for, at relays that can have them', () => {
    const fits = (fault: string) => (fault === 'kill-worker' ? [2] : fault === 'stop-worker' ? [] : [0, 1]);
    for (const { fault, relay } of firstOf(200, 3, ['kill-worker', 'stop-worker', 'drain'], fits)) {
      assert.ok(fault === 'drain' ? relay < 2 : fault === 'kill-worker' && relay === 2, `${fault} ${relay}`);
    }
    assert.deepEqual(firstOf(5, 3, ['stop-worker'], fits), []);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomOf } from '../../test/random.ts';
import { LEASE_MS } from '../../wire/rules.ts';
import { Deadlines, TICK_MS } from './deadlines.ts';

/** The latest deadline of a wheel with 16,384 ticks, whatever part of a tick has passed; and its last tick. */
const HORIZON_MS = 16_382 * TICK_MS;
const LAST_TICK_MS = HORIZON_MS + TICK_MS;

/** The slots that are due at `nowMs`, in order. */
function due(deadlines: Deadlines, nowMs: number): number[] {
  const slots: number[] = [];
  deadlines.advance(nowMs, (slot) => slots.push(slot) > 0);
  return slots;
}

describe('deadlines', () => {
  it('are due at their time, not a millisecond before, and once', () => {
    const deadlines = new Deadlines(4, 0, HORIZON_MS);
    deadlines.set(2, 1000);
    assert.deepEqual(due(deadlines, 999), []);
    assert.deepEqual(due(deadlines, 1000), [2]);
    assert.deepEqual(due(deadlines, 500_000), []);
  });

  it('between two ticks are due at the later one: never early, less than a tick late', () => {
    for (const at of [951, 975, 999.5, 1000]) {
      const deadlines = new Deadlines(1, 0, HORIZON_MS);
      deadlines.set(0, at);
      assert.deepEqual(due(deadlines, at - 0.01), []);
      assert.deepEqual(due(deadlines, 999.99), []);
      assert.deepEqual(due(deadlines, 1000), [0]);
    }
  });

  it('in the past are due with the next tick', () => {
    const deadlines = new Deadlines(2, 10_000, HORIZON_MS);
    deadlines.set(0, 3);
    deadlines.set(1, 10_000);
    assert.deepEqual(due(deadlines, 10_000), []);
    assert.deepEqual(due(deadlines, 10_000 + TICK_MS), [0, 1]);
  });

  it('that are set again are due at the new time only', () => {
    const deadlines = new Deadlines(3, 0, HORIZON_MS);
    for (const at of [500, 9000, 700]) deadlines.set(1, at);
    assert.deepEqual(due(deadlines, 699), []);
    assert.deepEqual(due(deadlines, 700), [1]);
    assert.deepEqual(due(deadlines, 20_000), []);
  });

  it('that are cleared are never due, and may be cleared again', () => {
    const deadlines = new Deadlines(3, 0, HORIZON_MS);
    for (const slot of [0, 1, 2]) deadlines.set(slot, 100);
    deadlines.clear(1);
    deadlines.clear(1);
    assert.deepEqual(due(deadlines, 1000), [0, 2]);
    deadlines.clear(0);
  });

  it('are due by time, and within one tick in the order in which they were set', () => {
    const deadlines = new Deadlines(6, 0, HORIZON_MS);
    for (const [slot, at] of [
      [4, 300],
      [1, 100],
      [5, 100],
      [0, 300],
      [2, 200],
    ]) {
      deadlines.set(slot, at);
    }
    assert.deepEqual(due(deadlines, 1000), [1, 5, 2, 4, 0]);
  });

  it('of any slot may be set and cleared while due ones are handled', () => {
    const deadlines = new Deadlines(4, 0, HORIZON_MS);
    for (const slot of [0, 1, 2, 3]) deadlines.set(slot, 100);
    const slots: number[] = [];
    deadlines.advance(100, (slot) => {
      slots.push(slot);
      if (slot === 0) deadlines.clear(1);
      if (slot === 0) deadlines.set(2, 5000);
      deadlines.set(slot, 3000);
      return true;
    });
    assert.deepEqual(slots, [0, 3]);
    assert.deepEqual(due(deadlines, 2999), []);
    assert.deepEqual(due(deadlines, 3000), [0, 3]);
    assert.deepEqual(due(deadlines, 5000), [2]);
  });

  it('stay due, in their order and before later ones, when the callback stops', () => {
    const deadlines = new Deadlines(6, 0, HORIZON_MS);
    for (const [slot, at] of [
      [3, 100],
      [1, 100],
      [4, 200],
      [0, 200],
      [5, 300],
    ]) {
      deadlines.set(slot, at);
    }
    const next = (nowMs: number) => {
      const slots: number[] = [];
      const isMoreDue = deadlines.advance(nowMs, (slot) => slots.push(slot) < 2);
      return [slots, isMoreDue];
    };
    assert.deepEqual(next(200), [[3, 1], true]);
    deadlines.clear(4);
    deadlines.set(1, 300);
    assert.deepEqual(next(300), [[0, 5], true]);
    assert.deepEqual(next(300), [[1], false]);
    assert.deepEqual(next(300), [[], false]);
  });

  it('report that none is left when the callback stops at the last one', () => {
    const deadlines = new Deadlines(2, 0, HORIZON_MS);
    for (const slot of [0, 1]) deadlines.set(slot, 100);
    let left = 2;
    assert.equal(
      deadlines.advance(100, () => --left > 0),
      false,
    );
    assert.equal(left, 0);
  });

  it('are exact up to any horizon, whatever part of a tick has passed', () => {
    for (const horizonMs of [1, TICK_MS, 3 * TICK_MS - 1, 62 * TICK_MS, 62 * TICK_MS + 1, 63 * TICK_MS, 64 * TICK_MS]) {
      for (const start of [100_000, 100_001, 100_049]) {
        const deadlines = new Deadlines(1, start, horizonMs);
        deadlines.set(0, start + horizonMs);
        const at = Math.ceil((start + horizonMs) / TICK_MS) * TICK_MS;
        assert.deepEqual(due(deadlines, at - 1), [], `${horizonMs} ms from ${start}`);
        assert.deepEqual(due(deadlines, at), [0], `${horizonMs} ms from ${start}`);
      }
    }
  });

  it('are exact up to the last tick of the wheel; later ones are due with it', () => {
    for (const start of [0, 12_345_678]) {
      const first = Math.floor(start / TICK_MS) * TICK_MS;
      for (const beyond of [-TICK_MS, 0, TICK_MS, 1e9]) {
        const deadlines = new Deadlines(1, start, HORIZON_MS);
        const at = first + LAST_TICK_MS + Math.min(beyond, 0);
        deadlines.set(0, first + LAST_TICK_MS + beyond);
        assert.deepEqual(due(deadlines, at - 1), []);
        assert.deepEqual(due(deadlines, at), [0]);
      }
    }
  });

  it('wrap around the wheel for ever', () => {
    const deadlines = new Deadlines(1, 0, HORIZON_MS);
    for (let now = 0; now < 10 * HORIZON_MS; now += 77_777) {
      deadlines.set(0, now + 77_777);
      assert.deepEqual(due(deadlines, now + 77_777 - TICK_MS), []);
      assert.deepEqual(due(deadlines, now + 77_777 + TICK_MS), [0]);
    }
  });

  it('are all due after a pause longer than the wheel, once each', () => {
    const deadlines = new Deadlines(100, 0, HORIZON_MS);
    for (let slot = 0; slot < 100; slot++) deadlines.set(slot, 1 + slot * 2000);
    assert.deepEqual(
      due(deadlines, 3 * HORIZON_MS).sort((a, b) => a - b),
      Array.from({ length: 100 }, (_, slot) => slot),
    );
    assert.deepEqual(due(deadlines, 9 * HORIZON_MS), []);
  });

  it('that are set while a long pause is caught up lie after the pause, not in it', () => {
    for (const sleep of [LEASE_MS, HORIZON_MS - TICK_MS, HORIZON_MS, HORIZON_MS + TICK_MS, 5 * HORIZON_MS]) {
      const deadlines = new Deadlines(2, 0, HORIZON_MS);
      deadlines.set(0, TICK_MS);
      const slots: number[] = [];
      deadlines.advance(sleep, (slot) => {
        slots.push(slot);
        deadlines.set(slot, sleep + LEASE_MS);
        return true;
      });
      assert.deepEqual(slots, [0], `after ${sleep}`);
      assert.deepEqual(due(deadlines, sleep + LEASE_MS - TICK_MS), []);
      assert.deepEqual(due(deadlines, sleep + LEASE_MS + TICK_MS), [0]);
    }
  });

  it('don’t change when the clock stops or goes back', () => {
    const deadlines = new Deadlines(1, 10_000, HORIZON_MS);
    deadlines.set(0, 11_000);
    assert.deepEqual(due(deadlines, 10_000), []);
    assert.deepEqual(due(deadlines, 2000), []);
    assert.deepEqual(due(deadlines, 10_950), []);
    assert.deepEqual(due(deadlines, 11_000), [0]);
  });

  it('are due in time in a long random run (seeded)', (t) => {
    const random = randomOf(t);
    const slots = 500;
    let now = 1_000_000;
    const deadlines = new Deadlines(slots, now, HORIZON_MS);
    /** The tick at which each slot is due. */
    const model = new Map<number, number>();
    const tickOf = (at: number) => Math.max(Math.ceil(at / TICK_MS), Math.floor(now / TICK_MS) + 1);
    const set = (slot: number) => {
      const at = now + random() * 140_000;
      deadlines.set(slot, at);
      model.set(slot, tickOf(at));
    };
    for (let step = 0; step < 20_000; step++) {
      const slot = Math.floor(random() * slots);
      if (random() < 0.7) set(slot);
      else {
        deadlines.clear(slot);
        model.delete(slot);
      }
      if (random() < 0.9) continue;
      now += random() < 0.02 ? random() * 3 * HORIZON_MS : random() * 3000;
      const expected = [...model].filter(([, tick]) => tick <= Math.floor(now / TICK_MS)).map(([due]) => due);
      for (const slot of expected) model.delete(slot);
      const seen: number[] = [];
      deadlines.advance(now, (slot) => {
        seen.push(slot);
        if (random() < 0.5) set(slot);
        return true;
      });
      assert.deepEqual(
        seen.sort((a, b) => a - b),
        expected.sort((a, b) => a - b),
      );
    }
  });
});

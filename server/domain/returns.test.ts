/** Tests of the return of desktops: how long they are told to stay away, and how long they are waited for. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BYE_MS_MAX, LEASE_MS, RECONNECT_MS_MAX } from '../wire/rules.ts';
import { byeMs, recoveredLeaseMs } from './returns.ts';
import { TICK_MS } from './slots/deadlines.ts';
import { BYES_PER_SECOND, RETURNS_PER_SECOND, RETURNS_PER_SECOND_MIN } from './state/limits.ts';

/** So many desktops can come back in RECONNECT_MS_MAX. */
const FEW = (RETURNS_PER_SECOND * RECONNECT_MS_MAX) / 1000;

describe('the return of desktops', () => {
  it('is spread over RECONNECT_MS_MAX, and over more when that is too short for all', () => {
    for (const desktops of [1, FEW - 1, FEW]) assert.equal(byeMs(0, desktops, 1), RECONNECT_MS_MAX);
    assert.equal(byeMs(0, FEW + RETURNS_PER_SECOND, 1), RECONNECT_MS_MAX + 1000);
    assert.equal(byeMs(0, 2 * FEW, 1), 2 * RECONNECT_MS_MAX);
    assert.equal(byeMs(0, 2 * FEW, 0), 0.2 * RECONNECT_MS_MAX);
  });

  it('begins when all polls are answered', () => {
    assert.equal(byeMs(BYES_PER_SECOND, 1, 0) - byeMs(0, 1, 0), 1000);
  });

  it('is at once, within a tick, where the next process serves already', () => {
    for (const parked of [1, BYES_PER_SECOND]) assert.equal(byeMs(parked, 4_000_000, 1, 0), TICK_MS);
    assert.equal(byeMs(1, 1, 0, 0), 0);
  });

  it('takes BYE_MS_MAX at most', () => {
    const most = (RETURNS_PER_SECOND * BYE_MS_MAX) / 1000;
    assert.equal(byeMs(0, most - RETURNS_PER_SECOND, 1), BYE_MS_MAX - 1000);
    assert.equal(byeMs(0, most, 1), BYE_MS_MAX);
    assert.equal(byeMs(0, most + RETURNS_PER_SECOND, 1), BYE_MS_MAX);
  });

  it('is awaited until all can be back, at the slowest rate and with the jitter of clients', () => {
    assert.equal(recoveredLeaseMs(0), LEASE_MS);
    assert.equal(recoveredLeaseMs(RETURNS_PER_SECOND_MIN), LEASE_MS + 1000);
    // Clients stay away for 1.5 × the time at most, and the relay is not away for less than it takes to answer all.
    for (const desktops of [1, FEW, 1_000_000, 2_000_000, 4_000_000]) {
      const goneMs = (desktops / BYES_PER_SECOND) * 1000;
      assert.ok(1.5 * byeMs(desktops, desktops, 1) - goneMs < recoveredLeaseMs(desktops), `${desktops} desktops`);
    }
  });
});

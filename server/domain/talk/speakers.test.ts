import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CROSSINGS_REMEMBERED } from '../../wire/rules.ts';
import { SAYINGS_BURST_MAX, SAYINGS_PER_SECOND_MAX } from '../state/limits.ts';
import { Speakers } from './speakers.ts';

describe('speakers', () => {
  it('know a repeat by its number, also of sayings that arrived out of order', () => {
    const speakers = new Speakers(2);
    for (const saying of [10, 12, 11]) {
      assert.equal(speakers.recencyOf(1, saying), 'new');
      speakers.recordAccepted(1, saying, saying);
      assert.equal(speakers.recencyOf(1, saying), 'repeated');
    }
    assert.equal(speakers.recencyOf(1, 9), 'new');
    assert.equal(speakers.recencyOf(1, 13), 'new');
    assert.equal(speakers.recencyOf(0, 10), 'new', 'another desktop');
  });

  it('remember numbers as far below the newest as CROSSINGS_REMEMBERED, and none further', () => {
    const speakers = new Speakers(1);
    speakers.recordAccepted(0, 1, 0);
    speakers.recordAccepted(0, 1 + CROSSINGS_REMEMBERED, 0);
    assert.equal(speakers.recencyOf(0, 2), 'new');
    assert.equal(speakers.recencyOf(0, 1), 'repeated');
    speakers.recordAccepted(0, 2 + CROSSINGS_REMEMBERED, 0);
    assert.equal(speakers.recencyOf(0, 1), 'stale');
    assert.equal(speakers.recencyOf(0, 2), 'new');
    speakers.recordAccepted(0, 1000, 0);
    assert.equal(speakers.recencyOf(0, 999), 'new');
  });

  it('know how many heard the saying accepted last, and no other', () => {
    const speakers = new Speakers(1);
    speakers.recordAccepted(0, 5, 3);
    speakers.recordAccepted(0, 7, 1023);
    assert.equal(speakers.heardOf(0, 7), 1023);
    assert.equal(speakers.heardOf(0, 5), null);
  });

  it('may say SAYINGS_BURST_MAX at once and then SAYINGS_PER_SECOND_MAX a second', () => {
    const speakers = new Speakers(1);
    const nowMs = 1000;
    for (let n = 0; n < SAYINGS_BURST_MAX - 1; n++) speakers.count(0, nowMs);
    assert.ok(speakers.allows(0, nowMs), 'one below the limit');
    speakers.count(0, nowMs);
    assert.ok(!speakers.allows(0, nowMs), 'at the limit');
    const each = 1000 / SAYINGS_PER_SECOND_MAX;
    assert.ok(!speakers.allows(0, nowMs + each - 1));
    assert.ok(speakers.allows(0, nowMs + each));
    speakers.count(0, nowMs + each);
    assert.ok(!speakers.allows(0, nowMs + each), 'one above');
  });

  it('forget a desktop that has ended', () => {
    const speakers = new Speakers(1);
    for (let n = 0; n < SAYINGS_BURST_MAX; n++) speakers.count(0, 1000);
    speakers.recordAccepted(0, 9, 1);
    assert.ok(speakers.hasSpoken(0));
    speakers.clear(0);
    assert.ok(!speakers.hasSpoken(0));
    assert.equal(speakers.recencyOf(0, 9), 'new');
    assert.ok(speakers.allows(0, 1000));
  });
});

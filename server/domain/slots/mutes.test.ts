import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MUTES_MAX } from '../../wire/rules.ts';
import { Mutes } from './mutes.ts';

describe('mutes', () => {
  it('know a muted desktop by slot and generation, until the mute is removed', () => {
    const mutes = new Mutes();
    assert.equal(mutes.has(1, 2, 3), false);
    assert.equal(mutes.add(1, 2, 3), 'added');
    assert.ok(mutes.has(1, 2, 3));
    for (const [slot, muted, generation] of [
      [2, 1, 3],
      [1, 2, 4],
      [1, 3, 2],
    ]) {
      assert.equal(mutes.has(slot, muted, generation), false);
    }
    assert.equal(mutes.remove(1, 2, 4), true, 'it still mutes one');
    assert.equal(mutes.remove(1, 2, 3), false);
    assert.equal(mutes.has(1, 2, 3), false);
    assert.equal(mutes.remove(1, 2, 3), false);
    assert.equal(mutes.total, 0);
  });

  it(`refuse the one after ${MUTES_MAX}, and accept a repeat of the last`, () => {
    const mutes = new Mutes();
    for (let n = 0; n < MUTES_MAX; n++) assert.equal(mutes.add(7, n, 1), 'added');
    assert.equal(mutes.add(7, MUTES_MAX, 1), 'full');
    assert.equal(mutes.add(7, MUTES_MAX - 1, 1), 'added');
    assert.equal(mutes.total, MUTES_MAX);
    mutes.remove(7, 0, 1);
    assert.equal(mutes.add(7, MUTES_MAX, 1), 'added');
  });

  it('of all desktops together are bounded, and a desktop that ends frees its own', () => {
    const mutes = new Mutes(3);
    assert.equal(mutes.add(1, 9, 1), 'added');
    assert.equal(mutes.add(1, 9, 2), 'added');
    assert.equal(mutes.add(2, 9, 1), 'added');
    assert.equal(mutes.add(3, 9, 1), 'relay-full');
    assert.equal(mutes.has(3, 9, 1), false);
    mutes.clear(1);
    assert.equal(mutes.total, 1);
    assert.equal(mutes.has(1, 9, 1), false);
    assert.equal(mutes.add(3, 9, 1), 'added');
    mutes.clear(8);
    assert.equal(mutes.total, 2);
  });
});

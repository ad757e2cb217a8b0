import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomOf } from '../../test/random.ts';
import { SEQ_MAX } from '../../wire/cursor.ts';
import { CROSSINGS_REMEMBERED, ENDED_REMEMBERED_MS } from '../../wire/rules.ts';
import { type EndedDesktop, EndedDesktops } from './ended.ts';
import { ENDED_REMEMBERED_MAX } from './limits.ts';

const TOKEN = Uint32Array.of(1, 2, 3, 0xffffffff);
const who = (slot: number, generation = 7, token = TOKEN) => ({ slot, generation, token });

/** A desktop that ends: by default it has thrown crossing 1 and acknowledged nothing. */
const ending = (slot: number, other: Partial<EndedDesktop> = {}): EndedDesktop => ({
  ...{ slot, generation: 7, token: TOKEN, newestCrossing: 1, acceptedBits: 0, acknowledged: 0 },
  ...other,
});

describe('ended desktops', () => {
  it('remember which crossings were accepted: the newest, and by their bits the 32 below it', () => {
    const ended = new EndedDesktops(4);
    ended.add(ending(5, { newestCrossing: 100, acceptedBits: 0b1001 }), 0);
    const accepted = [];
    for (let crossing = 1; crossing <= 200; crossing++)
      if (ended.isAccepted(who(5), crossing, 0)) accepted.push(crossing);
    assert.deepEqual(accepted, [96, 99, 100]);
    ended.add(ending(6, { newestCrossing: 100, acceptedBits: 0x80000000 }), 0);
    assert.ok(ended.isAccepted(who(6), 100 - CROSSINGS_REMEMBERED, 0));
    assert.equal(ended.isAccepted(who(6), 100 - CROSSINGS_REMEMBERED - 1, 0), false);
    ended.add(ending(7, { newestCrossing: 2 ** 53 - 1 }), 0);
    assert.ok(ended.isAccepted(who(7), 2 ** 53 - 1, 0));
  });

  it('remember the last sequence that was acknowledged, also 0', () => {
    const ended = new EndedDesktops(4);
    for (const [slot, acknowledged] of [0, 1, SEQ_MAX - 1].entries()) ended.add(ending(slot, { acknowledged }), 0);
    for (const [slot, acknowledged] of [0, 1, SEQ_MAX - 1].entries()) {
      assert.equal(ended.acknowledged(who(slot), ENDED_REMEMBERED_MS), acknowledged);
    }
    assert.equal(ended.acknowledged(who(0), ENDED_REMEMBERED_MS + 1), -1);
    assert.equal(ended.acknowledged(who(3), 0), -1);
  });

  it('are known by slot, generation and every bit of their token', () => {
    const ended = new EndedDesktops(4);
    ended.add(ending(5), 0);
    assert.ok(ended.isAccepted(who(5), 1, 0));
    for (const other of [who(4), who(5, 6), who(5, 8), who(5 + 4)]) assert.equal(ended.isAccepted(other, 1, 0), false);
    assert.ok(ended.isKnown(who(5), 0));
    for (let bit = 0; bit < 128; bit++) {
      const token = Uint32Array.from(TOKEN);
      token[bit >> 5] ^= 1 << (bit & 31);
      assert.equal(ended.isAccepted(who(5, 7, token), 1, 0), false, `bit ${bit}`);
      assert.equal(ended.isKnown(who(5, 7, token), 0), false, `bit ${bit}`);
    }
  });

  it('are remembered for ENDED_REMEMBERED_MS', () => {
    const ended = new EndedDesktops(4);
    ended.add(ending(5), 1000);
    for (const [ms, is] of [
      [ENDED_REMEMBERED_MS - 1, true],
      [ENDED_REMEMBERED_MS, true],
      [ENDED_REMEMBERED_MS + 1, false],
    ] as const) {
      assert.equal(ended.isAccepted(who(5), 1, 1000 + ms), is);
    }
  });

  it('are remembered up to the limit; one more takes the place of the one that ended first', () => {
    const ended = new EndedDesktops(8);
    for (let slot = 0; slot < 8; slot++) ended.add(ending(slot), 0);
    for (let slot = 0; slot < 8; slot++) assert.ok(ended.isAccepted(who(slot), 1, 0));
    ended.add(ending(8), 0);
    assert.equal(ended.isAccepted(who(0), 1, 0), false);
    for (let slot = 1; slot < 9; slot++) assert.ok(ended.isAccepted(who(slot), 1, 0));
  });

  it('are remembered up to ENDED_REMEMBERED_MAX: one below, at the limit, one above', () => {
    for (const [count, isFirstKnown] of [
      [ENDED_REMEMBERED_MAX - 1, true],
      [ENDED_REMEMBERED_MAX, true],
      [ENDED_REMEMBERED_MAX + 1, false],
    ] as const) {
      const ended = new EndedDesktops();
      for (let slot = 0; slot < count; slot++) ended.add(ending(slot), 0);
      assert.equal(ended.isAccepted(who(0), 1, 0), isFirstKnown, `${count} have ended`);
      for (const slot of [1, count - 1]) assert.ok(ended.isAccepted(who(slot), 1, 0), `${slot} of ${count}`);
    }
  });

  it('are found through a long run in which slots are used again and again (seeded)', (t) => {
    const random = randomOf(t);
    const ended = new EndedDesktops(64);
    const model: { slot: number; generation: number; newest: number }[] = [];
    for (let generation = 1; generation < 5000; generation++) {
      const slot = Math.floor(random() * 3) * 64;
      const newest = 1 + Math.floor(random() * 1e6);
      ended.add(ending(slot, { generation, newestCrossing: newest }), 0);
      model.push({ slot, generation, newest });
      const at = Math.max(0, model.length - 1 - Math.floor(random() * 80));
      const one = model[at];
      assert.equal(ended.isAccepted(who(one.slot, one.generation), one.newest, 0), model.length - at <= 64);
      assert.equal(ended.isAccepted(who(one.slot, one.generation), one.newest + 1, 0), false);
    }
  });
});

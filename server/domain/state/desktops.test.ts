import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GENERATION_KEY_BYTES, Generations } from '../../wire/generations.ts';
import { writeId } from '../../wire/identity.ts';
import { CROSSINGS_REMEMBERED, NAME_BYTES_MAX } from '../../wire/rules.ts';
import { NO_BLOCK, Slab } from '../slots/slab.ts';
import { Desktops } from './desktops.ts';
import { CROSSINGS_BURST_MAX, CROSSINGS_PER_SECOND_MAX } from './limits.ts';

const KEY = Buffer.alloc(GENERATION_KEY_BYTES, 7);
const TOKEN = Uint32Array.of(1, 0x80000000, 0xffffffff, 4);

function table(slots = 8, slab = new Slab(0)): Desktops {
  return new Desktops(slots, slab, KEY);
}

/** A table with one desktop, and its slot. */
function withOne(name = ''): { desktops: Desktops; slot: number } {
  const desktops = table();
  return { desktops, slot: desktops.add(name, TOKEN) };
}

const nameOf = (desktops: Desktops, slot: number) => {
  const out = Buffer.alloc(512);
  return JSON.parse(out.toString('utf8', 3, desktops.writeReference(slot, out, 3)));
};

describe('desktops', () => {
  it('get a slot each until all are in use, and again when one is released', () => {
    const desktops = table(3);
    assert.deepEqual(
      [0, 1, 2, 3].map(() => desktops.add('', TOKEN)),
      [0, 1, 2, -1],
    );
    assert.equal(desktops.count, 3);
    desktops.end(1);
    assert.equal(desktops.count, 2);
    assert.equal(desktops.add('', TOKEN), -1, 'an ended slot is kept');
    desktops.release(1);
    assert.equal(desktops.add('', TOKEN), 1);
    assert.equal(desktops.add('', TOKEN), -1);
  });

  it('have ids that no later owner of the slot has', () => {
    const desktops = table(1);
    const ids = new Set<string>();
    for (let n = 0; n < 100; n++) {
      const slot = desktops.add('', TOKEN);
      ids.add(desktops.id(slot));
      assert.equal(desktops.id(slot), writeId(slot, desktops.generation(slot)));
      desktops.end(slot);
      desktops.release(slot);
    }
    assert.equal(ids.size, 100);
  });

  it('are live with their token, unknown with any other, and ended once they have left', () => {
    const { desktops, slot } = withOne();
    const generation = desktops.generation(slot);
    const authenticate = (given: object) => desktops.authenticate({ slot, generation, token: TOKEN, ...given });
    assert.equal(authenticate({}), 'live');
    for (let word = 0; word < 4; word++) {
      for (const bit of [0, 1, 15, 30, 31]) {
        const forged = Uint32Array.from(TOKEN);
        forged[word] ^= 1 << bit;
        assert.equal(authenticate({ token: forged }), 'unknown', `bit ${bit} of word ${word}`);
      }
    }
    assert.equal(authenticate({ token: new Uint32Array(4) }), 'unknown');
    const next = new Generations(KEY).of(slot, 2);
    for (const other of [generation ^ 1, generation + 1, next, 1]) {
      assert.equal(authenticate({ generation: other }), 'unknown', `${other}`);
    }
    assert.equal(authenticate({ slot: 7 }), 'unknown', 'a slot that was never used');
    for (const beyond of [8, 0xffffff, 0xffffffff]) assert.equal(authenticate({ slot: beyond }), 'unknown');
    desktops.end(slot);
    assert.equal(authenticate({}), 'ended');
    desktops.release(slot);
    assert.equal(authenticate({}), 'ended');
    desktops.add('', Uint32Array.of(9, 9, 9, 9));
    assert.equal(authenticate({}), 'ended');
    assert.equal(desktops.generation(slot), next);
    assert.equal(authenticate({ generation: next, token: Uint32Array.of(9, 9, 9, 9) }), 'live');
    assert.equal(authenticate({ generation: next }), 'unknown', 'the token of the previous owner');
  });

  it('are authenticated at the last slot', () => {
    const desktops = new Desktops(4, new Slab(0), KEY);
    for (let n = 0; n < 4; n++) desktops.add('', TOKEN);
    const generation = desktops.generation(3);
    assert.equal(desktops.id(3), writeId(3, generation));
    assert.equal(desktops.authenticate({ slot: 3, generation, token: TOKEN }), 'live');
  });

  it('have ids of which one tells nothing about the next: neither the next slot nor the next owner follows on', () => {
    const desktops = new Desktops(100, new Slab(0), KEY);
    const steps = new Set<number>();
    let before = 0;
    for (let n = 0; n < 100; n++) {
      const generation = desktops.generation(desktops.add('', TOKEN));
      steps.add((generation - before) >>> 0);
      before = generation;
    }
    for (let n = 0; n < 100; n++) {
      desktops.end(0);
      desktops.release(0);
      const generation = desktops.generation(desktops.add('', TOKEN));
      steps.add((generation - before) >>> 0);
      before = generation;
    }
    assert.equal(steps.size, 200);
  });

  it('are invited to with the newest invitation only, every bit of it, and only while they are live', () => {
    const { desktops, slot } = withOne();
    const secret = Uint32Array.of(5, 0, 0xffffffff, 0x80000001);
    desktops.setInvitation(slot, secret);
    assert.ok(desktops.isInvitation(slot, secret));
    assert.ok(desktops.isInvitation(slot, [...secret]));
    for (let word = 0; word < 4; word++) {
      for (const bit of [0, 1, 15, 30, 31]) {
        const forged = Uint32Array.from(secret);
        forged[word] ^= 1 << bit;
        assert.ok(!desktops.isInvitation(slot, forged), `bit ${bit} of word ${word}`);
      }
    }
    for (const other of [slot + 1, 7, 8, 0xffffff]) assert.ok(!desktops.isInvitation(other, secret));
    desktops.setInvitation(slot, TOKEN);
    assert.ok(!desktops.isInvitation(slot, secret), 'it was renewed');
    assert.ok(desktops.isInvitation(slot, TOKEN));
    desktops.end(slot);
    assert.ok(!desktops.isInvitation(slot, TOKEN));
    desktops.release(slot);
    desktops.add('', TOKEN);
    desktops.setInvitation(slot, secret);
    assert.ok(!desktops.isInvitation(slot, TOKEN), 'the next owner of the slot has another one');
  });

  it('are called by their name, with any characters, or by a friendly one of two words when they have none', () => {
    const longest = '"\\'.repeat(NAME_BYTES_MAX / 2);
    for (const name of ['A', 'Zoë', '名前 😀', '"', '\\', '</script>', longest]) {
      const { desktops, slot } = withOne(name);
      assert.equal(desktops.name(slot), name);
      assert.deepEqual(nameOf(desktops, slot), { desktop: desktops.id(slot), name });
    }
    const { desktops, slot } = withOne();
    const friendly = desktops.name(slot);
    assert.match(friendly, /^[A-Z][a-z]+ [A-Z][a-z]+$/);
    assert.deepEqual(nameOf(desktops, slot), { desktop: desktops.id(slot), name: friendly });
  });

  it('leave no name and no memory to the next owner of the slot', () => {
    const slab = new Slab(0);
    const desktops = table(1, slab);
    const slot = desktops.add('Ada', TOKEN);
    desktops.end(slot);
    assert.equal(slab.usedBytes, 0);
    desktops.release(slot);
    desktops.add('', TOKEN);
    assert.notEqual(desktops.name(slot), 'Ada');
  });

  it('are not added when the slab has no room for the name', () => {
    const slab = new Slab(0);
    const desktops = table(2, slab);
    while (slab.allocate('"Ada"'.length) !== NO_BLOCK);
    assert.equal(desktops.add('Ada', TOKEN), -1);
    assert.equal(desktops.count, 0);
    assert.equal(desktops.add('', TOKEN), 0);
  });
});

describe('crossings of a desktop', () => {
  it('are new until accepted, then repeated', () => {
    const { desktops, slot } = withOne();
    for (const crossing of [1, 2, 5, Number.MAX_SAFE_INTEGER]) {
      assert.equal(desktops.recencyOf(slot, crossing), 'new');
      assert.equal(desktops.recencyOf(slot, crossing), 'new', 'a check changes nothing');
      desktops.recordAccepted(slot, crossing, slot);
      assert.equal(desktops.recencyOf(slot, crossing), 'repeated');
    }
    assert.equal(desktops.recencyOf(slot, Number.MAX_SAFE_INTEGER - 1), 'new');
  });

  it('are remembered up to CROSSINGS_REMEMBERED below the newest, and stale below that', () => {
    for (const accepted of [false, true]) {
      for (const behind of [1, 30, 31, 32, 33, 34, 64, 65]) {
        const { desktops, slot } = withOne();
        if (accepted) desktops.recordAccepted(slot, 100, slot);
        desktops.recordAccepted(slot, 100 + behind, slot);
        const known = accepted ? 'repeated' : 'new';
        assert.equal(
          desktops.recencyOf(slot, 100),
          behind <= CROSSINGS_REMEMBERED ? known : 'stale',
          `${behind} behind`,
        );
      }
    }
    assert.equal(CROSSINGS_REMEMBERED, 32);
  });

  it('are remembered one by one, in any order and in steps of any size', () => {
    for (const step of [1, 2, 3, 31, 32, 33, 40]) {
      const { desktops, slot } = withOne();
      const accepted = new Set<number>();
      const accept = (crossing: number) => {
        desktops.recordAccepted(slot, crossing, slot);
        accepted.add(crossing);
      };
      let newest = 50;
      accept(newest);
      for (const late of [1, 2, 17, 31, 32]) accept(newest - late);
      for (let n = 0; n < 4; n++) {
        newest += step;
        accept(newest);
        for (let crossing = newest; crossing >= newest - 40; crossing--) {
          const known = accepted.has(crossing) ? 'repeated' : 'new';
          assert.equal(
            desktops.recencyOf(slot, crossing),
            newest - crossing <= 32 ? known : 'stale',
            `${crossing} at ${newest}`,
          );
        }
        if (desktops.recencyOf(slot, newest - 32) === 'new') accept(newest - 32);
      }
    }
  });

  it('are forgotten with their owner', () => {
    const { desktops, slot } = withOne();
    desktops.allowThrow(slot, 0);
    desktops.recordAccepted(slot, 40, slot);
    desktops.recordAccepted(slot, 41, slot);
    desktops.end(slot);
    desktops.release(slot);
    assert.equal(desktops.add('', TOKEN), slot);
    for (const crossing of [1, 40, 41]) assert.equal(desktops.recencyOf(slot, crossing), 'new');
  });

  it('have a known receiver for the one accepted last, also when it arrived out of order, until that desktop ends', () => {
    const desktops = table();
    const [from, ada, bob] = [0, 1, 2].map(() => desktops.add('', TOKEN));
    desktops.recordAccepted(from, 18, ada);
    assert.equal(desktops.receiverOf(from, 18), ada);
    desktops.recordAccepted(from, 17, bob);
    assert.equal(desktops.receiverOf(from, 17), bob);
    assert.equal(desktops.receiverOf(from, 18), -1);
    desktops.recordAccepted(from, 19, bob);
    assert.equal(desktops.receiverOf(from, 17), -1);
    assert.equal(desktops.receiverOf(from, 19), bob);
    desktops.end(bob);
    assert.equal(desktops.receiverOf(from, 19), -1);
    desktops.release(bob);
    desktops.add('', TOKEN);
    assert.equal(desktops.receiverOf(from, 19), -1, 'the next owner of the slot did not receive it');
  });
});

describe('throws of a desktop', () => {
  const intervalMs = 1000 / CROSSINGS_PER_SECOND_MAX;

  /** How many throws are allowed at `nowMs`. */
  function burst(desktops: Desktops, slot: number, nowMs: number): number {
    let thrown = 0;
    while (desktops.allowThrow(slot, nowMs)) thrown++;
    return thrown;
  }

  it('are allowed CROSSINGS_BURST_MAX times at once after a pause, and not once more', () => {
    // The clock's times have fractions, and sums of fractions are not exact.
    for (const nowMs of [0, 1, 1e6, 1e12, ...Array.from({ length: 500 }, (_, n) => 1234.56789 + n * 77.7131313)]) {
      const { desktops, slot } = withOne();
      assert.equal(burst(desktops, slot, nowMs), CROSSINGS_BURST_MAX);
      assert.equal(desktops.allowThrow(slot, nowMs), false);
    }
  });

  it('are allowed again one by one at the sustained rate, not sooner; refused ones don’t count', () => {
    const { desktops, slot } = withOne();
    burst(desktops, slot, 0);
    for (let n = 0; n < 1000; n++) assert.equal(desktops.allowThrow(slot, intervalMs - 1), false);
    assert.equal(burst(desktops, slot, intervalMs), 1);
    assert.equal(burst(desktops, slot, 2 * intervalMs - 1), 0);
    assert.equal(burst(desktops, slot, 12 * intervalMs), 11);
    assert.equal(burst(desktops, slot, 1e9), CROSSINGS_BURST_MAX);
  });

  it('are allowed at CROSSINGS_PER_SECOND_MAX for ever', () => {
    const { desktops, slot } = withOne();
    burst(desktops, slot, 0);
    let thrown = 0;
    for (let nowMs = 1; nowMs <= 60_000; nowMs++) thrown += burst(desktops, slot, nowMs);
    assert.equal(thrown, 60 * CROSSINGS_PER_SECOND_MAX);
  });

  it('of one desktop don’t count against another, nor against the next owner of the slot', () => {
    const desktops = table();
    const [ada, bob] = [desktops.add('', TOKEN), desktops.add('', TOKEN)];
    burst(desktops, ada, 5);
    assert.equal(burst(desktops, bob, 5), CROSSINGS_BURST_MAX);
    desktops.end(ada);
    desktops.release(ada);
    desktops.add('', TOKEN);
    assert.equal(burst(desktops, ada, 5), CROSSINGS_BURST_MAX);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KeptMailboxes } from './kept.ts';
import type { World } from './torus.ts';

describe('kept mailboxes', () => {
  it('are all kept, whether their world has desktops when they are added or not', () => {
    for (const count of [0, 1]) {
      const kept = new KeptMailboxes();
      const world = { count } as World;
      for (const slot of [1, 2, 3]) kept.add(world, slot, 10);
      assert.deepEqual(kept.of(world), [1, 2, 3]);
      assert.equal(kept.bytes, 30);
      assert.deepEqual(kept.openWorlds(), count === 0 ? [] : [world]);
    }
  });

  it('stay in order when their world becomes empty, and when it is no longer', () => {
    const kept = new KeptMailboxes();
    const world = { count: 1 };
    kept.add(world as World, 1, 10);
    world.count = 0;
    kept.add(world as World, 2, 10);
    assert.deepEqual(kept.of(world as World), [1, 2]);
    assert.equal(kept.longestEmpty(), world);
    world.count = 1;
    kept.sort(world as World);
    kept.add(world as World, 3, 10);
    assert.deepEqual(kept.of(world as World), [1, 2, 3]);
    assert.equal(kept.longestEmpty(), undefined);
  });

  it('are neither tried nor evicted while they are held, and are the newest afterwards', () => {
    const kept = new KeptMailboxes();
    const world = { count: 0 } as World;
    for (const slot of [1, 2, 3]) kept.add(world, slot, 10);
    kept.hold(world, 1, 10);
    assert.deepEqual([kept.of(world), kept.bytes, kept.isHeld(world, 1)], [[2, 3], 20, true]);
    kept.unhold(world, 1, 5);
    assert.deepEqual([kept.of(world), kept.bytes, kept.isHeld(world, 1)], [[2, 3, 1], 25, false]);
  });

  it('keep their world while all of them are held', () => {
    const kept = new KeptMailboxes();
    const [world, other] = [{ count: 0 }, { count: 0 }] as World[];
    kept.add(world, 1, 10);
    kept.hold(world, 1, 10);
    assert.deepEqual([kept.of(world), kept.has(world), kept.has(other)], [undefined, true, false]);
    assert.deepEqual([kept.emptyCount(other), kept.longestEmpty(), kept.bytes], [1, undefined, 0]);
    kept.unhold(world, 1, 10);
    kept.remove(world, 1, 10);
    assert.ok(!kept.has(world));
  });
});

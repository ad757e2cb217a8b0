import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NO_EDGE } from '../../wire/saying.ts';
import { HEARERS_MAX, SMALL_WORLD_MAX } from '../state/limits.ts';
import { Torus, type World } from '../state/torus.ts';
import { Hearers } from './hearers.ts';

/** A world of `count` desktops, whose slots are their places plus one. */
function worldOf(count: number): { torus: Torus; world: World } {
  const torus = new Torus(count + 1, 1);
  const world = torus.findOrAdd('w') as World;
  for (let place = 0; place < count; place++) torus.seat(place + 1, world);
  return { torus, world };
}

function near(torus: Torus, slot: number): number[] {
  const hearers = new Hearers();
  hearers.findNear(torus, slot);
  return [...hearers.slots.subarray(0, hearers.count)];
}

describe('hearers near a speaker', () => {
  it('are everybody in a world of one, of HEARERS_MAX - 1 and of HEARERS_MAX', () => {
    for (const count of [1, 2, HEARERS_MAX - 1, HEARERS_MAX]) {
      const { torus } = worldOf(count);
      assert.deepEqual(
        near(torus, count).sort((a, b) => a - b),
        Array.from({ length: count }, (_, n) => n + 1),
      );
    }
  });

  it('are HEARERS_MAX different desktops in every larger world, the speaker and its neighbours among them', () => {
    // The smallest world, the sizes around a change of the width, and a wide one.
    for (const count of [HEARERS_MAX + 1, 2000, 4095, 4096, 4097, 10_000, 16_384]) {
      const { torus } = worldOf(count);
      for (const slot of [1, 17, count >> 1, count]) {
        const found = new Set(near(torus, slot));
        assert.equal(found.size, HEARERS_MAX, `${count} desktops, slot ${slot}`);
        assert.ok(found.has(slot));
        for (const edge of [0, 1, 2, 3] as const) assert.ok(found.has(torus.neighbour(slot, edge)));
      }
    }
  });

  it('are the places within 15 of the speaker, to each side and in the corners', () => {
    const { torus, world } = worldOf(10_000);
    const at = 5000;
    const found = new Set(near(torus, world.slots[at]));
    const reach = Math.sqrt(HEARERS_MAX) / 2;
    for (const [across, down, isNear] of [
      [reach - 1, 0, true],
      [reach, 0, false],
      [-reach, 0, true],
      [-reach - 1, 0, false],
      [0, reach - 1, true],
      [0, reach, false],
      [0, -reach, true],
      [0, -reach - 1, false],
      [reach - 1, reach - 1, true],
      [-reach, -reach, true],
    ] as const) {
      assert.equal(found.has(world.slots[at + across + down * world.width]), isNear, `${across}, ${down}`);
    }
  });

  it('hear each other when they are within 15 places, also around the ends of the world', () => {
    const { torus } = worldOf(3000);
    const reach = Math.sqrt(HEARERS_MAX) / 2 - 1;
    for (const slot of [1, 2, 1500, 2999, 3000]) {
      let other = slot;
      for (let step = 0; step < reach; step++) other = torus.neighbour(torus.neighbour(other, 1), 3);
      assert.ok(near(torus, slot).includes(other));
      assert.ok(near(torus, other).includes(slot));
    }
  });

  it('are told the edge in a world of SMALL_WORLD_MAX, and not in one of one more', () => {
    const hearers = new Hearers();
    const edgesIn = (count: number) => {
      hearers.findNear(worldOf(count).torus, 1);
      return [...hearers.edges.subarray(0, hearers.count)].filter((edge) => edge !== NO_EDGE).length;
    };
    assert.equal(edgesIn(SMALL_WORLD_MAX - 1), 4);
    assert.equal(edgesIn(SMALL_WORLD_MAX), 4);
    assert.equal(edgesIn(SMALL_WORLD_MAX + 1), 0);
    assert.equal(edgesIn(1), 0, 'a desktop that is alone is beyond no edge');
    assert.equal(edgesIn(2), 1);
  });

  it('find the speaker beyond that edge', () => {
    const { torus } = worldOf(20);
    const hearers = new Hearers();
    for (const find of ['findNear', 'findNeighbours'] as const) {
      hearers[find](torus, 7);
      for (let index = 0; index < hearers.count; index++) {
        const edge = hearers.edges[index];
        if (edge !== NO_EDGE) assert.equal(torus.neighbour(hearers.slots[index], edge as 0 | 1 | 2 | 3), 7);
      }
    }
  });
});

describe('neighbours of a speaker', () => {
  it('are the speaker and the desktops beyond its edges, each once, at every size', () => {
    for (let count = 1; count < 40; count++) {
      const { torus } = worldOf(count);
      for (let slot = 1; slot <= count; slot++) {
        const hearers = new Hearers();
        hearers.findNeighbours(torus, slot);
        const found = [...hearers.slots.subarray(0, hearers.count)];
        const expected = new Set([slot, ...([0, 1, 2, 3] as const).map((edge) => torus.neighbour(slot, edge))]);
        assert.equal(found.length, expected.size);
        assert.deepEqual(new Set(found), expected);
      }
    }
  });
});

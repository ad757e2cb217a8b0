import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addSprite, createSimulation, SPRITES_MAX, type Sprite } from '../motion/simulation.ts';
import type { Tag } from './canvas.ts';
import { GUESTS_MAX } from './guests.ts';
import { COPY_BYTES, FRAME_MS, KEPT_MS, MOMENTS_BYTES_MAX, Moments } from './moments.ts';

const FRAMES_MAX = KEPT_MS / FRAME_MS;
const COPIES_MAX = Math.floor(MOMENTS_BYTES_MAX / COPY_BYTES);
const BUBBLE = { name: '', text: 'Hello', isReaction: false, left: 1, top: 2, width: 3, height: 4, tail: null };

/** A stage with this many sprites, and what keeps its moments. */
function stage(count: number) {
  const simulation = createSimulation(800, 600);
  const nature = { width: 40, height: 40, walkSpeed: 60, jumpSpeed: 420, gravity: 1800, bounce: 0.3, hopChance: 0.12 };
  for (let i = 0; i < count; i++) {
    const carried = { file: 'f', name: `S${i}`, scale: 2, facing: 'left' } as const;
    addSprite(simulation, { ...carried, fromShelf: true, nature, x: i, y: 600 });
  }
  const tags = new Map<Sprite, Tag>();
  const moments = new Moments();
  const keepAt = (nowMs: number, bubbles = 0) => {
    simulation.nowMs = nowMs;
    moments.keep({ simulation, tags, zoom: 1, slide: { x: 0, y: 0 } }, () => Array(bubbles).fill(BUBBLE));
  };
  return { simulation, tags, moments, keepAt, times: () => moments.all.map(({ simulation: { nowMs } }) => nowMs) };
}

describe('the last moments of a stage', () => {
  it('are twenty a second, however often it is drawn', () => {
    const { keepAt, times } = stage(1);
    for (const nowMs of [0, 17, 49.9, 50, 67, 99.9, 100, 183, 199, 200]) keepAt(nowMs);
    assert.deepEqual(times(), [0, 50, 100, 183, 200]);
  });

  it('are as they were when the sprites go on, and their tags are with them', () => {
    const { simulation, tags, moments, keepAt } = stage(2);
    const [first, second] = simulation.sprites;
    tags.set(first, { text: 'from Ann', kind: 'from', untilMs: 900 });
    tags.set({ ...second }, { text: 'of one that has left', kind: 'from', untilMs: 900 });
    keepAt(0, 1);
    first.x = 99;
    simulation.sprites = [];
    tags.clear();
    const [{ simulation: kept, tags: keptTags, bubbles }] = moments.all;
    const places = kept.sprites.map(({ x }) => x);
    assert.deepEqual(places, [0, 1]);
    assert.deepEqual([...keptTags.keys()], [kept.sprites[0]]);
    assert.deepEqual(bubbles, [BUBBLE]);
  });

  it('are none while nothing moves', () => {
    const { keepAt, times } = stage(1);
    for (const nowMs of [120, 120, 120]) keepAt(nowMs);
    assert.deepEqual(times(), [120]);
  });

  it('are those of five seconds', () => {
    const { keepAt, times } = stage(1);
    for (let frame = 0; frame < FRAMES_MAX; frame++) keepAt(frame * FRAME_MS);
    assert.deepEqual([times().length, times()[0]], [FRAMES_MAX, 0]);
    keepAt(KEPT_MS);
    assert.deepEqual([times().length, times()[0]], [FRAMES_MAX, FRAME_MS]);
    keepAt(3 * KEPT_MS);
    assert.deepEqual(times(), [3 * KEPT_MS]);
  });

  it('are whole for the fullest desktop', () => {
    const { keepAt, times } = stage(SPRITES_MAX + GUESTS_MAX);
    for (let frame = 0; frame < 2 * FRAMES_MAX; frame++) keepAt(frame * FRAME_MS);
    assert.equal(times().length, FRAMES_MAX);
  });

  for (const [more, kept] of [
    [-1, 4],
    [0, 4],
    [1, 3],
  ]) {
    it(`take no more memory than they may: ${more} above it`, () => {
      const { keepAt, times } = stage(0);
      const share = Math.floor(COPIES_MAX / 4) - 1; // beside the moment itself
      for (const i of [0, 1, 2]) keepAt(i * FRAME_MS, share);
      keepAt(3 * FRAME_MS, share + (COPIES_MAX % 4) + more);
      assert.equal(times().length, kept);
    });
  }
});

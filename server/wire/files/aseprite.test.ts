import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readAseprite } from './aseprite.ts';
import { ANIMATIONS_MAX, FRAMES_MAX } from './description.ts';
import { SprRefused } from './png.ts';

const FRAME = { frame: { x: 0, y: 0, w: 4, h: 4 } };
const read = (value: unknown) => readAseprite(JSON.stringify(value));
const tags = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `a${i}`, from: 0, to: 0 }));

describe('an Aseprite export', () => {
  it('is read from a list and from named frames', () => {
    assert.deepEqual(read({ frames: [FRAME, FRAME] }).animations.idle, { frames: [0, 1], fps: 10 });
    assert.deepEqual(read({ frames: { a: FRAME } }).frame, { width: 4, height: 4 });
  });

  it('has as many frames and tags as a .spr may have, and no more', () => {
    const frames = (count: number) => ({ frames: Array(count).fill(FRAME) });
    for (const count of [FRAMES_MAX - 1, FRAMES_MAX]) assert.equal(read(frames(count)).frames.length, count);
    assert.throws(() => read(frames(FRAMES_MAX + 1)), /513 frames; at most 512/);
    for (const count of [ANIMATIONS_MAX - 1, ANIMATIONS_MAX]) {
      const names = Object.keys(read({ frames: [FRAME], meta: { frameTags: tags(count) } }).animations);
      assert.equal(names.length, count + 1, 'with idle');
    }
    assert.throws(() => read({ frames: [FRAME], meta: { frameTags: tags(ANIMATIONS_MAX + 1) } }), /65 tags/);
  });

  it('that is hostile or broken is refused with a sentence, never with another error', () => {
    const meta = (value: object) => ({ frames: [FRAME], meta: value });
    for (const value of [
      ...[null, 1, 'frames', [], { frames: null }, { frames: 'abc' }, { frames: [null] }, { frames: [{}] }],
      ...[-1, 0.5, '4', null].map((x) => ({ frames: [{ frame: { x, y: 0, w: 4, h: 4 } }] })),
      ...[-4, 1.5, '4', null].map((w) => ({ frames: [{ ...FRAME, sourceSize: { w, h: 4 } }] })),
      ...[-1, 0.5, 'a'].map((x) => ({ frames: [{ ...FRAME, spriteSourceSize: { x, y: 0, w: 4, h: 4 } }] })),
      ...[-1, 'long', {}].map((duration) => ({ frames: [{ ...FRAME, duration }] })),
      ...[null, {}, { name: 5, from: 0, to: 0 }].map((tag) => meta({ frameTags: [tag] })),
      ...[-1, 0.5, 1, '0', null].map((to) => meta({ frameTags: [{ name: 'walk', from: 0, to }] })),
    ]) {
      assert.throws(() => read(value), SprRefused, JSON.stringify(value));
    }
    for (const value of [{ frameTags: 5 }, { frameTags: {} }, { slices: 'x' }, { slices: [null] }, { image: {} }]) {
      assert.equal(read(meta(value)).hitbox, undefined);
    }
    const odd = read(meta({ frameTags: [{ name: '__proto__', from: 0, to: 0 }] }));
    assert.equal(Object.getPrototypeOf(odd.animations), Object.prototype);
  });
});

import assert from 'node:assert/strict';
import { describe as group, it } from 'node:test';
import { readDescription } from '../../wire/files/description.ts';
import {
  type Draft,
  describe,
  dropFrame,
  hitboxOf,
  keptAnimations,
  keptFrames,
  moveFrame,
  newDraft,
  type Suggested,
  usualScale,
} from './draft.ts';

const SUGGESTED: Suggested = {
  ...{ count: 4, frame: { width: 32, height: 24 }, hitbox: [4, 2, 24, 22], scale: 3 },
  animations: { idle: { frames: [0, 1], fps: 4 }, walk: { frames: [1, 2, 3, 2], fps: 8 } },
};

const draft = (members: Partial<Draft> = {}): Draft => ({
  ...newDraft(
    {
      ...{ frame: null, height: 24, isPixelArt: false, colours: 16, isAlive: false },
      cut: { fromEdges: false, picks: [], tolerance: 10, rim: 0 },
    },
    'Blob',
  ),
  ...members,
});

group('draft', () => {
  it('has all that is suggested until the person decides otherwise', () => {
    const { hitbox, scale, animations, licence, name } = describe(draft(), SUGGESTED);
    assert.deepEqual(
      { hitbox, scale, animations },
      { hitbox: [4, 2, 24, 22], scale: 3, animations: SUGGESTED.animations },
    );
    assert.deepEqual([name, licence], ['Blob', 'CC0-1.0']);
  });

  it('has frames that move, are dropped and come back, and animations that keep theirs', () => {
    const kept = keptFrames(draft(), SUGGESTED);
    assert.deepEqual(moveFrame(kept, 2, -1), [0, 2, 1, 3]);
    assert.deepEqual(moveFrame(kept, 3, 1), kept);
    assert.deepEqual(moveFrame(kept, 0, -1), kept);
    assert.deepEqual(moveFrame(kept, 9, 1), kept);
    const order = dropFrame(moveFrame(kept, 2, -1), 1);
    assert.deepEqual(order, [0, 2, 3]);
    const { animations } = describe(draft({ order }), SUGGESTED);
    assert.deepEqual(animations, { idle: { frames: [0], fps: 4 }, walk: { frames: [1, 2, 1], fps: 8 } });
    const back = describe(draft({ order: [...order, 1] }), SUGGESTED);
    assert.deepEqual(back.animations.walk.frames, [3, 1, 2, 1]);
  });

  it('always has a frame and an idle animation', () => {
    assert.deepEqual(dropFrame([3], 3), [3]);
    assert.deepEqual(keptFrames(draft({ order: [7, 8] }), SUGGESTED), [0, 1, 2, 3], 'of a picture with more frames');
    assert.deepEqual(keptAnimations(draft({ order: [3] }), SUGGESTED), {
      walk: { frames: [3], fps: 8 },
      idle: { frames: [3], fps: 1 },
    });
  });

  it('has a hitbox that lies in the frame, however small the frame becomes', () => {
    const at = (hitbox: Draft['hitbox']) => hitboxOf(draft({ hitbox }), SUGGESTED);
    assert.deepEqual(at([0, 0, 32, 24]), [0, 0, 32, 24]);
    assert.deepEqual(at([30, 20, 32, 24]), [30, 20, 2, 4]);
    assert.deepEqual(at([-3, 99, 0, 0]), [0, 23, 1, 1]);
    assert.deepEqual(at([1.6, 1.4, 5.5, 5.4]), [2, 1, 6, 5]);
  });

  it('becomes a description that the relay accepts', () => {
    const made = describe(draft({ name: ' Ünal ', author: ' ', order: [3, 0] }), SUGGESTED);
    const read = readDescription(JSON.stringify(made), { width: 64, height: 24 });
    assert.deepEqual([read.name, read.author, read.animations.walk.frames], ['Ünal', '', [0]]);
  });

  it('shows a small frame in whole pixels, and a large one at the usual size', () => {
    const sides = [8, 32, 33, 48, 49, 96, 97, 192, 4096];
    assert.deepEqual(
      sides.map((side) => usualScale({ width: side, height: 5 })),
      [12, 3, 2, 2, 1, 1, 96 / 97, 0.5, 0.25],
    );
    assert.equal(usualScale({ width: 1, height: 1 }), 16);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Description } from '../../wire/files/description.ts';
import {
  cellOf,
  NAME_LENGTH_MAX,
  natureOf,
  PARCEL,
  SHOWN_SIDE_MAX,
  SHOWN_SIDE_MIN,
  shownScale,
  spriteName,
} from './sheets.ts';

const animations = { idle: { frames: [7, 8], fps: 4 }, land: { frames: [1, 2, 3], fps: 10 } };
const blob: Description = { ...PARCEL, animations };

describe('sheets', () => {
  it('repeats an animation at its speed, plays a landing once, and shows idle for an unknown animation', () => {
    const at = (mode: string, ...times: number[]) => times.map((ms) => cellOf(blob, mode, ms));
    assert.deepEqual(at('idle', 0, 249, 250, 499, 500), [7, 7, 8, 8, 7]);
    assert.deepEqual(at('land', 0, 100, 200, 300, 9000), [1, 2, 3, 3, 3]);
    assert.deepEqual(at('climb', 0, 250), [7, 8]);
    assert.deepEqual(at('idle', -5), [7]);
  });

  it('plays the nearest animation that is there instead of a missing one', () => {
    const cell = (animation: string, more: Description['animations'] = {}, ms = 0) =>
      cellOf({ ...blob, animations: { ...animations, ...more } }, animation, ms);
    const [fall, thrown, wave] = [3, 4, 5].map((one) => ({ frames: [one], fps: 1 }));
    assert.equal(cell('tumble'), 7);
    assert.equal(cell('tumble', { fall }), 3);
    assert.equal(cell('tumble', { fall, throw: thrown }), 4);
    assert.equal(cell('squash', {}, 9000), 3); // a landing, which stops at its last frame
    assert.equal(cell('greet'), 7);
    assert.equal(cell('greet', { wave }), 5);
    assert.equal(cell('an-artists-own'), 7);
  });

  it('shows a sprite at its own scale, within the limits of size on screen', () => {
    const framed = (side: number): Description => ({ ...blob, frame: { width: side, height: 1 } });
    assert.equal(shownScale(framed(32), 2), 2);
    assert.equal(shownScale(framed(4096), 16) * 4096, SHOWN_SIDE_MAX);
    assert.equal(shownScale(framed(1), 0.25), SHOWN_SIDE_MIN);
    assert.equal(natureOf(blob, 2).width, 48);
    assert.equal(natureOf({ ...framed(4096), hitbox: [0, 0, 4096, 1] }, 16).width, SHOWN_SIDE_MAX);
  });

  it('calls a sprite by its own name, and by that of its picture when its own is too long or empty', () => {
    const named = (length: number) => spriteName('N'.repeat(length), { ...blob, name: 'Blob' });
    assert.deepEqual([0, 1, NAME_LENGTH_MAX - 1, NAME_LENGTH_MAX, NAME_LENGTH_MAX + 1, 64].map(named), [
      ...['Blob', 'N', 'N'.repeat(NAME_LENGTH_MAX - 1), 'N'.repeat(NAME_LENGTH_MAX)],
      ...['Blob', 'Blob'],
    ]);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stackTags, TAG_TOP_MIN } from './tag_stack.ts';

const tag = (left: number, top: number) => ({ left, right: left + 80, top, bottom: top + 22 });

describe('tags', () => {
  it('are over their sprites, and go up one above the other where they would cover each other', () => {
    assert.deepEqual(stackTags([tag(0, 200), tag(80, 200), tag(160, 200)]), [200, 200, 200]);
    assert.deepEqual(stackTags([tag(0, 200), tag(79, 205), tag(40, 190)]), [200, 176, 152]);
    assert.deepEqual(stackTags([tag(0, 200), tag(0, 176)]), [200, 176], 'as near as may be');
    assert.deepEqual(stackTags([tag(0, 200), tag(0, 177)]), [200, 176], 'one px nearer');
  });

  it('are on the page, or not drawn', () => {
    assert.deepEqual(stackTags([tag(0, -10)]), [TAG_TOP_MIN]);
    assert.deepEqual(stackTags([tag(0, 28), tag(0, 28), tag(200, 28)]), [28, TAG_TOP_MIN, 28]);
    assert.deepEqual(stackTags([tag(0, 27), tag(0, 27), tag(0, 90)]), [27, null, 90]);
  });

  it('never cover each other, when a crowd comes in at once', () => {
    const wishes = Array.from({ length: 60 }, (_, i) => tag((i * 37) % 400, 300 + ((i * 53) % 90)));
    const boxes = stackTags(wishes).flatMap((top, i) =>
      top === null ? [] : [{ ...wishes[i], top, bottom: top + 22 }],
    );
    assert.ok(boxes.length > 30, `${boxes.length} are drawn`);
    for (const [i, a] of boxes.entries()) {
      for (const b of boxes.slice(i + 1)) {
        assert.ok(a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top);
      }
    }
  });
});

/** BEHAVIOUR.md, bubbles.vectors.json and the browser's bubbles agree. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { bubbleConstants, playPlacing, playShown, readBubbleVectors } from './bubble_vectors.ts';

const vectors = readBubbleVectors();

describe('bubbles', () => {
  it('have the same constants in the browser and in BEHAVIOUR.md as in the vectors', () => {
    assert.deepEqual(bubbleConstants(), vectors.constants);
    const text = readFileSync(new URL('../BEHAVIOUR.md', import.meta.url), 'utf8')
      .split('\n## Bubbles\n')[1]
      .split('\n## ')[0];
    const rows = [...text.matchAll(/^\| `([A-Z_]+)` \| ([\d ]+) \|/gm)];
    const written = Object.fromEntries(rows.map(([, name, value]) => [name, Number(value.replaceAll(' ', ''))]));
    assert.deepEqual(written, vectors.constants);
  });

  for (const one of vectors.shown) {
    it(`browser › ${one.name}`, () => assert.deepEqual(playShown(one), one.expect));
  }

  for (const one of vectors.placing) {
    it(`browser › ${one.name}`, () => assert.deepEqual(playPlacing(one), one.expect));
  }
});

/** BEHAVIOUR.md, peek.vectors.json and the browser's stages and silhouettes agree. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { peekConstants, playNews, playSilhouettes, playStage, readPeekVectors } from './peek_vectors.ts';

const vectors = readPeekVectors();

describe('peeking', () => {
  it('has the same constants in the browser and in BEHAVIOUR.md as in the vectors', () => {
    assert.deepEqual(peekConstants(), vectors.constants);
    const text = readFileSync(new URL('../BEHAVIOUR.md', import.meta.url), 'utf8')
      .split('\n## Peeking\n')[1]
      .split('\n## ')[0];
    const rows = [...text.matchAll(/^\| `([A-Z_]+)` \| ([\d. ]+) \|/gm)];
    const written = Object.fromEntries(rows.map(([, name, value]) => [name, Number(value.replaceAll(' ', ''))]));
    assert.deepEqual(written, vectors.constants);
  });

  for (const one of vectors.stages) {
    it(`browser › ${one.name}`, () => assert.deepEqual(playStage(one), one.expect));
  }

  for (const one of vectors.news) {
    it(`browser › ${one.name}`, () => {
      assert.deepEqual(
        playNews(one),
        one.later.map(({ isNews }) => isNews),
      );
    });
  }

  for (const one of vectors.silhouettes) {
    it(`browser › ${one.name}`, () => assert.deepEqual(playSilhouettes(one), one.expect));
  }
});

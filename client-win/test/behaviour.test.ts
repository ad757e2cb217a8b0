/** BEHAVIOUR.md, behaviour.vectors.json and the browser's world agree. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { PLAYED } from '../../server/wire/files/description.ts';
import { constants, play, readVectors, type Snapshot } from './vectors.ts';

/** px and px/s: differences that come from rounding in another order. */
const TOLERANCE = 1e-6;

const vectors = readVectors();

describe('behaviour', () => {
  it('has the same constants in the browser as in the vectors', () => {
    assert.deepEqual(constants(), vectors.constants);
  });

  it('has the same constants in BEHAVIOUR.md as in the vectors', () => {
    const [text] = readFileSync(new URL('../BEHAVIOUR.md', import.meta.url), 'utf8').split('\n## Bubbles\n');
    const rows = [...text.matchAll(/^\| `([A-Z_]+)` \| ([^|]+) \|/gm)];
    const written = Object.fromEntries(rows.map(([, name, value]) => [name, numberOf(value)]));
    assert.deepEqual(written, vectors.constants);
  });

  it('plays the same animations instead of missing ones in the browser as in the vectors, and in BEHAVIOUR.md', () => {
    assert.deepEqual(PLAYED, vectors.animations);
    const text = readFileSync(new URL('../BEHAVIOUR.md', import.meta.url), 'utf8');
    const rows = [...text.matchAll(/^\| `([a-z]+)` \| `([a-z]+)` \| (once|repeated) \|/gm)];
    const written = rows.map(([, name, instead, end]) => [name, { instead, once: end === 'once' }]);
    assert.deepEqual(Object.fromEntries(written), vectors.animations);
  });

  for (const scenario of vectors.scenarios) {
    it(`browser › ${scenario.name}`, () => {
      const { at, left } = play(scenario, vectors.nature);
      const expected = scenario.expect!;
      assert.equal(left.length, expected.left.length);
      for (const [i, departure] of left.entries()) close(departure, expected.left[i], `departure ${i}`);
      for (const [i, { ms, sprites }] of at.entries()) {
        for (const [j, sprite] of sprites.entries()) {
          close(sprite, expected.at[i].sprites[j], `sprite ${j} at ${ms} ms`);
        }
      }
    });
  }
});

/** Parses `1000 / 120` or `0.4`, with optional spaces between thousands. */
function numberOf(text: string): number {
  const [dividend, divisor = '1'] = text.replaceAll(/[\s_]/g, '').split('/');
  return Number(dividend) / Number(divisor);
}

function close(actual: object | null, expected: object | Snapshot['sprites'][number] | null, what: string): void {
  if (actual === null || expected === null) {
    assert.equal(actual, expected, what);
    return;
  }
  for (const [name, value] of Object.entries(expected)) {
    const own: unknown = (actual as Record<string, unknown>)[name];
    if (typeof value === 'number') {
      assert.ok(Math.abs((own as number) - value) <= TOLERANCE, `${what}: ${name} is ${own}, not ${value}`);
    } else {
      assert.equal(own, value, `${what}: ${name}`);
    }
  }
}

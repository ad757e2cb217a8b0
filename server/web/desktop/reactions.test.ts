import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { REACTIONS } from '../../wire/rules.ts';
import { checkSaying } from '../../wire/saying.ts';
import { isReaction, isWave, REACTION_KEYS, reactionWords } from './reactions.ts';

describe('a reaction', () => {
  it('is a saying that the relay passes on as it is', () => {
    for (const text of REACTIONS) assert.deepEqual(checkSaying({ saying: 1, text }), { saying: 1, text });
  });

  it('is one emoji alone; the first one is a wave', () => {
    assert.deepEqual([...REACTIONS, '👋👋', 'Hi 👋', '', '🙂'].map(isReaction), [
      true,
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
    assert.deepEqual(REACTIONS.map(isWave), [true, false, false]);
  });

  it('has a key and a button, and words for those who do not see it', () => {
    assert.deepEqual(Object.values(REACTION_KEYS), REACTIONS);
    const page = readFileSync(join(import.meta.dirname, 'index.html'), 'utf8');
    assert.deepEqual(
      [...page.matchAll(/data-reaction="([^"]+)" .* \((\w)\)"/g)].map(([, text, key]) => [key.toLowerCase(), text]),
      Object.entries(REACTION_KEYS),
    );
    assert.deepEqual(
      REACTIONS.map((one) => reactionWords(one, 'Ann')),
      ['reaction.waves', 'reaction.sends-heart', 'reaction.laughs'], // without a page, a phrase is its key
    );
  });
});

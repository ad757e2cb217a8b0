import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { friendlyName, languageOf, WORDS } from './friendly_names.ts';
import { NAME_BYTES_MAX } from './rules.ts';
import { normalizeName, whyInvalidName } from './text.ts';

describe('friendly names', () => {
  it('are the same for the same number, and differ for numbers in a row', () => {
    assert.equal(friendlyName(7), friendlyName(7));
    const names = new Set(Array.from({ length: 100 }, (_, n) => friendlyName(n)));
    assert.ok(names.size > 90, `${names.size} of 100 names differ`);
    assert.match(friendlyName(2 ** 32 - 1), /^[A-Z][a-z]+ [A-Z][a-z]+$/);
  });

  for (const [language, { adjectives, nouns }] of Object.entries(WORDS)) {
    it(`are valid names in ${language}, for each pair of words`, () => {
      for (const words of [adjectives, nouns]) {
        assert.ok(words.length >= 24, `${words.length} words`);
        assert.equal(new Set(words).size, words.length, 'no word is there twice');
      }
      const longest = (words: readonly string[]) =>
        words.reduce((a, b) => (Buffer.byteLength(b) > Buffer.byteLength(a) ? b : a));
      const name = `${longest(adjectives)} ${longest(nouns)}`;
      assert.ok(name.length <= 32, `the page's field takes 32 characters: ${name}`);
      assert.ok(Buffer.byteLength(name) <= NAME_BYTES_MAX);
      for (const word of [...adjectives, ...nouns]) {
        assert.equal(whyInvalidName(word), undefined);
        assert.equal(normalizeName(word), word);
      }
      for (let n = 0; n < 1000; n++) {
        const pair = friendlyName(n, language).split(' ');
        assert.ok(pair.length === 2 && pair.every((word) => adjectives.includes(word) || nouns.includes(word)));
      }
    });
  }

  it('are in the first language that has words, otherwise in English', () => {
    assert.equal(languageOf(['de-AT', 'en']), 'de');
    assert.equal(languageOf(['tlh', 'PT-br']), 'pt');
    assert.equal(languageOf(['zh', 'constructor']), 'en');
    assert.equal(languageOf([]), 'en');
    assert.equal(friendlyName(3, 'xx'), friendlyName(3));
  });
});

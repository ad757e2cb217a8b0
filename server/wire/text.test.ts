import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HIDDEN, ONLY_MARKS } from './hidden.ts';
import vectors from './hidden.vectors.json' with { type: 'json' };
import { NAME_BYTES_MAX } from './rules.ts';
import { normalizeName, whyInvalidName } from './text.ts';

const INVISIBLE = /control or invisible/;

describe('name', () => {
  it('may be in any script, or empty', () => {
    for (const text of [
      '',
      'Blob',
      'Bär',
      'Ζωή',
      'Иван',
      'עברית',
      'العربية',
      'हिन्दी',
      '名前',
      '이름',
      '😀',
      'a b',
      `"'\\/<>&`,
    ]) {
      assert.equal(whyInvalidName(text), undefined, text);
    }
  });

  it('is measured in bytes of UTF-8, up to the limit', () => {
    for (const character of ['a', 'é', '名', '😀']) {
      const size = Buffer.byteLength(character);
      const count = Math.floor(NAME_BYTES_MAX / size);
      const rest = 'a'.repeat(NAME_BYTES_MAX - count * size);
      assert.equal(whyInvalidName(character.repeat(count - 1)), undefined);
      assert.equal(whyInvalidName(character.repeat(count) + rest), undefined);
      assert.match(whyInvalidName(`${character.repeat(count)}${rest}a`) ?? '', /at most 64 bytes/);
    }
  });

  it('has no control character at any position', () => {
    for (let code = 0; code < 0xa0; code++) {
      if (code >= 0x20 && code < 0x7f) continue;
      const control = String.fromCharCode(code);
      for (const text of [`${control}a`, `a${control}b`, `a${control}`]) {
        assert.match(whyInvalidName(text) ?? '', INVISIBLE, `U+${code.toString(16)}`);
      }
    }
  });

  it('has no character that changes the reading order of a page or breaks its lines', () => {
    const order = ['\u061c', '\u200e', '\u200f', '\u202a', '\u202b', '\u202c', '\u202d', '\u202e'];
    order.push('\u2066', '\u2067', '\u2068', '\u2069');
    for (const character of [...order, '\u2028', '\u2029']) {
      assert.match(whyInvalidName(`a${character}b`) ?? '', INVISIBLE, `U+${character.charCodeAt(0).toString(16)}`);
    }
  });

  it('has no invisible character that makes two names look the same', () => {
    for (const code of [
      0xad, 0x180e, 0x200b, 0x200c, 0x200d, 0x2060, 0x2064, 0x206f, 0xfeff, 0xfff9, 0xe0001, 0xe0061,
    ]) {
      assert.match(whyInvalidName(`a${String.fromCodePoint(code)}b`) ?? '', INVISIBLE, `U+${code.toString(16)}`);
    }
  });

  it('has no character that shows nothing, alone or between others', () => {
    const codes = [0x3164, 0x2800, 0xffa0, 0x1160, 0x115f, 0x034f, 0xfe0f, 0xe0100, 0x17b4, 0x180b, 0x1d159, 0x16fe4];
    for (const code of [...codes, 0xfe0e, 0xfffc, 0x13441, 0x13442, 0xe0001]) {
      const character = String.fromCodePoint(code);
      for (const text of [character, `a${character}`, `${character}a`, `a${character}b`, character.repeat(3)]) {
        assert.match(whyInvalidName(text) ?? '', INVISIBLE, `U+${code.toString(16)}`);
      }
    }
  });

  it('follows the vectors, as the core of the Windows client does', () => {
    for (const text of vectors.plain) assert.equal(whyInvalidName(text), undefined, text);
    for (const text of vectors.notPlain) assert.match(whyInvalidName(text) ?? '', INVISIBLE, JSON.stringify(text));
    const ranges = vectors.hidden.map((range) => range.map((code) => Number.parseInt(code, 16)));
    let at = 0;
    for (let code = 0; code < 0x110000; code++) {
      if (code > ranges[at]?.[1]) at++;
      const isListed = code >= ranges[at]?.[0];
      if (code >= 0xd800 && code < 0xe000) continue;
      const isHidden = HIDDEN.test(String.fromCodePoint(code));
      // A later version of Unicode may have more of them: then renew the vectors and core/text/text.cc.
      if (isListed || process.versions.unicode === vectors.unicode) {
        assert.equal(isHidden, isListed, `U+${code.toString(16)}`);
      }
    }
  });

  it('has more than combining marks, which would show over what is beside it', () => {
    for (const text of vectors.onlyMarks) {
      assert.match(whyInvalidName(normalizeName(text)) ?? '', /more than combining marks/, JSON.stringify(text));
    }
    for (const text of vectors.notOnlyMarks) assert.equal(whyInvalidName(text), undefined, JSON.stringify(text));
    const ranges = vectors.marks.map((range) => range.map((code) => Number.parseInt(code, 16)));
    for (let code = 1; code < 0x110000; code++) {
      if (code >= 0xd800 && code < 0xe000) continue;
      const character = String.fromCodePoint(code);
      if (HIDDEN.test(character)) continue;
      const isListed = ranges.some(([first, last]) => code >= first && code <= last);
      if (isListed || process.versions.unicode === vectors.unicode) {
        assert.equal(ONLY_MARKS.test(character), isListed, `U+${code.toString(16)}`);
      }
    }
  });

  it('may have emoji whose parts are joined by invisible characters', () => {
    const flag = `\u{1f3f4}${String.fromCodePoint(0xe0067, 0xe0062, 0xe0065, 0xe006e, 0xe0067, 0xe007f)}`;
    for (const emoji of ['👩\u200d💻', '👨\u200d👩\u200d👧', '❤\ufe0f', flag]) {
      assert.equal(whyInvalidName(`my ${emoji} desk`), undefined, emoji);
    }
    assert.match(whyInvalidName('👩\u200d💻\u200d') ?? '', INVISIBLE);
  });

  it('is well-formed: no half of a surrogate pair', () => {
    for (const text of ['\ud83d', '\ude00', '\ude00\ud83d', 'a\ud83db', '😀\ud83d']) {
      assert.match(whyInvalidName(text) ?? '', /well-formed/);
    }
  });

  it('is stored in NFC without space around it', () => {
    assert.equal(normalizeName('  Ba\u0308r \u3000\n'), 'Bär');
    assert.equal(normalizeName('a  b'), 'a  b');
    assert.equal(normalizeName(' \t '), '');
    assert.equal(normalizeName(normalizeName('e\u0301 ')), normalizeName('é'));
  });
});

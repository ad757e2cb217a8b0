import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ProblemError } from './problem.ts';
import { SAYING_BODY_BYTES_MAX, SAYING_TEXT_BYTES_MAX } from './rules.ts';
import { checkSaying, readSaying } from './saying.ts';

/** The field that a saying is refused for. */
function fieldOf(value: unknown): string | undefined {
  try {
    checkSaying(value);
  } catch (error) {
    assert.ok(error instanceof ProblemError);
    assert.equal(error.document.code, 'malformed');
    return error.document.field;
  }
  return undefined;
}

describe('a saying', () => {
  it('has a number and a text, which is cleaned as names are; other members are dropped', () => {
    const given = { saying: 3, text: '  Cafe\u0301 👩‍🚀  ', extra: 1 };
    assert.deepEqual(checkSaying(given), { saying: 3, text: 'Café 👩‍🚀' });
  });

  it('must be an object with a whole number from 1 to 2^53 - 1', () => {
    for (const value of [null, 1, 'x', [], undefined]) assert.equal(fieldOf(value), 'body');
    const text = 'hello';
    for (const saying of [0, -1, 1.5, 2 ** 53, '1', null, undefined, Number.NaN]) {
      assert.equal(fieldOf({ saying, text }), 'saying', String(saying));
    }
    for (const saying of [1, 2 ** 53 - 1]) assert.equal(fieldOf({ saying, text }), undefined);
  });

  it('must have a text that is not empty and has no control or invisible characters', () => {
    for (const text of ['', '  ', 'a\nb', 'a\u202eb', '\u2800', '\ud800', 7, null, undefined]) {
      assert.equal(fieldOf({ saying: 1, text }), 'text', JSON.stringify(text));
    }
  });

  it('has at most SAYING_TEXT_BYTES_MAX bytes of text: one below, at the limit, one above', () => {
    const ofBytes = (bytes: number) => ({ saying: 1, text: `${'x'.repeat(bytes - 2)}é` });
    assert.equal(fieldOf(ofBytes(SAYING_TEXT_BYTES_MAX - 1)), undefined);
    assert.equal(fieldOf(ofBytes(SAYING_TEXT_BYTES_MAX)), undefined);
    assert.equal(fieldOf(ofBytes(SAYING_TEXT_BYTES_MAX + 1)), 'text');
  });

  it('is read from a part of a buffer, in UTF-8, of at most SAYING_BODY_BYTES_MAX: one below, at the limit, one above', () => {
    const body = Buffer.from('#{"saying":1,"text":"Zoë"}#');
    assert.deepEqual(readSaying(body, 1, body.length - 1), { saying: 1, text: 'Zoë' });
    const codeOf = (bytes: Buffer) => {
      try {
        readSaying(bytes, 0, bytes.length);
        return undefined;
      } catch (error) {
        return (error as ProblemError).document.code;
      }
    };
    for (const bad of ['', '{', '{"saying":1,"text":"\xff"}'])
      assert.equal(codeOf(Buffer.from(bad, 'latin1')), 'malformed');
    for (const [bytes, code] of [
      [SAYING_BODY_BYTES_MAX - 1, undefined],
      [SAYING_BODY_BYTES_MAX, undefined],
      [SAYING_BODY_BYTES_MAX + 1, 'too-large'],
    ] as const) {
      assert.equal(codeOf(Buffer.from('{"saying":1,"text":"a"}'.padEnd(bytes))), code);
    }
  });

  it('fits into a body of SAYING_BODY_BYTES_MAX, when its text is quotes only', () => {
    const text = '"'.repeat(SAYING_TEXT_BYTES_MAX);
    assert.ok(JSON.stringify({ saying: 2 ** 53 - 1, text }).length <= SAYING_BODY_BYTES_MAX);
  });
});

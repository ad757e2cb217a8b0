import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { blankIdentity, readId, readToken, SLOTS_MAX, TOKEN_LENGTH_MAX, writeId, writeToken } from './identity.ts';

const GENERATION_MAX = 0xffffffff;
const WORDS = Uint32Array.of(0x00112233, 0x44556677, 0x8899aabb, 0xccddeeff);
const TOKEN = '1a2b-3f.00112233445566778899aabbccddeeff';

describe('id', () => {
  it('is slot and generation in lowercase hex', () => {
    assert.equal(writeId(0x1a2b, 0x3f), '1a2b-3f');
    assert.equal(writeId(0, 1), '0-1');
    assert.equal(writeId(SLOTS_MAX - 1, GENERATION_MAX), 'ffffff-ffffffff');
  });

  it('is read as it was written, from the first slot and generation to the last', () => {
    const into = blankIdentity();
    for (const slot of [0, 1, 15, 16, 0xfffff, 0x100000, SLOTS_MAX - 1]) {
      for (const generation of [1, 2, 15, 16, 0x7fffffff, 0x80000000, GENERATION_MAX]) {
        assert.ok(readId(writeId(slot, generation), into));
        assert.deepEqual([into.slot, into.generation], [slot, generation]);
      }
    }
  });

  it('has exactly one text: no leading zeros, capitals, signs or spaces', () => {
    const wrong = [
      '',
      '-',
      '1',
      '1-',
      '-1',
      '01-1',
      '1-01',
      '00-1',
      '1A-1',
      '1-F',
      'g-1',
      '1-g',
      ' 1-1',
      '1-1 ',
      '1--1',
    ];
    wrong.push('+1-1', '1-1-1', '0x1-1', '1-1\n', '١-1', '1‐1', '1.1');
    for (const text of wrong) assert.equal(readId(text, blankIdentity()), false, JSON.stringify(text));
  });

  it('has generations from 1', () => {
    assert.equal(readId('0-0', blankIdentity()), false);
    assert.equal(readId('0-1', blankIdentity()), true);
  });

  it('has slots below SLOTS_MAX and generations of at most 32 bits', () => {
    assert.equal(readId('ffffff-1', blankIdentity()), true);
    assert.equal(readId('1000000-1', blankIdentity()), false);
    assert.equal(readId('0-ffffffff', blankIdentity()), true);
    assert.equal(readId('0-100000000', blankIdentity()), false);
  });

  it('is read from the middle of a text, and nothing after its end is read', () => {
    const path = '/v1/desktops/1a2b-3f/events';
    const into = blankIdentity();
    assert.ok(readId(path, into, 13, 20));
    assert.deepEqual([into.slot, into.generation], [0x1a2b, 0x3f]);
    assert.equal(readId('1a2b3f/-1', into, 0, 6), false);
    assert.equal(readId('1a2b-3f', into, 7, 7), false);
  });
});

describe('token', () => {
  it('is the id and 128 bits, each word with its highest digit first', () => {
    assert.equal(writeToken(0x1a2b, 0x3f, WORDS), TOKEN);
    assert.equal(writeToken(0, 1, new Uint32Array(4)), `0-1.${'0'.repeat(32)}`);
  });

  it('is read as it was written', () => {
    const into = blankIdentity();
    assert.ok(readToken(TOKEN, into));
    assert.deepEqual([into.slot, into.generation, ...into.token], [0x1a2b, 0x3f, ...WORDS]);
  });

  it('has at most TOKEN_LENGTH_MAX characters', () => {
    const longest = writeToken(SLOTS_MAX - 1, GENERATION_MAX, new Uint32Array(4).fill(0xffffffff));
    assert.equal(longest.length, TOKEN_LENGTH_MAX);
    const into = blankIdentity();
    assert.ok(readToken(longest, into));
    assert.deepEqual([...into.token], [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff]);
    assert.equal(readToken(`f${longest}`, into), false);
    assert.equal(readToken(`${longest}0`, into), false);
  });

  it('is refused when any one of its characters is missing, doubled or not allowed there', () => {
    for (let at = 0; at < TOKEN.length; at++) {
      // An id with one digit less, or one digit twice, is another valid id.
      const inId = at < TOKEN.indexOf('.') && TOKEN[at] !== '-';
      const [before, after] = [TOKEN.slice(0, at), TOKEN.slice(at + 1)];
      if (!inId) assert.equal(readToken(before + after, blankIdentity()), false, `without ${at}`);
      if (!inId) assert.equal(readToken(before + TOKEN[at] + TOKEN[at] + after, blankIdentity()), false, `twice ${at}`);
      for (const other of ['g', 'A', ' ', '\0', '\u{1f600}', '/', ':', '`']) {
        assert.equal(readToken(before + other + after, blankIdentity()), false, `${JSON.stringify(other)} at ${at}`);
      }
    }
  });

  it('is refused without its dot, its id or its digits', () => {
    for (const text of [
      '',
      '.',
      '1-1',
      '1-1.',
      `.${'0'.repeat(32)}`,
      `1-1${'0'.repeat(32)}`,
      `1-1..${'0'.repeat(31)}`,
    ]) {
      assert.equal(readToken(text, blankIdentity()), false, text);
    }
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ANIMATION_BYTES_MAX, ANIMATION_SIDE_MAX, linesOf } from './photographs.ts';

it('has room in an animation for a frame of which no two pixels are alike', () => {
  // A code of 12 bits for each pixel, in blocks of 255 bytes with their length, after the colours.
  const codes = 1.5 * ANIMATION_SIDE_MAX ** 2;
  assert.ok(codes * (256 / 255) + 1_024 < ANIMATION_BYTES_MAX);
});

describe('a bubble in a picture', () => {
  const wrapped = (text: string) => linesOf(text, (line) => [...line].length <= 10);

  it('has its words in lines', () => {
    assert.deepEqual(wrapped(''), ['']);
    assert.deepEqual(wrapped('ten letter'), ['ten letter']);
    assert.deepEqual(wrapped('ten letters'), ['ten', 'letters']);
    assert.deepEqual(wrapped('one two three four'), ['one two', 'three four']);
  });

  it('breaks a word that is longer than a line, between letters', () => {
    assert.deepEqual(wrapped('Donaudampfschifffahrt ahoi'), ['Donaudampf', 'schifffahr', 't ahoi']);
    assert.deepEqual(wrapped('👋👋👋👋👋👋👋👋👋👋👋'), ['👋'.repeat(10), '👋']);
  });
});

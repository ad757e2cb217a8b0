import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { takeInApp } from './app_link.ts';

const file = 'a'.repeat(64);
const origin = 'https://relay.example:8443';

describe('link to the program', () => {
  it('names the picture, its name and its author, as relay_link_test.cc reads it', () => {
    const start = `sprites:${origin}/#take=${file}`;
    assert.equal(takeInApp(origin, { file, title: 'Biscuit', author: 'Anna' }), `${start}&name=Biscuit&author=Anna`);
    assert.equal(takeInApp(origin, { file, title: 'Käse & more', author: '' }), `${start}&name=K%C3%A4se%20%26%20more`);
  });

  it('leaves an author out whose name is longer than the program accepts', () => {
    for (const [author, isNamed] of [
      ['a'.repeat(63), true],
      ['ä'.repeat(32), true],
      ['a'.repeat(65), false],
      [`${'ä'.repeat(32)}a`, false],
    ] as const) {
      assert.equal(takeInApp(origin, { file, title: 'Biscuit', author }).includes('&author='), isNamed, author);
    }
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isVersion, readClient } from './client.ts';
import { VERSION_LENGTH_MAX } from './rules.ts';

describe('readClient', () => {
  it('knows the programs and their versions, browsers, and nobody else', () => {
    for (const [userAgent, kind, version] of [
      ['Sprites/0.2.0 (Windows)', 'windows', '0.2.0'],
      ['Sprites/1.10.3-rc.1+5 (Linux)', 'linux', '1.10.3-rc.1+5'],
      ['Sprites (swarm)', 'swarm', ''],
      ['Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36', 'page', ''],
      ['curl/8.5.0', 'other', ''],
      ['Sprites/0.2.0 (Amiga)', 'other', ''],
      ['Sprites/ (Windows)', 'other', ''],
      [`Sprites/${'1'.repeat(VERSION_LENGTH_MAX + 1)} (Windows)`, 'other', ''],
      ['Sprites/0.2.0 (Windows) x', 'other', ''],
      ['', 'other', ''],
      [undefined, 'other', ''],
    ] as const) {
      assert.deepEqual(readClient(userAgent), { kind, version }, `${userAgent}`);
    }
  });

  it('takes the version of a page, and of nobody else, from the body', () => {
    assert.deepEqual(readClient('Mozilla/5.0', '0.3.0'), { kind: 'page', version: '0.3.0' });
    assert.deepEqual(readClient('Sprites/0.2.0 (Linux)', '0.3.0'), { kind: 'linux', version: '0.2.0' });
    assert.deepEqual(readClient('Sprites (swarm)', '0.3.0'), { kind: 'swarm', version: '' });
    assert.deepEqual(readClient('curl/8.5.0', '0.3.0'), { kind: 'other', version: '' });
  });
});

describe('isVersion', () => {
  it('is true for letters, digits, dots, plus and minus, up to the limit', () => {
    for (const text of ['0', '0.3.0', '1.10.3-rc.1+5', 'v'.repeat(VERSION_LENGTH_MAX)])
      assert.ok(isVersion(text), text);
    for (const text of ['', '0 3', '0.3\n', '"', 'é', 'v'.repeat(VERSION_LENGTH_MAX + 1), 3, null, undefined, ['1']])
      assert.ok(!isVersion(text), `${text}`);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readClient } from './client.ts';

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
      [`Sprites/${'1'.repeat(25)} (Windows)`, 'other', ''],
      ['Sprites/0.2.0 (Windows) x', 'other', ''],
      ['', 'other', ''],
      [undefined, 'other', ''],
    ] as const) {
      assert.deepEqual(readClient(userAgent), { kind, version }, `${userAgent}`);
    }
  });
});

/** Includes of the client go down only: the shells → desktop → relay, scene → picture → motion → screen → text. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { describe, it } from 'node:test';

const CLIENT = join(import.meta.dirname, '..');

/** Which folders of the core each folder may include besides itself. Tests too. */
const BELOW: Record<string, readonly string[]> = {
  text: [],
  screen: ['text'],
  motion: ['text', 'screen'],
  picture: ['text', 'screen', 'motion'],
  scene: ['text', 'screen', 'motion', 'picture'],
  relay: ['text', 'screen', 'motion', 'picture'],
  desktop: ['text', 'screen', 'motion', 'picture', 'scene', 'relay'],
};

describe('client includes', () => {
  const core = join(CLIENT, 'core');
  const paths = readdirSync(core, { recursive: true, encoding: 'utf8' }).map((path) => path.split(sep).join('/'));
  const sources = paths.filter((path) => path.includes('/') && /\.(?:h|cc)$/.test(path));

  it('lie in folders that the test knows', () => {
    const folders = new Set(sources.map((path) => path.slice(0, path.indexOf('/'))));
    assert.deepEqual([...folders].sort(), Object.keys(BELOW).sort());
  });

  for (const [folder, below] of Object.entries(BELOW)) {
    it(`${folder} includes only what lies below it`, () => {
      const wrong: string[] = [];
      for (const path of sources.filter((source) => source.startsWith(`${folder}/`))) {
        for (const [, included = ''] of readFileSync(join(core, path), 'utf8').matchAll(/^#include "([^"]+)"/gm)) {
          const isAllowed = [folder, ...below].some((name) => included.startsWith(`core/${name}/`));
          if (!isAllowed) wrong.push(`${path} includes ${included}`);
        }
      }
      assert.deepEqual(wrong, []);
    });
  }

  it('leave the platform out of the core', () => {
    const platform = /^#include <(?:windows\.h|winhttp\.h|curl\/|openssl\/)/m;
    assert.deepEqual(
      sources.filter((path) => platform.test(readFileSync(join(core, path), 'utf8'))),
      [],
    );
  });
});

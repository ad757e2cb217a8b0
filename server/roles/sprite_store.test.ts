/** The capacity of the sprite store. Its HTTP answers are tested with a whole relay. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { hashOf, sprFile } from '../test/spr_file.ts';
import { ProblemError } from '../wire/problem.ts';
import { SpriteStore } from './sprite_store.ts';

function directory(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'sprites-store-'));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

const isFull = (error: unknown) => error instanceof ProblemError && error.document.code === 'store-full';

describe('the sprite store', () => {
  const [first, second] = [sprFile(), sprFile()];
  const put = (store: SpriteStore, bytes: Buffer) => store.put(hashOf(bytes), bytes);

  it('accepts files up to the last of its bytes, and refuses one byte more', async (t) => {
    const both = first.length + second.length;
    const roomy = new SpriteStore(directory(t), { bytesMax: both });
    await put(roomy, first);
    await put(roomy, second);
    assert.ok((await roomy.find(hashOf(first))) && (await roomy.find(hashOf(second))));
    const tight = new SpriteStore(directory(t), { bytesMax: both - 1 });
    await put(tight, first);
    await assert.rejects(put(tight, second), isFull);
    assert.equal(await tight.find(hashOf(second)), undefined);
    assert.ok(await tight.find(hashOf(first)), 'stored files stay');
  });

  it('counts files that others have stored before', async (t) => {
    const path = directory(t);
    await put(new SpriteStore(path), first);
    await assert.rejects(put(new SpriteStore(path, { bytesMax: first.length + second.length - 1 }), second), isFull);
  });
});

/** The file of the admin token: made whole, repaired, and not for others to read. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { adminToken } from './admin_token.ts';

/** A log that keeps its warnings, and the path of a token file that does not exist yet. */
function start(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'sprites-token-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const warnings: string[] = [];
  const log = { warn: (_: unknown, text: string) => void warnings.push(text) } as unknown as Parameters<
    typeof adminToken
  >[1];
  return { folder, file: join(folder, 'data', 'admin-token'), warnings, log };
}

/** The user id of a user without rights. */
const OTHER_USER = 65_534;

/** Only root may become another user, to whom the modes of files apply. */
const whyNoOtherUser = () => (process.getuid?.() === 0 ? false : 'needs root');

const modeOf = (file: string) => statSync(file).mode & 0o777;

describe('the admin token', () => {
  it('is made at the first start, with mode 0600, and stays the same', async (t) => {
    const { folder, file, warnings, log } = start(t);
    const token = await adminToken(file, log);
    assert.match(token, /^[0-9a-f]{64}$/);
    assert.equal(modeOf(file), 0o600);
    assert.equal(readFileSync(file, 'utf8'), `${token}\n`);
    assert.equal(await adminToken(file, log), token);
    assert.deepEqual(readdirSync(join(folder, 'data')), ['admin-token'], 'no partial file is left');
    assert.deepEqual(warnings, []);
  });

  it('may be an operator’s own, of 16 to 256 visible characters', async (t) => {
    const { folder, log, warnings } = start(t);
    const file = join(folder, 'own');
    for (const token of ['x'.repeat(16), 'y'.repeat(256)]) {
      writeFileSync(file, `${token}\n`, { mode: 0o600 });
      assert.equal(await adminToken(file, log), token);
    }
    assert.deepEqual(warnings, []);
  });

  it('is replaced when its file is empty or malformed, as a full disk leaves it, and the log says so', async (t) => {
    const { folder, log, warnings } = start(t);
    const file = join(folder, 'broken');
    for (const content of [
      '',
      '\n',
      'x'.repeat(15),
      'y'.repeat(257),
      `${'z'.repeat(20)} ${'z'.repeat(20)}`,
      '\0'.repeat(64),
    ]) {
      warnings.length = 0;
      writeFileSync(file, content, { mode: 0o644 });
      assert.match(await adminToken(file, log), /^[0-9a-f]{64}$/, JSON.stringify(content));
      assert.equal(modeOf(file), 0o600);
      assert.equal(warnings.length, 1);
      assert.match(warnings[0], /new one/);
    }
  });

  it('is used although others may read it, with a warning that has the remedy', async (t) => {
    const { file, warnings, log } = start(t);
    const token = await adminToken(file, log);
    for (const mode of [0o666, 0o644, 0o640, 0o604, 0o620]) {
      warnings.length = 0;
      chmodSync(file, mode);
      assert.equal(await adminToken(file, log), token);
      assert.equal(warnings.length, 1, mode.toString(8));
      assert.match(warnings[0], new RegExp(`chmod 600 ${file}$`));
    }
    warnings.length = 0;
    for (const mode of [0o600, 0o400, 0o700]) {
      chmodSync(file, mode);
      assert.equal(await adminToken(file, log), token);
    }
    assert.deepEqual(warnings, []);
  });

  it('stops the start when its file can’t be read or written, and the error says what to do', async (t) => {
    const { folder, log } = start(t);
    mkdirSync(join(folder, 'folder'));
    for (const file of [join(folder, 'folder'), join('/dev/null', 'token')]) {
      await assert.rejects(adminToken(file, log), /admin token: .*--admin-token-file/);
    }
    assert.deepEqual(readdirSync(folder), ['folder'], 'nothing is left');
  });

  it('of another user says that its owner may start the relay', { skip: whyNoOtherUser() }, async (t) => {
    const { folder, log } = start(t);
    const file = join(folder, 'token');
    await adminToken(file, log);
    chmodSync(folder, 0o755);
    process.seteuid?.(OTHER_USER);
    try {
      await assert.rejects(adminToken(file, log), /admin token: EACCES.*; start the relay as the owner of this file/);
      await assert.rejects(adminToken(join(folder, 'new'), log), /admin token: EACCES.*; start the relay as the owner/);
    } finally {
      process.seteuid?.(0);
    }
  });
});

/**
 * A release of this commit, twice: the same files with the same sums, from two folders.
 *
 * Takes long: it compiles the programs for Windows and Linux twice.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const SKIP = process.platform !== 'linux' || process.arch !== 'x64' ? 'a release is built on Linux on x86-64' : false;
const folder = mkdtempSync(join(tmpdir(), 'sprites-release-'));
after(() => rmSync(folder, { recursive: true }));

it('a release has the same sums from every clone of the commit', { skip: SKIP, timeout: 3_600_000 }, () => {
  const [, version] = /^## (\S+)/m.exec(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')) ?? [];
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules')); // the compiler of the libraries
  const [one, two] = ['one', 'two'].map((name) => {
    const clone = join(folder, name);
    execFileSync('git', ['clone', '-q', ROOT, clone]);
    const command = [join(clone, 'tools/release/release.ts'), version, '--dry-run'];
    execFileSync(process.execPath, command, { cwd: clone, stdio: 'pipe' });
    return readFileSync(join(clone, 'build/release', version, 'SHA256SUMS'), 'utf8');
  });
  assert.equal(two, one);
  for (const name of [
    '.tgz',
    '-source.tar.gz',
    '.cdx.json',
    'Sprites-Setup.exe',
    'sprites_amd64.deb',
    '.whl',
    'NOTES.md',
  ]) {
    assert.ok(one.includes(name), `${name} is missing:\n${one}`);
  }
});

/** The version: what each part of the project says of itself, and where its commit comes from. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { commitOf, VERSION } from './version.js';

describe('the commit', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sprites-version-'));
  const root = join(folder, 'project');
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  before(() => {
    mkdirSync(join(root, 'tools'), { recursive: true });
    writeFileSync(join(root, 'tools/commit.txt'), '$Format:%H$\n');
    writeFileSync(join(root, '.gitattributes'), 'tools/commit.txt export-subst\n');
  });
  after(() => rmSync(folder, { recursive: true }));

  it('is unknown in a folder that is no checkout, whatever repository is around it', () => {
    execFileSync('git', ['init', '-q', folder]);
    assert.equal(commitOf(root), 'unknown');
  });

  it('is that of the checkout, which says when files have changed', () => {
    git('init', '-q');
    git('add', '.');
    git('-c', 'user.name=A', '-c', 'user.email=a@example.org', 'commit', '-qm', 'one');
    const hash = git('rev-parse', 'HEAD').slice(0, 12);
    assert.equal(commitOf(root), hash);
    writeFileSync(join(root, '.gitattributes'), 'tools/commit.txt export-subst\n\n');
    assert.equal(commitOf(root), `${hash}+changed`);
  });

  it('is in an archive that git has made', () => {
    const archive = git('archive', 'HEAD', 'tools/commit.txt');
    const [hash] = /[0-9a-f]{40}/.exec(archive) ?? [];
    assert.equal(hash, git('rev-parse', 'HEAD'));
    writeFileSync(join(root, 'tools/commit.txt'), `${hash}\n`);
    assert.equal(commitOf(root), hash.slice(0, 12));
  });
});

it('the version of the lockfile is that of the package', () => {
  const lockfile = JSON.parse(readFileSync(join(import.meta.dirname, '../package-lock.json'), 'utf8'));
  assert.deepEqual([lockfile.version, lockfile.packages[''].version], [VERSION, VERSION]);
});

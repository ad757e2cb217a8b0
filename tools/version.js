/**
 * The version of this project: that of package.json, and the commit it was made of where that is known.
 *
 * Plain JavaScript, because the launcher runs it under any Node. An archive that git has made (`git archive`, and so every release), and
 * the bundle of a fleet, have their commit in commit.txt; in a checkout git is asked.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** `0.2.0` */
export const VERSION = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version;

let known;

/** `1a2b3c4d5e6f`, with `+changed` when files of the checkout differ from it; `unknown` without git or in a package made by hand. */
export function commit() {
  known ??= commitOf(ROOT);
  return known;
}

/** `0.2.0, commit 1a2b3c4d5e6f`, as every part of the project says it. */
export const versionWords = (of = commit()) => (of === 'unknown' ? VERSION : `${VERSION}, commit ${of}`);

/** The commit of a folder. Another repository around it, say of a package that npm has installed there, does not count. */
export function commitOf(root) {
  const archived = readFileSync(join(root, 'tools', 'commit.txt'), 'utf8').trim();
  if (!archived.startsWith('$')) return archived.replace(/^([0-9a-f]{12})[0-9a-f]*/, '$1');
  if (!existsSync(join(root, '.git'))) return 'unknown';
  // The user of a service does not own the checkout; its files run all the same.
  const args = ['-c', 'safe.directory=*', 'describe', '--always', '--exclude=*', '--abbrev=12', '--dirty=+changed'];
  const env = { ...process.env, GIT_OPTIONAL_LOCKS: '0' };
  const { status, stdout } = spawnSync('git', args, { cwd: root, env, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : 'unknown';
}

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

const ROOT = join(import.meta.dirname, '../../..');

/** The files of the repository with a pattern in them. */
function filesWith(pattern: RegExp): string[] {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts', '*.js'], {
    cwd: ROOT,
  });
  return files
    .toString()
    .trim()
    .split('\n')
    .filter((file) => !file.endsWith('.test.ts') && pattern.test(readFileSync(join(ROOT, file), 'utf8')));
}

describe('the client of NATS', () => {
  it('is imported by two files, which are imported only when the relay joins a cluster', () => {
    const own = ['server/roles/peers/nats.ts', 'server/roles/peers/nats_bucket.ts'];
    assert.deepEqual(filesWith(/from '@nats-io/).toSorted(), own);
    assert.deepEqual(filesWith(/\/nats_bucket\.ts'/), [own[0]]);
    assert.deepEqual(filesWith(/peers\/nats\.ts'|from '\.\/nats\.ts'/), ['server/roles/primary.ts']);
    const primary = readFileSync(join(ROOT, 'server/roles/primary.ts'), 'utf8');
    assert.match(
      primary,
      /if \(nats === undefined\) return \{\};\s+const \{ NatsNetwork \} = await import\('\.\/peers\/nats\.ts'\);/,
    );
  });
});

/** The engine as a program: its flags and its exit codes. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { buildEngine, ENGINE } from '../../tools/build.js';

describe('swarm engine', () => {
  const why = buildEngine();

  it('knows every problem code of the protocol', () => {
    const read = (path: string) => readFileSync(join(import.meta.dirname, path), 'utf8');
    const codes = [...read('../../server/PROTOCOL.md').matchAll(/^### `([a-z-]+)`$/gm)].map(([, code]) => code);
    assert.ok(codes.length > 25);
    const table = read('net/problem.h');
    for (const code of codes) assert.ok(table.includes(`"${code}"`), `${code} is missing in problem.h`);
  });

  it('lists its flags, and rejects a wrong value with exit code 2', { skip: why ?? false }, () => {
    const help = spawnSync(ENGINE, ['--help'], { encoding: 'utf8' });
    assert.equal(help.status, 0);
    assert.match(help.stdout, /--desktops N/);
    for (const value of ['many', '-5', '99999999']) {
      const misused = spawnSync(ENGINE, ['--desktops', value], { encoding: 'utf8' });
      assert.equal(misused.status, 2);
      assert.match(misused.stderr, new RegExp(`--desktops must be .* from 1 to 16777215; got '${value}'`));
    }
  });

  it('ends with a clear message when there is no relay', { skip: why ?? false }, () => {
    const { status, stdout } = spawnSync(ENGINE, ['--sitting', '--api', '127.0.0.1:1'], {
      encoding: 'utf8',
    });
    assert.equal(status, 1);
    const account = JSON.parse(stdout.trimEnd().split('\n').at(-1) as string);
    assert.equal(account.ok, false);
    assert.match(account.message, /127\.0\.0\.1:1/);
  });
});

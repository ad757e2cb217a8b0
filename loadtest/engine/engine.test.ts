/** The engine's own tests, built and run as `npm test` runs every suite. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { describe, it } from 'node:test';
import { buildEngine, ENGINE } from '../../tools/build.js';

describe('swarm engine', () => {
  const why = buildEngine();

  it('passes its own tests', { skip: why ?? false }, () => {
    const { status, stdout } = spawnSync('ctest', ['--output-on-failure'], { cwd: dirname(ENGINE), encoding: 'utf8' });
    assert.equal(status, 0, stdout);
  });

  it('says what it takes, and refuses what it does not', { skip: why ?? false }, () => {
    const help = spawnSync(ENGINE, ['--help'], { encoding: 'utf8' });
    assert.equal(help.status, 0);
    assert.match(help.stdout, /--desktops N/);
    const misused = spawnSync(ENGINE, ['--desktops', 'many'], { encoding: 'utf8' });
    assert.equal(misused.status, 2);
    assert.match(misused.stderr, /--desktops/);
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

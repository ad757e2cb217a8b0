/** The engine: its own tests, built and run by `npm test`, and its exit codes. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { buildEngine, ENGINE } from '../../tools/build.js';
import { ensureFiles, installHint } from '../../tools/machine.js';

const BUILD = dirname(ENGINE);

describe('swarm engine', () => {
  const doctest = ensureFiles(['/usr/include/doctest/doctest.h'], ['doctest-dev'])
    ? undefined
    : `doctest is missing: ${installHint(['doctest-dev'])}`;
  const why = buildEngine();

  it('passes its own tests', { skip: why ?? doctest ?? false }, () => {
    if (!existsSync(join(BUILD, 'engine-tests'))) buildTests();
    const { status, stdout } = spawnSync('ctest', ['--output-on-failure'], { cwd: BUILD, encoding: 'utf8' });
    assert.equal(status, 0, stdout);
    assert.match(stdout, /100% tests passed, 0 tests failed out of 1/);
  });

  it('knows every problem code of the protocol', () => {
    const read = (path: string) => readFileSync(join(import.meta.dirname, path), 'utf8');
    const [, problems] = read('../../server/PROTOCOL.md').split(/^## Problems$/m);
    const codes = [...(problems ?? read('../../server/PROTOCOL.md')).matchAll(/^### `([a-z-]+)`$/gm)].map(
      ([, code]) => code,
    );
    assert.ok(codes.length > 25);
    const table = read('problem.h');
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

/** Builds the tests where the engine was built before doctest was installed. */
function buildTests(): void {
  for (const args of [[BUILD], ['--build', BUILD]]) {
    const { status, stdout, stderr } = spawnSync('cmake', args, { encoding: 'utf8' });
    assert.equal(status, 0, `${stdout}${stderr}`);
  }
}

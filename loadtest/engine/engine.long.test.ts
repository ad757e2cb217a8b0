/** The engine's own tests, in C++: builds and runs them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { describe, it } from 'node:test';
import { buildEngine, ENGINE } from '../../tools/build.js';
import { ensureFiles, installHint } from '../../tools/machine.js';

const BUILD = dirname(ENGINE);

describe('swarm engine, natively', () => {
  const doctest = ensureFiles(['/usr/include/doctest/doctest.h'], ['doctest-dev'])
    ? undefined
    : `doctest is missing: ${installHint(['doctest-dev'])}`;
  const why = buildEngine();

  it('passes its own tests', { skip: why ?? doctest ?? false }, () => {
    buildTests();
    const { status, stdout } = spawnSync('ctest', ['--output-on-failure'], { cwd: BUILD, encoding: 'utf8' });
    assert.equal(status, 0, stdout);
    assert.match(stdout, /100% tests passed, 0 tests failed out of 1/);
  });
});

/** The engine may have been configured before doctest was installed. */
function buildTests(): void {
  for (const args of [[BUILD], ['--build', BUILD, '--target', 'engine-tests']]) {
    const { status, stdout, stderr } = spawnSync('cmake', args, { encoding: 'utf8' });
    assert.equal(status, 0, `${stdout}${stderr}`);
  }
}

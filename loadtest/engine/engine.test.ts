/** The engine as a program: what it reads and its exit codes. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { buildEngine, ENGINE } from '../../tools/build.js';
import { ENGINE_PLAN, planLine } from '../../tools/engine_plan.ts';

describe('swarm engine', () => {
  const why = buildEngine();

  it('takes no flags, and says where plans come from', { skip: why ?? false }, () => {
    const { status, stderr } = spawnSync(ENGINE, ['--help'], { encoding: 'utf8' });
    assert.equal(status, 2);
    assert.match(stderr, /its plan from stdin.*npm run swarm.*tools\/engine_plan\.ts/);
  });

  it('rejects a wrong plan with exit code 2, and says what is wrong', { skip: why ?? false }, () => {
    for (const value of ['many', -5]) {
      const input = JSON.stringify({ ...ENGINE_PLAN, connectBatch: value });
      const { status, stderr } = spawnSync(ENGINE, { input, encoding: 'utf8' });
      assert.equal(status, 2);
      const got = JSON.stringify(value);
      assert.equal(stderr, `swarm-engine: connectBatch must be a whole number; got ${got}\n`);
    }
    assert.equal(spawnSync(ENGINE, { input: '', encoding: 'utf8' }).status, 2);
  });

  it('ends with a clear message when there is no relay', { skip: why ?? false }, () => {
    const input = planLine({ ...ENGINE_PLAN, apis: ['127.0.0.1:1'] });
    const { status, stdout } = spawnSync(ENGINE, { input, encoding: 'utf8' });
    assert.equal(status, 1);
    const account = JSON.parse(stdout.trimEnd().split('\n').at(-1) as string);
    assert.equal(account.ok, false);
    assert.match(account.message, /127\.0\.0\.1:1/);
  });
});

/** Builds the client's core natively, and runs its tests and its benches. core.long.test.ts runs them under sanitizers. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { buildClient, CLIENT } from '../../tools/build.js';
import { runProgram } from './program.ts';

const why = buildClient();

describe('client core, natively', { skip: why ?? false }, () => {
  it('passes its tests', () => {
    runProgram(join(CLIENT, 'test', 'core-tests'), []);
  });

  it('passes the tests of what the programs for Linux share', () => {
    runProgram(join(CLIENT, 'test', 'posix-tests'), []);
  });

  it('measures the cost of a tick, and rejects wrong arguments', () => {
    const bench = join(CLIENT, 'test', 'ticks-bench');
    assert.match(runProgram(bench, ['--sprites', '2']), /2 sprites, at rest: [\d.]+ ms of CPU a tick/);
    for (const args of [['--sprites', '0'], ['--sprites', '301'], ['--sprites']]) {
      assert.equal(spawnSync(bench, args).status, 2);
    }
  });

  it('counts the frames dropped on screens of five rates, and rejects wrong arguments', () => {
    const bench = join(CLIENT, 'test', 'pacing-bench');
    const lines = runProgram(bench, ['--sprites', '2', '--seconds', '1']).trim().split('\n');
    assert.equal(lines.length, 5);
    for (const line of lines)
      assert.match(line, /^2 sprites on a screen of \d+ Hz: [\d.]+ frames a second of [\d.]+; dropped \d+ of/);
    for (const args of [
      ['--sprites', '0'],
      ['--sprites', '301'],
      ['--seconds', '0'],
      ['--seconds', '601'],
      ['--hz', '1'],
      ['2'],
    ]) {
      assert.equal(spawnSync(bench, args).status, 2);
    }
  });
});

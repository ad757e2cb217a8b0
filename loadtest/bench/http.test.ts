import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';

const COMMAND = join(import.meta.dirname, 'http.ts');

function bench(...args: string[]) {
  return spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', COMMAND, ...args], { encoding: 'utf8' });
}

describe('bench:http', { timeout: 900_000 }, () => {
  it('gets a 2xx from every route, and prints a row for each', () => {
    const { status, stdout, stderr } = bench(
      '--duration',
      '1s',
      '--connections',
      '4',
      '--front',
      'portable',
      '--workers',
      '0',
    );
    assert.equal(status, 0, stderr);
    for (const route of ['join', 'site', 'sprite file', 'health']) {
      assert.match(stdout, new RegExp(`^\\| ${route} \\| [\\d,]+ \\| .* \\| 0 \\| 0 \\|$`, 'm'));
    }
  });

  it('fails when nothing answers', () => {
    assert.equal(bench('--url', 'http://127.0.0.1:1', '--duration', '1s', '--connections', '1').status, 1);
  });
});

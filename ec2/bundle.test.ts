import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type Bundle, makeBundle } from './bundle.ts';

const skip = process.platform === 'linux' ? false : 'the bundle holds programs for Linux';
const MAKE = `import(${JSON.stringify(join(import.meta.dirname, 'bundle.ts'))}).then(async ({ makeBundle }) => console.log(JSON.stringify(await makeBundle(() => {}))))`;

describe('bundle', { skip, timeout: 300_000 }, () => {
  it('is the same, and whole, when two make it at once', async () => {
    rmSync(join(import.meta.dirname, '../build/fleet/bundle.sources'), { force: true });
    const make = async () => {
      const { stdout } = await promisify(execFile)(process.execPath, [
        '--disable-warning=ExperimentalWarning',
        '-e',
        MAKE,
      ]);
      return JSON.parse(stdout) as Bundle;
    };
    const [one, other] = await Promise.all([make(), make()]);
    assert.deepEqual(one, other);
    assert.deepEqual(await makeBundle(() => assert.fail('it is there')), one);
  });

  it('has all that an instance runs, and no test', async () => {
    const { file } = await makeBundle(() => {});
    const list = execFileSync('tar', ['-tzf', file], { encoding: 'utf8' }).split('\n');
    for (const path of [
      'bin/node',
      'build/swarm/swarm-engine',
      'lib/libatomic.so.1',
      'lib/libc.so.6',
      'ec2/slice.ts',
      'loadtest/bin/swarm.ts',
      'tools/launch.js',
      'node_modules/express/package.json',
      'commit',
    ]) {
      assert.ok(list.includes(`./${path}`), path);
    }
    assert.deepEqual(
      list.filter((path) => /^\.\/(?:server|loadtest|ec2)\/.*\.test\.ts$|\/\.git\/|aws-sdk/.test(path)),
      [],
    );
  });
});

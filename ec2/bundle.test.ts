import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type Bundle, makeBundle } from './bundle.ts';

const skip = process.platform === 'linux' ? false : 'the bundle contains programs for Linux';
const MAKE = `import(${JSON.stringify(join(import.meta.dirname, 'bundle.ts'))}).then(async ({ makeBundle }) => console.log(JSON.stringify(await makeBundle(() => {}))))`;

/** What an instance starts, and the swarm for whoever wants to run it there by hand. */
const PROGRAMS = ['tools/launch.js', 'server/bin/relay.ts', 'ec2/slice.ts', 'loadtest/bin/swarm.ts'];

describe('bundle', { skip, timeout: 300_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'sprites-bundle-'));
  before(async () => {
    const { file } = await makeBundle(() => {});
    execFileSync('tar', ['-xzf', file, '-C', folder]);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('is identical and complete when two processes make it at the same time', async () => {
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
    assert.deepEqual(await makeBundle(() => assert.fail('it exists already')), one);
  });

  it('contains what an instance runs, and no tests', async () => {
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
      list.filter((path) => /^\.\/(?:server|loadtest|ec2|tools)\/.*\.test\.ts$|\/\.git\/|aws-sdk/.test(path)),
      [],
    );
  });

  it('contains every file and package that its programs import', () => {
    const visited = new Set<string>();
    const visit = (file: string): void => {
      if (visited.has(file)) return;
      visited.add(file);
      const source = readFileSync(join(folder, file), 'utf8');
      for (const [, name] of source.matchAll(/^(?:import|export) (?!type)(?:[^'";]* from )?'([^']+)'/gm)) {
        if (name.startsWith('.')) visit(join(dirname(file), name));
        else if (!isBuiltin(name))
          assert.ok(existsSync(join(folder, 'node_modules', name, 'package.json')), `${file} imports ${name}`);
      }
    };
    for (const program of PROGRAMS) visit(program);
    assert.ok(visited.size > 50, `${visited.size} files`);
  });

  it('has the native front for the sources in it, so that an instance does not try to build it', async () => {
    const build = `import(${JSON.stringify(join(folder, 'tools/build.js'))}).then(({ buildAddon }) => console.log(buildAddon(process.execPath)))`;
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['-e', build]);
    assert.equal(stdout, 'undefined\n');
    assert.equal(stderr, '');
  });
});

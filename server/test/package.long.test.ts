/** The package that `npm pack` makes: installed into an empty folder, as `npx` does, it is a relay. Needs the npm registry. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { join } from './desktop_client.ts';

const ROOT = joinPath(import.meta.dirname, '../..');
const { name: NAME } = JSON.parse(readFileSync(joinPath(ROOT, 'package.json'), 'utf8'));

describe('the package', { timeout: 900_000 }, () => {
  // A path with a space: no build may stumble over it.
  const folder = mkdtempSync(joinPath(tmpdir(), 'sprites package-'));
  const modules = joinPath(folder, 'node_modules');
  const launcher = joinPath(modules, NAME, 'tools/launch.js');
  let files: string[] = [];
  let relay: ChildProcess | undefined;

  before(() => {
    const npm = (cwd: string, ...args: string[]) => execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: 'pipe' });
    const [packed] = JSON.parse(npm(ROOT, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder));
    files = packed.files.map(({ path }: { path: string }) => path);
    writeFileSync(joinPath(folder, 'package.json'), '{"private":true}');
    npm(folder, 'install', '--ignore-scripts', '--no-audit', '--no-fund', joinPath(folder, packed.filename));
  });
  after(async () => {
    if (relay?.exitCode === null) {
      const ended = once(relay, 'exit');
      relay.kill('SIGTERM');
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  });

  it('holds what a relay needs, and no tests', () => {
    for (const path of [
      'tools/launch.js',
      'server/bin/relay.ts',
      'server/native/addon.cc',
      'server/web/desktop/index.html',
    ]) {
      assert.ok(files.includes(path), path);
    }
    const needless =
      /\.test\.ts$|_test\.cc$|^(?:loadtest|ec2|v8-patches|client-win\/core)\/|^(?:server|tools)\/(?:test|bench)\//;
    assert.deepEqual(
      files.filter((path) => needless.test(path)),
      [],
    );
  });

  it('is a command whose first word may be one of its own', () => {
    const help = (...words: string[]) =>
      execFileSync(process.execPath, [launcher, ...words, '--help'], { encoding: 'utf8' });
    assert.match(help(), /Starts the relay/);
    assert.match(help('admin'), /heap-snapshot/);
  });

  it('starts a relay that desktops join', async () => {
    const ports = ['--port', '0', '--events-port', '0', '--admin-port', '0', '--host', '127.0.0.1'];
    const words = [launcher, ...ports, '--workers', '1', '--data', joinPath(folder, 'data')];
    relay = spawn(process.execPath, words, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
    let url = '';
    for await (const line of createInterface({ input: relay.stdout as NodeJS.ReadableStream })) {
      if (!line.includes('"msg":"relay ready"')) continue;
      url = `http://127.0.0.1:${JSON.parse(line).ports.api}`;
      break;
    }
    assert.equal((await join(url, { name: 'Ann' })).world, 'commons');
    const script = await fetch(`${url}/web/desktop.js`);
    assert.match(script.headers.get('content-type') ?? '', /javascript/);
  });
});

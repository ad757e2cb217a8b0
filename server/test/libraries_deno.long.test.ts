/** The JavaScript library in Deno, from its archive. Needs the npm registry, which has Deno as a package. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { arch, platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { packLibraries } from '../libraries/pack.ts';
import { meetVisitor, visitOf } from './library_visit.ts';
import { BOUNDED, startRelay } from './relay_process.ts';

const DENO = '@deno/linux-x64-glibc';
const VERSION = '2.9.6';
const skip = platform() === 'linux' && arch() === 'x64' ? false : `needs the processor of ${DENO}`;

it('the library for JavaScript joins, throws and polls in Deno', { ...BOUNDED, skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sprites-deno-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const relay = await startRelay({ workers: 0 });
  t.after(() => relay.stop());
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const { javascript } = packLibraries(folder);
  const packages = [javascript, `${DENO}@${VERSION}`];
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages], { cwd: folder });
  await meetVisitor(relay.url, 'deno', async () => {
    const program = join(folder, 'visit.mjs');
    writeFileSync(program, `console.log(JSON.stringify(await ${visitOf('sprites-client', relay.url, 'deno')}));\n`);
    const deno = join(folder, 'node_modules', DENO, 'deno');
    const env = { ...process.env, DENO_DIR: join(folder, 'deno') };
    const flags = ['run', '--no-remote', '--allow-net=127.0.0.1', program];
    const { stdout } = await promisify(execFile)(deno, flags, { cwd: folder, env });
    return JSON.parse(stdout);
  });
});

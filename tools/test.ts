/**
 * `npm test`: prepares what this machine can have, then runs lint, types and every suite, and names at the end what was
 * skipped. Arguments are globs or files that narrow the suites: `npm test -- 'server/wire/*.test.ts'`.
 */
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { buildAddon, buildClient, buildEngine, buildFloor, buildInstaller, buildWindowsClient } from './build.js';
import { ensurePrograms, WINE } from './machine.js';

/** Suites at once: the machine's benches and tests are made for two cores. */
const CONCURRENCY = 2;

const ROOT = join(import.meta.dirname, '..');

/** Programs that the suites below a folder need beside the compilers of the builds, and the Debian packages they are in. */
interface Need {
  below: string;
  programs: string[];
  packages: string[];
}

const FOLDERS = ['tools', 'server', 'loadtest', 'client-win', 'v8-patches', 'ec2'];
const NEEDS: Need[] = [
  { below: 'server/test/', programs: ['chromium', 'curl'], packages: ['chromium', 'curl'] },
  { below: 'server/native/', programs: ['clang++'], packages: ['clang', 'libclang-rt-dev'] },
  { below: 'client-win/', programs: ['clang++'], packages: ['clang', 'libclang-rt-dev'] },
  { below: 'client-win/', programs: ['chromium'], packages: ['chromium'] },
  // Here, for two suites that find Wine missing at once would run apt at once.
  { below: 'client-win/', ...WINE },
  { below: 'loadtest/', programs: ['chromium', 'ip'], packages: ['chromium', 'iproute2'] },
  {
    below: 'v8-patches/',
    programs: ['clang++-19', 'ld.lld-19', '/usr/lib/llvm-19/bin/llvm-ar', 'gn', 'ninja', 'python3'],
    packages: ['clang-19', 'lld-19', 'llvm-19', 'generate-ninja', 'ninja-build', 'python3'],
  },
  {
    below: 'ec2/',
    programs: ['shellcheck', 'patchelf', 'debootstrap', 'systemd-nspawn', 'ip'],
    packages: ['shellcheck', 'patchelf', 'debootstrap', 'systemd-container', 'iproute2'],
  },
];

const narrowed = process.argv.slice(2);
const skipped: string[] = [];

function prepare(files: readonly string[]): void {
  const wishes: [string, string | undefined][] = [
    ['native front', buildAddon(process.execPath)],
    ['swarm engine', buildEngine()],
    ['floor of the benches', buildFloor()],
  ];
  const chosen = (below: string) => files.some((file) => file.startsWith(below));
  if (chosen('client-win/')) wishes.push(['desktop client', buildClient()]);
  // Here, for several suites want it, and two of them at once would build it into the same folder.
  const wantsWindows = files.some((file) => /^client-win\/.*(windows|wine)/.test(file));
  if (wantsWindows) wishes.push(['program for Windows', buildWindowsClient() ?? buildInstaller()]);
  for (const [what, why] of wishes) if (why) skipped.push(`${what}: ${why}`);
  for (const { below, programs, packages } of NEEDS) {
    // A suite that needs one of these and does not find it says so itself.
    if (chosen(below)) ensurePrograms(programs, packages);
  }
}

function check(name: string, args: string[]): boolean {
  const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) console.error(`${name} failed.`);
  return status === 0;
}

async function suites(files: string[]): Promise<boolean> {
  let failed = 0;
  const events = run({ files, concurrency: CONCURRENCY, execArgv: ['--disable-warning=ExperimentalWarning'] });
  events.on('test:fail', () => failed++);
  events.on('test:pass', ({ name, skip }) => {
    if (skip !== undefined && skip !== false) skipped.push(typeof skip === 'string' ? `${name}: ${skip}` : name);
  });
  const report = events.compose(spec);
  report.pipe(process.stdout, { end: false });
  await finished(report);
  return failed === 0;
}

process.chdir(ROOT);
const globs = narrowed.length > 0 ? narrowed : FOLDERS.map((folder) => `${folder}/**/*.test.ts`);
const files = globSync(globs, { exclude: ['**/node_modules/**'] }).sort();
if (files.length === 0) {
  console.error(`No suite matches ${narrowed.join(' ')}.`);
  process.exit(2);
}
prepare(files);
const lint = check('Lint', ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.']);
const types = check('Types', ['node_modules/typescript/bin/tsc', '--noEmit', '-p', '.']);
const green = await suites(files);
console.log(`Lint ${lint ? 'clean' : 'FAILED'}, types ${types ? 'clean' : 'FAILED'}, ${files.length} suites.`);
console.log(skipped.length === 0 ? 'Nothing was skipped.' : `Skipped:\n${skipped.map((s) => `  ${s}`).join('\n')}`);
process.exit(lint && types && green ? 0 : 1);

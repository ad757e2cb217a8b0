/**
 * `npm test`: prepares what this machine can have, then runs lint, types and every suite, and lists at the end what was skipped.
 * When only a few suites fail, each runs once more, alone; those that pass then are listed at the end.
 * Arguments are globs or files that narrow the suites: `npm test -- 'server/wire/*.test.ts'`.
 *
 * `npm run test:long` runs the suites named `*.long.test.ts`: each takes over a minute and concerns one folder only. When all that it
 * ran have passed, `.ci/long-passed.json` has the code that each passed with. With `--changed` it runs those whose code has changed.
 */
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join, relative } from 'node:path';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import {
  buildAddon,
  buildClient,
  buildEngine,
  buildFloor,
  buildInstaller,
  buildWindowsClient,
  buildX11Client,
} from './build.js';
import { ensurePrograms, WINE, X11 } from './machine.js';
import { PassedSuites } from './passed_suites.ts';

/** Suites at once: benches and tests are made for a machine of two cores. */
const CONCURRENCY = 2;

/**
 * Up to so many failed suites run a second time, because on a starved machine a suite that waits for processes and sockets can
 * fail. When more of them fail, the code is at fault.
 */
const AGAIN_MAX = 3;

/** How many suites are listed at the end as the slowest. */
const SLOWEST_LISTED = 12;

const EXIT_MISUSED = 2;
const ROOT = join(import.meta.dirname, '..');

/** Programs that some suites need besides the compilers of the builds: those whose paths begin with `prefix`. */
interface Need {
  prefix: string;
  programs: string[];
  /** The Debian packages with these programs. */
  packages: string[];
}

const FOLDERS = ['tools', 'server', 'loadtest', 'client-win', 'v8-patches', 'ec2'];
const NEEDS: Need[] = [
  {
    prefix: 'server/test/',
    programs: ['chromium', 'curl', 'nginx', 'haproxy', 'openssl'],
    packages: ['chromium', 'curl', 'nginx-light', 'haproxy', 'openssl'],
  },
  { prefix: 'server/test/cluster', programs: ['nats-server'], packages: ['nats-server'] },
  { prefix: 'server/native/native.long', programs: ['clang++'], packages: ['clang', 'libclang-rt-dev'] },
  { prefix: 'client-win/test/core.long', programs: ['clang++'], packages: ['clang', 'libclang-rt-dev'] },
  { prefix: 'client-win/', programs: ['chromium'], packages: ['chromium'] },
  // Installed here, because two suites that find Wine missing at the same time would run apt at the same time.
  { prefix: 'client-win/', ...WINE },
  { prefix: 'client-win/', ...X11 },
  { prefix: 'loadtest/', programs: ['chromium', 'ip'], packages: ['chromium', 'iproute2'] },
  {
    prefix: 'v8-patches/patches.long',
    programs: ['clang++-19', 'ld.lld-19', '/usr/lib/llvm-19/bin/llvm-ar', 'gn', 'ninja', 'python3'],
    packages: ['clang-19', 'lld-19', 'llvm-19', 'generate-ninja', 'ninja-build', 'python3'],
  },
  {
    prefix: 'ec2/',
    programs: ['shellcheck', 'patchelf', 'ip'],
    packages: ['shellcheck', 'patchelf', 'iproute2'],
  },
  {
    prefix: 'ec2/test/boot.long',
    programs: ['debootstrap', 'systemd-nspawn'],
    packages: ['debootstrap', 'systemd-container'],
  },
];

const words = process.argv.slice(2);
const long = words.includes('--long');
const changed = words.includes('--changed');
const narrowed = words.filter((word) => !word.startsWith('--'));
const passed = new PassedSuites(ROOT, '.ci/long-passed.json');
const skipped: string[] = [];
/** Suites that failed beside others and passed alone. */
const unsteady: string[] = [];

function prepare(files: readonly string[]): void {
  const wishes: [string, string | undefined][] = [
    ['native front', buildAddon(process.execPath)],
    ['swarm engine', buildEngine()],
    ['floor of the benches', buildFloor()],
  ];
  const chosen = (prefix: string) => files.some((file) => file.startsWith(prefix));
  if (chosen('client-win/')) wishes.push(['desktop client', buildClient()]);
  const wantsWindows = files.some((file) => /^client-win\/.*(windows|wine)/.test(file));
  if (wantsWindows) wishes.push(['program for Windows', buildWindowsClient() ?? buildInstaller()]);
  if (files.some((file) => /^client-win\/.*x11/.test(file))) wishes.push(['program for X11', buildX11Client()]);
  for (const [what, why] of wishes) if (why) skipped.push(`${what}: ${why}`);
  for (const { prefix, programs, packages } of NEEDS) {
    // A suite that misses one of these is skipped and says so itself.
    if (chosen(prefix)) ensurePrograms(programs, packages);
  }
}

function check(name: string, args: string[]): boolean {
  const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) console.error(`${name} failed.`);
  return status === 0;
}

/** Runs suites and prints their report. Returns the files with a failed test, and how long each file took, in seconds. */
async function runSuites(files: readonly string[], concurrency: number) {
  const failed = new Set<string>();
  const seconds = new Map<string, number>();
  const fileOf = (path: string | undefined) => relative(ROOT, path ?? '');
  const events = run({ files, concurrency, execArgv: ['--disable-warning=ExperimentalWarning'] });
  events.on('test:fail', ({ file }) => failed.add(fileOf(file)));
  events.on(
    'test:summary',
    ({ file, duration_ms }) => file && seconds.set(fileOf(file), Math.round(duration_ms / 1000)),
  );
  events.on('test:pass', ({ name, skip }) => {
    if (skip !== undefined && skip !== false) skipped.push(typeof skip === 'string' ? `${name}: ${skip}` : name);
  });
  const report = events.compose(spec);
  report.pipe(process.stdout, { end: false });
  await finished(report);
  return { failed: [...failed], seconds };
}

/** Runs suites, and runs those that fail a second time, alone, if they are few. Returns whether all passed in the end. */
async function suites(files: string[]): Promise<boolean> {
  const { failed, seconds } = await runSuites(files, CONCURRENCY);
  const slowest = [...seconds].sort(([, a], [, b]) => b - a).slice(0, SLOWEST_LISTED);
  console.log(`Slowest, in seconds: ${slowest.map(([file, took]) => `${file} ${took}`).join(', ')}.`);
  if (failed.length === 0) return true;
  if (failed.length > AGAIN_MAX || !failed.every((file) => files.includes(file))) return false;
  console.log(`\nFailed beside others, and run again alone: ${failed.join(', ')}`);
  const again = await runSuites(failed, 1);
  for (const file of failed) if (!again.failed.includes(file)) unsteady.push(file);
  return again.failed.length === 0;
}

/** The suites to run, and the long ones that are left out with the reason. */
function choose(): string[] {
  const globs = narrowed.length > 0 ? narrowed : FOLDERS.map((folder) => `${folder}/**/*.test.ts`);
  const all = globSync(globs, { exclude: ['**/node_modules/**', '**/build/**'] }).sort();
  const isLong = (file: string) => file.endsWith('.long.test.ts');
  if (narrowed.length > 0 && !long) return all;
  if (!long) {
    for (const file of all.filter(isLong)) skipped.push(`${file}: a long suite, which \`npm run test:long\` runs`);
    return all.filter((file) => !isLong(file));
  }
  const suites = all.filter(isLong);
  if (!changed) return suites;
  const unchanged = suites.filter((file) => passed.has(file));
  for (const file of unchanged) skipped.push(`${file}: nothing it tests has changed since it passed`);
  return suites.filter((file) => !unchanged.includes(file));
}

process.chdir(ROOT);
const unknown = words.filter((word) => word.startsWith('--') && word !== '--long' && word !== '--changed');
const files = unknown.length > 0 ? [] : choose();
if (unknown.length > 0 || (files.length === 0 && !changed)) {
  console.error(unknown.length > 0 ? `Unknown option: ${unknown[0]}.` : `No suite matches ${narrowed.join(' ')}.`);
  process.exit(EXIT_MISUSED);
}
if (files.length > 0) prepare(files);
const lint = long || check('Lint', ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.']);
const types = long || check('Types', ['node_modules/typescript/bin/tsc', '--noEmit', '-p', '.']);
const green = files.length === 0 || (await suites(files));
if (!long)
  console.log(`Lint ${lint ? 'clean' : 'FAILED'}, types ${types ? 'clean' : 'FAILED'}, ${files.length} suites.`);
else console.log(`${files.length} long suites.`);
if (long && green) passed.add(files);
if (unsteady.length > 0) console.log(`Failed beside others, and passed alone: ${unsteady.join(', ')}`);
console.log(skipped.length === 0 ? 'Nothing was skipped.' : `Skipped:\n${skipped.map((s) => `  ${s}`).join('\n')}`);
process.exit(lint && types && green ? 0 : 1);

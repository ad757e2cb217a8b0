/**
 * `npm test`: prepares what this machine can have, then runs lint, types and every suite, and says at the end where the time went and
 * what was skipped. A suite runs once: one that fails now and then is at fault, or finds a fault.
 *
 * `npm run test:long` runs the suites named `*.long.test.ts`: each takes over a minute and concerns one folder only. When all that it
 * ran have passed, `.ci/long-passed.json` has the code that each passed with.
 */
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join, relative } from 'node:path';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { type Command, EXIT, Misused, runCommand, text, toggle } from './command.ts';
import { ensurePrograms, WINE, X11 } from './machine.js';
import { PassedSuites } from './passed_suites.ts';
import { type Build, changedSince, Suites } from './suites.ts';

/** Suites at once: benches and tests are made for a machine of two cores. */
const CONCURRENCY = 2;

/** How many suites are listed at the end as the slowest. */
const SLOWEST_LISTED = 12;

const ROOT = join(import.meta.dirname, '..');

/** Where the compiled code of all processes of the suites lies. */
const COMPILE_CACHE = join(ROOT, 'build', 'compile-cache');

const OPTIONS = {
  long: toggle('the suites that take minutes each, *.long.test.ts, without lint and types'),
  changed: toggle('with --long: only those whose code has changed since they passed'),
  onlyChanged: text('COMMIT', 'only suites that depend on a file that differs from this commit'),
};

export const COMMAND: Command<typeof OPTIONS> = {
  usage: ['npm test [-- [SUITE …] [options]]', 'npm run test:long [-- [SUITE …] [--changed]]'],
  about: `Builds what the suites need, then runs lint, types and the suites: all of them, or those that are named, as files or as globs in
quotes. What this machine lacks is installed where that is possible (root on Debian; SPRITES_NO_APT=1 prevents it); a suite that
still misses something is skipped and listed at the end.`,
  takesWords: true,
  options: OPTIONS,
  notes: [
    "npm test -- 'server/wire/*.test.ts' runs the suites of one folder, npm test -- --only-changed main what a branch may have broken.",
  ],
  failed: 'lint, types or a suite failed',
};

/** Programs that some suites need besides the compilers of the builds: those whose paths begin with `prefix`. */
interface Need {
  prefix: string;
  programs: string[];
  /** The Debian packages with these programs. */
  packages: string[];
}

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

/** What a run has found out so far. */
interface Findings {
  readonly skipped: string[];
  /** Steps in their order, with how long each took, in seconds. */
  readonly steps: Map<string, number>;
  readonly secondsOf: Map<string, number>;
}

const findings: Findings = { skipped: [], steps: new Map(), secondsOf: new Map() };
const passed = new PassedSuites(ROOT, '.ci/long-passed.json');

/** Does one step of the run and notes how long it took. */
function timed<T>(step: string, work: () => T): T {
  const startedMs = performance.now();
  try {
    return work();
  } finally {
    findings.steps.set(step, (performance.now() - startedMs) / 1000);
  }
}

function prepare(files: readonly string[], builds: ReadonlySet<Build>): void {
  timed('set-up', () => {
    for (const { prefix, programs, packages } of NEEDS) {
      // A suite that misses one of these is skipped and says so itself.
      if (files.some((file) => file.startsWith(prefix))) ensurePrograms(programs, packages);
    }
  });
  for (const { what, run } of builds) {
    const why = timed(what, run);
    if (why) findings.skipped.push(`${what}: ${why}`);
  }
}

function check(name: string, args: string[]): boolean {
  const { status } = timed(name, () => spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' }));
  if (status !== 0) console.error(`${name} failed.`);
  return status === 0;
}

/** Runs suites and prints their report. Returns whether all passed. */
async function runSuites(files: string[]): Promise<boolean> {
  const startedMs = performance.now();
  let green = true;
  const events = run({ files, concurrency: CONCURRENCY, execArgv: ['--disable-warning=ExperimentalWarning'] });
  events.on('test:fail', () => {
    green = false;
  });
  events.on('test:summary', ({ file, duration_ms }) => {
    if (file) findings.secondsOf.set(relative(ROOT, file), duration_ms / 1000);
  });
  events.on('test:pass', ({ name, skip }) => {
    if (skip === undefined || skip === false) return;
    findings.skipped.push(typeof skip === 'string' ? `${name}: ${skip}` : name);
  });
  const report = events.compose(spec);
  report.pipe(process.stdout, { end: false });
  await finished(report);
  findings.steps.set('suites', (performance.now() - startedMs) / 1000);
  return green;
}

/** What is asked for on the command line. */
interface Wish {
  readonly words: readonly string[];
  readonly long: boolean;
  readonly changed: boolean;
  readonly since: string | undefined;
}

/** The suites to run; the long ones that are left out are noted with the reason. */
function choose(suites: Suites, { words, long, changed, since }: Wish): string[] {
  const named =
    words.length > 0 ? globSync(words, { exclude: ['**/node_modules/**', '**/build/**'] }).sort() : undefined;
  if (named?.length === 0) throw new Misused(`No suite matches ${words.join(' ')}.`);
  const isLong = (file: string) => file.endsWith('.long.test.ts');
  if (long && named?.every((file) => !isLong(file))) {
    throw new Misused(
      `No long suite matches ${words.join(' ')}. Other suites run with: npm test -- ${words.join(' ')}`,
    );
  }
  let chosen = named ?? suites.list();
  if (since !== undefined) {
    const differing = changedFiles(since);
    chosen = chosen.filter((file) => suites.dependsOn(file, differing));
  }
  if (named !== undefined && !long) return chosen;
  if (!long) {
    for (const file of chosen.filter(isLong)) {
      findings.skipped.push(`${file}: a long suite, which \`npm run test:long\` runs`);
    }
    return chosen.filter((file) => !isLong(file));
  }
  chosen = chosen.filter(isLong);
  if (!changed) return chosen;
  const unchanged = chosen.filter((file) => passed.has(file));
  for (const file of unchanged) findings.skipped.push(`${file}: nothing it tests has changed since it passed`);
  return chosen.filter((file) => !unchanged.includes(file));
}

function changedFiles(since: string): string[] {
  try {
    return changedSince(since);
  } catch {
    throw new Misused(
      `--only-changed ${since}: git knows no such commit. Name a branch, a tag or a commit, such as main or HEAD~3.`,
    );
  }
}

/** Where the time went, and what a reader must know of the run. */
function report(): string {
  const seconds = (names: Iterable<[string, number]>) =>
    [...names].map(([name, took]) => `${name} ${took.toFixed(took < 10 ? 1 : 0)}`).join(', ');
  const slowest = [...findings.secondsOf].sort(([, a], [, b]) => b - a).slice(0, SLOWEST_LISTED);
  const { skipped } = findings;
  return [
    `Slowest suites, in seconds: ${seconds(slowest)}.`,
    `Time, in seconds: ${seconds(findings.steps)}; ${(performance.now() / 60_000).toFixed(1)} minutes in all.`,
    skipped.length === 0 ? 'Nothing was skipped.' : `Skipped:\n${skipped.map((one) => `  ${one}`).join('\n')}`,
  ].join('\n');
}

async function test(wish: Wish): Promise<number> {
  process.chdir(ROOT);
  // What V8 has compiled is kept for all processes of the suites, which start in half the time. It would blur a measurement of coverage.
  if (!process.env.NODE_V8_COVERAGE) process.env.NODE_COMPILE_CACHE ??= COMPILE_CACHE;
  const suites = new Suites();
  const files = choose(suites, wish);
  prepare(files, new Set(files.flatMap((file) => suites.buildsOf(file))));
  const { long } = wish;
  const lint = long || check('lint', ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.']);
  const types = long || check('types', ['node_modules/typescript/bin/tsc', '--noEmit', '-p', '.']);
  const green = files.length === 0 || (await runSuites(files));
  if (long && green) passed.add(files);
  console.log(report());
  const checks = long ? '' : `Lint ${lint ? 'clean' : 'FAILED'}, types ${types ? 'clean' : 'FAILED'}, `;
  console.log(`${checks}${files.length} ${long ? 'long ' : ''}suites ${green ? 'green' : 'FAILED'}.`);
  return lint && types && green ? EXIT.done : EXIT.failed;
}

if (import.meta.main) {
  const code = await runCommand(COMMAND, ({ words, values: { long, changed, onlyChanged } }) =>
    test({ words, long, changed, since: onlyChanged }),
  );
  process.exit(code); // a suite that hung may have left something open
}

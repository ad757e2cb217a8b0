/**
 * `npm test`: prepares what this machine can have, then runs lint, types and every suite, and says at the end where the time went and
 * what was skipped. Builds run beside the suites that need none of them. A suite runs once: one that fails now and then is at fault, or
 * finds a fault.
 *
 * `npm run test:long` runs the suites named `*.long.test.ts`: each takes over a minute and concerns one folder only. When all that it
 * ran have passed, `.ci/long-passed.json` has the code that each passed with. `npm run test:repeat` runs the suites many times.
 */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { availableParallelism, getPriority } from 'node:os';
import { join } from 'node:path';
import { type Command, EXIT, Misused, runCommand, text, toggle, whole } from '../command.ts';
import { ensurePrograms } from '../machine.js';
import { type Build, buildBeside } from './builds.ts';
import { ChildrenCpu, IdleCores } from './load.ts';
import { OTHER_BROWSERS, WINE, X11 } from './needs.ts';
import { PassedSuites } from './passed_suites.ts';
import { type Planned, Schedule } from './schedule.ts';
import { SuiteCosts } from './suite_costs.ts';
import { LONG_SUITE_MS_MAX, runSuite, SUITE_MS_MAX } from './suite_run.ts';
import { changedSince, isQuiet, Suites, takesLong } from './suites.ts';

/** How often the machine is looked at for a core that idles. */
const LOOK_EVERY_MS = 500; // a suite that has just started shows its load by then

/** How many suites are listed at the end as the slowest. */
const SLOWEST_LISTED = 12;

/** Between two looks: a suite that has just started may take what idled at the last one. */
const NONE_IDLE = 0;

const ROOT = join(import.meta.dirname, '../..');

/** Where the compiled code of all processes of the suites lies. */
const COMPILE_CACHE = join(ROOT, 'build', 'compile-cache');

/** The compiler keeps what it knows of each file: checked again is what has changed, and what depends on it. */
const KEPT_TYPES = ['--incremental', '--tsBuildInfoFile', 'build/types.tsbuildinfo'];

const OPTIONS = {
  long: toggle('the suites that take minutes each, *.long.test.ts, without lint and types'),
  changed: toggle('with --long: only those whose code has changed since they passed'),
  repeat: whole('N', 'run the suites this many times, and list those that ever failed', [1, 1000], 1),
  onlyChanged: text('COMMIT', 'only suites that depend on a file that differs from this commit'),
};

export const COMMAND: Command<typeof OPTIONS> = {
  usage: [
    'npm test [-- [SUITE …] [options]]',
    'npm run test:long [-- [SUITE …] [--changed]]',
    'npm run test:repeat -- N [SUITE …]',
  ],
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
  { prefix: 'server/test/other_browsers.long', ...OTHER_BROWSERS },
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
  { prefix: 'tools/release/', programs: ['shellcheck'], packages: ['shellcheck'] },
  {
    prefix: 'ec2/test/boot.long',
    programs: ['debootstrap', 'systemd-nspawn'],
    packages: ['debootstrap', 'systemd-container'],
  },
];

/** What the runs have found out so far. */
interface Findings {
  readonly skipped: Set<string>;
  /** Steps in their order, with how long each took, in seconds. */
  readonly steps: Map<string, number>;
  /** Suites that failed, with what failed in each of their runs, and builds. */
  readonly failed: Map<string, (readonly string[])[]>;
  /** Seconds that the suites took, of each run. */
  readonly runs: number[];
  /** Of the compilers. */
  buildCpuSeconds: number;
}

const findings: Findings = { skipped: new Set(), steps: new Map(), failed: new Map(), runs: [], buildCpuSeconds: 0 };
const passed = new PassedSuites(ROOT, '.ci/long-passed.json');
const costs = new SuiteCosts(join(ROOT, 'build', 'suite-costs.json'));

/** Does one step of the run and notes how long it took. */
function timed<T>(step: string, work: () => T): T {
  const startedMs = performance.now();
  try {
    return work();
  } finally {
    findings.steps.set(step, (performance.now() - startedMs) / 1000);
  }
}

/** A suite that misses a program is skipped and says so itself. */
function prepare(files: readonly string[]): void {
  timed('set-up', () => {
    for (const { prefix, programs, packages } of NEEDS) {
      if (files.some((file) => file.startsWith(prefix))) ensurePrograms(programs, packages);
    }
  });
}

function check(name: string, args: string[]): boolean {
  const { status } = timed(name, () => spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' }));
  if (status !== 0) console.error(`${name} failed.`);
  return status === 0;
}

/** Runs suites as the schedule says, prints their reports and notes what they cost. Resolves to whether all passed. */
async function runSuites(schedule: Schedule, childrenCpu: ChildrenCpu): Promise<boolean> {
  const startedMs = performance.now();
  const counts = { suites: 0, tests: 0, failed: 0 };
  const idleCores = new IdleCores();

  const runOne = async (planned: Planned) => {
    const { file } = planned;
    const { report, seconds, tests, skipped, failed, passed } = await runSuite(
      file,
      isLong(file) ? LONG_SUITE_MS_MAX : SUITE_MS_MAX,
    );
    costs.note(file, { seconds, cpuSeconds: childrenCpu.look() });
    schedule.end(planned);
    console.log(`${file}\n${report}\n`);
    counts.suites++;
    counts.tests += tests;
    for (const one of skipped) findings.skipped.add(one);
    if (passed) return;
    counts.failed++;
    findings.failed.set(file, [...(findings.failed.get(file) ?? []), failed]);
  };

  await new Promise<void>((resolve, reject) => {
    const startSome = (idle: number) => {
      for (let one = schedule.next(idle); one !== undefined; one = schedule.next(NONE_IDLE)) {
        runOne(one).then(() => startSome(NONE_IDLE), reject);
      }
      if (!schedule.isDone) return;
      clearInterval(looking);
      resolve();
    };
    const look = () => idleCores.look({ areOwnNiced: schedule.isBuilding || getPriority() > 0 });
    const looking = setInterval(() => startSome(look()), LOOK_EVERY_MS);
    startSome(NONE_IDLE);
  });
  const seconds = (performance.now() - startedMs) / 1000;
  findings.runs.push(seconds);
  console.log(
    `${counts.suites} suites with ${counts.tests} tests in ${seconds.toFixed(0)} s, ${counts.failed} failed.`,
  );
  return counts.failed === 0;
}

/** What is asked for on the command line. */
interface Wish {
  readonly words: readonly string[];
  readonly long: boolean;
  readonly changed: boolean;
  readonly since: string | undefined;
  readonly repeat: number;
}

function isLong(file: string): boolean {
  return file.endsWith('.long.test.ts');
}

/** The suites to run; the long ones that are left out are noted with the reason. */
function choose(suites: Suites, { words, long, changed, since }: Wish): string[] {
  const named =
    words.length > 0 ? globSync(words, { exclude: ['**/node_modules/**', '**/build/**'] }).sort() : undefined;
  if (named?.length === 0) throw new Misused(`No suite matches ${words.join(' ')}.`);
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
      findings.skipped.add(`${file}: a long suite, which \`npm run test:long\` runs`);
    }
    return chosen.filter((file) => !isLong(file));
  }
  chosen = chosen.filter(isLong);
  if (!changed) return chosen;
  const unchanged = chosen.filter((file) => passed.has(file));
  for (const file of unchanged) findings.skipped.add(`${file}: nothing it tests has changed since it passed`);
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
function report(files: readonly string[]): string {
  const seconds = (took: number) => took.toFixed(took < 10 ? 1 : 0);
  const slowest = costs.slowest(files).slice(0, SLOWEST_LISTED);
  const { skipped, failed, runs } = findings;
  return [
    'Slowest suites, in seconds, and in seconds of processor time:',
    ...slowest.map(
      ([file, cost]) => `  ${seconds(cost.seconds).padStart(4)} ${seconds(cost.cpuSeconds).padStart(4)}  ${file}`,
    ),
    `Time, in seconds: ${[...findings.steps].map(([name, took]) => `${name} ${seconds(took)}`).join(', ')}; \
${(performance.now() / 60_000).toFixed(1)} minutes in all; ${seconds(findings.buildCpuSeconds)} of processor time for the builds.`,
    ...(runs.length > 1
      ? [`Runs of the suites, in seconds: ${spread(runs).map(seconds).join(', ')} (min, median, max).`]
      : []),
    skipped.size === 0 ? 'Nothing was skipped.' : `Skipped:\n${[...skipped].map((one) => `  ${one}`).join('\n')}`,
    ...[...failed].flatMap(([file, times]) => [
      `Failed${runs.length > 1 ? ` in ${times.length} of ${runs.length} runs` : ''}: ${file}`,
      ...new Set(times.flat().map((one) => `  ${one}`)),
    ]),
  ].join('\n');
}

function spread(numbers: readonly number[]): number[] {
  const sorted = numbers.toSorted((a, b) => a - b);
  return [0, Math.floor(sorted.length / 2), sorted.length - 1].map((at) => sorted[at]);
}

async function test(wish: Wish): Promise<number> {
  process.chdir(ROOT);
  // What V8 has compiled is kept for all processes of the suites, which start in half the time. It would blur a measurement of coverage.
  if (!process.env.NODE_V8_COVERAGE) process.env.NODE_COMPILE_CACHE ??= COMPILE_CACHE;
  const suites = new Suites();
  const files = choose(suites, wish);
  const buildsOf = new Map(files.map((file) => [file, suites.buildsOf(file)]));
  const builds: Build[] = [...new Set([...buildsOf.values()].flat())];
  prepare(files);

  const childrenCpu = new ChildrenCpu();
  const plan = files.map((file): Planned => {
    const needs = (buildsOf.get(file) ?? []).map(({ what }) => what);
    const code = readFileSync(file, 'utf8');
    const seconds = costs.expected(file, needs.length, takesLong(code));
    return { file, needs, seconds, isQuiet: isQuiet(code) };
  });
  const cores = availableParallelism();
  const notBuilt = builds.map(({ what }) => what);
  const first = new Schedule(plan, notBuilt, cores);
  let areBuilt = true;
  const building = buildBeside(builds, ({ what, seconds, why, isFault }) => {
    findings.steps.set(what, seconds);
    if (why !== undefined && !isFault) findings.skipped.add(`${what}: ${why}`);
    if (why !== undefined && isFault) findings.failed.set(`${what}: ${why}`, [[]]);
    areBuilt &&= !isFault;
    first.built(what);
  }).then(() => {
    findings.buildCpuSeconds = childrenCpu.look();
  });
  const { long } = wish;
  const lint = long || check('lint', ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.']);
  const types = long || check('types', ['node_modules/typescript/bin/tsc', '--noEmit', '-p', '.', ...KEPT_TYPES]);
  childrenCpu.look();
  let green = await runSuites(first, childrenCpu);
  await building;
  green &&= areBuilt;
  for (let run = 1; run < wish.repeat; run++) {
    const passed = await runSuites(new Schedule(plan, [], cores), childrenCpu);
    green &&= passed;
  }
  costs.write();
  findings.steps.set(
    'suites',
    findings.runs.reduce((sum, one) => sum + one, 0),
  );
  if (long && green) passed.add(files);
  console.log(report(files));
  const checks = long ? '' : `Lint ${lint ? 'clean' : 'FAILED'}, types ${types ? 'clean' : 'FAILED'}, `;
  console.log(`${checks}${files.length} ${long ? 'long ' : ''}suites ${green ? 'green' : 'FAILED'}.`);
  return lint && types && green ? EXIT.done : EXIT.failed;
}

if (import.meta.main) {
  const code = await runCommand(COMMAND, ({ words, values: { long, changed, onlyChanged, repeat } }) =>
    test({ words, long, changed, since: onlyChanged, repeat }),
  );
  process.exit(code); // a suite that hung may have left something open
}

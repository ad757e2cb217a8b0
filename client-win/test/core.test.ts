/**
 * Builds the client's core natively and runs its tests, plain and under the sanitizers, and its fuzzers for a while.
 *
 * The builds in build/client and build/client-sanitized are kept, so that a second run need not build again.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { buildClient, CLIENT } from '../../tools/build.js';
import { installHint } from '../../tools/machine.js';

const SOURCES = join(import.meta.dirname, '..');

/**
 * The seconds each fuzzer runs; it starts from the corpus. The default run has a fixed seed, so that it tries the same inputs
 * every time and its result does not change by chance. With SPRITES_FUZZ_SECONDS set, the seed is new in each run.
 */
const FUZZ_SECONDS = Number(process.env.SPRITES_FUZZ_SECONDS ?? 10);
const FUZZ_SEED = process.env.SPRITES_FUZZ_SECONDS ? 0 : 1; // 0: the fuzzer picks one and prints it

/** MiB a fuzzer may use: many times what a sheet within its limits needs. */
const FUZZ_MIB_MAX = 1536;

const FUZZERS = [
  { name: 'sheet', what: 'the .spr reader', lengthMax: 8192 },
  { name: 'picture', what: 'the decoder of dropped pictures', lengthMax: 8192 },
  { name: 'events', what: 'a desktop with arbitrary events', lengthMax: 8192 },
];

const why = buildClient();

describe('client core, natively', { skip: why ?? false }, () => {
  it('passes its tests', () => {
    run(join(CLIENT, 'headless', 'core-tests'), []);
  });

  it('passes the tests of what the programs for Linux share', () => {
    run(join(CLIENT, 'headless', 'posix-tests'), []);
  });

  const noFuzzer = hasFuzzer() ? false : `needs clang and its runtime: ${installHint(['clang', 'libclang-rt-dev'])}`;
  const build = `${CLIENT}-sanitized`;

  it('passes its tests under the address and undefined sanitizers', { skip: noFuzzer }, () => {
    compile(build);
    run(join(build, 'headless', 'core-tests'), []);
    run(join(build, 'headless', 'posix-tests'), []);
  });

  for (const { name, what, lengthMax } of FUZZERS) {
    it(`${what} survives ${FUZZ_SECONDS} s of fuzzing`, { skip: noFuzzer }, () => {
      compile(build);
      // New inputs go to a temporary folder; add those worth keeping to corpus/ by hand.
      const corpus = mkdtempSync(join(tmpdir(), `${name}-corpus-`));
      cpSync(join(SOURCES, 'core', 'corpus', name), corpus, { recursive: true });
      const bounds = [`-max_total_time=${FUZZ_SECONDS}`, `-max_len=${lengthMax}`, `-rss_limit_mb=${FUZZ_MIB_MAX}`];
      const bytes = [`-seed=${FUZZ_SEED}`, '-timeout=20', corpus];
      run(join(build, 'headless', `${name}_fuzz`), [...bounds, ...bytes], corpus);
      rmSync(corpus, { recursive: true });
    });
  }

  it('measures the cost of a tick, and rejects wrong arguments', () => {
    const bench = join(CLIENT, 'headless', 'ticks-bench');
    assert.match(run(bench, ['--sprites', '2']), /2 sprites, at rest: [\d.]+ ms of CPU a tick/);
    for (const args of [['--sprites', '0'], ['--sprites', '301'], ['--sprites']]) {
      assert.equal(spawnSync(bench, args).status, 2);
    }
  });

  it('counts the frames dropped on screens of five rates, and rejects wrong arguments', () => {
    const bench = join(CLIENT, 'headless', 'pacing-bench');
    const lines = run(bench, ['--sprites', '2', '--seconds', '1']).trim().split('\n');
    assert.equal(lines.length, 5);
    for (const line of lines)
      assert.match(line, /^2 sprites on a screen of \d+ Hz: [\d.]+ frames a second of [\d.]+; dropped \d+ of/);
    for (const args of [
      ['--sprites', '0'],
      ['--sprites', '301'],
      ['--seconds', '0'],
      ['--seconds', '601'],
      ['--hz', '1'],
      ['2'],
    ]) {
      assert.equal(spawnSync(bench, args).status, 2);
    }
  });
});

function compile(build: string): void {
  const compilers = ['-DCMAKE_C_COMPILER=clang', '-DCMAKE_CXX_COMPILER=clang++'];
  run('cmake', ['-S', SOURCES, '-B', build, '-G', 'Ninja', '-DSANITIZE=ON', '-DCMAKE_BUILD_TYPE=', ...compilers]);
  run('cmake', [
    '--build',
    build,
    '--target',
    'core-tests',
    'posix-tests',
    ...FUZZERS.map(({ name }) => `${name}_fuzz`),
  ]);
}

/** Runs a program and returns its output. Fails, with the output, if the program fails. */
function run(program: string, args: readonly string[], cwd = SOURCES): string {
  const { status, signal, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  assert.ok(status === 0, `${program} failed: ${error ?? signal ?? status}\n${stdout}\n${stderr}`.slice(-8000));
  return stdout;
}

/** Whether clang and its runtime are installed; Debian has them in separate packages. */
function hasFuzzer(): boolean {
  const input = 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }';
  const args = ['-fsanitize=fuzzer,address', '-x', 'c++', '-', '-o', '/dev/null'];
  return spawnSync('clang++', args, { input, stdio: ['pipe', 'ignore', 'ignore'] }).status === 0;
}

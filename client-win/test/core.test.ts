/**
 * The client's core, built and run natively: plain, under the sanitizers, and the fuzzers for a while.
 *
 * Builds lie in build/client and build/client-sanitized and are kept, so that a second run only runs.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { buildClient, CLIENT } from '../../tools/build.js';

const SOURCES = join(import.meta.dirname, '..');

/**
 * How long each fuzzer looks for something new; the corpus has what it found before. Every run takes the same way, by a fixed
 * seed, so that what is green today is green tomorrow; whoever asks for more seconds gets a way of his own.
 */
const FUZZ_SECONDS = Number(process.env.SPRITES_FUZZ_SECONDS ?? 10);
const FUZZ_SEED = process.env.SPRITES_FUZZ_SECONDS ? 0 : 1; // 0: by the clock; the fuzzer prints it

/** MiB a fuzzer may take: what a sheet within its limits needs, many times over. */
const FUZZ_MIB_MAX = 1536;

const FUZZERS = [
  { name: 'sheet', what: 'the .spr reader', lengthMax: 8192 },
  { name: 'picture', what: 'the decoder of dropped pictures', lengthMax: 8192 },
  { name: 'events', what: 'a desktop that is told anything', lengthMax: 8192 },
];

const why = buildClient();

describe('client core, natively', { skip: why ?? false }, () => {
  it('holds', () => {
    run(join(CLIENT, 'headless', 'core-tests'), []);
  });

  const noFuzzer = hasFuzzer() ? false : 'needs clang and its runtime: apt-get install clang libclang-rt-dev';
  const build = `${CLIENT}-sanitized`;

  it('holds under the address and undefined sanitizers', { skip: noFuzzer }, () => {
    compile(build);
    run(join(build, 'headless', 'core-tests'), []);
  });

  for (const { name, what, lengthMax } of FUZZERS) {
    it(`${what} stands ${FUZZ_SECONDS} s of fuzzing`, { skip: noFuzzer }, () => {
      compile(build);
      // What it finds on the way is for now; a case worth keeping is put into corpus/ by hand.
      const found = mkdtempSync(join(tmpdir(), `${name}-corpus-`));
      cpSync(join(SOURCES, 'core', 'corpus', name), found, { recursive: true });
      const bounds = [`-max_total_time=${FUZZ_SECONDS}`, `-max_len=${lengthMax}`, `-rss_limit_mb=${FUZZ_MIB_MAX}`];
      const bytes = [`-seed=${FUZZ_SEED}`, '-timeout=20', found];
      run(join(build, 'headless', `${name}_fuzz`), [...bounds, ...bytes], found);
      rmSync(found, { recursive: true });
    });
  }

  it('says what a tick costs, and refuses what it does not know', () => {
    const bench = join(CLIENT, 'headless', 'ticks-bench');
    assert.match(run(bench, ['--sprites', '2']), /2 sprites, at rest: [\d.]+ ms of CPU a tick/);
    for (const args of [['--sprites', '0'], ['--sprites', '301'], ['--sprites']]) {
      assert.equal(spawnSync(bench, args).status, 2);
    }
  });
});

function compile(build: string): void {
  const compilers = ['-DCMAKE_C_COMPILER=clang', '-DCMAKE_CXX_COMPILER=clang++'];
  run('cmake', ['-S', SOURCES, '-B', build, '-G', 'Ninja', '-DSANITIZE=ON', '-DCMAKE_BUILD_TYPE=', ...compilers]);
  run('cmake', ['--build', build, '--target', 'core-tests', ...FUZZERS.map(({ name }) => `${name}_fuzz`)]);
}

/** What it printed; fails, with all of that, when it does not end well. */
function run(program: string, args: readonly string[], cwd = SOURCES): string {
  const { status, signal, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  assert.ok(status === 0, `${program} ended with ${error ?? signal ?? status}\n${stdout}\n${stderr}`.slice(-8000));
  return stdout;
}

/** Whether clang is there, and the runtime that Debian packs apart from it. */
function hasFuzzer(): boolean {
  const input = 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }';
  const args = ['-fsanitize=fuzzer,address', '-x', 'c++', '-', '-o', '/dev/null'];
  return spawnSync('clang++', args, { input, stdio: ['pipe', 'ignore', 'ignore'] }).status === 0;
}

/**
 * The client's core under the sanitizers, and its fuzzers for a while.
 *
 * The build in build/client-sanitized is kept, so that a second run need not build again.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { buildClient, CLIENT } from '../../tools/build.js';
import { whyNoFuzzer } from '../../tools/test/needs.ts';
import { CLIENT_SOURCES, runProgram } from './program.ts';

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
  { name: 'pack', what: 'the reader of Shimeji packs', lengthMax: 8192 },
  { name: 'events', what: 'a desktop with arbitrary events', lengthMax: 8192 },
];

const TARGETS = ['core-tests', 'posix-tests', ...FUZZERS.map(({ name }) => `${name}_fuzz`)];

const why = buildClient() ?? whyNoFuzzer() ?? false;
const BUILD = `${CLIENT}-sanitized`;

describe('client core, under the address and undefined sanitizers', { skip: why }, () => {
  it('passes its tests', () => {
    compile();
    runProgram(join(BUILD, 'test', 'core-tests'), []);
    runProgram(join(BUILD, 'test', 'posix-tests'), []);
  });

  for (const { name, what, lengthMax } of FUZZERS) {
    it(`${what} survives ${FUZZ_SECONDS} s of fuzzing`, () => {
      compile();
      // New inputs go to a temporary folder; add those worth keeping to corpus/ by hand.
      const corpus = mkdtempSync(join(tmpdir(), `${name}-corpus-`));
      cpSync(join(CLIENT_SOURCES, 'core', 'corpus', name), corpus, { recursive: true });
      const bounds = [`-max_total_time=${FUZZ_SECONDS}`, `-max_len=${lengthMax}`, `-rss_limit_mb=${FUZZ_MIB_MAX}`];
      const bytes = [`-seed=${FUZZ_SEED}`, '-timeout=20', corpus];
      runProgram(join(BUILD, 'test', `${name}_fuzz`), [...bounds, ...bytes], corpus);
      rmSync(corpus, { recursive: true });
    });
  }
});

function compile(): void {
  const compilers = ['-DCMAKE_C_COMPILER=clang', '-DCMAKE_CXX_COMPILER=clang++'];
  const configure = ['-S', CLIENT_SOURCES, '-B', BUILD, '-G', 'Ninja', '-DSANITIZE=ON', '-DCMAKE_BUILD_TYPE='];
  const alone = '-DCMAKE_UNITY_BUILD=OFF'; // A source that misses an include does not compile here.
  runProgram('cmake', [...configure, alone, ...compilers]);
  runProgram('cmake', ['--build', BUILD, '--target', ...TARGETS]);
}

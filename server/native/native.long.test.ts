/**
 * The C++ tests of the native front under the sanitizers, and under the fuzzer, without Node. Then the whole addon under the
 * sanitizers inside Node: the front's contract, its storm, and its own tests.
 *
 * Skipped where the compiler or doctest is missing. A second run does not compile.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { whyNoFuzzer } from '../../tools/test/needs.ts';
import { BUILDS, compile, run, SOURCES, TESTS, whySkip } from '../test/native_build.ts';

/** How long the fuzzer searches; the corpus has what it found before. */
const FUZZ_SECONDS = 20;

/** What is fuzzed, and the longest input in bytes. */
const FUZZED = { byte_ring: 500, request_parser: 12_000, crossing_scan: 1100 };

/** A suite under the sanitizers takes less than this, in ms. It takes some three times as long as without them. */
const SUITE_MS_MAX = 600_000;

const skip = whySkip();

/** Each build: its -DSANITIZE, and the size of its storms. */
const KINDS = [
  { name: 'the address and undefined sanitizers', sanitize: 'address', storm: ['--cycles', '8', '--crowd', '1000'] },
  { name: 'the thread sanitizer', sanitize: 'thread', storm: ['--cycles', '4', '--crowd', '500'] },
];

describe('native front, without Node', { skip }, () => {
  for (const { name, sanitize, storm } of KINDS) {
    describe(`under ${name}`, () => {
      const build = join(BUILDS, sanitize);
      it('compiles', () => compile(build, sanitize, 'g++'));
      for (const test of TESTS) {
        it(`passes ${test}_test`, () => run(join(build, `${test}_test`), test === 'native_front' ? storm : []));
      }
    });
  }

  describe(`in ${FUZZ_SECONDS} s of each fuzzer`, { skip: whyNoFuzzer() ?? false }, () => {
    const build = join(BUILDS, 'fuzzer');
    it('compiles', () => compile(build, 'fuzzer', 'clang++'));
    for (const [noun, bytesMax] of Object.entries(FUZZED)) {
      it(`${noun} keeps its promises for whatever the fuzzer finds`, () => {
        // What it finds is not kept; a case worth keeping is copied into corpus/ by hand.
        const found = mkdtempSync(join(tmpdir(), `${noun}-corpus-`));
        cpSync(join(SOURCES, 'corpus', noun), found, { recursive: true });
        run(join(build, `${noun}_fuzz`), [`-max_total_time=${FUZZ_SECONDS}`, `-max_len=${bytesMax}`, found], found);
        rmSync(found, { recursive: true });
      });
    }
  });
});

const ADDON = join(BUILDS, 'address', 'front.node');
const PACKAGE = fileURLToPath(new URL(`../../node_modules/node-linux-${process.arch}/`, import.meta.url));
const noHeaders = existsSync(join(PACKAGE, 'include', 'node', 'node_api.h'))
  ? false
  : `needs the headers in ${PACKAGE}`;

describe('native front, inside Node, under the address and undefined sanitizers', { skip: skip || noHeaders }, () => {
  it('compiles', () => compile(join(BUILDS, 'address'), 'address', 'g++', 'addon'));

  it('is the addon that the suites below load', () => {
    const script = `
      const { whyNoNativeFront } = await import(${JSON.stringify(new URL('../front/native.ts', import.meta.url))});
      console.log(whyNoNativeFront(), require('fs').readFileSync('/proc/self/maps', 'utf8'));
    `;
    const { output } = runSanitized(['--eval', `(async () => {${script}})()`]);
    assert.match(output, /^undefined /);
    for (const loaded of [ADDON, 'libasan.so', 'libubsan.so'])
      assert.ok(output.includes(loaded), `${loaded} is loaded`);
    assert.ok(!output.includes('build/Release/front.node'), 'and not the usual addon');
  });

  for (const suite of ['native.test.ts', 'storm.test.ts']) {
    it(`passes front/${suite}, and leaks nothing`, () => {
      const { output, leaks } = runSanitized([fileURLToPath(new URL(`../front/${suite}`, import.meta.url))]);
      assert.match(output, /^ℹ pass [1-9]/m);
      assert.match(output, /^ℹ skipped 0/m);
      assert.deepEqual(leaks, []);
    });
  }
});

/** Runs Node with the sanitized addon. Returns its output and the leaks of the addon. Throws when the program fails. */
function runSanitized(args: readonly string[]): { output: string; leaks: string[] } {
  const runtimes = ['libasan.so', 'libubsan.so'].map((name) =>
    spawnSync('g++', [`-print-file-name=${name}`], { encoding: 'utf8' }).stdout.trim(),
  );
  const env = {
    ...process.env,
    // With it set, the suite would write the runner's binary protocol instead of text.
    NODE_TEST_CONTEXT: undefined,
    ...{ SPRITES_TEST_ADDON: ADDON, LD_PRELOAD: runtimes.join(':') },
    // Node does not free everything when it exits, so leaks do not fail the program; the test looks for the addon's.
    ...{ ASAN_OPTIONS: 'detect_leaks=1', LSAN_OPTIONS: 'exitcode=0', UBSAN_OPTIONS: 'print_stacktrace=1' },
  };
  const flags = [
    '--disable-warning=ExperimentalWarning',
    '--import',
    fileURLToPath(new URL('../test/sanitized_addon.ts', import.meta.url)),
  ];
  const options = { env, encoding: 'utf8', maxBuffer: 64 << 20, timeout: SUITE_MS_MAX } as const;
  const { status, signal, stdout, stderr, error } = spawnSync(process.execPath, [...flags, ...args], options);
  assert.ok(status === 0, `ended with ${error ?? signal ?? status}\n${stdout}\n${stderr}`.slice(-8000));
  const leaks = stderr.split(/^(?=(?:Direct|Indirect) leak)/m).slice(1);
  return { output: stdout, leaks: leaks.filter((leak) => leak.includes('front.node')) };
}

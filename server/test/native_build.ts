/** Builds the C++ tests of the native front in build/native-tests, and runs them. The suites in native/ use this. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureFiles, installHint } from '../../tools/machine.js';

/** The folder of the sources. */
export const SOURCES = fileURLToPath(new URL('../native', import.meta.url));

/** The folder of the builds, one for each sanitizer. */
export const BUILDS = fileURLToPath(new URL('../../build/native-tests', import.meta.url));

/** The programs with tests, without `_test`. */
export const TESTS = [
  ...['address_counts', 'byte_ring', 'crossing_scan', 'request_parser', 'pools', 'deadline_wheel', 'boxes'],
  ...['mapped_file', 'ring_link', 'native_front'],
];

/** Builds `target` with -DSANITIZE=`sanitize` in the folder `build`. */
export function compile(build: string, sanitize: string, compiler: string, target = 'all'): void {
  const configure = ['-S', SOURCES, '-B', build, '-G', 'Ninja', `-DSANITIZE=${sanitize}`];
  run('cmake', [...configure, `-DCMAKE_CXX_COMPILER=${compiler}`]);
  run('cmake', ['--build', build, '--target', target]);
}

/** Runs a program. Fails, with the output, if the program fails. */
export function run(program: string, args: readonly string[], cwd = SOURCES): void {
  const suppressions = `suppressions=${join(SOURCES, 'thread_sanitizer.supp')}`;
  const env = { ...process.env, TSAN_OPTIONS: suppressions };
  const { status, signal, stdout, stderr, error } = spawnSync(program, args, { cwd, env, encoding: 'utf8' });
  assert.ok(status === 0, `${program} ended with ${error ?? signal ?? status}\n${stdout}\n${stderr}`.slice(-8000));
}

/** Why this machine can't build the tests, with the remedy; false when it can. */
export function whySkip(): string | false {
  if (process.platform !== 'linux') return 'the native front is for Linux';
  const missing = ['cmake', 'ninja', 'g++'].filter((program) => !runs(program, ['--version']));
  if (missing.length > 0) return `needs ${missing.join(', ')}: ${installHint(['g++', 'cmake', 'ninja-build'])}`;
  if (!ensureFiles(['/usr/include/doctest/doctest.h'], ['doctest-dev'])) {
    return `needs doctest: ${installHint(['doctest-dev'])}`;
  }
  return false;
}

function runs(program: string, args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

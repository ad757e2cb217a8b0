/**
 * Builds and runs the C++ tests of the native front without Node. native.long.test.ts runs them under the sanitizers and the
 * fuzzer.
 *
 * Skipped where the compiler or doctest is missing. The build is kept, so a second run does not compile.
 */
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { BUILDS, compile, run, TESTS, whySkip } from '../test/native_build.ts';

/** The size of the storm. */
const STORM = ['--cycles', '20', '--crowd', '10000'];

describe('native front, without Node', { skip: whySkip() }, () => {
  const build = join(BUILDS, 'plain');
  it('compiles', () => compile(build, '', 'g++'));
  for (const test of TESTS) {
    it(`passes ${test}_test`, () => run(join(build, `${test}_test`), test === 'native_front' ? STORM : []));
  }
});

/**
 * The patches compile with V8 14.6 itself, and their flags are in the objects.
 *
 * Objects stay in build/v8, so only the first run compiles for minutes. Without clang 19, or when the crate registry can't be
 * reached, the suite is skipped and says so. A compilation that exceeds its limit continues in the next run.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { installHint } from '../tools/machine.js';
import { CHANGED_FILES, FETCH_MS_MAX, FLAGS, missingProgram, sh, whyNoSource } from './test/patches.ts';

const CLANG = '/usr/lib/llvm-19/bin/clang++';

/** Limit for the compilation in one run, in ms. It takes 205 s on two idle cores and three times as long on busy ones. */
const COMPILE_MS_MAX = 1_800_000;

function whyNoObjects(): string | undefined {
  const missing = missingProgram(CLANG, 'gn', 'ninja', 'python3', 'ld.lld-19');
  const packages = 'clang-19 lld-19 llvm-19 generate-ninja ninja-build python3';
  return missing && `${missing} is missing, so the patches are not compiled: ${installHint(packages.split(' '))}`;
}

const skip = (await whyNoSource()) ?? whyNoObjects();

describe('V8 patches, compiled', { skip, timeout: FETCH_MS_MAX + COMPILE_MS_MAX }, () => {
  it('compile, and their flags are in the objects', async (t) => {
    const ran = await sh('crate.sh', ['objects'], COMPILE_MS_MAX);
    if (!ran) {
      t.skip(`V8 took longer than ${COMPILE_MS_MAX / 60_000} min to compile; the next run continues from there`);
      return;
    }
    assert.equal(ran.status, 0, ran.err);
    const objects = ran.out.trim().split('\n');
    const changed = CHANGED_FILES.filter((file) => file.endsWith('.cc')).map((file) =>
      file.replace(/.*\/(.*)\.cc$/, '/$1.o'),
    );
    for (const name of [...changed, '/flags.o'])
      assert.ok(
        objects.some((path) => path.endsWith(name)),
        name,
      );
    const flagsObject = readFileSync(objects.find((path) => path.endsWith('/flags.o')) as string, 'latin1');
    // V8 stores a flag's name with underscores or with dashes, and treats them as the same when it parses flags.
    for (const flag of FLAGS)
      assert.ok(flagsObject.includes(flag) || flagsObject.includes(flag.replaceAll('_', '-')), flag);
  });
});

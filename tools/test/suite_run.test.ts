import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, describe, it } from 'node:test';
import type { SuiteRun } from './suite_run.ts';

const ROOT = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'sprites-suite-'));
after(() => rmSync(folder, { recursive: true }));

/** Runs a suite with one test, which passes, or is skipped. `atEnd` is what its hook `after` does. The suite may take `msMax`. */
function runOf(atEnd: string, msMax?: number, skip: string | false = false): SuiteRun {
  const file = join(folder, 'one.test.ts');
  writeFileSync(
    file,
    `import { after, describe, it } from 'node:test';
     describe('one', () => { after(() => ${atEnd}); it('passes', { skip: ${JSON.stringify(skip)} }, () => {}); });`,
  );
  const script = join(folder, 'run.ts');
  writeFileSync(
    script,
    `import { runSuite } from ${JSON.stringify(join(import.meta.dirname, 'suite_run.ts'))};
     console.log(JSON.stringify(await runSuite(${JSON.stringify(relative(ROOT, file))}, ${msMax})));`,
  );
  // Node runs no suites from within one.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout, stderr } = spawnSync(process.execPath, [script], { env, encoding: 'utf8' });
  assert.ok(stdout, stderr);
  return JSON.parse(stdout);
}

describe('a run of a suite', () => {
  it('says how its process ended when it ended early', () => {
    for (const [atEnd, says] of [
      ["process.kill(process.pid, 'SIGKILL')", 'SIGKILL'],
      ['process.exit(3)', 'exit code 3'],
    ]) {
      const { passed, report } = runOf(atEnd);
      assert.equal(passed, false, report);
      assert.match(report, new RegExp(`\\n {2}Its process ended with ${says}\\.$`));
    }
  });

  it('ends a suite that takes too long, and says so', () => {
    const { passed, report } = runOf('setInterval(() => {}, 1000)', 1_000);
    assert.equal(passed, false, report);
    assert.match(report, /\n {2}It still ran after 1 s and was ended: /);
  });

  it('has failed when what a test needs did not compile, not when this machine lacks something for it', () => {
    const faulty = runOf('{}', undefined, 'cmake --build failed (exit 1); its output is above');
    assert.equal(faulty.passed, false, faulty.report);
    assert.deepEqual(faulty.failed, faulty.skipped);
    assert.match(faulty.report, /\n {2}What it tests was not built, .* passes: cmake --build failed \(exit 1\)/);
    const { passed, skipped } = runOf('{}', undefined, 'a compiler is missing: install g++');
    assert.deepEqual([passed, skipped], [true, ['passes: a compiler is missing: install g++']]);
  });

  it('names each test and hook that failed, with the first line of its error', () => {
    const { passed, failed } = runOf("{ throw new Error('not\\nthis'); }");
    assert.deepEqual([passed, failed], [false, ['one: not']]);
  });

  it('says nothing of it otherwise', () => {
    assert.deepEqual([runOf('{}').passed, runOf('{}').report.includes('process')], [true, false]);
  });
});

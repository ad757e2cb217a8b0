/** The workflows of a forge, and the scripts that they call: as actionlint and shellcheck see them, where those are installed. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { findProgram } from '../machine.js';

const ROOT = join(import.meta.dirname, '../..');
const WORKFLOWS = readdirSync(join(ROOT, '.github/workflows')).map((name) => join(ROOT, '.github/workflows', name));
const SCRIPTS = readdirSync(join(ROOT, '.ci'))
  .filter((name) => !name.includes('.'))
  .map((name) => join(ROOT, '.ci', name));

interface Workflow {
  permissions: Record<string, string>;
  jobs: Record<string, { steps: { uses?: string; run?: string }[]; 'timeout-minutes'?: number }>;
}

/** Fails with what the program says of the files. */
function passes(program: string, files: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(program, files, { cwd: ROOT, encoding: 'utf8' });
  assert.equal(status, 0, `${stdout}${stderr}`);
}

const skip = (program: string, hint: string) => (findProgram(program) ? false : `needs ${program}: ${hint}`);

describe('the workflows', () => {
  const texts = WORKFLOWS.map((path) => readFileSync(path, 'utf8'));

  it('may only read, unless a job says why it needs more, and every job ends', () => {
    for (const text of texts) {
      const { permissions, jobs }: Workflow = parse(text);
      assert.deepEqual(permissions, { contents: 'read' });
      for (const [name, job] of Object.entries(jobs)) assert.ok(job['timeout-minutes'], name);
    }
  });

  it('name each action by its commit, with the version beside it', () => {
    const uses = texts.flatMap((text) => text.split('\n').filter((line) => line.includes('uses:')));
    assert.ok(uses.length > 5);
    for (const line of uses) assert.match(line, /uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('test with no secret', () => {
    const test = readFileSync(join(ROOT, '.github/workflows/test.yml'), 'utf8');
    assert.doesNotMatch(test, /secrets\./);
  });

  const noActionlint = skip('actionlint', 'go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.7');
  it('have no fault that actionlint finds', { skip: noActionlint }, () => passes('actionlint', WORKFLOWS));

  const noShellcheck = skip('shellcheck', 'apt-get install shellcheck');
  it('call scripts without a fault that shellcheck finds', { skip: noShellcheck }, () => passes('shellcheck', SCRIPTS));
});

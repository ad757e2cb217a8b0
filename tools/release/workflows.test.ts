/** The workflows of a forge, and the scripts that they call: as actionlint and shellcheck see them, where those are installed. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { findProgram } from '../machine.js';

const ROOT = join(import.meta.dirname, '../..');
const WORKFLOWS = readdirSync(join(ROOT, '.github/workflows')).map((name) => join(ROOT, '.github/workflows', name));
const SCRIPTS = readdirSync(join(ROOT, '.ci'))
  .filter((name) => !name.includes('.'))
  .map((name) => join(ROOT, '.ci', name));

interface Workflow {
  permissions: Record<string, string>;
  jobs: Record<
    string,
    { permissions?: Record<string, string>; steps: { uses?: string; run?: string }[]; 'timeout-minutes'?: number }
  >;
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

  it('let a job read what another one has made, if it asks for that', () => {
    const readers = texts
      .flatMap((text) => Object.values((parse(text) as Workflow).jobs))
      .filter(({ steps }) => steps.some(({ run }) => run?.includes('gh run download')));
    assert.equal(readers.length, 2);
    for (const { permissions } of readers) assert.equal(permissions?.actions, 'read');
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

describe('what publishes a release', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sprites-publish-'));
  before(() => {
    mkdirSync(join(folder, 'artefacts'));
    const hash = createHash('sha256').update('packed').digest('hex');
    writeFileSync(join(folder, 'artefacts/sprites-0.3.0.tgz'), 'packed');
    writeFileSync(join(folder, 'artefacts/SHA256SUMS'), `${hash}  sprites-0.3.0.tgz\n`);
  });
  after(() => rmSync(folder, { recursive: true }));

  /** The commands that it would run, where gh says that there is a release (0) or none (1). */
  function publish(tag: string, known: 0 | 1): string[] {
    writeFileSync(join(folder, 'gh'), `#!/bin/sh\nexit ${known}\n`, { mode: 0o755 });
    const env = { ...process.env, DRY_RUN: '1', PATH: `${folder}${delimiter}${process.env.PATH}` };
    const options = { cwd: folder, env, encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync(join(ROOT, '.ci/publish'), [tag, 'artefacts'], options);
    assert.equal(status, 0, stderr);
    return stdout.trim().split('\n');
  }

  const NPM = `npm publish ${join(folder, 'artefacts/sprites-0.3.0.tgz')}`;

  it('gives npm a path that it takes for no repository, and goes on where it failed', () => {
    const [forge, npm] = publish('v0.3.0', 1);
    assert.match(forge, /^gh release create v0\.3\.0 --verify-tag .*artefacts\/SHA256SUMS/);
    assert.equal(npm, NPM);
    assert.deepEqual(publish('v0.3.0', 0), [NPM]);
  });

  it('refuses the files of another release, and files that have changed', () => {
    assert.throws(
      () => publish('v0.4.0', 1),
      /artefacts is not the release v0\.4\.0: sprites-0\.4\.0\.tgz is missing\./,
    );
    writeFileSync(join(folder, 'artefacts/sprites-0.3.0.tgz'), 'changed');
    assert.throws(() => publish('v0.3.0', 1), /1 computed checksum did NOT match/);
  });
});

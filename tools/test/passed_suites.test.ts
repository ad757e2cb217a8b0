/** In a repository of its own, made for each test. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { PassedSuites } from './passed_suites.ts';

const SUITE = 'relay/test/storm.long.test.ts';
const OTHER = 'client/core.long.test.ts';

describe('passed suites', () => {
  let root: string;
  const passed = () => new PassedSuites(root, 'passed.json');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@example', ...args], { cwd: root });

  function write(path: string, content: string): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }

  function commit(path: string, content: string): void {
    write(path, content);
    git('add', '.');
    git('commit', '--quiet', '--message', path);
  }

  const pinned = (version: string) => JSON.stringify({ version: '1', optionalDependencies: { node: version } });

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'sprites-passed-'));
    git('init', '--quiet');
    for (const path of [SUITE, OTHER, 'relay/relay.ts', 'relay/README.md']) write(path, path);
    commit('package.json', pinned('26.0.0'));
    passed().add([SUITE, OTHER]);
  });

  afterEach(() => rmSync(root, { recursive: true }));

  it('have passed until the code of their folder changes, also when the change is not committed', () => {
    assert.ok(passed().has(SUITE) && passed().has(OTHER));
    write('relay/relay.ts', 'changed');
    assert.ok(!passed().has(SUITE) && passed().has(OTHER));
    commit('relay/relay.ts', 'changed');
    assert.ok(!passed().has(SUITE) && passed().has(OTHER));
    passed().add([SUITE]);
    assert.ok(passed().has(SUITE) && passed().has(OTHER));
  });

  it('have not passed with a file that git does not know yet', () => {
    write('relay/new.ts', 'new');
    assert.ok(!passed().has(SUITE) && passed().has(OTHER));
  });

  it('do not depend on documents, pictures or what else the package has', () => {
    commit('relay/README.md', 'changed');
    commit('relay/pages/picture.png', 'new');
    commit('package.json', pinned('26.0.0').replace('"1"', '"2"'));
    assert.ok(passed().has(SUITE) && passed().has(OTHER));
  });

  it('depend on the pinned Node', () => {
    commit('package.json', pinned('26.1.0'));
    assert.ok(!passed().has(SUITE) && !passed().has(OTHER));
  });

  it('are not kept for code that is not committed, and have not passed where there is no repository', () => {
    write('relay/relay.ts', 'changed');
    passed().add([SUITE]);
    commit('relay/relay.ts', 'changed');
    assert.ok(!passed().has(SUITE));
    rmSync(join(root, '.git'), { recursive: true });
    assert.ok(!passed().has(OTHER));
  });
});

/** Imports of the swarm go down only, bin → run → report, and in no circle. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, it } from 'node:test';

const ROOT = join(import.meta.dirname, '..');

/** The folders that each folder may import from, besides itself and other parts. */
const BELOW: Record<string, readonly string[]> = { bin: ['run', 'report'], run: ['report'], report: [] };

const IMPORT = /^(?:import|export)\s[^;]*?from\s+'(\.[^']+)';/gm;

/** The files of the swarm that each of its files imports. */
const imports = new Map(
  Object.keys(BELOW).flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .map((name): [string, string[]] => {
        const path = join(ROOT, folder, name);
        const found = [...readFileSync(path, 'utf8').matchAll(IMPORT)].map(([, to]) => join(dirname(path), to));
        return [`${folder}/${name}`, found.map((to) => relative(ROOT, to)).filter((to) => !to.startsWith('..'))];
      }),
  ),
);

const folderOf = (path: string) => path.slice(0, path.indexOf('/'));

describe('imports of the swarm', () => {
  it('go down only', () => {
    assert.ok((imports.get('bin/swarm.ts') ?? []).length > 5);
    for (const [path, all] of imports) {
      const up = all.filter((to) => folderOf(to) !== folderOf(path) && !BELOW[folderOf(path)].includes(folderOf(to)));
      assert.deepEqual(up, [], path);
    }
  });

  it('run in no circle', () => {
    const done = new Set<string>();
    const follow = (path: string, trail: readonly string[]): void => {
      assert.ok(!trail.includes(path), [...trail.slice(trail.indexOf(path)), path].join(' → '));
      if (done.has(path)) return;
      for (const to of imports.get(path) ?? []) follow(to, [...trail, path]);
      done.add(path);
    };
    for (const path of imports.keys()) follow(path, []);
  });
});

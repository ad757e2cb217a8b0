/** LIMITS.md names the limits of the sources with their values, and tests that exist. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';

const ROOT = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** What is fixed by a format or a system, follows from another limit, or only chooses how something looks. */
const OTHERS = new Set(
  'kClassNameMax kCodeBitsMax kColourBitsMax kDoublingsMax kPathLengthMax kTextWidthMax kWidthMax kWidthMin'.split(' '),
);
const DEVELOPMENT = /_test\.cc$|_fuzz\.cc$|_bench\.cc$|test_|pretend_/;

/** The rows of the tables: folder, name, value as the sources write it, and test. */
const rows = read('LIMITS.md')
  .split(/^## (?=`)/m)
  .flatMap((section) =>
    [...section.matchAll(/^\| `(k\w+)` \| (.+?) \| .+ \| (?:`(.+)`|—) \|$/gm)].map(([, name, value, test]) => ({
      ...{ folder: section.slice(1, section.indexOf('`', 1)), name },
      ...{ value: value.replaceAll(',', ''), test },
    })),
  );

const limits = globSync('{core,posix,win32,x11}/**/*.{h,cc}', { cwd: ROOT })
  .filter((path) => !DEVELOPMENT.test(basename(path)))
  .flatMap((path) =>
    [...read(path).matchAll(/^ *constexpr [\w:]+ (k\w*(?:Max|Min)) = *(?:\/\/.*)?\s*([^;]+);/gm)].map(
      ([, name, value]) => ({
        path,
        name,
        value: value.replaceAll("'", ''),
      }),
    ),
  );

/** Whether a row is about this limit of the sources. A value that the sources compute is not compared. */
function isAbout(row: (typeof rows)[number], { path, name, value }: (typeof limits)[number]): boolean {
  const isSame = row.value === value || !/^[\d.]+$/.test(value);
  return row.name === name && path.startsWith(row.folder) && isSame;
}

describe('LIMITS.md', () => {
  it('has every limit of the sources, with its value', () => {
    assert.ok(limits.length > 150, `${limits.length} limits`);
    const missing = limits.filter((limit) => !OTHERS.has(limit.name) && !rows.some((row) => isAbout(row, limit)));
    assert.deepEqual(missing, []);
  });

  it('has no limit that the sources do not have, and only tests that exist', () => {
    const tests = new Set(
      globSync(['{core,posix,x11}/**/*_test.cc', 'test/*.test.ts'], { cwd: ROOT }).map((path) => basename(path)),
    );
    const wrong = rows.filter(
      (row) => !limits.some((limit) => isAbout(row, limit)) || (row.test !== undefined && !tests.has(row.test)),
    );
    assert.deepEqual(wrong, []);
  });
});

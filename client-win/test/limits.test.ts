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

/** The rows of the tables: name, value as the sources write it, and test. */
const rows = [...read('LIMITS.md').matchAll(/^\| `(k\w+)` \| (.+?) \| .+ \| (?:`(.+)`|—) \|$/gm)].map(
  ([, name, value, test]) => ({ name, value: value.replaceAll(',', ''), test }),
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

describe('LIMITS.md', () => {
  it('has every limit of the sources, with its value', () => {
    assert.ok(limits.length > 150, `${limits.length} limits`);
    const missing = limits.filter(
      ({ name, value }) =>
        !OTHERS.has(name) && !rows.some((row) => row.name === name && (row.value === value || !/^[\d.]+$/.test(value))),
    );
    assert.deepEqual(missing, []);
  });

  it('has no limit that the sources do not have, and only tests that exist', () => {
    const tests = new Set(globSync('{core,posix,x11}/**/*_test.cc', { cwd: ROOT }).map((path) => basename(path)));
    const wrong = rows.filter(
      ({ name, test }) => !limits.some((limit) => limit.name === name) || (test !== undefined && !tests.has(test)),
    );
    assert.deepEqual(wrong, []);
  });
});

/**
 * The patches and their scripts, tested on the source of V8 14.6: the patches have the right form and apply, all or none.
 *
 * patches.long.test.ts compiles them. Without cargo, or when the crate registry can't be reached, all but the form is
 * skipped, and the suite says so.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { CHANGED_FILES, CRATE, FETCH_MS_MAX, FLAGS, PATCHES, patchText, sh, whyNoSource } from './test/patches.ts';

const WHY_NO_SOURCE = await whyNoSource();

const folder = mkdtempSync(join(tmpdir(), 'v8-patches-'));
after(() => rmSync(folder, { recursive: true }));

/** Makes the part of a Node.js source tree that the scripts look at. `edit` may change each of the crate's files. */
function nodeTree(name: string, edit: (file: string, text: string) => string = (_, text) => text): string {
  const tree = join(folder, name);
  for (const file of [...CHANGED_FILES, 'include/v8-version.h']) {
    const to = join(tree, 'deps/v8', file);
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, edit(file, original(file)));
  }
  return tree;
}

/** A file of the crate before it was patched: the working copy with the patches reversed. */
function original(file: string): string {
  const copy = join(folder, 'original');
  if (!existsSync(copy)) {
    for (const changed of CHANGED_FILES) cpSync(join(CRATE, 'v8', changed), join(copy, changed), { recursive: true });
    for (const name of PATCHES.toReversed()) {
      const { status, stdout } = spawnSync('patch', ['-d', copy, '-p1', '-R', '-f', '--fuzz=0'], {
        input: patchText(name),
      });
      assert.equal(status, 0, stdout.toString());
    }
    cpSync(join(CRATE, 'v8/include/v8-version.h'), join(copy, 'include/v8-version.h'), { recursive: true });
  }
  return readFileSync(join(copy, file), 'utf8');
}

const read = (tree: string) => CHANGED_FILES.map((file) => readFileSync(join(tree, 'deps/v8', file), 'utf8'));

describe('V8 patches', { timeout: 2 * FETCH_MS_MAX }, () => {
  it('have the form of git format-patch, a number, a reason, and a flag that is off by default', () => {
    assert.ok(PATCHES.length > 0);
    for (const [at, name] of PATCHES.entries()) {
      const patch = patchText(name);
      assert.ok(name.startsWith(String(at + 1).padStart(4, '0')), name);
      assert.match(
        patch,
        /^From [0-9a-f]{40} Mon Sep 17 00:00:00 2001\nFrom: .+\n(?: .+\n)*Date: .+\nSubject: \[PATCH.*\] v8: /,
      );
      assert.match(patch, /\n---\n .*\|.*\n[\s\S]*\ndiff --git a\/src\//);
      assert.match(patch, /^\+DEFINE_SIZE_T\(\w+, 0,$/m, 'the default changes nothing');
    }
  });

  describe('on the source from the crate registry', { skip: WHY_NO_SOURCE }, () => {
    it('apply without fuzz to the source whose hash is known', async () => {
      const ran = await sh('crate.sh', ['source']);
      assert.equal(ran?.status, 0, ran?.err ?? 'it took too long');
      const flags = readFileSync(join(CRATE, 'v8/src/flags/flag-definitions.h'), 'utf8');
      for (const flag of FLAGS) assert.ok(flags.includes(`DEFINE_SIZE_T(${flag}, 0,`), flag);
    });

    it('apply to the V8 of a Node.js tree, and only once', async () => {
      const tree = nodeTree('whole');
      const before = read(tree);
      assert.equal((await sh('apply.sh', [tree]))?.status, 0);
      const after = read(tree);
      for (const [at, file] of CHANGED_FILES.entries()) {
        assert.notEqual(after[at], before[at], file);
        assert.equal(after[at], readFileSync(join(CRATE, 'v8', file), 'utf8'), `${file} is as in the crate`);
      }
      const again = await sh('apply.sh', [tree]);
      assert.equal(again?.status, 0);
      assert.match(again?.out ?? '', /has the patches already/);
      assert.deepEqual(read(tree), after);
    });

    it('leave a tree with another V8 unchanged, and apply.sh names the version they are for', async () => {
      const tree = nodeTree('older', (_, text) => text.replace('V8_MINOR_VERSION 6', 'V8_MINOR_VERSION 5'));
      const before = read(tree);
      const ran = await sh('apply.sh', [tree]);
      assert.equal(ran?.status, 1);
      assert.match(ran?.err ?? '', /has V8 14\.5; the patches are for V8 14\.6.*Nothing was changed/);
      assert.deepEqual(read(tree), before);
    });

    it('are not applied at all when one of them does not fit', async () => {
      const last = CHANGED_FILES.at(-1) as string;
      const tree = nodeTree('changed', (file, text) => (file === last ? text.replaceAll('External', 'Outer') : text));
      const before = read(tree);
      const ran = await sh('apply.sh', [tree]);
      assert.equal(ran?.status, 1);
      assert.match(ran?.err ?? '', /does not fit.*Nothing was changed/);
      assert.deepEqual(read(tree), before);
    });

    it('are not applied to a folder that is not a Node.js tree, nor by a wrong command line', async () => {
      const ran = await sh('apply.sh', [folder]);
      assert.equal(ran?.status, 1);
      assert.match(ran?.err ?? '', /is not a Node\.js source tree/);
      for (const args of [[], [folder, folder], ['--quietly']]) assert.equal((await sh('apply.sh', args))?.status, 2);
    });

    it('are required by build.sh, which reports time and memory at the end', async () => {
      const tree = nodeTree('built');
      const early = await sh('build.sh', [tree, '1']);
      assert.equal(early?.status, 1);
      assert.match(early?.err ?? '', /apply\.sh/);
      assert.equal((await sh('apply.sh', [tree]))?.status, 0);
      // A stand-in: the real configure and make take two hours.
      writeFileSync(join(tree, 'configure'), '#!/bin/sh\necho {} >config.gypi\n', { mode: 0o755 });
      const options = FLAGS.map((flag) => `--${flag.replaceAll('_', '-')}`).join(' ');
      writeFileSync(
        join(tree, 'Makefile'),
        `all:\n\tprintf '#!/bin/sh\\necho v26.0.0 ${options}\\n' >node; chmod +x node; sleep 1.5\n`,
      );
      const ran = await sh('build.sh', [tree, '1']);
      assert.equal(ran?.status, 0, ran?.err ?? 'it took too long');
      assert.match(ran?.out ?? '', /Built in 0 min \d+ s with 1 jobs; at most -?\d+ MiB of memory\./);
    });
  });
});

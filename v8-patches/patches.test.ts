/**
 * The patches held against V8 14.6 itself, which the crate registry has: they apply, compile, and do what they say of flags.
 *
 * What is fetched and compiled stays in build/v8, so only the first run takes minutes. Where cargo or clang 19 is missing
 * the suite is skipped and says so, as where the registry can't be reached; a first compilation that takes longer than its bound goes on with the next run.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, describe, it } from 'node:test';

const FOLDER = import.meta.dirname;
const CRATE = join(FOLDER, '../build/v8/crate');
const CLANG = '/usr/lib/llvm-19/bin/clang++';

/** The first compilation may take so long in one run of the suites, in ms. */
const COMPILE_MS_MAX = 240_000;
const FETCH_MS_MAX = 120_000;

/** How crate.sh ends when the registry does not give the crate. */
const UNFETCHED = 3;

const PATCHES = readdirSync(FOLDER).filter((name) => /^\d{4}-.*\.patch$/.test(name));
const patchText = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
const FLAGS = PATCHES.flatMap((name) =>
  [...patchText(name).matchAll(/^\+DEFINE_\w+\((\w+),/gm)].map(([, flag]) => flag),
);
const TOUCHED = [
  ...new Set(PATCHES.flatMap((name) => [...patchText(name).matchAll(/^\+\+\+ b\/(.*)$/gm)].map(([, file]) => file))),
];

const missing = (...programs: string[]) =>
  programs.find((program) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0);

interface Ran {
  status: number | null;
  out: string;
  err: string;
}

/** Runs one of the scripts here; undefined when it took too long, and it and its children are ended. */
async function sh(script: string, args: string[], msMax = FETCH_MS_MAX): Promise<Ran | undefined> {
  const child = spawn('sh', [join(FOLDER, script), ...args], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let late = false;
  const bound = setTimeout(() => {
    late = true;
    process.kill(-(child.pid as number), 'SIGTERM');
  }, msMax);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [out, err, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  clearTimeout(bound);
  return late ? undefined : { status, out, err };
}

/** Why there is nothing to hold the patches against; undefined when the source is there, patched. */
async function whyNoSource(): Promise<string | undefined> {
  const lacking = missing('cargo', 'patch');
  if (lacking) return `${lacking} is missing, so the patches are not held against V8`;
  const ran = await sh('crate.sh', ['source']);
  if (!ran) return `the crate registry did not answer within ${FETCH_MS_MAX / 1000} s`;
  return ran.status === UNFETCHED ? ran.err.trim().split('\n').at(-1) : undefined;
}

function whyNoObjects(): string | undefined {
  const lacking = missing(CLANG, 'gn', 'ninja', 'python3', 'ld.lld-19');
  const packages = 'clang-19 lld-19 llvm-19 generate-ninja ninja-build python3';
  return lacking && `${lacking} is missing, so the patches are not compiled: apt-get install ${packages}`;
}

const WHY_NO_SOURCE = await whyNoSource();
const WHY_NO_OBJECTS = WHY_NO_SOURCE ?? whyNoObjects();

const folder = mkdtempSync(join(tmpdir(), 'v8-patches-'));
after(() => rmSync(folder, { recursive: true }));

/** A Node.js source tree, as far as the patches look at one: what `content` makes of each file of the crate's V8. */
function nodeTree(name: string, content: (file: string, text: string) => string = (_, text) => text): string {
  const tree = join(folder, name);
  for (const file of [...TOUCHED, 'include/v8-version.h']) {
    const to = join(tree, 'deps/v8', file);
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, content(file, original(file)));
  }
  return tree;
}

/** A file as the crate has it: the working copy without the patches. */
function original(file: string): string {
  const copy = join(folder, 'original');
  if (!existsSync(copy)) {
    for (const touched of TOUCHED) cpSync(join(CRATE, 'v8', touched), join(copy, touched), { recursive: true });
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

const read = (tree: string) => TOUCHED.map((file) => readFileSync(join(tree, 'deps/v8', file), 'utf8'));

describe('the patches of V8', { timeout: FETCH_MS_MAX + COMPILE_MS_MAX }, () => {
  it('are in the form of git format-patch, numbered, each with its reason and a flag that is off', () => {
    assert.ok(PATCHES.length > 0);
    for (const [at, name] of PATCHES.entries()) {
      const patch = patchText(name);
      assert.ok(name.startsWith(String(at + 1).padStart(4, '0')), name);
      assert.match(
        patch,
        /^From [0-9a-f]{40} Mon Sep 17 00:00:00 2001\nFrom: .+\n(?: .+\n)*Date: .+\nSubject: \[PATCH.*\] v8: /,
      );
      assert.match(patch, /\n---\n .*\|.*\n[\s\S]*\ndiff --git a\/src\//);
      assert.match(patch, /^\+DEFINE_SIZE_T\(\w+, 0,$/m, 'its default is to leave all as it was');
    }
  });

  describe('on the source of the crate registry', { skip: WHY_NO_SOURCE }, () => {
    it('apply without fuzz, to the source whose hash is known', async () => {
      const ran = await sh('crate.sh', ['source']);
      assert.equal(ran?.status, 0, ran?.err ?? 'it took too long');
      const flags = readFileSync(join(CRATE, 'v8/src/flags/flag-definitions.h'), 'utf8');
      for (const flag of FLAGS) assert.ok(flags.includes(`DEFINE_SIZE_T(${flag}, 0,`), flag);
    });

    it('apply to the V8 of a Node.js tree, and once only', async () => {
      const tree = nodeTree('whole');
      const before = read(tree);
      assert.equal((await sh('apply.sh', [tree]))?.status, 0);
      const after = read(tree);
      for (const [at, file] of TOUCHED.entries()) {
        assert.notEqual(after[at], before[at], file);
        assert.equal(after[at], readFileSync(join(CRATE, 'v8', file), 'utf8'), `${file} is as in the crate`);
      }
      const again = await sh('apply.sh', [tree]);
      assert.equal(again?.status, 0);
      assert.match(again?.out ?? '', /has the patches already/);
      assert.deepEqual(read(tree), after);
    });

    it('leave a tree of another V8 as it is, and say which one they are for', async () => {
      const tree = nodeTree('older', (_, text) => text.replace('V8_MINOR_VERSION 6', 'V8_MINOR_VERSION 5'));
      const before = read(tree);
      const ran = await sh('apply.sh', [tree]);
      assert.equal(ran?.status, 1);
      assert.match(ran?.err ?? '', /has V8 14\.5; the patches are for V8 14\.6.*Nothing was changed/);
      assert.deepEqual(read(tree), before);
    });

    it('are all left out when one of them does not fit', async () => {
      const last = TOUCHED.at(-1) as string;
      const tree = nodeTree('changed', (file, text) => (file === last ? text.replaceAll('External', 'Outer') : text));
      const before = read(tree);
      const ran = await sh('apply.sh', [tree]);
      assert.equal(ran?.status, 1);
      assert.match(ran?.err ?? '', /does not fit.*Nothing was changed/);
      assert.deepEqual(read(tree), before);
    });

    it('are refused by what is no Node.js tree, and by a command line that names none', async () => {
      const ran = await sh('apply.sh', [folder]);
      assert.equal(ran?.status, 1);
      assert.match(ran?.err ?? '', /is no Node\.js source tree/);
      for (const args of [[], [folder, folder], ['--quietly']]) assert.equal((await sh('apply.sh', args))?.status, 2);
    });

    it('are built only where they are in, with what it took at the end', async () => {
      const tree = nodeTree('built');
      const early = await sh('build.sh', [tree, '1']);
      assert.equal(early?.status, 1);
      assert.match(early?.err ?? '', /apply\.sh/);
      assert.equal((await sh('apply.sh', [tree]))?.status, 0);
      // Stands in for the two hours of a real one.
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

  it('compile, and their flags are in the objects', { skip: WHY_NO_OBJECTS }, async (t) => {
    const ran = await sh('crate.sh', ['objects'], COMPILE_MS_MAX);
    if (!ran) {
      t.skip(`V8 was not compiled far enough within ${COMPILE_MS_MAX / 60_000} min; the next run goes on from there`);
      return;
    }
    assert.equal(ran.status, 0, ran.err);
    const objects = ran.out.trim().split('\n');
    const sources = TOUCHED.filter((file) => file.endsWith('.cc')).map((file) =>
      file.replace(/.*\/(.*)\.cc$/, '/$1.o'),
    );
    for (const source of [...sources, '/flags.o'])
      assert.ok(
        objects.some((path) => path.endsWith(source)),
        source,
      );
    const flagsObject = readFileSync(objects.find((path) => path.endsWith('/flags.o')) as string, 'latin1');
    // V8 keeps a flag's name as it is defined; dashes are taken for underscores when it is read.
    for (const flag of FLAGS)
      assert.ok(flagsObject.includes(flag) || flagsObject.includes(flag.replaceAll('_', '-')), flag);
  });
});

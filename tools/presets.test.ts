import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { flagsIn, HEAP_MIB_LEAST, presetFor, whyNot } from './presets.js';

const GIB = 1024;

/** Whether Node runs with these flags, and for long enough to load something. */
const runs = (flags: string[]) => spawnSync(process.execPath, [...flags, '-e', 'require("node:http")']).status === 0;

const flagsFor = (gib: number, front = 'portable', own: string[] = []) => presetFor(gib * GIB, front, own).flags;

describe('a preset', () => {
  it('gives the old space three eighths of the memory, on machines of 8, 16 and 64 GB', () => {
    const oldSpace = (gib: number) => flagsFor(gib).find((flag: string) => flag.startsWith('--max-old-space-size'));
    assert.equal(oldSpace(8), '--max-old-space-size=3072');
    assert.equal(oldSpace(16), '--max-old-space-size=6144');
    assert.equal(oldSpace(64), '--max-old-space-size=24576');
  });

  it('gives the old space of a small container what the relay needs at the least', () => {
    const oldSpace = (mib: number) => presetFor(mib, 'portable').flags[0];
    const least = (HEAP_MIB_LEAST * 8) / 3;
    assert.equal(oldSpace(least / 2), `--max-old-space-size=${HEAP_MIB_LEAST}`);
    assert.equal(oldSpace(least), `--max-old-space-size=${HEAP_MIB_LEAST}`);
    assert.equal(oldSpace(least * 2), `--max-old-space-size=${HEAP_MIB_LEAST * 2}`);
  });

  it('names the memory it is for, that of a small container in MiB', () => {
    for (const [mib, memory] of [
      [400, '400 MiB'],
      [2 * GIB - 1, '2047 MiB'],
      [2 * GIB, '2 GiB'],
      [7.7 * GIB, '8 GiB'],
    ] as const) {
      assert.equal(presetFor(mib, 'portable').name, `portable front, ${memory}`);
    }
  });

  it('sizes no old space for the native front, whose polls are not on it, and keeps its young space small', () => {
    for (const gib of [4, 16, 64]) {
      const sizes = flagsFor(gib, 'native').filter((flag: string) => flag.includes('-size'));
      assert.deepEqual(sizes, ['--max-semi-space-size=8']);
    }
  });

  it('collects the old space of the native front early, and leaves that of the portable front to V8', () => {
    assert.ok(flagsFor(16, 'native').includes('--heap-growing-percent=40'));
    assert.ok(!flagsFor(16, 'portable').join(' ').includes('--heap-growing-percent'));
  });

  it('always lets the admin port collect', () => {
    for (const front of ['native', 'portable']) assert.ok(flagsFor(16, front).includes('--expose-gc'));
  });

  it('leaves out what the operator names himself, however he writes it', () => {
    for (const own of [['--max_old_space_size=1000'], ['--max-old-space-size=1000', '--no-memory-reducer']]) {
      const flags = flagsFor(16, 'portable', own);
      assert.ok(!flags.some((flag: string) => flag.startsWith('--max-old-space-size')));
      assert.ok(flags.includes('--expose-gc'));
    }
  });

  it('leaves the sizes to an operator who gives the whole heap its size', () => {
    for (const own of [['--max-heap-size=2000'], ['--max-old-space-size-percentage=40']]) {
      const flags = flagsFor(16, 'portable', own);
      assert.ok(!flags.join(' ').includes('-space-size='));
      assert.equal(whyNot([...flags, ...own]), undefined);
      assert.ok(runs([...flags, ...own]), own.join(' '));
    }
  });

  it('is one that Node runs with', () => {
    for (const gib of [4, 8, 16, 64]) {
      for (const front of ['native', 'portable']) assert.ok(runs(flagsFor(gib, front)), `${gib} GiB, ${front}`);
    }
  });
});

describe('flags that V8 would abort on', () => {
  it('are refused with what to do: all three sizes of the heap', () => {
    const sizes = ['--max-heap-size=1000', '--max-old-space-size=800', '--max_semi_space_size=16'];
    assert.match(String(whyNot(sizes)), /max-heap-size.*max-old-space-size.*max-semi-space-size.*leave one out/);
    assert.ok(!runs(sizes), 'V8 aborts indeed');
    for (let left = 0; left < sizes.length; left++) assert.equal(whyNot(sizes.toSpliced(left, 1)), undefined);
  });

  it('are refused: a heap below the least, and taken from there on', () => {
    for (const name of ['--max-old-space-size', '--max-heap-size']) {
      assert.match(String(whyNot([`${name}=${HEAP_MIB_LEAST - 1}`])), /64 MiB at the least/);
      assert.equal(whyNot([`${name}=${HEAP_MIB_LEAST}`]), undefined);
      assert.equal(whyNot([`${name}=${HEAP_MIB_LEAST + 1}`]), undefined);
      assert.equal(whyNot([`${name}=0`]), undefined, '0 is V8’s own choice');
    }
  });

  it('are refused: sizes that are no number', () => {
    for (const value of ['4g', '-1', '', '1.5']) {
      assert.match(String(whyNot([`--max-old-space-size=${value}`])), /whole number of MiB/);
    }
    assert.match(String(whyNot(['--max-semi-space-size'])), /whole number of MiB/);
  });

  it('are refused: those of older V8s, with what became of them', () => {
    assert.match(String(whyNot(['--nouse-idle-notification'])), /gone from V8; leave it out/);
    assert.match(String(whyNot(['--nouse_idle_notification'])), /gone/);
    assert.ok(!runs(['--nouse-idle-notification']), 'Node refuses it indeed');
  });

  it('stop the launcher before anything is started', () => {
    const env = {
      ...process.env,
      NODE_OPTIONS: '--max-old-space-size=800',
      SPRITES_NODE_FLAGS: '--max-heap-size=900 --max-semi-space-size=16',
    };
    const command = [join(import.meta.dirname, 'launch.js'), 'relay', '--front=portable'];
    const { status, stderr } = spawnSync(process.execPath, command, { env, encoding: 'utf8' });
    assert.equal(status, 2, stderr);
    assert.match(stderr, /SPRITES_NODE_FLAGS.*leave one out/);
  });
});

describe('flags in a variable', () => {
  it('are its words', () => {
    assert.deepEqual(flagsIn(undefined), []);
    assert.deepEqual(flagsIn('  --a=1   --b '), ['--a=1', '--b']);
  });
});

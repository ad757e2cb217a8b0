import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { presetFor } from '../../tools/presets.js';
import { connectionsFor } from '../front/file_limit.ts';
import {
  connectionsForDesktops,
  memoryBytes,
  pollsByHeap,
  pollsByMemory,
  slabBytes,
  whyFewerPolls,
} from './capacity.ts';

describe('the capacity of a portable front under its preset', () => {
  it('has room on the heap for every poll the memory carries, and leaves half of the machine to the rest', () => {
    for (const gib of [2, 8, 16, 64, 512]) {
      const { flags } = presetFor(gib * 1024, 'portable', []);
      const sizes = Object.fromEntries(flags.map((flag: string) => flag.slice(2).split('=')));
      const heapMiB = Number(sizes['max-old-space-size']);
      const bytes = heapMiB * 2 ** 20;
      assert.ok(pollsByHeap('portable', bytes) >= pollsByMemory('portable', gib * 2 ** 30), `${gib} GiB`);
      assert.ok(heapMiB < (gib * 1024) / 2, `${heapMiB} MiB of ${gib} GiB`);
    }
  });
});

describe('the memory to plan with', () => {
  const GIB = 2 ** 30;

  it('is that of the machine, or of the container when that has less', () => {
    const machine = 8 * GIB;
    assert.equal(memoryBytes(0, machine), machine, 'no limit, or an unknown one');
    assert.equal(memoryBytes(2 ** 64, machine), machine, 'how some systems say that there is none');
    assert.equal(memoryBytes(GIB / 2, machine), GIB / 2);
    assert.equal(memoryBytes(machine - 1, machine), machine - 1);
    assert.equal(memoryBytes(machine + 1, machine), machine);
  });

  it('bounds the slab: an eighth of it, at most 2 GiB', () => {
    assert.equal(slabBytes(GIB / 2), GIB / 16);
    assert.equal(slabBytes(16 * GIB - 8), 2 * GIB - 1);
    assert.equal(slabBytes(16 * GIB), 2 * GIB);
    assert.equal(slabBytes(64 * GIB), 2 * GIB);
  });

  it('bounds the polls', () => {
    assert.equal(pollsByMemory('portable', GIB / 2), Math.floor(((GIB / 2) * 0.8) / 24_000));
  });
});

describe('a relay that was asked for more desktops than can hold a poll', () => {
  const room = { connections: 1000, byMemory: Number.POSITIVE_INFINITY, byHeap: Number.POSITIVE_INFINITY };

  it('says so, and not when all of them can', () => {
    for (const desktops of [1, 999, 1000]) assert.equal(whyFewerPolls(desktops, room), undefined);
    assert.match(String(whyFewerPolls(1001, room)), /^--max-desktops is 1001, but only 1000 desktops can hold a long-/);
  });

  it('says what has no room for them, and what to do', () => {
    const why = (limits: object) => String(whyFewerPolls(5000, { ...room, ...limits }));
    assert.match(why({}), /file limit .*"ulimit -n \d+"/);
    assert.match(why({ byMemory: 1000 }), /memory of the machine/);
    assert.match(why({ byHeap: 1000 }), /--max-old-space-size/);
  });

  it('names a file limit that is enough', () => {
    const [, files] = /ulimit -n (\d+)/.exec(String(whyFewerPolls(5000, room))) ?? [];
    assert.ok(connectionsFor(Number(files)) >= connectionsForDesktops(5000), files);
  });
});

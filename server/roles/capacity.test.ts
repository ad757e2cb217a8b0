import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { presetFor } from '../../tools/presets.js';
import { pollsByHeap, pollsByMemory } from './capacity.ts';

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

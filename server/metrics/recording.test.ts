/** Recordings of a process, as far as no process is needed. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { withoutStrays } from './recording.ts';

it('a profile of allocations has no sample whose node is not in its tree', () => {
  const head = { id: 1, children: [{ id: 2, children: [{ id: 3, children: [] }] }] };
  const samples = [1, 2, 3, 123].map((nodeId, ordinal) => ({ nodeId, size: 40, ordinal }));
  assert.deepEqual(withoutStrays({ head, samples }), { head, samples: samples.slice(0, 3) });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ClusterRow } from '../../wire/peers/cluster_document.ts';
import { cellsOf } from './cluster.ts';

const ROW: ClusterRow = {
  ...{
    relay: 'r2',
    state: 'here',
    desktops: 12_345,
    silentMs: 250,
    agrees: true,
    passed: 20,
    received: 30,
    inDoubt: 1,
  },
  ...{ verdicts: 10, verdictMs: 25 },
};

describe('a row of the cluster', () => {
  it('has what went to a relay and came from it, and the mean time to its verdicts', () => {
    assert.deepEqual(cellsOf(ROW, 'r1'), ['r2', 'here', '12,345', '20', '30', '1', '2.5 ms']);
  });

  it('has the time to verdict since the row before, or since the start of a relay that was started again', () => {
    const time = (before: Partial<ClusterRow>) => cellsOf(ROW, 'r1', { ...ROW, ...before }).at(-1);
    assert.equal(time({ verdicts: 8, verdictMs: 5 }), '10.0 ms');
    assert.equal(time({}), '–', 'there was none');
    assert.equal(time({ verdicts: 11, verdictMs: 500 }), '2.5 ms');
    assert.equal(cellsOf({ ...ROW, verdicts: 0, verdictMs: 0 }, 'r1').at(-1), '–');
  });

  it('says how long a relay has been silent', () => {
    assert.equal(cellsOf({ ...ROW, state: 'gone', silentMs: 12_400 }, 'r1')[1], 'gone, silent for 12 s');
  });

  it('of the relay itself has only its state and desktops', () => {
    assert.deepEqual(cellsOf(ROW, 'r2'), ['r2 (this one)', 'here', '12,345', '', '', '', '']);
  });
});

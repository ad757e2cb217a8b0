import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CLUSTER_CORES_MIN, planWorkers } from './workers.ts';

describe('planWorkers', () => {
  it('gives a relay one process where a cluster would have no core of its own, and says why', () => {
    for (let cores = 1; cores < CLUSTER_CORES_MIN; cores++) {
      const { count, reason } = planWorkers('auto', cores);
      assert.equal(count, 0);
      assert.match(reason, new RegExp(`^this process may use ${cores} core(s?),`));
    }
  });

  it('leaves the master one of the cores from then on', () => {
    for (const cores of [CLUSTER_CORES_MIN, CLUSTER_CORES_MIN + 1, 64]) {
      assert.equal(planWorkers('auto', cores).count, cores - 1);
    }
  });

  it('does what it is asked for, whatever the machine', () => {
    for (const wanted of [0, 1, 5]) {
      const plan = planWorkers(wanted, 2);
      assert.deepEqual([plan.count, plan.reason], [wanted, `asked for by --workers ${wanted}`]);
    }
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomOf } from '../test/random.ts';
import { GOOD, type Outcomes, PretendCluster, type PretendOptions } from './pretend_cluster.ts';

const BAD = { lost: 0.05, late: 0.2, repeated: 0.2, lateMs: 1000 };

function clusterOf(more: Partial<PretendOptions>): PretendCluster {
  const options = { relays: 8, desktops: 20_000, seed: 1, network: GOOD, staySeconds: 60, joinsPerSecond: 0, ...more };
  const cluster = new PretendCluster(options);
  cluster.run(3_000);
  assert.ok(cluster.knowsAll());
  return cluster;
}

/** Checks that every crossing has one outcome, except for the few that are on their way at the beginning or the end. */
function accounted({ crossings, within, across, refused, inDoubt }: Outcomes): void {
  assert.ok(
    Math.abs(within + across + refused + inDoubt - crossings) <= 50,
    JSON.stringify({ crossings, within, across }),
  );
}

describe('pretend cluster', () => {
  it('gives the same run for the same seed, and another one for another seed', () => {
    const run = (seed: number) => {
      const cluster = clusterOf({ seed, network: BAD });
      cluster.run(2_000);
      return cluster.outcomes();
    };
    assert.deepEqual(run(7), run(7));
    assert.notDeepEqual(run(7), run(8));
  });

  it('agrees, and every crossing between relays leads back, on a good network without joins and leaves', (t) => {
    const cluster = clusterOf({ seed: Math.floor(randomOf(t)() * 2 ** 31), staySeconds: Number.POSITIVE_INFINITY });
    cluster.outcomes();
    cluster.run(3_000);
    const outcomes = cluster.outcomes();
    accounted(outcomes);
    assert.equal(outcomes.looksAgreed, outcomes.looks);
    assert.ok(outcomes.border > 1_000 && outcomes.across > 100);
    const { otherView, elsewhere, noReturn, lastDesktop, refused, inDoubt } = outcomes;
    assert.deepEqual([otherView, elsewhere, noReturn, lastDesktop, refused, inDoubt], [0, 0, 0, 0, 0, 0]);
  });

  it('accounts for every crossing when heartbeats are lost, late and repeated, and relays die, drain, join and are cut off', (t) => {
    const cluster = clusterOf({ seed: Math.floor(randomOf(t)() * 2 ** 31), network: BAD });
    cluster.outcomes();
    const known = () => {
      const ms = cluster.run(20_000, () => cluster.knowsAll());
      assert.ok(ms < 20_000, 'not all relays know all others');
      accounted(cluster.outcomes());
      return ms;
    };
    cluster.run(1_000);
    cluster.kill([0, 3]);
    assert.ok(known() > 9_000, 'silence is not death at once');
    cluster.drain([1]);
    assert.ok(known() < 4_000);
    cluster.add();
    known();
    cluster.divide((relay) => relay % 2);
    known();
    cluster.divide(() => 0);
    assert.ok(known() < 4_000);
    assert.equal(cluster.relays.filter(({ alive }) => alive).length, 6);
  });
});

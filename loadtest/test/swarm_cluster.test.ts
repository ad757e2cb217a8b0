/** The swarm on three relays that share one world: sprites cross between them, and one account is over all. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Cluster, startCluster } from '../../tools/bench/cluster.ts';
import { runEngine } from '../../tools/bench/engine_run.ts';
import { whyNoNats } from '../../tools/bench/nats_server.ts';
import { buildEngine } from '../../tools/build.js';
import type { EnginePlan } from '../../tools/engine_plan.ts';
import { VERSION } from '../../tools/version.js';
import { folderOf, reportIn, swarm } from './command.ts';
import { hostsIn } from './local_hosts.ts';

const why = whyNoNats() || (buildEngine() ?? false);

describe('the swarm on a cluster', { skip: why, timeout: 900_000 }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startCluster({ name: 'relay', front: 'portable', workers: 0 }, 3);
  });
  after(() => cluster?.stop());

  it('accounts for every sprite over all relays, while desktops leave and come back', async (t) => {
    const out = folderOf(t);
    const { relays, tokenFiles } = cluster;
    const urls = relays.map(({ api }) => `http://127.0.0.1:${api}`);
    const before = await Promise.all(relays.map((relay) => relay.metrics()));
    const { code, stdout } = await swarm([
      ...['--urls', urls.join(','), '--admin-token-file', tokenFiles.join(',')],
      ...['--admin-url', relays.map(({ admin }) => `http://127.0.0.1:${admin}`).join(',')],
      ...['--watch-pids', relays.flatMap(({ pids }) => pids).join(',')],
      ...['--desktops', '60', '--mix', 'throwing=40,sitting=15,churning=5', '--act-every', '1s', '--rate', '200'],
      ...['--duration', '5s', '--drain', '30s', '--slip-max', '10s', '--out', out],
      ...['--threshold', 'lost == 0', '--threshold', 'duplicated == 0', '--threshold', 'misrouted == 0'],
    ]);
    const report = reportIn(out);
    assert.equal(code, 0, stdout);
    assert.ok(report.across > 0, 'sprites came from other relays');
    assert.equal(report.delivered, report.accepted);
    assert.equal(report.corrupted + report.foreign + report.undelivered, 0);
    assert.match(stdout, /3 relays of one cluster: http.*, http.*, http/);
    assert.match(stdout, /\d+ from other relays/);
    const accepted = await Promise.all(
      relays.map(async (relay, n) => {
        const count = (metrics: Map<string, number>) => metrics.get('sprites_accepted_total') ?? 0;
        return count(await relay.metrics()) - count(before[n]);
      }),
    );
    assert.equal(
      accepted.reduce((sum, n) => sum + n, 0),
      report.accepted,
      'the relays count the same',
    );
    assert.ok(
      accepted.every((n) => n > report.accepted / 6),
      `each has its share: ${accepted}`,
    );
    assert.ok((report.relay.rssBytes ?? 0) > 3 * 2 ** 25, 'the memory of three');
    // The swarm says what it is, and its version. The row stays when its desktops have left.
    const kinds = [...(await relays[0].metrics()).keys()].filter((name) => name.startsWith('sprites_client_desktops'));
    assert.ok(kinds.includes(`sprites_client_desktops{client="swarm",version="${VERSION}"}`), kinds.join(' '));
  });

  it('is of several machines, too, which play in the one world', async (t) => {
    const out = folderOf(t);
    const urls = cluster.relays.map(({ api }) => `http://127.0.0.1:${api}`);
    const { code, stdout } = await swarm([
      ...['--urls', urls.join(','), ...hostsIn(folderOf(t), 2), '--desktops', '60', '--rate', '200', '--drain', '4s'],
      ...['--duration', '3s', '--slip-max', '10s', '--threshold', 'lost == 0', '--threshold', 'duplicated == 0'],
      ...['--out', out],
    ]);
    const report = reportIn(out);
    assert.equal(code, 0, stdout);
    assert.ok((report.visitors ?? 0) > report.accepted / 10, `sprites came from other machines: ${report.visitors}`);
    assert.deepEqual([report.delivered, report.foreign, report.misrouted], [report.accepted, 0, 0]);
  });

  it('throws only to other relays, or only within one, when a bench wants to know what each costs', async () => {
    const load: Partial<EnginePlan> = {
      ...{ mix: { throwing: 48 }, load: { kind: 'rate', perSecond: 300 } },
      ...{ warmUp: 3, duration: 2, drain: 30, leave: true },
    };
    for (const toward of ['across', 'within'] as const) {
      const { across, delivered, window } = await runEngine(cluster.relays, { ...load, toward });
      const inWindow = window.deliveredPerS * window.seconds;
      const share = toward === 'across' ? across : delivered - across;
      assert.ok(share >= 0.9 * inWindow, `${toward}: ${share} of ${inWindow}`);
    }
  });
});

/** The swarm on three relays, of which one stops for good while sprites fly: its desktops go on at the others, and the account is whole. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, startCluster } from '../../tools/bench/cluster.ts';
import { freePorts } from '../../tools/bench/free_ports.ts';
import { whyNoNats } from '../../tools/bench/nats_server.ts';
import { buildEngine } from '../../tools/build.js';
import { folderOf, reportIn, swarm } from './command.ts';

const why = whyNoNats() || (buildEngine() ?? false);

/** Accepted sprites after which the relay stops. */
const ENOUGH = 50;

describe('the swarm on a cluster of which a relay stops for good', { skip: why, timeout: 900_000 }, () => {
  let cluster: Cluster;
  before(async () => {
    const ports = [];
    for (let n = 0; n < 3; n++) {
      const [api, events, admin] = await freePorts(3);
      ports.push({ api, events, admin });
    }
    cluster = await startCluster({ name: 'relay', front: 'portable', workers: 0 }, 3, ports);
  });
  after(() => cluster?.stop());

  it('moves its desktops, counts them, and loses and doubles nothing', async (t) => {
    const out = folderOf(t);
    const { relays } = cluster;
    const running = swarm([
      ...['--urls', relays.map(({ api }) => `http://127.0.0.1:${api}`).join(','), '--desktops', '60'],
      ...['--mix', 'throwing=45,sitting=15', '--rate', '60', '--duration', '25s', '--drain', '60s'],
      ...['--slip-max', '10s', '--out', out],
      ...['--threshold', 'lost == 0', '--threshold', 'duplicated == 0', '--threshold', 'misrouted == 0'],
    ]);
    const accepted = async () => (await relays[0].metrics()).get('sprites_accepted_total') ?? 0;
    while ((await accepted()) < ENOUGH) await sleep(50);
    await relays[0].stop();
    const { code, stdout } = await running;
    assert.equal(code, 0, stdout);
    const report = reportIn(out);
    assert.equal(report.joins.moved, 20, 'a third of the desktops');
    assert.ok(report.delivered >= report.accepted, `${report.delivered} of ${report.accepted}`);
    assert.equal(report.undelivered + report.corrupted + report.foreign, 0);
    assert.match(stdout, /20 moved to another relay/);
  });
});

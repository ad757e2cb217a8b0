/**
 * Three relays and NATS, while a worker is killed and the links to NATS stall, break and are slow: no sprite is lost or doubled.
 *
 * All the time each relay's own account is exact: accepted = acknowledged + waiting + abandoned. At the end, the sum over the relays is
 * what the throwers were told.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { NatsServer, whyNoNats } from '../../tools/bench/nats_server.ts';
import { FaultyLink } from '../bench/faulty_link.ts';
import { Crowd } from './crowd.ts';
import { randomOf } from './random.ts';
import { BOUNDED, type RelayProcess, startRelay, until } from './relay_process.ts';

const DESKTOPS_EACH = 4;
const REST_MS = 40;

/** How often the accounts are read, in ms. */
const READ_MS = 100;

/** A slow NATS: each message is this late, and each way has so many bytes in a ms. A frame of 30 sprites takes another 0.5 s. */
const SLOW = { delayMs: 300, bytesPerMs: 20 };

describe('a cluster with faults', { ...BOUNDED, skip: whyNoNats() }, () => {
  const relays: RelayProcess[] = [];
  const links: FaultyLink[] = [];
  const crowd = new Crowd();
  let nats: NatsServer;

  const account = async (relay: RelayProcess) => {
    const metrics = await relay.metrics();
    return (name: string) => metrics.get(`sprites_${name}`) as number;
  };
  const sum = async (name: string) => {
    const each = await Promise.all(relays.map(async (relay) => (await account(relay))(name)));
    return each.reduce((all, one) => all + one, 0);
  };

  before(async () => {
    nats = await NatsServer.start();
    for (const workers of [0, 1, 0]) {
      const link = await FaultyLink.to(() => nats.port);
      links.push(link);
      const args = ['--nats', `nats://127.0.0.1:${link.port}`, '--relay-name', `r${links.length}`];
      relays.push(await startRelay({ workers, args }));
    }
    await until('every relay knows the two others', async () => (await sum('peers')) === 6);
    for (const relay of relays) await crowd.join(relay.url, DESKTOPS_EACH);
  });
  after(async () => {
    await crowd.stop();
    for (const relay of relays) await relay.stop();
    for (const link of links) link.close();
    await nats?.kill();
  });

  it('loses no accepted sprite and delivers none twice', async (t) => {
    const [r1, r2] = relays;
    const [link1, , link3] = links;
    let readings = 0;
    let isOver = false;
    const auditor = (async () => {
      for (; !isOver; readings++) {
        for (const relay of relays) {
          const of = await account(relay);
          assert.equal(of('accepted_total'), of('acknowledged_total') + of('waiting') + of('abandoned_total'));
        }
        await sleep(READ_MS);
      }
    })();
    const repeatsOf = async (relay: RelayProcess) => (await account(relay))('peers_repeats_total');
    /** Until a sprite of every relay has been accepted by another one, from now on. */
    const allPass = async () => {
      const passed = () => Promise.all(relays.map(async (relay) => (await account(relay))('peers_passed_total')));
      const before = await passed();
      await until('sprites leave every relay', async () => (await passed()).every((count, n) => count > before[n]));
    };
    try {
      await crowd.throwDuring(randomOf(t), REST_MS, async () => {
        await allPass();

        const [victim] = r2.pids.workers; // the only one
        r2.kill(victim, 'SIGKILL');
        await until('another worker is ready', () => r2.pids.workers.length === 1 && r2.pids.workers[0] !== victim);
        await allPass();

        // A short stall: frames are sent again, and then all copies arrive.
        let repeats = await repeatsOf(r1);
        link1.stall();
        await until('r1 has sent a frame again', async () => (await repeatsOf(r1)) > repeats);
        link1.resume();
        await allPass();

        // A cut: the connection is given up, what was on the way is lost, and r1 connects again.
        repeats = await repeatsOf(r1);
        link1.stall();
        await until('r1 knows that NATS is gone', async () => (await account(r1))('peers_connected') === 0);
        link1.break();
        link1.resume();
        await until('r1 is back', async () => (await account(r1))('peers_connected') === 1);
        await allPass();
        assert.ok((await repeatsOf(r1)) > repeats, 'what had no verdict was sent again');

        // Frames and answers break off at any byte.
        link3.break();
        await allPass();

        Object.assign(link3, SLOW);
        await allPass();
        await allPass();
        Object.assign(link3, { delayMs: 0, bytesPerMs: Number.POSITIVE_INFINITY });
      });
      await until('all that was accepted is acknowledged', async () => {
        return (await sum('waiting')) === 0 && (await sum('peers_in_doubt')) === 0;
      });
    } finally {
      isOver = true;
    }
    await auditor;
    await crowd.assertConservedBy(sum);
    t.diagnostic(
      `${crowd.accepted.size} sprites, ${await sum('peers_passed_total')} over relays, ${crowd.retries} retries, ` +
        `${await sum('peers_repeats_total')} frames sent again, ${readings} readings of the accounts`,
    );
  });
});

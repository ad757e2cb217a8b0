/** A relay starts under the name of one that runs, while a desktop of another relay throws: the older one stops, and each throw has one outcome. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { NatsServer, whyNoNats } from '../../tools/bench/nats_server.ts';
import { crossingOf, join, poll, post } from './desktop_client.ts';
import { BOUNDED, type RelayProcess, startRelay, until } from './relay_process.ts';

/** Time between two throws, in ms: below the rate that one desktop may have. */
const REST_MS = 60;

describe('two relays of one name, a third one and NATS', { ...BOUNDED, skip: whyNoNats() }, () => {
  let nats: NatsServer;
  const relays: RelayProcess[] = [];

  const start = async (name: string) => {
    const relay = await startRelay({
      workers: 0,
      args: ['--nats', nats.url, '--relay-name', name],
    });
    relays.push(relay);
    return relay;
  };
  const metric = async (relay: RelayProcess, name: string) => (await relay.metrics()).get(`sprites_${name}`) as number;

  before(async () => {
    nats = await NatsServer.start();
  });
  after(async () => {
    for (const relay of relays) await relay.stop();
    await nats?.kill();
  });

  it('refuse no throw that is shown, and lose none that is accepted', async () => {
    const [older, other] = [await start('r1'), await start('r2')];
    await join(older.url, { name: 'Ann' });
    const bob = await join(other.url, { name: 'Bob' });
    let [accepted, refused, crossing] = [0, 0, 0];
    const over = new AbortController();
    const throwing = (async () => {
      for (; !over.signal.aborted; await sleep(REST_MS)) {
        const { status } = await post(bob, crossingOf(++crossing, 'right', `s${crossing}`));
        if (status === 202) accepted++;
        else {
          assert.ok(status === 503 || status === 429, `${status}`);
          refused++;
        }
      }
    })();
    // Bob keeps his seat, and acknowledges nothing: what comes to him goes on waiting.
    const polling = (async () => {
      for (; !over.signal.aborted; await sleep(REST_MS)) {
        await poll(bob, bob.cursor, { signal: over.signal }).catch(
          (error) => over.signal.aborted || Promise.reject(error),
        );
      }
    })();
    let newer: RelayProcess;
    try {
      await until('a sprite has passed', async () => (await metric(other, 'peers_passed_total')) > 0);
      newer = await start('r1');
      await join(newer.url, { name: 'Cat' });
      const { msg } = await older.waitForLog(({ level }) => level === 60);
      assert.match(msg, /^another relay has started under the name of this one/);
      const passed = await metric(newer, 'peers_received_total');
      await until('sprites pass to the newer one', async () => (await metric(newer, 'peers_received_total')) > passed);
      const { waiting } = await older.waitForLog(({ msg }) => msg === 'relay stopped');
      assert.equal(waiting, 0, 'what waited at the older one has gone on');
    } finally {
      over.abort();
      await Promise.all([throwing, polling]);
    }
    await until('all have their verdicts', async () => (await metric(other, 'peers_in_doubt')) === 0);
    const waiting = (await metric(newer, 'waiting')) + (await metric(other, 'waiting'));
    assert.equal(waiting, accepted, `of ${accepted + refused} throws`);
  });
});

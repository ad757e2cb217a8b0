/**
 * Three relays share one world through a real NATS: sprites cross between them, and none is lost or doubled when a relay or NATS is killed.
 *
 * Each sprite is named after its thrower and number, so the test can tell at the end what became of it.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { NatsServer, whyNoNats } from '../../tools/bench/nats_server.ts';
import { whyNoNativeFront } from '../front/native.ts';
import type { Edge } from '../wire/rules.ts';
import { Crowd } from './crowd.ts';
import { crossingOf, type Described, post, sendRequest, type ThrowOutcome } from './desktop_client.ts';
import { randomOf } from './random.ts';
import { BOUNDED, lastingPorts, type Ports, type RelayProcess, startRelay, until } from './relay_process.ts';
import { hashOf, largeSprFile } from './spr_file.ts';

const DESKTOPS_EACH = 4;
const REST_MS = 40;

describe('three relays and NATS', { ...BOUNDED, skip: whyNoNats() }, () => {
  const data = ['r1', 'r2', 'r3'].map((name) => mkdtempSync(join(tmpdir(), `sprites-${name}-`)));
  const relays: RelayProcess[] = [];
  const crowd = new Crowd();
  let nats: NatsServer;

  const start = (n: number, ports: Ports) =>
    startRelay({
      ...{ data: data[n], ports, workers: n === 1 ? 1 : 0 },
      front: n === 2 && !whyNoNativeFront() ? 'native' : 'portable',
      args: ['--nats', nats.url, '--relay-name', `r${n + 1}`],
    });
  const counts = async (name: string) =>
    Promise.all(relays.map(async (relay) => (await relay.metrics()).get(`sprites_${name}`) as number));
  const sum = async (name: string) => (await counts(name)).reduce((all, one) => all + one, 0);

  before(async () => {
    nats = await NatsServer.start();
    for (let n = 0; n < 3; n++) relays.push(await start(n, await lastingPorts()));
    await until('every relay knows the two others', async () => (await counts('peers')).every((count) => count === 2));
    for (const relay of relays) await crowd.join(relay.url, DESKTOPS_EACH);
  });
  after(async () => {
    await crowd.stop();
    for (const relay of relays) await relay.stop();
    await nats?.kill();
    for (const folder of data) rmSync(folder, { recursive: true, force: true });
  });

  /** The neighbour that the relay of a client names. */
  const beyond = async (client: number, edge: Edge) => {
    const { joined } = crowd.clients[client];
    const url = new URL(`/v1/desktops/${joined.desktop}`, joined.crossings);
    const { json } = await sendRequest(`${url}`, { token: joined.token });
    return (json as Described).neighbours[edge];
  };

  it('name the neighbour at the next relay, and that one names it back', async () => {
    const [last, first] = [DESKTOPS_EACH - 1, DESKTOPS_EACH];
    const idOf = (client: number) => crowd.clients[client].joined.desktop;
    await until(
      'r1’s last desktop sees r2’s first one',
      async () => (await beyond(last, 'right'))?.desktop === idOf(first),
    );
    await until('and the other way', async () => (await beyond(first, 'left'))?.desktop === idOf(last));
    await until('the world closes over r3 and r1', async () => {
      return (await beyond(3 * DESKTOPS_EACH - 1, 'right'))?.desktop === idOf(0);
    });
  });

  it('are listed by the operator of each', async () => {
    const [relay] = relays;
    const list = async () => {
      const { json } = await sendRequest(`${relay.adminUrl}/admin/relays`, { token: relay.adminToken });
      return json as {
        relay: string;
        connected: boolean;
        relays: { relay: string; state: string; desktops: number }[];
      };
    };
    // On a busy machine a relay may be silent for a while, and is not here then.
    await until('all are here, and it knows how many desktops each has', async () => {
      const { relay: self, connected, relays: all } = await list();
      assert.equal(self, 'r1');
      const states = all.map(({ relay, state, desktops }) => `${relay} ${state} ${desktops}`);
      const here = ['r1', 'r2', 'r3'].map((name) => `${name} here ${DESKTOPS_EACH}`);
      return connected && states.join() === here.join();
    });
    const forget = (name: string) =>
      sendRequest(`${relay.adminUrl}/admin/relays/forget`, {
        ...{ method: 'POST', token: relay.adminToken, body: { relay: name } },
      });
    assert.equal((await forget('r2')).status, 400, 'it is here');
    assert.equal((await forget('r9')).status, 404);
  });

  it('lose no accepted sprite and deliver none twice, when a relay and NATS are killed', async (t) => {
    const random = randomOf(t);
    const { accepted } = crowd;
    const more = async (throws: number) => {
      const due = accepted.size + throws;
      await until(`${due} throws are accepted`, () => accepted.size >= due);
    };
    const passMore = async () => {
      const before = await counts('peers_passed_total');
      await until('sprites cross to and from every relay', async () => {
        return (await counts('peers_passed_total')).every((count, n) => count > before[n]);
      });
    };
    await crowd.throwDuring(random, REST_MS, async () => {
      await passMore();
      await more(40);
      const [, r2] = relays;
      const ended = r2.stop();
      for (const pid of [r2.pids.master, ...r2.pids.workers]) r2.kill(pid, 'SIGKILL');
      await ended;
      await more(20);
      relays[1] = await start(1, r2.ports);
      await passMore();
      await nats.kill();
      await until('every relay knows that NATS is gone', async () => (await sum('peers_connected')) === 0);
      await more(20);
      await nats.restart();
      await passMore();
    });
    await until('all that was accepted is acknowledged', async () => {
      return (await sum('waiting')) === 0 && (await sum('peers_in_doubt')) === 0;
    });
    assert.equal(await sum('accepted_total'), await sum('acknowledged_total'));
    assert.equal(await sum('accepted_total'), accepted.size);
    assert.equal((await sum('abandoned_total')) + (await sum('peers_abandoned_total')), 0);
    crowd.assertConserved();
    t.diagnostic(
      `${accepted.size} sprites, ${await sum('peers_passed_total')} over relays, ` +
        `${crowd.retries} retries, ${await sum('peers_repeats_total')} frames sent again`,
    );
  });

  it('show a picture that only another relay has', async () => {
    const bytes = largeSprFile();
    const file = hashOf(bytes);
    const { joined } = crowd.clients[DESKTOPS_EACH - 1];
    const put = await sendRequest(`${relays[0].url}/v1/sprites/${file}`, {
      method: 'PUT',
      token: joined.token,
      body: bytes,
    });
    assert.equal(put.status, 201);
    const [, r2, r3] = relays;
    const get = (relay: RelayProcess) => sendRequest(`${relay.url}/v1/sprites/${file}`);
    assert.equal((await get(r2)).status, 404, 'no sprite with it has come yet');
    const crossing = crossingOf(1_000_000);
    const body = { ...crossing, sprite: { ...crossing.sprite, file } };
    // On a busy machine a relay may be silent for so long that its neighbours refuse throws for a moment.
    const first = crowd.clients[DESKTOPS_EACH].joined.desktop;
    await until('r2 is the neighbour', async () => (await beyond(DESKTOPS_EACH - 1, 'right'))?.desktop === first);
    await until('the throw is accepted', async () => {
      const { status, json } = await post(joined, body);
      if (status !== 202) return false;
      assert.equal((json as ThrowOutcome).to?.desktop, first, 'it went to r2');
      return true;
    });
    let got = await get(r2);
    await until('r1 answers r2', async () => {
      if (got.status === 503) got = await get(r2);
      return got.status !== 503;
    });
    assert.equal(got.status, 200);
    assert.ok(got.body.equals(bytes));
    assert.equal((await get(r3)).status, 404, 'nobody has thrown it there');
  });
});

/** A relay of two is stopped for good: what waits there goes on to the other one. Before, a saying is heard at both. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { NatsServer, whyNoNats } from '../../tools/bench/nats_server.ts';
import { freePorts } from '../bench/free_ports.ts';
import {
  crossingOf,
  type Event,
  type Joined,
  join as joinRelay,
  pollFor,
  post,
  type SpriteEvent,
  sendRequest,
} from './desktop_client.ts';
import { BOUNDED, type RelayProcess, startRelay, until } from './relay_process.ts';

const THROWS = 5;

describe('two relays and NATS', { ...BOUNDED, skip: whyNoNats() }, () => {
  let nats: NatsServer;
  const relays: RelayProcess[] = [];
  let [ann, amy, bob, ben]: Joined[] = [];

  const metric = async (relay: RelayProcess, name: string) => (await relay.metrics()).get(`sprites_${name}`) as number;
  /** Polls until an event of this type comes. */
  const wait = async (joined: Joined, type: Event['type']) => {
    const { cursor, events } = await pollFor(joined, joined.cursor, (event) => event.type === type);
    joined.cursor = cursor;
    return events.filter((event) => event.type === type);
  };

  const tryJoin = async (relay: RelayProcess, wish: object) => {
    const body = { screen: { width: 1920, height: 1080 }, ...wish };
    return (await sendRequest(`${relay.url}/v1/desktops`, { method: 'POST', body })).status;
  };

  before(async () => {
    nats = await NatsServer.start();
    for (const name of ['r1', 'r2']) {
      const [api, events, admin] = await freePorts(3);
      // Only r2 has an address to tell others.
      const address = name === 'r2' ? ['--public-url', `http://127.0.0.1:${api}`] : [];
      const args = ['--nats', nats.url, '--relay-name', name, ...address];
      relays.push(await startRelay({ workers: 0, ports: { api, events, admin }, args }));
    }
    const [r1, r2] = relays;
    [ann, amy] = [await joinRelay(r1.url, { name: 'Ann' }), await joinRelay(r1.url, { name: 'Amy' })];
    [bob, ben] = [await joinRelay(r2.url, { name: 'Bob' }), await joinRelay(r2.url, { name: 'Ben' })];
    // A proxy would bring the polls of that address to the port of events.
    for (const one of [bob, ben]) one.events = one.events.replace(r2.url, r2.eventsUrl);
    const beside = async (relay: RelayProcess, { desktop, token }: Joined) => {
      const { json } = await sendRequest(`${relay.url}/v1/desktops/${desktop}`, { token });
      const { left, right } = (json as { neighbours: Record<'left' | 'right', { name: string }> }).neighbours;
      return `${left.name} ${right.name}`;
    };
    await until('the relays see four desktops in a row', async () => {
      return (await beside(r1, amy)) === 'Ann Bob' && (await beside(r2, bob)) === 'Amy Ben';
    });
  });
  after(async () => {
    for (const relay of relays) await relay.stop();
    await nats?.kill();
  });

  it('let a neighbour at the other relay hear what a desktop says', async () => {
    const body = { saying: 1, text: 'Whose cat is that?' };
    const heard = wait(bob, 'saying');
    const said = await sendRequest(amy.crossings.replace('/crossings', '/sayings'), {
      ...{ method: 'POST', token: amy.token, body },
    });
    assert.equal(said.status, 202);
    assert.ok((said.json as { heard: number }).heard >= 2, 'Ann and Bob');
    const from = { desktop: amy.desktop, name: 'Amy' };
    assert.deepEqual(await heard, [{ type: 'saying', from, text: body.text, edge: 'left' }]);
  });

  it('have all gauges by peer that the dashboard for Grafana queries', async () => {
    const dashboard = readFileSync(join(import.meta.dirname, '../deploy/grafana.json'), 'utf8');
    const names = new Set(dashboard.match(/\bsprites_peer_\w+/g));
    assert.ok(names.size > 4);
    const metrics = await relays[0].metrics();
    for (const name of names) assert.ok(metrics.has(`${name}{peer="r2"}`), name);
  });

  it('hand on what waits when one is stopped, and tell its desktops where to join', async () => {
    const [r1, r2] = relays;
    const inGarden = { name: 'Ann', world: 'the garden of Ann' };
    await until('JetStream answers', async () => (await tryJoin(r1, inGarden)) === 201);
    for (let n = 1; n <= THROWS; n++) assert.equal((await post(ann, crossingOf(n, 'right', `s${n}`))).status, 202);
    assert.equal(await metric(r1, 'waiting'), THROWS);
    const goodbye = wait(ann, 'bye');
    await until('Ann’s poll is parked', async () => (await metric(r1, 'polls_parked')) > 0);
    const stopped = await r1.stop();
    assert.equal(stopped.code, 0);
    const handed = await r1.waitForLog(({ msg }) => msg.startsWith('handed sprites on'));
    assert.deepEqual([handed.handed, handed.waiting], [THROWS, 0]);
    const [bye] = await goodbye;
    assert.equal((bye as { join?: string }).join, `${r2.url}/v1/desktops`);
    assert.equal(await tryJoin(r2, inGarden), 201, 'a private world begins anew there');
    const { json } = await sendRequest(`${r2.adminUrl}/admin/desktops`, { token: r2.adminToken });
    const { desktops } = json as { desktops: { desktop: string; waiting: number }[] };
    const seen: string[] = [];
    for (const joined of [bob, ben]) {
      const waiting = desktops.find(({ desktop }) => desktop === joined.desktop)?.waiting ?? 0;
      for (let left = waiting; left > 0; ) {
        const sprites = (await wait(joined, 'sprite')) as SpriteEvent[];
        seen.push(...sprites.map(({ sprite }) => sprite.name));
        left -= sprites.length;
      }
    }
    assert.deepEqual(
      seen.sort(),
      Array.from({ length: THROWS }, (_, n) => `s${n + 1}`),
    );
    assert.equal(await metric(r2, 'accepted_total'), THROWS);
    assert.equal(await metric(r2, 'peers_received_total'), THROWS);
    assert.equal((await r2.metrics()).get('sprites_peer_received_total{peer="r1"}'), THROWS);
  });
});

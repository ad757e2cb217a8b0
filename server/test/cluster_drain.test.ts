/** A relay of two is stopped for good: what waits there goes on to the other one. Before, a saying is heard at both. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { NatsServer, whyNoNats } from '../../tools/bench/nats_server.ts';
import { PIONEER_MS } from '../domain/state/limits.ts';
import {
  crossingOf,
  type Described,
  type Event,
  type Joined,
  join as joinRelay,
  poll,
  pollFor,
  post,
  type SpriteEvent,
  sendRequest,
} from './desktop_client.ts';
import { BOUNDED, lastingPorts, type RelayProcess, startRelay, until } from './relay_process.ts';

const THROWS = 5;

/** The level of warnings in the log. */
const WARN = 40;

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
      const ports = await lastingPorts();
      // Only r2 has an address to tell others.
      const address = name === 'r2' ? ['--public-url', `http://127.0.0.1:${ports.api}`] : [];
      const args = ['--nats', nats.url, '--relay-name', name, ...address];
      relays.push(await startRelay({ workers: 0, ports, args }));
    }
    const [r1, r2] = relays;
    [ann, amy] = [await joinRelay(r1.url, { name: 'Ann' }), await joinRelay(r1.url, { name: 'Amy' })];
    [bob, ben] = [await joinRelay(r2.url, { name: 'Bob' }), await joinRelay(r2.url, { name: 'Ben' })];
    // A proxy would bring the polls of that address to the port of events.
    for (const one of [bob, ben]) one.events = one.events.replace(r2.url, r2.eventsUrl);
    // From now on their leases are those of desktops that have polled: NATS may need some time.
    for (const one of [ann, amy, bob, ben]) await poll(one);
    const beside = async (relay: RelayProcess, { desktop, token }: Joined) => {
      const { json } = await sendRequest(`${relay.url}/v1/desktops/${desktop}`, { token });
      const { left, right } = (json as Described).neighbours;
      return `${left?.name} ${right?.name}`;
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
    const { json } = await sendRequest(`${r2.adminUrl}/admin/who`, { token: r2.adminToken });
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

// Both tests mostly wait, so they run side by side.
describe('two relays of which only one has desktops', { ...BOUNDED, skip: whyNoNats(), concurrency: 2 }, () => {
  /** A relay with two desktops and sprites that wait for one of them, and one without. */
  const setUp = async (t: TestContext) => {
    const nats = await NatsServer.start();
    const relays: RelayProcess[] = [];
    t.after(async () => {
      for (const relay of relays) await relay.stop();
      await nats.kill();
    });
    for (const name of ['r1', 'r2']) {
      const ports = await lastingPorts();
      const args = ['--nats', nats.url, '--relay-name', name, '--public-url', `http://127.0.0.1:${ports.api}`];
      relays.push(await startRelay({ workers: 0, ports, args }));
    }
    const [r1, r2] = relays;
    await until('the relays know each other', async () => {
      return (await Promise.all(relays.map((relay) => relay.metrics()))).every((all) => all.get('sprites_peers') === 1);
    });
    const [ann, amy] = [await joinRelay(r1.url, { name: 'Ann' }), await joinRelay(r1.url, { name: 'Amy' })];
    // A proxy would bring the polls of that address to the port of events.
    for (const one of [ann, amy]) one.events = one.events.replace(r1.url, r1.eventsUrl);
    for (let n = 1; n <= THROWS; n++) assert.equal((await post(ann, crossingOf(n, 'right', `s${n}`))).status, 202);
    return { r1, r2, ann };
  };

  it('hand on what waits when the first of them is stopped, as soon as one of its desktops has joined the other', async (t) => {
    const { r1, r2, ann } = await setUp(t);
    const goodbye = pollFor(ann, ann.cursor, ({ type }) => type === 'bye');
    await until('her poll is parked', async () => (await r1.metrics()).get('sprites_polls_parked') === 1);
    const stopped = r1.stop();
    const { events } = await goodbye;
    const bye = events.find(({ type }) => type === 'bye') as { retryAfterMs: number; join: string };
    assert.equal(bye.join, `${r2.url}/v1/desktops`);
    assert.ok(bye.retryAfterMs <= PIONEER_MS, 'while that relay can wait for her');
    await sleep(1.5 * bye.retryAfterMs); // as slow as a client may be
    await joinRelay(r2.url, { name: 'Ann' });
    const handed = await r1.waitForLog(({ msg }) => msg.startsWith('handed sprites on'));
    assert.deepEqual([handed.handed, handed.waiting], [THROWS, 0]);
    assert.equal((await stopped).code, 0);
    assert.equal((await r2.metrics()).get('sprites_waiting'), THROWS);
  });

  it('keep what waits when nobody joins the other in time, and the log says so', async (t) => {
    const { r1 } = await setUp(t);
    assert.equal((await r1.stop()).code, 0);
    const left = await r1.waitForLog(({ msg }) => msg.startsWith('sprites that were accepted stay'));
    assert.deepEqual([left.level, left.sprites, left.desktops, left.worlds], [WARN, THROWS, 1, 1]);
    assert.match(left.journal as string, /journal$/);
  });
});

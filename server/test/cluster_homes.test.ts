/**
 * Two relays of a cluster with a real NATS: friends meet in a private world whichever relay they join, neighbours peek over the border, and
 * what the operator of one relay decides holds at both.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { NatsServer, whyNoNats } from '../../tools/bench/nats_server.ts';
import { PEEK_LEASE_MS } from '../wire/rules.ts';
import {
  crossingOf,
  type Event,
  FILE,
  isSprite,
  type Joined,
  join,
  look,
  poll,
  pollFor,
  post,
  type StageEvent,
  sendRequest,
} from './desktop_client.ts';
import { isProblem } from './problem_check.ts';
import { BOUNDED, lastingPorts, type Ports, type RelayProcess, startRelay, until } from './relay_process.ts';
import { hashOf, largeSprFile } from './spr_file.ts';

const screen = { width: 1920, height: 1080 };
const WORLD = 'the garden of Ann';

const tryJoin = (relay: RelayProcess, wish: object) =>
  sendRequest(`${relay.url}/v1/desktops`, { method: 'POST', body: { screen, ...wish } });

async function leave({ desktop, token, crossings }: Joined): Promise<void> {
  const url = `${new URL(crossings).origin}/v1/desktops/${desktop}`;
  assert.equal((await sendRequest(url, { method: 'DELETE', token })).status, 204);
}

const admin = (relay: RelayProcess, path: string, body: object) =>
  sendRequest(`${relay.adminUrl}/admin/${path}`, { method: 'POST', token: relay.adminToken, body });

describe('two relays and NATS', { ...BOUNDED, skip: whyNoNats() }, () => {
  const data = ['r1', 'r2'].map((name) => mkdtempSync(joinPath(tmpdir(), `sprites-${name}-`)));
  let nats: NatsServer;
  let r1: RelayProcess;
  let r2: RelayProcess;
  let ann: Joined;
  let carol: Joined;

  const start = (n: number, ports: Ports, ...more: string[]) =>
    startRelay({ data: data[n], ports, workers: n, args: ['--nats', nats.url, '--relay-name', `r${n + 1}`, ...more] });
  const homes = async (relay: RelayProcess) => (await relay.metrics()).get('sprites_peers_homes');

  before(async () => {
    nats = await NatsServer.start();
    const ports = await lastingPorts();
    const publicUrls = [
      '--public-url',
      `http://localhost:${ports.api}`,
      '--public-events-url',
      `http://localhost:${ports.events}`,
    ];
    r2 = await start(1, ports, ...publicUrls);
    r1 = await start(0, await lastingPorts());
    await until('the relays know each other', async () => {
      return (await Promise.all([r1, r2].map((relay) => relay.metrics()))).every((m) => m.get('sprites_peers') === 1);
    });
  });
  after(async () => {
    for (const relay of [r1, r2]) await relay?.stop();
    await nats?.kill();
    for (const folder of data) rmSync(folder, { recursive: true, force: true });
  });

  it('seat friends who join the same private world at either of them beside each other', async () => {
    // JetStream may begin some time after NATS accepts connections.
    await until('the first join claims the world', async () => {
      const answer = await tryJoin(r1, { name: 'Ann', world: WORLD });
      if (answer.status === 201) ann = answer.json as Joined;
      return answer.status === 201;
    });
    const bob = await join(r2.url, { name: 'Bob', world: WORLD });
    assert.equal(new URL(bob.crossings).port, new URL(r1.url).port, 'he uses the addresses of her relay');
    assert.equal(new URL(bob.events).port, `${r1.ports.events}`);
    assert.equal((await look(bob)).neighbours.right?.desktop, ann.desktop);
    assert.equal((await look(ann)).neighbours.right?.desktop, bob.desktop);
    // Bob has joined at another relay; his requests go to the one that has the world.
    const { json } = await sendRequest(bob.crossings.replace(/crossings$/, 'company'), { token: bob.token });
    assert.deepEqual(json, { desktops: 2, residents: 0, company: [{ name: 'Ann', column: 1, row: 0 }] });
    assert.equal((await post(bob, crossingOf(1))).status, 202);
    const { events } = await pollFor(ann, ann.cursor, isSprite);
    assert.equal(events.filter(isSprite)[0].from.desktop, bob.desktop);
    assert.deepEqual([await homes(r1), await homes(r2)], [1, 0]);
  });

  it('lead an invitation to the friend’s relay', async () => {
    carol = await join(r2.url, { name: 'Carol', near: ann.invitation });
    assert.deepEqual([carol.world, (await look(carol)).neighbours.left?.desktop], [WORLD, ann.desktop]);
    const eve = await join(r1.url, { name: 'Eve' });
    const dan = await join(r2.url, { name: 'Dan', near: eve.invitation });
    assert.deepEqual([dan.world, (await look(dan)).neighbours.left?.desktop], ['commons', eve.desktop]);
    await leave(eve);
    isProblem(await tryJoin(r2, { near: eve.invitation }), 'near-gone');
    await leave(dan);
  });

  it('find the same world again, everybody in their place, after its home was killed, or restarted', async () => {
    const names = ['Ann', 'Bob', 'Carol'];
    const right = async () => (await look(ann)).neighbours.right?.name;
    assert.equal(await right(), 'Carol');
    const swap = ({ crossings, token }: Joined, method: string, body: object) =>
      sendRequest(crossings.replace(/crossings$/, 'swap'), { method, token, body });
    assert.equal((await swap(ann, 'POST', { name: 'Carol', column: 1, row: 0 })).status, 202);
    assert.equal((await swap(carol, 'PUT', { from: ann.desktop, accept: true })).status, 204);
    assert.equal(await right(), 'Bob', 'and Carol is to the left now');
    for (const signal of ['SIGKILL', 'SIGUSR2'] as const) {
      r1.kill(r1.pids.master, signal);
      if (signal === 'SIGUSR2') await r1.waitForLog(({ msg, again }) => msg === 'going down' && again === true);
      await r1.stop();
      const refused = await tryJoin(r2, { name: 'Fay', world: WORLD });
      isProblem(refused, 'relay-busy');
      assert.equal(refused.headers['retry-after'], '1');
      const { ports } = r1;
      r1 = await start(0, ports);
      let fay: Joined | undefined;
      await until('the home is back', async () => {
        const answer = await tryJoin(r2, { name: 'Fay', world: WORLD });
        if (answer.status === 201) fay = answer.json as Joined;
        return answer.status === 201;
      });
      assert.equal(fay?.here.world, names.push('Fay'), `with ${names}, after ${signal}`);
      assert.equal(await right(), 'Bob', `after ${signal}`);
    }
  });

  it('give a world another home when all have left it', async () => {
    const world = 'a house';
    const first = await join(r1.url, { world });
    assert.equal(new URL(first.crossings).port, `${r1.ports.api}`);
    const before = (await homes(r1)) as number;
    await leave(first);
    await until('the claim is removed', async () => (await homes(r1)) === before - 1);
    const second = await join(r2.url, { world });
    assert.equal(new URL(second.crossings).port, `${r2.ports.api}`);
    const third = await join(r1.url, { world });
    const hosts = [third.crossings, third.socket, third.events].map((url) => new URL(url).host);
    const { api, events } = r2.ports;
    assert.deepEqual(hosts, [`localhost:${api}`, `localhost:${api}`, `localhost:${events}`], 'its public addresses');
    assert.equal((await look(third)).neighbours.left?.desktop, second.desktop);
  });

  it('show a desktop the stage of its neighbour at the other relay, until that hides it', async () => {
    const gus = await join(r1.url, { name: 'Gus' });
    const kim = await join(r2.url, { name: 'Kim', stage: true });
    const ask = ({ desktop, token, crossings }: Joined, path: string, body: object, method = 'POST') =>
      sendRequest(`${new URL(crossings).origin}/v1/desktops/${desktop}/${path}`, { method, token, body });
    const right = async () => (await look(gus)).neighbours.right?.desktop;
    await until('Kim is the neighbour of Gus', async () => (await right()) === kim.desktop);
    const answer = await ask(gus, 'peeks', { edge: 'right' });
    assert.deepEqual([answer.status, answer.json], [202, { edge: 'right', leaseMs: PEEK_LEASE_MS }]);
    const isWatched = (event: Event) => event.type === 'watched' && event.edges.includes('left');
    await pollFor(kim, kim.cursor, isWatched);
    const stage = { width: 1920, height: 1080, files: [FILE], sprites: [{ id: 1, x: 100, y: 200 }] };
    assert.deepEqual((await ask(kim, 'stage', stage)).json, { edges: ['left'] });
    const isShown = (event: Event): event is StageEvent => event.type === 'stage' && event.from !== undefined;
    const shown = await pollFor(gus, gus.cursor, isShown);
    const { ageMs, ...event } = shown.events.find(isShown) as StageEvent;
    assert.deepEqual(event, { type: 'stage', edge: 'right', from: { desktop: kim.desktop, name: 'Kim' }, ...stage });
    assert.ok(ageMs !== undefined && ageMs >= 0);
    assert.equal((await ask(kim, 'stage', { stage: false }, 'PUT')).status, 204);
    await pollFor(gus, shown.cursor, ({ type, ...end }) => type === 'stage' && !('from' in end));
    isProblem(await ask(gus, 'peeks', { edge: 'right' }), 'stage-hidden');
    for (const desktop of [gus, kim]) await leave(desktop);
  });

  it('give the operator of either the reports, the desktops and the gallery of both', async () => {
    const lou = await join(r2.url, { name: 'Lou' });
    const bytes = largeSprFile();
    const file = hashOf(bytes);
    const own = { token: lou.token };
    assert.equal(
      (await sendRequest(`${r2.url}/v1/sprites/${file}`, { ...own, method: 'PUT', body: bytes })).status,
      201,
    );
    const report = { file, reason: 'rude', desktop: lou.desktop };
    assert.equal((await sendRequest(`${r2.url}/v1/reports`, { ...own, method: 'POST', body: report })).status, 204);
    const { json } = await sendRequest(`${r1.adminUrl}/admin/reports`, { token: r1.adminToken });
    const { reports, unanswered } = json as { reports: Record<string, unknown>[]; unanswered: string[] };
    const [{ file: reported, count, reasons, desktops }] = reports;
    assert.deepEqual([reported, count, reasons, desktops, unanswered], [file, 1, ['rude'], [lou.desktop], []]);
    assert.equal((await admin(r1, 'dismiss', { picture: file })).status, 200);
    isProblem(await admin(r2, 'dismiss', { picture: file }), 'not-found');

    const publication = { file, title: 'A large cat', author: 'Lou', licence: 'CC0-1.0' };
    assert.equal(
      (await sendRequest(`${r2.url}/v1/gallery`, { ...own, method: 'POST', body: publication })).status,
      202,
    );
    assert.equal((await admin(r2, 'gallery/accept', { picture: file })).status, 200);
    const isListed = async (relay: RelayProcess) => {
      const { entries } = (await sendRequest(`${relay.url}/v1/gallery`)).json as { entries: { file: string }[] };
      return entries.some((entry) => entry.file === file);
    };
    await until('it is in the gallery of the other relay', () => isListed(r1));
    const picture = `${r1.adminUrl}/admin/picture/${file}`;
    assert.ok((await sendRequest(picture, { token: r1.adminToken })).body.equals(bytes), 'the operator sees it');
    assert.ok((await sendRequest(`${r1.url}/v1/sprites/${file}`)).body.equals(bytes), 'with its file');
    assert.equal((await admin(r1, 'gallery/refuse', { picture: file })).status, 200);
    await until('it is in neither gallery', async () => !(await isListed(r1)) && !(await isListed(r2)));

    assert.equal((await admin(r1, 'kick', { desktop: lou.desktop })).status, 200);
    assert.equal((await poll(lou)).status, 410);
    isProblem(await admin(r1, 'kick', { desktop: lou.desktop }), 'not-found');
  });

  it('show an announcement of the operator of either on the desktops of both', async () => {
    const gus = await join(r2.url, { name: 'Gus' });
    assert.equal((await admin(r1, 'announce', { text: 'Tea at five' })).status, 202);
    const { events } = await pollFor(gus, gus.cursor, ({ type }) => type === 'announcement');
    assert.ok(events.some((event) => event.type === 'announcement' && event.text === 'Tea at five'));
  });

  it('ban what the operator of either bans, also while NATS is away, as soon as it is back', async () => {
    const hal = await join(r2.url, { name: 'Hal' });
    assert.equal((await admin(r1, 'remove-picture', { picture: FILE })).status, 200);
    await pollFor(hal, hal.cursor, (event) => event.type === 'removed' && event.file === FILE);
    isProblem(await post(hal, crossingOf(1)), 'picture-refused');
    await nats.kill();
    assert.equal((await admin(r1, 'ban', { address: '127.0.0.1' })).status, 200);
    await nats.restart();
    await until('the other relay has the ban', async () => (await tryJoin(r2, {})).status === 403);
    await until('its desktops from there have ended', async () => (await poll(hal)).status === 410);
    assert.equal((await admin(r2, 'unban', { address: '127.0.0.1' })).status, 200);
    await until('the ban has ended at the first', async () => (await tryJoin(r1, {})).status === 201);
    const logged = [...r1.log, ...r2.log]
      .map((line) => JSON.stringify(line))
      .filter((line) => line.includes('127.0.0.1'));
    assert.ok(!logged.some((line) => line.includes('other relays')), logged.join('\n'));
  });
});

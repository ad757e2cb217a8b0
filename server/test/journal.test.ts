/**
 * A relay that is killed with SIGKILL and started again goes on: no accepted sprite is lost or doubled, over real sockets.
 *
 * Each sprite is named after its thrower and number, so the test can tell at the end what became of it.
 *
 * Takes long: relays are killed and started again, and leases end.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { whyNoNativeFront } from '../front/native.ts';
import { TAIL } from '../journal/tail.ts';
import { nextStep } from '../web/relay/goal.ts';
import type { Companion, Company } from '../web/relay/transport.ts';
import { CROSSINGS_REMEMBERED, SWAP_LEASE_MS } from '../wire/rules.ts';
import { Crowd } from './crowd.ts';
import {
  crossingOf,
  DesktopClient,
  isSprite,
  join as joinDesktop,
  look,
  poll,
  pollFor,
  post,
  type SpriteEvent,
  sendRequest,
} from './desktop_client.ts';
import { onTwoShapes } from './fronts.ts';
import { randomOf } from './random.ts';
import { BOUNDED, lastingPorts, type Ports, type RelayProcess, startRelay, until } from './relay_process.ts';

const DESKTOPS = 16;
/** The master first, then all processes. */
const KILLS = 2;

/** The most accepted throws between two kills. */
const THROWS_BETWEEN_MAX = 300;

/** Kills until one comes between a turn and the next tick. A tick comes every 50 ms. */
const TRIES_MAX = 20;

/** Restarts of a relay under throws. */
const RESTARTS = 3;

/** Between two throws of a desktop while its relay restarts, in ms: below the limits of one address and one desktop. */
const THROW_EVERY_MS = 20;

/** Pause of a desktop after each throw, in ms: the test is to stress the relay, not the machine. */
const REST_MS = 50;

onTwoShapes('crossed', 'a relay that is killed', (shape) => {
  const data = mkdtempSync(join(tmpdir(), 'sprites-journal-'));
  let relay: RelayProcess;
  const crowd = new Crowd();
  after(async () => {
    await crowd.stop();
    await relay?.stop();
    rmSync(data, { recursive: true, force: true });
  });

  it('goes on where it was: no accepted sprite is lost, and none is delivered twice', async (t) => {
    const random = randomOf(t);
    const ports = await lastingPorts();
    relay = await startRelay({ ...shape, data, ports });
    await crowd.join(relay.url, DESKTOPS);
    const { accepted } = crowd;
    await crowd.throwDuring(random, REST_MS, async () => {
      for (let kill = 1; kill <= KILLS; kill++) {
        const due = accepted.size + 50 + random() * THROWS_BETWEEN_MAX;
        await until(`${Math.round(due)} throws are accepted`, () => accepted.size >= due);
        const { master, workers: processes } = relay.pids;
        // Every other time all of its processes.
        for (const pid of kill % 2 ? [master] : [master, ...processes]) relay.kill(pid, 'SIGKILL');
        await relay.stop();
        await until('its processes are gone', () => !processes.some(isAlive));
        relay = await startRelay({ ...shape, data, ports });
      }
      const due = accepted.size + 50;
      await until(`${due} throws are accepted`, () => accepted.size >= due);
    });

    const metrics = async (name: string) => (await relay.metrics()).get(`sprites_${name}`) as number;
    await until('all that was accepted is acknowledged', async () => (await metrics('waiting')) === 0);
    assert.equal(await metrics('accepted_total'), accepted.size, 'a retried throw counts once, over all lives');
    assert.equal(await metrics('acknowledged_total'), accepted.size);
    assert.equal(await metrics('desktops'), DESKTOPS, 'every desktop is here still');
    crowd.assertConserved();
    t.diagnostic(`${KILLS} kills, ${accepted.size} sprites, ${crowd.retries} retries`);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('a relay on the native front that is killed', { ...BOUNDED, skip: whyNoNativeFront() ?? false }, () => {
  it('leaves its last turns in the tail, and a relay on the portable front goes on from them', async (t) => {
    const data = mkdtempSync(join(tmpdir(), 'sprites-journal-'));
    t.after(() => rmSync(data, { recursive: true, force: true }));
    const ports = await lastingPorts();
    let relay = await startRelay({ workers: 0, front: 'native', data, ports });
    t.after(() => relay.stop());
    const client = await DesktopClient.join(relay.url);
    t.after(() => client.stop());
    let thrown = 0;
    let tailBytes = 0;
    while (tailBytes === 0) {
      assert.ok(thrown < TRIES_MAX, 'the tail was never found with something in it');
      assert.ok((await client.throw('right', `sprite ${thrown++}`))?.to);
      // With the next tick the turn is in its segment: then this was too late, and is done again.
      relay.kill(relay.pids.master, 'SIGKILL');
      await relay.stop();
      relay = await startRelay({ workers: 0, front: 'portable', data, ports });
      const { tailBytes: found } = await relay.waitForLog(({ msg }) => msg === 'the relay goes on from its journal');
      tailBytes = found as number;
      await until('all sprites have come home', () => client.received.length === thrown);
      assert.equal(existsSync(join(data, 'journal', TAIL)), false, 'the portable front needs none');
      assert.equal((await relay.stop()).code, 0);
      relay = await startRelay({ workers: 0, front: 'native', data, ports });
    }
    assert.equal((await relay.metrics()).get('sprites_accepted_total'), thrown);
  });
});

describe('friends whose relay is killed', BOUNDED, () => {
  const data = mkdtempSync(join(tmpdir(), 'sprites-journal-'));
  let ports: Ports;
  let relay: RelayProcess;
  const friends: DesktopClient[] = [];
  const start = () => startRelay({ workers: 0, front: 'native', data, ports });
  before(async () => {
    ports = await lastingPorts();
    relay = await start();
    for (let n = 0; n < 12; n++)
      friends.push(await DesktopClient.join(relay.url, { name: `friend ${n}`, world: 'friends' }));
  });
  after(async () => {
    await Promise.all(friends.map((one) => one.stop()));
    await relay?.stop();
    rmSync(data, { recursive: true, force: true });
  });

  const ask = ({ joined }: DesktopClient, path: string, method = 'GET', body?: object) =>
    sendRequest(joined.crossings.replace(/crossings$/, path), { method, token: joined.token, body });
  const companyOf = async (one: DesktopClient) => ((await ask(one, 'company')).json as Company).company;

  async function killAndStart(): Promise<void> {
    relay.kill(relay.pids.master, 'SIGKILL');
    await relay.stop();
    relay = await start();
  }

  it('sit where they sat, those who have changed places too', async () => {
    const [ann, bob] = [friends[2], friends[9]];
    const places = () => Promise.all(friends.map(async ({ joined }) => (await look(joined)).place));
    const wish = (await companyOf(ann)).find(({ name }) => name === 'friend 9');
    assert.deepEqual((await ask(ann, 'swap', 'POST', wish)).json, { swap: 'asked', leaseMs: SWAP_LEASE_MS });
    assert.equal((await ask(bob, 'swap', 'PUT', { from: ann.joined.desktop, accept: true })).status, 204);
    const changed = [0, 1, 9, 3, 4, 5, 6, 7, 8, 2, 10, 11];
    assert.deepEqual(await places(), changed);
    await killAndStart();
    assert.deepEqual(await places(), changed);
  });

  it('have a sprite that is thrown three desktops far somewhere, once, whenever that happens', async () => {
    let [at] = friends;
    const friend = (await companyOf(at)).find(({ column, row }) => Math.abs(column) + Math.abs(row) === 3) as Companion;
    let step = nextStep(friend, null, (await look(at.joined)).neighbours);
    for (let steps = 1; step !== null; steps++) {
      const outcome = at.throw(step.edge, 'Miso', { goal: step.goal });
      await killAndStart();
      const { to } = (await outcome) ?? {};
      const received = () => friends.flatMap((one) => one.received);
      await until('somebody has it', () => received().length >= steps);
      assert.equal(received().length, steps, 'once');
      at = friends.find(({ joined }) => joined.desktop === to?.desktop) as DesktopClient;
      const { goal } = at.received.at(-1) as SpriteEvent;
      step =
        goal === undefined ? null : nextStep(goal, (await look(at.joined)).name, (await look(at.joined)).neighbours);
    }
    assert.equal((await look(at.joined)).name, friend.name);
    const count = async (name: string) => (await relay.metrics()).get(`sprites_${name}`);
    await until('the last poll has acknowledged it', async () => (await count('waiting')) === 0);
    assert.equal(await count('accepted_total'), 3);
  });
});

describe('a restart under throws', { ...BOUNDED, skip: whyNoNativeFront() ?? false }, () => {
  for (const workers of [0, 2])
    it(`refuses no throw, and cuts none off, with ${workers} workers`, async (t) => {
      const data = mkdtempSync(join(tmpdir(), 'sprites-journal-'));
      const relay = await startRelay({
        workers,
        front: 'native',
        data,
        ports: await lastingPorts(),
        env: { SPRITES_RESTART: '' },
      });
      const clients = [await DesktopClient.join(relay.url), await DesktopClient.join(relay.url)];
      t.after(async () => {
        await Promise.all(clients.map((client) => client.stop()));
        await relay.stop();
        rmSync(data, { recursive: true, force: true });
      });
      const starts = () => relay.log.filter(({ msg }) => msg === 'relay ready').length;
      for (let restarts = 1, thrown = 0; restarts <= RESTARTS; restarts++) {
        await sendRequest(`${relay.adminUrl}/admin/drain?restart=1`, { method: 'POST', token: relay.adminToken });
        const answers: Promise<number>[] = [];
        // Each throw has a connection of its own, and they do not wait for each other, unless one would come too late to be known.
        while (starts() <= restarts) {
          await answers.at(-CROSSINGS_REMEMBERED);
          const crossing = crossingOf(++thrown, 'right', `${thrown}`);
          answers.push(post(clients[0].joined, crossing).then(({ status }) => status));
          await sleep(THROW_EVERY_MS);
        }
        assert.deepEqual(new Set(await Promise.all(answers)), new Set([202]));
        await until('all sprites have come', () => clients[1].received.length === thrown);
      }
      assert.ok(clients[0].byes > 0, 'the poll that nothing answered was told to come back');
    });
});

describe('the launcher of a relay', BOUNDED, () => {
  const data = mkdtempSync(join(tmpdir(), 'sprites-journal-'));
  let relay: RelayProcess;
  let client: DesktopClient;
  const pids = () => relay.log.flatMap(({ msg, pid }) => (msg === 'relay ready' ? [pid as number] : []));
  /** The next process of the relay does not load while this file exists. */
  const held = join(data, 'held');
  const module = `import { existsSync } from 'node:fs';
    while (process.env.SPRITES_SUCCESSION === 'next' && existsSync(${JSON.stringify(held)})) await new Promise((resolve) => setTimeout(resolve, 10));`;
  const options = `--import=data:text/javascript,${encodeURIComponent(module)}`;
  before(async () => {
    const env = { SPRITES_RESTART: '', NODE_OPTIONS: options };
    relay = await startRelay({ workers: 1, data, ports: await lastingPorts(), env });
    client = await DesktopClient.join(relay.url);
  });
  after(async () => {
    await client?.stop();
    await relay?.stop();
    rmSync(data, { recursive: true, force: true });
  });

  it('starts a relay that was killed again, and its desktops go on', async () => {
    assert.ok((await client.throw('right', 'one'))?.to);
    relay.kill(relay.pids.master, 'SIGKILL');
    await relay.waitForLog(({ msg }) => /^The relay died \(SIGKILL\); starting it again in 0.5 s/.test(msg));
    await until('another relay is ready', () => pids().length === 2);
    assert.ok((await client.throw('right', 'two'))?.to);
    await until('both sprites have come home', () => client.received.length === 2);
  });

  it('starts a relay again that is told to restart, by its admin port or a signal, and its desktops go on', async () => {
    const { adminToken: token } = relay;
    await sendRequest(`${relay.adminUrl}/admin/drain?restart=1`, { method: 'POST', token });
    await until('another relay is ready', () => pids().length === 3);
    assert.ok((await client.throw('right', 'three'))?.to);
    relay.kill(pids()[2], 'SIGUSR2');
    await until('yet another relay is ready', () => pids().length === 4);
    assert.ok((await client.throw('right', 'four'))?.to);
    await until('both sprites have come home', () => client.received.length === 4);
    assert.ok(client.byes > 0, 'the parked poll was told when to come back');
    const lines = relay.log.map(({ msg }) => msg);
    const order = ['the next process of this relay loads', 'going down', 'relay stopped', 'relay ready'];
    const steps = lines.map((line) => order.findIndex((one) => line.startsWith(one))).filter((step) => step >= 0);
    assert.deepEqual(steps.slice(-5), [3, 0, 1, 2, 3]);
  });

  const isLinux = process.platform === 'linux';
  const onLinux = { skip: !isLinux && 'needs /proc' };
  const parent = () => {
    const status = readFileSync(`/proc/${pids().at(-1)}/status`, 'utf8');
    return Number(/^PPid:\s+(\d+)$/m.exec(status)?.[1]);
  };
  const count = (start: string) => relay.log.filter(({ msg }) => msg.startsWith(start)).length;

  /** Tells the relay to restart, twice. Resolves to the next process, which does not load yet. */
  async function hold(): Promise<number> {
    writeFileSync(held, '');
    const launcher = parent();
    const children = () =>
      readFileSync(`/proc/${launcher}/task/${launcher}/children`, 'utf8').trim().split(' ').map(Number);
    const { adminToken: token } = relay;
    for (let n = 0; n < 2; n++) {
      await sendRequest(`${relay.adminUrl}/admin/drain?restart=1`, { method: 'POST', token });
    }
    await until('the next process is there', () => children().length === 2);
    return children().find((pid) => pid !== pids().at(-1)) as number;
  }

  it('serves on when the next process dies while it loads, and a second request starts another', onLinux, async () => {
    const next = await hold();
    assert.ok((await client.throw('right', 'five'))?.to);
    relay.kill(next, 'SIGKILL');
    await relay.waitForLog(({ msg }) => msg.startsWith('the next process of this relay did not start'));
    assert.ok((await client.throw('right', 'six'))?.to);
    assert.deepEqual([pids().length, count('going down')], [4, 2]);
    await hold();
    rmSync(held);
    await until('another relay is ready', () => pids().length === 5);
    assert.equal(count('going down'), 3, 'two requests are one');
    await until('all sprites have come home', () => client.received.length === 6);
  });

  it('goes on with the next process when it dies itself while that loads', onLinux, async () => {
    const next = await hold();
    relay.kill(pids().at(-1) as number, 'SIGKILL');
    await relay.waitForLog(({ msg }) => msg === 'The relay died (SIGKILL); the next one goes on.');
    rmSync(held);
    await until('the next one is ready', () => pids().at(-1) === next);
    assert.ok((await client.throw('right', 'seven'))?.to);
    await until('the sprite has come home', () => client.received.length === 7);
  });

  it('takes the relay with it when it is killed, but not for good', onLinux, async () => {
    const last = pids().at(-1) as number;
    relay.kill(parent(), 'SIGKILL');
    const { again } = await relay.waitForLog(({ msg, pid }) => msg === 'going down' && pid === last);
    assert.equal(again, true, 'nobody has said that it will not come back');
    await relay.waitForLog(({ msg, pid }) => msg === 'relay stopped' && pid === last);
  });
});

describe('the data directory of a relay', BOUNDED, () => {
  const data = mkdtempSync(join(tmpdir(), 'sprites-journal-'));
  after(() => rmSync(data, { recursive: true, force: true }));

  it('keeps nothing with --durability none: the next relay knows no desktop, and has another epoch', async (t) => {
    const args = ['--durability', 'none'];
    const ports = await lastingPorts();
    const relay = await startRelay({ workers: 0, data, args, ports });
    t.after(() => relay.stop());
    const ann = await joinDesktop(relay.url);
    await relay.stop();
    const next = await startRelay({ workers: 0, data, args, ports });
    t.after(() => next.stop());
    assert.equal((await poll(ann, ann.cursor)).status, 401);
    const bob = await joinDesktop(next.url);
    assert.notEqual(bob.cursor.split('-')[0], ann.cursor.split('-')[0]);
  });

  it('is used by one relay at a time, and survives its stop as well as its death, also with --durability machine', async (t) => {
    const args = ['--durability', 'machine'];
    const ports = await lastingPorts();
    const relay = await startRelay({ workers: 0, data, args, ports });
    t.after(() => relay.stop());
    await assert.rejects(startRelay({ workers: 0, data }), /another relay uses this data directory/);
    const [ann, bob] = [await joinDesktop(relay.url, { world: 'w' }), await joinDesktop(relay.url, { world: 'w' })];
    assert.equal((await post(ann, crossingOf(1))).status, 202);
    assert.equal((await relay.stop()).code, 0);
    const next = await startRelay({ workers: 0, data, args, ports });
    t.after(() => next.stop());
    assert.equal((await post(ann, crossingOf(1))).status, 202, 'a repeat');
    const { events } = await pollFor(bob, bob.cursor, isSprite);
    assert.equal(events.filter(isSprite).length, 1);
  });
});

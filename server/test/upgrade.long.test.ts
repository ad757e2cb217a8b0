/**
 * A relay of an earlier version is upgraded in place under load, alone and in a cluster: nothing is lost, and nothing doubled. It refuses to
 * go back.
 *
 * The earlier version is a commit of this repository, the first with format 3 of the journal: its own code has made everything that it
 * leaves. Skipped where the history is not there. Needs the npm registry.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { NatsServer, whyNoNats } from '../../tools/bench/nats_server.ts';
import { FolderDisk } from '../journal/disk.ts';
import { VERSION } from '../journal/segments.ts';
import { Crowd } from './crowd.ts';
import { DesktopClient, type HttpResponse, type Joined, sendRequest } from './desktop_client.ts';
import { setFormat } from './other_format.ts';
import { randomOf } from './random.ts';
import { lastingPorts, type Ports, type RelayProcess, startRelay, until } from './relay_process.ts';
import { hashOf, sprFile } from './spr_file.ts';

/** Of 24 November 2026. When a version has been released, that takes its place. */
const EARLIER = '4d91ecccc52f7db4541fe9c0f420553e95e35255';

const ROOT = join(import.meta.dirname, '../..');
const hasHistory = spawnSync('git', ['cat-file', '-e', `${EARLIER}^{commit}`], { cwd: ROOT }).status === 0;

const DESKTOPS = 16;

/** Throws that are accepted between two changes of the version. */
const THROWS = 150;

const REST_MS = 50;

const REFUSED =
  /the journal has format \d, and this relay knows 3( to 4)?; start the version of the relay that wrote it/;

describe('a relay of an earlier version', {
  skip: !hasHistory && `needs commit ${EARLIER}`,
  timeout: 1_800_000,
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'sprites-upgrade-'));
  const [root, data] = ['earlier', 'data'].map((name) => join(folder, name));
  const crowd = new Crowd();
  const shape = { workers: 0, front: 'portable', data } as const;
  let ports: Ports;
  let relay: RelayProcess;
  before(async () => {
    ports = await lastingPorts();
    mkdirSync(data);
    mkdirSync(root);
    const archive = execFileSync('git', ['archive', EARLIER], { cwd: ROOT, maxBuffer: 1 << 30 });
    execFileSync('tar', ['-x', '-C', root], { input: archive });
    execFileSync('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: root,
      stdio: 'pipe',
    });
  });
  after(async () => {
    await crowd.stop();
    await relay?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const admin = async (path: string, body?: object): Promise<HttpResponse> => {
    const method = body ? 'POST' : 'GET';
    const answer = await sendRequest(`${relay.adminUrl}/admin/${path}`, { method, token: relay.adminToken, body });
    assert.equal(answer.status, 200, `${path}: ${answer.body}`);
    return answer;
  };

  /** Makes something of everything that the data directory keeps. Returns what reads it. */
  async function leaveTraces({ token, desktop }: Joined): Promise<() => Promise<object>> {
    const [published, reported, removed] = [sprFile(), sprFile(), sprFile()];
    const ask = async (method: 'PUT' | 'POST', path: string, body: Buffer | object) => {
      const { status } = await sendRequest(`${relay.url}/v1/${path}`, { method, token, body });
      assert.ok(status >= 200 && status < 300, `${method} ${path}: ${status}`);
    };
    for (const bytes of [published, reported, removed]) await ask('PUT', `sprites/${hashOf(bytes)}`, bytes);
    await ask('POST', 'gallery', { file: hashOf(published), title: 'Cat', author: 'Ann', licence: 'CC0-1.0' });
    await admin('gallery/accept', { picture: hashOf(published) });
    await ask('POST', 'reports', { file: hashOf(reported), reason: 'rude', desktop });
    await ask('POST', 'feedback', { text: 'It is nice here.', contact: 'ann@relay.example' });
    await admin('ban', { address: '203.0.113.0/24' });
    await admin('remove-picture', { picture: hashOf(removed) });
    const sprite = async (bytes: Buffer) => {
      const { status, body } = await sendRequest(`${relay.url}/v1/sprites/${hashOf(bytes)}`);
      return status === 200 ? body.equals(bytes) : status;
    };
    return async () => ({
      seat: (await sendRequest(`${relay.url}/v1/desktops/${desktop}`, { token })).json,
      gallery: (await admin('gallery')).json,
      reports: (await admin('reports')).json,
      bans: (await admin('bans')).json,
      feedback: (await admin('feedback')).json,
      adminToken: readFileSync(join(data, 'admin-token'), 'utf8'),
      sprites: [await sprite(published), await sprite(reported), await sprite(removed)],
    });
  }

  it('is upgraded: its desktops, sprites, pictures and decisions stay, and it refuses to go back', async (t) => {
    const random = randomOf(t);
    const { accepted } = crowd;
    relay = await startRelay({ ...shape, ports, root });
    await crowd.join(relay.url, DESKTOPS);
    const ann = await DesktopClient.join(relay.url, { name: 'Ann', world: 'private' });
    t.after(() => ann.stop());
    const read = await leaveTraces(ann.joined);
    const left = await read();
    assert.deepEqual((left as { sprites: unknown[] }).sprites, [true, true, 404]);
    await crowd.throwDuring(random, REST_MS, async () => {
      for (const signal of ['SIGKILL', 'SIGUSR2'] as const) {
        const due = accepted.size + THROWS;
        await until(`${due} throws are accepted`, () => accepted.size >= due);
        relay.kill(relay.pids.master, signal);
        await relay.stop();
        if (signal === 'SIGUSR2') await assert.rejects(startRelay({ ...shape, ports, root }), REFUSED);
        relay = await startRelay({ ...shape, ports });
        assert.deepEqual(await read(), left);
      }
      const due = accepted.size + THROWS;
      await until(`${due} throws are accepted`, () => accepted.size >= due);
    });
    const metric = async (name: string) => (await relay.metrics()).get(`sprites_${name}`);
    await until('all that was accepted is acknowledged', async () => (await metric('waiting')) === 0);
    assert.equal(await metric('accepted_total'), accepted.size);
    assert.equal(await metric('desktops'), DESKTOPS + 1);
    crowd.assertConserved();
    t.diagnostic(`${accepted.size} sprites, ${crowd.retries} retries`);
  });

  it('refuses a journal of a later format with what to do, changes nothing, and the later version goes on', async () => {
    await relay.stop();
    const journal = join(data, 'journal');
    const disk = new FolderDisk(journal);
    const segments = () =>
      disk
        .names()
        .filter((name) => name.endsWith('.segment'))
        .sort();
    const bytes = () => segments().map((name) => disk.read(name));
    const last = segments().at(-1) as string;
    setFormat(disk, last, VERSION + 1);
    const before = bytes();
    for (const version of [root, undefined])
      await assert.rejects(startRelay({ ...shape, ports, root: version }), REFUSED);
    assert.deepEqual(bytes(), before);
    setFormat(disk, last, VERSION);
    relay = await startRelay({ ...shape, ports });
    assert.equal((await relay.metrics()).get('sprites_accepted_total'), crowd.accepted.size);
  });

  it('is upgraded in a cluster, one relay after the other, while sprites cross between the versions', {
    skip: whyNoNats(),
  }, async (t) => {
    const random = randomOf(t);
    // With a member that the earlier version does not know.
    const long = '"'.repeat(64);
    const journey = { hops: 2, since: 0, by: '', from: ['b'.repeat(64), 'c'.repeat(64)] };
    const crowd = new Crowd({ animation: 'a'.repeat(32), journey });
    const nats = await NatsServer.start();
    const relays: RelayProcess[] = [];
    const places = await Promise.all(
      ['r1', 'r2'].map(async (name) => {
        mkdirSync(join(folder, name));
        const args = ['--nats', nats.url, '--relay-name', name];
        return { ...shape, data: join(folder, name), ports: await lastingPorts(), args };
      }),
    );
    t.after(async () => {
      await crowd.stop();
      for (const one of relays) await one.stop();
      await nats.kill();
    });
    const each = async (name: string) =>
      Promise.all(relays.map(async (one) => (await one.metrics()).get(`sprites_${name}`) as number));
    const sum = async (name: string) => (await each(name)).reduce((all, one) => all + one, 0);
    const passMore = async () => {
      const before = await each('peers_passed_total');
      await until('sprites cross both ways', async () =>
        (await each('peers_passed_total')).every((count, n) => count >= before[n] + THROWS / 10),
      );
    };
    for (const place of places) relays.push(await startRelay({ ...place, root }));
    await until('they know each other', async () => (await each('peers')).every((count) => count === 1));
    for (const { url } of relays) await crowd.join(url, DESKTOPS / 4, (n) => `${n}${long}`.slice(0, 64));
    await crowd.throwDuring(random, REST_MS, async () => {
      await passMore();
      for (const [n, place] of places.entries()) {
        relays[n].kill(relays[n].pids.master, 'SIGUSR2');
        assert.equal((await relays[n].stop()).code, 75);
        relays[n] = await startRelay(place);
        await until('they know each other again', async () => (await each('peers')).every((count) => count === 1));
        await passMore();
      }
    });
    await until('all that was accepted is acknowledged', async () => {
      return (await sum('waiting')) + (await sum('peers_in_doubt')) === 0;
    });
    assert.equal(await sum('accepted_total'), crowd.accepted.size);
    assert.equal(await sum('desktops'), crowd.clients.length);
    assert.equal((await sum('abandoned_total')) + (await sum('peers_malformed_total')), 0);
    crowd.assertConserved();
    const journeys = crowd.clients.flatMap(({ received }) => received).filter(({ sprite }) => 'journey' in sprite);
    assert.ok(journeys.length > 0, 'between relays of this version, nothing is left out');
    t.diagnostic(`${crowd.accepted.size} sprites, ${crowd.retries} retries, ${journeys.length} with a journey`);
  });
});

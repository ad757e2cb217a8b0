/** Moderation, with a whole relay: what the operator does on the admin port, and what desktops then see. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { REPORTS_PER_WINDOW_MAX } from '../wire/rules.ts';
import {
  crossingOf,
  DesktopClient,
  FILE,
  type HttpResponse,
  isSprite,
  type Joined,
  join,
  poll,
  pollFor,
  post,
  sendRequest,
} from './desktop_client.ts';
import { onTwoShapes } from './fronts.ts';
import { isProblem } from './problem_check.ts';
import { BOUNDED, LEVEL, type RelayProcess, startRelay, until } from './relay_process.ts';
import { hashOf, sprFile } from './spr_file.ts';

const screen = { width: 1920, height: 1080 };

/** Sends a request to the admin port of a relay. */
function admin(relay: RelayProcess, method: 'GET' | 'POST', path: string, body?: object): Promise<HttpResponse> {
  return sendRequest(`${relay.adminUrl}/admin/${path}`, { method, token: relay.adminToken, body });
}

const tryJoin = (relay: RelayProcess) =>
  sendRequest(`${relay.url}/v1/desktops`, { method: 'POST', body: { screen, name: 'Ann' } });

const upload = (relay: RelayProcess, { token }: Joined, bytes: Buffer) =>
  sendRequest(`${relay.url}/v1/sprites/${hashOf(bytes)}`, { method: 'PUT', token, body: bytes });

async function parked(relay: RelayProcess, count: number): Promise<void> {
  await until(`${count} polls are parked`, async () => (await relay.metrics()).get('sprites_polls_parked') === count);
}

onTwoShapes('usual', 'moderation', (shape) => {
  let relay: RelayProcess;
  before(async () => {
    relay = await startRelay(shape);
  });
  after(() => relay?.stop());

  it('lists who is here and from where, everywhere or in one world, and the worlds with their counts', async () => {
    const ann = await join(relay.url, { name: 'Ann', world: 'who' });
    const all = (await admin(relay, 'GET', 'who')).json as { count: number; desktops: object[] };
    const seat = { desktop: ann.desktop, name: 'Ann', world: 'who', place: 0 };
    const row = { ...seat, waiting: 0, address: '127.0.0.1', client: 'other', newestCrossing: 0 };
    assert.equal(all.count, all.desktops.length);
    assert.ok(
      all.desktops.some((found) => JSON.stringify(found) === JSON.stringify(row)),
      JSON.stringify(all),
    );
    assert.deepEqual((await admin(relay, 'GET', 'who?world=who')).json, { count: 1, desktops: [row], next: null });
    assert.deepEqual((await admin(relay, 'GET', 'who?world=who&from=1')).json, { count: 1, desktops: [], next: null });
    isProblem(await admin(relay, 'GET', 'who?world=nowhere'), 'not-found');
    isProblem(await admin(relay, 'GET', 'who?from=x'), 'malformed', 'from');
    const { worlds } = (await admin(relay, 'GET', 'worlds')).json as { worlds: object[] };
    assert.ok(worlds.some((found) => JSON.stringify(found) === '{"world":"who","desktops":1}'));
    isProblem(await sendRequest(`${relay.adminUrl}/admin/who`), 'admin-token');
  });

  it('kicks a desktop: its parked poll is answered desktop-ended, its sockets close, its sprites go on', async () => {
    const world = 'kicks';
    const ann = await join(relay.url, { world });
    const bob = await join(relay.url, { world });
    const before = (await relay.metrics()).get('sprites_polls_parked') ?? 0;
    let { cursor } = await pollFor(ann, ann.cursor, ({ type }) => type === 'neighbours');
    const held = poll(ann, cursor);
    await parked(relay, before + 1);
    // A socket that never polls, and one whose poll is parked elsewhere, close all the same.
    const socket = new WebSocket(ann.socket, { headers: { authorization: `Bearer ${ann.token}` } });
    await once(socket, 'open');
    const closed = once(socket, 'close');
    assert.equal((await admin(relay, 'POST', 'kick', { desktop: ann.desktop })).status, 200);
    const document = isProblem(await held, 'desktop-ended');
    assert.match(document.detail, /operator/);
    assert.equal((await closed)[0], 1008);
    isProblem(await post(ann, crossingOf(1)), 'desktop-ended');
    isProblem(await admin(relay, 'POST', 'kick', { desktop: ann.desktop }), 'not-found');
    isProblem(await admin(relay, 'POST', 'kick', { desktop: 'nobody' }), 'malformed', 'desktop');
    isProblem(await admin(relay, 'POST', 'kick', {}), 'malformed', 'desktop');
    // What was thrown to the kicked desktop before is with its neighbour.
    const carol = await join(relay.url, { world });
    assert.equal((await post(bob, crossingOf(1, 'right', 'On'))).status, 202);
    assert.equal((await admin(relay, 'POST', 'kick', { desktop: carol.desktop })).status, 200);
    const batch = await pollFor(bob, bob.cursor, isSprite);
    assert.equal(batch.events.filter(isSprite)[0].sprite.name, 'On');
    cursor = batch.cursor;
  });

  it('bans an address: its desktops end, and it can neither join nor upload until it is unbanned', async () => {
    const ann = await join(relay.url);
    const banned = await admin(relay, 'POST', 'ban', { address: '127.0.0.0/8' });
    assert.equal(banned.status, 200);
    const { address, kicked } = banned.json as { address: string; kicked: number };
    assert.equal(address, '127.0.0.0/8');
    assert.ok(kicked >= 1);
    isProblem(await post(ann, crossingOf(1)), 'desktop-ended');
    for (let n = 0; n < 8; n++) isProblem(await tryJoin(relay), 'banned');
    isProblem(await upload(relay, ann, sprFile()), 'banned');
    const { addresses } = (await admin(relay, 'GET', 'bans')).json as { addresses: { network: string }[] };
    assert.deepEqual(
      addresses.map(({ network }) => network),
      ['127.0.0.0/8'],
    );
    isProblem(await admin(relay, 'POST', 'unban', { address: '10.0.0.0/8' }), 'not-found');
    assert.equal((await admin(relay, 'POST', 'unban', { address: '127.0.0.0/8' })).status, 200);
    await until('workers let it join again', async () => (await tryJoin(relay)).status === 201);
    isProblem(await admin(relay, 'POST', 'ban', { address: 'example.org' }), 'malformed', 'address');
    isProblem(await admin(relay, 'POST', 'ban', { address: '1.2.3.4', seconds: 0 }), 'malformed', 'seconds');
  });

  if (shape.workers > 0) {
    it('answers a ban when every worker enforces it, and not before', async () => {
      const [pid] = relay.pids.workers;
      relay.kill(pid, 'SIGSTOP');
      let isAnswered = false;
      const banned = admin(relay, 'POST', 'ban', { address: '192.0.2.7' }).finally(() => {
        isAnswered = true;
      });
      await until('the master has it', async () => {
        const { addresses } = (await admin(relay, 'GET', 'bans')).json as { addresses: object[] };
        return addresses.length === 1;
      });
      const isEarly = isAnswered;
      relay.kill(pid, 'SIGCONT');
      assert.equal((await banned).status, 200);
      assert.equal(isEarly, false, 'a worker has not heard of it yet');
      assert.equal((await admin(relay, 'POST', 'unban', { address: '192.0.2.7' })).status, 200);
    });
  }

  it('acts although the list of bans cannot be written, and says so; it is written when it can be', async (t) => {
    const path = joinPath(relay.data, 'moderation.json');
    const isolated = await join(relay.url, { name: 'Eve' });
    const bytes = sprFile();
    assert.equal((await upload(relay, isolated, bytes)).status, 201);
    rmSync(path, { force: true });
    mkdirSync(joinPath(path, 'in the way'), { recursive: true });
    t.after(() => rmSync(path, { recursive: true, force: true }));
    const removed = await admin(relay, 'POST', 'remove-picture', { picture: hashOf(bytes) });
    assert.equal(removed.status, 200);
    assert.match((removed.json as { unsaved: string }).unsaved, /the list of bans could not be written/);
    assert.equal((await sendRequest(`${relay.url}/v1/sprites/${hashOf(bytes)}`)).status, 404);
    const banned = await admin(relay, 'POST', 'ban', { address: '127.0.0.1' });
    assert.equal(banned.status, 200);
    assert.ok((banned.json as { kicked: number }).kicked >= 1);
    isProblem(await post(isolated, crossingOf(1)), 'desktop-ended');
    isProblem(await tryJoin(relay), 'banned');
    rmSync(path, { recursive: true });
    for (const what of [{ address: '127.0.0.1' }, { picture: hashOf(bytes) }]) {
      const { status, json } = await admin(relay, 'POST', 'unban', what);
      assert.deepEqual([status, json], [200, { unbanned: true }]);
    }
    assert.ok(existsSync(path));
  });

  it('ends a ban by itself when its time is over', async () => {
    const banMs = 1_000;
    const startMs = Date.now(); // the clock of bans
    assert.equal((await admin(relay, 'POST', 'ban', { address: '127.0.0.1', seconds: banMs / 1000 })).status, 200);
    await until('the ban has ended', async () => {
      const answer = await tryJoin(relay);
      if (answer.status !== 201) isProblem(answer, 'banned');
      return answer.status === 201;
    });
    const heldMs = Date.now() - startMs;
    assert.ok(heldMs >= banMs, `it has ended after ${heldMs} ms`);
    assert.deepEqual((await admin(relay, 'GET', 'bans')).json, { addresses: [], pictures: [] });
  });

  it('removes a picture: gone from the store, refused when sent again, and told to polls and sockets', async (t) => {
    const bytes = sprFile();
    const file = hashOf(bytes);
    const ann = await join(relay.url, { world: 'removal' });
    const bob = await DesktopClient.join(relay.url, { world: 'removal', transport: 'socket' });
    t.after(() => bob.stop());
    assert.equal((await upload(relay, ann, bytes)).status, 201);
    const stored = joinPath(relay.data, 'sprites', file.slice(0, 2), `${file}.spr`);
    assert.ok(existsSync(stored));
    const told = pollFor(ann, ann.cursor, ({ type }) => type === 'removed');
    assert.equal((await admin(relay, 'POST', 'remove-picture', { picture: file })).status, 200);
    const { events } = await told;
    assert.deepEqual(
      events.filter(({ type }) => type === 'removed'),
      [{ type: 'removed', file }],
    );
    await until('the socket is told', () =>
      bob.notices.some((notice) => notice.type === 'removed' && notice.file === file),
    );
    await until('the file is deleted', () => !existsSync(stored));
    isProblem(await sendRequest(`${relay.url}/v1/sprites/${file}`), 'not-found');
    isProblem(await upload(relay, ann, bytes), 'picture-refused');
    const crossing = crossingOf(1);
    const removed = { ...crossing, sprite: { ...crossing.sprite, file } };
    isProblem(await post(ann, removed), 'picture-refused');
    // In another form, which the fast scan does not read, and over a socket.
    isProblem(await post(ann, { ...removed, note: 1 }), 'picture-refused');
    assert.equal((await post(ann, crossingOf(2))).status, 202);
    assert.equal((await admin(relay, 'POST', 'unban', { picture: file })).status, 200);
    await until('it is carried again', async () => (await upload(relay, ann, bytes)).status < 300);
    isProblem(await admin(relay, 'POST', 'remove-picture', { picture: 'x' }), 'malformed', 'picture');
  });

  it('announces a line of text to everybody, once', async () => {
    const ann = await join(relay.url, { world: 'announced' });
    const told = pollFor(ann, ann.cursor, ({ type }) => type === 'announcement');
    assert.equal((await admin(relay, 'POST', 'announce', { text: ' The relay restarts at noon. ' })).status, 202);
    const { events, cursor } = await told;
    assert.deepEqual(
      events.filter(({ type }) => type === 'announcement'),
      [{ type: 'announcement', text: 'The relay restarts at noon.' }],
    );
    await post(ann, crossingOf(1));
    const next = await pollFor(ann, cursor, isSprite);
    assert.ok(!next.events.some(({ type }) => type === 'announcement'));
    for (const text of ['', ' ', 'a\u202eb', 'x'.repeat(401), 7]) {
      isProblem(await admin(relay, 'POST', 'announce', { text }), 'malformed', 'text');
    }
    assert.equal((await admin(relay, 'POST', 'announce', { text: '"'.repeat(400) })).status, 202);
  });

  it('lets a desktop mute another: its throws go on, and it does not notice', async () => {
    const world = 'mutes';
    const [ann, bob, carol] = [
      await join(relay.url, { world }),
      await join(relay.url, { world }),
      await join(relay.url, { world }),
    ];
    const mutes = `${relay.url}/v1/desktops/${bob.desktop}/mutes`;
    const mute = (body: object) => sendRequest(mutes, { method: 'POST', token: bob.token, body });
    assert.equal((await mute({ desktop: ann.desktop })).status, 204);
    assert.equal((await mute({ desktop: ann.desktop })).status, 204);
    const thrown = await post(ann, crossingOf(1, 'right', 'Muted'));
    assert.equal(thrown.status, 202);
    assert.equal((thrown.json as { to: { desktop: string } }).to.desktop, bob.desktop);
    const batch = await pollFor(carol, carol.cursor, isSprite);
    assert.equal(batch.events.filter(isSprite)[0].sprite.name, 'Muted');
    const ended = await sendRequest(`${mutes}/${ann.desktop}`, { method: 'DELETE', token: bob.token });
    assert.equal(ended.status, 204);
    assert.equal((await post(ann, crossingOf(2, 'right', 'Heard'))).status, 202);
    const heard = await pollFor(bob, bob.cursor, isSprite);
    assert.deepEqual(
      heard.events.filter(isSprite).map(({ sprite }) => sprite.name),
      ['Heard'],
    );
    for (let n = 0; n < 16; n++) assert.equal((await mute({ desktop: `${(n + 100).toString(16)}-1` })).status, 204);
    isProblem(await mute({ desktop: 'ff-1' }), 'list-full');
    isProblem(await mute({ desktop: 'x' }), 'malformed', 'desktop');
    isProblem(await mute({}), 'malformed', 'desktop');
    isProblem(await sendRequest(mutes, { method: 'POST', body: { desktop: ann.desktop } }), 'unknown-desktop');
    isProblem(await sendRequest(mutes, { method: 'POST', token: ann.token, body: {} }), 'unknown-desktop');
  });

  it('counts reports of a picture, which the operator lists and dismisses, and limits them', async () => {
    const ann = await join(relay.url);
    const bytes = sprFile();
    const file = hashOf(bytes);
    await upload(relay, ann, bytes);
    const report = (body: object, token = ann.token) =>
      sendRequest(`${relay.url}/v1/reports`, { method: 'POST', token, body });
    assert.equal((await report({ file, reason: ' rude ', desktop: ann.desktop })).status, 204);
    assert.equal((await report({ file })).status, 204);
    const { reports } = (await admin(relay, 'GET', 'reports')).json as { reports: Record<string, unknown>[] };
    assert.equal(reports.length, 1);
    const [{ count, reasons, desktops }] = reports;
    assert.deepEqual([reports[0].file, count, reasons, desktops], [file, 2, ['rude'], [ann.desktop]]);
    isProblem(await report({ file: FILE.replace('2', '3') }), 'not-found');
    isProblem(await report({ file, reason: 'x'.repeat(201) }), 'malformed', 'reason');
    isProblem(await report({ file, reason: 1 }), 'malformed', 'reason');
    isProblem(await report({ file, desktop: 'Bob' }), 'malformed', 'desktop');
    isProblem(await report({}), 'malformed', 'file');
    isProblem(await report([]), 'malformed', 'body');
    isProblem(await report({ file }, `${ann.desktop}.${'0'.repeat(32)}`), 'unknown-desktop');
    for (let n = 2; n < REPORTS_PER_WINDOW_MAX; n++) assert.equal((await report({ file })).status, 204);
    isProblem(await report({ file }), 'too-fast');
    assert.equal((await admin(relay, 'POST', 'dismiss', { picture: file })).status, 200);
    assert.deepEqual((await admin(relay, 'GET', 'reports')).json, { reports: [] });
    isProblem(await admin(relay, 'POST', 'dismiss', { picture: file }), 'not-found');
  });
});

describe('bans', BOUNDED, () => {
  const folders: string[] = [];
  const folder = () => {
    const made = mkdtempSync(joinPath(tmpdir(), 'sprites-bans-'));
    folders.push(made);
    return made;
  };
  after(() => {
    for (const made of folders) rmSync(made, { recursive: true, force: true });
  });

  it('are kept over the death of a worker and a restart', async (t) => {
    const data = folder();
    const first = await startRelay({ workers: 2, data });
    t.after(() => first.stop());
    assert.equal((await admin(first, 'POST', 'ban', { address: '127.0.0.1' })).status, 200);
    for (const pid of first.pids.workers) first.kill(pid, 'SIGKILL');
    await until('new workers answer', async () => (await tryJoin(first).catch(() => undefined))?.status === 403);
    await first.stop();
    const second = await startRelay({ workers: 0, data });
    t.after(() => second.stop());
    isProblem(await tryJoin(second), 'banned');
    assert.equal((await admin(second, 'POST', 'unban', { address: '127.0.0.1' })).status, 200);
    await until('it may join', async () => (await tryJoin(second)).status === 201);
  });

  it('apply to the forwarded address behind a proxy, also with --admission open', async (t) => {
    const relay = await startRelay({ workers: 1, args: ['--admission', 'open', '--trust-proxy', '127.0.0.1'] });
    t.after(() => relay.stop());
    const joinFrom = async (address: string) => {
      const headers = { 'X-Forwarded-For': address };
      const body = JSON.stringify({ screen, name: 'Ann' });
      return (await fetch(`${relay.url}/v1/desktops`, { method: 'POST', headers, body })).status;
    };
    assert.equal(await joinFrom('203.0.113.7'), 201);
    const banned = await admin(relay, 'POST', 'ban', { address: '203.0.113.7' });
    assert.deepEqual(banned.json, { address: '203.0.113.7', kicked: 1 });
    assert.deepEqual([await joinFrom('203.0.113.7'), await joinFrom('203.0.113.8')], [403, 201]);
  });

  it('in a malformed file are moved aside, with an error that names the file, and the relay starts', async (t) => {
    const data = folder();
    writeFileSync(joinPath(data, 'moderation.json'), '{"version":1,"addresses":[{}]');
    const relay = await startRelay({ workers: 0, data });
    t.after(() => relay.stop());
    const line = await relay.waitForLog(({ level }) => level === LEVEL.error);
    assert.equal(line.file, joinPath(data, 'moderation.json'));
    const aside = readdirSync(data).find((name) => name.startsWith('moderation.json.malformed-'));
    assert.ok(aside);
    assert.match(readFileSync(joinPath(data, aside), 'utf8'), /^\{"version":1/);
    assert.equal((await tryJoin(relay)).status, 201);
  });
});

describe('a private world that is stricter about pictures', BOUNDED, () => {
  it('carries only what the join that opened it allows', async (t) => {
    const relay = await startRelay({ workers: 1 });
    t.after(() => relay.stop());
    const characters = (await sendRequest(`${relay.url}/sprites/index.json`)).json as { file: string }[];
    const strict = await join(relay.url, { world: 'strict', pictures: 'known' });
    assert.equal(strict.pictures, 'known');
    assert.equal((await join(relay.url, { world: 'strict', pictures: 'any' })).pictures, 'known');
    const elsewhere = await join(relay.url, { world: 'elsewhere' });
    const picture = sprFile();
    const thrown = (number: number, file: string) => {
      const crossing = crossingOf(number);
      return { ...crossing, sprite: { ...crossing.sprite, file } };
    };
    await until('the worker marks pictures', async () => {
      return (await post(strict, thrown(Date.now(), 'ab'.repeat(32)))).status === 403;
    });
    isProblem(await post(strict, thrown(Date.now(), hashOf(picture))), 'picture-refused');
    assert.equal((await post(elsewhere, thrown(1, hashOf(picture)))).status, 202);
    assert.equal((await post(strict, thrown(Date.now(), characters[0].file))).status, 202);
    assert.equal((await upload(relay, elsewhere, picture)).status, 201);
    assert.equal((await post(strict, thrown(Date.now(), hashOf(picture)))).status, 202);
    const counts = await relay.metrics();
    assert.ok((counts.get('sprites_refused_picture_total') ?? 0) >= 2);
  });
});

describe('--pictures', BOUNDED, () => {
  const shippedFile = async (relay: RelayProcess): Promise<string> =>
    ((await sendRequest(`${relay.url}/sprites/index.json`)).json as { file: string }[])[0].file;

  const thrown = (number: number, file: string) => {
    const crossing = crossingOf(number);
    return { ...crossing, sprite: { ...crossing.sprite, file } };
  };

  it('shipped carries only the characters that came with the relay', async (t) => {
    const relay = await startRelay({ workers: 1, args: ['--pictures', 'shipped'] });
    t.after(() => relay.stop());
    const ann = await join(relay.url);
    isProblem(await upload(relay, ann, sprFile()), 'picture-refused');
    isProblem(await post(ann, thrown(1, FILE.replace('2', '3'))), 'picture-refused');
    assert.equal((await post(ann, thrown(2, await shippedFile(relay)))).status, 202);
    const socket = await DesktopClient.join(relay.url, { world: 'socket', transport: 'socket' });
    await until('the socket is open', async () => (await relay.metrics()).get('sprites_polls_parked') === 1);
    const verdict = await socket.throw('right', 'Blob');
    assert.equal(
      verdict?.problem?.code ?? 'accepted',
      (await shippedFile(relay)) === FILE ? 'accepted' : 'picture-refused',
    );
    await socket.stop();
  });

  it('known carries also what is in the store, and accepts no uploads', async (t) => {
    const relay = await startRelay({ workers: 0, args: ['--pictures', 'known'] });
    t.after(() => relay.stop());
    const ann = await join(relay.url);
    const bytes = sprFile();
    const file = hashOf(bytes);
    isProblem(await upload(relay, ann, bytes), 'picture-refused');
    isProblem(await post(ann, thrown(1, file)), 'picture-refused');
    const path = joinPath(relay.data, 'sprites', file.slice(0, 2));
    mkdirSync(path, { recursive: true });
    writeFileSync(joinPath(path, `${file}.spr`), bytes);
    assert.equal((await post(ann, thrown(1, file))).status, 202);
    assert.equal((await post(ann, thrown(2, await shippedFile(relay)))).status, 202);
  });
});

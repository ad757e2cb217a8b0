/** Admission by address, invitations and public counts, through a real relay on both fronts, in one process and with workers. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import {
  CONNECTIONS_MAX,
  JOINS_BURST_MAX,
  SOCKETS_MAX,
  UPLOADS_BURST_MAX,
  WORLDS_BY_ADDRESS_MAX,
} from '../http/admission.ts';
import { UPLOADS_BYTES_MAX } from '../store/sprite_store.ts';
import { SPR_BYTES_MAX } from '../wire/rules.ts';
import { type HttpResponse, type Joined, join, sendRequest } from './desktop_client.ts';
import { onEachFront, onTwoShapes } from './fronts.ts';
import { isProblem } from './problem_check.ts';
import { RawConnection } from './raw_connection.ts';
import { BOUNDED, type RelayProcess, startRelay, until } from './relay_process.ts';
import { hashOf, largeSprFile, sprFile } from './spr_file.ts';

const screen = { width: 1920, height: 1080 };

onTwoShapes('crossed', 'a relay with strict admission', (shape) => {
  let relay: RelayProcess;
  before(async () => {
    const args = ['--trust-proxy', '127.0.0.1,10.0.0.0/8'];
    relay = await startRelay({ ...shape, admission: 'strict', args });
  });
  after(() => relay?.stop());

  /** Joins through the proxy, as the client at `address`. */
  const joinFrom = (address: string, wish: object = {}): Promise<HttpResponse> =>
    sendRequest(`${relay.url}/v1/desktops`, {
      method: 'POST',
      headers: { 'x-forwarded-for': address },
      body: { screen, ...wish },
    });

  it('opens WORLDS_BY_ADDRESS_MAX worlds for an address; others, and commons, stay open', async () => {
    for (let n = 0; n < WORLDS_BY_ADDRESS_MAX; n++) {
      assert.equal((await joinFrom('203.0.113.1', { world: `w${n}` })).status, 201);
    }
    const refused = await joinFrom('203.0.113.1', { world: 'one more' });
    isProblem(refused, 'too-many-worlds');
    assert.match(String(refused.body), /--admission open/);
    assert.ok(Number(refused.headers['retry-after']) > 0);
    assert.equal((await joinFrom('203.0.113.2', { world: 'one more' })).status, 201);
    assert.equal((await joinFrom('203.0.113.1')).status, 201);
  });

  it('counts the forwarded address, and believes nothing that the client wrote before the proxy', async () => {
    const acceptedUntilRefused = async (from: (n: number) => string) => {
      for (let accepted = 0; accepted <= JOINS_BURST_MAX + 30; accepted++) {
        const answer = await joinFrom(from(accepted));
        if (answer.status !== 201) {
          isProblem(answer, 'too-many-joins');
          return accepted;
        }
        const { desktop, token } = answer.json as Joined;
        await sendRequest(`${relay.url}/v1/desktops/${desktop}`, { method: 'DELETE', token });
      }
      assert.fail('no join was refused');
    };
    // A join a second is given back meanwhile, so the address may have some again.
    const accepted = await acceptedUntilRefused((n) => `198.51.100.${n % 200}, 203.0.113.3, 10.1.2.3`);
    assert.ok(accepted >= JOINS_BURST_MAX, `${accepted} were accepted`);
    const more = await acceptedUntilRefused(() => '203.0.113.3, 203.0.113.3');
    assert.ok(more < JOINS_BURST_MAX, `${more} more were accepted`);
    assert.equal((await joinFrom('203.0.113.4')).status, 201);
    assert.equal((await joinFrom('2001:db8::1')).status, 201);
    assert.ok(((await relay.metrics()).get('sprites_admission_refused_total') as number) >= 2);
  });

  if (shape.workers > 0) return;

  it('refuses uploads above UPLOADS_BURST_MAX, and their bytes are not read', async () => {
    const { token } = (await joinFrom('203.0.113.5')).json as Joined;
    const headers = { 'x-forwarded-for': '203.0.113.5' };
    const bytes = sprFile();
    let refused: HttpResponse | undefined;
    for (let n = 0; n <= UPLOADS_BURST_MAX + 30 && !refused; n++) {
      const url = `${relay.url}/v1/sprites/${hashOf(Buffer.from(`${n}`))}`;
      const answer = await sendRequest(url, { method: 'PUT', token, headers, body: bytes });
      if (answer.status === 400) isProblem(answer, 'sprite-invalid');
      else refused = answer;
    }
    isProblem(refused as HttpResponse, 'too-many-uploads');
    const other = { 'x-forwarded-for': '203.0.113.6' };
    const url = `${relay.url}/v1/sprites/${hashOf(bytes)}`;
    assert.equal((await sendRequest(url, { method: 'PUT', token, headers: other, body: bytes })).status, 201);
    assert.equal((await sendRequest(url, { method: 'PUT', token, headers, body: bytes })).status, 204, 'it is here');
  });

  it('holds unfinished uploads of an address up to a third of the budget, whatever desktops it has, and serves others', async () => {
    const held = async () => (await relay.metrics()).get('sprites_store_upload_bytes') as number;
    const eve = { 'x-forwarded-for': '203.0.113.8' };
    const vic = { 'x-forwarded-for': '203.0.113.9' };
    const tokens: string[] = [];
    for (let n = 0; n < 4; n++) tokens.push(((await joinFrom(eve['x-forwarded-for'])).json as Joined).token);
    const { token } = (await joinFrom(vic['x-forwarded-for'])).json as Joined;
    const put = (bytes: Buffer, headers: Record<string, string>, by: string) =>
      sendRequest(`${relay.url}/v1/sprites/${hashOf(bytes)}`, { method: 'PUT', token: by, headers, body: bytes });
    const slow: RawConnection[] = [];
    const startUpload = async (by: string) => {
      const connection = await RawConnection.open(relay.ports.api);
      slow.push(connection);
      const head = [`PUT /v1/sprites/${hashOf(sprFile())} HTTP/1.1`, 'Host: relay', `Authorization: Bearer ${by}`];
      const ends = [`X-Forwarded-For: ${eve['x-forwarded-for']}`, `Content-Length: ${SPR_BYTES_MAX}`];
      connection.send(`${[...head, ...ends].join('\r\n')}\r\n\r\nx`);
      return connection;
    };
    const share = Math.floor(UPLOADS_BYTES_MAX / 3 / SPR_BYTES_MAX);
    try {
      for (let n = 0; n < share; n++) {
        await startUpload(tokens[n % tokens.length]);
        await until('it is held', async () => (await held()) === (n + 1) * SPR_BYTES_MAX);
      }
      isProblem(await (await startUpload(tokens[3])).answer(), 'relay-busy');
      assert.equal(await held(), share * SPR_BYTES_MAX);
      assert.equal((await put(largeSprFile(), vic, token)).status, 201);
      assert.equal((await put(sprFile(), eve, tokens[0])).status, 201, 'what is left of its share');
    } finally {
      for (const connection of slow) connection.destroy();
    }
    await until('everything is freed', async () => (await held()) === 0);
  });

  it('refuses WebSockets above SOCKETS_MAX with 429, and accepts one when another has closed', async () => {
    const { socket } = (await joinFrom('203.0.113.7')).json as Joined;
    const headers = { 'x-forwarded-for': '203.0.113.7' };
    const open = async () => {
      const one = new WebSocket(socket, { headers });
      one.on('error', () => {});
      const [outcome] = await Promise.race([
        once(one, 'open').then(() => [one]),
        once(one, 'unexpected-response').then(([, response]) => [response]),
      ]);
      return outcome;
    };
    const sockets: WebSocket[] = [];
    for (let n = 0; n < SOCKETS_MAX; n++) sockets.push(await open());
    const refused = await open();
    assert.equal(refused.statusCode, 429);
    assert.ok(Number(refused.headers['retry-after']) > 0);
    refused.destroy();
    sockets[0].terminate();
    for (;;) {
      const again = await open();
      sockets.push(again);
      if (again instanceof WebSocket) break;
      again.destroy();
    }
    for (const one of sockets) if (one instanceof WebSocket) one.terminate();
  });
});

describe('invitations and counts', BOUNDED, () => {
  let relay: RelayProcess;
  before(async () => {
    relay = await startRelay({ workers: 0 });
  });
  after(() => relay?.stop());

  const joinAs = (wish: object) =>
    sendRequest(`${relay.url}/v1/desktops`, { method: 'POST', body: { screen, ...wish } });

  it('enter a private world by its newest invitation only: an id, an old or a forged one tell nothing', async () => {
    const ann = await join(relay.url, { world: 'the attic of Ann' });
    const inside = await join(relay.url, { near: ann.invitation });
    assert.equal(inside.world, 'the attic of Ann');
    const forged = ann.invitation.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
    const token = ann.token.replace('.', '-').replace(/^([^-]+)-[^-]+-/, '$1.');
    for (const near of [forged, token]) {
      const answer = await joinAs({ near });
      isProblem(answer, 'near-gone');
      assert.ok(!answer.body.includes('attic'));
    }
    const byId = await joinAs({ near: ann.desktop });
    isProblem(byId, 'malformed', 'near');
    assert.ok(!byId.body.includes('attic'));
    const url = `${relay.url}/v1/desktops/${ann.desktop}/invitation`;
    const renewed = await sendRequest(url, { method: 'POST', token: ann.token });
    const { invitation } = renewed.json as Joined;
    isProblem(await joinAs({ near: ann.invitation }), 'near-gone');
    assert.equal((await join(relay.url, { near: invitation })).world, 'the attic of Ann');
    isProblem(await sendRequest(url, { method: 'POST', token: inside.token }), 'unknown-desktop');
    isProblem(await sendRequest(url, { method: 'GET', token: ann.token }), 'method-not-allowed');
    const logged = JSON.stringify(relay.log);
    for (const secret of [ann.invitation, invitation, 'attic']) assert.ok(!logged.includes(secret));
  });

  it('tell how many are here, and never the name of a private world', async () => {
    const read = async () => {
      const { body, json } = await sendRequest(`${relay.url}/v1/worlds`);
      assert.ok(!body.includes('attic'), String(body));
      return json as { desktops: number; worlds: { world: string; desktops: number }[]; privateWorlds: number };
    };
    const before = await read();
    assert.equal(before.worlds[0].world, 'commons');
    assert.ok(before.privateWorlds >= 1 && before.desktops >= 3);
    const bob = await join(relay.url, {});
    assert.deepEqual(bob.here, { world: before.worlds[0].desktops + 1, relay: before.desktops + 1 });
  });
});

onEachFront('a relay with strict admission and no proxy', (front) => {
  let relay: RelayProcess;
  const open: RawConnection[] = [];
  before(async () => {
    relay = await startRelay({ workers: 0, front, admission: 'strict' });
  });
  after(async () => {
    for (const connection of open) connection.destroy();
    await relay?.stop();
  });

  it('accepts CONNECTIONS_MAX long-polls of one address, refuses one more, and accepts it when another has closed', async () => {
    const connect = async () => {
      const connection = await RawConnection.open(relay.ports.events);
      open.push(connection);
      return connection;
    };
    const ask = (connection: RawConnection) => connection.send('GET /v1/none HTTP/1.1\r\nHost: a\r\n\r\n').answer();
    while (open.length < CONNECTIONS_MAX) await connect();
    assert.equal((await ask(open[CONNECTIONS_MAX - 1])).status, 404, 'the last one is served');
    isProblem(await ask(await connect()), 'too-many-connections');
    (open.shift() as RawConnection).destroy();
    await until('there is room for one more', async () => {
      const connection = await connect();
      return (await ask(connection).catch(() => undefined))?.status === 404;
    });
  });
});

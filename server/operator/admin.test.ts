/** The limits of the admin port. Its answers are tested with a whole relay. */

import assert from 'node:assert/strict';
import { pbkdf2 } from 'node:crypto';
import { once } from 'node:events';
import type http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { TIMEOUTS } from '../front/front.ts';
import { isProblem } from '../test/problem_check.ts';
import { RawConnection } from '../test/raw_connection.ts';
import { HEAD_BYTES_MAX } from '../wire/rules.ts';
import { type AdminSources, adminServer } from './admin.ts';
import { CONNECTIONS_MAX } from './admin_connections.ts';

const isLinux = process.platform === 'linux';
const TOKEN = 'x'.repeat(64);
/** Requests for the metrics that are not answered yet: call one with the text to answer it. */
const answers: ((text: string) => void)[] = [];
const SOURCES = {
  token: TOKEN,
  data: tmpdir(),
  log: { info: () => {} },
  relay: { slab: { usedBytes: 0 } },
  processes: () => ({ pids: new Map() }),
  // More than a socket accepts for a client that does not read.
  status: () => ({ ready: true, text: 'x'.repeat(8 << 20) }),
  metrics: () => new Promise<string>((resolve) => answers.push(resolve)),
} as unknown as AdminSources;
const STATUS = 'GET /readyz HTTP/1.1\r\nHost: relay\r\n\r\n';
const METRICS = `GET /metrics HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`;
const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: relay\r\n';

describe('the admin port', () => {
  let server: http.Server;
  let port: number;
  beforeEach(async () => {
    server = adminServer(SOURCES, { ...TIMEOUTS, requestMs: 600, idleMs: 600 });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    port = (server.address() as AddressInfo).port;
  });
  afterEach(() => {
    answers.length = 0;
    server.closeAllConnections();
    server.close();
  });

  it(`accepts a head of nearly ${HEAD_BYTES_MAX} bytes, and refuses a larger one with 431`, async () => {
    // node:http does not count every byte of a head.
    const head = (bytes: number) => `${HEALTH}X: ${'x'.repeat(bytes - HEALTH.length - 7)}\r\n\r\n`;
    const connection = await RawConnection.open(port);
    assert.equal((await connection.send(head(HEAD_BYTES_MAX - 100)).answer()).status, 200);
    isProblem(await connection.send(head(HEAD_BYTES_MAX + 100)).answer(), 'head-too-large');
    await connection.closed;
  });

  it('answers 408 when a head does not arrive in time, and closes idle connections', async () => {
    const [slow, idle] = [await RawConnection.open(port), await RawConnection.open(port)];
    slow.send(HEALTH);
    assert.equal((await idle.send(`${HEALTH}\r\n`).answer()).status, 200);
    isProblem(await slow.answer(), 'request-timeout');
    await Promise.all([slow.closed, idle.closed]);
  });

  it('serves the files of its page without a token, as JavaScript, and none of their tests', async () => {
    const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
    const page = await get('/');
    assert.deepEqual([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
    assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'none'/);
    const named = [...(await page.text()).matchAll(/(?:src|href)="(page\/[^"]+)"/g)].map(([, path]) => `/${path}`);
    assert.ok(named.some((path) => path.endsWith('.ts')) && named.some((path) => path.endsWith('.css')), named.join());
    for (const path of named) {
      const file = await get(path);
      const type = path.endsWith('.ts') ? 'text/javascript' : 'text/css';
      assert.deepEqual([file.status, file.headers.get('content-type')], [200, `${type}; charset=utf-8`], path);
      // Types are stripped, so it is what a browser can run.
      if (path.endsWith('.ts')) assert.doesNotMatch(await file.text(), /^(?:import type|interface) /m);
    }
    // There is no such file for it: this is a path like any other, which needs the token.
    assert.equal((await get('/page/readings.test.ts')).status, 401);
  });

  it('answers a request that is not HTTP with a problem document', async () => {
    const connection = await RawConnection.open(port);
    isProblem(await connection.send('hello\r\n\r\n').answer(), 'malformed');
    await connection.closed;
  });

  it('starts a recording when a client has the whole response of the last one', { skip: !isLinux }, async () => {
    // The file of a recording closes on a thread of libuv's. These jobs keep all threads busy, so it closes late.
    let isDone = false;
    const keepBusy = () => isDone || pbkdf2('', '', 100_000, 32, 'sha256', keepBusy);
    for (let job = 0; job < 8; job++) keepBusy();
    const url = `http://127.0.0.1:${port}/admin/profile?seconds=1&kind=threads`;
    const record = () => fetch(url, { method: 'POST', headers: { authorization: `Bearer ${TOKEN}` } });
    try {
      for (let round = 0; round < 2; round++) {
        const recording = await record();
        assert.equal(recording.status, 200, `recording ${round}`);
        await recording.arrayBuffer();
      }
    } finally {
      isDone = true;
    }
  });

  /** Opens as many connections as the port allows, and waits until the server has all of them. */
  async function fill(): Promise<RawConnection[]> {
    const held = await Promise.all(Array.from({ length: CONNECTIONS_MAX }, () => RawConnection.open(port)));
    while ((await count()) < CONNECTIONS_MAX) await new Promise((resolve) => setTimeout(resolve, 10));
    return held;
  }
  const count = () => new Promise<number>((resolve) => server.getConnections((_, open) => resolve(open)));

  it(`accepts ${CONNECTIONS_MAX} connections, closes one more, and accepts one again when one has closed`, async () => {
    const held = await fill();
    // Each has a request that is being answered, so none can be closed.
    for (const connection of held) connection.send(METRICS);
    while (answers.length < CONNECTIONS_MAX) await new Promise((resolve) => setTimeout(resolve, 10));
    await (await RawConnection.open(port)).closed;
    answers.pop()?.('a 1');
    assert.equal((await held[CONNECTIONS_MAX - 1].answer()).status, 200);
    held[CONNECTIONS_MAX - 1].destroy();
    while ((await count()) === CONNECTIONS_MAX) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal((await (await RawConnection.open(port)).send(`${HEALTH}\r\n`).answer()).status, 200);
    for (const connection of held) connection.destroy();
  });

  it('closes the oldest connection that has sent nothing when a new one comes', async () => {
    const held = await fill();
    held[0].send(HEALTH);
    assert.equal((await held[1].send(`${HEALTH}\r\n`).answer()).status, 200);
    const operator = await RawConnection.open(port);
    assert.equal((await operator.send(`${HEALTH}\r\n`).answer()).status, 200);
    await held[2].closed;
    assert.equal((await held[0].send('\r\n').answer()).status, 200);
    for (const connection of held) connection.destroy();
  });

  it('closes the oldest idle connection, or one with a part of a request, when none is silent', async () => {
    const held = await fill();
    held[0].send(METRICS);
    for (const connection of held.slice(1)) connection.send(HEALTH);
    while (answers.length < 1) await new Promise((resolve) => setTimeout(resolve, 10));
    // The last one's whole request shows that the parts of the others have arrived.
    assert.equal((await held[CONNECTIONS_MAX - 1].send('\r\n').answer()).status, 200);
    const operator = await RawConnection.open(port);
    assert.equal((await operator.send(`${HEALTH}\r\n`).answer()).status, 200);
    await held[1].closed;
    answers[0]('a 1');
    assert.equal((await held[0].answer()).status, 200);
    for (const connection of held) connection.destroy();
  });

  it('closes a connection whose stranger does not read its answers, rather than an operator’s', async () => {
    const held = await fill();
    for (const connection of held.slice(1)) connection.send(METRICS);
    held[0].socket.pause();
    held[0].send(STATUS.repeat(2));
    while (answers.length < CONNECTIONS_MAX - 1) await new Promise((resolve) => setTimeout(resolve, 10));
    const operator = await RawConnection.open(port);
    assert.equal((await operator.send(`${HEALTH}\r\n`).answer()).status, 200);
    for (const answer of answers) answer('a 1');
    for (const connection of held.slice(1)) {
      assert.equal((await connection.answer()).status, 200);
      connection.destroy();
    }
    held[0].destroy();
  });
});

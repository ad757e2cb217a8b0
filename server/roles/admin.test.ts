/** The limits of the admin port. Its answers are tested with a whole relay. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { TIMEOUTS } from '../front/front.ts';
import { isProblem } from '../test/problem_check.ts';
import { RawConnection } from '../test/raw_connection.ts';
import { HEAD_BYTES_MAX } from '../wire/route.ts';
import { type AdminSources, adminServer, CONNECTIONS_MAX } from './admin.ts';

const SOURCES = { token: 'x'.repeat(64), status: () => ({ ready: true }) } as unknown as AdminSources;
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

  it('answers a request that is not HTTP with a problem document', async () => {
    const connection = await RawConnection.open(port);
    isProblem(await connection.send('hello\r\n\r\n').answer(), 'malformed');
    await connection.closed;
  });

  it(`accepts ${CONNECTIONS_MAX} connections, closes one more, and accepts one again when one has closed`, async () => {
    const held = await Promise.all(Array.from({ length: CONNECTIONS_MAX }, () => RawConnection.open(port)));
    // Each has sent half a request, so none is idle.
    for (const connection of held) connection.send(HEALTH);
    await (await RawConnection.open(port)).closed;
    assert.equal((await held[0].send('\r\n').answer()).status, 200);
    held[0].destroy();
    const count = () => new Promise<number>((resolve) => server.getConnections((_, open) => resolve(open)));
    while ((await count()) === CONNECTIONS_MAX) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal((await (await RawConnection.open(port)).send(`${HEALTH}\r\n`).answer()).status, 200);
    for (const connection of held) connection.destroy();
  });
});

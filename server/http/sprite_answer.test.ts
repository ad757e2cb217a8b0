/** Sending a sprite file: it is released when it is sent, when its client goes, and when its client does not read it in time. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import express from 'express';
import { pino } from 'pino';
import { RawConnection } from '../test/raw_connection.ts';
import { until } from '../test/relay_process.ts';
import { errorHandlers } from './api.ts';
import { sendSprite } from './sprite_answer.ts';

const GET = 'GET /file HTTP/1.1\r\nHost: relay\r\n\r\n';
const FILE = 'f'.repeat(64);

/** More than the kernel's buffers of both ends hold. */
const PIPELINED = 64;

describe('a sprite file that is sent', () => {
  const bytes = Buffer.alloc(2 ** 20, 7);
  let server: http.Server;
  let port: number;
  let held = 0;
  let answered = 0;
  let msMax = 60_000;

  beforeEach(async () => {
    held = answered = 0;
    msMax = 60_000;
    const app = express().get('/file', (request, response) => {
      held++;
      answered++;
      sendSprite(request, response, FILE, { bytes, release: () => held-- }, msMax);
    });
    app.use(...errorHandlers(pino({ level: 'silent' })));
    server = http.createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  /** A client that has sent many requests and reads nothing. */
  async function slowReader(): Promise<RawConnection> {
    const connection = await RawConnection.open(port);
    connection.socket.pause();
    connection.send(GET.repeat(PIPELINED));
    await until('its requests are read', () => answered === PIPELINED);
    assert.ok(held > 0, 'the client has not read them');
    return connection;
  }

  it('is released when its client has it', async () => {
    const connection = await RawConnection.open(port);
    const { status, body } = await connection.send(GET).answer();
    assert.equal(status, 200);
    assert.ok(body.equals(bytes));
    await until('it is released', () => held === 0);
    const known = GET.replace('\r\n\r\n', `\r\nIf-None-Match: "${FILE}"\r\n\r\n`);
    assert.equal((await connection.send(known).answer()).status, 304);
    const beyond = GET.replace('\r\n\r\n', `\r\nRange: bytes=${bytes.length}-\r\n\r\n`);
    await connection.send(beyond).answer();
    await until('both are released', () => answered === 3 && held === 0);
    connection.destroy();
  });

  it('is released when its client goes away, with all that wait behind it', async () => {
    const connection = await slowReader();
    connection.destroy();
    await until('all are released', () => held === 0);
  });

  it('is cut off and released when its client does not read it in time', async () => {
    msMax = 200;
    const connection = await slowReader();
    await until('all are released', () => held === 0);
    connection.socket.resume();
    await connection.closed;
    assert.ok(connection.over);
  });
});

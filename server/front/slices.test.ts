import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { endSlices, SLICE_BYTES, slicedPush, sliceReads } from './slices.ts';

const REQUEST = 'GET / HTTP/1.1\r\n\r\n';

/** A server whose connections are over after `requestsMax` requests; returns its port and the number of parsed requests. */
async function serve(requestsMax: number) {
  const seen = { requests: 0, largest: 0 };
  const server = http.createServer({ requireHostHeader: false });
  const over = new WeakSet<Socket>();
  const push = slicedPush((socket) => over.has(socket));
  server.on('connection', (socket: Socket) => {
    sliceReads(socket, push);
    socket.on('data', (slice: Buffer) => {
      seen.largest = Math.max(seen.largest, slice.length);
    });
  });
  server.on('request', (request, response) => {
    if (++seen.requests === requestsMax) over.add(request.socket);
    response.end();
  });
  server.on('upgrade', (_, socket: Socket) => {
    endSlices(socket);
    socket.on('data', (chunk: Buffer) => socket.write(`${chunk.length} `));
    socket.write('now');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { seen, server, port: (server.address() as AddressInfo).port };
}

async function send(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  let received = '';
  socket.on('data', (more: string) => {
    received += more;
  });
  socket.end(text);
  await once(socket, 'close');
  return received;
}

describe('slices', () => {
  it('parse nothing of a connection after the slice in which it was over', async (t) => {
    const { seen, server, port } = await serve(10);
    t.after(() => server.close());
    await send(port, REQUEST.repeat(3000));
    const inSlice = Math.ceil(SLICE_BYTES / REQUEST.length);
    assert.ok(seen.requests >= 10 && seen.requests <= 10 + inSlice, `${seen.requests} requests were parsed`);
    assert.equal(seen.largest, SLICE_BYTES);
  });

  it('parse every request of a connection that is not over, at each size of the last slice', async (t) => {
    for (const rest of [0, 1, 17]) {
      const { seen, server, port } = await serve(-1);
      const text = REQUEST.repeat(200) + REQUEST.slice(0, rest);
      const received = await send(port, text);
      server.close();
      assert.equal(seen.requests, 200);
      assert.equal(received.match(/HTTP\/1\.1 200/g)?.length, 200);
    }
    const { server, port } = await serve(-1);
    t.after(() => server.close());
    const body = 'x'.repeat(10 * SLICE_BYTES + 1);
    const post = `POST / HTTP/1.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    assert.match(await send(port, post), /^HTTP\/1\.1 200/);
  });

  it('come from one chunk of a connection in each turn of the loop', async (t) => {
    const { seen, server, port } = await serve(-1);
    t.after(() => server.close());
    const inChunk = Math.ceil((64 << 10) / REQUEST.length);
    let [most, before] = [0, 0];
    const turn = () => {
      most = Math.max(most, seen.requests - before);
      before = seen.requests;
      if (before < 8 * inChunk) setImmediate(turn);
    };
    turn();
    const received = await send(port, REQUEST.repeat(8 * inChunk));
    assert.equal(seen.requests, 8 * inChunk);
    assert.equal(received.match(/HTTP\/1\.1 200/g)?.length, seen.requests, 'all are answered');
    assert.ok(most <= inChunk + 1, `${most} requests in one turn`);
  });

  it('end with an upgrade: what follows comes in whole chunks', async (t) => {
    const { server, port } = await serve(-1);
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    t.after(() => {
      socket.destroy();
      server.close();
    });
    socket.write('GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    await once(socket, 'data');
    const sent = 3 * SLICE_BYTES;
    socket.write('y'.repeat(sent));
    let received = '';
    while (received.split(' ').reduce((sum, size) => sum + Number(size), 0) < sent)
      received += await once(socket, 'data');
    const sizes = received.split(' ').map(Number);
    assert.ok(Math.max(...sizes) > SLICE_BYTES, received);
  });
});

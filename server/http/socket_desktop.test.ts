/** Sockets over the loopback, with a worker that the test plays. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket as TcpSocket } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Reply } from '../processes/pending.ts';
import { writeCursor } from '../wire/cursor.ts';
import { writeToken } from '../wire/identity.ts';
import { MESSAGES_BURST_MAX, MESSAGES_PER_SECOND_MAX } from '../wire/rules.ts';
import {
  CROSSINGS_IN_FLIGHT_MAX,
  POLLS_IN_FLIGHT_MAX,
  SOCKET_PING_MS,
  SocketDesktops,
  type SocketsWorker,
  TOO_FAST_MS_MAX,
  UNREAD_BYTES_HIGH,
  UNREAD_MS_MAX,
} from './socket_desktop.ts';

const PATH = '/v1/desktops/1-1/socket';
const TOKEN = writeToken(1, 1, new Uint32Array(4));

const reply = (status: number, value: unknown): Reply => ({
  status,
  body: Buffer.from(JSON.stringify(value)),
  retryAfterSeconds: 0,
});

/** A worker whose polls the test answers. */
class FakeWorker implements SocketsWorker {
  /** The polls that were not answered yet: their sequences and callbacks. */
  readonly polls: { seq: number; answer: (reply: Reply) => void }[] = [];
  readonly closedPolls: number[] = [];
  throws = 0;
  queries = 0;
  /** The sayings that were not answered yet. */
  readonly sayings: ((reply: Reply) => void)[] = [];
  verified = reply(204, null);
  /** Answers each poll at once, if set. */
  batch: Reply | undefined;

  poll: SocketsWorker['poll'] = (_, __, seq, answer) => {
    if (this.batch) answer(this.batch);
    else this.polls.push({ seq, answer });
    return seq;
  };
  closed: SocketsWorker['closed'] = (request) => void this.closedPolls.push(request);
  throwFrom: SocketsWorker['throwFrom'] = (_, __, answer) => {
    this.throws++;
    answer(reply(202, { to: null }));
  };
  showFrom: SocketsWorker['showFrom'] = (_, __, answer) => answer(reply(202, { edges: ['left'] }));
  query: SocketsWorker['query'] = async (query) => {
    if (query === 'say') return new Promise((resolve) => this.sayings.push(resolve));
    this.queries++;
    return this.verified;
  };
}

let server: Server | undefined;
const clients: WebSocket[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.terminate();
  server?.close();
});

async function open(worker: FakeWorker, unreadBytesMax?: number, client?: string) {
  const sockets = new SocketDesktops(worker, unreadBytesMax);
  server = createServer().listen(0, '127.0.0.1');
  server.on('upgrade', (request, socket, head) => sockets.upgrade(request, socket, head, client));
  await once(server, 'listening');
  const ws = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`);
  clients.push(ws);
  await once(ws, 'open');
  ws.on('error', () => {});
  ws.send(JSON.stringify({ token: TOKEN }));
  return { sockets, ws };
}

async function until(sentence: string, condition: () => boolean): Promise<void> {
  for (let n = 0; n < 2000; n++) {
    if (condition()) return;
    await sleep(5);
  }
  throw new Error(`Waited in vain until ${sentence}`);
}

const pollOf = (seq: number) => JSON.stringify({ cursor: writeCursor(1, seq) });
const THROW = '{"crossing":1}';

describe('a socket', () => {
  it('has two polls at the master; of further ones the newest is kept, and is sent when one is answered', async () => {
    const worker = new FakeWorker();
    const { ws } = await open(worker);
    const received: string[] = [];
    ws.on('message', (bytes) => received.push(JSON.parse(`${bytes}`).name ?? ''));
    for (let seq = 1; seq <= POLLS_IN_FLIGHT_MAX + 3; seq++) ws.send(pollOf(seq));
    ws.send(THROW);
    await until('all messages have arrived', () => worker.throws === 1);
    const seqs = () => worker.polls.map(({ seq }) => seq);
    assert.deepEqual(seqs(), [1, 2]);
    worker.polls.shift()?.answer(reply(200, { name: 'first' }));
    assert.deepEqual(seqs(), [2, POLLS_IN_FLIGHT_MAX + 3]);
    await until('the answer has arrived', () => received.length === 2);
    ws.close();
    await until('the open polls are reported closed', () => worker.closedPolls.length === 2);
    assert.deepEqual(worker.closedPolls, [2, POLLS_IN_FLIGHT_MAX + 3]);
  });

  it('has CROSSINGS_IN_FLIGHT_MAX sayings and throws at the master: one below, at the limit, one above', async () => {
    const worker = new FakeWorker();
    const { ws } = await open(worker);
    const answered: { saying?: number; heard?: number; problem?: { code: string } }[] = [];
    ws.on('message', (bytes) => answered.push(JSON.parse(`${bytes}`)));
    for (let saying = 1; saying <= CROSSINGS_IN_FLIGHT_MAX + 1; saying++)
      ws.send(JSON.stringify({ saying, text: 'a' }));
    await until('the last one is refused', () => answered.length === 1);
    assert.deepEqual(
      [worker.sayings.length, answered[0].saying, answered[0].problem?.code],
      [CROSSINGS_IN_FLIGHT_MAX, CROSSINGS_IN_FLIGHT_MAX + 1, 'too-fast'],
    );
    worker.sayings[0](reply(202, { heard: 3 }));
    await until('the first one is answered', () => answered.length === 2);
    assert.deepEqual(answered[1], { saying: 1, heard: 3 });
    ws.send(JSON.stringify({ saying: 100, text: 'a' }));
    await until('there is room for another one', () => worker.sayings.length === CROSSINGS_IN_FLIGHT_MAX + 1);
  });

  it('drops the answer of an older poll that comes after that of a newer one', async () => {
    const worker = new FakeWorker();
    const { ws } = await open(worker);
    const received: string[] = [];
    ws.on('message', (bytes) => received.push(JSON.parse(`${bytes}`).name));
    ws.send(pollOf(1));
    ws.send(pollOf(2));
    await until('both polls are at the master', () => worker.polls.length === 2);
    const [older, newer] = worker.polls;
    newer.answer(reply(200, { name: 'newer' }));
    older.answer(reply(200, { name: 'older' }));
    ws.send(pollOf(3));
    await until('the next poll is there', () => worker.polls.length === 3);
    worker.polls[2].answer(reply(200, { name: 'next' }));
    await until('its answer has arrived', () => received.includes('next'));
    assert.deepEqual(received, ['newer', 'next']);
  });

  it('is not read for a while when it sends more than it may, and is read on after it', async () => {
    const worker = new FakeWorker();
    const { ws } = await open(worker);
    // The message with the token counts, too.
    const extra = MESSAGES_PER_SECOND_MAX / 2;
    const startMs = performance.now();
    for (let n = 1; n < MESSAGES_BURST_MAX + extra; n++) ws.send(THROW);
    await until('all have been handled', () => worker.throws === MESSAGES_BURST_MAX + extra - 1);
    ws.send(THROW);
    await until('the next one has been handled', () => worker.throws === MESSAGES_BURST_MAX + extra);
    const waitedMs = performance.now() - startMs;
    assert.ok(waitedMs > (extra / MESSAGES_PER_SECOND_MAX) * 900, `it was handled after ${waitedMs} ms`);
  });

  it('is closed when it sends more than it may for longer than TOO_FAST_MS_MAX, and not before', async (context) => {
    const worker = new FakeWorker();
    const { sockets, ws } = await open(worker);
    await until('its token is checked', () => worker.queries === 1);
    // A whole number: with a fraction, the steps would not sum to TOO_FAST_MS_MAX exactly.
    let nowMs = Math.ceil(performance.now()) + 60_000;
    context.mock.method(performance, 'now', () => nowMs);
    context.mock.timers.enable({ apis: ['setTimeout'] });
    let sent = 0;
    const send = async (count: number) => {
      for (let n = 0; n < count; n++) ws.send(THROW);
      sent += count;
      while (worker.throws < sent && sockets.count > 0) await new Promise(setImmediate);
    };
    await send(MESSAGES_BURST_MAX + 1);
    const stepMs = 100;
    const pass = async () => {
      nowMs += stepMs;
      context.mock.timers.tick(stepMs);
      await send((stepMs * MESSAGES_PER_SECOND_MAX) / 1000);
    };
    for (let passedMs = 0; passedMs < TOO_FAST_MS_MAX; passedMs += stepMs) await pass();
    assert.equal(sockets.count, 1);
    const told = once(ws, 'close');
    await pass();
    assert.equal((await told)[0], 1008);
  });

  it('that does not read is closed UNREAD_MS_MAX after it stopped, and not before', async (context) => {
    const worker = new FakeWorker();
    worker.batch = reply(200, { name: 'x'.repeat(1.5 * UNREAD_BYTES_HIGH) });
    const { sockets, ws } = await open(worker);
    context.mock.timers.enable({ apis: ['setTimeout'] });
    (ws as unknown as { _socket: TcpSocket })._socket.pause();
    while (sockets.unreadBytes === 0) {
      ws.send(pollOf(1));
      await new Promise(setImmediate);
    }
    context.mock.timers.tick(UNREAD_MS_MAX - 1);
    await new Promise(setImmediate);
    assert.equal(sockets.count, 1);
    context.mock.timers.tick(1);
    while (sockets.count > 0) await new Promise(setImmediate);
  });

  it('asks the master about its token at once, and again when it has no poll', async (context) => {
    context.mock.timers.enable({ apis: ['setInterval'] });
    const worker = new FakeWorker();
    const { ws } = await open(worker);
    await until('it has asked', () => worker.queries === 1);
    ws.send(pollOf(1));
    await until('it polls', () => worker.polls.length === 1);
    context.mock.timers.tick(SOCKET_PING_MS);
    assert.equal(worker.queries, 1, 'a socket that polls need not ask');
    worker.polls[0].answer(reply(200, {}));
    await once(ws, 'message');
    ws.send(THROW);
    await until('the answer to the ping has arrived, and a throw after it', () => worker.throws === 1);
    worker.verified = reply(410, { code: 'desktop-ended' });
    const closed = once(ws, 'close');
    context.mock.timers.tick(SOCKET_PING_MS);
    assert.equal(worker.queries, 2);
    assert.equal((await closed)[0], 1008);
  });

  for (const [sentence, unreadBytesMax, isClosed, client] of [
    ['is closed at once when all sockets together are over their budget', UNREAD_BYTES_HIGH, true, undefined],
    [
      'is kept for a while when the budget allows it, and gets no more batches',
      4 * UNREAD_BYTES_HIGH,
      false,
      undefined,
    ],
    ['is closed at once when its address is over its share of the budget', 4 * UNREAD_BYTES_HIGH, true, '192.0.2.1'],
    ['is kept for a while when the share of its address allows it', 12 * UNREAD_BYTES_HIGH, false, '192.0.2.1'],
  ] as const) {
    it(`that does not read ${sentence}`, async () => {
      const worker = new FakeWorker();
      worker.batch = reply(200, { name: 'x'.repeat(1.5 * UNREAD_BYTES_HIGH) });
      const { sockets, ws } = await open(worker, unreadBytesMax, client);
      const { _socket: tcp } = ws as unknown as { _socket: TcpSocket };
      tcp.pause();
      const sender = setInterval(() => ws.readyState === WebSocket.OPEN && ws.send(pollOf(1)), 3);
      try {
        await until('bytes are unread, or it is closed', () => sockets.unreadBytes > 0 || sockets.count === 0);
        const { unreadBytes } = sockets;
        await sleep(50);
        assert.equal(sockets.count, isClosed ? 0 : 1);
        assert.equal(sockets.unreadBytes, isClosed ? 0 : unreadBytes);
      } finally {
        clearInterval(sender);
      }
    });
  }
});

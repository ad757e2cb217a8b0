/** Desktops on WebSockets: the same events, cursors and verdicts as with long-polls and posts, and the handling of bad input. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, afterEach, before, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { CROSSINGS_IN_FLIGHT_MAX, MESSAGE_BYTES_MAX } from '../http/socket_desktop.ts';
import type { ProblemDocument } from '../wire/problem.ts';
import { CROSSING_BYTES_MAX } from '../wire/rules.ts';
import {
  type Batch,
  crossingOf,
  DesktopClient,
  isSprite,
  type Joined,
  join,
  poll,
  pollFor,
  post,
  type Reference,
  sendRequest,
} from './desktop_client.ts';
import { onTwoShapes, type Shape } from './fronts.ts';
import { isProblem, isProblemDocument } from './problem_check.ts';
import { RawConnection } from './raw_connection.ts';
import { BOUNDED, type RelayProcess, startRelay, until } from './relay_process.ts';

/** A message of the relay. */
interface Message extends Partial<Batch> {
  crossing?: number | null;
  to?: Reference | null;
  problem?: ProblemDocument;
}

/** A socket whose messages a test reads one by one. */
class Socket {
  readonly ws: WebSocket;
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #messages: Message[] = [];
  #changed: () => void = () => {};

  constructor(url: string, headers: Record<string, string> = {}) {
    this.ws = new WebSocket(url, { headers });
    this.ws.on('error', () => {});
    this.ws.on('message', (bytes) => {
      this.#messages.push(JSON.parse(bytes.toString()));
      this.#changed();
    });
    this.closed = new Promise((resolve) => {
      this.ws.on('close', (code, reason) => {
        resolve({ code, reason: reason.toString() });
        this.#changed();
      });
    });
  }

  static async open(
    desktop: Joined,
    first: object = { token: desktop.token, cursor: desktop.cursor },
  ): Promise<Socket> {
    const socket = new Socket(desktop.socket);
    await once(socket.ws, 'open');
    return socket.send(first);
  }

  send(message: object): this {
    this.ws.send(JSON.stringify(message));
    return this;
  }

  /** Resolves to the next message. Throws when the socket closes before that. */
  async next(): Promise<Message> {
    while (this.#messages.length === 0) {
      if (this.ws.readyState === WebSocket.CLOSED) throw new Error('the socket closed before the next message');
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
    return this.#messages.shift() as Message;
  }

  /** Polls with each new cursor until a batch has a sprite. Resolves to that batch. */
  async sprites(): Promise<Batch> {
    for (;;) {
      const batch = (await this.next()) as Batch;
      if (batch.events.some(isSprite)) return batch;
      this.send({ cursor: batch.cursor });
    }
  }
}

// The relays run side by side: each suite mostly waits for its relay to give up a socket that does not read.
describe('a relay of each shape', { ...BOUNDED, concurrency: 2 }, () => onTwoShapes('crossed', 'sockets', suite));

function suite(shape: Shape): void {
  let relay: RelayProcess;
  let worlds = 0;
  const sockets: Socket[] = [];
  const open = async (...args: Parameters<typeof Socket.open>): Promise<Socket> => {
    const socket = await Socket.open(...args);
    sockets.push(socket);
    return socket;
  };
  before(async () => {
    relay = await startRelay(shape);
  });
  after(() => relay?.stop());
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.ws.terminate();
  });

  async function pair(): Promise<[Joined, Joined]> {
    const world = `s${worlds++}`;
    return [await join(relay.url, { name: 'Ann', world }), await join(relay.url, { name: 'Bob', world })];
  }

  /** Waits until so many polls are parked: 0 when those of the tests before have been dropped. */
  const parked = (count: number) =>
    until(`${count} polls are parked`, async () => (await relay.metrics()).get('sprites_polls_parked') === count);

  /** Asserts that the relay sends this problem and closes the socket. */
  async function assertRefused(socket: Socket, ...[code, field]: [Parameters<typeof isProblemDocument>[1], string?]) {
    const { problem } = await socket.next();
    isProblemDocument(problem as ProblemDocument, code, field);
    assert.equal((await socket.closed).code, 1008);
  }

  it('receive the same events and cursor as a long-poll', async () => {
    const [ann, bob] = await pair();
    await post(ann, crossingOf(1, 'top', 'first'));
    await post(ann, crossingOf(2, 'right', 'second'));
    const polled = (await poll(bob, bob.cursor)).json as Batch;
    const socket = await open(bob);
    const batch = await socket.sprites();
    assert.deepEqual(batch.events.filter(isSprite), polled.events.filter(isSprite));
    assert.equal(batch.cursor, polled.cursor);
    socket.send({ cursor: batch.cursor });
    await post(ann, crossingOf(3, 'right', 'third'));
    const next = await socket.sprites();
    assert.deepEqual(
      next.events.filter(isSprite).map(({ seq, sprite }) => [seq, sprite.name]),
      [[3, 'third']],
    );
    // A long-poll with the socket's cursor does not return what the socket acknowledged.
    const back = (await poll(bob, batch.cursor)).json as Batch;
    assert.deepEqual(back.events.filter(isSprite), next.events.filter(isSprite));
  });

  it('throw and receive the verdict; a repeat changes nothing', async () => {
    const [ann, bob] = await pair();
    const socket = await open(ann, { token: ann.token });
    const to = { desktop: bob.desktop, name: 'Bob' };
    assert.deepEqual(await socket.send(crossingOf(1)).next(), { crossing: 1, to });
    assert.deepEqual(await socket.send(crossingOf(1)).next(), { crossing: 1, to });
    assert.deepEqual((await post(ann, crossingOf(1))).json, { to }, 'a post with the number is the same throw');
    const { events } = await pollFor(bob, bob.cursor, isSprite);
    assert.equal(events.filter(isSprite).length, 1);
  });

  it('stay open when a throw is refused', async () => {
    const [ann] = await pair();
    const socket = await open(ann, { token: ann.token });
    const { crossing, problem } = await socket.send({ ...crossingOf(7), at: 2 }).next();
    assert.equal(crossing, 7);
    isProblemDocument(problem as ProblemDocument, 'malformed', 'at');
    const nameless = await socket.send({ ...crossingOf(7), crossing: 'seven' }).next();
    assert.equal(nameless.crossing, null);
    isProblemDocument(nameless.problem as ProblemDocument, 'malformed', 'crossing');
    socket.ws.send(JSON.stringify(crossingOf(6)).padEnd(CROSSING_BYTES_MAX + 1));
    isProblemDocument((await socket.next()).problem as ProblemDocument, 'too-large');
    socket.ws.send(JSON.stringify(crossingOf(6)).padEnd(CROSSING_BYTES_MAX));
    assert.equal((await socket.next()).problem, undefined);
    assert.equal((await socket.send(crossingOf(7)).next()).crossing, 7);
  });

  it('share a world with long-polls, and throws go both ways', async () => {
    const world = `s${worlds++}`;
    const wish = (name: string, transport: 'poll' | 'socket') => ({ name, world, transport });
    const ann = await DesktopClient.join(relay.url, wish('Ann', 'poll'));
    const bob = await DesktopClient.join(relay.url, wish('Bob', 'socket'));
    for (let n = 1; n <= 20; n++) {
      await ann.throw('right', `to Bob ${n}`);
      await bob.throw('left', `to Ann ${n}`);
    }
    await until(
      'each has received all sprites of the other',
      () => ann.received.length === 20 && bob.received.length === 20,
    );
    assert.deepEqual(
      bob.received.map(({ sprite }) => sprite.name),
      Array.from({ length: 20 }, (_, n) => `to Bob ${n + 1}`),
    );
    assert.deepEqual(
      ann.received.map(({ sprite }) => sprite.name),
      Array.from({ length: 20 }, (_, n) => `to Ann ${n + 1}`),
    );
    await Promise.all([ann.leave(), bob.leave()]);
  });

  it('accept the token in the first message or in the header', async () => {
    const [ann, bob] = await pair();
    await post(ann, crossingOf(1));
    const socket = new Socket(bob.socket, { authorization: `Bearer ${bob.token}` });
    sockets.push(socket);
    await once(socket.ws, 'open');
    assert.equal((await socket.send({ cursor: bob.cursor }).sprites()).events.filter(isSprite).length, 1);
  });

  it('are refused with a wrong token, another desktop’s or none, in the message and in the header', async () => {
    const [ann, bob] = await pair();
    const forged = bob.token.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
    const unknown = 'unknown-desktop';
    await assertRefused(await open(bob, { token: ann.token, cursor: bob.cursor }), unknown);
    await assertRefused(await open(bob, { token: 'abc', cursor: bob.cursor }), unknown);
    await assertRefused(await open(bob, { token: 17, cursor: bob.cursor }), unknown);
    await assertRefused(await open(bob, { cursor: bob.cursor }), unknown);
    await assertRefused(await open(bob, crossingOf(1)), unknown);
    await assertRefused(await open(bob, { token: forged, cursor: bob.cursor }), unknown);
    const socket = new Socket(bob.socket, { authorization: `Bearer ${ann.token}` });
    sockets.push(socket);
    await assertRefused(socket, unknown);
  });

  it('cannot throw with a forged token', async () => {
    const [ann, bob] = await pair();
    const forged = ann.token.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
    const socket = await open(ann, { token: forged });
    const { problem } = await socket.send(crossingOf(1)).next();
    isProblemDocument(problem as ProblemDocument, 'unknown-desktop');
    assert.equal((await post(ann, crossingOf(1, 'right', 'real'))).status, 202);
    const { events } = await pollFor(bob, bob.cursor, isSprite);
    assert.deepEqual(
      events.filter(isSprite).map(({ sprite }) => sprite.name),
      ['real'],
    );
  });

  it('are refused with a cursor of another epoch, or one that is ahead', async () => {
    const [, bob] = await pair();
    const other = bob.cursor.startsWith('0') ? '10000000-0' : '00000000-0';
    await assertRefused(await open(bob, { token: bob.token, cursor: other }), 'cursor-lost');
    await assertRefused(
      await open(bob, { token: bob.token, cursor: bob.cursor.replace('-0', '-1000000') }),
      'cursor-ahead',
    );
    await assertRefused(await open(bob, { token: bob.token, cursor: 'abc' }), 'malformed', 'cursor');
    await assertRefused(await open(bob, { token: bob.token, cursor: 17 }), 'malformed', 'cursor');
  });

  it('are closed after an invalid message: garbage, binary, an array, an object without a request', async () => {
    const [, bob] = await pair();
    const garbage = await open(bob);
    garbage.ws.send('{"cursor":');
    await refusedAfterBatches(garbage);
    const binary = await open(bob);
    binary.ws.send(Buffer.from(JSON.stringify({ cursor: bob.cursor })));
    await refusedAfterBatches(binary);
    await refusedAfterBatches(await open(bob, []));
    await refusedAfterBatches((await open(bob)).send({ hello: 'there' }));
    const ofBytes = (bytes: number) => ({ cursor: 'x'.repeat(bytes - '{"cursor":""}'.length) });
    for (const bytes of [MESSAGE_BYTES_MAX - 1, MESSAGE_BYTES_MAX]) {
      const long = (await open(bob)).send(ofBytes(bytes));
      assert.equal((await long.closed).code, 1008, `${bytes} bytes are read, but are no cursor`);
    }
    const huge = (await open(bob)).send(ofBytes(MESSAGE_BYTES_MAX + 1));
    assert.equal((await huge.closed).code, 1009, 'a message above MESSAGE_BYTES_MAX is not read');

    async function refusedAfterBatches(socket: Socket) {
      let message = await socket.next();
      while (!message.problem) message = await socket.next();
      isProblemDocument(message.problem, 'malformed', 'message');
      assert.equal((await socket.closed).code, 1008);
    }
  });

  it('exist only at the path of a desktop', async () => {
    const { host } = new URL(relay.url);
    for (const path of ['/', '/v1/desktops/xyz/socket', '/v1/desktops/1-1/events', '/v1/socket']) {
      const ws = new WebSocket(`ws://${host}${path}`);
      const [, response] = await once(ws, 'unexpected-response');
      ws.on('error', () => {});
      assert.equal(response.statusCode, 404, path);
      ws.terminate();
    }
  });

  it('free a connection whose upgrade was refused, also when more bytes are behind it', async () => {
    const connections = async () => (await relay.metrics()).get('sprites_worker_connections') ?? 0;
    const before = await connections();
    const upgrade = 'GET /v1/socket HTTP/1.1\r\nHost: relay\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';
    const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n';
    const refused = (await RawConnection.open(relay.ports.api)).send(`${upgrade}${key}${'x'.repeat(4096)}`);
    isProblem(await refused.answer(), 'not-found');
    refused.destroy();
    await until('the connection is freed', async () => (await connections()) <= before);
  });

  it('answer an invalid upgrade with a problem document', async () => {
    const [ann] = await pair();
    const upgrade = async (path: string, ...head: string[]) => {
      const connection = await RawConnection.open(relay.ports.api);
      const lines = [`GET ${path} HTTP/1.1`, 'Host: relay', 'Connection: Upgrade', ...head];
      return connection.send(`${lines.join('\r\n')}\r\n\r\n`);
    };
    const version = 'Sec-WebSocket-Version: 13';
    const key = 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==';
    const elsewhere = await upgrade('/v1/socket', 'Upgrade: websocket', version, key);
    isProblem(await elsewhere.answer(), 'not-found');
    await elsewhere.closed;
    const keyless = await upgrade(new URL(ann.socket).pathname, 'Upgrade: websocket', version);
    isProblem(await keyless.answer(), 'malformed', 'upgrade');
    await keyless.closed;
    const other = await upgrade('/sprites/index.json', 'Upgrade: h2c');
    assert.equal((await other.answer()).status, 200, 'an upgrade to another protocol is ignored');
    other.destroy();
  });

  it('replace an older long-poll, and are replaced by a newer one', async () => {
    const [ann, bob] = await pair();
    const settled = await pollFor(bob, bob.cursor, ({ type }) => type === 'neighbours');
    await parked(0);
    const older = poll(bob, settled.cursor);
    await parked(1);
    const socket = await open(bob, { token: bob.token, cursor: settled.cursor });
    assert.deepEqual((await older).json, { cursor: settled.cursor, events: [] });
    const newer = poll(bob, settled.cursor);
    assert.deepEqual(await socket.next(), { cursor: settled.cursor, events: [] });
    await post(ann, crossingOf(1));
    assert.equal(((await newer).json as Batch).events.filter(isSprite).length, 1);
  });

  it('get an empty answer to the older of two polls on one socket', async () => {
    const [ann, bob] = await pair();
    const settled = await pollFor(bob, bob.cursor, ({ type }) => type === 'neighbours');
    const socket = await open(bob, { token: bob.token, cursor: settled.cursor });
    socket.send({ cursor: settled.cursor });
    assert.deepEqual(await socket.next(), { cursor: settled.cursor, events: [] });
    await post(ann, crossingOf(1));
    assert.equal((await socket.next()).events?.filter(isSprite).length, 1);
  });

  it('are closed when their desktop leaves', async () => {
    // It is alone: when a neighbour's lease ended, its poll would be answered.
    const bob = await join(relay.url, { world: `s${worlds++}` });
    const settled = await pollFor(bob, bob.cursor, ({ type }) => type === 'neighbours');
    await parked(0);
    const socket = await open(bob, { token: bob.token, cursor: settled.cursor });
    await parked(1);
    await sendRequest(`${relay.url}/v1/desktops/${bob.desktop}`, { method: 'DELETE', token: bob.token });
    await assertRefused(socket, 'desktop-ended');
  });

  it('that a desktop opens after its end say which cursor it acknowledged last', async () => {
    const [ann, bob] = await pair();
    const settled = await pollFor(bob, bob.cursor, ({ type }) => type === 'neighbours');
    await post(ann, crossingOf(1));
    const seen = await pollFor(bob, settled.cursor, isSprite);
    await post(ann, crossingOf(2));
    const last = await pollFor(bob, seen.cursor, isSprite);
    await sendRequest(`${relay.url}/v1/desktops/${bob.desktop}`, { method: 'DELETE', token: bob.token });
    const socket = await open(bob, { token: bob.token, cursor: last.cursor });
    const { problem } = await socket.next();
    assert.deepEqual([problem?.code, problem?.cursor], ['desktop-ended', seen.cursor]);
  });

  it('may have 64 unanswered throws; more are refused as too fast, and the others are answered', async () => {
    const [ann] = await pair();
    const socket = await open(ann, { token: ann.token });
    const thrown = CROSSINGS_IN_FLIGHT_MAX * 2;
    for (let crossing = 1; crossing <= thrown; crossing++) socket.send(crossingOf(crossing));
    const verdicts: Message[] = [];
    while (verdicts.length < thrown) verdicts.push(await socket.next());
    const refused = verdicts.filter(({ problem }) => problem);
    for (const { problem } of refused) isProblemDocument(problem as ProblemDocument, 'too-fast');
    assert.equal(new Set(verdicts.map(({ crossing }) => crossing)).size, thrown, 'each has one verdict');
    assert.ok(verdicts.length - refused.length >= CROSSINGS_IN_FLIGHT_MAX);
  });

  it('are closed when they never read', async () => {
    const [ann, bob] = await pair();
    await poll(ann); // from now on its lease is that of a desktop that has polled
    const count = async () => (await relay.metrics()).get('sprites_worker_sockets');
    await until('those of the tests before are gone', async () => (await count()) === 0);
    for (let crossing = 1; crossing <= 64; crossing++) await post(ann, crossingOf(crossing));
    const socket = await open(bob);
    const { _socket: tcp } = socket.ws as unknown as { _socket: import('node:net').Socket };
    tcp.pause();
    await until('the socket is counted', async () => (await count()) === 1);
    // Every poll is answered with the same 64 events, because no cursor acknowledges them.
    const pollMessage = JSON.stringify({ cursor: bob.cursor });
    let broken = false;
    tcp.once('close', () => {
      broken = true;
    });
    await until('the relay has closed the socket', async () => {
      for (let n = 0; n < 200 && socket.ws.readyState === WebSocket.OPEN; n++) socket.ws.send(pollMessage);
      return broken || (await count()) === 0;
    });
    assert.equal((await post(ann, crossingOf(65))).status, 202, 'other desktops are not affected');
    const { events } = await pollFor(bob, bob.cursor, isSprite);
    assert.equal(events.filter(isSprite).length, 64, 'the waiting sprites still wait');
  });
}

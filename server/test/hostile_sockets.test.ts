/**
 * Sockets that flood the relay with polls and do not read: the relay's memory stays within a bound, the sockets are closed, and
 * a well-behaved pair of desktops beside them loses nothing. Sockets with forged tokens, and clients that share a token.
 *
 * Takes long: sockets that do not read are closed only after a while.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Socket as TcpSocket } from 'node:net';
import { after, before, it } from 'node:test';
import { WebSocket } from 'ws';
import { PROMPT_POLLS_MAX } from '../domain/state/limits.ts';
import { CROSSINGS_IN_FLIGHT_MAX } from '../http/socket_desktop.ts';
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
  sendRequest,
} from './desktop_client.ts';
import { onTwoShapes } from './fronts.ts';
import { type RelayProcess, startRelay, until } from './relay_process.ts';

/** The relay's memory may grow by this during the attack, in bytes, over all its processes. */
const GROWTH_BYTES_MAX = 100 << 20;

/** Polls are sent to a socket while fewer bytes than this are unsent on the attacker's side. */
const FLOOD_BYTES = 256 << 10;

const POLL = '{"cursor":null}';

/**
 * How the sockets of the attack send polls: as fast as they can, or below MESSAGES_PER_SECOND_MAX. The first is closed. The other
 * acknowledges nothing, so they are sent one batch a second, which the system's buffers hold for minutes.
 */
const ATTACK = ['flood', 'pace'] as const;
type Attack = (typeof ATTACK)[number];

/** Polls that a flooding socket sends at once: far more than it may. */
const FLOOD_MESSAGES = 1000;

/** The time between two polls of a paced socket, in ms. */
const PACE_MS = 4;

/** A socket that sends polls and reads nothing. */
class FloodingSocket {
  readonly #ws: WebSocket;
  readonly #timer: NodeJS.Timeout;
  readonly attack: Attack;
  isClosed = false;

  private constructor(ws: WebSocket, tcp: TcpSocket, attack: Attack) {
    this.#ws = ws;
    this.attack = attack;
    ws.on('error', () => {});
    tcp.once('close', () => {
      this.isClosed = true;
      this.stop();
    });
    this.#timer = setInterval(() => {
      for (let n = 0; n < (attack === 'flood' ? FLOOD_MESSAGES : 1); n++) {
        if (ws.readyState === WebSocket.OPEN && ws.bufferedAmount < FLOOD_BYTES) ws.send(POLL);
      }
    }, PACE_MS);
  }

  /** Opens a socket for a desktop that is alone in its world and has thrown 64 sprites to itself. */
  static async open(desktop: Joined, attack: Attack): Promise<FloodingSocket> {
    for (let crossing = 1; crossing <= CROSSINGS_IN_FLIGHT_MAX; crossing++) {
      assert.equal((await post(desktop, crossingOf(crossing))).status, 202);
      if (crossing === 1) await poll(desktop); // from now on its lease is that of a desktop that has polled
    }
    const ws = new WebSocket(desktop.socket);
    await once(ws, 'open');
    const { _socket: tcp } = ws as unknown as { _socket: TcpSocket };
    tcp.pause();
    ws.send(JSON.stringify({ token: desktop.token, cursor: null }));
    return new FloodingSocket(ws, tcp, attack);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#ws.terminate();
  }
}

/** Resident memory of all processes of a relay, in bytes. */
function residentBytes({ pids }: RelayProcess): number {
  let kib = 0;
  for (const pid of [pids.master, ...pids.workers]) {
    kib += Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  }
  return kib * 1024;
}

const noProc = process.platform === 'linux' ? false : 'reads memory from /proc';

onTwoShapes('crossed', 'a relay with hostile clients', (shape) => {
  let relay: RelayProcess;
  const clients: DesktopClient[] = [];
  const flooding: FloodingSocket[] = [];
  before(async () => {
    relay = await startRelay(shape);
  });
  after(async () => {
    for (const socket of flooding) socket.stop();
    await Promise.all(clients.map((client) => client.stop()));
    await relay?.stop();
  });

  /** Opens a socket and sends one message. */
  async function open(desktop: Joined, message: string): Promise<WebSocket> {
    const ws = new WebSocket(desktop.socket);
    await once(ws, 'open');
    ws.send(message);
    return ws;
  }

  const nextMessage = async (ws: WebSocket) => JSON.parse(`${(await once(ws, 'message'))[0]}`);

  it('answers a number that JSON cannot write with null', async () => {
    const desktop = await join(relay.url, { world: 'numbers' });
    const ws = await open(desktop, JSON.stringify({ token: desktop.token }));
    for (const number of ['1e400', '-1e400', '"1"', '{}', 'null']) {
      ws.send(`{"crossing":${number},"edge":"left"}`);
      const { crossing, problem } = await nextMessage(ws);
      assert.deepEqual([crossing, problem.code], [null, 'malformed'], number);
    }
    ws.terminate();
  });

  it('closes a socket with a forged token, or of a desktop that has ended, although it requests nothing', async () => {
    const desktop = await join(relay.url, { world: 'forged' });
    const forged = desktop.token.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
    const refused = await open(desktop, JSON.stringify({ token: forged }));
    const closed = once(refused, 'close');
    assert.equal((await nextMessage(refused)).problem.code, 'unknown-desktop');
    assert.equal((await closed)[0], 1008);
    await sendRequest(`${relay.url}/v1/desktops/${desktop.desktop}`, { method: 'DELETE', token: desktop.token });
    const late = await open(desktop, JSON.stringify({ token: desktop.token }));
    assert.equal((await nextMessage(late)).problem.code, 'desktop-ended');
  });

  it('slows clients down that share a token and replace each other, and loses no sprite', async (t) => {
    const desktop = await join(relay.url, { world: 'shared' });
    const { cursor } = await pollFor(desktop, desktop.cursor, ({ type }) => type === 'neighbours');
    const polls = async () => (await relay.metrics()).get('sprites_polls_total') as number;
    const before = await polls();
    let received = 0;
    const follow = async () => {
      for (let at = cursor; received === 0; ) {
        const batch = (await poll(desktop, at)).json as Batch;
        received += batch.events.filter(isSprite).length;
        at = batch.cursor;
      }
    };
    const clients = [follow(), follow(), follow()];
    const replaced = async () => (await relay.metrics()).get('sprites_polls_replaced_total') as number;
    await until('they have replaced each other often', async () => (await replaced()) >= PROMPT_POLLS_MAX + 6);
    const made = (await polls()) - before;
    t.diagnostic(`${made} polls, ${await replaced()} replaced`);
    assert.ok(made < 4 * PROMPT_POLLS_MAX, `${made} polls`);
    assert.equal((await post(desktop, crossingOf(1))).status, 202);
    await Promise.race(clients);
    assert.equal(received, 1);
    await sendRequest(`${relay.url}/v1/desktops/${desktop.desktop}`, { method: 'DELETE', token: desktop.token });
  });

  it('bounds the memory when sockets do not read, closes those that flood, and answers everybody else', {
    skip: noProc,
  }, async (t) => {
    for (const name of ['Ann', 'Bob']) {
      const transport = name === 'Ann' ? 'poll' : 'socket';
      clients.push(await DesktopClient.join(relay.url, { name, world: 'probe', transport }));
    }
    const [ann, bob] = clients;
    await ann.throw('right', 'before');
    const startBytes = residentBytes(relay);
    let mostBytes = startBytes;
    for (const [n, attack] of ATTACK.entries()) {
      flooding.push(await FloodingSocket.open(await join(relay.url, { world: `flood-${n}` }), attack));
    }
    let thrown = 1;
    let slowestMs = 0;
    const throwAndMeasure = async () => {
      const startMs = performance.now();
      const verdict = await ann.throw('right', `${thrown++}`);
      slowestMs = Math.max(slowestMs, performance.now() - startMs);
      assert.equal(verdict?.problem, undefined, 'the probe is not refused');
      mostBytes = Math.max(mostBytes, residentBytes(relay));
    };
    for (const socket of flooding.filter(({ attack }) => attack === 'flood')) {
      await until('the relay has closed a socket that floods', async () => {
        await throwAndMeasure();
        return socket.isClosed;
      });
    }
    await until('the probe has received everything', () => bob.received.length === thrown);
    const grownMib = Math.round((mostBytes - startBytes) / 2 ** 20);
    t.diagnostic(`${thrown} throws of the probe, the slowest took ${Math.round(slowestMs)} ms; ${grownMib} MiB more`);
    assert.ok(mostBytes - startBytes < GROWTH_BYTES_MAX, `the relay grew by ${grownMib} MiB`);
    for (const socket of flooding) socket.stop();
    const sockets = async () => (await relay.metrics()).get('sprites_worker_sockets');
    await until('only the probe has a socket', async () => (await sockets()) === 1);
  });
});

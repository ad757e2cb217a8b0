/**
 * A front under test: it records the calls of its handlers, and gives clients that send arbitrary bytes.
 */
import assert from 'node:assert/strict';
import net from 'node:net';
import type { Front, FrontHandlers, FrontListener, FrontOptions, RequestView } from '../front/front.ts';
import { answerOf } from '../wire/answer.ts';

export const TOKEN = '1a2b-3f.00112233445566778899aabbccddeeff';
export const WORDS = [0x00112233, 0x44556677, 0x8899aabb, 0xccddeeff];
export const EVENTS = 'GET /v1/desktops/1a2b-3f/events';
export const AUTHORIZED = `Host: relay\r\nAuthorization: Bearer ${TOKEN}\r\n`;
export const ANSWER = '{"cursor":"6a1f03c2-1","events":[]}';
export const OUTDATED = '{"cursor":"6a1f03c2-0","events":[]}';

type Seen = Omit<RequestView, 'token' | 'body'> & {
  kind: 'poll' | 'crossing' | 'saying' | 'stage';
  token: number[];
  body: string;
};

/** A front under test, and a record of all calls of its handlers. */
export class Bench {
  readonly seen: Seen[] = [];
  readonly closed: { ticket: number; slot: number }[] = [];
  readonly outdated: { ticket: number; slot: number }[] = [];
  /** Answers outdated polls at once, as a relay does. */
  answersOutdated = false;
  turns = 0;
  front!: Front;
  ports: number[] = [];
  readonly #sockets: Client[] = [];
  readonly #changed = new Set<() => void>();

  async open(make: (options: FrontOptions) => Front, options: Partial<FrontOptions> = {}): Promise<void> {
    const note = (kind: Seen['kind'], view: RequestView) => {
      const body = Buffer.from(view.body.subarray(view.start, view.end)).toString();
      this.seen.push({ ...view, kind, token: [...view.token], body });
      this.#notify();
    };
    const handlers: FrontHandlers = {
      poll: (view) => note('poll', view),
      crossing: (view) => note('crossing', view),
      saying: (view) => note('saying', view),
      stage: (view) => note('stage', view),
      closed: (ticket, slot) => {
        this.closed.push({ ticket, slot });
        this.#notify();
      },
      outdated: (ticket, slot) => {
        this.outdated.push({ ticket, slot });
        if (this.answersOutdated) this.answer(ticket, 200, OUTDATED);
        this.#notify();
      },
      turn: () => {
        this.turns++;
        this.#notify();
      },
    };
    const listener: FrontListener = { host: '127.0.0.1', port: 0, shared: false, routes: 'events' };
    const crossings: FrontListener = {
      ...listener,
      routes: 'crossings',
      fallback: (_, reply) => reply.end('fallback'),
    };
    this.front = make({ listeners: [listener, crossings], handlers, connectionsMax: 1000, ...options });
    this.ports = await this.front.listen();
  }

  /** `from`: the client's address, by which a front may limit its connections. */
  async connect(listener = 0, from = '127.0.0.1'): Promise<Client> {
    const client = new Client(this.ports[listener], from);
    this.#sockets.push(client);
    await client.connected;
    return client;
  }

  /** Waits until `condition` holds; checks it after every call of a handler. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#changed.add(resolve));
  }

  async requests(count: number): Promise<Seen[]> {
    await this.until(() => this.seen.length >= count);
    return this.seen;
  }

  answer(ticket: number, status = 200, text = ANSWER, retryAfterSeconds = 0): void {
    const body = Buffer.from(`##${text}##`);
    this.front.answer(ticket, { ...answerOf(status, body, retryAfterSeconds), start: 2, end: body.length - 2 });
    body.fill(0); // the front has copied it
    this.front.flush();
  }

  /** Waits until the front has no connection left. */
  async emptied(): Promise<void> {
    while (this.front.gauges().connections > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await this.front?.close();
  }

  #notify(): void {
    for (const resolve of this.#changed) resolve();
    this.#changed.clear();
  }
}

/** A connection that reads whole HTTP answers and knows when it was closed. */
export class Client {
  readonly connected: Promise<void>;
  readonly ended: Promise<void>;
  readonly socket: net.Socket;
  /** The connection failed instead of ending. */
  broken = false;
  #received = '';
  #wake: (() => void) | undefined;
  #over = false;

  constructor(port: number, from = '127.0.0.1') {
    // It closes only its half with end().
    const options = { port, host: '127.0.0.1', localAddress: from, noDelay: true, allowHalfOpen: true };
    this.socket = net.connect(options).on('end', () => this.socket.end());
    this.connected = new Promise((resolve, reject) => this.socket.once('connect', resolve).once('error', reject));
    this.ended = new Promise((resolve) => this.socket.once('close', () => resolve()));
    this.socket.on('error', () => {
      this.broken = true;
    });
    this.socket.on('data', (bytes) => {
      this.#received += bytes.toString('latin1');
      this.#wake?.();
    });
    this.socket.on('close', () => {
      this.#over = true;
      this.#wake?.();
    });
  }

  send(bytes: string): void {
    this.socket.write(bytes, 'latin1');
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** What was received and is not read as an answer yet. */
  get unread(): string {
    return this.#received;
  }

  /** Reads the next whole answer. */
  async answer(bodiless = false): Promise<{ status: number; headers: Map<string, string>; body: string; raw: string }> {
    for (;;) {
      const end = this.#received.indexOf('\r\n\r\n');
      if (end >= 0) {
        const [line, ...fields] = this.#received.slice(0, end).split('\r\n');
        const headers = new Map(
          fields.map((f) => [f.slice(0, f.indexOf(':')).toLowerCase(), f.slice(f.indexOf(':') + 1).trim()]),
        );
        const length = bodiless ? 0 : Number(headers.get('content-length') ?? 0);
        if (this.#received.length >= end + 4 + length) {
          const raw = this.#received.slice(0, end + 4 + length);
          this.#received = this.#received.slice(end + 4 + length);
          return { status: Number(line.split(' ')[1]), headers, body: raw.slice(end + 4), raw };
        }
      }
      assert.ok(!this.#over, `closed before a whole answer; received ${JSON.stringify(this.#received)}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

export const post = (body: string, extra = '') =>
  `POST /v1/desktops/1a2b-3f/crossings HTTP/1.1\r\n${AUTHORIZED}${extra}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

/**
 * A connection of an attacker: it sends arbitrary bytes, and reads the responses or leaves them unread.
 *
 * Invariant: it holds at most the bytes of one write and of one unfinished response, so that the memory which grows is the
 * relay's.
 */
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { HOST } from './target.ts';

/** A connection that is not open after this time is given up, in ms. */
const CONNECT_MS_MAX = 5_000;

/** Bytes of unfinished responses that are kept; the body of a response to an attacker is smaller, except for files. */
const UNPARSED_BYTES_MAX = 4 << 20;

/** What happens to the responses: they stay in the kernel's buffer, or they are parsed. */
export type Reading = 'never' | 'parse';

export interface Response {
  status: number;
  body: Buffer;
}

export class Connection {
  readonly socket: net.Socket;
  /** Called with each response, when they are parsed. */
  onResponse: (response: Response) => void = () => {};
  #received: Buffer = Buffer.alloc(0);
  #waiting: ((response: Response | undefined) => void)[] = [];

  private constructor(socket: net.Socket, reading: Reading) {
    this.socket = socket;
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      for (const resolve of this.#waiting.splice(0)) resolve(undefined);
    });
    if (reading === 'parse') socket.on('data', (bytes: Buffer) => this.#receive(bytes));
  }

  /** Resolves to undefined when the relay does not accept the connection. */
  static async open(port: number, reading: Reading = 'parse', localAddress?: string): Promise<Connection | undefined> {
    const socket = net.connect({ host: HOST, port, localAddress, noDelay: true, allowHalfOpen: true });
    socket.pause();
    const connection = new Connection(socket, reading);
    const late = setTimeout(() => socket.destroy(), CONNECT_MS_MAX);
    const opened = new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('close', () => resolve(false));
    });
    const isOpen = await opened;
    clearTimeout(late);
    if (!isOpen) return undefined;
    if (reading === 'parse') {
      socket.resume();
      socket.once('end', () => socket.end());
    }
    return connection;
  }

  get over(): boolean {
    return this.socket.destroyed;
  }

  /** Sends without waiting. */
  send(bytes: string | Uint8Array): void {
    if (!this.over && !this.socket.writableEnded) this.socket.write(bytes);
  }

  /** Sends, and waits until the kernel has the bytes. Resolves to false when it does not take them before `untilMs`. */
  async write(bytes: string | Uint8Array, untilMs: number): Promise<boolean> {
    if (this.over || this.socket.writableEnded) return false;
    if (this.socket.write(bytes)) return true;
    const quit = new AbortController();
    const { signal } = quit;
    const silence = () => false;
    const drained = once(this.socket, 'drain', { signal }).then(() => true, silence);
    const closed = once(this.socket, 'close', { signal }).then(silence, silence);
    const late = sleep(Math.max(0, untilMs - performance.now()), false, { signal }).catch(silence);
    const written = await Promise.race([drained, closed, late]);
    quit.abort();
    return written;
  }

  /** Sends a request and resolves to its response; undefined when the connection closes before, or after `patienceMs`. */
  ask(bytes: string | Uint8Array, patienceMs = 10_000): Promise<Response | undefined> {
    if (this.over) return Promise.resolve(undefined);
    const { promise, resolve } = Promise.withResolvers<Response | undefined>();
    const late = setTimeout(() => this.destroy(), patienceMs);
    this.#waiting.push((response) => {
      clearTimeout(late);
      resolve(response);
    });
    this.send(bytes);
    return promise;
  }

  /** Ends the direction to the relay. */
  end(bytes: string | Uint8Array): void {
    this.socket.end(bytes);
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** Closes with a reset. */
  reset(): void {
    if (!this.over) this.socket.resetAndDestroy();
  }

  #receive(bytes: Buffer): void {
    this.#received = this.#received.length > 0 ? Buffer.concat([this.#received, bytes]) : bytes;
    for (let response = this.#parse(); response !== undefined; response = this.#parse()) {
      this.#waiting.shift()?.(response);
      this.onResponse(response);
    }
    if (this.#received.length > UNPARSED_BYTES_MAX) this.destroy();
  }

  #parse(): Response | undefined {
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const head = this.#received.toString('latin1', 0, end);
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0);
    const bodyless = status === 304 || status === 204 || status < 200;
    const length = bodyless ? 0 : Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#received.length < end + 4 + length) return undefined;
    const body = this.#received.subarray(end + 4, end + 4 + length);
    this.#received = this.#received.subarray(end + 4 + length);
    return { status, body };
  }
}

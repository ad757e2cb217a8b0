/**
 * A TCP connection for tests: it sends arbitrary bytes and parses complete HTTP responses from what it receives.
 */
import { once } from 'node:events';
import net from 'node:net';
import type { HttpResponse, Joined } from './desktop_client.ts';

/** How long to wait for a response, in ms. Longer than the 10 s that the relay gives a slow request. */
const PATIENCE_MS = 60_000;

export class RawConnection {
  readonly socket: net.Socket;
  /** Resolves when the connection is closed, by either side. */
  readonly closed: Promise<void>;
  #received = Buffer.alloc(0);
  #over = false;
  #isReset = false;
  #changed: () => void = () => {};

  constructor(port: number) {
    this.socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
    this.socket.on('error', () => {});
    this.socket.on('data', (bytes) => {
      this.#received = Buffer.concat([this.#received, Buffer.from(bytes)]);
      this.#changed();
    });
    this.closed = new Promise((resolve) => {
      this.socket.once('close', () => {
        this.#over = true;
        this.#changed();
        resolve();
      });
    });
  }

  /** Resolves when the connection is open. */
  static async open(port: number): Promise<RawConnection> {
    const connection = new RawConnection(port);
    await once(connection.socket, 'connect');
    return connection;
  }

  get over(): boolean {
    return this.#over;
  }

  /** What was received and not yet parsed as a response. */
  get unread(): string {
    return this.#received.toString('latin1');
  }

  send(bytes: string | Uint8Array): this {
    this.socket.write(bytes);
    return this;
  }

  destroy(): void {
    // Node emits no 'close' for a socket that is destroyed during its reset.
    if (!this.#isReset) this.socket.destroy();
  }

  /** Destroys the connection and counts it as closed now: Node may emit no 'close' for a socket whose reset failed. */
  giveUp(): void {
    this.destroy();
    this.#over = true;
    this.#changed();
  }

  /** Closes the connection with a reset, unless it is closing already. */
  reset(): void {
    if (this.socket.writableEnded) this.destroy();
    else {
      this.#isReset = true;
      this.socket.resetAndDestroy();
    }
  }

  /** Resolves to the next complete response. Throws when the connection closes or falls silent before that. */
  async answer(): Promise<HttpResponse> {
    const late = setTimeout(() => this.destroy(), PATIENCE_MS);
    try {
      for (;;) {
        const answer = this.#parse();
        if (answer) return answer;
        if (this.#over) throw new Error(`closed before a complete response; received: ${JSON.stringify(this.unread)}`);
        await new Promise<void>((resolve) => {
          this.#changed = resolve;
        });
      }
    } finally {
      clearTimeout(late);
    }
  }

  #parse(): HttpResponse | undefined {
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const [line, ...lines] = this.#received.toString('latin1', 0, end).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((header) => [header.slice(0, header.indexOf(':')).toLowerCase(), header.split(/: ?(.*)/)[1]]),
    );
    const length = Number(headers['content-length'] ?? 0);
    if (this.#received.length < end + 4 + length) return undefined;
    const body = this.#received.subarray(end + 4, end + 4 + length);
    this.#received = this.#received.subarray(end + 4 + length);
    let json: unknown;
    try {
      json = JSON.parse(body.toString());
    } catch {
      json = undefined;
    }
    return { status: Number(line.split(' ')[1]), headers, body, json };
  }
}

/** Returns the head of a request, with the empty line. */
export function head(line: string, ...headers: string[]): string {
  return `${[`${line} HTTP/1.1`, 'Host: relay', ...headers].join('\r\n')}\r\n\r\n`;
}

/** Returns the bytes of a complete request with a crossing. */
export function crossingBytes({ crossings, token }: Joined, crossing: object): string {
  const body = JSON.stringify(crossing);
  const lines = [`Authorization: Bearer ${token}`, `Content-Length: ${Buffer.byteLength(body)}`];
  return head(`POST ${new URL(crossings).pathname}`, ...lines) + body;
}

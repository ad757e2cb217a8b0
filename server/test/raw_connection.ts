/**
 * A TCP connection of a test: sends whatever bytes it is told to, and reads whole HTTP answers out of what comes back.
 */
import { once } from 'node:events';
import net from 'node:net';
import type { HttpResponse } from './desktop_client.ts';

/** An answer that has not come within this never will; in ms. Above the relay's own 10 s for a slow request. */
const PATIENCE_MS = 25_000;

export class RawConnection {
  readonly socket: net.Socket;
  /** Resolves when the connection is over, from whichever side. */
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

  /** Resolves to a connection that is open. */
  static async open(port: number): Promise<RawConnection> {
    const connection = new RawConnection(port);
    await once(connection.socket, 'connect');
    return connection;
  }

  get over(): boolean {
    return this.#over;
  }

  /** Everything that came and was not yet read as an answer. */
  get unread(): string {
    return this.#received.toString('latin1');
  }

  send(bytes: string | Uint8Array): this {
    this.socket.write(bytes);
    return this;
  }

  destroy(): void {
    // Node never tells of the end of a socket that is destroyed while its reset is under way.
    if (!this.#isReset) this.socket.destroy();
  }

  /** Destroys it, and waits for nothing more: Node may never tell of the end of a socket whose reset has failed. */
  giveUp(): void {
    this.destroy();
    this.#over = true;
    this.#changed();
  }

  /** Ends with a reset, unless the end is under way already. */
  reset(): void {
    if (this.socket.writableEnded) this.destroy();
    else {
      this.#isReset = true;
      this.socket.resetAndDestroy();
    }
  }

  /** The next whole answer. Throws when the connection closes, or falls silent, before it is there. */
  async answer(): Promise<HttpResponse> {
    const late = setTimeout(() => this.destroy(), PATIENCE_MS);
    try {
      for (;;) {
        const answer = this.#take();
        if (answer) return answer;
        if (this.#over) throw new Error(`closed before a whole answer; what came: ${JSON.stringify(this.unread)}`);
        await new Promise<void>((resolve) => {
          this.#changed = resolve;
        });
      }
    } finally {
      clearTimeout(late);
    }
  }

  #take(): HttpResponse | undefined {
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

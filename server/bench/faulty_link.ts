/**
 * A link between a relay and NATS that can fail: a TCP proxy on the loopback, which a test stalls, slows down or breaks.
 *
 * Bytes arrive in order, or their connection is broken: a link never loses bytes out of the middle.
 */
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';

/** One direction of one connection. */
class Lane {
  readonly #link: FaultyLink;
  readonly #to: net.Socket;
  #waiting: { readonly bytes: Buffer; readonly dueMs: number }[] = [];
  #lastDueMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(link: FaultyLink, from: net.Socket, to: net.Socket) {
    this.#link = link;
    this.#to = to;
    from.on('data', (bytes: Buffer) => {
      const { delayMs, bytesPerMs } = link;
      this.#lastDueMs = Math.max(this.#lastDueMs, performance.now() + delayMs) + bytes.length / bytesPerMs;
      this.#waiting.push({ bytes, dueMs: this.#lastDueMs });
      this.forward();
    });
  }

  /** Forwards what is due, unless the link is stalled. */
  forward(): void {
    clearTimeout(this.#timer);
    while (this.#waiting.length > 0 && !this.#link.isStalled) {
      const waitMs = this.#waiting[0].dueMs - performance.now();
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.forward(), waitMs);
        return;
      }
      const next = this.#waiting.shift();
      if (next && !this.#to.destroyed) this.#to.write(next.bytes);
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#waiting = [];
  }
}

export class FaultyLink {
  /** How late everything is, in ms, and how many bytes pass in a ms, each way. They count for bytes that come from now on. */
  delayMs = 0;
  bytesPerMs = Number.POSITIVE_INFINITY;
  isStalled = false;
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();
  readonly #lanes = new Set<Lane>();

  private constructor(port: () => number) {
    this.#server = net.createServer({ noDelay: true }, (near) => {
      const far = net.connect({ port: port(), host: '127.0.0.1', noDelay: true });
      const lanes = [new Lane(this, near, far), new Lane(this, far, near)];
      for (const lane of lanes) this.#lanes.add(lane);
      for (const [one, other] of [
        [near, far],
        [far, near],
      ]) {
        this.#sockets.add(one);
        one.on('error', () => one.destroy());
        one.on('close', () => {
          this.#sockets.delete(one);
          for (const lane of lanes) {
            lane.close();
            this.#lanes.delete(lane);
          }
          other.destroy();
        });
      }
    });
  }

  /** Begins to forward connections to a port of the loopback. */
  static async to(port: () => number): Promise<FaultyLink> {
    const link = new FaultyLink(port);
    await once(link.#server.listen(0, '127.0.0.1'), 'listening');
    return link;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Keeps connections open, but forwards nothing until resume(), which forwards all that waited. */
  stall(): void {
    this.isStalled = true;
  }

  resume(): void {
    this.isStalled = false;
    for (const lane of this.#lanes) lane.forward();
  }

  /** Breaks all connections, with what is on the way. New ones are accepted. */
  break(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.break();
    this.#server.close();
  }
}

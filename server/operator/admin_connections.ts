/**
 * The connections of the admin port. Strangers may reach it, and they must not be able to keep the operator out.
 *
 * At most CONNECTIONS_MAX are open. A further one takes the place of another: first of one that has sent nothing, then of one
 * that is idle or has sent a part of a request, then of a stranger's that does not read its answers, last of an operator's
 * idle one; among equals the oldest goes. Only when every connection has an operator's request being answered is the new one
 * closed.
 * Cost: O(CONNECTIONS_MAX) for a connection above the limit.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Connections at once: enough for a scraper, a probe and a dozen people. */
export const CONNECTIONS_MAX = 32;

interface Held {
  /** Requests that are being answered. */
  requests: number;
  /** It has sent the admin token. */
  isOperator: boolean;
}

export class AdminConnections {
  /** The oldest first. */
  readonly #open = new Map<Socket, Held>();

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => this.#connected(socket));
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const held = this.#open.get(socket);
      if (!held) return;
      held.requests++;
      response.once('close', () => held.requests--);
    });
  }

  /** A request with the admin token came on this connection. */
  setOperator(socket: Socket): void {
    const held = this.#open.get(socket);
    if (held) held.isOperator = true;
  }

  #connected(socket: Socket): void {
    if (this.#open.size >= CONNECTIONS_MAX) {
      const unneeded = this.#unneeded();
      if (!unneeded) {
        socket.destroy();
        return;
      }
      this.#open.delete(unneeded);
      unneeded.destroy();
    }
    this.#open.set(socket, { requests: 0, isOperator: false });
    socket.once('close', () => this.#open.delete(socket));
  }

  /** The connection to close for a new one. */
  #unneeded(): Socket | undefined {
    let found: Socket | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const [socket, held] of this.#open) {
      const need = needOf(socket, held);
      if (need >= least) continue;
      found = socket;
      least = need;
    }
    return found;
  }
}

/** How much a connection is needed: infinitely if an operator's request is being answered on it. */
function needOf(socket: Socket, { requests, isOperator }: Held): number {
  if (isOperator) return requests > 0 ? Number.POSITIVE_INFINITY : 3;
  if (socket.bytesRead === 0) return 0;
  return requests > 0 ? 2 : 1;
}

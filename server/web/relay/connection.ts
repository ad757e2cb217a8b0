/**
 * The connection of this page to its relay: the seat it holds, and the transport that serves it.
 *
 * Starts with the WebSocket, and changes to the long-poll when SOCKET_OPENINGS_MAX sockets in a row never opened, or the browser allows none.
 * Invariant: at most one transport is open, and it serves the present seat.
 */
import { lostMs } from './moves.ts';
import type { RelayEvent, Seat, Transport, TransportHandlers } from './transport.ts';

export type TransportKind = 'socket' | 'poll';
export type OpenTransport = (seat: Seat, handlers: TransportHandlers) => Transport;

interface ConnectionHandlers {
  /** A transport was opened. The one before it, if any, is still open and is closed next. */
  opened(seat: Seat, transport: Transport, kind: TransportKind): void;
  /** See TransportHandlers. */
  events(seat: Seat, events: RelayEvent[], cursor: string): Promise<boolean>;
  cursorLost(seat: Seat, cursor: string): void;
  /** The relay became reachable, or stopped being so. */
  changed(seat: Seat, up: boolean): void;
  /** The relay has not answered for so long that it counts as gone (moves.ts). It is still being tried. */
  lost(seat: Seat): void;
  ended(seat: Seat, lostAfter: number): void;
}

export const SOCKET_OPENINGS_MAX = 2; // sockets in a row that never opened, until the long-poll is tried

export class Connection {
  /** Null until the first join. */
  seat: Seat | null = null;
  /** Whether the relay answers. */
  up = false;
  /** Whether the transport was closed until `reopen`. */
  isClosed = false;
  /** What is tried first on every network. */
  #first: TransportKind;
  #kind: TransportKind;
  #transport: Transport | null = null;
  #failedOpenings = 0;
  /** Runs while the relay does not answer. */
  #lostTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #open: Record<TransportKind, OpenTransport>;
  readonly #handlers: ConnectionHandlers;

  constructor(first: TransportKind, open: Record<TransportKind, OpenTransport>, handlers: ConnectionHandlers) {
    this.#first = first;
    this.#kind = first;
    this.#open = open;
    this.#handlers = handlers;
  }

  /** Takes a seat and opens a transport for it. The transport of the former seat is closed. */
  sit(seat: Seat): void {
    this.seat = seat;
    this.up = false;
    this.#restartLostTimer(seat);
    this.#openTransport(seat);
  }

  /** Opens a new transport for the seat at once: the network has gone or come, or the transport was closed. */
  reopen(): void {
    const { seat } = this;
    if (seat === null) return;
    this.#kind = this.#first;
    this.#setUp(seat, false);
    this.#restartLostTimer(seat);
    this.#openTransport(seat);
  }

  /** Closes the transport until `reopen`: the browser keeps the page, but it runs no more. */
  close(): void {
    if (this.#transport === null || this.seat === null) return;
    this.#setUp(this.seat, false);
    clearTimeout(this.#lostTimer);
    this.isClosed = true;
    this.#transport.close();
  }

  #restartLostTimer(seat: Seat): void {
    clearTimeout(this.#lostTimer);
    this.#lostTimer = this.up ? undefined : setTimeout(() => this.#handlers.lost(seat), lostMs(seat));
  }

  #openTransport(seat: Seat): void {
    const former = this.#transport;
    const handlers = this.#handlers;
    this.#failedOpenings = 0;
    this.isClosed = false;
    this.#transport = this.#open[this.#kind](seat, {
      events: (events, cursor) => handlers.events(seat, events, cursor),
      cursorLost: (cursor) => handlers.cursorLost(seat, cursor),
      connected: (is) => this.#connected(seat, is),
      impossible: () => {
        this.#first = 'poll';
        this.#changeToPoll(seat);
      },
      ended: (_, lostAfter) => {
        this.up = false;
        handlers.ended(seat, lostAfter);
      },
    });
    handlers.opened(seat, this.#transport, this.#kind);
    former?.close();
  }

  #connected(seat: Seat, is: boolean): void {
    this.#failedOpenings = is || this.up ? 0 : this.#failedOpenings + 1;
    // Something between this page and the relay blocks sockets.
    if (this.#failedOpenings === SOCKET_OPENINGS_MAX && this.#kind === 'socket') this.#changeToPoll(seat);
    this.#setUp(seat, is);
  }

  #setUp(seat: Seat, is: boolean): void {
    if (is === this.up) return;
    this.up = is;
    this.#restartLostTimer(seat);
    this.#handlers.changed(seat, is);
  }

  #changeToPoll(seat: Seat): void {
    this.#kind = 'poll';
    this.#openTransport(seat);
  }
}

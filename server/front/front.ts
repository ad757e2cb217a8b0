/**
 * The front faces the sockets. It turns bytes into calls with plain numbers, and answers into bytes.
 *
 * Four routes are hot and end here: `GET …/events` (a poll), `POST …/crossings`, `POST …/sayings` and `POST …/stage`. Two
 * implementations, `portable` (node:http, any system) and `native` (the addon, Linux), pass one contract suite: front.contract.ts.
 * Invariant: every ticket that a handler receives is either answered once or reported closed once, never both.
 * Cost: no object for a request; the front refills one view for each call of a handler.
 */
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Answer } from '../wire/answer.ts';
import { type EdgeNumber, LEASE_MS } from '../wire/rules.ts';

/** Names one request that waits for its answer. An integer below 2^48, not reused while an answer can still come. */
export type Ticket = number;

/** The poll has no cursor: it acknowledges nothing. */
export const NO_CURSOR = -1;

/** A slot that no desktop has: the id or the token is malformed, or they name different desktops. */
export const NO_SLOT = 0xffffffff;

/**
 * One request on a hot route.
 *
 * Owner   the front; every field is valid until the handler returns.
 */
export interface RequestView {
  ticket: Ticket;
  /** The slot in the path if the token names the same desktop; otherwise NO_SLOT. */
  slot: number;
  generation: number;
  /** The token's 128 bits: four 32-bit words, big-endian order of its hex digits. */
  readonly token: Uint32Array;
  /** Poll: the cursor's epoch and sequence; seq is NO_CURSOR when the poll has none. */
  epoch: number;
  seq: number;
  /** Crossing, saying, stage: −1 when body[start, end) is its unchecked body; otherwise it was checked, and the bytes are its passage. */
  edge: EdgeNumber | -1;
  /** A checked crossing: the sender's number. */
  crossing: number;
  body: Buffer;
  start: number;
  end: number;
}

/** A view that a front refills. */
export function blankView(body: Buffer = Buffer.alloc(0)): RequestView {
  return {
    ticket: 0,
    slot: 0,
    generation: 0,
    token: new Uint32Array(4),
    epoch: 0,
    seq: NO_CURSOR,
    edge: -1,
    crossing: 0,
    body,
    start: 0,
    end: 0,
  };
}

export interface FrontHandlers {
  /** A whole poll has arrived. Answer its ticket now or later. */
  poll(request: RequestView): void;
  /** A whole crossing has arrived; its body is ≤ CROSSING_BYTES_MAX. Answer its ticket now or later. */
  crossing(request: RequestView): void;
  /** A whole saying has arrived; its body is as long as that of a crossing at most. Answer its ticket now or later. */
  saying(request: RequestView): void;
  /** A whole stage has arrived; its body is ≤ STAGE_BYTES_MAX. Answer its ticket now or later. */
  stage(request: RequestView): void;
  /** The connection of an unanswered ticket has closed: an answer would be dropped. `slot` is the slot of its request. */
  closed(ticket: Ticket, slot: number): void;
  /**
   * More bytes have arrived behind a parked poll: its client has a newer request. Answer the poll, since answers leave in
   * the order of their requests. Called once for a ticket.
   */
  outdated(ticket: Ticket, slot: number): void;
  /** A batch of calls has ended: pass on now what was gathered during it. */
  turn(): void;
  /** Answers are about to leave, at the end of a turn or, when there is no room for more of them, in its middle. */
  sending?(): void;
}

export interface FrontListener {
  /** Address to bind, e.g. `::` (both families), `127.0.0.1`. */
  host: string;
  /** 0 picks a free port. */
  port: number;
  /** Several processes listen on this port (SO_REUSEPORT), where the system supports that. */
  shared: boolean;
  /** A socket that listens there already; the front owns it from now on. For the native front only: openListener() in native.ts. */
  descriptor?: number;
  /** Its hot routes: polls, or crossings, sayings and stages. Every other request is answered 404 or 405, or goes to `fallback`. */
  routes: 'events' | 'crossings';
  /** Handles every other request on this listener (express). Absent: the front itself answers 404, 405 or OPTIONS. */
  fallback?: RequestListener;
  /** Handles upgrades (WebSocket) on this listener. Absent: the front answers 404. */
  upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/** How long peers may take, in ms. */
export interface Timeouts {
  /** For a request's head, and for the whole request of a hot route. */
  requestMs: number;
  /** For a whole request that goes to a fallback. */
  uploadMs: number;
  /** Between requests. */
  idleMs: number;
  /** For the socket to accept more of an answer. */
  writeMs: number;
  /** For a whole request that goes to a fallback, with its whole answer. */
  answerMs: number;
  /** For the client to read the last answer and close the connection. */
  lingerMs: number;
}

export const TIMEOUTS: Timeouts = {
  requestMs: 10_000, // a head is one or two packets; TCP resends a lost one within three seconds
  uploadMs: 30_000, // a sprite file of 1 MiB at 35 kB/s
  idleMs: 65_000, // above the 60 s after which clients close their end
  writeMs: LEASE_MS, // a client that reads nothing for so long is gone
  answerMs: 120_000, // the largest file is the installer: 4 MiB at 35 kB/s
  lingerMs: 2_000, // one or two round trips around the world, and a read
};

/** Whether listening on a host failed because the system has no IPv6, and so no `::`. */
export function lacksIpv6(error: unknown, host: string): boolean {
  return (error as NodeJS.ErrnoException).code === 'EAFNOSUPPORT' && host === '::';
}

export interface FrontOptions {
  listeners: readonly FrontListener[];
  handlers: FrontHandlers;
  /** Connections at once over all listeners; any further connection is refused with 503 relay-full and closed. */
  connectionsMax: number;
  /**
   * Connections at once of one block of addresses (an IPv4 address, an IPv6 /64), over all listeners of this front; any
   * further one is refused with 429 too-many-connections and closed. 0, the default: not limited. Behind a proxy all clients
   * have its address, so it must be 0 there.
   */
  connectionsPerAddressMax?: number;
  /** Default TIMEOUTS; tests shorten them. */
  timeouts?: Partial<Timeouts>;
}

/** The state of a front at one moment; all are counts. */
export interface FrontGauges {
  connections: number;
  /** Tickets that are neither answered nor closed yet. */
  waiting: number;
  /** Connections refused since start because a limit of connections was reached. */
  refused: number;
  /** 1 while the front does not read because the handlers are behind. */
  stalled: number;
}

export interface Front {
  readonly kind: 'portable' | 'native';
  /** Binds every listener. Resolves to the ports in the order of the options. Rejects with the system's error. */
  listen(): Promise<number[]>;
  /**
   * Answers a ticket.
   *
   * Shape   2xx bodies are application/json, others application/problem+json; 401 has WWW-Authenticate: Bearer;
   *         retryAfterSeconds 0 sends no Retry-After. An unknown or closed ticket is ignored.
   * Owner   the bytes are copied before the call returns. They leave with the next flush(). `shared` never changes.
   * Cost    answers in a row with the same `shared` carry its bytes once, up to the socket.
   */
  readonly answer: Answer;
  /**
   * Returns a buffer with room for the body of the next answer: `bytes` bytes from `roomAt` on. A body written there is not
   * copied.
   *
   * Owner   the front; valid until the next call of any of its methods.
   */
  room(bytes: number): Buffer;
  readonly roomAt: number;
  /** Sends everything answered since the last flush. Call it at the end of a turn. */
  flush(): void;
  gauges(): FrontGauges;
  /**
   * Stops listening. Idle connections close now, the others after their answer. Called again, the native front closes those that have not asked,
   * too: their clients ask again elsewhere.
   */
  drain(): void;
  /** Closes everything at once. */
  close(): Promise<void>;
}

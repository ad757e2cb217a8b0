/**
 * The front: what faces the sockets. It turns bytes into calls with plain numbers, and answers into bytes.
 *
 * Two routes are hot and end here: `GET …/events` (a poll) and `POST …/crossings` (a crossing). Two implementations,
 * `portable` (node:http, any system) and `native` (the addon, Linux), pass one contract suite: front.contract.ts.
 * Invariant: every ticket handed to a handler is either answered once or reported closed once, never both.
 * Cost: no object is made for a request; handlers get one view that the front fills anew for each call.
 */
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Answer } from '../wire/answer.ts';
import type { EdgeNumber } from '../wire/crossing.ts';

/** Names one request that waits for its answer. A whole number below 2^48; never reused while an answer can still come. */
export type Ticket = number;

/** No cursor came with the poll: nothing is acknowledged. */
export const NO_CURSOR = -1;

/** No desktop can have this slot: the id or the token was not of their form, or they disagree. */
export const NO_SLOT = 0xffffffff;

/**
 * One request on a hot route.
 *
 * Owner   the front; every field is valid until the handler returns.
 */
export interface RequestView {
  ticket: Ticket;
  /** The desktop of the path, when the token names the same one; else NO_SLOT. */
  slot: number;
  generation: number;
  /** The token's 128 bits: four 32-bit words, big-endian order of its hex digits. */
  readonly token: Uint32Array;
  /** Poll: the cursor's epoch and sequence; seq is NO_CURSOR when none came. */
  epoch: number;
  seq: number;
  /** Crossing: −1 when its body is body[start, end), not yet looked at; else it was checked, and that is its passage. */
  edge: EdgeNumber | -1;
  /** Crossing that was checked: the sender's number. */
  crossing: number;
  body: Buffer;
  start: number;
  end: number;
}

export interface FrontHandlers {
  /** A whole poll has come. Answer its ticket now or later. */
  poll(request: RequestView): void;
  /** A whole crossing has come; its body is ≤ CROSSING_BYTES_MAX. Answer its ticket now or later. */
  crossing(request: RequestView): void;
  /** The connection of an unanswered ticket is gone; an answer to it would go nowhere. `slot` is that of its request. */
  closed(ticket: Ticket, slot: number): void;
  /**
   * Something came on the connection of a poll that waits: what its client asks next is newer. Answer it, for answers
   * leave in the order of their requests. Told once for a ticket.
   */
  outdated(ticket: Ticket, slot: number): void;
  /** The end of a batch of calls: what was gathered during it is handed on now. */
  turn(): void;
}

export interface FrontListener {
  /** Address to bind, e.g. `::` (both families), `127.0.0.1`. */
  host: string;
  /** 0 picks a free one. */
  port: number;
  /** Several processes listen on this port together (SO_REUSEPORT), where the system can. */
  shared: boolean;
  /** Which hot routes end here; everything else gets 404/405 or goes to `fallback`. */
  routes: 'events' | 'crossings';
  /** Takes every other request on this listener (express); absent: the front answers 404, 405 or OPTIONS itself. */
  fallback?: RequestListener;
  /** Takes upgrades (WebSocket) on this listener; absent: refused with 404. */
  upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/** How long peers may take, in ms. */
export interface Patience {
  /** For a request's head, and for the whole request of a hot route. */
  requestMs: number;
  /** For a whole request that goes to a fallback. */
  uploadMs: number;
  /** Between requests. */
  idleMs: number;
  /** For the socket to take some of an answer. */
  writeMs: number;
  /** To read the answer that closes the connection, and to end it. */
  lingerMs: number;
}

export const PATIENCE: Patience = {
  requestMs: 10_000, // a head is one or two packets; a lost one is sent again within three seconds
  uploadMs: 30_000, // a sprite file of 1 MiB at 35 kB/s
  idleMs: 65_000, // above the 60 s at which clients drop their end
  writeMs: 30_000, // as long as a lease: who takes nothing for so long has ended
  lingerMs: 2_000, // a round trip or two around the world, and a read
};

export interface FrontOptions {
  listeners: readonly FrontListener[];
  handlers: FrontHandlers;
  /** Connections held at once over all listeners; one more is refused with 503 relay-full and closed. */
  connectionsMax: number;
  /** Default PATIENCE; tests shorten it. */
  patience?: Partial<Patience>;
}

/** What a front can say of itself at any moment; all are counts. */
export interface FrontGauges {
  connections: number;
  /** Tickets handed out and not yet answered or closed. */
  waiting: number;
  /** Connections refused because connectionsMax was reached, since start. */
  refused: number;
  /** 1 while the front has stopped reading because the handlers fell behind. */
  stalled: number;
}

export interface Front {
  readonly kind: 'portable' | 'native';
  /** Binds every listener. Resolves to their ports, in the order of the options. Rejects with the system's error. */
  listen(): Promise<number[]>;
  /**
   * Answers a ticket with body[start, end).
   *
   * Shape   2xx bodies are application/json, others application/problem+json; 401 says WWW-Authenticate: Bearer;
   *         retryAfterSeconds 0 sends no Retry-After. An unknown or closed ticket is ignored.
   * Owner   the bytes are copied before the call returns.
   */
  readonly answer: Answer;
  /**
   * Room for the body of the next answer, which then need not be copied: `bytes` from `roomAt` on in what this answers.
   *
   * Owner   the front: valid until the next call of it.
   */
  room(bytes: number): Buffer;
  readonly roomAt: number;
  /** Hands over everything answered since the last flush; called at the end of a turn. */
  flush(): void;
  gauges(): FrontGauges;
  /** Stops listening; connections without a waiting ticket close, the others after their answer. */
  drain(): void;
  /** Closes everything at once. */
  close(): Promise<void>;
}

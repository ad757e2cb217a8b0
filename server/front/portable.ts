/**
 * The portable front: node:http on any system. The oracle the native front is held against, and its baseline.
 *
 * Invariant: see front.ts. What is pipelined on a connection is handed on as it comes; answers leave in its order.
 * Cost: some 15 KB of JavaScript objects a parked poll, and a closure-free handful of calls a request.
 */
import http, { type IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Answer } from '../wire/answer.ts';
import { CROSSING_BYTES_MAX } from '../wire/crossing.ts';
import { FRONT_PROBLEMS, PROBLEMS, type ProblemDocument } from '../wire/problem.ts';
import {
  CORS_ORIGIN,
  CORS_PREFLIGHT,
  HEAD_BYTES_MAX,
  hotRoute,
  METHOD_OF,
  readBearer,
  readCursorOf,
} from '../wire/route.ts';
import {
  type Front,
  type FrontGauges,
  type FrontListener,
  type FrontOptions,
  NO_SLOT,
  PATIENCE,
  type Patience,
  type RequestView,
  type Ticket,
} from './front.ts';

/** TCP keep-alive begins after this, so that a peer that vanished is noticed while its poll is parked. */
const KEEP_ALIVE_MS = 60_000;

/** Connections above the limit that get a 503 for their request before they are closed; any further one is closed at once. */
const REFUSED_AT_ONCE_MAX = 16;

/** How often node:http looks for requests that are late, in ms. */
const LOOK_MS_MAX = 1_000;

/** A response that knows the ticket it answers. */
class Reply extends ServerResponse {
  ticket: Ticket = -1;
  slot = NO_SLOT;
  isPoll = false;
  /** The hot request before it on its connection, when that was not answered yet. */
  before: Reply | undefined;
}

interface FrontSocket extends Socket {
  /** It is one too many: its request is answered 503. */
  refused?: boolean;
  /** The answer to its newest hot request. */
  newest?: Reply;
  /** Its last answer is out; what the peer still sends is thrown away until it ends its half. */
  lingering?: boolean;
  /** The request it was asked last. */
  request?: IncomingMessage;
}

type Server = http.Server<typeof IncomingMessage, typeof Reply>;

export class PortableFront implements Front {
  readonly kind = 'portable';
  readonly #options: FrontOptions;
  readonly #patience: Patience;
  readonly #servers: Server[];
  readonly #waiting = new Map<Ticket, Reply>();
  readonly #view: RequestView = {
    ...{ ticket: 0, slot: NO_SLOT, generation: 0, token: new Uint32Array(4), epoch: 0, seq: 0 },
    ...{ edge: -1 as const, crossing: 0, body: Buffer.alloc(0), start: 0, end: 0 },
  };
  readonly roomAt = 0;
  #room = Buffer.alloc(0);
  #nextTicket: Ticket;
  #connections = 0;
  #refusedNow = 0;
  #refused = 0;
  #turnDue = false;
  #draining = false;

  /** `firstTicket`: where its tickets begin, when another front beside it gives tickets to the same handlers. */
  constructor(options: FrontOptions, firstTicket: Ticket = 1) {
    this.#options = options;
    this.#patience = { ...PATIENCE, ...options.patience };
    this.#nextTicket = firstTicket;
    this.#servers = options.listeners.map((listener) => this.#serve(listener));
  }

  /** The server of listener `index`, for whoever has a connection to give it: `emit('connection', socket)`. */
  server(index: number): Server {
    return this.#servers[index];
  }

  async listen(): Promise<number[]> {
    const ports: number[] = [];
    for (const [index, listener] of this.#options.listeners.entries()) {
      ports.push(await listen(this.#servers[index], listener));
      // An accept that fails later (no descriptor left) is one more connection refused, not the end of the relay.
      this.#servers[index].on('error', () => this.#refused++);
    }
    return ports;
  }

  readonly answer: Answer = (ticket, status, body, start, end, retryAfterSeconds) => {
    const reply = this.#waiting.get(ticket);
    if (!reply) return;
    this.#waiting.delete(ticket);
    this.#send(reply, status, Buffer.from(body.subarray(start, end)), retryAfterSeconds);
  };

  room(bytes: number): Buffer {
    if (bytes > this.#room.length) this.#room = Buffer.alloc(bytes);
    return this.#room;
  }

  flush(): void {}

  gauges(): FrontGauges {
    return { connections: this.#connections, waiting: this.#waiting.size, refused: this.#refused, stalled: 0 };
  }

  drain(): void {
    this.#draining = true;
    for (const server of this.#servers) server.close();
  }

  async close(): Promise<void> {
    const closed = this.#servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
    for (const server of this.#servers) server.closeAllConnections();
    await Promise.all(closed);
  }

  #serve(listener: FrontListener): Server {
    const { requestMs, uploadMs, idleMs } = this.#patience;
    const server = http.createServer<typeof IncomingMessage, typeof Reply>({
      ServerResponse: Reply,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
      headersTimeout: requestMs,
      requestTimeout: listener.fallback ? uploadMs : requestMs,
      keepAliveTimeout: idleMs,
      connectionsCheckingInterval: Math.min(LOOK_MS_MAX, requestMs / 4),
      maxHeaderSize: HEAD_BYTES_MAX,
      requireHostHeader: false,
      // A client that offers h2c, as some do with every request, gets its answer in HTTP/1.1.
      shouldUpgradeCallback: ({ headers }) =>
        listener.upgrade !== undefined && headers.upgrade?.toLowerCase() === 'websocket',
    });
    server.on('connection', (socket: FrontSocket) => this.#connected(socket));
    server.on('request', (request, reply) => this.#request(listener, request, reply));
    server.on('clientError', refuseBytes);
    if (listener.upgrade) {
      const { upgrade } = listener;
      server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
        const { refused, lingering } = socket as FrontSocket;
        if (refused || lingering) socket.destroy();
        else upgrade(request, socket, head);
      });
    }
    return server;
  }

  #connected(socket: FrontSocket): void {
    // What node:http calls when an answer was the last.
    socket.destroySoon = this.#linger;
    socket.once('close', this.#closed);
    const over = this.#connections + this.#refusedNow - this.#options.connectionsMax;
    if (over < 0) {
      this.#connections++;
      socket.once('close', () => this.#connections--);
      return;
    }
    this.#refused++;
    if (over >= REFUSED_AT_ONCE_MAX) {
      socket.destroy();
      return;
    }
    socket.refused = true;
    this.#refusedNow++;
    // As long as it has to read its answer, it has to ask.
    const late = setTimeout(() => socket.destroy(), this.#patience.lingerMs);
    socket.once('close', () => {
      this.#refusedNow--;
      clearTimeout(late);
    });
  }

  /** Closing a socket with unread bytes resets it, and the peer loses the answer: our half ends, and the peer's is awaited. */
  readonly #linger = ((front: PortableFront) =>
    function destroySoon(this: FrontSocket): void {
      if (this.lingering || this.destroyed) return;
      this.lingering = true;
      this.end();
      this.request?.resume();
      const late = setTimeout(() => this.destroy(), front.#patience.lingerMs);
      this.once('close', () => clearTimeout(late));
    })(this);

  #request(listener: FrontListener, request: IncomingMessage, reply: Reply): void {
    const socket = request.socket as FrontSocket;
    if (socket.lingering) return;
    socket.request = request;
    this.#tellIfOutdated(socket);
    if (socket.refused) {
      this.#refuse(reply, FRONT_PROBLEMS.relayFull, true);
      return;
    }
    if (isAmbiguous(request)) {
      this.#refuse(reply, FRONT_PROBLEMS.malformed, true);
      return;
    }
    const target = request.url ?? '';
    const route = hotRoute(target);
    if (route !== listener.routes || request.method !== METHOD_OF[route]) {
      if (listener.fallback) listener.fallback(request, reply);
      else this.#elsewhere(request, reply, route === listener.routes);
      return;
    }
    if (Number(request.headers['content-length'] ?? 0) > CROSSING_BYTES_MAX) {
      this.#refuse(reply, FRONT_PROBLEMS.tooLarge, true);
      return;
    }
    const view = this.#view;
    if (route === 'events') {
      // What would it be for? Its end alone would have to be looked for while the poll is held.
      if (request.headers['transfer-encoding'] !== undefined) {
        this.#refuse(reply, FRONT_PROBLEMS.malformed, true);
        return;
      }
      if (!readCursorOf(target, view)) {
        this.#refuse(reply, FRONT_PROBLEMS.cursor, false);
        return;
      }
      this.#take(request, reply);
      reply.isPoll = true;
      this.#options.handlers.poll(view);
      this.#turnSoon();
    } else this.#crossing(request, reply);
  }

  /** Reads a crossing's body, then hands it on. */
  #crossing(request: IncomingMessage, reply: Reply): void {
    const body = Buffer.allocUnsafe(CROSSING_BYTES_MAX);
    let length = 0;
    const refuse = (document: ProblemDocument) => {
      clearTimeout(late);
      request.removeAllListeners('data').removeAllListeners('end');
      this.#refuse(reply, document, true);
    };
    // The server's own limit on this port leaves time for an upload.
    const late = setTimeout(refuse, this.#patience.requestMs, FRONT_PROBLEMS.requestTimeout);
    reply.on('close', () => clearTimeout(late));
    request.on('data', (chunk: Buffer) => {
      if (length + chunk.length > CROSSING_BYTES_MAX) refuse(FRONT_PROBLEMS.tooLarge);
      else length += chunk.copy(body, length);
    });
    request.on('end', () => {
      clearTimeout(late);
      this.#take(request, reply);
      this.#view.body = body;
      this.#view.start = 0;
      this.#view.end = length;
      this.#options.handlers.crossing(this.#view);
      this.#turnSoon();
    });
  }

  /** Fills the view with who asks, and gives the request its ticket. */
  #take(request: IncomingMessage, reply: Reply): void {
    const view = this.#view;
    if (!readBearer(request.url ?? '', request.headers.authorization, view)) view.slot = NO_SLOT;
    reply.ticket = view.ticket = this.#nextTicket++;
    reply.slot = view.slot;
    this.#waiting.set(reply.ticket, reply);
    const socket = request.socket as FrontSocket;
    reply.before = this.#newestWaiting(socket);
    socket.newest = reply;
  }

  #newestWaiting(socket: FrontSocket): Reply | undefined {
    let reply = socket.newest;
    while (reply && !this.#waiting.has(reply.ticket)) reply = reply.before;
    return reply;
  }

  /** node:http hands on what is pipelined behind a poll while that waits, and sends the answers in their order. */
  #tellIfOutdated(socket: FrontSocket): void {
    const { newest } = socket;
    if (!newest?.isPoll || !this.#waiting.has(newest.ticket)) return;
    newest.isPoll = false;
    this.#options.handlers.outdated(newest.ticket, newest.slot);
    this.#turnSoon();
  }

  /** A connection has ended: what still waits for an answer on it is told of. (node:http tells the first of its replies only.) */
  readonly #closed = ((front: PortableFront) =>
    function closed(this: FrontSocket): void {
      for (let reply = this.newest; reply; reply = reply.before) {
        if (!front.#waiting.delete(reply.ticket)) continue;
        front.#options.handlers.closed(reply.ticket, reply.slot);
        front.#turnSoon();
      }
    })(this);

  #turnSoon(): void {
    if (this.#turnDue) return;
    this.#turnDue = true;
    setImmediate(() => {
      this.#turnDue = false;
      this.#options.handlers.turn();
    });
  }

  /** A listener without fallback: everything but its one route. */
  #elsewhere(request: IncomingMessage, reply: Reply, known: boolean): void {
    if (request.method === 'OPTIONS') {
      reply.writeHead(204, CORS_PREFLIGHT).end();
    } else if (known) {
      reply.setHeader('Allow', 'GET, OPTIONS');
      this.#refuse(reply, FRONT_PROBLEMS.methodNotAllowed, false);
    } else this.#refuse(reply, FRONT_PROBLEMS.notFound, false);
  }

  #refuse(reply: Reply, document: ProblemDocument, closing: boolean): void {
    if (closing) reply.shouldKeepAlive = false;
    this.#send(reply, document.status, bytesOf(document), PROBLEMS[document.code].retryAfterSeconds);
  }

  #send(reply: Reply, status: number, body: Buffer, retryAfterSeconds: number): void {
    reply.sendDate = false;
    if (this.#draining) reply.shouldKeepAlive = false;
    reply.writeHead(status, headOf(status, body.length, retryAfterSeconds));
    reply.end(body);
    const { socket } = reply;
    if (socket && socket.writableLength > 0) socket.setTimeout(this.#patience.writeMs);
  }
}

/**
 * What node:http leaves to us: a request line without a version, which it reads as HTTP/0.9, the number of Host headers
 * (RFC 9112 §3.2), and HTTP/1.0 with Transfer-Encoding, whose end nobody knows (§6.1).
 */
function isAmbiguous({ httpVersionMajor, httpVersionMinor, headers, rawHeaders }: IncomingMessage): boolean {
  if (httpVersionMajor !== 1) return true;
  if (httpVersionMinor === 0 && headers['transfer-encoding'] !== undefined) return true;
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at].length === 4 && rawHeaders[at].toLowerCase() === 'host') hosts++;
  }
  return hosts > 1 || (hosts === 0 && httpVersionMinor > 0);
}

/** Headers of an answer, the same on both fronts. */
function headOf(status: number, length: number, retryAfterSeconds: number): http.OutgoingHttpHeaders {
  const head: http.OutgoingHttpHeaders = {
    'Content-Type': status < 300 ? 'application/json' : 'application/problem+json',
    'Content-Length': length,
    'Cache-Control': 'no-store',
    ...CORS_ORIGIN,
  };
  if (retryAfterSeconds > 0) head['Retry-After'] = retryAfterSeconds;
  if (status === 401) head['WWW-Authenticate'] = 'Bearer';
  return head;
}

const rendered = new Map<ProblemDocument, Buffer>();

function bytesOf(document: ProblemDocument): Buffer {
  const known = rendered.get(document);
  if (known) return known;
  const bytes = Buffer.from(JSON.stringify(document));
  rendered.set(document, bytes);
  return bytes;
}

/** Answers what node:http could not read as a request, and closes. For `clientError` of any server. */
export function refuseBytes(error: NodeJS.ErrnoException, duplex: Duplex): void {
  const socket = duplex as FrontSocket;
  if (socket.lingering) return;
  // Bytes behind a request that still waits for its answer: an error now would be taken for that answer.
  if (!socket.writable || isAwaited(socket)) {
    socket.destroy();
    return;
  }
  const document =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? FRONT_PROBLEMS.headTooLarge
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? FRONT_PROBLEMS.requestTimeout
        : FRONT_PROBLEMS.malformed;
  const body = bytesOf(document);
  const head = Object.entries(headOf(document.status, body.length, 0)).map(([name, value]) => `${name}: ${value}\r\n`);
  const line = `HTTP/1.1 ${document.status} ${http.STATUS_CODES[document.status]}\r\n`;
  socket.write(Buffer.concat([Buffer.from(`${line}${head.join('')}Connection: close\r\n\r\n`), body]));
  socket.destroySoon();
}

function isAwaited({ newest }: FrontSocket): boolean {
  for (let reply = newest; reply; reply = reply.before) if (!reply.writableEnded) return true;
  return false;
}

function listen(server: Server, listener: FrontListener): Promise<number> {
  return new Promise((resolve, reject) => {
    const reusePort = listener.shared && process.platform === 'linux';
    const bind = (host: string) => server.listen({ host, port: listener.port, reusePort, backlog: 4096 });
    server.once('error', (error: NodeJS.ErrnoException) => {
      // A system without IPv6 has no `::`.
      if (error.code !== 'EAFNOSUPPORT' || listener.host !== '::') return reject(error);
      server.once('error', reject);
      bind('0.0.0.0');
    });
    server.once('listening', () => {
      server.removeAllListeners('error');
      resolve((server.address() as AddressInfo).port);
    });
    bind(listener.host);
  });
}

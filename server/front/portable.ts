/**
 * The portable front: node:http, on any system. It is the oracle of the native front, and its baseline.
 *
 * Invariant: see front.ts. Pipelined requests go to the handlers as they arrive; answers leave in the order of the requests.
 * Cost: some 15 KB of JavaScript objects a parked poll; a few calls without closures a request.
 */

import http, { type IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Answer } from '../wire/answer.ts';
import { FRONT_PROBLEMS, PROBLEMS, type ProblemDocument } from '../wire/problem.ts';
import { CORS_PREFLIGHT, type HotRoute, hotRoute, METHOD_OF, readBearer, readCursorOf } from '../wire/route.ts';
import { CROSSING_BYTES_MAX, HEAD_BYTES_MAX, HEADERS_MAX, STAGE_BYTES_MAX } from '../wire/rules.ts';
import { addressBlock, plainAddress } from './address_block.ts';
import { FallbackQueue } from './fallback_queue.ts';
import {
  blankView,
  type Front,
  type FrontGauges,
  type FrontListener,
  type FrontOptions,
  lacksIpv6,
  NO_SLOT,
  TIMEOUTS,
  type Ticket,
  type Timeouts,
} from './front.ts';
import { headOf, refuseHead } from './refusal.ts';
import { endSlices, slicedPush, sliceReads } from './slices.ts';

/** TCP keep-alive starts after this time, to detect a peer that vanished while its poll is parked. */
const KEEP_ALIVE_MS = 60_000;

/** Connections above the limit that get a 503 before they are closed; any further connection is closed at once. */
const REFUSED_OPEN_MAX = 16;

/** How often node:http checks for late requests, in ms. */
const CHECK_MS_MAX = 1_000;

/** A response that knows the ticket it answers. */
class Reply extends ServerResponse {
  ticket: Ticket = -1;
  slot = NO_SLOT;
  isPoll = false;
  isForFallback = false;
  /** The reply to the previous hot request of the connection, if that waited when this request arrived. */
  previous: Reply | undefined;
}

/** An answer that leaves with the next flush(). */
interface Unsent {
  readonly reply: Reply;
  readonly status: number;
  readonly body: Buffer;
  readonly retryAfterSeconds: number;
  readonly shared: Buffer | undefined;
}

interface FrontSocket extends Socket {
  /** The connection is above a limit: its request is answered with this problem. */
  refused?: ProblemDocument;
  /** The reply to its newest hot request. */
  newest?: Reply;
  /** Its last answer has left; what the peer still sends is discarded until it closes its half. */
  lingering?: boolean;
  /** Its newest request, and the reply to it. */
  request?: IncomingMessage;
  reply?: Reply;
  /** Its requests for the fallback. */
  fallbackQueue?: FallbackQueue;
  /** Too many requests wait for the fallback: the later ones are ignored, and the connection closes after the others. */
  overrun?: boolean;
}

type Server = http.Server<typeof IncomingMessage, typeof Reply>;

export class PortableFront implements Front {
  readonly kind = 'portable';
  readonly #options: FrontOptions;
  readonly #timeouts: Timeouts;
  readonly #servers: Server[];
  readonly #waiting = new Map<Ticket, Reply>();
  #unsent: Unsent[] = [];
  readonly #view = blankView();
  readonly roomAt = 0;
  #room = Buffer.alloc(0);
  #nextTicket: Ticket;
  #connections = 0;
  /** Connections by block of addresses, if they are limited. */
  readonly #byAddress = new Map<string, number>();
  #refusedOpen = 0;
  #refused = 0;
  #turnScheduled = false;
  #draining = false;

  /** `firstTicket`: its first ticket, when another front gives tickets to the same handlers. */
  constructor(options: FrontOptions, firstTicket: Ticket = 1) {
    this.#options = options;
    this.#timeouts = { ...TIMEOUTS, ...options.timeouts };
    this.#nextTicket = firstTicket;
    this.#servers = options.listeners.map((listener) => this.#serve(listener));
  }

  /** The server of listener `index`. To give it a connection: `emit('connection', socket)`. */
  server(index: number): Server {
    return this.#servers[index];
  }

  async listen(): Promise<number[]> {
    const ports: number[] = [];
    for (const [index, listener] of this.#options.listeners.entries()) {
      ports.push(await listen(this.#servers[index], listener));
      // A later failure to accept (no descriptor left) counts as a refused connection; it must not stop the relay.
      this.#servers[index].on('error', () => this.#refused++);
    }
    return ports;
  }

  readonly answer: Answer = (ticket, { status, body, start, end, retryAfterSeconds, shared }) => {
    const reply = this.#waiting.get(ticket);
    if (!reply) return;
    this.#waiting.delete(ticket);
    this.#unsent.push({ reply, status, body: Buffer.from(body.subarray(start, end)), retryAfterSeconds, shared });
  };

  room(bytes: number): Buffer {
    if (bytes > this.#room.length) this.#room = Buffer.alloc(bytes);
    return this.#room;
  }

  flush(): void {
    if (this.#unsent.length === 0) return;
    this.#options.handlers.sending?.();
    const unsent = this.#unsent;
    this.#unsent = [];
    for (const { reply, status, body, retryAfterSeconds, shared } of unsent) {
      this.#send(reply, status, body, retryAfterSeconds, shared);
    }
  }

  gauges(): FrontGauges {
    return {
      connections: this.#connections,
      waiting: this.#waiting.size + this.#unsent.length,
      refused: this.#refused,
      stalled: 0,
    };
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
    const { requestMs, uploadMs, idleMs } = this.#timeouts;
    const server = http.createServer<typeof IncomingMessage, typeof Reply>({
      ServerResponse: Reply,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
      headersTimeout: requestMs,
      requestTimeout: listener.fallback ? uploadMs : requestMs,
      keepAliveTimeout: idleMs,
      connectionsCheckingInterval: Math.min(CHECK_MS_MAX, requestMs / 4),
      maxHeaderSize: HEAD_BYTES_MAX,
      requireHostHeader: false,
      // Some clients offer h2c with every request; they are answered in HTTP/1.1.
      shouldUpgradeCallback: ({ headers }) =>
        listener.upgrade !== undefined && headers.upgrade?.toLowerCase() === 'websocket',
    });
    // A client may close its half after its last request. node:http answers then too, but has no option for it. A client that
    // closes its half behind a poll has gone, as far as one can tell.
    Object.assign(server, { httpAllowHalfOpen: listener.routes === 'crossings' });
    server.on('connection', (socket: FrontSocket) => this.#connected(socket));
    const handle = (request: IncomingMessage, reply: Reply) => this.#request(listener, request, reply);
    server.on('request', handle);
    // An expectation that the relay does not know is ignored, as the native front does: RFC 9110 §10.1.1 leaves the choice.
    server.on('checkExpectation', handle);
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
      // An answer to a request before these bytes may be ready.
      this.flush();
      refuseBytes(error, socket);
    });
    server.on('connect', (request: IncomingMessage) => {
      const socket = request.socket as FrontSocket;
      this.#afterAnswers(socket, () => refuseHead(socket, FRONT_PROBLEMS.malformed));
    });
    if (listener.upgrade) {
      const { upgrade } = listener;
      server.on('upgrade', (request: IncomingMessage, duplex: Duplex, head: Buffer) => {
        const socket = request.socket as FrontSocket;
        // For an upgrade with a body, node:http hands out another stream, which ends with the connection. It is refused.
        const hasBody = duplex !== socket;
        if (hasBody) duplex.on('error', () => socket.destroy());
        this.#afterAnswers(socket, () => {
          const document = hasBody ? FRONT_PROBLEMS.malformed : problemOf(request);
          if (document) refuseHead(socket, document);
          else upgrade(request, socket, head);
        });
      });
    }
    return server;
  }

  /** Continues with a connection that node:http has given up to us, once the answers to its earlier requests have left. */
  #afterAnswers(socket: FrontSocket, next: () => void): void {
    const { reply } = socket;
    endSlices(socket);
    // node:http has removed its listener, and a reset that nobody listens for would end the process.
    socket.on('error', () => socket.destroy());
    if (socket.refused || socket.lingering || socket.overrun) {
      socket.destroy();
    } else if (!reply || reply.writableFinished) {
      next();
    } else {
      const drained = () => socket.fallbackQueue?.drained();
      socket.on('drain', drained);
      reply.once('finish', () => {
        socket.off('drain', drained);
        if (socket.writable && !socket.lingering) next();
      });
    }
  }

  #connected(socket: FrontSocket): void {
    // node:http calls this after the last answer of a connection.
    socket.destroySoon = this.#linger;
    sliceReads(socket, pushSlices);
    socket.once('close', this.#closed);
    const isFull = this.#connections + this.#refusedOpen >= this.#options.connectionsMax;
    if (!isFull && this.#enter(socket)) {
      this.#connections++;
      socket.once('close', () => this.#connections--);
      return;
    }
    this.#refused++;
    if (this.#refusedOpen >= REFUSED_OPEN_MAX) {
      socket.destroy();
      return;
    }
    socket.refused = isFull ? FRONT_PROBLEMS.relayFull : FRONT_PROBLEMS.tooManyConnections;
    this.#refusedOpen++;
    // The client has as long to send its request as to read the answer.
    const late = setTimeout(() => socket.destroy(), this.#timeouts.lingerMs);
    socket.once('close', () => {
      this.#refusedOpen--;
      clearTimeout(late);
    });
  }

  /** Counts a connection of its address until it closes. Returns false when the address has too many. */
  #enter(socket: FrontSocket): boolean {
    const { connectionsPerAddressMax = 0 } = this.#options;
    if (connectionsPerAddressMax === 0) return true;
    const address = plainAddress(socket.remoteAddress ?? '');
    // It has no address any more: it is closed already.
    if (address === undefined) return true;
    const block = addressBlock(address);
    const count = this.#byAddress.get(block) ?? 0;
    if (count >= connectionsPerAddressMax) return false;
    this.#byAddress.set(block, count + 1);
    socket.once('close', () => {
      const left = (this.#byAddress.get(block) as number) - 1;
      if (left > 0) this.#byAddress.set(block, left);
      else this.#byAddress.delete(block);
    });
    return true;
  }

  /** Closing a socket with unread bytes resets it, and the peer loses the answer. So this ends our half and waits for the peer. */
  readonly #linger = ((front: PortableFront) =>
    function destroySoon(this: FrontSocket): void {
      if (this.lingering || this.destroyed) return;
      this.lingering = true;
      this.end();
      this.request?.resume();
      const late = setTimeout(() => this.destroy(), front.#timeouts.lingerMs);
      this.once('close', () => clearTimeout(late));
    })(this);

  #request(listener: FrontListener, request: IncomingMessage, reply: Reply): void {
    const socket = request.socket as FrontSocket;
    if (isOver(socket)) return;
    socket.request = request;
    socket.reply = reply;
    this.#reportIfOutdated(socket);
    const document = socket.refused ?? problemOf(request);
    if (document) {
      this.#refuse(reply, document, true);
      return;
    }
    const target = request.url ?? '';
    const route = hotRoute(target);
    const isServed = route !== undefined && (route === 'events' ? 'events' : 'crossings') === listener.routes;
    if (route === undefined || !isServed || request.method !== METHOD_OF[route]) {
      if (listener.fallback) this.#passOn(listener.fallback, socket, reply);
      else this.#answerOther(request, reply, isServed);
      return;
    }
    const bodyBytesMax = route === 'stage' ? STAGE_BYTES_MAX : CROSSING_BYTES_MAX;
    if (Number(request.headers['content-length'] ?? 0) > bodyBytesMax) {
      this.#refuse(reply, FRONT_PROBLEMS.tooLarge, true);
      return;
    }
    const view = this.#view;
    if (route === 'events') {
      // A poll needs no body, and the front would have to look for the end of a chunked one while the poll is parked.
      if (request.headers['transfer-encoding'] !== undefined) {
        this.#refuse(reply, FRONT_PROBLEMS.malformed, true);
        return;
      }
      if (!readCursorOf(target, view)) {
        this.#refuse(reply, FRONT_PROBLEMS.cursor, false);
        return;
      }
      this.#register(request, reply);
      reply.isPoll = true;
      this.#options.handlers.poll(view);
      this.#scheduleTurn();
    } else this.#body(request, reply, route, bodyBytesMax);
  }

  #passOn(fallback: RequestListener, socket: FrontSocket, reply: Reply): void {
    const { writeMs, answerMs } = this.#timeouts;
    reply.isForFallback = true;
    socket.fallbackQueue ??= new FallbackQueue(fallback, writeMs, answerMs);
    socket.overrun = !socket.fallbackQueue.add(reply);
  }

  /** Reads the body of a crossing, a saying or a stage, then calls the handler. */
  #body(request: IncomingMessage, reply: Reply, route: Exclude<HotRoute, 'events'>, bodyBytesMax: number): void {
    const body = Buffer.allocUnsafe(bodyBytesMax);
    let length = 0;
    const refuse = (document: ProblemDocument) => {
      clearTimeout(late);
      request.removeAllListeners('data').removeAllListeners('end');
      this.#refuse(reply, document, true);
    };
    // The server's own limit on this port is longer: it leaves time for an upload.
    const late = setTimeout(refuse, this.#timeouts.requestMs, FRONT_PROBLEMS.requestTimeout);
    reply.on('close', () => clearTimeout(late));
    request.on('data', (chunk: Buffer) => {
      if (length + chunk.length > bodyBytesMax) refuse(FRONT_PROBLEMS.tooLarge);
      else length += chunk.copy(body, length);
    });
    request.on('end', () => {
      clearTimeout(late);
      if ((request.socket as FrontSocket).lingering) return;
      this.#register(request, reply);
      this.#view.body = body;
      this.#view.start = 0;
      this.#view.end = length;
      if (route === 'stage') this.#options.handlers.stage(this.#view);
      else if (route === 'sayings') this.#options.handlers.saying(this.#view);
      else this.#options.handlers.crossing(this.#view);
      this.#scheduleTurn();
    });
  }

  /** Fills the view with the desktop of the request, and gives the request its ticket. */
  #register(request: IncomingMessage, reply: Reply): void {
    const view = this.#view;
    if (!readBearer(request.url ?? '', request.headers.authorization, view)) view.slot = NO_SLOT;
    reply.ticket = view.ticket = this.#nextTicket++;
    reply.slot = view.slot;
    this.#waiting.set(reply.ticket, reply);
    const socket = request.socket as FrontSocket;
    reply.previous = this.#newestWaiting(socket);
    socket.newest = reply;
  }

  #newestWaiting(socket: FrontSocket): Reply | undefined {
    let reply = socket.newest;
    while (reply && !this.#waiting.has(reply.ticket)) reply = reply.previous;
    return reply;
  }

  /** node:http passes on the requests behind a parked poll, and sends the answers in the order of the requests. */
  #reportIfOutdated(socket: FrontSocket): void {
    const { newest } = socket;
    if (!newest?.isPoll || !this.#waiting.has(newest.ticket)) return;
    newest.isPoll = false;
    this.#options.handlers.outdated(newest.ticket, newest.slot);
    this.#scheduleTurn();
  }

  /** Reports every unanswered ticket of a connection that closed. (node:http reports only its first reply.) */
  readonly #closed = ((front: PortableFront) =>
    function closed(this: FrontSocket): void {
      for (let reply = this.newest; reply; reply = reply.previous) {
        if (!front.#waiting.delete(reply.ticket)) continue;
        front.#options.handlers.closed(reply.ticket, reply.slot);
        front.#scheduleTurn();
      }
    })(this);

  #scheduleTurn(): void {
    if (this.#turnScheduled) return;
    this.#turnScheduled = true;
    setImmediate(() => {
      this.#turnScheduled = false;
      this.#options.handlers.turn();
    });
  }

  /** Answers every request other than the hot route, on a listener without a fallback. */
  #answerOther(request: IncomingMessage, reply: Reply, isKnownPath: boolean): void {
    if (request.method === 'OPTIONS') {
      reply.writeHead(204, CORS_PREFLIGHT).end();
    } else if (isKnownPath) {
      reply.setHeader('Allow', 'GET, OPTIONS');
      this.#refuse(reply, FRONT_PROBLEMS.methodNotAllowed, false);
    } else this.#refuse(reply, FRONT_PROBLEMS.notFound, false);
  }

  #refuse(reply: Reply, document: ProblemDocument, closing: boolean): void {
    if (closing) reply.shouldKeepAlive = false;
    this.#send(reply, document.status, bytesOf(document), PROBLEMS[document.code].retryAfterSeconds);
  }

  #send(reply: Reply, status: number, body: Buffer, retryAfterSeconds: number, shared?: Buffer): void {
    // Refused already, since its connection is broken.
    if (reply.headersSent) return;
    if (this.#draining) reply.shouldKeepAlive = false;
    write(reply, status, body, retryAfterSeconds, shared);
    const { socket } = reply;
    if (socket && socket.writableLength > 0) socket.setTimeout(this.#timeouts.writeMs);
  }
}

/** For the sockets of all fronts. */
const pushSlices = slicedPush(isOver);

/** Returns whether what a connection still sends is of no use. */
function isOver({ lingering, overrun }: FrontSocket): boolean {
  return lingering === true || overrun === true;
}

/** Returns why a request is refused before it is routed, if it is. Makes a target in absolute form a path. */
function problemOf(request: IncomingMessage): ProblemDocument | undefined {
  if (request.rawHeaders.length > 2 * HEADERS_MAX) return FRONT_PROBLEMS.headTooLarge;
  return isAmbiguous(request) || !toOriginForm(request) ? FRONT_PROBLEMS.malformed : undefined;
}

/** A target in absolute form (RFC 9112 §3.2.2): host with port, path with query. User information is not allowed. */
const ABSOLUTE = /^https?:\/\/([\w!$%&'()*+,.:;=[\]~-]+)([/?].*)?$/i;

/**
 * Removes scheme and authority from the target of a request, so that all that routes it sees a path. The authority takes the
 * place of the Host header, which must not be used then. Returns false when the target is in a form that names no resource.
 */
function toOriginForm(request: IncomingMessage): boolean {
  const { url = '', headers } = request;
  if (url.startsWith('/') || url.startsWith('*')) return true;
  const [, authority, path = ''] = ABSOLUTE.exec(url) ?? [];
  if (authority === undefined) return false;
  headers.host = authority;
  request.url = path.startsWith('/') ? path : `/${path}`;
  return true;
}

const HOST = 'host';
const AUTHORIZATION = 'authorization';

/**
 * Detects what node:http does not refuse: a request line without a version, which it reads as HTTP/0.9; no Host header, or
 * several (RFC 9112 §3.2); several Authorization headers, of which it reads the first and a proxy on the way may have read the last; and
 * HTTP/1.0 with Transfer-Encoding, whose end is undefined (§6.1).
 */
function isAmbiguous({ httpVersionMajor, httpVersionMinor, headers, rawHeaders }: IncomingMessage): boolean {
  if (httpVersionMajor !== 1) return true;
  if (httpVersionMinor === 0 && headers['transfer-encoding'] !== undefined) return true;
  let hosts = 0;
  let authorizations = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const { length } = rawHeaders[at];
    if (length !== HOST.length && length !== AUTHORIZATION.length) continue;
    const name = rawHeaders[at].toLowerCase();
    if (name === HOST) hosts++;
    else if (name === AUTHORIZATION) authorizations++;
  }
  return hosts > 1 || authorizations > 1 || (hosts === 0 && httpVersionMinor > 0);
}

function write(reply: Reply, status: number, body: Buffer, retryAfterSeconds: number, shared?: Buffer): void {
  reply.sendDate = false;
  reply.writeHead(status, headOf(status, body.length + (shared?.length ?? 0), retryAfterSeconds));
  if (shared === undefined) {
    reply.end(body);
    return;
  }
  // Corked, head and both parts leave with one system call.
  reply.cork();
  reply.write(body);
  reply.end(shared);
}

const rendered = new Map<ProblemDocument, Buffer>();

function bytesOf(document: ProblemDocument): Buffer {
  const known = rendered.get(document);
  if (known) return known;
  const bytes = Buffer.from(JSON.stringify(document));
  rendered.set(document, bytes);
  return bytes;
}

/** Answers bytes that node:http could not parse as a request, and closes. A handler for `clientError` of any server. */
export function refuseBytes(error: NodeJS.ErrnoException, duplex: Duplex): void {
  const socket = duplex as FrontSocket;
  if (socket.lingering) return;
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const document =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? FRONT_PROBLEMS.headTooLarge
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? FRONT_PROBLEMS.requestTimeout
        : FRONT_PROBLEMS.malformed;
  // The bytes follow a request that still waits for its answer: the client would take an error for that answer.
  if (isAwaited(socket)) closeBehind(socket, document);
  else refuseHead(socket, document);
}

/** Closes a connection behind the answers that its client still waits for. A poll waits for long, so it closes at once. */
function closeBehind(socket: FrontSocket, document: ProblemDocument): void {
  const { reply, newest } = socket;
  if (!reply || newest?.isPoll) {
    socket.destroy();
    return;
  }
  socket.overrun = true;
  reply.shouldKeepAlive = false;
  // The newest request has a head but not its body: it is refused in its turn.
  if (reply.req.complete || reply.headersSent) return;
  if (reply.isForFallback) socket.destroy();
  else write(reply, document.status, bytesOf(document), 0);
}

function isAwaited({ reply, newest, fallbackQueue }: FrontSocket): boolean {
  // A crossing has no ticket before its body has been read.
  if (reply?.req.complete && !reply.writableEnded) return true;
  if (fallbackQueue?.hasWhole()) return true;
  for (let hot = newest; hot; hot = hot.previous) if (!hot.writableEnded) return true;
  return false;
}

function listen(server: Server, listener: FrontListener): Promise<number> {
  return new Promise((resolve, reject) => {
    const reusePort = listener.shared && process.platform === 'linux';
    const bind = (host: string) => server.listen({ host, port: listener.port, reusePort, backlog: 4096 });
    server.once('error', (error) => {
      if (!lacksIpv6(error, listener.host)) return reject(error);
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

/**
 * A desktop on a WebSocket: polls and crossings as messages, which its worker forwards to the master.
 *
 * Each message with a `cursor` is a poll, answered by one batch; each with a `crossing` is a throw, answered by its
 * verdict. So a socket has one poll and at most CROSSINGS_IN_FLIGHT_MAX throws at a time, which bounds the bytes to send.
 * Invariant: the master gets no request of a desktop before its token has been received.
 */
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { PING_MS } from '../domain/limits.ts';
import { CROSSING_BYTES_MAX } from '../wire/crossing.ts';
import { readCursor } from '../wire/cursor.ts';
import { blankIdentity, type Identity, readId, readToken, TOKEN_LENGTH_MAX } from '../wire/identity.ts';
import { PROBLEMS, type ProblemDocument, ProblemError, problem } from '../wire/problem.ts';
import { readAuthorization } from '../wire/route.ts';
import type { Reply } from './pending.ts';
import type { Worker } from './worker.ts';

/** A message in bytes: a crossing, or a token and a cursor. */
export const MESSAGE_BYTES_MAX = CROSSING_BYTES_MAX;

/** The token must arrive within this time after the socket has opened, in ms. */
export const TOKEN_MS_MAX = 10_000;

/** Throws of one socket that are not answered yet. */
export const CROSSINGS_IN_FLIGHT_MAX = 64;

/** A socket is closed when its peer leaves more bytes than this unread: more than one batch and all verdicts. */
export const UNREAD_BYTES_MAX = 512 << 10;

/** How often a socket is pinged, in ms. It is closed when it has not answered the previous ping. */
const HEARTBEAT_MS = PING_MS / 4;

const PATH = /^\/v1\/desktops\/([^/?]+)\/socket$/;

/** WebSocket close codes. */
const CLOSE = { goingAway: 1001, policy: 1008, internal: 1011 } as const;

export class SocketDesktops {
  readonly #worker: Worker;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_BYTES_MAX, perMessageDeflate: false });
  readonly #open = new Set<SocketDesktop>();
  readonly #heartbeat: NodeJS.Timeout;

  constructor(worker: Worker) {
    this.#worker = worker;
    this.#server.on('wsClientError', (error, socket) => {
      refuseUpgrade(socket, problem('malformed', `${error.message}.`, { field: 'upgrade' }));
    });
    this.#heartbeat = setInterval(() => {
      for (const desktop of this.#open) desktop.heartbeat();
    }, HEARTBEAT_MS).unref();
  }

  get count(): number {
    return this.#open.size;
  }

  /** Handles an upgrade: a socket for `/v1/desktops/{id}/socket`, 404 for any other path. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const identity = blankIdentity();
    const path = PATH.exec(request.url ?? '');
    socket.on('error', () => socket.destroy());
    if (!path || !readId(path[1], identity)) {
      refuseUpgrade(socket, problem('not-found', 'Sockets are at /v1/desktops/{id}/socket only.'));
      return;
    }
    const { slot, generation } = identity;
    const { authorization } = request.headers;
    this.#server.handleUpgrade(request, socket, head, (ws) => {
      const desktop = new SocketDesktop(this.#worker, ws, slot, generation, () => this.#open.delete(desktop));
      this.#open.add(desktop);
      if (authorization !== undefined)
        desktop.identify(readAuthorization(authorization, identity) ? identity : undefined);
    });
  }

  /** Closes every socket, because the relay is going down. */
  close(): void {
    clearInterval(this.#heartbeat);
    for (const desktop of this.#open) desktop.close(CLOSE.goingAway, 'the relay is going down');
  }
}

class SocketDesktop {
  readonly #worker: Worker;
  readonly #ws: WebSocket;
  readonly #slot: number;
  readonly #generation: number;
  readonly #tokenTimer: NodeJS.Timeout;
  #identity: Identity | undefined;
  /** The request number of the poll that waits for its batch; -1 for none. */
  #poll = -1;
  #crossings = 0;
  #alive = true;

  constructor(worker: Worker, ws: WebSocket, slot: number, generation: number, onClose: () => void) {
    this.#worker = worker;
    this.#ws = ws;
    this.#slot = slot;
    this.#generation = generation;
    this.#tokenTimer = setTimeout(() => {
      this.close(CLOSE.policy, 'no token came in time');
    }, TOKEN_MS_MAX);
    ws.on('message', (data, isBinary) => this.#handleMessage(data, isBinary));
    ws.on('pong', () => {
      this.#alive = true;
    });
    ws.on('error', () => ws.terminate());
    ws.on('close', () => {
      clearTimeout(this.#tokenTimer);
      if (this.#poll >= 0 && this.#identity) this.#worker.closed(this.#poll, this.#identity);
      this.#poll = -1;
      onClose();
    });
  }

  /** Sets the identity from the token, whose id must be that of the path. The master checks the token itself. */
  identify(token: Identity | undefined): void {
    if (!token || token.slot !== this.#slot || token.generation !== this.#generation) {
      this.#fail(problem('unknown-desktop', 'The first message must have the `token` of this desktop.'));
      return;
    }
    clearTimeout(this.#tokenTimer);
    this.#identity = token;
  }

  /** Pings the peer; closes the socket when the previous ping was not answered. */
  heartbeat(): void {
    if (!this.#alive) this.#ws.terminate();
    this.#alive = false;
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.ping();
  }

  close(code: number, reason: string): void {
    this.#ws.close(code, reason);
  }

  #handleMessage(data: RawData, isBinary: boolean): void {
    if (this.#ws.readyState !== this.#ws.OPEN) return;
    const bytes = data as Buffer;
    let message: unknown;
    try {
      if (isBinary) throw new Error('binary');
      message = JSON.parse(bytes.toString('utf8'));
    } catch {
      this.#fail(problem('malformed', 'A message must be JSON text.', { field: 'message' }));
      return;
    }
    if (typeof message !== 'object' || message === null || Array.isArray(message)) {
      this.#fail(problem('malformed', 'A message must be a JSON object.', { field: 'message' }));
      return;
    }
    if (!this.#identity) {
      const { token } = message as { token?: unknown };
      const identity = blankIdentity();
      const good = typeof token === 'string' && token.length <= TOKEN_LENGTH_MAX && readToken(token, identity);
      this.identify(good ? identity : undefined);
      if (!this.#identity) return;
    }
    if ('crossing' in message) this.#handleCrossing(this.#identity, message.crossing, bytes);
    else if ('cursor' in message) this.#handlePoll(this.#identity, message.cursor);
    else if (!('token' in message)) {
      this.#fail(problem('malformed', 'A message must have a `cursor` or a `crossing`.', { field: 'message' }));
    }
  }

  /** A poll. The master answers an older poll empty, as it does with two long-polls. */
  #handlePoll(identity: Identity, cursor: unknown): void {
    const at = { epoch: 0, seq: -1 };
    if (cursor !== null && (typeof cursor !== 'string' || !readCursor(cursor, at))) {
      this.#fail(problem('malformed', 'cursor: must be one the relay gave, or null.', { field: 'cursor' }));
      return;
    }
    // In one process the answer may come before worker.poll() returns the request number.
    let poll = -1;
    let answered = false;
    try {
      poll = this.#worker.poll(identity, at.epoch, at.seq, (reply) => {
        answered = true;
        if (this.#poll === poll) this.#poll = -1;
        this.#send(reply.status === 200 ? reply.body : wrap('problem', reply.body));
        if (reply.status !== 200) this.close(CLOSE.policy, 'the poll was refused');
      });
      this.#poll = answered ? -1 : poll;
    } catch (error) {
      this.#fail(documentOf(error));
    }
  }

  #handleCrossing(identity: Identity, number: unknown, bytes: Buffer): void {
    const key = `{"crossing":${typeof number === 'number' ? number : null},`;
    const verdict = (reply: Reply) => {
      this.#crossings--;
      const body = reply.status === 202 ? reply.body.subarray(1) : Buffer.concat([PROBLEM_KEY, reply.body, BRACE]);
      this.#send(Buffer.concat([Buffer.from(key), body]));
    };
    this.#crossings++;
    try {
      if (this.#crossings > CROSSINGS_IN_FLIGHT_MAX) {
        throw new ProblemError('too-fast', `At most ${CROSSINGS_IN_FLIGHT_MAX} crossings may wait for their answers.`);
      }
      this.#worker.throwFrom(identity, bytes, verdict);
    } catch (error) {
      const { status } = documentOf(error);
      verdict({ status, body: Buffer.from(JSON.stringify(documentOf(error))), retryAfterSeconds: 0 });
    }
  }

  #fail(document: ProblemDocument): void {
    this.#send(wrap('problem', Buffer.from(JSON.stringify(document))));
    this.close(document.code === 'draining' ? CLOSE.goingAway : CLOSE.policy, document.code);
  }

  #send(body: Buffer): void {
    if (this.#ws.readyState !== this.#ws.OPEN) return;
    if (this.#ws.bufferedAmount > UNREAD_BYTES_MAX) this.#ws.terminate();
    else this.#ws.send(body, { binary: false });
  }
}

/** Answers a refused upgrade request with a problem document, and closes the connection. */
export function refuseUpgrade(socket: Duplex, document: ProblemDocument): void {
  const body = Buffer.from(JSON.stringify(document));
  const head = [
    `HTTP/1.1 ${document.status} ${STATUS_CODES[document.status]}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${body.length}`,
    'Cache-Control: no-store',
    'Access-Control-Allow-Origin: *',
    'Connection: close',
  ];
  const { retryAfterSeconds } = PROBLEMS[document.code];
  if (retryAfterSeconds > 0) head.push(`Retry-After: ${retryAfterSeconds}`);
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]));
}

const PROBLEM_KEY = Buffer.from('"problem":');
const BRACE = Buffer.from('}');

function wrap(key: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`{"${key}":`), body, BRACE]);
}

function documentOf(error: unknown): ProblemDocument {
  if (error instanceof ProblemError) return error.document;
  throw error;
}

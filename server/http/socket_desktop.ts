/**
 * A desktop on a WebSocket: polls, crossings, sayings, stages and peeks as messages, which its worker forwards to the master.
 *
 * Each message with a `cursor` is a poll, answered by one batch; each of the others is answered by its verdict. The relay stops reading a
 * socket that sends or leaves unread more than it may, until that has changed. Meanwhile its messages wait on the side of the client, and
 * its sprites wait in the mailbox.
 * Invariants: the master gets no request of a desktop before its token has been received. A socket has at most
 * POLLS_IN_FLIGHT_MAX polls and CROSSINGS_IN_FLIGHT_MAX other messages at the master. Batches are sent in the order of their polls.
 */

import { ok } from 'node:assert';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type RawData, type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import { refuseHead } from '../front/refusal.ts';
import type { Reply } from '../processes/pending.ts';
import type { Query } from '../processes/uplink.ts';
import { Budget } from '../store/budget.ts';
import { refusalOf } from '../wire/answer.ts';
import { checkCrossingSize } from '../wire/crossing.ts';
import { readCursor } from '../wire/cursor.ts';
import { blankIdentity, type Identity, readId, readToken, TOKEN_LENGTH_MAX } from '../wire/identity.ts';
import { PROBLEMS, type ProblemDocument, ProblemError, problem } from '../wire/problem.ts';
import { readAuthorization } from '../wire/route.ts';
import {
  EDGES,
  type Edge,
  MESSAGES_BURST_MAX,
  MESSAGES_PER_SECOND_MAX,
  PING_MS,
  RESPONSE_BYTES_MAX,
  STAGE_BYTES_MAX,
} from '../wire/rules.ts';
import { checkSaying } from '../wire/saying.ts';
import { checkPeekEdge } from '../wire/stage.ts';
import type { Worker } from './worker.ts';

/** A message in bytes: a stage. Others are shorter. */
export const MESSAGE_BYTES_MAX = STAGE_BYTES_MAX;

/** The token must arrive within this time after the socket has opened, in ms. */
const TOKEN_MS_MAX = 10_000;

/** Throws, sayings, stages and peeks of one socket that are not answered yet. */
export const CROSSINGS_IN_FLIGHT_MAX = 64;

/** Polls of one socket at the master: the parked one, and a newer one that replaces it. Of further ones only the newest is kept. */
export const POLLS_IN_FLIGHT_MAX = 2;

/** A socket that sends faster than it may for this time, without a pause of half a burst, is closed, in ms. No client needs that. */
export const TOO_FAST_MS_MAX = 10_000;

/** How long a socket waits for its peer to close, too, in ms: one or two round trips around the world. */
const CLOSING_MS_MAX = 2_000;

/**
 * Bytes that wait for a peer that does not read: from `HIGH` on the socket is not read and nothing is polled for it, until it is
 * below `LOW` again. The longest answer fits; the system's own buffers, some megabytes, come before these bytes.
 */
export const UNREAD_BYTES_HIGH = RESPONSE_BYTES_MAX;
const UNREAD_BYTES_LOW = 32 << 10;

/** A socket is closed at once above this: the answers to all requests that were on their way when it was no longer read. */
const UNREAD_BYTES_MAX = 512 << 10;
ok(UNREAD_BYTES_LOW < UNREAD_BYTES_HIGH && UNREAD_BYTES_HIGH < UNREAD_BYTES_MAX);

/** A socket is closed when it has been above UNREAD_BYTES_LOW for this time, in ms: it reads less than 10 KB a second. */
export const UNREAD_MS_MAX = 10_000;

/**
 * Bytes that wait for all sockets of a worker together, shared by address (budget.ts). A socket for which there is no room is closed when
 * more is sent to it.
 */
const SOCKETS_UNREAD_BYTES_MAX = 64 << 20;

/** What CROSSINGS_IN_FLIGHT_MAX counts. */
type Unanswered = 'crossings' | 'sayings' | 'stages' | 'peeks';

/** The worker, as sockets need it. */
export type SocketsWorker = Pick<Worker, 'poll' | 'closed' | 'throwFrom' | 'showFrom' | 'query'>;

/**
 * How often a socket is pinged, in ms. It is closed when it has not answered the previous ping, or when it has no poll and its
 * desktop has ended.
 */
export const SOCKET_PING_MS = PING_MS / 4;

const PATH = /^\/v1\/desktops\/([^/?]+)\/socket$/;

/** WebSocket close codes. */
const CLOSE = { goingAway: 1001, policy: 1008, internal: 1011 } as const;

/** The types of ws do not know closeTimeout yet. */
const OPTIONS: ServerOptions & { closeTimeout: number } = {
  noServer: true,
  maxPayload: MESSAGE_BYTES_MAX,
  perMessageDeflate: false,
  closeTimeout: CLOSING_MS_MAX,
  // One message of each socket in a turn of the loop: a socket that sends many does not keep the others waiting.
  allowSynchronousEvents: false,
};

export class SocketDesktops {
  readonly #worker: SocketsWorker;
  readonly #server = new WebSocketServer(OPTIONS);
  readonly #open = new Set<SocketDesktop>();
  readonly #unread: Budget;
  readonly #heartbeat: NodeJS.Timeout;

  /** `unreadBytesMax`: as SOCKETS_UNREAD_BYTES_MAX; tests lower it. */
  constructor(worker: SocketsWorker, unreadBytesMax = SOCKETS_UNREAD_BYTES_MAX) {
    this.#worker = worker;
    this.#unread = new Budget(unreadBytesMax);
    this.#server.on('wsClientError', (error, socket) => {
      refuseHead(socket as Socket, problem('malformed', `${error.message}.`, { field: 'upgrade' }));
    });
    this.#heartbeat = setInterval(() => {
      for (const desktop of this.#open) desktop.heartbeat();
    }, SOCKET_PING_MS).unref();
  }

  get count(): number {
    return this.#open.size;
  }

  /** Bytes that wait for peers to read. */
  get unreadBytes(): number {
    return this.#unread.used;
  }

  /** Handles an upgrade of a client (budget.ts): a socket for `/v1/desktops/{id}/socket`, 404 for any other path. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, client: string | undefined): void {
    const identity = blankIdentity();
    const path = PATH.exec(request.url ?? '');
    socket.on('error', () => socket.destroy());
    if (!path || !readId(path[1], identity)) {
      refuseHead(socket as Socket, problem('not-found', 'Sockets are at /v1/desktops/{id}/socket only.'));
      return;
    }
    const { slot, generation } = identity;
    const { authorization } = request.headers;
    this.#server.handleUpgrade(request, socket, head, (ws) => {
      const identityInPath = { slot, generation };
      const unread = { budget: this.#unread, client };
      const desktop = new SocketDesktop(this.#worker, ws, identityInPath, unread, () => this.#open.delete(desktop));
      this.#open.add(desktop);
      if (authorization !== undefined)
        desktop.identify(readAuthorization(authorization, identity) ? identity : undefined);
    });
  }

  /** Closes the sockets of desktops that the operator has ended. */
  end(desktops: readonly { slot: number; generation: number }[]): void {
    const ended = new Set(desktops.map(({ slot, generation }) => `${slot}-${generation}`));
    for (const desktop of this.#open) if (ended.has(desktop.key)) desktop.close(CLOSE.policy, 'desktop-ended');
  }

  /** Closes every socket, because the relay is going down. */
  close(): void {
    clearInterval(this.#heartbeat);
    for (const desktop of this.#open) desktop.close(CLOSE.goingAway, 'the relay is going down');
  }
}

/** Where the bytes that wait for a peer are counted: for its client, in the sum of all sockets of a worker. */
interface UnreadBytes {
  readonly budget: Budget;
  readonly client: string | undefined;
}

class SocketDesktop {
  readonly #worker: SocketsWorker;
  readonly #ws: WebSocket;
  readonly #slot: number;
  readonly #generation: number;
  readonly #unread: UnreadBytes;
  readonly #tokenTimer: NodeJS.Timeout;
  #identity: Identity | undefined;
  /** The request numbers of the polls at the master. */
  readonly #polls = new Set<number>();
  /** The newest poll that was not passed on yet. */
  #nextPoll: { epoch: number; seq: number } | undefined;
  /** Polls are counted, so that a batch is dropped when that of a newer poll was sent already. */
  #pollCount = 0;
  #answeredPoll = 0;
  /** Throws, sayings, stages and peeks that are not answered yet. */
  #unanswered = 0;
  #alive = true;
  /** This socket's share of #unread. */
  #unreadBytes = 0;
  #unreadTimer: NodeJS.Timeout | undefined;
  /** The time up to which the messages received so far are paid for, at the sustained rate. */
  #paidUntilMs = 0;
  #paceTimer: NodeJS.Timeout | undefined;
  /** Since when it sends faster than it may; 0 when it does not. */
  #tooFastSinceMs = 0;

  constructor(
    worker: SocketsWorker,
    ws: WebSocket,
    path: Pick<Identity, 'slot' | 'generation'>,
    unread: UnreadBytes,
    onClose: () => void,
  ) {
    this.#worker = worker;
    this.#ws = ws;
    this.#slot = path.slot;
    this.#generation = path.generation;
    this.#unread = unread;
    this.#tokenTimer = setTimeout(() => {
      this.close(CLOSE.policy, 'no token came in time');
    }, TOKEN_MS_MAX);
    ws.on('message', (data, isBinary) => this.#handleMessage(data, isBinary));
    ws.on('pong', () => {
      this.#alive = true;
    });
    ws.on('error', () => ws.terminate());
    ws.on('close', () => {
      for (const timer of [this.#tokenTimer, this.#unreadTimer, this.#paceTimer]) clearTimeout(timer);
      if (this.#identity) for (const poll of this.#polls) this.#worker.closed(poll, this.#identity);
      this.#polls.clear();
      this.#nextPoll = undefined;
      this.#unread.budget.release(this.#unread.client, this.#unreadBytes);
      this.#unreadBytes = 0;
      onClose();
    });
  }

  /** Slot and generation of the desktop in the path. */
  get key(): string {
    return `${this.#slot}-${this.#generation}`;
  }

  /**
   * Sets the identity from the token, whose id must be that of the path. The master checks the token itself with each request;
   * it is also asked now, so that a socket with a forged token does not stay open.
   */
  identify(token: Identity | undefined): void {
    if (!token || token.slot !== this.#slot || token.generation !== this.#generation) {
      this.#fail(problem('unknown-desktop', 'The first message must have the `token` of this desktop.'));
      return;
    }
    clearTimeout(this.#tokenTimer);
    this.#identity = token;
    void this.#verify(token);
  }

  /** Pings the peer; closes the socket when the previous ping was not answered, or when the desktop has ended. */
  heartbeat(): void {
    if (!this.#alive) this.#ws.terminate();
    this.#alive = false;
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.ping();
    // A poll is answered when its desktop ends. A socket without a poll would not notice.
    if (this.#identity && this.#polls.size === 0) void this.#verify(this.#identity);
  }

  /** Closes the socket when the master does not know its token. */
  async #verify(identity: Identity): Promise<void> {
    let reply: Reply;
    try {
      reply = await this.#worker.query('verify', identity);
    } catch (error) {
      // The worker is busy or draining: the next heartbeat asks again.
      if (error instanceof ProblemError) return;
      throw error;
    }
    if (reply.status !== 204 && reply.status !== BUSY_STATUS) this.#refuse(reply.body, 'the token was refused');
  }

  close(code: number, reason: string): void {
    this.#ws.close(code, reason);
    // Its peer's close is read; messages before it are dropped.
    for (const timer of [this.#unreadTimer, this.#paceTimer]) clearTimeout(timer);
    this.#ws.resume();
  }

  #handleMessage(data: RawData, isBinary: boolean): void {
    if (this.#ws.readyState !== this.#ws.OPEN) return;
    this.#pace();
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
    if ('crossing' in message) this.#handleCrossing(this.#identity, message, bytes.length);
    else if ('saying' in message) void this.#handleSaying(this.#identity, message);
    else if ('stage' in message) this.#handleStage(this.#identity, message);
    else if ('peek' in message) void this.#handlePeek(this.#identity, message.peek);
    else if ('cursor' in message) this.#handlePoll(this.#identity, message.cursor);
    else if (!('token' in message)) {
      const members = 'a `cursor`, a `crossing`, a `saying`, a `stage` or a `peek`';
      this.#fail(problem('malformed', `A message must have ${members}.`, { field: 'message' }));
    }
  }

  /** A poll. The master answers an older poll empty, as it does with two long-polls. */
  #handlePoll(identity: Identity, cursor: unknown): void {
    const at = { epoch: 0, seq: -1 };
    if (cursor !== null && (typeof cursor !== 'string' || !readCursor(cursor, at))) {
      this.#fail(problem('malformed', 'cursor: must be one the relay gave, or null.', { field: 'cursor' }));
      return;
    }
    this.#nextPoll = at;
    this.#passPollOn(identity);
  }

  /** Passes the newest poll on to the master, if there is one, and the socket may have another batch. */
  #passPollOn(identity: Identity): void {
    const at = this.#nextPoll;
    if (!at || this.#polls.size >= POLLS_IN_FLIGHT_MAX || this.#unreadTimer) return;
    this.#nextPoll = undefined;
    const number = ++this.#pollCount;
    // In one process the answer may come before worker.poll() returns the request number.
    let request = -1;
    let answered = false;
    try {
      request = this.#worker.poll(identity, at.epoch, at.seq, (reply) => {
        answered = true;
        this.#polls.delete(request);
        this.#answerPoll(number, reply);
        this.#passPollOn(identity);
      });
      if (!answered) this.#polls.add(request);
    } catch (error) {
      this.#fail(documentOf(error));
    }
  }

  #answerPoll(number: number, reply: Reply): void {
    // The empty answer to a replaced poll may be late. Its cursor is older than that of the batch the client has.
    if (number < this.#answeredPoll) return;
    this.#answeredPoll = number;
    if (reply.status === 200) this.#send(reply.body);
    else this.#refuse(reply.body, 'the poll was refused');
  }

  #handleCrossing(identity: Identity, message: { crossing: unknown }, bytes: number): void {
    this.#unanswered++;
    const verdict = (reply: Reply) => this.#answerVerdict('crossing', message.crossing, reply);
    try {
      this.#checkUnanswered('crossings');
      checkCrossingSize(bytes);
      this.#worker.throwFrom(identity, message, verdict);
    } catch (error) {
      verdict(refusalOf(documentOf(error)));
    }
  }

  async #handleSaying(identity: Identity, message: { saying: unknown }): Promise<void> {
    this.#unanswered++;
    const reply = await this.#ask('say', 'sayings', identity, () => checkSaying(message));
    this.#answerVerdict('saying', message.saying, reply);
  }

  #handleStage(identity: Identity, message: { stage: unknown }): void {
    this.#unanswered++;
    const verdict = (reply: Reply) => this.#answerVerdict('stage', message.stage, reply);
    try {
      this.#checkUnanswered('stages');
      this.#worker.showFrom(identity, message, verdict);
    } catch (error) {
      verdict(refusalOf(documentOf(error)));
    }
  }

  async #handlePeek(identity: Identity, peek: unknown): Promise<void> {
    this.#unanswered++;
    const reply = await this.#ask('peek', 'peeks', identity, () => checkPeekEdge(peek));
    this.#unanswered--;
    const edge = EDGES.includes(peek as Edge) ? `"${peek}"` : 'null';
    const { leaseMs } = reply.status === 202 ? JSON.parse(reply.body.toString()) : {};
    const body = leaseMs === undefined ? problemOf(reply) : Buffer.from(`"leaseMs":${leaseMs}}`);
    this.#send(Buffer.concat([Buffer.from(`{"peek":${edge},`), body]));
  }

  /** Sends what `check` returns to the master; resolves to its answer, or to the problem for which it is refused here. */
  async #ask(query: Query, what: Unanswered, identity: Identity, check: () => unknown): Promise<Reply> {
    try {
      this.#checkUnanswered(what);
      return await this.#worker.query(query, identity, JSON.stringify(check()));
    } catch (error) {
      return refusalOf(documentOf(error));
    }
  }

  /** Throws too-fast. */
  #checkUnanswered(what: Unanswered): void {
    if (this.#unanswered <= CROSSINGS_IN_FLIGHT_MAX) return;
    throw new ProblemError('too-fast', `At most ${CROSSINGS_IN_FLIGHT_MAX} ${what} may wait for their answers.`);
  }

  /** Answers a throw, a saying or a stage under its number. */
  #answerVerdict(member: 'crossing' | 'saying' | 'stage', number: unknown, reply: Reply): void {
    this.#unanswered--;
    // JSON.parse() reads 1e400 as Infinity, which JSON cannot write.
    const key = `{"${member}":${Number.isFinite(number) ? number : null},`;
    const body = reply.status === 202 ? reply.body.subarray(1) : problemOf(reply);
    this.#send(Buffer.concat([Buffer.from(key), body]));
  }

  #fail(document: ProblemDocument): void {
    this.#send(wrap('problem', Buffer.from(JSON.stringify(document))));
    this.close(document.code === 'draining' ? CLOSE.goingAway : CLOSE.policy, document.code);
  }

  /** Sends the master's problem document and closes the socket. */
  #refuse(document: Buffer, reason: string): void {
    this.#send(wrap('problem', document));
    this.close(CLOSE.policy, reason);
  }

  #send(body: Buffer): void {
    if (this.#ws.readyState !== this.#ws.OPEN) return;
    this.#ws.send(body, TEXT, this.#countUnread);
    this.#countUnread();
    if (this.#unreadBytes > UNREAD_BYTES_MAX) this.#ws.terminate();
  }

  /** Counts the bytes that the peer has not read; stops and resumes reading at the marks, and closes a socket without room. Called when bytes were added or sent. */
  readonly #countUnread = (): void => {
    const { bufferedAmount, readyState } = this.#ws;
    if (readyState === this.#ws.CLOSED) return;
    const { budget, client } = this.#unread;
    const more = bufferedAmount - this.#unreadBytes;
    if (more <= 0) budget.release(client, -more);
    else if (!budget.reserve(client, more)) {
      this.#ws.terminate();
      return;
    }
    this.#unreadBytes = bufferedAmount;
    if (!this.#unreadTimer) {
      if (bufferedAmount < UNREAD_BYTES_HIGH) return;
      this.#unreadTimer = setTimeout(() => this.#ws.terminate(), UNREAD_MS_MAX);
      this.#ws.pause();
    } else if (bufferedAmount < UNREAD_BYTES_LOW) {
      clearTimeout(this.#unreadTimer);
      this.#unreadTimer = undefined;
      this.#resume();
      if (this.#identity) this.#passPollOn(this.#identity);
    }
  };

  /** Counts a message. A socket that sends faster than it may is not read until the sustained rate allows it again. */
  #pace(): void {
    const nowMs = performance.now();
    this.#paidUntilMs = Math.max(this.#paidUntilMs, nowMs - BURST_MS) + MESSAGE_MS;
    if (this.#paidUntilMs <= nowMs) {
      if (this.#paidUntilMs <= nowMs - BURST_MS / 2) this.#tooFastSinceMs = 0;
      return;
    }
    this.#tooFastSinceMs ||= nowMs;
    if (nowMs - this.#tooFastSinceMs > TOO_FAST_MS_MAX) {
      this.#fail(problem('too-fast', `A socket may send ${MESSAGES_PER_SECOND_MAX} messages a second.`));
    } else if (!this.#paceTimer) this.#pauseForPace();
  }

  /** More messages may be handled after the pause began: those that had arrived together with the first one over the rate. */
  #pauseForPace(): void {
    this.#ws.pause();
    this.#paceTimer = setTimeout(
      () => {
        this.#paceTimer = undefined;
        if (this.#paidUntilMs > performance.now()) this.#pauseForPace();
        else this.#resume();
      },
      Math.max(0, this.#paidUntilMs - performance.now()),
    );
  }

  #resume(): void {
    if (!this.#unreadTimer && !this.#paceTimer) this.#ws.resume();
  }
}

/** What one message costs, and how much may be saved up, in ms. */
const MESSAGE_MS = 1000 / MESSAGES_PER_SECOND_MAX;
const BURST_MS = MESSAGE_MS * MESSAGES_BURST_MAX;

const TEXT = { binary: false };
const BUSY_STATUS = PROBLEMS['relay-busy'].status;
const PROBLEM_KEY = Buffer.from('"problem":');
const BRACE = Buffer.from('}');

/** The rest of a verdict that refuses: the problem and the closing brace. */
function problemOf({ body }: Reply): Buffer {
  return Buffer.concat([PROBLEM_KEY, body, BRACE]);
}

function wrap(key: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`{"${key}":`), body, BRACE]);
}

function documentOf(error: unknown): ProblemDocument {
  if (error instanceof ProblemError) return error.document;
  throw error;
}

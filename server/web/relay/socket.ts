/**
 * The WebSocket transport: the same polls, crossings, sayings, stages and peeks as poll.ts, as messages of one connection. A browser
 * writes a refused request to its console, but no refused message.
 *
 * Each message with a cursor is a poll and gets one reply. A broken connection is opened again with the present cursor,
 * and crossings and sayings without a reply are sent again under their numbers.
 * Invariant: at most one poll is unanswered, and a cursor is sent only after everything before it is saved.
 */
import type { Edge } from '../../wire/rules.ts';
import { Cursor } from './cursor.ts';
import { SocketLine } from './socket_line.ts';
import {
  backoffMs,
  byeMs,
  type Crossing,
  type CrossingVerdict,
  type Environment,
  type Neighbour,
  type PeekVerdict,
  type Problem,
  pauseMsMax,
  type RelayEvent,
  type Saying,
  type SayingVerdict,
  type Seat,
  type Stage,
  type StageVerdict,
  silenceMs,
  sleep,
  type Transport,
  type TransportHandlers,
} from './transport.ts';
import { type Sending, Unanswered } from './unanswered.ts';

interface SocketEnvironment extends Environment {
  WebSocket: typeof WebSocket;
}

/** Any message of the relay. */
interface Reply {
  cursor?: string;
  events?: RelayEvent[];
  crossing?: number;
  to?: Neighbour | null;
  saying?: number;
  heard?: number | null;
  stage?: number;
  edges?: Edge[];
  peek?: Edge | null;
  leaseMs?: number;
  problem?: Problem;
}

export function socket(
  seat: Seat,
  handlers: TransportHandlers,
  environment: SocketEnvironment = { WebSocket: globalThis.WebSocket, random: Math.random, sleep },
): Transport {
  return new SocketTransport(seat, handlers, environment);
}

class SocketTransport implements Transport {
  readonly #seat: Seat;
  readonly #handlers: TransportHandlers;
  readonly #environment: SocketEnvironment;
  readonly #closing = new AbortController();
  readonly #cursor: Cursor;
  readonly #crossings: Unanswered<{ to: Neighbour | null }>;
  readonly #sayings: Unanswered<{ heard: number | null }>;
  readonly #stages: Unanswered<{ edges: Edge[] }>;
  readonly #peeks: Unanswered<{ leaseMs: number }>;
  #stagesSent = 0;
  #line: SocketLine | null = null;

  constructor(seat: Seat, handlers: TransportHandlers, environment: SocketEnvironment) {
    this.#seat = seat;
    this.#handlers = handlers;
    this.#environment = environment;
    this.#cursor = new Cursor(seat.cursor);
    const { random, sleep: wait } = environment;
    const sending: Sending = { random, sleep: wait, signal: this.#closing.signal, line: () => this.#line };
    this.#crossings = new Unanswered(sending);
    this.#sayings = new Unanswered(sending);
    this.#stages = new Unanswered(sending, { once: true });
    this.#peeks = new Unanswered(sending, { once: true });
    void this.#run();
  }

  send(crossing: Crossing, isRepeat: boolean): Promise<CrossingVerdict> {
    return this.#crossings.post(crossing.crossing, crossing, isRepeat);
  }

  say(saying: Saying): Promise<SayingVerdict> {
    return this.#sayings.post(saying.saying, saying);
  }

  show(stage: Stage): Promise<StageVerdict> {
    const number = ++this.#stagesSent;
    return this.#stages.post(number, { stage: number, ...stage });
  }

  peek(edge: Edge | null): Promise<PeekVerdict> {
    return this.#peeks.post(0, { peek: edge });
  }

  close(): void {
    this.#closing.abort();
    this.#line?.close();
    for (const messages of this.#kinds) messages.end();
  }

  get #kinds() {
    return [this.#crossings, this.#sayings, this.#stages, this.#peeks];
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    const { random, sleep: wait } = this.#environment;
    for (let failures = 0; !signal.aborted; ) {
      const connection = this.#open();
      if (connection === null) {
        this.close();
        queueMicrotask(() => this.#handlers.impossible()); // the page has this transport by then
        return;
      }
      const { isUseful, stayAwayMs } = await this.#serve(connection);
      if (signal.aborted) return;
      this.#handlers.connected(false);
      failures = isUseful ? 0 : failures + 1;
      await wait(Math.max(stayAwayMs, backoffMs(failures, random, pauseMsMax(this.#seat))), signal);
    }
  }

  /** Returns null in a browser that has no sockets, or allows none to this address. */
  #open(): WebSocket | null {
    try {
      return new this.#environment.WebSocket(this.#seat.socket);
    } catch {
      return null;
    }
  }

  /** Serves one connection until it closes. `isUseful`: the relay sent something other than a problem. */
  #serve(connection: WebSocket): Promise<Served> {
    return new Promise((resolve) => {
      const served = { isUseful: false, stayAwayMs: 0 };
      let queue = Promise.resolve();
      const line = new SocketLine(connection, silenceMs(this.#seat), {
        opened: () => this.#opened(line),
        received: (message) => {
          const reply = JSON.parse(message) as Reply;
          served.isUseful ||= reply.problem === undefined;
          if (this.#isVerdict(reply)) return;
          // The queue keeps batches in order and sends the next poll only after this batch is saved.
          queue = queue.then(() => this.#pollAnswered(line, reply, served));
        },
        closed: () => {
          for (const messages of this.#kinds) messages.closed();
          resolve(served);
        },
      });
      this.#line = line;
    });
  }

  #opened(line: SocketLine): void {
    this.#cursor.pollsSent++;
    line.send({ token: this.#seat.token, cursor: this.#cursor.at });
    for (const messages of this.#kinds) messages.opened();
    this.#handlers.connected(true);
  }

  /** Handles the answer to a crossing, a saying, a stage or a peek. Returns whether the reply is one. */
  #isVerdict({ crossing, to, saying, heard, stage, edges, peek, leaseMs, problem }: Reply): boolean {
    if (crossing !== undefined) void this.#crossings.answered(crossing, { to: to ?? null }, problem);
    else if (saying !== undefined) void this.#sayings.answered(saying, { heard: heard ?? null }, problem);
    else if (stage !== undefined) void this.#stages.answered(stage, { edges: edges ?? [] }, problem);
    else if (peek !== undefined) void this.#peeks.answered(0, { leaseMs: leaseMs ?? 0 }, problem);
    else return false;
    return true;
  }

  /** Handles the answer to a poll, and sends the next one. */
  async #pollAnswered(line: SocketLine, { events, cursor, problem }: Reply, served: Served): Promise<void> {
    if (problem !== undefined) {
      this.#cursor.refused(problem, this.#handlers, () => this.close());
      line.close(); // the relay closes a socket whose poll it has refused
    } else if (events !== undefined && cursor !== undefined) {
      const goesOn = await this.#handlers.events(events, cursor);
      this.#cursor.advance(cursor);
      served.stayAwayMs = byeMs(events, this.#environment.random);
      if (!goesOn) return; // verdicts may still come on this connection
    }
    if (!line.isOpen) return;
    this.#cursor.pollsSent++;
    line.send({ cursor: this.#cursor.at });
  }
}

/** What came of a connection. `stayAwayMs`: for how long the relay wants to be left alone. */
interface Served {
  isUseful: boolean;
  stayAwayMs: number;
}

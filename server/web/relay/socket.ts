/**
 * The WebSocket transport: the same polls, crossings, sayings and stages as poll.ts, as messages of one connection.
 *
 * Each message with a cursor is a poll and gets one reply. A broken connection is opened again with the present cursor,
 * and crossings and sayings without a reply are sent again under their numbers.
 * Invariant: at most one poll is unanswered, and a cursor is sent only after everything before it is saved.
 */
import type { Edge } from '../../wire/rules.ts';
import {
  ANSWER_MS,
  backoffMs,
  byeMs,
  type Crossing,
  type CrossingVerdict,
  CURSOR_CODES,
  ENDED_CODES,
  type Environment,
  isVerdict,
  lostAfter,
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

export interface SocketEnvironment extends Environment {
  WebSocket: typeof WebSocket;
}

/** Any message of the relay. */
interface Reply {
  cursor?: string;
  events?: RelayEvent[];
  crossing?: number;
  to?: { desktop: string; name: string } | null;
  saying?: number;
  heard?: number | null;
  stage?: number;
  edges?: Edge[];
  problem?: Problem;
}

export function socket(
  seat: Seat,
  handlers: TransportHandlers,
  { WebSocket, random, sleep: wait }: SocketEnvironment = {
    WebSocket: globalThis.WebSocket,
    random: Math.random,
    sleep,
  },
): Transport {
  const closing = new AbortController();
  const { signal } = closing;
  const crossings = new Unanswered<Crossing, CrossingVerdict>();
  const sayings = new Unanswered<Saying, SayingVerdict>();
  const stages = new Unanswered<Stage, StageVerdict>();
  let stagesSent = 0;
  let cursor = seat.cursor;
  let pollsSent = 1; // with the present cursor; starts at 1 because a page before a reload may have sent one
  let open: { connection: WebSocket; finish(): void } | null = null;
  signal.addEventListener('abort', () => {
    open?.connection.close();
    for (const messages of [crossings, sayings, stages]) messages.settleAll('unknown');
  });

  void run();
  return {
    send: (crossing, isRepeat) => post(crossings, crossing.crossing, crossing, isRepeat),
    say: (saying) => post(sayings, saying.saying, saying, false),
    show,
    close: () => closing.abort(),
  };

  function show(stage: Stage): Promise<StageVerdict> {
    if (open === null) return Promise.resolve('unknown');
    const number = ++stagesSent;
    open.connection.send(JSON.stringify({ stage: number, ...stage }));
    return stages.add(number, stage, false);
  }

  function post<M extends Crossing | Saying, V>(
    messages: Unanswered<M, V | 'unknown'>,
    number: number,
    message: M,
    wasSent: boolean,
  ): Promise<V | 'unknown'> {
    if (signal.aborted) return Promise.resolve('unknown');
    const answer = messages.add(number, message, wasSent);
    transmit(messages, number);
    return answer;
  }

  /** Sends a message that has no answer yet, if the connection is open. One that is silent for too long is not: it is opened again. */
  function transmit<M extends Crossing | Saying, V>(messages: Unanswered<M, V>, number: number): void {
    const one = messages.get(number);
    if (open === null || one === undefined) return;
    const { connection, finish } = open;
    one.sent++;
    connection.send(JSON.stringify(one.message));
    clearTimeout(one.timer);
    one.timer = setTimeout(finish, ANSWER_MS);
  }

  /** Handles the answer to a crossing or a saying. When it decides nothing, the message is sent again. */
  async function settle<M extends Crossing | Saying, V>(
    messages: Unanswered<M, V | { refused: Problem }>,
    number: number,
    accepted: V,
    problem: Problem | undefined,
  ): Promise<void> {
    const one = messages.get(number);
    if (problem === undefined || one === undefined || isVerdict(problem, one.sent > 1)) {
      messages.settle(number, problem ? { refused: problem } : accepted);
      return;
    }
    clearTimeout(one.timer);
    const { sent } = one;
    await wait(backoffMs(one.undecided++, random), signal);
    if (one.sent === sent) transmit(messages, number); // else another connection has sent it
  }

  async function run(): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      const connection = openSocket();
      if (connection === null) {
        closing.abort();
        queueMicrotask(() => handlers.impossible()); // the page has this transport by then
        return;
      }
      const { useful, stayAwayMs } = await serve(connection);
      if (signal.aborted) return;
      handlers.connected(false);
      failures = useful ? 0 : failures + 1;
      await wait(Math.max(stayAwayMs, backoffMs(failures, random, pauseMsMax(seat))), signal);
    }
  }

  /** Returns null in a browser that has no sockets, or allows none to this address. */
  function openSocket(): WebSocket | null {
    try {
      return new WebSocket(seat.socket);
    } catch {
      return null;
    }
  }

  /** Runs one connection until it closes. `useful`: the relay sent something other than a problem. */
  function serve(connection: WebSocket): Promise<{ useful: boolean; stayAwayMs: number }> {
    return new Promise((resolve) => {
      const result = { useful: false, stayAwayMs: 0 };
      let silenceTimer: ReturnType<typeof setTimeout>;
      let queue = Promise.resolve();
      const restartSilenceTimer = () => {
        clearTimeout(silenceTimer);
        silenceTimer = setTimeout(() => finish(), silenceMs(seat));
      };
      const finish = () => {
        clearTimeout(silenceTimer);
        signal.removeEventListener('abort', finish);
        if (open?.connection === connection) open = null;
        stages.settleAll('unknown'); // a stage is old by the time there is another connection
        crossings.stopTimers();
        sayings.stopTimers();
        connection.onopen = connection.onmessage = connection.onclose = connection.onerror = null;
        connection.close();
        resolve(result);
      };
      restartSilenceTimer();
      signal.addEventListener('abort', finish, { once: true });
      connection.onopen = () => {
        open = { connection, finish };
        pollsSent++;
        connection.send(JSON.stringify({ token: seat.token, cursor }));
        for (const number of crossings.numbers()) transmit(crossings, number);
        for (const number of sayings.numbers()) transmit(sayings, number);
        handlers.connected(true);
      };
      connection.onclose = finish;
      connection.onerror = finish;
      connection.onmessage = ({ data }) => {
        restartSilenceTimer();
        const reply = JSON.parse(String(data)) as Reply;
        result.useful ||= reply.problem === undefined;
        const { crossing, saying, stage, problem } = reply;
        if (crossing !== undefined) {
          void settle(crossings, crossing, { to: reply.to ?? null }, problem);
          return;
        }
        if (saying !== undefined) {
          void settle(sayings, saying, { heard: reply.heard ?? null }, problem);
          return;
        }
        if (stage !== undefined) {
          stages.settle(stage, problem ? { refused: problem } : { edges: reply.edges ?? [] });
          return;
        }
        // The queue keeps batches in order and sends the next poll only after this batch is saved.
        queue = queue.then(async () => {
          if (problem !== undefined) handleProblem(problem);
          else if (reply.events !== undefined && reply.cursor !== undefined) {
            const goesOn = await handlers.events(reply.events, reply.cursor);
            cursor = reply.cursor;
            pollsSent = 0;
            result.stayAwayMs = byeMs(reply.events, random);
            if (!goesOn) return; // verdicts may still come on this connection
          }
          if (open?.connection !== connection) return;
          pollsSent++;
          connection.send(JSON.stringify({ cursor }));
        });
      };

      function handleProblem(problem: Problem): void {
        if (CURSOR_CODES.has(problem.code) && problem.cursor !== undefined) {
          cursor = problem.cursor;
          handlers.cursorLost(cursor);
        } else if (ENDED_CODES.has(problem.code)) {
          closing.abort();
          handlers.ended(problem, lostAfter(problem, cursor, pollsSent));
          return;
        }
        finish(); // the relay closes a socket whose poll it has refused
      }
    });
  }
}

/** A message that the relay has not answered. */
interface Waiting<Message, Answer> {
  readonly message: Message;
  readonly resolve: (answer: Answer) => void;
  /** How often it was sent. One that was sent before this connection counts once. */
  sent: number;
  /** How often the answer decided nothing. */
  undecided: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** The messages of one kind that the relay has not answered, by their numbers, oldest first. */
class Unanswered<Message, Answer> {
  readonly #waiting = new Map<number, Waiting<Message, Answer>>();

  add(number: number, message: Message, wasSent: boolean): Promise<Answer> {
    return new Promise((resolve) => {
      this.#waiting.set(number, { message, resolve, sent: wasSent ? 1 : 0, undecided: 0, timer: undefined });
    });
  }

  get(number: number): Waiting<Message, Answer> | undefined {
    return this.#waiting.get(number);
  }

  numbers(): Iterable<number> {
    return this.#waiting.keys();
  }

  settle(number: number, answer: Answer): void {
    const one = this.#waiting.get(number);
    this.#waiting.delete(number);
    clearTimeout(one?.timer);
    one?.resolve(answer);
  }

  settleAll(answer: Answer): void {
    for (const number of this.#waiting.keys()) this.settle(number, answer);
  }

  stopTimers(): void {
    for (const { timer } of this.#waiting.values()) clearTimeout(timer);
  }
}

/**
 * The WebSocket transport: the same polls, crossings, sayings and stages as poll.ts, as messages of one connection.
 *
 * Each message with a cursor is a poll and gets one reply. A broken connection is opened again with the present cursor,
 * and crossings and sayings without a reply are sent again under their numbers.
 * Invariant: at most one poll is unanswered, and a cursor is sent only after everything before it is saved.
 */
import type { Edge } from './simulation.ts';
import {
  backoffMs,
  byeMs,
  type Crossing,
  CURSOR_CODES,
  ENDED_CODES,
  type Environment,
  type Problem,
  type RelayEvent,
  type Saying,
  type SayingVerdict,
  type Seat,
  type Stage,
  type StageVerdict,
  sleep,
  type Transport,
  type TransportHandlers,
  type Verdict,
} from './transport.ts';

export interface SocketEnvironment extends Environment {
  WebSocket: typeof WebSocket;
}

const SILENCE_FACTOR = 1.5; // of pingSeconds: a connection that is silent for longer is dead

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
  const crossings = new Unanswered<Crossing, Verdict>();
  const sayings = new Unanswered<Saying, SayingVerdict>();
  const stages = new Unanswered<Stage, StageVerdict>();
  let stagesSent = 0;
  let cursor = seat.cursor;
  let pollsSent = 1; // with the present cursor; starts at 1 because a page before a reload may have sent one
  let open: WebSocket | null = null;
  signal.addEventListener('abort', () => {
    open?.close();
    for (const messages of [crossings, sayings, stages]) messages.settleAll('unknown');
  });

  void run();
  return {
    send: (crossing) => post(crossings, crossing.crossing, crossing),
    say: (saying) => post(sayings, saying.saying, saying),
    show,
    close: () => closing.abort(),
  };

  function show(stage: Stage): Promise<StageVerdict> {
    if (open === null) return Promise.resolve('unknown');
    const number = ++stagesSent;
    open.send(JSON.stringify({ stage: number, ...stage }));
    return stages.add(number, stage);
  }

  function post<M, V>(messages: Unanswered<M, V | 'unknown'>, number: number, message: M): Promise<V | 'unknown'> {
    if (signal.aborted) return Promise.resolve('unknown');
    open?.send(JSON.stringify(message));
    return messages.add(number, message);
  }

  async function run(): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      const { useful, stayAwayMs } = await connect();
      if (signal.aborted) return;
      handlers.connected(false);
      failures = useful ? 0 : failures + 1;
      await wait(Math.max(stayAwayMs, backoffMs(failures, random)), signal);
    }
  }

  /** Runs one connection until it closes. `useful`: the relay sent something other than a problem. */
  function connect(): Promise<{ useful: boolean; stayAwayMs: number }> {
    return new Promise((resolve) => {
      const result = { useful: false, stayAwayMs: 0 };
      const connection = new WebSocket(seat.socket);
      let silenceTimer: ReturnType<typeof setTimeout>;
      let queue = Promise.resolve();
      const restartSilenceTimer = () => {
        clearTimeout(silenceTimer);
        silenceTimer = setTimeout(() => finish(), seat.pingSeconds * SILENCE_FACTOR * 1000);
      };
      const finish = () => {
        clearTimeout(silenceTimer);
        signal.removeEventListener('abort', finish);
        if (open === connection) open = null;
        stages.settleAll('unknown'); // a stage is old by the time there is another connection
        connection.onopen = connection.onmessage = connection.onclose = connection.onerror = null;
        connection.close();
        resolve(result);
      };
      restartSilenceTimer();
      signal.addEventListener('abort', finish, { once: true });
      connection.onopen = () => {
        open = connection;
        pollsSent++;
        connection.send(JSON.stringify({ token: seat.token, cursor }));
        for (const message of [...crossings.messages(), ...sayings.messages()]) {
          connection.send(JSON.stringify(message));
        }
        handlers.connected(true);
      };
      connection.onclose = finish;
      connection.onerror = finish;
      connection.onmessage = ({ data }) => {
        restartSilenceTimer();
        const reply = JSON.parse(String(data)) as Reply;
        result.useful ||= reply.problem === undefined;
        const { crossing, saying, stage, problem } = reply;
        const refused = problem && { refused: problem };
        if (crossing !== undefined) {
          crossings.settle(crossing, refused ?? { to: reply.to ?? null });
          return;
        }
        if (saying !== undefined) {
          sayings.settle(saying, refused ?? { heard: reply.heard ?? null });
          return;
        }
        if (stage !== undefined) {
          stages.settle(stage, refused ?? { edges: reply.edges ?? [] });
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
          if (open !== connection) return;
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
          // A refused first poll has acknowledged nothing. After more polls we cannot know.
          handlers.ended(problem, pollsSent === 1);
        } else {
          finish();
        }
      }
    });
  }
}

/** The messages of one kind that the relay has not answered, by their numbers, oldest first. */
class Unanswered<Message, Answer> {
  readonly #waiting = new Map<number, { message: Message; resolve: (answer: Answer) => void }>();

  add(number: number, message: Message): Promise<Answer> {
    return new Promise((resolve) => this.#waiting.set(number, { message, resolve }));
  }

  *messages(): Iterable<Message> {
    for (const { message } of this.#waiting.values()) yield message;
  }

  settle(number: number, answer: Answer): void {
    this.#waiting.get(number)?.resolve(answer);
    this.#waiting.delete(number);
  }

  settleAll(answer: Answer): void {
    for (const { resolve } of this.#waiting.values()) resolve(answer);
    this.#waiting.clear();
  }
}

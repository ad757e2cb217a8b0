/**
 * The WebSocket: the same polls and crossings as poll.ts, as messages of one connection.
 *
 * Every message with a cursor is a poll and is answered once. A connection that breaks is opened again with the cursor
 * we are at, and crossings without an answer are sent again under their numbers.
 * Invariant: at most one poll is unanswered, and a cursor is sent only after everything before it is kept.
 */
import {
  backoffMs,
  byeMs,
  type Crossing,
  CURSOR_CODES,
  ENDED_CODES,
  type Problem,
  type RelayEvent,
  type Seat,
  type Surroundings,
  sleep,
  type Transport,
  type TransportHandlers,
  type Verdict,
} from './transport.ts';

export interface SocketSurroundings extends Surroundings {
  WebSocket: typeof WebSocket;
}

const SILENCE_FACTOR = 1.5; // of pingSeconds: longer without a message, and the connection is dead without saying so

interface Answer {
  cursor?: string;
  events?: RelayEvent[];
  crossing?: number;
  to?: { desktop: string; name: string } | null;
  problem?: Problem;
}

export function socket(
  seat: Seat,
  handlers: TransportHandlers,
  { WebSocket, random, sleep: wait }: SocketSurroundings = {
    WebSocket: globalThis.WebSocket,
    random: Math.random,
    sleep,
  },
): Transport {
  const closing = new AbortController();
  const { signal } = closing;
  const unanswered = new Map<number, { crossing: Crossing; resolve: (verdict: Verdict) => void }>();
  let cursor = seat.cursor;
  let asked = 1; // polls sent with the cursor we have; whether a page before this one sent one is not known
  let open: WebSocket | null = null;
  signal.addEventListener('abort', () => {
    open?.close();
    for (const { resolve } of unanswered.values()) resolve('unknown');
    unanswered.clear();
  });

  void run();
  return { send, close: () => closing.abort() };

  function send(crossing: Crossing): Promise<Verdict> {
    if (signal.aborted) return Promise.resolve('unknown');
    return new Promise((resolve) => {
      unanswered.set(crossing.crossing, { crossing, resolve });
      open?.send(JSON.stringify(crossing));
    });
  }

  async function run(): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      const { heard, stayAwayMs } = await connect();
      if (signal.aborted) return;
      handlers.connected(false);
      failures = heard ? 0 : failures + 1;
      await wait(Math.max(stayAwayMs, backoffMs(failures, random)), signal);
    }
  }

  /** One connection, from its opening to its end. `heard`: the relay said something useful on it. */
  function connect(): Promise<{ heard: boolean; stayAwayMs: number }> {
    return new Promise((resolve) => {
      const result = { heard: false, stayAwayMs: 0 };
      const connection = new WebSocket(seat.socket);
      let silence: ReturnType<typeof setTimeout>;
      let queue = Promise.resolve();
      const listen = () => {
        clearTimeout(silence);
        silence = setTimeout(() => finish(), seat.pingSeconds * SILENCE_FACTOR * 1000);
      };
      const finish = () => {
        clearTimeout(silence);
        signal.removeEventListener('abort', finish);
        if (open === connection) open = null;
        connection.onopen = connection.onmessage = connection.onclose = connection.onerror = null;
        connection.close();
        resolve(result);
      };
      listen();
      signal.addEventListener('abort', finish, { once: true });
      connection.onopen = () => {
        open = connection;
        asked++;
        connection.send(JSON.stringify({ token: seat.token, cursor }));
        for (const { crossing } of unanswered.values()) connection.send(JSON.stringify(crossing));
        handlers.connected(true);
      };
      connection.onclose = finish;
      connection.onerror = finish;
      connection.onmessage = ({ data }) => {
        listen();
        const answer = JSON.parse(String(data)) as Answer;
        result.heard ||= answer.problem === undefined;
        if (answer.crossing !== undefined) {
          settle(answer.crossing, answer);
          return;
        }
        // In order, and the next poll only when this batch is kept.
        queue = queue.then(async () => {
          if (answer.problem !== undefined) takeProblem(answer.problem);
          else if (answer.events !== undefined && answer.cursor !== undefined) {
            await handlers.events(answer.events, answer.cursor);
            cursor = answer.cursor;
            asked = 0;
            result.stayAwayMs = byeMs(answer.events, random);
          }
          if (open !== connection) return;
          asked++;
          connection.send(JSON.stringify({ cursor }));
        });
      };

      function takeProblem(problem: Problem): void {
        if (CURSOR_CODES.has(problem.code) && problem.cursor !== undefined) {
          cursor = problem.cursor;
          handlers.cursorLost(cursor);
        } else if (ENDED_CODES.has(problem.code)) {
          closing.abort();
          handlers.ended(problem, asked === 1); // the first poll, refused, has acknowledged nothing; of more nobody knows
        } else {
          finish();
        }
      }
    });
  }

  function settle(number: number, { to, problem }: Answer): void {
    const waiting = unanswered.get(number);
    unanswered.delete(number);
    if (problem !== undefined) waiting?.resolve({ refused: problem });
    else waiting?.resolve({ to: to ?? null });
  }
}

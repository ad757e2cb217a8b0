/**
 * The long-poll: one request held open for events, one short request for each crossing.
 *
 * Invariant: a poll is sent only after everything the last one brought is kept, because its cursor acknowledges it.
 * Cost: one connection held, one answer a batch; browsers allow six connections to one host, so at most five such pages.
 */
import {
  backoffMs,
  byeMs,
  type Crossing,
  CURSOR_CODES,
  ENDED_CODES,
  readProblem,
  type Seat,
  type Surroundings,
  sleep,
  type Transport,
  type TransportHandlers,
  type Verdict,
} from './transport.ts';

export interface PollSurroundings extends Surroundings {
  fetch: typeof fetch;
}

const SILENCE_FACTOR = 1.5; // of pingSeconds: longer without an answer, and the connection is dead without saying so
const CROSSING_TIMEOUT_MS = 10_000; // ms until a crossing's answer is given up and asked for again

export function poll(
  seat: Seat,
  handlers: TransportHandlers,
  { fetch, random, sleep: wait }: PollSurroundings = {
    fetch: globalThis.fetch.bind(globalThis),
    random: Math.random,
    sleep,
  },
): Transport {
  const closing = new AbortController();
  const { signal } = closing;
  const authorization = `Bearer ${seat.token}`;
  let cursor = seat.cursor;
  let asked = 1; // polls sent with the cursor we have; whether a page before this one sent one is not known

  void run();
  return { send, close: () => closing.abort() };

  async function run(): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      let pauseMs = 0;
      try {
        const done = await ask();
        if (done === 'ended') return;
        pauseMs = done;
        failures = 0;
      } catch {
        if (signal.aborted) return;
        handlers.connected(false);
        pauseMs = backoffMs(failures++, random);
      }
      if (pauseMs > 0) await wait(pauseMs, signal);
    }
  }

  /** One poll. Returns how long to stay away, or `ended`. Throws when it failed in a way that passes. */
  async function ask(): Promise<number | 'ended'> {
    const silence = AbortSignal.timeout(seat.pingSeconds * SILENCE_FACTOR * 1000);
    asked++;
    const answer = await fetch(`${seat.events}?cursor=${encodeURIComponent(cursor)}`, {
      headers: { authorization },
      cache: 'no-store',
      signal: AbortSignal.any([signal, silence]),
    });
    if (answer.ok) {
      const batch = await answer.json();
      if (signal.aborted) return 'ended';
      handlers.connected(true);
      await handlers.events(batch.events, batch.cursor);
      cursor = batch.cursor;
      asked = 0;
      return byeMs(batch.events, random);
    }
    const problem = await readProblem(answer);
    if (CURSOR_CODES.has(problem.code) && problem.cursor !== undefined) {
      cursor = problem.cursor;
      handlers.cursorLost(cursor);
      return 0;
    }
    if (!ENDED_CODES.has(problem.code)) throw new Error(problem.title);
    closing.abort();
    handlers.ended(problem, asked === 1); // the first poll, refused, has acknowledged nothing; of more nobody knows
    return 'ended';
  }

  async function send(crossing: Crossing): Promise<Verdict> {
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        const answer = await fetch(seat.crossings, {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/json' },
          body: JSON.stringify(crossing),
          signal: AbortSignal.any([signal, AbortSignal.timeout(CROSSING_TIMEOUT_MS)]),
        });
        if (answer.ok) return { to: (await answer.json()).to };
        // 5xx without a code of the relay's is a proxy's word, not a verdict: the relay may have accepted.
        const problem = await readProblem(answer);
        if (!problem.code.startsWith('http-5')) return { refused: problem };
      } catch {
        // No answer is no verdict: the same number again.
      }
      await wait(backoffMs(failures, random), signal);
    }
    return 'unknown';
  }
}

/**
 * The long-poll transport: one request held open for events, and one short request for each crossing, saying and stage.
 *
 * Invariant: a poll is sent only after the last batch is saved, because the poll's cursor acknowledges that batch.
 * Cost: one held connection, one response a batch. A browser allows six connections to one host, so at most five such pages.
 */
import { browserEnvironment, createPosts, type FetchEnvironment } from './posts.ts';
import {
  backoffMs,
  byeMs,
  CURSOR_CODES,
  ENDED_CODES,
  lostAfter,
  pauseMsMax,
  readProblem,
  type Seat,
  silenceMs,
  type Transport,
  type TransportHandlers,
} from './transport.ts';

const SECOND_POLL_MS = 1_000; // ms that the relay may hold a poll until the page finds out whether it is there

/** What a poll has come to. */
interface Outcome {
  /** It was refused, or its answer tells that something is wrong: the next poll waits longer each time. */
  isFailure: boolean;
  /** How long the relay wants the page to stay away. */
  awayMs: number;
}

export function poll(
  seat: Seat,
  handlers: TransportHandlers,
  environment: FetchEnvironment = browserEnvironment(),
): Transport {
  const { fetch, random, sleep: wait } = environment;
  const closing = new AbortController();
  const { signal } = closing;
  const authorization = `Bearer ${seat.token}`;
  let isUp = false;
  /** The poll that replaces the present one. */
  let second: { url: string; response: Promise<Response> } | null = null;
  let cursor = seat.cursor;
  let pollsSent = 1; // with the present cursor; starts at 1 because a page before a reload may have sent one

  void run();
  const { send, say, show } = createPosts(seat, { signal }, environment);
  return { send, say, show, close: () => closing.abort() };

  async function run(): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      const outcome = await pollOnce().catch(() => failed());
      if (outcome === 'ended' || signal.aborted) return;
      const { isFailure, awayMs } = outcome;
      const pauseMs = Math.max(awayMs, isFailure ? backoffMs(failures, random, pauseMsMax(seat)) : 0);
      failures = isFailure ? failures + 1 : 0;
      if (pauseMs > 0) await wait(pauseMs, signal);
    }
  }

  /** Resolves to `ended` when no poll follows. Rejects when there is no answer of the relay. */
  async function pollOnce(): Promise<Outcome | 'ended'> {
    const response = await request(`${seat.events}?cursor=${encodeURIComponent(cursor)}`);
    if (response.ok) {
      const batch = await response.json();
      if (signal.aborted) return 'ended';
      if (typeof batch?.cursor !== 'string' || !Array.isArray(batch.events)) throw new Error('This is no batch.');
      setUp(true);
      const isReplaced = second !== null;
      if (!(await handlers.events(batch.events, batch.cursor))) return 'ended';
      cursor = batch.cursor;
      pollsSent = 0;
      // A relay returns an empty batch only to a poll that a newer one has replaced.
      return { isFailure: batch.events.length === 0 && !isReplaced, awayMs: byeMs(batch.events, random) };
    }
    const problem = await readProblem(response);
    if (CURSOR_CODES.has(problem.code) && problem.cursor !== undefined) {
      cursor = problem.cursor;
      handlers.cursorLost(cursor);
      return { isFailure: true, awayMs: 0 };
    }
    if (ENDED_CODES.has(problem.code)) {
      closing.abort();
      handlers.ended(problem, lostAfter(problem, cursor, pollsSent));
      return 'ended';
    }
    return failed(problem.retryAfterMs);
  }

  function failed(awayMs = 0): Outcome {
    if (!signal.aborted) setUp(false);
    return { isFailure: true, awayMs };
  }

  /**
   * Returns the answer to a poll. A relay with nothing to send holds it. Before the relay has answered at all, a second poll follows: it
   * replaces the first one, which is answered at once, so the page knows that the relay is there.
   */
  async function request(url: string): Promise<Response> {
    const response = second?.url === url ? second.response : get(url);
    second = null;
    const timer = setTimeout(() => {
      if (isUp) return;
      second = { url, response: get(url) };
      second.response.catch(() => {}); // whoever asks for it gets the error
    }, SECOND_POLL_MS);
    try {
      return await response;
    } finally {
      clearTimeout(timer);
    }
  }

  function get(url: string): Promise<Response> {
    pollsSent++;
    const silence = AbortSignal.timeout(silenceMs(seat));
    return fetch(url, {
      headers: { authorization },
      cache: 'no-store',
      signal: AbortSignal.any([signal, silence]),
    });
  }

  function setUp(is: boolean): void {
    isUp = is;
    handlers.connected(is);
  }
}

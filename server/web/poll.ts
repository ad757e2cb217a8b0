/**
 * The long-poll transport: one request held open for events, and one short request for each crossing, saying and stage.
 *
 * Invariant: a poll is sent only after the last batch is saved, because the poll's cursor acknowledges that batch.
 * Cost: one held connection, one response a batch. A browser allows six connections to one host, so at most five such pages.
 */
import {
  backoffMs,
  byeMs,
  type Crossing,
  CURSOR_CODES,
  ENDED_CODES,
  type Environment,
  type Neighbour,
  readProblem,
  relayOf,
  type Saying,
  type SayingVerdict,
  type Seat,
  type Stage,
  type StageVerdict,
  sleep,
  type Transport,
  type TransportHandlers,
  type Verdict,
  type VerdictOf,
} from './transport.ts';

export interface PollEnvironment extends Environment {
  fetch: typeof fetch;
}

const SILENCE_FACTOR = 1.5; // of pingSeconds: a connection that is silent for longer is dead
const POST_TIMEOUT_MS = 10_000; // ms to wait for the response; after that a crossing or a saying is sent again

export function poll(
  seat: Seat,
  handlers: TransportHandlers,
  { fetch, random, sleep: wait }: PollEnvironment = {
    fetch: globalThis.fetch.bind(globalThis),
    random: Math.random,
    sleep,
  },
): Transport {
  const closing = new AbortController();
  const { signal } = closing;
  const authorization = `Bearer ${seat.token}`;
  let cursor = seat.cursor;
  let pollsSent = 1; // with the present cursor; starts at 1 because a page before a reload may have sent one

  void run();
  return { send, say, show, close: () => closing.abort() };

  async function run(): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      let pauseMs = 0;
      try {
        const result = await pollOnce();
        if (result === 'ended') return;
        pauseMs = result;
        failures = 0;
      } catch {
        if (signal.aborted) return;
        handlers.connected(false);
        pauseMs = backoffMs(failures++, random);
      }
      if (pauseMs > 0) await wait(pauseMs, signal);
    }
  }

  /** Returns how long to wait before the next poll, or `ended` when none follows. Throws on a failure that is worth a retry. */
  async function pollOnce(): Promise<number | 'ended'> {
    const silence = AbortSignal.timeout(seat.pingSeconds * SILENCE_FACTOR * 1000);
    pollsSent++;
    const response = await fetch(`${seat.events}?cursor=${encodeURIComponent(cursor)}`, {
      headers: { authorization },
      cache: 'no-store',
      signal: AbortSignal.any([signal, silence]),
    });
    if (response.ok) {
      const batch = await response.json();
      if (signal.aborted) return 'ended';
      handlers.connected(true);
      if (!(await handlers.events(batch.events, batch.cursor))) return 'ended';
      cursor = batch.cursor;
      pollsSent = 0;
      return byeMs(batch.events, random);
    }
    const problem = await readProblem(response);
    if (CURSOR_CODES.has(problem.code) && problem.cursor !== undefined) {
      cursor = problem.cursor;
      handlers.cursorLost(cursor);
      return 0;
    }
    if (!ENDED_CODES.has(problem.code)) throw new Error(problem.title);
    closing.abort();
    // A refused first poll has acknowledged nothing. After more polls we cannot know.
    handlers.ended(problem, pollsSent === 1);
    return 'ended';
  }

  function send(crossing: Crossing): Promise<Verdict> {
    return post(seat.crossings, crossing, ({ to }) => ({ to }));
  }

  function say(saying: Saying): Promise<SayingVerdict> {
    return post(`${relayOf(seat)}/v1/desktops/${seat.desktop}/sayings`, saying, ({ heard }) => ({ heard }));
  }

  async function show(stage: Stage): Promise<StageVerdict> {
    try {
      const response = await postOnce(`${relayOf(seat)}/v1/desktops/${seat.desktop}/stage`, stage);
      return response.ok ? { edges: (await response.json()).edges } : { refused: await readProblem(response) };
    } catch {
      return 'unknown';
    }
  }

  function postOnce(url: string, body: object): Promise<Response> {
    return fetch(url, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.any([signal, AbortSignal.timeout(POST_TIMEOUT_MS)]),
    });
  }

  /** Posts until the relay decides. `accepted` reads the response of a relay that has accepted. */
  async function post<T>(
    url: string,
    body: Crossing | Saying,
    accepted: (response: { to: Neighbour | null; heard: number | null }) => T,
  ): Promise<VerdictOf<T>> {
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        const response = await postOnce(url, body);
        if (response.ok) return accepted(await response.json());
        // A 5xx without one of the relay's codes comes from a proxy. It is not a verdict: the relay may have accepted.
        const problem = await readProblem(response);
        if (!problem.code.startsWith('http-5')) return { refused: problem };
      } catch {
        // Without a response there is no verdict: send the same number again.
      }
      await wait(backoffMs(failures, random), signal);
    }
    return 'unknown';
  }
}

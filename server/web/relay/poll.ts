/**
 * The long-poll transport: one request held open for events, and one short request for each crossing, saying and stage.
 *
 * Invariant: a poll is sent only after the last batch is saved, because the poll's cursor acknowledges that batch.
 * Cost: one held connection, one response a batch. A browser allows six connections to one host, so at most five such pages.
 */
import { Cursor } from './cursor.ts';
import { browserEnvironment, createPosts, type FetchEnvironment } from './posts.ts';
import {
  backoffMs,
  byeMs,
  type Problem,
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
  const closing = new AbortController();
  void new Polls(seat, handlers, environment, closing).run();
  return { ...createPosts(seat, { signal: closing.signal }, environment), close: () => closing.abort() };
}

/** The polls of a seat, one after the other, until it has ended or the transport is closed. */
class Polls {
  readonly #seat: Seat;
  readonly #handlers: TransportHandlers;
  readonly #environment: FetchEnvironment;
  readonly #closing: AbortController;
  readonly #cursor: Cursor;
  #isUp = false;
  /** The poll that replaces the present one. */
  #second: { url: string; response: Promise<Response> } | null = null;

  constructor(seat: Seat, handlers: TransportHandlers, environment: FetchEnvironment, closing: AbortController) {
    this.#seat = seat;
    this.#handlers = handlers;
    this.#environment = environment;
    this.#closing = closing;
    this.#cursor = new Cursor(seat.cursor);
  }

  async run(): Promise<void> {
    const { signal } = this.#closing;
    const { random, sleep } = this.#environment;
    for (let failures = 0; !signal.aborted; ) {
      const outcome = await this.#poll().catch(() => this.#failed());
      if (outcome === 'ended' || signal.aborted) return;
      const { isFailure, awayMs } = outcome;
      const pauseMs = Math.max(awayMs, isFailure ? backoffMs(failures, random, pauseMsMax(this.#seat)) : 0);
      failures = isFailure ? failures + 1 : 0;
      if (pauseMs > 0) await sleep(pauseMs, signal);
    }
  }

  /** Resolves to `ended` when no poll follows. Rejects when there is no answer of the relay. */
  async #poll(): Promise<Outcome | 'ended'> {
    const response = await this.#request(`${this.#seat.events}?cursor=${encodeURIComponent(this.#cursor.at)}`);
    if (!response.ok) return this.#refused(await readProblem(response));
    const batch = await response.json();
    if (this.#closing.signal.aborted) return 'ended';
    if (typeof batch?.cursor !== 'string' || !Array.isArray(batch.events)) return this.#failed();
    this.#setUp(true);
    const isReplaced = this.#second !== null;
    if (!(await this.#handlers.events(batch.events, batch.cursor))) return 'ended';
    this.#cursor.advance(batch.cursor);
    // A relay returns an empty batch only to a poll that a newer one has replaced.
    const isFailure = batch.events.length === 0 && !isReplaced;
    return { isFailure, awayMs: byeMs(batch.events, this.#environment.random) };
  }

  #refused(problem: Problem): Outcome | 'ended' {
    const next = this.#cursor.refused(problem, this.#handlers, () => this.#closing.abort());
    if (next === 'moved') return { isFailure: true, awayMs: 0 };
    return next === 'ended' ? next : this.#failed(problem.retryAfterMs);
  }

  #failed(awayMs = 0): Outcome {
    if (!this.#closing.signal.aborted) this.#setUp(false);
    return { isFailure: true, awayMs };
  }

  /**
   * Returns the answer to a poll. A relay with nothing to send holds it. Before the relay has answered at all, a second poll follows: it
   * replaces the first one, which is answered at once, so the page knows that the relay is there.
   */
  async #request(url: string): Promise<Response> {
    const response = this.#second?.url === url ? this.#second.response : this.#get(url);
    this.#second = null;
    const timer = setTimeout(() => {
      if (this.#isUp) return;
      this.#second = { url, response: this.#get(url) };
      this.#second.response.catch(() => {}); // its reader gets the error
    }, SECOND_POLL_MS);
    try {
      return await response;
    } finally {
      clearTimeout(timer);
    }
  }

  #get(url: string): Promise<Response> {
    this.#cursor.pollsSent++;
    const silence = AbortSignal.timeout(silenceMs(this.#seat));
    return this.#environment.fetch(url, {
      headers: { authorization: `Bearer ${this.#seat.token}` },
      cache: 'no-store',
      signal: AbortSignal.any([this.#closing.signal, silence]),
    });
  }

  #setUp(is: boolean): void {
    this.#isUp = is;
    this.#handlers.connected(is);
  }
}

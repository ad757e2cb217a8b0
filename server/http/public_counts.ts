/**
 * The public counts: how many desktops are here, and how often each picture of the gallery flies, for everybody who asks.
 *
 * Invariant: the master is asked at most once in COUNTS_MS by a worker, however many clients ask it.
 */

import type { Reply } from '../processes/pending.ts';
import { blankIdentity } from '../wire/identity.ts';
import type { Worker } from './worker.ts';

/** How long an answer is used, in ms: nobody sees the difference. */
export const COUNTS_MS = 1000;

export class PublicCounts {
  readonly #worker: Pick<Worker, 'query'>;
  readonly #clock: () => number;
  readonly #query: 'count' | 'flying';
  #answer: Promise<Reply> | undefined;
  #askedMs = Number.NEGATIVE_INFINITY;

  /** `clock`: monotonic, in ms. */
  constructor(worker: Pick<Worker, 'query'>, clock = () => performance.now(), query: 'count' | 'flying' = 'count') {
    this.#query = query;
    this.#worker = worker;
    this.#clock = clock;
  }

  /** The master's answer, at most COUNTS_MS old. Rejects with relay-busy, draining. */
  async read(): Promise<Reply> {
    const nowMs = this.#clock();
    if (this.#answer === undefined || nowMs - this.#askedMs >= COUNTS_MS) {
      this.#askedMs = nowMs;
      this.#answer = this.#worker.query(this.#query, blankIdentity());
    }
    const answer = this.#answer;
    try {
      return await answer;
    } catch (error) {
      // A refusal is not kept for the next client.
      if (this.#answer === answer) this.#answer = undefined;
      throw error;
    }
  }
}

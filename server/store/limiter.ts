/**
 * A limiter runs a bounded number of works at a time, and lets a bounded number wait; one more is refused with relay-busy.
 *
 * The places are a budget (budget.ts), so no client can have all of them. Invariant: works start in the order in which they came.
 */
import { ProblemError } from '../wire/problem.ts';
import { Budget } from './budget.ts';

export class Limiter {
  readonly #runningMax: number;
  readonly #places: Budget;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(runningMax: number, waitingMax: number) {
    this.#runningMax = runningMax;
    this.#places = new Budget(runningMax + waitingMax);
  }

  /** Resolves to the result of `work`. Throws relay-busy, without running it, when too many wait, or too many of `holder`. */
  async run<T>(holder: string | undefined, work: () => Promise<T>): Promise<T> {
    if (!this.#places.reserve(holder, 1)) {
      throw new ProblemError('relay-busy', 'The relay is busy with other sprite files; try again in a second.');
    }
    // The work that ends hands its turn to this one, so the count stays.
    if (this.#running < this.#runningMax) this.#running++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      this.#places.release(holder, 1);
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}

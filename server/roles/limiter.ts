/**
 * A limiter runs a bounded number of works at a time, and lets a bounded number wait; one more is refused with relay-busy.
 *
 * Invariant: works start in the order in which they came.
 */
import { ProblemError } from '../wire/problem.ts';

export class Limiter {
  readonly #runningMax: number;
  readonly #waitingMax: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(runningMax: number, waitingMax: number) {
    this.#runningMax = runningMax;
    this.#waitingMax = waitingMax;
  }

  /** Resolves to the result of `work`. Throws relay-busy, without running it, when too many wait. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#runningMax) this.#running++;
    else {
      if (this.#waiting.length >= this.#waitingMax) {
        throw new ProblemError('relay-busy', 'The relay is busy with other sprite files; try again in a second.');
      }
      // The work that ends hands its place to this one, so the count stays.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}

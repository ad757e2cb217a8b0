/**
 * The longest block of this process's event loop, for several readers.
 *
 * One histogram of Node serves all of them, because each histogram wakes the loop with a timer. Each reader gets the longest
 * block since it last read. A process in which nothing happens pauses it, so the block of the first turn after that is not seen.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How often the delay of the master's loop is sampled, in ms: the longest block is exact to within one step. */
export const DELAY_STEP_MS = 10;

/** The same for a worker: it wakes an idle process half as often. */
export const WORKER_DELAY_STEP_MS = 20;

export class LoopDelay {
  readonly #stepMs: number;
  readonly #histogram: ReturnType<typeof monitorEventLoopDelay>;
  /** For each reader the longest block, in seconds, that another reader has seen since this one last read. */
  readonly #unread: number[] = [];

  constructor(stepMs: number) {
    this.#stepMs = stepMs;
    this.#histogram = monitorEventLoopDelay({ resolution: stepMs });
    this.#histogram.enable();
  }

  /** While it is paused it wakes nobody, and sees no block. */
  pause(isPaused: boolean): void {
    if (isPaused) this.#histogram.disable();
    else this.#histogram.enable();
  }

  /** Returns a function that returns the longest block in seconds since its previous call. */
  reader(): () => number {
    const index = this.#unread.push(0) - 1;
    return () => {
      // The histogram has the time between two samples, which is one step when the loop is not delayed.
      const longest = Math.max(0, this.#histogram.max / 1e9 - this.#stepMs / 1000);
      this.#histogram.reset();
      for (let i = 0; i < this.#unread.length; i++) this.#unread[i] = Math.max(this.#unread[i], longest);
      const own = this.#unread[index];
      this.#unread[index] = 0;
      return own;
    };
  }
}

/**
 * The delay of an event loop: the longest time in which nothing else ran, and how much of it was work.
 *
 * A timer looks every DELAY_STEP_MS. What it comes late by is the delay; of that the thread was at work no longer than the
 * CPU time it took since the timer came last, and for the rest it waited for a core that somebody else had.
 * Cost: a hundred timers a second, of a few microseconds each.
 */

/** How often is looked, in ms: a delay is found to be up to so much shorter than it was. */
export const DELAY_STEP_MS = 10;

export class LoopDelay {
  #nowMs: number;
  #cpuMs: number;
  #longestMs = 0;
  #busiestMs = 0;

  constructor(nowMs: number, cpuMs: number) {
    this.#nowMs = nowMs;
    this.#cpuMs = cpuMs;
  }

  /** The timer has come: what time it is, and the CPU time this thread has taken. */
  look(nowMs: number, cpuMs: number): void {
    const delayMs = nowMs - this.#nowMs - DELAY_STEP_MS;
    const busyMs = Math.min(delayMs, cpuMs - this.#cpuMs);
    if (delayMs > this.#longestMs) this.#longestMs = delayMs;
    if (busyMs > this.#busiestMs) this.#busiestMs = busyMs;
    this.#nowMs = nowMs;
    this.#cpuMs = cpuMs;
  }

  /** The longest delay since this was last asked, in ms; 0 at the least. */
  takeLongestMs(): number {
    const longestMs = this.#longestMs;
    this.#longestMs = 0;
    return longestMs;
  }

  /** The most work in one delay since this was last asked, in ms; 0 at the least. It may have been another one than the longest. */
  takeBusiestMs(): number {
    const busiestMs = this.#busiestMs;
    this.#busiestMs = 0;
    return busiestMs;
  }
}

/** Watches the loop of this thread, for as long as it runs. */
export function watchLoop(): LoopDelay {
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  const delay = new LoopDelay(performance.now(), cpuMs());
  setInterval(() => delay.look(performance.now(), cpuMs()), DELAY_STEP_MS).unref();
  return delay;
}

/** Pauses that all end when the run does. */
export class Pauses {
  readonly #wakes = new Set<() => void>();
  #isOver = false;

  /** Resolves after this time, or at once when it is over. */
  readonly rest = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      if (this.#isOver) {
        setImmediate(resolve);
        return;
      }
      const wake = () => {
        clearTimeout(timer);
        this.#wakes.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#wakes.add(wake);
    });

  end(): void {
    this.#isOver = true;
    for (const wake of [...this.#wakes]) wake();
  }
}

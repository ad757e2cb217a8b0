/**
 * Confirmations: which receivers have not confirmed a message yet.
 *
 * A receiver that ends counts as one that has confirmed: its successor begins with what is true then. So a wait ends when each receiver has
 * confirmed or ended. Cost: a set of receivers for each message that is not confirmed by all.
 */
export class Confirmations<Receiver> {
  readonly #waiting = new Map<number, { left: Set<Receiver>; resolve: () => void }>();
  #last = 0;

  /** Waits for these receivers. Returns the number of the message, and a promise of all their confirmations. */
  expect(receivers: Iterable<Receiver>): { number: number; confirmed: Promise<void> } {
    const { promise: confirmed, resolve } = Promise.withResolvers<void>();
    const left = new Set(receivers);
    const number = ++this.#last;
    if (left.size === 0) resolve();
    else this.#waiting.set(number, { left, resolve });
    return { number, confirmed };
  }

  /** A receiver has confirmed the message of this number. */
  confirm(receiver: Receiver, number: number): void {
    const waiting = this.#waiting.get(number);
    if (!waiting?.left.delete(receiver) || waiting.left.size > 0) return;
    this.#waiting.delete(number);
    waiting.resolve();
  }

  /** A receiver has ended. */
  forget(receiver: Receiver): void {
    for (const number of [...this.#waiting.keys()]) this.confirm(receiver, number);
  }
}

/**
 * A budget of something that all clients of a process share: bytes in memory, or places in a queue.
 *
 * A holder is a client's network (admission.ts), or whatever tells clients apart. It may have at most half of what it leaves to all others, so
 * one alone gets a third, and after n greedy ones (2/3)^n of the budget is still free. So a newcomer finds room while few
 * holders are greedy. There is no table of shares, and a limit by holder can't be forgotten: each reservation names its holder.
 * Invariant: what is reserved is at most the budget. Cost: O(1), and a Map entry for each holder that has something now.
 */
export class Budget {
  readonly max: number;
  readonly #shares = new Map<string, number>();
  /** What is reserved now. */
  used = 0;

  constructor(max: number) {
    this.max = max;
  }

  /**
   * Reserves an amount; returns false, and reserves nothing, when there is no room for it.
   *
   * Shape   `holder` is undefined where clients are not told apart: then only the whole budget is the limit. `added` is less than
   *         `amount` when others have reserved the same thing already: it then counts as a part of each one's share, but once in the sum.
   */
  reserve(holder: string | undefined, amount: number, added = amount): boolean {
    const left = this.max - this.used - added;
    if (left < 0) return false;
    if (holder !== undefined) {
      const share = this.#shareOf(holder) + amount;
      if (share > left / 2) return false;
      this.#shares.set(holder, share);
    }
    this.used += added;
    return true;
  }

  /** Gives back what was reserved. `freed` is less than `amount` when others still have the same thing. */
  release(holder: string | undefined, amount: number, freed = amount): void {
    this.used -= freed;
    if (holder === undefined) return;
    const share = this.#shareOf(holder) - amount;
    if (share > 0) this.#shares.set(holder, share);
    else this.#shares.delete(holder);
  }

  #shareOf(holder: string): number {
    return this.#shares.get(holder) ?? 0;
  }
}

/**
 * A budget of bytes that many holders share. Each holder may have a share of it, so that one cannot use up all.
 *
 * Invariant: reserved bytes are at most the budget, and those of one holder at most its share. Cost: O(1).
 */
export class ByteBudget<Holder> {
  readonly #bytesMax: number;
  readonly #shareMax: number;
  readonly #shares = new Map<Holder, number>();
  /** Bytes that are reserved now. */
  bytes = 0;

  constructor(bytesMax: number, shareMax = bytesMax) {
    this.#bytesMax = bytesMax;
    this.#shareMax = shareMax;
  }

  /** Reserves bytes; returns false, and reserves nothing, when there is no room for them. */
  reserve(holder: Holder, bytes: number): boolean {
    const share = (this.#shares.get(holder) ?? 0) + bytes;
    if (share > this.#shareMax || this.bytes + bytes > this.#bytesMax) return false;
    this.#shares.set(holder, share);
    this.bytes += bytes;
    return true;
  }

  /** Gives back bytes that were reserved. */
  release(holder: Holder, bytes: number): void {
    const share = (this.#shares.get(holder) ?? 0) - bytes;
    if (share > 0) this.#shares.set(holder, share);
    else this.#shares.delete(holder);
    this.bytes -= bytes;
  }
}

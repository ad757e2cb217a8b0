/**
 * An address window: how often the clients of one IPv4 address, or of one IPv6 /64, may do something in a window of time.
 *
 * Cost: O(1); at most ADDRESSES_MAX addresses are counted in one window, and further ones are refused until it ends.
 */

/** Addresses in one window: some 100 bytes each. */
export const ADDRESSES_MAX = 10_000;

export class AddressWindow {
  readonly #countMax: number;
  readonly #windowMs: number;
  readonly #clock: () => number;
  readonly #counts = new Map<string, number>();
  #endsMs = 0;

  /** `clock`: monotonic, in ms. */
  constructor(countMax: number, windowMs: number, clock: () => number) {
    this.#countMax = countMax;
    this.#windowMs = windowMs;
    this.#clock = clock;
  }

  /** Counts one more for an address, given as four words. Returns false, and counts nothing, when that is too often. */
  countIfAllowed(words: ArrayLike<number>): boolean {
    const nowMs = this.#clock();
    if (nowMs >= this.#endsMs) {
      this.#counts.clear();
      this.#endsMs = nowMs + this.#windowMs;
    }
    const isIPv4 = words[0] === 0 && words[1] === 0 && words[2] === 0xffff;
    const key = isIPv4 ? `${words[3]}` : `${words[0]}:${words[1]}`;
    const count = this.#counts.get(key) ?? 0;
    if (count >= this.#countMax || (count === 0 && this.#counts.size >= ADDRESSES_MAX)) return false;
    this.#counts.set(key, count + 1);
    return true;
  }
}

/**
 * An LRU cache, bounded by the sum of the sizes of its entries: when there is no room, the least recently used ones go.
 *
 * Cost: O(1). A JavaScript Map keeps the order of insertion, so the first entry is the least recently used.
 */
export class LruCache<Value> {
  readonly #entries = new Map<string, { value: Value; size: number }>();
  readonly #sizeMax: number;
  /** The sum of all sizes. */
  size = 0;

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  /** Returns the value, which is now the most recently used. */
  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Adds or replaces a value; one that is larger than the bound is not kept. */
  set(key: string, value: Value, size: number): void {
    this.delete(key);
    if (size > this.#sizeMax) return;
    this.#entries.set(key, { value, size });
    this.size += size;
    for (const oldest of this.#entries.keys()) {
      if (this.size <= this.#sizeMax) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.size -= entry.size;
  }
}

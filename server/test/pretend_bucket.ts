/**
 * A pretend bucket for tests: all relays of a test share one store, and each reaches it until the test cuts it off.
 *
 * Answers come in a later microtask, as those of NATS come later. Writes are atomic, as there.
 */
import type { Bucket, Entry, Watcher } from '../cluster/bucket.ts';

export class PretendStore {
  readonly entries = new Map<string, Entry>();
  readonly buckets: PretendBucket[] = [];
  /** Counts how often the store was lost. */
  losses = 0;
  #revision = 0;

  /** The bucket as one relay sees it. */
  bucket(): PretendBucket {
    const bucket = new PretendBucket(this);
    this.buckets.push(bucket);
    return bucket;
  }

  /** Loses all values, and begins with the first revision again. The relays must be cut off. */
  lose(): void {
    this.entries.clear();
    this.#revision = 0;
    this.losses++;
  }

  write(key: string, value: Uint8Array): number {
    const entry = { key, value, revision: ++this.#revision };
    this.entries.set(key, entry);
    for (const bucket of this.buckets) bucket.deliver(entry);
    return entry.revision;
  }
}

export class PretendBucket implements Bucket {
  readonly #store: PretendStore;
  readonly #watchers: Watcher[] = [];
  isConnected = true;
  /** The losses of the store that this relay has noticed. */
  #losses: number;

  constructor(store: PretendStore) {
    this.#store = store;
    this.#losses = store.losses;
  }

  cut(): void {
    this.isConnected = false;
  }

  connect(): void {
    this.isConnected = true;
    if (this.#losses !== this.#store.losses) for (const watcher of this.#watchers) watcher.lost?.();
    this.#losses = this.#store.losses;
    for (const watcher of this.#watchers) this.#begin(watcher);
  }

  async get(key: string): Promise<Entry | undefined> {
    await this.#reach();
    return this.#store.entries.get(key);
  }

  create(key: string, value: Uint8Array): Promise<number | undefined> {
    return this.update(key, value, 0);
  }

  async update(key: string, value: Uint8Array, revision: number): Promise<number | undefined> {
    await this.#reach();
    const found = this.#store.entries.get(key)?.revision ?? 0;
    return found === revision ? this.#store.write(key, value) : undefined;
  }

  async put(key: string, value: Uint8Array): Promise<number> {
    await this.#reach();
    return this.#store.write(key, value);
  }

  async remove(key: string, revision: number): Promise<void> {
    await this.#reach();
    if (this.#store.entries.get(key)?.revision === revision) this.#store.entries.delete(key);
  }

  async each(receive: (entry: Entry) => void): Promise<void> {
    await this.#reach();
    for (const entry of [...this.#store.entries.values()]) receive(entry);
  }

  watch(watcher: Watcher): void {
    this.#watchers.push(watcher);
    if (this.isConnected) this.#begin(watcher);
  }

  deliver(entry: Entry): void {
    if (!this.isConnected) return;
    for (const watcher of this.#watchers) {
      watcher.receive?.(entry);
      watcher.changed?.(entry);
    }
  }

  #begin(watcher: Watcher): void {
    for (const entry of this.#store.entries.values()) watcher.receive?.(entry);
    watcher.connected();
  }

  async #reach(): Promise<void> {
    await Promise.resolve();
    if (!this.isConnected) throw new Error('NATS does not answer');
  }
}

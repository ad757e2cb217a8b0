/**
 * A bucket of keys and values that all relays of a cluster share. There are two: of NATS (nats_bucket.ts), and a pretend one for tests.
 *
 * Each write of a bucket gets a revision, which rises. Writes of one key that name the revision they follow are atomic over the cluster.
 * Every method but watch() rejects when there is no answer in time: then it is not known whether the write was done.
 */

export interface Entry {
  readonly key: string;
  readonly value: Uint8Array;
  readonly revision: number;
}

export interface Watcher {
  /** Called whenever the bucket can be reached, at first and again after each break. */
  connected(): void;
  /** Called with the value of each key before connected(), and then with each new value. A value may come twice. */
  receive?(entry: Entry): void;
  /** Called with each new value only, from some moment before connected() on. A value may come twice. */
  changed?(entry: Entry): void;
  /** NATS has lost the bucket, and there is a new one: revisions that are known are those of the old one. It is called before all others. */
  lost?(): void;
}

export interface Bucket {
  get(key: string): Promise<Entry | undefined>;
  /** Writes a key that has no value. Resolves to the revision; undefined when the key has a value, and nothing has changed. */
  create(key: string, value: Uint8Array): Promise<number | undefined>;
  /** Writes a key whose value is of `revision`. Resolves to the new revision; undefined when it is not, and nothing has changed. */
  update(key: string, value: Uint8Array, revision: number): Promise<number | undefined>;
  /** Writes a key, whatever it has. Resolves to the revision. */
  put(key: string, value: Uint8Array): Promise<number>;
  /** Removes the value of `revision`. Does nothing when the key has another one, or none. */
  remove(key: string, revision: number): Promise<void>;
  /** Calls `receive` with the value of each key that is there now. */
  each(receive: (entry: Entry) => void): Promise<void>;
  watch(watcher: Watcher): void;
}

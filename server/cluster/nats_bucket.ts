/**
 * A bucket of NATS: a stream of JetStream with one message a key, by its client for key-value buckets. Imported only with --nats.
 *
 * Reads are answered by the leader of the stream, so they see every write that was answered before. A value is removed by a purge
 * up to its revision, which leaves nothing of the key behind: names of worlds come and go without end.
 * Cost: one request each, some 0.3 ms beside NATS. The watch is begun again after each break of the connection.
 */
import { JetStreamApiError, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type KV, type KvEntry, Kvm, KvWatchInclude } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { Bucket, Entry, Watcher } from './bucket.ts';

/** How long to wait for JetStream, in ms. */
export const ANSWER_MS = 2_000;

/** Time between two tries to open the bucket, in ms: JetStream begins some time after NATS accepts connections. */
const RETRY_MS = 1_000;

/** JetStream's error codes of a write that names another revision than the key has. */
const OTHER_REVISION: readonly number[] = [10071, 10164];

interface NatsBucketOptions {
  name: string;
  /** The most bytes that JetStream keeps of it. Writes beyond are refused. */
  bytesMax: number;
  log: Logger;
}

export class NatsBucket implements Bucket {
  readonly #options: NatsBucketOptions;
  readonly #watchers: Watcher[] = [];
  #connection: NatsConnection | undefined;
  #bucket: KV | undefined;
  /** When JetStream made the bucket, as it says: another time is another bucket. */
  #created: string | undefined;
  #isWarned = false;
  /** Ends the watches of the newest open(). */
  #unwatch: (() => void)[] = [];
  /** Counts the calls of open(): only the newest one goes on. */
  #opens = 0;

  constructor(options: NatsBucketOptions) {
    this.#options = options;
  }

  /** The connection is there, or is there again. */
  async open(connection: NatsConnection): Promise<void> {
    this.#connection = connection;
    const number = ++this.#opens;
    const { name, bytesMax, log } = this.#options;
    try {
      const manager = new Kvm(jetstream(connection, { timeout: ANSWER_MS }));
      const bucket = await manager.create(name, { max_bytes: bytesMax, timeout: ANSWER_MS, allow_direct: false });
      const { created } = (await bucket.status()).streamInfo;
      if (number !== this.#opens) return;
      this.#bucket = bucket;
      this.#isWarned = false;
      for (const end of this.#unwatch.splice(0)) end();
      if (this.#created !== undefined && this.#created !== created)
        for (const watcher of this.#watchers) watcher.lost?.();
      this.#created = created;
      for (const watcher of [...this.#watchers]) {
        const ended = () => this.#openAgain(connection, number);
        const ends = [
          watcher.receive && (await this.#watch(bucket, (entry) => watcher.receive?.(entry), ended)),
          watcher.changed && (await this.#watchChanges(bucket, (entry) => watcher.changed?.(entry), ended)),
        ];
        for (const end of ends) if (end) this.#unwatch.push(end);
        if (number !== this.#opens) {
          for (const end of ends) end?.();
          return;
        }
        watcher.connected();
      }
    } catch (error) {
      if (connection.isClosed() || number !== this.#opens) return;
      if (!this.#isWarned) {
        log.warn(
          { err: error, bucket: name },
          'JetStream of NATS does not answer; start NATS with it (nats-server -js). Until then this relay opens no private world',
        );
      }
      this.#isWarned = true;
      this.#openAgain(connection, number);
    }
  }

  /** Opens the bucket again soon, unless that has happened since the open() of this number. */
  #openAgain(connection: NatsConnection, number: number): void {
    setTimeout(() => {
      if (!connection.isClosed() && number === this.#opens) void this.open(connection);
    }, RETRY_MS).unref();
  }

  watch(watcher: Watcher): void {
    this.#watchers.push(watcher);
    if (this.#connection) void this.open(this.#connection);
  }

  async get(key: string): Promise<Entry | undefined> {
    const found = await this.#opened.get(key);
    return found === null || found.operation !== 'PUT' ? undefined : entryOf(found);
  }

  create(key: string, value: Uint8Array): Promise<number | undefined> {
    return this.update(key, value, 0);
  }

  async update(key: string, value: Uint8Array, revision: number): Promise<number | undefined> {
    try {
      return await this.#opened.put(key, value, { previousSeq: revision, timeout: ANSWER_MS });
    } catch (error) {
      if (error instanceof JetStreamApiError && OTHER_REVISION.includes(error.code)) return undefined;
      throw error;
    }
  }

  async put(key: string, value: Uint8Array): Promise<number> {
    return this.#opened.put(key, value, { timeout: ANSWER_MS });
  }

  async remove(key: string, revision: number): Promise<void> {
    const { name } = this.#options;
    const manager = await jetstreamManager(this.#connected, { checkAPI: false, timeout: ANSWER_MS });
    await manager.streams.purge(`KV_${name}`, { filter: `$KV.${name}.${key}`, seq: revision + 1 });
  }

  async each(receive: (entry: Entry) => void): Promise<void> {
    const end = await this.#watch(this.#opened, receive, () => {});
    end();
  }

  /** Resolves when `receive` has been called with all values that were there, to what ends the watch. `ended`: it has ended by itself. */
  async #watch(bucket: KV, receive: (entry: Entry) => void, ended: () => void): Promise<() => void> {
    const { values } = await bucket.status();
    const whole = Promise.withResolvers<void>();
    if (values === 0) whole.resolve();
    const changes = await bucket.watch();
    const end = this.#follow(changes, receive, whole.resolve, ended);
    await whole.promise;
    return end;
  }

  /** Resolves when `receive` will be called with all values that are written from now on, to what ends that. */
  async #watchChanges(bucket: KV, receive: (entry: Entry) => void, ended: () => void): Promise<() => void> {
    const changes = await bucket.watch({ include: KvWatchInclude.UpdatesOnly });
    return this.#follow(changes, receive, () => {}, ended);
  }

  /** Calls `receive` for each value, and `caughtUp` after those that were there when the watch began. Returns what ends it. */
  #follow(
    changes: Awaited<ReturnType<KV['watch']>>,
    receive: (entry: Entry) => void,
    caughtUp: () => void,
    ended: () => void,
  ): () => void {
    let isStopped = false;
    const follow = async () => {
      for await (const entry of changes) {
        if (entry.operation === 'PUT') receive(entryOf(entry));
        if (entry.delta === 0) caughtUp();
      }
    };
    void follow()
      .catch((error) => {
        this.#options.log.warn({ err: error, bucket: this.#options.name }, 'the watch of a bucket of NATS has ended');
      })
      .then(() => {
        caughtUp();
        if (!isStopped) ended();
      });
    return () => {
      isStopped = true;
      changes.stop();
    };
  }

  get #connected(): NatsConnection {
    if (this.#connection === undefined) throw new Error('NATS is not connected');
    return this.#connection;
  }

  get #opened(): KV {
    if (this.#bucket === undefined) throw new Error('the bucket is not open');
    return this.#bucket;
  }
}

function entryOf({ key, value, revision }: KvEntry): Entry {
  return { key, value, revision };
}

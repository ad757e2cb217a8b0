/**
 * A bucket of NATS: a stream of JetStream with one message a key, by its client for key-value buckets. Imported only with --nats.
 *
 * Reads are answered by the leader of the stream, so they see every write that was answered before. A value is removed by a purge
 * up to its revision, which leaves nothing of the key behind: names of worlds come and go without end.
 * Cost: one request each, some 0.3 ms beside NATS. The watch is begun again after each break of the connection.
 */
import { JetStreamApiError, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type KV, type KvEntry, Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { Bucket, Entry } from './bucket.ts';

/** How long to wait for JetStream, in ms. */
export const ANSWER_MS = 2_000;

/** Time between two tries to open the bucket, in ms: JetStream begins some time after NATS accepts connections. */
const RETRY_MS = 1_000;

/** JetStream's error codes of a write that names another revision than the key has. */
const OTHER_REVISION: readonly number[] = [10071, 10164];

export interface NatsBucketOptions {
  name: string;
  /** The most bytes that JetStream keeps of it. Writes beyond are refused. */
  bytesMax: number;
  log: Logger;
}

export class NatsBucket implements Bucket {
  readonly #options: NatsBucketOptions;
  readonly #watchers: { connected: () => void; receive?: (entry: Entry) => void; lost?: () => void }[] = [];
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
      if (this.#created !== undefined && this.#created !== created) for (const { lost } of this.#watchers) lost?.();
      this.#created = created;
      for (const { connected, receive } of [...this.#watchers]) {
        const end = receive && (await this.#watch(bucket, receive));
        if (number !== this.#opens) {
          end?.();
          return;
        }
        if (end) this.#unwatch.push(end);
        connected();
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
      setTimeout(() => {
        if (!connection.isClosed() && number === this.#opens) void this.open(connection);
      }, RETRY_MS).unref();
    }
  }

  watch(connected: () => void, receive?: (entry: Entry) => void, lost?: () => void): void {
    this.#watchers.push({ connected, receive, lost });
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
    const end = await this.#watch(this.#opened, receive);
    end();
  }

  /** Resolves when `receive` has been called with all values that were there, to what ends the watch. */
  async #watch(bucket: KV, receive: (entry: Entry) => void): Promise<() => void> {
    const { values } = await bucket.status();
    const changes = await bucket.watch();
    const whole = Promise.withResolvers<void>();
    if (values === 0) whole.resolve();
    void this.#follow(changes, receive, whole.resolve).catch((error) => {
      this.#options.log.warn({ err: error, bucket: this.#options.name }, 'the watch of a bucket of NATS has ended');
    });
    await whole.promise;
    return () => changes.stop();
  }

  /** Calls `receive` for each value, and `caughtUp` after those that were there when the watch began. */
  async #follow(changes: AsyncIterable<KvEntry>, receive: (entry: Entry) => void, caughtUp: () => void): Promise<void> {
    try {
      for await (const entry of changes) {
        if (entry.operation === 'PUT') receive(entryOf(entry));
        if (entry.delta === 0) caughtUp();
      }
    } finally {
      caughtUp();
    }
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

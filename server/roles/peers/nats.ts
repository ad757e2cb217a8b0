/**
 * NATS as the network of peers. Only this file and nats_bucket.ts import the client of NATS; they are imported only with --nats.
 *
 * The client tries to connect until it succeeds. Until then, the relay serves its own desktops.
 */
import { readFileSync } from 'node:fs';
import { connect, credsAuthenticator, errors, type NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { Bucket } from './bucket.ts';
import { NatsBucket } from './nats_bucket.ts';
import { NobodyThere, type PeerNetwork } from './network.ts';

/** Time between two tries to connect, in ms. */
const RECONNECT_MS = 500;

/** How often NATS is pinged, in ms. After PINGS_UNANSWERED_MAX pings without an answer the connection counts as broken. */
const PING_MS = 2_000;
const PINGS_UNANSWERED_MAX = 2;

/** How long to wait for the first connection before a warning is logged, in ms. */
const FIRST_MS = 5_000;

export interface NatsOptions {
  /** `nats://host:port`, or `tls://host:port`. */
  url: string;
  /** The name of this connection in the lists of NATS. */
  name: string;
  /** A file with a user's JWT and seed, as NATS's tools make it. */
  credentials?: string;
}

export class NatsNetwork implements PeerNetwork {
  readonly #log: Logger;
  readonly #waiting: ((connection: NatsConnection) => void)[] = [];
  readonly #opened: Promise<void>;
  readonly #buckets: NatsBucket[] = [];
  #connection: NatsConnection | undefined;
  isConnected = false;
  #isClosed = false;

  /** Begins to connect. Throws the system's error when the file of credentials cannot be read. */
  constructor({ url, name, credentials }: NatsOptions, log: Logger) {
    this.#log = log;
    setTimeout(() => {
      if (this.#connection || this.#isClosed) return;
      log.warn(
        { url },
        'NATS is not connected yet; this relay keeps trying. Check the address, and with tls: the certificate',
      );
    }, FIRST_MS).unref();
    const authenticator = credentials === undefined ? undefined : credsAuthenticator(readFileSync(credentials));
    this.#opened = connect({
      ...{ servers: url, name, authenticator, noEcho: true, maxReconnectAttempts: -1, waitOnFirstConnect: true },
      ...{ reconnectTimeWait: RECONNECT_MS, pingInterval: PING_MS, maxPingOut: PINGS_UNANSWERED_MAX },
      tls: url.startsWith('tls:') ? {} : undefined,
    }).then(
      (connection) => this.#open(connection),
      (error) => log.error({ err: error }, 'NATS refuses this relay; it stays alone'),
    );
  }

  #open(connection: NatsConnection): void {
    this.#connection = connection;
    if (this.#isClosed) {
      void connection.close();
      return;
    }
    for (const subscribe of this.#waiting.splice(0)) subscribe(connection);
    this.isConnected = true;
    this.#log.info({ server: connection.getServer() }, 'connected to NATS');
    for (const bucket of this.#buckets) void bucket.open(connection);
    void this.#watch(connection);
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type === 'reconnect') {
        this.isConnected = true;
        this.#log.info({ server: status.server }, 'connected to NATS again');
        for (const bucket of this.#buckets) void bucket.open(connection);
      } else if (status.type === 'disconnect' || status.type === 'staleConnection') {
        if (this.isConnected)
          this.#log.warn('the connection to NATS is lost; until it is back, sprites do not leave for other relays');
        this.isConnected = false;
      } else if (status.type === 'error') this.#log.warn({ err: status.error }, 'NATS reports an error');
    }
    this.isConnected = false;
    const error = await connection.closed();
    if (error && !this.#isClosed)
      this.#log.error({ err: error }, 'NATS has ended the connection; this relay stays alone');
  }

  /** A bucket of JetStream, of at most `bytesMax` bytes. It is made when the cluster has none of this name. */
  bucket(name: string, bytesMax: number): Bucket {
    const bucket = new NatsBucket({ name, bytesMax, log: this.#log });
    this.#buckets.push(bucket);
    if (this.#connection && this.isConnected) void bucket.open(this.#connection);
    return bucket;
  }

  publish(subject: string, bytes: Uint8Array): void {
    if (this.isConnected) this.#connection?.publish(subject, bytes);
  }

  subscribe(subject: string, receive: (bytes: Uint8Array, answer?: (bytes: Uint8Array) => void) => void): void {
    const subscribe = (connection: NatsConnection) => {
      connection.subscribe(subject, {
        callback: (error, message) => {
          if (error) this.#log.warn({ err: error, subject }, 'NATS refuses a subscription');
          else if (!message.reply) receive(message.data);
          else
            receive(message.data, (bytes) => {
              if (!connection.isClosed()) message.respond(bytes);
            });
        },
      });
    };
    if (this.#connection) subscribe(this.#connection);
    else this.#waiting.push(subscribe);
  }

  async request(subject: string, bytes: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    if (this.#connection === undefined || !this.isConnected) throw new NobodyThere();
    try {
      return (await this.#connection.request(subject, bytes, { timeout: timeoutMs })).data;
    } catch (error) {
      throw isNobody(error) ? new NobodyThere() : error;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.isConnected = false;
    const connection = this.#connection;
    if (connection === undefined) return;
    // What was published is sent first, if NATS is there.
    await Promise.race([
      connection.flush().catch(() => {}),
      new Promise((resolve) => setTimeout(resolve, PING_MS).unref()),
    ]);
    await connection.close();
    await this.#opened;
  }
}

function isNobody(error: unknown): boolean {
  return error instanceof errors.NoRespondersError || (error instanceof errors.RequestError && error.isNoResponders());
}

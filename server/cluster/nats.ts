/**
 * NATS as the network of peers. Only this file and nats_bucket.ts import the client of NATS; they are imported only with --nats.
 *
 * It tries to connect until it succeeds, and says in the log why it does not. Until then, the relay serves its own desktops. A server that
 * does not allow messages of MESSAGE_BYTES_MAX is not used: a frame that is too large for it would be tried again for ever.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import {
  type Authenticator,
  connect,
  credsAuthenticator,
  errors,
  type NatsConnection,
  type NodeConnectionOptions,
  nkeyAuthenticator,
  type TlsOptions,
} from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { Bucket } from './bucket.ts';
import { NatsBucket } from './nats_bucket.ts';
import { MESSAGE_BYTES_MAX, NobodyThere, type PeerNetwork } from './peer_network.ts';

/** Time between two tries to connect, in ms. */
const RECONNECT_MS = 500;

/** How often NATS is pinged, in ms. After PINGS_UNANSWERED_MAX pings without an answer the connection counts as broken. */
const PING_MS = 2_000;
const PINGS_UNANSWERED_MAX = 2;

/** How long NATS may be unreachable at the start before a warning is logged, in ms: it may start at the same time. */
const FIRST_MS = 5_000;

export interface NatsOptions {
  /** `nats://host:port`, or `tls://host:port`. */
  url: string;
  /** The name of this connection in the lists of NATS. */
  name: string;
  /** A file with a user's JWT and seed, or with the seed of an nkey alone, as NATS's tools make them. */
  credentials?: string;
}

export class NatsNetwork implements PeerNetwork {
  readonly #log: Logger;
  readonly #waiting: ((connection: NatsConnection) => void)[] = [];
  readonly #opened: Promise<void>;
  readonly #buckets: NatsBucket[] = [];
  #complaint = '';
  #connection: NatsConnection | undefined;
  isConnected = false;
  #isClosed = false;

  /** Begins to connect. Throws Error, a sentence, when the file of credentials cannot be read or has none. */
  constructor({ url, name, credentials }: NatsOptions, log: Logger) {
    this.#log = log;
    const authenticator = credentials === undefined ? undefined : authenticatorOf(credentials);
    this.#opened = this.#connect({
      servers: url,
      name,
      authenticator,
      noEcho: true,
      maxReconnectAttempts: -1,
      ignoreAuthErrorAbort: true,
      reconnectTimeWait: RECONNECT_MS,
      pingInterval: PING_MS,
      maxPingOut: PINGS_UNANSWERED_MAX,
      tls: url.startsWith('tls:') ? tlsTo(new URL(url).hostname) : undefined,
    });
  }

  /** Tries to connect until it succeeds, or until close(). */
  async #connect(options: NodeConnectionOptions): Promise<void> {
    const hasCredentials = options.authenticator !== undefined;
    const startMs = performance.now();
    while (!this.#isClosed) {
      try {
        const connection = await connect(options);
        if (this.#isClosed || this.#allowsMessages(connection)) {
          this.#open(connection, hasCredentials);
          return;
        }
        await connection.close();
      } catch (error) {
        const remedy = remedyFor(error as Error, hasCredentials);
        if (remedy !== undefined) this.#complain(remedy, error);
        else if (performance.now() - startMs > FIRST_MS)
          this.#complain('NATS is not connected yet; this relay keeps trying. Check the address', error);
      }
      await sleep(RECONNECT_MS, undefined, { ref: false });
    }
  }

  /** Logs a warning, unless it is the same as the last one since the connection was open. */
  #complain(sentence: string, error?: unknown): void {
    if (sentence === this.#complaint) return;
    this.#complaint = sentence;
    this.#log.warn({ err: error }, sentence);
  }

  /** Whether the server of a connection allows all messages of relays. If it does not, logs a warning. */
  #allowsMessages(connection: NatsConnection): boolean {
    const bytesMax = connection.info?.max_payload ?? 0;
    if (bytesMax >= MESSAGE_BYTES_MAX) return true;
    const sentence =
      `NATS at ${connection.getServer()} allows messages of ${bytesMax} bytes, and relays need ${MESSAGE_BYTES_MAX}, its default; ` +
      'set max_payload in its configuration. Until then this relay stays alone, and keeps trying';
    this.#complain(sentence);
    return false;
  }

  #open(connection: NatsConnection, hasCredentials: boolean): void {
    this.#connection = connection;
    if (this.#isClosed) {
      void connection.close();
      return;
    }
    for (const subscribe of this.#waiting.splice(0)) subscribe(connection);
    this.isConnected = true;
    this.#complaint = '';
    this.#log.info({ server: connection.getServer() }, 'connected to NATS');
    for (const bucket of this.#buckets) void bucket.open(connection);
    void this.#watch(connection, hasCredentials);
  }

  async #watch(connection: NatsConnection, hasCredentials: boolean): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type === 'reconnect') {
        if (!this.#allowsMessages(connection)) {
          // Another server of the cluster may allow them, or this one after its next start. The client of NATS waits before it connects again.
          void connection.reconnect();
          continue;
        }
        this.isConnected = true;
        this.#complaint = '';
        this.#log.info({ server: status.server }, 'connected to NATS again');
        for (const bucket of this.#buckets) void bucket.open(connection);
      } else if (status.type === 'disconnect' || status.type === 'staleConnection') {
        if (this.isConnected)
          this.#log.warn('the connection to NATS is lost; until it is back, sprites do not leave for other relays');
        this.isConnected = false;
      } else if (status.type === 'error')
        this.#complain(remedyFor(status.error, hasCredentials) ?? 'NATS reports an error', status.error);
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
    if (this.isConnected) this.#send(() => this.#connection?.publish(subject, bytes));
  }

  /** Logs a warning when the client of NATS throws: the connection has ended, or the message is larger than the server allows. */
  #send(send: () => void): void {
    try {
      send();
    } catch (error) {
      this.#complain('a message to another relay was not sent', error);
    }
  }

  subscribe(subject: string, receive: (bytes: Uint8Array, answer?: (bytes: Uint8Array) => void) => void): void {
    const subscribe = (connection: NatsConnection) => {
      connection.subscribe(subject, {
        callback: (error, message) => {
          if (error) this.#log.warn({ err: error, subject }, 'NATS refuses a subscription');
          else if (!message.reply) receive(message.data);
          else
            receive(message.data, (bytes) => {
              if (!connection.isClosed()) this.#send(() => message.respond(bytes));
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

/** Throws Error, a sentence, when the file cannot be read or has no credentials. */
function authenticatorOf(file: string): Authenticator {
  const bytes = readFileSync(file);
  const text = bytes.toString('latin1').trim();
  // A user's seed begins with SU and has 58 letters and digits.
  if (/^SU[A-Z2-7]{56}$/.test(text)) return nkeyAuthenticator(Buffer.from(text));
  const authenticator = credsAuthenticator(bytes);
  try {
    authenticator('');
  } catch {
    throw new Error(`--nats-credentials: ${file} has neither a user's JWT and seed nor the seed of an nkey`);
  }
  return authenticator;
}

/** What the client of NATS says when TLS is wanted and the server has none. */
const NO_TLS = "server does not support 'tls'";

/** The client of NATS compares the certificate of a server that is given by its address with the name `localhost`; this one does not. */
function tlsTo(host: string): TlsOptions {
  const address = host.replace(/^\[|\]$/g, '');
  const checks = { checkServerIdentity: (_: string, given: PeerCertificate) => checkServerIdentity(address, given) };
  return checks as TlsOptions;
}

/** Errors of TLS by their code: the certificate is not trusted, or is not of that host. */
const CERTIFICATE_CODES = /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|ERR_TLS_CERT_)/;

/** What the operator can do about an error; undefined when that is not known. */
function remedyFor(error: Error, hasCredentials: boolean): string | undefined {
  const causes = [error, error.cause].filter((one): one is NodeJS.ErrnoException => one instanceof Error);
  if (causes.some(({ code }) => CERTIFICATE_CODES.test(code ?? '')))
    return 'the certificate of NATS is not trusted; start this relay with NODE_EXTRA_CA_CERTS=FILE, the authority that signed it, and use the name in it for --nats';
  if (error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError) {
    return hasCredentials
      ? 'NATS refuses the credentials of this relay, which keeps trying; check --nats-credentials and the users that NATS knows'
      : 'NATS accepts only known users; start this relay with --nats-credentials FILE';
  }
  if (error instanceof errors.PermissionViolationError)
    return 'NATS does not allow this relay a subject; its user needs sprites.>, _INBOX.>, $JS.API.> and $KV.>, to publish and to subscribe';
  if (error instanceof errors.ConnectionError && error.message === NO_TLS)
    return 'NATS has no TLS; start it with a certificate, or use nats: for --nats';
  return undefined;
}

/**
 * Admission by address: how much one address may have of what everybody shares.
 *
 * Every limit is generous to a family or a class behind one address, and small against what the relay has. The addresses are
 * not stored: a keyed hash maps each to one of ROWS rows of counters, and addresses that share a row share its limits. So the memory is
 * fixed, whatever a stranger with 2^64 addresses does, and nobody can tell, or choose, who shares a row with whom.
 * Cost: one hash a join, upload or socket, some 3 µs; 12 bytes for a row that was used, and 4 a slot.
 */
import { ok } from 'node:assert';
import { createHmac, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Admission } from '../domain/relay.ts';
import { RateLimits } from '../domain/slots/rate_limits.ts';
import { ProblemError } from '../wire/problem.ts';
import { ClientAddresses } from './client_address.ts';

export type AdmissionKind = 'open' | 'strict';

/** Joins of one address: a class that reloads its pages together, then one a second, as fast as a person can. */
export const JOINS_PER_MINUTE_MAX = 60;
export const JOINS_BURST_MAX = 120;

/** Desktops of one address in the default world: several classes, and little of a torus of thousands. */
export const PLACES_MAX = 200;

/** Private worlds that one address has opened and that have desktops: more than one for each family member. */
export const WORLDS_BY_ADDRESS_MAX = 32;

/** WebSockets of one address to one worker: PLACES_MAX desktops in the default world, as many in private ones, and old ones. */
export const SOCKETS_MAX = 512;
ok(SOCKETS_MAX > 2 * PLACES_MAX);

/**
 * Connections of one address to one process: a poll for each of a few hundred desktops, those that reconnect, and what their
 * pages fetch. An address alone can't hold the twenty thousand of a usual file limit.
 */
export const CONNECTIONS_MAX = 1_024;

/** Uploads of one address to one worker: at once four sprites for each of a class of thirty, then one a second. */
export const UPLOADS_PER_MINUTE_MAX = 60;
export const UPLOADS_BURST_MAX = 120;

/** Bytes of those uploads: 64 files of the largest size, thousands of usual ones. */
export const UPLOAD_BYTES_PER_MINUTE_MAX = 64 << 20;

/** Rows of counters: at a million desktops, each from its own address, one row counts one desktop on average. */
export const ROWS = 1 << 20;

/** Of a worker: far fewer addresses upload or have sockets there. */
export const WORKER_ROWS = 1 << 16;

const KEY_BYTES = 16;

/** The end of every refusal's `detail`. */
const REMEDY =
  'The operator of the relay can lift this limit with --admission open; behind a proxy, --trust-proxy tells clients apart.';

/** Maps a network to a row, by a secret that is new in each process. */
class Rows {
  readonly #key = randomBytes(KEY_BYTES);
  readonly #count: number;

  constructor(count: number) {
    this.#count = count;
  }

  of(network: string): number {
    return createHmac('sha256', this.#key).update(network).digest().readUInt32LE(0) % this.#count;
  }
}

/** The master's part: joins, places in the default world, private worlds. */
export class StrictAdmission implements Admission {
  readonly #rows: Rows;
  readonly #joins: RateLimits;
  readonly #places: Uint16Array;
  readonly #worlds: Uint16Array;
  /** The row of each slot with a place in the default world, plus 1; 0 for none. */
  readonly #rowOf: Uint32Array;
  /** Joins refused by any of the limits. */
  refused = 0;

  constructor(slots: number, rows = ROWS) {
    this.#rows = new Rows(rows);
    this.#joins = new RateLimits(rows, JOINS_PER_MINUTE_MAX / 60, JOINS_BURST_MAX);
    this.#places = new Uint16Array(rows);
    this.#worlds = new Uint16Array(rows);
    this.#rowOf = new Uint32Array(slots);
  }

  rowOf(network: string): number {
    return this.#rows.of(network);
  }

  countJoin(row: number, nowMs: number): void {
    if (!this.#joins.allows(row, nowMs)) {
      const rate = `${JOINS_PER_MINUTE_MAX} desktops may join a minute from one address, ${JOINS_BURST_MAX} at once`;
      throw this.#refusal('too-many-joins', `At most ${rate}; wait, and join again.`);
    }
    this.#joins.count(row, nowMs);
  }

  checkPlace(row: number): void {
    if (this.#places[row] < PLACES_MAX) return;
    const most = `At most ${PLACES_MAX} desktops of one address may be in the default world`;
    throw this.#refusal('too-many-places', `${most}; join another world, or wait until one of them has left.`);
  }

  checkWorld(row: number): void {
    if (this.#worlds[row] < WORLDS_BY_ADDRESS_MAX) return;
    const most = `At most ${WORLDS_BY_ADDRESS_MAX} private worlds may be opened from one address`;
    throw this.#refusal('too-many-worlds', `${most}; join one that is open, or wait until one of them is empty.`);
  }

  seated(slot: number, row: number): void {
    this.#rowOf[slot] = row + 1;
    this.#places[row]++;
  }

  unseated(slot: number): void {
    const row = this.#rowOf[slot] - 1;
    if (row < 0) return;
    this.#rowOf[slot] = 0;
    this.#places[row]--;
  }

  worldOpened(row: number): void {
    this.#worlds[row]++;
  }

  worldClosed(row: number): void {
    this.#worlds[row]--;
  }

  #refusal(code: 'too-many-joins' | 'too-many-places' | 'too-many-worlds', detail: string): ProblemError {
    this.refused++;
    return new ProblemError(code, `${detail} ${REMEDY}`);
  }
}

/** A worker's part: uploads and WebSockets. Each worker counts what comes to it. */
export class WorkerAdmission {
  readonly #addresses: ClientAddresses;
  readonly #rows: Rows;
  readonly #uploads: RateLimits;
  readonly #uploadBytes: RateLimits;
  readonly #sockets: Uint16Array;
  readonly #clock: () => number;
  /** Uploads and sockets refused by any of the limits. */
  refused = 0;

  /** `trustProxy`: the proxies whose X-Forwarded-For counts. `clock`: monotonic, in ms. */
  constructor(trustProxy: readonly string[], clock = () => performance.now(), rows = WORKER_ROWS) {
    this.#addresses = new ClientAddresses(trustProxy);
    this.#rows = new Rows(rows);
    this.#uploads = new RateLimits(rows, UPLOADS_PER_MINUTE_MAX / 60, UPLOADS_BURST_MAX);
    this.#uploadBytes = new RateLimits(rows, UPLOAD_BYTES_PER_MINUTE_MAX / 60, UPLOAD_BYTES_PER_MINUTE_MAX);
    this.#sockets = new Uint16Array(rows);
    this.#clock = clock;
  }

  /** The network under which the master counts a request. */
  networkOf(request: IncomingMessage): string {
    return this.#addresses.networkOf(request);
  }

  /** Counts an upload of `bytes`. Throws too-many-uploads, and counts nothing then. */
  countUpload(request: IncomingMessage, bytes: number): void {
    const row = this.#rows.of(this.networkOf(request));
    const nowMs = this.#clock();
    if (!this.#uploads.allows(row, nowMs) || !this.#uploadBytes.allows(row, nowMs, bytes)) {
      this.refused++;
      const most = `${UPLOADS_PER_MINUTE_MAX} sprite files and ${UPLOAD_BYTES_PER_MINUTE_MAX >> 20} MiB of them`;
      const detail = `At most ${most} may be uploaded a minute from one address; wait, and send it again.`;
      throw new ProblemError('too-many-uploads', `${detail} ${REMEDY}`);
    }
    this.#uploads.count(row, nowMs);
    this.#uploadBytes.count(row, nowMs, bytes);
  }

  /** Counts a WebSocket; the caller calls what this returns when it has closed. Throws too-many-connections. */
  countSocket(request: IncomingMessage): () => void {
    const row = this.#rows.of(this.networkOf(request));
    if (this.#sockets[row] >= SOCKETS_MAX) {
      this.refused++;
      const detail = `At most ${SOCKETS_MAX} WebSockets of one address may be open; close one first.`;
      throw new ProblemError('too-many-connections', `${detail} ${REMEDY}`);
    }
    this.#sockets[row]++;
    return () => {
      this.#sockets[row]--;
    };
  }
}

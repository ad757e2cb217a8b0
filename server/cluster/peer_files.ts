/**
 * Sprite files of other relays: fetched from the relay that a sprite came from, when a desktop here asks for its picture.
 *
 * A file is fetched only if a crossing or a stage of a peer has named it, or the operator of a peer has accepted it for the gallery, and only
 * from that peer, so strangers cannot make relays search for files. A peer that does not have the file asks the relay that it got the sprite from.
 * Question: the hash in 64 hex digits, and the offset u32. Answer: 0 u8 when there is no such file; otherwise 1 u8, its size u32, and
 * the bytes from that offset on, at most PART_BYTES. Little-endian.
 * The bytes are not checked here: the worker that asked checks them like an upload.
 * Limits: FETCHES_MAX files at a time, and SPR_BYTES_MAX each. All requests for one file share one fetch.
 */

import { readFile } from 'node:fs/promises';
import { Limiter } from '../store/limiter.ts';
import { storedPath } from '../store/sprite_store.ts';
import { isFileHash } from '../wire/fields.ts';
import { SPR_BYTES_MAX } from '../wire/rules.ts';
import { MESSAGE_BYTES_MAX, type PeerNetwork } from './peer_network.ts';

/** Files that are fetched at a time, and that wait for it. A fetch takes milliseconds. */
export const FETCHES_MAX = 8;
export const FETCHES_WAITING_MAX = 256;

/** Questions of peers that are answered at a time, and that wait for it. */
export const ANSWERS_MAX = 8;
export const ANSWERS_WAITING_MAX = 1024;

/** Bytes of a file in one answer: half of the largest message of NATS. */
export const PART_BYTES = MESSAGE_BYTES_MAX / 2;

/** How long to wait for an answer, in ms. That relay may have to fetch the file itself. */
export const ANSWER_MS = 3_000;

/** The client of what is fetched for other relays: they leave room for the clients here. */
const PEERS = 'peers';

const QUESTION_BYTES = 68;
/** Bytes of an answer before those of the file. */
export const HEAD_BYTES = 5;
const MISSING = Buffer.from([0]);

const subjectOf = (name: string) => `sprites.files.${name}`;

interface PeerFilesOptions {
  name: string;
  network: PeerNetwork;
  /** The data directory. */
  data: string;
  /** The relay that has named a file; undefined when none did. */
  senderOf: (file: string) => string | undefined;
}

/**
 * A file; undefined when there is none; `unanswered` when the relay that may have it did not answer in time; `refused` when too many wait,
 * or too many of this client.
 */
export type Fetched = Buffer | 'unanswered' | 'refused' | undefined;

export class PeerFiles {
  readonly #options: PeerFilesOptions;
  readonly #fetches = new Map<string, Promise<Fetched>>();
  readonly #fetching = new Limiter(FETCHES_MAX, FETCHES_WAITING_MAX);
  readonly #answering = new Limiter(ANSWERS_MAX, ANSWERS_WAITING_MAX);
  /** Since the start. */
  fetched = 0;

  constructor(options: PeerFilesOptions) {
    this.#options = options;
    options.network.subscribe(subjectOf(options.name), (question, answer) => {
      if (answer) void this.#answer(question).then(answer, () => answer(MISSING));
    });
  }

  /** Fetches a file for a client (budget.ts). Calls at the same time share one fetch. */
  fetch(file: string, client: string | undefined): Promise<Fetched> {
    const running = this.#fetches.get(file);
    if (running) return running;
    const sender = isFileHash(file) ? this.#options.senderOf(file) : undefined;
    if (sender === undefined) return Promise.resolve(undefined);
    const fetch = this.#fetching
      .run(client, () => this.#fetchFrom(sender, file).catch(() => 'unanswered' as const))
      .catch(() => 'refused' as const)
      .finally(() => this.#fetches.delete(file));
    this.#fetches.set(file, fetch);
    return fetch;
  }

  async #fetchFrom(sender: string, file: string): Promise<Buffer | undefined> {
    const parts: Buffer[] = [];
    let at = 0;
    for (;;) {
      const question = Buffer.alloc(QUESTION_BYTES);
      question.write(file, 'latin1');
      question.writeUInt32LE(at, 64);
      const answer = Buffer.from(await this.#options.network.request(subjectOf(sender), question, ANSWER_MS));
      if (answer.length <= HEAD_BYTES || answer[0] !== 1) return undefined;
      const size = answer.readUInt32LE(1);
      at += answer.length - HEAD_BYTES;
      if (size > SPR_BYTES_MAX || at > size) return undefined;
      parts.push(answer.subarray(HEAD_BYTES));
      if (at < size) continue;
      this.fetched++;
      return Buffer.concat(parts);
    }
  }

  async #answer(bytes: Uint8Array): Promise<Buffer> {
    const question = Buffer.from(bytes);
    if (question.length < QUESTION_BYTES) return MISSING;
    const file = question.toString('latin1', 0, 64);
    if (!isFileHash(file)) return MISSING;
    const found = await this.#answering.run(undefined, () => this.#read(file));
    // The relay that asks may be the one that this relay asks: then neither has the file.
    const fetched = found ?? (this.#fetches.has(file) ? undefined : await this.fetch(file, PEERS));
    const whole = Buffer.isBuffer(fetched) ? fetched : undefined;
    const at = question.readUInt32LE(64);
    if (whole === undefined || at >= whole.length) return MISSING;
    const part = whole.subarray(at, at + PART_BYTES);
    const head = Buffer.alloc(HEAD_BYTES);
    head[0] = 1;
    head.writeUInt32LE(whole.length, 1);
    return Buffer.concat([head, part]);
  }

  async #read(file: string): Promise<Buffer | undefined> {
    const bytes = await readFile(storedPath(this.#options.data, file)).catch(() => undefined);
    return bytes !== undefined && bytes.length <= SPR_BYTES_MAX ? bytes : undefined;
  }
}

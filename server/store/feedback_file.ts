/**
 * The feedback of visitors: lines of JSON in one file of the data directory, which the operator reads.
 *
 * Only the master writes it. Invariant: the file is never larger than FEEDBACK_FILE_BYTES_MAX. When it is full, further feedback is
 * refused until the operator moves the file away.
 * Cost: one append for each text, off the loop.
 */
import { readFileSync, statSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { ProblemError } from '../wire/problem.ts';
import { writeFileAtomically } from './atomic_file.ts';

/** Two thousand texts of the usual length. */
export const FEEDBACK_FILE_BYTES_MAX = 2 ** 20;

const FILE_NAME = 'feedback.jsonl';

export interface Feedback {
  text: string;
  /** An address for an answer to the visitor; may be empty. */
  contact: string;
}

export class FeedbackFile {
  readonly #path: string;
  readonly #log: Logger;
  readonly #clock: () => number;
  #appending: Promise<void> = Promise.resolve();
  /** Bytes that are being written. */
  #pending = 0;

  /** `clock`: the wall clock in ms. */
  constructor(data: string, log: Logger, clock = Date.now) {
    this.#path = join(data, FILE_NAME);
    this.#log = log;
    this.#clock = clock;
  }

  /** Adds a text, which is written at once, off the loop. Throws store-full. */
  add({ text, contact }: Feedback): void {
    const line = Buffer.from(`${JSON.stringify({ at: new Date(this.#clock()).toISOString(), text, contact })}\n`);
    const size = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
    if (size + this.#pending + line.length > FEEDBACK_FILE_BYTES_MAX) {
      throw new ProblemError(
        'store-full',
        'There is no room for more feedback until the operator has read what is there.',
      );
    }
    this.#pending += line.length;
    this.#appending = this.#appending
      .then(() => appendFile(this.#path, line, { mode: 0o600 }))
      .catch((error) => this.#log.error({ err: error, file: this.#path }, 'feedback could not be written'))
      .finally(() => {
        this.#pending -= line.length;
      });
  }

  /** The lines of the file, the oldest first. Throws the system's error when there is a file that can't be read. */
  read(): string[] {
    try {
      return readFileSync(this.#path, 'utf8').split('\n').filter(Boolean);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return []; // there is no feedback yet
    }
  }

  /** Removes the texts that were left with this contact. Resolves to how many. Rejects with the system's error. */
  async forget(contact: string): Promise<number> {
    let removed = 0;
    const forgetting = this.#appending.then(async () => {
      const lines = this.read();
      const kept = lines.filter((line) => JSON.parse(line).contact.toLowerCase() !== contact.toLowerCase());
      removed = lines.length - kept.length;
      if (removed === 0) return;
      await writeFileAtomically(this.#path, Buffer.from(kept.map((line) => `${line}\n`).join('')), 0o600);
    });
    this.#appending = forgetting.catch(() => {});
    await forgetting;
    return removed;
  }

  /** Resolves when all is written. */
  close(): Promise<void> {
    return this.#appending;
  }
}

/**
 * A JSON file of the data directory, which the master reads once at its start and writes after each change.
 *
 * The file exists whole or not at all (atomic_file.ts). A file that cannot be understood is moved aside and logged, and its owner
 * starts without content: a relay that does not start would be the worse harm.
 * What can't be written (a full disk) holds until the process ends, and is tried again every SAVE_MS.
 * Invariant: saves are written in the order of their calls, one at a time.
 */
import { mkdirSync, readFileSync, renameSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import { writeFileAtomically } from './atomic_file.ts';

/** The longest time from saveSoon() to the write, in ms: strangers cause those changes. And from a write that failed to the next. */
const SAVE_MS = 5_000;

interface SavedFileOptions {
  path: string;
  /** For the log: what the file has, and what is true without it. */
  name: string;
  without: string;
  /** Returns the content to write. */
  content: () => object;
  log: Logger;
  /** The wall clock in ms. */
  clock: () => number;
}

export class SavedFile {
  readonly #options: SavedFileOptions;
  #saving: Promise<string | undefined> = Promise.resolve(undefined);
  #saveTimer: NodeJS.Timeout | undefined;
  /** The last write has failed: it is in the log. */
  #isBehind = false;

  constructor(options: SavedFileOptions) {
    this.#options = options;
    mkdirSync(dirname(options.path), { recursive: true });
  }

  /** Reads the file. `check` throws Error when the content is not well-formed. Returns undefined when there is nothing to use. */
  read<Content>(check: (value: unknown) => Content): Content | undefined {
    const { path, name, without, log, clock } = this.#options;
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        log.error({ err: error, file: path }, `${name} cannot be read: ${without}`);
      }
      return undefined;
    }
    try {
      return check(JSON.parse(text));
    } catch (error) {
      const aside = `${path}.malformed-${clock()}`;
      renameSync(path, aside);
      log.error(
        { file: path, aside, why: (error as Error).message },
        `${name} is malformed: ${without}; a copy is kept aside`,
      );
      return undefined;
    }
  }

  /** Writes the file within SAVE_MS. */
  saveSoon(): void {
    this.#saveTimer ??= setTimeout(() => void this.save(), SAVE_MS).unref();
  }

  /** Writes the file. Resolves to a sentence that says what is not saved and why; undefined when all is. It never rejects. */
  save(): Promise<string | undefined> {
    clearTimeout(this.#saveTimer);
    this.#saveTimer = undefined;
    this.#saving = this.#saving.then(() => this.#write());
    return this.#saving;
  }

  /** Writes what saveSoon() has not written yet. */
  async close(): Promise<void> {
    if (this.#saveTimer) await this.save();
    await this.#saving;
    clearTimeout(this.#saveTimer);
  }

  async #write(): Promise<string | undefined> {
    const { path, name, content, log } = this.#options;
    const text = `${JSON.stringify(content(), null, 1)}\n`;
    try {
      await mkdir(dirname(path), { recursive: true });
      await writeFileAtomically(path, Buffer.from(text), 0o600);
    } catch (error) {
      if (!this.#isBehind) log.error({ err: error, file: path }, `${name} could not be written; trying again`);
      this.#isBehind = true;
      this.saveSoon();
      const { code } = error as NodeJS.ErrnoException;
      return `${name} could not be written (${code}): the change holds until the relay stops. The relay tries again to write it`;
    }
    if (this.#isBehind) log.info({ file: path }, `${name} is written again`);
    this.#isBehind = false;
    return undefined;
  }
}

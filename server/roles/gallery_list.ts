/**
 * The list of the gallery: what people published, and what of it the operator has accepted. One JSON file of the data directory.
 *
 * Only the master reads and writes it. A file that cannot be understood is moved aside and logged, and the gallery is empty.
 * Invariant: nothing is listed that the operator has not accepted; a file is in the list once.
 */
import { mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { checkPublication, type Publication } from '../wire/gallery.ts';
import { ProblemError } from '../wire/problem.ts';
import { partialName, writeFileAtomically } from './atomic_file.ts';

/** Accepted pictures: forty pages. With their texts they are some 400 KB, in each process. */
export const LISTED_MAX = 1000;

/** Published pictures that wait for the operator: as many as one looks at in an hour. */
export const WAITING_MAX = 256;

/** Publications are written at most this often, in ms: strangers cause them. */
const SAVE_MS = 5_000;

const FILE_NAME = 'gallery.json';

export interface GalleryEntry extends Publication {
  /** When it was published, and when it was accepted, by the wall clock in ms. */
  sinceMs: number;
  acceptedMs: number | null;
}

/** What each worker knows of the gallery. */
export interface GalleryCopy {
  /** Accepted, the newest first. */
  listed: readonly Publication[];
  /** Files that wait for the operator. */
  waiting: readonly string[];
}

export class GalleryList {
  readonly #path: string;
  readonly #log: Logger;
  readonly #clock: () => number;
  /** By file, in the order of publication. */
  readonly #entries = new Map<string, GalleryEntry>();
  #saving: Promise<void> = Promise.resolve();
  #saveTimer: NodeJS.Timeout | undefined;

  /** Reads the file of this data directory. `clock`: the wall clock in ms. */
  constructor(data: string, log: Logger, clock = Date.now) {
    this.#path = join(data, FILE_NAME);
    this.#log = log;
    this.#clock = clock;
    mkdirSync(data, { recursive: true });
    let text: string;
    try {
      text = readFileSync(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        log.error({ err: error, file: this.#path }, 'the gallery cannot be read: it is empty');
      }
      return;
    }
    try {
      for (const entry of checkContent(JSON.parse(text))) this.#entries.set(entry.file, entry);
    } catch (error) {
      const aside = `${this.#path}.malformed-${this.#clock()}`;
      renameSync(this.#path, aside);
      log.error(
        { file: this.#path, aside, why: (error as Error).message },
        'the gallery is malformed: it is empty; a copy is kept aside',
      );
    }
  }

  /** All entries: those that wait first, the oldest first. */
  get entries(): GalleryEntry[] {
    return [...this.#entries.values()].sort((a, b) => Number(a.acceptedMs !== null) - Number(b.acceptedMs !== null));
  }

  get copy(): GalleryCopy {
    const entries = [...this.#entries.values()];
    const accepted = entries.filter((entry) => entry.acceptedMs !== null);
    accepted.sort((a, b) => (b.acceptedMs as number) - (a.acceptedMs as number));
    return {
      listed: accepted.map(({ file, title, author, licence }) => ({ file, title, author, licence })),
      waiting: entries.filter((entry) => entry.acceptedMs === null).map(({ file }) => file),
    };
  }

  /** Adds a publication, which waits for the operator. Returns how it stands now; an accepted one stays as it is. Throws list-full. */
  publish(publication: Publication): 'waiting' | 'listed' {
    const known = this.#entries.get(publication.file);
    if (known !== undefined && known.acceptedMs !== null) return 'listed';
    if (known === undefined && this.#count(false) >= WAITING_MAX) {
      throw new ProblemError(
        'list-full',
        `${WAITING_MAX} pictures wait for the operator already; try again in some days.`,
      );
    }
    this.#entries.set(publication.file, { ...publication, sinceMs: this.#clock(), acceptedMs: null });
    this.#saveTimer ??= setTimeout(() => void this.save().catch(() => {}), SAVE_MS).unref();
    return 'waiting';
  }

  /** From now on a published picture is listed. Throws not-found, list-full. */
  accept(file: string): void {
    const entry = this.#entries.get(file);
    if (entry === undefined) throw new ProblemError('not-found', 'Nobody has published this picture.');
    if (entry.acceptedMs !== null) return;
    if (this.#count(true) >= LISTED_MAX) {
      throw new ProblemError('list-full', `The gallery has ${LISTED_MAX} pictures; remove one of them first.`);
    }
    entry.acceptedMs = this.#clock();
  }

  /** Removes a picture, listed or not. Returns whether it was there. */
  remove(file: string): boolean {
    return this.#entries.delete(file);
  }

  /** Writes the file. Throws the system's error, after logging it. */
  save(): Promise<void> {
    clearTimeout(this.#saveTimer);
    this.#saveTimer = undefined;
    const save = this.#saving.catch(() => {}).then(() => this.#write());
    this.#saving = save;
    return save;
  }

  /** Writes what has not been written yet. */
  async close(): Promise<void> {
    if (this.#saveTimer) await this.save().catch(() => {});
    await this.#saving.catch(() => {});
  }

  async #write(): Promise<void> {
    const text = `${JSON.stringify({ version: 1, entries: [...this.#entries.values()] }, null, 1)}\n`;
    try {
      await writeFileAtomically(this.#path, Buffer.from(text), 0o600, `${this.#path}.${partialName()}`);
    } catch (error) {
      this.#log.error({ err: error, file: this.#path }, 'the gallery could not be written');
      throw error;
    }
  }

  #count(isAccepted: boolean): number {
    let count = 0;
    for (const { acceptedMs } of this.#entries.values()) if ((acceptedMs !== null) === isAccepted) count++;
    return count;
  }
}

/** Throws Error that names the first entry that is not well-formed. */
function checkContent(value: unknown): GalleryEntry[] {
  const { version, entries } = value as { version?: unknown; entries?: unknown };
  if (version !== 1) throw new Error('version: must be 1');
  if (!Array.isArray(entries) || entries.length > LISTED_MAX + WAITING_MAX) {
    throw new Error(`entries: must be a list of at most ${LISTED_MAX + WAITING_MAX}`);
  }
  const isTime = (ms: unknown) => typeof ms === 'number' && ms >= 0;
  return entries.map((entry, at) => {
    try {
      const { sinceMs, acceptedMs } = entry as GalleryEntry;
      if (!isTime(sinceMs) || !(acceptedMs === null || isTime(acceptedMs))) throw new Error('a time is malformed');
      return { ...checkPublication(entry), sinceMs, acceptedMs };
    } catch (error) {
      throw new Error(`entries[${at}]: ${(error as Error).message}`);
    }
  });
}

/**
 * The list of the gallery: the published pictures, and which of them the operator has accepted. One JSON file of the data directory.
 *
 * Only the master reads and writes it (saved_file.ts). When it cannot be understood, the gallery is empty.
 * Invariants: a listed picture was accepted by the operator; a picture is in the list at most once. A publication is in the file some
 * seconds later, and a decision of the operator before its command is answered.
 */
import { join } from 'node:path';
import type { Logger } from 'pino';
import { SavedFile } from '../store/saved_file.ts';
import { checkPublication, type GalleryEntry, type Publication } from '../wire/gallery.ts';
import { isRelayName } from '../wire/identity.ts';
import { ProblemError } from '../wire/problem.ts';

/** Accepted pictures: forty pages. With their texts they take some 400 KB in each process. */
export const LISTED_MAX = 1000;

/** Published pictures that wait for the operator: as many as a person looks at in an hour. */
export const WAITING_MAX = 256;

const FILE_NAME = 'gallery.json';

/** What each worker knows of the gallery. */
export interface GalleryCopy {
  /** Accepted, the newest first. */
  listed: readonly Publication[];
  /** Files that wait for the operator. */
  waiting: readonly string[];
}

export class GalleryList {
  readonly #file: SavedFile;
  readonly #clock: () => number;
  /** By file, in the order of publication. */
  readonly #entries = new Map<string, GalleryEntry>();

  /** Reads the file of this data directory. `clock`: the wall clock in ms. */
  constructor(data: string, log: Logger, clock = Date.now) {
    this.#clock = clock;
    this.#file = new SavedFile({
      path: join(data, FILE_NAME),
      name: 'the gallery',
      without: 'it is empty',
      log,
      clock,
      content: () => ({ version: 1, entries: [...this.#entries.values()] }),
    });
    for (const entry of this.#file.read(checkContent) ?? []) this.#entries.set(entry.file, entry);
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
    this.#file.saveSoon();
    return 'waiting';
  }

  /** From now on a published picture is listed. Throws not-found, list-full. */
  accept(file: string): void {
    const entry = this.#entries.get(file);
    if (entry === undefined) throw new ProblemError('not-found', 'Nobody has published this picture.');
    if (entry.acceptedMs !== null) return;
    this.#throwIfFull();
    entry.acceptedMs = this.#clock();
  }

  /** From now on a picture is listed that the operator of another relay has accepted. Throws list-full. */
  adopt(entry: GalleryEntry): void {
    if (this.listing(entry.file) === undefined) this.#throwIfFull();
    this.#entries.set(entry.file, entry);
  }

  /** The entry of a listed picture. */
  listing(file: string): GalleryEntry | undefined {
    const entry = this.#entries.get(file);
    return entry?.acceptedMs == null ? undefined : entry;
  }

  /** The other relay that has accepted a picture. */
  relayOf(file: string): string | undefined {
    return this.#entries.get(file)?.relay;
  }

  /** How many pictures wait for the operator. */
  get waitingCount(): number {
    return this.#count(false);
  }

  /** Removes a picture, listed or not. Returns whether it was there. */
  remove(file: string): boolean {
    return this.#entries.delete(file);
  }

  /** Writes the file. Resolves to a sentence that says what is not saved; undefined when all is. */
  save(): Promise<string | undefined> {
    return this.#file.save();
  }

  /** Writes publications that have not been written yet. */
  close(): Promise<void> {
    return this.#file.close();
  }

  #throwIfFull(): void {
    if (this.#count(true) < LISTED_MAX) return;
    throw new ProblemError('list-full', `The gallery has ${LISTED_MAX} pictures; remove one of them first.`);
  }

  #count(isAccepted: boolean): number {
    let count = 0;
    for (const { acceptedMs } of this.#entries.values()) if ((acceptedMs !== null) === isAccepted) count++;
    return count;
  }
}

/** Throws malformed, or Error, when it is not an entry. */
export function checkEntry(value: unknown): GalleryEntry {
  const { sinceMs, acceptedMs, relay } = value as GalleryEntry;
  const isTime = (ms: unknown) => typeof ms === 'number' && ms >= 0;
  if (!isTime(sinceMs) || !(acceptedMs === null || isTime(acceptedMs))) throw new Error('a time is malformed');
  if (relay !== undefined && !(typeof relay === 'string' && isRelayName(relay))) throw new Error('relay is malformed');
  return { ...checkPublication(value), sinceMs, acceptedMs, ...(relay !== undefined && { relay }) };
}

/** Throws Error that names the first entry that is not well-formed. */
function checkContent(value: unknown): GalleryEntry[] {
  const { version, entries } = value as { version?: unknown; entries?: unknown };
  if (version !== 1) throw new Error('version: must be 1');
  if (!Array.isArray(entries) || entries.length > LISTED_MAX + WAITING_MAX) {
    throw new Error(`entries: must be a list of at most ${LISTED_MAX + WAITING_MAX}`);
  }
  return entries.map((entry, at) => {
    try {
      return checkEntry(entry);
    } catch (error) {
      throw new Error(`entries[${at}]: ${(error as Error).message}`);
    }
  });
}

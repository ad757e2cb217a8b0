/**
 * The stored sprite files as one process knows them: how many bytes, and when each was last used, to the hour.
 *
 * The hour is enough to tell old files from new ones, and a file that is fetched all day is moved once an hour, not each time.
 * Invariant: each file is in the set of exactly one hour. Memory: some 200 bytes a file.
 * Cost: O(1); oldest() is O(hours in which files were last used).
 */
export const HOUR_MS = 3_600_000;

interface StoredFile {
  bytes: number;
  hour: number;
}

export class StoredFiles {
  readonly #files = new Map<string, StoredFile>();
  readonly #hours = new Map<number, Set<string>>();
  /** Bytes of all files. */
  bytes = 0;

  get count(): number {
    return this.#files.size;
  }

  names(): Iterable<string> {
    return this.#files.keys();
  }

  has(file: string): boolean {
    return this.#files.has(file);
  }

  /** Adds a file, or replaces what is known of it. */
  add(file: string, bytes: number, usedMs: number): void {
    this.delete(file);
    this.#files.set(file, { bytes, hour: hourOf(usedMs) });
    this.bytes += bytes;
    this.#setOf(hourOf(usedMs)).add(file);
  }

  delete(file: string): void {
    const stored = this.#files.get(file);
    if (!stored) return;
    this.#files.delete(file);
    this.bytes -= stored.bytes;
    this.#leave(stored.hour, file);
  }

  /** Notes a use of a file. Returns true when it is the first in this hour, so that the caller can note it on disk. */
  use(file: string, nowMs: number): boolean {
    const stored = this.#files.get(file);
    const hour = hourOf(nowMs);
    if (!stored || stored.hour >= hour) return false;
    this.#leave(stored.hour, file);
    stored.hour = hour;
    this.#setOf(hour).add(file);
    return true;
  }

  /** Returns a file of the oldest hour; undefined when all files were used in the hour of `beforeMs` or later. */
  oldest(beforeMs: number): string | undefined {
    let oldest = hourOf(beforeMs);
    for (const hour of this.#hours.keys()) oldest = Math.min(oldest, hour);
    if (oldest === hourOf(beforeMs)) return undefined;
    return this.#hours.get(oldest)?.values().next().value;
  }

  #setOf(hour: number): Set<string> {
    const known = this.#hours.get(hour);
    if (known) return known;
    const made = new Set<string>();
    this.#hours.set(hour, made);
    return made;
  }

  #leave(hour: number, file: string): void {
    const set = this.#hours.get(hour);
    set?.delete(file);
    if (set?.size === 0) this.#hours.delete(hour);
  }
}

function hourOf(ms: number): number {
  return Math.floor(ms / HOUR_MS);
}

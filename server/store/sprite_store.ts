/**
 * The sprite store: .spr files by the SHA-256 of their content, in a directory that all workers share.
 *
 * Layout `sprites/ab/abcdef….spr`; a file is written in `sprites/partial/` and renamed when it is whole. Its name is its hash,
 * so it never changes. The time of its last use, to the hour, is its modification time.
 *
 * Nobody owns the quota. Each worker scans the directory at its start, counts what it stores itself, and looks for the files of
 * others at most once in RESCAN_MS; until then the workers together may exceed the quota by what the others have stored. When
 * there is no room, the least recently used files go, but none that was used lately or is in the gallery. Shipped files are not in the directory.
 *
 * Nothing here blocks the loop: pictures are inflated by zlib's threads, and the files' hashes come from the caller.
 * Cost: a look-up is one stat; a read of a file that was read lately costs no more; a new file costs two fsyncs.
 */

import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { mkdir, opendir, readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isFileHash } from '../wire/fields.ts';
import { SprRefused } from '../wire/files/png.ts';
import { checkSpr, readSpr } from '../wire/files/spr.ts';
import { ProblemError } from '../wire/problem.ts';
import { SPR_BYTES_MAX } from '../wire/rules.ts';
import { partialName, syncFolder, writeFileAtomically } from './atomic_file.ts';
import { Budget } from './budget.ts';
import { Limiter } from './limiter.ts';
import { LruCache } from './lru_cache.ts';
import { HOUR_MS, StoredFiles } from './stored_files.ts';

/** Bytes of all stored files: eight thousand of the largest, a hundred thousand usual ones. */
export const STORE_BYTES_MAX = 8 * 1024 ** 3;

/** Stored files: each may waste a block of the disk, so 256 MiB beside the bytes; and 200 bytes of memory in each worker. */
const STORE_FILES_MAX = 65_536;

/** A file that was stored or fetched within this time is not evicted, in ms: it may be on somebody's desktop. */
export const USED_LATELY_MS = HOUR_MS;

/** How long a worker relies on its own count, in ms. */
export const RESCAN_MS = 60_000;

/** Files that one upload looks at to make room. One that other workers use costs a stat and is not evicted. */
const EVICTIONS_PER_PUT_MAX = 64;

/** A partial file of this age in ms has no writer any more: 1 MiB takes seconds on the slowest disk. */
export const PARTIAL_MS_MAX = 60_000;

/** Pictures that are checked at a time: half of libuv's four threads, so that files are read meanwhile. */
const CHECKS_MAX = 2;

/** Pictures that wait for their check: the worst takes 0.2 s, so 32 wait for 3 s. One more is refused with relay-busy. */
export const CHECKS_WAITING_MAX = 32;

/** Files that are read at a time, and that wait for it. */
const READS_MAX = 8;
const READS_WAITING_MAX = 1024;

/** Files that the scan asks about at a time. */
const STATS_MAX = 16;

/** Names that the scan looks at in one go: less than a millisecond. */
const NAMES_PER_TURN = 1024;

/** Refused files whose hashes are remembered, so that a repeat is refused before it is read: 300 bytes each. */
export const REFUSALS_REMEMBERED = 4096;

/** Bytes of the files that were read lately, in each worker: some thousand characters. */
const CACHE_BYTES_MAX = 32 * 2 ** 20;

/** Bytes of different files in answers that are being sent, in each worker. One more is refused with relay-busy. */
const SENDING_BYTES_MAX = 64 * 2 ** 20;

/** Bytes of the uploads that are being received or checked, in each worker: 32 of the largest. One address has ten at most. */
export const UPLOADS_BYTES_MAX = 32 * SPR_BYTES_MAX;

/** The store's folder in the data directory. */
const STORE_FOLDER = 'sprites';

/** How often a full store is logged, in ms. */
const FULL_LOGGED_MS = 60_000;

/** A folder that was changed less than this before it was read may have changed again in the same tick of its clock. */
const TICK_MS_MAX = 2_000;

const FOLDER = /^[0-9a-f]{2}$/;

/** A file that ships with the relay. */
export interface Character {
  file: string;
  name: string;
  author: string;
  licence: string;
  url: string;
}

/** A file in memory, until release() is called. */
export interface HeldFile {
  readonly bytes: Buffer;
  /** Call it once, when the answer is sent or its connection is closed. */
  release(): void;
}

export interface StoreOptions {
  bytesMax?: number;
  filesMax?: number;
  /** Bytes of different files that may be held at a time. */
  sendingMax?: number;
  log?: Pick<Logger, 'warn'>;
  /** The wall clock in ms: files keep the time of their last use over restarts, and grow older while the machine sleeps. */
  wallMs?: () => number;
  /** A clock in ms that only grows. It counts on when the wall clock is set back, which would make every file look used lately. */
  monotonicMs?: () => number;
  /** Writes a whole file; tests pass a disk that is full. */
  write?: typeof writeFileAtomically;
}

/** Several answers may send the same file: it is in memory once. */
interface Held {
  /** Its answers, by the client that they are for. */
  readonly counts: Map<string | undefined, number>;
  readonly size: number;
  readonly bytes: Promise<Buffer>;
}

export class SpriteStore {
  readonly #directory: string;
  readonly #bytesMax: number;
  readonly #filesMax: number;
  readonly #log: Pick<Logger, 'warn'> | undefined;
  readonly #nowMs: () => number;
  readonly #write: typeof writeFileAtomically;
  readonly #shipped = new Map<string, { path: string; bytes: Buffer }>();
  readonly #files = new StoredFiles();
  /** Files of the gallery: they are not evicted. */
  #pinned: ReadonlySet<string> = new Set();
  /** Files that are being written: there is room for them. */
  #writing = { bytes: 0, files: 0 };
  /** Bytes of unfinished uploads. The API reserves them before it reads a body. */
  readonly uploads = new Budget(UPLOADS_BYTES_MAX);
  readonly #puts = new Map<string, Promise<void>>();
  readonly #refusals = new LruCache<string>(REFUSALS_REMEMBERED);
  readonly #checks = new Limiter(CHECKS_MAX, CHECKS_WAITING_MAX);
  readonly #reads = new Limiter(READS_MAX, READS_WAITING_MAX);
  readonly #cache = new LruCache<Buffer>(CACHE_BYTES_MAX);
  readonly #held = new Map<string, Held>();
  readonly #sending: Budget;
  /** Room is made for one file at a time. */
  #making: Promise<void> = Promise.resolve();
  #firstScan: Promise<void> | undefined;
  #scanning = false;
  #scannedAtMs = Number.NEGATIVE_INFINITY;
  /** When each folder had changed last, and when it was read. */
  readonly #folders = new Map<string, { changedMs: number; readMs: number }>();
  #strayLogged = false;
  #fullLoggedAtMs = Number.NEGATIVE_INFINITY;
  /** Files evicted since start. */
  evicted = 0;

  constructor(directory: string, options: StoreOptions = {}) {
    this.#directory = join(directory, STORE_FOLDER);
    this.#bytesMax = options.bytesMax ?? STORE_BYTES_MAX;
    this.#filesMax = options.filesMax ?? STORE_FILES_MAX;
    this.#sending = new Budget(options.sendingMax ?? SENDING_BYTES_MAX);
    this.#log = options.log;
    const { wallMs = Date.now, monotonicMs = () => performance.now() } = options;
    let startMs = wallMs() - monotonicMs();
    this.#nowMs = () => {
      const runMs = monotonicMs();
      startMs = Math.max(startMs, wallMs() - runMs);
      return startMs + runMs;
    };
    this.#write = options.write ?? writeFileAtomically;
  }

  /** Bytes of the stored files, as this process knows them. */
  get bytes(): number {
    return this.#files.bytes;
  }

  /** Stored files, as this process knows them. */
  get count(): number {
    return this.#files.count;
  }

  /** Bytes of different files in answers that are being sent. */
  get sendingBytes(): number {
    return this.#sending.used;
  }

  /** Adds the shipped characters of a folder, sorted by name. Throws when one is not a valid sprite. */
  async ship(folder: string): Promise<Character[]> {
    const characters: Character[] = [];
    for await (const { name, path, bytes } of readCharacters(folder)) {
      const { name: title, author, licence } = readSpr(bytes).description;
      const file = hashOf(bytes);
      this.#shipped.set(file, { path, bytes });
      characters.push({ file, name: title, author, licence, url: `/sprites/${name}` });
    }
    return characters;
  }

  /** Scans the directory, once: counts the files, and removes partial files that a crash has left. put() waits for it. */
  open(): Promise<void> {
    this.#firstScan ??= this.#scan();
    return this.#firstScan;
  }

  /** The path of a stored file; undefined when there is none, or when `file` is not a hash. It counts as a use of the file. */
  async find(file: string): Promise<string | undefined> {
    if (!isFileHash(file)) return undefined;
    const shipped = this.#shipped.get(file);
    if (shipped) return shipped.path;
    return (await this.#use(file)) === undefined ? undefined : this.#path(file);
  }

  /**
   * Reads a file, or finds it in memory, for a client (budget.ts).
   *
   * Shape   undefined when there is none, or when `file` is not a hash.
   * Owner   the caller releases it. The bytes are shared: never write into them.
   * Throws  relay-busy   too many different files are being sent or read, or too many for this client.
   */
  async hold(file: string, client: string | undefined): Promise<HeldFile | undefined> {
    if (!isFileHash(file)) return undefined;
    const shipped = this.#shipped.get(file);
    if (shipped) return { bytes: shipped.bytes, release: () => {} };
    const size = await this.#use(file);
    if (size === undefined) return undefined;
    const held = this.#reserve(file, size, client);
    const release = () => this.#release(file, held, client);
    try {
      return { bytes: await held.bytes, release };
    } catch (error) {
      release();
      // It was removed after #use() had found it.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw busyWithoutFiles(error);
    }
  }

  /** Throws sprite-invalid when `file` is not a hash. */
  checkName(file: string): void {
    if (!isFileHash(file)) {
      throw new ProblemError(
        'sprite-invalid',
        'The path must end in the SHA-256 of the file in 64 lowercase hex digits.',
      );
    }
  }

  /** From now on these files, and no others, are not evicted. */
  pin(files: Iterable<string>): void {
    this.#pinned = new Set(files);
  }

  /** Whether a file ships with the relay. */
  isShipped(file: string): boolean {
    return this.#shipped.has(file);
  }

  /** Whether there is such a file. `file` must be a hash. Cost: a look-up; one stat for a file that this process does not know. */
  has(file: string): boolean {
    if (this.#shipped.has(file) || this.#files.has(file)) return true;
    const found = statSync(this.#path(file), { throwIfNoEntry: false });
    if (!found?.isFile()) return false;
    this.#files.add(file, found.size, this.#usedMs(file, found.mtimeMs));
    return true;
  }

  /** Throws sprite-invalid, with the reason, for a file that was refused lately: a repeat need not be received. */
  throwIfRefused(file: string): void {
    const why = this.#refusals.get(file);
    if (why !== undefined) throw new ProblemError('sprite-invalid', why);
  }

  /**
   * Stores a file under its hash, for a client (budget.ts).
   *
   * Shape   `digest` is the SHA-256 of `bytes`, if the caller has it already.
   * Throws  sprite-invalid (another hash, or not a .spr: says which part and why), store-full, relay-busy.
   */
  async put(file: string, bytes: Buffer, client: string | undefined, digest = hashOf(bytes)): Promise<void> {
    this.checkName(file);
    this.throwIfRefused(file);
    if (digest !== file) {
      throw new ProblemError('sprite-invalid', 'The SHA-256 of the body is not the one in the path.');
    }
    if (this.#shipped.has(file)) return;
    // Uploads of the same file at the same time share one check and one write.
    const running = this.#puts.get(file);
    if (running) return running;
    const put = this.#checkAndStore(file, bytes, client);
    this.#puts.set(file, put);
    try {
      await put;
    } finally {
      this.#puts.delete(file);
    }
  }

  /**
   * Deletes a stored file, also one that is being stored now. Call it in each worker: each has files in memory. Shipped files
   * stay. Returns false when there was none.
   */
  async remove(file: string): Promise<boolean> {
    if (!isFileHash(file)) return false;
    await this.#puts.get(file)?.catch(() => {});
    this.#forget(file);
    const path = this.#path(file);
    const wasThere = (await stat(path).catch(() => undefined)) !== undefined;
    await rm(path, { force: true });
    return wasThere;
  }

  async #checkAndStore(file: string, bytes: Buffer, client: string | undefined): Promise<void> {
    try {
      await this.#checks.run(client, () => checkSpr(bytes));
    } catch (error) {
      if (!(error instanceof SprRefused)) throw error;
      this.#refusals.set(file, error.message, 1);
      throw new ProblemError('sprite-invalid', error.message);
    }
    await this.open();
    this.#rescanIfDue();
    await this.#makeRoom(bytes.length);
    try {
      await this.#writeFile(file, bytes);
      this.#files.add(file, bytes.length, this.#nowMs());
    } catch (error) {
      throw this.#diskProblem(error);
    } finally {
      this.#writing.bytes -= bytes.length;
      this.#writing.files--;
    }
  }

  async #writeFile(file: string, bytes: Buffer): Promise<void> {
    const path = this.#path(file);
    const partials = join(this.#directory, 'partial');
    for (const folder of [partials, dirname(path)]) {
      const made = await mkdir(folder, { recursive: true });
      if (made !== undefined) await syncFolder(dirname(folder));
    }
    await this.#write(path, bytes, 0o644, join(partials, `${file}.${partialName()}`));
  }

  /** Evicts files until there is room for one more, and keeps the room. Throws store-full. */
  #makeRoom(bytes: number): Promise<void> {
    const made = this.#making.then(async () => {
      for (let tries = 0; !this.#fits(bytes); ) {
        const victim = this.#files.oldest(this.#nowMs() - USED_LATELY_MS);
        if (victim === undefined || tries === EVICTIONS_PER_PUT_MAX)
          throw this.#full('all stored files were used lately');
        if (this.#pinned.has(victim)) {
          this.#files.use(victim, this.#nowMs());
          continue;
        }
        tries++;
        await this.#evict(victim);
      }
      this.#writing.bytes += bytes;
      this.#writing.files++;
    });
    this.#making = made.catch(() => {});
    return made;
  }

  #fits(bytes: number): boolean {
    return (
      this.#files.bytes + this.#writing.bytes + bytes <= this.#bytesMax &&
      this.#files.count + this.#writing.files < this.#filesMax
    );
  }

  /** Deletes a file, unless another worker has used it meanwhile. */
  async #evict(file: string): Promise<void> {
    const found = await stat(this.#path(file)).catch(() => undefined);
    if (found && this.#files.use(file, this.#usedMs(file, found.mtimeMs))) return;
    this.#forget(file);
    await rm(this.#path(file), { force: true }).catch((error) => {
      this.#log?.warn({ err: error }, 'a sprite file could not be evicted');
    });
    if (found) this.evicted++;
  }

  /** Drops what memory has of a file. Answers that are being sent keep its bytes. */
  #forget(file: string): void {
    this.#files.delete(file);
    this.#cache.delete(file);
    this.#held.delete(file);
  }

  /** Notes a use of a file; returns its size in bytes, undefined when there is none. */
  async #use(file: string): Promise<number | undefined> {
    const path = this.#path(file);
    const found = await stat(path).catch(() => undefined);
    if (!found?.isFile()) {
      this.#forget(file);
      return undefined;
    }
    const nowMs = this.#nowMs();
    // Another worker has stored it.
    if (!this.#files.has(file)) this.#files.add(file, found.size, this.#usedMs(file, found.mtimeMs));
    if (this.#files.use(file, nowMs)) void utimes(path, nowMs / 1000, nowMs / 1000).catch(() => {});
    // A file of that size is not a sprite: somebody else put it there.
    return found.size > SPR_BYTES_MAX ? undefined : found.size;
  }

  /** Counts one more answer of a client with this file. Throws relay-busy, and counts nothing then. */
  #reserve(file: string, size: number, client: string | undefined): Held {
    const known = this.#held.get(file);
    const count = known?.counts.get(client) ?? 0;
    if (count === 0 && !this.#sending.reserve(client, known?.size ?? size, known ? 0 : size)) {
      throw new ProblemError('relay-busy', 'The relay is sending too many sprite files; try again in a second.');
    }
    const held = known ?? this.#startHolding(file, size, client);
    held.counts.set(client, count + 1);
    return held;
  }

  #release(file: string, held: Held, client: string | undefined): void {
    const count = (held.counts.get(client) ?? 0) - 1;
    if (count > 0) {
      held.counts.set(client, count);
      return;
    }
    held.counts.delete(client);
    const isLast = held.counts.size === 0;
    this.#sending.release(client, held.size, isLast ? held.size : 0);
    if (isLast && this.#held.get(file) === held) this.#held.delete(file);
  }

  /** When a file was last used, by the time on disk. One in the future is of a clock that was set back: it is now, and is corrected. */
  #usedMs(file: string, diskMs: number): number {
    const nowMs = this.#nowMs();
    if (diskMs <= nowMs) return diskMs;
    void utimes(this.#path(file), nowMs / 1000, nowMs / 1000).catch(() => {});
    return nowMs;
  }

  #startHolding(file: string, size: number, client: string | undefined): Held {
    const cached = this.#cache.get(file);
    const bytes = cached ? Promise.resolve(cached) : this.#reads.run(client, () => readFile(this.#path(file)));
    const held: Held = { counts: new Map(), size, bytes };
    this.#held.set(file, held);
    bytes.then(
      (read) => {
        if (!cached && this.#held.get(file) === held) this.#cache.set(file, read, read.length);
      },
      () => {},
    );
    return held;
  }

  #rescanIfDue(): void {
    if (this.#scanning || this.#nowMs() - this.#scannedAtMs < RESCAN_MS) return;
    void this.#scan();
  }

  /** Counts the files of the folders that have changed since they were read. Never throws: what it can't read is not counted. */
  async #scan(): Promise<void> {
    this.#scanning = true;
    try {
      const strays: string[] = [];
      const changed = new Set<string>();
      const seen = new Set<string>();
      for await (const entry of await opendir(this.#directory)) {
        if (entry.name === 'partial' && entry.isDirectory()) await this.#sweep();
        else if (!FOLDER.test(entry.name) || !entry.isDirectory()) strays.push(entry.name);
        else if (await this.#scanFolder(entry.name, seen, strays)) changed.add(entry.name);
      }
      await this.#forgetMissing(changed, seen);
      if (strays.length > 0 && !this.#strayLogged) {
        this.#strayLogged = true;
        const count = strays.length;
        this.#log?.warn(
          { folder: this.#directory, count, example: strays[0] },
          'files that are not sprites are ignored',
        );
      }
    } catch (error) {
      // Without the folder nothing is stored yet.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        this.#log?.warn({ err: error }, 'the sprite files could not be counted');
      }
    }
    this.#scannedAtMs = this.#nowMs();
    this.#scanning = false;
  }

  /** Adds the files of a folder that are not known yet. Returns false when the folder has not changed since the last time. */
  async #scanFolder(folder: string, seen: Set<string>, strays: string[]): Promise<boolean> {
    const path = join(this.#directory, folder);
    const readMs = Date.now();
    const { mtimeMs: changedMs } = await stat(path);
    const before = this.#folders.get(folder);
    if (before?.changedMs === changedMs && before.readMs - changedMs > TICK_MS_MAX) return false;
    const unknown: string[] = [];
    for await (const { name } of await opendir(path, { bufferSize: 256 })) {
      const file = name.slice(0, -'.spr'.length);
      if (name.endsWith('.spr') && isFileHash(file) && file.startsWith(folder)) {
        seen.add(file);
        if (!this.#files.has(file)) unknown.push(file);
      } else strays.push(join(folder, name));
    }
    for (let at = 0; at < unknown.length; at += STATS_MAX) {
      await Promise.all(unknown.slice(at, at + STATS_MAX).map((file) => this.#count(file)));
    }
    this.#folders.set(folder, { changedMs, readMs });
    return true;
  }

  async #count(file: string): Promise<void> {
    const found = await stat(this.#path(file)).catch(() => undefined);
    // One that was stored meanwhile has its time already.
    if (found?.isFile() && !this.#files.has(file)) this.#files.add(file, found.size, this.#usedMs(file, found.mtimeMs));
  }

  /** Drops files of these folders that others have deleted. */
  async #forgetMissing(folders: Set<string>, seen: Set<string>): Promise<void> {
    let looked = 0;
    for (const file of this.#files.names()) {
      if (++looked % NAMES_PER_TURN === 0) await nextTurn();
      if (!folders.has(file.slice(0, 2)) || seen.has(file)) continue;
      // It may have been stored since its folder was read.
      if (!(await stat(this.#path(file)).catch(() => undefined))) this.#forget(file);
    }
  }

  async #sweep(): Promise<void> {
    const folder = join(this.#directory, 'partial');
    for await (const { name } of await opendir(folder)) await removeIfOld(join(folder, name));
  }

  /** What the client is answered when a file cannot be written. */
  #diskProblem(error: unknown): unknown {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOSPC' || code === 'EDQUOT') return this.#full(`the disk is full (${code})`);
    return busyWithoutFiles(error);
  }

  /** Returns store-full, and logs why, but not for each client. */
  #full(why: string): ProblemError {
    const nowMs = this.#nowMs();
    if (nowMs - this.#fullLoggedAtMs >= FULL_LOGGED_MS) {
      this.#fullLoggedAtMs = nowMs;
      const { bytes, count: files } = this.#files;
      this.#log?.warn({ why, files, bytes, folder: this.#directory }, 'no room for more sprite files');
    }
    return new ProblemError(
      'store-full',
      'The relay has no room for another sprite file; throw one that it already has.',
    );
  }

  #path(file: string): string {
    return pathIn(this.#directory, file);
  }
}

const pathIn = (directory: string, file: string): string => join(directory, file.slice(0, 2), `${file}.spr`);

/** Where the store of this data directory keeps a file, for a reader in another process. */
export const storedPath = (data: string, file: string): string => pathIn(join(data, STORE_FOLDER), file);

/** The hashes of the shipped characters of a folder, for a process that does not serve them: it does not check them. */
export async function hashCharacters(folder: string): Promise<string[]> {
  const hashes: string[] = [];
  for await (const { bytes } of readCharacters(folder)) hashes.push(hashOf(bytes));
  return hashes;
}

/** Reads the shipped characters of a folder, sorted by name. */
async function* readCharacters(folder: string): AsyncGenerator<{ name: string; path: string; bytes: Buffer }> {
  for (const name of (await readdir(folder)).filter((entry) => entry.endsWith('.spr')).sort()) {
    const path = join(folder, name);
    yield { name, path, bytes: await readFile(path) };
  }
}

async function removeIfOld(partial: string): Promise<void> {
  const found = await stat(partial).catch(() => undefined);
  if (found?.isFile() && Date.now() - found.mtimeMs > PARTIAL_MS_MAX) await rm(partial, { force: true });
}

/** Returns relay-busy for an error that means: no file descriptor is left. */
function busyWithoutFiles(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'EMFILE' && code !== 'ENFILE') return error;
  return new ProblemError('relay-busy', 'The relay has too many files open; try again in a second.');
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

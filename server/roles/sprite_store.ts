/**
 * The sprite store: .spr files by the SHA-256 of their content, in a directory that all workers share.
 *
 * Layout `sprites/ab/abcdef….spr`. A file is written under another name and renamed when it is complete, so it exists
 * complete or not at all. Its name is its hash, so it never changes. Cost: a look-up is one stat; a new file one fsync.
 */
import { createHash, randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ProblemError } from '../wire/problem.ts';
import { readSpr, SprRefused } from '../wire/spr.ts';

/** Bytes of all stored files: eight thousand of the largest, a hundred thousand usual ones. */
export const STORE_BYTES_MAX = 8 * 1024 ** 3;

/** How long a count of the stored bytes is used, in ms. Meanwhile other workers may add files, at the speed of uploads. */
const COUNT_MS = 60_000;

/** Names that has() remembers: 13 MB. */
const KNOWN_MAX = 100_000;

const HASH = /^[0-9a-f]{64}$/;

/** A file that ships with the relay. */
export interface Character {
  file: string;
  name: string;
  url: string;
}

export class SpriteStore {
  readonly #directory: string;
  readonly #bytesMax: number;
  readonly #shipped = new Map<string, string>();
  /** Files that has() has found. */
  readonly #known = new Set<string>();
  #bytes = 0;
  #countedAtMs = Number.NEGATIVE_INFINITY;
  /** One file is checked at a time: a check may need 64 MiB for a moment. */
  #checking: Promise<unknown> = Promise.resolve();

  constructor(directory: string, bytesMax = STORE_BYTES_MAX) {
    this.#directory = join(directory, 'sprites');
    this.#bytesMax = bytesMax;
  }

  /** Adds the shipped characters of a folder, sorted by name. Throws when one is not a valid sprite. */
  async ship(folder: string): Promise<Character[]> {
    const characters: Character[] = [];
    for (const name of (await readdir(folder)).filter((entry) => entry.endsWith('.spr')).sort()) {
      const path = join(folder, name);
      const bytes = await readFile(path);
      const file = hashOf(bytes);
      this.#shipped.set(file, path);
      characters.push({ file, name: readSpr(bytes).description.name, url: `/sprites/${name}` });
    }
    return characters;
  }

  /** The path of a stored file; undefined when there is none, or when `file` is not a hash. */
  async find(file: string): Promise<string | undefined> {
    if (!HASH.test(file)) return undefined;
    const shipped = this.#shipped.get(file);
    if (shipped) return shipped;
    const path = this.#path(file);
    return (await stat(path).catch(() => undefined))?.isFile() ? path : undefined;
  }

  /** Whether a file came with the relay. */
  isShipped(file: string): boolean {
    return this.#shipped.has(file);
  }

  /** Whether there is such a file now. `file` must be a hash. Cost: one stat for a file that it was not asked for before. */
  has(file: string): boolean {
    if (this.#shipped.has(file) || this.#known.has(file)) return true;
    if (!statSync(this.#path(file), { throwIfNoEntry: false })?.isFile()) return false;
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.add(file);
    return true;
  }

  /** Deletes a file, if there is one. A file that came with the relay stays on the disk. `file` must be a hash. */
  async remove(file: string): Promise<void> {
    this.#known.delete(file);
    const path = this.#path(file);
    const size = (await stat(path).catch(() => undefined))?.size ?? 0;
    await unlink(path).then(
      () => {
        this.#bytes -= size;
      },
      (error) => {
        // Another worker of this relay may have deleted it.
        if (error.code !== 'ENOENT') throw error;
      },
    );
  }

  /** Throws sprite-invalid when `file` is not a hash. */
  checkName(file: string): void {
    if (!HASH.test(file)) {
      throw new ProblemError(
        'sprite-invalid',
        'The path must end in the SHA-256 of the file in 64 lowercase hex digits.',
      );
    }
  }

  /**
   * Stores a file under its hash.
   *
   * Throws  sprite-invalid (another hash, or not a .spr: says which part and why), store-full.
   */
  async put(file: string, bytes: Buffer): Promise<void> {
    this.checkName(file);
    if (hashOf(bytes) !== file) {
      throw new ProblemError('sprite-invalid', 'The SHA-256 of the body is not the one in the path.');
    }
    await this.#check(bytes);
    if ((await this.#count()) + bytes.length > this.#bytesMax) {
      throw new ProblemError(
        'store-full',
        'The relay has no room for another sprite file; throw one that it already has.',
      );
    }
    const path = this.#path(file);
    const partial = `${path}.${process.pid}.${randomBytes(6).toString('hex')}`;
    await mkdir(join(path, '..'), { recursive: true });
    try {
      const handle = await open(partial, 'wx', 0o644);
      try {
        await handle.writeFile(bytes);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(partial, path);
    } catch (error) {
      await unlink(partial).catch(() => {});
      throw error;
    }
    this.#bytes += bytes.length;
  }

  async #check(bytes: Buffer): Promise<void> {
    const before = this.#checking;
    const check = before.then(() => readSpr(bytes));
    this.#checking = check.catch(() => {});
    try {
      await check;
    } catch (error) {
      if (error instanceof SprRefused) throw new ProblemError('sprite-invalid', error.message);
      throw error;
    }
  }

  /** Bytes of all stored files; recounted when the last count is older than COUNT_MS. */
  async #count(): Promise<number> {
    if (performance.now() - this.#countedAtMs < COUNT_MS) return this.#bytes;
    let bytes = 0;
    for (const folder of await readdir(this.#directory).catch(() => [])) {
      for (const name of await readdir(join(this.#directory, folder))) {
        bytes += (await stat(join(this.#directory, folder, name)).catch(() => undefined))?.size ?? 0;
      }
    }
    this.#bytes = bytes;
    this.#countedAtMs = performance.now();
    return bytes;
  }

  #path(file: string): string {
    return join(this.#directory, file.slice(0, 2), `${file}.spr`);
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

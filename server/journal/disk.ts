/**
 * The disk, as the journal sees it: files of one folder that are appended to. `FolderDisk` is a real folder; the tests pretend one.
 *
 * All calls but retire() and close() have ended when they return. They block the loop: a write to the page cache takes microseconds.
 */
import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  unlink,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** An open file. */
export type File = number;

export interface Disk {
  names(): string[];
  /** The content of a file, or its first `bytesMax` bytes. */
  read(name: string, bytesMax?: number): Buffer;
  /** Throws when there is such a file. */
  create(name: string): File;
  open(name: string): File;
  /** Writes bytes[0, length) at `at`. Throws the system's error; then a part may have been written. */
  write(file: File, bytes: Buffer, length: number, at: number): void;
  truncate(file: File, bytes: number): void;
  /** What was written to the file survives the machine. */
  sync(file: File): void;
  /** The names of the files survive the machine. */
  syncNames(): void;
  remove(name: string): void;
  /** Closes a file, some time after what was written to it is on the disk. */
  close(file: File): void;
  /** Removes files some time after everything written so far, also to `file`, is on the disk. */
  retire(names: readonly string[], file: File): void;
  /** Whether map() works. */
  readonly canMap: boolean;
  /** The first `bytes` bytes of a file as memory, which stays when the file is closed. Throws the system's error. */
  map(file: File, bytes: number): Memory;
}

/** A file as memory: what is stored in it survives the process. A process that dies has stored some first part, in this order. */
export interface Memory {
  /** Stores bytes[0, length) at `at`. */
  copy(bytes: Buffer, length: number, at: number): void;
  /** Stores a word at `at`, a multiple of 4. */
  store(word: number, at: number): void;
  /** The bytes [start, end): no copy. */
  view(start: number, end: number): Buffer;
}

/** System calls that Node does not have, or that have a cost there. */
export interface SystemCalls {
  /** Writes bytes[0, length) to a file at `at`. Returns how many it has written: 0 when it can't, for whatever reason. */
  writeAt?(file: File, bytes: Buffer, length: number, at: number): number;
  /** The first `bytes` bytes of a file; what is stored in them is in the file. Throws the system's error. */
  mapFile?(file: File, bytes: number): Buffer;
}

const MODE = 0o600;

export class FolderDisk implements Disk {
  readonly #folder: string;
  readonly #calls: SystemCalls;
  /** What is done in the background, one after the other. */
  #later: Promise<void> = Promise.resolve();

  /** What `writeAt` does not write, Node writes, or throws why it can't. Without `mapFile`, files are not mapped. */
  constructor(folder: string, calls: SystemCalls = {}) {
    this.#folder = folder;
    this.#calls = calls;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  names(): string[] {
    return readdirSync(this.#folder);
  }

  read(name: string, bytesMax?: number): Buffer {
    const path = join(this.#folder, name);
    let file = -1;
    try {
      if (bytesMax === undefined) return readFileSync(path);
      file = openSync(path, 'r');
      const bytes = Buffer.alloc(bytesMax);
      return bytes.subarray(0, readSync(file, bytes, 0, bytesMax, 0));
    } catch (error) {
      // Some of the system's errors do not say which file it is.
      throw Object.assign(error as Error, { path });
    } finally {
      if (file >= 0) closeSync(file);
    }
  }

  create(name: string): File {
    // Also for reading, which mapping needs.
    return openSync(join(this.#folder, name), 'wx+', MODE);
  }

  open(name: string): File {
    return openSync(join(this.#folder, name), 'r+');
  }

  write(file: File, bytes: Buffer, length: number, at: number): void {
    let done = this.#calls.writeAt?.(file, bytes, length, at) ?? 0;
    while (done < length) done += writeSync(file, bytes, done, length - done, at + done);
  }

  truncate(file: File, bytes: number): void {
    ftruncateSync(file, bytes);
  }

  sync(file: File): void {
    fdatasyncSync(file);
  }

  syncNames(): void {
    // Windows has no call for it.
    if (process.platform === 'win32') return;
    const folder = openSync(this.#folder, 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  }

  remove(name: string): void {
    unlinkSync(join(this.#folder, name));
  }

  close(file: File): void {
    this.#soon(
      () =>
        new Promise((resolve) =>
          fdatasync(file, () => {
            closeSync(file);
            resolve();
          }),
        ),
    );
  }

  retire(names: readonly string[], file: File): void {
    this.#soon(() => new Promise((resolve) => fdatasync(file, () => resolve())));
    // A name that stays is removed by a later retire(): it is below the beginning then too.
    for (const name of names) {
      this.#soon(() => new Promise((resolve) => unlink(join(this.#folder, name), () => resolve())));
    }
  }

  get canMap(): boolean {
    return this.#calls.mapFile !== undefined;
  }

  map(file: File, bytes: number): Memory {
    const { mapFile } = this.#calls;
    if (!mapFile) throw new Error('this system maps no files');
    return new MappedMemory(mapFile(file, bytes));
  }

  /** Resolves when everything is done. */
  get settled(): Promise<void> {
    return this.#later;
  }

  #soon(act: () => Promise<void>): void {
    this.#later = this.#later.then(act);
  }
}

class MappedMemory implements Memory {
  readonly #bytes: Buffer;
  readonly #words: Uint32Array;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
  }

  copy(bytes: Buffer, length: number, at: number): void {
    bytes.copy(this.#bytes, at, 0, length);
  }

  /** Not a plain store, which a compiler may move before the copy. */
  store(word: number, at: number): void {
    Atomics.store(this.#words, at >> 2, word);
  }

  view(start: number, end: number): Buffer {
    return this.#bytes.subarray(start, end);
  }
}

/**
 * A disk in memory that can be told to fail: a write that is torn, a sync that fails, no room, the death of the process or of the
 * machine in the middle of any call.
 *
 * A dead process keeps what it has written, and what it has stored in a file as memory; a dead machine keeps what was synced, and of the
 * rest of each file some first part.
 */
import type { Disk, File, Memory } from '../journal/disk.ts';

/** The process or the machine has died: nothing more happens in this life. */
export class Death extends Error {}

interface Node {
  bytes: Buffer;
  length: number;
  /** How many of the bytes survive the machine. */
  synced: number;
  /** The name survives the machine. */
  isNamed: boolean;
}

function failure(code: string): Error {
  return Object.assign(new Error(`${code}: pretended`), { code });
}

/** What a disk had at one moment. The bytes behind `length` mean nothing. */
export type DiskImage = ReadonlyMap<string, { readonly bytes: Buffer; readonly length: number }>;

export class PretendDisk implements Disk {
  readonly #random: () => number;
  #files = new Map<string, Node>();
  #open: Node[] = [];
  /** Calls until the death; 0: it is dead. */
  callsLeft = Number.POSITIVE_INFINITY;
  /** Bytes that fit. */
  roomBytes = Number.POSITIVE_INFINITY;
  /** Calls until one sync, or one write, fails. */
  syncsLeft = Number.POSITIVE_INFINITY;
  writesLeft = Number.POSITIVE_INFINITY;
  calls = 0;
  /** Called before each call that takes room: a test changes `roomBytes` there. */
  beforeRoom?: () => void;
  /** Whether the next relay can map files. */
  canMap = false;

  constructor(random: () => number) {
    this.#random = random;
  }

  get isDead(): boolean {
    return this.callsLeft <= 0;
  }

  get usedBytes(): number {
    let used = 0;
    for (const { length } of this.#files.values()) used += length;
    return used;
  }

  /** The next process finds what the dead one has written, or what the dead machine has kept. */
  restart(isMachineDead: boolean): void {
    if (isMachineDead) {
      for (const [name, node] of this.#files) {
        const torn = node.synced + Math.floor(this.#random() * (node.length - node.synced + 1));
        node.length = torn;
        node.synced = torn;
        if (!node.isNamed) this.#files.delete(name);
      }
    }
    this.#open = [];
    this.callsLeft = Number.POSITIVE_INFINITY;
    this.syncsLeft = Number.POSITIVE_INFINITY;
    this.writesLeft = Number.POSITIVE_INFINITY;
  }

  /** What the disk has now, for goBack(). REQUIRES: no file is mapped, so files only grow. */
  image(): DiskImage {
    return new Map([...this.#files].map(([name, { bytes, length }]) => [name, { bytes, length }]));
  }

  /** The next process finds what the disk had at the time of an image: the machine has died, or a backup was restored. */
  goBack(image: DiskImage): void {
    this.restart(false);
    this.#files = new Map();
    for (const [name, { bytes, length }] of image) {
      this.#files.set(name, { bytes: Buffer.from(bytes.subarray(0, length)), length, synced: length, isNamed: true });
    }
  }

  names(): string[] {
    return [...this.#files.keys()];
  }

  read(name: string, bytesMax = Number.POSITIVE_INFINITY): Buffer {
    const node = this.#node(name);
    return Buffer.from(node.bytes.subarray(0, Math.min(node.length, bytesMax)));
  }

  create(name: string): File {
    this.beforeRoom?.();
    this.#call();
    if (this.#files.has(name)) throw failure('EEXIST');
    if (this.usedBytes >= this.roomBytes) throw failure('ENOSPC');
    const node = { bytes: Buffer.alloc(4096), length: 0, synced: 0, isNamed: false };
    this.#files.set(name, node);
    return this.#open.push(node) - 1;
  }

  open(name: string): File {
    return this.#open.push(this.#node(name)) - 1;
  }

  write(file: File, bytes: Buffer, length: number, at: number): void {
    this.beforeRoom?.();
    const node = this.#open[file];
    // What replaces bytes needs no room.
    const room = this.roomBytes - this.usedBytes + Math.max(0, node.length - at);
    const isBroken = --this.writesLeft <= 0;
    const written = isBroken ? Math.floor(this.#random() * length) : Math.max(0, Math.min(length, room));
    this.#call(() => this.#put(node, bytes, Math.floor(this.#random() * (written + 1)), at));
    this.#put(node, bytes, written, at);
    if (written < length) throw failure(isBroken ? 'EIO' : 'ENOSPC');
  }

  truncate(file: File, bytes: number): void {
    this.#call();
    const node = this.#open[file];
    node.length = bytes;
    node.synced = Math.min(node.synced, bytes);
  }

  sync(file: File): void {
    this.#call();
    if (--this.syncsLeft <= 0) throw failure('EIO');
    this.#open[file].synced = this.#open[file].length;
  }

  syncNames(): void {
    this.#call();
    for (const node of this.#files.values()) node.isNamed = true;
  }

  remove(name: string): void {
    this.#call();
    this.#files.delete(name);
  }

  close(file: File): void {
    if (this.isDead) return;
    this.#open[file].synced = this.#open[file].length;
  }

  retire(names: readonly string[], file: File): void {
    this.close(file);
    for (const node of this.#files.values()) node.isNamed = true;
    for (const name of names) {
      this.#call();
      this.#files.delete(name);
    }
  }

  /** Each store is a call, in the middle of which the process may die. The file must not grow meanwhile. */
  map(file: File, bytes: number): Memory {
    const node = this.#open[file];
    if (node.length < bytes) throw failure('EINVAL');
    return {
      copy: (from, length, at) => {
        this.#call(() => from.copy(node.bytes, at, 0, Math.floor(this.#random() * (length + 1))));
        from.copy(node.bytes, at, 0, length);
      },
      store: (word, at) => {
        this.#call();
        node.bytes.writeUInt32LE(word, at);
      },
      view: (start, end) => node.bytes.subarray(start, end),
    };
  }

  /** What another process finds that looks now, on a disk of its own. */
  copy(): PretendDisk {
    const copy = new PretendDisk(this.#random);
    for (const name of this.names()) {
      const bytes = this.read(name);
      copy.write(copy.create(name), bytes, bytes.length, 0);
    }
    return copy;
  }

  /** Damages a byte of a file. */
  flip(name: string, at: number): void {
    this.#node(name).bytes[at] ^= 0x40;
  }

  /** Cuts a file, or makes it longer. */
  resize(name: string, bytes: number): void {
    const node = this.#node(name);
    this.#put(node, Buffer.alloc(Math.max(0, bytes - node.length)), Math.max(0, bytes - node.length), node.length);
    node.length = bytes;
  }

  #node(name: string): Node {
    const node = this.#files.get(name);
    if (!node) throw failure('ENOENT');
    return node;
  }

  #put(node: Node, bytes: Buffer, length: number, at: number): void {
    if (at + length > node.bytes.length) {
      node.bytes = Buffer.concat([node.bytes], 2 * (at + length));
    }
    bytes.copy(node.bytes, at, 0, length);
    node.length = Math.max(node.length, at + length);
  }

  /** Counts a call. The death comes in the middle of one: `part` does what is done before it. */
  #call(part?: () => void): void {
    if (this.isDead) throw new Death();
    this.calls++;
    if (--this.callsLeft > 0) return;
    part?.();
    throw new Death();
  }
}

/**
 * The tail: the last frames of the journal, in a small file that is mapped into memory.
 *
 * A frame that is stored here survives the process, as one that was written does, but takes no system call. When the tail is full, and
 * with each tick, its frames go to their segment with one write. JOURNAL.md has the layout.
 * Invariant: the file is empty, or has whole frames that belong to the end of one segment, whenever the process dies.
 * Cost: a copy and the store of one word.
 */
import { crc32 } from 'node:zlib';
import type { Disk, Memory } from './disk.ts';

/** The name of its file. */
export const TAIL = 'tail';

/** Bytes of its file: some 150 turns of one sprite. A larger one would take more of the cache of the core, which the relay needs. */
export const TAIL_BYTES = 64 << 10;

export const TAIL_HEAD_BYTES = 64;

const MAGIC = 'SPRITET\n';

/** The format. A tail of another one is refused: it may have turns that were answered. */
const VERSION = 1;

const SEGMENT_AT = 12;
const OFFSET_AT = 16;
const CRC_AT = 24;

/** The CRC does not cover the length, so that storing one word adds a frame. */
const LENGTH_AT = 28;

export class Tail {
  readonly #memory: Memory;
  readonly #framesBytesMax: number;
  #offset = 0;
  #length = 0;

  /** `memory` has `bytes` bytes, all 0. */
  constructor(memory: Memory, bytes: number) {
    this.#memory = memory;
    this.#framesBytesMax = bytes - TAIL_HEAD_BYTES;
  }

  /** Bytes of the frames in it. */
  get length(): number {
    return this.#length;
  }

  /** Where in their segment its frames belong. */
  get offset(): number {
    return this.#offset;
  }

  /** Its frames: a view. */
  get frames(): Buffer {
    return this.#memory.view(TAIL_HEAD_BYTES, TAIL_HEAD_BYTES + this.#length);
  }

  /**
   * Adds the frame bytes[0, length), which belongs to a segment at `offset`: behind the frames that are in it. Returns false, and
   * changes nothing, when there is no room.
   */
  add(bytes: Buffer, length: number, segment: number, offset: number): boolean {
    if (this.#length + length > this.#framesBytesMax) return false;
    if (this.#length === 0) this.#begin(segment, offset);
    this.#memory.copy(bytes, length, TAIL_HEAD_BYTES + this.#length);
    this.#length += length;
    this.#memory.store(this.#length, LENGTH_AT);
    return true;
  }

  /** Forgets its frames. */
  clear(): void {
    if (this.#length === 0) return;
    this.#length = 0;
    this.#memory.store(0, LENGTH_AT);
  }

  /** The length is 0 until a frame is added, so a head that is not whole means nothing. */
  #begin(segment: number, offset: number): void {
    this.#offset = offset;
    const head = Buffer.alloc(LENGTH_AT);
    head.write(MAGIC, 'latin1');
    head.writeUInt32LE(VERSION, MAGIC.length);
    head.writeUInt32LE(segment, SEGMENT_AT);
    head.writeDoubleLE(offset, OFFSET_AT);
    head.writeUInt32LE(crc32(head.subarray(0, CRC_AT)), CRC_AT);
    this.#memory.copy(head, head.length, 0);
  }
}

/** What a process has left in its tail. */
export interface TailContent {
  segment: number;
  offset: number;
  /** At least one byte. */
  frames: Buffer;
}

/** The file has frames, but not where they belong, or not all of them. A process that dies leaves no such file. */
export class TailDamaged extends Error {}

/** Reads the tail of a folder. Undefined when there is none, or nothing in it. Throws TailDamaged, or the system's error. */
export function readTail(disk: Disk): TailContent | undefined {
  if (!disk.names().includes(TAIL)) return undefined;
  const bytes = disk.read(TAIL);
  // The process died while it made the file.
  if (bytes.length < TAIL_HEAD_BYTES) return undefined;
  const length = bytes.readUInt32LE(LENGTH_AT);
  // Until a frame is added, the head may be anything.
  if (length === 0) return undefined;
  const hasHead =
    bytes.toString('latin1', 0, MAGIC.length) === MAGIC &&
    crc32(bytes.subarray(0, CRC_AT)) === bytes.readUInt32LE(CRC_AT) &&
    bytes.readUInt32LE(MAGIC.length) === VERSION;
  if (!hasHead) throw new TailDamaged(`the head of the file ${TAIL} is wrong, and it has ${length} bytes of frames`);
  if (length > bytes.length - TAIL_HEAD_BYTES) {
    throw new TailDamaged(`the file ${TAIL} has ${bytes.length} bytes, too few for ${length} bytes of frames`);
  }
  return {
    segment: bytes.readUInt32LE(SEGMENT_AT),
    offset: bytes.readDoubleLE(OFFSET_AT),
    frames: bytes.subarray(TAIL_HEAD_BYTES, TAIL_HEAD_BYTES + length),
  };
}

/**
 * The bytes of a segment: those of its file, and what only the tail has of it. Returns `bytes` itself when the tail adds nothing.
 *
 * The tail only ever adds: it counts when the file ends within its frames, and has the same bytes as far as it goes. So a tail that was
 * left behind by mistake, or that the death of the machine has made older than the segment, changes nothing.
 */
export function withTail(bytes: Buffer, segment: number, tail: TailContent | undefined): Buffer {
  if (tail?.segment !== segment) return bytes;
  const { offset, frames } = tail;
  const known = bytes.length - offset;
  if (known < 0 || known >= frames.length) return bytes;
  if (!bytes.subarray(offset).equals(frames.subarray(0, known))) return bytes;
  return Buffer.concat([bytes, frames.subarray(known)]);
}

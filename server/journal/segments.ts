/**
 * Segments: the files of the journal, each a head and frames. A frame has the records of one turn; JOURNAL.md has the layout.
 *
 * Frames are numbered from 1 over all segments, and segments too, without a gap. So a frame or a segment that is missing is noticed.
 */
import { crc32 } from 'node:zlib';

export const MAGIC = 'SPRITEJ\n';

/** The format that is written. */
export const VERSION = 4;

/** The oldest format that is read: its records are some of today's, and mean the same. Any other one is refused. */
export const VERSION_MIN = 3;

export const HEAD_BYTES = 64;

/** Bytes of a frame before its records: length, CRC-32, and the number in two words. */
export const FRAME_HEAD_BYTES = 16;

/** No turn has so many: a length above this is damage. */
export const FRAME_BYTES_MAX = 256 << 20;

export const KEY_BYTES = 16;

/** How far ahead of its place a frame's number may be, when frames before it are damaged: more than fit into a segment. */
const NUMBERS_AHEAD_MAX = 2 ** 22;

const TWO_32 = 2 ** 32;
const CRC_AT = HEAD_BYTES - 4;

/** Facts are missing before this segment: it counts only if a `snapshotEnd` record says that a snapshot has ended since. */
const AFTER_GAP = 1;

export interface SegmentHead {
  segment: number;
  /** The number of its first frame. */
  firstFrame: number;
  epoch: number;
  generationKey: Buffer;
  afterGap: boolean;
}

/** The head of a segment that was written before. */
export interface WrittenHead extends SegmentHead {
  version: number;
}

/** The format is of another version of the relay. */
export class OtherFormat extends Error {}

const NAME = /^(\d{10})\.segment$/;

export function segmentName(segment: number): string {
  return `${String(segment).padStart(10, '0')}.segment`;
}

/** The number of a segment's file; undefined for another file. */
export function segmentOf(name: string): number | undefined {
  const [, digits] = NAME.exec(name) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

export function writeHead(head: SegmentHead): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES);
  bytes.write(MAGIC, 'latin1');
  bytes.writeUInt32LE(VERSION, 8);
  bytes.writeUInt32LE(head.afterGap ? AFTER_GAP : 0, 12);
  bytes.writeUInt32LE(head.segment, 16);
  bytes.writeUInt32LE(head.epoch, 20);
  bytes.writeDoubleLE(head.firstFrame, 24);
  head.generationKey.copy(bytes, 32);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, CRC_AT)), CRC_AT);
  return bytes;
}

/** Reads a head. Undefined when it is not whole. Throws OtherFormat. */
export function readHead(bytes: Buffer): WrittenHead | undefined {
  if (bytes.length < HEAD_BYTES || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return undefined;
  if (crc32(bytes.subarray(0, CRC_AT)) !== bytes.readUInt32LE(CRC_AT)) return undefined;
  const version = bytes.readUInt32LE(8);
  if (version < VERSION_MIN || version > VERSION) {
    const remedy = 'start the version of the relay that wrote it, or move the folder of the journal away';
    throw new OtherFormat(
      `the journal has format ${version}, and this relay knows ${VERSION_MIN} to ${VERSION}; ${remedy}`,
    );
  }
  return {
    version,
    segment: bytes.readUInt32LE(16),
    firstFrame: bytes.readDoubleLE(24),
    epoch: bytes.readUInt32LE(20),
    generationKey: Buffer.from(bytes.subarray(32, 32 + KEY_BYTES)),
    afterGap: (bytes.readUInt32LE(12) & AFTER_GAP) !== 0,
  };
}

/** Fills in the head of a frame whose records are bytes[FRAME_HEAD_BYTES, end). */
export function sealFrame(bytes: Buffer, end: number, number: number): void {
  bytes.writeUInt32LE(end - FRAME_HEAD_BYTES, 0);
  bytes.writeUInt32LE(number >>> 0, 8);
  bytes.writeUInt32LE(Math.floor(number / TWO_32), 12);
  bytes.writeUInt32LE(crc32(bytes.subarray(8, end)), 4);
}

/** The end of the frame that begins at bytes[at) and has this number; -1 when there is no such frame. */
export function frameEnd(bytes: Buffer, at: number, number: number): number {
  if (at + FRAME_HEAD_BYTES > bytes.length) return -1;
  const length = bytes.readUInt32LE(at);
  const end = at + FRAME_HEAD_BYTES + length;
  if (length === 0 || length > FRAME_BYTES_MAX || end > bytes.length || length & 3) return -1;
  if (bytes.readUInt32LE(at + 8) + bytes.readUInt32LE(at + 12) * TWO_32 !== number) return -1;
  return crc32(bytes.subarray(at + 8, end)) === bytes.readUInt32LE(at + 4) ? end : -1;
}

/** Whether a whole frame begins at bytes[at), whatever its number. */
export function isFrame(bytes: Buffer, at: number): boolean {
  return frameEnd(bytes, at, bytes.readUInt32LE(at + 8) + bytes.readUInt32LE(at + 12) * TWO_32) >= 0;
}

/** The first whole frame with a number from `number` on that begins at bytes[at) or behind it: what is before it is damaged. */
export function findFrame(bytes: Buffer, at: number, number: number): { at: number; number: number } | undefined {
  for (let from = at; from + FRAME_HEAD_BYTES <= bytes.length; from += 4) {
    const own = bytes.readUInt32LE(from + 8) + bytes.readUInt32LE(from + 12) * TWO_32;
    if (own < number || own > number + NUMBERS_AHEAD_MAX) continue;
    if (frameEnd(bytes, from, own) >= 0) return { at: from, number: own };
  }
  return undefined;
}

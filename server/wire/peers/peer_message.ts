/**
 * A peer message: records that a relay sends to another relay, and that get no answer.
 *
 * Little-endian: version u8, length of the name u8, count of records u16, name of the sender (ASCII), records. Each record begins with its
 * length u16. Later versions may add members at the end of a record, and count them in its length; readers skip them.
 */
import { isRelayName } from '../identity.ts';

const HEAD_BYTES = 4;

/** What distinguishes one kind of message from the others. */
interface PeerMessageFormat {
  version: number;
  /** Bytes of a message. */
  bytesMax: number;
  /** Bytes of the members that every record has. */
  recordBytes: number;
}

/** Gathers the records of one message. */
export class PeerMessageWriter {
  readonly #bytesMax: number;
  readonly #parts: Buffer[];
  #bytes: number;
  #count = 0;

  constructor(sender: string, { version, bytesMax }: PeerMessageFormat) {
    this.#bytesMax = bytesMax;
    const head = Buffer.alloc(HEAD_BYTES + sender.length);
    head[0] = version;
    head[1] = sender.length;
    head.write(sender, HEAD_BYTES, 'latin1');
    this.#parts = [head];
    this.#bytes = head.length;
  }

  /** Whether a record of so many bytes can be added. */
  hasRoom(bytes: number): boolean {
    return this.#bytes + bytes <= this.#bytesMax;
  }

  /** Adds a record, which is all parts together; the first one begins with room for the length. REQUIRES: hasRoom(). Owner: the writer. */
  add(...parts: Buffer[]): void {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    parts[0].writeUInt16LE(length, 0);
    this.#parts.push(...parts);
    this.#bytes += length;
    this.#count++;
  }

  finish(): Buffer {
    this.#parts[0].writeUInt16LE(this.#count, 2);
    return Buffer.concat(this.#parts);
  }
}

/**
 * Reads a message: calls `each` for every record, bytes[start, end), which has at least `recordBytes`. When `each` returns false, the message
 * is malformed; then and after other faults, records before have been read.
 */
export function readPeerMessage(
  message: Uint8Array,
  { version, bytesMax, recordBytes }: PeerMessageFormat,
  each: (bytes: Buffer, start: number, end: number) => boolean,
): { sender: string } | 'version' | 'malformed' {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  if (bytes.length < HEAD_BYTES || bytes.length > bytesMax) return 'malformed';
  if (bytes[0] !== version) return 'version';
  let at = HEAD_BYTES + bytes[1];
  const sender = bytes.toString('latin1', HEAD_BYTES, at);
  if (at > bytes.length || !isRelayName(sender)) return 'malformed';
  for (let left = bytes.readUInt16LE(2); left > 0; left--) {
    if (at + recordBytes > bytes.length) return 'malformed';
    const end = at + bytes.readUInt16LE(at);
    if (end < at + recordBytes || end > bytes.length || !each(bytes, at, end)) return 'malformed';
    at = end;
  }
  return at === bytes.length ? { sender } : 'malformed';
}

/**
 * Peer sayings: what desktops of one relay say in one turn to desktops of another relay.
 *
 * Message, little-endian: version u8, length of the name u8, count of records u16, name of the sender (ASCII). Record: length u16, count of
 * runs u16, slot u32, generation u32, bytes of the reference u16, bytes of the text u16, runs, reference, text. Run: place u32, count of
 * places u16, edge u8, 0 u8. Later versions may add members at the end of a record, and count them in its length; they are skipped.
 * A message gets no answer: a saying may be lost.
 * Invariant: what the reader returns is within the limits here, whatever the bytes are.
 */
import { isRelayName } from './heartbeat.ts';
import { isReference, REFERENCE_BYTES_MAX } from './peer_frame.ts';
import { NO_EDGE, SAYING_TEXT_BYTES_MAX } from './saying.ts';
import { whyInvalidName } from './text.ts';

export const PEER_SAYINGS_VERSION = 1;

/** Bytes of a message, which has the sayings of one turn to one relay: some 150 usual ones. What is said beyond it is lost. */
export const PEER_SAYINGS_BYTES_MAX = 64 << 10;

/** Runs of one saying: 32 rows of places, each of which may end at one side of a relay and begin at the other; and four neighbours. */
export const RUNS_MAX = 68;

const HEAD_BYTES = 4;
const RECORD_BYTES = 16;
const RUN_BYTES = 8;

/** Places of the receiver that follow one another, whose desktops hear a saying. */
export interface Run {
  place: number;
  /** At most one place when there is an edge. */
  count: number;
  /** The edge beyond which the speaker is; NO_EDGE when that is not told. */
  edge: number;
}

export interface PeerSaying {
  /** The speaker, by its slot and generation at its own relay. */
  slot: number;
  generation: number;
  /** The speaker as JSON, as others are told of it. */
  reference: Buffer;
  text: string;
  runs: Run[];
}

/** Gathers the sayings of one message. */
export class PeerSayingsWriter {
  readonly #parts: Buffer[];
  #bytes: number;
  #count = 0;

  constructor(sender: string) {
    const head = Buffer.alloc(HEAD_BYTES + sender.length);
    head[0] = PEER_SAYINGS_VERSION;
    head[1] = sender.length;
    head.write(sender, HEAD_BYTES, 'latin1');
    this.#parts = [head];
    this.#bytes = head.length;
  }

  /** Adds a saying. Returns false when there is no room for it; then nothing has changed. */
  add({ slot, generation, reference, text, runs }: PeerSaying): boolean {
    const line = Buffer.from(text);
    const length = RECORD_BYTES + runs.length * RUN_BYTES + reference.length + line.length;
    if (runs.length > RUNS_MAX || this.#bytes + length > PEER_SAYINGS_BYTES_MAX) return false;
    const bytes = Buffer.alloc(RECORD_BYTES + runs.length * RUN_BYTES);
    bytes.writeUInt16LE(length, 0);
    bytes.writeUInt16LE(runs.length, 2);
    bytes.writeUInt32LE(slot, 4);
    bytes.writeUInt32LE(generation, 8);
    bytes.writeUInt16LE(reference.length, 12);
    bytes.writeUInt16LE(line.length, 14);
    let at = RECORD_BYTES;
    for (const { place, count, edge } of runs) {
      bytes.writeUInt32LE(place, at);
      bytes.writeUInt16LE(count, at + 4);
      bytes[at + 6] = edge;
      at += RUN_BYTES;
    }
    this.#parts.push(bytes, reference, line);
    this.#bytes += length;
    this.#count++;
    return true;
  }

  finish(): Buffer {
    this.#parts[0].writeUInt16LE(this.#count, 2);
    return Buffer.concat(this.#parts);
  }
}

/** Reads a message. Sayings that a client could not have said are left out. */
export function readPeerSayings(
  message: Uint8Array,
): { sender: string; sayings: PeerSaying[] } | 'version' | 'malformed' {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  if (bytes.length < HEAD_BYTES || bytes.length > PEER_SAYINGS_BYTES_MAX) return 'malformed';
  if (bytes[0] !== PEER_SAYINGS_VERSION) return 'version';
  let at = HEAD_BYTES + bytes[1];
  const sender = bytes.toString('latin1', HEAD_BYTES, at);
  if (at > bytes.length || !isRelayName(sender)) return 'malformed';
  const sayings: PeerSaying[] = [];
  for (let left = bytes.readUInt16LE(2); left > 0; left--) {
    if (at + RECORD_BYTES > bytes.length) return 'malformed';
    const length = bytes.readUInt16LE(at);
    const runs = bytes.readUInt16LE(at + 2);
    const referenceAt = at + RECORD_BYTES + runs * RUN_BYTES;
    const textAt = referenceAt + bytes.readUInt16LE(at + 12);
    const end = textAt + bytes.readUInt16LE(at + 14);
    if (runs > RUNS_MAX || end > at + length || at + length > bytes.length) return 'malformed';
    const reference = bytes.subarray(referenceAt, textAt);
    const text = bytes.toString('utf8', textAt, end);
    const isSaying = text !== '' && whyInvalidName(text, SAYING_TEXT_BYTES_MAX) === undefined;
    if (isSaying && reference.length <= REFERENCE_BYTES_MAX && isReference(reference)) {
      const [slot, generation] = [bytes.readUInt32LE(at + 4), bytes.readUInt32LE(at + 8)];
      sayings.push({ slot, generation, reference, text, runs: readRuns(bytes, at + RECORD_BYTES, runs) });
    }
    at += length;
  }
  return at === bytes.length ? { sender, sayings } : 'malformed';
}

function readRuns(bytes: Buffer, start: number, count: number): Run[] {
  const runs: Run[] = [];
  for (let at = start; at < start + count * RUN_BYTES; at += RUN_BYTES) {
    const edge = Math.min(bytes[at + 6], NO_EDGE);
    // Beyond an edge is one desktop. Those with an edge are compared with all others, so they must be few.
    const places = edge === NO_EDGE ? bytes.readUInt16LE(at + 4) : Math.min(bytes.readUInt16LE(at + 4), 1);
    runs.push({ place: bytes.readUInt32LE(at), count: places, edge });
  }
  return runs;
}

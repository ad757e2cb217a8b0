/**
 * Peer sayings: what desktops of one relay say in one turn to desktops of another relay.
 *
 * A peer message (peer_message.ts). Record, little-endian: length u16, count of runs u16, slot u32, generation u32, bytes of the reference u16,
 * bytes of the text u16, runs, reference, text. Run: place u32, count of places u16, edge u8, 0 u8.
 * A message gets no answer: a saying may be lost.
 * Invariant: what the reader returns is within the limits here, whatever the bytes are.
 */

import { SAYING_TEXT_BYTES_MAX } from '../rules.ts';
import { NO_EDGE } from '../saying.ts';
import { whyInvalidName } from '../text.ts';
import { isReference, REFERENCE_BYTES_MAX } from './peer_frame.ts';
import { PeerMessageWriter, readPeerMessage } from './peer_message.ts';

const PEER_SAYINGS_VERSION = 1;

/** Bytes of a message, which has the sayings of one turn to one relay: some 150 usual ones. What is said beyond it is lost. */
export const PEER_SAYINGS_BYTES_MAX = 64 << 10;

/** Runs of one saying: 32 rows of places, each of which may end at one side of a relay and begin at the other; and four neighbours. */
export const RUNS_MAX = 68;

const RECORD_BYTES = 16;
const RUN_BYTES = 8;

const FORMAT = { version: PEER_SAYINGS_VERSION, bytesMax: PEER_SAYINGS_BYTES_MAX, recordBytes: RECORD_BYTES };

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
  readonly #message: PeerMessageWriter;

  constructor(sender: string) {
    this.#message = new PeerMessageWriter(sender, FORMAT);
  }

  /** Adds a saying. Returns false when there is no room for it; then nothing has changed. */
  add({ slot, generation, reference, text, runs }: PeerSaying): boolean {
    const line = Buffer.from(text);
    const length = RECORD_BYTES + runs.length * RUN_BYTES + reference.length + line.length;
    if (runs.length > RUNS_MAX || !this.#message.hasRoom(length)) return false;
    const bytes = Buffer.alloc(RECORD_BYTES + runs.length * RUN_BYTES);
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
    this.#message.add(bytes, reference, line);
    return true;
  }

  finish(): Buffer {
    return this.#message.finish();
  }
}

/** Reads a message. Sayings that a client could not have said are left out. */
export function readPeerSayings(
  message: Uint8Array,
): { sender: string; sayings: PeerSaying[] } | 'version' | 'malformed' {
  const sayings: PeerSaying[] = [];
  const read = readPeerMessage(message, FORMAT, (bytes, start, end) => {
    const runs = bytes.readUInt16LE(start + 2);
    const referenceAt = start + RECORD_BYTES + runs * RUN_BYTES;
    const textAt = referenceAt + bytes.readUInt16LE(start + 12);
    const textEnd = textAt + bytes.readUInt16LE(start + 14);
    if (runs > RUNS_MAX || textEnd > end) return false;
    const reference = bytes.subarray(referenceAt, textAt);
    const text = bytes.toString('utf8', textAt, textEnd);
    const isSaying = text !== '' && whyInvalidName(text, SAYING_TEXT_BYTES_MAX) === undefined;
    if (isSaying && reference.length <= REFERENCE_BYTES_MAX && isReference(reference)) {
      const [slot, generation] = [bytes.readUInt32LE(start + 4), bytes.readUInt32LE(start + 8)];
      sayings.push({ slot, generation, reference, text, runs: readRuns(bytes, start + RECORD_BYTES, runs) });
    }
    return true;
  });
  return typeof read === 'string' ? read : { sender: read.sender, sayings };
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

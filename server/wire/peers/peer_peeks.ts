/**
 * Peer peeks: what two relays tell each other of desktops that watch a neighbour at the other relay.
 *
 * A peer message (peer_message.ts). Record, little-endian: length u16, kind u8, edge u8, slot u32, generation u32, place u32; these name a
 * watch: the edge through which the watcher looks, its slot and generation at its relay, and the place of the watched desktop at the
 * other one. Then, for `watch`: the place of the watcher u32, 1 u8 if it has a stage; for `stage`: its age in ms u32, bytes of the reference
 * u16, bytes of the stage u16, the watched desktop as JSON, the stage as a desktop posts it.
 * Records of other kinds are skipped. Any record may be lost: a watch is renewed each second, and a newer stage follows.
 * Invariant: what the reader returns is within the limits here, whatever the bytes are.
 */

import { readJson } from '../fields.ts';
import { EDGES, type EdgeNumber, STAGE_BYTES_MAX } from '../rules.ts';
import { type CheckedStage, checkStage } from '../stage.ts';
import { isReference } from './peer_frame.ts';
import { PeerMessageWriter, readPeerMessage } from './peer_message.ts';

export const PEER_PEEKS_VERSION = 1;

/** Bytes of a message: some seventy stages with three sprites, which the receiver checks in a millisecond. What has no room waits. */
export const PEER_PEEKS_BYTES_MAX = 24 << 10;

const Kind = { watch: 1, end: 2, hidden: 3, stage: 4 } as const;

const RECORD_BYTES = 16;
const WATCH_BYTES = RECORD_BYTES + 5;
const STAGE_HEAD_BYTES = RECORD_BYTES + 8;

const FORMAT = { version: PEER_PEEKS_VERSION, bytesMax: PEER_PEEKS_BYTES_MAX, recordBytes: RECORD_BYTES };

/** What names a watch. */
export interface Watch {
  /** The edge of the watcher through which it looks. */
  edge: EdgeNumber;
  /** The watcher, at its own relay. */
  slot: number;
  generation: number;
  /** The place of the watched desktop, at its own relay. */
  place: number;
}

export type PeerPeek =
  /** The watcher, which is at place `from`, begins to watch, or goes on. `hasStage`: it has a stage of this watch. */
  | { kind: 'watch'; watch: Watch; from: number; hasStage: boolean }
  /** The watcher does not watch any more. */
  | { kind: 'end'; watch: Watch }
  /** The answer to `watch`: the desktop does not show its stage. */
  | { kind: 'hidden'; watch: Watch }
  | { kind: 'stage'; watch: Watch; ageMs: number; reference: Buffer; stage: CheckedStage };

/** Gathers the records of one message. Each method returns false when there is no room for the record; then nothing has changed. */
export class PeerPeeksWriter {
  readonly #message: PeerMessageWriter;

  constructor(sender: string) {
    this.#message = new PeerMessageWriter(sender, FORMAT);
  }

  watch(watch: Watch, from: number, hasStage: boolean): boolean {
    if (!this.#message.hasRoom(WATCH_BYTES)) return false;
    const bytes = recordOf(Kind.watch, watch, WATCH_BYTES);
    bytes.writeUInt32LE(from, RECORD_BYTES);
    bytes[RECORD_BYTES + 4] = hasStage ? 1 : 0;
    this.#message.add(bytes);
    return true;
  }

  end(watch: Watch): boolean {
    return this.#add(Kind.end, watch);
  }

  hidden(watch: Watch): boolean {
    return this.#add(Kind.hidden, watch);
  }

  /** `reference` and `stage` are copied. */
  stage(watch: Watch, ageMs: number, reference: Buffer, stage: Buffer): boolean {
    if (!this.#message.hasRoom(STAGE_HEAD_BYTES + reference.length + stage.length)) return false;
    const bytes = recordOf(Kind.stage, watch, STAGE_HEAD_BYTES);
    bytes.writeUInt32LE(ageMs, RECORD_BYTES);
    bytes.writeUInt16LE(reference.length, RECORD_BYTES + 4);
    bytes.writeUInt16LE(stage.length, RECORD_BYTES + 6);
    this.#message.add(bytes, Buffer.from(reference), Buffer.from(stage));
    return true;
  }

  finish(): Buffer {
    return this.#message.finish();
  }

  #add(kind: number, watch: Watch): boolean {
    if (!this.#message.hasRoom(RECORD_BYTES)) return false;
    this.#message.add(recordOf(kind, watch, RECORD_BYTES));
    return true;
  }
}

function recordOf(kind: number, { edge, slot, generation, place }: Watch, bytes: number): Buffer {
  const record = Buffer.alloc(bytes);
  record[2] = kind;
  record[3] = edge;
  record.writeUInt32LE(slot, 4);
  record.writeUInt32LE(generation, 8);
  record.writeUInt32LE(place, 12);
  return record;
}

/** Reads a message. Stages that a desktop could not have posted are left out. */
export function readPeerPeeks(message: Uint8Array): { sender: string; peeks: PeerPeek[] } | 'version' | 'malformed' {
  const peeks: PeerPeek[] = [];
  const read = readPeerMessage(message, FORMAT, (bytes, start, end) => {
    if (bytes[start + 3] >= EDGES.length) return false;
    const watch = {
      edge: bytes[start + 3] as EdgeNumber,
      slot: bytes.readUInt32LE(start + 4),
      generation: bytes.readUInt32LE(start + 8),
      place: bytes.readUInt32LE(start + 12),
    };
    const at = start + RECORD_BYTES;
    switch (bytes[start + 2]) {
      case Kind.watch:
        if (start + WATCH_BYTES > end) return false;
        peeks.push({ kind: 'watch', watch, from: bytes.readUInt32LE(at), hasStage: bytes[at + 4] === 1 });
        return true;
      case Kind.end:
        peeks.push({ kind: 'end', watch });
        return true;
      case Kind.hidden:
        peeks.push({ kind: 'hidden', watch });
        return true;
      case Kind.stage: {
        if (start + STAGE_HEAD_BYTES > end) return false;
        const referenceAt = start + STAGE_HEAD_BYTES;
        const stageAt = referenceAt + bytes.readUInt16LE(at + 4);
        const stageEnd = stageAt + bytes.readUInt16LE(at + 6);
        if (stageEnd > end) return false;
        const reference = bytes.subarray(referenceAt, stageAt);
        const stage = isReference(reference) ? readStage(bytes, stageAt, stageEnd) : undefined;
        if (stage !== undefined) peeks.push({ kind: 'stage', watch, ageMs: bytes.readUInt32LE(at), reference, stage });
        return true;
      }
      default:
        return true;
    }
  });
  return typeof read === 'string' ? read : { sender: read.sender, peeks };
}

/** Undefined when it is not the stage of a desktop. */
function readStage(bytes: Buffer, start: number, end: number): CheckedStage | undefined {
  // One byte more than its members, for the brace.
  if (end - start > STAGE_BYTES_MAX + 1) return undefined;
  try {
    return checkStage(readJson(bytes, start, end));
  } catch {
    return undefined;
  }
}

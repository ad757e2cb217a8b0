/**
 * A peer frame: the crossings of one turn that go to another relay, and its answer with one verdict for each.
 *
 * Frame, little-endian: version u8, length of the name u8, count of records u16, bytes of the head u16, frames of earlier starts u16, the
 * sender's epoch u32, the receiver's epoch u32, number f64, incarnation (8 bytes), name (ASCII). Record: length u16, kind u8, edge u8, place
 * u32, slot u32, generation u32, crossing f64, bytes of the event u16, event. Answer: version u8, status u8, count of verdicts u16, epoch
 * u32, number f64, verdicts, bytes of the longest event that its sender takes u16. Verdict: length u16, kind u8, 0 u8, bytes of the reference
 * u16, reference.
 * A sprite that waits there for no desktop is handed on. Such a record has the crossing 0 and three more members, which only its sender
 * reads again: the slot of the mailbox u32, its owners u32, the stamp of the event u32. For the receiver it is a crossing like any other.
 * One of a private world that the receiver has now is of another kind, and has two members more: the pictures that the world carries at the
 * sender u8, by their index in PICTURES, and the world: length of its name u8, name (UTF-8).
 * A relay that does not say how long an event may be takes those of PEER_EVENT_BYTES_LEAST: it gets a longer one without its newest members.
 * Later releases may add members at the end of a frame's head, a record or a verdict, and count them in its length, or at the end of an
 * answer; they are skipped. A record of an unknown kind is answered by `busy`, an unknown verdict is a refusal, and after an unknown status
 * the frame is sent again: so a cluster is upgraded one relay after the other. Only a change that older releases must not read has another
 * version. A receiver reads only the first byte of such a frame, and answers with its own version and the status `version`, which all
 * versions have at the same place: so the frame has certainly not been taken. Until all relays are upgraded, crossings between versions bounce, and those that were in doubt before wait.
 * A frame is identified by the sender's name, epoch and incarnation and by its number among the frames of that incarnation to this receiver.
 * The incarnation is random bits, new with each start of a relay and for each name that it sends to: a relay whose disk has gone back in time
 * gives no identity twice, and one that starts again under another name gets none twice.
 * Frames with number 0 change nothing.
 * Invariant: what the readers return is within the limits here, whatever the bytes are.
 * Cost: one copy of each event; no allocation for each record, because the reader fills one view.
 */

import { isFileHash } from '../fields.ts';
import { isRelayName } from '../identity.ts';
import { NO_HEAD, type Passage, type ThrownPassage } from '../passage.ts';
import { PICTURES, type Pictures } from '../pictures.ts';
import { type EdgeNumber, NAME_BYTES_MAX, PASSAGE_BYTES_MAX } from '../rules.ts';

export const PEER_VERSION = 2;

/** Hexadecimal digits of an incarnation: 64 bits, so that a relay does not make one twice in 10^9 starts. */
export const INCARNATION_DIGITS = 16;

/** In place of an incarnation, while a start has not begun to number frames. */
export const NO_INCARNATION = '0'.repeat(INCARNATION_DIGITS);

/** Bytes of a frame: a fifth of the largest message of NATS, and less than the largest record of the journal. */
export const PEER_FRAME_BYTES_MAX = 192 << 10;

/** Records of a frame: at 20,000 crossings a second those of 25 ms. */
export const PEER_RECORDS_MAX = 512;

/** `{"desktop":"…","name":"…"}` with the longest id of a relay with the longest name, and a name of 64 bytes, each of which may need an escape. */
export const REFERENCE_BYTES_MAX = 208;

/** An event after its sequence: `"from":{…},` and a passage. */
export const PEER_EVENT_BYTES_MAX = 8 + REFERENCE_BYTES_MAX + PASSAGE_BYTES_MAX;

/** The longest event that all relays take: as it was before goals and journeys, when a passage had up to 448 bytes. */
export const PEER_EVENT_BYTES_LEAST = 8 + REFERENCE_BYTES_MAX + 448;

/** `name` asks which desktop has a place; only frames with number 0 have it. `moved` is a sprite of a private world. */
export const PeerKind = { crossing: 1, name: 2, moved: 3 } as const;

/** The decision of the receiver about a record. Unless it is `accepted`, nothing has changed there. */
export const PeerVerdict = { accepted: 0, full: 1, busy: 2, journalFull: 3 } as const;

/**
 * `otherEpoch`: the frame is for another epoch of the receiver, which has read only the head. `stale`: its number is so old that the receiver
 * does not know whether it has taken it. `version`: it was not read. `noRoom`: the receiver can't write anything down, so it has taken
 * nothing, and as long as it lives it refuses that frame.
 */
export const PeerStatus = { done: 0, otherEpoch: 1, stale: 2, malformed: 3, version: 4, noRoom: 5 } as const;

/** Bytes that a writer begins with: most frames have few records, and a buffer of the largest size costs 20 µs. */
const FIRST_BYTES = 4096;

const HEAD_BYTES = 32;
const INCARNATION_AT = 24;
const RECORD_BYTES = 26;
/** What follows the event of a sprite that is handed on. */
const WAITING_BYTES = 12;
/** What follows then in one of a private world, with the longest name. */
const MOVED_BYTES_MAX = 2 + NAME_BYTES_MAX;
const ANSWER_BYTES = 16;
const VERDICT_BYTES = 6;
/** What follows the verdicts. */
const EVENT_LIMIT_BYTES = 2;

/** One record. Owner: the reader, which overwrites it with the next one. The event is whole in `body`, which is the frame. */
export interface PeerRecord extends ThrownPassage {
  kind: number;
  /** The place at the receiver. */
  place: number;
  /** Where the sprite waits at its sender, if that hands it on: then `crossing` is 0. */
  readonly waiting: WaitingSprite;
  /** The private world that it is for, which the receiver has now; undefined for the default world. */
  moved: MovedWorld | undefined;
}

/** A private world that another relay has now. */
export interface MovedWorld {
  readonly name: string;
  /** What it carries where the sprite was. */
  readonly pictures: Pictures;
}

/** A sprite that waits in a mailbox whose desktop has ended. */
export interface WaitingSprite {
  slot: number;
  /** How many owners the slot has had, so that a sprite of an earlier one is not mistaken for another. */
  owners: number;
  edge: EdgeNumber;
  /** The stamp that the mailbox gave to it. */
  arrived: number;
}

export interface PeerFrame {
  sender: string;
  epoch: number;
  /** The start of the sender that has numbered the frame for this name of the receiver: INCARNATION_DIGITS hexadecimal digits. */
  incarnation: string;
  /** The epoch of the receiver that the sender knows; 0 when it knows none. */
  to: number;
  number: number;
  /** How many frames of other incarnations to this receiver had no verdicts when this one was numbered. */
  earlier: number;
  count: number;
  bytes: Buffer;
  /** Where the records begin. */
  start: number;
}

/** What identifies a frame: its sender, and its number. */
export type FrameIdentity = Pick<PeerFrame, 'sender' | 'epoch' | 'incarnation' | 'number'>;

export interface PeerAnswer {
  status: number;
  epoch: number;
  number: number;
  verdicts: Uint8Array;
  /** For each record: the desktop that got it or has that place, as JSON; empty for none. */
  references: Buffer[];
  /** The longest event that the relay takes. */
  eventBytesMax: number;
}

/** Gathers the records of one frame. */
export class PeerFrameWriter {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #end: number;
  #count = 0;

  constructor({ sender, epoch, to, incarnation }: Pick<PeerFrame, 'sender' | 'epoch' | 'to' | 'incarnation'>) {
    this.#end = HEAD_BYTES + sender.length;
    this.#bytes.fill(0, 0, HEAD_BYTES);
    this.#bytes[0] = PEER_VERSION;
    this.#bytes[1] = sender.length;
    this.#bytes.writeUInt16LE(this.#end, 4);
    this.#bytes.writeUInt32LE(epoch, 8);
    this.#bytes.writeUInt32LE(to, 12);
    this.#bytes.write(incarnation, INCARNATION_AT, 'hex');
    this.#bytes.write(sender, HEAD_BYTES, 'latin1');
  }

  get count(): number {
    return this.#count;
  }

  /** Whether one more record fits, whatever its event. */
  get hasRoom(): boolean {
    const bytes = RECORD_BYTES + PEER_EVENT_BYTES_MAX + WAITING_BYTES + MOVED_BYTES_MAX;
    return this.#count < PEER_RECORDS_MAX && this.#end + bytes <= PEER_FRAME_BYTES_MAX;
  }

  /** Adds a crossing. REQUIRES: hasRoom. */
  crossing(place: number, passage: Readonly<ThrownPassage>): void {
    const { edge, slot, generation, crossing, head, headLength, body, start, end } = passage;
    const at = this.#record(PeerKind.crossing, edge, place, headLength + end - start);
    this.#bytes.writeUInt32LE(slot, at + 8);
    this.#bytes.writeUInt32LE(generation, at + 12);
    this.#bytes.writeDoubleLE(crossing, at + 16);
    head.copy(this.#bytes, at + RECORD_BYTES, 0, headLength);
    body.copy(this.#bytes, at + RECORD_BYTES + headLength, start, end);
  }

  /** Adds a sprite that is handed on, with its event, which is whole in its body. REQUIRES: hasRoom. */
  waiting(
    place: number,
    { slot, generation }: Readonly<Pick<ThrownPassage, 'slot' | 'generation'>>,
    waiting: WaitingSprite & { moved?: MovedWorld },
    { body, start, end }: Readonly<Passage>,
  ): void {
    const { moved } = waiting;
    const name = Buffer.from(moved?.name ?? '');
    const kind = moved === undefined ? PeerKind.crossing : PeerKind.moved;
    const more = moved === undefined ? WAITING_BYTES : WAITING_BYTES + 2 + name.length;
    const at = this.#record(kind, waiting.edge, place, end - start, more);
    this.#bytes.writeUInt32LE(slot, at + 8);
    this.#bytes.writeUInt32LE(generation, at + 12);
    body.copy(this.#bytes, at + RECORD_BYTES, start, end);
    const after = at + RECORD_BYTES + end - start;
    this.#bytes.writeUInt32LE(waiting.slot, after);
    this.#bytes.writeUInt32LE(waiting.owners, after + 4);
    this.#bytes.writeUInt32LE(waiting.arrived, after + 8);
    if (moved === undefined) return;
    this.#bytes[after + WAITING_BYTES] = PICTURES.indexOf(moved.pictures);
    this.#bytes[after + WAITING_BYTES + 1] = name.length;
    name.copy(this.#bytes, after + WAITING_BYTES + 2);
  }

  /** Asks for the desktop at a place. REQUIRES: hasRoom. */
  name(place: number): void {
    this.#record(PeerKind.name, 0, place, 0);
  }

  /** Returns the frame, in a Buffer of exactly its size that the caller owns. */
  finish(number: number, earlier = 0): Buffer {
    this.#bytes.writeUInt16LE(this.#count, 2);
    return numbered(this.#bytes.subarray(0, this.#end), number, earlier);
  }

  #record(kind: number, edge: number, place: number, eventBytes: number, moreBytes = 0): number {
    const at = this.#end;
    const need = at + RECORD_BYTES + eventBytes + moreBytes;
    if (need > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(need, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, at);
      this.#bytes = larger;
    }
    this.#bytes.fill(0, at, at + RECORD_BYTES);
    this.#bytes.writeUInt16LE(need - at, at);
    this.#bytes[at + 2] = kind;
    this.#bytes[at + 3] = edge;
    this.#bytes.writeUInt32LE(place, at + 4);
    this.#bytes.writeUInt16LE(eventBytes, at + 24);
    this.#end = need;
    this.#count++;
    return at;
  }
}

/** A copy of a frame, with another number. */
export function numbered(frame: Buffer, number: number, earlier: number): Buffer {
  const bytes = Buffer.from(frame);
  bytes.writeUInt16LE(earlier, 6);
  bytes.writeDoubleLE(number, 16);
  return bytes;
}

/** Reads the head of a frame, and checks that all its records are whole. `bytes` stay in use. */
export function readPeerFrame(message: Uint8Array): PeerFrame | 'version' | 'malformed' {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  if (bytes.length < 1 || bytes.length > PEER_FRAME_BYTES_MAX) return 'malformed';
  if (bytes[0] !== PEER_VERSION) return 'version';
  if (bytes.length < HEAD_BYTES) return 'malformed';
  const sender = bytes.toString('latin1', HEAD_BYTES, HEAD_BYTES + bytes[1]);
  const start = bytes.readUInt16LE(4);
  const count = bytes.readUInt16LE(2);
  const number = bytes.readDoubleLE(16);
  if (!isRelayName(sender) || start < HEAD_BYTES + sender.length || start > bytes.length) return 'malformed';
  if (count > PEER_RECORDS_MAX || !Number.isSafeInteger(number) || number < 0) return 'malformed';
  const [epoch, to] = [bytes.readUInt32LE(8), bytes.readUInt32LE(12)];
  const incarnation = bytes.toString('hex', INCARNATION_AT, HEAD_BYTES);
  const frame = { sender, epoch, incarnation, to, number, earlier: bytes.readUInt16LE(6), count, bytes, start };
  let at = start;
  for (let left = count; left > 0; left--) {
    if (at + RECORD_BYTES > bytes.length) return 'malformed';
    const length = bytes.readUInt16LE(at);
    const eventBytes = bytes.readUInt16LE(at + 24);
    if (length < RECORD_BYTES + eventBytes || eventBytes > PEER_EVENT_BYTES_MAX || bytes[at + 3] > 3)
      return 'malformed';
    at += length;
  }
  return at === bytes.length ? frame : 'malformed';
}

/** Calls `each` with every record of a frame and its index, each time with the same view. */
export function readPeerRecords(
  { bytes, start, count }: PeerFrame,
  each: (record: PeerRecord, index: number) => void,
): void {
  const record: PeerRecord = {
    kind: 0,
    edge: 0,
    place: 0,
    slot: 0,
    generation: 0,
    crossing: 0,
    head: NO_HEAD,
    headLength: 0,
    body: bytes,
    start: 0,
    end: 0,
    waiting: { slot: 0, owners: 0, edge: 0, arrived: 0 },
    moved: undefined,
  };
  const { waiting } = record;
  let at = start;
  for (let index = 0; index < count; index++) {
    record.kind = bytes[at + 2];
    record.edge = bytes[at + 3] as EdgeNumber;
    record.place = bytes.readUInt32LE(at + 4);
    record.slot = bytes.readUInt32LE(at + 8);
    record.generation = bytes.readUInt32LE(at + 12);
    record.crossing = bytes.readDoubleLE(at + 16);
    record.start = at + RECORD_BYTES;
    record.end = record.start + bytes.readUInt16LE(at + 24);
    at += bytes.readUInt16LE(at);
    if (record.crossing === 0 && record.end + WAITING_BYTES <= at) {
      waiting.slot = bytes.readUInt32LE(record.end);
      waiting.owners = bytes.readUInt32LE(record.end + 4);
      waiting.edge = record.edge;
      waiting.arrived = bytes.readUInt32LE(record.end + 8);
    }
    record.moved = record.kind === PeerKind.moved ? readMoved(bytes, record.end + WAITING_BYTES, at) : undefined;
    each(record, index);
  }
}

/** Reads the world of a record that ends at `end`; undefined when it is not whole. */
function readMoved(bytes: Buffer, at: number, end: number): MovedWorld | undefined {
  if (at + 2 > end || at + 2 + bytes[at + 1] > end) return undefined;
  const pictures = PICTURES[bytes[at]];
  if (pictures === undefined) return undefined;
  return { name: bytes.toString('utf8', at + 2, at + 2 + bytes[at + 1]), pictures };
}

/** Writes an answer. `references` may have fewer entries than there are verdicts. */
export function writePeerAnswer(answer: Omit<PeerAnswer, 'eventBytesMax'>): Buffer {
  const { status, epoch, number, verdicts, references } = answer;
  const size = verdicts.length * VERDICT_BYTES + references.reduce((sum, { length }) => sum + length, 0);
  const bytes = Buffer.alloc(ANSWER_BYTES + size + EVENT_LIMIT_BYTES);
  bytes[0] = PEER_VERSION;
  bytes[1] = status;
  bytes.writeUInt16LE(verdicts.length, 2);
  bytes.writeUInt32LE(epoch, 4);
  bytes.writeDoubleLE(number, 8);
  let at = ANSWER_BYTES;
  for (const [index, verdict] of verdicts.entries()) {
    const length = references[index]?.length ?? 0;
    bytes.writeUInt16LE(VERDICT_BYTES + length, at);
    bytes[at + 2] = verdict;
    bytes.writeUInt16LE(length, at + 4);
    references[index]?.copy(bytes, at + VERDICT_BYTES);
    at += VERDICT_BYTES + length;
  }
  bytes.writeUInt16LE(PEER_EVENT_BYTES_MAX, at);
  return bytes;
}

/**
 * Reads an answer. References are checked, since they become part of answers to clients. `version`: the relay that answers has another
 * version, so it has not read the frame.
 */
export function readPeerAnswer(message: Uint8Array): PeerAnswer | 'version' | 'malformed' {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  if (bytes.length < ANSWER_BYTES) return 'malformed';
  if (bytes[0] !== PEER_VERSION) return bytes[1] === PeerStatus.version ? 'version' : 'malformed';
  const count = bytes.readUInt16LE(2);
  const number = bytes.readDoubleLE(8);
  if (count > PEER_RECORDS_MAX || !Number.isSafeInteger(number) || number < 0) return 'malformed';
  const verdicts = new Uint8Array(count);
  const references: Buffer[] = [];
  let at = ANSWER_BYTES;
  for (let index = 0; index < count; index++) {
    if (at + VERDICT_BYTES > bytes.length) return 'malformed';
    const length = bytes.readUInt16LE(at);
    const referenceBytes = bytes.readUInt16LE(at + 4);
    if (length < VERDICT_BYTES + referenceBytes || at + length > bytes.length) return 'malformed';
    verdicts[index] = bytes[at + 2];
    const reference = bytes.subarray(at + VERDICT_BYTES, at + VERDICT_BYTES + referenceBytes);
    references.push(referenceBytes === 0 || isReference(reference) ? reference : NOTHING);
    at += length;
  }
  const said = at + EVENT_LIMIT_BYTES <= bytes.length ? bytes.readUInt16LE(at) : 0;
  const eventBytesMax = Math.max(PEER_EVENT_BYTES_LEAST, said);
  return { status: bytes[1], epoch: bytes.readUInt32LE(4), number, verdicts, references, eventBytesMax };
}

const NOTHING = Buffer.alloc(0);

/** Whether these bytes are `{"desktop":"…","name":"…"}`. */
export function isReference(bytes: Buffer): boolean {
  return bytes.length <= REFERENCE_BYTES_MAX && isReferenceValue(parse(bytes.toString()));
}

/**
 * The sprite file of an event, and the desktop that has thrown it. Undefined when bytes[start, end) is not what a mailbox holds:
 * `"from":{…},"edge":…,"sprite":{…}}`.
 */
export function originOfEvent(
  bytes: Buffer,
  start: number,
  end: number,
): { file: string; desktop: string } | undefined {
  const event = parse(`{${bytes.toString('utf8', start, end)}`);
  if (!isObject(event) || !isReferenceValue(event.from) || typeof event.edge !== 'string') return undefined;
  const file = isObject(event.sprite) ? event.sprite.file : undefined;
  return isFileHash(file) ? { file, desktop: event.from.desktop } : undefined;
}

/**
 * A passage whose event a relay takes that takes `bytesMax`: one that is too long loses its sprite's journey, and its goal if it is too long
 * then. Without both it has at most PEER_EVENT_BYTES_LEAST.
 */
export function fitted<Any extends Readonly<Passage>>(passage: Any, bytesMax: number): Any {
  const { head, headLength, body, start, end } = passage;
  if (headLength + end - start <= bytesMax) return passage;
  const { goal, ...event } = JSON.parse(`{${head.subarray(0, headLength)}${body.subarray(start, end)}`);
  event.sprite.journey = undefined;
  const [withGoal, without] = [{ ...event, goal }, event].map((one) => Buffer.from(JSON.stringify(one).slice(1)));
  const fits = withGoal.length <= bytesMax ? withGoal : without;
  return { ...passage, head: NO_HEAD, headLength: 0, body: fits, start: 0, end: fits.length };
}

function isReferenceValue(value: unknown): value is { desktop: string; name: string } {
  return isObject(value) && typeof value.desktop === 'string' && typeof value.name === 'string';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

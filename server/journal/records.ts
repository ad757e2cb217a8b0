/**
 * Records: the facts of a turn as bytes, and back. JOURNAL.md has the layout of each.
 *
 * A record is a whole number of 32-bit words, little-endian. Its first word has the kind in bits 0 … 7, a detail (an edge, a flag)
 * in bits 8 … 15, and its length in words in the upper half.
 * Cost: writing allocates nothing, but doubles the buffer when a turn needs more; an event's bytes are copied once.
 */

import type { AcceptedCrossing, DayRow, DesktopRow, EndedRow, Facts, MailboxEvent } from '../domain/state/facts.ts';
import { DEFAULT_WORLD } from '../wire/join.ts';
import { NO_HEAD } from '../wire/passage.ts';
import { type FrameIdentity, INCARNATION_DIGITS } from '../wire/peers/peer_frame.ts';
import { PICTURES } from '../wire/pictures.ts';
import { type EdgeNumber, FILE_DIGITS } from '../wire/rules.ts';

export const RecordKind = {
  desktop: 1,
  free: 2,
  kept: 3,
  place: 4,
  width: 5,
  invitation: 6,
  mutes: 7,
  ended: 8,
  accepted: 9,
  sent: 10,
  acknowledged: 11,
  unsent: 12,
  moved: 13,
  mailbox: 14,
  event: 15,
  counters: 16,
  snapshotEnd: 17,
  shown: 18,
  peerFrame: 19,
  peerVerdicts: 20,
  peerTaken: 21,
  peersForgotten: 22,
  life: 24,
  custody: 25,
  day: 26,
} as const;

const BUFFER_BYTES = 4 << 10;

/**
 * The detail of a desktop: its pictures, in two bits; it shows its stage; those of its private world do not, unless they choose to; public
 * pages may show its name.
 */
const PICTURES_BITS = 3;
const SHOWS = 4;
const WORLD_HIDES = 8;
const NAMED = 16;
const DESKTOP_BITS = PICTURES_BITS | SHOWS | WORLD_HIDES | NAMED;

/** The detail of what a desktop shows from now on: its stage, and its name. */
const SHOWN_STAGE = 1;
const SHOWN_NAME = 2;

/** A detail bit of an event: it was sent. Bits 0 and 1 are its edge. */
const SENT = 4;

const WORD_BYTES = 4;
const TWO_32 = 2 ** 32;

/** The bytes of a record before its variable part. */
const DESKTOP_BYTES = 80;
const ENDED_BYTES = 52;
const ACCEPTED_BYTES = 36;
const EVENT_BYTES = 16;
const NAMED_BYTES = 20;
const PEER_BYTES = 20;
const DAY_BYTES = 32;

/** What follows the verdicts of a frame: its incarnation. */
const INCARNATION_BYTES = INCARNATION_DIGITS / 2;

/** A picture in a record: its hash, and how often it was thrown. */
const FILE_BYTES = FILE_DIGITS / 2;
const COUNTED_BYTES = FILE_BYTES + WORD_BYTES;
const NO_FILE = '0'.repeat(FILE_DIGITS);

/** Gathers records behind `head` bytes that the caller fills in. */
export class RecordWriter implements Facts {
  readonly hasRoom: boolean = true;
  /** A desktop has joined or a crossing was accepted since clear(): answers promise that. */
  promises = false;
  readonly #head: number;
  #words = new Uint32Array(BUFFER_BYTES / WORD_BYTES);
  bytes: Buffer = Buffer.from(this.#words.buffer);
  end: number;

  constructor(head: number) {
    this.#head = head;
    this.end = head;
  }

  get isEmpty(): boolean {
    return this.end === this.#head;
  }

  get isLong(): boolean {
    return false;
  }

  clear(): void {
    this.end = this.#head;
    this.promises = false;
  }

  desktop(row: DesktopRow): void {
    this.promises = true;
    const world = Buffer.from(row.world);
    const isHidden = !row.worldStage && row.world !== DEFAULT_WORLD;
    const detail =
      PICTURES.indexOf(row.pictures) | (row.stage ? SHOWS : 0) | (isHidden ? WORLD_HIDES : 0) | (row.named ? NAMED : 0);
    const at = this.#add(RecordKind.desktop, detail, DESKTOP_BYTES + row.name.length + world.length);
    const words = this.#words;
    words[at + 1] = row.slot;
    words[at + 2] = row.owners;
    words[at + 3] = row.generation;
    words.set(row.token, at + 4);
    words.set(row.invitation, at + 8);
    words[at + 12] = row.width;
    words[at + 13] = row.place;
    words[at + 14] = row.newestCrossing;
    words[at + 15] = row.newestCrossing / TWO_32;
    words[at + 16] = row.acceptedBits;
    words[at + 17] = row.receiver;
    words[at + 18] = row.receiverGeneration;
    words[at + 19] = row.name.length | (world.length << 16) | (row.lastAcceptedBehind << 24);
    const bytes = at * WORD_BYTES + DESKTOP_BYTES;
    row.name.copy(this.bytes, bytes);
    world.copy(this.bytes, bytes + row.name.length);
  }

  free(slot: number, owners: number): void {
    const at = this.#add(RecordKind.free, 0, 12);
    this.#words[at + 1] = slot;
    this.#words[at + 2] = owners;
  }

  kept(slot: number, owners: number, world: string, place: number): void {
    this.#named(RecordKind.kept, slot, owners, place, world);
  }

  place(slot: number, place: number): void {
    const at = this.#add(RecordKind.place, 0, 12);
    this.#words[at + 1] = slot;
    this.#words[at + 2] = place;
  }

  width(world: string, width: number): void {
    this.#named(RecordKind.width, width, 0, 0, world);
  }

  invitation(slot: number, secret: Uint32Array): void {
    const at = this.#add(RecordKind.invitation, 0, 24);
    this.#words[at + 1] = slot;
    this.#words.set(secret, at + 2);
  }

  mutes(slot: number, pairs: readonly number[]): void {
    const at = this.#add(RecordKind.mutes, 0, 8 + pairs.length * WORD_BYTES);
    this.#words[at + 1] = slot;
    for (let index = 0; index < pairs.length; index++) this.#words[at + 2 + index] = pairs[index];
  }

  shown(slot: number, stage: boolean, named: boolean): void {
    const at = this.#add(RecordKind.shown, (stage ? SHOWN_STAGE : 0) | (named ? SHOWN_NAME : 0), 8);
    this.#words[at + 1] = slot;
  }

  ended(row: EndedRow): void {
    const at = this.#add(RecordKind.ended, 0, ENDED_BYTES);
    const words = this.#words;
    words[at + 1] = row.row;
    words[at + 2] = row.nextRow;
    words[at + 3] = row.slot;
    words[at + 4] = row.generation;
    words.set(row.token, at + 5);
    words[at + 9] = row.newestCrossing;
    words[at + 10] = row.newestCrossing / TWO_32;
    words[at + 11] = row.acceptedBits;
    words[at + 12] = row.acknowledged;
  }

  accepted(accepted: Readonly<AcceptedCrossing>): void {
    this.promises = true;
    const { crossing, head, headLength, body, start, end } = accepted;
    const length = headLength + end - start;
    const at = this.#add(RecordKind.accepted, accepted.edge, ACCEPTED_BYTES + length);
    const words = this.#words;
    words[at + 1] = accepted.to;
    words[at + 2] = accepted.arrived;
    words[at + 3] = accepted.slot;
    words[at + 4] = crossing;
    words[at + 5] = crossing / TWO_32;
    words[at + 6] = accepted.receiver;
    words[at + 7] = accepted.receiverGeneration;
    words[at + 8] = length;
    const bytes = at * WORD_BYTES + ACCEPTED_BYTES;
    head.copy(this.bytes, bytes, 0, headLength);
    body.copy(this.bytes, bytes + headLength, start, end);
  }

  sent(slot: number, newest: number): void {
    const at = this.#add(RecordKind.sent, 0, 12);
    this.#words[at + 1] = slot;
    this.#words[at + 2] = newest;
  }

  acknowledged(slot: number, seq: number): void {
    const at = this.#add(RecordKind.acknowledged, 0, 12);
    this.#words[at + 1] = slot;
    this.#words[at + 2] = seq;
  }

  moving(_slot: number): void {}

  unsent(slot: number): void {
    const at = this.#add(RecordKind.unsent, 0, 8);
    this.#words[at + 1] = slot;
  }

  moved(slot: number, edge: EdgeNumber, to: number, events: number): void {
    const at = this.#add(RecordKind.moved, edge, 16);
    this.#words[at + 1] = slot;
    this.#words[at + 2] = to;
    this.#words[at + 3] = events;
  }

  mailbox(slot: number, acknowledged: number): void {
    const at = this.#add(RecordKind.mailbox, 0, 12);
    this.#words[at + 1] = slot;
    this.#words[at + 2] = acknowledged;
  }

  event(slot: number, isSent: boolean, { edge, arrived, body, start, end }: Readonly<MailboxEvent>): void {
    const at = this.#add(RecordKind.event, edge | (isSent ? SENT : 0), EVENT_BYTES + end - start);
    this.#words[at + 1] = slot;
    this.#words[at + 2] = arrived;
    this.#words[at + 3] = end - start;
    body.copy(this.bytes, at * WORD_BYTES + EVENT_BYTES, start, end);
  }

  peerFrame(peer: string, number: number, frame: Buffer): void {
    this.promises = true;
    this.#peer(RecordKind.peerFrame, { sender: peer, epoch: 0, incarnation: '', number }, frame);
  }

  /** Needs no promise: if it is lost, the frame is sent again and gets the same verdicts. */
  peerVerdicts(peer: string, incarnation: string, number: number, verdicts: Uint8Array): void {
    this.#peer(RecordKind.peerVerdicts, { sender: peer, epoch: 0, incarnation, number }, verdicts);
  }

  /** Needs no promise of its own: accepted() has promised the crossings that were accepted. */
  peerTaken(frame: FrameIdentity, verdicts: Uint8Array): void {
    this.#peer(RecordKind.peerTaken, frame, verdicts);
  }

  custody(slot: number, generation: number, crossing: number): void {
    this.promises = true;
    const at = this.#add(RecordKind.custody, 0, 20);
    this.#words[at + 1] = slot;
    this.#words[at + 2] = generation;
    this.#words[at + 3] = crossing;
    this.#words[at + 4] = crossing / TWO_32;
  }

  peersForgotten(): void {
    this.#add(RecordKind.peersForgotten, 0, 4);
  }

  /** Needs no promise: without room for it, the time of day is almost always later than it. */
  life(life: number): void {
    const at = this.#add(RecordKind.life, 0, 12);
    this.#words[at + 1] = life;
    this.#words[at + 2] = life / TWO_32;
  }

  /** Needs no promise: without room for it, the relay goes on, and a later one counts less. */
  day({ thrown, day, mostThrown, farthest }: Readonly<DayRow>): void {
    const name = Buffer.from(farthest?.name ?? '');
    const pictures = mostThrown.length;
    const at = this.#add(RecordKind.day, pictures, DAY_BYTES + FILE_BYTES + pictures * COUNTED_BYTES + name.length);
    const words = this.#words;
    words[at + 1] = thrown;
    words[at + 2] = thrown / TWO_32;
    words[at + 3] = day;
    words[at + 4] = farthest?.desktops ?? 0;
    words[at + 5] = farthest?.slot ?? 0;
    words[at + 6] = farthest?.generation ?? 0;
    words[at + 7] = name.length;
    let byte = at * WORD_BYTES + DAY_BYTES;
    byte += this.bytes.write(farthest?.file ?? NO_FILE, byte, 'hex');
    for (const { file, times } of mostThrown) {
      byte += this.bytes.write(file, byte, 'hex');
      byte = this.bytes.writeUInt32LE(times, byte);
    }
    name.copy(this.bytes, byte);
  }

  counters(accepted: number, acknowledged: number, abandoned: number): void {
    const at = this.#add(RecordKind.counters, 0, 28);
    const words = this.#words;
    words[at + 1] = accepted;
    words[at + 2] = accepted / TWO_32;
    words[at + 3] = acknowledged;
    words[at + 4] = acknowledged / TWO_32;
    words[at + 5] = abandoned;
    words[at + 6] = abandoned / TWO_32;
  }

  /** The snapshot that began in segment `first` has ended: the state of every slot is in it. */
  snapshotEnd(first: number): void {
    const at = this.#add(RecordKind.snapshotEnd, 0, 8);
    this.#words[at + 1] = first;
  }

  #named(kind: number, first: number, second: number, third: number, name: string): void {
    const text = Buffer.from(name);
    const at = this.#add(kind, 0, NAMED_BYTES + text.length);
    this.#words[at + 1] = first;
    this.#words[at + 2] = second;
    this.#words[at + 3] = third;
    this.#words[at + 4] = text.length;
    text.copy(this.bytes, at * WORD_BYTES + NAMED_BYTES);
  }

  /** The incarnation is empty where the frame has it. */
  #peer(kind: number, { sender: peer, epoch, incarnation, number }: FrameIdentity, bytes: Uint8Array): void {
    const at = this.#add(kind, peer.length, PEER_BYTES + peer.length + bytes.length + incarnation.length / 2);
    this.#words[at + 1] = number;
    this.#words[at + 2] = number / TWO_32;
    this.#words[at + 3] = epoch;
    this.#words[at + 4] = bytes.length;
    const from = at * WORD_BYTES + PEER_BYTES;
    this.bytes.write(peer, from, 'latin1');
    this.bytes.set(bytes, from + peer.length);
    this.bytes.write(incarnation, from + peer.length + bytes.length, 'hex');
  }

  /** Adds a record of `bytes` without its content; returns its first word. */
  #add(kind: number, detail: number, bytes: number): number {
    const length = (bytes + 3) >> 2;
    if (this.end + length * WORD_BYTES > this.bytes.length) this.#grow(this.end + length * WORD_BYTES);
    const at = this.end >> 2;
    this.#words[at + length - 1] = 0;
    this.#words[at] = kind | (detail << 8) | (length << 16);
    this.end += length * WORD_BYTES;
    return at;
  }

  #grow(bytes: number): void {
    const words = new Uint32Array((2 * bytes) >> 2);
    words.set(this.#words);
    this.#words = words;
    this.bytes = Buffer.from(words.buffer);
  }
}

/** Bytes that are not records of this version. */
export class RecordError extends Error {}

/** What the last record of a frame says if it is a `snapshotEnd`: the segment in which the snapshot began. Else 0. */
export function snapshotEndAt(bytes: Buffer, end: number): number {
  return bytes.readUInt32LE(end - 8) === (RecordKind.snapshotEnd | (2 << 16)) ? bytes.readUInt32LE(end - 4) : 0;
}

/**
 * Reads the records at bytes[start, end), in order. A `snapshotEnd` is no fact: snapshotEndAt() reads it.
 *
 * Throws  RecordError, when there is a record of an unknown kind or length.
 */
export function readRecords(bytes: Buffer, start: number, end: number, facts: Facts): void {
  const reader = new RecordReader(bytes, facts);
  for (let at = start >> 2; at < end >> 2; ) at += reader.read(at, end >> 2);
}

/** Reads a record that begins with word `at`, and has `length` words. */
type ReadKind = (own: RecordReader, at: number, length: number) => void;

/** Reads records as facts. Words of a record are counted from its first one, `at`. */
class RecordReader {
  /** How a record of each kind is read. */
  static readonly #readers: Readonly<Record<number, ReadKind | undefined>> = {
    [RecordKind.desktop]: (own, at) => own.#readDesktop(at),
    [RecordKind.free]: (own, at) => own.#facts.free(own.#words[at + 1], own.#words[at + 2]),
    [RecordKind.kept]: (own, at) =>
      own.#facts.kept(own.#words[at + 1], own.#words[at + 2], own.#name(at), own.#words[at + 3]),
    [RecordKind.place]: (own, at) => own.#facts.place(own.#words[at + 1], own.#words[at + 2]),
    [RecordKind.width]: (own, at) => own.#facts.width(own.#name(at), own.#words[at + 1]),
    [RecordKind.invitation]: (own, at) =>
      own.#facts.invitation(own.#words[at + 1], own.#words.subarray(at + 2, at + 6)),
    [RecordKind.mutes]: (own, at, length) =>
      own.#facts.mutes(own.#words[at + 1], [...own.#words.subarray(at + 2, at + length)]),
    [RecordKind.ended]: (own, at) => own.#readEnded(at),
    [RecordKind.accepted]: (own, at) => own.#readAccepted(at),
    [RecordKind.sent]: (own, at) => own.#facts.sent(own.#words[at + 1], own.#words[at + 2]),
    [RecordKind.acknowledged]: (own, at) => own.#facts.acknowledged(own.#words[at + 1], own.#words[at + 2]),
    [RecordKind.unsent]: (own, at) => own.#facts.unsent(own.#words[at + 1]),
    [RecordKind.moved]: (own, at) =>
      own.#facts.moved(own.#words[at + 1], own.#edge(at), own.#words[at + 2], own.#words[at + 3]),
    [RecordKind.mailbox]: (own, at) => own.#facts.mailbox(own.#words[at + 1], own.#words[at + 2]),
    [RecordKind.event]: (own, at) => own.#readEvent(at),
    [RecordKind.counters]: (own, at) => own.#facts.counters(own.#big(at + 1), own.#big(at + 3), own.#big(at + 5)),
    [RecordKind.snapshotEnd]: () => {},
    [RecordKind.shown]: (own, at) => own.#readShown(at),
    [RecordKind.peerFrame]: (own, at) => own.#readFrame(RecordKind.peerFrame, at),
    [RecordKind.peerVerdicts]: (own, at) => own.#readFrame(RecordKind.peerVerdicts, at),
    [RecordKind.peerTaken]: (own, at) => own.#readFrame(RecordKind.peerTaken, at),
    [RecordKind.peersForgotten]: (own) => own.#facts.peersForgotten(),
    [RecordKind.life]: (own, at) => own.#facts.life(own.#big(at + 1)),
    [RecordKind.custody]: (own, at) => own.#facts.custody(own.#words[at + 1], own.#words[at + 2], own.#big(at + 3)),
    [RecordKind.day]: (own, at) => own.#readDay(at),
  } satisfies Record<(typeof RecordKind)[keyof typeof RecordKind], ReadKind>;

  readonly #bytes: Buffer;
  readonly #words: Uint32Array;
  readonly #facts: Facts;
  /** The crossing or the event that is read. */
  readonly #crossing: AcceptedCrossing;

  constructor(bytes: Buffer, facts: Facts) {
    this.#bytes = bytes;
    this.#words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
    this.#facts = facts;
    this.#crossing = {
      to: 0,
      edge: 0,
      arrived: 0,
      head: NO_HEAD,
      headLength: 0,
      body: bytes,
      start: 0,
      end: 0,
      slot: 0,
      generation: 0,
      crossing: 0,
      receiver: 0,
      receiverGeneration: 0,
    };
  }

  /** Reads the record that begins with word `at`, before word `end`. Returns its length in words. */
  read(at: number, end: number): number {
    const words = this.#words;
    const length = words[at] >>> 16;
    if (length === 0 || at + length > end) throw new RecordError(`a record of ${length} words`);
    const kind = words[at] & 0xff;
    const readKind = RecordReader.#readers[kind];
    if (readKind === undefined) throw new RecordError(`a record of kind ${kind}`);
    readKind(this, at, length);
    return length;
  }

  #detail(at: number): number {
    return (this.#words[at] >>> 8) & 0xff;
  }

  #edge(at: number): EdgeNumber {
    return (this.#detail(at) & 3) as EdgeNumber;
  }

  /** A number of two words. */
  #big(at: number): number {
    return this.#words[at] + this.#words[at + 1] * TWO_32;
  }

  #text(from: number, bytes: number): string {
    return this.#bytes.toString('utf8', from, from + bytes);
  }

  /** The name of a record that #named() of the writer has written. */
  #name(at: number): string {
    return this.#text(at * WORD_BYTES + NAMED_BYTES, this.#words[at + 4]);
  }

  #readDesktop(at: number): void {
    const words = this.#words;
    const detail = this.#detail(at);
    const pictures = detail <= DESKTOP_BITS ? PICTURES[detail & PICTURES_BITS] : undefined;
    if (pictures === undefined) throw new RecordError(`a desktop with detail ${detail}`);
    const nameBytes = words[at + 19] & 0xffff;
    const name = at * WORD_BYTES + DESKTOP_BYTES;
    const world = this.#text(name + nameBytes, (words[at + 19] >>> 16) & 0xff);
    this.#facts.desktop({
      slot: words[at + 1],
      owners: words[at + 2],
      generation: words[at + 3],
      width: words[at + 12],
      place: words[at + 13],
      pictures,
      stage: (detail & SHOWS) !== 0,
      named: (detail & NAMED) !== 0,
      world,
      worldStage: world !== DEFAULT_WORLD && (detail & WORLD_HIDES) === 0,
      token: words.subarray(at + 4, at + 8),
      invitation: words.subarray(at + 8, at + 12),
      newestCrossing: this.#big(at + 14),
      acceptedBits: words[at + 16],
      receiver: words[at + 17],
      receiverGeneration: words[at + 18],
      lastAcceptedBehind: words[at + 19] >>> 24,
      name: this.#bytes.subarray(name, name + nameBytes),
    });
  }

  #readShown(at: number): void {
    const detail = this.#detail(at);
    this.#facts.shown(this.#words[at + 1], (detail & SHOWN_STAGE) !== 0, (detail & SHOWN_NAME) !== 0);
  }

  #readEnded(at: number): void {
    const words = this.#words;
    this.#facts.ended({
      row: words[at + 1],
      nextRow: words[at + 2],
      slot: words[at + 3],
      generation: words[at + 4],
      token: words.subarray(at + 5, at + 9),
      newestCrossing: this.#big(at + 9),
      acceptedBits: words[at + 11],
      acknowledged: words[at + 12],
    });
  }

  #readDay(at: number): void {
    const words = this.#words;
    const fileAt = (byte: number) => this.#bytes.toString('hex', byte, byte + FILE_BYTES);
    const byte = at * WORD_BYTES + DAY_BYTES;
    const pictures = byte + FILE_BYTES;
    const name = pictures + this.#detail(at) * COUNTED_BYTES;
    this.#facts.day({
      thrown: this.#big(at + 1),
      day: words[at + 3],
      mostThrown: Array.from({ length: this.#detail(at) }, (_, index) => {
        const from = pictures + index * COUNTED_BYTES;
        return { file: fileAt(from), times: this.#bytes.readUInt32LE(from + FILE_BYTES) };
      }),
      farthest:
        words[at + 4] === 0
          ? undefined
          : {
              file: fileAt(byte),
              desktops: words[at + 4],
              slot: words[at + 5],
              generation: words[at + 6],
              name: this.#text(name, words[at + 7]),
            },
    });
  }

  #readAccepted(at: number): void {
    const words = this.#words;
    const crossing = this.#crossing;
    crossing.to = words[at + 1];
    crossing.edge = this.#edge(at);
    crossing.arrived = words[at + 2];
    crossing.slot = words[at + 3];
    crossing.crossing = this.#big(at + 4);
    crossing.receiver = words[at + 6];
    crossing.receiverGeneration = words[at + 7];
    crossing.start = at * WORD_BYTES + ACCEPTED_BYTES;
    crossing.end = crossing.start + words[at + 8];
    this.#facts.accepted(crossing);
  }

  #readEvent(at: number): void {
    const words = this.#words;
    const event = this.#crossing;
    event.edge = this.#edge(at);
    event.arrived = words[at + 2];
    event.start = at * WORD_BYTES + EVENT_BYTES;
    event.end = event.start + words[at + 3];
    this.#facts.event(words[at + 1], (this.#detail(at) & SENT) !== 0, event);
  }

  #readFrame(kind: number, at: number): void {
    const bytes = this.#bytes;
    const byte = at * WORD_BYTES;
    const from = byte + PEER_BYTES + this.#detail(at);
    const sender = this.#text(byte + PEER_BYTES, this.#detail(at));
    const number = this.#big(at + 1);
    const stop = from + this.#words[at + 4];
    const content = bytes.subarray(from, stop);
    const incarnation = bytes.toString('hex', stop, stop + INCARNATION_BYTES);
    if (kind === RecordKind.peerFrame) this.#facts.peerFrame(sender, number, content);
    else if (kind === RecordKind.peerVerdicts) this.#facts.peerVerdicts(sender, incarnation, number, content);
    else this.#facts.peerTaken({ sender, epoch: this.#words[at + 3], incarnation, number }, content);
  }
}

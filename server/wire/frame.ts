/**
 * A frame: the message between worker and master, many records in one binary Buffer.
 *
 * Layout, little-endian. Frame: version u8, 0 u8, 0 u16, length of the frame u32, count of records u32, records. Record: length of
 * its body u32, kind u8, Retry-After in seconds u8, status u16, request number u32, body. The worker chooses the request number; its
 * one answer has the same number. The bodies of frequent records are binary, those of rare ones JSON.
 * Cost: one copy of each body; no object per record (the reader fills one view).
 */

import type { Answer, AnswerView } from './answer.ts';
import type { CheckedCrossing } from './crossing.ts';
import type { Identity } from './identity.ts';
import { Standing } from './pictures.ts';
import { EDGES, type EdgeNumber } from './rules.ts';

const FRAME_VERSION = 2;

/** A frame is sent when it exceeds this size in bytes, so that it fills a 64 KiB socket buffer fewer than 20 times. */
export const FRAME_BYTES_TARGET = 1 << 20;

/**
 * The longest frame, in bytes. A frame that is just below FRAME_BYTES_TARGET may get one more record, and the largest one has a sprite
 * file of 1 MiB; the limit is twice the sum. A longer frame is a fault of the process that sends it.
 */
export const FRAME_BYTES_MAX = 4 * FRAME_BYTES_TARGET;

/**
 * Kinds of records. The master sends only the last three, and a worker all the others. `shared` is the end of the body of each
 * `sharingAnswer` behind it, up to the next `shared`.
 */
export const RecordKind = {
  crossing: 1,
  poll: 2,
  closed: 3,
  join: 4,
  leave: 5,
  describe: 6,
  verify: 7,
  renew: 8,
  count: 9,
  mute: 11,
  unmute: 12,
  report: 13,
  say: 14,
  peek: 15,
  setShows: 16,
  show: 17,
  fetch: 18,
  publish: 19,
  flying: 20,
  feedback: 21,
  company: 22,
  setNamed: 23,
  askSwap: 24,
  answerSwap: 25,
  answer: 32,
  shared: 33,
  sharingAnswer: 34,
} as const;

/** Bytes before the first record. */
export const FRAME_HEAD = 12;
const RECORD_HEAD = 12;
const IDENTITY_BYTES = 24;
const CROSSING_HEAD_BYTES = IDENTITY_BYTES + 12;

/** One record. Owner: the reader, which overwrites it with the next record; `body` is the frame itself. */
export interface RecordView extends Identity, AnswerView {
  kind: number;
  request: number;
  /** crossing */
  crossing: number;
  edge: EdgeNumber;
  /** crossing, show */
  standing: Standing;
  /** poll; seq is -1 when it has no cursor */
  epoch: number;
  seq: number;
  /** The rest of the record's body: body[start, end). */
  body: Buffer;
  start: number;
  end: number;
  /** answer: the end of its body, which it shares with others; undefined when it shares nothing. */
  shared: Buffer | undefined;
}

/** What was received is not a frame. Frames come from our own processes, so this is a fault of the process that sent it. */
export class MalformedFrame extends Error {
  constructor(why: string) {
    super(`frame: ${why}`);
  }
}

/** Gathers records; finish() returns the frame and begins the next one. */
export class FrameWriter {
  #bytes = Buffer.allocUnsafe(64 << 10);
  #length = FRAME_HEAD;
  #count = 0;
  /** The newest `shared` of this frame. */
  #shared: Buffer | undefined;

  get count(): number {
    return this.#count;
  }

  get length(): number {
    return this.#length;
  }

  crossing(
    request: number,
    from: Identity,
    { crossing, edge, body, start, end }: CheckedCrossing,
    standing: Standing = Standing.unchecked,
  ): void {
    let at = this.#beginRecord(RecordKind.crossing, request, CROSSING_HEAD_BYTES + end - start);
    at = this.#identity(at, from);
    at = this.#bytes.writeDoubleLE(crossing, at);
    at = this.#bytes.writeUInt16LE(edge, at);
    at = this.#bytes.writeUInt16LE(standing, at);
    this.#endRecord(at + body.copy(this.#bytes, at, start, end));
  }

  /** A stage: `body` as readStage() made it. */
  show(request: number, from: Identity, body: Buffer, standing: Standing): void {
    let at = this.#beginRecord(RecordKind.show, request, IDENTITY_BYTES + 4 + body.length);
    at = this.#identity(at, from);
    at = this.#bytes.writeUInt32LE(standing, at);
    this.#endRecord(at + body.copy(this.#bytes, at));
  }

  poll(request: number, desktop: Identity, epoch: number, seq: number): void {
    let at = this.#beginRecord(RecordKind.poll, request, IDENTITY_BYTES + 12);
    at = this.#identity(at, desktop);
    at = this.#bytes.writeUInt32LE(epoch, at);
    this.#endRecord(this.#bytes.writeDoubleLE(seq, at));
  }

  /** A record about a desktop: closed, leave, describe, company, verify, renew and count have nothing more; the others have JSON. */
  desktop(kind: number, request: number, desktop: Identity, json = ''): void {
    const room = json.length * 3;
    const at = this.#identity(this.#beginRecord(kind, request, IDENTITY_BYTES + room), desktop);
    this.#endRecord(json === '' ? at : at + this.#bytes.write(json, at, room, 'utf8'));
  }

  join(request: number, json: string): void {
    const room = json.length * 3;
    const at = this.#beginRecord(RecordKind.join, request, room);
    this.#endRecord(at + this.#bytes.write(json, at, room, 'utf8'));
  }

  readonly answer: Answer = (request, { status, body, start, end, retryAfterSeconds, shared }) => {
    if (shared !== undefined) this.#share(shared);
    const kind = shared === undefined ? RecordKind.answer : RecordKind.sharingAnswer;
    const at = this.#beginRecord(kind, request, end - start);
    this.#bytes[at - RECORD_HEAD + 5] = retryAfterSeconds;
    this.#bytes.writeUInt16LE(status, at - RECORD_HEAD + 6);
    copy(body, this.#bytes, at, start, end);
    this.#endRecord(at + end - start);
  };

  /** Returns the frame, in a Buffer of exactly its size that the caller owns, and begins the next one. */
  finish(): Buffer {
    this.#bytes.writeUInt32LE(FRAME_VERSION, 0);
    this.#bytes.writeUInt32LE(this.#length, 4);
    this.#bytes.writeUInt32LE(this.#count, 8);
    const frame = Buffer.from(this.#bytes.subarray(0, this.#length));
    this.#length = FRAME_HEAD;
    this.#count = 0;
    this.#shared = undefined;
    return frame;
  }

  #share(shared: Buffer): void {
    if (shared === this.#shared) return;
    this.#shared = shared;
    const at = this.#beginRecord(RecordKind.shared, 0, shared.length);
    this.#endRecord(at + shared.copy(this.#bytes, at));
  }

  #beginRecord(kind: number, request: number, room: number): number {
    const need = this.#length + RECORD_HEAD + room;
    if (need > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(need, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    const at = this.#length;
    this.#bytes.writeUInt32LE(kind, at + 4);
    this.#bytes.writeUInt32LE(request, at + 8);
    return at + RECORD_HEAD;
  }

  #identity(at: number, identity: Identity): number {
    this.#bytes.writeUInt32LE(identity.slot, at);
    this.#bytes.writeUInt32LE(identity.generation, at + 4);
    for (let word = 0; word < 4; word++) this.#bytes.writeUInt32LE(identity.token[word], at + 8 + word * 4);
    return at + IDENTITY_BYTES;
  }

  #endRecord(end: number): void {
    this.#bytes.writeUInt32LE(end - this.#length - RECORD_HEAD, this.#length);
    this.#length = end;
    this.#count++;
  }
}

/**
 * Calls `each` for every record of a frame, each time with the same view.
 *
 * Throws  MalformedFrame; the records before the fault were passed on.
 */
export function readFrame(frame: Uint8Array, each: (record: RecordView) => void): void {
  const bytes = Buffer.isBuffer(frame) ? frame : Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
  if (bytes.length < FRAME_HEAD || bytes.readUInt32LE(0) !== FRAME_VERSION)
    throw new MalformedFrame(`the version is not ${FRAME_VERSION}`);
  const count = bytes.readUInt32LE(8);
  const view = blankRecord(bytes);
  let shared: Buffer | undefined;
  let at = FRAME_HEAD;
  for (let n = 0; n < count; n++) {
    if (at + RECORD_HEAD > bytes.length) throw new MalformedFrame(`record ${n} of ${count} is cut off`);
    const end = at + RECORD_HEAD + bytes.readUInt32LE(at);
    view.kind = bytes[at + 4];
    view.retryAfterSeconds = bytes[at + 5];
    view.status = bytes.readUInt16LE(at + 6);
    view.request = bytes.readUInt32LE(at + 8);
    at += RECORD_HEAD;
    if (end > bytes.length) throw new MalformedFrame(`record ${n} of ${count} is cut off`);
    if (at + fixedBytes(view.kind) > end) throw new MalformedFrame(`record ${n} of ${count} is too short`);
    if (view.kind < RecordKind.answer && view.kind !== RecordKind.join) {
      view.slot = bytes.readUInt32LE(at);
      view.generation = bytes.readUInt32LE(at + 4);
      for (let word = 0; word < 4; word++) view.token[word] = bytes.readUInt32LE(at + 8 + word * 4);
      at += IDENTITY_BYTES;
    }
    if (view.kind === RecordKind.crossing) {
      view.crossing = bytes.readDoubleLE(at);
      const edge = bytes.readUInt16LE(at + 8);
      if (edge >= EDGES.length) throw new MalformedFrame(`there is no edge ${edge}`);
      view.edge = edge as EdgeNumber;
      view.standing = bytes.readUInt16LE(at + 10) as Standing;
      at += 12;
    } else if (view.kind === RecordKind.show) {
      view.standing = bytes.readUInt32LE(at) as Standing;
      at += 4;
    } else if (view.kind === RecordKind.poll) {
      view.epoch = bytes.readUInt32LE(at);
      view.seq = bytes.readDoubleLE(at + 4);
      at += 12;
    }
    view.start = at;
    view.end = end;
    if (view.kind === RecordKind.shared) shared = bytes.subarray(at, end);
    else {
      view.shared = view.kind === RecordKind.sharingAnswer ? shared : undefined;
      each(view);
    }
    at = end;
  }
  if (at !== bytes.length) throw new MalformedFrame(`${bytes.length - at} bytes after the last record`);
}

/** The bytes that each record of a kind has. */
function fixedBytes(kind: number): number {
  if (kind >= RecordKind.answer || kind === RecordKind.join) return 0;
  if (kind === RecordKind.crossing || kind === RecordKind.poll) return IDENTITY_BYTES + 12;
  return kind === RecordKind.show ? IDENTITY_BYTES + 4 : IDENTITY_BYTES;
}

function blankRecord(body: Buffer): RecordView {
  const identity = { slot: 0, generation: 0, token: new Uint32Array(4) };
  const numbers = { kind: 0, status: 0, retryAfterSeconds: 0, request: 0, crossing: 0 };
  const poll = { epoch: 0, seq: 0 };
  return { ...identity, ...numbers, edge: 0, standing: 0, ...poll, body, start: 0, end: 0, shared: undefined };
}

/** Copies from[start, end) to to[at]; `from` need not be a Buffer. */
function copy(from: Uint8Array, to: Buffer, at: number, start: number, end: number): void {
  to.set(start === 0 && end === from.length ? from : from.subarray(start, end), at);
}

/**
 * The journal: what must survive the relay, in files that only grow.
 *
 * The relay tells its facts; commit() stores all of a turn in the tail, or writes it with one write. Only then may its answers leave. When the
 * files have grown far beyond what is alive in them, a compaction writes a snapshot of the state into new files, a little with each
 * turn; then the old ones are removed. JOURNAL.md has the format.
 * Invariant: the files give the state at the end of the last commit(), whenever the process dies.
 * Limits: the files are smaller than SIZE_FACTOR_MAX times what is alive, or than SIZE_BYTES_MIN.
 * Cost: a fact is copied into one buffer; a turn is one checksum, and one copy or one write.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { Recovery, RecoveryError } from '../domain/recovery.ts';
import type { Relay } from '../domain/relay.ts';
import type { Facts } from '../domain/state/facts.ts';
import type { Disk, File } from './disk.ts';
import { RecordError, RecordWriter, readRecords, snapshotEndAt } from './records.ts';
import {
  FRAME_HEAD_BYTES,
  findFrame,
  frameEnd,
  HEAD_BYTES,
  isFrame,
  readHead,
  type SegmentHead,
  sealFrame,
  segmentName,
  segmentOf,
  VERSION,
  writeHead,
} from './segments.ts';
import { readTail, TAIL, TAIL_BYTES, Tail, type TailContent, TailDamaged, withTail } from './tail.ts';

/** What an answer waits for: the page cache of the system (`process`), or the disk (`machine`). */
export type Durability = 'process' | 'machine';

/** A segment is ended when it is larger: recovery reads one at a time into memory. */
const SEGMENT_BYTES = 64 << 20;

/** The files may have this many times the bytes of what is alive, … */
export const SIZE_FACTOR_MAX = 3;

/** … or this many, whichever is more. */
export const SIZE_BYTES_MIN = 64 << 20;

/** A compaction begins at this share of the limit. Its snapshot and what happens meanwhile take the rest. */
const COMPACTION_SHARE = 0.58;
const COMPACTION_SHARE_MIN = 0.375;

/** Bytes of the snapshot for each byte of facts, and in one turn, some 1 ms. */
const SNAPSHOT_FACTOR = 4;
const SNAPSHOT_STEP_BYTES_MAX = 512 << 10;

/** Rows of the ended desktops, and slots, that a step looks at: some 1 ms. */
const SNAPSHOT_ROWS_MAX = 2048;

/**
 * Bytes of a turn after which leases that have ended wait for the next one: desktops with full mailboxes that end together while the
 * snapshot is written would otherwise write 128 KiB each in one turn. Some 1 ms.
 */
const TURN_BYTES_MAX = 512 << 10;

/** Bytes of what is alive, for an estimate: a desktop without its name, a slot without one, a row of an ended desktop. */
const DESKTOP_BYTES = 96;
const FREE_BYTES = 12;
const ENDED_BYTES = 48;

/** A file of this size is given up when the disk is full, so that the turn that fills the disk can still be written. */
const RESERVE = 'reserve';
const RESERVE_BYTES = 4 << 20;

/** How often a full disk is tried again, in ms. */
const RETRY_MS = 1000;

export interface JournalOptions {
  durability: Durability;
  /** For a new journal. */
  epoch: number;
  generationKey: Uint8Array;
  /** A turn could not be written, so its answers must not leave. Must not return. */
  fail(error: Error): never;
  /** The disk is full, or has room again. */
  changed?(hasRoom: boolean, error?: Error): void;
  /** The tail could not be made, so each turn is a write. Called only if the disk maps files. */
  tailless?(error: Error): void;
  segmentBytes?: number;
  sizeBytesMin?: number;
  reserveBytes?: number;
  tailBytes?: number;
}

/** What the journal had. */
export interface Recovered {
  desktops: number;
  /** Sprites that wait. */
  sprites: number;
  /** Bytes at the end that were cut off: a turn whose write was interrupted, and whose answers have not left. */
  tornBytes: number;
  /** Bytes that the last segment had when the tail was begun, and has no more: turns that were answered are missing. */
  missingBytes: number;
  /** Nothing in the folder could be read: the journal is new, or has lost its contents. */
  isEmpty: boolean;
  /** Bytes that only the tail had: turns that were answered, but not written to their segment yet. */
  tailBytes: number;
  frames: number;
  bytes: number;
}

/** What an operator can do about a damaged journal: the end of each message about one. */
const REMEDY =
  '"npm run admin -- journal export" saves what can be read. To start without it, move its folder away: then every desktop joins again, ' +
  'and the sprites in it are lost.';

/** The files differ from what a relay has written. The message says what is wrong, and what to do. */
export class JournalDamaged extends Error {
  /** The message after `journal check`: without the advice to run it. */
  readonly checked: string;

  constructor(what: string) {
    super(`The journal is damaged: ${what}. "npm run admin -- journal check" tells more. ${REMEDY}`);
    this.checked = `The journal is damaged: ${what}. ${REMEDY}`;
  }
}

interface Segment {
  readonly number: number;
  bytes: number;
}

/** A compaction that is going on, and how far its snapshot is. */
interface Compaction {
  /** The segment in which it began. */
  readonly first: number;
  /** Rows of ended desktops, and slots, below these are in the snapshot. */
  endedRow: number;
  slot: number;
  /** Slots from `slot` on that were written before their sprites moved. */
  readonly early: Set<number>;
  /** Facts before it are missing. */
  readonly afterGap: boolean;
}

/** What the relay has told since the last commit. */
class Turn extends RecordWriter {
  override hasRoom = true;
  readonly #moving: (slot: number) => void;

  constructor(moving: (slot: number) => void) {
    super(FRAME_HEAD_BYTES);
    this.#moving = moving;
  }

  override moving(slot: number): void {
    this.#moving(slot);
  }

  override get isLong(): boolean {
    return this.end > TURN_BYTES_MAX;
  }
}

export class Journal {
  readonly epoch: number;
  readonly generationKey: Buffer;
  readonly #disk: Disk;
  readonly #options: JournalOptions;
  readonly #segmentBytes: number;
  readonly #sizeBytesMin: number;
  readonly #turn = new Turn((slot) => this.#moving(slot));
  readonly #segments: Segment[];
  #relay: Relay | undefined;
  #file: File = -1;
  /** The last frames of the last segment; absent with `machine`, or when the disk does not map files. */
  #tail: Tail | undefined;
  #nextFrame = 1;
  #compaction: Compaction | undefined;
  /** Facts are not written any more. */
  #isBehind = false;
  #hasReserve = false;
  #nextTryMs = 0;
  /** Since the start. */
  frames = 0;
  writtenBytes = 0;
  compactions = 0;

  /** Opens a journal, or makes one. Throws JournalDamaged, OtherFormat, or the system's error. */
  constructor(disk: Disk, options: JournalOptions) {
    this.#disk = disk;
    this.#options = options;
    this.#segmentBytes = options.segmentBytes ?? SEGMENT_BYTES;
    this.#sizeBytesMin = options.sizeBytesMin ?? SIZE_BYTES_MIN;
    const { segments, head } = listSegments(disk);
    this.#segments = segments.map((number) => ({ number, bytes: 0 }));
    this.epoch = head?.epoch ?? options.epoch;
    this.generationKey = head?.generationKey ?? Buffer.from(options.generationKey);
  }

  get hasRoom(): boolean {
    return this.#turn.hasRoom;
  }

  /** Bytes of all files. */
  get sizeBytes(): number {
    return this.#segments.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** An estimate of the bytes that a journal would have if it began now. */
  get liveBytes(): number {
    const { desktops, slab, ended } = this.#relay as Relay;
    return desktops.count * DESKTOP_BYTES + desktops.untouched * FREE_BYTES + slab.usedBytes + ended.used * ENDED_BYTES;
  }

  get isCompacting(): boolean {
    return this.#compaction !== undefined;
  }

  /** Whether the files lack something that the relay has told. */
  get isBehind(): boolean {
    return this.#isBehind || this.#compaction?.afterGap === true;
  }

  /** Restores a relay that has just been made with this epoch and key, at `nowMs`; then writes what it does. */
  recover(relay: Relay, nowMs: number): Recovered {
    this.#relay = relay;
    const recovery = new Recovery(relay, nowMs);
    const read = readJournal(this.#disk, recovery);
    try {
      if (read.frames > 0) recovery.finish();
    } catch (error) {
      throw error instanceof RecoveryError ? new JournalDamaged(error.message) : error;
    }
    const old: string[] = [];
    for (const { number } of this.#segments.splice(0)) {
      const bytes = read.bytesOf.get(number);
      if (bytes !== undefined) this.#segments.push({ number, bytes });
      // The segment is older than the snapshot; or it lies behind a gap, or has no frame yet.
      else if (this.#segments.length === 0 && read.bytesOf.size > 0) old.push(segmentName(number));
      else this.#disk.remove(segmentName(number));
    }
    this.#nextFrame = read.nextFrame;
    this.#openLast(read);
    if (old.length > 0) this.#disk.retire(old, this.#file);
    this.#makeReserve();
    if (!this.#isBehind) this.#makeTail();
    relay.setFacts(this.#turn);
    const bytes = this.sizeBytes;
    return {
      desktops: relay.desktops.count,
      sprites: relay.waiting,
      tornBytes: read.tornBytes,
      missingBytes: read.missingBytes,
      tailBytes: read.tailBytes,
      frames: read.frames,
      isEmpty: read.bytesOf.size === 0,
      bytes,
    };
  }

  #openLast(read: Read): void {
    const isSynced = this.#options.durability === 'machine';
    for (const segment of this.#segments) {
      const file = this.#disk.open(segmentName(segment.number));
      // What was cut off is in the last file; or in one before that is gone now, as is all behind a gap.
      if (segment === this.#segments.at(-1)) {
        this.#file = file;
        if (read.tail) this.#settle(read.tail, segment.bytes);
        if (!this.#isBehind) this.#disk.truncate(file, segment.bytes);
      }
      // The relay before may have died between a write and its sync, and answers will depend on what was read.
      if (isSynced) this.#disk.sync(file);
      if (file !== this.#file) this.#disk.close(file);
    }
    if (this.#segments.length === 0) this.#addSegment(read.nextSegment, false);
    else if (isSynced) this.#disk.syncNames();
    // An earlier version of the relay would take today's records behind its own for damage. A segment of today's format it refuses.
    if (read.version < VERSION && !this.#isBehind && !this.#rotate(false)) this.#isBehind = true;
  }

  /**
   * Writes to the last segment, which ends at `end`, what only the tail of the relay before has. Without room for it, that file keeps it, and
   * nothing is written until there is room for a snapshot. Throws the system's error.
   */
  #settle({ offset, frames }: TailContent, end: number): void {
    const length = Math.min(frames.length, end - offset);
    if (length <= 0) return;
    this.#hasReserve = this.#disk.names().includes(RESERVE);
    const error = this.#put(frames, length, offset);
    this.#hasReserve = false;
    if (!error) return;
    if (!isFull(error)) throw error;
    this.#isBehind = true;
    this.#noRoom(error);
  }

  /** Writes what happened since the last call. The answers of these turns may leave when it returns. */
  commit(): void {
    if (this.#turn.isEmpty) return;
    if (this.#isBehind) {
      this.#turn.clear();
      return;
    }
    if (this.#compaction) this.#writeSnapshot(this.#compaction, SNAPSHOT_FACTOR * (this.#turn.end - FRAME_HEAD_BYTES));
    this.#writeFrame();
    if (!this.#compaction && !this.#isBehind && this.#isTooLarge()) this.#beginCompaction(false);
  }

  /** Writes what the tail has to its segment, and tries a full disk again, once a second. */
  tick(nowMs: number): void {
    const error = this.#flush();
    if (error) this.#noRoom(error);
    if (this.hasRoom) return;
    if (this.#compaction?.afterGap) {
      this.#writeSnapshot(this.#compaction, SNAPSHOT_STEP_BYTES_MAX);
      this.#writeFrame();
    }
    if (this.#compaction?.afterGap || nowMs < this.#nextTryMs) return;
    this.#nextTryMs = nowMs + RETRY_MS;
    if (this.#isBehind) this.#beginCompaction(true);
    if (this.#isBehind || this.#compaction?.afterGap || !this.#makeReserve()) return;
    this.#turn.hasRoom = true;
    this.#options.changed?.(true);
    if (!this.#tail) this.#makeTail();
  }

  /**
   * Compacts the journal now. Afterwards the files have only what is alive, and the facts written meanwhile. Resolves to false when the disk is too
   * full for that. Cost: the loop is blocked for some ms at a time.
   */
  async compact(): Promise<boolean> {
    await this.#endSnapshot(); // an earlier snapshot may hold what is to be removed
    this.commit();
    if (!this.hasRoom) return false;
    if (!this.#compaction) this.#beginCompaction(false);
    await this.#endSnapshot();
    if (!this.hasRoom) return false;
    // The file of the tail still holds its earlier frames, so a new file replaces it.
    if (this.#tail && !this.#flush()) {
      this.#tail = undefined;
      this.#makeTail();
    }
    return this.hasRoom;
  }

  /** Writes the rest of a snapshot, if one has begun, while there is room for it. */
  async #endSnapshot(): Promise<void> {
    while (this.#compaction && this.hasRoom) {
      this.#writeSnapshot(this.#compaction, SNAPSHOT_STEP_BYTES_MAX);
      this.#writeFrame();
      await nextTurn();
    }
  }

  /** Writes what is left, and closes the file. */
  close(): void {
    this.#relay?.day.tell(this.#turn);
    this.commit();
    // A tail that cannot be written stays for the next relay.
    if (this.#tail && !this.#flush()) this.#remove(TAIL);
    this.#tail = undefined;
    if (this.#file >= 0) this.#disk.close(this.#file);
    this.#file = -1;
  }

  /** During a compaction: the receiver of what moves may be in the snapshot already, so what it gets must be known. */
  #moving(slot: number): void {
    const compaction = this.#compaction;
    if (!compaction || slot < compaction.slot || compaction.early.has(slot)) return;
    compaction.early.add(slot);
    this.#writeState(slot);
  }

  /** Writes the state of a slot, which promises nothing. */
  #writeState(slot: number): void {
    const turn = this.#turn;
    const { promises } = turn;
    this.#relay?.writeState(slot, turn);
    turn.promises = promises;
  }

  #writeFrame(): void {
    const { accepted, acknowledged, abandoned } = (this.#relay as Relay).counters;
    const turn = this.#turn;
    turn.counters(accepted, acknowledged, abandoned);
    const ended = this.#compaction && this.#isSnapshotWritten(this.#compaction) ? this.#compaction : undefined;
    if (ended) turn.snapshotEnd(ended.first);
    sealFrame(turn.bytes, turn.end, this.#nextFrame);
    if (this.#write(turn, ended !== undefined)) {
      this.#nextFrame++;
      this.frames++;
      this.writtenBytes += turn.end;
      if (ended) this.#endCompaction(ended);
      else if ((this.#segments.at(-1) as Segment).bytes > this.#segmentBytes) this.#rotate(false);
    }
    turn.clear();
  }

  /** Appends a frame. Returns false when it could not be written, which only happens when no answer waits for it. */
  #write({ bytes, end: length, promises }: Turn, endsSnapshot: boolean): boolean {
    const segment = this.#segments.at(-1) as Segment;
    const error = this.#append(segment, bytes, length, endsSnapshot);
    if (error) {
      // The answers must not leave; a relay that starts again knows what the disk has.
      if (promises) this.#options.fail(error);
      this.#fallBehind(error);
      return false;
    }
    if (this.#options.durability === 'machine') this.#sync();
    segment.bytes += length;
    return true;
  }

  /**
   * Stores a frame in the tail, or writes it to the segment. Returns the error that prevented it. A frame with `snapshotEnd` is never in the
   * tail: after it the older segments go, even if the machine dies.
   */
  #append(segment: Segment, bytes: Buffer, length: number, endsSnapshot: boolean): Error | undefined {
    const tail = endsSnapshot ? undefined : this.#tail;
    if (tail?.add(bytes, length, segment.number, segment.bytes)) return undefined;
    const error = this.#flush();
    if (error) return error;
    // A frame that is longer than the tail is written.
    if (tail?.add(bytes, length, segment.number, segment.bytes)) return undefined;
    return this.#put(bytes, length, segment.bytes);
  }

  /** Writes what the tail has to the last segment. Returns the error that prevented it; then the tail keeps it. */
  #flush(): Error | undefined {
    const tail = this.#tail;
    if (!tail || tail.length === 0) return undefined;
    const error = this.#put(tail.frames, tail.length, tail.offset);
    if (!error) tail.clear();
    return error;
  }

  /** Writes bytes to the end of the last segment's file. Returns the error that prevented it. */
  #put(bytes: Buffer, length: number, at: number): Error | undefined {
    for (;;) {
      try {
        this.#disk.write(this.#file, bytes, length, at);
        return undefined;
      } catch (error) {
        this.#cutOff(at);
        if (isFull(error) && this.#giveUpReserve(error as Error)) continue;
        return error as Error;
      }
    }
  }

  /** After a failed sync nobody knows what the disk has: only reading it again tells. */
  #sync(): void {
    try {
      this.#disk.sync(this.#file);
    } catch (error) {
      this.#options.fail(error as Error);
    }
  }

  /** Cuts off what a failed write may have written. If that fails too, recovery does it. */
  #cutOff(bytes: number): void {
    try {
      this.#disk.truncate(this.#file, bytes);
    } catch {
      // The file stays as it is: its last frame is not whole, and nothing follows it.
    }
  }

  #isTooLarge(): boolean {
    const live = this.liveBytes * SIZE_FACTOR_MAX;
    return this.sizeBytes > Math.max(live * COMPACTION_SHARE, this.#sizeBytesMin * COMPACTION_SHARE_MIN);
  }

  /** Begins a snapshot of the state, in a new segment. */
  #beginCompaction(afterGap: boolean): void {
    if (!this.#rotate(afterGap)) return;
    this.#isBehind = false;
    // What was told since the last commit() will be in the snapshot, and means nothing without what was told before it.
    this.#turn.clear();
    const { number } = this.#segments.at(-1) as Segment;
    this.#compaction = { first: number, endedRow: 0, slot: 0, early: new Set(), afterGap };
    this.#relay?.peerMemory.writeState(this.#turn);
    this.#relay?.day.writeState(this.#turn);
    this.#turn.promises = false; // what is in it was promised before
  }

  /** Writes some of the snapshot: at least `bytes` if there are so many left, but not much more. */
  #writeSnapshot(compaction: Compaction, bytes: number): void {
    const { desktops, ended } = this.#relay as Relay;
    const turn = this.#turn;
    const until = turn.end + Math.min(bytes, SNAPSHOT_STEP_BYTES_MAX);
    for (let rows = 0; compaction.endedRow < ended.max && turn.end < until; rows++) {
      if (rows === SNAPSHOT_ROWS_MAX) return;
      ended.writeState(compaction.endedRow++, turn);
    }
    for (let slots = 0; compaction.slot < desktops.untouched && turn.end < until; slots++) {
      if (slots === SNAPSHOT_ROWS_MAX) return;
      if (!compaction.early.delete(compaction.slot)) this.#writeState(compaction.slot);
      compaction.slot++;
    }
  }

  #isSnapshotWritten(compaction: Compaction): boolean {
    const { desktops, ended } = this.#relay as Relay;
    return compaction.endedRow >= ended.max && compaction.slot >= desktops.untouched;
  }

  /** The snapshot is in the segments from `first` on: the older ones go. */
  #endCompaction({ first }: Compaction): void {
    this.#compaction = undefined;
    this.compactions++;
    const count = this.#segments.findIndex(({ number }) => number >= first);
    const old = this.#segments.splice(0, count).map(({ number }) => segmentName(number));
    this.#disk.retire(old, this.#file);
  }

  /** Begins a new segment. Returns false when the disk does not allow it. */
  #rotate(afterGap: boolean): boolean {
    const error = this.#flush();
    if (error) {
      this.#noRoom(error);
      return false;
    }
    const file = this.#file;
    const { number } = this.#segments.at(-1) as Segment;
    try {
      this.#addSegment(number + 1, afterGap);
    } catch (error) {
      // The present segment grows on.
      this.#noRoom(error as Error);
      return false;
    }
    if (file >= 0) this.#disk.close(file);
    return true;
  }

  #addSegment(number: number, afterGap: boolean): void {
    const { epoch, generationKey } = this;
    const name = segmentName(number);
    if (this.#disk.names().includes(name)) this.#disk.remove(name);
    const file = this.#disk.create(name);
    try {
      const head = writeHead({ segment: number, firstFrame: this.#nextFrame, epoch, generationKey, afterGap });
      this.#disk.write(file, head, HEAD_BYTES, 0);
      if (this.#options.durability === 'machine') {
        this.#disk.sync(file);
        this.#disk.syncNames();
      }
    } catch (error) {
      this.#disk.close(file);
      this.#remove(name);
      throw error;
    }
    this.#file = file;
    this.#segments.push({ number, bytes: HEAD_BYTES });
  }

  /** From now on nothing is written. What the disk has is the state of a moment ago. */
  #fallBehind(error: Error): void {
    const compaction = this.#compaction;
    this.#compaction = undefined;
    this.#isBehind = true;
    this.#noRoom(error);
    if (!compaction?.afterGap) return;
    // Its segments, and what the tail has of them, are of no use without the rest of the snapshot.
    this.#tail?.clear();
    this.#disk.close(this.#file);
    this.#file = -1;
    while ((this.#segments.at(-1) as Segment).number >= compaction.first) {
      this.#remove(segmentName((this.#segments.pop() as Segment).number));
    }
  }

  /** Removes a file, if the disk allows it. A segment that stays is replaced later, or means nothing to recovery. */
  #remove(name: string): boolean {
    try {
      this.#disk.remove(name);
      return true;
    } catch {
      return false;
    }
  }

  #giveUpReserve(error: Error): boolean {
    if (!this.#hasReserve) return false;
    this.#hasReserve = false;
    this.#noRoom(error);
    return this.#remove(RESERVE);
  }

  #noRoom(error: Error): void {
    if (!this.hasRoom) return;
    this.#turn.hasRoom = false;
    this.#options.changed?.(false, error);
  }

  /** Makes an empty tail, if the disk maps files. What was in the file before is in its segment, or means nothing. */
  #makeTail(): void {
    if (this.#disk.names().includes(TAIL)) this.#remove(TAIL);
    if (this.#options.durability === 'machine' || !this.#disk.canMap) return;
    const { tailBytes = TAIL_BYTES } = this.#options;
    let file = -1;
    try {
      file = this.#disk.create(TAIL);
      // Its blocks are there from now on, so that storing in it cannot fail for want of room.
      this.#disk.write(file, Buffer.alloc(tailBytes), tailBytes, 0);
      this.#tail = new Tail(this.#disk.map(file, tailBytes), tailBytes);
    } catch (error) {
      this.#options.tailless?.(error as Error);
    }
    if (file < 0) return;
    this.#disk.close(file);
    if (!this.#tail) this.#remove(TAIL);
  }

  /** Returns whether the reserve is there. */
  #makeReserve(): boolean {
    const { reserveBytes = RESERVE_BYTES } = this.#options;
    let file = -1;
    try {
      if (this.#disk.names().includes(RESERVE)) this.#disk.remove(RESERVE);
      file = this.#disk.create(RESERVE);
      this.#disk.write(file, Buffer.alloc(reserveBytes), reserveBytes, 0);
      this.#hasReserve = true;
    } catch (error) {
      if (file >= 0) this.#remove(RESERVE);
      this.#noRoom(error as Error);
    }
    if (file >= 0) this.#disk.close(file);
    return this.#hasReserve;
  }
}

function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');
}

interface Listed {
  /** In order. */
  segments: number[];
  head: SegmentHead | undefined;
}

/** The numbers of the segments in a folder, in order. */
export function segmentsIn(disk: Disk): number[] {
  return disk
    .names()
    .flatMap((name) => segmentOf(name) ?? [])
    .sort((a, b) => a - b);
}

/** The segments of a folder, and the head of the first one that has one. Throws OtherFormat. */
function listSegments(disk: Disk): Listed {
  const segments = segmentsIn(disk);
  for (const number of segments) {
    const head = readHead(disk.read(segmentName(number), HEAD_BYTES));
    if (head) return { segments, head };
  }
  return { segments, head: undefined };
}

interface Read {
  frames: number;
  nextFrame: number;
  nextSegment: number;
  /** The format of the last segment that counts. */
  version: number;
  /** The bytes of each segment that counts. */
  bytesOf: Map<number, number>;
  tornBytes: number;
  missingBytes: number;
  /** What the last segment has only in the tail; undefined when that adds nothing. */
  tail: TailContent | undefined;
  tailBytes: number;
}

/**
 * Reads all frames that count, in order.
 *
 * Throws  JournalDamaged, OtherFormat.
 */
export function readJournal(disk: Disk, facts: Facts): Read {
  const { segments } = listSegments(disk);
  const gap = segments.findLast((number) => readHead(disk.read(segmentName(number), HEAD_BYTES))?.afterGap) ?? 0;
  const first = lastSnapshot(disk, segments);
  const tail = tailOf(disk);
  if (gap === 0 || first >= gap) return readSegments(disk, segments, first, tail, facts);
  // Facts are missing before the gap, and no snapshot has ended since: what is behind it means nothing.
  const before = segments.filter((number) => number < gap);
  return readSegments(disk, before, lastSnapshot(disk, before), tail, facts);
}

/** Throws JournalDamaged. */
function tailOf(disk: Disk): TailContent | undefined {
  try {
    return readTail(disk);
  } catch (error) {
    throw error instanceof TailDamaged ? new JournalDamaged(error.message) : error;
  }
}

/** The segment in which the last snapshot that has ended began; 0 for none. */
function lastSnapshot(disk: Disk, segments: readonly number[]): number {
  for (const number of segments.toReversed()) {
    const bytes = disk.read(segmentName(number));
    let first = 0;
    for (let at = HEAD_BYTES; at + FRAME_HEAD_BYTES < bytes.length; ) {
      const end = at + FRAME_HEAD_BYTES + bytes.readUInt32LE(at);
      if (end > bytes.length || end < at + FRAME_HEAD_BYTES + 8) break;
      const begun = snapshotEndAt(bytes, end);
      if (segments.includes(begun) && isFrame(bytes, at)) first = begun;
      at = end;
    }
    if (first > 0) return first;
  }
  return 0;
}

/** Reads the segments from `first` on. */
function readSegments(
  disk: Disk,
  all: readonly number[],
  first: number,
  tail: TailContent | undefined,
  facts: Facts,
): Read {
  const segments = all.filter((number) => number >= first);
  const read: Read = {
    frames: 0,
    nextFrame: 1,
    nextSegment: 1,
    version: VERSION,
    bytesOf: new Map(),
    tornBytes: 0,
    missingBytes: 0,
    tail: undefined,
    tailBytes: 0,
  };
  if (first === 0 && segments.length > 0 && segments[0] !== 1) {
    throw new JournalDamaged(`the files before ${segmentName(segments[0])} are missing`);
  }
  // A relay that died when it began the next one may have left a tail that belongs to this one.
  const lastBegun = segments.findLast((number) => readHead(disk.read(segmentName(number), HEAD_BYTES)));
  for (const [index, number] of segments.entries()) {
    const name = segmentName(number);
    if (index > 0 && number !== segments[index - 1] + 1) {
      throw new JournalDamaged(`the file ${segmentName(segments[index - 1] + 1)} is missing`);
    }
    const isLast = index === segments.length - 1;
    const own = disk.read(name);
    if (number === lastBegun && tail?.segment === number) {
      read.missingBytes = Math.max(0, tail.offset - own.length);
    }
    const bytes = number === lastBegun ? withTail(own, number, tail) : own;
    if (bytes !== own) {
      read.tail = tail;
      read.tailBytes = bytes.length - own.length;
    }
    const head = readHead(bytes);
    if (!head) {
      if (!isLast || findFrame(bytes, 0, read.nextFrame)) throw new JournalDamaged(`the head of ${name} is wrong`);
      // The relay died when it began this file. Nothing is in it.
      read.tornBytes = bytes.length;
      break;
    }
    if (index > 0 && head.firstFrame !== read.nextFrame) {
      throw new JournalDamaged(`${name} begins with frame ${head.firstFrame}, but ${read.nextFrame} is the next one`);
    }
    read.nextFrame = head.firstFrame;
    read.nextSegment = number + 1;
    read.version = head.version;
    const end = readFrames(bytes, name, read, facts);
    if (end < bytes.length) {
      if (!isLast || findFrame(bytes, end + 4, read.nextFrame)) {
        throw new JournalDamaged(`frame ${read.nextFrame} in ${name} at byte ${end} is wrong, but others follow it`);
      }
      read.tornBytes = bytes.length - end;
    }
    read.bytesOf.set(number, end);
  }
  return read;
}

/** Reads the frames of a segment up to the first one that is not whole; returns where that begins. */
function readFrames(bytes: Buffer, name: string, read: Read, facts: Facts): number {
  let at = HEAD_BYTES;
  while (at < bytes.length) {
    const end = frameEnd(bytes, at, read.nextFrame);
    if (end < 0) return at;
    try {
      readRecords(bytes, at + FRAME_HEAD_BYTES, end, facts);
    } catch (error) {
      if (!(error instanceof RecordError || error instanceof RecoveryError)) throw error;
      throw new JournalDamaged(`frame ${read.nextFrame} in ${name} at byte ${at}: ${error.message}`);
    }
    read.frames++;
    read.nextFrame++;
    at = end;
  }
  return at;
}

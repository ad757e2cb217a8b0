/**
 * Mailboxes: the sprites that wait for each desktop, oldest first, until its cursor passes them.
 *
 * A mailbox is a row of words and five lists through the slab: what has been told (written into an answer, and so has its
 * sequence), and what has not, one list for each edge it enters by. So a mailbox is emptied into its neighbours' by hanging
 * four lists onto theirs. A block holds six words, then the event's bytes behind its seq: `"from":{…},"edge":…}`.
 * Invariant: what was told has the sequences acknowledged+1 … newest, without a gap; what came by one edge stays in its
 * order; appended + moved in = acknowledged + moved out + waiting, at every moment.
 * Cost: append, tell and acknowledge are O(1) an event, without allocation; moving is O(1) and one step for each event
 * that was told; 32 bytes a slot, untouched until first used.
 */
import type { EdgeNumber } from '../wire/crossing.ts';
import { SEQ_MAX } from '../wire/cursor.ts';
import { BLOCK_BYTES_MAX, type BlockRef, blockBytes, NO_BLOCK, type Slab } from './slab.ts';

/** Words of a block. LAST, EVENTS and BYTES are those of a list, kept in its first block. */
const NEXT = 0;
const LENGTH_AND_EDGE = 1;
const ARRIVED = 2;
const LAST = 3;
const EVENTS = 4;
const BYTES = 5;
const HEAD_BYTES = 24;

/** Words of a row: the first blocks of the four lists by edge and of what was told, then counts. */
const ROW_WORDS = 8;
const TOLD = 4;
const ACKNOWLEDGED = 5;
const COUNT = 6;
const TAKEN_BYTES = 7;

/** Bytes of one event behind its seq. */
export const EVENT_BYTES_MAX = BLOCK_BYTES_MAX - HEAD_BYTES;

export interface MailboxLimits {
  eventsMax: number;
  bytesMax: number;
  /** The last sequence; SEQ_MAX when absent. */
  seqMax?: number;
  /** The stamp of the first event; 0 when absent. */
  firstArrival?: number;
}

const SPRITE = Buffer.from('{"type":"sprite","seq":');
const COMMA = 0x2c;

export class Mailboxes {
  readonly #slab: Slab;
  readonly #limits: MailboxLimits;
  readonly #rows: Uint32Array;
  /** Stamps each event, so that the oldest of several lists is known. It wraps after 2^32: stamps are compared by their distance. */
  #arrivals: number;
  /** Events that wait in all mailboxes. */
  waiting = 0;

  constructor(slots: number, slab: Slab, limits: MailboxLimits) {
    this.#slab = slab;
    this.#limits = limits;
    this.#rows = new Uint32Array(slots * ROW_WORDS);
    this.#arrivals = limits.firstArrival ?? 0;
  }

  count(slot: number): number {
    return this.#rows[slot * ROW_WORDS + COUNT];
  }

  /** The sequence up to which everything was acknowledged. */
  acknowledged(slot: number): number {
    return this.#rows[slot * ROW_WORDS + ACKNOWLEDGED];
  }

  /** The sequence of the newest event that was told. */
  newest(slot: number): number {
    const told = this.#rows[slot * ROW_WORDS + TOLD];
    return this.acknowledged(slot) + (told === NO_BLOCK ? 0 : this.#slab.word(told, EVENTS));
  }

  /** Whether a mailbox takes an event of `eventBytes` by its own limits, whatever the slab says. */
  hasRoom(slot: number, eventBytes: number): boolean {
    const { eventsMax, bytesMax, seqMax = SEQ_MAX } = this.#limits;
    const row = slot * ROW_WORDS;
    const count = this.#rows[row + COUNT];
    if (count >= eventsMax || this.#rows[row + ACKNOWLEDGED] + count >= seqMax) return false;
    return this.#rows[row + TAKEN_BYTES] + blockBytes(HEAD_BYTES + eventBytes) <= bytesMax;
  }

  /**
   * Puts an event, head[0, headLength) and tail[start, end) behind each other, at the end of a mailbox.
   *
   * Shape   false when the mailbox or the slab is full: nothing changed.
   * Owner   the bytes are copied.
   */
  append(
    slot: number,
    edge: EdgeNumber,
    head: Buffer,
    headLength: number,
    tail: Buffer,
    start = 0,
    end = tail.length,
  ): boolean {
    const length = headLength + end - start;
    if (!this.hasRoom(slot, length)) return false;
    const bytes = HEAD_BYTES + length;
    const block = this.#slab.allocate(bytes);
    if (block === NO_BLOCK) return false;
    this.#slab.setWord(block, length | (edge << 16), LENGTH_AND_EDGE);
    this.#slab.setWord(block, this.#arrivals++, ARRIVED);
    const page = this.#slab.page(block);
    const at = this.#slab.offset(block) + HEAD_BYTES;
    head.copy(page, at, 0, headLength);
    tail.copy(page, at + headLength, start, end);
    const row = slot * ROW_WORDS;
    const taken = blockBytes(bytes);
    this.#makeList(block, taken);
    this.#hang(row + edge, block);
    this.#count(row, 1, taken);
    this.waiting++;
    return true;
  }

  /** Frees what was told up to `seq`. Answers how many events that were. `seq` must not be beyond the newest. */
  acknowledge(slot: number, seq: number): number {
    const row = slot * ROW_WORDS;
    const passed = seq - this.#rows[row + ACKNOWLEDGED];
    if (passed <= 0) return 0;
    for (let n = 0; n < passed; n++) this.#free(row, row + TOLD);
    this.#rows[row + ACKNOWLEDGED] = seq;
    return passed;
  }

  /**
   * Writes the oldest events as `{…},{…}` into `out` from `at` on: what was told before, then what has waited longest.
   *
   * Shape   as many as `eventsMax` and `bytesMax` allow, but one at least; nothing when nothing waits.
   *         Answers the end of what was written; `batchSeq` is then the sequence of the last one written.
   */
  write(slot: number, out: Buffer, at: number, eventsMax: number, bytesMax: number): number {
    const row = slot * ROW_WORDS;
    let seq = this.#rows[row + ACKNOWLEDGED];
    let end = at;
    let told = this.#rows[row + TOLD];
    for (let n = Math.min(eventsMax, this.#rows[row + COUNT]); n > 0; n--) {
      const list = told === NO_BLOCK ? this.#oldest(row) : row + TOLD;
      const block = told === NO_BLOCK ? this.#rows[list] : told;
      const length = this.#slab.word(block, LENGTH_AND_EDGE) & 0xffff;
      if (end > at) {
        if (end - at + SPRITE.length + 12 + length > bytesMax) break;
        out[end++] = COMMA;
      }
      if (told === NO_BLOCK) this.#hang(row + TOLD, this.#shift(list));
      else told = this.#slab.word(block, NEXT);
      for (let index = 0; index < SPRITE.length; index++) out[end++] = SPRITE[index];
      end = writeNumber(out, end, ++seq);
      out[end++] = COMMA;
      const page = this.#slab.page(block);
      const from = this.#slab.offset(block) + HEAD_BYTES;
      end += page.copy(out, end, from, from + length);
    }
    this.batchSeq = seq;
    return end;
  }

  /** The sequence of the last event the last write() wrote. */
  batchSeq = 0;

  /**
   * Empties a mailbox into others: `target` says which, for the edge an event enters by.
   *
   * Shape   takes no new memory, so it can't fail: the limits of the receiving mailbox do not hold here, and it takes
   *         no throw until it is below them again. `target` must never answer `slot` itself.
   * Cost    O(1) and what was told but not acknowledged, however much waits.
   */
  moveAll(slot: number, target: (edge: EdgeNumber) => number): number {
    const row = slot * ROW_WORDS;
    const moved = this.#rows[row + COUNT];
    for (let block = this.#rows[row + TOLD]; block !== NO_BLOCK; block = this.#rows[row + TOLD]) {
      const edge = this.#edgeOf(block);
      const to = target(edge) * ROW_WORDS;
      this.#hang(to + edge, this.#shift(row + TOLD));
      this.#count(to, 1, this.#slab.word(block, BYTES));
    }
    for (let edge = 0; edge < TOLD; edge++) {
      const first = this.#rows[row + edge];
      if (first === NO_BLOCK) continue;
      const to = target(edge as EdgeNumber) * ROW_WORDS;
      this.#count(to, this.#slab.word(first, EVENTS), this.#slab.word(first, BYTES));
      this.#hang(to + edge, first);
      this.#rows[row + edge] = NO_BLOCK;
    }
    this.#rows[row + COUNT] = 0;
    this.#rows[row + TAKEN_BYTES] = 0;
    return moved;
  }

  /** Throws away what waits, and makes the mailbox ready for its next owner. Answers how many events that were. */
  clear(slot: number): number {
    const row = slot * ROW_WORDS;
    const count = this.#rows[row + COUNT];
    for (let list = row; list <= row + TOLD; list++) {
      while (this.#rows[list] !== NO_BLOCK) this.#free(row, list);
    }
    if (this.#rows[row + ACKNOWLEDGED] !== 0) this.#rows[row + ACKNOWLEDGED] = 0;
    return count;
  }

  /** The list of `row`, of those not told, whose first event came first. REQUIRES: there is one. */
  #oldest(row: number): number {
    let oldest = -1;
    let arrived = 0;
    for (let list = row; list < row + TOLD; list++) {
      if (this.#rows[list] === NO_BLOCK) continue;
      const stamp = this.#slab.word(this.#rows[list], ARRIVED);
      if (oldest >= 0 && ((stamp - arrived) | 0) > 0) continue;
      oldest = list;
      arrived = stamp;
    }
    return oldest;
  }

  #count(row: number, events: number, bytes: number): void {
    this.#rows[row + COUNT] += events;
    this.#rows[row + TAKEN_BYTES] += bytes;
  }

  /** Frees the first block of a list of `row`. */
  #free(row: number, list: number): void {
    const block = this.#shift(list);
    this.#count(row, -1, -this.#slab.word(block, BYTES));
    this.#slab.free(block, HEAD_BYTES + (this.#slab.word(block, LENGTH_AND_EDGE) & 0xffff));
    this.waiting--;
  }

  /** Makes a block a list of its own. */
  #makeList(block: BlockRef, bytes: number): void {
    this.#slab.setWord(block, NO_BLOCK, NEXT);
    this.#slab.setWord(block, block, LAST);
    this.#slab.setWord(block, 1, EVENTS);
    this.#slab.setWord(block, bytes, BYTES);
  }

  /** Hangs a list, named by its first block, onto the end of another. */
  #hang(list: number, block: BlockRef): void {
    const first = this.#rows[list];
    if (first === NO_BLOCK) {
      this.#rows[list] = block;
      return;
    }
    this.#slab.setWord(this.#slab.word(first, LAST), block, NEXT);
    this.#slab.setWord(first, this.#slab.word(block, LAST), LAST);
    this.#slab.setWord(first, this.#slab.word(first, EVENTS) + this.#slab.word(block, EVENTS), EVENTS);
    this.#slab.setWord(first, this.#slab.word(first, BYTES) + this.#slab.word(block, BYTES), BYTES);
  }

  /** Takes the first block off a list, as a list of its own. */
  #shift(list: number): BlockRef {
    const block = this.#rows[list];
    const next = this.#slab.word(block, NEXT);
    this.#rows[list] = next;
    if (next === NO_BLOCK) return block;
    const bytes = blockBytes(HEAD_BYTES + (this.#slab.word(block, LENGTH_AND_EDGE) & 0xffff));
    this.#slab.setWord(next, this.#slab.word(block, LAST), LAST);
    this.#slab.setWord(next, this.#slab.word(block, EVENTS) - 1, EVENTS);
    this.#slab.setWord(next, this.#slab.word(block, BYTES) - bytes, BYTES);
    this.#makeList(block, bytes);
    return block;
  }

  #edgeOf(block: BlockRef): EdgeNumber {
    return ((this.#slab.word(block, LENGTH_AND_EDGE) >>> 16) & 3) as EdgeNumber;
  }
}

/** Writes a whole number ≥ 0 in decimal; answers where it ends. */
export function writeNumber(out: Uint8Array, at: number, value: number): number {
  const digits = digitsOf(value);
  let rest = value;
  for (let place = at + digits - 1; place >= at; place--) {
    const tens = Math.floor(rest / 10);
    out[place] = 0x30 + rest - tens * 10;
    rest = tens;
  }
  return at + digits;
}

/** How many decimal digits a whole number ≥ 0 has. */
export function digitsOf(value: number): number {
  let digits = 1;
  for (let bound = 10; value >= bound; bound *= 10) digits++;
  return digits;
}

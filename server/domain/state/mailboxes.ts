/**
 * Mailboxes: the sprites that wait for each desktop, oldest first, until its cursor passes them.
 *
 * A mailbox is a row of words and five lists of blocks in the slab: one list of sent events (each has been written into an
 * answer, and so has its sequence), and a list of unsent ones for each edge they enter by. To empty a mailbox into its
 * neighbours', the four lists are appended to theirs; its sent events become unsent again. A block holds seven words, then the part of the event after its seq:
 * `"from":{…},"edge":…}`.
 * Invariant: the sent events have the sequences acknowledged+1 … newest, without a gap; events that enter by one edge keep
 * their order; appended + moved in = acknowledged + moved out + waiting, at every moment.
 * Cost: append, write and acknowledge are O(1) for each event, without allocation; moveAll is O(1) plus one step for each
 * sent event; 32 bytes a slot, untouched until first used.
 */

import { SEQ_MAX } from '../../wire/cursor.ts';
import { NO_HEAD, type Passage } from '../../wire/passage.ts';
import type { EdgeNumber } from '../../wire/rules.ts';
import { BLOCK_BYTES_MAX, type BlockRef, blockBytes, NO_BLOCK, type Slab } from '../slots/slab.ts';
import type { Facts, MailboxEvent } from './facts.ts';
import { CARRIED_FACTOR } from './limits.ts';
import { stampOf, Waits } from './waits.ts';

/** Words of a block. LAST, EVENTS and BYTES describe a whole list; they are valid in its first block. */
const NEXT = 0;
const LENGTH_AND_EDGE = 1;
const ARRIVED = 2;
const LAST = 3;
const EVENTS = 4;
const BYTES = 5;
const ACCEPTED = 6;
const HEAD_BYTES = 28;

/** Words of a row: the first blocks of the four unsent lists, by edge, and of the sent list; then counts. */
const ROW_WORDS = 8;
const SENT = 4;
const ACKNOWLEDGED = 5;
const COUNT = 6;
const USED_BYTES = 7;

/** Bytes of one event after its seq. */
export const EVENT_BYTES_MAX = BLOCK_BYTES_MAX - HEAD_BYTES;

export interface MailboxLimits {
  eventsMax: number;
  bytesMax: number;
  /** The last sequence; default SEQ_MAX. */
  seqMax?: number;
  /** The stamp of the first event; default 0. */
  firstArrival?: number;
}

/** The size in bytes of the slab's block for an event of `eventBytes`. */
export function eventBlockBytes(eventBytes: number): number {
  return blockBytes(HEAD_BYTES + eventBytes);
}

const SPRITE = Buffer.from('{"type":"sprite","seq":');
const COMMA = 0x2c;

export class Mailboxes {
  readonly #slab: Slab;
  readonly #limits: MailboxLimits;
  readonly #preciseMs: () => number;
  readonly #rows: Uint32Array;
  /** How long events wait until they are sent. */
  readonly waits = new Waits();
  /** The unsent lists of a row while unsend() works on it. */
  readonly #unsent = new Uint32Array(SENT);
  /** The stamp of the next event: the oldest of several lists has the lowest. Stamps wrap, so compare their difference. */
  #nextArrival: number;
  /** Recovery has seen a stamp. */
  #hasArrivals = false;
  /** The event that writeState() or visitUnsent() passes on. */
  readonly #event: MailboxEvent = {
    edge: 0,
    head: NO_HEAD,
    headLength: 0,
    body: NO_HEAD,
    start: 0,
    end: 0,
    arrived: 0,
  };
  /** Events waiting in all mailboxes. */
  waiting = 0;

  /** `preciseMs`: the time by which waits are measured, monotonic. */
  constructor(slots: number, slab: Slab, limits: MailboxLimits, preciseMs: () => number = () => 0) {
    this.#slab = slab;
    this.#preciseMs = preciseMs;
    this.#limits = limits;
    this.#rows = new Uint32Array(slots * ROW_WORDS);
    this.#nextArrival = limits.firstArrival ?? 0;
  }

  count(slot: number): number {
    return this.#rows[slot * ROW_WORDS + COUNT];
  }

  /** The last acknowledged sequence. */
  acknowledged(slot: number): number {
    return this.#rows[slot * ROW_WORDS + ACKNOWLEDGED];
  }

  /** The sequence of the newest event that was sent. */
  newest(slot: number): number {
    const sent = this.#rows[slot * ROW_WORDS + SENT];
    return this.acknowledged(slot) + (sent === NO_BLOCK ? 0 : this.#slab.word(sent, EVENTS));
  }

  /** Whether the mailbox's own limits allow another event of `eventBytes`; the slab may still be full. */
  hasRoom(slot: number, eventBytes: number): boolean {
    const { eventsMax, bytesMax, seqMax = SEQ_MAX } = this.#limits;
    const row = slot * ROW_WORDS;
    const count = this.#rows[row + COUNT];
    if (count >= eventsMax || this.#rows[row + ACKNOWLEDGED] + count >= seqMax) return false;
    return this.#rows[row + USED_BYTES] + blockBytes(HEAD_BYTES + eventBytes) <= bytesMax;
  }

  /**
   * Whether a mailbox can receive `events` more of `bytes` in blocks from the mailbox of a desktop that ended: that may use
   * CARRIED_FACTOR times the limits, so that sprites move on although throws are refused.
   */
  canCarry(slot: number, events: number, bytes: number): boolean {
    const { eventsMax, bytesMax, seqMax = SEQ_MAX } = this.#limits;
    const row = slot * ROW_WORDS;
    const count = this.#rows[row + COUNT] + events;
    if (count > CARRIED_FACTOR * eventsMax || this.#rows[row + ACKNOWLEDGED] + count > seqMax) return false;
    return this.#rows[row + USED_BYTES] + bytes <= CARRIED_FACTOR * bytesMax;
  }

  /** Bytes of the slab that a mailbox uses. */
  usedBytes(slot: number): number {
    return this.#rows[slot * ROW_WORDS + USED_BYTES];
  }

  /**
   * Appends the event of a passage to a mailbox.
   *
   * Shape   false when the mailbox or the slab is full; then nothing changed.
   * Owner   the bytes are copied.
   */
  append(slot: number, passage: Readonly<Passage>): boolean {
    if (!this.hasRoom(slot, passage.headLength + passage.end - passage.start)) return false;
    return this.carry(slot, passage);
  }

  /** Appends a sprite that goes on, as append() does, whatever the limits of the mailbox: see canCarry(). */
  carry(slot: number, passage: Readonly<Passage>): boolean {
    if (!this.#add(slot, passage.edge, this.#nextArrival, passage)) return false;
    this.#nextArrival = (this.#nextArrival + 1) >>> 0;
    return true;
  }

  /** Adds an event at the end of a list of a mailbox. Returns false when the slab is full. */
  #add(slot: number, list: number, arrived: number, passage: Readonly<Passage>): boolean {
    const { edge, head, headLength, body, start, end } = passage;
    const length = headLength + end - start;
    const bytes = HEAD_BYTES + length;
    const block = this.#slab.allocate(bytes);
    if (block === NO_BLOCK) return false;
    this.#slab.setWord(block, length | (edge << 16), LENGTH_AND_EDGE);
    this.#slab.setWord(block, arrived, ARRIVED);
    this.#slab.setWord(block, stampOf(this.#preciseMs()), ACCEPTED);
    const page = this.#slab.page(block);
    const at = this.#slab.offset(block) + HEAD_BYTES;
    head.copy(page, at, 0, headLength);
    body.copy(page, at + headLength, start, end);
    const row = slot * ROW_WORDS;
    const blockSize = blockBytes(bytes);
    this.#makeList(block, blockSize);
    this.#appendList(row + list, block);
    this.#count(row, 1, blockSize);
    this.waiting++;
    return true;
  }

  /** The stamp of the event that was appended last. */
  get lastArrival(): number {
    return (this.#nextArrival - 1) >>> 0;
  }

  /** Writes the facts of a mailbox: it and all its events. */
  writeState(slot: number, facts: Facts): void {
    const row = slot * ROW_WORDS;
    facts.mailbox(slot, this.#rows[row + ACKNOWLEDGED]);
    for (let list = SENT; list >= 0; list--) {
      for (let block = this.#rows[row + list]; block !== NO_BLOCK; block = this.#slab.word(block, NEXT)) {
        facts.event(slot, list === SENT, this.#eventOf(block));
      }
    }
  }

  /** Recovery: adds an event, whatever the limits. Returns false when the slab is full. */
  restoreEvent(slot: number, isSent: boolean, event: Readonly<MailboxEvent>): boolean {
    const { arrived } = event;
    const next = (arrived + 1) >>> 0;
    if (!this.#hasArrivals || ((next - this.#nextArrival) | 0) > 0) this.#nextArrival = next;
    this.#hasArrivals = true;
    return this.#add(slot, isSent ? SENT : event.edge, arrived, event);
  }

  /** Recovery: empties a mailbox whose desktop has acknowledged all up to `acknowledged`. */
  restore(slot: number, acknowledged: number): void {
    this.clear(slot);
    if (acknowledged !== 0) this.#rows[slot * ROW_WORDS + ACKNOWLEDGED] = acknowledged;
  }

  /** Recovery: marks the oldest events as sent, up to the sequence `newest`. Returns false when there are fewer. */
  restoreSent(slot: number, newest: number): boolean {
    const row = slot * ROW_WORDS;
    for (let left = newest - this.newest(slot); left > 0; left--) {
      const list = this.#oldest(row);
      if (list < 0) return false;
      this.#appendList(row + SENT, this.#popFirst(list));
    }
    return true;
  }

  /** Recovery: moves the first `events` unsent events that enter by `edge`. Returns false when there are fewer. O(1) for all. */
  restoreMoved(slot: number, edge: EdgeNumber, target: number, events: number): boolean {
    const row = slot * ROW_WORDS;
    const to = target * ROW_WORDS;
    for (let left = events; left > 0; ) {
      const first = this.#rows[row + edge];
      if (first === NO_BLOCK) return false;
      // A whole list changes hands, as it did before: otherwise what many desktops pass on would be moved again and again.
      const isAll = this.#slab.word(first, EVENTS) === left;
      const count = isAll ? left : 1;
      const bytes = isAll ? this.#slab.word(first, BYTES) : this.#bytesOf(first);
      if (isAll) this.#rows[row + edge] = NO_BLOCK;
      else this.#popFirst(row + edge);
      this.#count(row, -count, -bytes);
      this.#count(to, count, bytes);
      this.#appendList(to + edge, first);
      left -= count;
    }
    return true;
  }

  /** Frees the sent events up to `seq`; returns how many there were. REQUIRES: `seq` ≤ newest(slot). */
  acknowledge(slot: number, seq: number): number {
    const row = slot * ROW_WORDS;
    const count = seq - this.#rows[row + ACKNOWLEDGED];
    if (count <= 0) return 0;
    for (let n = 0; n < count; n++) this.#freeFirst(row, row + SENT);
    this.#rows[row + ACKNOWLEDGED] = seq;
    return count;
  }

  /**
   * Writes the oldest events as `{…},{…}` to out[at]: first those sent before, then the unsent ones, the oldest first.
   * Marks them as sent. Returns where they end; `batchSeq` is then the sequence of the last one.
   *
   * Shape   as many as `eventsMax` and `bytesMax` allow, but at least one; none when the mailbox is empty.
   */
  write(slot: number, out: Buffer, at: number, eventsMax: number, bytesMax: number): number {
    const row = slot * ROW_WORDS;
    let seq = this.#rows[row + ACKNOWLEDGED];
    let end = at;
    let sent = this.#rows[row + SENT];
    let now = -1;
    for (let n = Math.min(eventsMax, this.#rows[row + COUNT]); n > 0; n--) {
      const list = sent === NO_BLOCK ? this.#oldest(row) : row + SENT;
      const block = sent === NO_BLOCK ? this.#rows[list] : sent;
      const length = this.#slab.word(block, LENGTH_AND_EDGE) & 0xffff;
      if (end > at) {
        if (end - at + SPRITE.length + 12 + length > bytesMax) break;
        out[end++] = COMMA;
      }
      if (sent === NO_BLOCK) {
        now = now < 0 ? stampOf(this.#preciseMs()) : now;
        this.waits.record(this.#slab.word(block, ACCEPTED), now);
        this.#appendList(row + SENT, this.#popFirst(list));
      } else sent = this.#slab.word(block, NEXT);
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

  /** The sequence of the last event that the last write() wrote. */
  batchSeq = 0;

  /**
   * Moves events to other mailboxes: `target` returns the slot for those that enter by an edge, or -1 if they stay. Returns
   * how many were moved.
   *
   * Shape   allocates nothing, so it can't fail. `target` decides how much the receiving mailbox carries; above its limits it
   *         refuses throws until it is below them again. REQUIRES: `target` never returns `slot`.
   * Cost    O(1) plus one step for each event that was sent but not acknowledged.
   */
  moveAll(slot: number, target: (edge: EdgeNumber, events: number, bytes: number) => number): number {
    const row = slot * ROW_WORDS;
    this.#unsend(row);
    let moved = 0;
    for (let edge = 0; edge < SENT; edge++) {
      const first = this.#rows[row + edge];
      if (first === NO_BLOCK) continue;
      const events = this.#slab.word(first, EVENTS);
      const bytes = this.#slab.word(first, BYTES);
      const to = target(edge as EdgeNumber, events, bytes) * ROW_WORDS;
      if (to < 0) continue;
      this.#count(row, -events, -bytes);
      this.#count(to, events, bytes);
      this.#appendList(to + edge, first);
      this.#rows[row + edge] = NO_BLOCK;
      moved += events;
    }
    return moved;
  }

  /**
   * Moves the oldest unsent events that enter by `edge` to another mailbox, at most `eventsMax`, as long as it can carry them.
   * Returns how many. REQUIRES: no event is sent, as after moveAll().
   */
  moveSome(slot: number, edge: EdgeNumber, target: number, eventsMax: number): number {
    const row = slot * ROW_WORDS;
    const to = target * ROW_WORDS;
    for (let moved = 0; moved < eventsMax; moved++) {
      const first = this.#rows[row + edge];
      if (first === NO_BLOCK) return moved;
      const bytes = this.#bytesOf(first);
      if (!this.canCarry(target, 1, bytes)) return moved;
      this.#popFirst(row + edge);
      this.#count(row, -1, -bytes);
      this.#count(to, 1, bytes);
      this.#appendList(to + edge, first);
    }
    return eventsMax;
  }

  /** The sent events of a mailbox count as unsent again: its desktop has ended. */
  unsend(slot: number): void {
    this.#unsend(slot * ROW_WORDS);
  }

  /** Calls `visit` with the unsent events of a mailbox that enter by `edge`, each time with the same record, until it returns false. */
  visitUnsent(slot: number, edge: EdgeNumber, visit: (event: Readonly<MailboxEvent>) => boolean): void {
    for (let block = this.#rows[slot * ROW_WORDS + edge]; block !== NO_BLOCK; block = this.#slab.word(block, NEXT)) {
      if (!visit(this.#eventOf(block))) return;
    }
  }

  /**
   * Frees the unsent event that enters by `edge` and has the stamp `arrived`. Returns false when there is none.
   *
   * Cost    O(1) for each event before it; usually it is the first.
   */
  remove(slot: number, edge: EdgeNumber, arrived: number): boolean {
    const row = slot * ROW_WORDS;
    const list = row + edge;
    const first = this.#rows[list];
    // Those before it are put back in their order.
    let before = NO_BLOCK;
    let isFound = false;
    while (this.#rows[list] !== NO_BLOCK && !isFound) {
      isFound = this.#slab.word(this.#rows[list], ARRIVED) === arrived;
      if (isFound) this.#freeFirst(row, list);
      else {
        const block = this.#popFirst(list);
        if (before === NO_BLOCK) before = block;
        else this.#linkLast(before, block);
      }
    }
    if (before === NO_BLOCK) return isFound;
    const rest = this.#rows[list];
    this.#rows[list] = first;
    if (rest !== NO_BLOCK) this.#linkLast(first, rest);
    return isFound;
  }

  /** Calls `visit` with the blocks of a mailbox and their sizes in bytes, until it returns false. Returns whether it did not. */
  visitBlocks(slot: number, visit: (block: BlockRef, bytes: number) => boolean): boolean {
    const row = slot * ROW_WORDS;
    for (let list = row; list <= row + SENT; list++) {
      for (let block = this.#rows[list]; block !== NO_BLOCK; block = this.#slab.word(block, NEXT)) {
        if (!visit(block, this.#bytesOf(block))) return false;
      }
    }
    return true;
  }

  /** Frees all events and resets the mailbox for its next owner; returns how many events there were. */
  clear(slot: number): number {
    const row = slot * ROW_WORDS;
    const count = this.#rows[row + COUNT];
    for (let list = row; list <= row + SENT; list++) {
      while (this.#rows[list] !== NO_BLOCK) this.#freeFirst(row, list);
    }
    if (this.#rows[row + ACKNOWLEDGED] !== 0) this.#rows[row + ACKNOWLEDGED] = 0;
    return count;
  }

  /** The unsent list of `row` whose first event is the oldest. REQUIRES: there is one. */
  #oldest(row: number): number {
    let oldest = -1;
    let arrived = 0;
    for (let list = row; list < row + SENT; list++) {
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
    this.#rows[row + USED_BYTES] += bytes;
  }

  /** Frees the first block of a list of `row`. */
  #freeFirst(row: number, list: number): void {
    const block = this.#popFirst(list);
    this.#count(row, -1, -this.#slab.word(block, BYTES));
    this.#slab.free(block, HEAD_BYTES + (this.#slab.word(block, LENGTH_AND_EDGE) & 0xffff));
    this.waiting--;
  }

  /** Makes a block a list of one. */
  #makeList(block: BlockRef, bytes: number): void {
    this.#slab.setWord(block, NO_BLOCK, NEXT);
    this.#slab.setWord(block, block, LAST);
    this.#slab.setWord(block, 1, EVENTS);
    this.#slab.setWord(block, bytes, BYTES);
  }

  /** Appends the list that begins with `block` to `list`. */
  #appendList(list: number, block: BlockRef): void {
    const first = this.#rows[list];
    if (first === NO_BLOCK) {
      this.#rows[list] = block;
      return;
    }
    this.#linkLast(first, block);
  }

  /** Appends the list that begins with `block` to the one that begins with `first`. */
  #linkLast(first: BlockRef, block: BlockRef): void {
    this.#slab.setWord(this.#slab.word(first, LAST), block, NEXT);
    this.#slab.setWord(first, this.#slab.word(block, LAST), LAST);
    this.#slab.setWord(first, this.#slab.word(first, EVENTS) + this.#slab.word(block, EVENTS), EVENTS);
    this.#slab.setWord(first, this.#slab.word(first, BYTES) + this.#slab.word(block, BYTES), BYTES);
  }

  /** Pops the first block of a list and makes it a list of one. */
  #popFirst(list: number): BlockRef {
    const block = this.#rows[list];
    const next = this.#slab.word(block, NEXT);
    this.#rows[list] = next;
    if (next === NO_BLOCK) return block;
    const bytes = this.#bytesOf(block);
    this.#slab.setWord(next, this.#slab.word(block, LAST), LAST);
    this.#slab.setWord(next, this.#slab.word(block, EVENTS) - 1, EVENTS);
    this.#slab.setWord(next, this.#slab.word(block, BYTES) - bytes, BYTES);
    this.#makeList(block, bytes);
    return block;
  }

  /** Turns the sent events of a row into unsent ones, before those of the same edge. */
  #unsend(row: number): void {
    if (this.#rows[row + SENT] === NO_BLOCK) return;
    for (let edge = 0; edge < SENT; edge++) {
      this.#unsent[edge] = this.#rows[row + edge];
      this.#rows[row + edge] = NO_BLOCK;
    }
    while (this.#rows[row + SENT] !== NO_BLOCK) {
      const block = this.#popFirst(row + SENT);
      this.#appendList(row + this.#edgeOf(block), block);
    }
    for (let edge = 0; edge < SENT; edge++) {
      if (this.#unsent[edge] !== NO_BLOCK) this.#appendList(row + edge, this.#unsent[edge]);
    }
  }

  /** The size of an event's block. */
  #bytesOf(block: BlockRef): number {
    return blockBytes(HEAD_BYTES + (this.#slab.word(block, LENGTH_AND_EDGE) & 0xffff));
  }

  #eventOf(block: BlockRef): MailboxEvent {
    const event = this.#event;
    event.edge = this.#edgeOf(block);
    event.arrived = this.#slab.word(block, ARRIVED);
    event.body = this.#slab.page(block);
    event.start = this.#slab.offset(block) + HEAD_BYTES;
    event.end = event.start + (this.#slab.word(block, LENGTH_AND_EDGE) & 0xffff);
    return event;
  }

  #edgeOf(block: BlockRef): EdgeNumber {
    return ((this.#slab.word(block, LENGTH_AND_EDGE) >>> 16) & 3) as EdgeNumber;
  }
}

/** Writes a whole number ≥ 0 in decimal to out[at]; returns where it ends. */
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

/** The number of decimal digits of a whole number ≥ 0. */
export function digitsOf(value: number): number {
  let digits = 1;
  for (let bound = 10; value >= bound; bound *= 10) digits++;
  return digits;
}

/**
 * Mailboxes: the sprites that wait for each desktop, oldest first, until its cursor passes them.
 *
 * A mailbox is one row of typed arrays and a list through the slab. A block holds: next block (u32), length (u16), edge it
 * enters by (u8), 0, then the event's bytes behind its seq: `"from":{…},"edge":…}`.
 * Invariant: the events of a row have the sequences acknowledged+1 … acknowledged+count, without a gap;
 * appended + moved in = acknowledged + moved out + waiting, at every moment.
 * Cost: append, acknowledge and move are O(1) an event, without allocation; 20 bytes a slot, untouched until first used.
 */
import type { EdgeNumber } from '../wire/crossing.ts';
import { SEQ_MAX } from '../wire/cursor.ts';
import { BLOCK_BYTES_MAX, type BlockRef, blockBytes, NO_BLOCK, type Slab } from './slab.ts';

const HEAD_BYTES = 8;

/** Bytes of one event behind its seq. */
export const EVENT_BYTES_MAX = BLOCK_BYTES_MAX - HEAD_BYTES;

export interface MailboxLimits {
  eventsMax: number;
  bytesMax: number;
  /** The last sequence; SEQ_MAX when absent. */
  seqMax?: number;
}

const SPRITE = Buffer.from('{"type":"sprite","seq":');
const COMMA = 0x2c;

export class Mailboxes {
  readonly #slab: Slab;
  readonly #limits: MailboxLimits;
  readonly #first: Uint32Array;
  readonly #last: Uint32Array;
  readonly #acknowledged: Uint32Array;
  readonly #count: Uint32Array;
  readonly #bytes: Uint32Array;
  /** Events that wait in all mailboxes. */
  waiting = 0;

  constructor(slots: number, slab: Slab, limits: MailboxLimits) {
    this.#slab = slab;
    this.#limits = limits;
    this.#first = new Uint32Array(slots);
    this.#last = new Uint32Array(slots);
    this.#acknowledged = new Uint32Array(slots);
    this.#count = new Uint32Array(slots);
    this.#bytes = new Uint32Array(slots);
  }

  count(slot: number): number {
    return this.#count[slot];
  }

  /** The sequence up to which everything was acknowledged. */
  acknowledged(slot: number): number {
    return this.#acknowledged[slot];
  }

  /** The sequence of the newest event. */
  newest(slot: number): number {
    return this.#acknowledged[slot] + this.#count[slot];
  }

  /** Whether a mailbox takes an event of `eventBytes` by its own limits, whatever the slab says. */
  hasRoom(slot: number, eventBytes: number): boolean {
    const { eventsMax, bytesMax, seqMax = SEQ_MAX } = this.#limits;
    if (this.#count[slot] >= eventsMax || this.newest(slot) >= seqMax) return false;
    return this.#bytes[slot] + blockBytes(HEAD_BYTES + eventBytes) <= bytesMax;
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
    this.#slab.setWord(block, NO_BLOCK);
    this.#slab.setWord(block, length | (edge << 16), 1);
    const page = this.#slab.page(block);
    const at = this.#slab.offset(block) + HEAD_BYTES;
    head.copy(page, at, 0, headLength);
    tail.copy(page, at + headLength, start, end);
    this.#link(slot, block, blockBytes(bytes));
    return true;
  }

  /** Frees what waits up to `seq`. Answers how many events that were. `seq` must not be beyond the newest. */
  acknowledge(slot: number, seq: number): number {
    const passed = seq - this.#acknowledged[slot];
    if (passed <= 0) return 0;
    for (let n = 0; n < passed; n++) {
      const block = this.#unlink(slot);
      this.#slab.free(block, HEAD_BYTES + (this.#slab.word(block, 1) & 0xffff));
    }
    this.#acknowledged[slot] = seq;
    return passed;
  }

  /**
   * Writes the oldest events as `{…},{…}` into `out` from `at` on.
   *
   * Shape   as many as `eventsMax` and `bytesMax` allow, but one at least; nothing when nothing waits.
   *         Answers the end of what was written; `batchSeq` is then the sequence of the last one written.
   */
  write(slot: number, out: Buffer, at: number, eventsMax: number, bytesMax: number): number {
    let seq = this.#acknowledged[slot];
    let end = at;
    let block = this.#first[slot];
    for (let n = Math.min(eventsMax, this.#count[slot]); n > 0; n--) {
      const length = this.#slab.word(block, 1) & 0xffff;
      if (end > at) {
        if (end - at + SPRITE.length + 12 + length > bytesMax) break;
        out[end++] = COMMA;
      }
      for (let index = 0; index < SPRITE.length; index++) out[end++] = SPRITE[index];
      end = writeNumber(out, end, ++seq);
      out[end++] = COMMA;
      const page = this.#slab.page(block);
      const from = this.#slab.offset(block) + HEAD_BYTES;
      end += page.copy(out, end, from, from + length);
      block = this.#slab.word(block);
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
   */
  moveAll(slot: number, target: (edge: EdgeNumber) => number): number {
    const moved = this.#count[slot];
    for (let n = 0; n < moved; n++) {
      const block = this.#unlink(slot);
      const word = this.#slab.word(block, 1);
      this.#slab.setWord(block, NO_BLOCK);
      this.#link(target(((word >>> 16) & 3) as EdgeNumber), block, blockBytes(HEAD_BYTES + (word & 0xffff)));
    }
    return moved;
  }

  /** Throws away what waits, and makes the mailbox ready for its next owner. Answers how many events that were. */
  clear(slot: number): number {
    const count = this.acknowledge(slot, this.newest(slot));
    this.#acknowledged[slot] = 0;
    return count;
  }

  #link(slot: number, block: BlockRef, taken: number): void {
    if (this.#count[slot] === 0) this.#first[slot] = block;
    else this.#slab.setWord(this.#last[slot], block);
    this.#last[slot] = block;
    this.#count[slot]++;
    this.#bytes[slot] += taken;
    this.waiting++;
  }

  #unlink(slot: number): BlockRef {
    const block = this.#first[slot];
    this.#first[slot] = this.#slab.word(block);
    this.#count[slot]--;
    this.#bytes[slot] -= blockBytes(HEAD_BYTES + (this.#slab.word(block, 1) & 0xffff));
    this.waiting--;
    return block;
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

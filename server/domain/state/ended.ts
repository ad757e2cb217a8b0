/**
 * Desktops that have ended: which of their crossings were accepted, and which sprites they had acknowledged.
 *
 * A client whose 202 was lost throws again under the same number, perhaps only after its lease has ended. The neighbour has
 * the sprite by then, so the repeat must be answered as any other repeat: if it were refused, its sender would keep the
 * sprite too, and there would be two. A client whose last poll got no answer does not know whether its cursor arrived. If it
 * did, the client has the sprites before it, otherwise the next desktop does.
 * Invariant: the rows form a ring in the order in which the desktops ended; each row in use is in the list of its bucket.
 * Limits: ENDED_REMEMBERED_MAX desktops, each for ENDED_REMEMBERED_MS; only those that threw something or
 * were sent something are remembered.
 * Cost: add and isAccepted are O(1) (a bucket has one row on average), without allocation; 53 bytes a row, untouched until
 * first used.
 */

import type { Identity } from '../../wire/identity.ts';
import { ENDED_REMEMBERED_MS } from '../../wire/rules.ts';
import { AcceptedNumbers } from './accepted_numbers.ts';
import type { EndedRow, Facts } from './facts.ts';
import { ENDED_REMEMBERED_MAX } from './limits.ts';

/** What is remembered of a desktop. */
export type EndedDesktop = Omit<EndedRow, 'row' | 'nextRow'>;

export class EndedDesktops {
  readonly #max: number;
  readonly #slot: Uint32Array;
  readonly #generation: Uint32Array;
  readonly #token: Uint32Array;
  /** By row. */
  readonly #crossings: AcceptedNumbers;
  readonly #acknowledged: Uint32Array;
  readonly #untilMs: Float64Array;
  /** The lists of the buckets: row + 1, or 0 for none. */
  readonly #firstOf: Uint32Array;
  readonly #next: Uint32Array;
  /** The row that is used next; it has the desktop that ended longest ago. */
  #row = 0;
  /** Rows that are in use or were. */
  used = 0;

  /** `max` is a power of two. */
  constructor(max = ENDED_REMEMBERED_MAX) {
    this.#max = max;
    this.#slot = new Uint32Array(max);
    this.#generation = new Uint32Array(max);
    this.#token = new Uint32Array(max * 4);
    this.#crossings = new AcceptedNumbers(max);
    this.#acknowledged = new Uint32Array(max);
    this.#untilMs = new Float64Array(max);
    this.#firstOf = new Uint32Array(max);
    this.#next = new Uint32Array(max);
  }

  /**
   * Remembers a desktop that ends now, and forgets the oldest one if there are too many. Returns its row.
   */
  add(desktop: EndedDesktop, nowMs: number): number {
    const row = this.#row;
    this.#row = (row + 1) & (this.#max - 1);
    this.#set(row, desktop, nowMs);
    return row;
  }

  /** Rows of the ring. */
  get max(): number {
    return this.#max;
  }

  /** Writes the fact of a row, if it is in use. */
  writeState(row: number, facts: Facts): void {
    if (this.#untilMs[row] === 0) return;
    facts.ended({
      row,
      nextRow: this.#row,
      slot: this.#slot[row],
      generation: this.#generation[row],
      token: this.#token.subarray(row * 4, row * 4 + 4),
      newestCrossing: this.#crossings.newest(row),
      acceptedBits: this.#crossings.bits(row),
      acknowledged: this.#acknowledged[row],
    });
  }

  /** Recovery: sets a row. It is remembered for the whole time from now on. */
  restore(row: EndedRow, nowMs: number): void {
    this.#set(row.row, row, nowMs);
    this.#row = row.nextRow;
  }

  #set(row: number, desktop: EndedDesktop, nowMs: number): void {
    const { slot, generation } = desktop;
    if (this.#untilMs[row] !== 0) this.#unlink(row);
    else this.used++;
    this.#slot[row] = slot;
    this.#generation[row] = generation;
    this.#token.set(desktop.token, row * 4);
    this.#crossings.restore(row, desktop.newestCrossing, desktop.acceptedBits, 0);
    this.#acknowledged[row] = desktop.acknowledged;
    this.#untilMs[row] = nowMs + ENDED_REMEMBERED_MS;
    const bucket = this.#bucket(slot, generation);
    this.#next[row] = this.#firstOf[bucket];
    this.#firstOf[bucket] = row + 1;
  }

  /** Whether a crossing of a desktop that has ended was accepted. False without its token, or when that is forgotten. */
  isAccepted(identity: Identity, crossing: number, nowMs: number): boolean {
    const row = this.#find(identity, nowMs);
    return row >= 0 && this.#hasToken(row, identity) && this.#crossings.recencyOf(row, crossing) === 'repeated';
  }

  /** The last sequence that a desktop had acknowledged when it ended; -1 when that is forgotten. Only its owner may learn it: see isKnown(). */
  acknowledged(desktop: Pick<Identity, 'slot' | 'generation'>, nowMs: number): number {
    const row = this.#find(desktop, nowMs);
    return row < 0 ? -1 : this.#acknowledged[row];
  }

  /** Whether a desktop that has ended is remembered and has this token. */
  isKnown(identity: Identity, nowMs: number): boolean {
    const row = this.#find(identity, nowMs);
    return row >= 0 && this.#hasToken(row, identity);
  }

  /** Records that a crossing was accepted after its desktop had ended. Returns its row; -1 when it is forgotten, or the number is too old. */
  accept(slot: number, generation: number, crossing: number, nowMs: number): number {
    const row = this.#find({ slot, generation }, nowMs);
    if (row < 0 || this.#crossings.recencyOf(row, crossing) !== 'new') return -1;
    this.#crossings.record(row, crossing);
    return row;
  }

  #find({ slot, generation }: Pick<Identity, 'slot' | 'generation'>, nowMs: number): number {
    let row = this.#firstOf[this.#bucket(slot, generation)] - 1;
    while (row >= 0 && (this.#slot[row] !== slot || this.#generation[row] !== generation)) row = this.#next[row] - 1;
    return row >= 0 && nowMs <= this.#untilMs[row] ? row : -1;
  }

  #hasToken(row: number, { token }: Identity): boolean {
    const own = this.#token;
    const at = row * 4;
    // All bits are compared, in constant time, as for a desktop that is live.
    const differing =
      (own[at] ^ token[0]) | (own[at + 1] ^ token[1]) | (own[at + 2] ^ token[2]) | (own[at + 3] ^ token[3]);
    return differing === 0;
  }

  #unlink(row: number): void {
    const bucket = this.#bucket(this.#slot[row], this.#generation[row]);
    let at = this.#firstOf[bucket] - 1;
    if (at === row) {
      this.#firstOf[bucket] = this.#next[row];
      return;
    }
    while (this.#next[at] - 1 !== row) at = this.#next[at] - 1;
    this.#next[at] = this.#next[row];
  }

  #bucket(slot: number, generation: number): number {
    const mixed = Math.imul(slot ^ Math.imul(generation, 0x85ebca6b), 0x9e3779b1);
    return (mixed ^ (mixed >>> 15)) & (this.#max - 1);
  }
}

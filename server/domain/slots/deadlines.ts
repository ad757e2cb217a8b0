/**
 * Deadlines: one per slot. While the desktop's poll is parked it is the time of its ping, otherwise the end of its lease.
 *
 * A timer wheel: the slots due in one tick form a ring (a doubly linked list in two arrays) with a sentinel after the last slot.
 * One more ring holds the slots that are due now, so that a deadline set while they are handled always lies in the future.
 * Invariant: a slot is in at most one ring; a slot that is in none is linked to itself.
 * Cost: set and clear are O(1), 8 bytes a slot and a tick of the wheel; a tick costs what falls due in it.
 */

/** The length of a tick in ms. With a million desktops some 400 pings are due in one tick. */
export const TICK_MS = 50;

export class Deadlines {
  readonly #next: Uint32Array;
  readonly #previous: Uint32Array;
  readonly #slots: number;
  /** Ticks of the wheel: a power of two. */
  readonly #ticks: number;
  /** Every deadline up to this tick has been moved to the ring of due slots. */
  #tick: number;

  /** `nowMs` is the time on the clock that all later times are measured on; monotonic. `horizonMs`: no deadline is set for later than this. */
  constructor(slots: number, nowMs: number, horizonMs: number) {
    this.#slots = slots;
    // A time between two ticks is due at the later one, and the tick of the present is never used.
    this.#ticks = 2 ** Math.ceil(Math.log2(Math.ceil(horizonMs / TICK_MS) + 2));
    // A link is stored as the distance from the slot, so zeroed memory that was never touched means "linked to itself".
    this.#next = new Uint32Array(slots + this.#ticks + 1);
    this.#previous = new Uint32Array(slots + this.#ticks + 1);
    this.#tick = Math.floor(nowMs / TICK_MS);
  }

  /** Sets the deadline of a slot and replaces an earlier one. A time beyond the wheel is due at its last tick. */
  set(slot: number, atMs: number): void {
    this.clear(slot);
    const tick = Math.min(Math.max(Math.ceil(atMs / TICK_MS), this.#tick + 1), this.#tick + this.#ticks - 1);
    const sentinel = this.#slots + (tick & (this.#ticks - 1));
    const last = this.#link(this.#previous, sentinel);
    this.#join(last, slot);
    this.#join(slot, sentinel);
  }

  clear(slot: number): void {
    const next = this.#link(this.#next, slot);
    if (next === slot) return;
    this.#join(this.#link(this.#previous, slot), next);
    this.#next[slot] = 0;
    this.#previous[slot] = 0;
  }

  /**
   * Removes each slot whose deadline is at or before `nowMs` and calls `due` for it, until `due` returns false; the others
   * stay due. Returns whether there are others.
   */
  advance(nowMs: number, due: (slot: number) => boolean): boolean {
    const until = Math.floor(nowMs / TICK_MS);
    const dueRing = this.#slots + this.#ticks;
    // After a long pause one round of the wheel covers every tick.
    for (let tick = Math.max(this.#tick, until - this.#ticks) + 1; tick <= until; tick++) {
      this.#splice(this.#slots + (tick & (this.#ticks - 1)), dueRing);
    }
    this.#tick = Math.max(this.#tick, until);
    for (let slot = this.#link(this.#next, dueRing); slot !== dueRing; slot = this.#link(this.#next, dueRing)) {
      this.clear(slot);
      if (!due(slot)) return this.#link(this.#next, dueRing) !== dueRing;
    }
    return false;
  }

  /** Moves all slots of one ring to the end of another. */
  #splice(from: number, to: number): void {
    const first = this.#link(this.#next, from);
    if (first === from) return;
    const last = this.#link(this.#previous, from);
    this.#join(this.#link(this.#previous, to), first);
    this.#join(last, to);
    this.#join(from, from);
  }

  #link(links: Uint32Array, at: number): number {
    return (at + links[at]) >>> 0;
  }

  #join(before: number, after: number): void {
    this.#next[before] = after - before;
    this.#previous[after] = before - after;
  }
}

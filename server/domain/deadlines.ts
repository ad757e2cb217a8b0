/**
 * Deadlines: the one moment at which something falls due for each slot: its ping while parked, the end of its lease else.
 *
 * A wheel of ticks; the slots due in one tick are a ring through two arrays, entered at a sentinel behind the last slot.
 * One ring more gathers what falls due now, so that deadlines set meanwhile are all of the time to come.
 * Invariant: a slot is in at most one ring; a slot that is in none is linked to itself.
 * Cost: set and clear are O(1), 8 bytes a slot; a tick costs what falls due in it.
 */

/** Length of a tick in ms: what falls due in one of them, at a million desktops, is some 400 pings. */
export const TICK_MS = 50;

/** Ticks of the wheel: a power of two; its horizon of 204 s lies beyond the latest ping. */
const TICKS = 4096;

export class Deadlines {
  readonly #next: Uint32Array;
  readonly #previous: Uint32Array;
  readonly #slots: number;
  /** The tick up to which everything was called due. */
  #tick: number;

  /** `nowMs`: the clock all later times are of; monotonic. */
  constructor(slots: number, nowMs: number) {
    this.#slots = slots;
    // Links are stored as the distance from the slot itself, so untouched zero memory reads as "linked to itself".
    this.#next = new Uint32Array(slots + TICKS + 1);
    this.#previous = new Uint32Array(slots + TICKS + 1);
    this.#tick = Math.floor(nowMs / TICK_MS);
  }

  /** Sets the deadline of a slot in place of what it had. A time beyond the horizon falls due at the horizon. */
  set(slot: number, atMs: number): void {
    this.clear(slot);
    const tick = Math.min(Math.max(Math.ceil(atMs / TICK_MS), this.#tick + 1), this.#tick + TICKS - 1);
    const sentinel = this.#slots + (tick & (TICKS - 1));
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
   * Calls `due` for each slot whose deadline is at or before `nowMs`, after taking it off the wheel, until it says false:
   * that is enough for now, and the rest stays due. Answers whether there is a rest.
   */
  advance(nowMs: number, due: (slot: number) => boolean): boolean {
    const until = Math.floor(nowMs / TICK_MS);
    const dueRing = this.#slots + TICKS;
    // After a long sleep one round of the wheel sees everything.
    for (let tick = Math.max(this.#tick, until - TICKS) + 1; tick <= until; tick++) {
      this.#splice(this.#slots + (tick & (TICKS - 1)), dueRing);
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

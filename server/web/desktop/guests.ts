/**
 * Who is a guest on this desktop, whether there is room for another one, and which guest goes on next.
 *
 * A guest is a sprite that another desktop threw here. Invariant: no sprite of this person makes room for a guest. The rules and numbers
 * are those of client-win/BEHAVIOUR.md (Guests); `guests.vectors.json` is played here and in core/desktop/guest_list.cc.
 * Cost: O(guests) a call.
 */
import type { Edge } from '../../wire/rules.ts';

export const GUESTS_MAX = 40; // guests at once: a crowd, beside which one's own sprites are still found
export const GUESTS_OF_ONE_MAX = 12; // guests from one desktop: a neighbour can't fill another one's screen
export const GUEST_STAY_MS = 10_000; // ms that a guest stays before it makes room: time to be seen
export const GUEST_GAP_MS = 400; // ms between two guests that go on: one after the other, not a burst
export const GUEST_PASSING_MS = 1_000; // ms that a guest is seen which is on its way to somebody else
export const GUEST_RETRY_MS = 5_000; // ms until a guest that came back tries again

interface Guest {
  readonly id: number;
  /** The desktop that threw it. */
  readonly from: string;
  /** The edge by which it goes on: the one it was thrown towards, or that of its way to somebody else. */
  edge: Edge;
  readonly sinceMs: number;
  /** When it may go on; null while it may stay. */
  goesMs: number | null;
}

export class Guests {
  /** Oldest first. */
  #guests: Guest[] = [];
  #nextMs = 0;

  /** How many of these sprites are no guests: one's own, which have a limit of their own. */
  othersOf(sprites: readonly { readonly id: number }[]): number {
    return sprites.filter(({ id }) => this.edgeOf(id) === undefined).length;
  }

  add(id: number, from: string, edge: Edge, nowMs: number): void {
    this.#guests.push({ id, from, edge, sinceMs: nowMs, goesMs: null });
  }

  /** The sprite is not here any more. One that is thrown and comes back is still a guest: call it only when it is gone for good. */
  remove(id: number): void {
    this.#guests = this.#guests.filter((guest) => guest.id !== id);
  }

  /** The edge by which a guest goes on; undefined for a sprite that is none. */
  edgeOf(id: number): Edge | undefined {
    return this.#guests.find((guest) => guest.id === id)?.edge;
  }

  /** Whether a sprite of this desktop may come in. If not, the guest that stands in its way goes on as soon as it has been here for a while. */
  hasRoom(from: string, nowMs: number): boolean {
    const ofOne = this.#guests.filter((guest) => guest.from === from);
    const inTheWay = ofOne.length >= GUESTS_OF_ONE_MAX ? ofOne : this.#guests.length >= GUESTS_MAX ? this.#guests : [];
    if (inTheWay.length > 0 && inTheWay.every(({ goesMs }) => goesMs === null)) {
      const [oldest] = inTheWay;
      if (nowMs - oldest.sinceMs >= GUEST_STAY_MS) oldest.goesMs = nowMs;
    }
    return inTheWay.length === 0;
  }

  /** The guests of this desktop go on, or all of them. */
  sendOn(from: string | null, nowMs: number): void {
    for (const guest of this.#guests) if (from === null || guest.from === from) guest.goesMs ??= nowMs;
  }

  /** A guest is on its way to somebody else: it goes on by this edge as soon as it was seen. */
  pass(id: number, edge: Edge, nowMs: number): void {
    const guest = this.#guests.find((one) => one.id === id);
    if (guest !== undefined) Object.assign(guest, { edge, goesMs: nowMs + GUEST_PASSING_MS });
  }

  /** Keeps a guest that was due to leave. */
  stay(id: number): void {
    const guest = this.#guests.find((one) => one.id === id);
    if (guest !== undefined) guest.goesMs = null;
  }

  /** The next guest that is due to leave, and its edge; null when none is. */
  next(nowMs: number): { id: number; edge: Edge } | null {
    if (nowMs < this.#nextMs) return null;
    const guest = this.#guests.find(({ goesMs }) => goesMs !== null && nowMs >= goesMs);
    if (guest === undefined) return null;
    guest.goesMs = nowMs + GUEST_RETRY_MS;
    this.#nextMs = nowMs + GUEST_GAP_MS;
    return guest;
  }
}

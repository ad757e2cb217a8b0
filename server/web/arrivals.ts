/**
 * Incoming sprites: which events are new, which sprites wait for room, and which must be removed again.
 *
 * Polling with a cursor tells the relay that everything before the cursor was received. When a desktop ends before that
 * poll, the relay passes its last batch on to another desktop, so the sprites of that batch must not stay here
 * (PROTOCOL.md, What is lost, and when).
 * Invariant: each event is received once; its sprite is in the simulation or waits, until it leaves or is removed.
 * Cost: O(sprites of the last batch).
 */
import type { Sprite } from './simulation.ts';
import type { Arrival, RelayEvent } from './transport.ts';

export const WAITING_MAX = 64; // sprites that wait for room; from here on the page does not poll until some have entered

/** Removed pictures that are remembered; the oldest is forgotten first. An operator removes them by hand. */
export const REMOVED_MAX = 1_000;

export interface ArrivalHandlers {
  /** Puts the sprite into the simulation. Returns null when there is no room. */
  enter(arrival: Arrival): Sprite | null;
  remove(sprite: Sprite): void;
}

export class Arrivals {
  /** The sequence number of the newest event received; −1 when there was none in the relay's present epoch. */
  seq = -1;
  /** Oldest first. */
  readonly waiting: Arrival[] = [];
  /** The sprites of the last batch; null for one that waits. */
  #lastBatch = new Map<Arrival, Sprite | null>();
  /** Pictures that the operator has removed: sprites of them that were on their way are received, but do not enter. */
  readonly #removed = new Set<string>();
  #roomMade: (() => void) | null = null;
  readonly #handlers: ArrivalHandlers;

  constructor(handlers: ArrivalHandlers) {
    this.#handlers = handlers;
  }

  /** Receives a batch. All batches before it have been acknowledged. */
  receive(events: readonly RelayEvent[]): void {
    this.#lastBatch.clear();
    for (const event of events) {
      if (event.type !== 'sprite' || event.seq <= this.seq) continue;
      this.seq = event.seq;
      if (this.#removed.size > 0 && this.isRemoved(event.sprite.file)) continue;
      const sprite = this.#handlers.enter(event);
      if (sprite === null) this.waiting.push(event);
      this.#lastBatch.set(event, sprite);
    }
  }

  /** No sprite of this picture enters from now on, and none waits. Those that are here are the caller's to remove. */
  removePicture(file: string): void {
    this.#removed.add(file);
    if (this.#removed.size > REMOVED_MAX) this.#removed.delete(this.#removed.values().next().value as string);
    const stay = this.waiting.filter((arrival) => !this.isRemoved(arrival.sprite.file));
    this.waiting.splice(0, this.waiting.length, ...stay);
    for (const arrival of this.#lastBatch.keys())
      if (this.isRemoved(arrival.sprite.file)) this.#lastBatch.delete(arrival);
    if (this.waiting.length < WAITING_MAX) this.#roomMade?.();
  }

  /** Whether the operator has removed this picture. */
  isRemoved(file: string): boolean {
    return this.#removed.has(file);
  }

  /** Lets waiting sprites enter, in the order they arrived, until there is no more room. */
  admitWaiting(): void {
    while (this.waiting.length > 0) {
      const sprite = this.#handlers.enter(this.waiting[0]);
      if (sprite === null) break;
      const arrival = this.waiting.shift()!;
      if (this.#lastBatch.has(arrival)) this.#lastBatch.set(arrival, sprite);
    }
    if (this.waiting.length < WAITING_MAX) this.#roomMade?.();
  }

  /** Resolves when fewer than WAITING_MAX sprites wait. */
  async untilRoom(): Promise<void> {
    if (this.waiting.length < WAITING_MAX) return;
    await new Promise<void>((resolve) => {
      this.#roomMade = resolve;
    });
  }

  /** Removes the sprites of the last batch: the relay has passed them on. */
  removeLastBatch(): void {
    for (const [arrival, sprite] of this.#lastBatch) {
      if (sprite !== null) this.#handlers.remove(sprite);
      else this.waiting.splice(this.waiting.indexOf(arrival), 1);
    }
    this.#lastBatch.clear();
  }

  /** The relay numbers its events from the start again: this is a new desktop or a new epoch. Sprites that are here stay. */
  restart(): void {
    this.seq = -1;
    this.#lastBatch.clear();
  }
}

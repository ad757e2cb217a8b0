/**
 * Sprites on their way in: which events are new, who waits for room, and who must go again.
 *
 * Asking with a cursor tells the relay that everything before it was received. A desktop that ends before it asked has its
 * last batch passed on, so whoever came in with that one is somebody else's by now (PROTOCOL.md, What is lost, and when).
 * Invariant: an event is taken in once; whoever was taken in is in the world or waits, until it leaves or is taken away.
 * Cost: O(sprites of the last batch).
 */

import type { Sprite } from './simulation.ts';
import type { Arrival, RelayEvent } from './transport.ts';

export interface ArrivalHandlers {
  /** Lets it in; null when there is no room. */
  enter(arrival: Arrival): Sprite | null;
  takeAway(sprite: Sprite): void;
}

export class Arrivals {
  /** Of the newest event that was taken in; −1 when none was since the relay's epoch began. */
  seq = -1;
  readonly waiting: Arrival[] = [];
  /** Those of the last batch, whether they are in or still wait. */
  #last = new Map<Arrival, Sprite | null>();
  readonly #handlers: ArrivalHandlers;

  constructor(handlers: ArrivalHandlers) {
    this.#handlers = handlers;
  }

  /** A batch has come; the ones before it are acknowledged. */
  takeIn(events: readonly RelayEvent[]): void {
    this.#last.clear();
    for (const event of events) {
      if (event.type !== 'sprite' || event.seq <= this.seq) continue;
      this.seq = event.seq;
      const sprite = this.#handlers.enter(event);
      if (sprite === null) this.waiting.push(event);
      this.#last.set(event, sprite);
    }
  }

  /** Lets in whom there is room for now, in the order they came. */
  letIn(): void {
    while (this.waiting.length > 0) {
      const sprite = this.#handlers.enter(this.waiting[0]);
      if (sprite === null) return;
      const arrival = this.waiting.shift()!;
      if (this.#last.has(arrival)) this.#last.set(arrival, sprite);
    }
  }

  /** The relay has passed on the last batch. */
  loseLast(): void {
    for (const [arrival, sprite] of this.#last) {
      if (sprite !== null) this.#handlers.takeAway(sprite);
      else this.waiting.splice(this.waiting.indexOf(arrival), 1);
    }
    this.#last.clear();
  }

  /** The relay counts from the beginning: a new seat, or a new life of its own. Whoever is here stays. */
  beginAnew(): void {
    this.seq = -1;
    this.#last.clear();
  }
}

/**
 * Outgoing sprites: thrown over an edge here, and not yet accepted by the relay.
 *
 * Invariant: a sprite that left the simulation is pending here until the relay has accepted its crossing; when the relay
 * refuses the crossing, the sprite comes back. A crossing keeps its number, so a repeat after a reload is the same crossing.
 * Cost: O(pending sprites), usually one.
 */
import type { Departure } from './simulation.ts';
import type { Crossing, Neighbour, Problem, Transport } from './transport.ts';

/** How many numbers a relay remembers: it refuses a crossing as stale when its number is further below the newest accepted one. */
export const CROSSINGS_AHEAD_MAX = 32;

export interface DepartureHandlers {
  /** The pending crossings changed and must be saved now. A new crossing is sent only after that. */
  save(): void;
  accepted(departure: Departure, to: Neighbour | null): void;
  returned(departure: Departure, problem: Problem): void;
}

export interface PendingCrossing {
  departure: Departure;
  crossing: Crossing;
}

export class Departures {
  /** Oldest first. */
  readonly pending: PendingCrossing[] = [];
  nextNumber: number;
  readonly #sent = new Set<PendingCrossing>();
  readonly #handlers: DepartureHandlers;
  #transport: Transport | null = null;

  constructor(handlers: DepartureHandlers, nextNumber = 1) {
    this.#handlers = handlers;
    this.nextNumber = nextNumber;
  }

  /** Sends crossings over `transport` from now on. Those already pending are sent again, under their numbers. */
  use(transport: Transport): void {
    this.#transport = transport;
    this.#sent.clear();
    this.#sendMore();
  }

  depart(departure: Departure): void {
    const { sprite, edge, at, vx, vy } = departure;
    const { file, name, facing, scale } = sprite;
    const crossingSprite = { file, name, animation: 'fall', facing, scale };
    this.resume({ departure, crossing: { crossing: this.nextNumber++, edge, at, vx, vy, sprite: crossingSprite } });
    this.#handlers.save();
    this.#sendMore();
  }

  /** Adds a crossing that was pending when the page was unloaded. */
  resume(pending: PendingCrossing): void {
    this.pending.push(pending);
    this.nextNumber = Math.max(this.nextNumber, pending.crossing.crossing + 1);
  }

  /** Sends all crossings that the relay's memory of numbers has room for. The others wait. */
  #sendMore(): void {
    for (const pending of [...this.pending]) {
      if (pending.crossing.crossing >= this.pending[0].crossing.crossing + CROSSINGS_AHEAD_MAX) return;
      if (this.#transport !== null && !this.#sent.has(pending)) void this.#send(pending, this.#transport);
    }
  }

  async #send(pending: PendingCrossing, transport: Transport): Promise<void> {
    this.#sent.add(pending);
    const verdict = await transport.send(pending.crossing);
    if (verdict === 'unknown' && this.#transport !== transport) return; // the next transport sends it again
    this.pending.splice(this.pending.indexOf(pending), 1);
    this.#sent.delete(pending);
    if (verdict === 'unknown') this.#handlers.returned(pending.departure, SEAT_ENDED);
    else if ('refused' in verdict) this.#handlers.returned(pending.departure, verdict.refused);
    else this.#handlers.accepted(pending.departure, verdict.to);
    this.#handlers.save();
    this.#sendMore();
  }
}

const SEAT_ENDED: Problem = {
  code: 'desktop-ended',
  title: 'The relay did not answer before this desktop had to join again.',
};

/**
 * Sprites on their way out: thrown over an edge here, not yet taken over there.
 *
 * Invariant: a sprite that left the world is in here until the relay has accepted it; refused, it comes back. A number
 * is given once and kept with its sprite, so that a repeat after a reload is the same crossing.
 * Cost: O(sprites on their way), usually one.
 */

import type { Departure } from './simulation.ts';
import type { Crossing, Neighbour, Problem, Transport } from './transport.ts';

/** Numbers a relay looks back: one that is this much older than the newest accepted is refused as stale. */
export const CROSSINGS_AHEAD_MAX = 32;

export interface DepartureHandlers {
  /** Write down who is on the way, before it is sent. */
  keep(): void;
  accepted(departure: Departure, to: Neighbour | null): void;
  returned(departure: Departure, problem: Problem): void;
}

export interface Leaving {
  departure: Departure;
  crossing: Crossing;
}

export class Departures {
  /** Oldest first. */
  readonly leaving: Leaving[] = [];
  nextNumber: number;
  readonly #sent = new Set<Leaving>();
  readonly #handlers: DepartureHandlers;
  #transport: Transport | null = null;

  constructor(handlers: DepartureHandlers, nextNumber = 1) {
    this.#handlers = handlers;
    this.nextNumber = nextNumber;
  }

  /** Over this transport from now on. Whoever was on the way before (a reload) is sent again under the same number. */
  use(transport: Transport): void {
    this.#transport = transport;
    this.#sent.clear();
    this.#sendMore();
  }

  depart(departure: Departure): void {
    const { sprite, edge, at, vx, vy } = departure;
    const { file, name, facing, scale } = sprite;
    const traveller = { file, name, animation: 'fall', facing, scale };
    this.resume({ departure, crossing: { crossing: this.nextNumber++, edge, at, vx, vy, sprite: traveller } });
    this.#handlers.keep();
    this.#sendMore();
  }

  /** Puts back somebody who was on the way when the page was left. */
  resume(leaving: Leaving): void {
    this.leaving.push(leaving);
    this.nextNumber = Math.max(this.nextNumber, leaving.crossing.crossing + 1);
  }

  /** All that fit into the relay's memory of numbers; the rest waits its turn, off the edge. */
  #sendMore(): void {
    for (const leaving of [...this.leaving]) {
      if (leaving.crossing.crossing >= this.leaving[0].crossing.crossing + CROSSINGS_AHEAD_MAX) return;
      if (this.#transport !== null && !this.#sent.has(leaving)) void this.#send(leaving, this.#transport);
    }
  }

  async #send(leaving: Leaving, transport: Transport): Promise<void> {
    this.#sent.add(leaving);
    const verdict = await transport.send(leaving.crossing);
    if (verdict === 'unknown' && this.#transport !== transport) return; // the next transport asks again
    this.leaving.splice(this.leaving.indexOf(leaving), 1);
    this.#sent.delete(leaving);
    if (verdict === 'unknown') this.#handlers.returned(leaving.departure, SEAT_ENDED);
    else if ('refused' in verdict) this.#handlers.returned(leaving.departure, verdict.refused);
    else this.#handlers.accepted(leaving.departure, verdict.to);
    this.#handlers.keep();
    this.#sendMore();
  }
}

const SEAT_ENDED: Problem = { code: 'desktop-ended', title: 'Nobody answered before this desktop had to join again.' };

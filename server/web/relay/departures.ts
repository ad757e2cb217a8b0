/**
 * Outgoing sprites: thrown over an edge here, and not yet accepted by the relay.
 *
 * Invariant: a sprite that left the simulation is pending here until the relay has accepted its crossing; when the relay
 * refuses the crossing, the sprite comes back. A crossing keeps its number and the seat that sent it first. It is repeated there, and
 * nowhere else, also when this desktop has another seat by then (client-win/BEHAVIOUR.md, A throw without a verdict).
 * Cost: O(pending sprites), usually one.
 */
import { ANSWER_MS_MAX, CROSSINGS_REMEMBERED, ENDED_REMEMBERED_MS } from '../../wire/rules.ts';
import type { Carried, Departure, Entrance, Journey } from '../motion/simulation.ts';
import { carriedOf } from './journey.ts';
import type { Crossing, CrossingVerdict, Neighbour, Problem, Sender, Transport } from './transport.ts';

/** A crossing whose number is further above the oldest unanswered one is not sent: the relay would not remember that one any more. */
export const CROSSINGS_AHEAD_MAX = CROSSINGS_REMEMBERED;

/** Requests without a verdict to the relay of a seat that is no longer this desktop's: for as long as it remembers the seat. */
export const FORMER_TRIES_MAX = ENDED_REMEMBERED_MS / ANSWER_MS_MAX;

/** The way to the relay for the crossings of one seat. */
export type Way = Pick<Transport, 'send' | 'close'>;

/** What leaves a desktop: the motion, and what its neighbour gets of the sprite. */
interface Leaving extends Entrance {
  /** With this throw. */
  readonly journey?: Journey;
  /** With which it crosses; by default it falls. */
  readonly animation?: string;
  readonly sprite: Omit<Carried, 'journey'>;
}

interface DepartureHandlers<One> {
  /** The pending crossings changed and must be saved now. A new crossing is sent only after that. */
  save(): void;
  accepted(departure: One, to: Neighbour | null): void;
  returned(departure: One, problem: Problem): void;
  /** Opens a way for a seat that is no longer this desktop's. It sends a crossing up to FORMER_TRIES_MAX times. */
  openFormer(sender: Sender): Way;
}

interface PendingCrossing<One> {
  readonly departure: One;
  readonly crossing: Crossing;
  /** The seat that sends it. */
  readonly sender: Sender;
}

/** Whether a crossing may be sent when these have no verdict: its number and those of the same seat. */
export function mayBeSent(number: number, unanswered: Iterable<number>): boolean {
  return number < Math.min(...unanswered) + CROSSINGS_AHEAD_MAX;
}

export class Departures<One extends Leaving = Departure> {
  /** Oldest first. */
  readonly pending: PendingCrossing<One>[] = [];
  nextNumber: number;
  readonly #handlers: DepartureHandlers<One>;
  /** Those that were pending when the page was unloaded, until there is a seat. */
  #resumed: PendingCrossing<One>[] = [];
  #seat: Sender | null = null;
  /** The way of the seat; null when the seat has ended. */
  #way: Way | null = null;
  /** The ways of other seats, by desktop. */
  readonly #former = new Map<string, Way>();

  constructor(handlers: DepartureHandlers<One>, nextNumber = 1) {
    this.#handlers = handlers;
    this.nextNumber = nextNumber;
  }

  /** Sends the crossings of this seat over `way` from now on. */
  use(seat: Sender, way: Way): void {
    this.#seat = seat;
    this.#way = way;
    // While the page was frozen, this seat had none, and its throws were repeated as those of a former seat.
    const apart = this.#former.get(seat.desktop);
    this.#former.delete(seat.desktop);
    apart?.close();
    for (const pending of this.#resumed.splice(0)) void this.#send(pending, true);
  }

  /** Sends a sprite as the present seat, or returns it at once while too many others have no verdict. */
  depart(departure: One): void {
    const sender = this.#seat;
    if (sender === null) throw new Error('A sprite departed from a desktop without a seat.');
    const ofSeat = this.pending.filter((one) => one.sender.desktop === sender.desktop);
    const numbers = ofSeat.map(({ crossing }) => crossing.crossing);
    if (!mayBeSent(this.nextNumber, numbers)) {
      this.#handlers.returned(departure, TOO_MANY);
      return;
    }
    const { sprite, journey, animation = 'fall', ...motion } = departure;
    const carried = { ...carriedOf({ ...sprite, journey }), animation };
    const crossing = { crossing: this.nextNumber++, ...motion, sprite: carried };
    const pending = { departure, crossing, sender };
    this.pending.push(pending);
    this.#handlers.save();
    void this.#send(pending, false);
  }

  /** Adds a crossing that was pending when the page was unloaded. It is sent again as soon as there is a seat. */
  resume(pending: PendingCrossing<One>): void {
    this.pending.push(pending);
    this.#resumed.push(pending);
    this.nextNumber = Math.max(this.nextNumber, pending.crossing.crossing + 1);
  }

  /** Asks the relay of its seat until there is a verdict. The way may change meanwhile, the seat and the number do not. */
  async #send(pending: PendingCrossing<One>, isRepeat: boolean): Promise<void> {
    const { departure, crossing, sender } = pending;
    let verdict: CrossingVerdict = 'unknown';
    let isGivenUp = false;
    for (let repeats = isRepeat; verdict === 'unknown' && !isGivenUp; repeats = true) {
      const way = this.#wayOf(sender);
      verdict = await way.send(crossing, repeats);
      if (verdict !== 'unknown') break;
      // The way is closed, or has tried for long enough.
      if (way === this.#way) this.#way = null;
      isGivenUp = way === this.#former.get(sender.desktop);
    }
    this.pending.splice(this.pending.indexOf(pending), 1);
    this.#closeFormer(sender);
    if (verdict === 'unknown') this.#handlers.returned(departure, SEAT_ENDED);
    else if ('refused' in verdict) this.#handlers.returned(departure, verdict.refused);
    else this.#handlers.accepted(departure, verdict.to);
    this.#handlers.save();
  }

  #wayOf(sender: Sender): Way {
    const { desktop } = sender;
    if (this.#way !== null && desktop === this.#seat?.desktop) return this.#way;
    let way = this.#former.get(desktop);
    if (way === undefined) {
      way = this.#handlers.openFormer(sender);
      this.#former.set(desktop, way);
    }
    return way;
  }

  /** Closes the way of another seat when nothing of it is pending any more. */
  #closeFormer({ desktop }: Sender): void {
    if (this.pending.some((one) => one.sender.desktop === desktop)) return;
    this.#former.get(desktop)?.close();
    this.#former.delete(desktop);
  }
}

const SEAT_ENDED: Problem = {
  code: 'desktop-ended',
  title: 'The relay did not answer before this desktop had to join again.',
};

const TOO_MANY: Problem = { code: 'too-fast', title: 'Too many throws wait for the relay.' };

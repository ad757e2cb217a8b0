/**
 * Incoming sprites: which events are new, which sprites wait for room, and which must be removed again.
 *
 * Polling with a cursor tells the relay that everything before the cursor was received. When a desktop ends before that
 * poll, the relay passes its last batch on to another desktop, so the sprites of that batch must not stay here
 * (PROTOCOL.md, What is lost, and when).
 * Invariant: each event is received once; its sprite is in the simulation or waits, until it leaves or is removed.
 * Cost: O(sprites of the last batch, and of those that are not settled).
 */
import type { Sprite } from '../motion/simulation.ts';
import type { Arrival, RelayEvent } from './transport.ts';

export const WAITING_MAX = 64; // sprites that wait for room; from here on the page does not poll until some have entered

/** Removed pictures that are remembered; the oldest is forgotten first. An operator removes them by hand. */
export const REMOVED_MAX = 1_000;

/** What a desktop keeps of a sprite that has entered; `file` is its picture. */
interface Entered {
  readonly file: string;
}

interface ArrivalHandlers<Guest> {
  /** Puts the sprite into the simulation. Returns null when there is no room. */
  enter(arrival: Arrival): Guest | null;
  remove(sprite: Guest): void;
}

/** The sprites of a batch that are here, and those that wait, each with the number of the event that brought it. */
export type Batch<Guest = Sprite> = Map<Guest | Arrival, number>;

export class Arrivals<Guest extends Entered = Sprite> {
  /** The sequence number of the newest event received; −1 when there was none in the relay's present epoch. */
  seq = -1;
  /** Oldest first. */
  readonly waiting: Arrival[] = [];
  /** The newest batch. Those of former seats follow, until they are settled. */
  #batches: Batch<Guest>[] = [new Map()];
  /** Pictures that the operator has removed: sprites of them that were on their way are received, but do not enter. */
  readonly #removed = new Set<string>();
  #roomMade: (() => void) | null = null;
  readonly #handlers: ArrivalHandlers<Guest>;

  constructor(handlers: ArrivalHandlers<Guest>) {
    this.#handlers = handlers;
  }

  /** Receives a batch. All batches before it have been acknowledged, unless it begins with events of the last one. */
  receive(events: readonly RelayEvent[]): void {
    const first = events.find((event) => event.type === 'sprite');
    if (first === undefined || first.seq > this.seq) this.#batches[0].clear();
    for (const event of events) {
      if (event.type !== 'sprite' || event.seq <= this.seq) continue;
      this.seq = event.seq;
      if (this.#removed.size > 0 && this.isRemoved(event.sprite.file)) continue;
      const sprite = this.#handlers.enter(event);
      if (sprite === null) this.waiting.push(event);
      this.#batches[0].set(sprite ?? event, event.seq);
    }
  }

  /** The number of the event that brought this sprite, or one that waits, with the last batch, which the relay may not know to be received. */
  seqInLastBatch(one: Guest | Arrival): number | undefined {
    return this.#batches[0].get(one);
  }

  /** Adds a sprite of the last batch, or one that waits, which was here when the page was unloaded. */
  resumeLastBatch(one: Guest | Arrival, seq: number): void {
    this.#batches[0].set(one, seq);
  }

  /** No sprite of this picture enters from now on, and none waits. Those that are here are the caller's to remove. */
  removePicture(file: string): void {
    this.#removed.add(file);
    if (this.#removed.size > REMOVED_MAX) this.#removed.delete(this.#removed.values().next().value as string);
    const stay = this.waiting.filter((arrival) => !this.isRemoved(arrival.sprite.file));
    this.waiting.splice(0, this.waiting.length, ...stay);
    for (const batch of this.#batches)
      for (const one of batch.keys()) if (this.isRemoved(fileOf(one))) batch.delete(one);
    if (this.waiting.length < WAITING_MAX) this.#roomMade?.();
  }

  /** Whether the operator has removed this picture. */
  isRemoved(file: string): boolean {
    return this.#removed.has(file);
  }

  /** Lets waiting sprites enter, in the order they arrived, as far as there is room for them. */
  admitWaiting(): void {
    for (const arrival of [...this.waiting]) {
      const sprite = this.#handlers.enter(arrival);
      if (sprite === null) continue;
      this.waiting.splice(this.waiting.indexOf(arrival), 1);
      for (const batch of this.#batches) if (batch.delete(arrival)) batch.set(sprite, arrival.seq);
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

  /** Removes what the last batch brought after the event with this number: the relay has passed it on. */
  removeAfter(seq: number): void {
    this.#remove(this.#batches[0], seq);
  }

  /** The relay numbers its events from the start again, in a new epoch. Sprites that are here stay. */
  restart(): void {
    this.seq = -1;
    this.#batches[0].clear();
  }

  /** Likewise for a new seat. Returns the last batch of the former one: its relay may not know that it was received. */
  changeSeat(): Batch<Guest> {
    const [doubtful] = this.#batches;
    this.#batches = [new Map(), ...this.#batches.filter(({ size }) => size > 0)];
    this.seq = -1;
    return doubtful;
  }

  /** The relay of a former seat has said after which event it has passed on what this batch brought; after Infinity it is nothing. */
  settle(batch: Batch<Guest>, lostAfter: number): void {
    this.#remove(batch, lostAfter);
    this.#batches = this.#batches.filter((one) => one !== batch);
  }

  #remove(batch: Batch<Guest>, after: number): void {
    for (const [one, seq] of batch) {
      if (seq <= after) continue;
      if ('seq' in one) this.waiting.splice(this.waiting.indexOf(one), 1);
      else this.#handlers.remove(one);
      batch.delete(one);
    }
  }
}

function fileOf(one: Entered | Arrival): string {
  return 'seq' in one ? one.sprite.file : one.file;
}

/**
 * A seat: one desktop of the relay, as its client knows it: its cursor, the batch that is not acknowledged, and its unanswered throws.
 *
 * Invariant: no number is sent that is AHEAD_MAX or more above the oldest one without an answer.
 */

/** A relay remembers the newest accepted number and the 32 below it. */
export const AHEAD_MAX = 32;

export interface Joined {
  desktop: string;
  token: string;
  cursor: string;
  events: string;
  crossings: string;
  world: string;
}

interface Unacknowledged {
  sprite: number;
  seq: number;
  /** A poll with its cursor was sent and has no answer: the relay may have taken it. */
  isInDoubt: boolean;
}

export class Seat {
  readonly joined: Joined;
  /** The relay that it is at. */
  readonly relay: string;
  cursor: string;
  readonly #unanswered = new Set<number>();
  #nextNumber = 1;
  #unacknowledged: Unacknowledged[] = [];
  #newestSeq: number;

  constructor(joined: Joined, relay: string) {
    this.joined = joined;
    this.relay = relay;
    this.cursor = joined.cursor;
    this.#newestSeq = seqOf(joined.cursor);
  }

  /** The number for a throw; undefined when it would be too far above the oldest one that has no answer. */
  takeNumber(): number | undefined {
    const [oldest = this.#nextNumber] = this.#unanswered;
    if (this.#nextNumber >= oldest + AHEAD_MAX) return undefined;
    this.#unanswered.add(this.#nextNumber);
    return this.#nextNumber++;
  }

  /** A throw has its answer. */
  answered(number: number): void {
    this.#unanswered.delete(number);
  }

  get unanswered(): number {
    return this.#unanswered.size;
  }

  get unacknowledged(): readonly Unacknowledged[] {
    return this.#unacknowledged;
  }

  /** A poll with the present cursor is sent. */
  polls(): void {
    for (const one of this.#unacknowledged) one.isInDoubt = true;
  }

  /** The poll was answered: what it acknowledged is this desktop's for good. Returns those sprites. */
  polled(): number[] {
    const sprites = this.#unacknowledged.map(({ sprite }) => sprite);
    this.#unacknowledged = [];
    return sprites;
  }

  /** An event of a response. Returns false when it was received already. */
  receive(sprite: number, seq: number): boolean {
    if (seq <= this.#newestSeq) return false;
    this.#newestSeq = seq;
    this.#unacknowledged.push({ sprite, seq, isInDoubt: false });
    return true;
  }

  /** The relay has named the cursor to go on from: what it sends after it is new. Returns the sprites of the last batch, which stay. */
  goOnFrom(cursor: string): number[] {
    this.cursor = cursor;
    this.#newestSeq = seqOf(cursor);
    return this.polled();
  }

  /**
   * The seat has ended. `cursor`: the last one that the relay knows to be acknowledged; what came after it has gone on. Without it all of the
   * last batch has, as far as the client can know. Returns the sprites to keep, and those to remove.
   */
  end(cursor: string | undefined): { kept: number[]; removed: Unacknowledged[] } {
    const acknowledged = cursor === undefined ? -1 : seqOf(cursor);
    const all = this.#unacknowledged;
    this.#unacknowledged = [];
    return {
      kept: all.filter(({ seq }) => seq <= acknowledged).map(({ sprite }) => sprite),
      removed: all.filter(({ seq }) => seq > acknowledged),
    };
  }
}

function seqOf(cursor: string): number {
  return Number(cursor.slice(cursor.lastIndexOf('-') + 1));
}

/**
 * Links: the receivers of the relay's answers, which are the front of the long-polls and the workers.
 *
 * A ticket below LINK_TICKETS is the front's. From there on it encodes the number of a worker's link and the number of its request.
 * Invariant: every request of a link gets one answer on the same link. An answer to a worker that has died is dropped.
 * Cost: O(1) for each answer.
 */
import type { AnswerSink } from '../domain/way_down.ts';
import type { Front } from '../front/front.ts';
import type { Answer, AnswerView } from '../wire/answer.ts';

/** A worker, as the master sees it: the receiver of answers. */
export interface Link {
  readonly answer: Answer;
  /** Returns whether it may get another batch now. If not, batches for it stay in the mailboxes until Turns.linkHasRoom(). */
  hasRoom(): boolean;
  /** Returns whether it may get sayings and stages now: while it has room for sprites to spare. */
  hasRoomForSayings(): boolean;
  /** Sends the answers of this turn. */
  flush(): void;
}

const LINK_TICKETS = 2 ** 52;
const REQUESTS_PER_LINK = 2 ** 32;

function linkOf(ticket: number): number {
  return Math.floor((ticket - LINK_TICKETS) / REQUESTS_PER_LINK);
}

export class Links implements AnswerSink {
  /** Whether this turn has answers, which may leave only after a commit. */
  hasToSend = false;
  #front: Front | undefined;
  readonly #links = new Map<number, Link>();
  #next = 0;

  /** Adds the front that holds the long-polls. */
  addFront(front: Front): void {
    this.#front = front;
  }

  /** Adds a worker and returns its number, which is never reused. */
  add(link: Link): number {
    this.#links.set(this.#next, link);
    return this.#next++;
  }

  /** Returns whether a worker is still there: its last frames may arrive after its end was noticed. */
  has(number: number): boolean {
    return this.#links.has(number);
  }

  /** Removes a worker that has died; returns false when it was not there. */
  remove(number: number): boolean {
    return this.#links.delete(number);
  }

  /** The ticket of a worker's request. */
  ticketOf(number: number, request: number): number {
    return LINK_TICKETS + number * REQUESTS_PER_LINK + request;
  }

  /** Returns whether a ticket is one of this worker's requests. */
  isOf(number: number, ticket: number): boolean {
    return ticket >= LINK_TICKETS && linkOf(ticket) === number;
  }

  /** Answers a worker's request. */
  reply(number: number, request: number, answer: Readonly<AnswerView>): void {
    this.hasToSend = true;
    this.#links.get(number)?.answer(request, answer);
  }

  room(bytes: number): Buffer {
    return this.#front?.room(bytes) ?? Buffer.alloc(bytes);
  }

  roomAt(): number {
    return this.#front?.roomAt ?? 0;
  }

  hasRoom(ticket: number): boolean {
    return ticket < LINK_TICKETS || (this.#links.get(linkOf(ticket))?.hasRoom() ?? true);
  }

  hasRoomForSayings(ticket: number): boolean {
    return ticket < LINK_TICKETS || (this.#links.get(linkOf(ticket))?.hasRoomForSayings() ?? true);
  }

  readonly answer: Answer = (ticket, answer) => {
    if (ticket >= LINK_TICKETS) {
      this.reply(linkOf(ticket), ticket % REQUESTS_PER_LINK, answer);
      return;
    }
    this.hasToSend = true;
    this.#front?.answer(ticket, answer);
  };

  /** Sends the answers of this turn. */
  flush(): void {
    this.hasToSend = false;
    for (const link of this.#links.values()) link.flush();
    this.#front?.flush();
  }
}

/**
 * The open tickets of the native front: a handler received them, and they are neither answered nor reported closed.
 *
 * A connection may close on its I/O thread while JavaScript answers it, or in the batch that brought its request. What
 * happens first on the JavaScript thread counts; the other is dropped here. Layout of a ticket: ticket.h.
 * Invariant: a connection has at most one open ticket, marked by 16 bits derived from its generation; 0: none.
 * Cost: O(1); 2 bytes for each connection that a thread ever held at once, and half as much again as room to grow.
 */
import type { Ticket } from './front.ts';

const INDEX_MASK = 2 ** 20 - 1;
const ONE_GENERATION = 2 ** 20;
const ONE_THREAD = 2 ** 40;
const MARKS = 0xffff;
const FIRST_ENTRIES = 1024;

export class OpenTickets {
  /** By thread, then by index. */
  readonly #marks: Uint16Array[];

  constructor(threads: number) {
    this.#marks = Array.from({ length: threads + 1 }, () => new Uint16Array(FIRST_ENTRIES));
  }

  open(ticket: Ticket): void {
    const thread = Math.floor(ticket / ONE_THREAD);
    const index = ticket & INDEX_MASK;
    if (index >= this.#marks[thread].length) this.#grow(thread, index);
    this.#marks[thread][index] = markOf(ticket);
  }

  isOpen(ticket: Ticket): boolean {
    return this.#marks[Math.floor(ticket / ONE_THREAD)]?.[ticket & INDEX_MASK] === markOf(ticket);
  }

  /** Returns false when the ticket was not open. */
  close(ticket: Ticket): boolean {
    if (!this.isOpen(ticket)) return false;
    this.#marks[Math.floor(ticket / ONE_THREAD)][ticket & INDEX_MASK] = 0;
    return true;
  }

  #grow(thread: number, index: number): void {
    const larger = new Uint16Array(Math.max(index + 1, Math.ceil(this.#marks[thread].length * 1.5)));
    larger.set(this.#marks[thread]);
    this.#marks[thread] = larger;
  }
}

/** Two generations have the same mark when 65,535 requests lie between them; no answer is that late. */
function markOf(ticket: Ticket): number {
  return ((Math.floor(ticket / ONE_GENERATION) % ONE_GENERATION) % MARKS) + 1;
}

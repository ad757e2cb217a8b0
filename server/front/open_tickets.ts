/**
 * Which tickets of the native front are open: handed to a handler, and neither answered nor reported closed.
 *
 * A connection may end on its I/O thread while JavaScript answers it, or in the batch that brought its request. Whichever is
 * done first on the JavaScript thread counts, and the other is dropped here. Layout of a ticket: ticket.h.
 * Invariant: a connection has one open ticket at the most, named by 16 bits made of its generation; 0 for none.
 * Cost: O(1); 2 bytes for each connection a thread ever held at once, and half as much again to grow into.
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

  /** False when it was not open. */
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

/** Two generations have the same mark when 65,535 requests lie between them: no answer is so late. */
function markOf(ticket: Ticket): number {
  return ((Math.floor(ticket / ONE_GENERATION) % ONE_GENERATION) % MARKS) + 1;
}

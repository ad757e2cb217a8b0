/**
 * The pending requests of a worker: what it has asked the master and has not been answered yet.
 *
 * A request number is an index of a row. A row holds either a ticket of the worker's front or a callback.
 * Invariant: a number is in use from add() until its answer; each number gets exactly one answer.
 * Cost: add and answer are O(1); for a ticket, without allocation.
 */
import type { Front } from '../front/front.ts';
import { type Answer, refusalOf } from '../wire/answer.ts';
import { ProblemError, problem } from '../wire/problem.ts';

/** Pending requests of one worker: more than it has sockets. Above this, a new request is refused with relay-busy. */
export const PENDING_MAX = 1 << 17;

/** The master's answer to a request that has a callback. */
export interface Reply {
  status: number;
  /** JSON, or empty. */
  body: Buffer;
  retryAfterSeconds: number;
}

const BUSY = problem('relay-busy', 'The relay has too many pending requests; try again in a second.');
const BUSY_ANSWER = refusalOf(BUSY);

const NO_TICKET = -1;

export class PendingRequests {
  #front: Front | undefined;
  readonly #tickets = new Float64Array(PENDING_MAX);
  readonly #callbacks: (((reply: Reply) => void) | undefined)[] = [];
  /** Numbers that were used before and are free again, a stack; those from #untouched on were never used. */
  readonly #free = new Uint32Array(PENDING_MAX);
  #freeCount = 0;
  #untouched = 0;
  /** The uplink has too many bytes on the way: every new request is refused with relay-busy. */
  isHeld = false;
  /** Requests refused with relay-busy: too many others or their bytes were on the way, or they could not be sent to the master. */
  refused = 0;

  /** The front that answers to tickets go to. */
  setFront(front: Front): void {
    this.#front = front;
  }

  get count(): number {
    return this.#untouched - this.#freeCount;
  }

  /** Adds a request of the front; returns its number. Throws relay-busy. */
  addTicket(ticket: number): number {
    return this.#add(ticket, undefined);
  }

  /** Adds a request whose answer goes to a callback; returns its number. Throws relay-busy. */
  addCallback(callback: (reply: Reply) => void): number {
    return this.#add(NO_TICKET, callback);
  }

  /** Drops the answer of a request with a callback when it comes. The number stays in use until then. */
  ignore(request: number): void {
    this.#callbacks[request] = undefined;
  }

  /** Whether the answer to a request goes to the front. */
  isForFront(request: number): boolean {
    return this.#tickets[request] >= 0;
  }

  /** Passes an answer of the master on to the front or the callback, and frees the request's number. */
  readonly answer: Answer = (request, answer) => {
    const ticket = this.#tickets[request];
    const callback = this.#callbacks[request];
    this.#callbacks[request] = undefined;
    this.#free[this.#freeCount++] = request;
    if (ticket >= 0) {
      this.#front?.answer(ticket, answer);
      return;
    }
    if (callback === undefined) return;
    const { status, body, start, end, retryAfterSeconds, shared } = answer;
    const own = body.subarray(start, end);
    callback({ status, body: shared ? Buffer.concat([own, shared]) : Buffer.from(own), retryAfterSeconds });
  };

  /** Refuses requests that could not be sent. The master has not seen them, so nothing has changed there. */
  refuse(requests: readonly number[]): void {
    this.refused += requests.length;
    for (const request of requests) this.answer(request, BUSY_ANSWER);
    this.#front?.flush();
  }

  #add(ticket: number, callback: ((reply: Reply) => void) | undefined): number {
    if (this.isHeld || (this.#freeCount === 0 && this.#untouched === PENDING_MAX)) {
      this.refused++;
      throw new ProblemError('relay-busy', BUSY.detail);
    }
    const request = this.#freeCount > 0 ? this.#free[--this.#freeCount] : this.#untouched++;
    this.#tickets[request] = ticket;
    this.#callbacks[request] = callback;
    return request;
  }
}

/**
 * The worker: takes every transient request, checks it, asks the master, and answers with what the master said.
 *
 * Invariant: a request is answered 202 only after the master's verdict; what is asked has one pending entry until then.
 * Cost: a crossing costs its check and one record; pending entries are rows, not objects.
 */
import type { Front, FrontHandlers, RequestView } from '../front/front.ts';
import { NO_SLOT } from '../front/front.ts';
import type { Answer } from '../wire/answer.ts';
import type { CheckedCrossing } from '../wire/crossing.ts';
import { CrossingReader } from '../wire/crossing_reader.ts';
import type { Identity } from '../wire/identity.ts';
import type { Join } from '../wire/join.ts';
import { PROBLEMS, type ProblemDocument, ProblemError, problem } from '../wire/problem.ts';
import type { Question, Uplink } from './uplink.ts';

/** Questions to the master at once, of one worker: more than its sockets. Beyond it requests are refused as busy. */
export const PENDING_MAX = 1 << 17;

/** The master's answer to a rare question. */
export interface Reply {
  status: number;
  /** JSON, or empty. */
  body: Buffer;
  retryAfterSeconds: number;
}

export const BUSY = problem('relay-busy', 'The relay has more requests in hand than it takes; try again in a second.');
export const UNKNOWN = problem('unknown-desktop', 'A bearer token of this desktop is needed; join to get one.');
export const DRAINING = problem('draining', 'The relay is going down; try again in some seconds.');

export class Worker {
  readonly uplink: Uplink;
  readonly #reader = new CrossingReader();
  #front: Front | undefined;
  /** Rows of what is pending: a front's ticket, or −1 and a call in #replies. */
  readonly #tickets = new Float64Array(PENDING_MAX);
  readonly #replies: (((reply: Reply) => void) | undefined)[] = [];
  readonly #free = new Uint32Array(PENDING_MAX);
  #freeCount = 0;
  #untouched = 0;
  #draining = false;
  /** Crossings refused here, before the master was asked: not of their form, or too large. */
  malformed = 0;
  /** Requests refused here because PENDING_MAX others waited, or the way to the master was broken. */
  busy = 0;

  constructor(makeUplink: (answered: Answer) => Uplink) {
    this.uplink = makeUplink(this.#answered);
  }

  get pendingCount(): number {
    return this.#untouched - this.#freeCount;
  }

  face(front: Front): void {
    this.#front = front;
  }

  /**
   * From now on whatever is asked is refused; what is pending is still answered. Crossings go on to the master: it refuses
   * new ones, and answers 202 again to one it has accepted, which else would bounce though its neighbour has it.
   */
  drain(): void {
    this.#draining = true;
  }

  /** What the front of the crossings calls. */
  readonly handlers: Pick<FrontHandlers, 'crossing' | 'turn'> = {
    crossing: (request) => this.#crossing(request),
    turn: () => {
      this.uplink.flush();
      this.#front?.flush();
    },
  };

  /** Asks the master; resolves to its answer. Throws relay-busy, draining. */
  ask(question: Question, desktop: Identity): Promise<Reply> {
    return this.#promise((request) => this.uplink.ask(question, request, desktop));
  }

  /** Joins a newcomer; resolves to the master's answer, still without addresses. Throws relay-busy, draining. */
  join(join: Join): Promise<Reply> {
    return this.#promise((request) => this.uplink.join(request, join));
  }

  /** Polls for a socket; the call comes when there is something to send. Answers the request's number for gone(). */
  poll(desktop: Identity, epoch: number, seq: number, call: (reply: Reply) => void): number {
    this.#mustNotDrain();
    const request = this.#pend(-1, call);
    this.uplink.poll(request, desktop, epoch, seq);
    return request;
  }

  /** The socket of a poll is closed: its answer goes nowhere, but its number is free only when it has come. */
  gone(request: number, desktop: Identity): void {
    this.#replies[request] = undefined;
    this.uplink.gone(request, desktop);
  }

  /** A crossing of a socket, checked here; the call comes with the verdict. Throws malformed, too-large, relay-busy. */
  throwFrom(desktop: Identity, body: Uint8Array, call: (reply: Reply) => void): void {
    this.#reader.read(body, 0, body.length);
    this.uplink.crossing(this.#pend(-1, call), desktop, this.#reader);
    this.uplink.flush();
  }

  /** Refuses what could not be sent to the master: it has not seen it, so nothing has changed there. */
  failed(requests: readonly number[]): void {
    this.busy += requests.length;
    const body = Buffer.from(JSON.stringify(BUSY));
    const { status, retryAfterSeconds } = PROBLEMS['relay-busy'];
    for (const request of requests) this.#answered(request, status, body, 0, body.length, retryAfterSeconds);
    this.#front?.flush();
  }

  #crossing(view: RequestView): void {
    if (view.slot === NO_SLOT) {
      this.#refuse(view.ticket, UNKNOWN);
      return;
    }
    try {
      if (view.edge < 0) this.#reader.read(view.body, view.start, view.end);
      const checked = view.edge < 0 ? this.#reader : (view as CheckedCrossing & Identity);
      this.uplink.crossing(this.#pend(view.ticket, undefined), view, checked);
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      if (error.document.code !== 'relay-busy') this.malformed++;
      this.#refuse(view.ticket, error.document);
    }
  }

  #refuse(ticket: number, document: ProblemDocument): void {
    const body = Buffer.from(JSON.stringify(document));
    const { status, retryAfterSeconds } = PROBLEMS[document.code];
    this.#front?.answer(ticket, status, body, 0, body.length, retryAfterSeconds);
  }

  #promise(send: (request: number) => void): Promise<Reply> {
    return new Promise((resolve) => {
      this.#mustNotDrain();
      send(this.#pend(-1, resolve));
    });
  }

  #mustNotDrain(): void {
    if (this.#draining) throw new ProblemError('draining', DRAINING.detail);
  }

  #pend(ticket: number, call: ((reply: Reply) => void) | undefined): number {
    if (this.#freeCount === 0 && this.#untouched === PENDING_MAX) {
      this.busy++;
      throw new ProblemError('relay-busy', BUSY.detail);
    }
    const request = this.#freeCount > 0 ? this.#free[--this.#freeCount] : this.#untouched++;
    this.#tickets[request] = ticket;
    this.#replies[request] = call;
    return request;
  }

  #settle(request: number): void {
    this.#replies[request] = undefined;
    this.#free[this.#freeCount++] = request;
  }

  readonly #answered: Answer = (request, status, body, start, end, retryAfterSeconds) => {
    const ticket = this.#tickets[request];
    const reply = this.#replies[request];
    this.#settle(request);
    if (ticket >= 0) this.#front?.answer(ticket, status, body, start, end, retryAfterSeconds);
    else reply?.({ status, body: Buffer.from(body.subarray(start, end)), retryAfterSeconds });
  };
}

/**
 * The direct uplink: the worker and the master in one process (`--workers 0`).
 *
 * Each request is one call of the master. Its answer leaves at the end of the master's turn, which ends after each batch of the
 * front, and soon after any other request.
 */
import { type Answer, type AnswerView, answerOf } from '../wire/answer.ts';
import type { CheckedCrossing } from '../wire/crossing.ts';
import type { Identity } from '../wire/identity.ts';
import type { Join } from '../wire/join.ts';
import type { Standing } from '../wire/pictures.ts';
import type { Master } from './master.ts';
import type { PendingRequests } from './pending.ts';
import type { Query, Uplink } from './uplink.ts';

interface Unsent {
  readonly request: number;
  readonly answer: AnswerView;
}

export class DirectUplink implements Uplink {
  readonly #master: Master;
  readonly #pending: PendingRequests;
  readonly #link: number;
  /** Answers of this turn that do not go to the front; the front keeps its own. */
  #unsent: Unsent[] = [];
  #flushDue = false;

  constructor(master: Master, pending: PendingRequests) {
    this.#master = master;
    this.#pending = pending;
    const always = () => true;
    this.#link = master.turns.links.add({
      answer: this.#answer,
      hasRoom: always,
      hasRoomForSayings: always,
      flush: () => this.#send(),
    });
  }

  crossing(request: number, from: Identity, crossing: CheckedCrossing, standing?: Standing): void {
    this.#master.crossing(this.#link, request, from, crossing, standing);
  }

  show(request: number, from: Identity, body: Buffer, standing: Standing): void {
    this.#master.show(this.#link, request, from, { body, start: 0, end: body.length, standing });
  }

  poll(request: number, desktop: Identity, epoch: number, seq: number): void {
    this.#master.poll(this.#link, request, desktop, epoch, seq);
    this.#flushSoon();
  }

  closed(request: number, desktop: Identity): void {
    this.#master.closed(this.#link, request, desktop.slot);
    this.#flushSoon();
  }

  query(query: Query, request: number, desktop: Identity, json = ''): void {
    this.#master.query(query, this.#link, request, desktop, json);
    this.#flushSoon();
  }

  join(request: number, join: Join): void {
    this.#master.join(this.#link, request, join);
    this.#flushSoon();
  }

  flush(): void {
    this.#flushSoon();
  }

  readonly #answer: Answer = (request, answer) => {
    if (this.#pending.isForFront(request)) {
      this.#pending.answer(request, answer);
      return;
    }
    const { status, body, start, end, retryAfterSeconds, shared } = answer;
    const copy = Buffer.from(body.subarray(start, end));
    this.#unsent.push({ request, answer: answerOf(status, copy, retryAfterSeconds, shared) });
  };

  #send(): void {
    const unsent = this.#unsent;
    if (unsent.length === 0) return;
    this.#unsent = [];
    for (const { request, answer } of unsent) this.#pending.answer(request, answer);
  }

  #flushSoon(): void {
    if (this.#flushDue) return;
    this.#flushDue = true;
    setImmediate(() => {
      this.#flushDue = false;
      this.#master.turns.end();
    });
  }
}

/**
 * The master: the one writer of the relay, between its own front (the long-polls) and its links (the workers).
 *
 * Invariant: whatever a link asks gets one answer on the same link; answers are handed over at the end of the turn.
 * Cost: the domain's, and one copy of each answer.
 */
import { type AnswerSink, type Relay, refusal } from '../domain/relay.ts';
import type { Front, FrontHandlers, RequestView } from '../front/front.ts';
import type { Answer } from '../wire/answer.ts';
import type { EdgeNumber } from '../wire/crossing.ts';
import { writeCursor } from '../wire/cursor.ts';
import { type Identity, writeToken } from '../wire/identity.ts';
import type { Join } from '../wire/join.ts';
import { PROBLEMS, type ProblemDocument, ProblemError, problem } from '../wire/problem.ts';

/** The way back to a worker. */
export interface Link {
  readonly answer: Answer;
  flush(): void;
}

/** Tickets from here on are a link's number and its request; below it are those of the front. */
const LINK_TICKETS = 2 ** 52;
const REQUESTS = 2 ** 32;

const NOTHING = new Uint8Array(0);

export class Master {
  readonly relay: Relay;
  #front: Front | undefined;
  readonly #links = new Map<number, Link>();
  #nextLink = 0;
  readonly #token = new Uint32Array(4);

  constructor(makeRelay: (answers: AnswerSink) => Relay) {
    this.relay = makeRelay({
      room: (bytes) => this.#front?.room(bytes) ?? Buffer.alloc(bytes),
      roomAt: () => this.#front?.roomAt ?? 0,
      answer: (ticket, status, body, start, end, retryAfter) => {
        if (ticket < LINK_TICKETS) {
          this.#front?.answer(ticket, status, body, start, end, retryAfter);
          return;
        }
        const link = Math.floor((ticket - LINK_TICKETS) / REQUESTS);
        this.#links.get(link)?.answer(ticket % REQUESTS, status, body, start, end, retryAfter);
      },
    });
  }

  /** What the front of the long-polls calls. */
  readonly handlers: Pick<FrontHandlers, 'poll' | 'closed' | 'outdated' | 'turn'> = {
    poll: (request: RequestView) => this.relay.poll(request, request.ticket, request.epoch, request.seq),
    closed: (ticket, slot) => {
      this.relay.closed(ticket, slot);
    },
    outdated: (ticket, slot) => this.relay.outdated(ticket, slot),
    turn: () => this.endTurn(),
  };

  /** The front that answers go to. */
  setFront(front: Front): void {
    this.#front = front;
  }

  /** Adds a worker; its number is never given again. */
  addLink(link: Link): number {
    this.#links.set(this.#nextLink, link);
    return this.#nextLink++;
  }

  /** A worker has died: its sockets are gone. */
  dropLink(number: number): void {
    if (!this.#links.delete(number)) return;
    const first = LINK_TICKETS + number * REQUESTS;
    this.relay.closedAll((ticket) => ticket >= first && ticket < first + REQUESTS);
  }

  /** Wakes what is ready and hands every answer of this turn over. */
  endTurn(): void {
    this.relay.endTurn();
    for (const link of this.#links.values()) link.flush();
    this.#front?.flush();
  }

  /** What time it is: monotonic, in ms. Answers whether more is due, for another step soon. */
  advance(nowMs: number): boolean {
    const isMoreDue = this.relay.advance(nowMs);
    this.endTurn();
    return isMoreDue;
  }

  drain(): void {
    this.relay.drain();
    this.endTurn();
  }

  /** The passage is bytes[start, end). */
  crossing(
    link: number,
    request: number,
    from: Identity,
    crossing: number,
    edge: EdgeNumber,
    bytes: Buffer,
    start: number,
    end: number,
  ): void {
    const outcome = this.relay.accept(from, crossing, edge, bytes, start, end);
    const { status, body, length, retryAfterSeconds } = outcome;
    this.#links.get(link)?.answer(request, status, body, 0, length, retryAfterSeconds);
  }

  poll(link: number, request: number, who: Identity, epoch: number, seq: number): void {
    this.relay.poll(who, LINK_TICKETS + link * REQUESTS + request, epoch, seq);
  }

  closed(link: number, request: number, slot: number): void {
    const parked = this.relay.closed(LINK_TICKETS + link * REQUESTS + request, slot);
    if (parked) this.#links.get(link)?.answer(request, 204, NOTHING, 0, 0, 0);
  }

  /** Answers `{desktop, token, world, cursor}`; the worker adds the addresses. */
  join(link: number, request: number, join: Join): void {
    try {
      const slot = this.relay.join(join, this.#token);
      const generation = this.relay.desktops.generation(slot);
      this.#json(link, request, 201, {
        desktop: this.relay.desktops.id(slot),
        token: writeToken(slot, generation, this.#token),
        world: this.relay.torus.worldOf(slot).name,
        cursor: writeCursor(this.relay.epoch, 0),
      });
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      this.#problem(link, request, error.document);
    }
  }

  leave(link: number, request: number, who: Identity): void {
    if (!this.#live(link, request, who)) return;
    this.relay.leave(who.slot);
    this.#links.get(link)?.answer(request, 204, NOTHING, 0, 0, 0);
  }

  describe(link: number, request: number, who: Identity): void {
    if (this.#live(link, request, who)) this.#json(link, request, 200, this.relay.describe(who.slot));
  }

  verify(link: number, request: number, who: Identity): void {
    if (this.#live(link, request, who)) this.#links.get(link)?.answer(request, 204, NOTHING, 0, 0, 0);
  }

  #live(link: number, request: number, who: Identity): boolean {
    const standing = this.relay.desktops.authenticate(who);
    if (standing === 'live') return true;
    this.#problem(link, request, problem(...refusal(standing)));
    return false;
  }

  #problem(link: number, request: number, document: ProblemDocument): void {
    this.#json(link, request, document.status, document, PROBLEMS[document.code].retryAfterSeconds);
  }

  #json(link: number, request: number, status: number, value: unknown, retryAfter = 0): void {
    const body = Buffer.from(JSON.stringify(value));
    this.#links.get(link)?.answer(request, status, body, 0, body.length, retryAfter);
  }
}

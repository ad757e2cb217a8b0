/**
 * The worker: receives every request but the long-polls, checks it, and asks the master through its uplink.
 *
 * Invariant: a crossing is answered 202 only after the master has accepted it.
 * Cost: a crossing costs its check, one pending row and one record of a frame.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Front, FrontHandlers, RequestView } from '../front/front.ts';
import { NO_SLOT } from '../front/front.ts';
import type { PictureGate } from '../moderation/picture_gate.ts';
import type { PendingRequests, Reply } from '../processes/pending.ts';
import type { Query, Uplink } from '../processes/uplink.ts';
import { refusalOf } from '../wire/answer.ts';
import { type CheckedCrossing, checkCrossing, KeptCrossing, readCrossing } from '../wire/crossing.ts';
import type { Identity } from '../wire/identity.ts';
import type { Join } from '../wire/join.ts';
import { Standing } from '../wire/pictures.ts';
import { type ProblemDocument, ProblemError, problem } from '../wire/problem.ts';
import { readSaying } from '../wire/saying.ts';
import { type CheckedStage, checkStage, readStage } from '../wire/stage.ts';

export const UNKNOWN = problem('unknown-desktop', 'A bearer token of this desktop is needed; join to get one.');
const DRAINING = problem('draining', 'The relay is going down; try again in some seconds.');

/** How long those who have connected may take to ask before the next process goes on, in ms. Who connects meanwhile waits for as long. */
export const GIVING_WAY_MS = 20;

/** Slots whose malformed requests are counted apart, between two samples. */
const MALFORMED_SLOTS_MAX = 64;

/** The slots that malformed requests have named, and how often. A stranger can name any. */
export type Malformed = [slot: number, times: number][];

export class Worker {
  readonly #uplink: Uplink;
  readonly #pending: PendingRequests;
  readonly #kept = new KeptCrossing();
  #front: Front | undefined;
  readonly #gate: PictureGate | undefined;
  #draining = false;
  /** Whether there are other relays, which may have sprite files that this one lacks. */
  isInCluster = false;
  /** Crossings, sayings and stages refused here, before the master saw them: malformed or too large. */
  malformed = 0;
  /** Of these, those since the last takeMalformed(), by the slot that the request named. */
  #malformedBy = new Map<number, number>();
  /** Crossings and stages refused here because of a picture. */
  pictureRefused = 0;

  /** `pending` must be the one that the uplink's answers go to. Without a gate every picture passes. */
  constructor(uplink: Uplink, pending: PendingRequests, gate?: PictureGate) {
    this.#uplink = uplink;
    this.#pending = pending;
    this.#gate = gate;
  }

  get pendingCount(): number {
    return this.#pending.count;
  }

  /** Requests refused here with relay-busy. */
  get busy(): number {
    return this.#pending.refused;
  }

  /** The front that crossings come from. */
  setFront(front: Front): void {
    this.#front = front;
    this.#pending.setFront(front);
  }

  /**
   * From now on every request but crossings, sayings and stages is refused; pending ones are still answered. Those still go to the master,
   * which refuses new ones but answers 202 to a repeat: if a repeat were refused here, its sender would take back a sprite
   * that the neighbour already has.
   */
  drain(): void {
    this.#draining = true;
  }

  /** Its front accepts no more connections. Resolves when those who had connected have asked; from then on it drains. */
  async giveWay(): Promise<void> {
    this.#front?.drain();
    await sleep(GIVING_WAY_MS);
    this.drain();
    this.#front?.drain(); // who has not asked yet asks the next process
  }

  /** The handlers for the front that crossings, sayings and stages come from. */
  readonly handlers: Pick<FrontHandlers, 'crossing' | 'saying' | 'stage' | 'turn'> = {
    crossing: (request) => this.#handle(request, this.#crossing),
    saying: (request) => this.#handle(request, this.#saying),
    stage: (request) => this.#handle(request, this.#stage),
    turn: () => {
      this.#uplink.flush();
      this.#front?.flush();
    },
  };

  /** Sends a query about a desktop; resolves to the master's answer. Throws relay-busy, draining. */
  query(query: Query, desktop: Identity, json?: string): Promise<Reply> {
    return this.#request((request) => this.#uplink.query(query, request, desktop, json));
  }

  /** Sends a join; resolves to the master's answer, which has no addresses yet. Throws relay-busy, draining. */
  join(join: Join): Promise<Reply> {
    return this.#request((request) => this.#uplink.join(request, join));
  }

  /** Polls for a socket and returns the request number for closed(). Throws relay-busy, draining. */
  poll(desktop: Identity, epoch: number, seq: number, callback: (reply: Reply) => void): number {
    this.#throwIfDraining();
    const request = this.#pending.addCallback(callback);
    this.#uplink.poll(request, desktop, epoch, seq);
    return request;
  }

  /** The socket of a poll is closed: the poll's answer is dropped when it comes. */
  closed(request: number, desktop: Identity): void {
    this.#pending.ignore(request);
    this.#uplink.closed(request, desktop);
  }

  /** Checks a crossing that came over a socket and sends it to the master. Throws malformed, picture-refused, relay-busy. */
  throwFrom(desktop: Identity, message: unknown, callback: (reply: Reply) => void): void {
    const checked = this.#kept.keep(checkCrossing(message));
    const standing = this.#checkPicture(checked);
    this.#uplink.crossing(this.#pending.addCallback(callback), desktop, checked, standing);
    this.#uplink.flush();
  }

  /** Checks a stage that came over a socket and sends it to the master. Throws malformed, too-large, picture-refused, relay-busy. */
  showFrom(desktop: Identity, message: unknown, callback: (reply: Reply) => void): void {
    const stage = checkStage(message);
    const standing = this.#standingOf(stage);
    this.#uplink.show(this.#pending.addCallback(callback), desktop, stage.body, standing);
    this.#uplink.flush();
  }

  /** Checks a request of the front and sends it to the master, with `send`. Counts and answers the problem for which it is refused here. */
  #handle(view: RequestView, send: (view: RequestView) => void): void {
    if (view.slot === NO_SLOT) {
      this.#refuse(view.ticket, UNKNOWN);
      return;
    }
    try {
      send(view);
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      const { code } = error.document;
      if (code === 'picture-refused') this.pictureRefused++;
      else if (code !== 'relay-busy') this.#countMalformed(view.slot);
      this.#refuse(view.ticket, error.document);
    }
  }

  /** What has come since the last call. */
  takeMalformed(): Malformed {
    const taken = [...this.#malformedBy];
    if (taken.length > 0) this.#malformedBy = new Map();
    return taken;
  }

  #countMalformed(slot: number): void {
    this.malformed++;
    const times = this.#malformedBy.get(slot) ?? 0;
    if (times > 0 || this.#malformedBy.size < MALFORMED_SLOTS_MAX) this.#malformedBy.set(slot, times + 1);
  }

  readonly #crossing = (view: RequestView): void => {
    const isScanned = view.edge >= 0;
    const checked: CheckedCrossing = isScanned
      ? (view as CheckedCrossing & Identity)
      : this.#kept.keep(readCrossing(view.body, view.start, view.end));
    const standing = this.#checkPicture(checked);
    this.#uplink.crossing(this.#pending.addTicket(view.ticket), view, checked, standing);
  };

  readonly #saying = (view: RequestView): void => {
    const saying = readSaying(view.body, view.start, view.end);
    this.#uplink.query('say', this.#pending.addTicket(view.ticket), view, JSON.stringify(saying));
  };

  readonly #stage = (view: RequestView): void => {
    const stage = readStage(view.body, view.start, view.end);
    const standing = this.#standingOf(stage);
    this.#uplink.show(this.#pending.addTicket(view.ticket), view, stage.body, standing);
  };

  /** Throws picture-refused. */
  #checkPicture({ body, start }: CheckedCrossing): Standing {
    return this.#gate?.isOpen === false ? this.#gate.checkPassage(body, start) : Standing.unchecked;
  }

  /** The lowest standing of the pictures of a stage. Throws picture-refused. */
  #standingOf({ files }: CheckedStage): Standing {
    return this.#gate?.isOpen === false ? this.#gate.checkFiles(files) : Standing.unchecked;
  }

  #refuse(ticket: number, document: ProblemDocument): void {
    this.#front?.answer(ticket, refusalOf(document));
  }

  #request(send: (request: number) => void): Promise<Reply> {
    return new Promise((resolve) => {
      this.#throwIfDraining();
      send(this.#pending.addCallback(resolve));
    });
  }

  #throwIfDraining(): void {
    if (this.#draining) throw new ProblemError('draining', DRAINING.detail);
  }
}

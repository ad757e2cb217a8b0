/**
 * The master: answers the requests of workers, each by calls of the relay. Its front holds the long-polls.
 *
 * Invariant: every request of a link gets one answer on the same link; answers are sent at the end of the turn (turns.ts).
 * Cost: the domain's, and one copy of each answer.
 */

import type { Relay } from '../domain/relay.ts';
import type { Verdict } from '../domain/responses.ts';
import { NO_SLOT } from '../domain/state/desktops.ts';
import type { FrontHandlers, RequestView } from '../front/front.ts';
import type { Feedback } from '../store/feedback_file.ts';
import { answerOf, refusalOf } from '../wire/answer.ts';
import type { CheckedCrossing } from '../wire/crossing.ts';
import type { Publication } from '../wire/gallery.ts';
import type { Identity } from '../wire/identity.ts';
import type { Join } from '../wire/join.ts';
import type { Standing } from '../wire/pictures.ts';
import { type ProblemCode, type ProblemDocument, ProblemError } from '../wire/problem.ts';
import { EDGES, type EdgeNumber } from '../wire/rules.ts';
import type { ShownStage } from '../wire/stage.ts';
import { Flights } from './flights.ts';
import type { Links } from './links.ts';
import type { Seats } from './seats.ts';
import type { Turns } from './turns.ts';
import type { Query } from './uplink.ts';

/** A file of another relay (cluster/peer_files.ts). */
type FetchedFile = Buffer | 'unanswered' | 'refused' | undefined;

/** The sprite files of other relays (cluster/peering.ts). */
export interface RemoteFiles {
  /** Fetches a sprite file from another relay; ends the master's turn after `done`. */
  fetchFile(file: string, client: string | undefined, done: (fetched: FetchedFile) => void): void;
}

/** Which relay has a private world (cluster/homes.ts). */
export interface Homes {
  /** Whether this relay seats the new desktop. */
  isHere(join: Join): boolean;
  /** Resolves to the answer to a join for which isHere() is false: of this relay or another. Rejects with ProblemError. */
  join(join: Join): Promise<object>;
}

/** What the moderator (moderator.ts) decides about requests. */
export interface Moderation {
  /** Throws too-fast. */
  report(slot: number, report: { file: string; reason: string }): void;
  /** Throws too-fast, list-full. */
  publish(slot: number, publication: Publication): 'waiting' | 'listed';
  /** Throws too-fast, store-full. */
  addFeedback(feedback: Feedback & { address: string }): void;
}

const NO_BODY = new Uint8Array(0);
const DONE = answerOf(204, NO_BODY);

/** The answers to a stage, by the bits of the edges through which its desktop is watched. */
const WATCHED_EDGES = Array.from({ length: 16 }, (_, bits) =>
  answerOf(202, Buffer.from(JSON.stringify({ edges: EDGES.filter((_, edge) => bits & (1 << edge)) }))),
);

/** What a master answers with. Without `moderation`, `homes`, `files` or `flights` a relay has no such thing. */
interface MasterParts {
  readonly turns: Turns;
  readonly seats: Seats;
  readonly moderation?: Moderation;
  /** Absent: every world is at home here. */
  readonly homes?: Homes;
  /** Absent: this relay is alone. */
  readonly files?: RemoteFiles;
  readonly flights?: Flights;
}

/**
 * How a query is answered: the status, what finds the body of the answer, and whether anybody may ask, not only a live desktop. `json` is what
 * the query has with it.
 */
type QueryRow = readonly [status: 200 | 202 | 204, find: (slot: number, json: string) => unknown, isOfAnybody?: true];
type Queries = Readonly<Record<Exclude<Query, 'fetch'>, QueryRow>>;

function queriesOf(relay: Relay, seats: Seats, moderation?: Moderation, flights = new Flights(relay)): Queries {
  return {
    leave: [204, (slot) => relay.leave(slot)],
    describe: [200, (slot) => relay.directory.describe(slot)],
    company: [200, (slot) => relay.directory.company(slot)],
    verify: [204, () => {}],
    renew: [200, (slot) => ({ invitation: seats.renew(slot) })],
    /** What the other desktop (slot and generation) throws towards this one goes on to the next one. */
    mute: [204, (slot, json) => relay.mute(slot, JSON.parse(json))],
    unmute: [204, (slot, json) => relay.unmute(slot, JSON.parse(json))],
    report: [204, (slot, json) => moderation?.report(slot, JSON.parse(json))],
    /** `heard`: how many others hear it, null when that is not known. */
    say: [202, (slot, json) => ({ heard: relay.say(slot, JSON.parse(json)) })],
    peek: [202, (slot, json) => peek(relay, slot, JSON.parse(json))],
    setShows: [204, (slot, json) => relay.setShows(slot, JSON.parse(json))],
    setNamed: [204, (slot, json) => relay.setNamed(slot, JSON.parse(json))],
    askSwap: [202, (slot, json) => relay.swaps.ask(slot, JSON.parse(json))],
    answerSwap: [204, (slot, json) => relay.swaps.answer(slot, JSON.parse(json))],
    publish: [202, (slot, json) => ({ state: moderation?.publish(slot, JSON.parse(json)) })],
    count: [200, () => relay.directory.count(), true],
    flying: [200, () => flights.show(), true],
    feedback: [204, (_, json) => moderation?.addFeedback(JSON.parse(json)), true],
  };
}

/** A desktop peeks through an edge; null ends that. */
function peek(relay: Relay, slot: number, edge: EdgeNumber | null): object {
  const leaseMs = relay.peek(slot, edge);
  return { edge: edge === null ? null : EDGES[edge], leaseMs };
}

const isOfNoOwner = (verdict: Verdict) => verdict === 'desktop-ended' || verdict === 'unknown-desktop';

export class Master {
  readonly relay: Relay;
  readonly turns: Turns;
  readonly seats: Seats;
  readonly #links: Links;
  readonly #homes: Homes | undefined;
  readonly #files: RemoteFiles | undefined;
  readonly #flights: Flights | undefined;
  readonly #queries: Queries;

  constructor({ turns, seats, moderation, homes, files, flights }: MasterParts) {
    this.turns = turns;
    this.seats = seats;
    this.relay = turns.relay;
    this.#links = turns.links;
    this.#homes = homes;
    this.#files = files;
    this.#flights = flights;
    this.#queries = queriesOf(this.relay, seats, moderation, flights);
  }

  /** The handlers for the front of the long-polls. */
  readonly handlers: Pick<FrontHandlers, 'poll' | 'closed' | 'outdated' | 'turn' | 'sending'> = {
    poll: (request: RequestView) => this.relay.poll(request, request.ticket, request.epoch, request.seq),
    closed: (ticket, slot) => {
      this.relay.down.closed(ticket, slot);
    },
    outdated: (ticket, slot) => this.relay.down.outdated(ticket, slot),
    turn: () => this.turns.end(),
    sending: () => this.turns.commit(),
  };

  crossing(link: number, request: number, from: Identity, crossing: CheckedCrossing, standing?: Standing): void {
    const response = this.relay.accept(from, crossing, standing, this.#links.ticketOf(link, request));
    const { verdict } = response;
    if (verdict === 'deferred') return;
    if (verdict === 'accepted') this.#flights?.count(from.slot, crossing);
    // The slot of one that is not live may have another owner.
    else if (verdict !== 'repeated') this.relay.clients.refused(isOfNoOwner(verdict) ? NO_SLOT : from.slot, verdict);
    this.#links.reply(link, request, response);
  }

  poll(link: number, request: number, identity: Identity, epoch: number, seq: number): void {
    this.relay.poll(identity, this.#links.ticketOf(link, request), epoch, seq);
  }

  closed(link: number, request: number, slot: number): void {
    const parked = this.relay.down.closed(this.#links.ticketOf(link, request), slot);
    if (parked) this.#links.reply(link, request, DONE);
  }

  /** A join; the answer is that of Seats.seat(), and `at` when another relay has seated the desktop. The worker adds the addresses. */
  join(link: number, request: number, join: Join): void {
    const homes = this.#homes;
    this.#attempt(
      link,
      request,
      () => {
        if (homes === undefined || homes.isHere(join)) this.#answerWith(link, request, 201, this.seats.seat(join));
        else this.#joinLater(link, request, join, homes);
      },
      (code) => this.relay.clients.refusedJoin(join.client, code),
    );
  }

  #joinLater(link: number, request: number, join: Join, homes: Homes): void {
    this.seats.admit(join);
    void homes
      .join(join)
      .then(
        (joined) => this.#answerWith(link, request, 201, joined),
        (error) => {
          if (!(error instanceof ProblemError)) throw error;
          this.#answerProblem(link, request, error.document);
        },
      )
      .then(() => this.turns.end());
  }

  /** A rare request, by its row of `queriesOf()`. */
  query(query: Query, link: number, request: number, identity: Identity, json: string): void {
    if (query === 'fetch') {
      this.#fetch(link, request, json);
      return;
    }
    const [status, find, isOfAnybody] = this.#queries[query];
    const answer = () => this.#answerWith(link, request, status, find(identity.slot, json));
    if (isOfAnybody) this.#attempt(link, request, answer);
    else this.#try(link, request, identity, answer);
  }

  /**
   * A sprite file that this relay does not have, for a client: 200 with its bytes, 404, 503 when it is not known whether there is one, or
   * 429 when too many are being fetched, or too many for this client.
   */
  #fetch(link: number, request: number, json: string): void {
    const { file, client } = JSON.parse(json) as { file: string; client?: string };
    const answer = (fetched?: FetchedFile) => {
      const bytes = Buffer.isBuffer(fetched) ? fetched : NO_BODY;
      const status = fetched === 'unanswered' ? 503 : fetched === 'refused' ? 429 : bytes.length > 0 ? 200 : 404;
      this.#links.reply(link, request, answerOf(status, bytes));
    };
    if (this.#files) this.#files.fetchFile(file, client, answer);
    else answer();
  }

  /** A desktop shows its stage. The answer is `{edges}`: through which it is watched. */
  show(link: number, request: number, identity: Identity, stage: ShownStage): void {
    this.#try(link, request, identity, () => {
      const edges = this.relay.show(identity.slot, stage);
      this.#links.reply(link, request, WATCHED_EDGES[edges]);
    });
  }

  /** Calls `action`, which answers the request, if the desktop is live. Otherwise, or when it throws a problem, that is the answer. */
  #try(link: number, request: number, identity: Identity, action: () => void): void {
    const refused = (code: ProblemCode) => this.relay.clients.refused(identity.slot, code);
    if (this.#requireLive(link, request, identity)) this.#attempt(link, request, action, refused);
  }

  /** Calls `action`, which answers the request. When it throws a problem, that is the answer, and `refused` is called with it. */
  #attempt(link: number, request: number, action: () => void, refused?: (code: ProblemCode) => void): void {
    try {
      action();
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      refused?.(error.document.code);
      this.#answerProblem(link, request, error.document);
    }
  }

  /** Returns whether the desktop is live. If it is not, answers the request with the reason. */
  #requireLive(link: number, request: number, identity: Identity): boolean {
    const state = this.relay.desktops.authenticate(identity);
    if (state === 'live') return true;
    this.#answerProblem(link, request, this.relay.down.refusal(identity, state));
    return false;
  }

  #answerProblem(link: number, request: number, document: ProblemDocument): void {
    this.#links.reply(link, request, refusalOf(document));
  }

  /** 204 has no body; that of the others is JSON. */
  #answerWith(link: number, request: number, status: number, value: unknown): void {
    const answer = status === 204 ? DONE : answerOf(status, Buffer.from(JSON.stringify(value)));
    this.#links.reply(link, request, answer);
  }
}

/**
 * The master: the only caller of the relay. It serves its own front (the long-polls) and its links (the workers).
 *
 * Invariant: every request of a link gets one answer on the same link; answers are sent at the end of the turn.
 * Cost: the domain's, and one copy of each answer.
 */
import type { AnswerSink, Relay } from '../domain/relay.ts';
import type { World } from '../domain/torus.ts';
import type { Front, FrontHandlers, RequestView } from '../front/front.ts';
import type { Feedback } from '../store/feedback_file.ts';
import { type Answer, answerOf } from '../wire/answer.ts';
import { type CheckedCrossing, EDGES, type EdgeNumber } from '../wire/crossing.ts';
import { writeCursor } from '../wire/cursor.ts';
import type { Publication } from '../wire/gallery.ts';
import { type Identity, writeToken } from '../wire/identity.ts';
import { writeInvitation } from '../wire/invitation.ts';
import { DEFAULT_WORLD, type Join } from '../wire/join.ts';
import type { Standing } from '../wire/pictures.ts';
import { PROBLEMS, type ProblemDocument, ProblemError } from '../wire/problem.ts';
import type { ShownStage } from '../wire/stage.ts';
import type { Flights } from './flights.ts';
import { WorldMap } from './world_map.ts';

/** A worker, as the master sees it: the receiver of answers. */
export interface Link {
  readonly answer: Answer;
  /** Returns whether it may get another batch now. If not, batches for it stay in the mailboxes until linkHasRoom(). */
  hasRoom(): boolean;
  /** Returns whether it may get sayings and stages now: while it has room for sprites to spare. */
  hasRoomForSayings(): boolean;
  /** Sends the answers of this turn. */
  flush(): void;
}

/** What is told of the relay and survives it, such as the journal. */
export interface Committing {
  /** Everything so far survives when this returns. */
  commit(): void;
}

/** A file of another relay (cluster/peer_files.ts). */
type FetchedFile = Buffer | 'unanswered' | 'refused' | undefined;

/** The way to other relays (cluster/peering.ts). */
export interface Peering {
  /** Sends what this turn has for other relays. */
  flush(): void;
  /** Whether flush() will send something. */
  readonly hasToSend: boolean;
  /** Fetches a sprite file from another relay; ends the master's turn after `done`. */
  fetchFile(file: string, client: string | undefined, done: (fetched: FetchedFile) => void): void;
}

/** Which relay has a private world (cluster/homes.ts). */
export interface Homes {
  /** The name of this relay. */
  readonly name: string;
  /** Whether this relay seats the new desktop. */
  isHere(join: Join): boolean;
  /** Resolves to the answer to a join for which isHere() is false: of this relay or another. Rejects with ProblemError. */
  join(join: Join): Promise<object>;
}

/** What the moderator (moderator.ts) decides about requests. */
export interface Moderation {
  /** Throws banned. */
  admit(address: string | undefined): void;
  joined(slot: number, address: string | undefined): void;
  /** Throws too-fast. */
  report(slot: number, report: { file: string; reason: string }): void;
  /** Throws too-fast, list-full. */
  publish(slot: number, publication: Publication): 'waiting' | 'listed';
  /** Throws too-fast, store-full. */
  addFeedback(feedback: Feedback & { address: string }): void;
}

/** Tickets below this are the front's. From here on they encode a link's number and its request number. */
const LINK_TICKETS = 2 ** 52;
const REQUESTS_PER_LINK = 2 ** 32;

const NO_BODY = new Uint8Array(0);
const DONE = answerOf(204, NO_BODY);

/** The answers to a stage, by the bits of the edges through which its desktop is watched. */
const WATCHED_EDGES = Array.from({ length: 16 }, (_, bits) =>
  answerOf(202, Buffer.from(JSON.stringify({ edges: EDGES.filter((_, edge) => bits & (1 << edge)) }))),
);

function linkOf(ticket: number): number {
  return Math.floor((ticket - LINK_TICKETS) / REQUESTS_PER_LINK);
}

export class Master {
  readonly relay: Relay;
  #front: Front | undefined;
  readonly #links = new Map<number, Link>();
  #nextLink = 0;
  readonly #token = new Uint32Array(4);
  #moderation: Moderation | undefined;
  #committing: Committing | undefined;
  #peering: Peering | undefined;
  #homes: Homes | undefined;
  /** Whether this turn has answers, which may leave only after a commit. */
  #hasAnswers = false;
  readonly #invitation = new Uint32Array(4);
  #flights: Flights | undefined;

  constructor(makeRelay: (answers: AnswerSink) => Relay) {
    this.relay = makeRelay({
      room: (bytes) => this.#front?.room(bytes) ?? Buffer.alloc(bytes),
      roomAt: () => this.#front?.roomAt ?? 0,
      hasRoom: (ticket) => ticket < LINK_TICKETS || (this.#links.get(linkOf(ticket))?.hasRoom() ?? true),
      hasRoomForSayings: (ticket) =>
        ticket < LINK_TICKETS || (this.#links.get(linkOf(ticket))?.hasRoomForSayings() ?? true),
      answer: (ticket, answer) => {
        this.#hasAnswers = true;
        if (ticket < LINK_TICKETS) this.#front?.answer(ticket, answer);
        else this.#links.get(linkOf(ticket))?.answer(ticket % REQUESTS_PER_LINK, answer);
      },
    });
  }

  /** The handlers for the front of the long-polls. */
  readonly handlers: Pick<FrontHandlers, 'poll' | 'closed' | 'outdated' | 'turn' | 'sending'> = {
    poll: (request: RequestView) => this.relay.poll(request, request.ticket, request.epoch, request.seq),
    closed: (ticket, slot) => {
      this.relay.closed(ticket, slot);
    },
    outdated: (ticket, slot) => this.relay.outdated(ticket, slot),
    turn: () => this.endTurn(),
    sending: () => this.commit(),
  };

  /** The front that holds the long-polls. */
  setFront(front: Front): void {
    this.#front = front;
  }

  /** Without one, nobody is banned. */
  setModeration(moderation: Moderation): void {
    this.#moderation = moderation;
  }

  /** Without them, no flights are counted. */
  setFlights(flights: Flights): void {
    this.#flights = flights;
  }

  /** What must have everything before an answer leaves. Without one, answers promise nothing beyond this process. */
  setCommitting(committing: Committing): void {
    this.#committing = committing;
  }

  /** It sends frames and answers to other relays after each commit. Without one, this relay is alone. */
  setPeering(peering: Peering): void {
    this.#peering = peering;
  }

  /** Without them, every world is at home here. */
  setHomes(homes: Homes): void {
    this.#homes = homes;
  }

  /** Adds a worker and returns its number, which is never reused. */
  addLink(link: Link): number {
    this.#links.set(this.#nextLink, link);
    return this.#nextLink++;
  }

  /** Returns whether a worker is still there: its last frames may arrive after its end was noticed. */
  hasLink(number: number): boolean {
    return this.#links.has(number);
  }

  /** A link has room again: sends it what was left in the mailboxes. */
  linkHasRoom(): void {
    this.relay.retryDeferred();
    this.endTurn();
  }

  /** Removes a worker that has died, and the polls of its sockets. */
  removeLink(number: number): void {
    if (!this.#links.delete(number)) return;
    const first = LINK_TICKETS + number * REQUESTS_PER_LINK;
    this.relay.closedAll((ticket) => ticket >= first && ticket < first + REQUESTS_PER_LINK);
  }

  /** Makes everything so far survive. Whoever sends answers calls it first. */
  commit(): void {
    this.#committing?.commit();
  }

  /**
   * Ends the turn: wakes the parked polls that have events, and sends all answers of this turn. A turn without answers is committed
   * with the next one that has some, or by advance(), whichever is first: at low rates this saves one of the two commits of a sprite.
   */
  endTurn(): void {
    this.relay.endTurn();
    // Frames to other relays, and answers to theirs, promise something, too.
    if (this.#hasAnswers || this.#peering?.hasToSend) this.commit();
    this.#hasAnswers = false;
    for (const link of this.#links.values()) link.flush();
    this.#front?.flush();
    this.#peering?.flush();
  }

  /** Advances the relay to a time (monotonic, ms), ends the turn and commits. Returns whether more is due soon. */
  advance(nowMs: number): boolean {
    const isMoreDue = this.relay.advance(nowMs);
    this.#flights?.advance(nowMs);
    this.endTurn();
    this.commit();
    return isMoreDue;
  }

  /** As Relay.drain(). */
  drain(joins?: readonly string[]): void {
    this.relay.drain(joins);
    this.endTurn();
  }

  crossing(link: number, request: number, from: Identity, crossing: CheckedCrossing, standing?: Standing): void {
    const ticket = LINK_TICKETS + link * REQUESTS_PER_LINK + request;
    const response = this.relay.accept(from, crossing, standing, ticket);
    if (response.verdict === 'deferred') return;
    if (response.status === 202) this.#countFlight(from.slot, crossing);
    this.#receiver(link)?.answer(request, response);
  }

  poll(link: number, request: number, identity: Identity, epoch: number, seq: number): void {
    this.relay.poll(identity, LINK_TICKETS + link * REQUESTS_PER_LINK + request, epoch, seq);
  }

  closed(link: number, request: number, slot: number): void {
    const parked = this.relay.closed(LINK_TICKETS + link * REQUESTS_PER_LINK + request, slot);
    if (parked) this.#receiver(link)?.answer(request, DONE);
  }

  /** A join; the answer is that of seat(), and `at` when another relay has seated the desktop. The worker adds the addresses. */
  join(link: number, request: number, join: Join): void {
    const homes = this.#homes;
    this.#attempt(link, request, () => {
      if (homes === undefined || homes.isHere(join)) this.#answerJson(link, request, 201, this.seat(join));
      else this.#joinLater(link, request, join, homes);
    });
  }

  /** Throws what seat() throws before it is known which relay has the world. */
  #joinLater(link: number, request: number, join: Join, homes: Homes): void {
    this.#moderation?.admit(join.clientAddress);
    this.relay.admitJoin(join);
    void homes
      .join(join)
      .then(
        (joined) => this.#answerJson(link, request, 201, joined),
        (error) => {
          if (!(error instanceof ProblemError)) throw error;
          this.#answerProblem(link, request, error.document);
        },
      )
      .then(() => this.endTurn());
  }

  /**
   * Seats a new desktop at this relay. Returns `{desktop, token, invitation, world, pictures, stage, cursor, here, pingSeconds}`.
   *
   * Throws  banned, and what Relay.join() throws.
   */
  seat(join: Join): object {
    this.#moderation?.admit(join.clientAddress);
    const slot = this.relay.join(join, this.#token, this.#invitation);
    this.#moderation?.joined(slot, join.clientAddress);
    const world = this.relay.torus.worldOf(slot);
    return {
      desktop: this.relay.desktops.id(slot),
      token: writeToken(slot, this.relay.desktops.generation(slot), this.#token),
      invitation: writeInvitation(slot, this.#invitation, this.#homes?.name),
      world: world.name,
      pictures: world.pictures,
      stage: this.relay.desktops.shows(slot),
      cursor: writeCursor(this.relay.epoch, 0),
      here: { world: world.count, relay: this.relay.desktops.count },
      pingSeconds: this.relay.pingMs / 1000,
    };
  }

  leave(link: number, request: number, identity: Identity): void {
    if (!this.#requireLive(link, request, identity)) return;
    this.relay.leave(identity.slot);
    this.#receiver(link)?.answer(request, DONE);
  }

  describe(link: number, request: number, identity: Identity): void {
    if (this.#requireLive(link, request, identity))
      this.#answerJson(link, request, 200, this.relay.describe(identity.slot));
  }

  /** A new invitation of a desktop: `{invitation}`. */
  renew(link: number, request: number, identity: Identity): void {
    if (!this.#requireLive(link, request, identity)) return;
    this.relay.renewInvitation(identity.slot, this.#invitation);
    this.#answerJson(link, request, 200, {
      invitation: writeInvitation(identity.slot, this.#invitation, this.#homes?.name),
    });
  }

  /** The public counts. */
  count(link: number, request: number): void {
    this.#answerJson(link, request, 200, this.relay.count());
  }

  /**
   * A sprite file that this relay does not have, for a client: 200 with its bytes, 404, 503 when it is not known whether there is one, or
   * 429 when too many are being fetched, or too many for this client.
   */
  fetch(link: number, request: number, _: Identity, json: string): void {
    const { file, client } = JSON.parse(json) as { file: string; client?: string };
    const answer = (fetched?: FetchedFile) => {
      const bytes = Buffer.isBuffer(fetched) ? fetched : NO_BODY;
      const status = fetched === 'unanswered' ? 503 : fetched === 'refused' ? 429 : bytes.length > 0 ? 200 : 404;
      this.#receiver(link)?.answer(request, answerOf(status, bytes));
    };
    if (this.#peering) this.#peering.fetchFile(file, client, answer);
    else answer();
  }

  verify(link: number, request: number, identity: Identity): void {
    if (this.#requireLive(link, request, identity)) this.#receiver(link)?.answer(request, DONE);
  }

  /** From now on what `json` (slot and generation) throws towards this desktop goes on to the next one. */
  mute(link: number, request: number, identity: Identity, json: string): void {
    this.#do(link, request, identity, () => this.relay.mute(identity.slot, JSON.parse(json)));
  }

  unmute(link: number, request: number, identity: Identity, json: string): void {
    this.#do(link, request, identity, () => this.relay.unmute(identity.slot, JSON.parse(json)));
  }

  /** A desktop says `json` (number and text). The answer is `{heard}`: how many others hear it, null when that is not known. */
  say(link: number, request: number, identity: Identity, json: string): void {
    this.#try(link, request, identity, () => {
      this.#answerJson(link, request, 202, { heard: this.relay.say(identity.slot, JSON.parse(json)) });
    });
  }

  /** A desktop peeks through the edge `json`, a number or null. The answer is `{edge, leaseMs}`. */
  peek(link: number, request: number, identity: Identity, json: string): void {
    const edge: EdgeNumber | null = JSON.parse(json);
    this.#try(link, request, identity, () => {
      const leaseMs = this.relay.peek(identity.slot, edge);
      this.#answerJson(link, request, 202, { edge: edge === null ? null : EDGES[edge], leaseMs });
    });
  }

  /** From now on a desktop shows its stage, if `json` is true, or does not. */
  setShows(link: number, request: number, identity: Identity, json: string): void {
    this.#do(link, request, identity, () => this.relay.setShows(identity.slot, JSON.parse(json)));
  }

  /** A desktop shows its stage. The answer is `{edges}`: through which it is watched. */
  show(link: number, request: number, identity: Identity, stage: ShownStage): void {
    this.#try(link, request, identity, () => {
      const { body: bytes, start, end, standing } = stage;
      const edges = this.relay.show(identity.slot, bytes, start, end, standing);
      this.#receiver(link)?.answer(request, WATCHED_EDGES[edges]);
    });
  }

  /** A report of a picture: its file and its reason. */
  report(link: number, request: number, identity: Identity, json: string): void {
    this.#do(link, request, identity, () => this.#moderation?.report(identity.slot, JSON.parse(json)));
  }

  /** A desktop publishes a picture in the gallery. The answer is `{state}`. */
  publish(link: number, request: number, identity: Identity, json: string): void {
    this.#try(link, request, identity, () => {
      this.#answerJson(link, request, 202, { state: this.#moderation?.publish(identity.slot, JSON.parse(json)) });
    });
  }

  /** How often each picture of the gallery flew in the last minute, without those that did not, and the map of the default world. */
  flying(link: number, request: number): void {
    const { count, width } = this.#commons;
    const { newest = {}, map = new WorldMap() } = this.#flights ?? {};
    this.#answerJson(link, request, 200, { counts: newest, map: map.show(count, width) });
  }

  /** Counts an accepted crossing of this desktop, and may add it to the map. */
  #countFlight(slot: number, { edge, body, start }: CheckedCrossing): void {
    const file = this.#flights?.count(body, start);
    if (file === undefined) return;
    const { torus } = this.relay;
    const { count, width } = this.#commons;
    const place = torus.placeOf(slot);
    // A repeated crossing may be of a desktop that has ended, which has no place.
    if (torus.worldOf(slot) === this.#commons && place < count) this.#flights?.map.add(file, edge, place, count, width);
  }

  get #commons(): World {
    return this.relay.torus.find(DEFAULT_WORLD) as World; // it is never removed
  }

  /** Feedback of a visitor, who needs no desktop. */
  feedback(link: number, request: number, _: Identity, json: string): void {
    this.#attempt(link, request, () => {
      this.#moderation?.addFeedback(JSON.parse(json));
      this.#receiver(link)?.answer(request, DONE);
    });
  }

  /** Does something for a live desktop and answers 204, or the problem that `action` throws. */
  #do(link: number, request: number, identity: Identity, action: () => void): void {
    this.#try(link, request, identity, () => {
      action();
      this.#receiver(link)?.answer(request, DONE);
    });
  }

  /** Calls `action`, which answers the request, if the desktop is live. Otherwise, or when it throws a problem, that is the answer. */
  #try(link: number, request: number, identity: Identity, action: () => void): void {
    if (this.#requireLive(link, request, identity)) this.#attempt(link, request, action);
  }

  /** Calls `action`, which answers the request. When it throws a problem, that is the answer. */
  #attempt(link: number, request: number, action: () => void): void {
    try {
      action();
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      this.#answerProblem(link, request, error.document);
    }
  }

  /** Returns whether the desktop is live. If it is not, answers the request with the reason. */
  #requireLive(link: number, request: number, identity: Identity): boolean {
    const state = this.relay.desktops.authenticate(identity);
    if (state === 'live') return true;
    this.#answerProblem(link, request, this.relay.refusal(identity, state));
    return false;
  }

  /** The worker that an answer of this turn goes to. */
  #receiver(link: number): Link | undefined {
    this.#hasAnswers = true;
    return this.#links.get(link);
  }

  #answerProblem(link: number, request: number, document: ProblemDocument): void {
    this.#answerJson(link, request, document.status, document, PROBLEMS[document.code].retryAfterSeconds);
  }

  #answerJson(link: number, request: number, status: number, value: unknown, retryAfter = 0): void {
    const body = Buffer.from(JSON.stringify(value));
    this.#receiver(link)?.answer(request, answerOf(status, body, retryAfter));
  }
}

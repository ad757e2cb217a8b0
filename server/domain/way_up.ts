/**
 * The way up: a crossing goes into the mailbox of the desktop beyond its edge, to another relay, or back to its sender.
 *
 * Invariant: unless the verdict is 'accepted' or 'deferred', nothing has changed; a refused sprite stays with its sender.
 * Writer: the records of the crossing that is being accepted.
 * Cost: accept() is O(1) and allocates nothing but what responses.ts says.
 */

import type { CheckedCrossing } from '../wire/crossing.ts';
import type { Identity } from '../wire/identity.ts';
import { NO_HEAD, type Passage } from '../wire/passage.ts';
import { isCarried, type Standing } from '../wire/pictures.ts';
import { type EdgeNumber, opposite } from '../wire/rules.ts';
import type { Eviction } from './eviction.ts';
import type { Peers } from './peers/peers.ts';
import type { CrossingResponse, Responses } from './responses.ts';
import { MUTES, STRICT } from './slots/marks.ts';
import { MUTE_HOPS_MAX } from './slots/mutes.ts';
import { NO_SLOT } from './state/desktops.ts';
import type { AcceptedCrossing } from './state/facts.ts';
import { eventBlockBytes } from './state/mailboxes.ts';
import type { Tables } from './tables.ts';
import type { WayDown } from './way_down.ts';

const FROM = Buffer.from('"from":');
const COMMA = 0x2c;

/** A crossing without a thrower and a receiver at this relay. */
const NO_CROSSING: Readonly<AcceptedCrossing> = {
  to: NO_SLOT,
  edge: 0,
  arrived: 0,
  head: NO_HEAD,
  headLength: 0,
  body: NO_HEAD,
  start: 0,
  end: 0,
  slot: NO_SLOT,
  generation: 0,
  crossing: 0,
  receiver: NO_SLOT,
  receiverGeneration: 0,
};

interface WayUpParts {
  readonly responses: Responses;
  readonly eviction: Eviction;
  readonly down: WayDown;
}

export class WayUp {
  readonly #tables: Tables;
  readonly #responses: Responses;
  readonly #eviction: Eviction;
  readonly #down: WayDown;
  /** The beginning of an event. Its first bytes are always `"from":`. */
  readonly #head = Buffer.concat([FROM], 512);
  /** The crossing that accept() handles, and one of another relay. */
  readonly #thrown: AcceptedCrossing = { ...NO_CROSSING, head: this.#head };
  readonly #arrived: AcceptedCrossing = { ...NO_CROSSING };

  constructor(tables: Tables, { responses, eviction, down }: WayUpParts) {
    this.#tables = tables;
    this.#responses = responses;
    this.#eviction = eviction;
    this.#down = down;
  }

  /** Puts a crossing into the neighbour's mailbox, or refuses it: see Relay.accept(). */
  accept(from: Identity, checked: CheckedCrossing, standing: Standing, ticket: number): Readonly<CrossingResponse> {
    const { desktops, torus, marks, counters, facts, peerParts, nowMs } = this.#tables;
    const { crossing, edge } = checked;
    const state = desktops.authenticate(from);
    if (state !== 'live') return this.#acceptOfNotLive(from, crossing, state, ticket);
    const { slot } = from;
    const recency = desktops.recencyOf(slot, crossing);
    if (recency === 'stale') return this.#responses.refuse('crossing-stale');
    if (recency === 'repeated') {
      counters.repeated++;
      return this.#responses.confirm('repeated', desktops.receiverOf(slot, crossing));
    }
    const { peers } = peerParts;
    if (peers?.await(slot, from.generation, crossing, ticket)) return this.#responses.defer();
    const place = peers?.compare(slot, from.generation, crossing) ?? 'near';
    if (place !== 'near') return this.#responses.refuse(`crossing-${place}`);
    // Checked after repeats: refusing a repeat would make its sender take back a sprite that the neighbour already has.
    if (this.#down.draining) return this.#responses.refuse('draining');
    if (marks.has(slot, STRICT) && !isCarried(torus.worldOf(slot).pictures, standing)) {
      counters.refusedPicture++;
      return this.#responses.refuse('picture-refused');
    }
    if (facts?.hasRoom === false) return this.#responses.refuse('journal-full');
    if (!desktops.allowThrow(slot, nowMs)) {
      counters.refusedFast++;
      return this.#responses.refuse('too-fast');
    }
    // Named in the response even when it mutes the thrower, which must not notice that.
    const named = torus.neighbour(slot, edge);
    this.#write(from, checked);
    if (named >= 0) return this.#put(from, edge, named);
    return (peers as Peers).pass(this.#thrown, ticket) ? this.#responses.defer() : this.#responses.refuse('relay-busy');
  }

  #acceptOfNotLive(
    from: Identity,
    crossing: number,
    state: 'ended' | 'unknown',
    ticket: number,
  ): Readonly<CrossingResponse> {
    const { ended, counters, nowMs, peerParts } = this.#tables;
    // The neighbour has the sprite of a repeat: the sender must not take it back because its lease ended meanwhile.
    if (ended.isAccepted(from, crossing, nowMs)) {
      counters.repeated++;
      return this.#responses.confirm('repeated', -1);
    }
    const { peers } = peerParts;
    if (peers?.isThrowing(from.slot, from.generation) && ended.isKnown(from, nowMs)) {
      if (peers.await(from.slot, from.generation, crossing, ticket)) return this.#responses.defer();
    }
    return this.#responses.refuseNotLive(this.#down.refusal(from, state));
  }

  /** Writes the crossing that accept() handles into #thrown. */
  #write(from: Identity, { crossing, edge, body, start, end }: CheckedCrossing): void {
    const reference = this.#tables.desktops.writeReference(from.slot, this.#head, FROM.length);
    this.#head[reference] = COMMA;
    const thrown = this.#thrown;
    thrown.edge = opposite(edge);
    thrown.headLength = reference + 1;
    thrown.body = body;
    thrown.start = start;
    thrown.end = end;
    thrown.slot = from.slot;
    thrown.generation = from.generation;
    thrown.crossing = crossing;
  }

  /** Puts #thrown into the mailbox of a desktop of this relay: the one that is named, unless it mutes the thrower. */
  #put(from: Identity, edge: EdgeNumber, named: number): CrossingResponse {
    const { marks, mailboxes, counters, desktops, facts, torus, defaultWorld, day } = this.#tables;
    const thrown = this.#thrown;
    const to = marks.has(named, MUTES) ? this.beyondMuting(from, edge, named, from.slot) : named;
    if (to < 0 || !this.append(to, thrown)) {
      counters.refusedFull++;
      return this.#responses.refuse('mailbox-full');
    }
    counters.accepted++;
    if (torus.worldOf(from.slot) === defaultWorld) day.thrown++;
    desktops.recordAccepted(from.slot, thrown.crossing, named);
    if (facts) {
      thrown.to = to;
      thrown.arrived = mailboxes.lastArrival;
      thrown.receiver = named;
      thrown.receiverGeneration = desktops.generation(named);
      facts.accepted(thrown);
    }
    this.#down.markReady(to);
    return this.#responses.confirm('accepted', named);
  }

  /** Appends an event to a mailbox, and makes room for it in the slab if that helps. Returns false when there is still no room. */
  append(to: number, passage: Readonly<Passage>): boolean {
    const { mailboxes } = this.#tables;
    if (mailboxes.append(to, passage)) return true;
    const length = passage.headLength + passage.end - passage.start;
    // Kept sprites, which may never be fetched, must not block the desktops that are here.
    if (!mailboxes.hasRoom(to, length) || !this.#eviction.makeRoom(eventBlockBytes(length))) return false;
    return mailboxes.append(to, passage);
  }

  /**
   * The first desktop of this relay from `first` on, in the direction of travel, that does not mute the thrower; -1 when there is none near.
   * `home`: the thrower's slot, or NO_SLOT when it is at another relay.
   */
  beyondMuting(
    { slot, generation }: Pick<Identity, 'slot' | 'generation'>,
    edge: EdgeNumber,
    first: number,
    home: number,
  ): number {
    const { marks, mutes, torus } = this.#tables;
    let to = first;
    for (let hops = 0; hops < MUTE_HOPS_MAX; hops++) {
      if (!marks.has(to, MUTES) || !mutes.has(to, slot, generation)) return to;
      to = torus.ownNeighbour(to, edge);
      // It does not come home: only a desktop that is alone is its own neighbour.
      if (to === home) return -1;
    }
    return -1;
  }

  /** Tells that a crossing without a thrower here, whole in its body, was appended to the mailbox of `to`. */
  tellArrived(to: number, { edge, body, start, end }: Readonly<Passage>): void {
    const { facts, mailboxes } = this.#tables;
    if (facts === undefined) return;
    const arrived = this.#arrived;
    arrived.to = to;
    arrived.edge = edge;
    arrived.arrived = mailboxes.lastArrival;
    arrived.body = body;
    arrived.start = start;
    arrived.end = end;
    facts.accepted(arrived);
  }
}

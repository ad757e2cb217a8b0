/**
 * From peers: what other relays bring here, and decide about what went to them.
 *
 * A sprite of another relay goes into the mailbox of the desktop at a place, as one of this relay does. Their verdicts settle the throws of
 * desktops here, and what was handed on; a sprite in custody that they refuse goes on from here.
 * Writer: the desktop that the last receive() named.
 */

import { type MovedWorld, type PeerRecord, PeerVerdict, type WaitingSprite } from '../wire/peers/peer_frame.ts';
import { PICTURES } from '../wire/pictures.ts';
import { opposite } from '../wire/rules.ts';
import type { Ending } from './ending.ts';
import type { MovingOn } from './moving_on.ts';
import type { News } from './news.ts';
import { ABANDONED, isPassed } from './peers/peer_memory.ts';
import type { PeerHost } from './peers/peers.ts';
import type { Responses } from './responses.ts';
import { MUTES } from './slots/marks.ts';
import { NO_SLOT } from './state/desktops.ts';
import { eventBlockBytes } from './state/mailboxes.ts';
import type { World } from './state/torus.ts';
import type { Tables } from './tables.ts';
import type { AnswerSink, WayDown } from './way_down.ts';
import type { WayUp } from './way_up.ts';

interface FromPeersParts {
  readonly answers: AnswerSink;
  readonly responses: Responses;
  readonly up: WayUp;
  readonly down: WayDown;
  readonly moving: MovingOn;
  readonly ending: Ending;
  readonly news: News;
}

export class FromPeers implements PeerHost {
  readonly #tables: Tables;
  readonly #parts: FromPeersParts;
  readonly #reference = Buffer.alloc(512);
  /** The desktop that the last receive() named. */
  #named = 0;

  constructor(tables: Tables, parts: FromPeersParts) {
    this.#tables = tables;
    this.#parts = parts;
  }

  receive(record: PeerRecord): number {
    const { defaultWorld, marks, counters, day } = this.#tables;
    const { up, down } = this.#parts;
    const { place, edge, moved } = record;
    const world = moved === undefined ? defaultWorld : this.#movedHere(moved);
    if (down.draining || world === undefined || world.count === 0) return PeerVerdict.busy;
    // The sender's view is some steps old.
    const named = world.slots[Math.min(place, world.count - 1)];
    const to = marks.has(named, MUTES) ? up.beyondMuting(record, opposite(edge), named, NO_SLOT) : named;
    if (to < 0 || !up.append(to, record)) {
      counters.refusedFull++;
      return PeerVerdict.full;
    }
    this.#named = named;
    counters.accepted++;
    if (moved === undefined && record.crossing > 0) day.thrown++; // else it was handed on, and was counted when it was thrown
    up.tellArrived(to, record);
    down.markReady(to);
    return PeerVerdict.accepted;
  }

  /** The private world that a sprite of another relay is for; undefined when it is not here, or is stricter about pictures. */
  #movedHere({ name, pictures }: MovedWorld): World | undefined {
    const { torus, defaultWorld } = this.#tables;
    const world = torus.find(name);
    if (world === defaultWorld || world?.home !== undefined) return undefined;
    return world !== undefined && PICTURES.indexOf(pictures) >= PICTURES.indexOf(world.pictures) ? world : undefined;
  }

  referenceAt(place: number | 'received'): Buffer | undefined {
    const { defaultWorld, desktops } = this.#tables;
    const { slots, count } = defaultWorld;
    if (place !== 'received' && place >= count) return undefined;
    const slot = place === 'received' ? this.#named : slots[place];
    return Buffer.from(this.#reference.subarray(0, desktops.writeReference(slot, this.#reference, 0)));
  }

  /** The verdict of another relay on a crossing from here: one of PeerVerdict, or ABANDONED. */
  settle(slot: number, generation: number, crossing: number, verdict: number): void {
    const { desktops, ended, facts, nowMs, counters } = this.#tables;
    if (isPassed(verdict)) {
      if (desktops.isLive(slot) && desktops.generation(slot) === generation) {
        desktops.recordPassed(slot, crossing);
      } else {
        const row = ended.accept(slot, generation, crossing, nowMs);
        if (row >= 0 && facts) ended.writeState(row, facts);
      }
    }
    if (verdict === ABANDONED) {
      counters.accepted++;
      counters.abandoned++;
    }
  }

  /** Answers the requests that wait for such a verdict. */
  answer(tickets: readonly number[], verdict: number, reference: Buffer | undefined): void {
    const { responses, answers } = this.#parts;
    const response = !isPassed(verdict)
      ? responses.refuseAs(verdict)
      : reference === undefined
        ? responses.confirm('accepted', -1)
        : responses.confirmRemote(reference);
    for (const ticket of tickets) answers.answer(ticket, response);
  }

  refuse(ticket: number): void {
    const { responses, answers } = this.#parts;
    answers.answer(ticket, responses.refuse('relay-busy'));
  }

  /**
   * A sprite in custody goes on, because another relay has refused it: to a desktop of this relay in its direction of travel. An own mailbox
   * keeps it while there is none with room, as if it had waited for a desktop that has ended.
   */
  sendOn(record: PeerRecord): void {
    const { defaultWorld: world, desktops, torus, mailboxes, counters, day } = this.#tables;
    const { up, moving } = this.#parts;
    const { slot, generation, edge, start, end } = record;
    const isHere = desktops.isLive(slot) && desktops.generation(slot) === generation;
    const first = isHere ? torus.placeOf(torus.ownNeighbour(slot, opposite(edge))) : torus.placeOf(slot);
    counters.accepted++;
    day.thrown++;
    const size = eventBlockBytes(end - start);
    const to = world.count > 0 ? moving.next(world, first % world.count, edge, 1, size) : -1;
    if (to >= 0 && mailboxes.carry(to, record)) up.tellArrived(to, record);
    else if (!moving.keepAlone(first, record)) counters.abandoned++;
  }

  settleWaiting(sprite: WaitingSprite, verdict: number): void {
    this.#parts.ending.settleWaiting(sprite, verdict);
  }

  nameArrived(slot: number): void {
    const { news, down } = this.#parts;
    if (!this.#tables.desktops.isLive(slot)) return;
    news.tellNeighbours(slot);
    down.markReady(slot);
  }

  neighboursChanged(): void {
    this.#parts.news.worldChanged(this.#tables.defaultWorld);
  }
}

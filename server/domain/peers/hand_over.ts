/**
 * Hand-over: sprites that wait here, whose desktops have ended, go on to desktops of other relays.
 *
 * It takes the kept mailboxes (kept.ts) that no desktop here can have: all of `commons` when this relay stops for good or its last desktop
 * there has ended, and those for which its own desktops have no room. A sprite goes on in its direction of travel, over the border of its
 * relay's places: it gets as far beyond the border as its desktop was in front of it, so that the sprites of many desktops land on as
 * many. When that desktop has no room, the next try goes to the one behind it. It also takes those of private worlds that another relay has
 * now; their sprites go to the places of that world that their desktops had here.
 * A sprite stays in its mailbox, and in the journal, until the other relay has accepted it. While one is on its way, its mailbox is held, so
 * that no desktop that joins here gets it too.
 * Invariant: a mailbox whose sprites are being handed on is held; what becomes of it is decided when all of them have their verdicts.
 * Cost: O(log relays) for each sprite; HANDED_PER_TURN_MAX mailboxes a turn, as many as the frames in flight have room for.
 */
import { ok } from 'node:assert';
import type { MovedWorld } from '../../wire/peers/peer_frame.ts';
import { EDGES, type EdgeNumber } from '../../wire/rules.ts';
import { basesOf, locate } from '../state/cluster_torus.ts';
import type { ClusterPlace, ClusterView } from '../state/cluster_view.ts';
import { NO_SLOT } from '../state/desktops.ts';
import type { Mailboxes } from '../state/mailboxes.ts';
import type { Peers } from './peers.ts';

/** Mailboxes whose sprites are handed on in one turn: a millisecond at most. */
export const HANDED_PER_TURN_MAX = 128;

/** Mailboxes that a round tries, one each second: when nobody has room, their sprites cross the network in vain. A power of two. */
export const HANDED_PER_ROUND_MAX = 1024;
ok(Number.isInteger(Math.log2(HANDED_PER_ROUND_MAX)));

export interface HandOverHost {
  /** Whether the mailbox of a slot is kept and not held. */
  isKept(slot: number): boolean;
  /** The place that the desktop of a mailbox had. */
  placeOf(slot: number): number;
  /** The private world of a mailbox, and the relay that has it now; undefined for `commons`. */
  movedOf(slot: number): { home: string; world: MovedWorld } | undefined;
  owners(slot: number): number;
  /** Some of its sprites are on their way from now on. */
  hold(slot: number): void;
  /** The sent sprites of a mailbox count as unsent again. */
  unsend(slot: number): void;
}

/** The desktops of other relays that can be reached, in the order of their places, from the first one behind those of this relay. */
interface Ring {
  readonly view: ClusterView;
  /** Indices of the view. */
  readonly relays: readonly number[];
  readonly counts: Float64Array;
  readonly bases: Float64Array;
}

export class HandOver {
  readonly #host: HandOverHost;
  readonly #mailboxes: Mailboxes;
  readonly #peers: Peers;
  /** The mailboxes that this round has not tried yet. */
  #due: number[] = [];
  /** The place at the border, as far as that is known. */
  #lastPlace = 0;
  /** How often another relay has refused something of a mailbox. */
  readonly #refusals = new Map<number, number>();
  /** Sprites that were taken, and mailboxes of which something was refused, since the round began. */
  #passed = 0;
  #refused = 0;
  /** Mailboxes that the next round tries. */
  #perRound = HANDED_PER_ROUND_MAX;
  /** Whether rounds begin behind the one before, because something was refused and nothing was taken since. */
  #goesOn = false;
  /** The last mailbox of this round. */
  #lastOfRound = NO_SLOT;
  #ring: Ring | undefined;
  readonly #to: ClusterPlace = { relay: 0, place: 0 };

  constructor(host: HandOverHost, mailboxes: Mailboxes, peers: Peers) {
    this.#host = host;
    this.#mailboxes = mailboxes;
    this.#peers = peers;
  }

  /**
   * Begins a round: tries each of `slots` once, in the next turns. `lastPlace`: the place of `commons` at the border.
   *
   * Shape   unless `isLast`, as when the relay stops, a round tries HANDED_PER_ROUND_MAX mailboxes at most, the first of `slots`. After one in
   *         which nobody has taken anything, the next tries half as many, but at least one. Until somebody does, each begins behind the one
   *         before: a mailbox that is always refused keeps no other from its turn.
   */
  begin(slots: readonly number[], lastPlace: number, isLast: boolean): void {
    if (this.#passed > 0) {
      this.#perRound = Math.min(2 * this.#perRound, HANDED_PER_ROUND_MAX);
      this.#goesOn = false;
    } else if (this.#refused > 0) {
      this.#perRound = Math.max(1, this.#perRound / 2);
      this.#goesOn = true;
    }
    this.#passed = 0;
    this.#refused = 0;
    const first = this.#goesOn ? slots.indexOf(this.#lastOfRound) + 1 : 0;
    // They are popped from the end. A relay that stops begins with the newest, which costs less to take from a long list (kept.ts).
    this.#due = isLast ? slots.slice() : roundFrom(slots, first, this.#perRound).reverse();
    this.#lastOfRound = this.#due[0] ?? NO_SLOT;
    this.#lastPlace = lastPlace;
  }

  /** Whether some were not tried yet. */
  get isInRound(): boolean {
    return this.#due.length > 0;
  }

  /** Hands on what there is room for. */
  step(): void {
    if (this.#due.length === 0 || !this.#peers.maySend) return;
    const ring = this.#reach();
    for (let left = HANDED_PER_TURN_MAX; left > 0; left--) {
      const slot = this.#due.pop();
      if (slot === undefined) return;
      // Meanwhile a desktop here may have got what waited.
      if (!this.#host.isKept(slot)) continue;
      // Without room in frames to one relay, there may be some in those to others: the next step begins with another mailbox.
      if (!this.#handOn(slot, ring)) return;
    }
  }

  /** Another relay has taken a sprite. */
  passed(): void {
    this.#passed++;
  }

  /** All sprites of a mailbox that were being handed on have got their verdicts, and some are left. */
  left(slot: number): void {
    this.#refused++;
    this.#refusals.set(slot, (this.#refusals.get(slot) ?? 0) + 1);
  }

  /** A slot has no mailbox any more. */
  forget(slot: number): void {
    this.#refusals.delete(slot);
  }

  #reach(): Ring {
    const { membership } = this.#peers;
    const { view } = membership;
    if (this.#ring?.view === view) return this.#ring;
    const relays: number[] = [];
    for (let after = 1; after < view.names.length; after++) {
      const relay = (view.self + after) % view.names.length;
      if (this.#peers.isReachable(relay)) relays.push(relay);
    }
    const counts = Float64Array.from(relays, (relay) => view.counts[relay]);
    this.#ring = { view, relays, counts, bases: basesOf(counts) };
    return this.#ring;
  }

  /** Returns false when something was left for lack of room. */
  #handOn(slot: number, ring: Ring): boolean {
    const host = this.#host;
    const moved = host.movedOf(slot);
    const relay = moved === undefined ? 0 : ring.view.names.indexOf(moved.home);
    const isOutOfReach = moved === undefined ? ring.bases[ring.relays.length] === 0 : !ring.relays.includes(relay);
    if (isOutOfReach) return true;
    host.unsend(slot);
    const owners = host.owners(slot);
    let hasRoom = true;
    for (let edge = 0 as EdgeNumber; edge < EDGES.length && hasRoom; edge++) {
      const to = moved === undefined ? this.#beyondBorder(slot, edge, ring) : this.#atHome(slot, relay);
      this.#mailboxes.visitUnsent(slot, edge, (event) => {
        const sprite = { slot, owners, edge, arrived: event.arrived, moved: moved?.world };
        hasRoom = this.#peers.handOn(to, sprite, event);
        return hasRoom;
      });
    }
    if (this.#peers.isHanding(slot)) host.hold(slot);
    return hasRoom;
  }

  #atHome(slot: number, relay: number): ClusterPlace {
    this.#to.relay = relay;
    this.#to.place = this.#host.placeOf(slot) + (this.#refusals.get(slot) ?? 0);
    return this.#to;
  }

  /** Where sprites of `commons` that enter by `entry` go on to. REQUIRES: other relays have desktops. */
  #beyondBorder(slot: number, entry: EdgeNumber, ring: Ring): ClusterPlace {
    const total = ring.bases[ring.relays.length];
    const place = Math.min(this.#host.placeOf(slot), this.#lastPlace);
    const refusals = this.#refusals.get(slot) ?? 0;
    // What enters by the left or the top edge travels to higher places.
    const isForward = (entry & 1) === 0;
    const beyond = ((isForward ? this.#lastPlace - place : place) + refusals) % total;
    const to = locate(ring, isForward ? beyond : total - 1 - beyond, this.#to);
    to.relay = ring.relays[to.relay];
    return to;
  }
}

/** `count` of `slots` from the index `first` on, and then from the beginning; each once. */
function roundFrom(slots: readonly number[], first: number, count: number): number[] {
  const behind = slots.slice(first, first + count);
  return behind.concat(slots.slice(0, Math.min(first, count - behind.length)));
}

/**
 * Hand-over: a relay that stops for good hands on what waits in its mailboxes to other relays of the cluster.
 *
 * Its desktops have ended before. Each sprite goes on in its direction of travel, and so over the border of its relay's places: it gets as far
 * beyond the border as its desktop was in front of it, so that the sprites of many desktops land on as many. When that desktop has no
 * room, the next try goes to the one behind it. A sprite stays in its mailbox, and in the journal, until the other relay has accepted it.
 * Invariant: a mailbox is in `due` or `later`, or its sprites are being handed on, or it is empty and released.
 * Cost: O(1) for each sprite; HANDED_PER_TURN_MAX mailboxes a turn, as many as the frames in flight have room for.
 */
import { EDGES, type EdgeNumber } from '../wire/crossing.ts';
import { locate } from './cluster_torus.ts';
import type { ClusterPlace, ClusterView } from './cluster_view.ts';
import type { Mailboxes } from './mailboxes.ts';
import type { Peers } from './peers.ts';

/** Mailboxes whose sprites are handed on in one turn: a millisecond at most. */
export const HANDED_PER_TURN_MAX = 128;

export interface HandOverHost {
  /** The place that the desktop of a mailbox had. */
  placeOf(slot: number): number;
  owners(slot: number): number;
  /** The sent sprites of a mailbox count as unsent again. */
  unsend(slot: number): void;
}

export class HandOver {
  readonly #host: HandOverHost;
  readonly #mailboxes: Mailboxes;
  readonly #peers: Peers;
  /** How many desktops this relay had. */
  readonly #count: number;
  #due: number[];
  /** Mailboxes of which another relay has refused something. */
  #later: number[] = [];
  readonly #tries = new Map<number, number>();
  readonly #to: ClusterPlace = { relay: 0, place: 0 };

  /** `slots`: the mailboxes. `count`: how many desktops the relay had. */
  constructor(host: HandOverHost, mailboxes: Mailboxes, peers: Peers, slots: readonly number[], count: number) {
    this.#host = host;
    this.#mailboxes = mailboxes;
    this.#peers = peers;
    this.#due = [...slots];
    this.#count = count;
  }

  /** Hands on what there is room for. REQUIRES: the view has no desktops of this relay. */
  step(): void {
    const view = this.#peers.shared;
    if (view === undefined || !this.#peers.isConnected) return;
    for (let left = HANDED_PER_TURN_MAX; left > 0; left--) {
      const slot = this.#due.pop();
      if (slot === undefined) return;
      if (this.#handOn(slot, view)) continue;
      // There is no room, or that relay is not reachable. Others may be: the next step begins with another mailbox.
      if (!this.#peers.isHanding(slot)) this.#later.push(slot);
      return;
    }
  }

  /** Whether nothing is left. */
  get isDone(): boolean {
    return this.#due.length === 0 && this.#later.length === 0 && this.#peers.isHandingNothing;
  }

  /** Some time has passed: what was refused is tried again. */
  retry(): void {
    this.#due.push(...this.#later.splice(0, HANDED_PER_TURN_MAX));
  }

  /** All sprites of a mailbox that were being handed on have got their verdicts, and some are left. */
  left(slot: number): void {
    this.#tries.set(slot, (this.#tries.get(slot) ?? 0) + 1);
    this.#later.push(slot);
  }

  /** Returns false when something was left for lack of room. */
  #handOn(slot: number, view: ClusterView): boolean {
    if (!this.#tries.has(slot)) {
      this.#host.unsend(slot);
      this.#tries.set(slot, 0);
    }
    const owners = this.#host.owners(slot);
    let hasRoom = true;
    for (let edge = 0; edge < EDGES.length && hasRoom; edge++) {
      const to = this.#beyondBorder(slot, edge as EdgeNumber, view);
      this.#mailboxes.visitUnsent(slot, edge as EdgeNumber, (arrived, page, start, end) => {
        hasRoom = this.#peers.handOn(to, { slot, owners, edge: edge as EdgeNumber, arrived }, page, start, end);
        return hasRoom;
      });
    }
    return hasRoom;
  }

  /** Where sprites that enter by `entry` go on to. */
  #beyondBorder(slot: number, entry: EdgeNumber, view: ClusterView): ClusterPlace {
    const total = view.bases[view.counts.length];
    const border = view.bases[view.self];
    const place = this.#host.placeOf(slot);
    const tries = this.#tries.get(slot) ?? 0;
    // What enters by the left or the top edge travels to higher places.
    const isForward = (entry & 1) === 0;
    const at = isForward ? border + (this.#count - 1 - place) + tries : border - 1 - place - tries;
    return locate(view, at - Math.floor(at / total) * total, this.#to);
  }
}

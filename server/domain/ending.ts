/**
 * Ending: a relay of a cluster that stops for good ends its desktops, and what waits for them goes on at other relays.
 *
 * The same hand-over (hand_over.ts) takes what is kept here while no desktop of this relay can have it.
 * Writer: whether the desktops of the default world end, and how many there were.
 */
import type { WaitingSprite } from '../wire/peers/peer_frame.ts';
import type { Eviction } from './eviction.ts';
import { HandOver, type HandOverHost } from './peers/hand_over.ts';
import { ABANDONED, isPassed } from './peers/peer_memory.ts';
import type { Peers } from './peers/peers.ts';
import type { KeptMailboxes } from './state/kept.ts';
import { DUE_PER_STEP_MAX } from './state/limits.ts';
import type { Tables } from './tables.ts';

const HANDED_OVER_DETAIL = 'This relay stops, and other relays go on; join again.';

export class Ending implements HandOverHost {
  readonly #tables: Tables;
  readonly #kept: KeptMailboxes;
  readonly #eviction: Eviction;
  /** Whether the desktops of the default world end, because this relay stops for good. */
  #isEnding = false;
  /** Desktops that the default world had before they ended. */
  #endingCount = 0;

  constructor(tables: Tables, kept: KeptMailboxes, eviction: Eviction) {
    this.#tables = tables;
    this.#kept = kept;
    this.#eviction = eviction;
  }

  get isEnding(): boolean {
    return this.#isEnding;
  }

  /**
   * Ends the desktops of the default world, in steps, each by a call of Relay.advance(). What waits for them is handed on to other relays, as
   * soon as one has desktops. What is not handed on before the relay stops waits in the journal. REQUIRES: it drains, and is in a cluster.
   */
  begin(): void {
    this.#isEnding = true;
    this.#endingCount = this.#tables.defaultWorld.count;
  }

  /** Whether nothing of the default world waits any more, nor is in custody, after begin(). */
  get isOver(): boolean {
    const { defaultWorld, peerMemory } = this.#tables;
    const isEmpty = defaultWorld.count === 0 && !this.#kept.has(defaultWorld);
    return this.#isEnding && isEmpty && peerMemory.custody.size === 0;
  }

  /** Ends the next desktops, with `leave`. Returns whether some are left. */
  step(leave: (slot: number, detail: string) => void): boolean {
    const { defaultWorld: world, facts } = this.#tables;
    // What is not written down has not happened: the next life would have them again, and what was handed on.
    if (facts?.hasRoom === false) return false;
    // From the last place on, so that no other desktop moves.
    for (let left = DUE_PER_STEP_MAX; left > 0 && world.count > 0 && facts?.isLong !== true; left--) {
      leave(world.slots[world.count - 1], HANDED_OVER_DETAIL);
    }
    return world.count > 0;
  }

  /** The hand-over to other relays. Mailboxes that were being handed on when this relay stopped stay as they are until the verdicts are known. */
  handOverTo(peers: Peers): HandOver {
    const { torus, mailboxes } = this.#tables;
    for (const slot of peers.handingSlots()) {
      const world = torus.worldOf(slot);
      // A start without a cluster may have given them to another desktop.
      if (this.#kept.of(world)?.includes(slot)) this.hold(slot);
    }
    return new HandOver(this, mailboxes, peers);
  }

  isKept(slot: number): boolean {
    const { desktops, mailboxes, torus, defaultWorld } = this.#tables;
    // Since the round began its sprites may have gone, and then its world.
    if (desktops.isLive(slot) || mailboxes.count(slot) === 0) return false;
    const world = torus.worldOf(slot);
    // A private world may have come home: its sprites are for no other world.
    const goesOn = world === defaultWorld || world.home !== undefined;
    return goesOn && !this.#kept.isHeld(world, slot);
  }

  placeOf(slot: number): number {
    return this.#tables.torus.placeOf(slot);
  }

  movedOf(slot: number): ReturnType<HandOverHost['movedOf']> {
    const world = this.#tables.torus.worldOf(slot);
    return world.home === undefined ? undefined : { home: world.home, world };
  }

  owners(slot: number): number {
    return this.#tables.desktops.owners(slot);
  }

  hold(slot: number): void {
    const { torus, mailboxes } = this.#tables;
    this.#kept.hold(torus.worldOf(slot), slot, mailboxes.usedBytes(slot));
  }

  unsend(slot: number): void {
    const { mailboxes, facts } = this.#tables;
    if (mailboxes.newest(slot) === mailboxes.acknowledged(slot)) return;
    facts?.unsent(slot);
    mailboxes.unsend(slot);
  }

  /** A private world is at another relay, which gets what waits here; undefined: it is here. Does nothing when there is no such world. */
  setHome(name: string, home: string | undefined): void {
    const world = this.#tables.torus.find(name);
    if (world === undefined) return;
    world.home = home;
    this.#kept.setMoved(world, home !== undefined);
  }

  /** Lets the next turns hand on what is kept, and no desktop here can have. */
  beginRound(): void {
    const { torus, defaultWorld, peerParts } = this.#tables;
    const { handOver } = peerParts;
    if (handOver === undefined || handOver.isInRound) return;
    const due: number[] = [];
    for (const world of this.#kept.movedWorlds()) for (const slot of this.#kept.of(world) ?? []) due.push(slot);
    const { count } = defaultWorld;
    const { view } = (peerParts.peers as Peers).membership;
    // A relay that stops ends its desktops first. Otherwise the view must show no desktop here: the last one may be joining again.
    const isDue = count > 0 ? !this.#isEnding : view.counts[view.self] === 0;
    let lastPlace = Math.max(count, this.#endingCount, 1) - 1;
    for (const slot of isDue ? (this.#kept.of(defaultWorld) ?? []) : []) {
      due.push(slot);
      lastPlace = Math.max(lastPlace, torus.placeOf(slot));
    }
    handOver.begin(due, lastPlace, this.#isEnding);
  }

  /** The verdict of another relay on a sprite that waits here and was handed on. */
  settleWaiting({ slot, owners, edge, arrived }: WaitingSprite, verdict: number): void {
    const { desktops, mailboxes, counters, torus, peerParts } = this.#tables;
    if (desktops.isLive(slot) || desktops.owners(slot) !== owners) return;
    if (isPassed(verdict)) peerParts.handOver?.passed();
    if (isPassed(verdict) && mailboxes.remove(slot, edge, arrived)) {
      if (verdict === ABANDONED) counters.abandoned++;
      else counters.acknowledged++;
    }
    const world = torus.worldOf(slot);
    if (peerParts.peers?.isHanding(slot) || !this.#kept.isHeld(world, slot)) return;
    this.#kept.unhold(world, slot, mailboxes.usedBytes(slot));
    if (mailboxes.count(slot) > 0) {
      peerParts.handOver?.left(slot);
      return;
    }
    this.#eviction.drop(world, slot);
    this.#eviction.removeIfEmpty(world);
  }
}

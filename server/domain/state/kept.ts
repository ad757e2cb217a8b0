/**
 * Kept mailboxes: those of desktops that have ended, whose sprites have no desktop to go on to.
 *
 * Either the desktop was the last one of its world here, or no desktop in the sprites' direction of travel had room. Kept sprites go
 * on as soon as a desktop has room: when one joins the empty world, when one has read what waited for it, or at another relay
 * (hand_over.ts). While a sprite of a mailbox is on its way to another relay, the mailbox is held: it is neither tried here nor evicted.
 * Invariant: a kept slot is held, or in the list of its world, oldest first, and its mailbox is not empty between two calls of the
 * relay; a world with desktops is never in the list of empty worlds.
 * Cost: O(1), but O(mailboxes of one world) to remove another than its oldest or newest.
 */
import { ok } from 'node:assert';
import type { World } from './torus.ts';

export class KeptMailboxes {
  /** Slots of worlds without a desktop, the longest empty world first, and of worlds with desktops. */
  readonly #ofEmpty = new Map<World, number[]>();
  readonly #ofOpen = new Map<World, number[]>();
  /** Held slots. */
  readonly #held = new Map<World, Set<number>>();
  /** Private worlds that another relay has, and gets what waits here. */
  readonly #moved = new Set<World>();
  /** Bytes of the slab in all kept mailboxes that are not held. */
  bytes = 0;

  /** The kept slots of a world that are not held, the oldest first; undefined when it has none. */
  of(world: World): readonly number[] | undefined {
    return this.#ofEmpty.get(world) ?? this.#ofOpen.get(world);
  }

  /** Another relay has a private world now, or does no longer. */
  setMoved(world: World, isMoved: boolean): void {
    if (isMoved) this.#moved.add(world);
    else this.#moved.delete(world);
  }

  /** The private worlds that another relay has. */
  movedWorlds(): Iterable<World> {
    return this.#moved;
  }

  /** Whether a world has kept mailboxes, held or not. */
  has(world: World): boolean {
    return this.of(world) !== undefined || this.#held.has(world);
  }

  /** Sprites of a kept mailbox, which uses `bytes`, are on their way to another relay. */
  hold(world: World, slot: number, bytes: number): void {
    this.remove(world, slot, bytes);
    const slots = this.#held.get(world);
    if (slots) slots.add(slot);
    else this.#held.set(world, new Set([slot]));
  }

  isHeld(world: World, slot: number): boolean {
    return this.#held.get(world)?.has(slot) ?? false;
  }

  /** No sprite of a held mailbox is on its way any more. It is the newest one now. */
  unhold(world: World, slot: number, bytes: number): void {
    const slots = this.#held.get(world) as Set<number>;
    slots.delete(slot);
    if (slots.size === 0) this.#held.delete(world);
    this.add(world, slot, bytes);
  }

  /** Keeps the mailbox of `slot`, which uses `bytes`. The desktop has left `world` already. */
  add(world: World, slot: number, bytes: number): void {
    this.bytes += bytes;
    // The desktop may have been the last one: then the others are still in the list of worlds with desktops.
    this.sort(world);
    const worlds = world.count === 0 ? this.#ofEmpty : this.#ofOpen;
    const slots = worlds.get(world);
    if (slots) slots.push(slot);
    else worlds.set(world, [slot]);
  }

  /** Removes a mailbox that has still `bytes`. */
  remove(world: World, slot: number, bytes: number): void {
    this.bytes -= bytes;
    for (const worlds of [this.#ofEmpty, this.#ofOpen]) {
      const slots = worlds.get(world);
      if (slots === undefined) continue;
      const at = slots[slots.length - 1] === slot ? slots.length - 1 : slots.indexOf(slot);
      ok(at >= 0, 'a mailbox that is not kept is removed');
      slots.splice(at, 1);
      if (slots.length === 0) worlds.delete(world);
    }
  }

  /** Call it when a world has become empty, or is no longer: its mailboxes change lists. */
  sort(world: World): void {
    const [from, to] = world.count === 0 ? [this.#ofOpen, this.#ofEmpty] : [this.#ofEmpty, this.#ofOpen];
    const slots = from.get(world);
    if (slots === undefined) return;
    from.delete(world);
    to.set(world, slots);
  }

  /** The world that has been empty longest, but not `except`; undefined when no other empty world is kept. */
  longestEmpty(except?: World): World | undefined {
    for (const world of this.#ofEmpty.keys()) if (world !== except) return world;
    return undefined;
  }

  /** How many empty worlds are kept, `except` not counted. */
  emptyCount(except: World): number {
    let count = this.#ofEmpty.size - (this.#ofEmpty.has(except) ? 1 : 0);
    for (const world of this.#held.keys()) {
      if (world !== except && world.count === 0 && !this.#ofEmpty.has(world)) count++;
    }
    return count;
  }

  /** The worlds with desktops that have kept mailboxes. */
  openWorlds(): World[] {
    return [...this.#ofOpen.keys()];
  }

  /** Every kept mailbox that is not held, in the order in which they are evicted: the longest empty world first, open worlds last. */
  *inOrder(except?: World): Generator<[world: World, slot: number]> {
    for (const worlds of [this.#ofEmpty, this.#ofOpen]) {
      for (const [world, slots] of worlds) {
        if (world === except) continue;
        for (const slot of slots) yield [world, slot];
      }
    }
  }
}

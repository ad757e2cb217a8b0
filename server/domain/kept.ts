/**
 * Kept mailboxes: those of desktops that have ended, whose sprites have no desktop to go on to.
 *
 * Either the desktop was the last of its world, or no desktop in the sprites' direction of travel had room. Kept sprites go
 * on as soon as a desktop has room: when one joins the empty world, or when one has read what waited for it.
 * Invariant: a kept slot is in the list of its world, oldest first, and its mailbox is not empty between two calls of the
 * relay; a world with desktops is never in the list of empty worlds.
 * Cost: O(1), but O(mailboxes of one world) to remove another than its oldest.
 */
import type { World } from './torus.ts';

export class KeptMailboxes {
  /** Slots of worlds without a desktop, the longest empty world first, and of worlds with desktops. */
  readonly #ofEmpty = new Map<World, number[]>();
  readonly #ofOpen = new Map<World, number[]>();
  /** Bytes of the slab in all kept mailboxes. */
  bytes = 0;

  /** The kept slots of a world, the oldest first; undefined when it has none. */
  of(world: World): readonly number[] | undefined {
    return this.#ofEmpty.get(world) ?? this.#ofOpen.get(world);
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
      slots.splice(slots.indexOf(slot), 1);
      if (slots.length === 0) worlds.delete(world);
    }
  }

  /** Removes all mailboxes of a world, which have `bytesOf` each; returns their slots, the oldest first. */
  removeAll(world: World, bytesOf: (slot: number) => number): readonly number[] {
    const slots = this.of(world) ?? [];
    for (const slot of slots) this.bytes -= bytesOf(slot);
    this.#ofEmpty.delete(world);
    this.#ofOpen.delete(world);
    return slots;
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
    return this.#ofEmpty.size - (this.#ofEmpty.has(except) ? 1 : 0);
  }

  /** The worlds with desktops that have kept mailboxes. */
  openWorlds(): World[] {
    return [...this.#ofOpen.keys()];
  }

  /** Every kept mailbox, in the order in which they are evicted: the longest empty world first, open worlds last. */
  *inOrder(except?: World): Generator<[world: World, slot: number]> {
    for (const worlds of [this.#ofEmpty, this.#ofOpen]) {
      for (const [world, slots] of worlds) {
        if (world === except) continue;
        for (const slot of slots) yield [world, slot];
      }
    }
  }
}

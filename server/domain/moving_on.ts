/**
 * Moving on: the sprites of a desktop that has ended go on in their direction of travel, to the next desktop with room.
 *
 * While there is none, their mailbox is kept, and is tried again each second, and when a desktop joins an empty world.
 * Writer: which worlds this round has still to try, and when the next one begins.
 * Cost: ONWARD_DESKTOPS_MAX desktops are looked at for each list of sprites; KEPT_WORLDS_PER_STEP_MAX worlds a step.
 */

import type { Passage } from '../wire/passage.ts';
import { type EdgeNumber, opposite } from '../wire/rules.ts';
import type { Ending } from './ending.ts';
import type { Eviction } from './eviction.ts';
import { BLOCK_BYTES_MAX } from './slots/slab.ts';
import type { KeptMailboxes } from './state/kept.ts';
import {
  KEPT_STEP_MS,
  KEPT_TRIED_MAX,
  KEPT_WORLDS_PER_STEP_MAX,
  ONWARD_DESKTOPS_MAX,
  ONWARD_SPRITES_MAX,
} from './state/limits.ts';
import { eventBlockBytes } from './state/mailboxes.ts';
import { placeBeyond, type World } from './state/torus.ts';
import type { Tables } from './tables.ts';
import type { WayDown } from './way_down.ts';

interface MovingOnParts {
  readonly kept: KeptMailboxes;
  readonly eviction: Eviction;
  readonly ending: Ending;
  readonly down: WayDown;
}

export class MovingOn {
  readonly #tables: Tables;
  readonly #kept: KeptMailboxes;
  readonly #eviction: Eviction;
  readonly #ending: Ending;
  readonly #down: WayDown;
  /** Worlds with desktops whose kept mailboxes are tried in this round, and when the next round begins. */
  #due: World[] = [];
  #nextRoundMs: number;

  constructor(tables: Tables, { kept, eviction, ending, down }: MovingOnParts) {
    this.#tables = tables;
    this.#kept = kept;
    this.#eviction = eviction;
    this.#ending = ending;
    this.#down = down;
    this.#nextRoundMs = tables.nowMs + KEPT_STEP_MS;
  }

  /** Moves the sprites of a desktop that ends, from its place on, unless it was alone or the relay ends. */
  leave(slot: number, world: World): void {
    const { torus, defaultWorld } = this.#tables;
    if (world.count <= 1 || (this.#ending.isEnding && world === defaultWorld)) return;
    const place = torus.placeOf(slot);
    this.#moveAll(slot, (entry, events, bytes) =>
      this.next(world, placeBeyond(place, opposite(entry), world.count, world.width), entry, events, bytes),
    );
  }

  /** A desktop has given up its place. What it still has waits until a desktop joins its world, or one in their direction of travel has room. */
  left(slot: number, world: World, place: number): void {
    const { mailboxes, desktops, facts } = this.#tables;
    if (mailboxes.count(slot) > 0) {
      this.#kept.add(world, slot, mailboxes.usedBytes(slot));
      facts?.kept(slot, desktops.owners(slot), world.name, place);
    } else {
      this.#eviction.release(slot);
      this.#kept.sort(world);
    }
  }

  /** A desktop has joined: if it is the first one of its world, what waits there goes to it. */
  joined(world: World): void {
    if (world.count !== 1 || !this.#kept.of(world)) return;
    this.#kept.sort(world);
    this.#try(world);
  }

  /** Moves the sprites of a mailbox: `target` as in Mailboxes.moveAll(). */
  #moveAll(slot: number, target: (entry: EdgeNumber, events: number, bytes: number) => number): void {
    const { mailboxes, facts, counters } = this.#tables;
    if (mailboxes.count(slot) === 0) return;
    facts?.unsent(slot);
    counters.forwarded += mailboxes.moveAll(slot, (entry, events, bytes) => {
      const to = target(entry, events, bytes);
      if (to >= 0) facts?.moved(slot, entry, to, events);
      return to;
    });
  }

  /**
   * The desktop that receives sprites which enter by `entry`: the first one with room for all of them, of ONWARD_DESKTOPS_MAX
   * from `place` on in their direction of travel; -1 when none has room. It is never one that has just ended and still has its place.
   */
  next(world: World, place: number, entry: EdgeNumber, events: number, bytes: number): number {
    const { desktops, mailboxes } = this.#tables;
    const direction = opposite(entry);
    let at = place;
    for (let tried = 0; tried < ONWARD_DESKTOPS_MAX; tried++) {
      const next = world.slots[at];
      if (!desktops.isLive(next)) return -1;
      if (mailboxes.canCarry(next, events, bytes)) {
        this.#down.markReady(next);
        return next;
      }
      at = placeBeyond(at, direction, world.count, world.width);
      if (at === place) return -1;
    }
    return -1;
  }

  /** Tries the oldest kept mailboxes of a world with desktops again: moves what has room, from the place the owner had. */
  #try(world: World): void {
    const { mailboxes, torus, facts, counters } = this.#tables;
    for (let tried = 0; tried < KEPT_TRIED_MAX; tried++) {
      const slot = this.#kept.of(world)?.[0];
      if (slot === undefined) return;
      const place = torus.placeOf(slot) % world.count;
      const before = mailboxes.usedBytes(slot);
      facts?.moving(slot);
      this.#moveAll(slot, (entry, events, bytes) => this.next(world, place, entry, events, bytes));
      for (let entry = 0; entry < 4 && mailboxes.count(slot) > 0; entry++) {
        const to = this.next(world, place, entry as EdgeNumber, 1, BLOCK_BYTES_MAX);
        if (to < 0) continue;
        const moved = mailboxes.moveSome(slot, entry as EdgeNumber, to, ONWARD_SPRITES_MAX);
        counters.forwarded += moved;
        if (moved > 0) facts?.moved(slot, entry as EdgeNumber, to, moved);
      }
      this.#kept.bytes -= before - mailboxes.usedBytes(slot);
      if (mailboxes.count(slot) > 0) return;
      this.#eviction.drop(world, slot);
    }
  }

  /** One step of what kept mailboxes need: they move on where there is room, and stay within their share of the slab. */
  step(): boolean {
    const { nowMs, facts } = this.#tables;
    const isNextRound = nowMs >= this.#nextRoundMs && this.#due.length === 0;
    if (isNextRound || this.#ending.isEnding) this.#ending.beginRound();
    // What waits is handed on, or stays in the journal.
    if (this.#ending.isEnding) return false;
    if (isNextRound) {
      this.#nextRoundMs = nowMs + KEPT_STEP_MS;
      this.#due = this.#kept.openWorlds();
    }
    for (let tried = 0; tried < KEPT_WORLDS_PER_STEP_MAX && facts?.isLong !== true; tried++) {
      const world = this.#due.pop();
      if (world === undefined) break;
      if (world.count > 0) this.#try(world);
    }
    return this.#eviction.step() || this.#due.length > 0;
  }

  /** Keeps a sprite of the default world in a mailbox of its own. Returns false when there is no room, whatever is evicted. */
  keepAlone(place: number, passage: Readonly<Passage>): boolean {
    const { desktops, mailboxes, torus, defaultWorld, randomize, facts } = this.#tables;
    if (desktops.isFull && this.#eviction.evictOldest() === 0) return false;
    const words = new Uint32Array(4);
    randomize(words);
    const slot = desktops.add('', words);
    desktops.end(slot);
    if (!mailboxes.carry(slot, passage)) {
      const bytes = eventBlockBytes(passage.end - passage.start);
      if (this.#eviction.makeRoom(bytes)) mailboxes.carry(slot, passage);
    }
    if (mailboxes.count(slot) === 0) {
      this.#eviction.release(slot);
      return false;
    }
    torus.keep(slot, defaultWorld, place);
    this.#kept.add(defaultWorld, slot, mailboxes.usedBytes(slot));
    if (facts) this.#tables.writeState(slot, facts);
    return true;
  }
}

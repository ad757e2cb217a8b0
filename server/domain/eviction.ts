/**
 * Eviction: makes room for worlds, desktops and sprites, by giving up kept mailboxes, the oldest first.
 *
 * Kept sprites, which may never be fetched, must not block the desktops that are here. What is evicted counts as abandoned.
 * Writer: how much of the slab may still be looked at. It is also the one that removes kept mailboxes and worlds.
 * Cost: EVICTION_LOOKS_MAX blocks are looked at between two steps of the clock, each at most twice.
 */

import type { News } from './news.ts';
import { type BlockRef, pageOf } from './slots/slab.ts';
import { nameBlockBytes } from './state/desktops.ts';
import type { KeptMailboxes } from './state/kept.ts';
import {
  EVICTED_PER_STEP_MAX,
  EVICTED_SPRITES_PER_STEP_MAX,
  EVICTION_LOOKS_MAX,
  KEPT_SHARE_MAX,
} from './state/limits.ts';
import type { World } from './state/torus.ts';
import type { Tables } from './tables.ts';

export class Eviction {
  readonly #tables: Tables;
  readonly #kept: KeptMailboxes;
  readonly #news: News;
  /** While makeRoom() looks: the blocks seen in each page of the slab. */
  readonly #blocksOfPage: Uint32Array;
  /** Blocks that may still be looked at before the next step of the clock. */
  #looksLeft = EVICTION_LOOKS_MAX;

  constructor(tables: Tables, kept: KeptMailboxes, news: News) {
    this.#tables = tables;
    this.#kept = kept;
    this.#news = news;
    this.#blocksOfPage = new Uint32Array(tables.slab.pagesMax);
  }

  /** The clock has moved. */
  nextStep(): void {
    this.#looksLeft = EVICTION_LOOKS_MAX;
  }

  /** Evicts kept mailboxes until they are within their share of the slab. Returns whether more are to be evicted. */
  step(): boolean {
    let sprites = EVICTED_SPRITES_PER_STEP_MAX;
    for (let evicted = 0; this.#kept.bytes > KEPT_SHARE_MAX * this.#tables.slab.bytesMax; evicted++) {
      if (evicted === EVICTED_PER_STEP_MAX || sprites <= 0) return true;
      sprites -= this.evictOldest();
    }
    return false;
  }

  /** Makes room for a private world: evicts the one that has been empty longest. Returns whether it is gone. */
  evictWorld(): boolean {
    const world = this.#kept.longestEmpty(this.#tables.defaultWorld);
    if (world === undefined) return false;
    for (let evicted = 0; evicted < EVICTED_PER_STEP_MAX; evicted++) {
      const slot = this.#kept.of(world)?.[0];
      if (slot === undefined) break;
      this.#evict(world, slot);
    }
    return !this.#kept.has(world);
  }

  /** Makes room for a desktop, by what it lacks: a slot, or memory for its name. Keeps the sprites of the world it joins. */
  makeRoomToJoin(name: string, world: World): boolean {
    if (this.#tables.desktops.isFull) return this.evictOldest(world) > 0;
    return this.makeRoom(nameBlockBytes(name), world);
  }

  /**
   * Makes room in the slab for a block of `bytes`, if an eviction can. The oldest sprites go: a mailbox with such a block, or
   * all those with blocks in a page in which nothing else is in use, so that the page can be used for blocks of this size.
   *
   * Shape   a page with the blocks of more than EVICTED_PER_STEP_MAX mailboxes takes several calls.
   */
  makeRoom(bytes: number, except?: World): boolean {
    if (this.#looksLeft === 0) return false;
    const { mailboxes, slab } = this.#tables;
    const blocksOf = this.#blocksOfPage.fill(0);
    let page = -1;
    let blocksInPage = 0;
    let hasSize = false;
    const look = (block: BlockRef, size: number) => {
      this.#looksLeft--;
      hasSize = size === bytes;
      if (slab.isPageOf(block, size, ++blocksOf[pageOf(block)])) {
        page = pageOf(block);
        blocksInPage = blocksOf[page];
      }
      return !hasSize && page < 0 && this.#looksLeft > 0;
    };
    for (const [world, slot] of this.#kept.inOrder(except)) {
      if (mailboxes.visitBlocks(slot, look)) continue;
      if (!hasSize) break;
      this.#evict(world, slot);
      return true;
    }
    if (page < 0) return false;
    for (const [world, slot] of this.#mailboxesIn(page, blocksInPage, except)) this.#evict(world, slot);
    return true;
  }

  /** The kept mailboxes with `blocks` blocks in a page, the oldest first, EVICTED_PER_STEP_MAX at most. */
  #mailboxesIn(page: number, blocks: number, except: World | undefined): [World, number][] {
    const { mailboxes } = this.#tables;
    const inPage: [World, number][] = [];
    let left = blocks;
    const count = (block: BlockRef) => {
      if (pageOf(block) === page) left--;
      return true;
    };
    for (const [world, slot] of this.#kept.inOrder(except)) {
      const before = left;
      mailboxes.visitBlocks(slot, count);
      if (left < before) inPage.push([world, slot]);
      if (left === 0 || inPage.length === EVICTED_PER_STEP_MAX) break;
    }
    return inPage;
  }

  /** Evicts the oldest kept mailbox, but none of `except`; returns how many sprites it had. */
  evictOldest(except?: World): number {
    for (const [world, slot] of this.#kept.inOrder(except)) return this.#evict(world, slot);
    return 0;
  }

  #evict(world: World, slot: number): number {
    const { mailboxes, counters } = this.#tables;
    const sprites = mailboxes.count(slot);
    counters.abandoned += sprites;
    this.drop(world, slot);
    this.removeIfEmpty(world);
    return sprites;
  }

  /** Removes a kept mailbox with the sprites that it still has. */
  drop(world: World, slot: number): void {
    this.#kept.remove(world, slot, this.#tables.mailboxes.usedBytes(slot));
    this.release(slot);
  }

  /** Frees the slot of a desktop that has ended, and what its mailbox still has. */
  release(slot: number): void {
    const { mailboxes, desktops, facts, peerParts } = this.#tables;
    peerParts.handOver?.forget(slot);
    mailboxes.clear(slot);
    desktops.release(slot);
    facts?.free(slot, desktops.owners(slot));
  }

  /** Removes a world that has neither desktops nor sprites, unless it is the default world. */
  removeIfEmpty(world: World): void {
    if (world.count > 0 || this.#kept.has(world)) return;
    const { torus, defaultWorld } = this.#tables;
    this.#news.worldRemoved(world);
    this.#kept.setMoved(world, false);
    if (world !== defaultWorld) torus.remove(world);
  }
}

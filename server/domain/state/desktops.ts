/**
 * Desktops: one row per slot, with its owner, its name, and which of its crossings were accepted.
 *
 * Slot and generation identify an owner. A generation tells nothing about another one (wire/generations.ts): an old id of this
 * run is known to be old, an id of an earlier run is unknown. Tokens and invitations are 128 random bits each.
 * Invariant: a slot is live, or free, or kept (its owner has ended but its mailbox still holds sprites).
 * Cost: every call O(1) without allocation; 46 bytes for a slot that was used, 29 more once its owner throws; the name is
 * in the slab, 16 bytes for twelve letters.
 */
import { friendlyName } from '../../wire/friendly_names.ts';
import { Generations } from '../../wire/generations.ts';
import { type Identity, writeId } from '../../wire/identity.ts';
import { RESIDENT_SUFFIX } from '../../wire/resident.ts';
import { RateLimits } from '../slots/rate_limits.ts';
import { type BlockRef, blockBytes, NO_BLOCK, type Slab } from '../slots/slab.ts';
import { AcceptedNumbers, type Recency } from './accepted_numbers.ts';
import type { EndedDesktop } from './ended.ts';
import type { DesktopRow } from './facts.ts';
import { CROSSINGS_BURST_MAX, CROSSINGS_PER_SECOND_MAX } from './limits.ts';
import type { World } from './torus.ts';

/** The state of the desktop that an id and token name: it is here, it was here, or it never was. */
export type DesktopState = 'live' | 'ended' | 'unknown';

const DESKTOP_KEY = Buffer.from('{"desktop":"');
const NAME_KEY = Buffer.from('","name":');
const QUOTE = 0x22;
const DASH = 0x2d;
const CLOSE = 0x7d;

/** A name's block: the length (u16), then the name as JSON. So names of up to twelve letters fit the smallest block. */
const NAME_HEAD_BYTES = 2;

const NO_NAME = Buffer.alloc(0);

/** What a desktop shows of itself. */
const SHOWS_STAGE = 1;
const SHOWS_NAME = 2;

/** In place of a slot: a desktop of another relay. */
export const NO_SLOT = 0xffffffff;

export class Desktops {
  readonly max: number;
  readonly #slab: Slab;
  readonly #generations: Generations;
  /** How many owners each slot has had. */
  readonly #owners: Uint32Array;
  /** The generation of the newest owner, computed once; 0 for a slot that was never used. */
  readonly #generation: Uint32Array;
  readonly #live: Uint8Array;
  readonly #token: Uint32Array;
  readonly #invitation: Uint32Array;
  readonly #name: Uint32Array;
  /** SHOWS_STAGE, SHOWS_NAME. */
  readonly #shown: Uint8Array;
  /** Released slots, a stack; slots from #untouched on were never used. */
  readonly #free: Uint32Array;
  #freeCount = 0;
  #untouched = 0;
  readonly #crossings: AcceptedNumbers;
  /** The receiver of the crossing accepted last: slot and generation. */
  readonly #receiver: Uint32Array;
  readonly #throws: RateLimits;
  count = 0;
  /** How many of them are residents. */
  residents = 0;

  /** `generationKey`: GENERATION_KEY_BYTES random bytes. */
  constructor(slots: number, slab: Slab, generationKey: Uint8Array) {
    this.max = slots;
    this.#slab = slab;
    this.#generations = new Generations(generationKey);
    this.#owners = new Uint32Array(slots);
    this.#generation = new Uint32Array(slots);
    this.#live = new Uint8Array(slots);
    this.#token = new Uint32Array(slots * 4);
    this.#invitation = new Uint32Array(slots * 4);
    this.#name = new Uint32Array(slots);
    this.#shown = new Uint8Array(slots);
    this.#free = new Uint32Array(slots);
    this.#crossings = new AcceptedNumbers(slots);
    this.#receiver = new Uint32Array(slots * 2);
    this.#throws = new RateLimits(slots, CROSSINGS_PER_SECOND_MAX, CROSSINGS_BURST_MAX);
  }

  /** Whether all slots are in use. */
  get isFull(): boolean {
    return this.#freeCount === 0 && this.#untouched === this.max;
  }

  /**
   * Adds a desktop and returns its slot; setInvitation() follows. One with an empty name gets a friendly one from its id.
   *
   * Shape   -1 when all slots are in use, or the slab has no room for the name.
   */
  add(name: string, token: Uint32Array): number {
    if (this.isFull) return -1;
    let block: BlockRef = NO_BLOCK;
    if (name !== '') {
      block = this.#addName(Buffer.from(JSON.stringify(name)));
      if (block === NO_BLOCK) return -1;
    }
    const slot = this.#freeCount > 0 ? this.#free[--this.#freeCount] : this.#untouched++;
    this.#generation[slot] = this.#generations.of(slot, ++this.#owners[slot]);
    this.#live[slot] = 1;
    this.#token.set(token, slot * 4);
    this.#name[slot] = block;
    this.count++;
    return slot;
  }

  /** The owner of a slot, as it is remembered after end(). Owner: the token is a view of the table. */
  ending(slot: number, acknowledged: number): EndedDesktop {
    return {
      slot,
      generation: this.generation(slot),
      acknowledged,
      token: this.#token.subarray(slot * 4, slot * 4 + 4),
      newestCrossing: this.#crossings.newest(slot),
      acceptedBits: this.#crossings.bits(slot),
    };
  }

  /** Ends the owner of a slot: from now on its id is old. The slot is kept until release(). */
  end(slot: number): void {
    this.#live[slot] = 0;
    this.count--;
    const block = this.#name[slot];
    if (block !== NO_BLOCK) this.#freeName(block);
    this.#name[slot] = NO_BLOCK;
    this.#setShown(slot, 0);
    this.#crossings.clear(slot);
    this.#throws.clear(slot);
  }

  /** Frees the slot of an ended owner. */
  release(slot: number): void {
    this.#free[this.#freeCount++] = slot;
  }

  /** Slots from this one on were never used. */
  get untouched(): number {
    return this.#untouched;
  }

  /** How many owners a slot has had. */
  owners(slot: number): number {
    return this.#owners[slot];
  }

  /** The row of a live desktop. Owner: token, invitation and name are views of the tables. */
  row(slot: number, { name: world, width, pictures, stage: worldStage }: World, place: number): DesktopRow {
    const block = this.#name[slot];
    let name: Buffer = NO_NAME;
    if (block !== NO_BLOCK) {
      const from = this.#slab.offset(block) + NAME_HEAD_BYTES;
      name = this.#slab.page(block).subarray(from, from + this.#nameLength(block));
    }
    return {
      slot,
      owners: this.#owners[slot],
      generation: this.#generation[slot],
      name,
      world,
      width,
      pictures,
      place,
      stage: this.shows(slot),
      worldStage,
      named: this.isNamed(slot),
      token: this.#token.subarray(slot * 4, slot * 4 + 4),
      invitation: this.#invitation.subarray(slot * 4, slot * 4 + 4),
      newestCrossing: this.#crossings.newest(slot),
      acceptedBits: this.#crossings.bits(slot),
      lastAcceptedBehind: this.#crossings.lastBehind(slot),
      receiver: this.#receiver[slot * 2],
      receiverGeneration: this.#receiver[slot * 2 + 1],
    };
  }

  /** Recovery: sets the row of a live desktop. Returns false when the slab has no room for its name. */
  restore(row: DesktopRow): boolean {
    const { slot } = row;
    if (this.isLive(slot)) this.end(slot);
    if (row.name.length > 0) {
      const block = this.#addName(row.name);
      if (block === NO_BLOCK) return false;
      this.#name[slot] = block;
    }
    this.#owners[slot] = row.owners;
    this.#generation[slot] = row.generation;
    this.setShows(slot, row.stage);
    this.setNamed(slot, row.named);
    this.#live[slot] = 1;
    this.#token.set(row.token, slot * 4);
    this.#invitation.set(row.invitation, slot * 4);
    this.#crossings.restore(slot, row.newestCrossing, row.acceptedBits, row.lastAcceptedBehind);
    this.#receiver[slot * 2] = row.receiver;
    this.#receiver[slot * 2 + 1] = row.receiverGeneration;
    this.count++;
    return true;
  }

  /** Recovery: the slot has no owner any more. */
  restoreEnded(slot: number, owners: number): void {
    if (this.isLive(slot)) this.end(slot);
    this.#owners[slot] = owners;
  }

  /** Recovery: a crossing was accepted; its receiver may be unknown here. */
  restoreAccepted(slot: number, crossing: number, receiver: number, receiverGeneration: number): void {
    this.recordAccepted(slot, crossing, receiver);
    this.#receiver[slot * 2 + 1] = receiverGeneration;
  }

  /** Recovery: the slots below `untouched` were used, and `free` of them have no owner and no sprites. */
  restoreFree(untouched: number, free: readonly number[]): void {
    this.#untouched = untouched;
    this.#free.set(free);
    this.#freeCount = free.length;
  }

  /** Whether the desktop of a slot shows its stage. */
  shows(slot: number): boolean {
    return (this.#shown[slot] & SHOWS_STAGE) !== 0;
  }

  setShows(slot: number, isShown: boolean): void {
    this.#setShown(slot, (this.#shown[slot] & ~SHOWS_STAGE) | (isShown ? SHOWS_STAGE : 0));
  }

  /** Whether public pages may show the name of a slot's desktop. */
  isNamed(slot: number): boolean {
    return (this.#shown[slot] & SHOWS_NAME) !== 0;
  }

  setNamed(slot: number, isNamed: boolean): void {
    this.#setShown(slot, (this.#shown[slot] & ~SHOWS_NAME) | (isNamed ? SHOWS_NAME : 0));
  }

  /** Writes nothing, and so touches no memory, when it is so already. */
  #setShown(slot: number, shown: number): void {
    if (this.#shown[slot] !== shown) this.#shown[slot] = shown;
  }

  isLive(slot: number): boolean {
    return this.#live[slot] === 1;
  }

  generation(slot: number): number {
    return this.#generation[slot];
  }

  id(slot: number): string {
    return writeId(slot, this.generation(slot));
  }

  /** Checks an id and its token. Compares all bits of the token, in constant time. */
  authenticate(identity: Identity): DesktopState {
    const { slot, generation, token } = identity;
    if (slot >= this.max || this.#owners[slot] === 0) return 'unknown';
    if (generation !== this.#generation[slot])
      return this.#generations.ownerOf(slot, generation) <= this.#owners[slot] ? 'ended' : 'unknown';
    if (this.#live[slot] === 0) return 'ended';
    return isEqualAt(this.#token, slot * 4, token) ? 'live' : 'unknown';
  }

  /** Sets the four words of the invitation of a slot's owner; an earlier one is not valid any more. */
  setInvitation(slot: number, secret: Uint32Array): void {
    this.#invitation.set(secret, slot * 4);
  }

  /** Whether this is the invitation of a live desktop. Compares all bits of the secret, in constant time. */
  isInvitation(slot: number, secret: ArrayLike<number>): boolean {
    return slot < this.max && this.isLive(slot) && isEqualAt(this.#invitation, slot * 4, secret);
  }

  /** Writes `{"desktop":"…","name":"…"}` at out[at]; returns where it ends. */
  writeReference(slot: number, out: Buffer, at: number): number {
    const id = put(out, at, DESKTOP_KEY);
    const idEnd = writeHex(out, writeHex(out, id, slot, DASH), this.generation(slot), QUOTE) - 1;
    let end = put(out, idEnd, NAME_KEY);
    const block = this.#name[slot];
    if (block === NO_BLOCK) {
      // Its letters are ASCII, and none needs an escape.
      const name = this.#friendlyName(slot);
      out[end++] = QUOTE;
      for (let index = 0; index < name.length; index++) out[end++] = name.charCodeAt(index);
      out[end++] = QUOTE;
    } else {
      const page = this.#slab.page(block);
      const from = this.#slab.offset(block) + NAME_HEAD_BYTES;
      const stop = from + this.#nameLength(block);
      for (let index = from; index < stop; index++) out[end++] = page[index];
    }
    out[end] = CLOSE;
    return end + 1;
  }

  name(slot: number): string {
    const block = this.#name[slot];
    if (block === NO_BLOCK) return this.#friendlyName(slot);
    const from = this.#slab.offset(block) + NAME_HEAD_BYTES;
    return JSON.parse(this.#slab.page(block).toString('utf8', from, from + this.#nameLength(block)));
  }

  /** The name of a desktop whose owner chose none. It takes no memory, and a restart does not change it. */
  #friendlyName(slot: number): string {
    return friendlyName(slot ^ this.generation(slot));
  }

  /** The block of a name, which is given as JSON; NO_BLOCK when the slab is full. */
  #addName(quoted: Buffer): BlockRef {
    const block = this.#slab.allocate(NAME_HEAD_BYTES + quoted.length);
    if (block === NO_BLOCK) return NO_BLOCK;
    const page = this.#slab.page(block);
    const at = this.#slab.offset(block);
    page.writeUInt16LE(quoted.length, at);
    quoted.copy(page, at + NAME_HEAD_BYTES);
    if (isResident(quoted)) this.residents++;
    return block;
  }

  #freeName(block: BlockRef): void {
    const from = this.#slab.offset(block) + NAME_HEAD_BYTES;
    const length = this.#nameLength(block);
    if (isResident(this.#slab.page(block).subarray(from, from + length))) this.residents--;
    this.#slab.free(block, NAME_HEAD_BYTES + length);
  }

  #nameLength(block: BlockRef): number {
    return this.#slab.page(block).readUInt16LE(this.#slab.offset(block));
  }

  /** The highest number of an accepted crossing of a slot's owner: how often it has thrown, if it counts by one. */
  newestCrossing(slot: number): number {
    return this.#crossings.newest(slot);
  }

  recencyOf(slot: number, crossing: number): Recency {
    return this.#crossings.recencyOf(slot, crossing);
  }

  /** Records that a crossing was accepted, and its receiver. */
  recordAccepted(slot: number, crossing: number, receiver: number): void {
    this.#crossings.record(slot, crossing);
    this.#receiver[slot * 2] = receiver;
    this.#receiver[slot * 2 + 1] = this.generation(receiver);
  }

  /** Records that another relay accepted a crossing, or that this one has its sprite in custody. Once is enough. */
  recordPassed(slot: number, crossing: number): void {
    if (this.recencyOf(slot, crossing) !== 'new') return;
    this.#crossings.record(slot, crossing);
    this.#receiver[slot * 2] = NO_SLOT;
    this.#receiver[slot * 2 + 1] = 0;
  }

  /** The receiver of a crossing: a live slot, or -1 when it is no longer known. */
  receiverOf(slot: number, crossing: number): number {
    const receiver = this.#receiver[slot * 2];
    const known = crossing === this.#crossings.last(slot) && this.isLive(receiver);
    return known && this.generation(receiver) === this.#receiver[slot * 2 + 1] ? receiver : -1;
  }

  /** Counts one throw against the sender's rate limit. Returns false, and counts nothing, when it throws too fast. */
  allowThrow(slot: number, nowMs: number): boolean {
    return this.#throws.countIfAllowed(slot, nowMs);
  }
}

const RESIDENT_END = Buffer.from(`${RESIDENT_SUFFIX}"`);

/** Whether a name, given as JSON, is that of a resident. */
function isResident(quoted: Buffer): boolean {
  const at = quoted.length - RESIDENT_END.length;
  return at >= 0 && quoted.compare(RESIDENT_END, 0, RESIDENT_END.length, at) === 0;
}

/** The size in bytes of the slab's block for a name. */
export function nameBlockBytes(name: string): number {
  return blockBytes(NAME_HEAD_BYTES + Buffer.byteLength(JSON.stringify(name)));
}

/** Whether the four words at own[at] are `given`. Takes the same time whatever differs. */
function isEqualAt(own: Uint32Array, at: number, given: ArrayLike<number>): boolean {
  const differing =
    (own[at] ^ given[0]) | (own[at + 1] ^ given[1]) | (own[at + 2] ^ given[2]) | (own[at + 3] ^ given[3]);
  return differing === 0;
}

/** Copies `bytes` to out[at]; returns where they end. For a dozen bytes a loop is faster than a call out of JavaScript. */
function put(out: Uint8Array, at: number, bytes: Uint8Array): number {
  for (let index = 0; index < bytes.length; index++) out[at + index] = bytes[index];
  return at + bytes.length;
}

/** Writes a whole number in lowercase hex, then the byte `after`; returns where that ends. */
function writeHex(out: Uint8Array, at: number, value: number, after: number): number {
  let shift = 28 - (Math.clz32(value) & ~3);
  if (shift < 0) shift = 0;
  let end = at;
  for (; shift >= 0; shift -= 4) {
    const nibble = (value >>> shift) & 15;
    out[end++] = nibble < 10 ? 0x30 + nibble : 0x57 + nibble;
  }
  out[end] = after;
  return end + 1;
}

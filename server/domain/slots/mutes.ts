/**
 * Mutes: which desktops each desktop does not want sprites from.
 *
 * Most desktops mute nobody, so only those that do have an entry. A mute names slot and generation: it ends when the muted
 * desktop ends, because its next owner has another generation.
 * Cost: a look-up is one Map look-up and at most MUTES_MAX comparisons; the relay makes it only for a receiver with a flag.
 */
import { MUTES_MAX } from '../../wire/rules.ts';

/** Mutes of all desktops: 4 MB. Above this, no desktop can mute another one until some end. */
export const MUTES_TOTAL_MAX = 65_536;

/** How many desktops that mute the thrower a sprite passes before it bounces: each costs a look-up. */
export const MUTE_HOPS_MAX = 8;

const NONE: readonly number[] = [];

export class Mutes {
  /** Pairs of slot and generation, by the slot that mutes them. */
  readonly #muted = new Map<number, number[]>();
  readonly #totalMax: number;
  #total = 0;

  constructor(totalMax = MUTES_TOTAL_MAX) {
    this.#totalMax = totalMax;
  }

  get total(): number {
    return this.#total;
  }

  /** Adds a mute; a repeat changes nothing. Returns 'full' when `slot` mutes MUTES_MAX others already. */
  add(slot: number, muted: number, generation: number): 'added' | 'full' | 'relay-full' {
    const pairs = this.#muted.get(slot) ?? [];
    if (indexOf(pairs, muted, generation) >= 0) return 'added';
    if (pairs.length >= 2 * MUTES_MAX) return 'full';
    if (this.#total >= this.#totalMax) return 'relay-full';
    pairs.push(muted, generation);
    this.#total++;
    this.#muted.set(slot, pairs);
    return 'added';
  }

  /** Removes a mute, if there is one. Returns whether `slot` still mutes others. */
  remove(slot: number, muted: number, generation: number): boolean {
    const pairs = this.#muted.get(slot);
    if (pairs === undefined) return false;
    const at = indexOf(pairs, muted, generation);
    if (at >= 0) {
      pairs.splice(at, 2);
      this.#total--;
    }
    if (pairs.length === 0) this.#muted.delete(slot);
    return pairs.length > 0;
  }

  /** The desktops that `slot` mutes: pairs of slot and generation. */
  of(slot: number): readonly number[] {
    return this.#muted.get(slot) ?? NONE;
  }

  /** Recovery: sets the mutes of a slot. */
  restore(slot: number, pairs: readonly number[]): void {
    this.clear(slot);
    if (pairs.length === 0) return;
    this.#muted.set(slot, [...pairs]);
    this.#total += pairs.length / 2;
  }

  has(slot: number, muted: number, generation: number): boolean {
    const pairs = this.#muted.get(slot);
    return pairs !== undefined && indexOf(pairs, muted, generation) >= 0;
  }

  /** Removes all mutes of a slot, whose owner has ended. */
  clear(slot: number): void {
    this.#total -= (this.#muted.get(slot)?.length ?? 0) / 2;
    this.#muted.delete(slot);
  }
}

function indexOf(pairs: readonly number[], slot: number, generation: number): number {
  for (let at = 0; at < pairs.length; at += 2) if (pairs[at] === slot && pairs[at + 1] === generation) return at;
  return -1;
}

/**
 * Swap requests: which desktops ask which others to change places, and with whom each has changed places since its last answer.
 *
 * A desktop has at most one open question; a newer one replaces it. One that is asked by several gets one question after the other.
 * Invariant: questions are in the order in which they end, because all of them are open for equally long.
 * Cost: O(SWAPS_OPEN_MAX) to look for who asks a desktop, otherwise O(1); an object for each open question.
 */
import { SWAP_LEASE_MS } from '../../wire/rules.ts';

/** Open questions of the whole relay: looking through all of them takes some 5 µs. */
export const SWAPS_OPEN_MAX = 1024;

export interface SwapQuestion {
  readonly asker: number;
  readonly asked: number;
  /** When it is over, in ms of the relay's clock. */
  readonly endMs: number;
}

export class SwapRequests {
  /** By the slot that asks. */
  readonly #open = new Map<number, SwapQuestion>();
  /** References of desktops, by the slot that has changed places with them and has not been told so. */
  readonly #partners = new Map<number, Buffer>();

  get isFull(): boolean {
    return this.#open.size >= SWAPS_OPEN_MAX;
  }

  ask(asker: number, asked: number, nowMs: number): void {
    this.#open.delete(asker);
    this.#open.set(asker, { asker, asked, endMs: nowMs + SWAP_LEASE_MS });
  }

  questionFrom(asker: number): SwapQuestion | undefined {
    return this.#open.get(asker);
  }

  /** The question that a desktop has to answer now, if any: the oldest. */
  questionOf(asked: number): SwapQuestion | undefined {
    for (const question of this.#open.values()) if (question.asked === asked) return question;
    return undefined;
  }

  /** Removes the question of a desktop, and returns it. */
  close(asker: number): SwapQuestion | undefined {
    const question = this.#open.get(asker);
    this.#open.delete(asker);
    return question;
  }

  /** Removes a question that is over, and returns it. */
  popEnded(nowMs: number): SwapQuestion | undefined {
    for (const { asker, endMs } of this.#open.values()) return endMs <= nowMs ? this.close(asker) : undefined;
    return undefined;
  }

  /** A desktop has changed places with another one, whose reference this is. */
  swapped(slot: number, partner: Buffer): void {
    this.#partners.set(slot, partner);
  }

  popPartner(slot: number): Buffer | undefined {
    const partner = this.#partners.get(slot);
    this.#partners.delete(slot);
    return partner;
  }
}

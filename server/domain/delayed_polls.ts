/**
 * Polls whose answers are delayed: those that a newer poll of the same desktop has replaced, and those that ask for the same sprites
 * again and again.
 *
 * Two obedient clients that share a token replace each other's poll, are answered empty, and poll again at once: without a
 * delay they do so some 26,000 times a second. A desktop may replace a few polls at once, because a client that reconnects
 * does so; after that, each replaced poll waits POLL_DELAY_MS for its answer. A client that does not acknowledge would get
 * the same 32 KB some thousand times a second; a client whose connections break does so a few times.
 * Invariant: a poll is held once, until it is due, its connection is closed, or something answers it earlier.
 * Cost: O(1) for each call; a byte for each slot, and an entry for each held poll, which has an open request of its own.
 */
import { POLL_DELAY_MS, PROMPT_POLLS_MAX, PROMPT_POLLS_WINDOW_MS } from './state/limits.ts';

/** A poll whose answer is delayed: of the desktop of a slot and generation, when, and whether it asks for the same sprites again. */
export interface HeldPoll {
  readonly slot: number;
  readonly generation: number;
  readonly isRepeat: boolean;
  readonly dueMs: number;
}

export class DelayedPolls {
  /** Replacements and repeats of each slot in the current window. */
  readonly #counts: Uint8Array;
  /** By ticket, in the order in which they are due, because all are delayed by the same time. */
  readonly #held = new Map<number, HeldPoll>();
  #windowEndMs = 0;

  constructor(slots: number) {
    this.#counts = new Uint8Array(slots);
  }

  /** Polls that are held. */
  get count(): number {
    return this.#held.size;
  }

  /** Counts a replaced or repeated poll. Returns false when it is to be answered at once; otherwise it is held. */
  hold(ticket: number, slot: number, generation: number, nowMs: number, isRepeat: boolean): boolean {
    if (nowMs >= this.#windowEndMs) {
      this.#windowEndMs = nowMs + PROMPT_POLLS_WINDOW_MS;
      this.#counts.fill(0);
    }
    if (this.#counts[slot] < PROMPT_POLLS_MAX) {
      this.#counts[slot]++;
      return false;
    }
    this.#held.set(ticket, { slot, generation, isRepeat, dueMs: nowMs + POLL_DELAY_MS });
    return true;
  }

  /** Forgets what a slot has replaced and repeated: another desktop has it now. */
  restart(slot: number): void {
    this.#counts[slot] = 0;
  }

  /** Removes a poll; returns false when it is not held. */
  remove(ticket: number): boolean {
    return this.#held.delete(ticket);
  }

  /** Removes every poll for whose ticket `isClosed` returns true. */
  removeAll(isClosed: (ticket: number) => boolean): void {
    for (const ticket of this.#held.keys()) if (isClosed(ticket)) this.#held.delete(ticket);
  }

  /**
   * Removes the polls that are due at `nowMs`, at most `max` of them, and calls `answer` for each.
   *
   * Shape   true when more are due.
   */
  answerDue(nowMs: number, max: number, answer: (ticket: number, poll: HeldPoll) => void): boolean {
    let left = max;
    for (const [ticket, poll] of this.#held) {
      if (poll.dueMs > nowMs) return false;
      if (left-- <= 0) return true;
      this.#held.delete(ticket);
      answer(ticket, poll);
    }
    return false;
  }
}

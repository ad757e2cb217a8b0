/**
 * The watch over one edge of this desktop: asks the relay for the neighbour's stage, renews the lease, and ends it.
 *
 * Invariant: at most one request is unanswered, and at most one is sent in ASK_GAP_MS, however fast a person changes edges.
 */

import type { ProblemCode } from '../../wire/problem.ts';
import { type Edge, PEEKS_PER_LEASE, PEEKS_PER_SECOND_MAX } from '../../wire/rules.ts';
import type { PeekVerdict, Problem } from './transport.ts';

export const ASK_GAP_MS = 1000 / PEEKS_PER_SECOND_MAX; // ms between two requests, at least
export const RETRY_MS = 1_000; // ms until a request that was lost, or came too fast, is sent again
export const REFUSED_MS = 5_000; // ms until an edge that shows nothing is tried again

/** Problem codes that pass by themselves. The watch goes on after them. */
const PASSING: ReadonlySet<string> = new Set<ProblemCode>(['too-fast', 'draining', 'relay-busy']);

export interface PeekHandlers {
  now(): number;
  /** Asks the relay to show what is beyond this edge; null ends it. */
  ask(edge: Edge | null): Promise<PeekVerdict>;
  /** The relay does not show what is beyond this edge. */
  refused(edge: Edge, problem: Problem): void;
}

export class Peek {
  /** The edge that the person looks through. */
  wanted: Edge | null = null;
  /** The relay is an older one that does not know peeks. */
  unsupported = false;
  #asked: Edge | null = null;
  #renewMs = 0;
  #notBeforeMs = 0;
  #isBusy = false;
  readonly #handlers: PeekHandlers;

  constructor(handlers: PeekHandlers) {
    this.#handlers = handlers;
  }

  look(edge: Edge | null): void {
    this.wanted = this.unsupported ? null : edge;
    this.tick();
  }

  /** Asks the relay if that is due. Call it several times a second. */
  tick(): void {
    const nowMs = this.#handlers.now();
    if (this.#isBusy || nowMs < this.#notBeforeMs) return;
    const isKept = this.wanted === this.#asked && (this.wanted === null || nowMs < this.#renewMs);
    if (!isKept) void this.#ask(this.wanted, nowMs);
  }

  /** Asks again soon, because the neighbours have changed or the watch has ended. */
  askSoon(): void {
    this.#renewMs = Math.min(this.#renewMs, this.#handlers.now() + RETRY_MS);
  }

  /** This desktop has another seat, so the relay has forgotten what was asked before. */
  restart(): void {
    this.#asked = null;
  }

  async #ask(edge: Edge | null, nowMs: number): Promise<void> {
    this.#isBusy = true;
    this.#asked = edge;
    this.#notBeforeMs = nowMs + ASK_GAP_MS;
    const verdict = await this.#handlers.ask(edge);
    this.#isBusy = false;
    const answeredMs = this.#handlers.now();
    if (verdict !== 'unknown' && 'leaseMs' in verdict) {
      this.#renewMs = answeredMs + verdict.leaseMs / PEEKS_PER_LEASE;
      return;
    }
    const code = verdict === 'unknown' ? 'unknown' : verdict.refused.code;
    this.#renewMs = answeredMs + (code === 'stage-hidden' || code === 'no-neighbour' ? REFUSED_MS : RETRY_MS);
    if (verdict === 'unknown' || PASSING.has(code)) return;
    if (code === 'not-found') {
      this.unsupported = true;
      this.wanted = null;
      this.#asked = null;
    } else if (edge !== null) {
      this.#handlers.refused(edge, verdict.refused);
    }
  }
}

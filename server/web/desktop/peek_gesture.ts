/**
 * The edge that a person wants to look through: one at which the pointer rests for a moment, or the next one, by a key.
 *
 * A function of pointer, keys and time; it uses no DOM and no clock. While a sprite is dragged, there is no such edge.
 */
import { EDGES, type Edge } from '../../wire/rules.ts';
import { distanceTo, type Size } from '../motion/simulation.ts';

export const PEEK_ZONE = 14; // px from an edge within which a resting pointer opens the view
export const PEEK_REST_MS = 500; // ms that the pointer must rest there: one that passes by, or throws, opens nothing
export const PEEK_LINGER_MS = 300; // ms that the view stays open after the pointer has left, so that a tremble does not close it
export const PEEK_DEPTH_MAX = 320; // px that are seen beyond an edge
export const PEEK_SHARE_MAX = 0.4; // of the desktop's width or height: the largest share that shows what is beyond an edge

/** Returns how many px are seen beyond an edge. */
export function peekDepth(edge: Edge, { width, height }: Size): number {
  const side = edge === 'left' || edge === 'right' ? width : height;
  return Math.round(Math.min(PEEK_DEPTH_MAX, PEEK_SHARE_MAX * side));
}

export class PeekGesture {
  /** The edge at which the pointer is, and since when. */
  #at: { edge: Edge; sinceMs: number } | null = null;
  /** The edge that the pointer has opened, and when the pointer left the view; 0 while it is inside. */
  #open: { edge: Edge; leftMs: number } | null = null;
  #byKey: Edge | null = null;

  /** The pointer is here. `busy`: it drags something. */
  pointer(x: number, y: number, size: Size, busy: boolean, nowMs: number): void {
    const edge = busy ? null : edgeAt(x, y, size, PEEK_ZONE);
    if (busy) this.#open = this.#byKey = null;
    if (this.#open !== null) {
      const isInside = distanceTo(this.#open.edge, { x, y }, size) <= peekDepth(this.#open.edge, size);
      this.#open.leftMs = isInside ? 0 : this.#open.leftMs || nowMs;
    }
    if (edge === null) this.#at = null;
    else if (this.#at?.edge !== edge) this.#at = { edge, sinceMs: nowMs };
  }

  /** The pointer has left the page, or the finger the screen. */
  gone(nowMs: number): void {
    this.#at = null;
    if (this.#open !== null) this.#open.leftMs ||= nowMs;
  }

  /** Chooses the next of these edges, and none after the last one. Returns the edge. */
  next(edges: readonly Edge[]): Edge | null {
    this.#open = null;
    this.#byKey = edges[this.#byKey === null ? 0 : edges.indexOf(this.#byKey) + 1] ?? null;
    return this.#byKey;
  }

  stop(): void {
    this.#open = this.#byKey = this.#at = null;
  }

  /** Returns the edge to look through now. */
  edge(nowMs: number): Edge | null {
    const leftMs = this.#open?.leftMs || nowMs;
    if (nowMs - leftMs >= PEEK_LINGER_MS) this.#open = null;
    const rested = this.#at !== null && nowMs - this.#at.sinceMs >= PEEK_REST_MS ? this.#at.edge : null;
    if (rested !== null && rested !== this.#open?.edge) this.#open = { edge: rested, leftMs: 0 };
    return this.#open?.edge ?? this.#byKey;
  }
}

/** Returns the edge that a point is within `zone` of, the nearest one in a corner; null for a point farther inside. */
export function edgeAt(x: number, y: number, size: Size, zone: number): Edge | null {
  let nearest: Edge | null = null;
  for (const edge of EDGES) {
    const px = distanceTo(edge, { x, y }, size);
    if (px <= zone && (nearest === null || px < distanceTo(nearest, { x, y }, size))) nearest = edge;
  }
  return nearest;
}

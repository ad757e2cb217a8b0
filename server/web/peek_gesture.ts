/**
 * How a person says which edge to look through: the pointer rests at it for a moment, or a key names the next one.
 *
 * A function of pointer, keys and time; it uses no DOM and no clock. While a sprite is dragged, nobody looks anywhere.
 */
import { distanceTo, EDGES, type Edge, type Size } from './simulation.ts';

export const PEEK_ZONE = 14; // px from an edge where a resting pointer looks through it
export const PEEK_REST_MS = 500; // ms that the pointer rests there first: one that passes by, or throws, does not look
export const PEEK_LINGER_MS = 300; // ms after the pointer has left, so that a tremble does not close the view
export const PEEK_DEPTH_MAX = 320; // px that are seen beyond an edge
export const PEEK_SHARE_MAX = 0.4; // of the desktop's width or height that are seen at most

/** Returns how many px are seen beyond an edge. */
export function peekDepth(edge: Edge, { width, height }: Size): number {
  const side = edge === 'left' || edge === 'right' ? width : height;
  return Math.round(Math.min(PEEK_DEPTH_MAX, PEEK_SHARE_MAX * side));
}

export class PeekGesture {
  /** The edge at which the pointer is, and since when. */
  #at: { edge: Edge; sinceMs: number } | null = null;
  /** The edge that the pointer has opened, and when it left it; 0 while it is there. */
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

  /** Looks through the next of these edges, after the last one nowhere. Returns the edge. */
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
    if (this.#open !== null && this.#open.leftMs !== 0 && nowMs - this.#open.leftMs >= PEEK_LINGER_MS)
      this.#open = null;
    const rested = this.#at !== null && nowMs - this.#at.sinceMs >= PEEK_REST_MS;
    if (rested && this.#at !== null && this.#open?.edge !== this.#at.edge)
      this.#open = { edge: this.#at.edge, leftMs: 0 };
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

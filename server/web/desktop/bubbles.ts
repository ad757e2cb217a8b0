/**
 * Speech bubbles: which sayings are shown, for how long, and where.
 *
 * A function of the sayings, the time and the boxes it is given; it uses no DOM and no clock. The rules and numbers are those
 * of client-win/BEHAVIOUR.md, Bubbles. Tests play bubbles.vectors.json on this file and on the desktop clients.
 * Units: device-independent pixels; ms of a clock that does not stand still when the simulation does.
 * Cost: placing n ≤ BUBBLES_MAX bubbles beside m obstacles is O(n · (n + m)³), below a tenth of a millisecond.
 */

import type { Edge } from '../../wire/rules.ts';
import { sizeBytes } from '../relay/sayings.ts';
import type { SayingEvent } from '../relay/transport.ts';

export const BUBBLE_MS_MIN = 3_000; // ms that every bubble is shown: time to notice it
export const BUBBLE_MS_PER_BYTE = 60; // ms more for each byte of its text: about 16 letters a second
export const BUBBLES_MAX = 8; // bubbles at once: more than anybody reads at a time
export const BUBBLES_PER_SPEAKER_MAX = 3; // bubbles of one speaker at once, so that one does not displace all others
export const BUBBLE_WIDTH_MAX = 260; // px with padding: about 35 letters in a line
export const BUBBLE_GAP = 8; // px between a bubble and what it belongs to, and between two bubbles
export const SIDEWAYS = 2; // px up or down that count as much as one px sideways, so that bubbles of one sprite are stacked
export const TAIL_INSET = 16; // px between the tail and the corners of its bubble, at least

export interface Bubble {
  readonly saying: SayingEvent;
  readonly untilMs: number;
}

/** A rectangle of the desktop. */
export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** What a bubble belongs to: the box of a sprite, or an edge. `tail`: its speaker sits beyond that edge. */
export type Anchor = { box: Box } | { edge: Edge; tail: boolean };

export interface BubbleToPlace {
  width: number;
  height: number;
  anchor: Anchor;
}

export interface BubblePlace {
  left: number;
  top: number;
  /** The side of the bubble that points at its anchor, and how far along that side, from the left or the top. */
  tail: { side: Edge; at: number } | null;
}

export class Bubbles {
  /** Newest first. */
  shown: readonly Bubble[] = [];

  add(saying: SayingEvent, nowMs: number): void {
    const untilMs = nowMs + BUBBLE_MS_MIN + BUBBLE_MS_PER_BYTE * sizeBytes(saying.text);
    let ofSpeaker = 1;
    const kept = this.shown.filter(
      (other) => other.saying.from.desktop !== saying.from.desktop || ++ofSpeaker <= BUBBLES_PER_SPEAKER_MAX,
    );
    this.shown = [{ saying, untilMs }, ...kept].slice(0, BUBBLES_MAX);
  }

  /** Removes the bubbles whose time is over. */
  expire(nowMs: number): void {
    if (this.shown.some(({ untilMs }) => untilMs <= nowMs)) {
      this.shown = this.shown.filter(({ untilMs }) => untilMs > nowMs);
    }
  }

  /** Removes the bubbles of a desktop that was muted. */
  removeSpeaker(desktop: string): void {
    this.shown = this.shown.filter(({ saying }) => saying.from.desktop !== desktop);
  }
}

/**
 * Places bubbles, given newest first, so that none covers another or an obstacle, each as near to its anchor as it can be.
 *
 * Shape   one place for each bubble; null for a bubble that fits nowhere now.
 */
export function placeBubbles(
  room: Box,
  bubbles: readonly BubbleToPlace[],
  obstacles: readonly Box[],
): (BubblePlace | null)[] {
  const taken = [...obstacles];
  return bubbles.map((bubble) => {
    const place = nearestFree(room, bubble, taken);
    if (place === null) return null;
    const { left, top } = place;
    taken.push({ left, top, right: left + bubble.width, bottom: top + bubble.height });
    return { left, top, tail: tailOf(room, bubble, left, top) };
  });
}

interface Point {
  left: number;
  top: number;
}

/** Returns the free place nearest to the wish. Each coordinate is that of the wish, or BUBBLE_GAP from a box that is taken. */
function nearestFree(room: Box, bubble: BubbleToPlace, taken: readonly Box[]): Point | null {
  const { width, height } = bubble;
  const wish = wishOf(room, bubble);
  const inRoom = (at: number, size: number, from: number, to: number) => at >= from && at + size <= to;
  const lefts = [wish.left];
  const tops = [wish.top];
  for (const box of taken) {
    for (const left of [box.left - BUBBLE_GAP - width, box.right + BUBBLE_GAP]) {
      if (inRoom(left, width, room.left, room.right)) lefts.push(left);
    }
    for (const top of [box.top - BUBBLE_GAP - height, box.bottom + BUBBLE_GAP]) {
      if (inRoom(top, height, room.top, room.bottom)) tops.push(top);
    }
  }
  let best: Point | null = null;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const left of lefts) {
    for (const top of tops) {
      const distance = (SIDEWAYS * (left - wish.left)) ** 2 + (top - wish.top) ** 2;
      if (distance >= bestDistance) continue;
      if (taken.some((box) => isTooNear(box, left, top, width, height))) continue;
      best = { left, top };
      bestDistance = distance;
    }
  }
  return best;
}

function isTooNear(box: Box, left: number, top: number, width: number, height: number): boolean {
  const beside = left >= box.right + BUBBLE_GAP || left + width <= box.left - BUBBLE_GAP;
  return !beside && top < box.bottom + BUBBLE_GAP && top + height > box.top - BUBBLE_GAP;
}

/** Returns where a bubble is when nothing is in its way. */
function wishOf(room: Box, { width, height, anchor }: BubbleToPlace): Point {
  const middle = { left: (room.left + room.right - width) / 2, top: (room.top + room.bottom - height) / 2 };
  let wish = middle;
  if ('box' in anchor) {
    const { box } = anchor;
    const above = box.top - BUBBLE_GAP - height;
    wish = { left: (box.left + box.right - width) / 2, top: above >= room.top ? above : box.bottom + BUBBLE_GAP };
  } else if (anchor.edge === 'left') wish = { ...middle, left: room.left };
  else if (anchor.edge === 'right') wish = { ...middle, left: room.right - width };
  else if (anchor.edge === 'top') wish = { ...middle, top: room.top };
  else wish = { ...middle, top: room.bottom - height };
  return {
    left: Math.max(room.left, Math.min(wish.left, room.right - width)),
    top: Math.max(room.top, Math.min(wish.top, room.bottom - height)),
  };
}

function tailOf(room: Box, { width, height, anchor }: BubbleToPlace, left: number, top: number): BubblePlace['tail'] {
  if ('edge' in anchor) {
    const { edge, tail } = anchor;
    const isThere = {
      left: left === room.left,
      right: left + width === room.right,
      top: top === room.top,
      bottom: top + height === room.bottom,
    };
    const length = edge === 'left' || edge === 'right' ? height : width;
    return tail && isThere[edge] ? { side: edge, at: length / 2 } : null;
  }
  const { box } = anchor;
  const middle = (box.left + box.right) / 2 - left;
  const at = Math.max(TAIL_INSET, Math.min(middle, width - TAIL_INSET));
  if (top + height <= box.top) return { side: 'bottom', at };
  return top >= box.bottom ? { side: 'top', at } : null;
}

/**
 * The sprites of the neighbour that this desktop watches, and where they are between two of its stages.
 *
 * Each sprite moves on with its velocity. When a stage has it elsewhere, it glides there. Only a sprite that is far away jumps.
 * Units: device-independent pixels of this desktop, ms.
 */
import { type Edge, STAGE_SILENCE_MS } from '../../wire/rules.ts';
import type { Facing, Point, Size } from '../motion/simulation.ts';
import type { Neighbour, StageEvent } from '../relay/transport.ts';

export const SILENCE_MS = STAGE_SILENCE_MS; // ms without a stage after which nothing is shown
export const PREDICTED_MS = 2_500; // ms for which a sprite moves on with its velocity: just above the gap between signs of life
export const GLIDE_MS = 120; // ms in which a sprite goes about two thirds of the way to where it should be
export const JUMP_PX = 240; // px: a sprite that is farther from where it should be jumps there

export interface Silhouette {
  readonly id: number;
  readonly file: string;
  readonly animation: string;
  readonly facing: Facing;
  readonly scale: number;
  /** Since when it has this animation. */
  readonly sinceMs: number;
  /** The middle of its feet, in the coordinates of this desktop: beyond its edge. */
  readonly x: number;
  readonly y: number;
}

interface Moving {
  readonly look: Omit<Silhouette, 'x' | 'y'>;
  at: Point;
  velocity: Point;
  atMs: number;
  /** How far from `at` it was drawn when the stage came, at `offMs`. */
  off: Point;
  offMs: number;
}

export class Silhouettes {
  /** Whose sprites these are; null when nothing is shown. */
  from: Neighbour | null = null;
  edge: Edge | null = null;
  #theirs: Size = { width: 1, height: 1 };
  #receivedMs = 0;
  #sprites = new Map<number, Moving>();

  /** Handles a stage. One without a sender ends what is shown through its edge. */
  receive({ edge, from, width, height, ageMs = 0, files, sprites }: StageEvent, nowMs: number): void {
    if (from === undefined || width === undefined || height === undefined) {
      if (edge === this.edge) this.clear();
      return;
    }
    if (edge !== this.edge || from.desktop !== this.from?.desktop) this.clear();
    const former = this.#sprites;
    this.edge = edge;
    this.from = from;
    this.#theirs = { width, height };
    this.#receivedMs = nowMs;
    this.#sprites = new Map();
    for (const { id, file = 0, x, y, vx = 0, vy = 0, animation = 'idle', facing = 'right', scale = 1 } of sprites) {
      const known = former.get(id);
      const sinceMs = known?.look.animation === animation ? known.look.sinceMs : nowMs;
      const moving: Moving = {
        look: { id, file: files[file], animation, facing, scale, sinceMs },
        at: { x, y },
        velocity: { x: vx, y: vy },
        atMs: nowMs - ageMs,
        off: { x: 0, y: 0 },
        offMs: nowMs,
      };
      if (known !== undefined) moving.off = this.#offset(known, moving, nowMs);
      this.#sprites.set(id, moving);
    }
  }

  clear(): void {
    this.from = null;
    this.edge = null;
    this.#sprites = new Map();
  }

  /** Returns where the sprites are now, seen from a desktop of this size. Empty when no stage has come for SILENCE_MS. */
  at(nowMs: number, here: Size): Silhouette[] {
    if (nowMs - this.#receivedMs > SILENCE_MS) this.clear();
    const { edge } = this;
    if (edge === null) return [];
    return [...this.#sprites.values()].map((moving) => ({
      ...moving.look,
      ...seenFrom(edge, this.#drawn(moving, nowMs), this.#theirs, here),
    }));
  }

  files(): string[] {
    return [...this.#sprites.values()].map(({ look }) => look.file);
  }

  #drawn(moving: Moving, nowMs: number): Point {
    const { at, velocity, atMs, off, offMs } = moving;
    const seconds = Math.min(PREDICTED_MS, Math.max(0, nowMs - atMs)) / 1000;
    const left = Math.exp(-(nowMs - offMs) / GLIDE_MS);
    const y = at.y + velocity.y * seconds;
    // A falling sprite stops at the floor, even before a stage says that it has landed.
    const landed = at.y <= this.#theirs.height ? Math.min(y, this.#theirs.height) : y;
    return { x: at.x + velocity.x * seconds + off.x * left, y: landed + off.y * left };
  }

  /** Returns how far a sprite is drawn now from where the new stage has it. */
  #offset(known: Moving, moving: Moving, nowMs: number): Point {
    const [was, is] = [this.#drawn(known, nowMs), this.#drawn(moving, nowMs)];
    const off = { x: was.x - is.x, y: was.y - is.y };
    return Math.hypot(off.x, off.y) > JUMP_PX ? { x: 0, y: 0 } : off;
  }
}

/** Converts a point of the desktop beyond an edge to this one's coordinates. Along the edge it keeps its share of the length. */
export function seenFrom(edge: Edge, { x, y }: Point, theirs: Size, here: Size): Point {
  if (edge === 'left') return { x: x - theirs.width, y: (y / theirs.height) * here.height };
  if (edge === 'right') return { x: here.width + x, y: (y / theirs.height) * here.height };
  if (edge === 'top') return { x: (x / theirs.width) * here.width, y: y - theirs.height };
  return { x: (x / theirs.width) * here.width, y: here.height + y };
}

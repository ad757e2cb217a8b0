/**
 * The last seconds of the stage: where its sprites were, not how that looked. photographs.ts draws them again for a person who wants a picture.
 *
 * What a neighbour shows beyond an edge is no part of it.
 * Cost: twenty times a second a copy of each sprite; at most MOMENTS_BYTES_MAX.
 */
import type { Point, Simulation, Sprite } from '../motion/simulation.ts';
import type { ShownBubble } from './bubble_layer.ts';
import type { Tag } from './canvas.ts';

export const KEPT_MS = 5_000; // ms of the simulation: a throw, and what came back
export const FRAME_MS = 50; // ms of it between two moments: even motion, and whole hundredths of a second, which a GIF counts
export const MOMENTS_BYTES_MAX = 4 * 2 ** 20; // bytes: the fullest desktop has its five seconds; with more on it, they are fewer
export const COPY_BYTES = 384; // bytes of a copy of a sprite, as V8 keeps it; no tag and no bubble takes more

/** What the stage showed at one time. */
export interface Moment {
  readonly simulation: Simulation;
  readonly tags: ReadonlyMap<Sprite, Tag>;
  readonly bubbles: readonly ShownBubble[];
  /** Px of the page for each px of the simulation. */
  readonly zoom: number;
  /** By how many px of the simulation it had slid aside. */
  readonly slide: Point;
}

export class Moments {
  #kept: Moment[] = [];
  #bytes = 0;

  /** Returns what is kept now, oldest first. */
  get all(): readonly Moment[] {
    return [...this.#kept];
  }

  /** Keeps this moment, unless it is too soon after the last one: a paused stage adds none. */
  keep({ simulation, tags, ...page }: Omit<Moment, 'bubbles'>, bubbles: () => readonly ShownBubble[]): void {
    const frame = frameOf(simulation);
    const last = this.#kept.at(-1);
    if (last !== undefined && frameOf(last.simulation) === frame) return;
    const copies = new Map(simulation.sprites.map((sprite) => [sprite, { ...sprite }]));
    const moment = {
      ...page,
      simulation: { ...simulation, sprites: [...copies.values()] },
      tags: new Map([...tags].flatMap(([sprite, tag]) => (copies.has(sprite) ? [[copies.get(sprite)!, tag]] : []))),
      bubbles: bubbles(),
    };
    this.#kept.push(moment);
    this.#bytes += bytesOf(moment);
    while (frame - frameOf(this.#kept[0].simulation) >= KEPT_MS / FRAME_MS || this.#bytes > MOMENTS_BYTES_MAX)
      this.#bytes -= bytesOf(this.#kept.shift()!);
  }
}

const frameOf = ({ nowMs }: Simulation): number => Math.floor(nowMs / FRAME_MS);

const bytesOf = ({ simulation, tags, bubbles }: Moment): number =>
  COPY_BYTES * (1 + simulation.sprites.length + tags.size + bubbles.length);

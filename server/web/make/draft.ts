/**
 * A draft: what a person has decided about a sprite that is being made, apart from its picture.
 *
 * Frames are named by their numbers in the drawing (drawing.ts), whatever their order and whether they are dropped, so an animation
 * keeps its frames when others move. Pure.
 */

import { type Animation, BEHAVIOUR_DEFAULT, type Behaviour, type Description } from '../../wire/files/description.ts';
import { SCALE_MAX, SCALE_MIN } from '../../wire/rules.ts';
import type { Size } from '../motion/simulation.ts';
import type { Cut } from '../pictures/cutout.ts';

export type Hitbox = Description['hitbox'];
export type Animations = Readonly<Record<string, Animation>>;

/** How the frames are made of the picture. */
export interface Picturing {
  /** The size of a frame of a strip; null for a picture that is one frame, and for files that divide themselves. */
  frame: Size | null;
  cut: Cut;
  /** The height in pixels that frames are scaled down to. */
  height: number;
  /** Whether pixels are solid or transparent, in few colours. */
  isPixelArt: boolean;
  colours: number;
  /** Whether a still picture is animated by squash and stretch. */
  isAlive: boolean;
}

export interface Draft {
  picturing: Picturing;
  /** The frames that are kept, in their order; null for all. */
  order: readonly number[] | null;
  /** Null for those that the drawing suggests. Likewise below. */
  animations: Animations | null;
  hitbox: Hitbox | null;
  scale: number | null;
  name: string;
  author: string;
  licence: string;
  behaviour: Behaviour;
}

/** The frames that the picture gives, as far as a draft needs to know them. */
export interface Suggested {
  /** How many there are. */
  count: number;
  frame: Size;
  animations: Animations;
  hitbox: Hitbox;
  scale: number;
}

const LICENCE_DEFAULT = 'CC0-1.0';

const SHOWN_SIDE = 96; // device-independent pixels of a sprite's longer side on screen

export function newDraft(picturing: Picturing, name: string): Draft {
  return {
    picturing,
    name,
    author: '',
    licence: LICENCE_DEFAULT,
    behaviour: BEHAVIOUR_DEFAULT,
    order: null,
    animations: null,
    hitbox: null,
    scale: null,
  };
}

/** Returns the scale at which a frame is about as large on screen as other sprites. Pixels of a small one stay square. */
export function usualScale({ width, height }: Size): number {
  const fitting = SHOWN_SIDE / Math.max(width, height);
  return Math.min(SCALE_MAX, Math.max(SCALE_MIN, fitting >= 1 ? Math.floor(fitting) : fitting));
}

/** The frames that are kept, in their order. */
export function keptFrames({ order }: Draft, { count }: Suggested): readonly number[] {
  const kept = order?.filter((frame) => frame < count);
  return kept === undefined || kept.length === 0 ? Array.from({ length: count }, (_, frame) => frame) : kept;
}

/** Moves a frame one place to the left (−1) or the right (1). At the end it stays where it is. */
export function moveFrame(kept: readonly number[], frame: number, by: -1 | 1): number[] {
  const from = kept.indexOf(frame);
  const to = from + by;
  if (from < 0 || to < 0 || to >= kept.length) return [...kept];
  return kept.with(from, kept[to]).with(to, frame);
}

/** Drops a frame, unless it is the last one. */
export function dropFrame(kept: readonly number[], frame: number): number[] {
  return kept.length === 1 ? [...kept] : kept.filter((one) => one !== frame);
}

/** The animations with the frames that are kept. One without any frame is left out; `idle` shows the first frame then. */
export function keptAnimations(draft: Draft, suggested: Suggested): Animations {
  const kept = keptFrames(draft, suggested);
  const animations: Record<string, Animation> = {};
  for (const [name, { frames, fps }] of Object.entries(draft.animations ?? suggested.animations)) {
    const shown = frames.filter((frame) => kept.includes(frame));
    if (shown.length > 0) animations[name] = { frames: shown, fps };
  }
  animations.idle ??= { frames: [kept[0]], fps: 1 };
  return animations;
}

/** The hitbox, inside of the frame: the picture may have become smaller since it was set. */
export function hitboxOf(draft: Draft, { hitbox, frame }: Suggested): Hitbox {
  const [x, y, width, height] = (draft.hitbox ?? hitbox).map(Math.round);
  const left = clamp(x, 0, frame.width - 1);
  const top = clamp(y, 0, frame.height - 1);
  return [left, top, clamp(width, 1, frame.width - left), clamp(height, 1, frame.height - top)];
}

/** The description of the sprite whose sheet has the kept frames in their order. */
export function describe(draft: Draft, suggested: Suggested) {
  const kept = keptFrames(draft, suggested);
  const place = new Map(kept.map((frame, at) => [frame, at]));
  const animations = Object.entries(keptAnimations(draft, suggested)).map(([name, { frames, fps }]) => [
    name,
    { frames: frames.map((frame) => place.get(frame) as number), fps },
  ]);
  const { name, author, licence, behaviour } = draft;
  return {
    format: 'spr/1',
    name: name.trim(),
    ...(author.trim() === '' ? {} : { author: author.trim() }),
    licence,
    frame: suggested.frame,
    scale: draft.scale ?? suggested.scale,
    hitbox: hitboxOf(draft, suggested),
    animations: Object.fromEntries(animations) as Record<string, Animation>,
    behaviour,
  };
}

export function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}

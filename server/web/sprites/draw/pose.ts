/**
 * The poses that every character is drawn in. All characters share them, so each has all animations and differs only in its
 * drawing.
 *
 * Cost: one picture per character and pose.
 */
import type { Eyes, Mouth } from './face.ts';

export type Legs = 'stand' | 'walk' | 'dangle' | 'tuck' | 'sit' | 'climb' | 'lie';
export type Arms = 'down' | 'swing' | 'up' | 'wave' | 'both' | 'hang' | 'ahead' | 'cheeks' | 'mouth' | 'climb';

export interface Pose {
  animation: string;
  /** The position in the cycle of a repeated movement, 0 … 1. */
  phase: number;
  /** −1 … 1: above 0 is wide and flat, below 0 tall and thin. The area stays about the same. */
  squash: number;
  /** Pixels above the ground, for characters that hop. */
  lift: number;
  /** px to the right for each px of height. */
  lean: number;
  /** Radians to the right. */
  turn: number;
  eyes: Eyes;
  mouth: Mouth;
  legs: Legs;
  arms: Arms;
}

const REST: Omit<Pose, 'animation' | 'phase'> = {
  ...{ squash: 0, lift: 0, lean: 0, turn: 0 },
  ...{ eyes: 'open', mouth: 'smile', legs: 'stand', arms: 'down' },
};

/** Returns the poses of an animation: each has what `all` have, and what is its own. Their phases are evenly spread. */
function cycle(animation: string, all: Partial<Pose>, ...each: Partial<Pose>[]): Pose[] {
  return each.map((one, i) => ({ ...REST, animation, phase: i / each.length, ...all, ...one }));
}

const QUARTER = Math.PI / 2;

export const POSES: readonly Pose[] = [
  ...cycle('idle', {}, {}, { squash: 0.06 }, { squash: 0.1 }, { eyes: 'blink' }),
  ...cycle(
    'walk',
    { legs: 'walk', arms: 'swing', lean: 0.06 },
    { squash: 0.08 },
    { lift: 3, squash: -0.08 },
    { lift: 4, squash: -0.1 },
    { squash: 0.08 },
    { lift: 3, squash: -0.08 },
    { lift: 4, squash: -0.1 },
  ),
  ...cycle(
    'fall',
    { eyes: 'wide', mouth: 'round', legs: 'dangle', arms: 'up', squash: -0.16 },
    {},
    { squash: -0.22, lean: 0.05 },
    { lean: -0.05 },
  ),
  ...cycle(
    'drag',
    { eyes: 'wide', mouth: 'wobbly', legs: 'dangle', arms: 'down', squash: -0.14 },
    { lean: 0.12 },
    {},
    { lean: -0.12 },
    { squash: -0.18 },
  ),
  ...cycle(
    'land',
    { phase: 0 },
    { squash: 0.5, eyes: 'effort', mouth: 'flat', arms: 'both' },
    { squash: 0.26, eyes: 'blink', mouth: 'flat' },
    { squash: -0.14, eyes: 'happy', arms: 'up' },
    { squash: 0.04, eyes: 'happy' },
  ),
  ...cycle(
    'climb',
    { legs: 'climb', arms: 'climb' },
    { squash: -0.04 },
    { squash: -0.12 },
    { squash: -0.04 },
    { squash: -0.12 },
  ),
  ...cycle(
    'sleep',
    { eyes: 'asleep', mouth: 'none', legs: 'lie', arms: 'down' },
    { squash: 0.3 },
    { squash: 0.26 },
    { squash: 0.2 },
    { squash: 0.26 },
  ),
  ...cycle(
    'throw',
    { eyes: 'happy', mouth: 'laugh', legs: 'tuck', arms: 'ahead', squash: -0.2 },
    { turn: 0.7 },
    { turn: 0.77 },
    { turn: 0.63, squash: -0.28 },
  ),
  ...cycle(
    'tumble',
    { eyes: 'dizzy', mouth: 'wobbly', legs: 'tuck', arms: 'both' },
    {},
    { turn: QUARTER },
    { turn: 2 * QUARTER },
    { turn: 3 * QUARTER },
  ),
  ...cycle(
    'squash',
    { phase: 0 },
    { squash: 0.7, eyes: 'effort', mouth: 'flat' },
    { squash: 0.58, eyes: 'effort', mouth: 'wobbly' },
    { squash: 0.34, eyes: 'dizzy', mouth: 'wobbly' },
    { squash: -0.18, eyes: 'dizzy', mouth: 'wobbly' },
    { squash: 0.05, eyes: 'blink' },
  ),
  ...cycle('sit', { legs: 'sit' }, { eyes: 'open' }, { lean: 0.03 }, { eyes: 'blink' }, { lean: -0.03 }),
  ...cycle(
    'hang',
    { eyes: 'wide', mouth: 'flat', legs: 'dangle', arms: 'hang', squash: -0.08 },
    { lean: -0.06 },
    { eyes: 'open' },
    { lean: 0.06 },
    { eyes: 'effort' },
  ),
  ...cycle(
    'pet',
    { eyes: 'happy', mouth: 'smile', arms: 'cheeks' },
    { squash: 0.12, lean: -0.05 },
    { squash: 0.18 },
    { squash: 0.12, lean: 0.05 },
    { squash: 0.18, mouth: 'laugh' },
  ),
  ...cycle(
    'yawn',
    { arms: 'mouth' },
    { eyes: 'blink', mouth: 'flat', arms: 'down' },
    { squash: -0.06, eyes: 'asleep', mouth: 'round' },
    { squash: -0.14, eyes: 'asleep', mouth: 'yawn' },
    { squash: -0.16, eyes: 'effort', mouth: 'yawn' },
    { squash: 0.04, eyes: 'asleep', mouth: 'round' },
    { squash: 0.14, eyes: 'asleep', mouth: 'none', arms: 'down' },
  ),
  ...cycle('look', { eyes: 'look', lean: 0.06 }, { squash: -0.06 }, { squash: -0.02 }),
  ...cycle(
    'wave',
    { eyes: 'happy', mouth: 'laugh', arms: 'wave' },
    { squash: -0.04 },
    { squash: 0.02 },
    { squash: -0.04 },
    { squash: 0.02 },
  ),
  ...cycle(
    'greet',
    { eyes: 'happy', mouth: 'laugh', arms: 'both' },
    { squash: 0.16 },
    { squash: -0.06, lift: 2, arms: 'up' },
    { squash: 0, lift: 3, arms: 'up' },
    { squash: -0.06, lift: 2, arms: 'up' },
  ),
];

/** Animations in which a character is on the ground: its lowest pixel is exactly there, except for `lift`. */
export const GROUNDED: ReadonlySet<string> = new Set([
  ...['idle', 'walk', 'land', 'sleep', 'squash', 'pet', 'yawn', 'look', 'wave', 'greet'],
]);

/** The speed of each animation, and the order of its poses, as indexes into the poses of that animation. */
export const TIMING: Readonly<Record<string, { fps: number; order: readonly number[] }>> = {
  idle: { fps: 5, order: [0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 3, 1, 2, 2, 1] },
  walk: { fps: 10, order: [0, 1, 2, 3, 4, 5] },
  fall: { fps: 9, order: [0, 1, 0, 2] },
  drag: { fps: 7, order: [0, 1, 2, 3] },
  land: { fps: 12, order: [0, 1, 2, 3] },
  climb: { fps: 6, order: [0, 1, 2, 3] },
  sleep: { fps: 2, order: [0, 1, 2, 3] },
  throw: { fps: 10, order: [0, 1, 0, 2] },
  tumble: { fps: 12, order: [0, 1, 2, 3] },
  squash: { fps: 14, order: [0, 0, 1, 2, 3, 4] },
  sit: { fps: 4, order: [0, 1, 0, 3, 0, 1, 0, 3, 2, 3] },
  hang: { fps: 5, order: [0, 1, 2, 1, 0, 3, 2, 3] },
  pet: { fps: 8, order: [0, 1, 2, 3] },
  yawn: { fps: 6, order: [0, 1, 2, 3, 2, 3, 4, 4, 5, 5] },
  look: { fps: 3, order: [0, 0, 1, 0, 1] },
  wave: { fps: 8, order: [0, 1, 2, 3] },
  greet: { fps: 9, order: [0, 1, 2, 3] },
};

/** Returns −1 … 1: a sine with one period for `phase` 0 … 1. */
export const swing = (phase: number): number => Math.sin(phase * 2 * Math.PI);

/**
 * The poses that every character is drawn in. All characters share them, so each has all seven animations and differs only
 * in its drawing.
 *
 * Cost: one picture per character and pose.
 */

export type Eyes = 'open' | 'blink' | 'wide' | 'happy' | 'asleep' | 'dizzy';

export interface Pose {
  animation: string;
  /** −1 … 1: above 0 is wide and flat, below 0 tall and thin. The area stays about the same. */
  squash: number;
  /** Pixels above the ground. */
  lift: number;
  /** The position in the cycle of a repeated movement, 0 … 1. */
  phase: number;
  eyes: Eyes;
}

const pose = (animation: string, squash: number, lift: number, phase: number, eyes: Eyes): Pose => ({
  animation,
  squash,
  lift,
  phase,
  eyes,
});

export const POSES: readonly Pose[] = [
  pose('idle', 0, 0, 0, 'open'),
  pose('idle', 0.07, 0, 0.25, 'open'),
  pose('idle', 0.14, 0, 0.5, 'open'),
  pose('idle', 0, 0, 0, 'blink'),
  pose('walk', 0.16, 0, 0, 'open'),
  pose('walk', -0.1, 1, 1 / 6, 'open'),
  pose('walk', -0.16, 2, 2 / 6, 'open'),
  pose('walk', 0.16, 0, 3 / 6, 'open'),
  pose('walk', -0.1, 1, 4 / 6, 'open'),
  pose('walk', -0.16, 2, 5 / 6, 'open'),
  pose('fall', -0.3, 1, 0, 'wide'),
  pose('fall', -0.36, 1, 0.33, 'wide'),
  pose('fall', -0.3, 1, 0.67, 'wide'),
  pose('drag', -0.2, 1, 0, 'wide'),
  pose('drag', -0.26, 1, 0.25, 'wide'),
  pose('drag', -0.2, 1, 0.5, 'wide'),
  pose('drag', -0.26, 1, 0.75, 'wide'),
  pose('land', 0.6, 0, 0, 'dizzy'),
  pose('land', 0.42, 0, 0.3, 'dizzy'),
  pose('land', -0.14, 0, 0.6, 'happy'),
  pose('land', 0.08, 0, 0.9, 'happy'),
  pose('climb', -0.06, 2, 0, 'open'),
  pose('climb', -0.18, 3, 0.25, 'open'),
  pose('climb', -0.06, 2, 0.5, 'open'),
  pose('climb', -0.18, 3, 0.75, 'open'),
  pose('sleep', 0.3, 0, 0, 'asleep'),
  pose('sleep', 0.26, 0, 0.25, 'asleep'),
  pose('sleep', 0.2, 0, 0.5, 'asleep'),
  pose('sleep', 0.26, 0, 0.75, 'asleep'),
];

/** The speed of each animation, and the order of its poses, as indexes into the poses of that animation. */
export const TIMING: Readonly<Record<string, { fps: number; order: readonly number[] }>> = {
  idle: { fps: 5, order: [0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 3, 1, 2, 2, 1] },
  walk: { fps: 10, order: [0, 1, 2, 3, 4, 5] },
  fall: { fps: 9, order: [0, 1, 2] },
  drag: { fps: 7, order: [0, 1, 2, 3] },
  land: { fps: 12, order: [0, 1, 2, 3] },
  climb: { fps: 6, order: [0, 1, 2, 3] },
  sleep: { fps: 2, order: [0, 1, 2, 3] },
};

/** Returns −1 … 1: a sine with one period for `phase` 0 … 1. */
export const swing = (phase: number): number => Math.sin(phase * 2 * Math.PI);

/** Nova, a star: it rolls along on its five points, falls slowly, bounces, and is a shooting star with a tail when it is thrown. */
import type { Character } from './character.ts';
import { drawFace } from './face.ts';
import type { Picture, Ramp } from './picture.ts';
import { type Pose, swing } from './pose.ts';
import { GROUND, type Joint } from './rig.ts';

const GOLD: Ramp = [0x6b3a12, 0xd08a1c, 0xf0ad2a, 0xffd044, 0xffe884, 0xfffbe0];
const FLAME: Ramp = [0x8a2f5c, 0xc7446e, 0xe8607a, 0xff8a86, 0xffb49a, 0xffe0c8];
const POINTS = 5;
const HEIGHT = 31;

/** How far its points are from its middle, in px: a foot is shorter than the point at its top. */
const FAR = 14.2;
const TOP_FAR = 15.6;

export const star: Character = {
  name: 'Nova',
  size: [28, HEIGHT],
  behaviour: { walkSpeed: 62, jumpSpeed: 560, gravity: 560, bounce: 0.66 },
  paint(picture, pose) {
    const { legs, arms, phase, animation, eyes, mouth } = pose;
    const x = legs === 'climb' ? 25 : 24;
    const y = 27.4 + (animation === 'throw' ? -4 : legs === 'sit' ? 1.4 : arms === 'hang' ? 2 : legs === 'lie' ? 2 : 0);
    const part = { ramp: GOLD, soft: true, light: legs === 'lie' ? -0.3 + swing(phase) * 0.08 : 0 };
    if (animation === 'throw') paintTail(picture, x, y, phase);
    const points = pointsOf(pose, x, y);
    // The lower points first: the light comes from above.
    for (const [i, [tipX, tipY]] of points.entries()) {
      picture.limb(x, y, 8.4, tipX, tipY, 2.3, { ...part, light: part.light - (i === 2 || i === 3 ? 0.12 : 0) });
    }
    picture.ellipse(x, y, 8.8, 8.6, part);
    picture.stamp(points[0][0] - 1.5, points[0][1] + 4, ['.w', 'w.', 'w.'], { w: 0xfffbe8 });
    drawFace(picture, x + 1.2, y - 0.6, { eyes, mouth, gap: 4, ink: 0x4a1f14, blush: 0xff9c6a });
  },
};

/** Where the tips of its points are: the top one, then clockwise, so the feet are the third and the fourth. */
function pointsOf({ legs, arms, phase }: Pose, x: number, y: number): Joint[] {
  if (legs === 'walk') {
    // A fifth of a turn, after which it looks the same. Its face stays upright.
    return Array.from({ length: POINTS }, (_, i): Joint => {
      const angle = ((i + phase) / POINTS) * 2 * Math.PI;
      return [x + Math.sin(angle) * FAR, y - Math.cos(angle) * FAR];
    });
  }
  const beat = swing(phase);
  const tips: Joint[] = [[x + beat * 0.9, y - TOP_FAR], handOf(1), footOf(1), footOf(-1), handOf(-1)];
  if (arms === 'hang') tips[0] = [x + beat * 0.9, y - 12.6];
  if (legs === 'lie') tips[0] = [x - 5 + beat * 0.6, y - 13];
  return tips;

  function footOf(side: number): Joint {
    if (legs === 'dangle') return [x + side * 7 + beat * 1.4, y + 14.4];
    if (legs === 'tuck') return [x + side * 8.4, y + 10.4];
    if (legs === 'sit') return [x + side * 7.4 + beat * side, 44.6];
    if (legs === 'climb') return side > 0 ? [37, y + 8.4 + beat * 2.4] : [x - 6.4, y + 12.6 - beat];
    if (legs === 'lie') return [x + side * 11.4, GROUND - 3];
    return [x + side * 8.8, y + 12.2];
  }

  function handOf(side: number): Joint {
    const other = swing(phase + (side > 0 ? 0 : 0.5));
    if (arms === 'up') return [x + side * 12, y - 11 + other * 1.4];
    if (arms === 'both') return [x + side * 15.4, y - 3.4 + other];
    if (arms === 'wave' && side > 0) return [x + 13.4 - beat * 1.6, y - 8 - beat * 3.4];
    if (arms === 'hang') return [x + side * 12.4, GROUND - HEIGHT + 2.4];
    if (arms === 'ahead') return [x + side * 11, y - 10];
    if (arms === 'cheeks') return [x + side * 11.8, y - 1 + other];
    if (arms === 'mouth' && side > 0) return [x + 11, y + 1.4];
    if (arms === 'climb') return side > 0 ? [37.4, y - 7 - beat * 3] : [x - 14, y - 3 + beat];
    if (legs === 'lie') return [x + side * 15, y + 3];
    return [x + side * 14.4, y - 4 + other * 0.8];
  }
}

/** The tail of a shooting star, behind it: three flames that flicker. */
function paintTail(picture: Picture, x: number, y: number, phase: number): void {
  for (const [i, side] of [-1, 1, 0].entries()) {
    const length = (side === 0 ? 25 : 19) + swing(phase + i / 3) * 2.6;
    const ramp = side === 0 ? GOLD : FLAME;
    picture.limb(x + side * 6, y + 4, 5.6, x + side * 9, y + length, 0.9, { ramp, soft: side !== 0, light: 0.2 });
  }
}

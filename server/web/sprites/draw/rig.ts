/**
 * The joints of a character with a big head, two arms and two legs, in any pose. Each character paints its own parts on them.
 *
 * Units: px of a frame; x 24 is the middle, the feet stand on GROUND.
 */
import type { Part, Picture } from './picture.ts';
import { type Pose, swing } from './pose.ts';

/** The first row below the feet. Legs that dangle from a ledge reach further down. */
export const GROUND = 42;
/** The middle of a frame, from left to right. */
export const MIDDLE = 24;

export type Joint = readonly [x: number, y: number];

export interface Joints {
  head: Joint;
  body: Joint;
  /** Far, then near: the far ones are on the left and painted first. */
  hips: readonly [Joint, Joint];
  knees: readonly [Joint, Joint];
  feet: readonly [Joint, Joint];
  shoulders: readonly [Joint, Joint];
  hands: readonly [Joint, Joint];
}

const both = (of: (side: number) => Joint): [Joint, Joint] => [of(-1), of(1)];

/** `top` is the upper row of the hitbox, where a character that hangs holds on. */
export function jointsOf({ legs, arms, phase }: Pose, top: number): Joints {
  const down = legs === 'sit' ? 4 : legs === 'lie' ? 3 : arms === 'hang' ? 3 : 0;
  const ahead = legs === 'climb' ? 3 : 0;
  const body: Joint = [MIDDLE + ahead, 31.5 + down];
  const head: Joint = [MIDDLE + 1 + ahead * 0.6, 19 + down + (legs === 'lie' ? 4.5 : 0)];
  const hips = both((side) => [body[0] + side * 3.8, body[1] + (legs === 'sit' ? 5 : 6)]);
  const feet = both((side): Joint => {
    const step = swing(phase + (side > 0 ? 0 : 0.5));
    const raised = Math.max(0, swing(phase + (side > 0 ? 0.25 : 0.75)));
    if (legs === 'walk') return [MIDDLE + side * 2.2 + step * 5.5, 39.6 - raised * 3];
    if (legs === 'dangle') return [body[0] + side * 4 + step * 1.3, body[1] + 9];
    if (legs === 'tuck') return [body[0] + side * 4.2 - 1.5, body[1] + 6.4];
    if (legs === 'sit') return [MIDDLE + side * 4.4 + step * 1.1, 44.4];
    if (legs === 'climb') return [37 - (side < 0 ? 0.6 : 0), 36 + side * swing(phase) * 2.4];
    if (legs === 'lie') return [MIDDLE + side * 7, 40];
    return [MIDDLE + side * 4.4, 40];
  });
  const knees = both((side): Joint => {
    const at = side < 0 ? 0 : 1;
    const out = legs === 'sit' ? side * 0.8 : 0;
    return [(hips[at][0] + feet[at][0]) / 2 + out, (hips[at][1] + feet[at][1]) / 2];
  });
  const shoulders = both((side) => [body[0] + side * 5, body[1] - 3.4]);
  const hands = both((side): Joint => {
    const [x, y] = body;
    const beat = swing(phase + (side > 0 ? 0 : 0.5));
    switch (arms) {
      case 'swing':
        return [x + side * 7.6 - beat * 3.4, y + 3];
      case 'up':
        return [x + side * 12.4, y - 9 + beat * 1.6];
      case 'both':
        return [x + side * 12.6, y - 1.5 + beat];
      case 'wave':
        return side < 0 ? [x - 9, y + 3] : [x + 16.4, y - 6.5 - swing(phase) * 3];
      case 'hang':
        return [MIDDLE + side * 12, top + 2];
      case 'ahead':
        return [x + side * 3.4, y - 19 + (side > 0 ? -2 : 0)];
      case 'cheeks':
        return [x + side * 8, y - 6 + beat * 0.6];
      case 'mouth':
        return side < 0 ? [x - 8.6, y + 3] : [x + 6.4, y - 6];
      case 'climb':
        return [37.4, y - 6 + side * swing(phase) * 4];
      default:
        return [x + side * 9, y + 3.4 + (legs === 'dangle' ? beat : 0)];
    }
  });
  return { head, body, hips, knees, feet, shoulders, hands };
}

/** Paints a leg or an arm through its joints. */
export function paintLimb(picture: Picture, joints: readonly Joint[], from: number, to: number, part: Part): void {
  const radius = (i: number) => from + ((to - from) * i) / (joints.length - 1);
  for (let i = 0; i + 1 < joints.length; i++) {
    picture.limb(...joints[i], radius(i), ...joints[i + 1], radius(i + 1), { ...part, soft: i > 0 || part.soft });
  }
}

/** Whether an arm of this pose is in front of the head. */
export const isInFront = ({ arms }: Pose): boolean => arms === 'cheeks' || arms === 'mouth';

/** Miso, a ginger cat: big head, pointed ears, white muzzle and paws, and a tail that shows its mood. Faces right. */
import type { Character } from './character.ts';
import { drawFace } from './face.ts';
import type { Picture, Ramp } from './picture.ts';
import { type Pose, swing } from './pose.ts';
import { GROUND, isInFront, type Joint, jointsOf, paintLimb } from './rig.ts';

const FUR: Ramp = [0x4a1f1c, 0xb3502a, 0xd9722f, 0xf49a42, 0xffbf6b, 0xffe0a3];
const CREAM: Ramp = [0x6b3a2c, 0xd8a884, 0xecc9a4, 0xfbe6cb, 0xfff5e4, 0xffffff];
const STRIPE = 0xb3502a;
const PINK = 0xf2808f;
const HEIGHT = 34;

export const cat: Character = {
  name: 'Miso',
  size: [26, HEIGHT],
  behaviour: { walkSpeed: 78, jumpSpeed: 640, gravity: 1800, bounce: 0.18 },
  paint(picture, pose) {
    if (pose.legs === 'lie') {
      paintCurledUp(picture, pose);
      return;
    }
    const { head, body, hips, knees, feet, shoulders, hands } = jointsOf(pose, GROUND - HEIGHT);
    const { legs, phase, arms } = pose;
    paintTail(picture, pose, [body[0] - 4, body[1] + 3]);
    const leg = (i: 0 | 1) => {
      const part = { ramp: FUR, light: i === 0 ? -0.4 : 0 };
      paintLimb(picture, [hips[i], knees[i], feet[i]], 2.4, 2.3, part);
      const toe: Joint = legs === 'sit' ? [feet[i][0], feet[i][1]] : [feet[i][0] + 1, feet[i][1]];
      picture.ellipse(...toe, 2.9, 2, { ramp: CREAM, light: i === 0 ? -0.3 : 0 });
    };
    const arm = (i: 0 | 1) => {
      const part = { ramp: FUR, light: i === 0 ? -0.3 : 0.05 };
      paintLimb(picture, [shoulders[i], hands[i]], 2.6, 2.3, part);
      picture.ellipse(...hands[i], 2.5, 2.3, { ramp: CREAM, light: i === 0 ? -0.25 : 0.1 });
    };
    if (legs !== 'sit') leg(0);
    if (!isInFront(pose) && arms !== 'hang') arm(0);
    picture.ellipse(...body, 7.4, 7.2, { ramp: FUR });
    picture.ellipse(body[0] + 1.4, body[1] + 1, 4, 5, { ramp: CREAM, soft: true });
    if (legs === 'sit') leg(0);
    leg(1);
    if (arms === 'hang' || arms === 'ahead') arm(0);
    if (!isInFront(pose)) arm(1);
    paintHead(picture, head, pose, arms === 'up' || legs === 'dangle' ? 1.5 : 0, swing(phase));
    if (isInFront(pose)) {
      arm(0);
      arm(1);
    }
  },
};

function paintTail(picture: Picture, { legs, phase, squash }: Pose, from: Joint): void {
  const sway = swing(phase) * 2;
  const middle: Joint = legs === 'sit' ? [11, from[1] + 1] : [12.5, from[1] + (legs === 'tuck' ? 4 : 0)];
  const up = legs === 'walk' ? 15 : legs === 'dangle' ? 13 : 10 - squash * 8;
  const tip: Joint = legs === 'sit' ? [9 + sway, 43.5] : [9.5 + sway, from[1] - up];
  picture.limb(...from, 2.6, ...middle, 2.4, { ramp: FUR });
  picture.limb(...middle, 2.4, ...tip, 2.2, { ramp: FUR, soft: true });
  picture.ellipse(...tip, 2.4, 2.6, { ramp: CREAM, soft: true });
}

function paintCurledUp(picture: Picture, { phase, squash }: Pose): void {
  const breath = (0.3 - squash) * 8;
  picture.ellipse(22.5, 34 - breath * 0.3, 15, 8 + breath * 0.4, { ramp: FUR });
  picture.stamp(16, 29 - breath * 0.6, ['d..d..d', 'd..d..d', '.d..d..', '.d..d..'], { d: STRIPE });
  paintHead(picture, [29.4, 31], { eyes: 'asleep', mouth: 'none' }, 0, swing(phase) * 0.4);
  picture.limb(9, 37, 2.8, 16, 40, 2.6, { ramp: FUR });
  picture.limb(16, 40, 2.6, 25, 40.4, 2.2, { ramp: FUR, soft: true });
  picture.ellipse(26, 40.4, 2.6, 2.1, { ramp: CREAM, soft: true });
}

function paintHead(
  picture: Picture,
  [x, y]: Joint,
  { eyes, mouth }: Pick<Pose, 'eyes' | 'mouth'>,
  ears: number,
  twitch: number,
): void {
  const ear = (side: number, light: number) => {
    const out = side * ears;
    picture.shape(
      [
        x + side * 10.6,
        y - 2,
        x + side * 10.2 + out,
        y - 13 + ears + (side > 0 ? twitch * 0.5 : 0),
        x + side * 2.4,
        y - 7.4,
      ],
      {
        ramp: FUR,
        light,
      },
    );
    picture.shape([x + side * 9.2, y - 3, x + side * 9 + out, y - 10.4 + ears, x + side * 4.4, y - 6], {
      ramp: [PINK, PINK, PINK, PINK, PINK, PINK],
      soft: true,
    });
  };
  ear(-1, 0);
  ear(1, -0.15);
  // Tufts of fur at the cheeks.
  for (const side of [-1, 1])
    picture.shape([x + side * 9, y + 1, x + side * 13.4, y + 4.6, x + side * 7, y + 7.6], { ramp: FUR });
  picture.ellipse(x, y, 11.6, 9.2, { ramp: FUR, soft: true });
  picture.ellipse(x + 1.6, y + 5, 6.4, 3.9, { ramp: CREAM, soft: true, light: 0.25 });
  picture.stamp(x + 0.5, y - 6.5, ['d..d..d', 'd..d..d', '.d.d.d.', '...d...'], { d: STRIPE });
  picture.stamp(x - 9.5, y + 1.5, ['ddd', '...', 'dd.'], { d: STRIPE });
  picture.stamp(x + 10, y + 1.5, ['ddd', '...', '.dd'], { d: STRIPE });
  drawFace(picture, x + 1.6, y + 0.2, { eyes, mouth: mouth === 'smile' ? 'none' : mouth, gap: 8, ink: 0x2a1626 });
  if (mouth === 'smile' || mouth === 'none') {
    picture.stamp(x + 1.6, y + 5, ['..ppp..', '...p...', 'i..i..i', '.ii.ii.'], {
      p: PINK,
      i: mouth === 'none' ? 0xb98a78 : 0x2a1626,
    });
  }
}

/** Ember, a young dragon: horns, a long tail, and wings that are a little too small for it. Faces right. */
import type { Character } from './character.ts';
import { drawFace } from './face.ts';
import type { Picture, Ramp } from './picture.ts';
import { type Pose, swing } from './pose.ts';
import { GROUND, isInFront, type Joint, jointsOf, paintLimb } from './rig.ts';

const SCALE: Ramp = [0x3a1038, 0x8f2456, 0xbf3663, 0xe85a6f, 0xff8f86, 0xffc9b0];
const BELLY: Ramp = [0x6b3a2c, 0xd89a5a, 0xf0bf72, 0xffe09a, 0xfff2c9, 0xffffff];
const WING: Ramp = [0x3a1038, 0x7a3f9c, 0x9a58bd, 0xbf7fdc, 0xdfb0f2, 0xf7e0ff];
const HORN: Ramp = [0x5a3a3a, 0xc9a27a, 0xe3c79c, 0xf7e6c4, 0xfff6e0, 0xffffff];
const INK = 0x2a0d2c;
const HEIGHT = 34;

export const dragon: Character = {
  name: 'Ember',
  size: [26, HEIGHT],
  behaviour: { walkSpeed: 58, jumpSpeed: 700, gravity: 1200, bounce: 0.22 },
  paint(picture, pose) {
    const { head, body, hips, knees, feet, shoulders, hands } = jointsOf(pose, GROUND - HEIGHT);
    const { legs, arms, phase } = pose;
    const flies = legs === 'dangle' || legs === 'tuck';
    const flap = flies || arms === 'up' ? swing(phase) * 1.2 + 0.4 : legs === 'lie' ? -0.9 : swing(phase) * 0.25;
    const tail: Joint =
      legs === 'sit'
        ? [9 + swing(phase), 44]
        : [7.4 + Math.max(0, pose.squash) * 4, body[1] + (flies ? 7 : 1) - swing(phase) * 2];
    const bend: Joint = [13, legs === 'sit' ? 42 : body[1] + 7];
    picture.limb(body[0] - 3, body[1] + 3.6, 4.4, ...bend, 2.8, { ramp: SCALE });
    picture.limb(...bend, 2.8, ...tail, 1.4, { ramp: SCALE, soft: true });
    picture.shape([tail[0] - 4, tail[1] + 1, tail[0] - 0.5, tail[1] - 5.4, tail[0] + 4, tail[1] - 0.4], { ramp: WING });
    paintWing(picture, body[0] + 1, body[1] - 4, flap, -0.35);
    const leg = (i: 0 | 1) => {
      const part = { ramp: SCALE, light: i === 0 ? -0.4 : 0 };
      paintLimb(picture, [hips[i], knees[i], feet[i]], 2.6, 2.4, part);
      picture.ellipse(feet[i][0] + (legs === 'sit' ? 0 : 1.2), feet[i][1], 3.3, 2, part);
      picture.stamp(feet[i][0] + (legs === 'sit' ? 0 : 3), feet[i][1] + 1, ['w.w'], { w: HORN[4] });
    };
    const arm = (i: 0 | 1) => {
      paintLimb(picture, [shoulders[i], hands[i]], 2.3, 2, { ramp: SCALE, light: i === 0 ? -0.3 : 0.1 });
    };
    if (legs !== 'sit') leg(0);
    if (!isInFront(pose)) arm(0);
    picture.ellipse(...body, 7.8, 7.6, { ramp: SCALE });
    picture.ellipse(body[0] + 2.2, body[1] + 0.6, 4.8, 6.2, { ramp: BELLY, soft: true });
    for (const row of [-2.5, 0.5, 3.5]) picture.stamp(body[0] + 2.2, body[1] + row, ['ddddddd'], { d: BELLY[1] });
    if (legs === 'sit') leg(0);
    leg(1);
    if (!isInFront(pose)) arm(1);
    paintWing(picture, body[0] - 4.4, body[1] - 3.4, flap, 0.1);
    paintHead(picture, head, pose);
    if (isInFront(pose)) {
      arm(0);
      arm(1);
    }
  },
};

function paintWing(picture: Picture, x: number, y: number, flap: number, light: number): void {
  const tip: Joint = [x - 13, y - 8 - flap * 7];
  picture.shape(
    [
      ...[x + 2, y, x - 4, y - 7 - flap * 5, ...tip],
      ...[tip[0] + 1.6, tip[1] + 6.4 + flap * 1.4, tip[0] + 5, tip[1] + 7 + flap * 3],
      ...[tip[0] + 6, tip[1] + 10.4 + flap * 3.6, x - 4, y + 1 - flap, x - 2.4, y + 4],
    ],
    { ramp: WING, light },
  );
  picture.limb(x, y, 1.2, x - 4, y - 6 - flap * 5, 1, { ramp: WING, light: light + 0.4, soft: true });
  picture.limb(x - 4, y - 6 - flap * 5, 1, tip[0] + 0.8, tip[1] + 0.8, 0.8, {
    ramp: WING,
    light: light + 0.4,
    soft: true,
  });
}

function paintHead(picture: Picture, [x, y]: Joint, { eyes, mouth }: Pose): void {
  picture.limb(x - 6, y - 5.4, 2.2, x - 9.4, y - 10, 0.9, { ramp: HORN });
  picture.limb(x + 2.6, y - 6.4, 2.2, x + 2.2, y - 11, 0.9, { ramp: HORN });
  // A frill down the neck.
  for (const [up, out] of [
    [-5, 12.6],
    [-0.6, 14],
    [4, 12],
  ]) {
    picture.shape([x - 8, y + up - 3, x - out, y + up, x - 8, y + up + 3.6], { ramp: WING });
  }
  picture.ellipse(x, y, 10.4, 8.6, { ramp: SCALE });
  picture.ellipse(x + 7.6, y + 3.8, 6, 4.4, { ramp: SCALE, soft: true, light: 0.14 });
  picture.ellipse(x + 6.6, y + 6.4, 5.4, 2.2, { ramp: BELLY, soft: true });
  drawFace(picture, x + 1.2, y - 0.6, { eyes, mouth: 'none', gap: 6, ink: INK });
  picture.stamp(x + 12, y + 2.4, ['d'], { d: SCALE[1] });
  picture.stamp(x + 8.6, y + 2.4, ['d'], { d: SCALE[1] });
  const open = mouth === 'round' || mouth === 'laugh' || mouth === 'yawn';
  if (open) picture.stamp(x + 7.5, y + 6.5, ['iiiiiii', 'ippppi.', '.iiii..'], { i: 0x7a1730, p: 0xff8f9c });
  else picture.stamp(x + 7, y + 5.5, ['iiiiiiii', 'w......w'], { i: SCALE[0], w: 0xffffff });
  picture.stamp(x - 6.5, y + 4, ['bb', 'bb'], { b: 0xffb3a3 });
}

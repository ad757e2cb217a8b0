/** Miso, a ginger cat: big head, white muzzle and paws, and a tail that shows its mood. Faces right. */
import { drawEyes } from './face.ts';
import { Picture, type Ramp } from './picture.ts';
import { type Pose, swing } from './pose.ts';

const FUR: Ramp = [0x4a1f1c, 0xb3502a, 0xd9722f, 0xf49a42, 0xffbf6b, 0xffe0a3];
const CREAM: Ramp = [0x6b3a2c, 0xd8a884, 0xecc9a4, 0xfbe6cb, 0xfff5e4, 0xffffff];
const STRIPE = 0xb3502a;
const PINK = 0xf2808f;
const INK = 0x2a1626;

export const cat = {
  name: 'Miso',
  hitbox: [5, 9, 22, 23],
  behaviour: { walkSpeed: 78, jumpSpeed: 640, gravity: 1800, bounce: 0.18 },
  draw(pose: Pose): Picture {
    const picture = new Picture(32, 32);
    if (pose.animation === 'sleep') drawAsleep(picture, pose);
    else if (pose.animation === 'climb' || pose.animation === 'drag') drawUpright(picture, pose);
    else drawStanding(picture, pose);
    picture.outline();
    return picture;
  },
};

function drawStanding(picture: Picture, { animation, squash, lift, phase, eyes }: Pose): void {
  const fall = animation === 'fall';
  const bob = animation === 'walk' ? lift * 0.6 : 0;
  const crouch = squash * 5;
  const bodyY = 23 + Math.max(0, crouch) * 0.9 - bob - (fall ? 3 : 0);
  const stride = animation === 'walk' ? swing(phase) : 0;
  const counter = animation === 'walk' ? swing(phase + 0.5) : 0;
  const ground = 30;
  const paw = (x: number, move: number, far: boolean) => {
    const part = { ramp: FUR, light: far ? -0.55 : 0 };
    const up = fall ? 1.5 : Math.max(0, move) * 1.6;
    const footX = fall ? x + (x > 14 ? 4 : -4) + swing(phase + x / 9) : x + move * 2.6;
    picture.limb(x, bodyY, 2.4, footX, ground - 1.4 - up, 1.8, part);
    picture.ellipse(footX + 0.6, ground - 1 - up, 2.1, 1.5, { ramp: CREAM, light: far ? -0.5 : 0 });
  };
  const tailLift = fall ? -9 : animation === 'walk' ? -8 : -6 + squash * 8;
  const sway = fall ? swing(phase) * 2 : swing(phase) * 1.2;
  picture.limb(7.5, bodyY, 2, 3.6, bodyY - 3, 1.7, { ramp: FUR });
  picture.limb(3.6, bodyY - 3, 1.8, 4.2 + sway, bodyY + tailLift - 2, 1.5, { ramp: FUR, soft: true });
  picture.ellipse(4.2 + sway, bodyY + tailLift - 2, 1.7, 1.7, { ramp: CREAM, soft: true });
  paw(10.5, counter, true);
  paw(19.5, stride, true);
  picture.ellipse(13.6, bodyY, 8 + Math.max(0, squash) * 2, 5.4 - Math.max(0, crouch) * 0.35, { ramp: FUR });
  paw(8.6, stride, false);
  paw(17.4, counter, false);
  picture.stamp(9, bodyY - 4, ['#..#', '#..#', '.#..'], STRIPE, false);
  drawHead(picture, 19.6, bodyY - 7.2 + Math.max(0, crouch) * 0.35 + (fall ? -1 : 0), eyes, fall ? 1 : 0, squash);
}

function drawUpright(picture: Picture, { animation, phase, eyes }: Pose): void {
  const climbing = animation === 'climb';
  const beat = swing(phase);
  const x = climbing ? 18 : 15.5 + beat * 0.8;
  // In a drag the cat hangs by its scruff and the legs dangle. In a climb they alternate on the wall at the right.
  picture.limb(x - 2, 25, 1.9, x - 6 + beat, climbing ? 29 : 27, 1.6, { ramp: FUR });
  picture.ellipse(x - 6 + beat, climbing ? 29 : 27, 1.7, 1.7, { ramp: CREAM, soft: true });
  const foot = (fx: number, fy: number, far: boolean) => {
    picture.limb(x, fy < 22 ? 19 : 25, 2.3, fx, fy, 1.8, { ramp: FUR, light: far ? -0.5 : 0 });
    picture.ellipse(fx, fy, 2, 1.9, { ramp: CREAM, light: far ? -0.45 : 0 });
  };
  if (climbing) {
    foot(27.5, 15 + beat * 2.5, true);
    foot(26.5, 28 - beat * 1.2, true);
  } else {
    foot(x + 5.5, 20.5 + beat, true);
    foot(x + 3.2 - beat, 29, true);
  }
  picture.ellipse(x, 22, 4.8, 6.4, { ramp: FUR });
  picture.ellipse(x + 1.4, 22.6, 2.6, 4.2, { ramp: CREAM, soft: true });
  if (climbing) {
    foot(28, 17 - beat * 2.5, false);
    foot(26, 26.5 + beat * 1.2, false);
  } else {
    foot(x - 4.6, 20.5 - beat, false);
    foot(x - 2.6 + beat, 29.2, false);
  }
  drawHead(picture, x - (climbing ? 1 : 0), 11.4, eyes, climbing ? 0 : 1, 0);
}

function drawAsleep(picture: Picture, { squash }: Pose): void {
  const breath = (0.3 - squash) * 9;
  picture.ellipse(15.5, 25.2 - breath * 0.4, 11, 5.6 + breath * 0.5, { ramp: FUR });
  picture.stamp(10, 20 - breath, ['#..#..#', '#..#..#', '.#..#..'], STRIPE, false);
  picture.limb(5, 27, 2.2, 14, 29, 1.8, { ramp: FUR });
  picture.ellipse(15, 29, 2, 1.6, { ramp: CREAM, soft: true });
  drawHead(picture, 21.4, 24.4, 'asleep', 0, 0.2);
}

function drawHead(picture: Picture, x: number, y: number, eyes: Pose['eyes'], ears: number, squash: number): void {
  const wide = 1 + Math.max(0, squash) * 0.12;
  const ear = (side: number, part: { ramp: Ramp; light?: number }) =>
    picture.shape(
      [
        x + side * 7.2 * wide,
        y - 1,
        x + side * 6.8 * wide,
        y - 8.6 + ears,
        x + side * 5.6 * wide,
        y - 8.8 + ears,
        x + side * 0.8,
        y - 4.6,
      ],
      part,
    );
  ear(-1, { ramp: FUR });
  ear(1, { ramp: FUR, light: -0.2 });
  picture.ellipse(x, y, 8 * wide, 6.6, { ramp: FUR });
  // The insides of the ears are drawn over the outline of the head.
  picture.stamp(x - 6, y - 6 + ears, ['#.', '##', '##'], PINK, false);
  picture.stamp(x + 4, y - 6 + ears, ['.#', '##', '##'], PINK, false);
  picture.ellipse(x + 1.4, y + 3.2, 4.6, 3, { ramp: CREAM, soft: true, light: 0.2 });
  picture.stamp(x - 1, y - 6, ['#.#.#', '#.#.#', '..#..'], STRIPE, false);
  const [left, top] = [Math.round(x), Math.round(y)];
  drawEyes(picture, left - 3, top - 1, 7, eyes, INK);
  picture.stamp(left, top + 2, ['##'], PINK, false);
  if (eyes === 'wide') picture.stamp(left, top + 3, ['##', '##'], 0x7a2433, false);
  else picture.stamp(left - 1, top + 3, ['#..#', '.##.'], INK, false);
  picture.stamp(left - 7, top + 2, ['##'], 0xffe9cf, false);
  picture.stamp(left + 7, top + 2, ['##'], 0xffe9cf, false);
}

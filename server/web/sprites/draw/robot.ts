/** Bolt, a robot: a screen as its face, springs as its legs, and a lamp that is off while it sleeps. */
import { Picture, type Ramp } from './picture.ts';
import { type Pose, swing } from './pose.ts';

const SHELL: Ramp = [0x1e2440, 0x4a5a80, 0x6f86ad, 0x9fb8d6, 0xcfe2f2, 0xf6fdff];
const TRIM: Ramp = [0x4a1626, 0xa8323f, 0xd84a45, 0xf7705a, 0xffa07a, 0xffd6ad];
const JOINT: Ramp = [0x161a30, 0x2c3454, 0x3b466b, 0x4f5d87, 0x6c7da8, 0x93a4cc];
const GLASS: Ramp = [0x10142a, 0x10142a, 0x161c38, 0x1c2546, 0x27345e, 0x3a4c80];
const GLOW = 0x6ff3ff;
const DIM = 0x3579a0;

export const robot = {
  name: 'Bolt',
  hitbox: [7, 6, 18, 26],
  behaviour: { walkSpeed: 66, jumpSpeed: 560, gravity: 2000, bounce: 0.24 },
  draw({ animation, squash, lift, phase, eyes }: Pose): Picture {
    const picture = new Picture(32, 32);
    const asleep = animation === 'sleep';
    const drop = squash * 6 + (asleep ? 2 : 0);
    const bob = animation === 'walk' ? lift * 0.5 : 0;
    const airborne = animation === 'fall' || animation === 'drag';
    const lean = animation === 'climb' ? 3 : animation === 'walk' ? 1 : 0;
    const bodyY = 20.5 + Math.max(-1.5, drop) - bob;
    const headY = bodyY - 11.5 + Math.max(0, drop) * 0.25;
    const x = 16 + lean;
    const leg = (side: number) => {
      const step = animation === 'walk' ? swing(phase + (side > 0 ? 0 : 0.5)) : 0;
      const dangle = airborne ? swing(phase + (side > 0 ? 0 : 0.4)) * 1.5 : 0;
      const footX = animation === 'climb' ? x + 6.5 : x + side * 3.6 + step * 3 + dangle;
      const footY =
        animation === 'climb' ? 27.5 + side * swing(phase) * 1.6 : 30 - Math.max(0, step) * 2 - (airborne ? 0.5 : 0);
      picture.limb(x + side * 3, bodyY + 5, 1.3, footX, footY - 2, 1.2, { ramp: JOINT, light: side < 0 ? -0.3 : 0 });
      picture.box(footX - 2.4, footY - 2.4, 5.6, 3, 1.4, { ramp: TRIM, light: side < 0 ? -0.25 : 0 });
    };
    const arm = (side: number) => {
      const beat = swing(phase + (side > 0 ? 0.5 : 0));
      let hand = [x + side * 8.2 + (animation === 'walk' ? beat * 2.4 : 0), bodyY + 5 - squash * 2];
      if (animation === 'fall') hand = [x + side * 9.5, bodyY - 5 + beat * 2];
      if (animation === 'drag') hand = [x + side * 8.8 + beat, bodyY + 4 + beat];
      if (animation === 'climb') hand = [28.4, bodyY - 2 - side * swing(phase) * 3.4];
      picture.limb(x + side * 5.6, bodyY + 0.6, 1.4, hand[0], hand[1], 1.2, {
        ramp: JOINT,
        light: side < 0 ? -0.25 : 0,
      });
      picture.ellipse(hand[0], hand[1], 2, 2, { ramp: TRIM, light: side < 0 ? -0.2 : 0 });
    };
    leg(-1);
    arm(-1);
    picture.limb(x, headY + 4, 1.4, x, bodyY, 1.4, { ramp: JOINT });
    picture.box(x - 5.5, bodyY - 2.6, 11, 8.6 - Math.max(0, squash) * 2, 2.6, { ramp: SHELL });
    picture.box(x - 2, bodyY + 0.4, 5, 3, 1, { ramp: TRIM, soft: true });
    leg(1);
    // The antenna comes first, so that the head covers its foot.
    const whip = airborne ? swing(phase) * 1.6 : animation === 'land' ? swing(phase) * 1.2 : 0;
    picture.limb(x, headY - 5, 0.8, x + whip, headY - 8.4 + Math.max(0, squash) * 2, 0.7, { ramp: JOINT });
    const lamp = asleep ? JOINT : TRIM;
    picture.ellipse(x + whip, headY - 8.8 + Math.max(0, squash) * 2, 1.7, 1.7, {
      ramp: lamp,
      light: phase < 0.5 ? 0.25 : 0,
    });
    picture.box(x - 8, headY - 5, 16, 10.4, 3.4, { ramp: SHELL });
    picture.box(x - 9.4, headY - 1.6, 2.4, 4.2, 1, { ramp: TRIM });
    picture.box(x + 7.2, headY - 1.6, 2.4, 4.2, 1, { ramp: TRIM, light: -0.2 });
    picture.box(x - 5.6, headY - 3, 12, 7, 2.2, { ramp: GLASS, soft: true });
    drawScreen(picture, Math.round(x + 0.4), Math.round(headY), eyes);
    arm(1);
    picture.outline();
    return picture;
  },
};

function drawScreen(picture: Picture, x: number, y: number, eyes: Pose['eyes']): void {
  for (const left of [x - 4, x + 2]) {
    switch (eyes) {
      case 'open':
        picture.stamp(left, y - 1, ['##', '##', '##'], GLOW);
        picture.stamp(left, y - 1, ['#'], 0xffffff);
        break;
      case 'wide':
        picture.stamp(left, y - 2, ['##', '##', '##', '##'], GLOW);
        picture.stamp(left, y - 2, ['##'], 0xffffff);
        break;
      case 'blink':
        picture.stamp(left, y, ['##'], GLOW);
        break;
      case 'happy':
        picture.stamp(left - 1, y - 1, ['.##.', '#..#'], GLOW);
        break;
      case 'dizzy':
        picture.stamp(
          left,
          y - 1,
          ['#.#', '.#.', '#.#'].map((row) => row.slice(0, 3)),
          GLOW,
        );
        break;
      case 'asleep':
        picture.stamp(left, y + 1, ['##'], DIM);
        break;
    }
  }
  if (eyes === 'open' || eyes === 'happy') picture.stamp(x - 1, y + 2, ['##'], GLOW);
  if (eyes === 'wide') picture.stamp(x - 1, y + 2, ['##'], 0xffffff);
}

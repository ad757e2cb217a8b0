/** Ember, a young dragon: its wings are too small for it, but it uses them. Faces right. */
import { drawEyes } from './face.ts';
import { Picture, type Ramp } from './picture.ts';
import { type Pose, swing } from './pose.ts';

const SCALE: Ramp = [0x3a1038, 0x8f2456, 0xbf3663, 0xe85a6f, 0xff8f86, 0xffc9b0];
const BELLY: Ramp = [0x6b3a2c, 0xd89a5a, 0xf0bf72, 0xffe09a, 0xfff2c9, 0xffffff];
const WING: Ramp = [0x3a1038, 0x7a3f9c, 0x9a58bd, 0xbf7fdc, 0xdfb0f2, 0xf7e0ff];
const HORN: Ramp = [0x5a3a3a, 0xc9a27a, 0xe3c79c, 0xf7e6c4, 0xfff6e0, 0xffffff];
const INK = 0x2a0d2c;

export const dragon = {
  name: 'Ember',
  hitbox: [6, 7, 21, 25],
  behaviour: { walkSpeed: 58, jumpSpeed: 700, gravity: 1200, bounce: 0.22 },
  draw({ animation, squash, lift, phase, eyes }: Pose): Picture {
    const picture = new Picture(32, 32);
    const asleep = animation === 'sleep';
    const climbing = animation === 'climb';
    const airborne = animation === 'fall' || animation === 'drag';
    const down = Math.max(0, squash) * 6;
    const bob = animation === 'walk' ? lift * 0.6 : 0;
    const x = climbing ? 18.5 : 14;
    const bodyY = 22.4 + down * 0.6 - bob - (airborne ? 1 : 0);
    const flap =
      airborne || climbing
        ? swing(phase)
        : asleep
          ? -1
          : animation === 'walk'
            ? swing(phase * 2) * 0.3
            : swing(phase) * 0.2;

    const tailTip = [2.8, bodyY + 2 - (airborne ? 1 : 4) - swing(phase) * 1.4 + (asleep ? 5 : 0)];
    picture.limb(x - 4, bodyY + 4, 3.2, x - 8.5, bodyY + 5.4, 2, { ramp: SCALE });
    picture.limb(x - 8.5, bodyY + 5.4, 2, tailTip[0] + 1, tailTip[1], 1.1, { ramp: SCALE, soft: true });
    picture.shape(
      [tailTip[0] - 2.4, tailTip[1] + 0.6, tailTip[0] + 0.8, tailTip[1] - 4, tailTip[0] + 3.6, tailTip[1] + 0.4],
      { ramp: WING },
    );

    drawWing(picture, x + 1.5, bodyY - 2.5, flap, -0.35);
    const leg = (side: number, far: boolean) => {
      const step = animation === 'walk' ? swing(phase + (far ? 0.5 : 0)) : 0;
      const footX = climbing ? x + 5.6 : x + side * 3.4 + 0.4 + step * 2.6 + (airborne ? swing(phase + side) : 0);
      const footY = climbing ? 28 + (far ? 1 : -1) * swing(phase) : 29.6 - Math.max(0, step) * 1.8;
      const part = { ramp: SCALE, light: far ? -0.45 : 0 };
      picture.limb(climbing ? x + 2 : x + side * 3.2, bodyY + 5, 2.1, footX, footY - 0.6, 1.7, part);
      picture.ellipse(footX + 1, footY, 2.5, 1.5, part);
    };
    leg(1, true);
    picture.ellipse(x, bodyY, 6 + down * 0.3, 7.2 - down * 0.5, { ramp: SCALE });
    picture.ellipse(x + 2, bodyY + 1, 4, 5.8 - down * 0.4, { ramp: BELLY, soft: true });
    for (const row of [-1, 2, 5]) picture.stamp(x, bodyY + row, ['#####'], BELLY[1], false);
    leg(-1, false);
    if (climbing || airborne) {
      const reach = climbing ? swing(phase) * 3 : swing(phase);
      picture.limb(x + 3.5, bodyY - 1.5, 1.7, climbing ? 28.6 : x + 7.6, bodyY - 4 - reach, 1.5, {
        ramp: SCALE,
        light: -0.3,
      });
      picture.limb(x + 2.5, bodyY - 0.5, 1.8, climbing ? 28.4 : x + 6.6, bodyY + 1 + reach, 1.6, { ramp: SCALE });
    } else {
      picture.limb(x + 4.6, bodyY - 0.4, 1.4, x + 7, bodyY + 1.4 + swing(phase) * 0.6, 1.2, { ramp: SCALE });
    }
    drawWing(picture, x - 3.4, bodyY - 1.4, flap, 0.1);
    const headX = x + (climbing ? 1 : 3.4);
    const headY = asleep ? bodyY - 3.6 : bodyY - 10.6 + down * 0.25 + (animation === 'idle' ? squash * 5 : 0);
    drawHead(picture, headX, headY, eyes);
    picture.outline();
    return picture;
  },
};

function drawWing(picture: Picture, x: number, y: number, flap: number, light: number): void {
  const tip = [x - 8.4, y - 5 - flap * 5];
  picture.shape(
    [
      x + 1.6,
      y,
      x - 2,
      y - 4 - flap * 3,
      tip[0],
      tip[1],
      tip[0] + 1.4,
      tip[1] + 4.4 + flap,
      x - 4.6,
      y - 0.4 - flap * 2,
      x - 4.4,
      y + 3 - flap,
      x - 1,
      y + 2.6,
    ],
    {
      ramp: WING,
      light,
    },
  );
  picture.limb(x, y, 0.9, tip[0] + 0.6, tip[1] + 0.6, 0.6, { ramp: WING, light: light + 0.3, soft: true });
}

function drawHead(picture: Picture, x: number, y: number, eyes: Pose['eyes']): void {
  picture.limb(x - 3.6, y - 4, 1.5, x - 5.6, y - 7.4, 0.7, { ramp: HORN });
  picture.limb(x + 1.8, y - 4.4, 1.5, x + 1.6, y - 8, 0.7, { ramp: HORN });
  picture.ellipse(x, y, 7, 5.8, { ramp: SCALE });
  picture.ellipse(x + 5, y + 2.6, 4.2, 3, { ramp: SCALE, soft: true, light: 0.12 });
  picture.ellipse(x + 4.4, y + 4.4, 3.6, 1.6, { ramp: BELLY, soft: true });
  // A frill down the neck.
  picture.shape([x - 6, y - 3.4, x - 9.4, y - 2.4, x - 6.8, y], { ramp: WING, soft: true });
  picture.shape([x - 6.6, y + 0.6, x - 9.6, y + 2.2, x - 6, y + 3.4], { ramp: WING, soft: true });
  const [left, top] = [Math.round(x), Math.round(y)];
  drawEyes(picture, left - 2, top - 2, 6, eyes, INK);
  picture.stamp(left + 8, top + 1, ['#'], SCALE[1], false);
  picture.stamp(left + 5, top + 1, ['#'], SCALE[1], false);
  if (eyes === 'wide') picture.stamp(left + 4, top + 4, ['###', '.##'], 0x7a1730, false);
  else picture.stamp(left + 3, top + 4, ['####'], SCALE[0], false);
  picture.stamp(left - 4, top + 2, ['##'], 0xffb3a3, false);
}

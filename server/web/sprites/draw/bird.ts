/** Pip, a round bluebird: it hops instead of walking, and flutters as it falls. Faces right. */
import { drawEyes } from './face.ts';
import { Picture, type Ramp } from './picture.ts';
import { type Pose, swing } from './pose.ts';

const FEATHER: Ramp = [0x15234f, 0x2a57a8, 0x3a7bd0, 0x57a5f0, 0x8dccff, 0xd0f0ff];
const BREAST: Ramp = [0x5a2c2c, 0xe08a5a, 0xf5ad74, 0xffd0a0, 0xffe8cc, 0xffffff];
const BEAK: Ramp = [0x6b3510, 0xd07f1e, 0xf0a52c, 0xffc94a, 0xffe38a, 0xfff6cf];

export const bird = {
  name: 'Pip',
  hitbox: [6, 10, 20, 22],
  behaviour: { walkSpeed: 70, jumpSpeed: 760, gravity: 900, bounce: 0.3 },
  draw({ animation, squash, lift, phase, eyes }: Pose): Picture {
    const picture = new Picture(32, 32);
    const asleep = animation === 'sleep';
    const climbing = animation === 'climb';
    const airborne = animation === 'fall' || animation === 'drag';
    const hop = animation === 'walk' ? lift * 1.5 : airborne || climbing ? 2 : 0;
    const rx = 9 * (1 + squash * 0.4);
    const ry = 9 * (1 - squash * 0.4);
    const x = climbing ? 17 : 15.4;
    const y = (asleep ? 30 : 28) - ry - hop;
    const legs = (side: number) => {
      if (asleep) return;
      const trail = animation === 'walk' ? -lift * side : airborne ? swing(phase + side / 4) * 1.4 : 0;
      const foot = climbing
        ? [26, 28.5 + side * swing(phase)]
        : [x + side * 3 + 1 + trail, airborne ? 29.6 : 30 - hop * 0.7];
      picture.limb(x + side * 2.6, y + ry - 2, 0.8, foot[0], foot[1], 0.8, { ramp: BEAK });
      picture.limb(foot[0] - 1, foot[1], 0.8, foot[0] + 1.6, foot[1], 0.7, { ramp: BEAK, soft: true });
    };
    legs(-1);
    legs(1);
    // The tail: two feathers that move with every breath.
    const tip = y + 1 - squash * 3 + (airborne ? swing(phase) * 2 - 3 : 0);
    picture.limb(x - 6, y + 3, 2.4, x - 12.2, tip - 1.4, 1.4, { ramp: FEATHER, light: -0.3 });
    picture.limb(x - 6, y + 3.6, 2.2, x - 11.6, tip + 1.4, 1.3, { ramp: FEATHER });
    if (airborne || climbing) drawWing(picture, x + 2, y, swing(phase + 0.12), -0.4);
    picture.ellipse(x, y, rx, ry, { ramp: FEATHER });
    picture.ellipse(x + 3, y + 3.4, rx * 0.62, ry * 0.58, { ramp: BREAST, soft: true });
    // A tuft on the head.
    picture.limb(x + 1, y - ry + 1.4, 1.3, x - 1.4 - squash * 2, y - ry - 2, 0.7, { ramp: FEATHER, soft: true });
    picture.limb(x + 1.6, y - ry + 1.4, 1.2, x + 1.6, y - ry - 1.6, 0.6, { ramp: FEATHER, soft: true });
    const open = eyes === 'wide' ? 1.4 : 0;
    picture.shape([x + 6.6, y - 3, x + 12.6, y - 0.8 - open * 0.6, x + 6.6, y + 1], { ramp: BEAK, light: 0.2 });
    if (open > 0) picture.shape([x + 6.6, y + 0.4, x + 11, y + 2.4, x + 6.2, y + 2.4], { ramp: BEAK, light: -0.5 });
    drawEyes(picture, Math.round(x) + 1, Math.round(y - 4), 4, eyes);
    picture.stamp(x - 2, y, ['##'], 0xff9fb0, false);
    if (airborne || climbing) drawWing(picture, x - 3.4, y + 1, swing(phase), 0);
    else picture.ellipse(x - 4, y + 2 + squash * 2, 4.6, 3.6, { ramp: FEATHER, light: -0.12 }, 0.5);
    picture.outline();
    return picture;
  },
};

function drawWing(picture: Picture, x: number, y: number, flap: number, light: number): void {
  for (const [i, length] of [9.4, 8, 6].entries()) {
    const turn = -2.3 - flap * 0.75 - i * 0.34;
    picture.limb(x, y, 2.2, x + Math.cos(turn) * length, y + Math.sin(turn) * length * 0.95, 1.5, {
      ramp: FEATHER,
      light: light - i * 0.14,
      soft: i > 0,
    });
  }
}

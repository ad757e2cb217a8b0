/** Truffle, a toadstool: a wide red cap with white dots on short legs. The cap tips when it moves. Faces right. */
import type { Character } from './character.ts';
import { drawFace } from './face.ts';
import type { Ramp } from './picture.ts';
import { swing } from './pose.ts';
import { GROUND, isInFront, type Joint, jointsOf, paintLimb } from './rig.ts';

const CAP: Ramp = [0x43131f, 0x9c1f2e, 0xc8323a, 0xe5534c, 0xff8a70, 0xffc2a4];
const STEM: Ramp = [0x5c4636, 0xc9a988, 0xe2c9a8, 0xf7e6cd, 0xfff4e4, 0xffffff];
const BOOT: Ramp = [0x2e1c18, 0x5c3a2c, 0x77503c, 0x94684e, 0xb58767, 0xd6ad8c];
const HEIGHT = 33;

export const mushroom: Character = {
  name: 'Truffle',
  size: [28, HEIGHT],
  behaviour: { walkSpeed: 48, jumpSpeed: 460, gravity: 900, bounce: 0.26 },
  paint(picture, pose) {
    const { body, hips, knees, feet, ...upper } = jointsOf(pose, GROUND - HEIGHT);
    // The stem is wide, so the arms begin farther out.
    const shoulders = upper.shoulders.map(([x, y], i): Joint => [x + (i === 0 ? -2.4 : 2.4), y + 1]);
    const hands = upper.hands.map(([x, y], i): Joint => {
      const out = i === 0 ? -1 : 1;
      const besideCap = (pose.arms === 'up' || pose.arms === 'wave') && y < body[1];
      return besideCap ? [body[0] + out * 17 + (x - body[0]) * 0.16, y + 5] : [x + out * 2.2, y];
    });
    const { legs, phase, eyes, mouth, animation } = pose;
    const asleep = legs === 'lie';
    const leg = (i: 0 | 1) => {
      const light = i === 0 ? -0.35 : 0;
      paintLimb(picture, [hips[i], knees[i], feet[i]], 2, 2, { ramp: STEM, light });
      picture.ellipse(feet[i][0] + (legs === 'sit' ? 0 : 0.8), feet[i][1], 3.2, 2.1, { ramp: BOOT, light });
    };
    const arm = (i: 0 | 1) =>
      paintLimb(picture, [shoulders[i], hands[i]], 2, 2.1, { ramp: STEM, light: i === 0 ? -0.2 : 0.1 });
    const bothArms = () => {
      arm(0);
      arm(1);
    };
    if (legs !== 'sit') leg(0);
    if (!isInFront(pose)) bothArms(); // behind the stem and the cap: they would cover the face
    const [x, y] = [body[0], body[1] - 3];
    picture.limb(x, y - 4, 8, x, y + 0.6, 8.8, { ramp: STEM });
    if (legs === 'sit') leg(0);
    leg(1);
    const capY = y - 8.6 + (asleep ? 6 : 0) + (animation === 'land' || animation === 'squash' ? pose.squash * 2 : 0);
    const tip = legs === 'walk' ? 0.08 * swing(phase) : asleep ? 0.12 : 0.04 * swing(phase);
    drawFace(picture, x + 1.6, y + (asleep ? 3 : 0.2), { eyes, mouth, gap: 5, blush: 0xf4a39a });
    // The cap is a dome over a darker rim.
    picture.ellipse(x, capY + 1.4, 17.4, 3.6, { ramp: CAP, light: -0.9 }, tip);
    picture.ellipse(x, capY + 1, 17.4, 15, { ramp: CAP, soft: true }, tip, capY + 1.4);
    for (const [dx, dy, rx, ry] of [
      [-9, -5, 3.4, 2.9],
      [2, -9, 3.6, 2.7],
      [11, -3.4, 2.9, 2.6],
      [-1.4, -2.4, 2, 1.5],
    ]) {
      picture.ellipse(
        x + dx,
        capY + dy,
        rx,
        ry,
        { ramp: [STEM[1], STEM[2], STEM[3], STEM[4], STEM[5], STEM[5]], soft: true },
        dx * 0.05,
      );
    }
    if (isInFront(pose)) bothArms();
  },
};

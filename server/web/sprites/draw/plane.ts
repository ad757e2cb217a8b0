/** Swoop, a paper plane: it walks on two thin legs, and glides a long way when it is thrown. Its nose is at the right. */
import type { Character } from './character.ts';
import { drawFace } from './face.ts';
import type { Ramp } from './picture.ts';
import { swing } from './pose.ts';
import { GROUND } from './rig.ts';

const PAPER: Ramp = [0x3a3f66, 0xa9b4d8, 0xc6d0ec, 0xe6ecfb, 0xf8faff, 0xffffff];
const LINE = 0x8fb4f0;
const LEG: Ramp = [0x4a2a2a, 0xb0563a, 0xd06a42, 0xf08a52, 0xffb07a, 0xffd0a8];

export const plane: Character = {
  name: 'Swoop',
  size: [32, 29],
  behaviour: { walkSpeed: 74, jumpSpeed: 430, gravity: 300, bounce: 0.12 },
  turnOf: ({ animation, turn }) => (animation === 'throw' ? (turn - 0.7) * 1.5 : turn),
  paint(picture, pose) {
    const { legs, arms, phase, eyes, mouth, animation } = pose;
    const flies = legs === 'dangle' || legs === 'tuck';
    const asleep = legs === 'lie';
    const down = asleep ? 6 : legs === 'sit' ? 6 : arms === 'hang' ? 2 : 0;
    const y = 20 + down;
    const tilt = animation === 'throw' ? 0 : asleep ? 3 : -2;
    const flap = (arms === 'up' || arms === 'wave' || arms === 'both' ? 2.4 : 1) * swing(phase);
    if (!asleep && !flies) {
      for (const side of [-1, 1]) {
        const step = swing(phase + (side > 0 ? 0 : 0.5));
        let foot = [
          24 + side * 3.4 + (legs === 'walk' ? step * 5 : 0),
          40.6 - (legs === 'walk' ? Math.max(0, swing(phase + (side > 0 ? 0.25 : 0.75))) * 3 : 0),
        ];
        if (legs === 'sit') foot = [24 + side * 3.6 + step, 45.2];
        if (legs === 'climb') foot = [38, 34 + side * swing(phase) * 3];
        const part = { ramp: LEG, light: side < 0 ? -0.4 : 0 };
        picture.limb(22 + side * 2.4, y + 12, 1.1, foot[0], foot[1], 1, part);
        if (legs !== 'climb') picture.limb(foot[0], foot[1], 1, foot[0] + 2.6, foot[1], 1, { ...part, soft: true });
      }
    }
    const nose = [43, y + 1 + tilt];
    if (arms === 'hang')
      for (const side of [-1, 1]) picture.limb(24 + side * 4, y, 1.1, 24 + side * 8, GROUND - 27, 1.3, { ramp: LEG });
    // The far wing, the keel with the face, and the near wing over it.
    picture.shape([...nose, 9, y - 11 - tilt + flap, 14, y - 1 - tilt], { ramp: PAPER, light: -0.55 });
    picture.shape([...nose, 11, y - tilt, 13, y + 16 - tilt * 0.6, 23, y + 14], { ramp: PAPER, light: -0.1 });
    picture.shape([...nose, 5, y - 6 - tilt - flap, 13, y + 1.6 - tilt], { ramp: PAPER, light: 0.4 });
    picture.stamp(12, y - 3 - tilt, ['l....', '.ll..', '...ll'], { l: LINE });
    drawFace(picture, 24, y + 6.2, {
      eyes,
      mouth: mouth === 'smile' || mouth === 'none' ? 'none' : 'flat',
      gap: 3,
      ink: 0x2a2d4a,
    });
    picture.stamp(17.5, y + 9, ['bb', 'bb'], { b: 0xf7b0c0 });
  },
};

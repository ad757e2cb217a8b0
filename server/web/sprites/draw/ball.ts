/** Jolly, a rubber ball: it rolls instead of walking, is flat for a moment when it lands, and bounces on and on. */
import type { Character } from './character.ts';
import { drawFace } from './face.ts';
import type { Ramp } from './picture.ts';
import { swing } from './pose.ts';
import { GROUND } from './rig.ts';

const RUBBER: Ramp = [0x4a1030, 0xa81f4b, 0xd6334f, 0xf4565a, 0xff8b78, 0xffd2be];
const STRIPE: Ramp = [0x7a5a1a, 0xe0a52c, 0xf7c33c, 0xffdd5e, 0xffee9c, 0xfffbe0];
const RADIUS = 14;

export const ball: Character = {
  name: 'Jolly',
  size: [28, 29],
  behaviour: { walkSpeed: 90, jumpSpeed: 620, gravity: 1500, bounce: 0.82 },
  turnOf: () => 0, // it paints its stripes turned, and its face upright
  paint(picture, pose) {
    const { legs, arms, phase, animation, eyes, mouth } = pose;
    const [x, y] = [legs === 'climb' ? 26 : 24, arms === 'hang' ? 29 : GROUND - 1 - RADIUS - (legs === 'sit' ? -1 : 0)];
    const rolls = ['walk', 'throw', 'climb', 'tumble'].includes(animation);
    const turn = rolls ? phase * 2 * Math.PI : swing(phase) * 0.1;
    const limb = (side: number, to: readonly [number, number]) =>
      picture.limb(x + side * 8, y + (arms === 'hang' ? -7 : 3), 2, ...to, 2, { ramp: RUBBER, light: side * 0.1 });
    // It has no arms and legs, unless it needs them.
    if (arms === 'hang') for (const side of [-1, 1]) limb(side, [24 + side * 10, GROUND - 28]);
    if (legs === 'sit')
      for (const side of [-1, 1])
        picture.limb(x + side * 5, 39, 2.2, x + side * 5.4 + swing(phase + side / 4), 44.4, 2.2, { ramp: RUBBER });
    if (arms === 'wave') limb(1, [x + 17, y - 9 + swing(phase) * 3]);
    if (animation === 'greet') for (const side of [-1, 1]) limb(side, [x + side * 17, y - 6 + swing(phase) * 3]);
    picture.ellipse(x, y, RADIUS, RADIUS, { ramp: RUBBER });
    // The patches turn with the ball. The face does not.
    const at = (angle: number, far: number): [number, number] => [
      x + Math.cos(turn + angle) * far,
      y + Math.sin(turn + angle) * far,
    ];
    for (const [angle, size] of [
      [0.9, 5],
      [3, 3.6],
      [5, 4.4],
    ]) {
      picture.ellipse(...at(angle, 9.4), size, size * 0.55, { ramp: STRIPE, soft: true }, turn + angle + Math.PI / 2);
    }
    picture.stamp(x - 6.5, y - 8, ['.www', 'www.', 'ww..'], { w: 0xfff0e8 });
    drawFace(picture, x + 1.5, y - 0.5, { eyes, mouth, gap: 6, ink: 0x3a0a28 });
  },
};

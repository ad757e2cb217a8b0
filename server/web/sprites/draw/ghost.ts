/** Wisp, a shy ghost: it floats with a rippling hem, a curl on its head, and falls more slowly than all others. */
import type { Character } from './character.ts';
import { drawFace } from './face.ts';
import type { Ramp } from './picture.ts';
import { swing } from './pose.ts';
import { GROUND, isInFront } from './rig.ts';

const SHEET: Ramp = [0x342a66, 0x8d83d6, 0xb3aeee, 0xdad8ff, 0xf3f2ff, 0xffffff];

export const ghost: Character = {
  name: 'Wisp',
  size: [26, 34],
  behaviour: { walkSpeed: 44, jumpSpeed: 360, gravity: 520, bounce: 0.5 },
  paint(picture, pose) {
    const { legs, arms, phase, eyes, mouth } = pose;
    const x = legs === 'climb' ? 26 : 24;
    const float = legs === 'stand' ? swing(phase) * 0.9 : 0;
    const down = legs === 'sit' ? 3 : arms === 'hang' ? 2 : 0;
    const [rx, y] = [12, 21 + float + down];
    const hem = legs === 'sit' ? 45 : 40;
    const sheet = { ramp: SHEET, soft: true, glow: (_x: number, py: number) => Math.min(0.3, (py - y) * -0.025) };
    const drift = legs === 'walk' ? -2.4 : legs === 'dangle' ? swing(phase) : 0;
    // A curl of cloth on top.
    picture.limb(x - 1, y - 9, 4, x - 4 + swing(phase) * 0.8, y - 12.6, 1.6, { ...sheet, light: 0.1 });
    picture.ellipse(x - 6 + swing(phase) * 0.8, y - 12.2, 1.7, 1.5, sheet);
    for (const [i, offset] of [-0.72, -0.24, 0.26, 0.74].entries()) {
      const ripple = swing(phase + i / 3);
      picture.limb(x + offset * rx * 0.9, y + 8, 4.4, x + offset * rx + drift + ripple, hem - 2 + ripple * 1.1, 2.2, {
        ...sheet,
        light: i % 2 === 0 ? -0.2 : -0.34,
      });
    }
    const arm = (side: number) => {
      const beat = swing(phase + (side > 0 ? 0.5 : 0));
      let hand: [number, number] = [x + side * 14, y + 11 + beat * 0.8];
      if (arms === 'up' || (arms === 'wave' && side > 0))
        hand = [x + side * 16.4 + (arms === 'wave' ? beat * 1.6 : 0), y - 2 + beat];
      else if (arms === 'both') hand = [x + side * 15.4, y + 5 + beat];
      else if (arms === 'hang') hand = [24 + side * 13, GROUND - 32];
      else if (arms === 'ahead') hand = [x + side * 5, y - 16];
      else if (arms === 'cheeks') hand = [x + side * 9, y + 6.4 + beat * 0.6];
      else if (arms === 'mouth' && side > 0) hand = [x + 7, y + 7];
      else if (arms === 'climb') hand = [37.6, y + 6 + side * (4 + swing(phase) * 3)];
      picture.limb(x + side * 8, y + (arms === 'hang' || arms === 'ahead' ? -2 : 6.4), 3.2, ...hand, 2.4, {
        ...sheet,
        light: side > 0 ? -0.05 : 0.12,
      });
    };
    if (!isInFront(pose)) for (const side of [-1, 1]) arm(side);
    picture.limb(x, y, rx, x + drift * 0.4, hem - 12.8, rx * 0.98, sheet);
    if (isInFront(pose)) for (const side of [-1, 1]) arm(side);
    // Folds of the cloth.
    picture.stamp(x - 6, hem - 9, ['d', 'd', 'd', 'd'], { d: SHEET[2] });
    picture.stamp(x + 5, hem - 8, ['d', 'd', 'd'], { d: SHEET[2] });
    drawFace(picture, x + 2, y - 0.5, {
      ...{ eyes, mouth: mouth === 'smile' ? 'round' : mouth, gap: 6 },
      ...{ ink: 0x2b2158, tongue: 0xc56bd0, blush: 0xf7a6d0 },
    });
  },
};

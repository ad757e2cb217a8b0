/** Wisp, a shy ghost: it floats, its hem ripples, and it falls more slowly than all others. */
import { drawEyes, drawMouth } from './face.ts';
import { Picture, type Ramp } from './picture.ts';
import { type Pose, swing } from './pose.ts';

const SHEET: Ramp = [0x342a66, 0x8d83d6, 0xb3aeee, 0xdad8ff, 0xf3f2ff, 0xffffff];
const BLUSH = 0xf7a6d0;

export const ghost = {
  name: 'Wisp',
  hitbox: [6, 6, 20, 26],
  behaviour: { walkSpeed: 44, jumpSpeed: 360, gravity: 520, bounce: 0.5 },
  draw({ animation, squash, phase, eyes }: Pose): Picture {
    const picture = new Picture(32, 32);
    const asleep = animation === 'sleep';
    const float = asleep || animation === 'land' ? 0 : swing(phase) * 1.1;
    const lean = animation === 'walk' ? 1.6 : animation === 'climb' ? 3 : animation === 'drag' ? swing(phase) : 0;
    const rx = 9 * (1 + squash * 0.5);
    const top = 4.5 + squash * 14 + float;
    const hem = animation === 'land' || asleep ? 30.4 : 29.4 + float * 0.3;
    const y = top + rx;
    const upright = { ramp: SHEET, soft: true, glow: (_x: number, py: number) => Math.min(0.3, (py - y) * -0.03) };
    // The sheet: a dome, cloth that hangs from it, and three tips that ripple and trail behind the movement.
    for (const [i, offset] of [-0.66, 0, 0.66].entries()) {
      const ripple = swing(phase + i / 3);
      const x = 16 + offset * rx - lean * 1.5 + ripple * 0.7;
      picture.limb(16 + offset * rx * 0.8, y + 4, rx * 0.42, x, hem - 2.2 + ripple * 0.8, 2.5, {
        ...upright,
        light: -0.28,
      });
    }
    picture.limb(16 + lean * 0.4, y, rx, 16 - lean * 0.8, Math.max(y, hem - 2.6 - rx * 0.98), rx * 0.98, upright);
    const arm = (side: number) => {
      const wave = swing(phase + (side > 0 ? 0.5 : 0)) * 1.1;
      const raised = eyes === 'wide' ? -5 : animation === 'climb' ? (side > 0 ? -2.5 : 2.5) : 1.6;
      const reach = animation === 'climb' ? rx + 3 : side * (rx + 1.4);
      const from = animation === 'climb' ? rx - 3 : side * (rx - 1.5);
      picture.limb(16 + from + lean * 0.4, y + 3.4, 2, 16 + reach + lean * 0.4, y + 3.4 + raised + wave, 1.7, {
        ramp: SHEET,
        soft: true,
        light: side > 0 ? -0.1 : 0.1,
      });
      // A fold where the arm leaves the sheet.
      if (animation !== 'climb') picture.stamp(15.5 + side * (rx - 3), y + 3, ['#', '#'], SHEET[1], false);
    };
    arm(-1);
    arm(1);
    const faceX = Math.round(17 + lean);
    const faceY = Math.round(y - 2);
    drawEyes(picture, faceX - 4, faceY, 6, eyes, 0x2b2158);
    if (eyes === 'open' || eyes === 'blink') picture.stamp(faceX - 1, faceY + 5, ['##', '##'], 0x2b2158, false);
    else drawMouth(picture, faceX, faceY + 4, eyes, 0xc56bd0, 0x2b2158);
    picture.stamp(faceX - 7, faceY + 4, ['##'], BLUSH, false);
    picture.stamp(faceX + 4, faceY + 4, ['##'], BLUSH, false);
    picture.outline();
    return picture;
  },
};

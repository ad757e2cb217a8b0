/** Blob, a drop of slime: light shines through it from below, a bubble floats inside, and its tip nods as it moves. */
import type { Character } from './character.ts';
import { drawFace } from './face.ts';
import type { Ramp } from './picture.ts';
import { swing } from './pose.ts';
import { GROUND, isInFront } from './rig.ts';

const SLIME: Ramp = [0x0f3b3f, 0x1b7f6e, 0x2bab7d, 0x4fd48a, 0x8df0a3, 0xd6ffd0];

export const blob: Character = {
  name: 'Blob',
  size: [32, 30],
  behaviour: { walkSpeed: 52, jumpSpeed: 520, gravity: 1800, bounce: 0.42 },
  hops: true,
  paint(picture, pose) {
    const { legs, arms, phase, eyes, mouth, squash } = pose;
    const asleep = legs === 'lie';
    const sits = legs === 'sit';
    const x = legs === 'climb' ? 27 : 24;
    const floor = arms === 'hang' || legs === 'dangle' || legs === 'tuck' ? 60 : GROUND - 1;
    const y = arms === 'hang' ? 30 : 31.4;
    const [rx, ry] = [14.6, asleep ? 10.6 : 12];
    const part = {
      ramp: SLIME,
      glow: (_x: number, py: number) => (py > y ? Math.min(0.75, ((py - y) / ry) * 1.1) : 0),
    };
    const nod = swing(phase) * 1.6 + (legs === 'walk' ? -2 : 0);
    // The tip: it hangs to one side in sleep, and trails behind in the air.
    const tip = asleep ? [x - 9, y - 9] : [x + nod - 1, y - ry - (legs === 'dangle' ? 8 : 6) + (squash > 0.3 ? 3 : 0)];
    const arm = (side: number) => {
      const beat = swing(phase + (side > 0 ? 0 : 0.5));
      let hand: [number, number] = [x + side * 13.4, y + 5];
      if (arms === 'up') hand = [x + side * 17, y - 7 + beat];
      else if (arms === 'both') hand = [x + side * 16, y + 1];
      else if (arms === 'wave' && side > 0) hand = [x + 18 + beat * 1.6, y - 8];
      else if (arms === 'hang') hand = [24 + side * 9, GROUND - 29];
      else if (arms === 'ahead') hand = [x + side * 6, y - 19];
      else if (arms === 'cheeks') hand = [x + side * 11, y + 1];
      else if (arms === 'mouth' && side > 0) hand = [x + 10, y + 1];
      else if (arms === 'climb') hand = [38.6, y - 2 + side * (5 + swing(phase) * 3)];
      else return;
      picture.limb(x + side * 8, arms === 'hang' || arms === 'ahead' ? y - 4 : y + 1, 3.6, ...hand, 2.2, {
        ...part,
        soft: true,
      });
    };
    if (sits) {
      for (const side of [-1, 1]) {
        picture.limb(24 + side * 6, 39, 3, 24 + side * 6.4 + swing(phase + side / 4), 44, 2.4, {
          ...part,
          light: -0.1,
        });
      }
    }
    if (!isInFront(pose)) for (const side of [-1, 1]) arm(side);
    picture.limb(x, y - ry * 0.52, 8.6, tip[0], tip[1], 1.5, { ...part, soft: true });
    picture.ellipse(x, y, rx, ry, { ...part, soft: true }, 0, floor);
    if (floor < 60) picture.box(x - 11.6, y + 4, 23.2, GROUND - 5 - y, 3, { ...part, soft: true, light: 0.2 });
    if (isInFront(pose)) for (const side of [-1, 1]) arm(side);
    // The bubbles, and the highlight on the wet skin.
    picture.stamp(x - 8, y + 6 - swing(phase), ['.dd.', 'dl.d', 'd..d', '.dd.'], { d: SLIME[3], l: 0xffffff });
    picture.stamp(x + 9, y + 4 + swing(phase), ['ll', 'l.'], { l: SLIME[5] });
    picture.stamp(x - 8.5, y - 6, ['..ww', '.ww.', 'ww..', 'w...'], { w: 0xf4fff0 });
    drawFace(picture, x + 2, y - 1, { eyes, mouth, gap: 7, blush: 0xff9aa8 });
  },
};

/** Blob, a slime: light shines through it from below, a bubble floats inside, and it moves by changing its shape. */
import { drawEyes, drawMouth } from './face.ts';
import { Picture, type Ramp } from './picture.ts';
import { type Pose, swing } from './pose.ts';

const SLIME: Ramp = [0x0f3b3f, 0x1b7f6e, 0x2bab7d, 0x4fd48a, 0x8df0a3, 0xd6ffd0];
const BLUSH = 0xff9aa8;

export const blob = {
  name: 'Blob',
  hitbox: [5, 11, 22, 21],
  behaviour: { walkSpeed: 52, jumpSpeed: 520, gravity: 1800, bounce: 0.42 },
  draw({ animation, squash, lift, phase, eyes }: Pose): Picture {
    const picture = new Picture(32, 32);
    const hop = animation === 'walk' ? lift * 1.6 : lift;
    const lean = animation === 'drag' ? swing(phase) * 1.5 : animation === 'climb' ? 3 : 0;
    const floor = 31 - hop;
    const rx = Math.min(14.4, 10.6 * (1 + squash * 0.62));
    const ry = 11.4 * (1 - squash * 0.6);
    const y = floor - ry * 0.62;
    const body = {
      ramp: SLIME,
      glow: (_x: number, py: number) => (py > y ? Math.min(0.75, ((py - y) / ry) * 1.15) : 0),
    };
    picture.ellipse(16 + lean, y, rx, ry, body, 0, floor);
    if (animation === 'drag' || animation === 'fall') {
      // A drop that trails behind the body.
      picture.limb(16 + lean * 0.6, y - ry * 0.6, 4, 16 - lean, y - ry - 2.4, 1.1, { ramp: SLIME, soft: true });
    }
    if (animation === 'climb') {
      const reach = swing(phase) * 3;
      picture.limb(23, y - 2, 3, 28.6, y - 4 - reach, 2.3, { ramp: SLIME, soft: true });
      picture.limb(23, y + 4, 3, 28.6, y + 4 + reach, 2.3, { ramp: SLIME, soft: true });
    }
    // The bubble, and the highlight on the wet skin.
    const bubble = [Math.round(16 + lean - rx * 0.5), Math.round(y + ry * 0.22 - swing(phase))];
    picture.stamp(bubble[0], bubble[1], ['##', '##'], SLIME[2], false);
    picture.stamp(bubble[0], bubble[1], ['#'], SLIME[4], false);
    const shineX = 16 + lean - rx * 0.55;
    const shineY = y - ry * 0.58;
    picture.stamp(shineX, shineY, ['.##', '##.', '#..'], 0xffffff, false);
    const faceX = Math.round(15 + lean + 1);
    const faceY = Math.round(y - ry * 0.12 - 1);
    drawEyes(picture, faceX - 3, faceY, 6, eyes);
    drawMouth(picture, faceX + 1, faceY + 4 - (ry < 8 ? 1 : 0), eyes);
    picture.stamp(faceX - 6, faceY + 3, ['##'], BLUSH, false);
    picture.stamp(faceX + 6, faceY + 3, ['##'], BLUSH, false);
    picture.outline();
    return picture;
  },
};

/** Bolt, a robot: a television as its head, thin arms and legs, and a lamp that is off while it sleeps. */
import type { Character } from './character.ts';
import type { Eyes } from './face.ts';
import type { Picture, Ramp } from './picture.ts';
import { swing } from './pose.ts';
import { GROUND, isInFront, jointsOf, paintLimb } from './rig.ts';

const SHELL: Ramp = [0x1e2440, 0x4a5a80, 0x6f86ad, 0x9fb8d6, 0xcfe2f2, 0xf6fdff];
const TRIM: Ramp = [0x4a1626, 0xa8323f, 0xd84a45, 0xf7705a, 0xffa07a, 0xffd6ad];
const JOINT: Ramp = [0x161a30, 0x2c3454, 0x3b466b, 0x4f5d87, 0x6c7da8, 0x93a4cc];
const GLASS: Ramp = [0x10142a, 0x10142a, 0x161c38, 0x1c2546, 0x222e58, 0x2c3c6c];
const GLOW = 0x6ff3ff;
const DIM = 0x3579a0;
const HEIGHT = 36;

/** What its screen shows: 13 × 6 points. */
const SCREENS: Record<Eyes, readonly string[]> = {
  open: ['.gg.....gg.', 'gwwg...gwwg', 'gwwg...gwwg', '.gg.....gg.', '...........', '...ggggg...'],
  look: ['...gg.....gg', '..ggwg...ggwg', '..ggwg...ggwg', '...gg.....gg', '............', '.....ggg....'],
  blink: ['...........', '...........', 'gggg...gggg', '...........', '...........', '...ggggg...'],
  wide: ['.gggg.gggg.', 'gwwwwgwwwwg', 'gwggwgwggwg', 'gwwwwgwwwwg', '.gggg.gggg.', '....ggg....'],
  happy: ['.gg.....gg.', 'g..g...g..g', '...........', '..g.....g..', '...ggggg...', '...........'],
  asleep: ['...........', '...........', 'd..d...d..d', '.dd.....dd.', '...........', '....ddd....'],
  dizzy: ['g..g...g..g', '.gg.....gg.', '.gg.....gg.', 'g..g...g..g', '...........', '..g.g.g.g..'],
  effort: ['gg.......gg', '..gg...gg..', 'gg.......gg', '...........', '..ggggggg..', '...........'],
};

export const robot: Character = {
  name: 'Bolt',
  size: [26, HEIGHT],
  behaviour: { walkSpeed: 66, jumpSpeed: 560, gravity: 2000, bounce: 0.24 },
  paint(picture, pose) {
    const { head, body, hips, knees, feet, shoulders, hands } = jointsOf(pose, GROUND - HEIGHT);
    const { legs, phase, eyes, mouth } = pose;
    const asleep = legs === 'lie';
    const leg = (i: 0 | 1) => {
      paintLimb(picture, [hips[i], knees[i], feet[i]], 1.7, 1.5, { ramp: JOINT, light: i === 0 ? -0.3 : 0 });
      picture.box(feet[i][0] - 3, feet[i][1] - 2.2, 7.4, 3.6, 1.6, { ramp: TRIM, light: i === 0 ? -0.3 : 0 });
    };
    const arm = (i: 0 | 1) => {
      paintLimb(picture, [shoulders[i], hands[i]], 1.6, 1.4, { ramp: JOINT, light: i === 0 ? -0.25 : 0 });
      picture.ellipse(...hands[i], 2.7, 2.6, { ramp: TRIM, light: i === 0 ? -0.2 : 0.05 });
    };
    if (legs !== 'sit') leg(0);
    if (!isInFront(pose)) arm(0);
    picture.limb(head[0], head[1] + 7, 1.8, body[0], body[1] - 3, 1.8, { ramp: JOINT });
    picture.box(body[0] - 6.6, body[1] - 5.4, 13.2, 11.4, 3, { ramp: SHELL });
    picture.box(body[0] - 2, body[1] - 2, 6.4, 4.4, 1.4, { ramp: TRIM, soft: true });
    picture.stamp(body[0] - 4, body[1] + 3.5, ['d.d', '...', 'd.d'], { d: SHELL[2] });
    if (legs === 'sit') leg(0);
    leg(1);
    if (!isInFront(pose)) arm(1);
    const [x, y] = head;
    const whip = legs === 'dangle' || legs === 'tuck' || legs === 'walk' ? swing(phase) * 2 : 0;
    picture.limb(x - 1, y - 8, 1.1, x - 1 + whip, y - 10.4, 0.9, { ramp: JOINT });
    picture.ellipse(x - 1 + whip, y - 11.2, 2.3, 2.3, { ramp: asleep ? JOINT : TRIM, light: phase < 0.5 ? 0.3 : 0 });
    picture.box(x - 14.4, y - 2.6, 3.4, 6, 1.4, { ramp: TRIM });
    picture.box(x + 11, y - 2.6, 3.4, 6, 1.4, { ramp: TRIM, light: -0.2 });
    picture.box(x - 12.4, y - 8.6, 24.8, 16.6, 4.6, { ramp: SHELL });
    picture.box(x - 9.2, y - 5.6, 19.6, 11, 3, { ramp: GLASS, soft: true });
    paintScreen(picture, x + 0.6, y - 0.3, eyes, mouth === 'laugh' ? 'happy' : eyes);
    picture.stamp(x - 7.5, y - 4, ['ww', 'w.'], { w: 0x5a6ea8 });
    if (isInFront(pose)) {
      arm(0);
      arm(1);
    }
  },
};

function paintScreen(picture: Picture, x: number, y: number, eyes: Eyes, shown: Eyes): void {
  picture.stamp(x, y, SCREENS[eyes === 'effort' ? 'effort' : shown], { g: GLOW, w: 0xe8feff, d: DIM });
}

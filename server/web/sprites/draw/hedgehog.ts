/**
 * Quill, a hedgehog: low and wide on short legs. It rolls itself into a ball of spines when it is thrown, and unrolls on the ground.
 * Faces right.
 */
import type { Character } from './character.ts';
import { drawFace, type Mouth } from './face.ts';
import type { Picture, Ramp } from './picture.ts';
import { type Pose, swing } from './pose.ts';
import { GROUND } from './rig.ts';

const SPINE: Ramp = [0x2a1a1c, 0x4f352f, 0x6e4b3d, 0x8f6750, 0xb98f6c, 0xe8cfa4];
const FUR: Ramp = [0x5a3a2c, 0xcf9f78, 0xe6bd94, 0xf9dcb8, 0xffeed6, 0xffffff];
const INK = 0x2a1626;
const HEIGHT = 25;
const QUARTER = Math.PI / 2;

/** Animations that show it from the side, on four feet. All others show it from the front. */
const FROM_SIDE: ReadonlySet<string> = new Set(['idle', 'walk', 'climb', 'sit', 'look']);

/** Spines around it, seen from the front, and the places of those that point at you. */
const SPINES = 13;
const FRONT_TIPS = [
  [-6, -7],
  [-1, -9],
  [4, -7],
  [-9, 0],
  [-8, 6],
] as const;

/** Its mouth is below its nose, so it is smaller than those of other faces. */
const MOUTHS: Partial<Record<Mouth, readonly string[]>> = {
  smile: ['i..i', '.ii.'],
  laugh: ['iiii', 'ippi', '.ii.'],
  round: ['.i.', 'ipi', '.i.'],
  yawn: ['.ii.', 'ippi', 'ippi', '.ii.'],
  flat: ['iii'],
  wobbly: ['.i.i', 'i.i.'],
};

export const hedgehog: Character = {
  name: 'Quill',
  size: [30, HEIGHT],
  behaviour: { walkSpeed: 54, jumpSpeed: 440, gravity: 1700, bounce: 0.56 },
  turnOf: ({ animation, turn }) => {
    if (animation === 'throw') return 0; // only its spines turn
    return animation === 'climb' ? -QUARTER : turn - (animation === 'look' ? 0.12 : 0);
  },
  paint(picture, pose) {
    if (FROM_SIDE.has(pose.animation)) paintSide(picture, pose);
    else paintFront(picture, pose);
  },
};

/** Paints spines around the rim of an ellipse, from one angle to another. They are dark with a bright tip. */
function paintSpines(
  picture: Picture,
  [x, y]: readonly [number, number],
  [rx, ry]: readonly [number, number],
  [from, to, count]: readonly [number, number, number],
  lean: number,
): void {
  const step = (to - from) / count;
  for (let i = 0; i <= count; i++) {
    const angle = from + i * step;
    const at = (turn: number, far: number): [number, number] => [
      x + Math.cos(angle + turn) * (rx + far),
      y + Math.sin(angle + turn) * (ry + far),
    ];
    const half = Math.abs(step) * 0.58;
    const [left, right, tip] = [at(-half, -2.4), at(half, -2.4), at(lean, 4.2)];
    picture.shape([...left, ...tip, ...right], { ramp: SPINE, soft: true, light: Math.sin(angle) < -0.2 ? 0.1 : -0.5 });
  }
}

/** Short bright strokes on its back: the tips of the spines that point at you. */
function paintTips(picture: Picture, x: number, y: number, places: readonly (readonly [number, number])[]): void {
  for (const [dx, dy] of places) picture.stamp(x + dx, y + dy, ['l.', '.l', '.d'], { l: SPINE[5], d: SPINE[1] });
}

function paintSide(picture: Picture, pose: Pose): void {
  const { legs, phase, eyes, mouth } = pose;
  const [x, y] = [20.4, 29.6 + (legs === 'sit' ? 1.6 : legs === 'climb' ? 3 : 0)];
  const foot = (at: number, beat: number, light: number) => {
    let [footX, footY] = [x + at, 40.2];
    if (legs === 'walk') {
      footX += swing(beat) * 3;
      footY -= Math.max(0, swing(beat + 0.25)) * 2.4;
    } else if (legs === 'sit') [footX, footY] = [footX + swing(beat) * 0.9, 45];
    else if (legs === 'climb') [footX, footY] = [footX + swing(beat) * 2.4, 44.4];
    picture.limb(x + at * 0.94, y + 7.4, 2.6, footX, footY - 1, 2.2, { ramp: FUR, light });
    picture.ellipse(footX + 1, footY, 2.8, 1.8, { ramp: FUR, light: light - 0.1 });
  };
  foot(-7, phase + 0.5, -0.6);
  foot(13.4, phase, -0.6);
  const [rx, ry] = [13, 10];
  paintSpines(picture, [x, y], [rx, ry], [QUARTER + 0.7, 2 * Math.PI - 0.42, 11], -0.14 + swing(phase) * 0.04);
  picture.ellipse(x + 3, y + 5, 12.4, 6.4, { ramp: FUR });
  picture.ellipse(x, y - 0.6, rx, ry - 0.4, { ramp: SPINE, soft: true });
  paintTips(picture, x, y, [
    ...([
      [-8, -2],
      [-4, -6],
      [-3, 1],
      [1, -3],
      [4, -7],
      [5, 2],
      [-8, 4],
      [0, 6],
    ] as const),
  ]);
  foot(-10, phase, -0.1);
  foot(10, phase + 0.5, -0.1);
  // The head: an ear, a face, and a pointed nose.
  const nod = legs === 'walk' ? swing(phase * 2) * 0.6 : swing(phase) * 0.4;
  const [headX, headY] = [x + 13.4, y + 1.4 + nod];
  picture.ellipse(headX - 4.4, headY - 7, 3.3, 3.5, { ramp: FUR, light: -0.15 });
  picture.ellipse(headX - 4.2, headY - 6.8, 1.6, 1.8, {
    ramp: [0, 0xe8909a, 0xe8909a, 0xe8909a, 0xe8909a, 0xe8909a],
    soft: true,
  });
  picture.ellipse(headX, headY, 8.2, 7.4, { ramp: FUR });
  picture.limb(headX + 3, headY + 2.4, 4.8, headX + 10, headY + 2.8, 1.9, { ramp: FUR, soft: true });
  drawFace(picture, headX + 1, headY - 0.8, { eyes, mouth: 'none', gap: 3, ink: INK });
  picture.stamp(headX + 11, headY + 1.6, ['.nn', 'nwn', 'nnn'], { n: INK, w: 0xb9a4b4 }, true);
  paintMouth(picture, headX + 6.5, headY + 5.5, mouth);
  picture.stamp(headX - 3.5, headY + 3.5, ['bb', 'bb'], { b: 0xff9f9a });
}

/** From the front, as a ball of spines with a face in it: on its hind feet, in the air, or rolled up. */
function paintFront(picture: Picture, pose: Pose): void {
  const { animation, legs, arms, phase, eyes, mouth } = pose;
  const isRolled = legs === 'tuck' || legs === 'lie' || animation === 'squash';
  const [x, y] = [24, arms === 'hang' ? 32 : GROUND - (isRolled ? 13.4 : 15.4)];
  const limb = (fromX: number, fromY: number, toX: number, toY: number, light = 0) =>
    picture.limb(x + fromX, y + fromY, 2.3, x + toX, y + toY, 2.1, { ramp: FUR, light });
  const sides = [-1, 1].map((side) => ({ side, beat: swing(phase + (side > 0 ? 0 : 0.5)) }));
  for (const { side, beat } of sides) {
    if (arms === 'hang') limb(side * 6, -4, side * 8.4, GROUND - HEIGHT + 2 - y);
    if (arms === 'up') limb(side * 8, 3, side * 14, -4 + beat);
    if (arms === 'both' && !isRolled) limb(side * 8, 4, side * 15, 1.4 + beat * 0.6);
    if (arms === 'wave') limb(side * 8, 4, side * 14, side < 0 ? 6 : -3 - swing(phase) * 3);
    if (legs === 'dangle') limb(side * 4.4, 8, side * 5.2 + beat, 14);
  }
  const radius = 11;
  const turn = animation === 'throw' ? phase * ((2 * Math.PI) / SPINES) : swing(phase) * 0.05;
  const around = [turn, turn + 2 * Math.PI * (1 - 1 / SPINES), SPINES - 1] as const;
  paintSpines(picture, [x, y], [radius, radius], around, animation === 'throw' ? -0.3 : 0.06);
  picture.ellipse(x, y, radius, radius, { ramp: SPINE, soft: true });
  paintTips(picture, x, y, FRONT_TIPS);
  for (const { side } of sides) picture.ellipse(x + 1 + side * 6.4, y - 3.4, 2.3, 2.3, { ramp: FUR, light: -0.2 });
  picture.ellipse(x + 1, y + 2.2, 8.6, 7, { ramp: FUR });
  for (const { side } of sides) {
    if (legs === 'stand') picture.ellipse(x + 0.6 + side * 5, y + 11.6, 3.6, 2.1, { ramp: FUR, light: 0.05 });
  }
  drawFace(picture, x + 1.2, y + 0.2, { eyes, mouth: 'none', gap: 5, ink: INK });
  picture.stamp(x + 1, y + 3, ['nwn', '.n.'], { n: INK, w: 0xb9a4b4 });
  paintMouth(picture, x + 1, y + 6.5, mouth);
  for (const { side } of sides) picture.stamp(x + 1 + side * 6.5, y + 4, ['bb', 'bb'], { b: 0xff9f9a });
  for (const { side, beat } of sides) {
    if (arms === 'cheeks') limb(side * 10.6, 8, 1 + side * 7.4, 6 + beat * 0.5, 0.1);
    if (arms === 'mouth' && side > 0) limb(10, 9, 6.4, 7, 0.1);
  }
}

function paintMouth(picture: Picture, x: number, y: number, mouth: Mouth): void {
  const rows = MOUTHS[mouth];
  if (rows !== undefined) picture.stamp(x, y, rows, { i: 0x7a2a30, p: 0xff8f9c });
}

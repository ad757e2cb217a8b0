/** Inky, a small octopus: a big soft head on six tentacles, which it curls, waves and hangs from. It jets when it is thrown. */
import type { Character } from './character.ts';
import { drawFace } from './face.ts';
import type { Picture, Ramp } from './picture.ts';
import { type Pose, swing } from './pose.ts';
import { GROUND, type Joint } from './rig.ts';

const SKIN: Ramp = [0x2b1550, 0x5c2f9e, 0x7b45c4, 0x9f68e3, 0xc79bf7, 0xefdcff];
const SUCKER = 0xf7b7e0;
const HEIGHT = 33;

/** The tentacles it stands on, by their distance from the middle: the outer ones are painted first. */
const LEGS = [-1, 1, -0.36, 0.36] as const;

export const octopus: Character = {
  name: 'Inky',
  size: [30, HEIGHT],
  behaviour: { walkSpeed: 46, jumpSpeed: 600, gravity: 1300, bounce: 0.34 },
  paint(picture, pose) {
    const { legs, arms, phase, eyes, mouth } = pose;
    const asleep = legs === 'lie';
    const breath = legs === 'stand' ? swing(phase) * 0.5 : 0;
    const x = legs === 'climb' ? 25 : 24 + (legs === 'walk' ? swing(phase) * 1 : 0);
    const y = 20.6 + breath + (asleep ? 7 : legs === 'sit' ? 4 : arms === 'hang' ? 3.4 : legs === 'tuck' ? -2 : 0);
    for (const out of LEGS) paintLeg(picture, pose, out, x, y + 8);
    const isRaised = (side: number) => pose.arms === 'cheeks' || (pose.arms === 'mouth' && side > 0);
    for (const side of [-1, 1]) if (!isRaised(side)) paintArm(picture, pose, side, x, y + 6.4);
    // The head is a tall dome, which leans back a little.
    picture.ellipse(x, y + 5.4, 9.8, 7, { ramp: SKIN, soft: true });
    picture.ellipse(x - 0.8, y - 0.8, 12.4, 11.2, { ramp: SKIN, soft: true });
    for (const [dx, dy, rows] of [
      [-7.5, -6, ['.dd', 'ddd', 'dd.']],
      [-2.5, -9, ['dd', 'dd']],
      [6, -8.5, ['dd.', 'ddd']],
    ] as const) {
      picture.stamp(x + dx, y + dy, rows, { d: SKIN[4] });
    }
    drawFace(picture, x + 1.6, y + 1.4, {
      ...{ eyes, mouth, gap: 7 },
      ...{ ink: 0x1f0f3a, tongue: 0xff8fb8, blush: 0xf08ad0 },
    });
    for (const side of [-1, 1]) if (isRaised(side)) paintArm(picture, pose, side, x, y + 6.4);
  },
};

/** A tentacle: from the head over a bend to a tip that curls outwards. */
function paintTentacle(picture: Picture, from: Joint, bend: Joint, tip: Joint, curl: Joint, light: number): void {
  picture.limb(...from, 3.4, ...bend, 2.9, { ramp: SKIN, light });
  picture.limb(...bend, 2.9, ...tip, 2.1, { ramp: SKIN, light, soft: true });
  picture.limb(...tip, 2.1, ...curl, 1.2, { ramp: SKIN, light, soft: true });
}

function paintLeg(picture: Picture, { legs, phase }: Pose, out: number, x: number, y: number): void {
  const side = Math.sign(out);
  const beat = swing(phase + (Math.abs(out) < 0.5 ? 0.5 : 0) + (side > 0 ? 0.25 : 0));
  const light = Math.abs(out) > 0.5 ? -0.3 : -0.05;
  const from: Joint = [x + out * 7, y];
  let [bend, tip, curl]: Joint[] = [
    [x + out * 11, y + 6],
    [x + out * 11.4, 40],
    [x + out * 11.4 + side * 3.6, 39.6],
  ];
  if (legs === 'walk') {
    const step = x + out * 11.4 + beat * 3;
    const up = Math.max(0, swing(phase + (side > 0 ? 0.5 : 0.25) + (Math.abs(out) < 0.5 ? 0.5 : 0))) * 2.4;
    [tip, curl] = [
      [step, 40 - up],
      [step + 3.4, 39.6 - up],
    ];
  } else if (legs === 'dangle') {
    bend = [x + out * 9 + beat * 0.8, y + 7];
    tip = [x + out * 8 + beat * 2, y + 13];
    curl = [x + out * 8 + beat * 2.6 + side * 3, y + 14.4];
  } else if (legs === 'tuck') {
    bend = [x + out * 7 + beat * 0.6, y + 8];
    tip = [x + out * 5 - beat, y + 15];
    curl = [x + out * 6 - beat * 1.6, y + 19];
  } else if (legs === 'sit') {
    bend = [x + out * 11.6, 38.6];
    tip = [x + out * 11.8 + beat * 0.6, 43];
    curl = [x + out * 11.8 + beat + side * 2.6, 45];
  } else if (legs === 'climb' && side > 0) {
    bend = [x + 8, y + 1 + out * 5];
    tip = [37.4, y + 1 + out * 7 + beat];
    curl = [38, y + 4 + out * 7 + beat];
  } else if (legs === 'climb') {
    bend = [x + out * 9, y + 6];
    tip = [x + out * 10 + beat * 0.6, y + 11];
    curl = [x + out * 10 + beat - 2.6, y + 12.6];
  } else if (legs === 'lie') {
    bend = [x + out * 13, 38.4];
    tip = [x + out * 16, 40];
    curl = [x + out * 16 + side * 3, 37.6 + beat * 0.4];
  }
  paintTentacle(picture, from, bend, tip, curl, light);
  if (legs === 'stand') picture.stamp(bend[0], bend[1] + 1, ['s', '.', 's'], { s: SUCKER });
}

function paintArm(picture: Picture, { legs, arms, phase }: Pose, side: number, x: number, y: number): void {
  const beat = swing(phase + (side > 0 ? 0 : 0.5));
  let from: Joint = [x + side * 7.6, y];
  let bend: Joint = [x + side * 13, y + 5.4];
  let tip: Joint = [x + side * 17, y + 3.6 + beat];
  let curl: Joint = [x + side * 17.4, y + 0.4 + beat];
  if (arms === 'up' || (arms === 'wave' && side > 0)) {
    const sway = arms === 'wave' ? swing(phase) * 2.4 : beat;
    bend = [x + side * 15, y + 1];
    tip = [x + side * 17 + sway * 0.6, y - 8];
    curl = [x + side * 15.6 + sway, y - 12];
  } else if (arms === 'both') {
    bend = [x + side * 14, y + 2];
    tip = [x + side * 16.4, y - 2 + beat];
    curl = [x + side * 17, y - 5 + beat];
  } else if (arms === 'hang') {
    bend = [x + side * 14.6, y - 5];
    tip = [x + side * 13.6, GROUND - HEIGHT + 3];
    curl = [x + side * 11, GROUND - HEIGHT + 2];
  } else if (arms === 'ahead') {
    // It jets, with all its tentacles behind it.
    bend = [x + side * 9, y + 8];
    tip = [x + side * 7 + beat, y + 15];
    curl = [x + side * 8 + beat * 1.6, y + 19];
  } else if (arms === 'cheeks') {
    from = [x + side * 11, y + 4];
    bend = [x + side * 15, y + 2];
    tip = [x + side * 16, y - 4 + beat * 0.8];
    curl = [x + side * 13.4, y - 6.4 + beat * 0.8];
  } else if (arms === 'mouth' && side > 0) {
    from = [x + 10, y + 4];
    bend = [x + 14, y + 3];
    tip = [x + 12.4, y + 1];
    curl = [x + 9.4, y - 0.6];
  } else if (arms === 'climb' && side > 0) {
    bend = [x + 11, y - 8];
    tip = [37.6, y - 13 - swing(phase) * 3];
    curl = [38, y - 17 - swing(phase) * 3];
  } else if (legs === 'lie') {
    bend = [x + side * 11, y + 4];
    tip = [x + side * 8.6, y + 6.4];
    curl = [x + side * 5.4, y + 6.4];
  }
  paintTentacle(picture, from, bend, tip, curl, side < 0 ? -0.12 : 0.04);
  if (arms !== 'cheeks' && arms !== 'mouth') {
    picture.stamp((bend[0] + tip[0]) / 2, (bend[1] + tip[1]) / 2, ['s', '.', 's'], { s: SUCKER });
  }
}

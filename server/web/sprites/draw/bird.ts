/** Pip, a round bluebird on thin legs: it hops instead of walking, and flutters as it falls. Faces right. */
import type { Character } from './character.ts';
import { drawFace } from './face.ts';
import type { Picture, Ramp } from './picture.ts';
import { type Pose, swing } from './pose.ts';

const FEATHER: Ramp = [0x15234f, 0x2a57a8, 0x3a7bd0, 0x57a5f0, 0x8dccff, 0xd0f0ff];
const BREAST: Ramp = [0x5a2c2c, 0xe08a5a, 0xf5ad74, 0xffd0a0, 0xffe8cc, 0xffffff];
const BEAK: Ramp = [0x6b3510, 0xd07f1e, 0xf0a52c, 0xffc94a, 0xffe38a, 0xfff6cf];

export const bird: Character = {
  name: 'Pip',
  size: [26, 31],
  behaviour: { walkSpeed: 70, jumpSpeed: 760, gravity: 900, bounce: 0.3 },
  hops: true,
  paint(picture, pose) {
    const { legs, arms, phase, eyes, mouth, squash } = pose;
    const asleep = legs === 'lie';
    const flies = legs === 'dangle' || legs === 'tuck' || arms === 'up';
    const climbs = legs === 'climb';
    const x = climbs ? 25.5 : 23;
    const y = asleep ? 30 : legs === 'sit' ? 30.4 : arms === 'hang' ? 27 : 25.4;
    const [rx, ry] = [12.4, 12];
    if (!asleep) for (const side of [-1, 1]) paintLeg(picture, pose, x, y + ry, side);
    // The tail: three feathers that move with every breath.
    for (const [i, up] of [-3.6, 0, 3.4].entries()) {
      picture.limb(
        x - 8,
        y + 4,
        3,
        x - 16 + squash * 2,
        y + up + 1 - squash * 4 + (flies ? swing(phase) * 2 : 0),
        1.8,
        {
          ramp: FEATHER,
          light: -0.35 + i * 0.15,
        },
      );
    }
    if (flies || climbs || arms === 'both') paintWing(picture, x + 3, y, swing(phase + 0.12), -0.4);
    // A crest of three feathers.
    for (const [i, lean] of [-6, -1.6, 3].entries()) {
      picture.limb(x + i - 1, y - ry + 2, 2, x + lean - 1, y - ry - 4 + i * 0.6 + (asleep ? 3 : 0), 0.9, {
        ramp: FEATHER,
      });
    }
    picture.ellipse(x, y, rx, ry, { ramp: FEATHER });
    picture.ellipse(x + 4.4, y + 4.6, rx * 0.62, ry * 0.56, { ramp: BREAST, soft: true });
    for (const [dx, dy] of [
      [2, 5],
      [6, 7],
      [3.5, 9],
    ]) {
      picture.stamp(x + dx, y + dy, ['d.d', '.d.'], { d: BREAST[2] });
    }
    const open = mouth === 'round' || mouth === 'laugh' || mouth === 'yawn' ? 2.4 : 0;
    picture.shape([x + 9.4, y - 3.4, x + 17, y - 0.6 - open * 0.7, x + 9.4, y + 1.6], { ramp: BEAK, light: 0.25 });
    if (open > 0) picture.shape([x + 9.4, y + 0.6, x + 15.4, y + 3.6, x + 9, y + 3.4], { ramp: BEAK, light: -0.5 });
    drawFace(picture, x + 4.4, y - 3, { eyes, mouth: 'none', gap: 4 });
    picture.stamp(x - 2.5, y + 1, ['bb', 'bb'], { b: 0xff9fb0 });
    if (flies || climbs || arms === 'both') paintWing(picture, x - 4, y + 1, swing(phase), 0);
    else if (arms === 'wave') paintWing(picture, x - 3, y + 1, swing(phase) * 0.8 + 0.6, 0);
    else if (arms === 'hang') paintWing(picture, x - 4, y + 1, 1.3, 0);
    else if (arms === 'mouth') picture.limb(x - 2, y + 4, 4, x + 9, y + 3, 2.4, { ramp: FEATHER, light: -0.1 });
    else {
      const up = arms === 'cheeks' ? -2 + swing(phase) : 0;
      picture.ellipse(x - 5, y + 3 + up + squash * 2, 6.4, 4.8, { ramp: FEATHER, light: -0.12 }, 0.5);
      picture.stamp(x - 6, y + 5 + up, ['d...d', '.ddd.'], { d: FEATHER[1] });
    }
  },
};

function paintLeg(picture: Picture, { legs, phase }: Pose, x: number, bottom: number, side: number): void {
  const part = { ramp: BEAK, light: side < 0 ? -0.4 : 0 };
  const beat = swing(phase + (side > 0 ? 0 : 0.35));
  let foot: [number, number] = [x + side * 3.6 + 1, 40.6];
  if (legs === 'dangle' || legs === 'tuck') foot = [x + side * 3.6 - 1 + beat, bottom + (legs === 'tuck' ? 2 : 4)];
  else if (legs === 'sit') foot = [x + side * 3.8 + 1 + beat * 0.8, 45.2];
  else if (legs === 'climb') foot = [37.4, 35 + side * swing(phase) * 2.6];
  picture.limb(x + side * 3.2, bottom - 2, 1.2, ...foot, 1, part);
  if (legs === 'climb') return;
  picture.limb(foot[0] - 1.6, foot[1], 0.9, foot[0] + 2.6, foot[1], 0.8, { ...part, soft: true });
}

function paintWing(picture: Picture, x: number, y: number, flap: number, light: number): void {
  for (const [i, length] of [14, 12, 9].entries()) {
    const turn = -2.3 - flap * 0.7 - i * 0.34;
    picture.limb(x, y, 3, x + Math.cos(turn) * length, y + Math.sin(turn) * length * 0.95, 2, {
      ...{ ramp: FEATHER, light: light - i * 0.14, soft: i > 0 },
    });
  }
}

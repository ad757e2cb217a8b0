/** All characters that ship with Sprites, in the order of the shelf. Drawn for this project; CC0-1.0. */
import { ball } from './ball.ts';
import { bird } from './bird.ts';
import { blob } from './blob.ts';
import { cat } from './cat.ts';
import type { Character } from './character.ts';
import { dragon } from './dragon.ts';
import { ghost } from './ghost.ts';
import { hedgehog } from './hedgehog.ts';
import { mushroom } from './mushroom.ts';
import { octopus } from './octopus.ts';
import { plane } from './plane.ts';
import { robot } from './robot.ts';
import { star } from './star.ts';

export const CAST: readonly Character[] = [
  blob,
  cat,
  ghost,
  robot,
  dragon,
  bird,
  ball,
  plane,
  mushroom,
  star,
  octopus,
  hedgehog,
];

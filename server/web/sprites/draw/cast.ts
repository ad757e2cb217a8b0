/** All characters that ship with Sprites, in the order of the shelf. Drawn for this project; CC0-1.0. */
import { bird } from './bird.ts';
import { blob } from './blob.ts';
import { cat } from './cat.ts';
import { dragon } from './dragon.ts';
import { ghost } from './ghost.ts';
import type { Picture } from './picture.ts';
import type { Pose } from './pose.ts';
import { robot } from './robot.ts';

export interface Character {
  name: string;
  hitbox: readonly number[];
  behaviour: { walkSpeed: number; jumpSpeed: number; gravity: number; bounce: number };
  draw(pose: Pose): Picture;
}

export const CAST: readonly Character[] = [blob, cat, ghost, robot, dragon, bird];

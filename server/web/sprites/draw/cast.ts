/** All characters that ship with Sprites, in the order of the shelf. Drawn for this project; CC0-1.0. */
import { ball } from './ball.ts';
import { bird } from './bird.ts';
import { blob } from './blob.ts';
import { cat } from './cat.ts';
import { dragon } from './dragon.ts';
import { ghost } from './ghost.ts';
import { mushroom } from './mushroom.ts';
import type { Picture } from './picture.ts';
import { plane } from './plane.ts';
import type { Pose } from './pose.ts';
import { robot } from './robot.ts';

export interface Character {
  name: string;
  /** Of its hitbox, in pixels; it stands on GROUND, in the middle of its frame. */
  size: readonly [width: number, height: number];
  behaviour: { walkSpeed: number; jumpSpeed: number; gravity: number; bounce: number };
  /** It hops instead of walking. */
  hops?: boolean;
  /** How far its whole picture turns in a pose; as far as the pose says without it. */
  turnOf?: (pose: Pose) => number;
  /** Paints it in a pose, without its outline. The picture is warped already. */
  paint(picture: Picture, pose: Pose): void;
}

export const CAST: readonly Character[] = [blob, cat, ghost, robot, dragon, bird, ball, plane, mushroom];

/** A character: what it is, and how it is painted in a pose. */
import type { Picture } from './picture.ts';
import type { Pose } from './pose.ts';

export interface Character {
  name: string;
  /** Of its hitbox, in pixels; it stands on GROUND, in the middle of its frame. */
  size: readonly [width: number, height: number];
  behaviour: { walkSpeed: number; jumpSpeed: number; gravity: number; bounce: number };
  /** It hops instead of walking. */
  hops?: boolean;
  /** How far its whole picture turns in a pose. If absent, as far as the pose says. */
  turnOf?: (pose: Pose) => number;
  /** Paints it in a pose, without its outline. The picture is warped already. */
  paint(picture: Picture, pose: Pose): void;
}

/** How the desktop is drawn while a person looks over one of its edges: it has slid aside, and shows what is beyond. */

import type { Edge } from '../../wire/rules.ts';
import type { Point } from '../motion/simulation.ts';
import type { Silhouette } from './silhouettes.ts';

const SLIDE_MS = 90; // ms in which the desktop slides about two thirds of the way
const SLID_PX = 0.5; // px from the end of the way at which it has arrived

export class PeekView {
  edge: Edge | null = null;
  /** px by which the desktop has slid away from that edge. */
  shift = 0;
  silhouettes: readonly Silhouette[] = [];

  /** By how much the desktop has slid, in px to the right and down. What must stay over the sprites follows it. */
  get slide(): Point {
    const { edge, shift } = this;
    if (edge === 'left' || edge === 'right') return { x: edge === 'left' ? shift : -shift, y: 0 };
    return { x: 0, y: edge === 'top' ? shift : -shift };
  }

  close(): void {
    this.edge = null;
    this.silhouettes = [];
  }

  /** Moves the desktop towards its place, `shift` px from the edge: at once when it is `calm`. */
  slideTo(shift: number, passedMs: number, calm: boolean): void {
    this.shift += (shift - this.shift) * (1 - Math.exp(-passedMs / SLIDE_MS));
    if (calm || Math.abs(shift - this.shift) < SLID_PX) this.shift = shift;
  }
}

/**
 * The world as a ring that turns: where a point of its grid is on the screen, and the way of a sprite above it.
 *
 * Units: x and y of the grid are 0 … 1 from the left and from the top, and wrap. A point on the screen is in units of the ring's radius,
 * from its middle, right and down; `depth` rises towards the viewer.
 */
import type { Edge } from '../../wire/rules.ts';

export interface ViewPoint {
  x: number;
  y: number;
  depth: number;
  /** How large things are there, 1 at the ring's middle. */
  scale: number;
  /** Above 0 where the surface faces the viewer: 1 where it does so wholly. */
  facing: number;
}

const TUBE = 0.46; // radius of the ring's tube
const TILT = 0.62; // radians by which the viewer looks down on it
const DISTANCE = 5; // of the viewer
const FLIGHT_HEIGHT = 0.3; // above the surface, in the middle of a flight
const FLIGHT_X_MIN = 0.07; // of the grid: in a large world a neighbour is too near to be seen
const FLIGHT_Y_MIN = 0.13;

/** What has room for the ring and for all that flies above it, in units of the radius; `middle` is the y of its middle. */
export const VIEW = { width: 3.72, height: 2.84, middle: 0.24 };

const [SIN_TILT, COS_TILT] = [Math.sin(TILT), Math.cos(TILT)];

/** `height`: above the surface. `turn`: of the ring, in radians. */
export function viewOf(x: number, y: number, turn: number, height = 0): ViewPoint {
  const [along, around] = [2 * Math.PI * x + turn, 2 * Math.PI * (0.25 - y)];
  const [out, up] = [Math.cos(around), Math.sin(around)];
  const far = 1 + (TUBE + height) * out;
  const [right, high, near] = [far * Math.sin(along), (TUBE + height) * up, far * Math.cos(along)];
  const depth = near * COS_TILT + high * SIN_TILT;
  const scale = DISTANCE / (DISTANCE - depth);
  return {
    x: right * scale,
    y: (near * SIN_TILT - high * COS_TILT) * scale,
    depth,
    scale,
    facing: up * SIN_TILT + out * Math.cos(along) * COS_TILT,
  };
}

/** Where a flight is when `part` of it, 0 … 1, is over: on the grid, and above it. The grid has `columns` and `rows`. */
export function flightAt(
  from: { x: number; y: number; edge: Edge },
  columns: number,
  rows: number,
  part: number,
): [x: number, y: number, height: number] {
  const way = from.edge === 'left' || from.edge === 'top' ? -part : part;
  const isSideways = from.edge === 'left' || from.edge === 'right';
  const [dx, dy] = isSideways ? [Math.max(FLIGHT_X_MIN, 1 / columns), 0] : [0, Math.max(FLIGHT_Y_MIN, 1 / rows)];
  return [from.x + way * dx, from.y + way * dy, FLIGHT_HEIGHT * Math.sin(Math.PI * part)];
}

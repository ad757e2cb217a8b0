/**
 * The next step of a sprite that is thrown to a friend: over which edge of this desktop, or that it stays here.
 *
 * Each desktop on the way decides it alone, from the goal and its own neighbours. The rest of the way gets shorter by each step, so it ends,
 * also when desktops come and go meanwhile. The rules are those of client-win/BEHAVIOUR.md (Thrown to a friend); `relay.vectors.json` is
 * played here and in core/relay/crossings/goal.cc.
 */
import { EDGES, type Edge } from '../../wire/rules.ts';
import type { Goal } from '../motion/simulation.ts';
import type { Neighbours } from './transport.ts';

/** Over which edge a sprite goes on, and what its crossing then says. */
export interface Step {
  readonly edge: Edge;
  readonly goal: Goal;
}

/** Null: the sprite stays. `name` is that of this desktop, as others see it; without one it is the thrower that asks. */
export function nextStep({ name: to, column, row }: Goal, name: string | null, beyond: Neighbours): Step | null {
  if (to === name || (column === 0 && row === 0)) return null;
  const isThere = (edge: Edge) => beyond[edge]?.name === to;
  const steps = Math.abs(column) + Math.abs(row);
  const [right, down] = column === 0 ? [0, Math.sign(row)] : [Math.sign(column), 0];
  const onTheWay = EDGES.find((edge) => OUTWARDS[edge][0] === right && OUTWARDS[edge][1] === down) as Edge;
  if (steps > 1 || isThere(onTheWay))
    return { edge: onTheWay, goal: { name: to, column: column - right, row: row - down } };
  // Somebody has come or left meanwhile: the friend may be beyond another edge.
  const edge = EDGES.find(isThere);
  return edge === undefined ? null : { edge, goal: { name: to, column: 0, row: 0 } };
}

/** To the right, and down. */
export const OUTWARDS: Record<Edge, readonly [number, number]> = {
  left: [-1, 0],
  right: [1, 0],
  top: [0, -1],
  bottom: [0, 1],
};

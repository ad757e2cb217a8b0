/**
 * When desktops come back to a relay that stops and starts again. They come at a rate that it can serve, and their leases last until then.
 * Where the next process serves already, they are told one after the other at that rate, and come at once.
 */
import { BYE_MS_MAX, LEASE_MS, RECONNECT_MS_MAX } from '../wire/rules.ts';
import { TICK_MS } from './slots/deadlines.ts';
import { BYES_PER_SECOND, RETURNS_PER_SECOND, RETURNS_PER_SECOND_MIN } from './state/limits.ts';

/** How many desktops are told in a tick where the next process serves already. */
export const RETURNS_PER_TICK = (RETURNS_PER_SECOND * TICK_MS) / 1000;

/**
 * The time that a `bye` tells a desktop to stay away, in ms, at most BYE_MS_MAX. `parked`: how many polls are still to be answered, which
 * takes time; 0 when the desktop goes to another relay. `desktops`: how many come back, over `returnMs` at least; 0: those of one tick, within
 * the next. `luck`: a random number of [0, 1).
 */
export function byeMs(parked: number, desktops: number, luck: number, returnMs = RECONNECT_MS_MAX): number {
  if (returnMs === 0) return Math.round(TICK_MS * luck);
  const answeredMs = (parked / BYES_PER_SECOND) * 1000;
  const spreadMs = Math.max(returnMs, (desktops / RETURNS_PER_SECOND) * 1000);
  return Math.min(BYE_MS_MAX, Math.round(answeredMs + spreadMs * (0.1 + 0.9 * luck)));
}

/** The first lease after a recovery, in ms, of each of so many desktops. */
export function recoveredLeaseMs(desktops: number): number {
  return LEASE_MS + (desktops / RETURNS_PER_SECOND_MIN) * 1000;
}

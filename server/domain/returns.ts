/**
 * When desktops come back to a relay that stops and starts again: so spread that it can serve them all, and with a lease long enough.
 */
import {
  BYE_MS_MAX,
  BYES_PER_SECOND,
  LEASE_MS,
  RECONNECT_MS_MAX,
  RETURNS_PER_SECOND,
  RETURNS_PER_SECOND_MIN,
} from './limits.ts';

/**
 * How long a desktop stays away that is told so now, in ms, at most BYE_MS_MAX. `parked`: the polls that are still to be answered, which
 * takes a while; 0 when it is to go to another relay. `desktops`: all that come back. `luck`: a random number of [0, 1).
 */
export function byeMs(parked: number, desktops: number, luck: number): number {
  const answeredMs = (parked / BYES_PER_SECOND) * 1000;
  const spreadMs = Math.max(RECONNECT_MS_MAX, (desktops / RETURNS_PER_SECOND) * 1000);
  return Math.min(BYE_MS_MAX, Math.round(answeredMs + spreadMs * (0.1 + 0.9 * luck)));
}

/** The first lease after a recovery, in ms, of each of so many desktops. */
export function recoveredLeaseMs(desktops: number): number {
  return LEASE_MS + (desktops / RETURNS_PER_SECOND_MIN) * 1000;
}

/**
 * Closing: how long each step may take when a relay stops. With fewer than 5,000 parked polls, all steps take less than the 10 s after which
 * Docker kills, and without a cluster less than the 5 s that a stop may take.
 */

/** For polls on their way, in ms: they get what waits for them, or "come back later". */
export const LAST_POLLS_MS = 500;

/** For answers on their way, and for connections to close, in ms. */
export const LAST_ANSWERS_MS = 3_000;

/** How many parked polls a busy machine at least answers and closes in a second. The relay adds the time that all need to LAST_ANSWERS_MS. */
export const LAST_ANSWERS_PER_SECOND = 5_000;

/**
 * How long a relay of a cluster may take to hand on what waits in its mailboxes, some hundred thousand sprites, and to give up its private
 * worlds, in ms.
 */
export const HAND_OVER_MS = 6_000;

/** How often the last step checks whether everything is done. */
export const CLOSING_STEP_MS = 20;

/**
 * Returns whether the relay still waits, `elapsedMs` after the last polls: for answers on their way, or for sprites and worlds that it gives
 * to other relays. `parked`: how many polls were parked when it began to stop.
 */
export function waitsOn(elapsedMs: number, parked: number, isAnswering: boolean, isHanding: boolean): boolean {
  const answersMs = LAST_ANSWERS_MS + (parked / LAST_ANSWERS_PER_SECOND) * 1000;
  return (isAnswering && elapsedMs < answersMs) || (isHanding && elapsedMs < HAND_OVER_MS);
}

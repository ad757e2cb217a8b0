/**
 * Closing: how long the steps of a relay's going down may take. With fewer than 5,000 parked polls, together they are below the 10 s after
 * which Docker kills, and without a cluster below the 5 s that a stop may take.
 */

/** For polls on their way, in ms: they get what waits for them, or "come back later". */
export const LAST_POLLS_MS = 500;

/** For answers on their way, and for connections to close, in ms. */
export const LAST_ANSWERS_MS = 3_000;

/** Parked polls that are answered and closed in a second at least, on a busy machine: LAST_ANSWERS_MS is longer by that. */
export const LAST_ANSWERS_PER_SECOND = 5_000;

/** How long a relay of a cluster may take to hand on what waits in its mailboxes, in ms: some hundred thousand sprites. */
export const HAND_OVER_MS = 6_000;

/** How often the last step checks whether everything is done. */
export const CLOSING_STEP_MS = 20;

/**
 * Returns whether to wait on, `elapsedMs` after the last polls: for the answers to so many parked polls that are on their way, and for sprites
 * that are handed on.
 */
export function waitsOn(elapsedMs: number, parked: number, isAnswering: boolean, isHanding: boolean): boolean {
  const answersMs = LAST_ANSWERS_MS + (parked / LAST_ANSWERS_PER_SECOND) * 1000;
  return (isAnswering && elapsedMs < answersMs) || (isHanding && elapsedMs < HAND_OVER_MS);
}

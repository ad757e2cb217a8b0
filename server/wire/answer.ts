/**
 * An answer on its way to whoever asked: what the domain, the fronts, and the two ends of an uplink hand on to one another.
 *
 * `request` names who asked, to the one who is told: a front's ticket, or the number of a worker's request. The body is
 * body[start, end), JSON or empty; retryAfterSeconds 0 says nothing of when to come again.
 * Owner: the bytes are copied, or done with, before the call returns.
 */
export type Answer = (
  request: number,
  status: number,
  body: Uint8Array,
  start: number,
  end: number,
  retryAfterSeconds: number,
) => void;

/**
 * The function that sends an answer: the domain, the fronts and both ends of an uplink pass answers on with it.
 *
 * `request` is the number the receiver knows the request by: a front's ticket, or a worker's request number. The body is
 * body[start, end), JSON or empty; and then `shared`, if there is one: the end of a body that many answers have. retryAfterSeconds 0
 * means that there is no Retry-After.
 * Owner: the receiver copies the bytes of `body`, or has used them, before the call returns. Nobody changes `shared`, so it may
 * be sent later.
 */
export type Answer = (
  request: number,
  status: number,
  body: Uint8Array,
  start: number,
  end: number,
  retryAfterSeconds: number,
  shared?: Buffer,
) => void;

/**
 * An answer to a request: the domain, the fronts and both ends of an uplink pass answers on.
 *
 * The body is body[start, end), JSON or empty; and then `shared`, if there is one: the end of a body that many answers have.
 * Owner: the caller, which may fill one view for each of its answers. The receiver has copied the bytes of `body`, or has used them, before
 * the call returns, and does not keep the view. Nobody changes `shared`, so it may be sent later.
 */
import { PROBLEMS, type ProblemDocument } from './problem.ts';

export interface AnswerView {
  status: number;
  body: Uint8Array;
  start: number;
  end: number;
  /** 0: there is no Retry-After. */
  retryAfterSeconds: number;
  shared: Buffer | undefined;
}

/** Sends an answer. `request`: the number by which the receiver knows the request, a front's ticket or a worker's request number. */
export type Answer = (request: number, answer: Readonly<AnswerView>) => void;

/** An answer with all of `body`. */
export function answerOf(status: number, body: Uint8Array, retryAfterSeconds = 0, shared?: Buffer): AnswerView {
  return { status, body, start: 0, end: body.length, retryAfterSeconds, shared };
}

/** The answer that refuses with this document. */
export function refusalOf(document: ProblemDocument): AnswerView & { body: Buffer } {
  const body = Buffer.from(JSON.stringify(document));
  return { ...answerOf(document.status, body, PROBLEMS[document.code].retryAfterSeconds), body };
}

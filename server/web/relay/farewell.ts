/**
 * The end of a seat whose relay has not answered for long, so that this page has joined another one: what becomes of its last batch, and of
 * what it has thrown.
 *
 * Invariant: the batch is lost only if that relay says so. Until it answers, its mailbox still has what was not acknowledged.
 */
import { ANSWER_MS_MAX } from '../../wire/rules.ts';
import { FORMER_TRIES_MAX, type Way } from './departures.ts';
import { browserEnvironment, createPosts, type FetchEnvironment } from './posts.ts';
import { backoffMs, ENDED_CODES, lostAfter, readProblem, relayOf, type Seat, type Sender } from './transport.ts';

/** Opens the way for what a former seat has thrown (departures.ts). */
export function openFormer(sender: Sender, environment?: FetchEnvironment): Way {
  const closing = new AbortController();
  const { send } = createPosts(sender, { signal: closing.signal, triesMax: FORMER_TRIES_MAX }, environment);
  return { send, close: () => closing.abort() };
}

/**
 * Ends a seat as soon as its relay answers. Resolves to the number of the event after which the relay has passed on what the seat
 * received (transport.ts); to Infinity when it has not answered FORMER_TRIES_MAX requests.
 */
export async function endFormer(
  seat: Seat,
  { fetch, random, sleep }: FetchEnvironment = browserEnvironment(),
): Promise<number> {
  const headers = { authorization: `Bearer ${seat.token}` };
  const never = new AbortController().signal;
  let hasEnded = false;
  for (let tries = 0, failures = 0; tries < FORMER_TRIES_MAX; tries++) {
    try {
      const signal = AbortSignal.timeout(ANSWER_MS_MAX);
      const url = `${relayOf(seat)}/v1/desktops/${seat.desktop}`;
      const response = await fetch(url, { method: 'DELETE', headers, signal });
      if (response.status === 204 && !hasEnded) {
        hasEnded = true;
        continue; // the answer to the next request tells what was acknowledged
      }
      const problem = await readProblem(response);
      // Polls with this cursor may have been lost, so without a word of the relay the batch stays.
      if (ENDED_CODES.has(problem.code)) return lostAfter(problem, seat.cursor, Number.POSITIVE_INFINITY);
    } catch {
      // It does not answer yet.
    }
    await sleep(backoffMs(failures++, random), never);
  }
  return Number.POSITIVE_INFINITY;
}

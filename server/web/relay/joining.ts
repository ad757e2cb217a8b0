/** The join: one request that gives a desktop its seat. */
import { ANSWER_MS_MAX } from '../../wire/rules.ts';
import type { FetchEnvironment } from './posts.ts';
import { type Problem, readProblem, readSeat, type Seat } from './transport.ts';

/** What a desktop asks for. Members that are absent have the defaults of PROTOCOL.md (Join). */
export interface JoinRequest {
  name?: string;
  /** The world of `near`, or `commons`, by default. */
  world?: string;
  /** The invitation of a friend to be placed beside. */
  near?: string;
  /** Of a page: it can't choose the header by which other programs name theirs. */
  version?: string;
  /** In device-independent px. */
  screen: { width: number; height: number };
  /** Whether neighbours may look in; by default what is usual in the world. */
  stage?: boolean;
  /** Whether public pages may show the name; by default not. */
  named?: boolean;
}

/** The relay has refused: `problem` says why, and the message is its sentence. */
export class Refused extends Error {
  readonly problem: Problem;

  constructor(problem: Problem, message = problem.detail ?? problem.title) {
    super(message);
    this.problem = problem;
  }
}

/** What must be in the answer of a relay, as text. */
const TEXTS = ['desktop', 'token', 'invitation', 'world', 'cursor'] as const;
const ADDRESSES = ['events', 'crossings', 'socket'] as const;

/**
 * Joins at the relay with this origin.
 *
 * Throws  Refused; a TypeError when the relay does not answer; an Error when the answer is not a relay's.
 */
export async function requestSeat(
  relay: string,
  request: JoinRequest,
  { fetch }: Pick<FetchEnvironment, 'fetch'>,
): Promise<Seat> {
  const response = await fetch(`${relay}/v1/desktops`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  });
  if (!response.ok) throw new Refused(await readProblem(response));
  const seat = await response.json().catch(() => null);
  const isSeat =
    TEXTS.every((member) => typeof seat?.[member] === 'string') &&
    ADDRESSES.every((member) => typeof seat[member] === 'string' && URL.canParse(seat[member]));
  if (!isSeat) throw new Error(`What answers at ${relay} is no relay of sprites.`);
  return readSeat(seat);
}

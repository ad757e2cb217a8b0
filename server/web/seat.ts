/** Taking a seat at the relay, and asking who sits around it. */
import { type Neighbours, type Problem, readProblem, type Seat } from './transport.ts';

export interface JoinRequest {
  name: string;
  /** Empty: the world everybody is in, or the one of `near`. */
  world: string;
  /** A friend's desktop to sit next to; empty for none. */
  near: string;
  screen: { width: number; height: number };
}

/** The relay said no. */
export class JoinRefused extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail ?? problem.title);
    this.problem = problem;
  }
}

const TIMEOUT_MS = 10_000; // ms for an answer to a short request

/** Throws JoinRefused, or a TypeError when the relay cannot be reached. */
export async function join({ name, world, near, screen }: JoinRequest): Promise<Seat> {
  const answer = await fetch('/v1/desktops', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name, world: world || undefined, near: near || undefined, screen }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!answer.ok) throw new JoinRefused(await readProblem(answer));
  return answer.json();
}

/** Who lies beyond the edges right now; null when the relay does not say. */
export async function lookAround({ desktop, token }: Seat): Promise<Neighbours | null> {
  try {
    const answer = await fetch(`/v1/desktops/${desktop}`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return answer.ok ? (await answer.json()).neighbours : null;
  } catch {
    return null;
  }
}

/** Gives the relay a .spr. Null when it has it now; else why not. */
export async function upload({ token }: Seat, file: string, bytes: Uint8Array<ArrayBuffer>): Promise<Problem | null> {
  try {
    const answer = await fetch(`/v1/sprites/${file}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'image/png' },
      body: bytes,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return answer.ok ? null : await readProblem(answer);
  } catch {
    return { code: 'unreachable', title: 'The relay could not be reached.' };
  }
}

/** What browsers and the relay say to each other, whichever way it travels: poll.ts and socket.ts both are a Transport. */
import type { Edge, Facing } from './simulation.ts';

export interface Neighbour {
  desktop: string;
  name: string;
}

export type Neighbours = Record<Edge, Neighbour>;

/** A sprite as a crossing carries it. */
export interface Traveller {
  file: string;
  name: string;
  animation: string;
  facing: Facing;
  scale: number;
}

export interface Crossing {
  /** The sender's own rising number: a repeat of an accepted one changes nothing. */
  crossing: number;
  edge: Edge;
  at: number;
  vx: number;
  vy: number;
  sprite: Traveller;
}

export interface Arrival {
  type: 'sprite';
  seq: number;
  from: Neighbour;
  edge: Edge;
  at: number;
  vx: number;
  vy: number;
  sprite: Traveller;
}

export type RelayEvent =
  | Arrival
  | ({ type: 'neighbours' } & Neighbours)
  | { type: 'ping' }
  | { type: 'bye'; retryAfterMs: number };

export interface Problem {
  code: string;
  title: string;
  detail?: string;
  status?: number;
  cursor?: string;
}

/** A place at the relay: what a join answers. Opaque but for its URLs. */
export interface Seat {
  desktop: string;
  token: string;
  world: string;
  cursor: string;
  events: string;
  crossings: string;
  socket: string;
  pingSeconds: number;
}

/** Accepted by the relay for `to`; refused, with why; or `unknown`: the seat ended before an answer came. */
export type Verdict = { to: Neighbour | null } | { refused: Problem } | 'unknown';

export interface TransportHandlers {
  /**
   * What has come and the cursor behind it. Both must be kept when the promise resolves: asking again acknowledges them.
   * It may resolve late: nothing more is asked for until then.
   */
  events(events: RelayEvent[], cursor: string): Promise<void>;
  /** The relay has forgotten where we were; it goes on from this cursor. */
  cursorLost(cursor: string): void;
  connected(is: boolean): void;
  /**
   * This seat is no more; the transport has closed itself. Join anew. `batchLost`: the relay never learnt that the last
   * batch was received, and has passed it on.
   */
  ended(problem: Problem, batchLost: boolean): void;
}

export interface Transport {
  /** Resolves when the relay has decided; repeats the same number for as long as the network fails. */
  send(crossing: Crossing): Promise<Verdict>;
  close(): void;
}

export interface Surroundings {
  random: () => number;
  /** Resolves after so many ms; the signal cuts it short. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

export const BACKOFF_MS_FIRST = 400; // ms: a blink; most failures are one lost connection
export const BACKOFF_MS_MAX = 15_000; // ms: half a lease, so that a relay that comes back finds us before it forgets us

/** How long to wait before try number `attempt` (from 0): doubling, with half of it left to chance. */
export function backoffMs(attempt: number, random: () => number): number {
  const full = Math.min(BACKOFF_MS_MAX, BACKOFF_MS_FIRST * 2 ** Math.min(attempt, 10));
  return full * (0.5 + random() / 2);
}

/** Codes that name the cursor to go on from. */
export const CURSOR_CODES: ReadonlySet<string> = new Set(['cursor-lost', 'cursor-ahead']);

/** Codes after which the seat is gone for good. */
export const ENDED_CODES: ReadonlySet<string> = new Set(['unknown-desktop', 'desktop-ended']);

/** How long to stay away after a `bye` among these events; 0 when there is none. */
export function byeMs(events: readonly RelayEvent[], random: () => number): number {
  const bye = events.find((event) => event.type === 'bye');
  return bye === undefined ? 0 : bye.retryAfterMs * (0.5 + random());
}

/** The problem document of an answer that may not carry one (a proxy's, say). */
export async function readProblem(answer: Response): Promise<Problem> {
  const problem = await answer.json().catch(() => null);
  const code = typeof problem?.code === 'string' ? problem.code : `http-${answer.status}`;
  return { title: `The relay answered ${answer.status}.`, ...problem, code, status: answer.status };
}

export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal.addEventListener('abort', wake);
    if (signal.aborted) wake();
  });
}

/** What a page and its relay send each other. poll.ts and socket.ts are two transports for the same messages. */

import type { ProblemCode } from '../../wire/problem.ts';
import {
  BYE_MS_MAX,
  type Edge,
  LEASE_MS,
  LEASE_SECONDS_MAX,
  LEASE_SECONDS_MIN,
  PAUSES_PER_LEASE,
  PING_MS,
  PING_SECONDS_MAX,
  type PlainEvent,
  SILENCE_FACTOR,
} from '../../wire/rules.ts';
import type { Carried, Entrance, Facing } from '../motion/simulation.ts';

export interface Neighbour {
  desktop: string;
  /** Never empty: the relay gives a name to a desktop that has none. */
  name: string;
}

/** A missing edge is one whose neighbour the relay does not know yet. */
export type Neighbours = Partial<Record<Edge, Neighbour>>;

/** A sprite as a crossing carries it. */
export interface CrossingSprite extends Carried {
  animation: string;
}

/** A sprite that leaves over `edge`. */
export interface Crossing extends Entrance {
  /** The sender's own rising number. The relay accepts each number once; a repeat changes nothing. */
  crossing: number;
  sprite: CrossingSprite;
}

export interface Arrival extends Entrance {
  type: 'sprite';
  seq: number;
  from: Neighbour;
  sprite: CrossingSprite;
}

/** A line of text that others in the world hear. */
export interface Saying {
  /** The speaker's own rising number. The relay accepts each number once; a repeat says nothing. */
  saying: number;
  text: string;
}

/** A saying as the relay sends it to everybody who hears it, the speaker too. */
export interface SayingEvent {
  type: 'saying';
  from: Neighbour;
  text: string;
  /** The edge beyond which the speaker sits. Absent when it is not a neighbour, and where the relay leaves it out. */
  edge?: Edge;
}

/** A sprite of a stage. Members that have their default value may be absent. */
export interface StageSprite {
  /** The number by which its desktop knows it. */
  id: number;
  /** Its picture: an index in the stage's `files`; default 0. */
  file?: number;
  /** The middle of its feet, in px of its desktop. */
  x: number;
  y: number;
  /** px/s; default 0. */
  vx?: number;
  vy?: number;
  /** Default `idle`. */
  animation?: string;
  /** Default `right`. */
  facing?: Facing;
  /** Default 1. */
  scale?: number;
}

/** What a desktop shows of itself to a neighbour who peeks. */
export interface Stage {
  width: number;
  height: number;
  files: string[];
  sprites: StageSprite[];
}

/** The newest stage of the desktop beyond `edge`. Without a sender: nothing is shown any more. */
export interface StageEvent extends Partial<Stage> {
  type: 'stage';
  edge: Edge;
  /** ms since the relay received it. */
  ageMs?: number;
  from?: Neighbour;
  files: string[];
  sprites: StageSprite[];
}

/** Another desktop in the world: how far to the right and down it is, and for how long it has been away, if it is. */
export interface Companion {
  name: string;
  column: number;
  row: number;
  awaySeconds?: number;
}

/** Who else is in the world: everybody in a small private one, otherwise the neighbours. */
export interface Company {
  /** Desktops of the world, with this one and with the residents. */
  desktops: number;
  residents: number;
  company: Companion[];
}

/** What becomes of changing places. Without `from`, nobody asks this desktop any more. */
export interface SwapEvent {
  type: 'swap';
  /** This desktop has changed places with that one. */
  with?: Neighbour;
  /** That one asks this desktop, for `leaseMs`. */
  from?: Neighbour;
  leaseMs?: number;
}

/** PROTOCOL.md (Events) says what each of them tells. */
export type RelayEvent =
  | Arrival
  | ({ type: 'neighbours' } & Neighbours)
  /** The relay stops. With `join` it stops for good, and that is where to join another one. */
  | { type: 'bye'; retryAfterMs: number; join?: string }
  | SayingEvent
  | StageEvent
  | SwapEvent
  | PlainEvent;

export interface Problem {
  code: string;
  title: string;
  detail?: string;
  status?: number;
  cursor?: string;
  /** How long to stay away, as far as the relay says so. */
  retryAfterMs?: number;
}

/** What a join returns: the desktop's id and token, its first cursor and its addresses. Ids, tokens and cursors are opaque. */
export interface Seat {
  desktop: string;
  token: string;
  /** A secret: whoever has it may join beside this desktop. */
  invitation: string;
  world: string;
  cursor: string;
  events: string;
  crossings: string;
  socket: string;
  /** The relay answers a poll at the latest after this; seconds. */
  pingSeconds: number;
  /** The relay keeps a desktop that does not poll for so long; seconds. */
  leaseSeconds: number;
  /** Whether this desktop shows its stage. Absent from a relay that knows no stages. */
  stage?: boolean;
  /** Whether public pages may show its name. Absent from a relay that has no such pages. */
  named?: boolean;
}

/**
 * Returns a seat as a relay or an older page has written it, with its times in whole seconds within their limits: a relay may say anything, and
 * one that says none has the usual ones.
 */
export function readSeat(said: Seat): Seat {
  return {
    ...said,
    pingSeconds: secondsOf(said.pingSeconds, 1, PING_SECONDS_MAX, PING_MS / 1000),
    leaseSeconds: secondsOf(said.leaseSeconds, LEASE_SECONDS_MIN, LEASE_SECONDS_MAX, LEASE_MS / 1000),
  };
}

function secondsOf(said: unknown, min: number, max: number, otherwise: number): number {
  return typeof said === 'number' ? Math.trunc(Math.max(min, Math.min(max, said))) : otherwise;
}

/** Returns after how many ms a connection that is silent is dead. */
export function silenceMs({ pingSeconds }: Pick<Seat, 'pingSeconds'>): number {
  return pingSeconds * 1000 * SILENCE_FACTOR;
}

/** Returns the longest pause between two polls of a seat. */
export function pauseMsMax({ leaseSeconds }: Pick<Seat, 'leaseSeconds'>): number {
  return (leaseSeconds * 1000) / PAUSES_PER_LEASE;
}

/** What a relay recognises the thrower of a crossing by, also when its seat has ended. */
export type Sender = Pick<Seat, 'desktop' | 'token' | 'crossings'>;

/** Returns the address of the relay that has a seat. It is not always the page's: of several relays, one has each private world. */
export function relayOf({ crossings }: Pick<Seat, 'crossings'>): string {
  return new URL(crossings).origin;
}

/** The verdict on a message: what the relay told when it accepted it, the problem with which it refused it, or `unknown`: no answer. */
export type VerdictOf<Accepted> = Accepted | { refused: Problem } | 'unknown';

/** On a crossing: `to` is the receiver. `unknown` when nothing is asked any more: the relay may have accepted it. */
export type CrossingVerdict = VerdictOf<{ to: Neighbour | null }>;

/** On a saying: `heard` is how many others it is for, null when the relay does not remember. `unknown` as for a crossing. */
export type SayingVerdict = VerdictOf<{ heard: number | null }>;

/** On a stage: the edges through which somebody watches. A stage is sent once, so a lost answer is `unknown`. */
export type StageVerdict = VerdictOf<{ edges: Edge[] }>;

/** On a peek: for how long the relay shows what is beyond the edge. Like a stage it is sent once. */
export type PeekVerdict = VerdictOf<{ leaseMs: number }>;

export interface TransportHandlers {
  /**
   * A batch, and the cursor after it. Both must be saved when the promise resolves: the next poll acknowledges them.
   * The next poll is sent only then, so a page that is full may resolve late. Resolves to false when the page moves to another
   * relay: then no poll follows, but what has no verdict is still sent, until the transport is closed.
   */
  events(events: RelayEvent[], cursor: string): Promise<boolean>;
  /** The relay does not know our cursor any more and goes on from this one. */
  cursorLost(cursor: string): void;
  connected(is: boolean): void;
  /** This browser does not allow such a transport at all. It has closed itself. */
  impossible(): void;
  /**
   * The seat has ended and the transport has closed itself; the page must join again. The relay has passed on what the events of the
   * last batch after number `lostAfter` have brought.
   */
  ended(problem: Problem, lostAfter: number): void;
}

export interface Transport {
  /**
   * Resolves when the relay has decided. Sends the same number again for as long as the network fails. `isRepeat`: it was sent before, and
   * the relay may have accepted it.
   */
  send(crossing: Crossing, isRepeat: boolean): Promise<CrossingVerdict>;
  /** Likewise for a saying. */
  say(saying: Saying): Promise<SayingVerdict>;
  /** Sends a stage once. */
  show(stage: Stage): Promise<StageVerdict>;
  /** Asks once to see what is beyond an edge; null ends it. At most one such request may be unanswered. */
  peek(edge: Edge | null): Promise<PeekVerdict>;
  close(): void;
}

/** What a transport needs from its environment; tests pass their own. */
export interface Environment {
  random: () => number;
  /** Resolves after `ms`, or as soon as the signal aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

export const BACKOFF_MS_FIRST = 400; // ms before the first retry: short, because most failures are one lost connection
export const BACKOFF_MS_MAX = 15_000; // ms, for what no lease hangs on: a relay that is back is found soon
export const REFUSED_MS_MAX = 300_000; // ms between joins that the relay will refuse again: it has banned us, or can't read what we send

/** Returns how long to wait before retry number `attempt` (from 0): it doubles up to `msMax`, and half of it is random. */
export function backoffMs(attempt: number, random: () => number, msMax = BACKOFF_MS_MAX): number {
  const full = Math.min(msMax, BACKOFF_MS_FIRST * 2 ** Math.min(attempt, 10));
  return full * (0.5 + random() / 2);
}

/** Returns how long to wait before the next join when join number `attempt` (from 0) has failed, with this problem if there was an answer. */
export function joinPauseMs(attempt: number, random: () => number, problem?: Problem): number {
  const isForGood = problem?.code === 'banned' || problem?.code === 'malformed';
  return Math.max(problem?.retryAfterMs ?? 0, backoffMs(attempt, random, isForGood ? REFUSED_MS_MAX : BACKOFF_MS_MAX));
}

/** Problem codes that come with the cursor to go on from. */
export const CURSOR_CODES: ReadonlySet<string> = new Set<ProblemCode>(['cursor-lost', 'cursor-ahead']);

/** Problem codes after which the seat is gone for good. */
export const ENDED_CODES: ReadonlySet<string> = new Set<ProblemCode>(['unknown-desktop', 'desktop-ended']);

/** Returns how long to stay away when there is a `bye` among these events, with jitter; else 0. */
export function byeMs(events: readonly RelayEvent[], random: () => number): number {
  const bye = events.find((event) => event.type === 'bye');
  return bye === undefined ? 0 : Math.min(BYE_MS_MAX, bye.retryAfterMs) * (0.5 + random());
}

/** Problem codes of a relay that has not looked whether it accepted the crossing before: it, or a part of it, is busy or stops. */
const BUSY_CODES: ReadonlySet<string> = new Set<ProblemCode>(['too-fast', 'relay-busy', 'draining']);

/**
 * Whether this answer to a crossing or a saying says that it was not accepted. Otherwise it is sent again. `isRepeat`: it was sent
 * before, without an answer.
 */
export function isVerdict({ code }: Problem, isRepeat: boolean): boolean {
  // A 5xx without one of the relay's codes comes from a proxy, and `internal` is a fault: the relay may have accepted.
  if (code.startsWith('http-5') || code.startsWith('http-2') || code === 'internal') return false;
  // Any answer without a code is a proxy's: to a repeat it says nothing about the post before.
  return !isRepeat || !(BUSY_CODES.has(code) || code.startsWith('http-'));
}

/**
 * The number of the last event that a seat which has ended has acknowledged: the relay has passed on what later ones of the last batch have
 * brought. `cursor` is the one after that batch, and `pollsSent` counts the polls with it. The relay says what was acknowledged for as long
 * as it remembers the seat. 0 when that is nothing, Infinity when the relay has passed on nothing of the batch.
 */
export function lostAfter({ cursor: acknowledged }: Problem, cursor: string, pollsSent: number): number {
  const [, epoch, sequence] = /^(.+-)(\d+)$/.exec(acknowledged ?? '') ?? [];
  // Otherwise a refused first poll has acknowledged nothing, and after more polls we cannot know.
  if (epoch === undefined) return pollsSent === 1 ? 0 : Number.POSITIVE_INFINITY;
  // A relay of another epoch was started without what it knew, so it has passed on nothing of the batch.
  return cursor.startsWith(epoch) ? Number(sequence) : Number.POSITIVE_INFINITY;
}

/** Returns the problem document of a response. Makes one up when the response has none, as that of a proxy may not. */
export async function readProblem(response: Response): Promise<Problem> {
  const problem = await response.json().catch(() => null);
  const code = typeof problem?.code === 'string' ? problem.code : `http-${response.status}`;
  const retryAfterMs = Math.min(BYE_MS_MAX, 1000 * Number(response.headers.get('retry-after') ?? 0));
  return {
    title: `The relay answered ${response.status}.`,
    ...problem,
    code,
    status: response.status,
    ...(retryAfterMs > 0 && { retryAfterMs }),
  };
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

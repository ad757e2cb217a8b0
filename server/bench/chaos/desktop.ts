/**
 * A desktop that behaves by PROTOCOL.md to the letter, and tells the account what it does.
 *
 * It joins, polls with its cursor, and throws; a throw is repeated under its number at the seat that sent it, until it has an answer, also
 * after that seat has ended. It throws only what it has acknowledged. On 410 `desktop-ended` it removes what the relay has given to others, and
 * joins again when its throws have their answers, or after REPEAT_MS. On a `bye` with `join` it joins there when the time is over.
 */
import { blankIdentity, readToken } from '../../wire/identity.ts';
import { EDGES } from '../../wire/rules.ts';
import type { Random } from '../hostile/random.ts';
import { FILE } from '../hostile/target.ts';
import type { Reply, Send } from '../requests.ts';
import type { Account, Throw } from './account.ts';
import { type Joined, Seat } from './seat.ts';

/** How long to wait for an answer, in ms. A poll is held for at most 33 s of `--ping-seconds 30`. */
const ANSWER_MS = 8_000;
const POLL_MS = 45_000;

/** The pause after a request without an answer, or one that was refused for a while, in ms; with jitter. */
const RETRY_MS = 1_000;

/** How long the client of an ended seat repeats its throws before it joins again all the same, in ms. */
const REPEAT_MS = 10_000;

/** Throws of a desktop that may have no answer at a time. */
const IN_FLIGHT_MAX = 8;

/** Throws of one sprite; then it stays where it is. */
export const THROWS_MAX = 4;

/** Sprites that a desktop has ready to be thrown: the others stay. */
const READY_MAX = 16;

/** The share of throws with a new sprite. */
const NEW_SHARE = 0.35;

export interface Surroundings {
  send: Send;
  account: Account;
  random: Random;
  /** Resolves after this time, or at once when the run is over. */
  rest: (ms: number) => Promise<void>;
  now: () => number;
  /** The URLs of all relays. */
  relays: readonly string[];
  /** The name of the relay of a URL. */
  relayOf: (url: string) => string;
  /** The relay of the desktop that an answer names. */
  seats: Map<string, string>;
}

interface Problem {
  code?: string;
  cursor?: string;
}

interface PollEvent {
  type: string;
  seq?: number;
  sprite?: { name: string };
  from?: { desktop: string };
  retryAfterMs?: number;
  join?: string;
}

export class Desktop {
  readonly number: number;
  readonly world: string | undefined;
  seat: Seat | undefined;
  /** It throws nothing more. */
  isCalm = false;
  readonly #world: Surroundings;
  readonly #throwMs: number;
  /** Sprites that may be thrown. */
  readonly #ready: number[] = [];
  /** Throws without an answer, at this seat and earlier ones. */
  pending = 0;
  /** A poll is out. */
  isPolling = false;
  #base: number;
  #isOver = false;
  #isLeaving = false;
  #silence: Promise<void> | undefined;
  #poll = new AbortController();
  /** A relay not to join, and until when. */
  #avoided = { relay: '', untilMs: 0 };

  /** `world`: the name of a private one; `commons` when undefined. `throwMs`: the mean time between two throws. */
  constructor(number: number, world: string | undefined, throwMs: number, surroundings: Surroundings) {
    this.number = number;
    this.world = world;
    this.#throwMs = throwMs;
    this.#world = surroundings;
    this.#base = number % surroundings.relays.length;
  }

  /** Lives until stop(). */
  async live(): Promise<void> {
    const throwing = this.#throwAll();
    while (!this.#isOver) {
      this.seat = await this.#join();
      if (this.seat) await this.#pollAll(this.seat);
    }
    await throwing;
  }

  /** Ends without a word: its sprites are where the account says. */
  stop(): void {
    this.#isOver = true;
    this.#poll.abort();
  }

  get isSilent(): boolean {
    return this.#silence !== undefined;
  }

  /** Polls no more for this time, which may be longer than its lease. */
  fallSilent(ms: number): void {
    this.#silence ??= this.#world.rest(ms).then(() => {
      this.#silence = undefined;
    });
    this.#poll.abort();
  }

  /** Leaves when all that it has received is acknowledged, and then joins at another relay for this time. Returns whether it has left. */
  async leave(avoidMs: number): Promise<boolean> {
    const { seat } = this;
    if (!seat || this.#isLeaving || this.isSilent) return false;
    this.#isLeaving = true;
    const { send, rest, account } = this.#world;
    const kick = new AbortController();
    // Of two polls the older one is answered, and that answer says that its cursor was taken.
    const { joined } = seat;
    const newer = send(`${joined.events}?cursor=${seat.cursor}`, {
      method: 'GET',
      token: joined.token,
      timeoutMs: POLL_MS,
      signal: kick.signal,
    });
    for (let waits = 0; waits < 40 && this.isPolling && this.seat === seat; waits++) await rest(100);
    kick.abort();
    await newer;
    const isSure = !this.isPolling && this.seat === seat && seat.unacknowledged.length === 0;
    if (!isSure) {
      this.#isLeaving = false;
      return false;
    }
    this.#avoided = { relay: seat.relay, untilMs: this.#world.now() + avoidMs };
    const url = joined.events.replace(/\/v1\/.*$/, '');
    const api = joined.crossings.replace(/\/crossings$/, '') || url;
    for (let reply: Reply | undefined; reply === undefined && !this.#isOver; ) {
      reply = await send(api, { method: 'DELETE', token: joined.token, timeoutMs: ANSWER_MS });
      if (reply && reply.status !== 204) account.refuse(codeOf(reply));
      // Busy or draining: it is still here.
      if (reply && (reply.status === 503 || reply.status === 429)) reply = undefined;
      if (!reply) await this.#pause();
    }
    account.counts.ended++;
    this.seat = undefined;
    this.#isLeaving = false;
    return true;
  }

  // ---- Joining -----------------------------------------------------------------------------------------------------

  async #join(): Promise<Seat | undefined> {
    const { send, relays, relayOf, account, seats, now } = this.#world;
    const body = { screen: { width: 1920, height: 1080 }, name: `d${this.number}`, world: this.world };
    for (let tries = 0; !this.#isOver; tries++) {
      const url = this.#moveTo ?? relays[(this.#base + tries) % relays.length];
      this.#moveTo = undefined;
      if (this.#avoided.untilMs > now() && relayOf(url) === this.#avoided.relay && this.world === undefined) continue;
      const reply = await send(`${url}/v1/desktops`, { method: 'POST', body, timeoutMs: ANSWER_MS });
      if (reply?.status === 201) {
        const joined = reply.json as Joined;
        const seat = new Seat(joined, relayOf(joined.crossings));
        seats.set(joined.desktop, seat.relay);
        account.counts.joins++;
        return seat;
      }
      if (reply) account.refuse(`join: ${codeOf(reply)}`);
      await this.#pause();
    }
    return undefined;
  }

  /** Where a relay has sent it. */
  #moveTo: string | undefined;

  // ---- Polling -----------------------------------------------------------------------------------------------------

  /** Polls until the seat has ended, or is given up. */
  async #pollAll(seat: Seat): Promise<void> {
    while (!this.#isOver && this.seat === seat) {
      if (this.#silence) await this.#silence;
      else if (this.#isLeaving) await this.#world.rest(50);
      else if (!(await this.#pollOnce(seat))) return;
    }
  }

  /** Returns false when the seat is no more. */
  async #pollOnce(seat: Seat): Promise<boolean> {
    const { send, account } = this.#world;
    const { events, token } = seat.joined;
    this.#poll = new AbortController();
    this.isPolling = true;
    seat.polls();
    const reply = await send(`${events}?cursor=${seat.cursor}`, {
      method: 'GET',
      token,
      timeoutMs: POLL_MS,
      signal: this.#poll.signal,
    });
    this.isPolling = false;
    if (reply?.status === 200) return this.#receive(seat, reply);
    if (reply === undefined) {
      await this.#pause();
      return true;
    }
    const { code = '', cursor } = (reply.json ?? {}) as Problem;
    account.refuse(`poll: ${codeOf(reply)}`);
    if (code === 'cursor-ahead' || code === 'cursor-lost') {
      this.#keep(seat.goOnFrom(String(cursor)));
      return true;
    }
    if (code === 'desktop-ended') {
      this.#endSeat(seat, cursor);
      await this.#repeatFirst(seat);
      return false;
    }
    if (reply.status === 401) {
      // The relay does not know it, so it has given nothing of it to others.
      this.#keep(seat.polled());
      await this.#repeatFirst(seat);
      return false;
    }
    if (reply.status !== 503 && reply.status !== 429) account.anomaly(`a poll of d${this.number}: ${codeOf(reply)}`);
    await this.#pause();
    return true;
  }

  async #receive(seat: Seat, { json }: Reply): Promise<boolean> {
    const { account, rest, random } = this.#world;
    const { cursor, events } = json as { cursor: string; events: PollEvent[] };
    this.#keep(seat.polled());
    seat.cursor = cursor;
    for (const { type, seq = 0, sprite, retryAfterMs = 0, join } of events) {
      if (type === 'sprite' && sprite) {
        const number = Number(/^sprite-(\d+)$/.exec(sprite.name)?.[1] ?? -1);
        if (seat.receive(number, seq)) account.received(number, this.number, `seq ${seq} at ${seat.relay}`);
      }
      if (type !== 'bye') continue;
      await rest(retryAfterMs * (1 + random.below(100) / 400));
      if (join === undefined) continue;
      this.#moveTo = new URL(join).origin;
      return false;
    }
    return true;
  }

  /** Sprites of the last batch that are this desktop's now. */
  #keep(sprites: readonly number[]): void {
    const { account } = this.#world;
    account.acknowledged(sprites.length);
    for (const sprite of sprites) {
      account.note(sprite, `d${this.number} has it for good`);
      if (this.#ready.length < READY_MAX && account.throwsOf(sprite) < THROWS_MAX) this.#ready.push(sprite);
    }
  }

  #endSeat(seat: Seat, cursor: string | undefined): void {
    const { account } = this.#world;
    account.counts.ended++;
    const { kept, removed } = seat.end(cursor);
    this.#keep(kept);
    for (const { sprite, isInDoubt } of removed) {
      account.dropped(sprite, this.number, cursor === undefined ? '410 without a cursor' : `410 with ${cursor}`);
      if (cursor === undefined && isInDoubt) account.unknowable(sprite, 'a 410 without a cursor after a lost poll');
    }
  }

  /** Throws that were sent get their answers before the client joins again. */
  async #repeatFirst(seat: Seat): Promise<void> {
    const { rest, now } = this.#world;
    const untilMs = now() + REPEAT_MS;
    while (!this.#isOver && seat.unanswered > 0 && now() < untilMs) await rest(100);
  }

  // ---- Throwing ----------------------------------------------------------------------------------------------------

  async #throwAll(): Promise<void> {
    const { rest, random } = this.#world;
    while (!this.#isOver) {
      await rest((this.#throwMs * (50 + random.below(100))) / 100);
      const { seat } = this;
      if (this.isCalm || this.#isOver || !seat || this.#isLeaving || this.pending >= IN_FLIGHT_MAX) continue;
      const sprite = this.#pick();
      const number = sprite === undefined ? undefined : seat.takeNumber();
      if (sprite === undefined) continue;
      if (number === undefined) this.#ready.push(sprite);
      else void this.#throw(seat, number, sprite);
    }
  }

  #pick(): number | undefined {
    const { random, account } = this.#world;
    const isNew = this.#ready.length === 0 || random.chance(NEW_SHARE);
    const made = isNew ? account.made(this.number) : undefined;
    return made ?? this.#ready.splice(random.below(this.#ready.length), 1)[0];
  }

  /** Repeats a throw until it has an answer. */
  async #throw(seat: Seat, number: number, sprite: number): Promise<void> {
    const { account, send, random, now, seats } = this.#world;
    const { crossings, token, desktop } = seat.joined;
    const edge = random.of(EDGES);
    const crossing = { file: FILE, name: `sprite-${sprite}` };
    const body = { crossing: number, edge, at: 0.25, vx: 900, vy: -50, sprite: crossing };
    account.thrown(sprite, this.number, `${edge} as #${number} of ${desktop} at ${seat.relay}`);
    const identity = blankIdentity();
    readToken(token, identity);
    const thrown: Throw = { sprite, relay: seat.relay, identity, crossing: number };
    account.awaits(thrown);
    this.pending++;
    const startMs = now();
    let isFirst = true;
    while (!this.#isOver) {
      const reply = await send(crossings, { method: 'POST', token, body, timeoutMs: ANSWER_MS });
      if (reply) account.answered(thrown);
      if (reply?.status === 202) {
        const { to } = reply.json as { to: { desktop: string } | null };
        const relay = to === null ? undefined : seats.get(to.desktop);
        account.accepted(sprite, this.number, to === null ? 'to whom is not known' : `to ${to.desktop} at ${relay}`);
        if (isFirst) account.trip(this.number, now() - startMs, seat.relay, relay);
      } else if (reply) {
        account.refusedThrow(sprite, this.number, codeOf(reply));
        if (!isDue(reply) && !isBehind(reply, account.rolled.has(seat.relay))) {
          account.anomaly(`a throw of d${this.number} at ${seat.relay}: ${codeOf(reply)}`);
        }
        this.#ready.push(sprite);
      }
      if (reply) break;
      isFirst = false;
      account.repeated(sprite, this.number);
      await this.#pause();
    }
    this.pending--;
    if (!this.#isOver) seat.answered(number);
  }

  #pause(): Promise<void> {
    const { rest, random } = this.#world;
    return rest((RETRY_MS * (50 + random.below(100))) / 100);
  }
}

function codeOf({ status, json }: Reply): string {
  return (json as Problem | undefined)?.code ?? `status ${status}`;
}

/** A throw that is in order may be answered like this. */
function isDue({ status }: Reply): boolean {
  return [401, 410, 429, 503].includes(status);
}

/** A relay whose machine has died may wait again for the verdict on a throw that it had answered. */
function isBehind(reply: Reply, wasRolledBack: boolean): boolean {
  return wasRolledBack && codeOf(reply) === 'crossing-ahead';
}

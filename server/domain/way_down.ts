/**
 * The way down: a poll gets what waits for its desktop, or is parked until something does.
 *
 * Each slot has one deadline: the ping of its parked poll, otherwise the end of its lease. Of a relay that stops, parked polls are answered
 * `bye`, in steps.
 * Writer: the parking lot, the deadlines, the lists of slots that are ready or wait for room, whether the relay drains, and the marks READY
 * and DEFERRED.
 * Cost: poll and wake are O(1) for each event, with no allocation that lives longer than the call.
 */
import { ok } from 'node:assert';
import { type Answer, type AnswerView, answerOf, refusalOf } from '../wire/answer.ts';
import { writeCursor } from '../wire/cursor.ts';
import type { Identity } from '../wire/identity.ts';
import { NO_HEAD } from '../wire/passage.ts';
import { type ProblemDocument, problem } from '../wire/problem.ts';
import {
  AWAY_MS,
  EVENTS_PER_POLL_MAX,
  JOIN_URL_BYTES_MAX,
  LEASE_MS,
  PING_JITTER,
  PING_MS,
  POLL_BYTES_MAX,
  RECONNECT_MS_MAX,
  RESPONSE_BYTES_MAX,
  SAYINGS_BYTES_PER_POLL_MAX,
} from '../wire/rules.ts';
import { DelayedPolls, type HeldPoll } from './delayed_polls.ts';
import { type News, separated } from './news.ts';
import { byeMs, RETURNS_PER_TICK, recoveredLeaseMs } from './returns.ts';
import { Deadlines } from './slots/deadlines.ts';
import { DEFERRED, HEARING, PEEKING, READY } from './slots/marks.ts';
import { NOTICES_BYTES_MAX } from './slots/notices.ts';
import type { Rounds } from './slots/rounds.ts';
import {
  DRAINED_PER_STEP_MAX,
  DUE_PER_STEP_MAX,
  HEARERS_PER_STEP_MAX,
  PIONEER_MS,
  PIONEERS_MAX,
  WATCHERS_PER_STEP_MAX,
} from './state/limits.ts';
import { digitsOf, EVENT_BYTES_MAX, writeNumber } from './state/mailboxes.ts';
import type { Tables } from './tables.ts';
import { PEEK_EVENTS_BYTES_MAX, type Peeks } from './talk/peeks.ts';
import { MISSED_BYTES_MAX } from './talk/sayings.ts';
import type { Speech } from './talk/speech.ts';

/** The receiver of answers to polls: a front, or the frame to a worker. It copies the bytes before the call returns. */
export interface AnswerSink {
  /** A buffer in which the body of the next answer needs no copy: `bytes` from roomAt() on, valid until the next call. */
  room(bytes: number): Buffer;
  roomAt(): number;
  /**
   * Returns whether the receiver of this ticket has room for a batch now. If not, the batch stays in the mailbox until
   * retryDeferred() is called. Absent: always.
   */
  hasRoom?(ticket: number): boolean;
  /**
   * The same for sayings, which leave before the room for sprites is used up. If there is none, they wait for the next
   * round. Absent: always.
   */
  hasRoomForSayings?(ticket: number): boolean;
  /** May write what the relay has told so far: the relay calls it when its state is whole, and all facts about it are told. */
  readonly answer: Answer;
}

export interface WayDownOptions {
  answers: AnswerSink;
  /** Returns a random number in 0 … 1, for jitter. */
  random: () => number;
  /** A parked poll is answered with a ping after this, in ms; default PING_MS. */
  pingMs?: number;
}

/** What a batch may have besides sprites. */
interface BatchParts {
  readonly news: News;
  readonly speech: Speech;
  readonly peeks: Peeks;
}

const ENDED_DETAIL = 'This desktop has left, or was silent for longer than its lease; join again.';
const UNKNOWN_DETAIL = 'No desktop here has this id and token; join to get one.';

/** The reasons to refuse whatever a desktop asks for. */
export type NotLive = 'desktop-ended' | 'unknown-desktop';

/** The longest head of a batch: `{"cursor":"6a1f03c2-4294967295","events":[`. */
const BATCH_HEAD_BYTES_MAX = 64;

/** The most bytes of one answer without sayings: its events, the four neighbours, notices and the JSON around them. */
export const ANSWER_BYTES_MAX = POLL_BYTES_MAX + EVENT_BYTES_MAX + NOTICES_BYTES_MAX + PEEK_EVENTS_BYTES_MAX + 2048;
ok(ANSWER_BYTES_MAX + SAYINGS_BYTES_PER_POLL_MAX <= RESPONSE_BYTES_MAX);

/** The longest URL of another relay in a `bye`, with its key. */
const JOIN_BYTES_MAX = JOIN_URL_BYTES_MAX + 16;

const EVENTS = Buffer.from('","events":[');
const PING = Buffer.from('{"type":"ping"}');
const CLOSE = 0x7d;

export class WayDown {
  readonly pingMs: number;
  /** Polls whose answer is delayed. */
  readonly delayedPolls: DelayedPolls;
  readonly #tables: Tables;
  readonly #news: News;
  readonly #speech: Speech;
  readonly #peeks: Peeks;
  readonly #answers: AnswerSink;
  readonly #random: () => number;
  /** The beginning of every batch, up to the cursor's sequence. */
  readonly #cursorHead: Buffer;
  readonly #deadlines: Deadlines;
  /**
   * The parking lot: ticket + 1 of the poll held for each slot. Without one, the time of its last poll in ms, negative; 0 when there was none.
   */
  readonly #parked: Float64Array;
  #parkedCount = 0;
  /** Slots whose batch waits for room, each once. */
  #deferred: number[] = [];
  #ready: Uint32Array = new Uint32Array(1024);
  #readyCount = 0;
  /** Polls are answered `bye` instead of being parked. */
  #isSendingAway = false;
  /** Everything else is refused, too. */
  #draining = false;
  /** Over how long desktops that are sent away come back, in ms: longer if they are many. */
  #returnMs = RECONNECT_MS_MAX;
  /** While draining: where else desktops may join, as a member of `bye`. */
  #joins: readonly string[] = [];
  /** While draining: how many desktops are still sent ahead to a relay without desktops. */
  #pioneers = 0;
  /** While desktops are sent away: the polls of the slots below are answered. */
  #drainedSlots = 0;
  /** What a batch with sayings has of its own, which is not shared. */
  #own: Buffer | undefined;
  /** The batch that is being sent. */
  readonly #batch: AnswerView = answerOf(200, NO_HEAD);

  constructor(tables: Tables, { news, speech, peeks }: BatchParts, options: WayDownOptions) {
    const { epoch, nowMs } = tables;
    const slots = tables.desktops.max;
    this.#tables = tables;
    this.#news = news;
    this.#speech = speech;
    this.#peeks = peeks;
    this.#answers = options.answers;
    this.#random = options.random;
    this.pingMs = options.pingMs ?? PING_MS;
    this.#cursorHead = Buffer.from(`{"cursor":"${writeCursor(epoch, 0).slice(0, -1)}`);
    const latestMs = Math.max(this.pingMs * (1 + PING_JITTER), recoveredLeaseMs(slots));
    this.#deadlines = new Deadlines(slots, nowMs, latestMs);
    this.#parked = new Float64Array(slots);
    this.delayedPolls = new DelayedPolls(slots);
  }

  get parkedCount(): number {
    return this.#parkedCount;
  }

  get draining(): boolean {
    return this.#draining;
  }

  get isSendingAway(): boolean {
    return this.#isSendingAway;
  }

  /** From now on a desktop without a poll ends after this time. */
  lease(slot: number, ms: number): void {
    this.#deadlines.set(slot, this.#tables.nowMs + ms);
  }

  /** Begins the lease of a desktop whose poll has ended. In a private world the first deadline is AWAY_MS: others are told then that it is away. */
  #beginLease(slot: number): void {
    const { nowMs, torus, defaultWorld } = this.#tables;
    this.#parked[slot] = -nowMs;
    this.lease(slot, torus.worldOf(slot) === defaultWorld ? LEASE_MS : AWAY_MS);
  }

  #awayChanged(slot: number): void {
    this.#news.awayChanged(this.#tables.torus.worldOf(slot));
  }

  /** How long a desktop has had no poll, in ms: 0 while one is parked, and before the first one. */
  silentMs(slot: number): number {
    return this.#parked[slot] < 0 ? this.#tables.nowMs + this.#parked[slot] : 0;
  }

  /** A desktop ends: answers its parked poll with the reason, and forgets its deadline. */
  leave(slot: number, detail: string): void {
    if (this.#isParked(slot)) {
      const acknowledged = this.#tables.mailboxes.acknowledged(slot);
      this.#answerProblem(this.#unpark(slot), this.#endedProblem(detail, acknowledged));
    }
    this.#parked[slot] = 0;
    this.#deadlines.clear(slot);
  }

  /** Acknowledges the events up to the cursor, then answers with the waiting ones, or parks the ticket: see Relay.poll(). */
  poll(identity: Identity, ticket: number, epoch: number, seq: number): void {
    const { desktops, mailboxes, counters, nowMs, marks } = this.#tables;
    counters.polls++;
    const { slot } = identity;
    const state = desktops.authenticate(identity);
    if (state !== 'live') {
      this.#answerProblem(ticket, this.refusal(identity, state));
      return;
    }
    if (seq >= 0 && !this.#acknowledge(slot, ticket, epoch, seq)) return;
    if (this.silentMs(slot) >= AWAY_MS) this.#awayChanged(slot);
    if (this.#isParked(slot)) {
      const older = this.#unpark(slot);
      counters.replaced++;
      const isHeld = this.delayedPolls.hold(older, slot, identity.generation, nowMs, false);
      if (!isHeld) this.#answerEvents(slot, older, false, 0);
    }
    const hasEvents = this.#hasEvents(slot);
    const isRepeat = mailboxes.newest(slot) > mailboxes.acknowledged(slot);
    if (isRepeat && this.delayedPolls.hold(ticket, slot, identity.generation, nowMs, true)) {
      // It is answered later, with what waits then.
    } else if (hasEvents && this.#hasRoom(ticket)) {
      this.#answerEvents(slot, ticket, false, EVENTS_PER_POLL_MAX);
    } else if (this.#isSendingAway) {
      this.#answerBye(slot, ticket);
    } else {
      this.#parked[slot] = ticket + 1;
      this.#parkedCount++;
      const jitter = 1 + PING_JITTER * (2 * this.#random() - 1);
      this.#deadlines.set(slot, nowMs + this.pingMs * jitter);
      if (hasEvents) this.#defer(slot);
      if (marks.has(slot, HEARING)) this.#speech.rounds.list(slot);
      if (marks.has(slot, PEEKING)) this.#peeks.rounds.list(slot);
      return;
    }
    this.#beginLease(slot);
  }

  /** Acknowledges what a cursor has passed. Returns false when the poll is answered, because no such cursor was given. */
  #acknowledge(slot: number, ticket: number, epoch: number, seq: number): boolean {
    const { mailboxes, counters, facts, epoch: own } = this.#tables;
    const cursor = () => writeCursor(own, mailboxes.acknowledged(slot));
    if (epoch !== own) {
      const detail = 'The relay has restarted since it gave this cursor; go on from the one in `cursor`.';
      this.#answerProblem(ticket, problem('cursor-lost', detail, { cursor: cursor() }));
      return false;
    }
    if (seq > mailboxes.newest(slot)) {
      const detail = 'No event with this sequence has been sent; go on from the one in `cursor`.';
      this.#answerProblem(ticket, problem('cursor-ahead', detail, { cursor: cursor() }));
      return false;
    }
    const count = mailboxes.acknowledge(slot, seq);
    counters.acknowledged += count;
    if (count > 0) facts?.acknowledged(slot, seq);
    return true;
  }

  /** The connection of a ticket is closed: unparks its poll and starts the lease. Returns false when it was not parked. */
  closed(ticket: number, slot: number): boolean {
    if (slot >= this.#tables.desktops.max) return false;
    if (this.#parked[slot] !== ticket + 1) return this.delayedPolls.remove(ticket);
    this.#unpark(slot);
    this.#beginLease(slot);
    return true;
  }

  /** A newer request waits behind the poll of a ticket: answers that poll empty if it is still parked, as a newer poll would. */
  outdated(ticket: number, slot: number): void {
    if (slot >= this.#tables.desktops.max) return;
    if (this.delayedPolls.remove(ticket)) this.#answerEvents(slot, ticket, false, 0);
    if (this.#parked[slot] !== ticket + 1) return;
    this.#answerEvents(slot, this.#unpark(slot), false, 0);
    this.#beginLease(slot);
  }

  /** Unparks every poll for whose ticket `isClosed` returns true: the process that held their connections has died. */
  closedAll(isClosed: (ticket: number) => boolean): void {
    this.delayedPolls.removeAll(isClosed);
    for (let slot = 0; slot < this.#tables.desktops.max; slot++) {
      if (this.#isParked(slot) && isClosed(this.#parked[slot] - 1)) this.closed(this.#parked[slot] - 1, slot);
    }
  }

  /** Answers each parked poll for which events have arrived, once. */
  endTurn(): void {
    const { marks, counters } = this.#tables;
    for (let at = 0; at < this.#readyCount; at++) {
      const slot = this.#ready[at];
      marks.clear(slot, READY);
      // The events may be gone again: a newer poll got them, or they were for an earlier owner of the slot.
      if (!this.#isParked(slot) || !this.#hasEvents(slot)) continue;
      if (!this.#hasRoom(this.#parked[slot] - 1)) {
        this.#defer(slot);
        continue;
      }
      counters.wakes++;
      this.#answerEvents(slot, this.#unpark(slot), false, EVENTS_PER_POLL_MAX);
      this.#beginLease(slot);
    }
    this.#readyCount = 0;
  }

  /** Tries again to answer the polls whose receivers had no room. The next endTurn() sends what fits now. */
  retryDeferred(): void {
    const slots = this.#deferred;
    this.#deferred = [];
    for (const slot of slots) {
      this.#tables.marks.clear(slot, DEFERRED);
      this.markReady(slot);
    }
  }

  /** Something waits for a desktop: its parked poll, if there is one, is answered at the end of the turn. */
  markReady(slot: number): void {
    const { marks } = this.#tables;
    if (!this.#isParked(slot) || marks.has(slot, READY)) return;
    marks.set(slot, READY);
    if (this.#readyCount === this.#ready.length) {
      const larger = new Uint32Array(this.#ready.length * 2);
      larger.set(this.#ready);
      this.#ready = larger;
    }
    this.#ready[this.#readyCount++] = slot;
  }

  /**
   * Pings the parked polls that are due, and calls `leave` for each desktop whose lease has ended: DUE_PER_STEP_MAX of both at most, and fewer
   * when they have told much. `left`: how many more there might have been.
   */
  meetDeadlines(leave: (slot: number) => void): { left: number; isMoreDue: boolean } {
    const { nowMs, counters } = this.#tables;
    let left = DUE_PER_STEP_MAX;
    const isMoreDue = this.#deadlines.advance(nowMs, (slot) => {
      if (this.#isParked(slot)) {
        counters.pings++;
        const eventsMax = this.#hasRoom(this.#parked[slot] - 1) ? EVENTS_PER_POLL_MAX : 0;
        this.#answerEvents(slot, this.#unpark(slot), true, eventsMax);
        this.#beginLease(slot);
      } else if (this.#isSendingAway) {
        // No poll can be parked any more. The next relay begins all leases again.
        this.lease(slot, LEASE_MS);
      } else if (this.#parked[slot] < 0 && this.silentMs(slot) < LEASE_MS) {
        this.#awayChanged(slot);
        this.lease(slot, LEASE_MS - this.silentMs(slot));
      } else {
        counters.leasesEnded++;
        leave(slot);
      }
      return --left > 0 && this.#tables.facts?.isLong !== true;
    });
    return { left, isMoreDue };
  }

  /** Answers the delayed polls that are due. Returns whether more are. */
  answerDelayed(): boolean {
    const dueMs = this.#isSendingAway ? Number.POSITIVE_INFINITY : this.#tables.nowMs;
    return this.delayedPolls.answerDue(dueMs, DUE_PER_STEP_MAX, this.#answerHeld);
  }

  /** The delayed answer of a poll. Its desktop may have ended since, or have a newer poll, which gets what waits. */
  readonly #answerHeld = (ticket: number, { slot, generation, isRepeat }: HeldPoll): void => {
    const { desktops, ended, nowMs } = this.#tables;
    if (desktops.isLive(slot) && desktops.generation(slot) === generation) {
      const hasEvents = isRepeat && !this.#isParked(slot) && this.#hasRoom(ticket);
      this.#answerEvents(slot, ticket, false, hasEvents ? EVENTS_PER_POLL_MAX : 0);
      if (isRepeat && !this.#isParked(slot)) this.#beginLease(slot);
    } else {
      const acknowledged = ended.acknowledged({ slot, generation }, nowMs);
      this.#answerProblem(ticket, this.#endedProblem(ENDED_DETAIL, acknowledged));
    }
  };

  /** Answers the next hearers of a round with what they have to hear. Returns whether hearers are left. */
  sayingsStep(): boolean {
    const speech = this.#speech;
    speech.beginRound(this.#tables.nowMs);
    for (let left = HEARERS_PER_STEP_MAX; left > 0 && speech.rounds.isOpen; left--) {
      this.#answerListed(speech.rounds.visit(), HEARING, speech.rounds);
    }
    return speech.rounds.isOpen;
  }

  /** Ends watches that are due, and answers the next watchers of a round with what they see. Returns whether more is due. */
  stagesStep(): boolean {
    const peeks = this.#peeks;
    const { nowMs, peerParts } = this.#tables;
    const isMoreDue = peeks.step(nowMs);
    peerParts.peeks?.step(nowMs);
    for (let left = WATCHERS_PER_STEP_MAX; left > 0 && peeks.isRoundOpen; left--) {
      this.#answerListed(peeks.visit(), PEEKING, peeks.rounds);
    }
    return isMoreDue || peeks.isRoundOpen;
  }

  /** Answers the parked poll of a listed desktop, if it still has something of this kind; lists it again when there is no room now. */
  #answerListed(slot: number, mark: number, rounds: Rounds): void {
    if (!this.#isParked(slot) || !this.#tables.marks.has(slot, mark)) return;
    if (!this.#hasRoomForSayings(this.#parked[slot] - 1)) {
      rounds.list(slot);
      return;
    }
    this.#tables.counters.wakes++;
    this.#answerEvents(slot, this.#unpark(slot), false, EVENTS_PER_POLL_MAX);
    this.#beginLease(slot);
  }

  /** As Relay.refuse(). */
  refuse(): void {
    this.#draining = true;
  }

  /** As Relay.drain(). */
  drain(joins: readonly string[]): void {
    this.refuse();
    this.#joins = joins.map((url) => `,"join":${JSON.stringify(url)}`);
    this.#pioneers = joins.length > 0 && this.#tables.peerParts.peers?.shared === undefined ? PIONEERS_MAX : 0;
    this.sendAway(this.#returnMs);
  }

  /** As Relay.sendAway(). */
  sendAway(returnMs: number): void {
    this.#isSendingAway = true;
    this.#returnMs = returnMs;
    this.#drainedSlots = 0;
    this.answerDelayed();
    this.drainStep();
  }

  /** Answers the next parked polls of desktops that are sent away. Returns whether slots are left for another step in this tick. */
  drainStep(): boolean {
    const { max } = this.#tables.desktops;
    const end = Math.min(max, this.#drainedSlots + DRAINED_PER_STEP_MAX);
    const isServed = this.#returnMs === 0;
    let left = isServed ? RETURNS_PER_TICK : DUE_PER_STEP_MAX;
    let slot = this.#drainedSlots;
    for (; slot < end && left > 0; slot++) {
      if (!this.#isParked(slot)) continue;
      this.#answerBye(slot, this.#unpark(slot));
      left--;
    }
    this.#drainedSlots = slot;
    return !isServed && slot < max;
  }

  /**
   * The problem document for a desktop that is not live, whatever it asks for. If it is remembered, its owner learns what it had acknowledged:
   * that is the owner's, and what was sent after it has gone on.
   */
  refusal(identity: Identity, state: 'ended' | 'unknown'): ProblemDocument & { code: NotLive } {
    if (state === 'unknown') return problem('unknown-desktop', UNKNOWN_DETAIL);
    const { ended, nowMs } = this.#tables;
    const isOwner = ended.isKnown(identity, nowMs);
    return this.#endedProblem(ENDED_DETAIL, isOwner ? ended.acknowledged(identity, nowMs) : -1);
  }

  /** `acknowledged`: the last sequence that the desktop acknowledged; -1 when that is not known. */
  #endedProblem(detail: string, acknowledged: number): ProblemDocument & { code: 'desktop-ended' } {
    const cursor = acknowledged < 0 ? undefined : writeCursor(this.#tables.epoch, acknowledged);
    return problem('desktop-ended', detail, { cursor });
  }

  #hasEvents(slot: number): boolean {
    return this.#tables.mailboxes.count(slot) > 0 || this.#news.isDue(slot);
  }

  #hasRoom(ticket: number): boolean {
    const answers = this.#answers;
    return answers.hasRoom === undefined || answers.hasRoom(ticket);
  }

  #hasRoomForSayings(ticket: number): boolean {
    const answers = this.#answers;
    return answers.hasRoomForSayings === undefined || answers.hasRoomForSayings(ticket);
  }

  /** Leaves what waits for a parked poll in the mailbox until retryDeferred(). */
  #defer(slot: number): void {
    const { marks } = this.#tables;
    if (marks.has(slot, DEFERRED)) return;
    marks.set(slot, DEFERRED);
    this.#deferred.push(slot);
  }

  #isParked(slot: number): boolean {
    return this.#parked[slot] > 0;
  }

  #unpark(slot: number): number {
    const ticket = this.#parked[slot] - 1;
    this.#parked[slot] = 0;
    this.#parkedCount--;
    return ticket;
  }

  /** Answers a poll with up to `eventsMax` sprites, a ping if `ping`, and the neighbours, notices, stages and sayings that are due. */
  #answerEvents(slot: number, ticket: number, ping: boolean, eventsMax: number): void {
    const { marks, mailboxes } = this.#tables;
    const isRoomy = eventsMax > 0 && marks.has(slot, HEARING | PEEKING) && this.#hasRoomForSayings(ticket);
    const isHearing = isRoomy && marks.has(slot, HEARING);
    const out = isHearing ? this.#ownRoom() : this.#answers.room(ANSWER_BYTES_MAX);
    // The events are written first, after room for the longest head; then the head is written right before them.
    const start = (isHearing ? 0 : this.#answers.roomAt()) + BATCH_HEAD_BYTES_MAX;
    let end = this.#writeSprites(slot, out, start, eventsMax);
    if (ping) {
      end = separated(out, start, end);
      end += PING.copy(out, end);
      this.#news.tellNeighbours(slot);
    }
    if (ping || (eventsMax > 0 && this.#news.isDue(slot))) {
      end = this.#news.write(slot, out, start, end, eventsMax > 0);
    }
    if (isRoomy && marks.has(slot, PEEKING)) {
      end = this.#peeks.write(slot, out, end, end === start, this.#tables.preciseMs());
      marks.clear(slot, PEEKING);
    }
    if (!isHearing) {
      this.#sendBatch(ticket, mailboxes.batchSeq, this.#batchOf(out, start, end));
      return;
    }
    const speech = this.#speech;
    const { bytes, count, missed } = speech.pop(slot);
    if (speech.waiting(slot) === 0) marks.clear(slot, HEARING);
    if (missed > 0) end = speech.sayings.writeMissed(missed, out, separated(out, start, end));
    if (count > 0) end = separated(out, start, end);
    this.#sendBatch(ticket, mailboxes.batchSeq, this.#batchOf(out, start, end, bytes));
  }

  /** Writes up to `eventsMax` sprites to out[at], and tells that they are sent; returns where they end. */
  #writeSprites(slot: number, out: Buffer, at: number, eventsMax: number): number {
    const { facts, mailboxes } = this.#tables;
    const newest = facts === undefined ? 0 : mailboxes.newest(slot);
    const end = mailboxes.write(slot, out, at, eventsMax, POLL_BYTES_MAX);
    if (facts !== undefined && mailboxes.batchSeq > newest) facts.sent(slot, mailboxes.batchSeq);
    return end;
  }

  #ownRoom(): Buffer {
    this.#own ??= Buffer.alloc(ANSWER_BYTES_MAX + MISSED_BYTES_MAX);
    return this.#own;
  }

  #answerBye(slot: number, ticket: number): void {
    const { torus, defaultWorld, desktops, mailboxes } = this.#tables;
    const random = this.#random;
    const isAhead = this.#pioneers > 0 && torus.worldOf(slot) === defaultWorld;
    if (isAhead) this.#pioneers--;
    const retryAfterMs = isAhead
      ? Math.round(PIONEER_MS * random())
      : byeMs(this.#joins.length > 0 ? 0 : this.#parkedCount, desktops.count, random(), this.#returnMs);
    const join = this.#joins[Math.floor(random() * this.#joins.length)] ?? '';
    const out = this.#answers.room(2 * BATCH_HEAD_BYTES_MAX + JOIN_BYTES_MAX);
    const start = this.#answers.roomAt() + BATCH_HEAD_BYTES_MAX;
    const end = start + out.write(`{"type":"bye","retryAfterMs":${retryAfterMs}${join}}`, start, 'latin1');
    this.#sendBatch(ticket, mailboxes.acknowledged(slot), this.#batchOf(out, start, end));
    this.lease(slot, LEASE_MS);
  }

  /** The events at out[start, end), which `shared` goes on with. */
  #batchOf(out: Buffer, start: number, end: number, shared?: Buffer): AnswerView {
    const batch = this.#batch;
    batch.body = out;
    batch.start = start;
    batch.end = end;
    batch.shared = shared;
    return batch;
  }

  /** Answers with events: writes the cursor before them, and the brackets after them unless `shared` has them. */
  #sendBatch(ticket: number, seq: number, batch: AnswerView): void {
    const out = batch.body;
    batch.start -= this.#cursorHead.length + digitsOf(seq) + EVENTS.length;
    out.set(this.#cursorHead, batch.start);
    out.set(EVENTS, writeNumber(out, batch.start + this.#cursorHead.length, seq));
    if (batch.shared === undefined) {
      out[batch.end++] = 0x5d;
      out[batch.end++] = CLOSE;
    }
    this.#answers.answer(ticket, batch);
  }

  #answerProblem(ticket: number, document: ProblemDocument): void {
    this.#answers.answer(ticket, refusalOf(document));
  }
}

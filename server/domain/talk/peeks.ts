/**
 * Peeks: which desktop watches the stage of which neighbour, and the events about it.
 *
 * A watcher looks through one of its edges at the neighbour beyond it, for a lease. On the torus the watcher is beyond the opposite edge of
 * that neighbour, so a watched desktop has at most one watcher at each of its edges. When another desktop comes between, the watcher
 * watches that one if it shows its stage; otherwise the watch ends. The torus, the switches and the mutes are checked again when a stage is
 * posted and before it is sent, so that a desktop never gets a stage that it may not see.
 * In a world of several relays, the neighbour may be at another one. Then REMOTE_SLOT stands in its row for the desktop there, which
 * watches or is watched, and peer_peeks.ts knows which it is.
 * Each kind of event waits as one bit, and is written from the newest state: there is no queue. Events are sent in rounds, one in a tick of
 * the clock, in steps, and at most WATCHERS_PER_TICK_MAX in a tick, so that sprites do not wait for them. A batch of sprites has them, too.
 * Invariants: a watcher is in the row of the desktop that it watches, at the edge opposite to its own, or in #loose until the next step. A
 * desktop has a row if and only if it has a watcher. Each watch of a desktop of another relay has a row for itself.
 * Memory: 26 bytes a slot, untouched until its desktop watches or is watched; 40 bytes and a stage (stages.ts) for each row.
 * Cost: every call O(1), without allocation. Nothing of this survives the relay: watchers peek again.
 */

import { REFERENCE_BYTES_MAX } from '../../wire/peers/peer_frame.ts';
import { type ProblemCode, ProblemError } from '../../wire/problem.ts';
import {
  EDGES,
  type EdgeNumber,
  opposite,
  PEEK_LEASE_MS,
  PEEKS_PER_SECOND_MAX,
  STAGE_BYTES_MAX,
  STAGE_TOLERANCE_PX,
  STAGES_PER_SECOND_MAX,
} from '../../wire/rules.ts';
import { Deadlines } from '../slots/deadlines.ts';
import type { Mutes } from '../slots/mutes.ts';
import { RateLimits } from '../slots/rate_limits.ts';
import { Rounds } from '../slots/rounds.ts';
import {
  DUE_PER_STEP_MAX,
  PEEK_STEP_MS,
  PEEKS_BURST_MAX,
  STAGES_BURST_MAX,
  WATCHED_MAX,
  WATCHED_PER_STEP_MAX,
  WATCHED_SILENT_MS,
  WATCHERS_PER_TICK_MAX,
} from '../state/limits.ts';
import { writeNumber } from '../state/mailboxes.ts';
import { REMOTE, type Torus } from '../state/torus.ts';
import { Stages } from './stages.ts';

/** The kinds of events that wait for a desktop, as bits. A stage and the end of its watch exclude each other. */
const STAGE = 1;
const END = 2;
const WATCHED = 4;

/** Above these bits: the edge of an ended watch. */
const EDGE_SHIFT = 4;

const STAGE_KEY = Buffer.from('{"type":"stage","edge":"');
const AGE_KEY = Buffer.from('","ageMs":');
const FROM_KEY = Buffer.from(',"from":');
const END_OF_WATCH = Buffer.from('","files":[],"sprites":[]}');
const WATCHED_KEY = Buffer.from('{"type":"watched","edges":[');
const END_OF_WATCHED = Buffer.from(']}');
const EDGE_NAMES = EDGES.map((edge) => Buffer.from(edge));
const QUOTED_EDGES = EDGES.map((edge) => Buffer.from(`"${edge}"`));
const COMMA = 0x2c;

/** In place of a slot, and of a slot + 1: a desktop of another relay. */
const REMOTE_SLOT = 0xffff_ffff;

/** The most bytes of the events of a batch that are written here: a stage of a desktop with the longest id and name, and `watched`. */
export const PEEK_EVENTS_BYTES_MAX = STAGE_BYTES_MAX + REFERENCE_BYTES_MAX + 256;

/** The `detail` of the problem document for each reason to refuse a peek or a stage. */
const REFUSALS = {
  'stage-hidden': 'The neighbour beyond this edge does not show its stage.',
  'no-neighbour': 'You are alone in your world: there is no neighbour beyond this edge.',
  'too-fast': `A desktop can peek ${PEEKS_PER_SECOND_MAX} times and show ${STAGES_PER_SECOND_MAX} stages a second.`,
  'relay-busy': "Too many desktops are watched, or the neighbour's relay cannot be reached; peek again later.",
  draining: 'The relay is going down; peek again in some seconds.',
} as const satisfies Partial<Record<ProblemCode, string>>;

/** What peeks read of the relay. */
export interface Neighbourhood {
  torus: Torus;
  mutes: Mutes;
  /** The watches that concern other relays, once there are some. */
  peerParts: { readonly peeks?: RemotePeeks };
  /** Whether a desktop mutes any other. */
  isMuting(slot: number): boolean;
  /** Whether a desktop shows its stage. */
  shows(slot: number): boolean;
  /** An event waits for a desktop, until write() or leave() is called. */
  markPeeking(slot: number): void;
  /** Writes the id and the name of a desktop as in events; returns where they end. */
  writeReference(slot: number, out: Buffer, at: number): number;
  generation(slot: number): number;
}

/**
 * The watches between desktops here and those of other relays (peer_peeks.ts). One that watches from another relay is named by its row and
 * the edge there: `at` is row * 4 + edge.
 */
export interface RemotePeeks {
  /** Whether the desktop of another relay that the torus has just found is known to hide its stage. */
  readonly isHidden: boolean;
  /** `slot` watches by a row what the torus has just found beyond `edge`. Returns false when that is not possible now. */
  watch(row: number, slot: number, edge: EdgeNumber): boolean;
  /** Whether the desktop that the torus has just found is the one of a row. */
  isSame(row: number): boolean;
  /** Whether the watcher mutes the desktop of a row, as far as that is known. */
  isMuted(row: number): boolean;
  /** A row is not used any more. */
  unwatch(row: number): void;
  /** Writes the id and the name of the desktop of a row. */
  writeReference(row: number, out: Buffer, at: number): number;
  /** The row of a watcher from another relay has a newer stage. */
  stageChanged(at: number): void;
  /** Whether a watcher from another relay may see what `target` shows now. */
  maySee(at: number, target: number): boolean;
  /** A watcher from another relay has lost its row. */
  lost(at: number): void;
}

export interface PeeksOptions {
  /** Stages that a watcher could have predicted within this are not forwarded. 'off': every stage is. Default: STAGE_TOLERANCE_PX. */
  tolerancePx?: number | 'off';
  /** Default WATCHED_MAX; tests lower it. */
  watchedMax?: number;
  /** Default REMOTE_WATCHES_MAX and REMOTE_STAGES_PER_STEP_MAX; tests lower them. */
  remoteWatchesMax?: number;
  remoteStagesPerStepMax?: number;
}

export class Peeks {
  readonly stages: Stages;
  /** The desktops for which something waits. */
  readonly rounds: Rounds;
  readonly counters = { posted: 0, forwarded: 0, filtered: 0, unwatched: 0, sent: 0, refusedFast: 0 };
  /** Watches of desktops here. */
  count = 0;
  readonly #neighbourhood: Neighbourhood;
  readonly #tolerancePx: number | 'off';
  /** The edge through which the desktop of a slot watches, + 1; 0: it does not watch. */
  readonly #edge: Uint8Array;
  /** For each slot: the row of the desktop that its desktop watches, + 1, and the row of its desktop while that is watched, + 1. */
  readonly #rowSeen: Uint32Array;
  readonly #rowOwn: Uint32Array;
  /** The events that wait for the desktop of a slot. */
  readonly #waiting: Uint8Array;
  readonly #peekRates: RateLimits;
  readonly #leases: Deadlines;
  /** Of each row: the slot of its desktop, the slot + 1 of the watcher at each edge, and how many there are. Or REMOTE_SLOT. */
  readonly #watched: Uint32Array;
  readonly #watchers: Uint32Array;
  readonly #watchersCount: Uint8Array;
  /** Of each row: when its desktop posted last or was reminded to, and how fast it posts. */
  readonly #postedMs: Float64Array;
  readonly #stageRates: RateLimits;
  /** Watchers that lost their row. A slot may be here twice, or have no watch any more. */
  readonly #loose: number[] = [];
  #nowMs: number;
  /** Answers that this tick has left. */
  #tickLeft = WATCHERS_PER_TICK_MAX;
  /** The current check has still to look at the rows from this one on. The next check begins at #nextCheckMs. */
  #checkAt = 0;
  #nextCheckMs: number;

  constructor(slots: number, neighbourhood: Neighbourhood, nowMs: number, options: PeeksOptions = {}) {
    const { tolerancePx = STAGE_TOLERANCE_PX, watchedMax = WATCHED_MAX } = options;
    this.stages = new Stages(watchedMax);
    this.rounds = new Rounds(slots);
    this.#neighbourhood = neighbourhood;
    this.#tolerancePx = tolerancePx;
    this.#edge = new Uint8Array(slots);
    this.#rowSeen = new Uint32Array(slots);
    this.#rowOwn = new Uint32Array(slots);
    this.#waiting = new Uint8Array(slots);
    this.#peekRates = new RateLimits(slots, PEEKS_PER_SECOND_MAX, PEEKS_BURST_MAX);
    this.#leases = new Deadlines(slots, nowMs, PEEK_LEASE_MS);
    this.#watched = new Uint32Array(watchedMax);
    this.#watchers = new Uint32Array(watchedMax * 4);
    this.#watchersCount = new Uint8Array(watchedMax);
    this.#postedMs = new Float64Array(watchedMax);
    this.#stageRates = new RateLimits(watchedMax, STAGES_PER_SECOND_MAX, STAGES_BURST_MAX);
    this.#nowMs = nowMs;
    this.#nextCheckMs = nowMs + PEEK_STEP_MS;
  }

  /** Undefined while this relay is alone. */
  get #remote(): RemotePeeks | undefined {
    return this.#neighbourhood.peerParts.peeks;
  }

  /**
   * From now on `slot` watches what lies beyond `edge`, for PEEK_LEASE_MS; null ends the watch. Returns the lease in ms.
   *
   * Shape   a repeat renews the lease and sends nothing again. Another watch before it ends without an event, also when this one is
   *         refused, except with too-fast or draining. A desktop that mutes the watcher, or that the watcher mutes, is not watched;
   *         the result does not show this. Whether a desktop of another relay shows its stage is not known at first: if not, the
   *         watch ends with an event, and the next peek is refused.
   * Throws  stage-hidden, no-neighbour, too-fast, relay-busy, draining.
   */
  peek(slot: number, edge: EdgeNumber | null, isDraining: boolean): number {
    const nowMs = this.#nowMs;
    if (isDraining) throw refusal('draining');
    if (!this.#peekRates.countIfAllowed(slot, nowMs)) {
      this.counters.refusedFast++;
      throw refusal('too-fast');
    }
    const neighbour = edge === null ? slot : this.#neighbourhood.torus.neighbour(slot, edge);
    const isRemote = neighbour === REMOTE;
    const isShown = isRemote
      ? this.#remote?.isHidden === false
      : neighbour !== slot && this.#neighbourhood.shows(neighbour);
    if (!isShown || (!isRemote && this.#isMuted(slot, neighbour))) {
      this.forget(slot);
      if (edge === null) return 0;
      if (neighbour === slot) throw refusal('no-neighbour');
      if (!isShown) throw refusal('stage-hidden');
      return PEEK_LEASE_MS;
    }
    const row = this.#rowSeen[slot] - 1;
    if (row < 0 || this.#edge[slot] - 1 !== edge || !this.#isOf(row, neighbour)) {
      this.forget(slot);
      if (!this.#attach(slot, edge as EdgeNumber, neighbour)) throw refusal('relay-busy');
    } else this.#remind(row);
    this.#leases.set(slot, nowMs + PEEK_LEASE_MS);
    return PEEK_LEASE_MS;
  }

  /**
   * `slot` shows its stage, body[start, end) as readStage() made it. Returns a bit for each of its edges through which it is watched;
   * when it is not watched, nothing changes.
   *
   * Units   `preciseMs` is in ms of another clock, which is more precise than that of step(). Predictions use it.
   * Throws  too-fast.
   */
  show(slot: number, body: Buffer, start: number, end: number, preciseMs: number): number {
    const row = this.#rowOwn[slot] - 1;
    if (row < 0) {
      this.counters.unwatched++;
      return 0;
    }
    const nowMs = this.#nowMs;
    if (!this.#stageRates.countIfAllowed(row, nowMs)) {
      this.counters.refusedFast++;
      throw refusal('too-fast');
    }
    this.#checkRow(row);
    const edges = this.edgesOf(slot);
    if (edges === 0) return 0;
    this.#postedMs[row] = nowMs;
    this.counters.posted++;
    if (this.#tolerancePx !== 'off' && this.stages.isPredicted(row, body, start, preciseMs, this.#tolerancePx)) {
      this.counters.filtered++;
      return edges;
    }
    this.counters.forwarded++;
    this.stages.set(row, body, start, end, preciseMs);
    for (let edge = 0; edge < 4; edge++) {
      const watcher = this.#watchers[row * 4 + edge];
      if (watcher === REMOTE_SLOT) this.#remote?.stageChanged(row * 4 + edge);
      else if (watcher !== 0) this.#add(watcher - 1, STAGE);
    }
    return edges;
  }

  /** A bit for each edge through which a desktop is watched. */
  edgesOf(slot: number): number {
    const row = this.#rowOwn[slot] - 1;
    if (row < 0) return 0;
    let edges = 0;
    for (let edge = 0; edge < 4; edge++) if (this.#watchers[row * 4 + edge] !== 0) edges |= 1 << edge;
    return edges;
  }

  /** A desktop no longer shows its stage. */
  hide(slot: number): void {
    const row = this.#rowOwn[slot] - 1;
    if (row < 0) return;
    this.#loosen(row);
    this.#add(slot, WATCHED);
    this.#settle(this.#loose.length);
  }

  /** Checks whether a desktop may still see what it watches. If not, it watches its new neighbour, or its watch ends. */
  check(slot: number): void {
    const edge = this.#edge[slot] - 1;
    if (edge < 0) return;
    const row = this.#rowSeen[slot] - 1;
    const target = this.#neighbourhood.torus.neighbour(slot, edge as EdgeNumber);
    const maySee =
      target === REMOTE
        ? this.#remote?.isMuted(row) === false
        : target !== slot && this.#neighbourhood.shows(target) && !this.#isMuted(slot, target);
    if (maySee && row >= 0 && this.#isOf(row, target)) return;
    this.#detach(slot);
    if (!maySee || !this.#attach(slot, edge as EdgeNumber, target)) this.end(slot);
  }

  /** The row by which a desktop watches; -1 for none. */
  rowSeenBy(slot: number): number {
    return (this.#rowSeen[slot] ?? 0) - 1;
  }

  /** The desktop of a row. REQUIRES: it is one of this relay. */
  watchedBy(row: number): number {
    return this.#watched[row];
  }

  /** The row of a desktop that is watched; -1 for none. */
  rowOf(slot: number): number {
    return this.#rowOwn[slot] - 1;
  }

  /** The row by which `slot` watches a desktop of another relay has a newer stage. */
  stageArrived(slot: number): void {
    this.#add(slot, STAGE);
  }

  /**
   * A desktop of another relay begins to watch `target` through this edge of `target`, or goes on. It replaces another watcher there. Returns
   * false when there is no row left.
   */
  admit(target: number, edge: EdgeNumber): boolean {
    const row = this.#ownRow(target);
    if (row < 0) return false;
    if (this.#watchers[row * 4 + edge] === REMOTE_SLOT) this.#remind(row);
    else this.#put(row, edge, REMOTE_SLOT);
    return true;
  }

  /** Ends the watch of a watcher from another relay. */
  expel(at: number): void {
    const row = at >> 2;
    this.#watchers[at] = 0;
    this.#remote?.lost(at);
    this.#removed(row);
  }

  /** Checks whether a watcher from another relay may still see what it watches. If not, its watch ends. Returns whether it may. */
  checkRemote(at: number): boolean {
    const maySee = this.#remote?.maySee(at, this.#watched[at >> 2]) === true;
    if (!maySee) this.expel(at);
    return maySee;
  }

  /** A desktop ends. Call it while it still has its place. */
  leave(slot: number): void {
    if (this.#edge[slot] !== 0) this.forget(slot);
    const row = this.#rowOwn[slot] - 1;
    if (row >= 0) this.#loosen(row);
    // Writing to other rows would touch their memory pages.
    if (this.#waiting[slot] !== 0) this.#waiting[slot] = 0;
    this.#peekRates.clear(slot);
  }

  /** Sets the time, ends leases, and checks watches against the torus. Returns whether more is due now. */
  step(nowMs: number): boolean {
    const isNewTick = nowMs > this.#nowMs;
    this.#nowMs = nowMs;
    let left = DUE_PER_STEP_MAX;
    const isMoreDue = this.#leases.advance(nowMs, (slot) => {
      this.end(slot);
      return --left > 0;
    });
    this.#settle(DUE_PER_STEP_MAX);
    if (nowMs >= this.#nextCheckMs) {
      this.#nextCheckMs = nowMs + PEEK_STEP_MS;
      this.#checkAt = 0;
    }
    const until = Math.min(this.stages.untouched, this.#checkAt + WATCHED_PER_STEP_MAX);
    while (this.#checkAt < until) this.#checkRow(this.#checkAt++);
    if (isNewTick) {
      this.#tickLeft = WATCHERS_PER_TICK_MAX;
      if (!this.rounds.isOpen) this.rounds.begin();
    }
    return isMoreDue || this.#loose.length > 0 || this.#checkAt < this.stages.untouched;
  }

  /** Whether this round has desktops left that may be answered in this tick. */
  get isRoundOpen(): boolean {
    return this.#tickLeft > 0 && this.rounds.isOpen;
  }

  /** The next desktop of this round. REQUIRES: isRoundOpen. */
  visit(): number {
    this.#tickLeft--;
    return this.rounds.visit();
  }

  /**
   * Writes the events that wait for a desktop to out[at], with a comma before each but the first of the batch; returns where they end.
   *
   * Shape   at most PEEK_EVENTS_BYTES_MAX bytes; none when no event is true any more.
   */
  write(slot: number, out: Buffer, at: number, isFirst: boolean, preciseMs: number): number {
    if (this.#waiting[slot] & STAGE) this.check(slot);
    const waiting = this.#waiting[slot];
    this.#waiting[slot] = 0;
    let end = at;
    if (waiting & WATCHED) {
      if (!isFirst) out[end++] = COMMA;
      end = this.#writeWatched(slot, out, end);
    }
    if (waiting & (STAGE | END)) {
      if (!isFirst || end > at) out[end++] = COMMA;
      end += STAGE_KEY.copy(out, end);
    }
    if (waiting & END) {
      end += EDGE_NAMES[waiting >> EDGE_SHIFT].copy(out, end);
      end += END_OF_WATCH.copy(out, end);
    } else if (waiting & STAGE) {
      const row = this.#rowSeen[slot] - 1;
      end += EDGE_NAMES[this.#edge[slot] - 1].copy(out, end);
      end += AGE_KEY.copy(out, end);
      end = writeNumber(out, end, this.stages.ageMs(row, preciseMs));
      end += FROM_KEY.copy(out, end);
      const watched = this.#watched[row];
      end =
        watched === REMOTE_SLOT
          ? (this.#remote as RemotePeeks).writeReference(row, out, end)
          : this.#neighbourhood.writeReference(watched, out, end);
      out[end++] = COMMA;
      end = this.stages.write(row, out, end);
      this.counters.sent++;
    }
    return end;
  }

  #writeWatched(slot: number, out: Buffer, at: number): number {
    const edges = this.edgesOf(slot);
    const start = at + WATCHED_KEY.copy(out, at);
    let end = start;
    for (let edge = 0; edge < 4; edge++) {
      if (!(edges & (1 << edge))) continue;
      if (end > start) out[end++] = COMMA;
      end += QUOTED_EDGES[edge].copy(out, end);
    }
    return end + END_OF_WATCHED.copy(out, end);
  }

  #isMuted(watcher: number, watched: number): boolean {
    const { mutes } = this.#neighbourhood;
    if (this.#neighbourhood.isMuting(watched) && mutes.has(watched, watcher, this.#neighbourhood.generation(watcher)))
      return true;
    return (
      this.#neighbourhood.isMuting(watcher) && mutes.has(watcher, watched, this.#neighbourhood.generation(watched))
    );
  }

  /** Adds an event that waits for a desktop. */
  #add(slot: number, event: number): void {
    const kept = event === WATCHED ? this.#waiting[slot] : this.#waiting[slot] & WATCHED;
    this.#waiting[slot] = kept | event;
    this.#neighbourhood.markPeeking(slot);
    this.rounds.list(slot);
  }

  /** Whether a row is that of `target`, which the torus has just found. */
  #isOf(row: number, target: number): boolean {
    const watched = this.#watched[row];
    return target === REMOTE ? watched === REMOTE_SLOT && this.#remote?.isSame(row) === true : watched === target;
  }

  /** Puts a watcher without a row into that of `target`. Returns false when there is no row left. */
  #attach(slot: number, edge: EdgeNumber, target: number): boolean {
    const row = target === REMOTE ? this.#remoteRow(slot, edge) : this.#ownRow(target);
    if (row < 0) return false;
    if (this.#edge[slot] === 0) this.count++;
    this.#edge[slot] = edge + 1;
    this.#rowSeen[slot] = row + 1;
    this.#put(row, opposite(edge), slot + 1);
    if (this.stages.has(row)) this.#add(slot, STAGE);
    return true;
  }

  /** The row of a desktop, which gets one if it has none; -1 when there is no row left. */
  #ownRow(target: number): number {
    if (this.#rowOwn[target] === 0) this.#rowOwn[target] = this.#addRow(target) + 1;
    return this.#rowOwn[target] - 1;
  }

  /** A row for what the torus has just found at another relay; -1 when there is none left, or that relay cannot be reached. */
  #remoteRow(slot: number, edge: EdgeNumber): number {
    const row = this.#addRow(REMOTE_SLOT);
    if (row < 0 || this.#remote?.watch(row, slot, edge)) return row;
    this.stages.release(row);
    return -1;
  }

  #addRow(watched: number): number {
    const row = this.stages.add();
    if (row < 0) return row;
    this.#watched[row] = watched;
    this.#stageRates.clear(row);
    this.#postedMs[row] = this.#nowMs;
    return row;
  }

  /** Puts a watcher, a slot + 1 or REMOTE_SLOT, at an edge of a row. */
  #put(row: number, edge: EdgeNumber, watcher: number): void {
    const at = row * 4 + edge;
    // Somebody has come between the previous watcher and the desktop of this row.
    if (this.#watchers[at] !== 0) this.#lose(at);
    else this.#watchersCount[row]++;
    this.#watchers[at] = watcher;
    this.#tell(row);
  }

  /** The event `watched` waits for the desktop of a row. */
  #tell(row: number): void {
    if (this.#watched[row] !== REMOTE_SLOT) this.#add(this.#watched[row], WATCHED);
  }

  /** The desktop of a row may have lost the event `watched`, if it has not posted since. */
  #remind(row: number): void {
    if (this.#nowMs - this.#postedMs[row] < WATCHED_SILENT_MS) return;
    // Watchers at other relays renew more often than those here.
    this.#postedMs[row] = this.#nowMs;
    this.#tell(row);
  }

  /** Removes a watcher from its row. */
  #detach(slot: number): void {
    const row = this.#rowSeen[slot] - 1;
    if (row < 0) return;
    this.#rowSeen[slot] = 0;
    this.#waiting[slot] &= WATCHED;
    this.#watchers[row * 4 + opposite((this.#edge[slot] - 1) as EdgeNumber)] = 0;
    this.#removed(row);
  }

  /** A watcher of a row was removed: frees the row if it was the last one. */
  #removed(row: number): void {
    this.#tell(row);
    if (--this.#watchersCount[row] === 0) this.#free(row);
  }

  /** Removes all watchers from a row and frees it. */
  #loosen(row: number): void {
    for (let at = row * 4; at < row * 4 + 4; at++) {
      if (this.#watchers[at] === 0) continue;
      this.#lose(at);
      this.#watchers[at] = 0;
    }
    this.#watchersCount[row] = 0;
    this.#free(row);
  }

  /** Ends the watch at one edge of a row. */
  #lose(at: number): void {
    if (this.#watchers[at] === REMOTE_SLOT) {
      this.#remote?.lost(at);
      return;
    }
    const watcher = this.#watchers[at] - 1;
    this.#rowSeen[watcher] = 0;
    this.#waiting[watcher] &= WATCHED;
    this.#loose.push(watcher);
  }

  #free(row: number): void {
    if (this.#watched[row] === REMOTE_SLOT) this.#remote?.unwatch(row);
    else this.#rowOwn[this.#watched[row]] = 0;
    this.stages.release(row);
  }

  /** Ends a watch, if there is one, without an event. */
  forget(slot: number): void {
    if (this.#waiting[slot] & (STAGE | END)) this.#waiting[slot] &= WATCHED;
    if (this.#edge[slot] === 0) return;
    this.#detach(slot);
    this.#edge[slot] = 0;
    this.#leases.clear(slot);
    this.count--;
  }

  /** Ends a watch with an event. */
  end(slot: number): void {
    const edge = this.#edge[slot] - 1;
    this.forget(slot);
    this.#add(slot, END | (edge << EDGE_SHIFT));
  }

  /** Gives watchers that lost their row another one, or ends their watch; `max` of them at most. */
  #settle(max: number): void {
    for (let left = Math.min(max, this.#loose.length); left > 0; left--) this.check(this.#loose.pop() as number);
  }

  /** Checks the watches of a row. A row that is not in use has none. */
  #checkRow(row: number): void {
    for (let at = row * 4; at < row * 4 + 4; at++) {
      const watcher = this.#watchers[at];
      if (watcher === REMOTE_SLOT) this.checkRemote(at);
      else if (watcher !== 0) this.check(watcher - 1);
    }
  }
}

function refusal(code: keyof typeof REFUSALS): ProblemError {
  return new ProblemError(code, REFUSALS[code]);
}

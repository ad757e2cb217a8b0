/**
 * Speech: what happens to a saying between its speaker and those who hear it.
 *
 * say() lets it wait for each hearer. Sayings are sent in rounds, one in SAYINGS_STEP_MS: a round visits each hearer that has
 * something to hear once, in steps. So a hearer gets one batch a round, however many speak, and sprites, which wait for no round,
 * pass between the steps.
 * Invariant: a hearer with sayings and a parked poll is listed in `rounds`.
 * Cost: say() is O(hearers), some 15 ns each; a round is O(1) for each hearer, without allocation.
 */

import type { PeerSaying, Run } from '../../wire/peers/peer_sayings.ts';
import { type ProblemCode, ProblemError } from '../../wire/problem.ts';
import { LEASE_MS, LOST_LEASES } from '../../wire/rules.ts';
import type { Saying } from '../../wire/saying.ts';
import type { Mutes } from '../slots/mutes.ts';
import { Rounds } from '../slots/rounds.ts';
import {
  HEARER_COST,
  SAYING_COST,
  SAYINGS_PER_SECOND_MAX,
  SAYINGS_STEP_MS,
  SPEECH_COST_PER_SECOND_MAX,
} from '../state/limits.ts';
import type { Torus, World } from '../state/torus.ts';
import { Hearers, type SayingsOption } from './hearers.ts';
import { type SayingBatch, Sayings } from './sayings.ts';
import { Speakers } from './speakers.ts';

/** How much of what sayings may cost may be used at once after a pause, in ms. */
const BUDGET_BURST_MS = 1000;

const MS_PER_COST = 1000 / SPEECH_COST_PER_SECOND_MAX;

/** The `detail` of the problem document for each reason to refuse a saying. */
const REFUSALS = {
  'sayings-off': 'The operator of this relay has turned sayings off.',
  'saying-stale': 'This number is more than 32 below the newest one; say it again with a new number.',
  draining: 'The relay is going down; say it again in some seconds.',
  'too-fast': `A desktop can say ${SAYINGS_PER_SECOND_MAX} lines a second; nobody has heard this one.`,
  'relay-busy': 'Too much is said on this relay; nobody has heard this, say it again later.',
} as const satisfies Partial<Record<ProblemCode, string>>;

/** What speech reads of the relay. */
interface Listeners {
  torus: Torus;
  mutes: Mutes;
  /** The way of sayings to other relays, once there are some. */
  peerParts: { readonly sayings?: RemoteSayings };
  /** The world in which only neighbours hear, unless the option says otherwise. */
  defaultWorld: World;
  /** Whether a desktop mutes anybody. */
  isMuting(slot: number): boolean;
  /** A desktop has something to hear, until pop() leaves nothing or leave() is called. */
  markHearing(slot: number): void;
  /** Writes how others are told of a desktop; returns where it ends. */
  writeReference(slot: number, out: Buffer, at: number): number;
  generation(slot: number): number;
}

/** The way of sayings to other relays (peer_sayings.ts). */
export interface RemoteSayings {
  /** Sends a saying to desktops of other relays; returns how many. */
  say(saying: Omit<PeerSaying, 'runs'>, remote: ReadonlyMap<number, Run[]>): number;
}

export class Speech {
  readonly sayings: Sayings;
  /** The hearers that get a batch in this round or in the next one. */
  readonly rounds: Rounds;
  readonly counters = {
    /** Sayings accepted. */
    said: 0,
    repeated: 0,
    refusedFast: 0,
    /** Refused because sayings cost the whole relay too much. */
    refusedBusy: 0,
  };
  readonly #listeners: Listeners;
  readonly #option: SayingsOption | undefined;
  readonly #speakers: Speakers;
  readonly #hearers = new Hearers();
  readonly #reference = Buffer.alloc(512);
  #nextRoundMs: number;
  /** When the whole budget is available again. */
  #budgetFullMs = 0;
  /** Until when the sayings of those who were silenced may wait. */
  #silenceMs = 0;

  /** `option` undefined: everybody near hears, but in the default world only neighbours. */
  constructor(slots: number, listeners: Listeners, option: SayingsOption | undefined, nowMs: number) {
    this.sayings = new Sayings(slots);
    this.#listeners = listeners;
    this.#option = option;
    this.#speakers = new Speakers(slots);
    this.rounds = new Rounds(slots);
    this.#nextRoundMs = nowMs + SAYINGS_STEP_MS;
  }

  /**
   * Says something to everybody who hears `slot`, the speaker included; returns how many others that are.
   *
   * Shape   a repeat of an accepted saying is not said again; null when it is no longer known how many heard it. A desktop that
   *         mutes the speaker is counted, so that the speaker does not notice. A desktop of another relay is counted when the saying is
   *         sent to that relay, though it may be lost on the way.
   * Throws  sayings-off, saying-stale, draining, too-fast, relay-busy: nobody hears it.
   */
  say(slot: number, { saying, text }: Saying, nowMs: number, isDraining: boolean): number | null {
    if (this.#option === 'off') throw refusal('sayings-off');
    const speakers = this.#speakers;
    const recency = speakers.recencyOf(slot, saying);
    if (recency === 'stale') throw refusal('saying-stale');
    if (recency === 'repeated') {
      this.counters.repeated++;
      return speakers.heardOf(slot, saying);
    }
    if (isDraining) throw refusal('draining');
    if (!speakers.allows(slot, nowMs)) {
      this.counters.refusedFast++;
      throw refusal('too-fast');
    }
    const hearers = this.#find(slot);
    if (!this.#spend(this.#costOf(hearers), nowMs)) {
      this.counters.refusedBusy++;
      throw refusal('relay-busy');
    }
    speakers.count(slot, nowMs);
    const generation = this.#listeners.generation(slot);
    const length = this.#listeners.writeReference(slot, this.#reference, 0);
    let others = hearers.count - 1;
    const { peerParts } = this.#listeners;
    if (peerParts.sayings !== undefined && hearers.remote.size > 0) {
      const reference = Buffer.from(this.#reference.subarray(0, length));
      others += peerParts.sayings.say({ slot, generation, reference, text }, hearers.remote);
    }
    speakers.recordAccepted(slot, saying, others);
    this.counters.said++;
    this.#tell(slot, generation, this.#reference, length, text, hearers);
    return others;
  }

  /**
   * A desktop of another relay says something to desktops here. Returns false when nobody hears it: sayings cost this relay too much, or are
   * turned off.
   */
  hearPeer({ slot, generation, reference, text, runs }: PeerSaying, nowMs: number): boolean {
    if (this.#option === 'off') return false;
    this.#hearers.findRuns(this.#listeners.defaultWorld, runs);
    if (!this.#spend(this.#costOf(this.#hearers), nowMs)) return false;
    this.#tell(slot, generation, reference, reference.length, text, this.#hearers);
    return true;
  }

  /** Takes a cost from the budget of the relay. Returns false when there is not enough left; then nothing has changed. */
  #spend(cost: number, nowMs: number): boolean {
    const fullMs = Math.max(this.#budgetFullMs, nowMs) + cost * MS_PER_COST;
    if (fullMs - nowMs > BUDGET_BURST_MS) return false;
    this.#budgetFullMs = fullMs;
    return true;
  }

  waiting(slot: number): number {
    return this.sayings.waiting(slot);
  }

  /** Removes what waits for a hearer. REQUIRES: waiting(slot) > 0. Owner: see Sayings.pop(). */
  pop(slot: number): Readonly<SayingBatch> {
    return this.sayings.pop(slot);
  }

  /** Begins the next round when it is due and the previous one has ended. */
  beginRound(nowMs: number): void {
    if (nowMs < this.#nextRoundMs || this.rounds.isOpen) return;
    // A fixed timestep, unless a step was late by more than one.
    this.#nextRoundMs = Math.max(this.#nextRoundMs, nowMs - SAYINGS_STEP_MS) + SAYINGS_STEP_MS;
    this.sayings.endRound();
    this.rounds.begin();
    if (this.#silenceMs > 0 && nowMs >= this.#silenceMs) {
      this.#silenceMs = 0;
      this.sayings.endSilence();
    }
  }

  /** A desktop has ended. What it has said is still heard. */
  leave(slot: number): void {
    this.sayings.clear(slot);
    this.#speakers.clear(slot);
  }

  /** From now on nobody hears what a desktop has said: the operator has ended it. */
  silence(slot: number, nowMs: number): void {
    if (!this.#speakers.hasSpoken(slot)) return;
    this.sayings.silence(slot, this.#listeners.generation(slot));
    // A desktop whose sayings wait for longer has ended too.
    this.#silenceMs = nowMs + LOST_LEASES * LEASE_MS;
  }

  #find(slot: number): Hearers {
    const { torus, defaultWorld } = this.#listeners;
    const isNear = this.#option === 'worlds' || (this.#option === undefined && torus.worldOf(slot) !== defaultWorld);
    if (isNear) this.#hearers.findNear(torus, slot);
    else this.#hearers.findNeighbours(torus, slot);
    return this.#hearers;
  }

  /** Each other relay costs a record of a message, which is less than a saying. */
  #costOf({ slots, count, remote }: Hearers): number {
    let cost = SAYING_COST * (1 + remote.size) + count;
    // Those who are listed get a batch anyway.
    for (let index = 0; index < count; index++) if (!this.rounds.isListed(slots[index])) cost += HEARER_COST;
    return cost;
  }

  #tell(
    speaker: number,
    generation: number,
    reference: Buffer,
    length: number,
    text: string,
    { slots, edges, count }: Hearers,
  ): void {
    const { mutes } = this.#listeners;
    this.sayings.add(speaker, generation, reference, length, text);
    for (let index = 0; index < count; index++) {
      const slot = slots[index];
      if (this.#listeners.isMuting(slot) && mutes.has(slot, speaker, generation)) continue;
      this.sayings.hear(slot, edges[index]);
      this.#listeners.markHearing(slot);
      this.rounds.list(slot);
    }
  }
}

function refusal(code: keyof typeof REFUSALS): ProblemError {
  return new ProblemError(code, REFUSALS[code]);
}

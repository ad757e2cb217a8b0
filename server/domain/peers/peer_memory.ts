/**
 * Peer memory: what a relay must know about its peers to deliver each crossing once, whatever fails.
 *
 * As a sender: the frames that were sent and have no verdicts yet, and the last number that this start has given for each peer. As a
 * receiver: the verdicts on the newest frames of each sender, so that a frame that is sent again gets the same answer and delivers nothing.
 * A sender is one start of a relay: its name, its epoch and its incarnation (wire/peers/peer_frame.ts). Each start numbers its frames to each name
 * from 1, and sends those that an earlier start has left under their own numbers. It has another incarnation for each name, because a receiver
 * that starts again under another name still has the verdicts on what it took before. A machine that dies takes the journal back by some turns; the start
 * after it is another sender, so what it sends is new to everybody.
 * Invariant: a start has at most FRAMES_IN_FLIGHT_MAX frames without verdicts, and the numbers of those of one incarnation differ by less
 * than that. So a receiver that remembers as many never gets a frame that it has forgotten, unless the sender's journal went back.
 * Limits: SENDERS_MAX senders; FRAMES_IN_FLIGHT_MAX frames for each pair in each direction.
 */
import { type FrameIdentity, NO_INCARNATION, PeerVerdict } from '../../wire/peers/peer_frame.ts';
import type { Facts } from '../state/facts.ts';
import { keepNewest } from './keep_newest.ts';
import { RELAYS_MAX } from './membership.ts';

/** Frames without verdicts to one peer: 3 MiB at most. At a round trip of 5 ms, each with a turn of 1 ms, five are in flight. */
export const FRAMES_IN_FLIGHT_MAX = 16;

/**
 * Senders whose frames are remembered: two starts of each relay. When there are more, those go first of which a later start of the same relay
 * has said that none of their frames is in doubt.
 */
export const SENDERS_MAX = 2 * RELAYS_MAX;

/** The verdict on crossings whose receiver has lost its memory. It is never sent to another relay. */
export const ABANDONED = 255;

/**
 * The verdict on crossings whose frame had verdicts before the journal of this relay went back in time: their throwers have been answered, and
 * what was in custody has gone on. It is never sent to another relay.
 */
export const SETTLED_BEFORE = 254;

/** Whether a crossing with this verdict has left its thrower. */
export function isPassed(verdict: number): boolean {
  return verdict === PeerVerdict.accepted || verdict === ABANDONED;
}

interface Received {
  readonly sender: string;
  readonly epoch: number;
  readonly incarnation: string;
  /** In which order senders were first heard. */
  readonly since: number;
  /** Whether frames of earlier starts of this relay may be in doubt. */
  hasEarlier: boolean;
  newest: number;
  readonly verdicts: Map<number, Uint8Array>;
}

/** A frame without verdicts. */
export interface SentFrame {
  readonly incarnation: string;
  readonly number: number;
  /** REQUIRES: readPeerFrame() reads them. */
  readonly bytes: Buffer;
}

interface Sent {
  /** Of the frames that this start sends. */
  incarnation: string;
  /** The last number that this start has given. */
  lastNumber: number;
  /** Frames without verdicts, the oldest first, by keyOfSent(). */
  readonly frames: Map<string, SentFrame>;
}

export class PeerMemory {
  #makeIncarnation = () => NO_INCARNATION;
  /** The life of the newest start that this relay remembers; 0 when it was never in a cluster. */
  life = 0;
  /** What was sent to each peer. */
  readonly sent = new Map<string, Sent>();
  /** The crossings of these frames whose sprites this relay has in custody (peers.ts), by keyOfThrow(). */
  readonly custody = new Set<string>();
  /** What each sender has sent; the sender of the newest frame is the last. */
  readonly #received = new Map<string, Received>();
  #heard = 0;

  /** A start begins. Call it before it sends anything. `makeIncarnation` never returns the same twice. */
  beginStart(makeIncarnation: () => string): void {
    this.#makeIncarnation = makeIncarnation;
    for (const sent of this.sent.values()) sent.incarnation = makeIncarnation();
  }

  /** Frames without verdicts. */
  get inFlight(): number {
    let sum = 0;
    for (const { frames } of this.sent.values()) sum += frames.size;
    return sum;
  }

  /** What was sent to a peer. */
  sentTo(peer: string): Sent {
    let sent = this.sent.get(peer);
    if (sent === undefined) {
      sent = { incarnation: this.#makeIncarnation(), lastNumber: 0, frames: new Map() };
      this.sent.set(peer, sent);
    }
    return sent;
  }

  /** Whether another frame may be sent to a peer. */
  hasRoom(peer: string): boolean {
    const sent = this.sent.get(peer);
    if (sent === undefined) return true;
    if (sent.frames.size >= FRAMES_IN_FLIGHT_MAX) return false;
    for (const { incarnation, number } of sent.frames.values()) {
      if (incarnation === sent.incarnation) return sent.lastNumber - number + 1 < FRAMES_IN_FLIGHT_MAX;
    }
    return true;
  }

  /** How many frames of earlier starts to a peer have no verdicts. */
  earlierTo(peer: string): number {
    let count = 0;
    const sent = this.sentTo(peer);
    for (const { incarnation } of sent.frames.values()) if (incarnation !== sent.incarnation) count++;
    return count;
  }

  addFrame(peer: string, frame: SentFrame): void {
    const sent = this.sentTo(peer);
    if (frame.incarnation === sent.incarnation) sent.lastNumber = Math.max(sent.lastNumber, frame.number);
    sent.frames.set(keyOfSent(frame.incarnation, frame.number), frame);
  }

  frame(peer: string, incarnation: string, number: number): SentFrame | undefined {
    return this.sent.get(peer)?.frames.get(keyOfSent(incarnation, number));
  }

  settle(peer: string, incarnation: string, number: number): void {
    this.sent.get(peer)?.frames.delete(keyOfSent(incarnation, number));
  }

  /** The verdicts on a frame: undefined when it is new, 'stale' when it is too old to be remembered. */
  verdictsOn(frame: FrameIdentity): Uint8Array | 'stale' | undefined {
    const received = this.#received.get(keyOfSender(frame));
    if (received === undefined) return undefined;
    const { number } = frame;
    return number <= received.newest - FRAMES_IN_FLIGHT_MAX ? 'stale' : received.verdicts.get(number);
  }

  /** Remembers the verdicts on a frame of a sender. `earlier`: as in PeerFrame; undefined when that is not known. */
  remember(frame: FrameIdentity, verdicts: Uint8Array, earlier?: number): void {
    const { number } = frame;
    const key = keyOfSender(frame);
    const received = this.#received.get(key) ?? this.#hear(frame);
    this.#received.delete(key);
    this.#received.set(key, received);
    received.hasEarlier = earlier !== 0;
    received.verdicts.set(number, verdicts);
    if (number > received.newest) {
      received.newest = number;
      for (const old of received.verdicts.keys()) {
        if (old <= number - FRAMES_IN_FLIGHT_MAX) received.verdicts.delete(old);
      }
    }
    if (this.#received.size > SENDERS_MAX) this.#forgetSender();
  }

  #hear({ sender, epoch, incarnation }: FrameIdentity): Received {
    const since = this.#heard++;
    return { sender, epoch, incarnation, since, hasEarlier: true, newest: 0, verdicts: new Map() };
  }

  /** Forgets the first sender of which a later start has nothing in doubt; if there is none, the one whose newest frame is the oldest. */
  #forgetSender(): void {
    const settledBefore = new Map<string, number>();
    for (const { sender, since, hasEarlier } of this.#received.values()) {
      if (!hasEarlier) settledBefore.set(sender, Math.max(since, settledBefore.get(sender) ?? 0));
    }
    for (const [key, { sender, since }] of this.#received) {
      if (since >= (settledBefore.get(sender) ?? 0)) continue;
      this.#received.delete(key);
      return;
    }
    keepNewest(this.#received, SENDERS_MAX);
  }

  clear(): void {
    this.sent.clear();
    this.custody.clear();
    this.#received.clear();
  }

  /** Writes all facts about peers. */
  writeState(facts: Facts): void {
    if (this.life === 0 && this.sent.size === 0 && this.#received.size === 0) return;
    facts.peersForgotten();
    facts.life(this.life);
    for (const [peer, { frames }] of this.sent) {
      for (const { number, bytes } of frames.values()) facts.peerFrame(peer, number, bytes);
    }
    for (const key of this.custody) {
      const [slot, generation, crossing] = key.split('/').map(Number);
      facts.custody(slot, generation, crossing);
    }
    for (const { sender, epoch, incarnation, verdicts } of this.#received.values()) {
      for (const [number, each] of verdicts) facts.peerTaken({ sender, epoch, incarnation, number }, each);
    }
  }
}

/** Identifies a throw: no desktop gives a number to two. */
export function keyOfThrow({
  slot,
  generation,
  crossing,
}: {
  slot: number;
  generation: number;
  crossing: number;
}): string {
  return `${slot}/${generation}/${crossing}`;
}

function keyOfSender({ sender, epoch, incarnation }: FrameIdentity): string {
  return `${sender}/${epoch}/${incarnation}`;
}

function keyOfSent(incarnation: string, number: number): string {
  return `${incarnation}/${number}`;
}

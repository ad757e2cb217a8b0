/**
 * Peer memory: what a relay must know about its peers to deliver each crossing once, whatever fails.
 *
 * As a sender: the frames that were sent and have no verdicts yet, and the last number given for each peer. As a receiver: the verdicts on
 * the newest frames of each sender, so that a frame that is sent again gets the same answer and delivers nothing.
 * A sender is identified by its name and epoch, because a relay that has lost its memory begins with number 1 in another epoch.
 * Invariant: a sender has at most FRAMES_IN_FLIGHT_MAX frames without verdicts, and their numbers differ by less than that. So a receiver
 * that remembers as many never gets a frame that it has forgotten.
 * Limits: SENDERS_MAX senders; FRAMES_IN_FLIGHT_MAX frames for each pair in each direction.
 */
import { PeerVerdict } from '../wire/peer_frame.ts';
import type { Facts } from './facts.ts';
import { keepNewest } from './keep_newest.ts';
import { RELAYS_MAX } from './membership.ts';

/** Frames without verdicts to one peer: 3 MiB at most. At a round trip of 5 ms, each with a turn of 1 ms, five are in flight. */
export const FRAMES_IN_FLIGHT_MAX = 16;

/** Senders whose frames are remembered. A relay that lost its memory counts as another sender: each may do so once. */
export const SENDERS_MAX = 2 * RELAYS_MAX;

/** The verdict on crossings whose receiver has lost its memory. It is never sent to another relay. */
export const ABANDONED = 255;

/** Whether a crossing with this verdict has left its thrower. */
export function isPassed(verdict: number): boolean {
  return verdict === PeerVerdict.accepted || verdict === ABANDONED;
}

interface Received {
  readonly name: string;
  readonly epoch: number;
  newest: number;
  readonly verdicts: Map<number, Uint8Array>;
}

interface Sent {
  lastNumber: number;
  readonly frames: Map<number, Buffer>;
}

export class PeerMemory {
  /** What was sent to each peer. */
  readonly sent = new Map<string, Sent>();
  /** What each sender has sent; the sender of the newest frame is the last. */
  readonly #received = new Map<string, Received>();

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
      sent = { lastNumber: 0, frames: new Map() };
      this.sent.set(peer, sent);
    }
    return sent;
  }

  /** Whether another frame may be sent to a peer. */
  hasRoom(peer: string): boolean {
    const sent = this.sent.get(peer);
    if (sent === undefined) return true;
    for (const oldest of sent.frames.keys()) return sent.lastNumber - oldest + 1 < FRAMES_IN_FLIGHT_MAX;
    return true;
  }

  addFrame(peer: string, number: number, frame: Buffer): void {
    const sent = this.sentTo(peer);
    sent.lastNumber = Math.max(sent.lastNumber, number);
    sent.frames.set(number, frame);
  }

  settle(peer: string, number: number): void {
    this.sent.get(peer)?.frames.delete(number);
  }

  /** The verdicts on a frame: undefined when it is new, 'stale' when it is too old to be remembered. */
  verdictsOn(name: string, epoch: number, number: number): Uint8Array | 'stale' | undefined {
    const received = this.#received.get(keyOf(name, epoch));
    if (received === undefined) return undefined;
    return number <= received.newest - FRAMES_IN_FLIGHT_MAX ? 'stale' : received.verdicts.get(number);
  }

  /** Remembers the verdicts on a frame of a sender. */
  remember(name: string, epoch: number, number: number, verdicts: Uint8Array): void {
    const key = keyOf(name, epoch);
    const received = this.#received.get(key) ?? { name, epoch, newest: 0, verdicts: new Map() };
    this.#received.delete(key);
    this.#received.set(key, received);
    received.verdicts.set(number, verdicts);
    if (number > received.newest) {
      received.newest = number;
      for (const old of received.verdicts.keys()) {
        if (old <= number - FRAMES_IN_FLIGHT_MAX) received.verdicts.delete(old);
      }
    }
    keepNewest(this.#received, SENDERS_MAX);
  }

  clear(): void {
    this.sent.clear();
    this.#received.clear();
  }

  /** Tells all facts about peers. */
  tell(facts: Facts): void {
    if (this.sent.size === 0 && this.#received.size === 0) return;
    facts.peersForgotten();
    for (const [peer, { lastNumber, frames }] of this.sent) {
      facts.peerNumber(peer, lastNumber);
      for (const [number, frame] of frames) facts.peerFrame(peer, number, frame);
    }
    for (const { name, epoch, verdicts } of this.#received.values()) {
      for (const [number, each] of verdicts) facts.peerTaken(name, epoch, number, each);
    }
  }
}

function keyOf(name: string, epoch: number): string {
  return `${name}/${epoch}`;
}

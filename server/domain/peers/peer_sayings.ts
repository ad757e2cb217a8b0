/**
 * Peer sayings: what desktops here say to desktops of other relays, and what theirs say to desktops here.
 *
 * All that a turn says to one relay leaves in one message, which gets no answer: sayings may be lost, and are counted then.
 * Limits: PEER_SAYINGS_BYTES_MAX for each relay and turn; at the receiver, what sayings may cost it (speech.ts).
 * Cost: O(runs) for a saying to each relay.
 */
import { type PeerSaying, PeerSayingsWriter, type Run, readPeerSayings } from '../../wire/peers/peer_sayings.ts';
import { NO_EDGE } from '../../wire/saying.ts';
import type { Speech } from '../talk/speech.ts';
import { PeerOutbox } from './peer_outbox.ts';
import type { Peers } from './peers.ts';

export class PeerSayings {
  /** Counts since the start. */
  readonly counters = {
    /** Sayings sent to other relays, each counted for each relay. */
    sent: 0,
    /** Sayings of other relays that were passed on to hearers here. */
    received: 0,
    /** Sayings that were not sent, because the relay is not reachable or the message is full; and those of other relays that are too many. */
    lost: 0,
  };
  readonly outbox: PeerOutbox<PeerSayingsWriter>;
  readonly #peers: Peers;
  readonly #speech: Speech;
  readonly #nowMs: () => number;

  /** `nowMs` returns the time of the relay. */
  constructor(peers: Peers, speech: Speech, nowMs: () => number) {
    this.outbox = new PeerOutbox(() => new PeerSayingsWriter(peers.membership.name));
    this.#peers = peers;
    this.#speech = speech;
    this.#nowMs = nowMs;
  }

  /** Adds a saying to the messages for the relays of `remote`. Returns how many desktops it is sent to. */
  say(saying: Omit<PeerSaying, 'runs'>, remote: ReadonlyMap<number, Run[]>): number {
    const { membership } = this.#peers;
    let hearers = 0;
    for (const [relay, runs] of remote) {
      if (!this.#peers.isReachable(relay) || !this.outbox.to(membership.view.names[relay]).add({ ...saying, runs })) {
        this.counters.lost++;
        continue;
      }
      this.counters.sent++;
      hearers += hearersOf(runs);
    }
    return hearers;
  }

  /** A message of another relay. Returns false when it is not understood. */
  receive(message: Uint8Array): boolean {
    const read = readPeerSayings(message);
    if (typeof read === 'string') return false;
    for (const saying of read.sayings) {
      if (this.#speech.hearPeer(saying, this.#nowMs())) this.counters.received++;
      else this.counters.lost++;
    }
    return true;
  }
}

/** Neighbours in a small world are in a run of their own, and in that of everybody. */
function hearersOf(runs: readonly Run[]): number {
  const sum = (isNear: boolean) =>
    runs.reduce((all, { count, edge }) => all + ((edge === NO_EDGE) === isNear ? count : 0), 0);
  return sum(true) || sum(false);
}

/** Relays of a cluster for unit tests, whose messages the test carries. */

import { Membership } from '../domain/peers/membership.ts';
import type { PeerPeeks } from '../domain/peers/peer_peeks.ts';
import type { PeerSayings } from '../domain/peers/peer_sayings.ts';
import type { Outgoing, Peers } from '../domain/peers/peers.ts';
import type { Relay, RelayOptions } from '../domain/relay.ts';
import { checkCrossing } from '../wire/crossing.ts';
import { GENERATION_KEY_BYTES } from '../wire/generations.ts';
import type { Identity } from '../wire/identity.ts';
import type { Edge } from '../wire/rules.ts';
import { checkedCrossing } from './passages.ts';
import { FILE, joined, makeRelay } from './relay_harness.ts';

const NOTHING = Buffer.alloc(0);

/** What looks random to relays: no two starts get the same. */
let randoms = 0;

/** One relay of a cluster. */
export class ClusterRelay {
  readonly relay: Relay;
  readonly membership: Membership;
  readonly peers: Peers;
  readonly sayings: PeerSayings;
  readonly peeks: PeerPeeks;
  /** The answers, by ticket. */
  readonly answers = new Map<number, { status: number; body: string }>();
  nowMs = 1_000;
  #tickets = 0;

  constructor(
    name: string,
    epoch: number,
    recover: (relay: Relay) => void = () => {},
    options: Partial<RelayOptions> = {},
  ) {
    this.relay = makeRelay({
      ...{ slots: 64, epoch, generationKey: Buffer.alloc(GENERATION_KEY_BYTES, epoch), nowMs: this.nowMs },
      randomize: (words) => words.fill(++randoms),
      answers: {
        room: (bytes) => Buffer.alloc(bytes),
        roomAt: () => 0,
        answer: (ticket, { status, body, start, end, shared = NOTHING }) => {
          const text = Buffer.concat([body.subarray(start, end), shared]).toString();
          this.answers.set(ticket, { status, body: text });
        },
      },
      ...options,
    });
    recover(this.relay);
    this.membership = new Membership({ name, life: 1, width: 1, step: 1 });
    const { peers, sayings, peeks } = this.relay.joinCluster(this.membership);
    this.peers = peers;
    this.sayings = sayings;
    this.peeks = peeks;
    this.peers.isConnected = true;
  }

  join(name: string, world?: string): Identity {
    return joined(this.relay, { name, world });
  }

  /** Throws; returns the ticket, whose answer may come later. `more`: members of the sprite. */
  throw(from: Identity, crossing: number, edge: Edge = 'right', more: object = {}): number {
    const ticket = ++this.#tickets;
    const sprite = { file: FILE, name: `${crossing}`, ...more };
    const checked = checkCrossing({ crossing, edge, at: 0.5, vx: 900, vy: 0, sprite });
    const response = this.relay.accept(from, checkedCrossing(crossing, checked.edge, checked.passage), 0, ticket);
    const { verdict, status, body, end } = response;
    if (verdict !== 'deferred') this.answers.set(ticket, { status, body: body.toString('utf8', 0, end) });
    return ticket;
  }

  /** Polls; returns the ticket. */
  poll({ slot, generation, token }: Identity, seq = -1): number {
    this.relay.poll({ slot, generation, token }, ++this.#tickets, this.relay.epoch, seq);
    return this.#tickets;
  }

  /** The events of the answer to a poll; none while it is parked. */
  // biome-ignore lint/suspicious/noExplicitAny: what an event holds is what tests ask.
  eventsOf(ticket: number): any[] {
    const answer = this.answers.get(ticket);
    return answer === undefined ? [] : JSON.parse(answer.body).events;
  }

  statusOf(ticket: number): number | undefined {
    return this.answers.get(ticket)?.status;
  }

  /** What it sends now, after `ms`. */
  turn(ms = 0): readonly Outgoing[] {
    this.nowMs += ms;
    this.relay.advance(this.nowMs);
    return this.peers.popOutgoing();
  }
}

/** Heartbeats, until all have the same view. */
export function beat(...relays: ClusterRelay[]): void {
  for (let step = 0; step < 6; step++) {
    for (const one of relays) {
      const heartbeat = one.membership.tick(one.relay.torus.find('commons')?.count ?? 0);
      for (const other of relays) if (other !== one) other.membership.hear({ ...heartbeat });
    }
  }
}

/** Heartbeats, until all have the same view and know each other's epoch. */
export function acquaint(...relays: ClusterRelay[]): void {
  beat(...relays);
  for (let round = 0; round < 3; round++) for (const one of relays) deliver(relays, one.turn(300), one);
}

/** Carries messages and their answers. */
export function deliver(relays: readonly ClusterRelay[], messages: readonly Outgoing[], from: ClusterRelay): void {
  for (const message of messages) {
    const to = relays.find(({ membership }) => membership.name === message.peer) as ClusterRelay;
    from.peers.answered(message, to.peers.receive(message.frame));
    to.relay.endTurn();
  }
}

/** Two relays with one desktop each, so that every edge leads to the other relay. */
export function pair(): { a: ClusterRelay; b: ClusterRelay; ann: Identity; bob: Identity } {
  const a = new ClusterRelay('a', 1);
  const b = new ClusterRelay('b', 2);
  const ann = a.join('Ann');
  const bob = b.join('Bob');
  acquaint(a, b);
  return { a, b, ann, bob };
}

/** Relays with their peering and homes, on a pretended network and a pretended bucket. The test drives their clocks and timers. */
import { tmpdir } from 'node:os';
import type { TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Homes } from '../cluster/homes.ts';
import { beginMembership, Peering } from '../cluster/peering.ts';
import type { Link } from '../processes/links.ts';
import { Master } from '../processes/master.ts';
import { Seats } from '../processes/seats.ts';
import type { Turns } from '../processes/turns.ts';
import { checkCrossing } from '../wire/crossing.ts';
import type { Identity } from '../wire/identity.ts';
import { checkedCrossing } from './passages.ts';
import { PretendStore } from './pretend_bucket.ts';
import { PretendNetwork } from './pretend_network.ts';
import { randomOf } from './random.ts';
import { joined, turnsOf } from './relay_harness.ts';

/** The time of each step of the cluster, in ms. */
export const STEP_MS = 10;

export const silent = { warn() {}, info() {}, debug() {}, error() {}, fatal() {} } as unknown as Logger;

export type PeeredRelay = ReturnType<PeeredRelays['start']>;

export class PeeredRelays {
  readonly network: PretendNetwork;
  readonly store = new PretendStore();
  readonly #test: TestContext;
  readonly #relays: Turns[] = [];
  nowMs = 0;

  constructor(t: TestContext) {
    this.#test = t;
    this.network = new PretendNetwork(randomOf(t));
    this.network.faults.delayMs = 4 * STEP_MS;
    t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: 1e12 });
  }

  start(name: string, epoch: number) {
    // Tokens are 0, so a test knows those of desktops that others let in.
    const turns = turnsOf({ epoch, slots: 64, slabBytes: 1 << 20, randomize: () => {} });
    const { relay } = turns;
    const node = this.network.node();
    const bucket = this.store.bucket();
    /** The answers to throws, by the number of the request. */
    const statuses = new Map<number, number>();
    const link = turns.links.add({
      answer: (request, { status }) => statuses.set(request, status),
      ...{ hasRoom: () => true, hasRoomForSayings: () => true, flush: () => {} },
    } as Link);
    const seats = new Seats(relay, undefined, name);
    const membership = beginMembership(name, relay);
    const homes = new Homes({
      ...{ name, turns, seats, membership, network: node, bucket, log: silent, clock: () => this.nowMs },
    });
    const peering = new Peering({
      ...{ turns, membership, network: node, log: silent, data: tmpdir() },
      // As the primary does it.
      superseded: () => turns.drain(),
    });
    const master = new Master({ turns, seats, homes, files: peering });
    homes.open({
      addresses: { apiPort: 8000 + epoch, eventsPort: 8100 + epoch },
      end: (slots, detail) => {
        for (const slot of slots) relay.leave(slot, detail);
      },
    });
    this.#relays.push(turns);
    this.#test.after(() => peering.close());
    return { name, master, relay, peering, homes, node, bucket, statuses, link };
  }

  async run(ms: number, each = () => {}): Promise<void> {
    for (const endMs = this.nowMs + ms; this.nowMs < endMs; ) {
      this.nowMs += STEP_MS;
      this.#test.mock.timers.tick(STEP_MS);
      this.network.advance(this.nowMs);
      for (const turns of this.#relays) turns.advance(this.nowMs);
      each();
      await turn();
    }
  }

  /** Runs until a promise has settled. */
  async settle<Result>(promise: Promise<Result>): Promise<Result> {
    let isSettled = false;
    const end = () => {
      isSettled = true;
    };
    promise.then(end, end);
    while (!isSettled) await this.run(STEP_MS);
    return promise;
  }
}

/** A desktop that joins here. */
export function seat({ relay }: PeeredRelay, name: string, world?: string): Identity {
  return joined(relay, { name, world });
}

/** A desktop throws a sprite to its right; the number of the request is that of the crossing. */
export function throwRight({ master, link }: PeeredRelay, from: Identity, crossing: number): void {
  const sprite = { file: 'f'.repeat(64), name: `s${crossing}` };
  const { edge, passage } = checkCrossing({ crossing, edge: 'right', at: 0.5, vx: 900, vy: 0, sprite });
  master.crossing(link, crossing, from, checkedCrossing(crossing, edge, passage));
}

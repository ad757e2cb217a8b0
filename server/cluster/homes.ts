/**
 * Homes: which relay of the cluster has a private world. All desktops of a private world are on its home.
 *
 * The first join claims the home: it creates the world's key in a bucket that all relays share, whose value is the relay's name. The key is the
 * SHA-256 of the world's name, because the name is a secret of those inside. A relay holds its claim while it has desktops of the world, or
 * sprites that wait for one; then it removes the claim. A join for a world whose home is another relay is passed on to it, and so is a join
 * with an invitation of another relay. The answer has the addresses of that relay, which the client then uses.
 * Invariant: a claim is only created where there is none, and only replaced by its revision, so a world has one home. While NATS is away, worlds
 * that are at home here go on, and joins to others are refused.
 * A relay that stops for good gives up its claims when its desktops have been told, and the next join makes each world anew elsewhere.
 * A relay that died keeps its claims, because its journal has the desktops. They can be taken over when an operator has forgotten that relay, or
 * when it has been gone for HOME_GONE_MS. A relay watches the claims: when a world that is at home there has another home now, it ends its
 * desktops there, and their clients join again. What waited for them is handed on to that home (hand_over.ts), or stays until this relay is
 * the home again.
 * Cost: nothing for joins to worlds that are at home here; otherwise one or two requests to NATS. Memory: one entry for each private world here.
 */
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { type Membership, STEP_MS } from '../domain/peers/membership.ts';
import { countersIn, gaugesIn } from '../metrics/gauges.ts';
import type { Homes as MasterHomes } from '../processes/master.ts';
import type { Seats } from '../processes/seats.ts';
import type { Turns } from '../processes/turns.ts';
import { isRelayName } from '../wire/identity.ts';
import { DEFAULT_WORLD, type Join } from '../wire/join.ts';
import {
  decodePeerJoin,
  decodePeerJoinAnswer,
  encodePeerJoin,
  encodePeerJoinAnswer,
  type PeerJoinAnswer,
  type PeerSeat,
  type RelayAddresses,
} from '../wire/peers/peer_join.ts';
import { ProblemError } from '../wire/problem.ts';
import type { Bucket, Entry } from './bucket.ts';
import { NobodyThere, type PeerNetwork } from './peer_network.ts';

/**
 * How long a relay must have been gone before its claims can be taken over, in ms. A restart, also by hand, takes less, and its desktops' repeats are
 * answered for as long.
 */
export const HOME_GONE_MS = 600_000;

/** Joins that wait for NATS or another relay. Each holds some KB; a join of people who follow a link takes milliseconds. */
export const JOINS_WAITING_MAX = 1_024;

/** How long to wait for the answer to a join that was passed on, in ms: that relay may ask NATS itself. Pages wait for 10 s. */
export const ANSWER_MS = 4_000;

/** How often a join looks for the home again, when that has changed meanwhile. */
export const TRIES_MAX = 3;

/** Time between two tries to remove claims that NATS has not removed yet, in ms. */
const RETRY_MS = 1_000;

/** Claims that are compared with the bucket, or removed from it, at a time. */
export const CLAIMS_AT_A_TIME = 32;

/** Desktops that are ended in one turn, each with its sprites: some 5 µs. */
export const ENDS_PER_TURN = 64;

/** The revision of a claim that was not compared with the bucket since the start of this relay. */
const UNCONFIRMED = 0;

const MOVED = 'This world is at another relay now; join it again.';

const joinsOf = (name: string) => `sprites.joins.${name}`;

interface HomesOptions {
  name: string;
  turns: Turns;
  seats: Seats;
  membership: Membership;
  network: PeerNetwork;
  bucket: Bucket;
  log: Logger;
  /** Monotonic, in ms. */
  clock?: () => number;
  /** The name of this machine. */
  machine?: string;
  /** How long a relay must have been gone before its claims can be taken over, in ms; default HOME_GONE_MS. */
  goneMs?: number;
}

/** What is known only when the relay has its ports. */
interface HomesOpening {
  /** Where clients reach this relay. */
  addresses: Omit<RelayAddresses, 'machine'>;
  /** Ends desktops, and closes their sockets. */
  end: (slots: readonly number[], detail: string) => void;
}

export class Homes implements MasterHomes {
  readonly #options: HomesOptions;
  readonly #clock: () => number;
  readonly #startMs: number;
  readonly #machine: string;
  readonly #goneMs: number;
  #opening: HomesOpening | undefined;
  /** The worlds that are at home here, and the revision of each claim. */
  readonly #held = new Map<string, number>();
  /** These worlds, and those that have moved to other relays while sprites wait here, by the keys of their claims. */
  readonly #worldOf = new Map<string, string>();
  /** Worlds of which a claim is being read or written. Each waits for the one before. */
  readonly #pending = new Map<string, Promise<unknown>>();
  /** Worlds that have ended, and whose claims NATS has not removed. */
  readonly #unreleased = new Set<string>();
  #retryTimer: NodeJS.Timeout | undefined;
  /** This relay stops for good, and claims nothing any more. */
  #isGivingUp = false;
  #waiting = 0;
  readonly counters = { passed: 0, unreachable: 0, moved: 0 };

  /** Call it after the recovery of the relay: the worlds that it has recovered are at home here until NATS says otherwise. */
  constructor(options: HomesOptions) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
    this.#startMs = this.#clock();
    this.#machine = options.machine ?? hostname();
    this.#goneMs = options.goneMs ?? HOME_GONE_MS;
    const { torus } = options.turns.relay;
    for (const { name } of torus.worlds()) if (name !== DEFAULT_WORLD) this.#hold(name, UNCONFIRMED);
    torus.removed = (world) => this.#release(world);
  }

  /** From now on other relays may pass joins on to this one. */
  open(opening: HomesOpening): void {
    this.#opening = opening;
    const { network, bucket, name } = this.#options;
    bucket.watch({
      connected: () => void this.confirm(),
      changed: (claim) => {
        const world = this.#worldOf.get(claim.key);
        if (world !== undefined && homeOf(claim) !== name) void this.#compare(world);
      },
    });
    network.subscribe(joinsOf(name), (bytes, answer) => {
      if (answer) void this.#receive(bytes).then((reply) => answer(encodePeerJoinAnswer(reply)));
    });
  }

  get name(): string {
    return this.#options.name;
  }

  /** The number of worlds that are at home here. */
  get count(): number {
    return this.#held.size;
  }

  isHere({ near, world }: Join): boolean {
    if (near !== undefined) return near.relay === undefined || near.relay === this.name;
    return world === undefined || world === DEFAULT_WORLD || (this.#held.has(world) && !this.#pending.has(world));
  }

  /** Throws relay-busy, near-gone, and what Seats.seat() throws. */
  join(join: Join): Promise<object> {
    return this.#wait(() =>
      join.near?.relay === undefined
        ? this.#joinWorld(join, join.world as string)
        : this.#joinFriend(join, join.near.relay),
    );
  }

  /** Waits for an action of a join. Throws relay-busy when too many joins wait. */
  async #wait<Result>(action: () => Promise<Result>): Promise<Result> {
    if (this.#waiting >= JOINS_WAITING_MAX) {
      throw new ProblemError('relay-busy', 'The relay has too many joins that wait for other relays; try again.');
    }
    this.#waiting++;
    try {
      return await action();
    } finally {
      this.#waiting--;
    }
  }

  async #joinWorld(join: Join, world: string): Promise<object> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const home = await this.#find(world);
      if (home === this.name) return this.#seat(join, world);
      const seat = await this.#pass(join, home);
      if (seat) return seat;
    }
    throw this.#unreachable();
  }

  async #joinFriend(join: Join, relay: string): Promise<object> {
    const state = this.#options.membership.stateOf(relay);
    try {
      const seat = await this.#pass(join, relay);
      if (seat) return seat;
    } catch (error) {
      const isAway = error instanceof ProblemError && error.document.code === 'relay-busy';
      // A relay that is not known is asked all the same, because it may have started within the last second.
      if (!isAway || (state !== undefined && state !== 'forgotten')) throw error;
      throw new ProblemError('near-gone', 'near: the relay that made this invitation is gone.');
    }
    throw this.#unreachable();
  }

  /** Seats a desktop here. When that fails in a world that would begin, its claim is removed. */
  #seat(join: Join, world: string): object {
    const { seats, turns } = this.#options;
    try {
      return seats.seat(join);
    } finally {
      if (!turns.relay.torus.find(world)) this.#release(world);
    }
  }

  /** Resolves to the name of the world's home, which is this relay if there was none. Throws relay-busy. */
  #find(world: string): Promise<string> {
    return this.#alone(world, async () => {
      if (this.#isGivingUp) throw new Error('this relay stops');
      if (this.#held.has(world)) return this.name;
      const { bucket } = this.#options;
      const key = keyOf(world);
      const value = Buffer.from(this.name);
      for (let tries = 0; tries < TRIES_MAX; tries++) {
        const claim = await bucket.get(key);
        let revision: number | undefined;
        if (claim === undefined) revision = await bucket.create(key, value);
        else {
          const home = homeOf(claim);
          // A claim of this relay that it no longer knows: it died after it had written the claim.
          if (home === this.name) revision = claim.revision;
          else if (isRelayName(home) && !this.#isGone(home)) return home;
          else revision = await bucket.update(key, value, claim.revision);
        }
        if (revision === undefined) continue;
        this.#hold(world, revision);
        return this.name;
      }
      throw new Error('the claim changes again and again');
    }).catch(() => {
      throw this.#unreachable();
    });
  }

  /** Whether the claims of a relay may be taken over. */
  #isGone(relay: string): boolean {
    const { membership } = this.#options;
    const state = membership.stateOf(relay);
    if (state === 'forgotten') return true;
    // It was gone before this relay started.
    if (state === undefined) return this.#clock() - this.#startMs > this.#goneMs;
    if (state === 'here' || state === 'suspected') return false;
    const row = [...membership.relays()].find(({ name }) => name === relay);
    return row !== undefined && row.silentSteps * STEP_MS > this.#goneMs;
  }

  /** Passes a join on. Resolves to undefined when that relay does not have the world. Throws relay-busy, and what that relay refuses it with. */
  async #pass(join: Join, relay: string): Promise<object | undefined> {
    const { network } = this.#options;
    let answer: PeerJoinAnswer | undefined;
    try {
      answer = decodePeerJoinAnswer(await network.request(joinsOf(relay), encodePeerJoin(join), ANSWER_MS));
    } catch (error) {
      this.#options.log.debug({ relay, isThere: !(error instanceof NobodyThere) }, 'a join could not be passed on');
    }
    if (answer === undefined) throw this.#unreachable();
    if ('elsewhere' in answer) return undefined;
    if ('problem' in answer) throw new ProblemError(answer.problem.code, answer.problem.detail);
    const { url, machine } = answer.seat.at;
    if (url === undefined && machine !== this.#machine) {
      this.#options.log.warn({ relay }, 'joins cannot be passed on to a relay on another machine without --public-url');
      throw this.#unreachable();
    }
    this.counters.passed++;
    return answer.seat;
  }

  #unreachable(): ProblemError {
    this.counters.unreachable++;
    return new ProblemError('relay-busy', 'The relay of this world cannot be reached now; try again in a second.');
  }

  /** Answers a join of another relay. */
  async #receive(bytes: Uint8Array): Promise<PeerJoinAnswer> {
    const { seats, turns } = this.#options;
    const join = decodePeerJoin(bytes);
    if (join === undefined) {
      return {
        problem: { code: 'relay-busy', detail: 'The relays of this world run versions that are too far apart.' },
      };
    }
    try {
      const { near, world = DEFAULT_WORLD } = join;
      if (near !== undefined && near.relay !== this.name) return { elsewhere: true };
      if (near === undefined && !this.isHere(join)) {
        const home = await this.#wait(() => this.#find(world));
        if (home !== this.name) return { elsewhere: true };
      }
      const seat = near === undefined ? this.#seat(join, world) : seats.seat(join);
      // The answer promises that the desktop is in the journal.
      turns.end();
      const { addresses } = this.#opening as HomesOpening;
      return { seat: { ...seat, at: { ...addresses, machine: this.#machine } } as PeerSeat };
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      const { code, detail } = error.document;
      return { problem: { code, detail } };
    }
  }

  /** An operator has declared that a relay will not come back: removes its claims. Resolves to how many. */
  async forget(relay: string): Promise<number> {
    const { bucket, log } = this.#options;
    const claims: Entry[] = [];
    await bucket.each((claim) => {
      if (homeOf(claim) === relay) claims.push(claim);
    });
    for (const { key, revision } of claims) await bucket.remove(key, revision);
    if (claims.length > 0)
      log.info({ relay, worlds: claims.length }, 'private worlds of a forgotten relay have no home now');
    return claims.length;
  }

  /** Compares the claims of the worlds that are here with the bucket, which may have lost or changed them while NATS was away. */
  confirm(): Promise<void> {
    return eachOf([...this.#worldOf.values()], (world) => this.#compare(world));
  }

  /**
   * This relay stops for good, and its desktops have been told where to join: removes all its claims. A claim that NATS has not removed when
   * the relay ends is as that of a relay that died. Resolves to how many were removed. REQUIRES: no other relay runs under this name.
   */
  async giveUp(): Promise<number> {
    this.#isGivingUp = true;
    const before = this.#held.size;
    await eachOf([...this.#held.keys()], (world) => this.#alone(world, () => this.#removeClaim(world))).catch((err) =>
      this.#options.log.warn(
        { err },
        'NATS has not removed all claims of this relay; its private worlds move in ten minutes',
      ),
    );
    return before - this.#held.size;
  }

  /** Compares a claim with what is here. Does nothing while NATS is away: the next connection compares again. */
  #compare(world: string): Promise<void> {
    return this.#alone(world, async () => {
      const key = keyOf(world);
      if (!this.#worldOf.has(key)) return;
      const { bucket, log, turns } = this.#options;
      const isHeld = this.#held.has(world);
      const claim = await bucket.get(key);
      if (claim === undefined) {
        const revision = isHeld ? await bucket.create(key, Buffer.from(this.name)) : undefined;
        if (revision !== undefined) this.#hold(world, revision);
        return;
      }
      const home = homeOf(claim);
      if (home === this.name) {
        this.#hold(world, claim.revision);
        return;
      }
      if (isHeld) {
        this.#held.delete(world);
        this.counters.moved++;
        const ended = await this.#endAll(world);
        log.warn(
          { desktops: ended, relay: home },
          'a private world is at another relay now; what waits here goes there',
        );
      }
      turns.relay.ending.setHome(world, home);
      if (turns.relay.torus.find(world) === undefined) this.#worldOf.delete(key);
    }).catch(() => {});
  }

  /** From now on a world is at home here. */
  #hold(world: string, revision: number): void {
    this.#held.set(world, revision);
    this.#worldOf.set(keyOf(world), world);
    this.#options.turns.relay.ending.setHome(world, undefined);
  }

  /** Ends the desktops of a world, in steps. Resolves to how many. */
  async #endAll(world: string): Promise<number> {
    const { torus } = this.#options.turns.relay;
    let ended = 0;
    for (let found = torus.find(world); found !== undefined && found.count > 0; found = torus.find(world)) {
      const slots = [...found.slots.subarray(0, Math.min(found.count, ENDS_PER_TURN))];
      this.#opening?.end(slots, MOVED);
      ended += slots.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    return ended;
  }

  /** Removes the claim of a world that has ended. */
  #release(world: string): void {
    if (!this.#held.has(world)) {
      this.#worldOf.delete(keyOf(world));
      return;
    }
    this.#unreleased.add(world);
    void this.#alone(world, async () => {
      if (this.#options.turns.relay.torus.find(world) === undefined) {
        await this.#removeClaim(world);
        this.#worldOf.delete(keyOf(world));
      }
      this.#unreleased.delete(world);
    }).catch(() => this.#retrySoon());
  }

  /** Removes the claim of a world from the bucket, if it is held. */
  async #removeClaim(world: string): Promise<void> {
    const revision = this.#held.get(world);
    if (revision === undefined) return;
    const { bucket } = this.#options;
    const key = keyOf(world);
    if (revision !== UNCONFIRMED) await bucket.remove(key, revision);
    else {
      const claim = await bucket.get(key);
      if (claim && homeOf(claim) === this.name) await bucket.remove(key, claim.revision);
    }
    this.#held.delete(world);
  }

  #retrySoon(): void {
    this.#retryTimer ??= setTimeout(() => {
      this.#retryTimer = undefined;
      for (const world of [...this.#unreleased]) this.#release(world);
    }, RETRY_MS).unref();
  }

  /** Runs `action` when all earlier ones of this world have ended. */
  #alone<Result>(world: string, action: () => Promise<Result>): Promise<Result> {
    const result = (this.#pending.get(world) ?? Promise.resolve()).then(action, action);
    const settled = result.then(
      () => {},
      () => {},
    );
    this.#pending.set(world, settled);
    void settled.then(() => {
      if (this.#pending.get(world) === settled) this.#pending.delete(world);
    });
    return result;
  }

  gauges(registry: Registry): void {
    const gauge = gaugesIn(registry);
    const counter = countersIn(registry);
    gauge('sprites_peers_homes', 'Private worlds that are at home at this relay', () => this.count);
    counter('sprites_peers_joins_total', 'Joins that were passed on to another relay', () => this.counters.passed);
    counter(
      'sprites_peers_joins_refused_total',
      'Joins refused because NATS or the relay of their world was not reachable',
      () => this.counters.unreachable,
    );
    counter(
      'sprites_peers_homes_lost_total',
      'Private worlds that were here and are at another relay now',
      () => this.counters.moved,
    );
  }
}

/** The name of the relay that holds a claim. */
function homeOf({ value }: Entry): string {
  return Buffer.from(value).toString('latin1');
}

/** Acts on CLAIMS_AT_A_TIME worlds at a time. Rejects as soon as one of the actions has. */
async function eachOf(worlds: readonly string[], act: (world: string) => Promise<void>): Promise<void> {
  for (let from = 0; from < worlds.length; from += CLAIMS_AT_A_TIME) {
    await Promise.all(worlds.slice(from, from + CLAIMS_AT_A_TIME).map(act));
  }
}

function keyOf(world: string): string {
  return createHash('sha256').update(world).digest('hex');
}

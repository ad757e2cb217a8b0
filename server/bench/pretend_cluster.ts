/**
 * A pretend cluster: real memberships on a pretend network with pretend clocks, and desktops that are only counted.
 *
 * Time passes in whole milliseconds. Each relay ticks by its own clock. Each heartbeat is encoded and decoded as on the wire. It reaches
 * every other relay after a random delay, or late, or twice, or not at all. Desktops join and leave at random relays. In each
 * millisecond, a few crossings are followed from one relay to the other. In a large cluster only the first WATCHERS_MAX relays keep a
 * view; the others only send heartbeats, with the same steps.
 * Invariant: every crossing has exactly one outcome. The same options and seed give the same run.
 * Cost: about 1 µs for each heartbeat that is heard: 4 · relays · watchers a second of pretend time.
 */

import { randomFrom } from '../../tools/bench/random.ts';
import { LISTEN_STEPS, Membership, RELAYS_MAX, STEP_MS } from '../domain/peers/membership.ts';
import { beyond, reroute } from '../domain/state/cluster_torus.ts';
import type { ClusterPlace, ClusterView } from '../domain/state/cluster_view.ts';
import { decodeHeartbeat, encodeHeartbeat, type Heartbeat } from '../wire/peers/heartbeat.ts';
import { type EdgeNumber, opposite } from '../wire/rules.ts';

export interface NetworkFaults {
  /** Shares of heartbeats that never arrive, that arrive up to `lateMs` later, and that arrive twice. */
  lost: number;
  late: number;
  repeated: number;
  lateMs: number;
}

/** A network within one region. */
export const GOOD: NetworkFaults = { lost: 0, late: 0, repeated: 0, lateMs: 0 };

export interface PretendOptions {
  relays: number;
  desktops: number;
  seed: number;
  network: NetworkFaults;
  /** Mean time that a desktop stays. */
  staySeconds: number;
  /** Joins a second beyond those that replace desktops that leave. */
  joinsPerSecond: number;
}

/** How many crossings had each outcome, and what the heartbeats of the relays cost. */
export interface Outcomes {
  /** Crossings of random desktops: each is one of the four that follow. */
  crossings: number;
  /** The neighbour was on the same relay. */
  within: number;
  /** Another relay accepted it. */
  across: number;
  /** Refused by the thrower's relay, because the other one is silent; or by the other one, because it has no desktop left. */
  refused: number;
  /** Sent to a relay that did not answer. The relay asks again until it knows. */
  inDoubt: number;
  /** Crossings from the border of a relay, of desktops that its view has, that another relay accepted; and of these: */
  border: number;
  /** The other relay had a view of other counts. */
  otherView: number;
  /** In the other relay's view another desktop was beyond that edge. */
  elsewhere: number;
  /** The place had gone, and the relay's last desktop received it. */
  lastDesktop: number;
  /** Thrown back at once, it would not have come back to its thrower. */
  noReturn: number;
  heartbeatsSent: number;
  heartbeatsHeard: number;
  /** Bytes of a heartbeat on the wire, in all. */
  bytesSent: number;
  bytesHeard: number;
  /** Sums over all looks: of relays that keep a view, and of those with the most common view. */
  looks: number;
  looksAgreed: number;
}

/** A heartbeat of an ordinary network takes from 0.5 to 3 ms. */
const DELAY_MS = [0.5, 3] as const;

/** Clocks differ by up to this share; a common bound of crystals. */
const CLOCK_ERROR = 100e-6;

/** A tick waits for the work of its loop. */
const TICK_LATE_MS = 5;

const LOOK_EVERY_MS = 25;
const CROSSINGS_PER_MS = 4;

/** Milliseconds of pretend time that are planned ahead; more than any delay. A power of two. */
const AHEAD_MS = 4096;

/** Relays that keep a view. Neighbours are among them, because relays are in order of their names, and a row of the torus is shorter than a relay. */
const WATCHERS_MAX = 100;

/** Heartbeats on their way, all relays together: AHEAD_MS of 1,024 relays. A power of two. */
const ON_THE_WAY_MAX = 2 ** 15;

/** A desktop whose relay is gone joins another one within this time, by its own back-off. */
const REJOIN_MS = 10_000;

/** Ticks for which a relay announces that it stops. */
const LEAVING_TICKS = 4;

const SUBJECT = 'sprites.heartbeat';

interface Relay {
  readonly name: string;
  /** Undefined for a relay that only sends. */
  readonly membership: Membership | undefined;
  count: number;
  alive: boolean;
  /** False from the moment at which it begins to stop. */
  stays: boolean;
  /** Ticks since it announced that it stops. */
  leavingTicks: number;
  /** Relays of different sides do not hear each other. */
  side: number;
  periodMs: number;
  nextTickMs: number;
}

interface PretendCrossing {
  from: number;
  to: number;
  place: number;
  landing: number;
  edge: EdgeNumber;
  digest: number;
  isBorder: boolean;
}

export class PretendCluster {
  readonly relays: Relay[] = [];
  readonly #random: () => number;
  readonly #options: PretendOptions;
  #nowMs = 0;
  #outcomes = noOutcomes();
  readonly #ticks: number[][] = slots();
  readonly #deliveries: number[][] = slots();
  readonly #crossings: PretendCrossing[][] = slots();
  readonly #onTheWay: Heartbeat[] = new Array(ON_THE_WAY_MAX);
  #sent = 0;
  #joinsDue = 0;
  #leavesDue = 0;
  /** Desktops without a relay, and how many of them join in each millisecond. */
  #homeless = 0;
  #rejoinsPerMs = 0;
  #countMax = 0;
  readonly #to: ClusterPlace = { relay: 0, place: 0 };

  constructor(options: PretendOptions) {
    this.#options = options;
    this.#random = randomFrom(options.seed);
    for (let n = 0; n < options.relays; n++) this.add();
    for (const relay of this.relays) relay.count = Math.floor(options.desktops / options.relays);
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Starts one more relay, without desktops. */
  add(): void {
    const at = this.relays.length;
    const periodMs = STEP_MS * (1 + (2 * this.#random() - 1) * CLOCK_ERROR);
    const name = `r${String(at).padStart(4, '0')}`;
    const step = 1 + Math.floor(this.#random() * 1000);
    const membership = at < WATCHERS_MAX ? new Membership({ name, life: 1, width: 1, step }) : undefined;
    const nextTickMs = this.#nowMs + (LISTEN_STEPS + this.#random()) * STEP_MS;
    this.relays.push({
      name,
      membership,
      count: 0,
      alive: true,
      stays: true,
      leavingTicks: 0,
      side: 0,
      periodMs,
      nextTickMs,
    });
    this.#plan(this.#ticks, nextTickMs, at);
  }

  /** These relays stop without an announcement. Their desktops join other relays. */
  kill(relays: readonly number[]): void {
    for (const at of relays) this.#end(at);
  }

  /** These relays announce that they stop, and stop a second later. Their desktops join other relays. */
  drain(relays: readonly number[]): void {
    for (const at of relays) {
      this.relays[at].stays = false;
      this.relays[at].membership?.leave();
      this.#rehouse(this.relays[at]);
    }
  }

  /** Puts each relay on a side. Relays of different sides do not hear each other. */
  divide(sideOf: (relay: number) => number): void {
    for (const [at, relay] of this.relays.entries()) relay.side = sideOf(at);
  }

  /** Lets time pass, up to `ms` or until a look finds that `done`. Returns the milliseconds. */
  run(ms: number, done?: () => boolean): number {
    for (let passed = 1; passed <= ms; passed++) {
      this.#pass();
      if (this.#nowMs % LOOK_EVERY_MS === 0) {
        this.#look();
        if (done?.()) return passed;
      }
    }
    return ms;
  }

  /** What happened since the last call. */
  outcomes(): Outcomes {
    const outcomes = this.#outcomes;
    this.#outcomes = noOutcomes();
    return outcomes;
  }

  /** Whether every relay that stays has exactly those of its side in its view. */
  knowsAll(): boolean {
    const living = this.relays.filter(isStaying);
    const namesOf = new Map<number, string[]>();
    for (const { side, name } of living) namesOf.set(side, [...(namesOf.get(side) ?? []), name]);
    return living.every(({ side, membership }) => {
      if (!membership) return true;
      const names = namesOf.get(side) as string[];
      const known = membership.view.names;
      return known.length === names.length && known.every((name, at) => name === names[at]);
    });
  }

  /** The count of the fullest relay, divided by the mean. */
  balance(): number {
    const counts = this.relays.filter(isStaying).map(({ count }) => count);
    return Math.max(...counts) / (counts.reduce((sum, count) => sum + count, 0) / counts.length);
  }

  #pass(): void {
    this.#nowMs++;
    const now = this.#nowMs % AHEAD_MS;
    for (const at of emptied(this.#ticks, now)) this.#tick(at);
    for (const delivery of emptied(this.#deliveries, now)) {
      const relay = this.relays[delivery % RELAYS_MAX];
      const heartbeat = this.#onTheWay[Math.floor(delivery / RELAYS_MAX) % ON_THE_WAY_MAX];
      if (relay.alive) relay.membership?.hear(heartbeat);
    }
    for (const crossing of emptied(this.#crossings, now)) this.#arrive(crossing);
    this.#churn();
    for (let n = 0; n < CROSSINGS_PER_MS; n++) {
      this.#throw();
      this.#throwFromBorder();
    }
  }

  #tick(at: number): void {
    const relay = this.relays[at];
    if (!relay.alive) return;
    const bytes = encodeHeartbeat(relay.membership?.tick(relay.count) ?? this.#follow(relay));
    const heartbeat = decodeHeartbeat(bytes);
    if (typeof heartbeat === 'string') throw new Error(`a heartbeat is ${heartbeat}`);
    relay.nextTickMs += relay.periodMs;
    this.#plan(this.#ticks, relay.nextTickMs + this.#random() * TICK_LATE_MS, at);
    this.#publish(at, relay.side, heartbeat, bytes.length);
    if (heartbeat.leaving && ++relay.leavingTicks > LEAVING_TICKS) this.#end(at);
  }

  #publish(from: number, side: number, heartbeat: Heartbeat, size: number): void {
    const number = this.#sent++ % ON_THE_WAY_MAX;
    this.#onTheWay[number] = heartbeat;
    this.#outcomes.heartbeatsSent++;
    this.#outcomes.bytesSent += `PUB ${SUBJECT} ${size}\r\n\r\n`.length + size;
    const received = `MSG ${SUBJECT} 1 ${size}\r\n\r\n`.length + size;
    const { lost, late, repeated, lateMs } = this.#options.network;
    for (let to = 0; to < this.relays.length; to++) {
      const other = this.relays[to];
      if (to === from || !other.alive || !other.membership || other.side !== side) continue;
      if (lost > 0 && this.#random() < lost) continue;
      for (let copies = repeated > 0 && this.#random() < repeated ? 2 : 1; copies > 0; copies--) {
        const extra = late > 0 && this.#random() < late ? this.#random() * lateMs : 0;
        this.#plan(this.#deliveries, this.#nowMs + extra + this.#delay(), number * RELAYS_MAX + to);
        this.#outcomes.heartbeatsHeard++;
        this.#outcomes.bytesHeard += received;
      }
    }
  }

  /** The heartbeat of a relay that only sends. It has the step of a relay of its side that keeps a view. */
  #follow({ name, count, stays, side }: Relay): Heartbeat {
    const first = this.relays.find((relay) => relay.alive && relay.membership && relay.side === side);
    const step = first?.membership?.step ?? 0;
    return { name, life: 1, step, count, width: 1, digest: 0, leaving: !stays };
  }

  #churn(): void {
    const { staySeconds, joinsPerSecond, desktops } = this.#options;
    this.#leavesDue += desktops / staySeconds / 1000;
    this.#joinsDue += (desktops / staySeconds + joinsPerSecond) / 1000;
    const rejoins = Math.min(this.#homeless, this.#rejoinsPerMs);
    this.#homeless -= rejoins;
    this.#joinsDue += rejoins;
    for (; this.#joinsDue >= 1; this.#joinsDue--) this.#anyAlive().count++;
    for (; this.#leavesDue >= 1; this.#leavesDue--) {
      const relay = this.relays[this.#anyDesktop(this.relays.length)];
      if (relay.count > 0) relay.count--;
    }
  }

  /** A random desktop throws over a random edge. */
  #throw(): void {
    const from = this.#anyDesktop(WATCHERS_MAX);
    const { membership, count } = this.relays[from];
    if (count === 0 || !membership) return;
    this.#outcomes.crossings++;
    const edge = Math.floor(this.#random() * 4) as EdgeNumber;
    const crossing = this.#fly(from, membership, Math.floor(this.#random() * count), edge, false);
    if (!crossing) this.#outcomes.within++;
    else if (!membership.isReachable(this.#to.relay)) this.#outcomes.refused++;
    else this.#plan(this.#crossings, this.#nowMs + this.#delay(), crossing);
  }

  /** A desktop throws whose neighbour beyond that edge is on another relay. */
  #throwFromBorder(): void {
    const from = this.#anyDesktop(WATCHERS_MAX);
    const { membership, count } = this.relays[from];
    if (!membership) return;
    const { view } = membership;
    const counted = Math.min(count, view.counts[view.self]);
    // The first place and the last have a neighbour beside them on another relay; as many places as a row is wide, one above or below.
    const reach = Math.min(counted, view.width);
    const at = Math.floor(this.#random() * (reach + 1));
    const edge = ((at === reach ? 0 : 2) + (this.#random() < 0.5 ? 0 : 1)) as EdgeNumber;
    const inward = at === reach ? 0 : at;
    if (counted === 0) return;
    const crossing = this.#fly(from, membership, edge & 1 ? counted - 1 - inward : inward, edge, true);
    if (crossing && membership.isReachable(this.#to.relay)) {
      this.#plan(this.#crossings, this.#nowMs + this.#delay(), crossing);
    }
  }

  /** Makes a crossing; undefined if the neighbour is on the same relay. Sets `#to` to its target. */
  #fly(
    from: number,
    { view }: Membership,
    place: number,
    edge: EdgeNumber,
    isBorder: boolean,
  ): PretendCrossing | undefined {
    const { count } = this.relays[from];
    const to = beyond(view, view.self, place, edge, this.#to);
    if (to.relay === view.self) reroute(view, view.self, count, to.place, to);
    if (to.relay === view.self) return undefined;
    const { digest, names } = view;
    return { from, to: numberOf(names[to.relay]), place, landing: to.place, edge, digest, isBorder };
  }

  #arrive(crossing: PretendCrossing): void {
    const [thrower, receiver] = [this.relays[crossing.from], this.relays[crossing.to]];
    const isHeard = receiver.alive && receiver.side === thrower.side;
    if (crossing.isBorder) {
      if (isHeard && receiver.count > 0 && receiver.membership) {
        this.#compare(crossing, thrower.name, receiver.membership.view, receiver.count);
      }
    } else if (!isHeard) this.#outcomes.inDoubt++;
    else if (receiver.count === 0) this.#outcomes.refused++;
    else this.#outcomes.across++;
  }

  /** Compares the views of the thrower's relay and of the other one. */
  #compare({ place, landing, edge, digest }: PretendCrossing, thrower: string, view: ClusterView, count: number): void {
    const outcomes = this.#outcomes;
    outcomes.border++;
    if (landing >= count) outcomes.lastDesktop++;
    if (view.digest !== digest) outcomes.otherView++;
    const back = beyond(view, view.self, Math.min(landing, count - 1), opposite(edge), this.#to);
    if (view.names[back.relay] !== thrower || back.place !== place) outcomes.noReturn++;
    const known = view.names.indexOf(thrower);
    const expected = known < 0 ? undefined : beyond(view, known, place, edge, this.#to);
    if (expected?.relay !== view.self || expected.place !== landing) outcomes.elsewhere++;
  }

  /** Counts the relays that have the most common view. */
  #look(): void {
    const relaysOf = new Map<number, number>();
    let living = 0;
    this.#countMax = 0;
    for (const { alive, membership, count } of this.relays) {
      if (!alive) continue;
      this.#countMax = Math.max(this.#countMax, count);
      if (!membership) continue;
      living++;
      relaysOf.set(membership.view.digest, (relaysOf.get(membership.view.digest) ?? 0) + 1);
    }
    this.#outcomes.looks += living;
    this.#outcomes.looksAgreed += Math.max(...relaysOf.values());
  }

  #end(at: number): void {
    const relay = this.relays[at];
    relay.alive = false;
    this.#rehouse(relay);
  }

  #rehouse(relay: Relay): void {
    this.#homeless += relay.count;
    this.#rejoinsPerMs = this.#homeless / REJOIN_MS;
    relay.count = 0;
  }

  #anyAlive(): Relay {
    for (;;) {
      const relay = this.relays[Math.floor(this.#random() * this.relays.length)];
      if (isStaying(relay)) return relay;
    }
  }

  /** The relay of a random desktop of the first `relays`; when almost all of these are empty, a random relay. */
  #anyDesktop(relays: number): number {
    for (let tries = 0; ; tries++) {
      const at = Math.floor(this.#random() * Math.min(relays, this.relays.length));
      if (this.relays[at].alive && (tries > 100 || this.#random() * this.#countMax <= this.relays[at].count)) return at;
    }
  }

  #delay(): number {
    return DELAY_MS[0] + this.#random() * (DELAY_MS[1] - DELAY_MS[0]);
  }

  #plan<Item>(into: Item[][], atMs: number, item: Item): void {
    into[Math.max(this.#nowMs + 1, Math.ceil(atMs)) % AHEAD_MS].push(item);
  }
}

function slots<Item>(): Item[][] {
  return Array.from({ length: AHEAD_MS }, () => []);
}

/** Returns what is due now, and empties its slot. */
function emptied<Item>(planned: Item[][], at: number): readonly Item[] {
  const due = planned[at];
  if (due.length > 0) planned[at] = [];
  return due;
}

const isStaying = ({ alive, stays }: Relay): boolean => alive && stays;

const numberOf = (name: string): number => Number(name.slice(1));

function noOutcomes(): Outcomes {
  return {
    crossings: 0,
    within: 0,
    across: 0,
    refused: 0,
    inDoubt: 0,
    border: 0,
    otherView: 0,
    elsewhere: 0,
    lastDesktop: 0,
    noReturn: 0,
    heartbeatsSent: 0,
    heartbeatsHeard: 0,
    bytesSent: 0,
    bytesHeard: 0,
    looks: 0,
    looksAgreed: 0,
  };
}

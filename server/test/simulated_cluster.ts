/**
 * Two or three simulated relays on a pretended network, and clients that follow the protocol; with an account of each sprite.
 *
 * Some answers to clients are lost, and relays end desktops whose clients don't know of it. A client repeats what has no answer, also after the
 * end of its desktop, and never sends a number 32 or more above its oldest one without an answer.
 * A sprite is one throw, so each is shown once: more or less often is a fault of the relays, unless the documents allow it. They allow it
 * when a journal has gone back in time (PROTOCOL.md, What is lost, and when): the account then compares what that relay had with what it has, and
 * excuses these sprites only. It allows one double for each thing that the relay has forgotten: what became of the throw, where each copy in a
 * mailbox has gone, and each frame with the sprite that it took from another relay. What is thrown later has no excuse.
 * What was in doubt at a relay whose name another one has taken over may be lost, and nothing else.
 * In half of the histories some desktops join a private world, whose home is one of the relays: the one that holds its claim.
 */
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { STEP_MS } from '../domain/peers/membership.ts';
import { keyOfThrow, type PeerMemory } from '../domain/peers/peer_memory.ts';
import type { Facts } from '../domain/state/facts.ts';
import { checkCrossing } from '../wire/crossing.ts';
import { readCursor } from '../wire/cursor.ts';
import { blankIdentity, type Identity, readToken } from '../wire/identity.ts';
import { DEFAULT_WORLD } from '../wire/join.ts';
import { type PeerFrame, readPeerFrame, readPeerRecords, type WaitingSprite } from '../wire/peers/peer_frame.ts';
import type { ProblemDocument } from '../wire/problem.ts';
import { CROSSINGS_REMEMBERED, EDGES } from '../wire/rules.ts';
import { checkedCrossing } from './passages.ts';
import { PretendStore } from './pretend_bucket.ts';
import { PretendNetwork } from './pretend_network.ts';
import { randomFrom } from './random.ts';
import { swapWith } from './relay_harness.ts';
import { SimulatedRelay, type Surroundings } from './simulated_relay.ts';

const NAMES = ['r1', 'r2', 'r3'];
export const TICK_MS = 125;
const FAULTY_TICKS = 40;
const QUIET_TICKS_MAX = 400;
/** Relays with those that have taken over a name. */
const RELAYS_MAX = 4;
/** Desktops of one relay. */
const DESKTOPS_MAX = 6;
/** The private world, and its desktops at all relays. */
const GARDEN = 'garden';
const GARDEN_DESKTOPS_MAX = 4;
/** In the quiet time: how often one joins a world where something waits and nobody is. Longer than a join takes. */
const JOIN_TICKS = 8;
const FILE = '0123456789abcdef'.repeat(4);
const SPRITE = /"name":"(s\d+)"/;

interface Pending {
  readonly crossing: number;
  readonly edge: (typeof EDGES)[number];
  readonly sprite: string;
  /** The start of the relay in which it was sent last; 0 when it must be sent. */
  sentIn: number;
  /** How often it was sent. The answers to all but the last one are lost, and some of those: the client has closed the connections. */
  attempts: number;
}

class Client {
  readonly relay: SimulatedRelay;
  readonly identity: Identity;
  readonly world: string;
  cursor = 0;
  nextCrossing = 1;
  /** Throws without an answer, by number. */
  readonly pending = new Map<number, Pending>();
  hasLeft = false;
  /** The start of the relay in which its poll is out; 0 for none. */
  pollIn = 0;
  /** The sprites of its last batch, by sequence. It does not know whether a poll has acknowledged them. */
  readonly lastBatch = new Map<number, string>();

  constructor(relay: SimulatedRelay, identity: Identity, world: string) {
    this.relay = relay;
    this.identity = identity;
    this.world = world;
  }
}

/** A sprite in a mailbox. */
interface Copy {
  readonly slot: number;
  /** Its mailbox: the slot, and how many desktops had that before. */
  readonly mailbox: string;
  readonly isSent: boolean;
  /** The frame without verdicts that hands it on; undefined when none does. */
  readonly frame: string | undefined;
}

/** What one relay has. */
interface Holdings {
  /** The sprites in its mailboxes: several copies of one that was doubled before. */
  readonly waiting: ReadonlyMap<string, readonly Copy[]>;
  /** Throws in frames without verdicts, and the frame of each. */
  readonly thrown: ReadonlyMap<string, string>;
  /** Of these, those in its custody. */
  readonly custody: ReadonlySet<string>;
  /** Throws without an answer that it has accepted. */
  readonly known: ReadonlySet<string>;
  /** Clients that do not know yet that it has ended their desktops. */
  readonly unaware: ReadonlySet<Client>;
  /** Frames of other relays, which may send them again, whose verdicts it knows. */
  readonly taken: ReadonlySet<PeerFrame>;
}

/** A fault that may befall the cluster in each tick. */
export interface Fault {
  /** The probability in one tick. */
  readonly chance: number;
  /** Returns whether it has happened. */
  befall(cluster: SimulatedCluster): boolean;
}

export class SimulatedCluster implements Surroundings {
  readonly random: () => number;
  readonly network: PretendNetwork;
  readonly store = new PretendStore();
  readonly isJournaled: boolean;
  readonly relays: SimulatedRelay[];
  readonly clients: Client[] = [];
  readonly accepted = new Set<string>();
  readonly refused = new Set<string>();
  readonly seen = new Map<string, number>();
  /** Sprites that may be lost, and how many doubles of each there may be. */
  readonly mayLack = new Set<string>();
  readonly mayDouble = new Map<string, number>();
  /** How often each fault has happened. */
  readonly happened = new Map<string, number>();
  readonly #faults: [string, Fault][];
  nowMs = 1_000;
  isFaulty = true;
  deaths = 0;
  leasesEnded = 0;
  /** Relays whose journals have gone back in time. */
  wentBack = 0;
  /** How often a second process has started under the name of a relay. */
  takeOvers = 0;
  /** Relays that stopped for good and handed over all they had. */
  stops = 0;
  passed = 0;
  handed = 0;
  /** Sprites that relays took into custody. */
  kept = 0;
  answersLost = 0;
  /** Joins that another relay has answered, and worlds that a relay has lost to another one. */
  joinsPassed = 0;
  worldsMoved = 0;
  /** Pairs that have changed places in the private world. */
  swaps = 0;
  /** Whether desktops join the private world. */
  readonly hasGarden: boolean;
  #sprites = 0;
  #renamed = 0;

  /** About half of the faults can happen in one history. */
  constructor(seed: number, isJournaled: boolean, faults: Readonly<Record<string, Fault>>) {
    this.random = randomFrom(seed);
    this.isJournaled = isJournaled;
    this.#faults = Object.entries(faults).filter(() => this.random() < 0.5);
    this.network = new PretendNetwork(this.random);
    this.network.faults = { lost: this.random() * 0.1, repeated: this.random() * 0.3, delayMs: this.random() * 200 };
    this.hasGarden = this.random() < 0.5;
    if (this.hasGarden) {
      // Timers of an earlier history end.
      mock.timers.reset();
      mock.timers.enable({ apis: ['setTimeout'] });
    }
    this.relays = NAMES.slice(this.pick(2)).map((name, port) => new SimulatedRelay(name, port, this));
    for (const relay of this.relays) relay.start();
    for (const relay of this.relays) for (let n = this.pick(3); n > 0; n--) this.join(relay);
  }

  pick(end: number): number {
    return Math.floor(this.random() * end);
  }

  /** One of the relays that run and do not stop. */
  pickRunning(): SimulatedRelay | undefined {
    const running = this.relays.filter(({ isAlive, leavesUntilMs }) => isAlive && leavesUntilMs === 0);
    return running[this.pick(running.length)];
  }

  /** Someone joins a world at a relay; another relay may be the home of that world. */
  join(relay: SimulatedRelay, world = this.#pickWorld()): void {
    if (relay.leavesUntilMs > 0 || relay.relay.desktops.count >= DESKTOPS_MAX) return;
    if (world === GARDEN && this.#countIn(GARDEN) >= GARDEN_DESKTOPS_MAX) return;
    const ticket = relay.ticket((status, body) => {
      if (status !== 201) return;
      const seat = JSON.parse(body);
      const identity = blankIdentity();
      assert.ok(readToken(seat.token, identity));
      const client = new Client(this.relays[seat.at?.apiPort ?? relay.port], identity, world);
      // Without a journal, its relay may have forgotten it already.
      if (this.isJournaled || (client.relay.isAlive && isHere(client))) this.clients.push(client);
    });
    relay.master.join(relay.link, ticket, { name: '', world });
  }

  joinGarden(relay: SimulatedRelay): void {
    this.join(relay, GARDEN);
  }

  #pickWorld(): string {
    return this.hasGarden && this.random() < 0.4 ? GARDEN : DEFAULT_WORLD;
  }

  /** Desktops of a world at all relays. */
  #countIn(world: string): number {
    return this.relays.reduce((sum, { relay }) => sum + (relay.torus.find(world)?.count ?? 0), 0);
  }

  /**
   * Another process starts under the name of a relay, with a data directory of its own. Each is told of the other by its heartbeats, and the one
   * that started first, by their clocks, stops; it starts again under a name of its own, unless it is the last one of the name: when a machine or
   * a clock has gone back meanwhile, both are told to stop. Returns false when there are too many.
   */
  takeOver({ name }: SimulatedRelay): boolean {
    if (this.relays.length === RELAYS_MAX) return false;
    const newer = new SimulatedRelay(name, this.relays.length, this);
    // Two processes of one name do not start in the same millisecond.
    newer.clockOffsetMs = this.relays.length;
    newer.start();
    this.relays.push(newer);
    this.takeOvers++;
    this.join(newer);
    return true;
  }

  /** What was in doubt at a process is lost when that has gone and another one has its name. */
  abandon(bytes: Buffer): void {
    if (this.takeOvers === 0) return;
    for (const sprite of spritesIn(readPeerFrame(bytes) as PeerFrame)) this.mayLack.add(sprite);
  }

  /** The leases of all desktops of a relay end. Their clients hear of it with their next poll, and join elsewhere. Returns how many it had. */
  endLeases(relay: SimulatedRelay): number {
    const { desktops } = relay.relay;
    const { count } = desktops;
    for (let slot = 0; slot < desktops.untouched; slot++) if (desktops.isLive(slot)) relay.relay.leave(slot);
    this.leasesEnded += count;
    return count;
  }

  tick(): void {
    if (this.isFaulty) {
      for (const [name, { chance, befall }] of this.#faults) {
        if (this.random() < chance && befall(this)) this.happened.set(name, (this.happened.get(name) ?? 0) + 1);
      }
      const relay = this.pickRunning();
      if (relay && this.random() < 0.03) this.join(relay);
    }
    this.#pass(TICK_MS, () => {
      for (const client of [...this.clients]) if (client.relay.isAlive) this.#act(client);
    });
  }

  /** Time passes, and no client does anything. */
  wait(ms: number): void {
    for (const endMs = this.nowMs + ms; this.nowMs < endMs; ) this.#pass(STEP_MS, () => {});
  }

  #pass(ms: number, act: () => void): void {
    const isStep = Math.floor((this.nowMs + ms) / STEP_MS) > Math.floor(this.nowMs / STEP_MS);
    this.nowMs += ms;
    if (this.hasGarden) mock.timers.tick(ms);
    this.network.advance(this.nowMs);
    for (const relay of this.relays) {
      if (!this.isFaulty && relay.disk) relay.disk.roomBytes = Number.POSITIVE_INFINITY;
      if (!relay.isAlive) {
        if (this.nowMs >= relay.upAtMs || !this.isFaulty) this.#revive(relay);
        continue;
      }
      if (!this.isFaulty) {
        relay.connect(true);
        for (const other of this.relays) relay.node.setLink(other.node, true);
      }
      if (isStep) relay.heartbeat();
      relay.advance();
    }
    act();
    for (const relay of this.relays) if (relay.isAlive) this.#endTurn(relay);
  }

  #endTurn(relay: SimulatedRelay): void {
    relay.endTurn();
    if (!relay.isAlive || !relay.isOver) return;
    if (relay.relay.ending.isOver) this.stops++;
    relay.kill(this.pick(3_000));
  }

  died(relay: SimulatedRelay): void {
    this.handed += relay.written.handed;
    this.kept += relay.written.kept;
    this.#countHomes(relay);
    if (!this.isJournaled) this.#forget(relay);
  }

  #countHomes({ homes }: SimulatedRelay): void {
    this.joinsPassed += homes.counters.passed;
    this.worldsMoved += homes.counters.moved;
  }

  #revive(relay: SimulatedRelay): void {
    const before = relay.goesBack ? this.#holdings(relay) : undefined;
    this.deaths++;
    if (relay.isSuperseded && this.relays.some(({ name, isSuperseded }) => name === relay.name && !isSuperseded))
      relay.name = `r${NAMES.length + ++this.#renamed}`;
    relay.isSuperseded = false;
    relay.start();
    if (before) this.#excuse(relay, before);
  }

  /** The relay has forgotten everything: its clients are gone, and nobody knows what became of their throws. */
  #forget(relay: SimulatedRelay): void {
    for (const client of this.clients.filter((one) => one.relay === relay)) {
      if (client.hasLeft) continue;
      for (const sprite of client.lastBatch.values()) this.#allowDouble(sprite);
    }
    this.clients.splice(0, Number.POSITIVE_INFINITY, ...this.clients.filter((one) => one.relay !== relay));
  }

  #holdings(relay: SimulatedRelay): Holdings {
    const { desktops, peerMemory } = relay.relay;
    const thrown = new Map<string, string>();
    const custody = new Set<string>();
    const handing = new Map<string, string>();
    for (const frame of framesIn(peerMemory)) {
      const key = keyOfFrame(frame);
      readPeerRecords(frame, (record) => {
        const sprite = spriteIn(record.body, record.start, record.end);
        if (record.crossing === 0) handing.set(keyOfWaiting(record.waiting), key);
        else thrown.set(sprite, key);
        if (peerMemory.custody.has(keyOfThrow(record))) custody.add(sprite);
      });
    }
    const waiting = new Map<string, Copy[]>();
    const collector = new Proxy({} as Facts, {
      get:
        (_, fact) =>
        (...members: unknown[]) => {
          if (fact !== 'event') return;
          const [slot, isSent, { edge, arrived, body, start, end }] = members as Parameters<Facts['event']>;
          const sprite = spriteIn(body, start, end);
          const owners = desktops.owners(slot);
          const frame = handing.get(keyOfWaiting({ slot, owners, edge, arrived }));
          const copy = { slot, mailbox: `${slot} ${owners}`, isSent, frame };
          waiting.set(sprite, [...(waiting.get(sprite) ?? []), copy]);
        },
    });
    for (let slot = 0; slot < desktops.untouched; slot++) relay.relay.writeState(slot, collector);
    const known = new Set<string>();
    for (const client of this.clients) {
      if (client.relay !== relay) continue;
      for (const pending of client.pending.values()) if (knows(client, pending)) known.add(pending.sprite);
    }
    const taken = new Set<PeerFrame>();
    for (const frame of this.#framesTo(relay)) {
      if (relay.relay.peerMemory.verdictsOn(frame) !== undefined) taken.add(frame);
    }
    const unaware = new Set(this.clients.filter((one) => one.relay === relay && !one.hasLeft && !isHere(one)));
    return { waiting, thrown, custody, unaware, known, taken };
  }

  *#framesTo(relay: SimulatedRelay): IterableIterator<PeerFrame> {
    for (const other of this.relays) {
      if (other === relay) continue;
      for (const frame of framesIn(other.relay.peerMemory)) if (frame.to === relay.relay.epoch) yield frame;
    }
  }

  /** The journal of a relay has gone back: what it has lost may be missing, and what it has again may be shown again. */
  #excuse(relay: SimulatedRelay, before: Holdings): void {
    this.wentBack++;
    const now = this.#holdings(relay);
    for (const [sprite, copies] of before.waiting) {
      const again = now.waiting.get(sprite) ?? [];
      // An older copy that it is handing on again has been handed on already, when the other relay knows that frame.
      const isHandedOn = now.thrown.has(sprite) || again.some(({ frame }) => frame !== undefined);
      const isThere = copies.every((copy) => again.some(({ mailbox }) => mailbox === copy.mailbox));
      if (again.length === 0 || (isHandedOn && !isThere)) this.mayLack.add(sprite);
    }
    for (const sprite of before.custody) if (!now.custody.has(sprite)) this.mayLack.add(sprite);
    // What it has answered the thrower, or asked another relay: a sprite is thrown once.
    const thrown = new Set<string>();
    for (const sprite of before.known) if (!now.known.has(sprite)) thrown.add(sprite);
    for (const sprite of [...before.thrown.keys(), ...now.thrown.keys()]) {
      if (before.thrown.get(sprite) !== now.thrown.get(sprite)) thrown.add(sprite);
    }
    for (const sprite of thrown) this.#allowDouble(sprite);
    // Where a copy has gone.
    for (const [sprite, copies] of now.waiting) {
      const left = [...(before.waiting.get(sprite) ?? [])];
      for (const copy of copies) {
        const at = left.findIndex((one) => isDeepStrictEqual(one, copy));
        if (at >= 0) left.splice(at, 1);
        else this.#allowDouble(sprite);
      }
    }
    // What it has answered another relay.
    const taken = new Set([...now.taken].map(keyOfFrame));
    for (const frame of before.taken) {
      if (!taken.has(keyOfFrame(frame))) for (const sprite of spritesIn(frame)) this.#allowDouble(sprite);
    }
    for (const client of this.clients) {
      if (client.relay !== relay) continue;
      // It has acknowledged them, and is told that it has not.
      for (const sprite of client.lastBatch.values()) {
        if (!now.waiting.has(sprite)) this.mayLack.add(sprite);
        // It went on to others, and a desktop that is here again is not told so. It may itself get it again, too.
        if (before.unaware.has(client)) this.#allowDouble(sprite);
      }
    }
  }

  #allowDouble(sprite: string): void {
    this.mayDouble.set(sprite, (this.mayDouble.get(sprite) ?? 0) + 1);
  }

  #act(client: Client): void {
    const { relay, identity } = client;
    for (const pending of client.pending.values()) {
      if (pending.sentIn !== relay.starts || this.random() < 0.05) this.#post(client, pending);
    }
    if (client.hasLeft) return;
    // Slow clients: something waits when a relay stops.
    if (client.pollIn !== relay.starts && (!this.isFaulty || this.random() < 0.4)) this.#poll(client);
    if (!this.isFaulty) return;
    const [oldest = client.nextCrossing] = client.pending.keys();
    if (client.nextCrossing < oldest + CROSSINGS_REMEMBERED && this.random() < 0.4) {
      const [crossing, edge] = [client.nextCrossing++, EDGES[this.pick(4)]];
      const pending = { crossing, edge, sprite: `s${this.#sprites++}`, sentIn: 0, attempts: 0 };
      client.pending.set(crossing, pending);
      this.#post(client, pending);
    }
    const other = this.clients[this.pick(this.clients.length)];
    if (this.random() < 0.05 && isHere(client) && other.relay === relay && isHere(other)) {
      if (swapWith(relay.relay, identity, other.identity)) this.swaps++;
    }
    // It leaves with an empty mailbox, so that what it has seen is acknowledged; its last throw may be in doubt.
    if (this.random() < 0.01 && isHere(client) && relay.relay.mailboxes.count(identity.slot) === 0) {
      const ticket = relay.ticket(() => {
        client.hasLeft = true;
      });
      relay.master.query('leave', relay.link, ticket, identity, '');
    }
  }

  /** Whether an answer to a client is lost. */
  #isAnswerLost(): boolean {
    const isLost = this.isFaulty && this.random() < 0.1;
    if (isLost) this.answersLost++;
    return isLost;
  }

  #post(client: Client, pending: Pending): void {
    const { relay, identity } = client;
    pending.sentIn = relay.starts;
    const attempt = ++pending.attempts;
    const { crossing, edge, sprite } = pending;
    const checked = checkCrossing({ crossing, edge, at: 0.5, vx: 900, vy: 0, sprite: { file: FILE, name: sprite } });
    const ticket = relay.ticket((status, body) => {
      if (attempt !== pending.attempts || !client.pending.has(crossing) || this.#isAnswerLost()) return;
      client.pending.delete(crossing);
      if (status === 202) this.accepted.add(sprite);
      else this.refused.add(sprite);
      // A relay that went back may not know a desktop, or may have a throw in doubt again that it has answered.
      const isForgotten = (status === 401 || status === 409) && this.wentBack > 0;
      assert.ok(status === 202 || status === 410 || status >= 429 || isForgotten || client.hasLeft, body);
    });
    relay.master.crossing(relay.link, ticket, identity, checkedCrossing(crossing, checked.edge, checked.passage));
  }

  #poll(client: Client): void {
    const { relay, identity } = client;
    client.pollIn = relay.starts;
    const ticket = relay.ticket((status, body) => {
      client.pollIn = 0;
      if (client.hasLeft || this.#isAnswerLost()) return;
      const answer = JSON.parse(body);
      if (status !== 200) {
        this.#handleProblem(client, answer);
        return;
      }
      client.cursor = seqOf(answer.cursor);
      const sprites = answer.events.filter(({ type }: { type: string }) => type === 'sprite');
      for (const { sprite } of sprites) this.seen.set(sprite.name, (this.seen.get(sprite.name) ?? 0) + 1);
      if (answer.events.some(({ type }: { type: string }) => type === 'bye')) return;
      client.lastBatch.clear();
      for (const { seq, sprite } of sprites) client.lastBatch.set(seq, sprite.name);
    });
    relay.master.poll(relay.link, ticket, identity, relay.relay.epoch, client.cursor);
  }

  #handleProblem(client: Client, problem: ProblemDocument & { cursor?: string }): void {
    const { code, cursor } = problem;
    if (code === 'cursor-ahead') {
      assert.ok(this.wentBack > 0, 'only a relay that went back has sent less than a client has');
      client.cursor = seqOf(cursor as string);
      client.lastBatch.clear();
      // It is sent again what it has not acknowledged to that relay.
      const { slot } = client.identity;
      for (const [sprite, copies] of this.#holdings(client.relay).waiting) {
        for (const copy of copies) if (copy.slot === slot && copy.isSent) this.#allowDouble(sprite);
      }
      return;
    }
    client.hasLeft = true;
    if (code === 'desktop-ended') {
      const isTold = cursor !== undefined || client.cursor === 0 || this.wentBack > 0;
      assert.ok(isTold, 'a desktop that was sent something is told what it acknowledged');
      const acknowledged = cursor === undefined ? 0 : seqOf(cursor);
      // What came after the cursor has gone on to others.
      for (const [seq, sprite] of client.lastBatch) if (seq > acknowledged) this.#unsee(sprite);
    } else assert.ok(code === 'unknown-desktop' && this.wentBack > 0, `a good client was answered ${code}`);
    const other = this.pickRunning();
    if (other) this.join(other, client.world);
  }

  #unsee(sprite: string): void {
    const times = this.seen.get(sprite) as number;
    if (times === 1) this.seen.delete(sprite);
    else this.seen.set(sprite, times - 1);
  }

  get isSettled(): boolean {
    return (
      this.clients.every((one) => one.pending.size === 0 && (one.hasLeft || isHere(one))) &&
      this.relays.every(({ relay, peers, isAlive }) => isAlive && relay.waiting === 0 && peers.inDoubt === 0) &&
      this.#homesOf(GARDEN).length <= 1
    );
  }

  /** The relays with desktops of a private world. */
  #homesOf(world: string): SimulatedRelay[] {
    return this.relays.filter(({ relay }) => (relay.torus.find(world)?.count ?? 0) > 0);
  }

  /** Lets faults happen; then everything works again, and heals. */
  async run(): Promise<void> {
    for (let tick = 0; tick < FAULTY_TICKS; tick++) {
      this.tick();
      if (this.hasGarden) await turn();
    }
    this.isFaulty = false;
    this.network.faults = { lost: 0, repeated: 0, delayMs: 20 };
    for (let tick = 0; tick < QUIET_TICKS_MAX && !this.isSettled; tick++) {
      this.tick();
      if (this.hasGarden) await turn();
      if (tick % JOIN_TICKS !== 0) continue;
      // After the second time no answer to a join is on the way any more.
      if (tick <= JOIN_TICKS) for (const relay of this.relays) this.#endGhosts(relay);
      for (const world of [DEFAULT_WORLD, GARDEN])
        if (this.#isMissed(world)) this.join(this.relays[this.pick(this.relays.length)], world);
    }
    assert.ok(this.isSettled, 'everything heals by itself');
    this.#check();
  }

  /** Whether something waits for a desktop of a world, which has none. */
  #isMissed(world: string): boolean {
    const exists = world === DEFAULT_WORLD || this.relays.some(({ relay }) => relay.torus.find(world) !== undefined);
    return exists && this.#countIn(world) === 0;
  }

  /** Ends desktops without a client, as their leases would: a journal that went back has desktops again that have left. */
  #endGhosts(relay: SimulatedRelay): void {
    const here = new Set(this.clients.filter((one) => one.relay === relay && !one.hasLeft).map(idOf));
    const { desktops } = relay.relay;
    for (let slot = 0; slot < desktops.untouched; slot++) {
      if (!desktops.isLive(slot) || here.has(`${slot} ${desktops.generation(slot)}`)) continue;
      relay.relay.leave(slot);
    }
  }

  #check(): void {
    const doubled = [...this.seen].filter(([sprite, times]) => times > 1 + (this.mayDouble.get(sprite) ?? 0));
    assert.deepEqual(doubled, [], 'seen twice');
    const taken = [...this.refused].filter((sprite) => this.seen.has(sprite) && !this.mayDouble.has(sprite));
    assert.deepEqual(taken, [], 'refused, and delivered');
    let abandoned = 0;
    for (const one of this.relays) {
      const { relay, peers } = one;
      this.#countHomes(one);
      const { accepted, acknowledged, abandoned: given } = relay.counters;
      assert.equal(accepted, acknowledged + given + relay.waiting);
      abandoned += given;
      this.passed += peers.counters.passed;
      this.handed += peers.counters.handed;
      this.kept += peers.counters.kept;
      assert.equal(peers.inCustody, 0);
    }
    if (!this.isJournaled) return;
    if (this.takeOvers === 0) assert.equal(abandoned, 0);
    const lost = [...this.accepted].filter((sprite) => !this.seen.has(sprite) && !this.mayLack.has(sprite));
    assert.deepEqual(lost, [], 'lost');
    const strange = [...this.seen.keys()].filter((sprite) => !this.accepted.has(sprite) && !this.refused.has(sprite));
    assert.deepEqual(strange, [], 'from nowhere');
    if (this.wentBack > 0 || this.takeOvers > 0) return;
    const sum = (count: (relay: SimulatedRelay) => number) => this.relays.reduce((all, one) => all + count(one), 0);
    const accepted = sum(({ relay }) => relay.counters.accepted);
    assert.equal(accepted, this.accepted.size + this.handed, 'what was handed on is accepted once more');
    if (this.deaths > 0) return;
    const passed = sum(({ peers }) => peers.counters.passed + peers.counters.handed);
    assert.equal(
      sum(({ peers }) => peers.counters.received),
      passed,
    );
  }
}

function isHere({ relay: { relay }, identity }: Client): boolean {
  return relay.desktops.isLive(identity.slot) && relay.desktops.generation(identity.slot) === identity.generation;
}

/** Whether the relay knows that it has accepted the throw of a client that has no answer. */
function knows({ relay: { relay }, identity }: Client, { crossing }: Pending): boolean {
  if (relay.desktops.authenticate(identity) === 'live')
    return relay.desktops.recencyOf(identity.slot, crossing) === 'repeated';
  return relay.ended.isAccepted(identity, crossing, 0);
}

function idOf({ identity: { slot, generation } }: Client): string {
  return `${slot} ${generation}`;
}

function keyOfFrame({ sender, incarnation, number }: PeerFrame): string {
  return `${sender}/${incarnation}/${number}`;
}

/** The frames without verdicts. */
function* framesIn(memory: PeerMemory): IterableIterator<PeerFrame> {
  for (const { frames } of memory.sent.values()) {
    for (const { bytes } of frames.values()) yield readPeerFrame(bytes) as PeerFrame;
  }
}

function spritesIn(frame: PeerFrame): string[] {
  const sprites: string[] = [];
  readPeerRecords(frame, ({ body, start, end }) => sprites.push(spriteIn(body, start, end)));
  return sprites;
}

function spriteIn(event: Buffer, start: number, end: number): string {
  return (SPRITE.exec(event.toString('latin1', start, end)) as RegExpExecArray)[1];
}

/** Identifies a sprite in a mailbox. */
function keyOfWaiting({ slot, owners, edge, arrived }: WaitingSprite): string {
  return `${slot}/${owners}/${edge}/${arrived}`;
}

function seqOf(text: string): number {
  const cursor = { epoch: 0, seq: 0 };
  assert.ok(readCursor(text, cursor), text);
  return cursor.seq;
}

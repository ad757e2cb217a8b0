/**
 * Three relays on a pretended network, against clients that follow the protocol: nothing is lost or doubled, whatever fails.
 *
 * Each seed is a short history: desktops join, throw, poll and leave on three relays; messages are late, lost, repeated and reordered;
 * relays lose the network; relays die and are recovered from their journals, or start empty without one. Relays also stop for good, and hand
 * what waits there on to the others; their clients join elsewhere. SEED starts at another seed, SEEDS runs more.
 */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Membership, STEP_MS } from '../domain/membership.ts';
import type { Peers } from '../domain/peers.ts';
import { Relay } from '../domain/relay.ts';
import { Journal } from '../journal/journal.ts';
import { NobodyThere } from '../roles/peers/network.ts';
import { checkCrossing, EDGES } from '../wire/crossing.ts';
import { readCursor } from '../wire/cursor.ts';
import { GENERATION_KEY_BYTES } from '../wire/generations.ts';
import { decodeHeartbeat, encodeHeartbeat, type Heartbeat } from '../wire/heartbeat.ts';
import type { Identity } from '../wire/identity.ts';
import { PretendDisk } from './pretend_disk.ts';
import { type Node, PretendNetwork } from './pretend_network.ts';
import { randomFrom } from './random.ts';

const SEEDS = Number(process.env.SEEDS ?? 60);
const NAMES = ['r1', 'r2', 'r3'];
const TICK_MS = 50;
const FAULTY_TICKS = 500;
const QUIET_TICKS_MAX = 4_000;
const ANSWER_MS = 300;
/** How long a relay hands over, in ticks; what is left waits in its journal until it starts again. */
const HAND_OVER_TICKS = 60;
const FILE = '0123456789abcdef'.repeat(4);
const ROOM = Buffer.alloc(1 << 17);

interface Pending {
  readonly crossing: number;
  readonly edge: (typeof EDGES)[number];
  readonly sprite: string;
  /** The life of the relay in which it was sent last; 0 when it must be sent. */
  sentIn: number;
  /** How often it was sent. The answers to all but the last one are lost: the client has closed those connections. */
  attempts: number;
}

class Client {
  readonly relay: SimulatedRelay;
  readonly identity: Identity;
  cursor = 0;
  nextCrossing = 1;
  pending: Pending | undefined;
  hasLeft = false;
  /** The life of the relay in which its poll is out; 0 for none. */
  pollIn = 0;
  /** The sprites of its last batch, the life in which it came, and how many polls with the cursor after it were sent. */
  lastBatch: string[] = [];
  batchIn = 0;
  pollsSince = 0;

  constructor(relay: SimulatedRelay, identity: Identity) {
    this.relay = relay;
    this.identity = identity;
  }
}

class SimulatedRelay {
  readonly name: string;
  readonly world: World;
  disk: PretendDisk | undefined;
  relay!: Relay;
  journal: Journal | undefined;
  membership!: Membership;
  peers!: Peers;
  node!: Node;
  life = 0;
  isAlive = false;
  /** Ticks until it is started again. */
  downFor = 0;
  /** Ticks for which it still hands over; 0 when it does not stop. */
  leavingFor = 0;
  #epoch = 0;
  #tickets = 0;
  #calls = new Map<number, (status: number, body: string) => void>();
  #arrivals: (() => void)[] = [];
  #replies: (() => void)[] = [];

  constructor(name: string, world: World) {
    this.name = name;
    this.world = world;
    this.start();
  }

  start(): void {
    const { random, nowMs } = this.world;
    this.isAlive = true;
    this.leavingFor = 0;
    this.life++;
    this.#calls = new Map();
    this.#arrivals = [];
    this.#replies = [];
    this.#epoch = this.world.isJournaled ? this.#epoch || 1 + this.world.pick(1e9) : 1 + this.world.pick(1e9);
    const key = Buffer.alloc(GENERATION_KEY_BYTES, this.#epoch % 251);
    if (this.world.isJournaled) {
      this.disk ??= new PretendDisk(random);
      this.journal = new Journal(this.disk, {
        ...{ durability: 'process', epoch: this.#epoch, generationKey: key },
        ...{ segmentBytes: 3_000, sizeBytesMin: 12_000, reserveBytes: 100 },
        fail: (error) => {
          throw error;
        },
      });
    }
    this.relay = new Relay({
      ...{ slots: 64, slabBytes: 0, epoch: this.#epoch, generationKey: key, nowMs, random },
      mailboxEventsMax: 12,
      randomize: (words) => {
        for (let at = 0; at < words.length; at++) words[at] = random() * 2 ** 32;
      },
      answers: {
        room: () => ROOM,
        roomAt: () => 0,
        answer: (ticket, status, body, start, end) => {
          const call = this.#calls.get(ticket);
          this.#calls.delete(ticket);
          const text = Buffer.from(body.subarray(start, end)).toString();
          if (call) this.#arrivals.push(() => call(status, text));
        },
      },
    });
    this.journal?.recover(this.relay, nowMs);
    this.membership = new Membership({
      name: this.name,
      life: 1 + nowMs,
      width: 1,
      step: 1 + Math.floor(nowMs / STEP_MS),
    });
    this.peers = this.relay.joinCluster(this.membership).peers;
    this.node = this.world.network.node();
    this.node.subscribe('heartbeat', (bytes) => {
      assert.notEqual(this.membership.hear(decodeHeartbeat(bytes) as Heartbeat), 'superseded');
    });
    this.node.subscribe(this.name, (bytes, answer) => {
      const reply = this.peers.receive(bytes);
      this.#replies.push(() => answer?.(reply));
    });
  }

  /** Stops for good, as primary.ts does it. */
  leave(): void {
    this.leavingFor = HAND_OVER_TICKS;
    this.relay.drain();
    this.membership.leave();
    this.relay.handOver();
  }

  /** Ends when all is handed over, or when it takes too long. */
  stepLeaving(): void {
    if (this.leavingFor === 0 || (--this.leavingFor > 0 && !this.relay.isHandedOver)) return;
    this.world.stops += this.relay.isHandedOver ? 1 : 0;
    this.kill();
    this.downFor = 1 + this.world.pick(60);
  }

  /** SIGKILL: answers that were not sent are lost. */
  kill(): void {
    this.isAlive = false;
    this.world.handed += this.peers.counters.handed;
    void this.node.close();
    if (!this.world.isJournaled) this.world.forget(this);
  }

  ticket(call: (status: number, body: string) => void): number {
    this.#calls.set(++this.#tickets, call);
    return this.#tickets;
  }

  answer(ticket: number, status: number, body: string): void {
    const call = this.#calls.get(ticket);
    this.#calls.delete(ticket);
    if (call) this.#arrivals.push(() => call(status, body));
  }

  heartbeat(): void {
    const count = this.relay.torus.find('commons')?.count ?? 0;
    this.node.publish('heartbeat', encodeHeartbeat(this.membership.tick(count)));
  }

  /** As Master.endTurn() and Peering.flush(). The process may die in between. */
  endTurn(): void {
    this.relay.endTurn();
    this.journal?.commit();
    if (this.world.isFaulty && this.world.random() < 0.002) {
      this.kill();
      this.downFor = 1 + this.world.pick(60);
      return;
    }
    for (const arrive of this.#arrivals.splice(0)) arrive();
    this.peers.isConnected = this.node.isConnected;
    for (const reply of this.#replies.splice(0)) reply();
    const { life, peers, node } = this;
    for (const outgoing of peers.popOutgoing()) {
      node.ask(
        outgoing.peer,
        outgoing.frame,
        ANSWER_MS,
        (bytes) => {
          if (life === this.life && this.isAlive) peers.answered(outgoing, bytes);
        },
        (error) => {
          if (life === this.life && this.isAlive) peers.failed(outgoing, error instanceof NobodyThere);
        },
      );
    }
  }
}

class World {
  readonly random: () => number;
  readonly network: PretendNetwork;
  readonly isJournaled: boolean;
  readonly relays: SimulatedRelay[];
  readonly clients: Client[] = [];
  readonly accepted = new Set<string>();
  readonly refused = new Set<string>();
  readonly seen = new Map<string, number>();
  /** Sprites whose thrower was on a relay that forgot everything: nobody knows what became of them. */
  readonly unknown = new Set<string>();
  nowMs = 1_000;
  isFaulty = true;
  /** Sprites of the last batch of a client that can't know whether it was acknowledged: they may be shown twice. */
  readonly ambiguous = new Set<string>();
  deaths = 0;
  /** Relays that stopped for good and handed over all they had. */
  stops = 0;
  passed = 0;
  handed = 0;
  #sprites = 0;

  constructor(seed: number, isJournaled: boolean) {
    this.random = randomFrom(seed);
    this.isJournaled = isJournaled;
    this.network = new PretendNetwork(this.random);
    this.network.faults = { lost: this.random() * 0.1, repeated: this.random() * 0.3, delayMs: this.random() * 200 };
    this.relays = NAMES.map((name) => new SimulatedRelay(name, this));
    for (const relay of this.relays) for (let n = this.pick(6); n >= 0; n--) this.join(relay);
  }

  pick(end: number): number {
    return Math.floor(this.random() * end);
  }

  /** Removes the clients of a relay that has died without a journal. */
  forget(relay: SimulatedRelay): void {
    for (const client of this.clients.filter((one) => one.relay === relay)) {
      if (client.pending) this.unknown.add(client.pending.sprite);
      client.pending = undefined;
      if (!client.hasLeft) for (const sprite of client.lastBatch) this.ambiguous.add(sprite);
    }
    this.clients.splice(0, Number.POSITIVE_INFINITY, ...this.clients.filter((one) => one.relay !== relay));
  }

  join(relay: SimulatedRelay): void {
    if (relay.leavingFor > 0 || relay.relay.desktops.count >= 20) return;
    const token = new Uint32Array(4);
    const slot = relay.relay.join({ name: '' }, token, new Uint32Array(4));
    const identity = { slot, generation: relay.relay.desktops.generation(slot), token };
    this.clients.push(new Client(relay, identity));
  }

  tick(): void {
    this.nowMs += TICK_MS;
    this.network.advance(this.nowMs);
    for (const [index, relay] of this.relays.entries()) {
      if (!relay.isAlive) {
        if (--relay.downFor <= 0 || !this.isFaulty) {
          this.deaths++;
          relay.start();
        }
        continue;
      }
      if ((this.nowMs / TICK_MS + 2 * index) % (STEP_MS / TICK_MS) === 0) relay.heartbeat();
      relay.relay.advance(this.nowMs);
      if (this.isFaulty && this.random() < 0.005) relay.node.isConnected = !relay.node.isConnected;
      if (!this.isFaulty) relay.node.isConnected = true;
      if (this.isFaulty && this.random() < 0.02) this.join(relay);
      const othersRun = this.relays.every((other) => other === relay || (other.isAlive && other.leavingFor === 0));
      if (this.isFaulty && othersRun && relay.leavingFor === 0 && relay.peers.shared && this.random() < 0.002)
        relay.leave();
    }
    for (const client of [...this.clients]) if (client.relay.isAlive) this.act(client);
    for (const relay of this.relays) if (relay.isAlive) relay.endTurn();
    for (const relay of this.relays) if (relay.isAlive) relay.stepLeaving();
  }

  act(client: Client): void {
    const { relay, identity } = client;
    if (client.pending && (client.pending.sentIn !== relay.life || this.random() < 0.02))
      this.post(client, client.pending);
    if (client.hasLeft) return;
    // Slow clients: something waits when a relay stops.
    if (client.pollIn !== relay.life && (!this.isFaulty || this.random() < 0.2)) this.poll(client);
    if (!this.isFaulty) return;
    if (!client.pending && this.random() < 0.3) {
      const edge = EDGES[this.pick(4)];
      client.pending = { crossing: client.nextCrossing++, edge, sprite: `s${this.#sprites++}`, sentIn: 0, attempts: 0 };
      this.post(client, client.pending);
    }
    // It leaves with an empty mailbox, so that what it has seen is acknowledged; its last throw may be in doubt.
    const { desktops, mailboxes } = relay.relay;
    const isHere = desktops.isLive(identity.slot) && desktops.generation(identity.slot) === identity.generation;
    const isEmpty = isHere && mailboxes.count(identity.slot) === 0;
    if (isEmpty && this.random() < 0.01) {
      client.hasLeft = true;
      relay.relay.leave(identity.slot);
    }
  }

  post(client: Client, pending: Pending): void {
    const { relay, identity } = client;
    pending.sentIn = relay.life;
    const attempt = ++pending.attempts;
    const { crossing, edge, sprite } = pending;
    const checked = checkCrossing({ crossing, edge, at: 0.5, vx: 900, vy: 0, sprite: { file: FILE, name: sprite } });
    const passage = Buffer.from(checked.passage);
    const ticket = relay.ticket((status, body) => {
      if (client.pending !== pending || attempt !== pending.attempts) return;
      client.pending = undefined;
      if (status === 202) this.accepted.add(sprite);
      else this.refused.add(sprite);
      assert.ok(status === 202 || status === 410 || status >= 429 || client.hasLeft, body);
    });
    const response = relay.relay.accept(
      identity,
      crossing,
      checked.edge,
      passage,
      0,
      passage.length,
      undefined,
      ticket,
    );
    const { verdict, status, body, length } = response;
    if (verdict !== 'deferred') relay.answer(ticket, status, body.toString('utf8', 0, length));
  }

  poll(client: Client): void {
    const { relay, identity } = client;
    client.pollIn = relay.life;
    client.pollsSince++;
    const ticket = relay.ticket((status, body) => {
      client.pollIn = 0;
      if (client.hasLeft) return;
      if (status === 410) {
        this.end(client);
        return;
      }
      assert.equal(status, 200, body);
      const answer = JSON.parse(body);
      const cursor = { epoch: 0, seq: 0 };
      readCursor(answer.cursor, cursor);
      client.cursor = cursor.seq;
      const sprites = answer.events.filter(({ type }: { type: string }) => type === 'sprite');
      for (const { sprite } of sprites) this.seen.set(sprite.name, (this.seen.get(sprite.name) ?? 0) + 1);
      if (answer.events.some(({ type }: { type: string }) => type === 'bye')) return;
      client.lastBatch = sprites.map(({ sprite }: { sprite: { name: string } }) => sprite.name);
      client.batchIn = relay.life;
      client.pollsSince = 0;
    });
    relay.relay.poll(identity, ticket, relay.relay.epoch, client.cursor);
  }

  /** The relay has ended the desktop. Sprites that were never acknowledged have gone on to others; the client joins elsewhere. */
  end(client: Client): void {
    client.hasLeft = true;
    assert.ok(client.relay.leavingFor > 0 || this.deaths > 0, 'only a relay that stops ends a desktop');
    for (const sprite of client.lastBatch) {
      if (client.batchIn !== client.relay.life) this.ambiguous.add(sprite);
      else if (client.pollsSince === 1) this.unsee(sprite);
    }
    const others = this.relays.filter((one) => one.isAlive && one.leavingFor === 0);
    if (others.length > 0) this.join(others[this.pick(others.length)]);
  }

  unsee(sprite: string): void {
    const times = this.seen.get(sprite) as number;
    if (times === 1) this.seen.delete(sprite);
    else this.seen.set(sprite, times - 1);
  }

  get isSettled(): boolean {
    return (
      this.clients.every(({ pending }) => pending === undefined) &&
      this.relays.every(({ relay, peers, isAlive }) => isAlive && relay.waiting === 0 && peers.inDoubt === 0)
    );
  }

  run(): void {
    for (let tick = 0; tick < FAULTY_TICKS; tick++) this.tick();
    this.isFaulty = false;
    this.network.faults = { lost: 0, repeated: 0, delayMs: 20 };
    for (const relay of this.relays) if (relay.isAlive) this.join(relay);
    for (let tick = 0; tick < QUIET_TICKS_MAX && !this.isSettled; tick++) {
      this.tick();
      for (const relay of this.relays) if (relay.isAlive && relay.relay.desktops.count === 0) this.join(relay);
    }
    assert.ok(this.isSettled, 'everything heals by itself');
    const doubled = [...this.seen].filter(([sprite, times]) => times > (this.ambiguous.has(sprite) ? 2 : 1));
    assert.deepEqual(doubled, [], 'seen twice');
    for (const sprite of this.refused) assert.ok(!this.seen.has(sprite), `${sprite} was refused, and delivered`);
    let abandoned = 0;
    for (const { relay, peers } of this.relays) {
      const { accepted, acknowledged, abandoned: given } = relay.counters;
      assert.equal(accepted, acknowledged + given + relay.waiting);
      abandoned += given;
      this.passed += peers.counters.passed;
      this.handed += peers.counters.handed;
    }
    if (!this.isJournaled) return;
    assert.equal(abandoned, 0);
    const lost = [...this.accepted].filter((sprite) => !this.seen.has(sprite));
    assert.deepEqual(lost, [], 'lost');
    assert.equal(this.seen.size, this.accepted.size, 'from nowhere');
    const sum = (count: (relay: SimulatedRelay) => number) => this.relays.reduce((all, one) => all + count(one), 0);
    assert.equal(
      sum(({ relay }) => relay.counters.accepted),
      this.accepted.size + this.handed,
      'each relay has accepted what was handed on to it once more',
    );
    if (this.deaths === 0)
      assert.equal(
        sum((one) => one.peers.counters.received),
        sum((one) => one.peers.counters.passed),
      );
  }
}

function simulate(t: TestContext, isJournaled: boolean): void {
  const first = Number(process.env.SEED ?? Date.now() % 2 ** 31);
  let [deaths, stops, accepted, passed, handed, lost, repeated] = [0, 0, 0, 0, 0, 0, 0];
  for (let seed = first; seed < first + SEEDS; seed++) {
    const world = new World(seed, isJournaled);
    try {
      world.run();
    } catch (error) {
      throw new Error(`SEED=${seed}`, { cause: error });
    }
    deaths += world.deaths;
    stops += world.stops;
    handed += world.handed;
    accepted += world.accepted.size;
    passed += world.passed;
    lost += world.network.lost;
    repeated += world.network.repeated;
  }
  t.diagnostic(
    `SEED=${first}, ${SEEDS} histories: ${accepted} sprites, ${passed} over relays, ${deaths} deaths, ` +
      `${stops} stops, ${handed} handed on, ${lost} messages lost, ${repeated} repeated`,
  );
  assert.ok(deaths > 0 && stops > 0 && passed > 0 && handed > 0 && lost > 0 && repeated > 0, 'the faults happened');
}

describe('three relays on a bad network', () => {
  it('lose and double nothing when they die and come back with their journals', (t) => simulate(t, true));

  it('double nothing when they die and come back without memory', (t) => simulate(t, false));
});

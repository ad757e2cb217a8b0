/**
 * One relay of a simulated cluster, with its journal on a pretended disk: it starts, dies and goes back in time as the simulation says.
 *
 * The disk has an image of each turn, so a start can find the journal as it was at any of them. Clients ask its Master, through one link, and
 * private worlds have homes, as in a real relay. Only the network, the bucket, the disk and the clock are pretended.
 */
import type { Logger } from 'pino';
import { Homes } from '../cluster/homes.ts';
import { NobodyThere } from '../cluster/peer_network.ts';
import { GONE_AFTER_STEPS, Membership, STEP_MS } from '../domain/peers/membership.ts';
import type { Outgoing, Peers } from '../domain/peers/peers.ts';
import { Relay } from '../domain/relay.ts';
import type { Front } from '../front/front.ts';
import { Journal } from '../journal/journal.ts';
import type { Link } from '../processes/links.ts';
import { Master } from '../processes/master.ts';
import { Seats } from '../processes/seats.ts';
import { Turns } from '../processes/turns.ts';
import { GENERATION_KEY_BYTES } from '../wire/generations.ts';
import { decodeHeartbeat, encodeHeartbeat, type Heartbeat } from '../wire/peers/heartbeat.ts';
import type { PretendBucket, PretendStore } from './pretend_bucket.ts';
import { Death, type DiskImage, PretendDisk } from './pretend_disk.ts';
import type { Node, PretendNetwork } from './pretend_network.ts';

const ANSWER_MS = 300;
/** How long a relay hands over, in ms; what is left waits in its journal until it starts again. */
const HAND_OVER_MS = 3_000;
/** The time of day when a history begins, in ms. */
const TIME_OF_DAY_MS = 1e12;
/** How long a relay must have been gone before its private worlds move, in ms: as long as until it has left the view. */
export const GONE_MS = GONE_AFTER_STEPS * STEP_MS;
const ROOM = Buffer.alloc(1 << 17);
/** Requests come through a link; the front only lends memory for answers. */
const FRONT = { room: () => ROOM, roomAt: 0, flush: () => {} } as unknown as Front;
const silent = { warn() {}, info() {}, debug() {}, error() {} } as unknown as Logger;

/** What is around a relay. */
export interface Surroundings {
  readonly random: () => number;
  readonly nowMs: number;
  readonly network: PretendNetwork;
  /** Where relays claim private worlds. */
  readonly store: PretendStore;
  /** Without a journal, a relay that starts again has forgotten everything. */
  readonly isJournaled: boolean;
  /** A relay gives up a frame without verdicts, because the process that it was for has gone. */
  abandon(frame: Buffer): void;
  /** A process has died. */
  died(relay: SimulatedRelay): void;
}

const NOTHING_WRITTEN = { handed: 0, kept: 0 };

type Call = (status: number, body: string) => void;

export class SimulatedRelay {
  /** The process of the earlier life changes its name after another one has taken it over. */
  name: string;
  /** Clients find it by this. */
  readonly port: number;
  readonly #around: Surroundings;
  disk: PretendDisk | undefined;
  /** The disk after each turn, the oldest first. */
  #images: DiskImage[] = [];
  #imageFrames = 0;
  master!: Master;
  link = 0;
  relay!: Relay;
  journal: Journal | undefined;
  membership!: Membership;
  peers!: Peers;
  homes!: Homes;
  node!: Node;
  #bucket!: PretendBucket;
  starts = 0;
  isAlive = false;
  /** It dies in the next turn, after that was written and before its answers leave; then it is down for so long. */
  diesFor = 0;
  /** When it starts again, in ms. */
  upAtMs = 0;
  /** Whether it stops because another process has started under its name. */
  isSuperseded = false;
  /** Until when it hands over, in ms; 0 when it does not stop. */
  leavesUntilMs = 0;
  /** How far its clock is ahead of the others'. */
  clockOffsetMs = 0;
  /** The journal is this many turns older at the next start. */
  turnsBack = 0;
  /** What this life has counted by the end of its last turn that was written. The verdicts of a later one come again in the next life. */
  written = NOTHING_WRITTEN;
  #epoch = 0;
  #tickets = 0;
  #calls = new Map<number, Call>();
  #arrivals: (() => void)[] = [];
  #replies: (() => void)[] = [];

  constructor(name: string, port: number, around: Surroundings) {
    this.name = name;
    this.port = port;
    this.#around = around;
  }

  /** Whether the journal of the next start lacks something that this one has told. */
  get goesBack(): boolean {
    return this.turnsBack > 0 || this.journal?.isBehind === true;
  }

  /** How many turns its journal can go back. */
  get turns(): number {
    return this.#images.length;
  }

  start(): void {
    const { nowMs, isJournaled, network, random } = this.#around;
    this.isAlive = true;
    this.leavesUntilMs = 0;
    this.starts++;
    this.written = NOTHING_WRITTEN;
    this.#calls = new Map();
    this.#arrivals = [];
    this.#replies = [];
    if (this.#epoch === 0 || !isJournaled) this.#epoch = 1 + Math.floor(random() * 1e9);
    const state = { epoch: this.#epoch, generationKey: Buffer.alloc(GENERATION_KEY_BYTES, this.#epoch % 251) };
    const turns = this.#makeTurns(state);
    this.relay = turns.relay;
    if (isJournaled) this.#recover(state);
    const timeOfDayMs = TIME_OF_DAY_MS + nowMs + this.clockOffsetMs;
    const [life, step] = [this.relay.beginLife(timeOfDayMs), Math.floor(timeOfDayMs / STEP_MS)];
    this.membership = new Membership({ name: this.name, life, width: 1, step });
    this.peers = this.relay.joinCluster(this.membership).peers;
    this.node = network.node();
    this.node.subscribe('heartbeat', (bytes) => {
      const heard = this.membership.hear(decodeHeartbeat(bytes) as Heartbeat);
      if (heard === 'superseded') this.#stopSuperseded();
    });
    this.node.subscribe(`${this.name}.${life}`, (bytes, answer) => {
      const reply = this.peers.receive(bytes);
      this.#replies.push(() => answer?.(reply));
    });
    const seats = new Seats(this.relay, undefined, this.name);
    this.#openHomes(turns, seats);
    this.master = new Master({ turns, seats, homes: this.homes });
  }

  /** What belongs to an earlier start may still be called: the process has gone, so nothing of it arrives. */
  #makeTurns(state: { epoch: number; generationKey: Buffer }): Turns {
    const { random, nowMs } = this.#around;
    const { starts } = this;
    const isSame = () => starts === this.starts && this.isAlive;
    const committing = {
      commit: () => {
        if (isSame()) this.#commit();
      },
    };
    const turns = new Turns(
      (answers) =>
        new Relay({
          ...state,
          // Small, because each history makes a dozen of them.
          ...{ slots: 24, slabBytes: 0, slabPageBytes: 64 << 10, endedMax: 64, mailboxEventsMax: 12 },
          ...{ nowMs, random, peeks: { watchedMax: 24 } },
          randomize: (words) => {
            for (let at = 0; at < words.length; at++) words[at] = random() * 2 ** 32;
          },
          answers,
        }),
      committing,
    );
    turns.links.addFront(FRONT);
    this.link = turns.links.add({
      answer: (request, { status, body, start, end }) => {
        if (isSame()) this.#answer(request, status, Buffer.from(body.subarray(start, end)).toString());
      },
      ...{ hasRoom: () => true, hasRoomForSayings: () => true },
      flush: () => {
        if (isSame()) for (const arrive of this.#arrivals.splice(0)) arrive();
      },
    } as Link);
    const { peers, replies } = { peers: () => this.peers, replies: () => this.#replies };
    turns.addSender({
      get hasToSend() {
        return isSame() && (replies().length > 0 || peers().hasOutgoing);
      },
      flush: () => {
        if (isSame()) this.#flush();
      },
    });
    return turns;
  }

  #openHomes(turns: Turns, seats: Seats): void {
    const { name, membership, node, port, relay } = this;
    this.#bucket = this.#around.store.bucket();
    this.homes = new Homes({
      ...{ name, turns, seats, membership, network: node, bucket: this.#bucket, log: silent, machine: 'one' },
      ...{ goneMs: GONE_MS, clock: () => this.#around.nowMs },
    });
    this.homes.open({
      addresses: { apiPort: port, eventsPort: port },
      end: (slots, detail) => {
        for (const slot of slots) relay.leave(slot, detail);
      },
    });
  }

  /** Whether it reaches NATS. */
  get isConnected(): boolean {
    return this.node.isConnected;
  }

  /** It loses NATS, with the claims of private worlds, or has it back. */
  connect(isConnected: boolean): void {
    this.node.isConnected = isConnected;
    this.reachClaims(isConnected);
  }

  /** The claims of private worlds are out of reach, or back. */
  reachClaims(isReachable: boolean): void {
    if (!isReachable) this.#bucket.cut();
    else if (!this.#bucket.isConnected) this.#bucket.connect();
  }

  get reachesClaims(): boolean {
    return this.#bucket.isConnected;
  }

  #recover(state: { epoch: number; generationKey: Buffer }): void {
    this.disk ??= new PretendDisk(this.#around.random);
    if (this.turnsBack > 0) {
      this.#images.length -= Math.min(this.turnsBack, this.#images.length - 1);
      this.disk.goBack(this.#images.at(-1) as DiskImage);
      this.turnsBack = 0;
    } else this.disk.restart(false);
    this.journal = new Journal(this.disk, {
      ...state,
      ...{ durability: 'process', segmentBytes: 3_000, sizeBytesMin: 12_000, reserveBytes: 1_500 },
      // The process ends.
      fail: () => {
        throw new Death();
      },
    });
    this.journal.recover(this.relay, this.#around.nowMs);
    this.#imageFrames = 0;
  }

  #stopSuperseded(): void {
    this.isSuperseded = true;
    if (this.leavesUntilMs === 0) this.leave();
  }

  /** Stops for good, as primary.ts does it. */
  leave(): void {
    this.leavesUntilMs = this.#around.nowMs + HAND_OVER_MS;
    this.relay.drain();
    this.membership.leave();
    this.relay.ending.begin();
    if (!this.isSuperseded) void this.homes.giveUp();
  }

  /** Whether a relay that stops has handed all over, or has no time left. */
  get isOver(): boolean {
    return this.leavesUntilMs > 0 && (this.#around.nowMs >= this.leavesUntilMs || this.relay.ending.isOver);
  }

  /** SIGKILL: answers that were not sent are lost. */
  kill(forMs: number): void {
    this.isAlive = false;
    this.diesFor = 0;
    this.upAtMs = this.#around.nowMs + forMs;
    void this.node.close();
    this.#bucket.cut();
    this.#around.died(this);
  }

  /** A request: `call` gets its answer at the end of the turn in which it is answered. */
  ticket(call: Call): number {
    this.#calls.set(++this.#tickets, call);
    return this.#tickets;
  }

  #answer(ticket: number, status: number, body: string): void {
    const call = this.#calls.get(ticket);
    this.#calls.delete(ticket);
    if (call) this.#arrivals.push(() => call(status, body));
  }

  advance(): void {
    this.journal?.tick(this.#around.nowMs);
    this.relay.advance(this.#around.nowMs);
  }

  heartbeat(): void {
    const count = this.relay.torus.find('commons')?.count ?? 0;
    this.node.publish('heartbeat', encodeHeartbeat(this.membership.tick(count)));
  }

  /** As Turns.advance(). The process may die in between. */
  endTurn(): void {
    this.master.turns.end();
    this.master.turns.commit();
  }

  #commit(): void {
    try {
      this.journal?.commit();
    } catch (error) {
      if (!(error instanceof Death)) throw error;
      this.kill(1);
      return;
    }
    const { handed, kept } = this.peers.counters;
    this.written = { handed, kept };
    if (this.journal && this.journal.frames !== this.#imageFrames) {
      this.#imageFrames = this.journal.frames;
      this.#images.push((this.disk as PretendDisk).image());
    }
    if (this.diesFor > 0) this.kill(this.diesFor);
  }

  /** As Peering.flush(). */
  #flush(): void {
    this.peers.isConnected = this.node.isConnected;
    for (const reply of this.#replies.splice(0)) reply();
    for (const outgoing of this.peers.popOutgoing()) this.#send(outgoing);
  }

  /** As Peering does it. */
  #send(outgoing: Outgoing): void {
    const { starts, peers, node, membership } = this;
    const isSame = () => starts === this.starts && this.isAlive;
    outgoing.life ??= membership.lifeOf(outgoing.peer);
    if (outgoing.life === undefined) {
      peers.failed(outgoing, false);
      return;
    }
    node.ask(
      `${outgoing.peer}.${outgoing.life}`,
      outgoing.frame,
      ANSWER_MS,
      (bytes) => {
        if (!isSame()) return;
        const { abandoned } = peers.counters;
        peers.answered(outgoing, bytes);
        if (peers.counters.abandoned > abandoned) this.#around.abandon(outgoing.frame);
      },
      (error) => {
        if (!isSame()) return;
        const isNobodyThere = error instanceof NobodyThere;
        if (isNobodyThere && peers.isReplaced(outgoing)) this.#send(outgoing);
        else peers.failed(outgoing, isNobodyThere);
      },
    );
  }
}

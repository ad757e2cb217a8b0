/**
 * Peers: the other relays of a cluster, and the crossings that go to them and come from them.
 *
 * A crossing to another relay does not get its verdict at once. It is added to the frame that this turn sends to that relay, and its
 * thrower is answered when the verdict arrives. When there is no answer, the same frame is sent again under the same number, until the
 * other relay answers: it may have accepted the sprites, so nothing is guessed. Crossings in a frame that certainly never arrived are
 * refused, and so are those to a relay that is not reachable: their sprites bounce.
 * A frame never counts as delivered because its number looks old to the receiver. One that was sent once is numbered anew and sent again. One
 * that was in doubt was settled before the journal of this relay went back in time: its throwers were answered then, and what waits in a
 * mailbox still waits.
 * A throw does not wait for a silent relay. After CUSTODY_MS it is answered as accepted, and its sprite is in the custody of this relay: in the
 * frame, which is in the journal. If the frame is refused after that, the relay sends the sprite on itself.
 * The receiver counts a crossing as accepted, so that in each relay accepted = acknowledged + waiting + abandoned.
 * Sprites that wait here for no desktop are handed on in the same frames (hand_over.ts).
 * What can't be written down is not handed on: while the journal has no room, nothing new is sent, taken, or given back to its thrower.
 * A relay never passes a crossing of a peer on to a third one, so a sprite can't go in circles. When its place has gone, the last desktop gets it.
 * Invariant: each crossing that was sent gets one verdict; each frame is delivered at most once.
 * Limits: FRAMES_IN_FLIGHT_MAX frames for each peer; NAMES_MAX names of desktops at peers.
 * Cost: O(1) for a crossing, and one object. It has neither a clock nor a network: advance() sets the time, and the caller pops the frames.
 */

import { blankIdentity, readId } from '../../wire/identity.ts';
import type { Passage, ThrownPassage } from '../../wire/passage.ts';
import {
  fitted,
  type MovedWorld,
  numbered,
  originOfEvent,
  PEER_EVENT_BYTES_LEAST,
  PEER_RECORDS_MAX,
  type PeerAnswer,
  type PeerFrame,
  PeerFrameWriter,
  PeerKind,
  type PeerRecord,
  PeerStatus,
  PeerVerdict,
  readPeerAnswer,
  readPeerFrame,
  readPeerRecords,
  type WaitingSprite,
  writePeerAnswer,
} from '../../wire/peers/peer_frame.ts';
import { CROSSINGS_REMEMBERED, type EdgeNumber } from '../../wire/rules.ts';
import { beyond, reroute } from '../state/cluster_torus.ts';
import type { ClusterPlace, ClusterView } from '../state/cluster_view.ts';
import type { Facts } from '../state/facts.ts';
import { REMOTE_WATCHES_MAX, SMALL_WORLD_MAX } from '../state/limits.ts';
import { placeBeyond, REMOTE, type Routing, type World } from '../state/torus.ts';
import { FileSenders } from './file_senders.ts';
import { keepNewest } from './keep_newest.ts';
import type { Membership } from './membership.ts';
import { ABANDONED, isPassed, keyOfThrow, type PeerMemory, SETTLED_BEFORE, type SentFrame } from './peer_memory.ts';

/** Names of desktops at other relays that are kept: four times as many as border a relay in a world of a million desktops. */
export const NAMES_MAX = 4 * REMOTE_WATCHES_MAX;

/** How long a name is used before it is requested again, and how long after a request that got lost, in ms. */
export const NAME_FRESH_MS = 1_000;

/** Desktops that wait for the same name. On the torus a place has four neighbours. */
export const NAME_HEARERS_MAX = 4;

/**
 * Requests that wait for one verdict. An honest client has one whose connection is open. A further one replaces the oldest, so that
 * repeats do not use up the requests that a worker may have.
 */
export const REQUESTS_WAITING_MAX = 4;

/** Crossings that are gathered for one peer at most: there is still room for those of a long turn. */
export const GATHERED_MAX = PEER_RECORDS_MAX / 4;

/** How long to wait before a frame that got no answer is sent again, in ms. */
const RETRY_MS = 250;

/**
 * How long a throw waits for the verdict of another relay before this relay takes its sprite into custody, in ms: eight times RETRY_MS. A relay
 * that is there answers within some milliseconds, and somebody who waits for longer takes the program for stuck.
 */
export const CUSTODY_MS = 2_000;

/** How often a relay whose epoch is unknown is asked for it, in ms. */
const HELLO_MS = 250;

/** Where the id of the thrower begins in an event, `"from":{"desktop":"`, and its longest text with the quote after it. */
const FROM_BYTES = 19;
const ID_BYTES_MAX = 16;

/** What the relay does for its peers. */
export interface PeerHost {
  /** Puts the sprite of a peer's desktop into the mailbox of the desktop at a place, or refuses it. */
  receive(record: PeerRecord): number;
  /** The desktop at a place of the default world, as JSON; undefined when there is none. `receive`: the one that the last receive() named. */
  referenceAt(place: number | 'received'): Buffer | undefined;
  /** A crossing of a desktop got its verdict. */
  settle(slot: number, generation: number, crossing: number, verdict: number): void;
  /** Answers the requests that wait for a verdict. `reference`: the desktop that got the sprite, if that is known. */
  answer(tickets: readonly number[], verdict: number, reference: Buffer | undefined): void;
  /** A sprite in custody was refused: it goes on from here. */
  sendOn(record: PeerRecord): void;
  /** A sprite that was handed on got its verdict. */
  settleWaiting(sprite: WaitingSprite, verdict: number): void;
  /** A request that waits for a verdict is replaced by a newer one for the same crossing. */
  refuse(ticket: number): void;
  /** The name of a neighbour of `slot` is known now; it was missing or wrong. */
  nameArrived(slot: number): void;
  /** The neighbours in the default world have changed, because of another relay. */
  neighboursChanged(): void;
}

/** A crossing that has no verdict yet. */
interface Throw {
  readonly slot: number;
  readonly generation: number;
  readonly crossing: number;
  /** The requests that wait for the verdict: the first one, and repeats. */
  readonly tickets: number[];
  /** Whether its sprite is in custody: then nobody waits for the verdict. */
  isKept: boolean;
}

/** What is sent to a peer and answered by it. */
export interface Outgoing {
  readonly peer: string;
  /**
   * The life of the receiver that it goes to: the one that has the epoch it is for. When a relay has taken over the name of another one, only
   * that one knows what became of the frame. Undefined: the newest, because an earlier start of this relay has left it.
   */
  life: number | undefined;
  /** The start of this relay that has numbered it. */
  readonly incarnation: string;
  /** 0 for a frame that changes nothing. */
  readonly number: number;
  readonly frame: Buffer;
  /** Places whose names it asks for. */
  readonly places: readonly number[];
}

/** A frame that was sent and has no verdicts yet. */
interface PendingFrame extends Outgoing {
  /** Whether it may have arrived already: it was sent before, and there was no answer. */
  isInDoubt: boolean;
  isAwaited: boolean;
  dueMs: number;
  /** When its sprites are taken into custody. */
  keepMs: number;
  readonly passed: Passed[];
}

/** What a record of a frame is for its sender. */
type Passed = Throw | WaitingSprite;

interface Peer {
  readonly name: string;
  /** 0 while it is not known. */
  epoch: number;
  /** The life that has this epoch; undefined while that is not known. */
  life: number | undefined;
  /** The longest event that this life takes. */
  eventBytesMax: number;
  writer: PeerFrameWriter | undefined;
  /** The life that its frame is for, and the records that it has. */
  writerLife: number | undefined;
  passed: Passed[];
  readonly pending: Set<PendingFrame>;
  helloDueMs: number;
  isGreeted: boolean;
  readonly places: Set<number>;
  /** Places whose names did not come, in the order in which that was noticed. */
  readonly missed: Set<number>;
  readonly traffic: PeerTraffic;
}

interface Name {
  reference: Buffer | undefined;
  askedMs: number;
  readonly hearers: number[];
}

/** Counts since the start, for one peer. */
export interface PeerTraffic {
  /** Frames sent to it, those sent again included. */
  frames: number;
  /** Crossings that it has accepted, and sprites that were handed on to it. */
  passed: number;
  /** Crossings of it that were accepted here. */
  received: number;
  /** Answers to frames with crossings, and the time until each came, in ms. */
  verdicts: number;
  verdictMs: number;
}

const NO_TRAFFIC: Readonly<PeerTraffic> = { frames: 0, passed: 0, received: 0, verdicts: 0, verdictMs: 0 };

interface PeersOptions {
  epoch: number;
  membership: Membership;
  /** Has the incarnations of this start, and the frames of earlier ones, which may have arrived. */
  memory: PeerMemory;
  host: PeerHost;
  facts: () => Facts | undefined;
  nowMs: number;
}

export class Peers implements Routing {
  /** Counts since the start. */
  readonly counters = {
    /** Frames sent, those sent again included. */
    frames: 0,
    /** Frames sent again. */
    repeats: 0,
    /** Crossings that peers have accepted. */
    passed: 0,
    /** Sprites from mailboxes of this relay that peers have accepted. */
    handed: 0,
    /** Sprites that were taken into custody, because their verdict was missing for CUSTODY_MS. */
    kept: 0,
    /** Crossings of peers that were accepted here. */
    received: 0,
    /** Crossings that peers have refused, and those that were not sent because the relay is not reachable. */
    refused: 0,
    /** Crossings whose receiver lost its memory before its verdict was known here. They count as accepted and abandoned. */
    abandoned: 0,
    /** Messages of peers that were not understood. */
    malformed: 0,
  };
  readonly membership: Membership;
  readonly files = new FileSenders();
  readonly #epoch: number;
  readonly #memory: PeerMemory;
  readonly #host: PeerHost;
  readonly #facts: () => Facts | undefined;
  readonly #peers = new Map<string, Peer>();
  readonly #names = new Map<string, Name>();
  /** Crossings without a verdict, by slot. */
  readonly #throwsOf = new Map<number, Throw[]>();
  /** How many sprites of each mailbox are being handed on. */
  readonly #handing = new Map<number, number>();
  readonly #thrower = blankIdentity();
  readonly #to: ClusterPlace = { relay: 0, place: 0 };
  #outgoing: Outgoing[] = [];
  #nowMs: number;
  #digest = 0;
  /** Whether messages can be sent at all. */
  isConnected = false;
  /** Whether the crossings of several turns are gathered in one frame for each peer. The caller resets it soon. */
  isGathering = false;

  constructor({ epoch, membership, memory, host, facts, nowMs }: PeersOptions) {
    this.#epoch = epoch;
    this.membership = membership;
    this.#memory = memory;
    this.#host = host;
    this.#facts = facts;
    this.#nowMs = nowMs;
    for (const [name, { frames }] of memory.sent) {
      for (const frame of frames.values()) this.#continueWith(this.#peer(name), frame);
    }
  }

  /** Goes on with a frame of an earlier start: it may have arrived. */
  #continueWith(peer: Peer, { incarnation, number, bytes: frame }: SentFrame): void {
    const read = readPeerFrame(frame) as PeerFrame;
    peer.epoch = read.to;
    const passed: Passed[] = [];
    readPeerRecords(read, ({ slot, generation, crossing, waiting }) => {
      if (crossing === 0) passed.push(this.#addHanding({ ...waiting }));
      else if (this.#memory.custody.has(keyOfThrow({ slot, generation, crossing })))
        passed.push({ slot, generation, crossing, tickets: [], isKept: true });
      else passed.push(this.#addThrow(slot, generation, crossing));
    });
    const [isInDoubt, isAwaited, dueMs, keepMs] = [true, false, this.#nowMs, this.#nowMs + CUSTODY_MS];
    const outgoing = { peer: peer.name, life: undefined, incarnation, number, frame, places: [] };
    peer.pending.add({ ...outgoing, isInDoubt, isAwaited, dueMs, keepMs, passed });
  }

  /** Crossings without a verdict. */
  get inDoubt(): number {
    let sum = 0;
    for (const peer of this.#peers.values()) sum += this.#inDoubtAt(peer);
    return sum;
  }

  inDoubtAt(name: string): number {
    const peer = this.#peers.get(name);
    return peer === undefined ? 0 : this.#inDoubtAt(peer);
  }

  /** What goes to a relay and comes from it. */
  trafficOf(name: string): Readonly<PeerTraffic> {
    return this.#peers.get(name)?.traffic ?? NO_TRAFFIC;
  }

  /** A relay has answered a frame with crossings after this time. */
  noteVerdict(name: string, ms: number): void {
    const { traffic } = this.#peer(name);
    traffic.verdicts++;
    traffic.verdictMs += ms;
  }

  #inDoubtAt(peer: Peer): number {
    let sum = peer.passed.length;
    for (const { passed } of peer.pending) sum += passed.length;
    return sum;
  }

  /** The slot beyond an edge of a place of the default world; REMOTE when that is at another relay, which pass() and reference() then use. */
  beyond(world: World, place: number, edge: EdgeNumber): number {
    const view = this.shared;
    // The view is some steps old. A relay that has all desktops of the world does not need it.
    if (view === undefined) return world.slots[placeBeyond(place, edge, world.count, world.width)];
    const to = beyond(view, view.self, place, edge, this.#to);
    if (to.relay === view.self) reroute(view, view.self, world.count, to.place, to);
    return to.relay === view.self ? world.slots[to.place] : REMOTE;
  }

  get remotePlace(): Readonly<ClusterPlace> {
    return this.#to;
  }

  get shared(): ClusterView | undefined {
    const { view } = this.membership;
    return view.bases[view.counts.length] === view.counts[view.self] ? undefined : view;
  }

  /** Whether what is decided now can be written down, so that no later life of this relay decides otherwise. */
  get #hasJournal(): boolean {
    return this.#facts()?.hasRoom !== false;
  }

  /** Whether sprites may leave now. */
  get maySend(): boolean {
    return this.isConnected && this.#hasJournal;
  }

  /** Whether something may be sent to a relay of the present view now. */
  isReachable(relay: number): boolean {
    return this.isConnected && this.membership.isReachable(relay);
  }

  /** Whether a desktop has a crossing without a verdict. */
  isThrowing(slot: number, generation: number): boolean {
    return this.#throwsOf.get(slot)?.some((one) => one.generation === generation) ?? false;
  }

  /** Adds a request to those that wait for the verdict on a crossing. Returns false when the crossing does not wait for one. */
  await(slot: number, generation: number, crossing: number, ticket: number): boolean {
    const found = this.#throwsOf.get(slot)?.find((one) => one.generation === generation && one.crossing === crossing);
    if (found === undefined) return false;
    if (found.tickets.length === REQUESTS_WAITING_MAX) this.#host.refuse(found.tickets.shift() as number);
    found.tickets.push(ticket);
    return true;
  }

  /**
   * Compares a crossing with those of its desktop that have no verdict yet: 'ahead' would push one of them out of what is remembered, and
   * 'stale' would itself be pushed out by one of them.
   */
  compare(slot: number, generation: number, crossing: number): 'ahead' | 'stale' | 'near' {
    const throws = this.#throwsOf.get(slot);
    if (throws === undefined) return 'near';
    for (const one of throws) {
      if (one.generation !== generation) continue;
      if (crossing - one.crossing >= CROSSINGS_REMEMBERED) return 'ahead';
      if (one.crossing - crossing > CROSSINGS_REMEMBERED) return 'stale';
    }
    return 'near';
  }

  /**
   * Sends a crossing to the relay that the last beyond() found. `ticket`: the request that waits for the verdict. Returns false when that
   * relay is not reachable, or has too many frames in flight; then nothing has changed.
   */
  pass(passage: Readonly<ThrownPassage>, ticket: number): boolean {
    const { relay, place } = this.#to;
    const peer = this.#peer(this.membership.view.names[relay]);
    if (!this.isReachable(relay) || peer.epoch === 0 || !this.#hasRoom(peer)) {
      this.counters.refused++;
      return false;
    }
    this.#writer(peer).crossing(place, fitted(passage, this.#eventBytesMax(peer)));
    const one = this.#addThrow(passage.slot, passage.generation, passage.crossing);
    one.tickets.push(ticket);
    peer.passed.push(one);
    return true;
  }

  /**
   * Hands a sprite that waits here on to a place of another relay of the present view. `event`: whole in its body. `moved`: the place is one of
   * that private world. Returns false as pass() does.
   */
  handOn(
    { relay, place }: Readonly<ClusterPlace>,
    sprite: WaitingSprite & { moved?: MovedWorld },
    event: Readonly<Passage>,
  ): boolean {
    const peer = this.#peer(this.membership.view.names[relay]);
    if (!this.maySend || !this.isReachable(relay) || peer.epoch === 0 || !this.#hasRoom(peer)) return false;
    const thrower = this.#thrower;
    // The event begins with its thrower, whom the receiver may mute.
    const from = event.start + FROM_BYTES;
    const id = event.body.toString('latin1', from, Math.min(event.end, from + ID_BYTES_MAX));
    if (!readId(id, thrower, 0, id.indexOf('"'))) thrower.generation = 0;
    this.#writer(peer).waiting(place, thrower, sprite, fitted(event, this.#eventBytesMax(peer)));
    peer.passed.push(this.#addHanding(sprite));
    return true;
  }

  /** Whether sprites of a mailbox are being handed on. */
  isHanding(slot: number): boolean {
    return this.#handing.has(slot);
  }

  /** The mailboxes whose sprites are being handed on. */
  handingSlots(): IterableIterator<number> {
    return this.#handing.keys();
  }

  #writer(peer: Peer): PeerFrameWriter {
    if (peer.writer === undefined) {
      peer.writer = this.#newWriter(peer, peer.epoch);
      peer.writerLife = peer.life;
    }
    return peer.writer;
  }

  #newWriter(peer: Peer, to: number): PeerFrameWriter {
    const { incarnation } = this.#memory.sentTo(peer.name);
    return new PeerFrameWriter({ sender: this.membership.name, epoch: this.#epoch, to, incarnation });
  }

  /** The longest event for a peer. One that has started again may have another version now. */
  #eventBytesMax({ name, life, eventBytesMax }: Peer): number {
    return life === this.membership.lifeOf(name) ? eventBytesMax : PEER_EVENT_BYTES_LEAST;
  }

  #hasRoom(peer: Peer): boolean {
    return peer.writer === undefined ? this.#memory.hasRoom(peer.name) : peer.writer.hasRoom;
  }

  /**
   * The name of the desktop that the last beyond() found, as JSON: the newest known, or undefined. If it is missing or old, it is
   * requested, and PeerHost.nameArrived(slot) is called when it has come and is new.
   */
  reference(slot: number): Buffer | undefined {
    const { relay, place } = this.#to;
    const peer = this.#peer(this.membership.view.names[relay]);
    const key = `${peer.name}:${place}`;
    let name = this.#names.get(key);
    if (name === undefined) {
      name = { reference: undefined, askedMs: Number.NEGATIVE_INFINITY, hearers: [] };
      this.#names.set(key, name);
      keepNewest(this.#names, NAMES_MAX);
    }
    const { hearers } = name;
    const isOld = this.#nowMs - name.askedMs >= NAME_FRESH_MS;
    if (isOld) peer.places.add(place);
    // While others wait for the answer, it has not come.
    const mustWait = isOld || hearers.length > 0;
    if (mustWait && hearers.length < NAME_HEARERS_MAX && !hearers.includes(slot)) hearers.push(slot);
    return name.reference;
  }

  /**
   * Ends a turn: puts its crossings to peers into frames, unless they are gathered. The frames may leave when all facts so far have been
   * written.
   */
  endTurn(): void {
    for (const peer of this.#peers.values()) {
      const { writer } = peer;
      if (writer === undefined) continue;
      if (!this.#hasJournal) {
        this.#refuseGathered(peer);
        continue;
      }
      if (this.isGathering && writer.count < GATHERED_MAX) continue;
      const number = this.#memory.sentTo(peer.name).lastNumber + 1;
      const frame = writer.finish(number, this.#memory.earlierTo(peer.name));
      const { passed } = peer;
      peer.writer = undefined;
      peer.passed = [];
      this.#sendFirst(peer, peer.writerLife, number, frame, passed);
    }
  }

  /** Refuses what was gathered for a peer, and is not in a frame yet. */
  #refuseGathered(peer: Peer): void {
    const { passed } = peer;
    peer.writer = undefined;
    peer.passed = [];
    this.#decide(peer, passed, new Uint8Array(passed.length).fill(PeerVerdict.journalFull), NO_REFERENCES);
  }

  /** Sends a frame of this start for the first time. */
  #sendFirst(peer: Peer, life: number | undefined, number: number, frame: Buffer, passed: Passed[]): void {
    const { incarnation } = this.#memory.sentTo(peer.name);
    this.#memory.addFrame(peer.name, { incarnation, number, bytes: frame });
    this.#facts()?.peerFrame(peer.name, number, frame);
    const [isInDoubt, isAwaited, dueMs, keepMs] = [false, true, 0, this.#nowMs + CUSTODY_MS];
    const outgoing = { peer: peer.name, life, incarnation, number, frame, places: [] };
    const pending = { ...outgoing, isInDoubt, isAwaited, dueMs, keepMs, passed };
    peer.pending.add(pending);
    this.#send(peer, pending);
  }

  get hasOutgoing(): boolean {
    return this.#outgoing.length > 0;
  }

  /** Returns the frames to send, and removes them here. The caller passes the answer of each to answered(), or calls failed(). */
  popOutgoing(): readonly Outgoing[] {
    if (this.#outgoing.length === 0) return NONE;
    const outgoing = this.#outgoing;
    this.#outgoing = [];
    return outgoing;
  }

  /** Sets the time: sends frames again that have no answer, asks new relays for their epoch, and requests names. */
  advance(nowMs: number): void {
    this.#nowMs = nowMs;
    const { view } = this.membership;
    if (view.digest !== this.#digest) {
      this.#digest = view.digest;
      if (view.bases[view.counts.length] <= SMALL_WORLD_MAX) this.#host.neighboursChanged();
    }
    if (this.#hasJournal) this.#keepDue();
    if (!this.isConnected) return;
    for (const [relay, name] of view.names.entries()) {
      if (relay === view.self || !this.membership.isReachable(relay)) continue;
      const peer = this.#peer(name);
      this.#retryNames(peer, view.counts[relay]);
      const isNew = peer.epoch === 0 || !peer.isGreeted || peer.life !== this.membership.lifeOf(name);
      if ((isNew && nowMs >= peer.helloDueMs) || peer.places.size > 0) this.#ask(peer);
    }
    for (const peer of this.#peers.values()) {
      for (const pending of peer.pending) {
        if (pending.isAwaited || nowMs < pending.dueMs) continue;
        pending.isAwaited = true;
        this.counters.repeats++;
        this.#send(peer, pending);
      }
    }
  }

  /** Takes the sprites of frames into custody that have waited for long enough, and then answers their throwers. */
  #keepDue(): void {
    const kept: Throw[] = [];
    for (const peer of this.#peers.values()) {
      for (const pending of peer.pending) {
        if (this.#nowMs < pending.keepMs) continue;
        pending.keepMs = Number.POSITIVE_INFINITY;
        for (const one of pending.passed) if (!('arrived' in one) && !one.isKept) kept.push(one);
      }
    }
    for (const one of kept) {
      one.isKept = true;
      this.counters.kept++;
      this.#removeThrow(one);
      this.#host.settle(one.slot, one.generation, one.crossing, PeerVerdict.accepted);
      this.#addCustody(one);
    }
    for (const { tickets } of kept) this.#host.answer(tickets.splice(0), PeerVerdict.accepted, undefined);
  }

  #addCustody(one: Throw): void {
    this.#memory.custody.add(keyOfThrow(one));
    this.#facts()?.custody(one.slot, one.generation, one.crossing);
  }

  /** Sprites in custody: accepted by this relay, but counted by the one that gets them. */
  get inCustody(): number {
    return this.#memory.custody.size;
  }

  /** Requests names again that did not come, if desktops still wait for them and the peer, by the view, still has their places. */
  #retryNames(peer: Peer, count: number): void {
    for (const place of peer.missed) {
      const name = this.#names.get(`${peer.name}:${place}`);
      if (name !== undefined && this.#nowMs - name.askedMs < NAME_FRESH_MS) return;
      peer.missed.delete(place);
      if (name !== undefined && name.hearers.length > 0 && place < count) peer.places.add(place);
    }
  }

  /** Asks a peer for its epoch, and for the names that are missing. */
  #ask(peer: Peer): void {
    peer.helloDueMs = this.#nowMs + HELLO_MS;
    const writer = this.#newWriter(peer, 0);
    const places: number[] = [];
    for (const place of peer.places) {
      if (!writer.hasRoom) break;
      peer.places.delete(place);
      places.push(place);
      writer.name(place);
      const name = this.#names.get(`${peer.name}:${place}`);
      if (name !== undefined) name.askedMs = this.#nowMs;
    }
    const { incarnation } = this.#memory.sentTo(peer.name);
    const life = this.membership.lifeOf(peer.name);
    this.#send(peer, { peer: peer.name, life, incarnation, number: 0, frame: writer.finish(0), places });
  }

  #send(peer: Peer, outgoing: Outgoing): void {
    this.counters.frames++;
    peer.traffic.frames++;
    this.#outgoing.push(outgoing);
  }

  /** A message of a peer. Returns the answer, which may leave when all facts so far have been written. */
  receive(message: Uint8Array): Buffer {
    const frame = readPeerFrame(message);
    if (typeof frame === 'string') {
      this.counters.malformed++;
      return this.#answer(frame === 'version' ? PeerStatus.version : PeerStatus.malformed, 0);
    }
    const { sender, number } = frame;
    if (frame.to !== this.#epoch && (frame.to !== 0 || number !== 0))
      return this.#answer(PeerStatus.otherEpoch, number);
    if (number === 0) return this.#answerNames(frame);
    const known = this.#memory.verdictsOn(frame);
    if (known === 'stale') return this.#answer(PeerStatus.stale, number);
    if (known !== undefined) return this.#answer(PeerStatus.done, number, known);
    if (!this.#hasJournal) {
      // The sender may refuse its crossings now, so a copy of the frame that comes later must not be taken.
      this.#memory.remember(frame, new Uint8Array(frame.count).fill(PeerVerdict.journalFull), frame.earlier);
      return this.#answer(PeerStatus.noRoom, number);
    }
    const verdicts = new Uint8Array(frame.count);
    const references: Buffer[] = [];
    readPeerRecords(frame, (record, index) => {
      const { body, start, end } = record;
      // Anything else than an event would break the answers to clients.
      const isCrossing = record.kind === PeerKind.crossing || record.moved !== undefined;
      const origin = isCrossing ? originOfEvent(body, start, end) : undefined;
      verdicts[index] = origin === undefined ? PeerVerdict.busy : this.#host.receive(record);
      const isAccepted = verdicts[index] === PeerVerdict.accepted;
      if (isAccepted && origin !== undefined) {
        this.counters.received++;
        // A relay that sends crossings is one of the view, or was.
        this.#peer(sender).traffic.received++;
        this.files.note(origin.file, sender, origin.desktop);
      }
      references.push((isAccepted ? this.#host.referenceAt('received') : undefined) ?? NOTHING);
    });
    this.#memory.remember(frame, verdicts, frame.earlier);
    this.#facts()?.peerTaken(frame, verdicts);
    return this.#answer(PeerStatus.done, number, verdicts, references);
  }

  #answerNames(frame: PeerFrame): Buffer {
    const verdicts = new Uint8Array(frame.count);
    const references: Buffer[] = [];
    readPeerRecords(frame, ({ kind, place }) => {
      references.push((kind === PeerKind.name ? this.#host.referenceAt(place) : undefined) ?? NOTHING);
    });
    return this.#answer(PeerStatus.done, 0, verdicts, references);
  }

  #answer(status: number, number: number, verdicts: Uint8Array = NO_VERDICTS, references: Buffer[] = []): Buffer {
    return writePeerAnswer({ status, epoch: this.#epoch, number, verdicts, references });
  }

  /** The answer to a frame has come. */
  answered(outgoing: Outgoing, message: Uint8Array): void {
    const peer = this.#peer(outgoing.peer);
    const answer = readPeerAnswer(message);
    if (answer === 'version') {
      this.counters.malformed++;
      this.failed(outgoing, true);
      return;
    }
    if (answer === 'malformed' || answer.number !== outgoing.number) {
      this.counters.malformed++;
      this.failed(outgoing, false);
      return;
    }
    const { status, epoch, verdicts, references } = answer;
    if (outgoing.number === 0) {
      if (status === PeerStatus.done) this.#greeted(peer, outgoing, answer);
      else this.failed(outgoing, false);
      return;
    }
    const pending = outgoing as PendingFrame;
    // An earlier answer may have settled it.
    if (!peer.pending.has(pending)) return;
    if (status === PeerStatus.done && verdicts.length === pending.passed.length) {
      this.#settle(peer, pending, verdicts, references);
    } else if (status === PeerStatus.otherEpoch) {
      // A relay of another epoch does not know what an earlier one took.
      if (peer.epoch !== epoch) peer.epoch = 0;
      peer.isGreeted = false;
      this.#giveUp(peer, pending);
    } else if (status === PeerStatus.stale || status === PeerStatus.done) this.#takeBack(peer, pending);
    else if (status === PeerStatus.noRoom) this.failed(outgoing, true, PeerVerdict.journalFull);
    else this.failed(outgoing, status === PeerStatus.version);
  }

  #greeted(peer: Peer, { life, places }: Outgoing, { epoch, eventBytesMax, references }: PeerAnswer): void {
    // Frames to an earlier epoch are still sent, and answered by otherEpoch.
    peer.epoch = epoch;
    peer.life = life;
    peer.eventBytesMax = eventBytesMax;
    peer.isGreeted = true;
    for (const [index, place] of places.entries()) {
      const name = this.#names.get(`${peer.name}:${place}`);
      const reference = references[index];
      if (reference === undefined || reference.length === 0) peer.missed.add(place);
      if (name === undefined || reference === undefined || reference.length === 0) continue;
      const isOther = name.reference === undefined || !name.reference.equals(reference);
      name.reference = Buffer.from(reference);
      for (const slot of name.hearers.splice(0)) if (isOther) this.#host.nameArrived(slot);
    }
  }

  /**
   * A frame got no answer. `isCertain`: it has certainly not arrived, because there was no receiver, or none that could take it. Then its
   * crossings get `refusal`; but only when that can be written down, because a later life of this relay would send the frame again.
   */
  failed(outgoing: Outgoing, isCertain: boolean, refusal: number = PeerVerdict.busy): void {
    const peer = this.#peer(outgoing.peer);
    for (const place of outgoing.places) peer.missed.add(place);
    const pending = outgoing as PendingFrame;
    if (!peer.pending.has(pending)) return;
    if (isCertain && !pending.isInDoubt && this.#hasJournal) {
      this.#giveUp(peer, pending, refusal);
      return;
    }
    pending.isInDoubt = true;
    pending.isAwaited = false;
    pending.dueMs = this.#nowMs + RETRY_MS;
  }

  /** Nobody was there in the life that a frame goes to. Returns whether another one is known, to which it goes from now on. */
  isReplaced(outgoing: Outgoing): boolean {
    const newest = this.membership.lifeOf(outgoing.peer);
    if (newest === undefined || newest === outgoing.life) return false;
    outgoing.life = newest;
    return true;
  }

  /** An operator has declared that a relay will not come back. Returns how many crossings this abandons. */
  forget(name: string): number {
    const peer = this.#peers.get(name);
    const before = this.counters.abandoned;
    for (const pending of [...(peer?.pending ?? [])]) {
      // Its answer may be on the way.
      pending.isInDoubt ||= pending.isAwaited;
      this.#giveUp(peer as Peer, pending);
    }
    return this.counters.abandoned - before;
  }

  /** The receiver knows the number of a frame, but not this frame: it is sent again under another number, or its crossings are refused. */
  #takeBack(peer: Peer, pending: PendingFrame): void {
    if (!this.#hasJournal) {
      this.failed(pending, false);
      return;
    }
    if (pending.isInDoubt || !this.#memory.hasRoom(peer.name)) {
      this.#refuse(peer, pending, pending.isInDoubt ? SETTLED_BEFORE : PeerVerdict.busy);
      return;
    }
    const number = this.#memory.sentTo(peer.name).lastNumber + 1;
    const frame = numbered(pending.frame, number, this.#memory.earlierTo(peer.name));
    this.#remove(peer, pending, new Uint8Array(pending.passed.length).fill(PeerVerdict.busy));
    this.#sendFirst(peer, pending.life, number, frame, pending.passed);
    for (const one of pending.passed) if (!('arrived' in one) && one.isKept) this.#addCustody(one);
  }

  /** Ends a pending frame without verdicts: its sprites bounce, or are abandoned if the receiver may have had them. */
  #giveUp(peer: Peer, pending: PendingFrame, refusal: number = PeerVerdict.busy): void {
    if (!pending.isInDoubt) this.#refuse(peer, pending, refusal);
    else this.#settle(peer, pending, new Uint8Array(pending.passed.length).fill(ABANDONED), NO_REFERENCES);
  }

  #refuse(peer: Peer, pending: PendingFrame, refusal: number = PeerVerdict.busy): void {
    this.#settle(peer, pending, new Uint8Array(pending.passed.length).fill(refusal), NO_REFERENCES);
  }

  #remove(peer: Peer, pending: PendingFrame, verdicts: Uint8Array): void {
    const { incarnation, number } = pending;
    peer.pending.delete(pending);
    for (const one of pending.passed) {
      if (!('arrived' in one) && one.isKept) this.#memory.custody.delete(keyOfThrow(one));
    }
    this.#memory.settle(peer.name, incarnation, number);
    this.#facts()?.peerVerdicts(peer.name, incarnation, number, verdicts);
  }

  #settle(peer: Peer, pending: PendingFrame, verdicts: Uint8Array, references: readonly Buffer[]): void {
    this.#remove(peer, pending, verdicts);
    this.#sendOnRefused(pending, verdicts);
    this.#decide(peer, pending.passed, verdicts, references);
  }

  /** The sprites in custody that the other relay has refused go on from here. */
  #sendOnRefused({ frame, passed }: PendingFrame, verdicts: Uint8Array): void {
    const isRefused = (one: Passed, index: number) =>
      !('arrived' in one) && one.isKept && !isPassed(verdicts[index]) && verdicts[index] !== SETTLED_BEFORE;
    if (!passed.some(isRefused)) return;
    readPeerRecords(readPeerFrame(frame) as PeerFrame, (record, index) => {
      if (isRefused(passed[index], index)) this.#host.sendOn(record);
    });
  }

  /** Settles all that has got verdicts, and then answers: an answer may write the journal, so the state must be whole. */
  #decide(peer: Peer, passed: readonly Passed[], verdicts: Uint8Array, references: readonly Buffer[]): void {
    for (const [index, one] of passed.entries()) {
      const verdict = verdicts[index];
      const isWaiting = 'arrived' in one;
      if (verdict === PeerVerdict.accepted) {
        this.counters[isWaiting ? 'handed' : 'passed']++;
        peer.traffic.passed++;
      } else if (verdict === ABANDONED) this.counters.abandoned++;
      else this.counters.refused++;
      if (isWaiting) {
        this.#removeHanding(one.slot);
        this.#host.settleWaiting(one, verdict);
        continue;
      }
      if (!one.isKept) this.#removeThrow(one);
      this.#host.settle(one.slot, one.generation, one.crossing, verdict);
    }
    for (const [index, one] of passed.entries()) {
      if ('arrived' in one) continue;
      const reference = references[index];
      const known = reference !== undefined && reference.length > 0 ? reference : undefined;
      this.#host.answer(one.tickets, verdicts[index], known);
    }
  }

  #addThrow(slot: number, generation: number, crossing: number): Throw {
    const one: Throw = { slot, generation, crossing, tickets: [], isKept: false };
    const throws = this.#throwsOf.get(slot);
    if (throws === undefined) this.#throwsOf.set(slot, [one]);
    else throws.push(one);
    return one;
  }

  #removeThrow(one: Throw): void {
    const throws = this.#throwsOf.get(one.slot) as Throw[];
    if (throws.length === 1) this.#throwsOf.delete(one.slot);
    else throws.splice(throws.indexOf(one), 1);
  }

  #addHanding(sprite: WaitingSprite): WaitingSprite {
    this.#handing.set(sprite.slot, (this.#handing.get(sprite.slot) ?? 0) + 1);
    return sprite;
  }

  #removeHanding(slot: number): void {
    const left = (this.#handing.get(slot) as number) - 1;
    if (left === 0) this.#handing.delete(slot);
    else this.#handing.set(slot, left);
  }

  #peer(name: string): Peer {
    let peer = this.#peers.get(name);
    if (peer === undefined) {
      peer = {
        name,
        epoch: 0,
        life: undefined,
        eventBytesMax: PEER_EVENT_BYTES_LEAST,
        writer: undefined,
        writerLife: undefined,
        passed: [],
        pending: new Set(),
        helloDueMs: 0,
        isGreeted: false,
        places: new Set(),
        missed: new Set(),
        traffic: { ...NO_TRAFFIC },
      };
      this.#peers.set(name, peer);
    }
    return peer;
  }
}

const NONE: readonly Outgoing[] = [];
const NOTHING = Buffer.alloc(0);
const NO_VERDICTS = new Uint8Array(0);
const NO_REFERENCES: readonly Buffer[] = [];

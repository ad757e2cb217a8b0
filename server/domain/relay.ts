/**
 * The relay: the way up (a crossing goes into a mailbox) and the way down (a poll gets what waits, or is parked).
 *
 * It is the only writer of mailboxes, torus and parking lot. It is synchronous: each call runs to its end before the next
 * one begins. It has no clock and no sockets: advance() sets the time, and answers to polls go to an AnswerSink.
 * Invariant: accepted = acknowledged + waiting + abandoned, at every moment. A sprite is in one mailbox until the cursor
 * of its desktop passes it; when that desktop ends, the sprite moves on in its direction of travel to the next one.
 * Cost: accept, poll and wake are O(1) for each event, with no allocation that lives longer than the call.
 */
import { ok } from 'node:assert';
import { type Answer, type AnswerView, answerOf } from '../wire/answer.ts';
import { type CheckedCrossing, EDGES, type Edge, type EdgeNumber, opposite } from '../wire/crossing.ts';
import { writeCursor } from '../wire/cursor.ts';
import type { Identity } from '../wire/identity.ts';
import type { Invitation } from '../wire/invitation.ts';
import { DEFAULT_WORLD, type Join } from '../wire/join.ts';
import { NO_HEAD, type Passage } from '../wire/passage.ts';
import {
  INCARNATION_DIGITS,
  type MovedWorld,
  type PeerRecord,
  PeerVerdict,
  type WaitingSprite,
} from '../wire/peer_frame.ts';
import { isCarried, PICTURES, type Pictures, Standing } from '../wire/pictures.ts';
import { PROBLEMS, type ProblemCode, type ProblemDocument, ProblemError, problem } from '../wire/problem.ts';
import type { Saying } from '../wire/saying.ts';
import { Deadlines } from './deadlines.ts';
import { DelayedPolls, type HeldPoll } from './delayed_polls.ts';
import { Desktops, NO_SLOT, nameBlockBytes } from './desktops.ts';
import { EndedDesktops } from './ended.ts';
import type { AcceptedCrossing, Facts } from './facts.ts';
import { HandOver } from './hand_over.ts';
import type { SayingsOption } from './hearers.ts';
import { KeptMailboxes } from './kept.ts';
import {
  DRAINED_PER_STEP_MAX,
  DUE_PER_STEP_MAX,
  EVENTS_PER_POLL_MAX,
  EVICTED_PER_STEP_MAX,
  EVICTED_SPRITES_PER_STEP_MAX,
  EVICTION_LOOKS_MAX,
  FIRST_POLL_MS,
  HEARERS_PER_STEP_MAX,
  JOIN_URL_BYTES_MAX,
  KEPT_SHARE_MAX,
  KEPT_STEP_MS,
  KEPT_TRIED_MAX,
  KEPT_WORLDS_PER_STEP_MAX,
  LEASE_MS,
  MAILBOX_BYTES_MAX,
  MAILBOX_EVENTS_MAX,
  MUTES_MAX,
  NEIGHBOURS_STEP_MS,
  ONWARD_DESKTOPS_MAX,
  ONWARD_SPRITES_MAX,
  PING_JITTER,
  PING_MS,
  PIONEER_MS,
  PIONEERS_MAX,
  POLL_BYTES_MAX,
  RESPONSE_BYTES_MAX,
  SAYINGS_BYTES_PER_POLL_MAX,
  SMALL_WORLD_MAX,
  WATCHERS_PER_STEP_MAX,
  WORLDS_MAX,
} from './limits.ts';
import { digitsOf, EVENT_BYTES_MAX, eventBlockBytes, Mailboxes, writeNumber } from './mailboxes.ts';
import type { Membership } from './membership.ts';
import { MUTE_HOPS_MAX, Mutes } from './mutes.ts';
import { NOTICES_BYTES_MAX, Notices } from './notices.ts';
import { type Neighbourhood, PEEK_EVENTS_BYTES_MAX, Peeks, type PeeksOptions } from './peeks.ts';
import { ABANDONED, isPassed, PeerMemory } from './peer_memory.ts';
import { PeerPeeks } from './peer_peeks.ts';
import { PeerSayings } from './peer_sayings.ts';
import { type PeerHost, Peers } from './peers.ts';
import { byeMs, recoveredLeaseMs } from './returns.ts';
import type { Rounds } from './rounds.ts';
import { MISSED_BYTES_MAX } from './sayings.ts';
import { BLOCK_BYTES_MAX, type BlockRef, pageOf, Slab } from './slab.ts';
import { Speech } from './speech.ts';
import { NO_ADDRESS, placeBeyond, Torus, type World } from './torus.ts';

/** The receiver of answers to polls: a front, or the frame to a worker. It copies the bytes before the call returns. */
export interface AnswerSink {
  /** A buffer in which the body of the next answer needs no copy: `bytes` from roomAt() on, valid until the next call. */
  room(bytes: number): Buffer;
  roomAt(): number;
  /**
   * Returns whether the receiver of this ticket has room for a batch now. If not, the batch stays in the mailbox until
   * retryDeferred() is called. Absent: always.
   */
  hasRoom?(ticket: number): boolean;
  /**
   * The same for sayings, which leave before the room for sprites is used up. If there is none, they wait for the next
   * round. Absent: always.
   */
  hasRoomForSayings?(ticket: number): boolean;
  /** May write what the relay has told so far: the relay calls it when its state is whole, and all facts about it are told. */
  readonly answer: Answer;
}

/**
 * Who may join, by address. Absent: everybody. A row stands for an address; the relay only keeps it.
 *
 * Every seated() is followed by one unseated() of the same slot, every worldOpened() by one worldClosed() of the same row.
 */
export interface Admission {
  rowOf(address: string): number;
  /** Counts a try to join, also one that will be refused. Throws too-many-joins. */
  countJoin(row: number, nowMs: number): void;
  /** Throws too-many-places when this address may not have another desktop in the default world. */
  checkPlace(row: number): void;
  /** Throws too-many-worlds when this address may not open another world. */
  checkWorld(row: number): void;
  /** A desktop has got a place in the default world. */
  seated(slot: number, row: number): void;
  /** A desktop has ended, wherever its place was. */
  unseated(slot: number): void;
  /** The first desktop of a private world has joined. */
  worldOpened(row: number): void;
  /** The last desktop of a private world has ended. */
  worldClosed(row: number): void;
}

export interface RelayOptions {
  slots: number;
  slabBytes: number;
  /** Default SLAB_PAGE_BYTES. Smaller where one process has thousands of relays with few sprites each. */
  slabPageBytes?: number;
  /** Identifies this run of the relay in cursors; 32 random bits. */
  epoch: number;
  /** GENERATION_KEY_BYTES random bytes: the key to the generations of this run. */
  generationKey: Uint8Array;
  nowMs: number;
  answers: AnswerSink;
  /** Fills `words` with cryptographically random bits, for tokens and the incarnations of this start. */
  randomize: (words: Uint32Array) => void;
  /** Returns a random number in 0 … 1, for jitter. */
  random: () => number;
  /** Private worlds at once; the default world always has room. */
  worldsMax?: number;
  /** Sprites in one mailbox; default MAILBOX_EVENTS_MAX. */
  mailboxEventsMax?: number;
  admission?: Admission;
  /** Desktops that have ended and are remembered; default ENDED_REMEMBERED_MAX. A power of two. */
  endedMax?: number;
  /** Who hears sayings. Default: everybody in private worlds, the four neighbours in the default world. */
  sayings?: SayingsOption;
  peeks?: PeeksOptions;
  /** A parked poll is answered with a ping after this, in ms; default PING_MS. */
  pingMs?: number;
  /** The time in ms, monotonic, by which stages are predicted. Default: that of the last advance(), which moves in steps. */
  preciseMs?: () => number;
}

/** How many desktops are here, for everybody to see. */
export interface Counts {
  desktops: number;
  /** Worlds that have a name for the public, with their desktops. The names of the others are secret. */
  worlds: { world: string; desktops: number }[];
  /** Worlds with a secret name that have a desktop. */
  privateWorlds: number;
}

const ENDED_DETAIL = 'This desktop has left, or was silent for longer than its lease; join again.';
const UNKNOWN_DETAIL = 'No desktop here has this id and token; join to get one.';

/** The `detail` of the problem document for each reason to refuse a crossing. */
const REFUSALS = {
  'mailbox-full': "The neighbour's mailbox is full; the sprite stays with you, throw it again later.",
  'too-fast': 'This desktop throws faster than the relay allows; the sprite stays with you.',
  'crossing-stale':
    'This number is more than 32 below the newest one, so the neighbour may have the sprite; do not throw it again.',
  'crossing-ahead':
    'An older throw has no answer yet, and this number is 32 or more above it; the sprite stays with you, throw it again later.',
  draining: 'The relay is going down; the sprite stays with you.',
  'picture-refused': 'This world does not carry this picture; the sprite stays with you.',
  'journal-full': 'The relay cannot write to its disk; the sprite stays with you, throw it again later.',
  'relay-busy': "The neighbour's relay cannot be reached or is busy; the sprite stays with you, throw it again later.",
} as const satisfies Partial<Record<ProblemCode, string>>;

type Refusal = keyof typeof REFUSALS;

/** The reasons to refuse whatever a desktop asks for. */
type NotLive = 'desktop-ended' | 'unknown-desktop';

/**
 * The decision about a crossing. 'repeated': it was accepted before. 'deferred': another relay decides, and the ticket is answered later. The
 * others are the problem codes of a refusal.
 */
export type Verdict = 'accepted' | 'repeated' | 'deferred' | Refusal | NotLive;

const REFUSAL_OF: Record<number, Refusal> = {
  [PeerVerdict.full]: 'mailbox-full',
  [PeerVerdict.journalFull]: 'journal-full',
};

/**
 * The verdict about a crossing and the answer to its sender.
 *
 * Owner   the relay: the next accept() overwrites it.
 */
export interface CrossingResponse extends AnswerView {
  verdict: Verdict;
  body: Buffer;
}

export interface Counters {
  accepted: number;
  repeated: number;
  acknowledged: number;
  /** Sprites evicted from kept mailboxes, to make room for another world, desktop or sprite. */
  abandoned: number;
  refusedFull: number;
  refusedFast: number;
  /** Crossings refused because their world is stricter about pictures than the relay. */
  refusedPicture: number;
  /** Sprites moved on from the mailbox of a desktop that ended. */
  forwarded: number;
  joined: number;
  left: number;
  leasesEnded: number;
  polls: number;
  /** Polls that a newer one replaced. */
  replaced: number;
  wakes: number;
  pings: number;
}

/** The response of GET /v1/desktops/{id}. */
export interface DesktopDetails {
  desktop: string;
  name: string;
  world: string;
  /** The pictures that the world carries; the relay may carry fewer. */
  pictures: Pictures;
  /** Whether it shows its stage. */
  stage: boolean;
  place: number;
  /** Without the edges whose neighbour is at another relay and not known yet. */
  neighbours: Partial<Record<Edge, { desktop: string; name: string }>>;
}

/** Flags of a slot. */
const READY = 1; // its parked poll is answered at the end of the turn
const NEIGHBOURS_DUE = 2; // the next batch names its neighbours
const DEFERRED = 4; // its batch waits until the receiver of its poll has room
const HEARING = 8; // it has something to hear
const PEEKING = 16; // an event of its peek waits for it, or an event about its watchers
const NOTICES_DUE = 32; // the next batch has notices
const MUTES = 64; // it mutes others
const STRICT = 128; // its world does not carry every picture

/** Slots that one step looks at to find the live ones that get a notice: some 30 µs. */
export const NOTICE_SLOTS_PER_STEP = 16_384;

const HANDED_OVER_DETAIL = 'This relay stops, and other relays go on; join again.';
const LEFT_DETAIL = 'This desktop has left; join again.';

/** The longest head of a batch: `{"cursor":"6a1f03c2-4294967295","events":[`. */
const BATCH_HEAD_BYTES_MAX = 64;

/** The most bytes of one answer without sayings: its events, the four neighbours, notices and the JSON around them. */
export const ANSWER_BYTES_MAX = POLL_BYTES_MAX + EVENT_BYTES_MAX + NOTICES_BYTES_MAX + PEEK_EVENTS_BYTES_MAX + 2048;
ok(ANSWER_BYTES_MAX + SAYINGS_BYTES_PER_POLL_MAX <= RESPONSE_BYTES_MAX);

/** The longest URL of another relay in a `bye`, with its key. */
const JOIN_BYTES_MAX = JOIN_URL_BYTES_MAX + 16;

const EVENTS = Buffer.from('","events":[');
const PING = Buffer.from('{"type":"ping"}');
const NEIGHBOURS = Buffer.from('{"type":"neighbours"');
const FROM = Buffer.from('"from":');
const TO = Buffer.from('{"to":');
const TO_UNKNOWN = Buffer.from('{"to":null}');
const EDGE_KEYS = EDGES.map((edge) => Buffer.from(`,"${edge}":`));
const COMMA = 0x2c;
const CLOSE = 0x7d;

/** A crossing without a thrower and a receiver at this relay. */
const NO_CROSSING: Readonly<AcceptedCrossing> = {
  to: NO_SLOT,
  edge: 0,
  arrived: 0,
  head: NO_HEAD,
  headLength: 0,
  body: NO_HEAD,
  start: 0,
  end: 0,
  slot: NO_SLOT,
  generation: 0,
  crossing: 0,
  receiver: NO_SLOT,
  receiverGeneration: 0,
};

export class Relay {
  readonly epoch: number;
  readonly desktops: Desktops;
  readonly torus: Torus;
  readonly mailboxes: Mailboxes;
  readonly slab: Slab;
  readonly mutes = new Mutes();
  /** What is known of other relays; it survives with the journal. */
  readonly peerMemory = new PeerMemory();
  readonly counters: Counters = {
    accepted: 0,
    repeated: 0,
    acknowledged: 0,
    abandoned: 0,
    refusedFull: 0,
    refusedFast: 0,
    refusedPicture: 0,
    forwarded: 0,
    joined: 0,
    left: 0,
    leasesEnded: 0,
    polls: 0,
    replaced: 0,
    wakes: 0,
    pings: 0,
  };
  readonly ended: EndedDesktops;
  readonly speech: Speech;
  readonly peeks: Peeks;
  readonly #neighbourhood: Neighbourhood;
  /** Undefined while this relay is alone. */
  #peerPeeks: PeerPeeks | undefined;
  readonly #preciseMs: () => number;
  readonly #options: RelayOptions;
  /** The other relays of the cluster; undefined when there is none. */
  #peers: Peers | undefined;
  /** The desktop that the last receive() named. */
  #named = 0;
  /** Gets every change that must survive; undefined when nothing does. */
  #facts: Facts | undefined;
  /** The beginning of every batch, up to the cursor's sequence. */
  readonly #cursorHead: Buffer;
  readonly #deadlines: Deadlines;
  readonly pingMs: number;
  /** The parking lot: ticket + 1 of the poll held for each slot, 0 for none. */
  readonly #parked: Float64Array;
  readonly #flags: Uint8Array;
  /** Polls whose answer is delayed. */
  readonly delayedPolls: DelayedPolls;
  /** Slots whose batch waits for room, each once. */
  #deferred: number[] = [];
  readonly #notices: Notices;
  /** Slots below this have been marked for the newest notice. */
  #noticed: number;
  #ready: Uint32Array = new Uint32Array(1024);
  #readyCount = 0;
  #parkedCount = 0;
  #nowMs: number;
  #nextStepMs: number;
  #draining = false;
  /** While draining: where else desktops may join, as a member of `bye`. */
  #joins: readonly string[] = [];
  /** While draining: how many desktops are still sent ahead to a relay without desktops. */
  #pioneers = 0;
  /** While draining: the polls of the slots below are answered. */
  #drainedSlots = 0;
  /** Whether the desktops of the default world end, because this relay stops for good. */
  #isEnding = false;
  /** Desktops that the default world had before they ended. */
  #endingCount = 0;
  /** Undefined while this relay is alone. */
  #handOver: HandOver | undefined;
  /** Small worlds that changed since the last step, and those whose desktops are being notified of it. */
  #changed = new Set<World>();
  #notifying = new Set<World>();
  /** What a batch with sayings has of its own, which is not shared. */
  #own: Buffer | undefined;
  readonly #kept = new KeptMailboxes();
  /** Private worlds that another relay has. */
  readonly #moved = new Set<World>();
  /** Worlds with desktops whose kept mailboxes are tried in this round, and when the next round begins. */
  #keptDue: World[] = [];
  #nextKeptMs: number;
  /** While #makeRoom looks: the blocks seen in each page of the slab. */
  readonly #blocksOfPage: Uint32Array;
  /** Blocks that may still be looked at before the next step of the clock. */
  #looksLeft = EVICTION_LOOKS_MAX;
  /** The beginning of an event. Its first bytes are always `"from":`. */
  readonly #head = Buffer.concat([FROM], 512);
  /** The crossing that accept() handles, and one of another relay. */
  readonly #thrown: AcceptedCrossing = { ...NO_CROSSING, head: this.#head };
  readonly #arrived: AcceptedCrossing = { ...NO_CROSSING };
  readonly #words = new Uint32Array(4);
  /** It exists from the start and is never removed, so that a join without a world never lacks one. */
  readonly #defaultWorld: World;
  /** The body of the response to an accepted crossing. Its first bytes are always `{"to":`. */
  readonly #receipt = Buffer.concat([TO], 512);
  /** Problem documents of refused crossings, made when first needed. */
  readonly #refusals = new Map<Refusal, Buffer>();
  readonly #response: CrossingResponse = {
    verdict: 'accepted',
    status: 202,
    retryAfterSeconds: 0,
    body: this.#receipt,
    start: 0,
    end: 0,
    shared: undefined,
  };
  /** The batch that is being sent. */
  readonly #batch: AnswerView = answerOf(200, NO_HEAD);

  constructor(options: RelayOptions) {
    this.#options = options;
    this.epoch = options.epoch;
    this.#cursorHead = Buffer.from(`{"cursor":"${writeCursor(options.epoch, 0).slice(0, -1)}`);
    this.slab = new Slab(options.slabBytes, options.slabPageBytes);
    this.#blocksOfPage = new Uint32Array(this.slab.pagesMax);
    this.desktops = new Desktops(options.slots, this.slab, options.generationKey);
    this.torus = new Torus(options.slots, 1 + (options.worldsMax ?? WORLDS_MAX));
    this.#defaultWorld = this.torus.findOrAdd(DEFAULT_WORLD) as World;
    this.mailboxes = new Mailboxes(options.slots, this.slab, {
      eventsMax: options.mailboxEventsMax ?? MAILBOX_EVENTS_MAX,
      bytesMax: MAILBOX_BYTES_MAX,
    });
    this.ended = new EndedDesktops(options.endedMax);
    this.pingMs = options.pingMs ?? PING_MS;
    const latestMs = Math.max(this.pingMs * (1 + PING_JITTER), recoveredLeaseMs(options.slots));
    this.#deadlines = new Deadlines(options.slots, options.nowMs, latestMs);
    this.#parked = new Float64Array(options.slots);
    this.delayedPolls = new DelayedPolls(options.slots);
    this.#flags = new Uint8Array(options.slots);
    this.#notices = new Notices(options.slots);
    this.#noticed = options.slots;
    const listeners = {
      torus: this.torus,
      mutes: this.mutes,
      defaultWorld: this.#defaultWorld,
      isMuting: (slot: number) => (this.#flags[slot] & MUTES) !== 0,
      markHearing: (slot: number) => {
        this.#flags[slot] |= HEARING;
      },
      writeReference: (slot: number, out: Buffer, at: number) => this.desktops.writeReference(slot, out, at),
      generation: (slot: number) => this.desktops.generation(slot),
    };
    this.speech = new Speech(options.slots, listeners, options.sayings, options.nowMs);
    this.#neighbourhood = {
      ...listeners,
      shows: (slot: number) => this.desktops.shows(slot),
      markPeeking: (slot: number) => {
        this.#flags[slot] |= PEEKING;
      },
    };
    this.peeks = new Peeks(options.slots, this.#neighbourhood, options.nowMs, options.peeks);
    this.#preciseMs = options.preciseMs ?? (() => this.#nowMs);
    this.#nowMs = options.nowMs;
    this.#nextStepMs = options.nowMs + NEIGHBOURS_STEP_MS;
    this.#nextKeptMs = options.nowMs + KEPT_STEP_MS;
  }

  get parkedCount(): number {
    return this.#parkedCount;
  }

  get waiting(): number {
    return this.mailboxes.waiting;
  }

  /** Bytes of the slab that the mailboxes of ended desktops use, whose sprites have no desktop to go on to. */
  get keptBytes(): number {
    return this.#kept.bytes;
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** From now on `facts` gets every change that must survive the relay. */
  setFacts(facts: Facts): void {
    this.#facts = facts;
  }

  /**
   * The life of this start for other relays: the time of day in ms, but later than each earlier one, also when the clock was set back. Call it
   * once, after recovery.
   */
  beginLife(timeOfDayMs: number): number {
    const memory = this.peerMemory;
    memory.life = Math.max(timeOfDayMs, memory.life + 1);
    this.#facts?.life(memory.life);
    return memory.life;
  }

  /** From now on other relays have places in the default world, too. Call it after recovery. */
  joinCluster(membership: Membership): { peers: Peers; sayings: PeerSayings; peeks: PeerPeeks } {
    const host: PeerHost = {
      receive: (record) => this.#receive(record),
      referenceAt: (place) => this.#referenceAt(place),
      settle: (...settled) => this.#settle(...settled),
      answer: (...verdict) => this.#answerVerdict(...verdict),
      sendOn: (record) => this.#sendOn(record),
      settleWaiting: (sprite, verdict) => this.#settleWaiting(sprite, verdict),
      refuse: (ticket) => this.#options.answers.answer(ticket, this.#refuse('relay-busy')),
      nameArrived: (slot) => {
        if (!this.desktops.isLive(slot)) return;
        this.#flags[slot] |= NEIGHBOURS_DUE;
        this.#markReady(slot);
      },
      neighboursChanged: () => this.#worldChanged(this.#defaultWorld),
    };
    const { epoch, peerMemory: memory } = this;
    memory.beginStart(() => {
      const words = new Uint32Array(INCARNATION_DIGITS / 8);
      this.#options.randomize(words);
      return Buffer.from(words.buffer).toString('hex');
    });
    this.#peers = new Peers({ epoch, membership, memory, host, facts: () => this.#facts, nowMs: this.#nowMs });
    this.torus.routing = this.#peers;
    // Mailboxes that were being handed on when this relay stopped: they stay as they are until the verdicts are known.
    for (const slot of this.#peers.handingSlots()) {
      const world = this.torus.worldOf(slot);
      // A start without a cluster may have given them to another desktop.
      if (this.#kept.of(world)?.includes(slot)) this.#kept.hold(world, slot, this.mailboxes.usedBytes(slot));
    }
    this.#handOver = this.#makeHandOver(this.#peers);
    const sayings = new PeerSayings(this.#peers, this.speech, () => this.#nowMs);
    this.speech.remote = sayings;
    this.#peerPeeks = new PeerPeeks({
      peers: this.#peers,
      peeks: this.peeks,
      neighbourhood: this.#neighbourhood,
      world: this.#defaultWorld,
      nowMs: () => this.#nowMs,
      preciseMs: this.#preciseMs,
      limits: this.#options.peeks,
    });
    this.peeks.remote = this.#peerPeeks;
    return { peers: this.#peers, sayings, peeks: this.#peerPeeks };
  }

  #makeHandOver(peers: Peers): HandOver {
    const { desktops, mailboxes, torus } = this;
    const host = {
      isKept: (slot: number) => {
        // Since the round began its sprites may have gone, and then its world.
        if (desktops.isLive(slot) || mailboxes.count(slot) === 0) return false;
        const world = torus.worldOf(slot);
        // A private world may have come home: its sprites are for no other world.
        const goesOn = world === this.#defaultWorld || world.home !== undefined;
        return goesOn && !this.#kept.isHeld(world, slot);
      },
      placeOf: (slot: number) => torus.placeOf(slot),
      movedOf: (slot: number) => {
        const world = torus.worldOf(slot);
        return world.home === undefined ? undefined : { home: world.home, world };
      },
      owners: (slot: number) => desktops.owners(slot),
      hold: (slot: number) => this.#kept.hold(torus.worldOf(slot), slot, mailboxes.usedBytes(slot)),
      unsend: (slot: number) => {
        if (mailboxes.newest(slot) === mailboxes.acknowledged(slot)) return;
        this.#facts?.unsent(slot);
        mailboxes.unsend(slot);
      },
    };
    return new HandOver(host, mailboxes, peers);
  }

  /** Writes the facts of a slot that was used, from which its whole state follows. Call it between two calls of the relay. */
  writeState(slot: number, facts: Facts): void {
    const { desktops, mailboxes, torus } = this;
    const owners = desktops.owners(slot);
    if (desktops.isLive(slot)) {
      const world = torus.worldOf(slot);
      facts.desktop(desktops.row(slot, world, torus.placeOf(slot)));
      if (this.#flags[slot] & MUTES) facts.mutes(slot, this.mutes.of(slot));
    } else if (mailboxes.count(slot) > 0) {
      facts.kept(slot, owners, torus.worldOf(slot).name, torus.placeOf(slot));
    } else {
      facts.free(slot, owners);
      return;
    }
    mailboxes.writeState(slot, facts);
  }

  /**
   * Goes on after recovery.ts has restored the tables: gives every live desktop a new lease, in which all can come back, and keeps the
   * mailboxes of `kept`, the oldest first.
   */
  resume(kept: readonly number[]): void {
    const leaseMs = recoveredLeaseMs(this.desktops.count);
    for (let slot = 0; slot < this.desktops.untouched; slot++) {
      if (!this.desktops.isLive(slot)) continue;
      this.#deadlines.set(slot, this.#nowMs + leaseMs);
      if (this.mutes.of(slot).length > 0) this.#flags[slot] |= MUTES;
      if (this.torus.worldOf(slot).pictures !== 'any') this.#flags[slot] |= STRICT;
    }
    for (const slot of kept) this.#kept.add(this.torus.worldOf(slot), slot, this.mailboxes.usedBytes(slot));
    for (const world of this.torus.worlds()) this.#worldChanged(world);
  }

  /**
   * Checks what does not depend on the world of a join, and counts the join. join() then does not count it again: for joins that wait until
   * it is known which relay has their world.
   *
   * Throws  draining, journal-full, too-many-joins.
   */
  admitJoin(join: Join): void {
    if (this.#draining) throw new ProblemError('draining', 'The relay is going down; join again in some seconds.');
    if (this.#facts?.hasRoom === false) {
      throw new ProblemError('journal-full', 'The relay cannot write to its disk; join again later.');
    }
    if (join.isCounted || join.address === undefined) return;
    const { admission } = this.#options;
    // This comes first, so that guessing invitations or names of worlds is slow.
    admission?.countJoin(admission.rowOf(join.address), this.#nowMs);
    join.isCounted = true;
  }

  /**
   * Gives a new desktop a slot, a token and a place; returns the slot.
   *
   * Shape   `token` and `invitation` receive four words each.
   * Throws  relay-full, draining, near-gone (the invitation is not valid, or is to another world than the requested one),
   *         too-many-joins, too-many-places, too-many-worlds.
   */
  join(join: Join, token: Uint32Array, invitation: Uint32Array): number {
    this.admitJoin(join);
    const facts = this.#facts;
    const admission = join.address === undefined ? undefined : this.#options.admission;
    const row = admission ? admission.rowOf(join.address as string) : NO_ADDRESS;
    const friend = join.near ? this.#findFriend(join.near) : undefined;
    const name = join.world ?? (friend === undefined ? DEFAULT_WORLD : this.torus.worldOf(friend).name);
    if (friend !== undefined && this.torus.worldOf(friend).name !== name) {
      throw new ProblemError('near-gone', 'near: this invitation is to another world than the requested one.');
    }
    const isDefault = name === DEFAULT_WORLD;
    const opens = !isDefault && !this.torus.find(name)?.count;
    if (isDefault) admission?.checkPlace(row);
    if (opens) admission?.checkWorld(row);
    let world = this.torus.findOrAdd(name);
    if (!world && this.#evictWorld()) world = this.torus.findOrAdd(name);
    if (!world) throw new ProblemError('relay-full', 'The relay has no room for another world; join an existing one.');
    this.#options.randomize(this.#words);
    let slot = this.desktops.add(join.name, this.#words);
    if (slot < 0 && this.#makeRoomToJoin(join.name, world)) slot = this.desktops.add(join.name, this.#words);
    if (slot < 0) {
      if (opens && !this.#kept.has(world)) this.torus.remove(world);
      throw new ProblemError('relay-full', 'The relay has no room for another desktop; come back later.');
    }
    token.set(this.#words);
    this.#makeInvitation(slot, invitation);
    if (isDefault) admission?.seated(slot, row);
    if (opens) {
      world.openedBy = row;
      world.pictures = join.pictures ?? 'any';
      world.stage = join.stage ?? true;
      admission?.worldOpened(row);
    }
    if (world.pictures !== 'any') this.#flags[slot] |= STRICT;
    this.desktops.setShows(slot, join.stage ?? world.stage);
    this.torus.seat(slot, world, friend);
    if (facts) {
      const place = this.torus.placeOf(slot);
      facts.desktop(this.desktops.row(slot, world, place));
      const last = world.count - 1;
      if (place !== last) facts.place(world.slots[last], last);
    }
    this.delayedPolls.restart(slot);
    this.#notices.join(slot);
    this.counters.joined++;
    if (world.count === 1 && this.#kept.of(world)) {
      this.#kept.sort(world);
      this.#tryKept(world);
    }
    this.#worldChanged(world);
    this.#deadlines.set(slot, this.#nowMs + FIRST_POLL_MS);
    return slot;
  }

  /** Makes a new invitation of a live desktop, whose four words `invitation` receives; the earlier one ends. */
  renewInvitation(slot: number, invitation: Uint32Array): void {
    this.#makeInvitation(slot, invitation);
    this.#facts?.invitation(slot, invitation);
  }

  #makeInvitation(slot: number, invitation: Uint32Array): void {
    this.#options.randomize(this.#words);
    this.desktops.setInvitation(slot, this.#words);
    invitation.set(this.#words);
  }

  /** How many desktops are here. The names of private worlds are secret, so those are only counted. */
  count(): Counts {
    const { name, count } = this.#defaultWorld;
    return {
      desktops: this.desktops.count,
      worlds: [{ world: name, desktops: count }],
      privateWorlds: this.torus.worldCount - 1 - this.#kept.emptyCount(this.#defaultWorld),
    };
  }

  /**
   * Ends a desktop that leaves, is kicked, or whose lease has ended: its sprites move on, its parked poll is answered with
   * `detail`.
   */
  leave(slot: number, detail = LEFT_DETAIL): void {
    const world = this.torus.worldOf(slot);
    const facts = this.#facts;
    if (this.mailboxes.count(slot) > 0) facts?.moving(slot);
    if (this.#parked[slot] !== 0) {
      this.#answerProblem(this.#unpark(slot), this.#endedProblem(detail, this.mailboxes.acknowledged(slot)));
    }
    this.#deadlines.clear(slot);
    if (this.#flags[slot] & MUTES) this.mutes.clear(slot);
    this.peeks.leave(slot);
    this.#flags[slot] &= ~(NEIGHBOURS_DUE | NOTICES_DUE | MUTES | STRICT | HEARING | PEEKING);
    this.speech.leave(slot);
    this.#remember(slot);
    this.desktops.end(slot);
    this.counters.left++;
    this.#options.admission?.unseated(slot);
    const place = this.torus.placeOf(slot);
    const { width } = world;
    if (world.count > 1 && !(this.#isEnding && world === this.#defaultWorld)) {
      this.#moveAll(slot, (entry, events, bytes) =>
        this.#next(world, placeBeyond(place, opposite(entry), world.count, world.width), entry, events, bytes),
      );
    }
    this.torus.unseat(slot);
    if (world.count === 0 && world.openedBy !== NO_ADDRESS) {
      this.#options.admission?.worldClosed(world.openedBy);
      world.openedBy = NO_ADDRESS;
    }
    if (this.mailboxes.count(slot) > 0) {
      // The sprites wait until a desktop joins this world, or one in their direction of travel has room.
      this.#kept.add(world, slot, this.mailboxes.usedBytes(slot));
      facts?.kept(slot, this.desktops.owners(slot), world.name, place);
    } else {
      this.#release(slot);
      this.#kept.sort(world);
    }
    if (facts && place < world.count) facts.place(world.slots[place], place);
    if (world.width !== width && world.count > 0) facts?.width(world.name, world.width);
    if (world.count > 0) this.#worldChanged(world);
    else if (!this.#kept.has(world)) this.#removeWorld(world);
  }

  /**
   * Remembers the owner of a slot, who ends now and before its sprites move, if something was sent to it, or if a crossing of it was accepted or
   * may still be.
   */
  #remember(slot: number): void {
    const { mailboxes, desktops, ended } = this;
    const ending = desktops.ending(slot, mailboxes.acknowledged(slot));
    const isThrowing = this.#peers?.isThrowing(slot, ending.generation) ?? false;
    if (mailboxes.newest(slot) === 0 && ending.newestCrossing === 0 && !isThrowing) return;
    const row = ended.add(ending, this.#nowMs);
    if (this.#facts) ended.writeState(row, this.#facts);
  }

  /** Moves the sprites of a mailbox: `target` as in Mailboxes.moveAll(). */
  #moveAll(slot: number, target: (entry: EdgeNumber, events: number, bytes: number) => number): void {
    const facts = this.#facts;
    if (this.mailboxes.count(slot) === 0) return;
    facts?.unsent(slot);
    this.counters.forwarded += this.mailboxes.moveAll(slot, (entry, events, bytes) => {
      const to = target(entry, events, bytes);
      if (to >= 0) facts?.moved(slot, entry, to, events);
      return to;
    });
  }

  /** Frees the slot of a desktop that has ended, and what its mailbox still has. */
  #release(slot: number): void {
    this.#handOver?.forget(slot);
    this.mailboxes.clear(slot);
    this.desktops.release(slot);
    this.#facts?.free(slot, this.desktops.owners(slot));
  }

  /**
   * The way up: puts a crossing into the neighbour's mailbox, or refuses it.
   *
   * Shape   unless the verdict is 'accepted' or 'deferred', nothing changed; a refused sprite stays with its sender. `ticket`: the
   *         request to answer later when the verdict is 'deferred'.
   * Owner   the response is valid until the next call; the passage is copied.
   * Cost    O(1), no allocation; a refusal of one kind allocates its body once, but one of a desktop that is not live each time.
   */
  accept(
    from: Identity,
    checked: CheckedCrossing,
    standing: Standing = Standing.unchecked,
    ticket = 0,
  ): Readonly<CrossingResponse> {
    const { crossing, edge } = checked;
    const state = this.desktops.authenticate(from);
    if (state !== 'live') {
      // The neighbour has the sprite of a repeat: the sender must not take it back because its lease ended meanwhile.
      if (this.ended.isAccepted(from, crossing, this.#nowMs)) {
        this.counters.repeated++;
        return this.#confirm('repeated', -1);
      }
      if (this.#peers?.isThrowing(from.slot, from.generation) && this.ended.isKnown(from, this.#nowMs)) {
        if (this.#peers.await(from.slot, from.generation, crossing, ticket)) return this.#postpone();
      }
      const document = this.refusal(from, state);
      return this.#refusedBy(document.code, Buffer.from(JSON.stringify(document)));
    }
    const { slot } = from;
    const recency = this.desktops.recencyOf(slot, crossing);
    if (recency === 'stale') return this.#refuse('crossing-stale');
    if (recency === 'repeated') {
      this.counters.repeated++;
      return this.#confirm('repeated', this.desktops.receiverOf(slot, crossing));
    }
    const peers = this.#peers;
    if (peers?.await(slot, from.generation, crossing, ticket)) return this.#postpone();
    const place = peers?.compare(slot, from.generation, crossing) ?? 'near';
    if (place !== 'near') return this.#refuse(`crossing-${place}`);
    // Checked after repeats: refusing a repeat would make its sender take back a sprite that the neighbour already has.
    if (this.#draining) return this.#refuse('draining');
    if (this.#flags[slot] & STRICT && !isCarried(this.torus.worldOf(slot).pictures, standing)) {
      this.counters.refusedPicture++;
      return this.#refuse('picture-refused');
    }
    if (this.#facts?.hasRoom === false) return this.#refuse('journal-full');
    if (!this.desktops.allowThrow(slot, this.#nowMs)) {
      this.counters.refusedFast++;
      return this.#refuse('too-fast');
    }
    // Named in the response even when it mutes the thrower, which must not notice that.
    const named = this.torus.neighbour(slot, edge);
    const reference = this.desktops.writeReference(slot, this.#head, FROM.length);
    this.#head[reference] = COMMA;
    const thrown = this.#thrown;
    thrown.edge = opposite(edge);
    thrown.headLength = reference + 1;
    thrown.body = checked.body;
    thrown.start = checked.start;
    thrown.end = checked.end;
    thrown.slot = slot;
    thrown.generation = from.generation;
    thrown.crossing = crossing;
    if (named < 0) return (peers as Peers).pass(thrown, ticket) ? this.#postpone() : this.#refuse('relay-busy');
    const to = this.#flags[named] & MUTES ? this.#beyondMuting(from, edge, named, slot) : named;
    if (to < 0) {
      this.counters.refusedFull++;
      return this.#refuse('mailbox-full');
    }
    if (!this.#append(to, thrown)) {
      this.counters.refusedFull++;
      return this.#refuse('mailbox-full');
    }
    this.counters.accepted++;
    this.desktops.recordAccepted(slot, crossing, named);
    if (this.#facts) {
      thrown.to = to;
      thrown.arrived = this.mailboxes.lastArrival;
      thrown.receiver = named;
      thrown.receiverGeneration = this.desktops.generation(named);
      this.#facts.accepted(thrown);
    }
    this.#markReady(to);
    return this.#confirm('accepted', named);
  }

  /** Appends an event to a mailbox, and makes room for it in the slab if that helps. Returns false when there is still no room. */
  #append(to: number, passage: Readonly<Passage>): boolean {
    if (this.mailboxes.append(to, passage)) return true;
    const length = passage.headLength + passage.end - passage.start;
    // Kept sprites, which may never be fetched, must not block the desktops that are here.
    if (!this.mailboxes.hasRoom(to, length) || !this.#makeRoom(eventBlockBytes(length))) return false;
    return this.mailboxes.append(to, passage);
  }

  /**
   * The first desktop of this relay from `first` on, in the direction of travel, that does not mute the thrower; -1 when there is none near.
   * `home`: the thrower's slot, or NO_SLOT when it is at another relay.
   */
  #beyondMuting(
    { slot, generation }: Pick<Identity, 'slot' | 'generation'>,
    edge: EdgeNumber,
    first: number,
    home: number,
  ): number {
    let to = first;
    for (let hops = 0; hops < MUTE_HOPS_MAX; hops++) {
      if (!(this.#flags[to] & MUTES) || !this.mutes.has(to, slot, generation)) return to;
      to = this.torus.ownNeighbour(to, edge);
      // It does not come home: only a desktop that is alone is its own neighbour.
      if (to === home) return -1;
    }
    return -1;
  }

  /** A crossing of a desktop of another relay arrives. Returns one of PeerVerdict. */
  #receive(record: PeerRecord): number {
    const { place, edge, moved } = record;
    const world = moved === undefined ? this.#defaultWorld : this.#movedHere(moved);
    if (this.#draining || world === undefined || world.count === 0) return PeerVerdict.busy;
    // The sender's view is some steps old.
    const named = world.slots[Math.min(place, world.count - 1)];
    const to = this.#flags[named] & MUTES ? this.#beyondMuting(record, opposite(edge), named, NO_SLOT) : named;
    if (to < 0 || !this.#append(to, record)) {
      this.counters.refusedFull++;
      return PeerVerdict.full;
    }
    this.#named = named;
    this.counters.accepted++;
    this.#tellArrived(to, record);
    this.#markReady(to);
    return PeerVerdict.accepted;
  }

  /** Tells that a crossing without a thrower here, whole in its body, was appended to the mailbox of `to`. */
  #tellArrived(to: number, { edge, body, start, end }: Readonly<Passage>): void {
    if (this.#facts === undefined) return;
    const arrived = this.#arrived;
    arrived.to = to;
    arrived.edge = edge;
    arrived.arrived = this.mailboxes.lastArrival;
    arrived.body = body;
    arrived.start = start;
    arrived.end = end;
    this.#facts.accepted(arrived);
  }

  /** The private world that a sprite of another relay is for; undefined when it is not here, or is stricter about pictures. */
  #movedHere({ name, pictures }: MovedWorld): World | undefined {
    const world = this.torus.find(name);
    if (world === this.#defaultWorld || world?.home !== undefined) return undefined;
    return world !== undefined && PICTURES.indexOf(pictures) >= PICTURES.indexOf(world.pictures) ? world : undefined;
  }

  #referenceAt(place: number | 'received'): Buffer | undefined {
    const { slots, count } = this.#defaultWorld;
    if (place !== 'received' && place >= count) return undefined;
    const slot = place === 'received' ? this.#named : slots[place];
    return Buffer.from(this.#receipt.subarray(TO.length, this.desktops.writeReference(slot, this.#receipt, TO.length)));
  }

  /** The verdict of another relay on a crossing from here: one of PeerVerdict, or ABANDONED. */
  #settle(slot: number, generation: number, crossing: number, verdict: number): void {
    if (isPassed(verdict)) {
      if (this.desktops.isLive(slot) && this.desktops.generation(slot) === generation) {
        this.desktops.recordPassed(slot, crossing);
      } else {
        const row = this.ended.accept(slot, generation, crossing, this.#nowMs);
        if (row >= 0 && this.#facts) this.ended.writeState(row, this.#facts);
      }
    }
    if (verdict === ABANDONED) {
      this.counters.accepted++;
      this.counters.abandoned++;
    }
  }

  /** Answers the requests that wait for such a verdict. */
  #answerVerdict(tickets: readonly number[], verdict: number, reference: Buffer | undefined): void {
    const response = isPassed(verdict)
      ? this.#confirm('accepted', -1, reference)
      : this.#refuse(REFUSAL_OF[verdict] ?? 'relay-busy');
    for (const ticket of tickets) this.#options.answers.answer(ticket, response);
  }

  /**
   * A sprite in custody goes on, because another relay has refused it: to a desktop of this relay in its direction of travel. An own mailbox
   * keeps it while there is none with room, as if it had waited for a desktop that has ended.
   */
  #sendOn(record: PeerRecord): void {
    const { slot, generation, edge, start, end } = record;
    const world = this.#defaultWorld;
    const isHere = this.desktops.isLive(slot) && this.desktops.generation(slot) === generation;
    const first = isHere ? this.torus.placeOf(this.torus.ownNeighbour(slot, opposite(edge))) : this.torus.placeOf(slot);
    this.counters.accepted++;
    const size = eventBlockBytes(end - start);
    const to = world.count > 0 ? this.#next(world, first % world.count, edge, 1, size) : -1;
    if (to >= 0 && this.mailboxes.carry(to, record)) this.#tellArrived(to, record);
    else if (!this.#keepAlone(first, record)) this.counters.abandoned++;
  }

  /** Keeps a sprite of the default world in a mailbox of its own. Returns false when there is no room, whatever is evicted. */
  #keepAlone(place: number, passage: Readonly<Passage>): boolean {
    const { desktops, mailboxes } = this;
    if (desktops.isFull && this.#evictOldest() === 0) return false;
    this.#options.randomize(this.#words);
    const slot = desktops.add('', this.#words);
    desktops.end(slot);
    if (!mailboxes.carry(slot, passage)) {
      if (this.#makeRoom(eventBlockBytes(passage.end - passage.start))) mailboxes.carry(slot, passage);
    }
    if (mailboxes.count(slot) === 0) {
      this.#release(slot);
      return false;
    }
    const world = this.#defaultWorld;
    this.torus.keep(slot, world, place);
    this.#kept.add(world, slot, mailboxes.usedBytes(slot));
    if (this.#facts) this.writeState(slot, this.#facts);
    return true;
  }

  /** The verdict of another relay on a sprite that waits here and was handed on. */
  #settleWaiting({ slot, owners, edge, arrived }: WaitingSprite, verdict: number): void {
    const { desktops, mailboxes, counters } = this;
    if (desktops.isLive(slot) || desktops.owners(slot) !== owners) return;
    if (isPassed(verdict)) this.#handOver?.passed();
    if (isPassed(verdict) && mailboxes.remove(slot, edge, arrived)) {
      if (verdict === ABANDONED) counters.abandoned++;
      else counters.acknowledged++;
    }
    const world = this.torus.worldOf(slot);
    if (this.#peers?.isHanding(slot) || !this.#kept.isHeld(world, slot)) return;
    this.#kept.unhold(world, slot, mailboxes.usedBytes(slot));
    if (mailboxes.count(slot) > 0) {
      this.#handOver?.left(slot);
      return;
    }
    this.#dropKept(world, slot);
    this.#removeIfEmpty(world);
  }

  #postpone(): CrossingResponse {
    const response = this.#response;
    response.verdict = 'deferred';
    response.status = 0;
    response.end = 0;
    return response;
  }

  /** From now on what `muted` throws towards `slot` goes on to the next desktop. Throws list-full, relay-full. */
  mute(slot: number, muted: { slot: number; generation: number }): void {
    const outcome = this.mutes.add(slot, muted.slot, muted.generation);
    if (outcome === 'full') {
      throw new ProblemError('list-full', `A desktop can mute ${MUTES_MAX} others; end one of these mutes first.`);
    }
    if (outcome === 'relay-full') throw new ProblemError('relay-full', 'The relay has no room for another mute.');
    this.#flags[slot] |= MUTES;
    this.#facts?.mutes(slot, this.mutes.of(slot));
    this.peeks.check(slot);
    if (muted.slot < this.desktops.max) this.peeks.check(muted.slot);
  }

  unmute(slot: number, muted: { slot: number; generation: number }): void {
    if (!this.mutes.remove(slot, muted.slot, muted.generation)) this.#flags[slot] &= ~MUTES;
    this.#facts?.mutes(slot, this.mutes.of(slot));
  }

  /** Says something to all who hear a live desktop; returns how many others. See Speech.say(), also for what it throws. */
  say(slot: number, saying: Saying): number | null {
    return this.speech.say(slot, saying, this.#nowMs, this.#draining);
  }

  /** A live desktop watches what is beyond an edge; null: nothing. Returns the lease in ms. See Peeks.peek(), also for what it throws. */
  peek(slot: number, edge: EdgeNumber | null): number {
    return this.peeks.peek(slot, edge, this.#draining);
  }

  /**
   * A live desktop shows its stage to those who watch it: body[start, end) as readStage() made it. Returns a bit for each edge through
   * which it is watched. Throws too-fast, picture-refused.
   */
  show(slot: number, body: Buffer, start: number, end: number, standing: Standing): number {
    if (this.#flags[slot] & STRICT && !isCarried(this.torus.worldOf(slot).pictures, standing)) {
      throw new ProblemError('picture-refused', 'This world does not carry all pictures of this stage.');
    }
    return this.peeks.show(slot, body, start, end, this.#preciseMs());
  }

  /** From now on a live desktop shows its stage to those who peek, or does not. */
  setShows(slot: number, isShown: boolean): void {
    this.desktops.setShows(slot, isShown);
    this.#facts?.stage(slot, isShown);
    if (!isShown) this.peeks.hide(slot);
  }

  /** From now on nobody hears what a live desktop has said. */
  silence(slot: number): void {
    this.speech.silence(slot, this.#nowMs);
  }

  /** Sends an event to every desktop that is here, with its next answer. Parked polls are answered in the next steps. */
  notify(event: object): void {
    this.#notices.add(event);
    this.#noticed = 0;
  }

  /**
   * The way down: acknowledges the events up to the cursor, then answers with the waiting ones, or parks the ticket.
   *
   * Shape   `seq` is -1 when the poll has no cursor. The ticket is answered now or later, through the AnswerSink. A poll
   *         that is already parked is answered empty: a newer poll replaces the older one. When that happens often, or when
   *         the same sprites are asked for again and again, the answer is delayed (delayed_polls.ts).
   */
  poll(identity: Identity, ticket: number, epoch: number, seq: number): void {
    this.counters.polls++;
    const { slot } = identity;
    const state = this.desktops.authenticate(identity);
    if (state !== 'live') {
      this.#answerProblem(ticket, this.refusal(identity, state));
      return;
    }
    const acknowledged = this.mailboxes.acknowledged(slot);
    if (seq >= 0) {
      if (epoch !== this.epoch) {
        const detail = 'The relay has restarted since it gave this cursor; go on from the one in `cursor`.';
        const cursor = writeCursor(this.epoch, acknowledged);
        this.#answerProblem(ticket, problem('cursor-lost', detail, { cursor }));
        return;
      }
      if (seq > this.mailboxes.newest(slot)) {
        const detail = 'No event with this sequence has been sent; go on from the one in `cursor`.';
        const cursor = writeCursor(this.epoch, acknowledged);
        this.#answerProblem(ticket, problem('cursor-ahead', detail, { cursor }));
        return;
      }
      const count = this.mailboxes.acknowledge(slot, seq);
      this.counters.acknowledged += count;
      if (count > 0) this.#facts?.acknowledged(slot, seq);
    }
    if (this.#parked[slot] !== 0) {
      const older = this.#unpark(slot);
      this.counters.replaced++;
      const isHeld = this.delayedPolls.hold(older, slot, identity.generation, this.#nowMs, false);
      if (!isHeld) this.#answerEvents(slot, older, false, 0);
    }
    const hasEvents = this.#hasEvents(slot);
    const isRepeat = this.mailboxes.newest(slot) > this.mailboxes.acknowledged(slot);
    if (isRepeat && this.delayedPolls.hold(ticket, slot, identity.generation, this.#nowMs, true)) {
      // It is answered later, with what waits then.
    } else if (hasEvents && this.#hasRoom(ticket)) {
      this.#answerEvents(slot, ticket, false, EVENTS_PER_POLL_MAX);
    } else if (this.#draining) {
      this.#answerBye(slot, ticket);
    } else {
      this.#parked[slot] = ticket + 1;
      this.#parkedCount++;
      const jitter = 1 + PING_JITTER * (2 * this.#options.random() - 1);
      this.#deadlines.set(slot, this.#nowMs + this.pingMs * jitter);
      if (hasEvents) this.#defer(slot);
      if (this.#flags[slot] & HEARING) this.speech.rounds.list(slot);
      if (this.#flags[slot] & PEEKING) this.peeks.rounds.list(slot);
      return;
    }
    this.#deadlines.set(slot, this.#nowMs + LEASE_MS);
  }

  /** The connection of a ticket is closed: unparks its poll and starts the lease. Returns false when it was not parked. */
  closed(ticket: number, slot: number): boolean {
    if (slot >= this.desktops.max) return false;
    if (this.#parked[slot] !== ticket + 1) return this.delayedPolls.remove(ticket);
    this.#unpark(slot);
    this.#deadlines.set(slot, this.#nowMs + LEASE_MS);
    return true;
  }

  /** A newer request waits behind the poll of a ticket: answers that poll empty if it is still parked, as a newer poll would. */
  outdated(ticket: number, slot: number): void {
    if (slot >= this.desktops.max) return;
    if (this.delayedPolls.remove(ticket)) this.#answerEvents(slot, ticket, false, 0);
    if (this.#parked[slot] !== ticket + 1) return;
    this.#answerEvents(slot, this.#unpark(slot), false, 0);
    this.#deadlines.set(slot, this.#nowMs + LEASE_MS);
  }

  /** Unparks every poll for whose ticket `isClosed` returns true: the process that held their connections has died. */
  closedAll(isClosed: (ticket: number) => boolean): void {
    this.delayedPolls.removeAll(isClosed);
    for (let slot = 0; slot < this.desktops.max; slot++) {
      if (this.#parked[slot] !== 0 && isClosed(this.#parked[slot] - 1)) this.closed(this.#parked[slot] - 1, slot);
    }
  }

  /** Ends a turn: answers each parked poll for which events have arrived, once. */
  endTurn(): void {
    this.#handOver?.step();
    this.#peers?.endTurn();
    for (let at = 0; at < this.#readyCount; at++) {
      const slot = this.#ready[at];
      this.#flags[slot] &= ~READY;
      // The events may be gone again: a newer poll got them, or they were for an earlier owner of the slot.
      if (this.#parked[slot] === 0 || !this.#hasEvents(slot)) continue;
      if (!this.#hasRoom(this.#parked[slot] - 1)) {
        this.#defer(slot);
        continue;
      }
      this.counters.wakes++;
      this.#answerEvents(slot, this.#unpark(slot), false, EVENTS_PER_POLL_MAX);
      this.#deadlines.set(slot, this.#nowMs + LEASE_MS);
    }
    this.#readyCount = 0;
  }

  /** Tries again to answer the polls whose receivers had no room. The next endTurn() sends what fits now. */
  retryDeferred(): void {
    const slots = this.#deferred;
    this.#deferred = [];
    for (const slot of slots) {
      this.#flags[slot] &= ~DEFERRED;
      this.#markReady(slot);
    }
  }

  /**
   * Sets the time and does one step of what is due: pings, ends of leases, notifications of small worlds, sayings, stages. Ends the
   * turn.
   *
   * Shape   true when more is due: call it again soon, with the same time or a later one.
   * Units   ms, monotonic.
   * Cost    bounded by DUE_PER_STEP_MAX, plus as many delayed answers, one small world, HEARERS_PER_STEP_MAX,
   *         WATCHERS_PER_STEP_MAX, and one step of a drain and of kept mailboxes.
   */
  advance(nowMs: number): boolean {
    if (nowMs > this.#nowMs) this.#looksLeft = EVICTION_LOOKS_MAX;
    this.#nowMs = nowMs;
    this.#peers?.advance(nowMs);
    let left = DUE_PER_STEP_MAX;
    let isMoreDue = this.#deadlines.advance(nowMs, (slot) => {
      if (this.#parked[slot] !== 0) {
        this.counters.pings++;
        const eventsMax = this.#hasRoom(this.#parked[slot] - 1) ? EVENTS_PER_POLL_MAX : 0;
        this.#answerEvents(slot, this.#unpark(slot), true, eventsMax);
        this.#deadlines.set(slot, nowMs + LEASE_MS);
      } else if (this.#draining) {
        // No poll can be parked any more. The next relay begins all leases again.
        this.#deadlines.set(slot, nowMs + LEASE_MS);
      } else {
        this.counters.leasesEnded++;
        this.leave(slot);
      }
      return --left > 0 && this.#facts?.isLong !== true;
    });
    const dueMs = this.#draining ? Number.POSITIVE_INFINITY : nowMs;
    if (this.delayedPolls.answerDue(dueMs, DUE_PER_STEP_MAX, this.#answerDelayed)) isMoreDue = true;
    if (nowMs >= this.#nextStepMs && this.#notifying.size === 0) {
      this.#nextStepMs = nowMs + NEIGHBOURS_STEP_MS;
      [this.#notifying, this.#changed] = [this.#changed, this.#notifying];
    }
    if (this.#notifySmallWorlds(left)) isMoreDue = true;
    if (this.#noticed < this.desktops.max && this.#markNoticed(left)) isMoreDue = true;
    if (this.#keptStep()) isMoreDue = true;
    if (this.#sayingsStep()) isMoreDue = true;
    if (this.#stagesStep()) isMoreDue = true;
    if (this.#draining && this.#drainStep()) isMoreDue = true;
    if (this.#isEnding && this.#endingStep()) isMoreDue = true;
    this.endTurn();
    return isMoreDue;
  }

  /**
   * From now on joins and new crossings are refused. Parked polls are answered "come back later": the first ones at once, the
   * others in steps, each by a call of advance(). `joins`: where desktops may join other relays, URLs of at most JOIN_URL_BYTES_MAX each.
   */
  drain(joins: readonly string[] = []): void {
    this.#draining = true;
    this.#joins = joins.map((url) => `,"join":${JSON.stringify(url)}`);
    this.#pioneers = joins.length > 0 && this.#peers?.shared === undefined ? PIONEERS_MAX : 0;
    this.delayedPolls.answerDue(Number.POSITIVE_INFINITY, DUE_PER_STEP_MAX, this.#answerDelayed);
    this.#drainStep();
  }

  /**
   * Ends the desktops of the default world, in steps, each by a call of advance(). What waits for them is handed on to other relays, as soon
   * as one has desktops. What is not handed on before the relay stops waits in the journal. REQUIRES: it drains, and is in a cluster.
   */
  handOver(): void {
    this.#isEnding = true;
    this.#endingCount = this.#defaultWorld.count;
  }

  /** Whether nothing of the default world waits any more, nor is in custody, after handOver(). */
  get isHandedOver(): boolean {
    const isEmpty = this.#defaultWorld.count === 0 && !this.#kept.has(this.#defaultWorld);
    return this.#isEnding && isEmpty && this.peerMemory.custody.size === 0;
  }

  /** How many mailboxes have sprites, and of how many worlds. */
  get waitingIn(): { mailboxes: number; worlds: number } {
    const worlds = new Set<World>();
    let mailboxes = 0;
    for (let slot = 0; slot < this.desktops.untouched; slot++) {
      if (this.mailboxes.count(slot) === 0) continue;
      mailboxes++;
      worlds.add(this.torus.worldOf(slot));
    }
    return { mailboxes, worlds: worlds.size };
  }

  /** Ends the next desktops. Returns whether some are left. */
  #endingStep(): boolean {
    const world = this.#defaultWorld;
    // What is not written down has not happened: the next life would have them again, and what was handed on.
    if (this.#facts?.hasRoom === false) return false;
    // From the last place on, so that no other desktop moves.
    for (let left = DUE_PER_STEP_MAX; left > 0 && world.count > 0 && this.#facts?.isLong !== true; left--) {
      this.leave(world.slots[world.count - 1], HANDED_OVER_DETAIL);
    }
    return world.count > 0;
  }

  /** Answers the next parked polls of a drain. Returns whether slots are left. */
  #drainStep(): boolean {
    const end = Math.min(this.desktops.max, this.#drainedSlots + DRAINED_PER_STEP_MAX);
    let left = DUE_PER_STEP_MAX;
    let slot = this.#drainedSlots;
    for (; slot < end && left > 0; slot++) {
      if (this.#parked[slot] === 0) continue;
      this.#answerBye(slot, this.#unpark(slot));
      left--;
    }
    this.#drainedSlots = slot;
    return slot < this.desktops.max;
  }

  describe(slot: number): DesktopDetails {
    const beyond = (edge: EdgeNumber) => {
      const neighbour = this.torus.neighbour(slot, edge);
      if (neighbour < 0) {
        const remote = this.#peers?.reference(slot);
        return remote === undefined ? undefined : JSON.parse(remote.toString());
      }
      return { desktop: this.desktops.id(neighbour), name: this.desktops.name(neighbour) };
    };
    return {
      desktop: this.desktops.id(slot),
      name: this.desktops.name(slot),
      world: this.torus.worldOf(slot).name,
      pictures: this.torus.worldOf(slot).pictures,
      stage: this.desktops.shows(slot),
      place: this.torus.placeOf(slot),
      neighbours: { left: beyond(0), right: beyond(1), top: beyond(2), bottom: beyond(3) },
    };
  }

  /** 202 with the receiver, `{"to":{…}}`; or `{"to":null}` when the receiver is no longer known (-1). */
  #confirm(verdict: 'accepted' | 'repeated', receiver: number, reference?: Buffer): CrossingResponse {
    const response = this.#response;
    response.verdict = verdict;
    response.status = 202;
    response.retryAfterSeconds = 0;
    response.body = this.#receipt;
    if (reference !== undefined) {
      // `{"to":` is already at the beginning.
      const end = TO.length + reference.copy(this.#receipt, TO.length);
      this.#receipt[end] = CLOSE;
      response.end = end + 1;
    } else if (receiver < 0) {
      response.end = TO_UNKNOWN.copy(this.#receipt);
    } else {
      // `{"to":` is already at the beginning.
      const end = this.desktops.writeReference(receiver, this.#receipt, TO.length);
      this.#receipt[end] = CLOSE;
      response.end = end + 1;
    }
    return response;
  }

  /**
   * The problem document for a desktop that is not live, whatever it asks for. If it is remembered, its owner learns what it had acknowledged:
   * that is the owner's, and what was sent after it has gone on.
   */
  refusal(identity: Identity, state: 'ended' | 'unknown'): ProblemDocument & { code: NotLive } {
    if (state === 'unknown') return problem('unknown-desktop', UNKNOWN_DETAIL);
    const isOwner = this.ended.isKnown(identity, this.#nowMs);
    return this.#endedProblem(ENDED_DETAIL, isOwner ? this.ended.acknowledged(identity, this.#nowMs) : -1);
  }

  /** `acknowledged`: the last sequence that the desktop acknowledged; -1 when that is not known. */
  #endedProblem(detail: string, acknowledged: number): ProblemDocument & { code: 'desktop-ended' } {
    const cursor = acknowledged < 0 ? undefined : writeCursor(this.epoch, acknowledged);
    return problem('desktop-ended', detail, { cursor });
  }

  #refuse(code: Refusal): CrossingResponse {
    let body = this.#refusals.get(code);
    if (!body) {
      body = Buffer.from(JSON.stringify(problem(code, REFUSALS[code])));
      this.#refusals.set(code, body);
    }
    return this.#refusedBy(code, body);
  }

  #refusedBy(code: Refusal | NotLive, body: Buffer): CrossingResponse {
    const { status, retryAfterSeconds } = PROBLEMS[code];
    const response = this.#response;
    response.verdict = code;
    response.status = status;
    response.retryAfterSeconds = retryAfterSeconds;
    response.body = body;
    response.end = body.length;
    return response;
  }

  #findFriend({ slot, secret }: Invitation): number {
    if (this.desktops.isInvitation(slot, secret)) return slot;
    throw new ProblemError('near-gone', 'near: this desktop has left, or has renewed its invitation; join without it.');
  }

  #hasEvents(slot: number): boolean {
    return this.mailboxes.count(slot) > 0 || (this.#flags[slot] & (NEIGHBOURS_DUE | NOTICES_DUE)) !== 0;
  }

  #hasRoom(ticket: number): boolean {
    const { answers } = this.#options;
    return answers.hasRoom === undefined || answers.hasRoom(ticket);
  }

  #hasRoomForSayings(ticket: number): boolean {
    const { answers } = this.#options;
    return answers.hasRoomForSayings === undefined || answers.hasRoomForSayings(ticket);
  }

  /** Leaves what waits for a parked poll in the mailbox until retryDeferred(). */
  #defer(slot: number): void {
    if (this.#flags[slot] & DEFERRED) return;
    this.#flags[slot] |= DEFERRED;
    this.#deferred.push(slot);
  }

  /** The delayed answer of a poll. Its desktop may have ended since, or have a newer poll, which gets what waits. */
  readonly #answerDelayed = (ticket: number, { slot, generation, isRepeat }: HeldPoll): void => {
    if (this.desktops.isLive(slot) && this.desktops.generation(slot) === generation) {
      const hasEvents = isRepeat && this.#parked[slot] === 0 && this.#hasRoom(ticket);
      this.#answerEvents(slot, ticket, false, hasEvents ? EVENTS_PER_POLL_MAX : 0);
      if (isRepeat) this.#deadlines.set(slot, this.#nowMs + LEASE_MS);
    } else {
      const acknowledged = this.ended.acknowledged({ slot, generation }, this.#nowMs);
      this.#answerProblem(ticket, this.#endedProblem(ENDED_DETAIL, acknowledged));
    }
  };

  #unpark(slot: number): number {
    const ticket = this.#parked[slot] - 1;
    this.#parked[slot] = 0;
    this.#parkedCount--;
    return ticket;
  }

  #markReady(slot: number): void {
    if (this.#parked[slot] === 0 || this.#flags[slot] & READY) return;
    this.#flags[slot] |= READY;
    if (this.#readyCount === this.#ready.length) {
      const larger = new Uint32Array(this.#ready.length * 2);
      larger.set(this.#ready);
      this.#ready = larger;
    }
    this.#ready[this.#readyCount++] = slot;
  }

  #worldChanged(world: World): void {
    if (world.count <= SMALL_WORLD_MAX) this.#changed.add(world);
  }

  /** Notifies small worlds of their neighbours, until at least `max` desktops are notified. Returns whether worlds are left. */
  #notifySmallWorlds(max: number): boolean {
    let left = max;
    for (const world of this.#notifying) {
      if (left <= 0) return true;
      this.#notifying.delete(world);
      if (world.count > SMALL_WORLD_MAX) continue;
      left -= world.count;
      for (let place = 0; place < world.count; place++) {
        const slot = world.slots[place];
        this.#flags[slot] |= NEIGHBOURS_DUE;
        this.#markReady(slot);
      }
    }
    return false;
  }

  /** Marks slots that the newest notice is due for, at most `max` of them or one. Returns whether slots are left. */
  #markNoticed(max: number): boolean {
    let left = Math.max(1, max);
    const end = Math.min(this.desktops.max, this.#noticed + NOTICE_SLOTS_PER_STEP);
    for (; this.#noticed < end && left > 0; this.#noticed++) {
      const slot = this.#noticed;
      if (!this.desktops.isLive(slot) || !this.#notices.isDue(slot)) continue;
      this.#flags[slot] |= NOTICES_DUE;
      this.#markReady(slot);
      left--;
    }
    return this.#noticed < this.desktops.max;
  }

  /**
   * The desktop that receives sprites which enter by `entry`: the first one with room for all of them, of ONWARD_DESKTOPS_MAX
   * from `place` on in their direction of travel; -1 when none has room. It is never one that has just ended and still has its place.
   */
  #next(world: World, place: number, entry: EdgeNumber, events: number, bytes: number): number {
    const direction = opposite(entry);
    let at = place;
    for (let tried = 0; tried < ONWARD_DESKTOPS_MAX; tried++) {
      const next = world.slots[at];
      if (!this.desktops.isLive(next)) return -1;
      if (this.mailboxes.canCarry(next, events, bytes)) {
        this.#markReady(next);
        return next;
      }
      at = placeBeyond(at, direction, world.count, world.width);
      if (at === place) return -1;
    }
    return -1;
  }

  /** Tries the oldest kept mailboxes of a world with desktops again: moves what has room, from the place the owner had. */
  #tryKept(world: World): void {
    const { mailboxes } = this;
    for (let tried = 0; tried < KEPT_TRIED_MAX; tried++) {
      const slot = this.#kept.of(world)?.[0];
      if (slot === undefined) return;
      const place = this.torus.placeOf(slot) % world.count;
      const before = mailboxes.usedBytes(slot);
      this.#facts?.moving(slot);
      this.#moveAll(slot, (entry, events, bytes) => this.#next(world, place, entry, events, bytes));
      for (let entry = 0; entry < 4 && mailboxes.count(slot) > 0; entry++) {
        const to = this.#next(world, place, entry as EdgeNumber, 1, BLOCK_BYTES_MAX);
        if (to < 0) continue;
        const moved = mailboxes.moveSome(slot, entry as EdgeNumber, to, ONWARD_SPRITES_MAX);
        this.counters.forwarded += moved;
        if (moved > 0) this.#facts?.moved(slot, entry as EdgeNumber, to, moved);
      }
      this.#kept.bytes -= before - mailboxes.usedBytes(slot);
      if (mailboxes.count(slot) > 0) return;
      this.#dropKept(world, slot);
    }
  }

  /** Answers the next hearers of a round with what they have to hear. Returns whether hearers are left. */
  #sayingsStep(): boolean {
    const { speech } = this;
    speech.beginRound(this.#nowMs);
    for (let left = HEARERS_PER_STEP_MAX; left > 0 && speech.rounds.isOpen; left--) {
      this.#answerListed(speech.rounds.visit(), HEARING, speech.rounds);
    }
    return speech.rounds.isOpen;
  }

  /** Ends watches that are due, and answers the next watchers of a round with what they see. Returns whether more is due. */
  #stagesStep(): boolean {
    const { peeks } = this;
    const isMoreDue = peeks.step(this.#nowMs);
    this.#peerPeeks?.step(this.#nowMs);
    for (let left = WATCHERS_PER_STEP_MAX; left > 0 && peeks.isRoundOpen; left--) {
      this.#answerListed(peeks.visit(), PEEKING, peeks.rounds);
    }
    return isMoreDue || peeks.isRoundOpen;
  }

  /** Answers the parked poll of a listed desktop, if it still has something of this kind; lists it again when there is no room now. */
  #answerListed(slot: number, flag: number, rounds: Rounds): void {
    if (this.#parked[slot] === 0 || !(this.#flags[slot] & flag)) return;
    if (!this.#hasRoomForSayings(this.#parked[slot] - 1)) {
      rounds.list(slot);
      return;
    }
    this.counters.wakes++;
    this.#answerEvents(slot, this.#unpark(slot), false, EVENTS_PER_POLL_MAX);
    this.#deadlines.set(slot, this.#nowMs + LEASE_MS);
  }

  /** Lets the next turns hand on what is kept, and no desktop here can have. */
  #beginHandOver(): void {
    if (this.#handOver === undefined || this.#handOver.isInRound) return;
    const due: number[] = [];
    for (const world of this.#moved) for (const slot of this.#kept.of(world) ?? []) due.push(slot);
    const { count } = this.#defaultWorld;
    const { view } = (this.#peers as Peers).membership;
    // A relay that stops ends its desktops first. Otherwise the view must show no desktop here: the last one may be joining again.
    const isDue = count > 0 ? !this.#isEnding : view.counts[view.self] === 0;
    let lastPlace = Math.max(count, this.#endingCount, 1) - 1;
    for (const slot of isDue ? (this.#kept.of(this.#defaultWorld) ?? []) : []) {
      due.push(slot);
      lastPlace = Math.max(lastPlace, this.torus.placeOf(slot));
    }
    this.#handOver.begin(due, lastPlace, this.#isEnding);
  }

  /** A private world is at another relay, which gets what waits here; undefined: it is here. Does nothing when there is no such world. */
  setHome(name: string, home: string | undefined): void {
    const world = this.torus.find(name);
    if (world === undefined) return;
    world.home = home;
    if (home === undefined) this.#moved.delete(world);
    else this.#moved.add(world);
  }

  /** One step of what kept mailboxes need: they move on where there is room, and stay within their share of the slab. */
  #keptStep(): boolean {
    const isNextRound = this.#nowMs >= this.#nextKeptMs && this.#keptDue.length === 0;
    if (isNextRound || this.#isEnding) this.#beginHandOver();
    // What waits is handed on, or stays in the journal.
    if (this.#isEnding) return false;
    if (isNextRound) {
      this.#nextKeptMs = this.#nowMs + KEPT_STEP_MS;
      this.#keptDue = this.#kept.openWorlds();
    }
    for (let tried = 0; tried < KEPT_WORLDS_PER_STEP_MAX && this.#facts?.isLong !== true; tried++) {
      const world = this.#keptDue.pop();
      if (world === undefined) break;
      if (world.count > 0) this.#tryKept(world);
    }
    let sprites = EVICTED_SPRITES_PER_STEP_MAX;
    for (let evicted = 0; this.#kept.bytes > KEPT_SHARE_MAX * this.slab.bytesMax; evicted++) {
      if (evicted === EVICTED_PER_STEP_MAX || sprites <= 0) return true;
      sprites -= this.#evictOldest();
    }
    return this.#keptDue.length > 0;
  }

  /** Makes room for a private world: evicts the one that has been empty longest. Returns whether it is gone. */
  #evictWorld(): boolean {
    const world = this.#kept.longestEmpty(this.#defaultWorld);
    if (world === undefined) return false;
    for (let evicted = 0; evicted < EVICTED_PER_STEP_MAX; evicted++) {
      const slot = this.#kept.of(world)?.[0];
      if (slot === undefined) break;
      this.#evict(world, slot);
    }
    return !this.#kept.has(world);
  }

  /** Makes room for a desktop, by what it lacks: a slot, or memory for its name. Keeps the sprites of the world it joins. */
  #makeRoomToJoin(name: string, world: World): boolean {
    if (this.desktops.isFull) return this.#evictOldest(world) > 0;
    return this.#makeRoom(nameBlockBytes(name), world);
  }

  /**
   * Makes room in the slab for a block of `bytes`, if an eviction can. The oldest sprites go: a mailbox with such a block, or
   * all those with blocks in a page in which nothing else is in use, so that the page can be used for blocks of this size.
   *
   * Shape   a page with the blocks of more than EVICTED_PER_STEP_MAX mailboxes takes several calls.
   * Cost    EVICTION_LOOKS_MAX blocks are looked at between two steps of the clock, each at most twice.
   */
  #makeRoom(bytes: number, except?: World): boolean {
    if (this.#looksLeft === 0) return false;
    const { mailboxes, slab } = this;
    const blocksOf = this.#blocksOfPage.fill(0);
    let page = -1;
    let blocksInPage = 0;
    let hasSize = false;
    const look = (block: BlockRef, size: number) => {
      this.#looksLeft--;
      hasSize = size === bytes;
      if (slab.isPageOf(block, size, ++blocksOf[pageOf(block)])) {
        page = pageOf(block);
        blocksInPage = blocksOf[page];
      }
      return !hasSize && page < 0 && this.#looksLeft > 0;
    };
    for (const [world, slot] of this.#kept.inOrder(except)) {
      if (mailboxes.visitBlocks(slot, look)) continue;
      if (!hasSize) break;
      this.#evict(world, slot);
      return true;
    }
    if (page < 0) return false;
    const inPage: [World, number][] = [];
    const count = (block: BlockRef) => {
      if (pageOf(block) === page) blocksInPage--;
      return true;
    };
    for (const [world, slot] of this.#kept.inOrder(except)) {
      const before = blocksInPage;
      mailboxes.visitBlocks(slot, count);
      if (blocksInPage < before) inPage.push([world, slot]);
      if (blocksInPage === 0 || inPage.length === EVICTED_PER_STEP_MAX) break;
    }
    for (const [world, slot] of inPage) this.#evict(world, slot);
    return true;
  }

  /** Evicts the oldest kept mailbox, but none of `except`; returns how many sprites it had. */
  #evictOldest(except?: World): number {
    for (const [world, slot] of this.#kept.inOrder(except)) return this.#evict(world, slot);
    return 0;
  }

  #evict(world: World, slot: number): number {
    const sprites = this.mailboxes.count(slot);
    this.counters.abandoned += sprites;
    this.#dropKept(world, slot);
    this.#removeIfEmpty(world);
    return sprites;
  }

  /** Removes a kept mailbox with the sprites that it still has. */
  #dropKept(world: World, slot: number): void {
    this.#kept.remove(world, slot, this.mailboxes.usedBytes(slot));
    this.#release(slot);
  }

  #removeIfEmpty(world: World): void {
    if (world.count === 0 && !this.#kept.has(world)) this.#removeWorld(world);
  }

  /** Removes a world without desktops and sprites, unless it is the default world. */
  #removeWorld(world: World): void {
    this.#changed.delete(world);
    this.#notifying.delete(world);
    this.#moved.delete(world);
    if (world !== this.#defaultWorld) this.torus.remove(world);
  }

  /** Answers a poll with up to `eventsMax` sprites, a ping if `ping`, and the neighbours, notices, stages and sayings that are due. */
  #answerEvents(slot: number, ticket: number, ping: boolean, eventsMax: number): void {
    const { answers } = this.#options;
    const isRoomy = eventsMax > 0 && (this.#flags[slot] & (HEARING | PEEKING)) !== 0 && this.#hasRoomForSayings(ticket);
    const isHearing = isRoomy && (this.#flags[slot] & HEARING) !== 0;
    const out = isHearing ? this.#ownRoom() : answers.room(ANSWER_BYTES_MAX);
    // The events are written first, after room for the longest head; then the head is written right before them.
    const start = (isHearing ? 0 : answers.roomAt()) + BATCH_HEAD_BYTES_MAX;
    const facts = this.#facts;
    const newest = facts === undefined ? 0 : this.mailboxes.newest(slot);
    let end = this.mailboxes.write(slot, out, start, eventsMax, POLL_BYTES_MAX);
    if (facts !== undefined && this.mailboxes.batchSeq > newest) facts.sent(slot, this.mailboxes.batchSeq);
    if (ping) {
      if (end > start) out[end++] = COMMA;
      end += PING.copy(out, end);
    }
    if (ping || (eventsMax > 0 && this.#flags[slot] & NEIGHBOURS_DUE)) {
      if (end > start) out[end++] = COMMA;
      end = this.#writeNeighbours(slot, out, end);
      this.#flags[slot] &= ~NEIGHBOURS_DUE;
    }
    if (eventsMax > 0 && this.#flags[slot] & NOTICES_DUE) {
      if (end > start) out[end++] = COMMA;
      end = this.#notices.write(slot, out, end);
      if (!this.#notices.isDue(slot)) this.#flags[slot] &= ~NOTICES_DUE;
    }
    if (isRoomy && this.#flags[slot] & PEEKING) {
      end = this.peeks.write(slot, out, end, end === start, this.#preciseMs());
      this.#flags[slot] &= ~PEEKING;
    }
    if (!isHearing) {
      this.#sendBatch(ticket, this.mailboxes.batchSeq, this.#batchOf(out, start, end));
      return;
    }
    const { bytes, count, missed } = this.speech.pop(slot);
    if (this.speech.waiting(slot) === 0) this.#flags[slot] &= ~HEARING;
    if (missed > 0) {
      if (end > start) out[end++] = COMMA;
      end = this.speech.sayings.writeMissed(missed, out, end);
    }
    if (count > 0 && end > start) out[end++] = COMMA;
    this.#sendBatch(ticket, this.mailboxes.batchSeq, this.#batchOf(out, start, end, bytes));
  }

  #ownRoom(): Buffer {
    this.#own ??= Buffer.alloc(ANSWER_BYTES_MAX + MISSED_BYTES_MAX);
    return this.#own;
  }

  #answerBye(slot: number, ticket: number): void {
    const { answers, random } = this.#options;
    const isAhead = this.#pioneers > 0 && this.torus.worldOf(slot) === this.#defaultWorld;
    if (isAhead) this.#pioneers--;
    const retryAfterMs = isAhead
      ? Math.round(PIONEER_MS * random())
      : byeMs(this.#joins.length > 0 ? 0 : this.#parkedCount, this.desktops.count, random());
    const join = this.#joins[Math.floor(random() * this.#joins.length)] ?? '';
    const out = answers.room(2 * BATCH_HEAD_BYTES_MAX + JOIN_BYTES_MAX);
    const start = answers.roomAt() + BATCH_HEAD_BYTES_MAX;
    const end = start + out.write(`{"type":"bye","retryAfterMs":${retryAfterMs}${join}}`, start, 'latin1');
    this.#sendBatch(ticket, this.mailboxes.acknowledged(slot), this.#batchOf(out, start, end));
    this.#deadlines.set(slot, this.#nowMs + LEASE_MS);
  }

  /** The events at out[start, end), which `shared` goes on with. */
  #batchOf(out: Buffer, start: number, end: number, shared?: Buffer): AnswerView {
    const batch = this.#batch;
    batch.body = out;
    batch.start = start;
    batch.end = end;
    batch.shared = shared;
    return batch;
  }

  /** Answers with events: writes the cursor before them, and the brackets after them unless `shared` has them. */
  #sendBatch(ticket: number, seq: number, batch: AnswerView): void {
    const out = batch.body;
    batch.start -= this.#cursorHead.length + digitsOf(seq) + EVENTS.length;
    out.set(this.#cursorHead, batch.start);
    out.set(EVENTS, writeNumber(out, batch.start + this.#cursorHead.length, seq));
    if (batch.shared === undefined) {
      out[batch.end++] = 0x5d;
      out[batch.end++] = CLOSE;
    }
    this.#options.answers.answer(ticket, batch);
  }

  #writeNeighbours(slot: number, out: Buffer, at: number): number {
    let end = at + NEIGHBOURS.copy(out, at);
    for (let edge = 0; edge < 4; edge++) {
      const neighbour = this.torus.neighbour(slot, edge as EdgeNumber);
      const remote = neighbour < 0 ? this.#peers?.reference(slot) : undefined;
      // When its name has come, another event has it.
      if (neighbour < 0 && remote === undefined) continue;
      end += EDGE_KEYS[edge].copy(out, end);
      if (remote === undefined) end = this.desktops.writeReference(neighbour, out, end);
      else end += remote.copy(out, end);
    }
    out[end] = CLOSE;
    return end + 1;
  }

  #answerProblem(ticket: number, document: ProblemDocument): void {
    const body = Buffer.from(JSON.stringify(document));
    const { status, retryAfterSeconds } = PROBLEMS[document.code];
    this.#options.answers.answer(ticket, answerOf(status, body, retryAfterSeconds));
  }
}

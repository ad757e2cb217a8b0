/**
 * The tables of a relay, which its parts share: who is here, where, what waits for whom, and what is remembered.
 *
 * Writer: each table writes its own rows. Of the fields here, nowMs is set by Relay.advance() alone, and facts by Relay.setFacts() alone.
 */
import { DEFAULT_WORLD } from '../wire/join.ts';
import { PeerMemory } from './peers/peer_memory.ts';
import { PeerParts } from './peers/peer_parts.ts';
import { Marks, MUTES } from './slots/marks.ts';
import { Mutes } from './slots/mutes.ts';
import { Slab } from './slots/slab.ts';
import { SwapRequests } from './slots/swap_requests.ts';
import { Clients } from './state/clients.ts';
import { Day } from './state/day.ts';
import { Desktops } from './state/desktops.ts';
import { EndedDesktops } from './state/ended.ts';
import type { Facts } from './state/facts.ts';
import { MAILBOX_BYTES_MAX, MAILBOX_EVENTS_MAX, WORLDS_MAX } from './state/limits.ts';
import { Mailboxes } from './state/mailboxes.ts';
import { Torus, type World } from './state/torus.ts';

export interface TablesOptions {
  slots: number;
  slabBytes: number;
  /** Default SLAB_PAGE_BYTES. Smaller where one process has thousands of relays with few sprites each. */
  slabPageBytes?: number;
  /** Identifies this run of the relay in cursors; 32 random bits. */
  epoch: number;
  /** GENERATION_KEY_BYTES random bytes: the key to the generations of this run. */
  generationKey: Uint8Array;
  nowMs: number;
  /** The time in ms, monotonic: it predicts stages and measures waits. Default: that of the last advance(), which moves in steps. */
  preciseMs?: () => number;
  /** Fills `words` with cryptographically random bits, for tokens and the incarnations of this start. */
  randomize: (words: Uint32Array) => void;
  /** Private worlds at once; the default world always has room. */
  worldsMax?: number;
  /** Sprites in one mailbox; default MAILBOX_EVENTS_MAX. */
  mailboxEventsMax?: number;
  /** Desktops that have ended and are remembered; default ENDED_REMEMBERED_MAX. A power of two. */
  endedMax?: number;
}

export type Counters = Tables['counters'];

export class Tables {
  readonly epoch: number;
  readonly slab: Slab;
  readonly desktops: Desktops;
  readonly torus: Torus;
  readonly mailboxes: Mailboxes;
  readonly ended: EndedDesktops;
  readonly clients: Clients;
  readonly marks: Marks;
  readonly mutes = new Mutes();
  readonly swaps = new SwapRequests();
  /** What is known of other relays; it survives with the journal. */
  readonly peerMemory = new PeerMemory();
  readonly peerParts = new PeerParts();
  readonly day = new Day();
  /** It exists from the start and is never removed, so that a join without a world never lacks one. */
  readonly defaultWorld: World;
  readonly randomize: (words: Uint32Array) => void;
  readonly preciseMs: () => number;
  readonly counters = {
    accepted: 0,
    repeated: 0,
    acknowledged: 0,
    /** Sprites evicted from kept mailboxes, to make room for another world, desktop or sprite. */
    abandoned: 0,
    refusedFull: 0,
    refusedFast: 0,
    /** Crossings refused because their world is stricter about pictures than the relay. */
    refusedPicture: 0,
    /** Sprites moved on from the mailbox of a desktop that ended. */
    forwarded: 0,
    joined: 0,
    left: 0,
    leasesEnded: 0,
    polls: 0,
    /** Polls that a newer one replaced. */
    replaced: 0,
    wakes: 0,
    pings: 0,
  };
  nowMs: number;
  /** Gets every change that must survive; undefined when nothing does. */
  facts: Facts | undefined;

  constructor(options: TablesOptions) {
    this.epoch = options.epoch;
    this.slab = new Slab(options.slabBytes, options.slabPageBytes);
    this.desktops = new Desktops(options.slots, this.slab, options.generationKey);
    this.torus = new Torus(options.slots, 1 + (options.worldsMax ?? WORLDS_MAX), this.peerParts);
    this.defaultWorld = this.torus.findOrAdd(DEFAULT_WORLD) as World;
    this.preciseMs = options.preciseMs ?? (() => this.nowMs);
    const limits = { eventsMax: options.mailboxEventsMax ?? MAILBOX_EVENTS_MAX, bytesMax: MAILBOX_BYTES_MAX };
    this.mailboxes = new Mailboxes(options.slots, this.slab, limits, this.preciseMs);
    this.ended = new EndedDesktops(options.endedMax);
    this.clients = new Clients(options.slots);
    this.marks = new Marks(options.slots);
    this.randomize = options.randomize;
    this.nowMs = options.nowMs;
  }

  /** Writes the facts of a slot that was used, from which its whole state follows. Call it between two calls of the relay. */
  writeState(slot: number, facts: Facts): void {
    const { desktops, mailboxes, torus } = this;
    const owners = desktops.owners(slot);
    if (desktops.isLive(slot)) {
      const world = torus.worldOf(slot);
      facts.desktop(desktops.row(slot, world, torus.placeOf(slot)));
      if (this.marks.has(slot, MUTES)) facts.mutes(slot, this.mutes.of(slot));
    } else if (mailboxes.count(slot) > 0) {
      facts.kept(slot, owners, torus.worldOf(slot).name, torus.placeOf(slot));
    } else {
      facts.free(slot, owners);
      return;
    }
    mailboxes.writeState(slot, facts);
  }
}

/**
 * The relay: the way up (a crossing goes into a mailbox) and the way down (a poll gets what waits, or is parked).
 *
 * It is the only writer of mailboxes, torus and parking lot. It is synchronous: each call runs to its end before the next
 * one begins. It has no clock and no sockets: advance() sets the time, and answers to polls go to an AnswerSink.
 * Here its parts are put together, each above those that it uses: tables.ts, news.ts, way_down.ts, eviction.ts, ending.ts, moving_on.ts, swaps.ts,
 * way_up.ts and from_peers.ts. Each says what it alone writes; this class writes nothing but the rows of who joins, leaves and mutes.
 * Invariant: accepted = acknowledged + waiting + abandoned, at every moment. A sprite is in one mailbox until the cursor
 * of its desktop passes it; when that desktop ends, the sprite moves on in its direction of travel to the next one.
 * Cost: accept, poll and wake are O(1) for each event, with no allocation that lives longer than the call.
 */

import type { CheckedCrossing } from '../wire/crossing.ts';
import type { Identity } from '../wire/identity.ts';
import type { Invitation } from '../wire/invitation.ts';
import { DEFAULT_WORLD, type Join } from '../wire/join.ts';
import { INCARNATION_DIGITS } from '../wire/peers/peer_frame.ts';
import { isCarried, Standing } from '../wire/pictures.ts';
import { ProblemError } from '../wire/problem.ts';
import { type EdgeNumber, FIRST_POLL_MS, MUTES_MAX } from '../wire/rules.ts';
import type { Saying } from '../wire/saying.ts';
import type { ShownStage } from '../wire/stage.ts';
import type { DelayedPolls } from './delayed_polls.ts';
import { Directory } from './directory.ts';
import { Ending } from './ending.ts';
import { Eviction } from './eviction.ts';
import { FromPeers } from './from_peers.ts';
import { MovingOn } from './moving_on.ts';
import { News } from './news.ts';
import type { Membership } from './peers/membership.ts';
import type { PeerMemory } from './peers/peer_memory.ts';
import { PeerPeeks } from './peers/peer_peeks.ts';
import { PeerSayings } from './peers/peer_sayings.ts';
import { Peers } from './peers/peers.ts';
import { type CrossingResponse, Responses } from './responses.ts';
import { recoveredLeaseMs } from './returns.ts';
import { HEARING, MUTES, PEEKING, STRICT } from './slots/marks.ts';
import type { Mutes } from './slots/mutes.ts';
import type { Slab } from './slots/slab.ts';
import type { Clients } from './state/clients.ts';
import type { Day } from './state/day.ts';
import type { Desktops } from './state/desktops.ts';
import type { EndedDesktops } from './state/ended.ts';
import type { Facts } from './state/facts.ts';
import { KeptMailboxes } from './state/kept.ts';
import type { Mailboxes } from './state/mailboxes.ts';
import { NO_ADDRESS, type Torus } from './state/torus.ts';
import type { Waits } from './state/waits.ts';
import { Swaps } from './swaps.ts';
import { type Counters, Tables, type TablesOptions } from './tables.ts';
import type { SayingsOption } from './talk/hearers.ts';
import { type Neighbourhood, Peeks, type PeeksOptions } from './talk/peeks.ts';
import { Speech } from './talk/speech.ts';
import { WayDown, type WayDownOptions } from './way_down.ts';
import { WayUp } from './way_up.ts';

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

export interface RelayOptions extends TablesOptions, WayDownOptions {
  admission?: Admission;
  /** Who hears sayings. Default: everybody in private worlds, the four neighbours in the default world. */
  sayings?: SayingsOption;
  peeks?: PeeksOptions;
}

const LEFT_DETAIL = 'This desktop has left; join again.';

export class Relay {
  readonly epoch: number;
  readonly desktops: Desktops;
  readonly torus: Torus;
  readonly mailboxes: Mailboxes;
  readonly slab: Slab;
  readonly mutes: Mutes;
  readonly ended: EndedDesktops;
  readonly clients: Clients;
  /** What is known of other relays; it survives with the journal. */
  readonly peerMemory: PeerMemory;
  readonly counters: Counters;
  /** What was counted for the page about the world; it survives with the journal. */
  readonly day: Day;
  readonly speech: Speech;
  readonly peeks: Peeks;
  readonly down: WayDown;
  readonly ending: Ending;
  readonly directory: Directory;
  readonly swaps: Swaps;
  readonly pingMs: number;
  /** Polls whose answer is delayed. */
  readonly delayedPolls: DelayedPolls;
  readonly #options: RelayOptions;
  readonly #tables: Tables;
  readonly #neighbourhood: Neighbourhood;
  readonly #news: News;
  readonly #kept = new KeptMailboxes();
  readonly #eviction: Eviction;
  readonly #moving: MovingOn;
  readonly #up: WayUp;
  readonly #fromPeers: FromPeers;
  readonly #words = new Uint32Array(4);
  readonly #markReady = (slot: number): void => this.down.markReady(slot);
  readonly #leave = (slot: number, detail?: string): void => this.leave(slot, detail);

  constructor(options: RelayOptions) {
    const tables = new Tables(options);
    const kept = this.#kept;
    this.#options = options;
    this.#tables = tables;
    this.epoch = tables.epoch;
    this.slab = tables.slab;
    this.desktops = tables.desktops;
    this.torus = tables.torus;
    this.mailboxes = tables.mailboxes;
    this.mutes = tables.mutes;
    this.ended = tables.ended;
    this.clients = tables.clients;
    this.peerMemory = tables.peerMemory;
    this.counters = tables.counters;
    this.day = tables.day;
    this.#neighbourhood = neighbourhoodOf(tables);
    const listeners = {
      ...this.#neighbourhood,
      peerParts: tables.peerParts,
      defaultWorld: tables.defaultWorld,
      markHearing: (slot: number) => tables.marks.set(slot, HEARING),
    };
    const speech = new Speech(options.slots, listeners, options.sayings, options.nowMs);
    const peeks = new Peeks(options.slots, this.#neighbourhood, options.nowMs, options.peeks);
    const news = new News(tables);
    const down = new WayDown(tables, { news, speech, peeks }, options);
    const eviction = new Eviction(tables, kept, news);
    const ending = new Ending(tables, kept, eviction);
    const moving = new MovingOn(tables, { kept, eviction, ending, down });
    const responses = new Responses(tables.desktops);
    const up = new WayUp(tables, { responses, eviction, down });
    this.speech = speech;
    this.peeks = peeks;
    this.down = down;
    this.ending = ending;
    this.directory = new Directory(tables, kept, down);
    this.swaps = new Swaps(tables, news, down);
    this.pingMs = down.pingMs;
    this.delayedPolls = down.delayedPolls;
    this.#news = news;
    this.#eviction = eviction;
    this.#moving = moving;
    this.#up = up;
    const { answers } = options;
    this.#fromPeers = new FromPeers(tables, { answers, responses, up, down, moving, ending, news });
  }

  get parkedCount(): number {
    return this.down.parkedCount;
  }

  get waiting(): number {
    return this.mailboxes.waiting;
  }

  /** How long sprites wait until they are sent. */
  get waits(): Waits {
    return this.mailboxes.waits;
  }

  /** Bytes of the slab that the mailboxes of ended desktops use, whose sprites have no desktop to go on to. */
  get keptBytes(): number {
    return this.#kept.bytes;
  }

  get draining(): boolean {
    return this.down.draining;
  }

  /** From now on `facts` gets every change that must survive the relay; undefined: nobody does. */
  setFacts(facts: Facts | undefined): void {
    this.#tables.facts = facts;
  }

  /**
   * The life of this start for other relays: the time of day in ms, but later than each earlier one, also when the clock was set back. Call it
   * once, after recovery.
   */
  beginLife(timeOfDayMs: number): number {
    const memory = this.peerMemory;
    memory.life = Math.max(timeOfDayMs, memory.life + 1);
    this.#tables.facts?.life(memory.life);
    return memory.life;
  }

  /** From now on other relays have places in the default world, too. Call it after recovery. */
  joinCluster(membership: Membership): { peers: Peers; sayings: PeerSayings; peeks: PeerPeeks } {
    const tables = this.#tables;
    const { epoch, peerMemory: memory, peerParts, nowMs } = tables;
    memory.beginStart(() => {
      const words = new Uint32Array(INCARNATION_DIGITS / 8);
      tables.randomize(words);
      return Buffer.from(words.buffer).toString('hex');
    });
    const peers = new Peers({ epoch, membership, memory, host: this.#fromPeers, facts: () => tables.facts, nowMs });
    const sayings = new PeerSayings(peers, this.speech, () => tables.nowMs);
    const peeks = new PeerPeeks({
      peers,
      peeks: this.peeks,
      neighbourhood: this.#neighbourhood,
      world: tables.defaultWorld,
      nowMs: () => tables.nowMs,
      preciseMs: tables.preciseMs,
      limits: this.#options.peeks,
    });
    peerParts.peers = peers;
    peerParts.handOver = this.ending.handOverTo(peers);
    peerParts.sayings = sayings;
    peerParts.peeks = peeks;
    return { peers, sayings, peeks };
  }

  /** Writes the facts of a slot that was used, from which its whole state follows. Call it between two calls of the relay. */
  writeState(slot: number, facts: Facts): void {
    this.#tables.writeState(slot, facts);
  }

  /**
   * Goes on after recovery.ts has restored the tables: gives every live desktop a new lease, in which all can come back, and keeps the
   * mailboxes of `kept`, the oldest first.
   */
  resume(kept: readonly number[]): void {
    const { desktops, torus, mailboxes, mutes } = this;
    const { marks } = this.#tables;
    const leaseMs = recoveredLeaseMs(desktops.count);
    for (let slot = 0; slot < desktops.untouched; slot++) {
      if (!desktops.isLive(slot)) continue;
      this.down.lease(slot, leaseMs);
      this.clients.add(slot);
      if (mutes.of(slot).length > 0) marks.set(slot, MUTES);
      if (torus.worldOf(slot).pictures !== 'any') marks.set(slot, STRICT);
    }
    for (const slot of kept) this.#kept.add(torus.worldOf(slot), slot, mailboxes.usedBytes(slot));
    for (const world of torus.worlds()) this.#news.worldChanged(world);
  }

  /**
   * Checks what does not depend on the world of a join, and counts the join. join() then does not count it again: for joins that wait until
   * it is known which relay has their world.
   *
   * Throws  draining, journal-full, too-many-joins.
   */
  admitJoin(join: Join): void {
    if (this.down.draining) throw new ProblemError('draining', 'The relay is going down; join again in some seconds.');
    if (this.#tables.facts?.hasRoom === false) {
      throw new ProblemError('journal-full', 'The relay cannot write to its disk; join again later.');
    }
    if (join.isCounted || join.address === undefined) return;
    const { admission } = this.#options;
    // This comes first, so that guessing invitations or names of worlds is slow.
    admission?.countJoin(admission.rowOf(join.address), this.#tables.nowMs);
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
    const { facts, randomize, marks } = this.#tables;
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
    if (!world && this.#eviction.evictWorld()) world = this.torus.findOrAdd(name);
    if (!world) throw new ProblemError('relay-full', 'The relay has no room for another world; join an existing one.');
    randomize(this.#words);
    let slot = this.desktops.add(join.name, this.#words);
    if (slot < 0 && this.#eviction.makeRoomToJoin(join.name, world)) slot = this.desktops.add(join.name, this.#words);
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
    if (world.pictures !== 'any') marks.set(slot, STRICT);
    this.desktops.setShows(slot, join.stage ?? world.stage);
    this.desktops.setNamed(slot, join.named ?? false);
    this.clients.add(slot, join.client);
    this.torus.seat(slot, world, friend);
    if (facts) {
      const place = this.torus.placeOf(slot);
      facts.desktop(this.desktops.row(slot, world, place));
      const last = world.count - 1;
      if (place !== last) facts.place(world.slots[last], last);
    }
    this.delayedPolls.restart(slot);
    this.#news.join(slot);
    this.counters.joined++;
    this.#moving.joined(world);
    this.#news.worldChanged(world);
    this.down.lease(slot, FIRST_POLL_MS);
    return slot;
  }

  /** Makes a new invitation of a live desktop, whose four words `invitation` receives; the earlier one ends. */
  renewInvitation(slot: number, invitation: Uint32Array): void {
    this.#makeInvitation(slot, invitation);
    this.#tables.facts?.invitation(slot, invitation);
  }

  #makeInvitation(slot: number, invitation: Uint32Array): void {
    this.#tables.randomize(this.#words);
    this.desktops.setInvitation(slot, this.#words);
    invitation.set(this.#words);
  }

  #findFriend({ slot, secret }: Invitation): number {
    if (this.desktops.isInvitation(slot, secret)) return slot;
    throw new ProblemError('near-gone', 'near: this desktop has left, or has renewed its invitation; join without it.');
  }

  /**
   * Ends a desktop that leaves, is kicked, or whose lease has ended: its sprites move on, its parked poll is answered with
   * `detail`.
   */
  leave(slot: number, detail = LEFT_DETAIL): void {
    const { torus, desktops, mailboxes } = this;
    const { facts, marks } = this.#tables;
    const world = torus.worldOf(slot);
    if (mailboxes.count(slot) > 0) facts?.moving(slot);
    this.down.leave(slot, detail);
    if (marks.has(slot, MUTES)) this.mutes.clear(slot);
    this.peeks.leave(slot);
    marks.leave(slot);
    this.swaps.leave(slot);
    this.speech.leave(slot);
    this.#remember(slot);
    desktops.end(slot);
    this.clients.remove(slot);
    this.counters.left++;
    this.#options.admission?.unseated(slot);
    const place = torus.placeOf(slot);
    const { width } = world;
    this.#moving.leave(slot, world);
    torus.unseat(slot);
    if (world.count === 0 && world.openedBy !== NO_ADDRESS) {
      this.#options.admission?.worldClosed(world.openedBy);
      world.openedBy = NO_ADDRESS;
    }
    this.#moving.left(slot, world, place);
    if (facts && place < world.count) facts.place(world.slots[place], place);
    if (world.width !== width && world.count > 0) facts?.width(world.name, world.width);
    if (world.count > 0) this.#news.worldChanged(world);
    else this.#eviction.removeIfEmpty(world);
  }

  /**
   * Remembers the owner of a slot, who ends now and before its sprites move, if something was sent to it, or if a crossing of it was accepted or
   * may still be.
   */
  #remember(slot: number): void {
    const { mailboxes, desktops, ended } = this;
    const { peerParts, nowMs, facts } = this.#tables;
    const ending = desktops.ending(slot, mailboxes.acknowledged(slot));
    const isThrowing = peerParts.peers?.isThrowing(slot, ending.generation) ?? false;
    if (mailboxes.newest(slot) === 0 && ending.newestCrossing === 0 && !isThrowing) return;
    const row = ended.add(ending, nowMs);
    if (facts) ended.writeState(row, facts);
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
    crossing: CheckedCrossing,
    standing: Standing = Standing.unchecked,
    ticket = 0,
  ): Readonly<CrossingResponse> {
    return this.#up.accept(from, crossing, standing, ticket);
  }

  /** From now on what `muted` throws towards `slot` goes on to the next desktop. Throws list-full, relay-full. */
  mute(slot: number, muted: { slot: number; generation: number }): void {
    const outcome = this.mutes.add(slot, muted.slot, muted.generation);
    if (outcome === 'full') {
      throw new ProblemError('list-full', `A desktop can mute ${MUTES_MAX} others; end one of these mutes first.`);
    }
    if (outcome === 'relay-full') throw new ProblemError('relay-full', 'The relay has no room for another mute.');
    this.#tables.marks.set(slot, MUTES);
    this.#tables.facts?.mutes(slot, this.mutes.of(slot));
    this.peeks.check(slot);
    if (muted.slot < this.desktops.max) this.peeks.check(muted.slot);
  }

  unmute(slot: number, muted: { slot: number; generation: number }): void {
    if (!this.mutes.remove(slot, muted.slot, muted.generation)) this.#tables.marks.clear(slot, MUTES);
    this.#tables.facts?.mutes(slot, this.mutes.of(slot));
  }

  /** Says something to all who hear a live desktop; returns how many others. See Speech.say(), also for what it throws. */
  say(slot: number, saying: Saying): number | null {
    return this.speech.say(slot, saying, this.#tables.nowMs, this.down.draining);
  }

  /** A live desktop watches what is beyond an edge; null: nothing. Returns the lease in ms. See Peeks.peek(), also for what it throws. */
  peek(slot: number, edge: EdgeNumber | null): number {
    return this.peeks.peek(slot, edge, this.down.draining);
  }

  /**
   * A live desktop shows its stage to those who watch it: as readStage() made it. Returns a bit for each edge through which it is watched.
   * Throws too-fast, picture-refused.
   */
  show(slot: number, { body, start, end, standing }: ShownStage): number {
    if (this.#tables.marks.has(slot, STRICT) && !isCarried(this.torus.worldOf(slot).pictures, standing)) {
      throw new ProblemError('picture-refused', 'This world does not carry all pictures of this stage.');
    }
    return this.peeks.show(slot, body, start, end, this.#tables.preciseMs());
  }

  /** From now on a live desktop shows its stage to those who peek, or does not. */
  setShows(slot: number, isShown: boolean): void {
    this.desktops.setShows(slot, isShown);
    this.#tables.facts?.shown(slot, isShown, this.desktops.isNamed(slot));
    if (!isShown) this.peeks.hide(slot);
  }

  /** From now on public pages may show the name of a live desktop, or may not. */
  setNamed(slot: number, isNamed: boolean): void {
    this.desktops.setNamed(slot, isNamed);
    this.#tables.facts?.shown(slot, this.desktops.shows(slot), isNamed);
    if (!isNamed) this.day.hideName(slot, this.desktops.generation(slot));
  }

  /** From now on nobody hears what a live desktop has said. */
  silence(slot: number): void {
    this.speech.silence(slot, this.#tables.nowMs);
  }

  /** Sends an event to every desktop that is here, with its next answer. Parked polls are answered in the next steps. */
  notify(event: object): void {
    this.#news.notify(event);
  }

  /**
   * The way down: acknowledges the events up to the cursor, then answers with the waiting ones, or parks the ticket.
   *
   * Shape   `seq` is -1 when the poll has no cursor. The ticket is answered now or later, through the AnswerSink. A poll
   *         that is already parked is answered empty: a newer poll replaces the older one. When that happens often, or when
   *         the same sprites are asked for again and again, the answer is delayed (delayed_polls.ts).
   */
  poll(identity: Identity, ticket: number, epoch: number, seq: number): void {
    this.down.poll(identity, ticket, epoch, seq);
  }

  /** Ends a turn: answers each parked poll for which events have arrived, once. */
  endTurn(): void {
    const { peerParts } = this.#tables;
    peerParts.handOver?.step();
    peerParts.peers?.endTurn();
    this.down.endTurn();
  }

  /**
   * Sets the time and does one step of what is due: pings, ends of leases, notifications of small worlds, sayings, stages. Ends the
   * turn.
   *
   * Shape   true when more is due: call it again soon, with the same time or a later one.
   * Units   ms, monotonic.
   * Cost    bounded by DUE_PER_STEP_MAX, plus as many delayed answers, one small world, HEARERS_PER_STEP_MAX,
   *         WATCHERS_PER_STEP_MAX, and one step of the desktops that are sent away and of kept mailboxes.
   */
  advance(nowMs: number): boolean {
    const { down, ending } = this;
    const { facts } = this.#tables;
    if (nowMs > this.#tables.nowMs) this.#eviction.nextStep();
    this.#tables.nowMs = nowMs;
    this.#tables.peerParts.peers?.advance(nowMs);
    const { left, isMoreDue: hasDeadlines } = down.meetDeadlines(this.#leave);
    let isMoreDue = hasDeadlines;
    if (down.answerDelayed()) isMoreDue = true;
    if (this.#news.step(left, this.#markReady)) isMoreDue = true;
    this.swaps.step();
    if (this.#moving.step()) isMoreDue = true;
    if (down.sayingsStep()) isMoreDue = true;
    if (down.stagesStep()) isMoreDue = true;
    if (down.isSendingAway && down.drainStep()) isMoreDue = true;
    if (ending.isEnding && ending.step(this.#leave)) isMoreDue = true;
    if (facts) this.day.tell(facts, nowMs);
    this.endTurn();
    return isMoreDue;
  }

  /**
   * From now on polls are answered "come back later": of the parked ones the first at once, the others in steps, each by a call of
   * advance(). Everything else goes on. `returnMs`: over how long they come back at least; 0: each at once, because the next process serves, and
   * then RETURNS_PER_TICK are answered in a tick.
   */
  sendAway(returnMs: number): void {
    this.down.sendAway(returnMs);
  }

  /** From now on joins and new crossings are refused. Parked polls stay. */
  refuse(): void {
    this.down.refuse();
  }

  /**
   * As refuse() and sendAway(). `joins`: where desktops may join other relays, URLs of at most JOIN_URL_BYTES_MAX each.
   */
  drain(joins: readonly string[] = []): void {
    this.down.drain(joins);
  }
}

/** What sayings and peeks read of a relay. */
function neighbourhoodOf(tables: Tables): Neighbourhood {
  const { torus, mutes, desktops, marks, peerParts } = tables;
  return {
    torus,
    mutes,
    peerParts,
    isMuting: (slot) => marks.has(slot, MUTES),
    shows: (slot) => desktops.shows(slot),
    markPeeking: (slot) => marks.set(slot, PEEKING),
    writeReference: (slot, out, at) => desktops.writeReference(slot, out, at),
    generation: (slot) => desktops.generation(slot),
  };
}

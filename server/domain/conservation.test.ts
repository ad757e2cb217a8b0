/**
 * Conservation: no sprite is lost, duplicated or misrouted, whatever thousands of desktops do.
 *
 * A relay and a model run the same seeded simulation. The model follows PROTOCOL.md's rules with plain arrays and objects:
 * the desktop at each place, the sprites in each mailbox and their order, the sprites each client has seen. It predicts
 * every answer and every verdict; after every step the counters must balance.
 */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { checkedCrossing } from '../test/passages.ts';
import { randomOf } from '../test/random.ts';
import { checkCrossing } from '../wire/crossing.ts';
import { type Cursor, readCursor, writeCursor } from '../wire/cursor.ts';
import { GENERATION_KEY_BYTES } from '../wire/generations.ts';
import type { Identity } from '../wire/identity.ts';
import { DEFAULT_WORLD } from '../wire/join.ts';
import { ProblemError } from '../wire/problem.ts';
import {
  CROSSINGS_REMEMBERED,
  EDGES,
  type EdgeNumber,
  ENDED_REMEMBERED_MS,
  EVENTS_PER_POLL_MAX,
  FIRST_POLL_MS,
  LEASE_MS,
  opposite,
  PING_JITTER,
  PING_MS,
} from '../wire/rules.ts';
import { Relay, type RelayOptions } from './relay.ts';
import { TICK_MS } from './slots/deadlines.ts';
import {
  CARRIED_FACTOR,
  CROSSINGS_BURST_MAX,
  CROSSINGS_PER_SECOND_MAX,
  KEPT_STEP_MS,
  KEPT_TRIED_MAX,
  MAILBOX_EVENTS_MAX,
  ONWARD_DESKTOPS_MAX,
  ONWARD_SPRITES_MAX,
} from './state/limits.ts';

const SLOTS = 3000;
const WORLDS_MAX = 9;
const STEPS = 80_000;
const EPOCH = 0x6a1f03c2;
const FILE = '0123456789abcdef'.repeat(4);
const EDGE_NUMBERS: readonly EdgeNumber[] = [0, 1, 2, 3];

/** One thrown sprite and its state. */
interface Sprite {
  readonly name: string;
  readonly entry: EdgeNumber;
  readonly from: string;
  /** Its index among all throws, in their order. */
  readonly thrown: number;
  state: 'waiting' | 'acknowledged' | 'abandoned';
  /** How often clients have seen it. */
  seen: number;
  seenByHolder: boolean;
  /** How often its holder ended after seeing it but before acknowledging it, and was told so: it is seen again as often. */
  seenUnacknowledged: number;
}

interface ModelWorld {
  readonly name: string;
  seats: Player[];
  width: number;
  /** The mailboxes of desktops that ended and whose sprites had nowhere to go, the oldest first. */
  kept: Kept[];
}

interface Kept {
  /** The place that the desktop had. */
  readonly place: number;
  sprites: Sprite[];
}

interface Size {
  readonly slots: number;
  readonly worldsMax: number;
  readonly mailboxEventsMax: number;
}

/** A desktop: the state the relay should have for it, and what its client knows. */
interface Player {
  readonly identity: Identity;
  readonly invitation: readonly number[];
  readonly id: string;
  readonly name: string;
  readonly world: ModelWorld;
  live: boolean;
  waiting: Sprite[];
  /** How many of these, from the first, have been in an answer; their order and sequences are fixed. */
  sent: number;
  acknowledged: number;
  /** The poll the relay should have parked; 0 for none. */
  parked: number;
  parkedMs: number;
  /** When its lease began. */
  silentMs: number;
  /** How long it may be silent: FIRST_POLL_MS until its first good poll. */
  leaseMs: number;
  /** The sequence of its client's next cursor. */
  seq: number;
  vanished: boolean;
  newestCrossing: number;
  accepted: Set<number>;
  burstFullMs: number;
  /** The last sequence that it acknowledged, from its end on, and until when the relay tells it; 0: it was sent nothing and threw nothing. */
  acknowledgedAtEnd: number;
  toldUntilMs: number;
  /** The poll that was parked when it ended. */
  heldAtEnd: number;
}

interface Poll {
  readonly player: Player;
  /** The client will not read the answer. */
  deaf: boolean;
}

/** Calls `ending` for each desktop that ends, for any reason, before its sprites move, and `turnEnding` before a turn ends. */
class ObservedRelay extends Relay {
  readonly #ending: (slot: number) => void;
  readonly #turnEnding: () => void;

  constructor(options: RelayOptions, ending: (slot: number) => void, turnEnding: () => void) {
    super(options);
    this.#ending = ending;
    this.#turnEnding = turnEnding;
  }

  override endTurn(): void {
    this.#turnEnding();
    super.endTurn();
  }

  override leave(slot: number): void {
    this.#ending(slot);
    super.leave(slot);
  }
}

class Simulation {
  readonly relay: Relay;
  readonly worlds = new Map<string, ModelWorld>();
  readonly players: Player[] = [];
  readonly ended: Player[] = [];
  readonly hungry: Player[] = [];
  readonly sprites: Sprite[] = [];
  /** How often each event happened: a simulation without an event proves nothing about it. */
  readonly happened = new Map<string, number>();
  readonly #random: () => number;
  readonly #polls = new Map<number, Poll>();
  readonly #bySlot: (Player | undefined)[] = [];
  readonly size: Size;
  /** Worlds with kept mailboxes: those without a desktop, the longest empty first, and those with desktops. */
  readonly #leftWorlds: ModelWorld[] = [];
  readonly #crowdedWorlds: ModelWorld[] = [];
  #tickets = 0;
  #nowMs = 5_000_000;
  #byLease = false;
  #nextKeptMs = this.#nowMs + KEPT_STEP_MS;
  /** The poll that a newer one is replacing now. */
  #replaced = 0;
  #counts = { accepted: 0, acknowledged: 0, waiting: 0, abandoned: 0, forwarded: 0 };

  constructor(random: () => number, size: Size) {
    this.#random = random;
    this.size = size;
    this.relay = new ObservedRelay(
      {
        ...size,
        slabBytes: 256 << 20,
        epoch: EPOCH,
        generationKey: Buffer.alloc(GENERATION_KEY_BYTES, 0x12),
        nowMs: this.#nowMs,
        answers: {
          room: (bytes) => Buffer.alloc(bytes),
          roomAt: () => 0,
          answer: (ticket, { status, body, start, end }) => this.#answered(ticket, status, body, start, end),
        },
        randomize: (words) => {
          for (let n = 0; n < 4; n++) words[n] = random() * 2 ** 32;
        },
        random,
      },
      (slot) => this.#ends(slot),
      () => this.#keptStep(),
    );
  }

  count(event: string): void {
    this.happened.set(event, (this.happened.get(event) ?? 0) + 1);
  }

  /** A random whole number, 0 ≤ n < end. */
  pick(end: number): number {
    return Math.floor(this.#random() * end);
  }

  any(): Player {
    return this.players[this.pick(this.players.length)];
  }

  /** A desktop joins; the model predicts the result. */
  join(worldName: string, friend?: Player): Player | undefined {
    const name = this.#random() < 0.5 ? '' : `"Zoë" ${this.pick(1000)} 😀`;
    const token = new Uint32Array(4);
    let world = this.worlds.get(worldName);
    let fits = true;
    const commons = this.worlds.get(DEFAULT_WORLD);
    const privateWorlds = this.worlds.size - (commons ? 1 : 0);
    if (!world && worldName !== DEFAULT_WORLD && privateWorlds >= this.size.worldsMax)
      fits = this.#evictsWorld(commons);
    if (fits && this.players.length + this.#keptCount() >= this.size.slots) fits = this.#evicts(world);
    const invitation = new Uint32Array(4);
    const near = friend && { slot: friend.identity.slot, secret: friend.invitation };
    const join = near ? { name, near } : { name, world: worldName };
    if (!fits) {
      assert.throws(
        () => this.relay.join(join, token, invitation),
        (error) => error instanceof ProblemError && error.document.code === 'relay-full',
      );
      this.count('join refused');
      return undefined;
    }
    const slot = this.relay.join(join, token, invitation);
    assert.equal(this.#bySlot[slot], undefined, 'a slot has one owner');
    const identity = { slot, generation: this.relay.desktops.generation(slot), token };
    if (!world) {
      world = { name: worldName, seats: [], width: 1, kept: [] };
      this.worlds.set(worldName, world);
    }
    const id = this.relay.desktops.id(slot);
    const player: Player = {
      ...{
        identity,
        invitation: [...invitation],
        id,
        name: this.relay.desktops.name(slot),
        world,
        live: true,
        waiting: [],
        sent: 0,
        acknowledged: 0,
      },
      ...{
        parked: 0,
        parkedMs: 0,
        silentMs: this.#nowMs,
        leaseMs: FIRST_POLL_MS,
        seq: 0,
        vanished: false,
        newestCrossing: 0,
        accepted: new Set<number>(),
        burstFullMs: 0,
        acknowledgedAtEnd: 0,
        toldUntilMs: 0,
        heldAtEnd: 0,
      },
    };
    const { seats } = world;
    seats.push(player);
    resize(world);
    if (friend) {
      const beside = seats.indexOf(friend) + 1;
      [seats[beside], seats[seats.length - 1]] = [seats[seats.length - 1], seats[beside]];
      this.count('invited');
    }
    if (seats.length === 1 && world.kept.length > 0) {
      this.#leftWorlds.splice(this.#leftWorlds.indexOf(world), 1);
      this.#crowdedWorlds.push(world);
      this.#triesKept(world);
      this.count('world reopened');
    }
    this.#bySlot[slot] = player;
    this.players.push(player);
    this.hungry.push(player);
    return player;
  }

  leave(player: Player): void {
    this.relay.leave(player.identity.slot);
    this.count('left');
  }

  /** Throws with a number that may be new, late, repeated or stale; the model predicts verdict and receiver. */
  throw(player: Player, edge: EdgeNumber, crossing = player.newestCrossing + 1 + this.pick(3)): string {
    const name = `s${this.sprites.length}`;
    const passage = checkCrossing({
      crossing,
      edge: EDGES[edge],
      at: 0.5,
      vx: 1,
      vy: 2,
      sprite: { file: FILE, name },
    }).passage;
    const to = beyond(player, edge);
    const behind = player.newestCrossing - crossing;
    const burstFullMs = Math.max(player.burstFullMs, this.#nowMs);
    let expected = 'accepted';
    if (behind > CROSSINGS_REMEMBERED) expected = 'crossing-stale';
    else if (player.accepted.has(crossing)) expected = 'repeated';
    else if (burstFullMs - this.#nowMs > (CROSSINGS_BURST_MAX - 1) * (1000 / CROSSINGS_PER_SECOND_MAX))
      expected = 'too-fast';
    else {
      player.burstFullMs = burstFullMs + 1000 / CROSSINGS_PER_SECOND_MAX;
      if (to.waiting.length >= this.size.mailboxEventsMax) expected = 'mailbox-full';
    }
    const { verdict, body, end } = this.relay.accept(player.identity, checkedCrossing(crossing, edge, passage));
    assert.equal(verdict, expected, `${player.id} throws ${crossing}`);
    this.count(expected);
    if (expected !== 'accepted') return expected;
    assert.deepEqual(JSON.parse(body.toString('utf8', 0, end)), { to: { desktop: to.id, name: to.name } });
    player.accepted.add(crossing);
    player.newestCrossing = Math.max(player.newestCrossing, crossing);
    const initial = { state: 'waiting' as const, seen: 0, seenByHolder: false, seenUnacknowledged: 0 };
    const sprite: Sprite = { name, entry: opposite(edge), from: player.id, thrown: this.sprites.length, ...initial };
    this.sprites.push(sprite);
    to.waiting.push(sprite);
    this.#counts.accepted++;
    this.#counts.waiting++;
    return expected;
  }

  /** Polls with the client's cursor, or (`how`) an older one, none, one ahead, or one of another epoch. */
  poll(player: Player, how: 'own' | 'older' | 'none' | 'ahead' | 'other' = 'own', deaf = false): void {
    const ticket = ++this.#tickets;
    this.#polls.set(ticket, { player, deaf });
    this.count(`poll ${how}`);
    const newest = player.acknowledged + player.sent;
    let seq = player.seq;
    if (how === 'older') seq = this.pick(player.seq + 1);
    if (how === 'none') seq = -1;
    if (how === 'ahead') seq = newest + 1 + this.pick(1_000_000);
    const epoch = how === 'other' ? EPOCH ^ (1 + this.pick(1000)) : EPOCH;
    const good = player.live && how !== 'ahead' && how !== 'other';
    if (good) {
      for (; player.acknowledged < seq; player.acknowledged++) {
        const sprite = player.waiting.shift() as Sprite;
        player.sent--;
        assert.ok(sprite.seenByHolder, 'an acknowledged sprite was seen');
        sprite.state = 'acknowledged';
        this.#counts.acknowledged++;
        this.#counts.waiting--;
      }
      this.#replaced = player.parked;
      player.parked = ticket;
      player.parkedMs = this.#nowMs;
      player.leaseMs = LEASE_MS;
    }
    this.relay.poll(player.identity, ticket, epoch, seq);
    if (good && player.waiting.length > 0) assert.equal(player.parked, 0, 'waiting sprites are answered at once');
    if (!good) assert.ok(!this.#polls.has(ticket), 'a refused poll is answered at once');
    assert.ok(!this.#polls.has(this.#replaced), 'the older poll was answered');
    this.#replaced = 0;
  }

  /** Stops polling; the relay may or may not notice that the connection closed. */
  vanish(player: Player): void {
    player.vanished = true;
    const poll = this.#polls.get(player.parked);
    if (!poll) return;
    if (this.#random() < 0.5) {
      this.relay.down.closed(player.parked, player.identity.slot);
      this.#polls.delete(player.parked);
      player.parked = 0;
      player.silentMs = this.#nowMs;
      this.count('vanished seen');
    } else {
      poll.deaf = true;
      this.count('vanished unseen');
    }
  }

  pass(ms: number): void {
    this.#nowMs += ms;
    this.#byLease = true;
    while (this.relay.advance(this.#nowMs));
    this.#byLease = false;
    for (const player of this.players) {
      if (player.parked)
        assert.ok(this.#nowMs - player.parkedMs <= PING_MS * (1 + PING_JITTER) + TICK_MS, 'pinged in time');
      else assert.ok(this.#nowMs - player.silentMs < player.leaseMs + TICK_MS, 'a silent desktop ends with its lease');
    }
  }

  /** Checks accepted = acknowledged + waiting + abandoned, in the relay and against the model's counts. */
  balance(): void {
    const { accepted, acknowledged, abandoned, forwarded } = this.relay.counters;
    const { waiting } = this.relay;
    if (accepted !== acknowledged + waiting + abandoned)
      assert.fail(`${accepted} ≠ ${acknowledged} + ${waiting} + ${abandoned}`);
    const counts = this.#counts;
    const same = counts.accepted === accepted && counts.acknowledged === acknowledged && counts.waiting === waiting;
    if (!same || counts.abandoned !== abandoned || counts.forwarded !== forwarded) {
      assert.deepEqual({ accepted, acknowledged, waiting, abandoned, forwarded }, counts);
    }
  }

  /** Compares everything the relay knows of every desktop with the model. */
  inspect(): void {
    const { relay } = this;
    let parked = 0;
    let waiting = 0;
    for (const { identity, waiting: own, acknowledged, parked: ticket, world } of this.players) {
      assert.equal(relay.desktops.authenticate(identity), 'live');
      assert.equal(relay.mailboxes.count(identity.slot), own.length);
      assert.equal(relay.mailboxes.acknowledged(identity.slot), acknowledged);
      assert.equal(relay.torus.worldOf(identity.slot).name, world.name);
      if (ticket) parked++;
      waiting += own.length;
    }
    for (const world of this.worlds.values()) {
      const real = relay.torus.find(world.name);
      assert.deepEqual(
        Array.from(real?.slots.subarray(0, real.count) ?? []),
        world.seats.map(({ identity }) => identity.slot),
      );
      assert.equal(real?.width, world.width);
      for (const { sprites } of world.kept) waiting += sprites.length;
    }
    const isEmptyDefault = this.worlds.has(DEFAULT_WORLD) ? 0 : 1;
    assert.equal(relay.torus.worldCount, this.worlds.size + isEmptyDefault);
    assert.equal(relay.desktops.count, this.players.length);
    assert.equal(relay.parkedCount, parked);
    assert.equal(relay.waiting, waiting);
    for (const sprite of this.sprites) {
      assert.equal(sprite.seen, sprite.seenUnacknowledged + (sprite.seenByHolder ? 1 : 0));
      if (sprite.state === 'acknowledged') assert.ok(sprite.seenByHolder);
    }
  }

  #answered(ticket: number, status: number, bytes: Uint8Array, start: number, end: number): void {
    const body = JSON.parse(Buffer.from(bytes.subarray(start, end)).toString());
    const poll = this.#polls.get(ticket);
    assert.ok(poll, `ticket ${ticket} is answered once`);
    this.#polls.delete(ticket);
    const { player, deaf } = poll;
    if (status !== 200) {
      this.#refused(player, ticket, status, body);
      return;
    }
    const replaced = ticket === this.#replaced;
    if (!replaced) {
      assert.equal(player.parked, ticket);
      player.parked = 0;
      player.silentMs = this.#nowMs;
    }
    const expected = replaced ? 0 : Math.min(EVENTS_PER_POLL_MAX, player.waiting.length);
    send(player, expected);
    const cursor: Cursor = { epoch: 0, seq: 0 };
    assert.ok(readCursor(body.cursor, cursor));
    assert.deepEqual(cursor, { epoch: EPOCH, seq: player.acknowledged + expected });
    assert.ok(
      replaced ? body.events.length === 0 : body.events.length > 0,
      'only a replaced poll is answered with nothing',
    );
    let sprites = 0;
    for (const event of body.events) {
      if (event.type === 'sprite') this.#checkSprite(player, event, player.acknowledged + ++sprites, deaf);
      else if (event.type === 'neighbours') this.#checkNeighbours(player, event);
      else if (event.type === 'company') this.count('company');
      else {
        assert.equal(event.type, 'ping');
        assert.ok(this.#nowMs - player.parkedMs >= PING_MS * (1 - PING_JITTER), 'no ping before its time');
        this.count('ping');
      }
    }
    assert.equal(sprites, expected);
    if (deaf || replaced) return;
    player.seq = cursor.seq;
    if (!player.vanished) this.hungry.push(player);
  }

  #refused(player: Player, ticket: number, status: number, body: { code: string; cursor?: string }): void {
    this.count(body.code);
    if (body.code === 'desktop-ended') {
      assert.equal(status, 410);
      assert.ok(!player.live);
      // The client keeps what it has acknowledged by this, and nothing else.
      const isTold = this.#nowMs <= player.toldUntilMs || ticket === player.heldAtEnd;
      assert.equal(body.cursor, isTold ? writeCursor(EPOCH, player.acknowledgedAtEnd) : undefined);
      this.count(isTold ? 'told what it acknowledged' : 'forgotten');
      return;
    }
    assert.ok(player.live && player.parked !== ticket);
    assert.ok(body.code === 'cursor-ahead' || body.code === 'cursor-lost', body.code);
    const cursor: Cursor = { epoch: 0, seq: 0 };
    assert.ok(readCursor(body.cursor ?? '', cursor));
    assert.deepEqual(cursor, { epoch: EPOCH, seq: player.acknowledged });
  }

  /** Checks that an event is the one the model expects here, and that a client sees each sprite once. */
  #checkSprite(
    player: Player,
    event: { seq: number; edge: string; from: { desktop: string }; sprite: { name: string } },
    seq: number,
    deaf: boolean,
  ): void {
    const sprite = player.waiting[seq - player.acknowledged - 1];
    const got = `${event.seq} ${event.sprite.name} ${event.edge} ${event.from.desktop}`;
    const due = `${seq} ${sprite.name} ${EDGES[sprite.entry]} ${sprite.from}`;
    if (got !== due) assert.fail(`${player.id} got ${got} instead of ${due}`);
    if (deaf) {
      this.count('answer lost');
    } else if (seq > player.seq) {
      assert.ok(!sprite.seenByHolder, `${sprite.name} is seen once by ${player.id}`);
      sprite.seenByHolder = true;
      sprite.seen++;
      if (sprite.seenUnacknowledged > 0) this.count('seen again elsewhere');
    } else {
      assert.ok(sprite.seenByHolder);
      this.count('given again');
    }
  }

  #checkNeighbours(player: Player, event: Record<string, { desktop: string; name: string }>): void {
    for (const edge of EDGE_NUMBERS) {
      const { id, name } = beyond(player, edge);
      assert.deepEqual(event[EDGES[edge]], { desktop: id, name });
    }
  }

  #ends(slot: number): void {
    const player = this.#bySlot[slot] as Player;
    const { world } = player;
    if (this.#byLease) {
      assert.equal(player.parked, 0, 'the lease of a parked desktop does not run');
      assert.ok(this.#nowMs - player.silentMs >= player.leaseMs, 'no lease ends before its time');
      this.count('lease ended');
    }
    player.live = false;
    player.heldAtEnd = player.parked;
    player.parked = 0;
    player.acknowledgedAtEnd = player.acknowledged;
    if (player.acknowledged + player.sent + player.newestCrossing > 0) {
      player.toldUntilMs = this.#nowMs + ENDED_REMEMBERED_MS;
    }
    const { seats } = world;
    const gap = seats.indexOf(player);
    const kept: Kept = { place: gap, sprites: player.waiting };
    if (seats.length > 1) {
      this.#moveOn(world, kept, (entry) => seats.indexOf(beyond(player, opposite(entry))), player);
    }
    player.waiting = [];
    player.sent = 0;
    const last = seats.pop() as Player;
    if (last !== player) seats[gap] = last;
    resize(world);
    if (kept.sprites.length > 0) {
      for (const sprite of kept.sprites) unsee(sprite);
      if (seats.length > 0) this.count('kept, because nobody has room');
      if (world.kept.push(kept) === 1 && seats.length > 0) this.#crowdedWorlds.push(world);
    }
    if (seats.length === 0) {
      const at = this.#crowdedWorlds.indexOf(world);
      if (at >= 0) this.#crowdedWorlds.splice(at, 1);
      if (world.kept.length > 0) {
        this.#leftWorlds.push(world);
        this.count('world left with sprites');
      } else {
        this.worlds.delete(world.name);
        this.count('world removed');
      }
    }
    this.#bySlot[slot] = undefined;
    const at = this.players.indexOf(player);
    const moved = this.players.pop() as Player;
    if (moved !== player) this.players[at] = moved;
    this.ended.push(player);
  }

  /** Moves on, for each edge that sprites enter by, all of them, if a desktop in their direction of travel has room. */
  #moveOn(world: ModelWorld, kept: Kept, first: (entry: EdgeNumber) => number, ending?: Player): void {
    for (const entry of EDGE_NUMBERS) {
      const sprites = kept.sprites.filter((sprite) => sprite.entry === entry);
      if (sprites.length === 0) continue;
      const to = this.#next(world, first(entry), entry, sprites.length, ending);
      if (to) this.#move(kept, sprites, to);
    }
  }

  #next(world: ModelWorld, place: number, entry: EdgeNumber, count: number, ending?: Player): Player | undefined {
    let to = world.seats[place];
    for (let tried = 0; tried < ONWARD_DESKTOPS_MAX && to !== ending; tried++) {
      if (to.waiting.length + count <= CARRIED_FACTOR * this.size.mailboxEventsMax) {
        if (tried > 0) this.count('moved on past a desktop without room');
        return to;
      }
      to = beyond(to, opposite(entry));
      if (to === world.seats[place]) break;
    }
    return undefined;
  }

  #move(kept: Kept, sprites: Sprite[], to: Player): void {
    for (const sprite of sprites) {
      unsee(sprite);
      to.waiting.push(sprite);
      this.#counts.forwarded++;
    }
    kept.sprites = kept.sprites.filter((sprite) => !sprites.includes(sprite));
  }

  /** What the clock does once in KEPT_STEP_MS, after the leases and before it ends the turn. */
  #keptStep(): void {
    if (!this.#byLease || this.#nowMs < this.#nextKeptMs) return;
    this.#nextKeptMs = this.#nowMs + KEPT_STEP_MS;
    for (const world of [...this.#crowdedWorlds]) this.#triesKept(world);
  }

  #triesKept(world: ModelWorld): void {
    const carriedMax = CARRIED_FACTOR * this.size.mailboxEventsMax;
    for (let tried = 0; tried < KEPT_TRIED_MAX && world.kept.length > 0; tried++) {
      const [kept] = world.kept;
      const place = kept.place % world.seats.length;
      this.#moveOn(world, kept, () => place);
      for (const entry of EDGE_NUMBERS) {
        const to = kept.sprites.length > 0 && this.#next(world, place, entry, 1);
        if (!to) continue;
        const sprites = kept.sprites.filter((sprite) => sprite.entry === entry);
        if (sprites.length > 0) this.count('kept, moved on in part');
        this.#move(kept, sprites.slice(0, Math.min(ONWARD_SPRITES_MAX, carriedMax - to.waiting.length)), to);
      }
      if (kept.sprites.length > 0) return;
      world.kept.shift();
      this.count('kept, moved on');
    }
    if (world.kept.length === 0) this.#crowdedWorlds.splice(this.#crowdedWorlds.indexOf(world), 1);
  }

  #keptCount(): number {
    return [...this.worlds.values()].reduce((sum, { kept }) => sum + kept.length, 0);
  }

  /** Evicts the world that has been empty longest. */
  #evictsWorld(except?: ModelWorld): boolean {
    const world = this.#leftWorlds.find((one) => one !== except);
    if (!world) return false;
    while (world.kept.length > 0) this.#evictsFirst(world);
    return true;
  }

  /** Evicts the oldest kept mailbox, except those of the world that a desktop joins. */
  #evicts(except?: ModelWorld): boolean {
    const world = [...this.#leftWorlds, ...this.#crowdedWorlds].find((one) => one !== except);
    if (!world) return false;
    this.#evictsFirst(world);
    return true;
  }

  #evictsFirst(world: ModelWorld): void {
    for (const sprite of (world.kept.shift() as Kept).sprites) {
      sprite.state = 'abandoned';
      this.#counts.abandoned++;
      this.#counts.waiting--;
    }
    if (world.seats.length > 0) {
      this.count('kept, evicted from a world with desktops');
      if (world.kept.length === 0) this.#crowdedWorlds.splice(this.#crowdedWorlds.indexOf(world), 1);
    } else if (world.kept.length === 0) {
      this.#leftWorlds.splice(this.#leftWorlds.indexOf(world), 1);
      this.worlds.delete(world.name);
      this.count('world evicted');
    }
  }
}

/**
 * Gives the first `count` waiting sprites their sequences, unless they have them. Sprites that enter by one edge keep their
 * order; of the first ones of the four edges, the one thrown first is sent first.
 */
function send(player: Player, count: number): void {
  const { waiting } = player;
  while (player.sent < count) {
    const unsent = waiting.slice(player.sent);
    const next = EDGE_NUMBERS.map((edge) => unsent.find(({ entry }) => entry === edge)).filter(
      (one) => one !== undefined,
    );
    const first = next.reduce((one, other) => (other.thrown < one.thrown ? other : one));
    waiting.splice(waiting.indexOf(first, player.sent), 1);
    waiting.splice(player.sent++, 0, first);
  }
}

/** The holder has ended: if it has seen the sprite, the next holder will see it again. */
function unsee(sprite: Sprite): void {
  if (sprite.seenByHolder) sprite.seenUnacknowledged++;
  sprite.seenByHolder = false;
}

/** The desktop beyond an edge, by the definition of the torus. */
function beyond(player: Player, edge: EdgeNumber): Player {
  const { seats, width } = player.world;
  const step = [-1, 1, -width, width][edge];
  return seats[(seats.indexOf(player) + step + seats.length) % seats.length];
}

function resize(world: ModelWorld): void {
  const count = world.seats.length;
  if (count >= 4 * world.width ** 2) world.width *= 2;
  else if (world.width > 1 && 4 * count < 3 * world.width ** 2) world.width /= 2;
}

/** Throws at one desktop from its four neighbours until its mailbox is full. */
function flood(simulation: Simulation, target: Player): void {
  const throwers = EDGE_NUMBERS.map((edge) => beyond(target, edge));
  for (let n = 0; n < simulation.size.mailboxEventsMax + 20; n++) {
    const edge = (n & 3) as EdgeNumber;
    simulation.throw(throwers[edge], opposite(edge));
    simulation.balance();
  }
}

/** Desktops that join a small world, fill each other's mailboxes and leave, again and again, while its others don't read. */
function crowd(simulation: Simulation): void {
  const world = [...simulation.worlds.values()].find(({ seats }) => seats.length > 0 && seats.length < 6);
  for (let round = 0; world && world.seats.length > 0 && round < 12; round++) {
    const guests = [simulation.join(world.name), simulation.join(world.name)].filter((guest) => guest !== undefined);
    for (const guest of guests) flood(simulation, guest);
    for (const guest of guests) {
      if (guest.live) simulation.leave(guest);
      simulation.balance();
    }
  }
}

/** One random step of the simulation. */
function step(simulation: Simulation, random: () => number): void {
  const dice = random() * 1000;
  if (dice < 620) {
    const player = simulation.any();
    const number = random();
    if (number < 0.85) simulation.throw(player, simulation.pick(4) as EdgeNumber);
    else
      simulation.throw(
        player,
        simulation.pick(4) as EdgeNumber,
        Math.max(1, player.newestCrossing - simulation.pick(36)),
      );
  } else if (dice < 700) {
    simulation.poll(simulation.any(), (['own', 'older', 'none', 'ahead', 'other'] as const)[simulation.pick(5)]);
  } else if (dice < 760) {
    const worldName = random() < 0.6 ? 'commons' : `world ${simulation.pick(14)}`;
    if (random() < 0.7) simulation.join(worldName);
    else {
      const friend = simulation.any();
      simulation.join(friend.world.name, friend);
    }
  } else if (dice < 785) {
    simulation.leave(simulation.any());
  } else if (dice < 840) {
    simulation.vanish(simulation.any());
  } else if (dice < 880) {
    const player = simulation.any();
    player.vanished = false;
    simulation.poll(player, random() < 0.5 ? 'own' : 'older');
  } else if (dice < 900) {
    const player = simulation.ended[simulation.pick(simulation.ended.length)];
    if (player) simulation.poll(player);
  } else if (dice < 901) {
    const target = simulation.any();
    simulation.vanish(target);
    flood(simulation, target);
  } else if (dice < 902) {
    // Many neighbours fall silent at once.
    const { seats } = simulation.any().world;
    const first = simulation.pick(seats.length);
    for (const player of seats.slice(first, first + 60)) simulation.vanish(player);
  } else if (dice < 912) {
    const privately = [...simulation.worlds.values()].filter(
      ({ name, seats }) => name !== 'commons' && seats.length > 0,
    );
    const world = privately[simulation.pick(privately.length)];
    if (world) for (const player of [...world.seats]) simulation.leave(player);
  } else if (dice < 940) {
    simulation.pass(random() * 2500);
  }
}

/** Runs a simulation and lets every desktop that is still here poll until its mailbox is empty. */
function simulate(t: TestContext, size: Size, joinedFirst: number, steps: number): Simulation {
  const random = randomOf(t);
  const simulation = new Simulation(random, size);
  // Most clients poll at once when they have joined; others are late, or never poll.
  const joinAndPoll = () => {
    const player = simulation.join('commons');
    if (player && random() < 0.5) simulation.poll(player);
    return player !== undefined;
  };
  for (let n = 0; n < joinedFirst; n++) joinAndPoll();
  for (let n = 0; n < steps; n++) {
    if (size.mailboxEventsMax < 10 && n % 200 === 0) crowd(simulation);
    step(simulation, random);
    simulation.balance();
    for (let served = 0; served < 2 && simulation.hungry.length > 0; served++) {
      const player = simulation.hungry.splice(simulation.pick(simulation.hungry.length), 1)[0];
      if (player.live && !player.vanished && player.parked === 0) simulation.poll(player, 'own', random() < 0.03);
      simulation.balance();
    }
    if (random() < 0.6) simulation.relay.endTurn();
    simulation.balance();
    if (n % 1000 === 0) simulation.inspect();
    if (n % 30_000 === 25_000) {
      // Desktops join until the relay is full.
      while (joinAndPoll());
      simulation.balance();
    }
  }
  simulation.relay.endTurn();
  simulation.inspect();

  for (const player of simulation.players) {
    player.vanished = false;
    for (;;) {
      simulation.poll(player);
      simulation.balance();
      if (player.waiting.length === 0) break;
    }
  }
  simulation.inspect();
  for (const sprite of simulation.sprites) {
    assert.equal(sprite.seen, sprite.seenUnacknowledged + (sprite.state === 'acknowledged' ? 1 : 0), sprite.name);
  }
  t.diagnostic([...simulation.happened].map(([event, times]) => `${event} ${times}`).join(', '));
  return simulation;
}

function assertHappened(simulation: Simulation, events: string[]): void {
  for (const event of events)
    assert.ok(simulation.happened.get(event), `a simulation without "${event}" proves nothing about it`);
}

describe('conservation', () => {
  it('loses, duplicates, reorders or misroutes no sprite in a long simulation of thousands of desktops (seeded)', (t) => {
    const size = { slots: SLOTS, worldsMax: WORLDS_MAX, mailboxEventsMax: MAILBOX_EVENTS_MAX };
    assertHappened(simulate(t, size, 2600, STEPS), [
      ...['accepted', 'repeated', 'crossing-stale', 'mailbox-full', 'join refused', 'invited', 'left'],
      ...[
        'lease ended',
        'vanished seen',
        'vanished unseen',
        'ping',
        'company',
        'cursor-ahead',
        'cursor-lost',
        'desktop-ended',
      ],
      ...['answer lost', 'given again', 'seen again elsewhere', 'told what it acknowledged', 'forgotten'],
      ...['world left with sprites', 'world reopened', 'world evicted', 'world removed'],
    ]);
  });

  it('loses none where mailboxes are small and desktops pass on more than their neighbours can hold (seeded)', (t) => {
    assertHappened(simulate(t, { slots: 150, worldsMax: 6, mailboxEventsMax: 3 }, 100, 60_000), [
      ...['accepted', 'repeated', 'mailbox-full', 'join refused', 'left', 'lease ended', 'seen again elsewhere'],
      ...['moved on past a desktop without room', 'kept, because nobody has room', 'kept, moved on'],
      ...['kept, moved on in part', 'kept, evicted from a world with desktops'],
      ...['world left with sprites', 'world reopened', 'world evicted', 'world removed'],
    ]);
  });
});

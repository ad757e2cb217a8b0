/**
 * Conservation: no sprite is lost, doubled or misrouted, whatever thousands of desktops do.
 *
 * A relay and a model live the same seeded life. The model is written from PROTOCOL.md's rules with plain arrays and
 * objects: who sits where, what waits for whom and in which order, what each client has seen. Every answer and every
 * verdict is foretold; after every step the counters must balance.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomOf } from '../test/random.ts';
import { checkCrossing, EDGES, type EdgeNumber, opposite } from '../wire/crossing.ts';
import { type Cursor, readCursor } from '../wire/cursor.ts';
import type { Identity } from '../wire/identity.ts';
import { ProblemError } from '../wire/problem.ts';
import { TICK_MS } from './deadlines.ts';
import {
  CROSSINGS_BURST_MAX,
  CROSSINGS_PER_SECOND_MAX,
  CROSSINGS_REMEMBERED,
  EVENTS_PER_POLL_MAX,
  LEASE_MS,
  MAILBOX_EVENTS_MAX,
  PING_JITTER,
  PING_MS,
} from './limits.ts';
import { Relay, type RelayOptions } from './relay.ts';

const SLOTS = 3000;
const WORLDS_MAX = 10;
const STEPS = 80_000;
const EPOCH = 0x6a1f03c2;
const FILE = '0123456789abcdef'.repeat(4);
const EDGE_NUMBERS: readonly EdgeNumber[] = [0, 1, 2, 3];

/** One thrown sprite and what became of it. */
interface Sprite {
  readonly name: string;
  readonly entry: EdgeNumber;
  readonly from: string;
  /** When it was thrown: the place in the order of all throws. */
  readonly thrown: number;
  state: 'waiting' | 'acknowledged' | 'abandoned';
  /** By clients, over its whole life. */
  seen: number;
  seenByHolder: boolean;
  /** How often its holder ended between seeing and acknowledging it: so often it may be seen once more. */
  seenInVain: number;
}

interface ModelWorld {
  readonly name: string;
  seats: Player[];
  width: number;
  /** What the last one left behind, when there was something. */
  left: Sprite[] | undefined;
}

/** A desktop: what the relay should hold for it, and what its client knows. */
interface Player {
  readonly who: Identity;
  readonly id: string;
  readonly name: string;
  readonly world: ModelWorld;
  live: boolean;
  waiting: Sprite[];
  /** How many of these, the first ones, have been in an answer, so that their order and sequences stay. */
  told: number;
  acknowledged: number;
  /** The poll the relay should hold; 0 for none. */
  parked: number;
  parkedMs: number;
  /** Since when its lease runs. */
  silentMs: number;
  /** The cursor its client goes on from. */
  seq: number;
  vanished: boolean;
  newestCrossing: number;
  accepted: Set<number>;
  restedMs: number;
}

interface Poll {
  readonly player: Player;
  /** Nobody is there to read the answer. */
  deaf: boolean;
}

/** Tells of each desktop that ends, whatever ended it, before anything of it moves. */
class ToldRelay extends Relay {
  readonly #ending: (slot: number) => void;

  constructor(options: RelayOptions, ending: (slot: number) => void) {
    super(options);
    this.#ending = ending;
  }

  override leave(slot: number): void {
    this.#ending(slot);
    super.leave(slot);
  }
}

class Life {
  readonly relay: Relay;
  readonly worlds = new Map<string, ModelWorld>();
  readonly players: Player[] = [];
  readonly ended: Player[] = [];
  readonly hungry: Player[] = [];
  readonly sprites: Sprite[] = [];
  /** What happened how often: a life in which something never happened proves nothing about it. */
  readonly happened = new Map<string, number>();
  readonly #random: () => number;
  readonly #polls = new Map<number, Poll>();
  readonly #bySlot: (Player | undefined)[] = [];
  /** Empty worlds that keep sprites, the longest empty first. */
  readonly #leftWorlds: ModelWorld[] = [];
  #tickets = 0;
  #nowMs = 5_000_000;
  #byLease = false;
  /** The poll that a newer one replaces just now. */
  #replaced = 0;
  #counts = { accepted: 0, acknowledged: 0, waiting: 0, abandoned: 0, forwarded: 0 };

  constructor(random: () => number) {
    this.#random = random;
    this.relay = new ToldRelay(
      {
        slots: SLOTS,
        slabBytes: 256 << 20,
        epoch: EPOCH,
        generationBase: 0x1234567,
        nowMs: this.#nowMs,
        answers: {
          room: (bytes) => Buffer.alloc(bytes),
          roomAt: () => 0,
          answer: (ticket, status, body, start, end) => this.#answered(ticket, status, body, start, end),
        },
        randomize: (words) => {
          for (let n = 0; n < 4; n++) words[n] = random() * 2 ** 32;
        },
        random,
        worldsMax: WORLDS_MAX,
      },
      (slot) => this.#ends(slot),
    );
  }

  count(event: string): void {
    this.happened.set(event, (this.happened.get(event) ?? 0) + 1);
  }

  pick(most: number): number {
    return Math.floor(this.#random() * most);
  }

  any(): Player {
    return this.players[this.pick(this.players.length)];
  }

  /** A desktop joins; what should come of it is known before. */
  join(worldName: string, friend?: Player): Player | undefined {
    const name = this.#random() < 0.5 ? '' : `"Zoë" ${this.pick(1000)} 😀`;
    const token = new Uint32Array(4);
    let world = this.worlds.get(worldName);
    let fits = true;
    if (!world && this.worlds.size >= WORLDS_MAX) fits = this.#givesUp();
    if (fits && this.players.length + this.#leftWorlds.length >= SLOTS) fits = this.#givesUp(world);
    const near = friend && { slot: friend.who.slot, generation: friend.who.generation };
    const join = near ? { name, near } : { name, world: worldName };
    if (!fits) {
      assert.throws(
        () => this.relay.join(join, token),
        (error) => error instanceof ProblemError && error.document.code === 'relay-full',
      );
      this.count('join refused');
      return undefined;
    }
    const slot = this.relay.join(join, token);
    assert.equal(this.#bySlot[slot], undefined, 'a slot has one owner');
    const who = { slot, generation: this.relay.desktops.generation(slot), token };
    if (!world) {
      world = { name: worldName, seats: [], width: 1, left: undefined };
      this.worlds.set(worldName, world);
    }
    const id = this.relay.desktops.id(slot);
    const player: Player = {
      ...{ who, id, name: name || id, world, live: true, waiting: [], told: 0, acknowledged: 0 },
      ...{
        parked: 0,
        parkedMs: 0,
        silentMs: this.#nowMs,
        seq: 0,
        vanished: false,
        newestCrossing: 0,
        accepted: new Set<number>(),
        restedMs: 0,
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
    if (world.left) {
      this.#move(world.left, () => player);
      world.left = undefined;
      this.#leftWorlds.splice(this.#leftWorlds.indexOf(world), 1);
      this.count('world come back to');
    }
    this.#bySlot[slot] = player;
    this.players.push(player);
    this.hungry.push(player);
    return player;
  }

  leave(player: Player): void {
    this.relay.leave(player.who.slot);
    this.count('left');
  }

  /** Throws under a number that may be new, late, repeated or stale; verdict and receiver are known before. */
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
    const restedMs = Math.max(player.restedMs, this.#nowMs);
    let expected = 'accepted';
    if (behind > CROSSINGS_REMEMBERED) expected = 'crossing-stale';
    else if (player.accepted.has(crossing)) expected = 'repeated';
    else if (restedMs - this.#nowMs > (CROSSINGS_BURST_MAX - 1) * (1000 / CROSSINGS_PER_SECOND_MAX))
      expected = 'too-fast';
    else {
      player.restedMs = restedMs + 1000 / CROSSINGS_PER_SECOND_MAX;
      if (to.waiting.length >= MAILBOX_EVENTS_MAX) expected = 'mailbox-full';
    }
    const { verdict, body, length } = this.relay.accept(player.who, crossing, edge, Buffer.from(passage));
    assert.equal(verdict, expected, `${player.id} throws ${crossing}`);
    this.count(expected);
    if (expected !== 'accepted') return expected;
    assert.deepEqual(JSON.parse(body.toString('utf8', 0, length)), { to: { desktop: to.id, name: to.name } });
    player.accepted.add(crossing);
    player.newestCrossing = Math.max(player.newestCrossing, crossing);
    const life = { state: 'waiting' as const, seen: 0, seenByHolder: false, seenInVain: 0 };
    const sprite: Sprite = { name, entry: opposite(edge), from: player.id, thrown: this.sprites.length, ...life };
    this.sprites.push(sprite);
    to.waiting.push(sprite);
    this.#counts.accepted++;
    this.#counts.waiting++;
    return expected;
  }

  /** Polls: with the cursor the client has, or (`how`) an older one, none, one ahead, or one of another epoch. */
  poll(player: Player, how: 'own' | 'older' | 'none' | 'ahead' | 'other' = 'own', deaf = false): void {
    const ticket = ++this.#tickets;
    this.#polls.set(ticket, { player, deaf });
    this.count(`poll ${how}`);
    const newest = player.acknowledged + player.told;
    let seq = player.seq;
    if (how === 'older') seq = this.pick(player.seq + 1);
    if (how === 'none') seq = -1;
    if (how === 'ahead') seq = newest + 1 + this.pick(1_000_000);
    const epoch = how === 'other' ? EPOCH ^ (1 + this.pick(1000)) : EPOCH;
    const good = player.live && how !== 'ahead' && how !== 'other';
    if (good) {
      for (; player.acknowledged < seq; player.acknowledged++) {
        const sprite = player.waiting.shift() as Sprite;
        player.told--;
        assert.ok(sprite.seenByHolder, 'what is acknowledged was seen');
        sprite.state = 'acknowledged';
        this.#counts.acknowledged++;
        this.#counts.waiting--;
      }
      this.#replaced = player.parked;
      player.parked = ticket;
      player.parkedMs = this.#nowMs;
    }
    this.relay.poll(player.who, ticket, epoch, seq);
    if (good && player.waiting.length > 0) assert.equal(player.parked, 0, 'what waits is given at once');
    if (!good) assert.ok(!this.#polls.has(ticket), 'a refused poll is answered at once');
    assert.ok(!this.#polls.has(this.#replaced), 'the older poll was answered');
    this.#replaced = 0;
  }

  /** Stops polling: either its connection is seen to close, or nothing is seen at all. */
  vanish(player: Player): void {
    player.vanished = true;
    const poll = this.#polls.get(player.parked);
    if (!poll) return;
    if (this.#random() < 0.5) {
      this.relay.closed(player.parked, player.who.slot);
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
      else assert.ok(this.#nowMs - player.silentMs < LEASE_MS + TICK_MS, 'no silent desktop outlives its lease');
    }
  }

  /** accepted = acknowledged + waiting + abandoned, in the relay and as the model counts them. */
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

  /** Everything the relay can be asked, of every desktop. */
  inspect(): void {
    const { relay } = this;
    let parked = 0;
    let waiting = 0;
    for (const { who, waiting: own, acknowledged, parked: ticket, world } of this.players) {
      assert.equal(relay.desktops.authenticate(who), 'live');
      assert.equal(relay.mailboxes.count(who.slot), own.length);
      assert.equal(relay.mailboxes.acknowledged(who.slot), acknowledged);
      assert.equal(relay.torus.worldOf(who.slot).name, world.name);
      if (ticket) parked++;
      waiting += own.length;
    }
    for (const world of this.worlds.values()) {
      const real = relay.torus.find(world.name);
      assert.deepEqual(
        Array.from(real?.slots.subarray(0, real.count) ?? []),
        world.seats.map(({ who }) => who.slot),
      );
      assert.equal(real?.width, world.width);
      waiting += world.left?.length ?? 0;
    }
    assert.equal(relay.torus.worldCount, this.worlds.size);
    assert.equal(relay.desktops.count, this.players.length);
    assert.equal(relay.parkedCount, parked);
    assert.equal(relay.waiting, waiting);
    for (const sprite of this.sprites) {
      assert.equal(sprite.seen, sprite.seenInVain + (sprite.seenByHolder ? 1 : 0));
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
    tell(player, expected);
    const cursor: Cursor = { epoch: 0, seq: 0 };
    assert.ok(readCursor(body.cursor, cursor));
    assert.deepEqual(cursor, { epoch: EPOCH, seq: player.acknowledged + expected });
    assert.ok(
      replaced ? body.events.length === 0 : body.events.length > 0,
      'only a replaced poll is answered with nothing',
    );
    let sprites = 0;
    for (const event of body.events) {
      if (event.type === 'sprite') this.#gets(player, event, player.acknowledged + ++sprites, deaf);
      else if (event.type === 'neighbours') this.#isTold(player, event);
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
      return;
    }
    assert.ok(player.live && player.parked !== ticket);
    assert.ok(body.code === 'cursor-ahead' || body.code === 'cursor-lost', body.code);
    const cursor: Cursor = { epoch: 0, seq: 0 };
    assert.ok(readCursor(body.cursor ?? '', cursor));
    assert.deepEqual(cursor, { epoch: EPOCH, seq: player.acknowledged });
  }

  /** An event must be the one that waits at this place of this mailbox; a client that reads it sees it once. */
  #gets(
    player: Player,
    event: { seq: number; edge: string; from: { desktop: string }; sprite: { name: string } },
    seq: number,
    deaf: boolean,
  ): void {
    const sprite = player.waiting[seq - player.acknowledged - 1];
    const got = `${event.seq} ${event.sprite.name} ${event.edge} ${event.from.desktop}`;
    const due = `${seq} ${sprite.name} ${EDGES[sprite.entry]} ${sprite.from}`;
    if (got !== due) assert.fail(`${player.id} got ${got} in place of ${due}`);
    if (deaf) {
      this.count('answer lost');
    } else if (seq > player.seq) {
      assert.ok(!sprite.seenByHolder, `${sprite.name} is seen once by ${player.id}`);
      sprite.seenByHolder = true;
      sprite.seen++;
      if (sprite.seenInVain > 0) this.count('seen again elsewhere');
    } else {
      assert.ok(sprite.seenByHolder);
      this.count('given again');
    }
  }

  #isTold(player: Player, event: Record<string, { desktop: string; name: string }>): void {
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
      assert.ok(this.#nowMs - player.silentMs >= LEASE_MS, 'no lease ends before its time');
      this.count('lease ended');
    }
    player.live = false;
    player.parked = 0;
    const { seats } = world;
    if (seats.length > 1) {
      this.#move(player.waiting, (sprite) => beyond(player, opposite(sprite.entry)));
    } else if (player.waiting.length > 0) {
      world.left = player.waiting;
      for (const sprite of world.left) unsee(sprite);
      this.#leftWorlds.push(world);
      this.count('world left with sprites');
    } else {
      this.worlds.delete(world.name);
      this.count('world gone');
    }
    player.waiting = [];
    player.told = 0;
    const gap = seats.indexOf(player);
    const last = seats.pop() as Player;
    if (last !== player) seats[gap] = last;
    resize(world);
    this.#bySlot[slot] = undefined;
    const at = this.players.indexOf(player);
    const moved = this.players.pop() as Player;
    if (moved !== player) this.players[at] = moved;
    this.ended.push(player);
  }

  #move(sprites: Sprite[], target: (sprite: Sprite) => Player): void {
    for (const sprite of sprites) {
      unsee(sprite);
      target(sprite).waiting.push(sprite);
      this.#counts.forwarded++;
    }
  }

  /** The world that has been empty longest is given up, but never the one somebody comes back to. */
  #givesUp(except?: ModelWorld): boolean {
    const at = this.#leftWorlds.findIndex((world) => world !== except);
    if (at < 0) return false;
    const [world] = this.#leftWorlds.splice(at, 1);
    this.worlds.delete(world.name);
    for (const sprite of world.left ?? []) {
      sprite.state = 'abandoned';
      this.#counts.abandoned++;
      this.#counts.waiting--;
    }
    this.count('world given up');
    return true;
  }
}

/**
 * The first `count` that wait get their sequences, if they have none yet. What came in by one edge keeps its order; of the
 * four that are next so, the one that was thrown first is told first.
 */
function tell(player: Player, count: number): void {
  const { waiting } = player;
  while (player.told < count) {
    const untold = waiting.slice(player.told);
    const next = EDGE_NUMBERS.map((edge) => untold.find(({ entry }) => entry === edge)).filter(
      (one) => one !== undefined,
    );
    const first = next.reduce((one, other) => (other.thrown < one.thrown ? other : one));
    waiting.splice(waiting.indexOf(first, player.told), 1);
    waiting.splice(player.told++, 0, first);
  }
}

/** The holder has ended: if it had seen the sprite, the next one will see it again. */
function unsee(sprite: Sprite): void {
  if (sprite.seenByHolder) sprite.seenInVain++;
  sprite.seenByHolder = false;
}

/** Who lies beyond an edge, by the words of the torus. */
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

/** Throws at one desktop from all four sides until its mailbox is full. */
function flood(life: Life, target: Player): void {
  const throwers = EDGE_NUMBERS.map((edge) => beyond(target, edge));
  for (let n = 0; n < MAILBOX_EVENTS_MAX + 20; n++) {
    const edge = (n & 3) as EdgeNumber;
    life.throw(throwers[edge], opposite(edge));
    life.balance();
  }
}

/** One thing that happens. */
function step(life: Life, random: () => number): void {
  const dice = random() * 1000;
  if (dice < 620) {
    const player = life.any();
    const number = random();
    if (number < 0.85) life.throw(player, life.pick(4) as EdgeNumber);
    else life.throw(player, life.pick(4) as EdgeNumber, Math.max(1, player.newestCrossing - life.pick(36)));
  } else if (dice < 700) {
    life.poll(life.any(), (['own', 'older', 'none', 'ahead', 'other'] as const)[life.pick(5)]);
  } else if (dice < 760) {
    const worldName = random() < 0.6 ? 'commons' : `world ${life.pick(14)}`;
    if (random() < 0.7) life.join(worldName);
    else {
      const friend = life.any();
      life.join(friend.world.name, friend);
    }
  } else if (dice < 785) {
    life.leave(life.any());
  } else if (dice < 840) {
    life.vanish(life.any());
  } else if (dice < 880) {
    const player = life.any();
    player.vanished = false;
    life.poll(player, random() < 0.5 ? 'own' : 'older');
  } else if (dice < 900) {
    const player = life.ended[life.pick(life.ended.length)];
    if (player) life.poll(player);
  } else if (dice < 901) {
    const target = life.any();
    life.vanish(target);
    flood(life, target);
  } else if (dice < 902) {
    // A stretch of neighbours falls silent at once.
    const { seats } = life.any().world;
    const first = life.pick(seats.length);
    for (const player of seats.slice(first, first + 60)) life.vanish(player);
  } else if (dice < 912) {
    const privately = [...life.worlds.values()].filter(({ name, seats }) => name !== 'commons' && seats.length > 0);
    const world = privately[life.pick(privately.length)];
    if (world) for (const player of [...world.seats]) life.leave(player);
  } else if (dice < 940) {
    life.pass(random() * 2500);
  }
}

describe('conservation', () => {
  it('no sprite is lost, seen twice, out of order or misrouted in a long life of thousands (seeded)', (t) => {
    const random = randomOf(t);
    const life = new Life(random);
    for (let n = 0; n < 2600; n++) life.join('commons');
    for (let n = 0; n < STEPS; n++) {
      step(life, random);
      life.balance();
      for (let served = 0; served < 2 && life.hungry.length > 0; served++) {
        const player = life.hungry.splice(life.pick(life.hungry.length), 1)[0];
        if (player.live && !player.vanished && player.parked === 0) life.poll(player, 'own', random() < 0.03);
        life.balance();
      }
      if (random() < 0.6) life.relay.endTurn();
      life.balance();
      if (n % 1000 === 0) life.inspect();
      if (n % 30_000 === 25_000) {
        // A crowd comes until the relay is full.
        while (life.join('commons'));
        life.balance();
      }
    }
    life.relay.endTurn();
    life.inspect();

    // Everybody who is still here comes back and takes what waits.
    for (const player of life.players) {
      player.vanished = false;
      for (;;) {
        life.poll(player);
        life.balance();
        if (player.waiting.length === 0) break;
      }
    }
    life.inspect();
    for (const sprite of life.sprites) {
      assert.equal(sprite.seen, sprite.seenInVain + (sprite.state === 'acknowledged' ? 1 : 0), sprite.name);
    }

    t.diagnostic([...life.happened].map(([event, times]) => `${event} ${times}`).join(', '));
    const everything = [
      ...['accepted', 'repeated', 'crossing-stale', 'mailbox-full', 'join refused', 'invited', 'left'],
      ...['lease ended', 'vanished seen', 'vanished unseen', 'ping', 'cursor-ahead', 'cursor-lost', 'desktop-ended'],
      ...['answer lost', 'given again', 'seen again elsewhere'],
      ...['world left with sprites', 'world come back to', 'world given up', 'world gone'],
    ];
    for (const event of everything)
      assert.ok(life.happened.get(event), `a life without "${event}" proves nothing about it`);
  });
});

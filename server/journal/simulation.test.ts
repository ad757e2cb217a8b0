/**
 * The relay and its journal on a pretended disk, against clients that follow the protocol: nothing is lost or doubled, whenever
 * the process or the machine dies.
 *
 * Each seed is a short history: desktops join, throw, poll, leave and fall silent; the disk tears writes, fails, fills up; the relay
 * dies in the middle of a call of the disk and is recovered, often several times. SEED repeats
 * a run, SEEDS makes it longer.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Relay } from '../domain/relay.ts';
import type { Facts } from '../domain/state/facts.ts';
import { Death, PretendDisk } from '../test/pretend_disk.ts';
import { randomFrom } from '../test/random.ts';
import { type EdgeNumber, FIRST_POLL_MS, LEASE_MS, opposite } from '../wire/rules.ts';
import '../test/short_lives.ts';
import { checkedCrossing } from '../test/passages.ts';
import { swapWith } from '../test/relay_harness.ts';
import { GENERATION_KEY_BYTES } from '../wire/generations.ts';
import type { Identity } from '../wire/identity.ts';
import { ProblemError } from '../wire/problem.ts';
import { type Durability, Journal, SIZE_FACTOR_MAX, segmentsIn } from './journal.ts';
import { readHead, segmentName } from './segments.ts';

const SEEDS = Number(process.env.SEEDS ?? 2_000);
const SLOTS = 12;
const TURNS = 24;
const WORLDS = ['commons', 'hidden'];

/** Small, so that compactions and full disks happen within a short history. */
const SIZE_BYTES_MIN = 12_000;
const SEGMENT_BYTES = 3_000;
const RESERVE_BYTES = 1_500;
const TAIL_BYTES = 700;

/** Answers are written here. */
const ROOM = Buffer.alloc(1 << 17);

interface Throw {
  readonly edge: EdgeNumber;
  readonly sprite: string;
  /** The turn in which it was sent last: one throw is not sent twice at the same time. */
  turn: number;
}

interface Seat {
  readonly identity: Identity;
  cursor: number;
  nextCrossing: number;
  /** Sprites that were received but not acknowledged: by sequence. */
  readonly unsure: Map<number, string>;
  /** Throws without an answer, by number. */
  readonly pending: Map<number, Throw>;
}

interface Client {
  seat: Seat | undefined;
  /** Seats that have ended, with throws that have no answer yet. */
  readonly former: Seat[];
  isSilent: boolean;
}

/** What an answer does when it reaches its client. */
type Arrival = () => void;

class History {
  readonly random: () => number;
  readonly durability: Durability;
  readonly disk: PretendDisk;
  readonly clients: Client[] = Array.from({ length: 6 }, () => ({ seat: undefined, former: [], isSilent: false }));
  /** Sprites whose 202 has arrived, and those that were refused. */
  readonly accepted = new Set<string>();
  readonly refused = new Set<string>();
  /** How often a client that keeps it has got each sprite. */
  readonly seen = new Map<string, number>();
  relay!: Relay;
  journal!: Journal;
  nowMs = 0;
  deaths = 0;
  compactions = 0;
  swaps = 0;
  full = 0;
  /** How often a relay has found something in the tail of the one before. */
  tails = 0;
  /** The relay died while nothing could be written: what it told meanwhile is told again. */
  mayDouble = false;
  /** The disk fills up, in some histories. */
  readonly isSmall: boolean;
  /** Desktops have names: each relay then allocates a page for them, which takes longer than the rest. */
  readonly hasNames: boolean;
  #arrivals: Arrival[] = [];
  readonly #polls = new Map<number, (status: number, body: string) => void>();
  #tickets = 0;
  #turns = 1;
  #sprites = 0;

  constructor(seed: number) {
    this.random = randomFrom(seed);
    this.durability = this.random() < 0.5 ? 'process' : 'machine';
    this.hasNames = this.random() < 0.1;
    this.isSmall = this.random() < 0.25;
    this.disk = new PretendDisk(this.random);
    if (this.isSmall) this.disk.beforeRoom = () => this.changeRoom();
    this.start();
  }

  pick(end: number): number {
    return Math.floor(this.random() * end);
  }

  /** A process starts: it recovers what the disk has. It may die meanwhile. */
  start(): void {
    for (;;) {
      try {
        this.#recover();
        return;
      } catch (error) {
        if (this.disk.isDead) this.disk.restart(this.durability === 'machine' && this.random() < 0.5);
        else this.#makeRoomToBegin(error as NodeJS.ErrnoException);
      }
    }
  }

  /** Only a relay without any journal may refuse to start because its disk is full. */
  #makeRoomToBegin(error: NodeJS.ErrnoException): void {
    const { disk } = this;
    if (error.code !== 'ENOSPC' || segmentsIn(disk).some((number) => readHead(disk.read(segmentName(number))))) {
      throw error;
    }
    disk.roomBytes = Number.POSITIVE_INFINITY;
  }

  #recover(): void {
    this.nowMs = 1_000 + this.pick(1e9);
    this.#polls.clear();
    this.#arrivals = [];
    if (this.random() < 0.05) this.disk.callsLeft = 1 + this.pick(4);
    // Relays with the addon and without it take turns.
    this.disk.canMap = this.random() < 0.7;
    const key = Buffer.alloc(GENERATION_KEY_BYTES, 7);
    this.journal = new Journal(this.disk, {
      ...{ durability: this.durability, epoch: 1 + this.pick(1e9), generationKey: key },
      ...{
        segmentBytes: SEGMENT_BYTES,
        sizeBytesMin: SIZE_BYTES_MIN,
        reserveBytes: RESERVE_BYTES,
        tailBytes: TAIL_BYTES,
      },
      fail: (error) => {
        this.disk.callsLeft = 0;
        throw error;
      },
    });
    this.relay = new Relay({
      ...{
        slots: SLOTS,
        slabBytes: 1 << 20,
        slabPageBytes: 64 << 10,
        endedMax: 64,
        nowMs: this.nowMs,
        random: this.random,
      },
      ...{ epoch: this.journal.epoch, generationKey: this.journal.generationKey },
      mailboxEventsMax: 6,
      answers: {
        room: () => ROOM,
        roomAt: () => 0,
        answer: (ticket, { status, body, start, end }) => {
          const text = (body as Buffer).toString('utf8', start, end);
          const arrive = this.#polls.get(ticket);
          this.#polls.delete(ticket);
          if (arrive) this.#arrivals.push(() => arrive(status, text));
        },
      },
      randomize: (words) => {
        for (let n = 0; n < 4; n++) words[n] = this.random() * 2 ** 32;
      },
    });
    if (this.journal.recover(this.relay, this.nowMs).tailBytes > 0) this.tails++;
    this.balance();
  }

  /** What happened in a turn is written, then its answers leave. Some never arrive. */
  endTurn(): void {
    this.#turns++;
    this.relay.endTurn();
    this.journal.commit();
    // A journal that nobody waits for goes on after a failed write; a dead process does not.
    if (this.disk.isDead) throw new Death();
    const arrivals = this.#arrivals;
    this.#arrivals = [];
    for (const arrive of arrivals) if (this.random() < 0.9) arrive();
  }

  /** Runs one turn. The relay may die in it; then another one starts. */
  turn(): void {
    const { compactions } = this.journal;
    try {
      for (let n = 1 + this.pick(6); n > 0; n--) this.#act(this.clients[this.pick(this.clients.length)]);
      // The clock does not wait until all facts are written.
      if (this.isSmall && this.random() < 0.2) this.journal.tick(this.nowMs);
      this.endTurn();
      if (this.random() < 0.3) {
        this.nowMs += this.pick(2) ? 100 : this.pick(FIRST_POLL_MS);
        this.relay.advance(this.nowMs);
        this.journal.tick(this.nowMs);
        this.endTurn();
      }
      if (this.random() < 0.01) this.disk.callsLeft = 0;
    } catch (error) {
      if (!this.disk.isDead && !(error instanceof Death)) throw error;
      this.disk.callsLeft = 0;
    }
    this.compactions += this.journal.compactions - compactions;
    if (!this.journal.hasRoom) this.full++;
    if (this.disk.isDead) this.revive();
  }

  revive(): void {
    this.deaths++;
    if (this.journal.isBehind) this.mayDouble = true;
    this.disk.restart(this.durability === 'machine' && this.random() < 0.7);
    // Somebody else has taken the last room meanwhile.
    if (this.isSmall && this.random() < 0.3) this.disk.roomBytes = this.disk.usedBytes;
    this.start();
  }

  /** On a small disk, somebody else takes the last room, or gives it back, at any call. */
  changeRoom(): void {
    const { disk } = this;
    const change = this.random();
    if (change < 0.02) disk.roomBytes = disk.usedBytes + this.pick(1000);
    else if (change < 0.1) disk.roomBytes = Number.POSITIVE_INFINITY;
  }

  /** accepted = acknowledged + waiting + abandoned, and the files are bounded. */
  balance(): void {
    const { accepted, acknowledged, abandoned } = this.relay.counters;
    assert.equal(accepted, acknowledged + abandoned + this.relay.waiting);
  }

  #act(client: Client): void {
    const what = this.random();
    for (const seat of client.former) this.#repeat(seat, true);
    const { seat } = client;
    if (seat && this.random() < 0.1) this.#swap(seat);
    if (!seat) {
      if (what < 0.5) this.join(client);
      return;
    }
    if (client.isSilent) {
      if (what < 0.05) client.isSilent = false;
      return;
    }
    if (what < 0.45) this.throw(seat, this.pick(4) as EdgeNumber);
    else if (what < 0.9) this.poll(client, seat);
    else if (what < 0.93) this.#repeat(seat, false);
    else if (what < 0.94) client.isSilent = true;
    else if (what < 0.96) this.#leave(seat);
    else if (what < 0.98) this.#mute(seat);
    else this.relay.renewInvitation(seat.identity.slot, new Uint32Array(4));
  }

  join(client: Client): void {
    const [token, invitation] = [new Uint32Array(4), new Uint32Array(4)];
    const name = this.hasNames ? `Zoë ${this.pick(100)}` : '';
    try {
      const slot = this.relay.join({ name, world: WORLDS[this.pick(8) ? 0 : 1] }, token, invitation);
      const identity = { slot, generation: this.relay.desktops.generation(slot), token };
      this.#arrivals.push(() => {
        client.isSilent = false;
        client.seat ??= {
          ...{ identity, cursor: 0, nextCrossing: 1 },
          ...{ unsure: new Map(), pending: new Map() },
        };
      });
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
    }
  }

  throw(seat: Seat, edge: EdgeNumber): void {
    const crossing = seat.nextCrossing++;
    seat.pending.set(crossing, { edge, sprite: `s${this.#sprites++}`, turn: 0 });
    this.#send(seat, crossing);
  }

  /** Posts a crossing; its answer arrives after the turn. */
  #send(seat: Seat, crossing: number): void {
    const thrown = seat.pending.get(crossing) as Throw;
    if (thrown.turn === this.#turns) return;
    thrown.turn = this.#turns;
    const { edge, sprite } = thrown;
    const passage = `"edge":${opposite(edge)},"sprite":"${sprite}"}`;
    const { verdict } = this.relay.accept(seat.identity, checkedCrossing(crossing, edge, passage));
    this.#arrivals.push(() => {
      if (!seat.pending.delete(crossing)) return;
      if (verdict === 'accepted' || verdict === 'repeated') this.accepted.add(sprite);
      else this.refused.add(sprite);
    });
  }

  #repeat(seat: Seat, all: boolean): void {
    for (const crossing of [...seat.pending.keys()]) if (all || this.random() < 0.7) this.#send(seat, crossing);
  }

  poll(client: Client, seat: Seat): void {
    const ticket = ++this.#tickets;
    const { cursor } = seat;
    this.#polls.set(ticket, (status, body) => {
      if (client.seat !== seat) return;
      const answer = JSON.parse(body);
      if (status === 410 && answer.code === 'desktop-ended') {
        this.#forget(client, seat, answer.cursor && Number(answer.cursor.split('-')[1]));
        return;
      }
      if (status !== 200) {
        assert.ok(this.mayDouble, `a good client was answered ${body}`);
        seat.cursor = Number(answer.cursor.split('-')[1]);
        seat.unsure.clear();
        return;
      }
      for (const seq of seat.unsure.keys()) if (seq <= cursor) seat.unsure.delete(seq);
      for (const event of answer.events) {
        if (event.type !== 'sprite' || seat.unsure.has(event.seq)) continue;
        assert.ok(event.seq > seat.cursor || this.mayDouble, 'a sprite before the cursor');
        seat.unsure.set(event.seq, event.sprite);
        this.seen.set(event.sprite, (this.seen.get(event.sprite) ?? 0) + 1);
      }
      seat.cursor = Math.max(seat.cursor, Number(answer.cursor.split('-')[1]));
    });
    this.relay.poll(seat.identity, ticket, this.relay.epoch, cursor);
  }

  /** A desktop has ended: its client removes what came after the last acknowledged cursor, and repeats the throws without an answer. */
  #forget(client: Client, seat: Seat, acknowledged: number | undefined): void {
    assert.ok(
      acknowledged !== undefined || seat.cursor === 0 || this.mayDouble,
      'a desktop that was sent something is told what it acknowledged',
    );
    for (const [seq, sprite] of seat.unsure) {
      if (acknowledged === undefined || seq > acknowledged) this.seen.set(sprite, (this.seen.get(sprite) ?? 0) - 1);
    }
    client.seat = undefined;
    if (seat.pending.size > 0) client.former.push(seat);
  }

  #leave(seat: Seat): void {
    if (this.relay.desktops.authenticate(seat.identity) === 'live') this.relay.leave(seat.identity.slot);
  }

  #mute(seat: Seat): void {
    if (this.relay.desktops.authenticate(seat.identity) !== 'live') return;
    const other = this.clients[this.pick(this.clients.length)].seat;
    if (!other) return;
    if (this.random() < 0.5) this.relay.mute(seat.identity.slot, other.identity);
    else this.relay.unmute(seat.identity.slot, other.identity);
  }

  /** Changes places with somebody of the same world. */
  #swap({ identity }: Seat): void {
    const { desktops, torus } = this.relay;
    const live = this.clients.filter(({ seat }) => seat && desktops.authenticate(seat.identity) === 'live');
    const others = live.filter(({ seat }) => torus.worldOf(seat!.identity.slot) === torus.worldOf(identity.slot));
    const other = others[this.pick(others.length)]?.seat;
    if (other && desktops.authenticate(identity) === 'live' && swapWith(this.relay, identity, other.identity))
      this.swaps++;
  }

  /** Everybody polls and repeats until nothing more happens. The disk works. */
  settle(): void {
    this.disk.beforeRoom = undefined;
    this.disk.roomBytes = Number.POSITIVE_INFINITY;
    this.disk.callsLeft = Number.POSITIVE_INFINITY;
    this.disk.syncsLeft = Number.POSITIVE_INFINITY;
    this.disk.writesLeft = Number.POSITIVE_INFINITY;
    const everything = this.random;
    Object.assign(this, { random: () => 0.5 });
    for (let round = 0; round < 9; round++) {
      this.nowMs += 1000;
      this.relay.advance(this.nowMs);
      this.journal.tick(this.nowMs);
      for (const client of this.clients) {
        for (const seat of client.former) this.#repeat(seat, true);
        if (!client.seat) continue;
        this.#repeat(client.seat, true);
        this.poll(client, client.seat);
      }
      this.endTurn();
    }
    Object.assign(this, { random: everything });
  }

  /** The sprites that wait, whatever their mailbox. */
  waiting(): string[] {
    const sprites: string[] = [];
    const collector = new Proxy({} as Facts, {
      get: (_, name) =>
        name === 'event'
          ? (...[, , { body, start, end }]: Parameters<Facts['event']>) =>
              sprites.push(JSON.parse(`{${body.toString('utf8', start, end)}`).sprite)
          : () => {},
    });
    for (let slot = 0; slot < this.relay.desktops.untouched; slot++) this.relay.writeState(slot, collector);
    return sprites;
  }

  /** Nothing is lost, nothing is doubled, nothing comes from nowhere. */
  check(): void {
    this.balance();
    assert.equal(this.journal.hasRoom, true, 'the disk has room again');
    const places = new Map(this.seen);
    // What waits for a client that has it already is not acknowledged yet: it is told again under the same sequence.
    const unsure = new Set(this.clients.flatMap(({ seat }) => [...(seat?.unsure.values() ?? [])]));
    for (const sprite of this.waiting()) {
      if (!unsure.has(sprite)) places.set(sprite, (places.get(sprite) ?? 0) + 1);
    }
    const { abandoned } = this.relay.counters;
    const lost = [...this.accepted].filter((sprite) => !places.get(sprite));
    assert.ok(lost.length <= abandoned, `lost: ${lost}`);
    if (!this.mayDouble) {
      const doubled = [...places].filter(([, times]) => times > 1).map(([sprite]) => sprite);
      assert.deepEqual(doubled, [], 'doubled');
    }
    assert.deepEqual(
      [...this.refused].filter((sprite) => places.get(sprite)),
      [],
      'refused, but there',
    );
  }
}

/** What happened in all histories together: one in which nothing happens proves nothing. */
const happened = { deaths: 0, accepted: 0, compactions: 0, full: 0, doubles: 0, tails: 0, swaps: 0 };

function run(seed: number): void {
  const history = new History(seed);
  const { disk } = history;
  for (let turn = 0; turn < TURNS; turn++) {
    const event = history.random();
    if (event < 0.035) disk.callsLeft = 1 + history.pick(6);
    else if (event < 0.1 && history.durability === 'machine') disk.syncsLeft = 1 + history.pick(3);
    else if (event < 0.11) disk.writesLeft = 1 + history.pick(3);
    else if (event < 0.14 && history.isSmall) disk.roomBytes = disk.usedBytes + history.pick(1000);
    else if (event < 0.25) {
      disk.roomBytes = Number.POSITIVE_INFINITY;
      disk.writesLeft = Number.POSITIVE_INFINITY;
    }
    history.turn();
    const { journal, relay } = history;
    if (!journal.hasRoom) continue;
    const bound = Math.max(SIZE_FACTOR_MAX * (journal.liveBytes + 12_000), SIZE_BYTES_MIN) + 2 * SEGMENT_BYTES;
    assert.ok(journal.sizeBytes < bound, `${journal.sizeBytes} bytes for ${journal.liveBytes}, ${relay.waiting} wait`);
  }
  history.settle();
  history.revive();
  history.settle();
  history.check();
  happened.deaths += history.deaths;
  happened.accepted += history.accepted.size;
  happened.compactions += history.compactions;
  happened.full += history.full;
  happened.tails += history.tails;
  happened.swaps += history.swaps;
  if (history.mayDouble) happened.doubles++;
}

describe('a relay with its journal', () => {
  it(`loses and doubles nothing in ${SEEDS} histories`, (t) => {
    const first = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
    t.diagnostic(`SEED=${first} SEEDS=${SEEDS}`);
    for (let seed = first; seed < first + SEEDS; seed++) {
      try {
        run(seed);
      } catch (error) {
        throw new Error(`SEED=${seed} SEEDS=1: ${(error as Error).message}`, { cause: error });
      }
    }
    t.diagnostic(JSON.stringify(happened));
    if (SEEDS < 1000) return;
    for (const [what, count] of Object.entries(happened)) assert.ok(count > SEEDS / 100, `${what}: ${count}`);
    assert.ok(LEASE_MS > 0);
  });
});

/**
 * Every moment at which a disk fills up, and every one at which it has room again.
 *
 * A relay of a cluster plays the same short script again and again. The disk is full from one of its calls on until another one, for each
 * pair of calls; with no room at all, with room for little more, with a tail and without. Whatever the relay has told meanwhile, in the
 * middle of a turn or between two, the next one must start from its files. And whatever a relay that stops for good hands on to others
 * before it dies, each sprite is there once.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Outgoing } from '../domain/peers/peers.ts';
import type { Relay } from '../domain/relay.ts';
import '../test/short_lives.ts';
import { acquaint, beat, ClusterRelay, deliver } from '../test/cluster_relays.ts';
import { PretendDisk } from '../test/pretend_disk.ts';
import type { Identity } from '../wire/identity.ts';
import { type Durability, Journal } from './journal.ts';
import { RecordWriter } from './records.ts';
import { HEAD_BYTES } from './segments.ts';

const EPOCH = 11;
const STEP_MS = 50;

/** More ticks than a full disk needs to be tried again, and a snapshot to be written. */
const TICKS_MAX = 30;

/** A relay that is made in no time. */
const SMALL = { slots: 8, slabPageBytes: 64 << 10, endedMax: 16 };

/** Room that is left when the disk fills up, in bytes: for nothing, for a part of a frame, for the head of a segment, for a frame more. */
const ROOMS = [0, 7, HEAD_BYTES, 2 * HEAD_BYTES + 400];

interface Shape {
  durability: Durability;
  hasTail: boolean;
  roomBytes: number;
}

/** One life of the relay `a`, which has a journal, and its peer `b`, which has none. */
class Script {
  readonly disk = new PretendDisk(() => 0.5);
  readonly journal: Journal;
  readonly a: ClusterRelay;
  readonly b = new ClusterRelay('b', 22, undefined, SMALL);
  readonly #desktops = new Map<string, Identity>();
  readonly #durability: Durability;
  #flying: readonly Outgoing[] = [];
  #thrown = 0;
  #usedBytes = 0;

  constructor({ durability, hasTail }: Shape) {
    this.#durability = durability;
    this.disk.canMap = hasTail;
    const journal = this.#open(this.disk);
    this.journal = journal;
    this.a = new ClusterRelay('a', EPOCH, (relay) => void journal.recover(relay, 1000), SMALL);
    for (const name of ['Ann', 'Amy', 'Ada']) this.#desktops.set(name, this.a.join(name));
    this.b.join('Bob');
    acquaint(this.a, this.b);
    this.commit();
  }

  #open(disk: PretendDisk): Journal {
    return new Journal(disk, {
      ...{ durability: this.#durability, epoch: EPOCH, generationKey: Buffer.alloc(16, EPOCH) },
      ...{ reserveBytes: 200, tailBytes: 700, segmentBytes: 900, sizeBytesMin: 4000 },
      fail: (error) => {
        throw error;
      },
    });
  }

  of(name: string): Identity {
    return this.#desktops.get(name) as Identity;
  }

  commit(): void {
    this.journal.commit();
  }

  /** The clock: the tick comes first, whatever the relay has told since the last commit. */
  tick(ms = STEP_MS): void {
    this.a.nowMs += ms;
    this.journal.tick(this.a.nowMs);
    this.a.relay.advance(this.a.nowMs);
    this.commit();
    this.#flying = [...this.#flying, ...this.a.peers.popOutgoing()];
  }

  throw(name: string, edge: 'left' | 'right'): void {
    this.a.throw(this.of(name), ++this.#thrown, edge);
  }

  /** Frames arrive at `b`, and their answers at `a`, before the turn that they cause has ended. */
  arrive(): void {
    const frames = this.#flying;
    this.#flying = [];
    for (const frame of frames) {
      this.a.peers.answered(frame, this.b.peers.receive(frame.frame));
      this.b.relay.endTurn();
    }
  }

  /** Another relay starts from the files. Throws JournalDamaged. */
  restarted(): ClusterRelay {
    const disk = this.disk.copy();
    return new ClusterRelay('a', EPOCH, (relay) => void this.#open(disk).recover(relay, 1000), SMALL);
  }

  recovered(): Relay {
    return this.restarted().relay;
  }

  /** Begins to stop for good. */
  stop(): void {
    this.a.relay.drain();
    this.a.membership.leave();
    this.a.relay.ending.begin();
    beat(this.a, this.b);
  }

  /** This life ends, and another one begins, with room on its disk. Returns how many sprites are there then, at one relay or the other. */
  sprites(): number {
    this.disk.roomBytes = Number.POSITIVE_INFINITY;
    const a = this.restarted();
    const { b } = this;
    for (let turn = 0; turn < 9; turn++) {
      acquaint(a, b);
      deliver([b], a.turn(STEP_MS), a);
    }
    assert.equal(a.peers.inDoubt, 0);
    return a.relay.waiting + b.relay.waiting;
  }

  /** The same, if the files have other sizes than at the last look. */
  look(): void {
    if (this.disk.usedBytes === this.#usedBytes) return;
    this.#usedBytes = this.disk.usedBytes;
    this.recovered();
  }
}

/** What a relay does, in calls between which a disk may get room. A turn that nobody waits for ends without a commit. */
const STEPS: readonly ((script: Script) => void)[] = [
  (script) => script.throw('Ada', 'right'),
  (script) => script.tick(),
  (script) => script.throw('Ann', 'right'),
  (script) => script.tick(),
  (script) => script.a.relay.setShows(script.of('Ann').slot, false),
  (script) => script.tick(),
  (script) => script.arrive(),
  (script) => script.tick(),
  (script) => void script.a.poll(script.of('Amy')),
  (script) => script.a.relay.setShows(script.of('Amy').slot, false),
  (script) => script.commit(),
  (script) => script.throw('Ada', 'right'),
  (script) => script.tick(),
  (script) => script.a.relay.leave(script.of('Amy').slot),
  (script) => script.tick(1000),
  (script) => script.arrive(),
  (script) => script.a.relay.mute(script.of('Ann').slot, script.of('Ada')),
  (script) => script.tick(),
  (script) => void script.a.poll(script.of('Ada'), 0),
  (script) => script.a.relay.leave(script.of('Ann').slot),
  (script) => script.tick(1000),
  (script) => script.arrive(),
  (script) => void script.a.poll(script.of('Ada'), 0),
  (script) => script.tick(),
];

/** Plays the script on a disk that is full from its call `from` on until its call `until`. Returns how many calls needed room. */
function play(shape: Shape, from: number, until: number): number {
  const script = new Script(shape);
  const { disk, journal, a } = script;
  let calls = 0;
  disk.beforeRoom = () => {
    calls++;
    if (calls === from) disk.roomBytes = disk.usedBytes + shape.roomBytes;
    if (calls === until) disk.roomBytes = Number.POSITIVE_INFINITY;
  };
  try {
    for (const step of STEPS) {
      step(script);
      // Until then, every script is the same.
      if (calls >= from) script.look();
    }
    disk.roomBytes = Number.POSITIVE_INFINITY;
    script.tick(100);
    for (let tick = 0; tick < TICKS_MAX && !(journal.hasRoom && !journal.isCompacting); tick++) {
      script.tick(100);
      script.look();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    // A turn has promised what could not be written, so the relay has ended before its answers left.
    script.recovered();
    return calls;
  }
  assert.deepEqual([journal.hasRoom, journal.isBehind], [true, false]);
  const next = script.recovered();
  assert.deepEqual(next.counters.accepted, a.relay.counters.accepted);
  assert.equal(next.waiting, a.relay.waiting);
  assert.equal(next.peerMemory.inFlight, a.relay.peerMemory.inFlight);
  const [ada, adaNow] = [next, a.relay].map((relay) => relay.directory.describe(script.of('Ada').slot));
  assert.deepEqual([ada.place, ada.stage], [adaNow.place, adaNow.stage]);
  return calls;
}

/** A relay stops for good, with sprites in its mailboxes, and does more on a full disk than its reserve has room for. */
const STOP: readonly ((script: Script) => void)[] = [
  (script) => script.throw('Ann', 'right'),
  (script) => script.tick(),
  (script) => script.throw('Amy', 'left'),
  (script) => script.throw('Ann', 'right'),
  (script) => script.tick(),
  ...Array.from({ length: 6 }, () => (script: Script) => {
    script.a.relay.setShows(script.of('Ann').slot, false);
    script.commit();
  }),
  (script) => script.stop(),
  ...Array.from({ length: 5 }, () => [
    (script: Script) => script.tick(),
    (script: Script) => {
      script.stop();
      script.arrive();
    },
  ]).flat(),
];

/** Plays STOP on a disk that is full from its call `from` on; the relay dies behind each step. Returns how many calls needed room. */
function stopFor(shape: Shape, from: number): number {
  let calls = 0;
  for (let steps = 5; steps <= STOP.length; steps++) {
    const script = new Script(shape);
    const { disk } = script;
    calls = 0;
    disk.beforeRoom = () => {
      if (++calls === from) disk.roomBytes = disk.usedBytes + shape.roomBytes;
    };
    let thrown = 0;
    try {
      for (const step of STOP.slice(0, steps)) step(script);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      // The answers of this turn did not leave.
      continue;
    } finally {
      disk.beforeRoom = undefined;
      thrown = script.a.relay.counters.accepted;
    }
    assert.equal(
      script.sprites(),
      thrown,
      `the disk is full from call ${from} on, and the relay dies behind step ${steps}`,
    );
  }
  return calls;
}

/** Plays the script for each pair of calls. Returns how often. */
function playAll(shape: Shape): number {
  const calls = play(shape, Number.POSITIVE_INFINITY, 0);
  let plays = 1;
  for (let from = 1; from <= calls; from++) {
    let until = from;
    do plays++;
    while (play(shape, from, ++until) >= until);
  }
  return plays;
}

describe('a disk that fills up and has room again', () => {
  for (const [durability, hasTail, rooms] of [
    ['process', true, ROOMS],
    ['process', false, ROOMS.slice(0, 1)],
    ['machine', false, ROOMS.slice(-2)],
  ] as const) {
    for (const roomBytes of rooms) {
      const shape = { durability, hasTail, roomBytes };
      it(`leaves a journal that the next relay can read, whenever that happens: ${JSON.stringify(shape)}`, (t) => {
        t.diagnostic(`${playAll(shape)} scripts`);
      });
    }
  }

  for (const hasTail of [true, false]) {
    it(`hands nothing on that is not written down, ${hasTail ? 'with' : 'without'} a tail`, () => {
      const shape: Shape = { durability: 'process', hasTail, roomBytes: 0 };
      const calls = stopFor(shape, Number.POSITIVE_INFINITY);
      for (let from = 1; from <= calls; from++) stopFor(shape, from);
    });
  }
});

/** Facts that go nowhere, and may have no room. */
function factsWithRoom(): Omit<RecordWriter, 'hasRoom'> & { hasRoom: boolean } {
  return new RecordWriter(0);
}

/** Two relays with a desktop each, and what they tell. */
function pairWithRoom() {
  const [here, there] = [factsWithRoom(), factsWithRoom()];
  const a = new ClusterRelay('a', 1, (relay) => relay.setFacts(here), SMALL);
  const b = new ClusterRelay('b', 2, (relay) => relay.setFacts(there), SMALL);
  const [ann, bob] = [a.join('Ann'), b.join('Bob')];
  acquaint(a, b);
  return { a, b, ann, bob, here, there };
}

const codeOf = (relay: ClusterRelay, ticket: number) => JSON.parse(relay.answers.get(ticket)?.body ?? '{}').code;

describe('a relay of a cluster whose journal has no room', () => {
  it('sends nothing that it gathered before: the sprites bounce', () => {
    const { a, b, ann, here } = pairWithRoom();
    a.peers.isGathering = true;
    const ticket = a.throw(ann, 1);
    assert.deepEqual([a.turn(), a.statusOf(ticket)], [[], undefined]);
    here.hasRoom = false;
    assert.deepEqual(a.turn(), []);
    assert.equal(codeOf(a, ticket), 'journal-full');
    assert.equal(a.peers.inDoubt, 0);
    here.hasRoom = true;
    a.peers.isGathering = false;
    const again = a.throw(ann, 1);
    deliver([b], a.turn(), a);
    assert.equal(a.statusOf(again), 202);
    assert.equal(b.relay.waiting, 1);
  });

  it('takes nothing and remembers nothing: the sprites bounce, and arrive when they are thrown again', () => {
    const { a, b, ann, there } = pairWithRoom();
    there.hasRoom = false;
    const told = there.end;
    const ticket = a.throw(ann, 1);
    const [frame] = a.turn();
    a.peers.answered(frame, b.peers.receive(frame.frame));
    assert.equal(codeOf(a, ticket), 'journal-full');
    assert.deepEqual([b.relay.waiting, there.end], [0, told]);
    there.hasRoom = true;
    const again = a.throw(ann, 1);
    deliver([b], a.turn(), a);
    assert.deepEqual([a.statusOf(again), b.relay.waiting], [202, 1]);
  });

  it('gives the verdict that it has given before, also now', () => {
    const { a, b, ann, there } = pairWithRoom();
    const ticket = a.throw(ann, 1);
    const [frame] = a.turn();
    b.peers.receive(frame.frame);
    there.hasRoom = false;
    a.peers.answered(frame, b.peers.receive(frame.frame));
    assert.deepEqual([a.statusOf(ticket), b.relay.waiting], [202, 1]);
  });

  it('gives no sprite back to its thrower: its next life would send the frame again', () => {
    const { a, b, ann, here } = pairWithRoom();
    const ticket = a.throw(ann, 1);
    const [frame] = a.turn();
    here.hasRoom = false;
    a.peers.failed(frame, true);
    assert.equal(a.statusOf(ticket), undefined);
    deliver([b], a.turn(1000), a);
    assert.deepEqual([a.statusOf(ticket), b.relay.waiting], [202, 1]);
  });
});

describe('an answer that writes the journal in the middle of a turn', () => {
  it('finds the verdicts on all crossings of a frame settled', () => {
    const disk = new PretendDisk(() => 0.5);
    const open = (on: PretendDisk) =>
      new Journal(on, {
        ...{ durability: 'process', epoch: EPOCH, generationKey: Buffer.alloc(16, EPOCH), reserveBytes: 200 },
        fail: (error) => {
          throw error;
        },
      });
    const journal = open(disk);
    const lives: PretendDisk[] = [];
    const a = new ClusterRelay('a', EPOCH, (relay) => void journal.recover(relay, 1000), {
      ...SMALL,
      answers: {
        room: (bytes) => Buffer.alloc(bytes),
        roomAt: () => 0,
        answer: () => {
          journal.commit();
          lives.push(disk.copy());
        },
      },
    });
    const b = new ClusterRelay('b', 22, undefined, SMALL);
    const ann = a.join('Ann');
    b.join('Bob');
    acquaint(a, b);
    for (const crossing of [1, 2]) a.throw(ann, crossing);
    const frames = a.turn();
    a.relay.leave(ann.slot);
    a.relay.endTurn();
    journal.commit();
    lives.length = 0;
    deliver([b], frames, a);
    assert.equal(lives.length, 2);
    for (const life of lives) {
      const next = new ClusterRelay('a', EPOCH, (relay) => void open(life).recover(relay, 1000), SMALL);
      for (const crossing of [1, 2])
        assert.equal(next.statusOf(next.throw(ann, crossing)), 202, `crossing ${crossing}`);
    }
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RecordWriter, readRecords } from '../../journal/records.ts';
import { acquaint, beat, ClusterRelay, deliver } from '../../test/cluster_relays.ts';
import { passageOf } from '../../test/passages.ts';
import type { Identity } from '../../wire/identity.ts';
import { Recovery } from '../recovery.ts';
import type { Relay, RelayOptions } from '../relay.ts';
import { KEPT_STEP_MS, PIONEER_MS, PIONEERS_MAX } from '../state/limits.ts';
import type { Mailboxes } from '../state/mailboxes.ts';
import { HANDED_PER_ROUND_MAX, HANDED_PER_TURN_MAX, HandOver } from './hand_over.ts';
import type { Peers } from './peers.ts';

/** Three desktops at `a`, as many at `b`. */
function cluster(
  facts?: RecordWriter,
  options?: Partial<RelayOptions>,
  others = options,
): { a: ClusterRelay; b: ClusterRelay; anns: Identity[]; bobs: Identity[] } {
  const a = new ClusterRelay(
    'a',
    1,
    (relay) => {
      if (facts) relay.setFacts(facts);
    },
    options,
  );
  const b = new ClusterRelay('b', 2, undefined, others);
  const anns = ['Ann', 'Amy', 'Ada'].map((name) => a.join(name));
  const bobs = ['Bob', 'Bea', 'Ben'].map((name) => b.join(name));
  acquaint(a, b);
  return { a, b, anns, bobs };
}

/** Ends the desktops of `a`, and waits until its view has none of them. */
function leave(a: ClusterRelay, ...others: ClusterRelay[]): void {
  a.relay.drain();
  a.membership.leave();
  a.relay.ending.begin();
  a.turn(50);
  beat(a, ...others);
}

/** Goes on until `a` has handed everything over, or for 100 turns. */
function finish(a: ClusterRelay, relays: ClusterRelay[]): void {
  for (let turn = 0; turn < 100 && !a.relay.ending.isOver; turn++) deliver(relays, a.turn(50), a);
}

const namesIn = (relay: ClusterRelay, desktop: Identity) =>
  relay
    .eventsOf(relay.poll(desktop))
    .filter(({ type }) => type === 'sprite')
    .map(({ sprite, edge }) => `${sprite.name} ${edge}`);

function assertConserved({ relay }: ClusterRelay): void {
  const { accepted, acknowledged, abandoned } = relay.counters;
  assert.equal(accepted, acknowledged + abandoned + relay.waiting);
}

describe('a relay that stops for good', () => {
  it('hands on what waits in its mailboxes, in its direction of travel, and keeps nothing', () => {
    const { a, b, anns, bobs } = cluster();
    // Within the relay: Amy gets one from the left and one from the right.
    assert.equal(a.statusOf(a.throw(anns[0], 1, 'right')), 202);
    assert.equal(a.statusOf(a.throw(anns[2], 2, 'left')), 202);
    assert.equal(a.statusOf(a.throw(anns[1], 3, 'right')), 202);
    assert.equal(a.relay.waiting, 3);
    leave(a, b);
    assert.equal(a.relay.desktops.count, 0);
    finish(a, [b]);
    assert.ok(a.relay.ending.isOver);
    assert.deepEqual([a.relay.waiting, a.peers.counters.handed, b.peers.counters.received], [0, 3, 3]);
    assert.deepEqual([a.relay.day.thrown, b.relay.day.thrown], [3, 0], 'what is handed on is not thrown again');
    // Amy was the second from the right border, and the second from the left one.
    assert.deepEqual(namesIn(b, bobs[1]).sort(), ['1 left', '2 right']);
    assert.deepEqual(namesIn(b, bobs[0]), ['3 left'], 'Ada was at the right border');
    for (const one of [a, b]) assertConserved(one);
    assert.equal(a.relay.desktops.untouched > 0 && [...anns].some(({ slot }) => a.relay.desktops.isLive(slot)), false);
  });

  it('ends its desktops: their next poll says that they must join again', () => {
    const { a, b, anns } = cluster();
    leave(a, b);
    assert.equal(a.statusOf(a.poll(anns[0])), 410);
  });

  it('hands each sprite on once, though answers are lost and frames are repeated', () => {
    const { a, b, anns } = cluster();
    for (let crossing = 1; crossing <= 20; crossing++) a.throw(anns[0], crossing, 'right');
    leave(a, b);
    const [frame] = a.turn(50);
    b.peers.receive(frame.frame);
    a.peers.failed(frame, false);
    assert.equal(a.relay.waiting, 20, 'nothing is known yet');
    finish(a, [b]);
    assert.equal(b.peers.counters.received, 20);
    assert.equal(b.relay.waiting, 20);
    assert.equal(a.relay.waiting, 0);
  });

  it('hands on the sprites of HANDED_PER_TURN_MAX mailboxes in a turn', () => {
    for (const mailboxes of [HANDED_PER_TURN_MAX - 1, HANDED_PER_TURN_MAX, HANDED_PER_TURN_MAX + 1]) {
      const [a, b] = ['a', 'b'].map((name, n) => new ClusterRelay(name, n + 1, undefined, { slots: 256 }));
      const anns = Array.from({ length: mailboxes + 1 }, (_, n) => a.join(`Ann${n}`));
      b.join('Bob');
      acquaint(a, b);
      // To the desktop on the right: the last one has no neighbour here.
      for (const ann of anns.slice(0, -1)) assert.equal(a.statusOf(a.throw(ann, 1, 'right')), 202);
      leave(a, b);
      const frames = a.turn(50);
      assert.equal(a.peers.inDoubt, Math.min(mailboxes, HANDED_PER_TURN_MAX));
      deliver([b], frames, a);
      finish(a, [b]);
      assert.deepEqual([a.relay.waiting, b.relay.waiting], [0, mailboxes]);
    }
  });

  it('tries the next desktop when one has no room', () => {
    const { a, b, anns, bobs } = cluster(undefined, { mailboxEventsMax: 4 });
    for (let crossing = 1; crossing <= 3; crossing++) {
      a.throw(anns[0], crossing, 'right');
      b.throw(bobs[0], crossing, 'right');
    }
    leave(a, b);
    finish(a, [b]);
    assert.equal(a.relay.waiting, 0);
    assert.deepEqual(
      [bobs[1], bobs[2]].map(({ slot }) => b.relay.mailboxes.count(slot)),
      [4, 2],
      'the desktop behind it',
    );
    for (const one of [a, b]) assertConserved(one);
  });

  it('keeps in its journal what no relay accepts, and goes on with it when it is started again', () => {
    const writer = new RecordWriter(0);
    const { a, b, anns } = cluster(writer);
    a.throw(anns[0], 1, 'right');
    leave(a, b);
    b.relay.drain();
    finish(a, [b]);
    assert.ok(!a.relay.ending.isOver);
    assert.equal(a.relay.waiting, 1);
    const recovered = recover(a, writer);
    assert.equal(recovered.relay.waiting, 1);
    const zoe = recovered.join('Zoe');
    assert.deepEqual(namesIn(recovered, zoe), ['1 left']);
  });

  it('that is killed while it hands over asks for the verdict again, and delivers nothing twice', () => {
    for (const isAccepted of [true, false]) {
      const writer = new RecordWriter(0);
      const { a, b, anns } = cluster(writer);
      a.throw(anns[0], 1, 'right');
      leave(a, b);
      const [frame] = a.turn(50);
      if (isAccepted) b.peers.receive(frame.frame);
      else b.relay.drain();
      const recovered = recover(a, writer);
      recovered.peers.isConnected = false;
      recovered.turn(10);
      assert.equal(recovered.peers.inDoubt, 1);
      const zoe = recovered.join('Zoe');
      recovered.turn(2_000);
      assert.deepEqual(namesIn(recovered, zoe), [], 'it may be at the other relay');
      recovered.peers.isConnected = true;
      deliver([b], recovered.turn(1_000), recovered);
      recovered.turn(2_000);
      assert.equal(recovered.peers.inDoubt, 0);
      assert.equal(recovered.relay.waiting, isAccepted ? 0 : 1);
      if (!isAccepted) assert.deepEqual(namesIn(recovered, zoe), ['1 left']);
      assertConserved(recovered);
    }
  });

  it('that ran without a cluster meanwhile goes on, whatever the verdict', () => {
    const writer = new RecordWriter(0);
    const { a, b, anns } = cluster(writer);
    a.throw(anns[0], 1, 'right');
    leave(a, b);
    const [frame] = a.turn(50);
    const recovered = new ClusterRelay('a', 1, (relay) => {
      recovery(a, writer)(relay);
      const slot = relay.join({ name: 'Zoe' }, new Uint32Array(4), new Uint32Array(4));
      assert.equal(relay.mailboxes.count(slot), 1, 'it has gone on to a desktop here');
    });
    b.peers.receive(frame.frame);
    recovered.turn(10);
    recovered.peers.failed(frame, false);
    acquaint(recovered, b);
    deliver([b], recovered.turn(2_000), recovered);
    assert.equal(recovered.relay.waiting, 1);
    assertConserved(recovered);
  });

  it('that comes back remembers the verdicts it has got', () => {
    const writer = new RecordWriter(0);
    const { a, b, anns } = cluster(writer, undefined, { mailboxEventsMax: 3 });
    for (let crossing = 1; crossing <= 5; crossing++) a.throw(anns[0], crossing, 'right');
    leave(a, b);
    deliver([b], a.turn(50), a);
    assert.equal(a.relay.waiting, 2, 'the others had no room');
    const recovered = recover(a, writer);
    assert.deepEqual([recovered.relay.waiting, recovered.peers.inDoubt], [2, 0]);
    assert.deepEqual(namesIn(recovered, recovered.join('Zoe')), ['4 left', '5 left']);
    finish(a, [b]);
    assert.deepEqual([recover(a, writer).relay.waiting, a.relay.waiting], [0, 0]);
  });
});

/** Goes on until nothing waits at `a`, or for 100 turns of the kept mailboxes. */
function settle(a: ClusterRelay, relays: ClusterRelay[]): void {
  for (let turn = 0; turn < 100 && a.relay.waiting > 0; turn++) {
    beat(a, ...relays);
    deliver(relays, a.turn(KEPT_STEP_MS), a);
    deliver(relays, a.turn(1), a);
  }
}

describe('a relay whose last desktop of commons has ended', () => {
  it('hands on what waits there to desktops of other relays, in its direction of travel', () => {
    const { a, b, anns, bobs } = cluster();
    a.throw(anns[0], 1, 'right');
    a.throw(anns[2], 2, 'left');
    for (const { slot } of anns) a.relay.leave(slot);
    assert.equal(a.relay.waiting, 2, 'there is nobody here');
    settle(a, [b]);
    assert.deepEqual([a.relay.waiting, a.peers.counters.handed, b.relay.waiting], [0, 2, 2]);
    assert.deepEqual([namesIn(b, bobs[0]), namesIn(b, bobs[2])], [['1 left'], ['2 right']]);
    assert.equal(a.relay.keptBytes, 0);
    for (const one of [a, b]) assertConserved(one);
  });

  it('gives a sprite that is on its way to no desktop that joins here meanwhile, and the others to it', () => {
    for (const isAccepted of [true, false]) {
      const { a, b, anns } = cluster();
      a.throw(anns[0], 1, 'right');
      for (const { slot } of anns) a.relay.leave(slot);
      beat(a, b);
      const [frame] = a.turn(KEPT_STEP_MS);
      assert.ok(frame, 'it is on its way');
      const zoe = a.join('Zoe');
      a.turn(KEPT_STEP_MS);
      assert.deepEqual(namesIn(a, zoe), [], 'it may be at the other relay');
      if (!isAccepted) b.relay.drain();
      a.peers.answered(frame, b.peers.receive(frame.frame));
      a.turn(KEPT_STEP_MS);
      assert.deepEqual(namesIn(a, zoe), isAccepted ? [] : ['1 left']);
      assert.deepEqual([a.relay.waiting, b.relay.waiting], isAccepted ? [0, 1] : [1, 0]);
      for (const one of [a, b]) assertConserved(one);
    }
  });

  it('keeps it while no other relay has desktops, and hands it on when the first has joined there', () => {
    const [a, b] = [new ClusterRelay('a', 1), new ClusterRelay('b', 2)];
    const anns = ['Ann', 'Amy'].map((name) => a.join(name));
    acquaint(a, b);
    a.throw(anns[0], 1, 'right');
    for (const { slot } of anns) a.relay.leave(slot);
    for (let round = 0; round < 5; round++) {
      beat(a, b);
      deliver([b], a.turn(KEPT_STEP_MS), a);
    }
    assert.deepEqual([a.relay.waiting, b.relay.waiting], [1, 0]);
    const bob = b.join('Bob');
    settle(a, [b]);
    assert.deepEqual([a.relay.waiting, namesIn(b, bob)], [0, ['1 left']]);
  });

  it('asks for the verdict again after it was killed meanwhile, and delivers nothing twice', () => {
    for (const isAccepted of [true, false]) {
      const writer = new RecordWriter(0);
      const { a, b, anns } = cluster(writer);
      a.throw(anns[0], 1, 'right');
      for (const { slot } of anns) a.relay.leave(slot);
      beat(a, b);
      const [frame] = a.turn(KEPT_STEP_MS);
      if (isAccepted) b.peers.receive(frame.frame);
      const recovered = recover(a, writer);
      acquaint(recovered, b);
      settle(recovered, [b]);
      assert.deepEqual([recovered.relay.waiting, b.relay.waiting], [0, 1]);
      for (const one of [recovered, b]) assertConserved(one);
    }
  });
});

describe('a relay whose desktops have no room for what waits', () => {
  it('hands it on to other relays when ONWARD_DESKTOPS_MAX of its own had none', () => {
    const { a, b, anns, bobs } = cluster(undefined, { mailboxEventsMax: 4 }, {});
    // Each mailbox carries four times its limit of what ended desktops leave.
    for (let n = 0; n < 14; n++) {
      const [ann, zoe] = [a.join('Ann'), a.join('Zoe')];
      beat(a, b);
      for (let crossing = 1; crossing <= 4; crossing++) a.throw(ann, crossing, 'right');
      a.relay.leave(zoe.slot);
      a.relay.leave(ann.slot);
    }
    const atHome = anns.reduce((sum, { slot }) => sum + a.relay.mailboxes.count(slot), 0);
    assert.equal(a.relay.waiting, 56);
    assert.ok(atHome < 56, `${atHome} have room here`);
    for (let turn = 0; turn < 4; turn++) {
      beat(a, b);
      deliver([b], a.turn(KEPT_STEP_MS), a);
    }
    assert.equal(a.relay.waiting, atHome);
    assert.equal(b.relay.waiting, 56 - atHome);
    assert.ok(b.relay.mailboxes.count(bobs[0].slot) > 0, 'beyond the border');
    for (const one of [a, b]) assertConserved(one);
  });
});

describe('a round of a hand-over', () => {
  it('leaves out a mailbox whose world has come home and ended since the round began', () => {
    const { a } = cluster();
    const [zoe, zac] = ['Zoe', 'Zac'].map((name) => a.join(name, 'garden'));
    a.throw(zoe, 1);
    for (const { slot } of [zoe, zac]) a.relay.leave(slot);
    a.relay.ending.setHome('garden', 'b');
    // The round begins, and nothing can leave.
    a.peers.isConnected = false;
    a.turn(KEPT_STEP_MS);
    a.relay.ending.setHome('garden', undefined);
    const max = a.join('Max', 'garden');
    assert.deepEqual(namesIn(a, max), ['1 left']);
    a.relay.poll(max, 0, a.relay.epoch, 1);
    a.relay.leave(max.slot);
    assert.equal(a.relay.torus.find('garden'), undefined);
    a.peers.isConnected = true;
    a.turn(1);
    assert.equal(a.peers.inDoubt, 0);
    assertConserved(a);
  });

  /** A hand-over of mailboxes with one sprite each, and the slots whose sprites were sent. */
  function handOver(): { hand: HandOver; sent: number[] } {
    const sent: number[] = [];
    const view = { names: ['a', 'b'], self: 0, counts: [0, 1] };
    const peers = {
      ...{ maySend: true, membership: { view }, isReachable: () => true, isHanding: () => true },
      handOn: (_: object, { slot }: { slot: number }) => sent.push(slot) > 0,
    };
    const mailboxes = {
      visitUnsent: (_: number, edge: number, visit: (event: object) => void) => {
        if (edge === 0) visit({ arrived: 0, ...passageOf(0, Buffer.alloc(0)) });
      },
    };
    const host = {
      ...{ isKept: () => true, placeOf: () => 0, movedOf: () => undefined, owners: () => 1 },
      ...{ hold: () => {}, unsend: () => {} },
    };
    return { hand: new HandOver(host, mailboxes as unknown as Mailboxes, peers as unknown as Peers), sent };
  }

  /** Tries some of a number of mailboxes: in the order of their slots from `first` on, or all in the reverse one. Returns how many. */
  function round(
    { hand, sent }: ReturnType<typeof handOver>,
    mailboxes: number,
    first: number,
    isLast = false,
  ): number {
    sent.length = 0;
    const slots = Array.from({ length: mailboxes }, (_, slot) => slot);
    hand.begin(slots, 0, isLast);
    while (hand.isInRound) hand.step();
    const inOrder = isLast ? slots.toReversed() : [...slots.slice(first), ...slots.slice(0, first)];
    assert.deepEqual(sent, inOrder.slice(0, sent.length));
    return sent.length;
  }

  it('tries HANDED_PER_ROUND_MAX mailboxes, and all when the relay stops', () => {
    for (const mailboxes of [HANDED_PER_ROUND_MAX - 1, HANDED_PER_ROUND_MAX, HANDED_PER_ROUND_MAX + 1]) {
      assert.equal(round(handOver(), mailboxes, 0), Math.min(mailboxes, HANDED_PER_ROUND_MAX));
      assert.equal(round(handOver(), mailboxes, 0, true), mailboxes);
    }
  });

  it('tries half as many while nobody takes anything, down to one, and twice as many when somebody does', () => {
    const one = handOver();
    const all = 2 * HANDED_PER_ROUND_MAX;
    let first = 0;
    for (let tries = HANDED_PER_ROUND_MAX; tries > 1; tries /= 2) {
      assert.equal(round(one, all, first), tries);
      for (const slot of one.sent) one.hand.left(slot);
      first += tries;
    }
    for (let again = 0; again < 3; again++) {
      assert.equal(round(one, all, first), 1);
      one.hand.left(first);
      first = (first + 1) % all;
    }
    for (let tries = 2; tries <= HANDED_PER_ROUND_MAX; tries *= 2) {
      one.hand.passed();
      assert.equal(round(one, all, 0), tries);
    }
    one.hand.passed();
    assert.equal(round(one, all, 0), HANDED_PER_ROUND_MAX);
    assert.equal(round(one, all, 0), HANDED_PER_ROUND_MAX, 'no verdict has come');
  });

  it('goes on behind mailboxes that were refused, so that they keep none from its turn, until somebody takes something', () => {
    const one = handOver();
    // The first is of a private world that nobody takes.
    for (let tries = HANDED_PER_ROUND_MAX; tries > 1; tries /= 2) {
      round(one, 1, 0);
      one.hand.left(0);
    }
    assert.equal(round(one, 3, 1), 1);
    one.hand.left(1);
    assert.equal(round(one, 3, 2), 1, 'the last');
    one.hand.left(2);
    assert.equal(round(one, 3, 0), 1, 'the first again');
    assert.equal(round(one, 3, 1), 1, 'also while no verdict comes');
    one.hand.passed();
    assert.equal(round(one, 3, 0), 2, 'the oldest are among them');
  });

  it('begins with the oldest when the one that was refused has gone', () => {
    const one = handOver();
    round(one, 3, 0);
    one.hand.left(2);
    assert.equal(round(one, 2, 0), 2);
  });
});

describe('a relay that stops for good while no other relay has a desktop', () => {
  it('sends PIONEERS_MAX of its desktops of commons there within PIONEER_MS, and no more', () => {
    for (const desktops of [PIONEERS_MAX - 1, PIONEERS_MAX, PIONEERS_MAX + 1]) {
      for (const isElsewhere of [false, true]) {
        const [a, b] = [new ClusterRelay('a', 1), new ClusterRelay('b', 2)];
        const all = Array.from({ length: desktops }, (_, n) => a.join(`Ann${n}`));
        if (isElsewhere) b.join('Bob');
        acquaint(a, b);
        const polls = [a.poll(a.join('Zoe', 'a garden')), ...all.map((one) => a.poll(one))];
        a.relay.drain(['http://b/v1/desktops']);
        const ahead = polls.filter((poll) => a.eventsOf(poll)[0].retryAfterMs <= PIONEER_MS);
        assert.equal(ahead.length, isElsewhere ? 0 : Math.min(desktops, PIONEERS_MAX));
        assert.ok(!ahead.includes(polls[0]), 'one of a private world is of no use there');
      }
    }
  });

  it('waits for the first that joins there', () => {
    const [a, b] = [new ClusterRelay('a', 1), new ClusterRelay('b', 2)];
    const anns = ['Ann', 'Amy'].map((name) => a.join(name));
    acquaint(a, b);
    a.throw(anns[0], 1, 'right');
    leave(a, b);
    finish(a, [b]);
    assert.ok(!a.relay.ending.isOver);
    assert.equal(a.relay.waiting, 1);
    const bob = b.join('Bob');
    beat(a, b);
    finish(a, [b]);
    assert.ok(a.relay.ending.isOver);
    assert.deepEqual(namesIn(b, bob), ['1 left']);
  });
});

/** The relay `a` as it starts again from what it has told. */
function recover(a: ClusterRelay, writer: RecordWriter): ClusterRelay {
  return new ClusterRelay('a', 1, recovery(a, writer));
}

/** Applies what `a` has told to another relay. */
function recovery({ relay: { counters } }: ClusterRelay, writer: RecordWriter): (relay: Relay) => void {
  return (relay) => {
    const facts = new Recovery(relay, 1_000);
    readRecords(writer.bytes, 0, writer.end, facts);
    facts.counters(counters.accepted, counters.acknowledged, counters.abandoned);
    facts.finish();
  };
}

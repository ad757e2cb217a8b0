import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RecordWriter, readRecords } from '../journal/records.ts';
import { acquaint, beat, ClusterRelay, deliver } from '../test/cluster_relays.ts';
import type { Identity } from '../wire/identity.ts';
import { HANDED_PER_TURN_MAX } from './hand_over.ts';
import { Recovery } from './recovery.ts';
import type { Relay, RelayOptions } from './relay.ts';

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
  a.relay.handOver();
  a.turn(50);
  beat(a, ...others);
}

/** Goes on until `a` has handed everything over, or for 100 turns. */
function finish(a: ClusterRelay, relays: ClusterRelay[]): void {
  for (let turn = 0; turn < 100 && !a.relay.isHandedOver; turn++) deliver(relays, a.turn(50), a);
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
    assert.ok(a.relay.isHandedOver);
    assert.deepEqual([a.relay.waiting, a.peers.counters.handed, b.peers.counters.received], [0, 3, 3]);
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
    assert.ok(!a.relay.isHandedOver);
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

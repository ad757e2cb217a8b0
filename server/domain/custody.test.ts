/** What is thrown towards a relay that does not answer: the sprite is this relay's own, and its thrower goes on. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RecordWriter, readRecords } from '../journal/records.ts';
import { acquaint, beat, ClusterRelay, deliver } from '../test/cluster_relays.ts';
import type { Identity } from '../wire/identity.ts';
import { PeerStatus, writePeerAnswer } from '../wire/peers/peer_frame.ts';
import { CROSSINGS_REMEMBERED } from '../wire/rules.ts';
import { CUSTODY_MS, type Outgoing } from './peers/peers.ts';
import { Recovery } from './recovery.ts';
import type { Relay, RelayOptions } from './relay.ts';
import { KEPT_STEP_MS } from './state/limits.ts';

const NOBODY = '{"to":null}';

/** `a` has Ann and Amy, `b` has Bob and Bea: beyond Amy's right edge is Bob, and beyond Ann's right edge is Amy. */
class Neighbours {
  readonly facts = new RecordWriter(0);
  a: ClusterRelay;
  readonly b: ClusterRelay;
  readonly ann: Identity;
  readonly amy: Identity;
  readonly bob: Identity;

  constructor(others: Partial<RelayOptions> = {}) {
    this.a = new ClusterRelay('a', 1, (relay) => relay.setFacts(this.facts));
    this.b = new ClusterRelay('b', 2, undefined, others);
    [this.ann, this.amy] = [this.a.join('Ann'), this.a.join('Amy')];
    [this.bob] = [this.b.join('Bob'), this.b.join('Bea')];
    acquaint(this.a, this.b);
  }

  /** Throws over the border, to a relay that has fallen silent. Returns the ticket, and what was sent. */
  throwToPeer(crossing: number): { ticket: number; frames: readonly Outgoing[] } {
    const ticket = this.a.throw(this.amy, crossing, 'right');
    const frames = this.a.turn();
    assert.equal(frames.length, 1);
    this.fail(frames);
    return { ticket, frames };
  }

  fail(frames: readonly Outgoing[]): void {
    for (const frame of frames) this.a.peers.failed(frame, false);
  }

  /** Time passes, and nothing arrives. */
  pass(ms: number): readonly Outgoing[] {
    const frames = this.a.turn(ms);
    this.fail(frames);
    return frames;
  }

  /** `a` dies and is recovered from all that it has told. */
  restart(): void {
    const { accepted, acknowledged, abandoned } = this.a.relay.counters;
    this.facts.counters(accepted, acknowledged, abandoned);
    const bytes = Buffer.from(this.facts.bytes.subarray(0, this.facts.end));
    this.a = new ClusterRelay('a', 1, (relay) => {
      const recovery = new Recovery(relay, this.a.nowMs);
      readRecords(bytes, 0, bytes.length, recovery);
      recovery.finish();
      relay.setFacts(this.facts);
    });
    // Heartbeats are exchanged, but not the messages of acquaint(): the other relay is silent.
    beat(this.a, this.b);
  }

  /** The other relay answers again. */
  heal(): void {
    for (let turn = 0; turn < 10; turn++) deliver([this.b], this.a.turn(300), this.a);
  }
}

const namesAt = (relay: ClusterRelay, desktop: Identity): string[] =>
  relay
    .eventsOf(relay.poll(desktop))
    .filter(({ type }) => type === 'sprite')
    .map(({ sprite, edge }) => `${sprite.name} ${edge}`);

function assertConserved(...relays: ClusterRelay[]): void {
  for (const { relay } of relays) {
    const { accepted, acknowledged, abandoned } = relay.counters;
    assert.equal(accepted, acknowledged + abandoned + relay.waiting);
  }
}

/** A snapshot of a relay, written at once. */
function snapshotOf(relay: Relay): RecordWriter {
  const writer = new RecordWriter(0);
  for (let slot = 0; slot < relay.desktops.untouched; slot++) relay.writeState(slot, writer);
  for (let row = 0; row < relay.ended.used; row++) relay.ended.writeState(row, writer);
  relay.peerMemory.writeState(writer);
  const { accepted, acknowledged, abandoned } = relay.counters;
  writer.counters(accepted, acknowledged, abandoned);
  return writer;
}

describe('custody', () => {
  it('begins CUSTODY_MS after the throw, not a moment before: the thrower is answered 202 without a receiver', () => {
    const cluster = new Neighbours();
    const { ticket } = cluster.throwToPeer(1);
    const repeat = cluster.a.throw(cluster.amy, 1, 'right');
    cluster.pass(CUSTODY_MS - 1);
    assert.equal(cluster.a.statusOf(ticket), undefined);
    assert.equal(cluster.a.peers.inCustody, 0);
    cluster.pass(1);
    for (const one of [ticket, repeat, cluster.a.throw(cluster.amy, 1, 'right')]) {
      assert.deepEqual(cluster.a.answers.get(one), { status: 202, body: NOBODY });
    }
    assert.equal(cluster.a.peers.inCustody, 1);
    assert.deepEqual([cluster.a.peers.inDoubt, cluster.a.relay.counters.accepted], [1, 0]);
    assertConserved(cluster.a);
  });

  it('does not begin while nothing can be written down', () => {
    const cluster = new Neighbours();
    const { ticket } = cluster.throwToPeer(1);
    Object.assign(cluster.facts, { hasRoom: false });
    cluster.pass(CUSTODY_MS);
    assert.equal(cluster.a.statusOf(ticket), undefined);
    Object.assign(cluster.facts, { hasRoom: true });
    cluster.pass(50);
    assert.equal(cluster.a.statusOf(ticket), 202);
  });

  for (const restarts of [false, true]) {
    it(`lets its thrower throw on: 31, 32, 33 and 100 numbers further${restarts ? ', also after a restart' : ''}`, () => {
      const cluster = new Neighbours();
      cluster.throwToPeer(1);
      cluster.pass(CUSTODY_MS);
      if (restarts) cluster.restart();
      assert.equal(cluster.a.peers.inCustody, 1);
      for (const further of [CROSSINGS_REMEMBERED - 1, CROSSINGS_REMEMBERED, CROSSINGS_REMEMBERED + 1, 100]) {
        // Ann is Amy's neighbour at the same relay.
        const ticket = cluster.a.throw(cluster.amy, 1 + further, 'left');
        assert.equal(cluster.a.statusOf(ticket), 202, `${further} further`);
      }
      cluster.pass(50);
      assert.equal(cluster.a.relay.waiting, 4);
      cluster.heal();
      assert.deepEqual(namesAt(cluster.b, cluster.bob), ['1 left']);
      assert.equal(cluster.a.peers.inCustody, 0);
    });
  }

  it('does not begin while a throw is in doubt for less: then only numbers that would push it out are refused', () => {
    const cluster = new Neighbours();
    cluster.throwToPeer(1);
    assert.equal(cluster.a.statusOf(cluster.a.throw(cluster.amy, CROSSINGS_REMEMBERED, 'left')), 202);
    assert.equal(cluster.a.statusOf(cluster.a.throw(cluster.amy, CROSSINGS_REMEMBERED + 1, 'left')), 409);
    cluster.pass(CUSTODY_MS);
    assert.equal(cluster.a.statusOf(cluster.a.throw(cluster.amy, CROSSINGS_REMEMBERED + 1, 'left')), 202);
  });

  it('ends when the other relay has the sprite, which counts it; a repeat is still answered 202', () => {
    const cluster = new Neighbours();
    cluster.throwToPeer(1);
    cluster.pass(CUSTODY_MS);
    cluster.heal();
    assert.equal(cluster.a.peers.inCustody, 0);
    assert.deepEqual(namesAt(cluster.b, cluster.bob), ['1 left']);
    assert.deepEqual([cluster.a.relay.counters.accepted, cluster.b.relay.counters.accepted], [0, 1]);
    assert.equal(cluster.a.statusOf(cluster.a.throw(cluster.amy, 1, 'right')), 202);
    cluster.heal();
    assert.equal(cluster.b.relay.waiting, 1);
    assertConserved(cluster.a, cluster.b);
  });

  it('ends when the other relay refuses the sprite, which then goes on here, in its direction of travel', () => {
    const cluster = new Neighbours({ mailboxEventsMax: 1 });
    cluster.b.throw(cluster.b.join('Ben'), 1, 'left');
    const before = cluster.b.relay.waiting;
    cluster.throwToPeer(7);
    cluster.throwToPeer(8);
    cluster.pass(CUSTODY_MS);
    cluster.heal();
    assert.equal(cluster.a.peers.inCustody, 0);
    const here = [...namesAt(cluster.a, cluster.ann), ...namesAt(cluster.a, cluster.amy)];
    const there = cluster.b.relay.waiting - before;
    assert.equal(here.length + there, 2, 'nothing is lost or doubled');
    assert.ok(here.length >= 1, 'one mailbox has room for one');
    // Behind Amy, Ann is the next desktop of this relay.
    for (const name of here) assert.match(name, /^[78] left$/);
    assertConserved(cluster.a, cluster.b);
  });

  it('ends when it becomes certain that the sprite has not arrived', () => {
    const cluster = new Neighbours();
    const { a, amy } = cluster;
    const ticket = a.throw(amy, 1, 'right');
    const [frame] = a.turn();
    // The answer takes its time, and is that of the network.
    a.turn(CUSTODY_MS);
    assert.equal(a.statusOf(ticket), 202);
    a.peers.failed(frame, true);
    assert.equal(a.peers.inCustody, 0);
    assert.equal(a.relay.waiting, 1);
    assertConserved(a);
  });

  it('keeps what is refused while no desktop is here, and hands it on over the border, also after a restart', () => {
    const cluster = new Neighbours();
    const { frames } = cluster.throwToPeer(1);
    cluster.pass(CUSTODY_MS);
    for (const { slot } of [cluster.ann, cluster.amy]) cluster.a.relay.leave(slot);
    cluster.a.peers.answered(frames[0], refusal(frames[0]));
    assert.equal(cluster.a.peers.inCustody, 0);
    assert.equal(cluster.a.relay.waiting, 1);
    assertConserved(cluster.a);
    cluster.restart();
    assert.equal(cluster.a.relay.waiting, 1);
    acquaint(cluster.a, cluster.b);
    for (let turn = 0; turn < 10; turn++) deliver([cluster.b], cluster.a.turn(KEPT_STEP_MS), cluster.a);
    assert.equal(cluster.a.relay.waiting, 0);
    assert.equal(cluster.b.relay.waiting, 1);
    assertConserved(cluster.a, cluster.b);
  });

  it('counts what is abandoned once, when the other relay comes back without memory', () => {
    const cluster = new Neighbours();
    const { frames } = cluster.throwToPeer(1);
    cluster.pass(CUSTODY_MS);
    const answer = { status: PeerStatus.otherEpoch, epoch: 9, number: frames[0].number };
    cluster.a.peers.answered(frames[0], writePeerAnswer({ ...answer, verdicts: new Uint8Array(0), references: [] }));
    assert.deepEqual([cluster.a.relay.counters.accepted, cluster.a.relay.counters.abandoned], [1, 1]);
    assert.equal(cluster.a.peers.inCustody, 0);
    assertConserved(cluster.a);
  });

  it('ends without a sprite when the frame had its verdicts before the journal went back in time', () => {
    const cluster = new Neighbours();
    const { frames } = cluster.throwToPeer(1);
    cluster.pass(CUSTODY_MS);
    const answer = { status: PeerStatus.stale, epoch: 2, number: frames[0].number };
    cluster.a.peers.answered(frames[0], writePeerAnswer({ ...answer, verdicts: new Uint8Array(0), references: [] }));
    assert.deepEqual(
      [cluster.a.peers.inCustody, cluster.a.relay.waiting, cluster.a.relay.counters.accepted],
      [0, 0, 0],
    );
  });

  it('outlives its thrower, and the relay: a repeat of the ended desktop is answered 202', () => {
    const cluster = new Neighbours();
    const { ticket } = cluster.throwToPeer(1);
    cluster.a.relay.leave(cluster.amy.slot);
    cluster.pass(CUSTODY_MS);
    assert.equal(cluster.a.statusOf(ticket), 202);
    for (let lives = 0; lives < 2; lives++) {
      assert.equal(cluster.a.statusOf(cluster.a.throw(cluster.amy, 1, 'right')), 202);
      assert.equal(cluster.a.statusOf(cluster.a.throw(cluster.amy, 2, 'right')), 410);
      cluster.restart();
      assert.equal(cluster.a.peers.inCustody, 1);
    }
    cluster.heal();
    assert.equal(cluster.b.relay.waiting, 1);
  });

  it('is in a snapshot of the relay', () => {
    const cluster = new Neighbours();
    cluster.throwToPeer(1);
    cluster.pass(CUSTODY_MS);
    const snapshot = snapshotOf(cluster.a.relay);
    const next = new ClusterRelay('a', 1, (relay) => {
      const recovery = new Recovery(relay, 1_000);
      readRecords(snapshot.bytes, 0, snapshot.end, recovery);
      recovery.finish();
    });
    assert.equal(next.peers.inCustody, 1);
    assert.equal(next.statusOf(next.throw(cluster.amy, 1, 'right')), 202);
    assert.equal(next.peers.inDoubt, 1);
  });

  it('keeps a relay that stops for good from having handed over all', () => {
    const cluster = new Neighbours();
    cluster.throwToPeer(1);
    cluster.pass(CUSTODY_MS);
    const { a, b } = cluster;
    a.relay.drain();
    a.membership.leave();
    a.relay.ending.begin();
    a.turn(50);
    beat(a, b);
    a.turn(50);
    assert.equal(a.relay.torus.find('commons')?.count, 0);
    assert.equal(a.relay.ending.isOver, false);
    for (let turn = 0; turn < 20; turn++) deliver([b], a.turn(300), a);
    assert.ok(a.relay.ending.isOver);
    assert.equal(b.relay.waiting, 1);
  });
});

/** The answer of a relay that is busy. */
function refusal({ number }: Outgoing): Buffer {
  return writePeerAnswer({ status: PeerStatus.done, epoch: 2, number, verdicts: Uint8Array.of(2), references: [] });
}

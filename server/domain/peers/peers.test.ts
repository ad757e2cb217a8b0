import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RecordWriter, readRecords } from '../../journal/records.ts';
import { acquaint, beat, ClusterRelay, deliver, pair } from '../../test/cluster_relays.ts';
import { passageOf } from '../../test/passages.ts';
import {
  INCARNATION_DIGITS,
  NO_INCARNATION,
  PEER_EVENT_BYTES_LEAST,
  PEER_VERSION,
  PeerFrameWriter,
  PeerStatus,
  PeerVerdict,
  readPeerAnswer,
  writePeerAnswer,
} from '../../wire/peers/peer_frame.ts';
import { CROSSINGS_REMEMBERED } from '../../wire/rules.ts';
import { Recovery } from '../recovery.ts';
import { MAILBOX_EVENTS_MAX } from '../state/limits.ts';
import type { World } from '../state/torus.ts';
import { Membership } from './membership.ts';
import { FRAMES_IN_FLIGHT_MAX, PeerMemory, SENDERS_MAX } from './peer_memory.ts';
import {
  GATHERED_MAX,
  NAME_FRESH_MS,
  NAME_HEARERS_MAX,
  NAMES_MAX,
  type Outgoing,
  type PeerHost,
  Peers,
  REQUESTS_WAITING_MAX,
} from './peers.ts';

/** Splits bytes that begin with their length as u16. */
function piecesOf(bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += bytes.readUInt16LE(at)) {
    pieces.push(bytes.subarray(at, at + bytes.readUInt16LE(at)));
  }
  return pieces;
}

/** A piece with another member at its end, as a later release adds it. */
function longer(piece: Buffer): Buffer {
  const bytes = Buffer.concat([piece, Buffer.from('new')]);
  bytes.writeUInt16LE(bytes.length);
  return bytes;
}

/** A frame as the next release may send it: new members in the head and in each record, and a record of a kind that this one does not know. */
function newerFrame(frame: Buffer): Buffer {
  const start = frame.readUInt16LE(4);
  const head = Buffer.concat([frame.subarray(0, start), Buffer.from('new')]);
  head.writeUInt16LE(head.length, 4);
  const records = piecesOf(frame.subarray(start)).map(longer);
  const unknown = Buffer.from(records[0]);
  unknown[2] = 200;
  head.writeUInt16LE(records.length + 1, 2);
  return Buffer.concat([head, ...records, unknown]);
}

/** The same for an answer. */
function newerAnswer(answer: Buffer): Buffer {
  const bytes = 16;
  return Buffer.concat([
    answer.subarray(0, bytes),
    ...piecesOf(answer.subarray(bytes)).map(longer),
    Buffer.from('new'),
  ]);
}

/** Peers `a` and `b` of a world so large that the row of `a` beside `b` has at least NAMES_MAX + 1 places. */
function wideBorder() {
  const heard: number[] = [];
  const host = {
    referenceAt: (place: number) => Buffer.from(`{"desktop":"${place}-1","name":"Bob"}`),
    nameArrived: (slot: number) => void heard.push(slot),
  } as unknown as PeerHost;
  const [a, b] = ['a', 'b'].map((name, at) => {
    const membership = new Membership({ name, life: 1, width: 1, step: 1 });
    const memory = new PeerMemory();
    const peers = new Peers({ epoch: at + 1, membership, memory, host, facts: () => undefined, nowMs: 0 });
    peers.isConnected = true;
    return peers;
  });
  const count = 2 ** 29;
  for (let step = 0; step < 6; step++) {
    for (const [one, other] of [
      [a, b],
      [b, a],
    ]) {
      other.membership.hear({ ...one.membership.tick(count) });
    }
  }
  const { width } = a.membership.view;
  assert.ok(width > NAMES_MAX, `${width} places wide`);
  const world = { count } as World;
  /** Whether `a` knows the name of a place of `b`, which the desktop of a slot asks for. */
  const isKnown = (place: number, slot: number): boolean => {
    a.beyond(world, count - width + place, 3);
    assert.equal(a.remotePlace.place, place);
    return a.reference(slot) !== undefined;
  };
  /** `meanwhile` is called while the questions are on their way. */
  const turn = (nowMs: number, meanwhile = () => {}) => {
    a.advance(nowMs);
    const messages = a.popOutgoing();
    meanwhile();
    for (const message of messages) a.answered(message, b.receive(message.frame));
  };
  return { isKnown, turn, heard };
}

/** The places whose names a relay asks for after `ms`. */
function namesAskedBy(relay: ClusterRelay, ms: number): number[] {
  return relay.turn(ms).flatMap(({ places }) => places);
}

describe('peers', () => {
  it('answer a throw after the verdict of the other relay, with the name of the receiver', () => {
    const { a, b, ann, bob } = pair();
    const ticket = a.throw(ann, 1);
    assert.equal(a.statusOf(ticket), undefined);
    const [frame] = a.turn();
    assert.equal(a.relay.counters.accepted, 0);
    deliver([b], [frame], a);
    assert.deepEqual(a.answers.get(ticket), {
      status: 202,
      body: `{"to":{"desktop":"${b.relay.desktops.id(bob.slot)}","name":"Bob"}}`,
    });
    assert.equal(b.relay.mailboxes.count(bob.slot), 1);
    assert.equal(b.relay.counters.accepted, 1, 'the receiver counts it');
    assert.equal(a.relay.counters.accepted, 0);
    assert.deepEqual([a.relay.day.thrown, b.relay.day.thrown], [0, 1]);
    assert.deepEqual([a.peers.counters.passed, b.peers.counters.received], [1, 1]);
    assert.equal(a.statusOf(a.throw(ann, 1)), 202, 'a repeat');
    assert.deepEqual(a.turn(), [], 'is not sent again');
  });

  it('put all crossings of a turn into one frame', () => {
    const { a, ann } = pair();
    const tickets = [1, 2, 3].map((crossing) => a.throw(ann, crossing));
    assert.equal(a.turn().length, 1);
    assert.equal(a.peers.inDoubt, tickets.length);
  });

  it('gather the crossings of several turns in one frame, until it has GATHERED_MAX', () => {
    const [a, b] = [new ClusterRelay('a', 1), new ClusterRelay('b', 2)];
    const each = [a, b].map((relay) => Array.from({ length: 8 }, (_, n) => relay.join(`${n}`)));
    acquaint(a, b);
    a.peers.isGathering = true;
    // A desktop may have CROSSINGS_REMEMBERED of them without a verdict; of eight, four have b below.
    const gathered: number[] = [];
    for (let crossing = 1; gathered.length < GATHERED_MAX; crossing++) {
      for (const thrower of each[0]) {
        const ticket = a.throw(thrower, crossing, 'bottom');
        if (a.statusOf(ticket) === undefined) gathered.push(ticket);
      }
      if (gathered.length < GATHERED_MAX) assert.deepEqual(a.turn(), []);
    }
    assert.equal(gathered.length, GATHERED_MAX);
    const frames = a.turn();
    assert.equal(frames.length, 1);
    deliver([b], frames, a);
    assert.ok(gathered.every((ticket) => a.statusOf(ticket) === 202));

    const last = a.throw(each[0][7], CROSSINGS_REMEMBERED + 1, 'bottom');
    assert.deepEqual(a.turn(), []);
    a.peers.isGathering = false;
    deliver([b], a.turn(), a);
    assert.equal(a.statusOf(last), 202);
  });

  it('deliver a frame once, however often it arrives, and give the same answer each time', () => {
    const { a, b, ann, bob } = pair();
    const ticket = a.throw(ann, 1);
    const [frame] = a.turn();
    b.peers.receive(frame.frame);
    const again = readPeerAnswer(b.peers.receive(frame.frame));
    assert.ok(typeof again !== 'string');
    assert.deepEqual([...again.verdicts], [PeerVerdict.accepted]);
    assert.equal(b.relay.mailboxes.count(bob.slot), 1);
    a.peers.failed(frame, false);
    deliver([b], a.turn(300), a);
    assert.equal(a.statusOf(ticket), 202);
    assert.equal(b.relay.mailboxes.count(bob.slot), 1);
  });

  it('let a repeated throw wait for the same verdict', () => {
    const { a, b, ann, bob } = pair();
    const tickets = [a.throw(ann, 1)];
    const frames = a.turn();
    tickets.push(a.throw(ann, 1));
    assert.equal(a.statusOf(tickets[1]), undefined);
    assert.deepEqual(a.turn(), []);
    deliver([b], frames, a);
    assert.deepEqual(
      tickets.map((ticket) => a.statusOf(ticket)),
      [202, 202],
    );
    assert.equal(b.relay.mailboxes.count(bob.slot), 1);
  });

  it('let at most REQUESTS_WAITING_MAX repeats wait: a newer one replaces the oldest', () => {
    const { a, b, ann } = pair();
    const tickets = [a.throw(ann, 1)];
    const frames = a.turn();
    for (let repeat = 0; repeat < REQUESTS_WAITING_MAX; repeat++) {
      assert.equal(a.statusOf(tickets[0]), undefined, `with ${repeat} repeats`);
      tickets.push(a.throw(ann, 1));
    }
    assert.equal(a.statusOf(tickets[0]), 503);
    deliver([b], frames, a);
    assert.deepEqual(
      tickets.slice(1).map((ticket) => a.statusOf(ticket)),
      tickets.slice(1).map(() => 202),
    );
  });

  it('refuse a frame that has certainly not arrived, and send again one that may have', () => {
    const { a, ann } = pair();
    const first = a.throw(ann, 1);
    a.peers.failed(a.turn()[0], true);
    assert.equal(a.statusOf(first), 503);
    const second = a.throw(ann, 2);
    const [frame] = a.turn();
    a.peers.failed(frame, false);
    const [repeat] = a.turn(300);
    assert.equal(repeat, frame, 'under the same number');
    a.peers.failed(repeat, true);
    assert.equal(a.statusOf(second), undefined, 'an earlier one may have arrived');
    assert.equal(a.turn(300)[0], frame);
  });

  it('refuse throws to a relay that is silent, and while the network is gone', () => {
    const { a, ann } = pair();
    a.peers.isConnected = false;
    assert.equal(a.statusOf(a.throw(ann, 1)), 503);
    a.peers.isConnected = true;
    for (let step = 0; step < 12; step++) a.membership.tick(1);
    const ticket = a.throw(ann, 2);
    assert.equal(a.statusOf(ticket), 503);
    assert.match(a.answers.get(ticket)?.body ?? '', /relay-busy/);
    for (let step = 0; step < 60; step++) a.membership.tick(1);
    assert.equal(a.statusOf(a.throw(ann, 3)), 202, 'the world has closed over the gap: home');
  });

  it('pass a refusal on to the thrower', () => {
    const { a, b, ann, bob } = pair();
    for (let crossing = 1; crossing <= MAILBOX_EVENTS_MAX; crossing++) {
      a.throw(ann, crossing);
      deliver([b], a.turn(20), a);
    }
    assert.equal(b.relay.mailboxes.count(bob.slot), MAILBOX_EVENTS_MAX);
    const full = a.throw(ann, 1000);
    deliver([b], a.turn(100), a);
    assert.match(a.answers.get(full)?.body ?? '', /mailbox-full/);
    b.relay.drain();
    const draining = a.throw(ann, 1001);
    deliver([b], a.turn(100), a);
    assert.match(a.answers.get(draining)?.body ?? '', /relay-busy/);
  });

  it('remember the verdict for a thrower that has ended meanwhile', () => {
    const { a, b, ann } = pair();
    a.throw(ann, 1);
    const frames = a.turn();
    a.relay.leave(ann.slot);
    const waiting = a.throw(ann, 1);
    assert.equal(a.statusOf(waiting), undefined);
    const stranger = a.throw({ ...ann, token: new Uint32Array(4) }, 1);
    assert.equal(a.statusOf(stranger), 410, 'not without its token');
    deliver([b], frames, a);
    assert.equal(a.statusOf(waiting), 202);
    assert.equal(a.statusOf(a.throw(ann, 1)), 202);
    assert.equal(a.statusOf(a.throw(ann, 2)), 410);
  });

  it('are recovered from facts: crossings without a verdict, and verdicts on those of throwers that have ended', () => {
    const writer = new RecordWriter(0);
    const a = new ClusterRelay('a', 1, (relay) => relay.setFacts(writer));
    const b = new ClusterRelay('b', 2);
    const [ann, eve] = [a.join('Ann'), a.join('Eve')];
    b.join('Bob');
    b.join('Carol');
    acquaint(a, b);
    // Left of Ann and right of Eve are desktops of b.
    a.throw(eve, 1, 'right');
    const frames = a.turn();
    a.relay.leave(eve.slot);
    deliver([b], frames, a);
    a.throw(ann, 1, 'left');
    const [lost] = a.turn();
    b.peers.receive(lost.frame);
    const { accepted, acknowledged, abandoned } = a.relay.counters;
    writer.counters(accepted, acknowledged, abandoned);

    const recovered = new ClusterRelay('a', 1, (relay) => {
      const recovery = new Recovery(relay, 1_000);
      readRecords(writer.bytes, 0, writer.end, recovery);
      recovery.finish();
    });
    assert.equal(recovered.statusOf(recovered.throw(eve, 1, 'right')), 202, 'it was accepted');
    assert.equal(recovered.statusOf(recovered.throw(eve, 2, 'right')), 410);
    const ticket = recovered.throw(ann, 1, 'left');
    assert.equal(recovered.statusOf(ticket), undefined, 'it is in doubt');
    const [repeat] = recovered.turn();
    assert.ok(repeat.frame.equals(lost.frame));
    deliver([b], [repeat], recovered);
    assert.equal(recovered.statusOf(ticket), 202);
    assert.equal(b.relay.waiting, 2);
  });

  it('deliver what is thrown to a relay that has got another name, and are not told of what it took under the old one', () => {
    const writer = new RecordWriter(0);
    const [a, b] = [new ClusterRelay('a', 1), new ClusterRelay('b', 2, (relay) => relay.setFacts(writer))];
    const ann = a.join('Ann');
    b.join('Bob');
    acquaint(a, b);
    a.throw(ann, 1);
    deliver([b], a.turn(), a);
    const { accepted, acknowledged, abandoned } = b.relay.counters;
    writer.counters(accepted, acknowledged, abandoned);

    const renamed = new ClusterRelay('c', 2, (relay) => {
      const recovery = new Recovery(relay, 1_000);
      readRecords(writer.bytes, 0, writer.end, recovery);
      recovery.finish();
    });
    a.membership.forget('b');
    acquaint(a, renamed);
    const ticket = a.throw(ann, 2);
    deliver([renamed], a.turn(), a);
    assert.equal(a.statusOf(ticket), 202);
    assert.equal(renamed.relay.waiting, 2);
  });

  it('deliver what is thrown after the machine of the sender has died, and its journal has forgotten the last frames', () => {
    const writer = new RecordWriter(0);
    let a = new ClusterRelay('a', 1, (relay) => relay.setFacts(writer));
    const b = new ClusterRelay('b', 2);
    const ann = a.join('Ann');
    b.join('Bob');
    acquaint(a, b);
    writer.counters(0, 0, 0);
    const bytes = Buffer.from(writer.bytes.subarray(0, writer.end));
    for (const crossings of [[1], [2, 3]]) {
      for (const crossing of crossings) a.throw(ann, crossing);
      deliver([b], a.turn(), a);
    }
    assert.equal(b.relay.waiting, 3);

    a = new ClusterRelay('a', 1, (relay) => {
      const recovery = new Recovery(relay, 1_000);
      readRecords(bytes, 0, bytes.length, recovery);
      recovery.finish();
    });
    acquaint(a, b);
    for (const crossing of [4, 5]) {
      const ticket = a.throw(ann, crossing);
      deliver([b], a.turn(), a);
      assert.equal(a.statusOf(ticket), 202);
    }
    assert.equal(b.relay.waiting, 5, 'nothing new is taken for a repeat');
  });

  it('refuse a throw 32 or more above a crossing without a verdict, and nothing changes: 31, 32 and 33 above', () => {
    const { a, b, ann } = pair();
    const first = a.throw(ann, 5);
    const [frame] = a.turn();
    for (const [above, code] of [
      [CROSSINGS_REMEMBERED, 'crossing-ahead'],
      [CROSSINGS_REMEMBERED + 1, 'crossing-ahead'],
      [CROSSINGS_REMEMBERED - 1, undefined],
    ] as const) {
      const ticket = a.throw(ann, 5 + above);
      assert.equal(a.answers.has(ticket), code !== undefined, `${above} above`);
      if (code) assert.equal(JSON.parse(a.answers.get(ticket)?.body as string).code, code);
    }
    assert.equal(a.peers.inDoubt, 2, 'what was refused is not sent');
    const [second] = a.turn();
    deliver([b], [second], a);
    deliver([b], [frame], a);
    assert.equal(a.statusOf(first), 202);
    assert.equal(a.statusOf(a.throw(ann, 5)), 202, 'its repeat is remembered');
    a.throw(ann, 5 + CROSSINGS_REMEMBERED);
    assert.equal(a.turn().length, 1, 'now that it is answered');
  });

  it('refuse a throw that a crossing without a verdict would make stale: 32 and 33 below', () => {
    const { a, ann } = pair();
    a.throw(ann, 50);
    a.turn();
    const stale = a.throw(ann, 50 - CROSSINGS_REMEMBERED - 1);
    assert.equal(JSON.parse(a.answers.get(stale)?.body as string).code, 'crossing-stale');
    assert.equal(a.statusOf(a.throw(ann, 50 - CROSSINGS_REMEMBERED)), undefined);
  });

  it('compare a throw with those of the same desktop only, and not of one that had its slot before', () => {
    const { a, b, ann } = pair();
    a.throw(ann, 1);
    a.turn();
    a.relay.leave(ann.slot);
    const next = a.join('Next');
    acquaint(a, b);
    assert.equal(next.slot, ann.slot);
    assert.equal(a.statusOf(a.throw(next, 1 + CROSSINGS_REMEMBERED)), undefined);
  });

  it('bound the frames in flight', () => {
    const { a, b, ann } = pair();
    const frames: Outgoing[] = [];
    for (let crossing = 1; crossing <= FRAMES_IN_FLIGHT_MAX; crossing++) {
      assert.equal(a.statusOf(a.throw(ann, crossing)), undefined);
      frames.push(...a.turn());
    }
    assert.equal(frames.length, FRAMES_IN_FLIGHT_MAX);
    assert.equal(a.statusOf(a.throw(ann, 17)), 503);
    deliver([b], frames.slice(1), a);
    assert.equal(a.statusOf(a.throw(ann, 18)), 503, 'the oldest one is what counts');
    deliver([b], frames.slice(0, 1), a);
    assert.equal(a.statusOf(a.throw(ann, 19)), undefined);
  });

  it('refuse what a relay without memory has not received, and abandon what its predecessor may have received', () => {
    const { a, b, ann } = pair();
    const sure = a.throw(ann, 1);
    const [never] = a.turn();
    const doubtful = a.throw(ann, 2);
    const [maybe] = a.turn();
    b.peers.receive(maybe.frame);
    a.peers.failed(maybe, false);
    const successor = new ClusterRelay('b', 3);
    successor.join('Bob');
    deliver([successor], [never], a);
    assert.equal(a.statusOf(sure), 503);
    assert.equal(a.statusOf(a.throw(ann, 3)), 503, 'its epoch is not known yet');
    deliver([successor], a.turn(300), a);
    assert.equal(a.statusOf(doubtful), 202);
    const { accepted, acknowledged, abandoned } = a.relay.counters;
    assert.deepEqual({ accepted, acknowledged, abandoned }, { accepted: 1, acknowledged: 0, abandoned: 1 });
    assert.equal(successor.relay.waiting, 0);
    assert.equal(a.statusOf(a.throw(ann, 4)), undefined);
  });

  it('abandon what waits for a relay when an operator forgets it', () => {
    const { a, ann } = pair();
    const ticket = a.throw(ann, 1);
    a.turn();
    assert.equal(a.peers.forget('b'), 1);
    assert.equal(a.statusOf(ticket), 202);
    assert.equal(a.peers.inDoubt, 0);
    assert.equal(a.peers.forget('b'), 0);
  });

  it('fetch the names of neighbours at other relays, and notify their neighbours when a name has changed', () => {
    const { a, b, ann, bob } = pair();
    const right = () => a.relay.directory.describe(ann.slot).neighbours.right;
    assert.equal(right(), undefined, 'until the answer is here');
    deliver([b], a.turn(), a);
    assert.deepEqual(right(), { desktop: b.relay.desktops.id(bob.slot), name: 'Bob' });
    const poll = 777;
    a.relay.poll(ann, poll, 1, -1);
    b.relay.leave(bob.slot);
    const carol = b.join('Carol');
    right();
    a.nowMs += 2_000;
    a.turn();
    right();
    deliver([b], a.turn(), a);
    assert.equal(right()?.desktop, b.relay.desktops.id(carol.slot));
  });

  it('are in the company of a desktop once their name is here, and count before', () => {
    const { a, b, ann } = pair();
    const company = () => a.relay.directory.company(ann.slot);
    assert.deepEqual(company(), { desktops: 2, residents: 0, company: [] });
    deliver([b], a.turn(), a);
    const { desktops, company: others } = company();
    assert.deepEqual([desktops, others.map(({ name }) => name)], [2, ['Bob']]);
  });

  it('leave an edge out of the neighbours until the name is here, and then answer a poll with it, once', () => {
    const { a, b, ann, bob } = pair();
    // The small world has changed, so a first event is due.
    a.turn(1_000);
    const first = a.poll(ann);
    for (const frame of a.turn()) a.peers.failed(frame, false);
    assert.deepEqual(a.eventsOf(first), [{ type: 'neighbours' }]);
    const poll = a.poll(ann);
    assert.deepEqual(namesAskedBy(a, NAME_FRESH_MS - 1), [], 'not at once');
    assert.equal(a.statusOf(poll), undefined, 'nothing is new');
    deliver([b], a.turn(1), a);
    a.turn();
    const it = { desktop: b.relay.desktops.id(bob.slot), name: 'Bob' };
    assert.deepEqual(a.eventsOf(poll), [{ type: 'neighbours', left: it, right: it, top: it, bottom: it }]);
    const next = a.poll(ann);
    for (let second = 0; second < 3; second++) deliver([b], a.turn(1_000), a);
    assert.equal(a.statusOf(next), undefined, 'nothing is new');
  });

  it('ask again for a name that got lost, once in NAME_FRESH_MS', () => {
    const lose = (a: ClusterRelay, frame: Outgoing) => a.peers.failed(frame, false);
    const isNotThere = (a: ClusterRelay, frame: Outgoing) => {
      const references = frame.places.map(() => Buffer.alloc(0));
      const verdicts = new Uint8Array(frame.places.length);
      a.peers.answered(frame, writePeerAnswer({ status: PeerStatus.done, epoch: 2, number: 0, verdicts, references }));
    };
    const malformed = (a: ClusterRelay, frame: Outgoing) => a.peers.answered(frame, Buffer.from('nonsense'));
    for (const fail of [lose, isNotThere, malformed]) {
      const { a, b, ann, bob } = pair();
      a.relay.directory.describe(ann.slot);
      let asked = 0;
      for (let ms = 0; ms < 3 * NAME_FRESH_MS; ms += 50) {
        for (const frame of a.turn(50)) {
          asked += frame.places.length;
          fail(a, frame);
        }
      }
      assert.equal(asked, 3, fail.name);
      deliver([b], a.turn(NAME_FRESH_MS), a);
      const it = { desktop: b.relay.desktops.id(bob.slot), name: 'Bob' };
      assert.deepEqual(a.relay.directory.describe(ann.slot).neighbours.right, it);
    }
  });

  it('do not ask again for a name of a place that the view no longer has', () => {
    const { a, b, ann, bob } = pair();
    b.join('Carol');
    acquaint(a, b);
    // Ann’s left neighbour is the last place of the world.
    a.relay.directory.describe(ann.slot);
    const lost = a.turn();
    assert.deepEqual(lost.flatMap(({ places }) => places).sort(), [0, 1]);
    b.relay.leave(bob.slot);
    beat(a, b);
    for (const frame of lost) a.peers.failed(frame, false);
    assert.deepEqual(namesAskedBy(a, NAME_FRESH_MS), [0]);
  });

  it('remember NAMES_MAX names, and forget the oldest: one below, at the limit, one above', () => {
    for (const [names, isOldestKnown] of [
      [NAMES_MAX - 1, true],
      [NAMES_MAX, true],
      [NAMES_MAX + 1, false],
    ] as const) {
      const { isKnown, turn } = wideBorder();
      for (const place of [0, 1]) isKnown(place, 0);
      turn(1_000);
      for (let place = 2; place < names; place++) isKnown(place, 0);
      assert.ok(isKnown(1, 0), `${names} names`);
      assert.equal(isKnown(0, 0), isOldestKnown, `${names} names`);
    }
  });

  it('notify NAME_HEARERS_MAX desktops of a name: one below, at the limit, one above', () => {
    for (const count of [NAME_HEARERS_MAX - 1, NAME_HEARERS_MAX, NAME_HEARERS_MAX + 1]) {
      const { isKnown, turn, heard } = wideBorder();
      for (let slot = 0; slot < count; slot++) isKnown(7, slot);
      turn(1_000);
      assert.equal(heard.length, Math.min(count, NAME_HEARERS_MAX));
    }
  });

  it('notify also a desktop that asks for a name while it is on its way', () => {
    const { isKnown, turn, heard } = wideBorder();
    isKnown(7, 0);
    turn(1_000, () => assert.equal(isKnown(7, 1), false));
    assert.deepEqual(heard, [0, 1]);
    assert.ok(isKnown(7, 1));
  });

  it('deliver to the last desktop when a place has gone, and refuse when there is none', () => {
    const { a, b, ann, bob } = pair();
    b.join('Carol');
    acquaint(a, b);
    // Ann’s left neighbour is the last place of the world.
    const first = a.throw(ann, 1, 'left');
    const frames = a.turn();
    b.relay.leave(bob.slot);
    deliver([b], frames, a);
    assert.equal(a.statusOf(first), 202);
    assert.match(a.answers.get(first)?.body ?? '', /Carol/);
    const second = a.throw(ann, 2, 'left');
    const more = a.turn();
    b.relay.leave(b.relay.torus.find('commons')?.slots[0] as number);
    deliver([b], more, a);
    assert.equal(a.statusOf(second), 503);
  });

  it('do not deliver a sprite to a desktop that mutes its thrower, and the thrower does not notice', () => {
    const { a, b, ann, bob } = pair();
    const carol = b.join('Carol');
    b.relay.mute(bob.slot, ann);
    const ticket = a.throw(ann, 1);
    deliver([b], a.turn(), a);
    assert.match(a.answers.get(ticket)?.body ?? '', /Bob/);
    assert.equal(b.relay.mailboxes.count(bob.slot), 0);
    assert.equal(b.relay.mailboxes.count(carol.slot), 1);
  });

  it('refuse a sprite that would break the answers to clients', () => {
    const { a, b } = pair();
    const writer = new PeerFrameWriter({ sender: 'a', epoch: 1, to: 2, incarnation: NO_INCARNATION });
    const bad = Buffer.from('"from":{"desktop":"1","name":"x"},"edge":"left","sprite":{}},{"type":"bye"}');
    writer.crossing(0, { slot: 0, generation: 1, crossing: 1, ...passageOf(0, bad) });
    const answer = readPeerAnswer(b.peers.receive(writer.finish(99)));
    assert.ok(typeof answer !== 'string');
    assert.deepEqual([...answer.verdicts], [PeerVerdict.busy]);
    assert.equal(b.relay.waiting, 0);
    assert.equal(a.relay.waiting, 0);
  });

  it('count messages that they do not understand, and go on', () => {
    const { a, b, ann } = pair();
    b.peers.receive(Buffer.from([9, 9]));
    b.peers.receive(Buffer.alloc(0));
    assert.equal(b.peers.counters.malformed, 2);
    const ticket = a.throw(ann, 1);
    const [frame] = a.turn();
    a.peers.answered(frame, Buffer.from('nonsense'));
    assert.equal(a.statusOf(ticket), undefined, 'what it says is not a verdict');
    deliver([b], a.turn(300), a);
    assert.equal(a.statusOf(ticket), 202);
  });

  it('understand relays of the next release: what it adds is skipped, and what is unknown is refused, so that nothing is lost', () => {
    const { a, b, ann, bob } = pair();
    const ticket = a.throw(ann, 1);
    const [outgoing] = a.turn();
    const answer = b.peers.receive(newerFrame(outgoing.frame));
    const read = readPeerAnswer(answer);
    assert.ok(typeof read !== 'string');
    assert.deepEqual(
      [...read.verdicts],
      [PeerVerdict.accepted, PeerVerdict.busy],
      'the record of an unknown kind is refused',
    );
    assert.equal(b.relay.mailboxes.count(bob.slot), 1);
    assert.equal(b.peers.counters.malformed, 0);

    const { status, epoch, number, references } = read;
    const verdicts = Uint8Array.of(PeerVerdict.accepted);
    const older = writePeerAnswer({ status, epoch, number, verdicts, references });
    a.peers.answered(outgoing, writePeerAnswer({ ...read, status: 99, verdicts, references }));
    assert.equal(a.statusOf(ticket), undefined, 'an unknown status is not a verdict');
    const [again] = a.turn(300);
    a.peers.answered(again, newerAnswer(older));
    assert.equal(a.statusOf(ticket), 202);

    const refused = a.throw(ann, 2);
    const [next] = a.turn();
    const unknown = { status, epoch, number: next.number, verdicts: Uint8Array.of(77), references: [] };
    a.peers.answered(next, writePeerAnswer(unknown));
    assert.equal(a.statusOf(refused), 503, 'an unknown verdict is a refusal: the sprite bounces');
    assert.equal(a.peers.inDoubt, 0);
  });

  it('number a frame anew that the other relay takes for an old one, and send it again', () => {
    for (const status of [PeerStatus.stale, PeerStatus.done]) {
      const { a, b, ann } = pair();
      const ticket = a.throw(ann, 1);
      const [frame] = a.turn();
      a.peers.answered(frame, writePeerAnswer(answerTo(frame, status)));
      const [again] = a.turn();
      assert.equal(again.number, frame.number + 1);
      deliver([b], [again], a);
      assert.equal(a.statusOf(ticket), 202);
      assert.equal(b.relay.waiting, 1);
      assert.equal(a.peers.inDoubt, 0);
    }
  });

  it('refuse the crossings of a frame in doubt that the other relay takes for an old one: the sprites bounce', () => {
    const { a, ann } = pair();
    const ticket = a.throw(ann, 1);
    const [frame] = a.turn();
    a.peers.failed(frame, false);
    const [repeat] = a.turn(300);
    a.peers.answered(repeat, writePeerAnswer(answerTo(repeat, PeerStatus.stale)));
    assert.equal(a.statusOf(ticket), 503);
    assert.equal(a.peers.inDoubt, 0);
    assert.equal(a.relay.counters.abandoned, 0);
  });

  it('take no copy of a frame that was refused because the disk was full, when there is room again', () => {
    const { a, b, ann } = pair();
    const disk = Object.assign(new RecordWriter(0), { hasRoom: false });
    b.relay.setFacts(disk);
    const ticket = a.throw(ann, 1);
    const [frame] = a.turn();
    deliver([b], [frame], a);
    assert.match(a.answers.get(ticket)?.body ?? '', /journal-full/);
    disk.hasRoom = true;
    b.peers.receive(frame.frame);
    assert.equal(b.relay.waiting, 0);
  });

  it('refuse what a relay of another release has not read, and wait with what is in doubt', () => {
    const { a, b, ann } = pair();
    const olderAnswer = (to: Outgoing) => {
      const bytes = writePeerAnswer(answerTo(to, PeerStatus.version));
      bytes[0] = PEER_VERSION - 1;
      return bytes;
    };
    const sure = a.throw(ann, 1);
    const [first] = a.turn();
    a.peers.answered(first, olderAnswer(first));
    assert.equal(a.statusOf(sure), 503);
    const doubtful = a.throw(ann, 2);
    a.peers.failed(a.turn()[0], false);
    for (let round = 0; round < 3; round++) {
      const [repeat] = a.turn(300);
      a.peers.answered(repeat, olderAnswer(repeat));
      assert.equal(a.statusOf(doubtful), undefined);
    }
    deliver([b], a.turn(300), a);
    assert.equal(a.statusOf(doubtful), 202, 'that relay is upgraded now');
    assert.equal(b.relay.waiting, 1);
  });

  const WHOLE = { 'an earlier release': undefined, 'this release': 2 };
  for (const [release, hops] of Object.entries(WHOLE)) {
    it(`send ${release} what it has room for of a sprite, thrown or handed on`, () => {
      const a = new ClusterRelay('a', 1);
      const b = new ClusterRelay('b', 2);
      const long = '"'.repeat(64);
      const [ann, bob] = [a.join(long), b.join('Bob')];
      const carry = (messages: readonly Outgoing[]) => {
        for (const message of messages) {
          const answer = hops ? b.peers.receive(message.frame) : earlierAnswer(b, message);
          a.peers.answered(message, answer);
          b.relay.endTurn();
        }
      };
      const journey = { hops: 2, since: 0, by: 'Amy', from: ['b'.repeat(64), 'c'.repeat(64)] };
      const more = { name: long, animation: 'a'.repeat(32), journey };
      a.throw(ann, 1, 'right', more);
      assert.equal(a.relay.waiting, 1, 'it comes back to its thrower, who is alone');
      beat(a, b);
      for (let round = 0; round < 3; round++) carry(a.turn(300));
      const thrown = a.throw(ann, 2, 'right', more);
      carry(a.turn());
      assert.equal(a.statusOf(thrown), 202);
      const restarted = () => {
        for (let step = 0; step < 6; step++) {
          b.membership.hear({ ...a.membership.tick(1) });
          a.membership.hear({ ...b.membership.tick(1), life: 2 });
        }
      };
      restarted();
      const toUnknown = a.throw(ann, 3, 'right', more);
      carry(a.peers.popOutgoing());
      a.relay.endTurn();
      carry(a.peers.popOutgoing());
      assert.equal(a.statusOf(toUnknown), 202, 'another version may have started there');
      carry(a.turn(300));
      a.relay.drain();
      a.membership.leave();
      a.relay.ending.begin();
      a.turn(50);
      restarted();
      for (let turn = 0; turn < 100 && !a.relay.ending.isOver; turn++) carry(a.turn(50));
      const sprites = b.eventsOf(b.poll(bob)).flatMap(({ sprite }) => sprite ?? []);
      assert.deepEqual(
        sprites.map(({ name, journey }) => [name, journey?.hops]),
        [hops, undefined, hops].map((expected) => [long, expected]),
      );
    });
  }
});

/** The answer of a relay that takes events of PEER_EVENT_BYTES_LEAST, and does not say so. */
function earlierAnswer({ peers }: ClusterRelay, message: Outgoing): Buffer {
  const { frame } = message;
  const records = piecesOf(frame.subarray(frame.readUInt16LE(4)));
  if (records.every((record) => record.readUInt16LE(24) <= PEER_EVENT_BYTES_LEAST))
    return peers.receive(frame).subarray(0, -2);
  const status = PeerStatus.malformed;
  return writePeerAnswer({ status, epoch: 2, number: 0, verdicts: new Uint8Array(0), references: [] });
}

/** An answer with as many verdicts as no frame of these tests has crossings. */
function answerTo({ number }: Outgoing, status: number) {
  return { status, epoch: 2, number, verdicts: new Uint8Array(7), references: [] };
}

describe('peer memory', () => {
  const ZERO = Uint8Array.of(0);
  const frame = (sender: string, incarnation: number, number = 1, epoch = 1) => {
    return { sender, epoch, incarnation: `${incarnation}`.padStart(INCARNATION_DIGITS, '0'), number };
  };

  it('forgets verdicts only when their sender cannot ask again', () => {
    const memory = new PeerMemory();
    for (let number = 1; number <= FRAMES_IN_FLIGHT_MAX + 1; number++) memory.remember(frame('a', 1, number), ZERO);
    assert.equal(memory.verdictsOn(frame('a', 1, 1)), 'stale');
    assert.deepEqual(memory.verdictsOn(frame('a', 1, 2)), ZERO);
    assert.equal(memory.verdictsOn(frame('a', 1, FRAMES_IN_FLIGHT_MAX + 2)), undefined);
    assert.equal(memory.verdictsOn(frame('a', 2, 2)), undefined, 'another start of that relay');
    assert.equal(memory.verdictsOn(frame('a', 1, 2, 2)), undefined, 'another state of that relay');
  });

  it('forgets the sender whose newest frame is the oldest', () => {
    const memory = new PeerMemory();
    for (let start = 1; start <= SENDERS_MAX; start++) memory.remember(frame('a', start), ZERO);
    memory.remember(frame('a', 1, 2), ZERO);
    assert.ok(memory.verdictsOn(frame('a', 2)));
    memory.remember(frame('b', 1), ZERO);
    assert.equal(memory.verdictsOn(frame('a', 2)), undefined);
    assert.ok(memory.verdictsOn(frame('a', 1)));
  });

  it('is not filled by a relay that starts again and again: its settled starts go before those of others', () => {
    const memory = new PeerMemory();
    memory.remember(frame('b', 1), ZERO, 0);
    for (let start = 1; start <= 2 * SENDERS_MAX; start++) memory.remember(frame('a', start), ZERO, start < 5 ? 1 : 0);
    assert.ok(memory.verdictsOn(frame('b', 1)), 'the oldest of all');
    assert.ok(memory.verdictsOn(frame('a', 2 * SENDERS_MAX)));
    assert.ok(memory.verdictsOn(frame('a', 2 * SENDERS_MAX - 1)));
    assert.equal(memory.verdictsOn(frame('a', 1)), undefined, 'a later start has nothing in doubt');
  });

  it('keeps a start whose frames a later one still has in doubt, while others are settled', () => {
    const memory = new PeerMemory();
    memory.remember(frame('a', 1), ZERO, 0);
    memory.remember(frame('a', 2), ZERO, 1);
    for (let start = 1; start <= 2 * SENDERS_MAX; start++) memory.remember(frame('b', start), ZERO, 0);
    assert.ok(memory.verdictsOn(frame('a', 1)));
  });

  it('tells how many frames of earlier starts are in doubt, and counts them to those in flight', () => {
    const memory = new PeerMemory();
    const add = (incarnation: string, number: number) =>
      memory.addFrame('b', { incarnation, number, bytes: Buffer.alloc(0) });
    const [before, now] = ['1', '2'].map((digit) => digit.repeat(INCARNATION_DIGITS));
    for (let number = 5; number < 8; number++) add(before, number);
    memory.beginStart(() => now);
    assert.equal(memory.earlierTo('b'), 3);
    for (let number = 1; number <= FRAMES_IN_FLIGHT_MAX - 3; number++) {
      assert.ok(memory.hasRoom('b'), `${number}`);
      add(now, number);
    }
    assert.equal(memory.hasRoom('b'), false);
    memory.settle('b', before, 6);
    assert.equal(memory.earlierTo('b'), 2);
    assert.equal(memory.hasRoom('b'), true);
  });
});

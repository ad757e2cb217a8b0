import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkedCrossing, passageOf } from '../test/passages.ts';
import { randomOf } from '../test/random.ts';
import { EPOCH, FILE, type RecordedAnswer, RelayHarness, START_MS } from '../test/relay_harness.ts';
import { type Cursor, readCursor, SEQ_MAX, writeCursor } from '../wire/cursor.ts';
import type { Identity } from '../wire/identity.ts';
import { DEFAULT_WORLD } from '../wire/join.ts';
import { PICTURES, STANDING_MIN, Standing } from '../wire/pictures.ts';
import { PROBLEMS, type ProblemCode, ProblemError } from '../wire/problem.ts';
import {
  EDGES,
  type Edge,
  type EdgeNumber,
  ENDED_REMEMBERED_MS,
  EVENTS_PER_POLL_MAX,
  FIRST_POLL_MS,
  LEASE_MS,
  NAME_BYTES_MAX,
  PASSAGE_BYTES_MAX,
  PING_JITTER,
  PING_MS,
  PING_SECONDS_MAX,
  PING_SECONDS_MIN,
  POLL_BYTES_MAX,
  RECONNECT_MS_MAX,
} from '../wire/rules.ts';
import type { Verdict } from './responses.ts';
import { RETURNS_PER_TICK } from './returns.ts';
import { TICK_MS } from './slots/deadlines.ts';
import {
  CARRIED_FACTOR,
  CROSSINGS_BURST_MAX,
  DRAINED_PER_STEP_MAX,
  DUE_PER_STEP_MAX,
  EVICTED_PER_STEP_MAX,
  EVICTED_SPRITES_PER_STEP_MAX,
  EVICTION_LOOKS_MAX,
  KEPT_SHARE_MAX,
  KEPT_STEP_MS,
  KEPT_TRIED_MAX,
  KEPT_WORLDS_PER_STEP_MAX,
  MAILBOX_EVENTS_MAX,
  NEIGHBOURS_STEP_MS,
  ONWARD_DESKTOPS_MAX,
  RETURN_MS_MIN,
  SMALL_WORLD_MAX,
  WORLDS_MAX,
} from './state/limits.ts';
import { EVENT_BYTES_MAX } from './state/mailboxes.ts';

const seqOf = (answer: RecordedAnswer) => {
  const cursor: Cursor = { epoch: 0, seq: 0 };
  assert.ok(readCursor(answer.body.cursor, cursor));
  assert.equal(cursor.epoch, EPOCH);
  return cursor.seq;
};
const types = (answer: RecordedAnswer): string[] => answer.body.events.map(({ type }: { type: string }) => type);
const names = (answer: RecordedAnswer): string[] =>
  answer.body.events.flatMap(({ type, sprite }: { type: string; sprite?: { name: string } }) =>
    type === 'sprite' ? [sprite?.name] : [],
  );

function isProblem(answer: RecordedAnswer, code: ProblemCode): void {
  const { status, retryAfterSeconds } = PROBLEMS[code];
  assert.deepEqual([answer.body.code, answer.status, answer.body.status], [code, status, status]);
  assert.equal(answer.retryAfterSeconds, retryAfterSeconds);
}

function refuses(code: ProblemCode, act: () => unknown): void {
  assert.throws(act, (error) => error instanceof ProblemError && error.document.code === code);
}

/** accepted = acknowledged + waiting + abandoned. */
function balances({ relay: { counters, waiting } }: RelayHarness): void {
  assert.equal(counters.accepted, counters.acknowledged + waiting + counters.abandoned);
}

describe('relay, the way up and down', () => {
  it('answers the neighbour’s poll with the thrown sprite, its sender and the edge by which it enters', () => {
    const harness = new RelayHarness();
    const [ada, bob] = [harness.join('Ada "A"'), harness.join('Bob')];
    const [, ticket] = harness.settle(ada, bob);
    assert.equal(harness.throw(ada, 17, 'right', 'Blob'), 'accepted');
    assert.ok(harness.isParked(ticket), 'woken at the end of the turn');
    harness.relay.endTurn();
    const { status, body } = harness.answered(ticket);
    assert.equal(status, 200);
    assert.deepEqual(body, {
      cursor: '6a1f03c2-1',
      events: [
        {
          type: 'sprite',
          seq: 1,
          from: { desktop: harness.relay.desktops.id(ada.slot), name: 'Ada "A"' },
          edge: 'left',
          at: 0.25,
          vx: 900,
          vy: -50,
          sprite: { file: FILE, name: 'Blob', animation: 'fall', facing: 'right', scale: 1 },
        },
      ],
    });
  });

  it('routes by the torus, each edge to the desktop beyond it', () => {
    const harness = new RelayHarness();
    const desktops = harness.joinMany(20);
    const tickets = harness.settle(...desktops);
    for (const [index, from] of desktops.entries()) {
      for (const edge of EDGES)
        assert.equal(harness.throw(from, EDGES.indexOf(edge) + 1, edge, `${index} ${edge}`), 'accepted');
    }
    harness.relay.endTurn();
    const expected = new Map<number, string[]>();
    for (const [index, from] of desktops.entries()) {
      for (const [number, edge] of EDGES.entries()) {
        const to = harness.relay.torus.neighbour(from.slot, number as EdgeNumber);
        const entry = EDGES[number ^ 1];
        expected.set(to, [
          ...(expected.get(to) ?? []),
          `${index} ${edge} in by ${entry} from ${harness.relay.desktops.id(from.slot)}`,
        ]);
      }
    }
    for (const [slot, sprites] of expected) {
      const { events } = harness.answered(tickets[slot]).body;
      const got = events.map((event: { edge: string; from: { desktop: string }; sprite: { name: string } }) => {
        return `${event.sprite.name} in by ${event.edge} from ${event.from.desktop}`;
      });
      assert.deepEqual(got, sprites);
    }
    assert.equal(expected.size, desktops.length);
  });

  it('returns a sprite to its sender when that desktop is alone', () => {
    const harness = new RelayHarness();
    const ada = harness.join();
    const [ticket] = harness.settle(ada);
    harness.throw(ada, 1, 'top', 'boomerang');
    harness.relay.endTurn();
    const answer = harness.answered(ticket);
    assert.deepEqual([names(answer), answer.body.events[0].edge], [['boomerang'], 'bottom']);
  });

  it('wakes a parked poll once for all events of a turn, and not when a newer poll has got them', () => {
    const harness = new RelayHarness();
    const [ada, bob] = harness.joinMany(2);
    const [, first] = harness.settle(ada, bob);
    for (let n = 1; n <= 5; n++) harness.throw(ada, n);
    harness.relay.endTurn();
    assert.equal(seqOf(harness.answered(first)), 5);
    const second = harness.poll(bob, 5);
    harness.throw(ada, 6);
    assert.equal(seqOf(harness.ask(bob)), 6, 'a newer poll gets it in the same turn');
    harness.answered(second);
    const third = harness.poll(bob, 6);
    harness.relay.endTurn();
    assert.ok(harness.isParked(third));
    assert.equal(harness.relay.counters.wakes, 1);
  });

  it('accepts a crossing once: a repeat gets the same receiver and changes nothing', () => {
    const harness = new RelayHarness();
    const [ada, bob] = [harness.join('Ada'), harness.join('Bob')];
    const to = { to: { desktop: harness.relay.desktops.id(bob.slot), name: 'Bob' } };
    const throwAs = (crossing: number) => {
      const { verdict, status, body, end } = harness.throwForResponse(ada, crossing);
      assert.equal(status, 202);
      return [verdict, JSON.parse(body.toString('utf8', 0, end))];
    };
    assert.deepEqual(throwAs(7), ['accepted', to]);
    for (let n = 0; n < 500; n++) assert.deepEqual(throwAs(7), ['repeated', to]);
    assert.equal(harness.relay.waiting, 1);
    assert.deepEqual(throwAs(5), ['accepted', to], 'also one that arrived out of order');
    assert.deepEqual(throwAs(5), ['repeated', to]);
    assert.deepEqual(throwAs(7), ['repeated', { to: null }]);
    harness.relay.leave(bob.slot);
    assert.deepEqual(throwAs(5), ['repeated', { to: null }]);
    assert.deepEqual([harness.relay.counters.accepted, harness.relay.counters.repeated], [2, 503]);
    balances(harness);
  });

  it('refuses a crossing of a desktop that has left, never joined, or has another token', () => {
    const harness = new RelayHarness();
    const [ada, bob] = harness.joinMany(2);
    const refused = (from: Identity) => {
      const { verdict, status, retryAfterSeconds, body, end } = harness.throwForResponse(from, 1);
      const document = JSON.parse(body.toString('utf8', 0, end));
      assert.deepEqual([document.code, document.status, retryAfterSeconds], [verdict, status, 0]);
      return [verdict, status];
    };
    harness.relay.leave(bob.slot);
    assert.deepEqual(refused(bob), ['desktop-ended', 410]);
    assert.deepEqual(refused({ ...ada, slot: 5 }), ['unknown-desktop', 401]);
    assert.deepEqual(refused({ ...ada, token: new Uint32Array(4) }), ['unknown-desktop', 401]);
    assert.equal(harness.relay.waiting, 0);
    assert.equal(harness.throw(ada, 1), 'accepted');
  });

  it('refuses a crossing more than 32 below the newest accepted one', () => {
    const harness = new RelayHarness();
    const [ada] = harness.joinMany(2);
    harness.throw(ada, 100);
    assert.equal(harness.throw(ada, 67), 'crossing-stale');
    assert.equal(harness.throw(ada, 68), 'accepted');
    assert.equal(harness.throw(ada, 69), 'accepted');
    assert.equal(harness.throw(ada, 68), 'repeated');
  });

  it('refuses crossings that come too fast, and accepts the same number later', () => {
    const harness = new RelayHarness();
    const [ada, bob] = harness.joinMany(2);
    for (let n = 1; n <= CROSSINGS_BURST_MAX; n++) assert.equal(harness.throw(ada, n), 'accepted');
    assert.equal(harness.throw(ada, CROSSINGS_BURST_MAX + 1), 'too-fast');
    assert.equal(harness.throw(ada, CROSSINGS_BURST_MAX), 'repeated', 'a repeat costs nothing');
    assert.equal(harness.throw(bob, 1), 'accepted');
    assert.equal(harness.relay.counters.refusedFast, 1);
    harness.pass(TICK_MS);
    assert.equal(harness.throw(ada, CROSSINGS_BURST_MAX + 1), 'accepted');
    balances(harness);
  });

  it('refuses a picture that its world does not carry, at each policy and standing', () => {
    const harness = new RelayHarness();
    for (const policy of PICTURES) {
      const ada = harness.join('Ada', { world: policy, pictures: policy });
      const bob = harness.join('Bob', { world: policy, pictures: 'any' });
      assert.equal(harness.relay.directory.describe(bob.slot).pictures, policy, 'the first desktop chooses');
      let crossing = 0;
      for (const standing of Object.values(Standing)) {
        const isCarried = standing === Standing.unchecked || standing >= STANDING_MIN[policy];
        const { verdict } = harness.throwForResponse(ada, ++crossing, 'right', '', standing);
        assert.equal(verdict, isCarried ? 'accepted' : 'picture-refused', `${policy} ${standing}`);
        // A repeat of an accepted one is answered as before.
        if (isCarried) assert.equal(harness.throwForResponse(ada, crossing, 'right', '', 1).verdict, 'repeated');
      }
    }
    assert.equal(harness.relay.counters.refusedPicture, 3);
    balances(harness);
  });

  it('forgets the policy of a world with its last desktop, and gives none to the default world or to a reused slot', () => {
    const harness = new RelayHarness();
    harness.relay.leave(harness.join('Ada', { world: 'strict', pictures: 'shipped' }).slot);
    const bob = harness.join('Bob', { world: 'strict' });
    assert.equal(harness.throwForResponse(bob, 1, 'right', '', Standing.unknown).verdict, 'accepted');
    const cy = harness.join('Cy', { pictures: 'shipped' });
    assert.equal(harness.throwForResponse(cy, 1, 'right', '', Standing.unknown).verdict, 'accepted');
  });

  it('refuses a crossing when the mailbox is full, changes nothing, and accepts the same number when there is room', () => {
    const harness = new RelayHarness();
    const [ada, bob] = harness.joinMany(2);
    let crossing = 0;
    while (crossing < MAILBOX_EVENTS_MAX) {
      assert.equal(harness.throw(ada, ++crossing), 'accepted');
      if (crossing % 100 === 0) harness.pass(1000);
    }
    assert.equal(harness.throw(ada, crossing + 1), 'mailbox-full');
    assert.deepEqual([harness.relay.counters.accepted, harness.relay.counters.refusedFull], [MAILBOX_EVENTS_MAX, 1]);
    harness.ask(bob);
    harness.ask(bob, 1);
    assert.equal(harness.throw(ada, crossing + 1), 'accepted');
    assert.equal(harness.throw(ada, crossing + 2), 'mailbox-full');
    balances(harness);
  });
});

describe('relay, cursors', () => {
  it('acknowledge: a poll without one gets the same events again, a poll with one gets the rest', () => {
    const harness = new RelayHarness();
    const [ada, bob] = harness.joinMany(2);
    for (let n = 1; n <= 3; n++) harness.throw(ada, n, 'right', String(n));
    assert.deepEqual(names(harness.ask(bob)), ['1', '2', '3']);
    assert.deepEqual(names(harness.ask(bob)), ['1', '2', '3']);
    assert.deepEqual(names(harness.ask(bob, 0)), ['1', '2', '3']);
    assert.deepEqual(names(harness.ask(bob, 2)), ['3']);
    assert.deepEqual(names(harness.ask(bob, 1)), ['3'], 'an older cursor acknowledges nothing and brings nothing back');
    assert.ok(harness.isParked(harness.poll(bob, 3)));
    assert.equal(harness.relay.counters.acknowledged, 3);
    balances(harness);
  });

  it('of another epoch are answered 410 with the cursor to go on from, and acknowledge nothing', () => {
    const harness = new RelayHarness();
    const [ada, bob] = harness.joinMany(2);
    harness.throw(ada, 1);
    harness.throw(ada, 2);
    harness.ask(bob);
    harness.ask(bob, 1);
    for (const epoch of [0, EPOCH - 1, EPOCH + 1, 0xffffffff]) {
      for (const seq of [0, 1, 2, SEQ_MAX]) {
        const lost = harness.ask(bob, seq, epoch);
        isProblem(lost, 'cursor-lost');
        assert.equal(lost.body.cursor, writeCursor(EPOCH, 1));
      }
    }
    assert.equal(harness.relay.waiting, 1);
    assert.equal(seqOf(harness.ask(bob, 1)), 2);
  });

  it('ahead of the newest sent event are refused: by one, by a million, by the most', () => {
    const harness = new RelayHarness();
    const [ada, bob] = harness.joinMany(2);
    harness.throw(ada, 1);
    for (const seq of [2, 3, 1_000_000, SEQ_MAX]) {
      const ahead = harness.ask(bob, seq);
      isProblem(ahead, 'cursor-ahead');
      assert.equal(ahead.body.cursor, writeCursor(EPOCH, 0));
    }
    assert.equal(harness.relay.waiting, 1);
    assert.deepEqual(types(harness.ask(bob, 0)), ['sprite']);
    balances(harness);
  });

  it('that are refused don’t change the parked poll', () => {
    const harness = new RelayHarness();
    const [ada] = harness.joinMany(1);
    const [ticket] = harness.settle(ada);
    isProblem(harness.ask(ada, 5), 'cursor-ahead');
    isProblem(harness.ask(ada, 0, 1), 'cursor-lost');
    assert.ok(harness.isParked(ticket));
    assert.equal(harness.relay.parkedCount, 1);
  });
});

describe('relay, an answer', () => {
  it('has at most EVENTS_PER_POLL_MAX events, and its cursor passes only those', () => {
    for (const waiting of [EVENTS_PER_POLL_MAX - 1, EVENTS_PER_POLL_MAX, EVENTS_PER_POLL_MAX + 1]) {
      const harness = new RelayHarness();
      const [ada, bob] = harness.joinMany(2);
      for (let n = 1; n <= waiting; n++) harness.throw(ada, n);
      const first = harness.ask(bob);
      assert.equal(first.body.events.length, Math.min(waiting, EVENTS_PER_POLL_MAX));
      assert.equal(seqOf(first), first.body.events.length);
      const rest = harness.poll(bob, seqOf(first));
      assert.equal(harness.isParked(rest), waiting <= EVENTS_PER_POLL_MAX);
    }
  });

  it('has at most POLL_BYTES_MAX bytes of events, and no event is lost', () => {
    const harness = new RelayHarness();
    const [ada, bob] = [harness.join('\\'.repeat(NAME_BYTES_MAX)), harness.join()];
    const passage = Buffer.from(`"edge":"left","x":"${'x'.repeat(EVENT_BYTES_MAX - 250)}"}`);
    for (let n = 1; n <= 100; n++)
      assert.equal(harness.relay.accept(ada, checkedCrossing(n, 1, passage)).verdict, 'accepted');
    let seq = 0;
    let answers = 0;
    for (; seq < 100; answers++) {
      const answer = harness.ask(bob, seq);
      assert.ok(answer.bytes <= POLL_BYTES_MAX + 64, `${answer.bytes} bytes`);
      assert.equal(answer.body.events[0].seq, seq + 1);
      seq = seqOf(answer);
    }
    assert.equal(answers, 2);
  });

  it('has room for the longest events, from the longest name, and for neighbours with the longest names', () => {
    const harness = new RelayHarness();
    const longest = '"'.repeat(NAME_BYTES_MAX);
    const desktops = Array.from({ length: 5 }, () => harness.join(longest));
    harness.pass(NEIGHBOURS_STEP_MS);
    const passage = Buffer.from(`"edge":"left","x":"`.padEnd(PASSAGE_BYTES_MAX - 2, 'x').concat('"}'));
    assert.equal(passage.length, PASSAGE_BYTES_MAX);
    for (let n = 1; n <= EVENTS_PER_POLL_MAX; n++) {
      assert.equal(harness.relay.accept(desktops[0], checkedCrossing(n, 1, passage)).verdict, 'accepted');
    }
    const answer = harness.ask(desktops[1]);
    assert.deepEqual(types(answer).at(-1), 'neighbours');
    assert.equal(answer.body.events[0].from.name, longest);
    // With the longest possible id, the event still fits into the largest block.
    const from = `"from":{"desktop":"ffffff-ffffffff","name":${JSON.stringify(longest)}},`;
    assert.ok(Buffer.byteLength(from) + PASSAGE_BYTES_MAX <= EVENT_BYTES_MAX);
  });
});

describe('relay, the desktop that polls', () => {
  it('is refused with 401 when the id was never used or the token is wrong', () => {
    const harness = new RelayHarness();
    const ada = harness.join();
    isProblem(harness.ask({ ...ada, token: new Uint32Array(4) }), 'unknown-desktop');
    isProblem(harness.ask({ ...ada, generation: ada.generation + 1 }), 'unknown-desktop');
    isProblem(harness.ask({ ...ada, slot: 9 }), 'unknown-desktop');
    isProblem(harness.ask({ ...ada, slot: 0xffffffff }), 'unknown-desktop');
    assert.equal(harness.relay.parkedCount, 0);
  });

  it('is answered 410 once it has left, also on the parked poll', () => {
    const harness = new RelayHarness();
    const [ada] = harness.joinMany(2);
    const [ticket] = harness.settle(ada);
    harness.relay.leave(ada.slot);
    isProblem(harness.answered(ticket), 'desktop-ended');
    isProblem(harness.ask(ada), 'desktop-ended');
    assert.equal(harness.relay.parkedCount, 0);
  });

  it('learns from every refusal what it had acknowledged when it ended, whether or not its last polls were answered', () => {
    for (const [acknowledging, cursor] of [
      [[], '6a1f03c2-0'],
      [[1], '6a1f03c2-1'],
      [[1, 2], '6a1f03c2-2'],
      [[2, 1], '6a1f03c2-2'],
    ] as const) {
      const harness = new RelayHarness();
      const [ada, bob] = harness.joinMany(2);
      for (let crossing = 1; crossing <= 3; crossing++) {
        harness.throw(ada, crossing);
        assert.equal(seqOf(harness.ask(bob)), crossing);
      }
      // The answers to these are lost.
      for (const seq of acknowledging) harness.ask(bob, seq);
      harness.relay.leave(bob.slot);
      const refused = [harness.ask(bob, 1).body, harness.ask(bob).body];
      const { body, end } = harness.throwForResponse(bob, 9);
      refused.push(JSON.parse(body.toString('utf8', 0, end)), harness.relay.down.refusal(bob, 'ended'));
      for (const document of refused) assert.deepEqual([document.code, document.cursor], ['desktop-ended', cursor]);
      const stranger = { ...bob, token: new Uint32Array(4) };
      assert.equal('cursor' in harness.ask(stranger, 1).body, false, 'only its owner learns it');
      harness.pass(ENDED_REMEMBERED_MS);
      assert.equal(harness.ask(bob, 1).body.cursor, cursor);
      harness.pass(TICK_MS);
      assert.equal('cursor' in harness.ask(bob, 1).body, false, 'it is forgotten');
    }
  });

  it('learns from its parked poll, and from a delayed one, what it had acknowledged when it ended', () => {
    const harness = new RelayHarness();
    const [ada, bob] = harness.joinMany(2);
    harness.settle(ada, bob);
    harness.throw(ada, 1);
    harness.relay.endTurn();
    const parked = harness.poll(bob, 1);
    harness.relay.leave(bob.slot);
    assert.equal(harness.answered(parked).body.cursor, '6a1f03c2-1');
    const cid = harness.join();
    harness.throw(ada, 2);
    // The same sprite is asked for again and again.
    let delayed = 0;
    for (let asked = 0; delayed === 0; asked++) {
      assert.ok(asked < 100);
      const ticket = harness.poll(cid);
      if (!harness.answers.some((answer) => answer.ticket === ticket)) delayed = ticket;
    }
    harness.relay.leave(cid.slot);
    harness.pass(2000);
    assert.equal(harness.answered(delayed).body.cursor, '6a1f03c2-0');
  });

  it('gets an empty answer to its older poll when it polls again', () => {
    const harness = new RelayHarness();
    const [ada, bob] = harness.joinMany(2);
    const [, older] = harness.settle(ada, bob);
    const newer = harness.poll(bob);
    assert.deepEqual(harness.answered(older).body, { cursor: '6a1f03c2-0', events: [] });
    assert.equal(harness.relay.parkedCount, 2);
    assert.equal(harness.relay.down.closed(older, bob.slot), false, 'it is not parked');
    harness.throw(ada, 1);
    harness.relay.endTurn();
    assert.equal(seqOf(harness.answered(newer)), 1, 'closing the older poll does not change the newer one');
  });
});

describe('relay, a poll with a newer request behind it', () => {
  it('is answered empty and starts the lease; later events wait', () => {
    const harness = new RelayHarness();
    const [ada, bob] = harness.joinMany(2);
    const [, held] = harness.settle(ada, bob);
    harness.relay.down.outdated(held, bob.slot);
    assert.deepEqual(harness.answered(held).body, { cursor: '6a1f03c2-0', events: [] });
    assert.equal(harness.relay.parkedCount, 1);
    harness.throw(ada, 1);
    harness.relay.endTurn();
    assert.equal(seqOf(harness.ask(bob)), 1);
    harness.relay.down.outdated(held, bob.slot);
    harness.relay.down.outdated(held, 0xffffffff);
    harness.pass(LEASE_MS - TICK_MS);
    assert.equal(harness.relay.desktops.isLive(bob.slot), true);
    harness.pass(2 * TICK_MS);
    assert.equal(harness.relay.desktops.isLive(bob.slot), false);
  });

  it('changes nothing when it was already answered, or when another poll is parked', () => {
    const harness = new RelayHarness();
    const [ada, bob] = harness.joinMany(2);
    const [, older] = harness.settle(ada, bob);
    const newer = harness.poll(bob);
    harness.answered(older);
    harness.relay.down.outdated(older, bob.slot);
    harness.relay.down.outdated(newer, ada.slot);
    assert.ok(harness.isParked(newer));
    assert.equal(harness.relay.parkedCount, 2);
  });
});

describe('relay, time', () => {
  it('pings a parked poll after PING_MS ± jitter, or the time that the operator has chosen', () => {
    for (const [luck, share, pingMs] of [
      [0, 1 - PING_JITTER, undefined],
      [0.5, 1, undefined],
      [1, 1 + PING_JITTER, undefined],
      [0, 1 - PING_JITTER, PING_SECONDS_MIN * 1000],
      [1, 1 + PING_JITTER, PING_SECONDS_MAX * 1000],
    ] as const) {
      const harness = new RelayHarness(pingMs === undefined ? {} : { pingMs });
      const [ada, bob] = harness.joinMany(2);
      harness.luck = luck;
      const [, ticket] = harness.settle(ada, bob);
      const dueMs = (pingMs ?? PING_MS) * share;
      for (let passed = 0; passed < dueMs - TICK_MS; passed += 10_000) {
        harness.pass(Math.min(10_000, dueMs - TICK_MS - passed));
      }
      assert.ok(harness.isParked(ticket), `pinged before ${dueMs}`);
      harness.pass(TICK_MS);
      const answer = harness.answered(ticket);
      assert.deepEqual(types(answer), ['ping', 'neighbours']);
      assert.equal(answer.body.events[1].left.desktop, harness.relay.desktops.id(ada.slot));
    }
  });

  it('ends a desktop that has not polled for LEASE_MS, and not a tick before', () => {
    for (const from of ['answer', 'ping', 'closed'] as const) {
      const harness = new RelayHarness();
      const [ada, bob] = harness.joinMany(2);
      const [, ticket] = harness.settle(ada, bob);
      if (from === 'answer') harness.throw(ada, 1);
      if (from === 'answer') harness.relay.endTurn();
      if (from === 'ping') {
        // Ada is pinged at the same moment: both leases begin then.
        harness.pass(PING_MS);
        assert.deepEqual(types(harness.answered(ticket)), ['ping', 'neighbours']);
      }
      if (from === 'closed') assert.equal(harness.relay.down.closed(ticket, bob.slot), true, 'it was parked');
      harness.pass(LEASE_MS - TICK_MS);
      assert.ok(harness.relay.desktops.isLive(bob.slot), from);
      harness.pass(TICK_MS);
      assert.ok(!harness.relay.desktops.isLive(bob.slot), from);
      isProblem(harness.ask(bob), 'desktop-ended');
    }
  });

  it('ends a desktop that has never polled after FIRST_POLL_MS, and not a tick before, also when it throws', () => {
    const harness = new RelayHarness();
    const [ada, ghost] = harness.joinMany(2);
    assert.equal(harness.throw(ghost, 1), 'accepted');
    harness.pass(FIRST_POLL_MS - TICK_MS);
    assert.equal(harness.throw(ghost, 2), 'accepted');
    harness.ask(ada);
    assert.ok(harness.relay.desktops.isLive(ghost.slot));
    harness.pass(TICK_MS);
    assert.ok(!harness.relay.desktops.isLive(ghost.slot));
    assert.ok(harness.relay.desktops.isLive(ada.slot), 'one poll is enough');
    isProblem(harness.ask(ghost), 'desktop-ended');
    harness.pass(LEASE_MS - TICK_MS);
    assert.ok(!harness.relay.desktops.isLive(ada.slot));
  });

  it('does not count a parked poll as silence', () => {
    const harness = new RelayHarness();
    const ada = harness.join();
    harness.settle(ada);
    harness.pass(PING_MS - TICK_MS);
    assert.ok(harness.relay.desktops.isLive(ada.slot));
  });

  it('gives a pinged desktop its whole lease, however long the relay was paused', () => {
    const harness = new RelayHarness();
    const [ada, bob] = harness.joinMany(2);
    harness.settle(ada, bob);
    harness.pass(10 * 60_000);
    assert.equal(harness.relay.counters.pings, 2);
    assert.equal(harness.relay.counters.leasesEnded, 0);
    harness.pass(LEASE_MS - TICK_MS);
    assert.equal(harness.relay.counters.leasesEnded, 0);
    harness.pass(TICK_MS);
    assert.equal(harness.relay.counters.leasesEnded, 2);
  });

  it('ends many leases that are due together in several steps, and their sprites move on', () => {
    const count = 700;
    const harness = new RelayHarness({ slots: count, slabBytes: 1 << 26 });
    const desktops = harness.joinMany(count);
    for (const desktop of desktops) assert.equal(harness.throw(desktop, 1, 'right'), 'accepted');
    const { counters } = harness.relay;
    let steps = 0;
    for (let nowMs = START_MS + LEASE_MS; counters.left < count; nowMs += TICK_MS) {
      const before = { ...counters };
      const isMoreDue = harness.relay.advance(nowMs);
      assert.ok(counters.left - before.left <= DUE_PER_STEP_MAX);
      assert.equal(isMoreDue, counters.left < count);
      assert.equal(counters.accepted, counters.acknowledged + harness.relay.waiting + counters.abandoned);
      steps++;
    }
    assert.ok(steps > 2, `all ended within ${steps} steps`);
    assert.equal(harness.relay.waiting, count);
  });

  it('pings at most DUE_PER_STEP_MAX desktops in a step, and returns that more are due', () => {
    for (const count of [DUE_PER_STEP_MAX - 1, DUE_PER_STEP_MAX, DUE_PER_STEP_MAX + 1, 2 * DUE_PER_STEP_MAX + 1]) {
      const harness = new RelayHarness({ slots: count });
      harness.settle(...harness.joinMany(count));
      const nowMs = harness.nowMs + 2 * PING_MS;
      const pinged: number[] = [];
      for (let isMoreDue = true; isMoreDue; pinged.push(harness.answers.splice(0).length)) {
        isMoreDue = harness.relay.advance(nowMs);
      }
      const whole = Math.floor(count / DUE_PER_STEP_MAX);
      const rest = count - whole * DUE_PER_STEP_MAX;
      assert.deepEqual(pinged, [...Array(whole).fill(DUE_PER_STEP_MAX), ...(rest > 0 ? [rest] : [])], `${count}`);
      assert.equal(harness.relay.counters.pings, count);
    }
  });

  it('starts the leases of polls whose process died, and of no others', () => {
    const harness = new RelayHarness();
    const desktops = harness.joinMany(6);
    const tickets = harness.settle(...desktops);
    harness.relay.down.closedAll((ticket) => tickets.indexOf(ticket) % 2 === 0);
    assert.equal(harness.relay.parkedCount, 3);
    harness.pass(LEASE_MS);
    assert.deepEqual(
      desktops.map(({ slot }) => harness.relay.desktops.isLive(slot)),
      [false, true, false, true, false, true],
    );
  });
});

describe('relay, neighbours', () => {
  it('are sent within a step in worlds of up to SMALL_WORLD_MAX, and only with the ping in larger ones', () => {
    for (const size of [SMALL_WORLD_MAX - 1, SMALL_WORLD_MAX, SMALL_WORLD_MAX + 1]) {
      const harness = new RelayHarness();
      const desktops = harness.joinMany(size - 1);
      const tickets = harness.settle(...desktops);
      harness.join();
      harness.pass(NEIGHBOURS_STEP_MS - 1);
      assert.equal(harness.answers.length, 0);
      harness.pass(1);
      const isSmall = size <= SMALL_WORLD_MAX;
      assert.equal(harness.answers.length, isSmall ? size - 1 : 0, `${size}`);
      if (!isSmall) continue;
      const last = harness.answered(tickets[size - 2]);
      assert.deepEqual(types(last), ['neighbours']);
      assert.equal(last.body.events[0].right.desktop, harness.relay.desktops.id(size - 1));
    }
  });

  it('are sent world by world over several steps when more worlds changed than one step notifies, once each', () => {
    const worlds = DUE_PER_STEP_MAX / SMALL_WORLD_MAX + 2;
    const harness = new RelayHarness({ slots: 1024 });
    const all = Array.from({ length: worlds }, (_, n) => harness.joinMany(SMALL_WORLD_MAX, `world ${n}`));
    harness.settle(...all.flat());
    for (const [identity] of all) harness.relay.leave(identity.slot);
    harness.answers.length = 0;
    const nowMs = harness.nowMs + NEIGHBOURS_STEP_MS;
    const notified: number[] = [];
    for (let isMoreDue = true; isMoreDue; notified.push(harness.answers.splice(0).length)) {
      isMoreDue = harness.relay.advance(nowMs);
    }
    const each = SMALL_WORLD_MAX - 1;
    const first = Math.ceil(DUE_PER_STEP_MAX / each) * each;
    assert.deepEqual(notified, [first, worlds * each - first]);
    assert.equal(harness.relay.advance(nowMs + NEIGHBOURS_STEP_MS), false);
    assert.equal(harness.answers.length, 0);
  });

  it('are not sent when a world has outgrown the limit before the step', () => {
    const harness = new RelayHarness();
    const desktops = harness.joinMany(SMALL_WORLD_MAX - 10);
    harness.settle(...desktops);
    harness.joinMany(20);
    harness.pass(NEIGHBOURS_STEP_MS);
    assert.equal(harness.answers.length, 0);
  });

  it('are sent again when a world has become small', () => {
    const harness = new RelayHarness();
    const desktops = harness.joinMany(SMALL_WORLD_MAX + 1);
    harness.settle(...desktops);
    harness.relay.leave(desktops[3].slot);
    harness.pass(NEIGHBOURS_STEP_MS);
    assert.equal(harness.answers.filter(({ status }) => status === 200).length, SMALL_WORLD_MAX);
  });

  it('are sent once for many changes, not to other worlds, and not when nothing changed', () => {
    const harness = new RelayHarness();
    const desktops = harness.joinMany(5);
    const [far] = harness.joinMany(1, 'office');
    harness.settle(...desktops, far);
    harness.joinMany(7);
    harness.pass(NEIGHBOURS_STEP_MS);
    assert.equal(harness.answers.length, 5);
    assert.equal(harness.relay.parkedCount, 1);
    for (const identity of desktops) harness.poll(identity);
    harness.answers.length = 0;
    harness.pass(NEIGHBOURS_STEP_MS);
    assert.equal(harness.answers.length, 0);
  });

  it('are the four desktops around; a desktop that is alone is its own neighbour', () => {
    const harness = new RelayHarness();
    const ada = harness.join('Ada', { world: 'attic' });
    const self = { desktop: harness.relay.desktops.id(ada.slot), name: 'Ada' };
    const four = { left: self, right: self, top: self, bottom: self };
    assert.deepEqual(harness.relay.directory.describe(ada.slot), {
      ...self,
      world: 'attic',
      pictures: 'any',
      stage: true,
      place: 0,
      neighbours: four,
    });
    harness.pass(NEIGHBOURS_STEP_MS);
    assert.deepEqual(harness.ask(ada).body.events, [{ type: 'neighbours', ...four }, { type: 'company' }]);
  });
});

describe('relay, joining', () => {
  it('seats an invited desktop to the right of its friend, in the friend’s world', () => {
    const harness = new RelayHarness();
    const friends = harness.joinMany(5, 'office');
    const guest = harness.join('', { near: friends[1] });
    assert.equal(harness.relay.torus.neighbour(friends[1].slot, 1), guest.slot);
    assert.equal(harness.relay.directory.describe(guest.slot).world, 'office');
    assert.ok(harness.join('', { near: friends[1], world: 'office' }));
  });

  it('is refused when the friend has left, never joined, or is in another world; then nothing changes', () => {
    const harness = new RelayHarness({ slots: 4 });
    const [ada, bob] = harness.joinMany(2);
    harness.relay.leave(bob.slot);
    refuses('near-gone', () => harness.join('', { near: bob }));
    const forged = ada.invitation.map((word) => word ^ 1);
    refuses('near-gone', () => harness.join('', { near: { ...ada, invitation: forged } }));
    refuses('near-gone', () => harness.join('', { near: { ...ada, invitation: ada.token } }));
    refuses('near-gone', () => harness.join('', { near: { ...ada, slot: 4 } }));
    refuses('near-gone', () => harness.join('', { near: { ...ada, slot: 0xffffff } }));
    refuses('near-gone', () => harness.join('', { near: ada, world: 'office' }));
    assert.equal(harness.relay.desktops.count, 1);
    assert.equal(harness.relay.torus.worldCount, 1);
  });

  it('is by the newest invitation only: a desktop that renews its own takes the earlier one back', () => {
    const harness = new RelayHarness();
    const ada = harness.join('', { world: 'office' });
    const renewed = { ...ada, invitation: new Uint32Array(4) };
    harness.relay.renewInvitation(ada.slot, renewed.invitation);
    assert.notDeepEqual(renewed.invitation, ada.invitation);
    refuses('near-gone', () => harness.join('', { near: ada }));
    assert.equal(harness.relay.directory.describe(harness.join('', { near: renewed }).slot).world, 'office');
    refuses('near-gone', () => harness.join('', { near: { ...ada, slot: 1 } }));
  });

  it('finds the default world always: empty from the start, when everybody has left, and when all worlds are taken', () => {
    const harness = new RelayHarness({ worldsMax: 2 });
    assert.equal(harness.relay.torus.find(DEFAULT_WORLD)?.count, 0);
    const ada = harness.join('Ada');
    assert.equal(harness.throw(ada, 1), 'accepted');
    harness.relay.leave(ada.slot);
    assert.equal(harness.relay.torus.find(DEFAULT_WORLD)?.count, 0);
    for (const world of ['a', 'b']) harness.join('', { world });
    refuses('relay-full', () => harness.join('', { world: 'c' }));
    assert.deepEqual([harness.relay.waiting, harness.relay.counters.abandoned], [1, 0], 'it frees no room for a world');
    const bob = harness.join('Bob');
    assert.equal(harness.ask(bob).body.events.length, 1);
    harness.relay.leave(harness.join('', { world: DEFAULT_WORLD }).slot);
    harness.relay.leave(bob.slot);
    assert.ok(harness.join());
  });

  it('is counted for everybody to see, without the name of a private world', () => {
    const harness = new RelayHarness();
    const counts = (commons: number, privateWorlds: number, desktops: number) =>
      assert.deepEqual(harness.relay.directory.count(), {
        desktops,
        residents: 0,
        worlds: [{ world: DEFAULT_WORLD, desktops: commons }],
        privateWorlds,
      });
    counts(0, 0, 0);
    const [ada] = harness.joinMany(2);
    const [bob, carol] = [harness.join('', { world: 'a' }), harness.join('', { world: 'b' })];
    harness.join('', { world: 'a' });
    counts(2, 2, 5);
    harness.throw(carol, 1);
    for (const { slot } of [ada, bob, carol]) harness.relay.leave(slot);
    counts(1, 1, 2);
  });

  it('is refused when all slots are in use, adds no world then, and succeeds when a slot is free', () => {
    const harness = new RelayHarness({ slots: 3 });
    const desktops = harness.joinMany(3);
    refuses('relay-full', () => harness.join());
    refuses('relay-full', () => harness.join('', { world: 'office' }));
    assert.equal(harness.relay.torus.worldCount, 1);
    harness.relay.leave(desktops[1].slot);
    assert.equal(harness.join('', { world: 'office' }).slot, desktops[1].slot);
    refuses('relay-full', () => harness.join());
  });

  it('is refused by a full relay that would have to evict the sprites of the same world', () => {
    const harness = new RelayHarness({ slots: 2 });
    const [ada] = harness.joinMany(1, 'attic');
    const bob = harness.join();
    harness.throw(ada, 1, 'right', 'kept');
    harness.relay.leave(ada.slot);
    refuses('relay-full', () => harness.join('', { world: 'attic' }));
    assert.deepEqual([harness.relay.waiting, harness.relay.counters.abandoned], [1, 0]);
    harness.relay.leave(bob.slot);
    assert.deepEqual(names(harness.ask(harness.join('', { world: 'attic' }))), ['kept']);
    balances(harness);
  });

  it('adds worlds up to the limit, and one more when one is empty', () => {
    const harness = new RelayHarness({ worldsMax: 2 });
    harness.join();
    const [ada] = harness.joinMany(1, 'a');
    harness.joinMany(1, 'b');
    refuses('relay-full', () => harness.join('', { world: 'c' }));
    assert.ok(harness.join('', { world: 'b' }), 'existing worlds stay open');
    harness.relay.leave(ada.slot);
    assert.ok(harness.join('', { world: 'c' }));
    refuses('relay-full', () => harness.join('', { world: 'a' }));
  });

  it('adds WORLDS_MAX worlds by default', () => {
    const harness = new RelayHarness({ slots: WORLDS_MAX + 1 });
    for (let n = 0; n < WORLDS_MAX; n++) harness.join('', { world: String(n) });
    assert.equal(harness.relay.torus.worldCount, 1 + WORLDS_MAX);
    refuses('relay-full', () => harness.join('', { world: 'one more' }));
    harness.join('', { world: '0' });
  });
});

describe('relay, leaving', () => {
  it('moves the waiting sprites on, each in its direction of travel', () => {
    const harness = new RelayHarness();
    // 16 desktops in rows of four. The four neighbours of one desktop throw at it.
    const desktops = harness.joinMany(16);
    const { torus } = harness.relay;
    const middle = desktops[5];
    const beyond = new Map<Edge, number>();
    for (const [number, edge] of EDGES.entries()) {
      const thrower = torus.neighbour(middle.slot, (number ^ 1) as EdgeNumber);
      beyond.set(edge, torus.neighbour(middle.slot, number as EdgeNumber));
      assert.equal(harness.throw(desktops[thrower], 1, edge, edge), 'accepted');
    }
    harness.settle(...EDGES.map((edge) => desktops[beyond.get(edge) as number]));
    harness.relay.leave(middle.slot);
    harness.relay.endTurn();
    const got = harness.answers.filter(({ status }) => status === 200);
    assert.equal(got.length, 4);
    for (const edge of EDGES) {
      const slot = beyond.get(edge) as number;
      assert.equal(harness.relay.mailboxes.count(slot), 1, edge);
      const [event] = harness.ask(desktops[slot]).body.events;
      assert.deepEqual([event.sprite.name, event.edge], [edge, EDGES[EDGES.indexOf(edge) ^ 1]]);
    }
    assert.equal(harness.relay.counters.forwarded, 4);
    balances(harness);
  });

  it('keeps the sprites of the last desktop of a world for the next one that joins', () => {
    const harness = new RelayHarness();
    const [ada] = harness.joinMany(1, 'attic');
    harness.throw(ada, 1, 'right', 'one');
    harness.throw(ada, 2, 'top', 'two');
    harness.relay.leave(ada.slot);
    balances(harness);
    isProblem(harness.ask(ada), 'desktop-ended');
    const [bob] = harness.joinMany(1, 'attic');
    assert.notEqual(bob.slot, ada.slot);
    assert.deepEqual(names(harness.ask(bob)), ['one', 'two']);
    balances(harness);
  });

  it('evicts the world that has been empty longest when there is no room for another, and counts its sprites', () => {
    for (const limits of [{ worldsMax: 3 }, { slots: 3 }]) {
      const harness = new RelayHarness(limits);
      const worlds = ['a', 'b', 'c'];
      const owners = worlds.map((world) => harness.join('', { world }));
      owners.forEach((owner, index) => {
        for (let n = 1; n <= index + 1; n++) harness.throw(owner, n);
      });
      for (const index of [1, 0]) harness.relay.leave(owners[index].slot);
      assert.equal(harness.relay.counters.abandoned, 0);
      harness.join('', { world: 'd' });
      assert.equal(harness.relay.counters.abandoned, 2, 'those of b, not of a');
      assert.equal(harness.relay.torus.find('b'), undefined);
      assert.ok(harness.relay.torus.find('a'));
      balances(harness);
      harness.join('', { world: 'e' });
      assert.equal(harness.relay.counters.abandoned, 3);
      refuses('relay-full', () => harness.join('', { world: 'f' }));
      assert.equal(harness.relay.waiting, 3);
      balances(harness);
    }
  });

  it('evicts the world that has been empty longest when the slab has no room for a throw, and only then', () => {
    const harness = new RelayHarness();
    const { counters, torus } = harness.relay;
    const passage = Buffer.from(`"edge":"left","x":"`.padEnd(290, 'x').concat('"}'));
    const throwAll = (identity: Identity) => {
      for (let n = 1; n <= CROSSINGS_BURST_MAX; n++) {
        assert.equal(harness.relay.accept(identity, checkedCrossing(n, 1, passage)).verdict, 'accepted');
        balances(harness);
      }
    };
    const [ada, bob] = harness.joinMany(2);
    // The smallest slab has one page of 1 MiB for blocks of 384 bytes; its first block may be missing.
    const room = Math.floor((Math.floor((1 << 20) / 384) - 1) / CROSSINGS_BURST_MAX);
    for (let world = 0; world < room; world++) {
      const [owner] = harness.joinMany(1, `world ${world}`);
      throwAll(owner);
      harness.relay.leave(owner.slot);
    }
    assert.equal(counters.abandoned, 0);
    throwAll(ada);
    assert.equal(counters.abandoned, CROSSINGS_BURST_MAX, 'those of one world');
    assert.deepEqual([torus.find('world 0'), torus.find('world 1')?.count], [undefined, 0]);
    throwAll(bob);
    assert.equal(counters.abandoned, 2 * CROSSINGS_BURST_MAX);

    harness.pass(1000);
    let verdict: Verdict = 'accepted';
    for (let n = CROSSINGS_BURST_MAX + 1; verdict === 'accepted'; n++) {
      verdict = harness.relay.accept(ada, checkedCrossing(n, 1, passage)).verdict;
    }
    assert.equal(verdict, 'mailbox-full');
    assert.equal(
      counters.abandoned,
      2 * CROSSINGS_BURST_MAX,
      'no world is evicted for a mailbox that has reached its own limits',
    );
    balances(harness);
  });

  it('answers a repeat of an accepted crossing as accepted after the lease of its sender has ended, for ten minutes', () => {
    const harness = new RelayHarness();
    const [ada, bob] = harness.joinMany(2);
    assert.equal(harness.throw(ada, 8), 'accepted');
    assert.equal(harness.throw(ada, 5), 'accepted');
    harness.poll(bob);
    // Bob keeps polling; Ada is silent, and another desktop gets her slot.
    harness.pass(LEASE_MS - 1);
    harness.poll(bob, 2);
    harness.pass(TICK_MS + 1);
    assert.equal(harness.relay.desktops.authenticate(ada), 'ended');
    assert.equal(harness.join().slot, ada.slot);
    const before = { ...harness.relay.counters };
    for (const crossing of [8, 5]) {
      const { verdict, status, body, end } = harness.throwForResponse(ada, crossing);
      assert.deepEqual([verdict, status, body.toString('utf8', 0, end)], ['repeated', 202, '{"to":null}']);
    }
    for (const crossing of [4, 6, 7, 9]) assert.equal(harness.throw(ada, crossing), 'desktop-ended');
    assert.equal(harness.throw({ ...ada, token: Uint32Array.of(0, 0, 0, 0) }, 8), 'desktop-ended');
    assert.equal(harness.throw({ ...ada, generation: ada.generation + 9 }, 8), 'unknown-desktop');
    assert.deepEqual(harness.relay.counters, { ...before, repeated: before.repeated + 2 });
    harness.pass(ENDED_REMEMBERED_MS - TICK_MS - 1);
    assert.equal(harness.throw(ada, 8), 'repeated');
    harness.pass(TICK_MS + 2);
    assert.equal(harness.throw(ada, 8), 'desktop-ended');
    balances(harness);
  });

  it('answers repeats of a desktop that has left while the relay is draining', () => {
    const harness = new RelayHarness();
    const [ada] = harness.joinMany(2);
    harness.throw(ada, 1);
    harness.relay.leave(ada.slot);
    harness.relay.drain();
    assert.equal(harness.throw(ada, 1), 'repeated');
    assert.equal(harness.throw(ada, 2), 'desktop-ended');
  });

  it('lets no two desktops grow the mailbox of a third one: what it can’t hold is kept, and moves on when it reads', () => {
    const harness = new RelayHarness({ slots: 100, slabBytes: 1 << 26 });
    const { counters, mailboxes } = harness.relay;
    const [victim] = harness.joinMany(1, 'attic');
    const carriedMax = CARRIED_FACTOR * MAILBOX_EVENTS_MAX;
    let thrown = 0;
    for (let round = 0; round < 12; round++) {
      const [eve, mallory] = harness.joinMany(2, 'attic');
      for (const [from, edge] of [
        [eve, 'right'],
        [mallory, 'left'],
      ] as const) {
        for (let n = 1; n <= CROSSINGS_BURST_MAX; n++) {
          const name = `s${thrown}`;
          if (harness.throw(from, n, edge, name) === 'accepted') thrown++;
        }
      }
      for (const guest of [eve, mallory]) harness.relay.leave(guest.slot);
      assert.ok(mailboxes.count(victim.slot) <= carriedMax, `${mailboxes.count(victim.slot)}`);
      balances(harness);
      // It acknowledges nothing. More such polls in a row would be answered late.
      if (round % 2 === 0) harness.ask(victim);
      harness.pass(KEPT_STEP_MS);
    }
    assert.ok(thrown > 2 * carriedMax, 'more than one mailbox carries');
    assert.equal(counters.abandoned, 0);
    assert.equal(harness.relay.waiting, thrown);

    // The victim reads: it gets every sprite, once, and the slots are free again.
    const got = new Set<string>();
    for (let seq = 0, polls = 0; got.size < thrown; polls++) {
      assert.ok(polls < thrown, 'each second brings sprites');
      const answer = harness.ask(victim, seq);
      for (const name of names(answer)) {
        assert.ok(!got.has(name), name);
        got.add(name);
      }
      seq = seqOf(answer);
      harness.pass(KEPT_STEP_MS);
    }
    harness.poll(victim, counters.accepted);
    assert.equal(harness.relay.waiting, 0);
    assert.equal(harness.joinMany(99).length, 99);
    balances(harness);
  });

  it('passes sprites on to the next desktop with room in their direction of travel, of ONWARD_DESKTOPS_MAX', () => {
    for (const full of [0, 1, ONWARD_DESKTOPS_MAX - 1, ONWARD_DESKTOPS_MAX]) {
      const harness = new RelayHarness({ mailboxEventsMax: 2 });
      const { mailboxes } = harness.relay;
      const desktops = harness.joinMany(40);
      assert.equal(harness.throw(desktops[3], 1), 'accepted');
      const filler = Buffer.from('"edge":"left"}');
      for (let n = 0; n < full; n++) {
        for (let twice = 0; twice < CARRIED_FACTOR; twice++) {
          mailboxes.append(150, passageOf(0, filler));
          mailboxes.append(150, passageOf(0, filler));
          mailboxes.moveAll(150, () => desktops[5 + n].slot);
        }
      }
      const waiting = harness.relay.waiting;
      harness.relay.leave(desktops[4].slot);
      assert.equal(mailboxes.count(desktops[5 + full].slot), full < ONWARD_DESKTOPS_MAX ? 1 : 0);
      assert.equal(mailboxes.count(desktops[4].slot), full < ONWARD_DESKTOPS_MAX ? 0 : 1);
      assert.equal(harness.relay.waiting, waiting);
    }
  });

  it('tries KEPT_TRIED_MAX kept mailboxes of a world again, and KEPT_WORLDS_PER_STEP_MAX worlds in one step', () => {
    const mailboxEventsMax = 4;
    const carriedMax = CARRIED_FACTOR * mailboxEventsMax;
    for (const [worlds, kept, moved] of [
      [1, KEPT_TRIED_MAX - 1, [KEPT_TRIED_MAX - 1]],
      [1, KEPT_TRIED_MAX, [KEPT_TRIED_MAX]],
      [1, KEPT_TRIED_MAX + 1, [KEPT_TRIED_MAX]],
      [KEPT_WORLDS_PER_STEP_MAX - 1, 1, [KEPT_WORLDS_PER_STEP_MAX - 1]],
      [KEPT_WORLDS_PER_STEP_MAX, 1, [KEPT_WORLDS_PER_STEP_MAX]],
      [KEPT_WORLDS_PER_STEP_MAX + 1, 1, [KEPT_WORLDS_PER_STEP_MAX, 1]],
    ] as [number, number, number[]][]) {
      const harness = new RelayHarness({ slots: 1000, mailboxEventsMax });
      const { relay } = harness;
      const owners = Array.from({ length: worlds }, (_, n) => harness.join('', { world: `world ${n}` }));
      owners.forEach((owner, world) => {
        for (let n = 1; n <= carriedMax + kept; n++) {
          const guest = harness.join('', { world: `world ${world}` });
          assert.equal(harness.throw(owner, n), 'accepted');
          relay.leave(guest.slot);
        }
        assert.equal(relay.mailboxes.count(owner.slot), carriedMax);
      });
      for (const owner of owners) {
        harness.poll(owner, seqOf(harness.ask(owner)));
        assert.equal(relay.mailboxes.count(owner.slot), 0);
      }
      harness.nowMs += KEPT_STEP_MS;
      const steps: number[] = [];
      let isMoreDue = true;
      while (isMoreDue) {
        const before = relay.counters.forwarded;
        isMoreDue = relay.advance(harness.nowMs);
        steps.push(relay.counters.forwarded - before);
      }
      assert.deepEqual(steps, moved);
      harness.pass(KEPT_STEP_MS);
      assert.equal(relay.keptBytes, 0);
    }
  });

  it('destroys no kept sprite when that would not make room', () => {
    const harness = new RelayHarness({ slots: 10_000 });
    const { relay } = harness;
    const long = Buffer.from(`"edge":"left","x":"`.padEnd(690, 'x').concat('"}'));
    const short = Buffer.from(`"edge":"left","x":"`.padEnd(290, 'x').concat('"}'));
    const [owner] = harness.joinMany(1, 'attic');
    for (let n = 1; n <= CROSSINGS_BURST_MAX; n++) relay.accept(owner, checkedCrossing(n, 1, short));
    relay.leave(owner.slot);
    // The smallest slab has one page for blocks of 768 bytes: live desktops fill it.
    const pairs = harness.joinMany(20, 'office');
    let verdict: Verdict = 'accepted';
    for (const thrower of pairs) {
      for (let n = 1; n <= 150 && verdict === 'accepted'; n++)
        verdict = relay.accept(thrower, checkedCrossing(n, 1, long)).verdict;
    }
    assert.equal(verdict, 'mailbox-full');
    assert.equal(relay.counters.abandoned, 0);
    assert.ok(relay.torus.find('attic'));
    balances(harness);
  });

  it('evicts those whose mailboxes fill a page of another size, and only those', () => {
    const pages = 14;
    const harness = new RelayHarness({ slots: 10_000, slabBytes: pages << 20 });
    const { relay } = harness;
    const long = Buffer.from(`"edge":"left","x":"`.padEnd(660, 'x').concat('"}'));
    const short = Buffer.from(`"edge":"left","x":"`.padEnd(290, 'x').concat('"}'));
    // Two pages beside the reserved ones go to blocks of 384 bytes, in worlds that are empty then.
    let worlds = 0;
    const { usedBytes } = relay.slab;
    while (relay.slab.usedBytes - usedBytes + CROSSINGS_BURST_MAX * 384 <= 3 * Math.floor((1 << 20) / 384) * 384) {
      const [owner] = harness.joinMany(1, `world ${worlds++}`);
      for (let n = 1; n <= CROSSINGS_BURST_MAX; n++)
        assert.equal(relay.accept(owner, checkedCrossing(n, 1, short)).verdict, 'accepted');
      relay.leave(owner.slot);
    }
    const desktops = harness.joinMany(30, 'office');
    let accepted = 0;
    for (let at = 0; relay.counters.abandoned === 0; at++) {
      assert.ok(at < desktops.length * 100, 'room is made');
      if (relay.accept(desktops[at % 30], checkedCrossing(1 + Math.floor(at / 30), 1, long)).verdict === 'accepted')
        accepted++;
    }
    assert.equal(accepted, Math.floor((1 << 20) / 768) + 1, 'the page of its own size was used up first');
    // A page of 384-byte blocks has the sprites of 14 or 15 worlds.
    const evicted = relay.counters.abandoned / CROSSINGS_BURST_MAX;
    assert.ok(evicted >= 13 && evicted <= 16, `${evicted} of ${worlds}`);
    balances(harness);
  });

  it('evicts in one throw at most EVICTED_PER_STEP_MAX of the mailboxes that fill a page, and goes on with the next', () => {
    const harness = new RelayHarness({ slots: 10_000, slabBytes: 13 << 20 });
    const { relay } = harness;
    const long = Buffer.from(`"edge":"left","x":"`.padEnd(690, 'x').concat('"}'));
    const short = Buffer.from(`"edge":"left","x":"`.padEnd(290, 'x').concat('"}'));
    const perPage = Math.floor((1 << 20) / 384);
    for (let world = 0; world < 2 * perPage - 1; world++) {
      const [owner] = harness.joinMany(1, `world ${world}`);
      assert.equal(relay.accept(owner, checkedCrossing(1, 1, short)).verdict, 'accepted');
      relay.leave(owner.slot);
    }
    const desktops = harness.joinMany(30, 'office');
    const steps: number[] = [];
    let accepted = 0;
    for (let at = 0; accepted < 1500; at++) {
      const before: number = relay.counters.abandoned;
      const { verdict } = relay.accept(desktops[at % 30], checkedCrossing(1 + Math.floor(at / 30), 1, long));
      if (verdict === 'accepted') accepted++;
      else assert.equal(verdict, 'mailbox-full');
      if (relay.counters.abandoned > before) steps.push(relay.counters.abandoned - before);
      balances(harness);
      harness.pass(TICK_MS);
      for (const desktop of desktops) if (at % 300 === 0) harness.poll(desktop);
    }
    assert.ok(steps.every((step) => step <= EVICTED_PER_STEP_MAX));
    assert.equal(Math.ceil(perPage / EVICTED_PER_STEP_MAX), steps.length);
    assert.ok(relay.counters.abandoned <= perPage);
  });

  it('destroys kept sprites in a throw only if the throw is accepted then, in a long run (seeded)', (t) => {
    const random = randomOf(t);
    const harness = new RelayHarness({ slots: 2000, slabBytes: 18 << 20 });
    const { relay } = harness;
    const happened = { evicted: 0, full: 0, kept: 0 };
    const open: Identity[][] = [];
    let crossing = 0;
    for (let n = 0; n < 60_000; n++) {
      if (open.length < 30) open.push(harness.joinMany(2, `world ${n}`));
      const at = Math.floor(random() * open.length);
      const pair = open[at];
      if (random() < 0.004) {
        for (const { slot } of pair) relay.leave(slot);
        open.splice(at, 1);
        happened.kept++;
        continue;
      }
      // Sizes come in phases, so that the pages of one size stand in the way of another.
      const bytes = 150 + 150 * (Math.floor(n / 6_000) % 3) + Math.floor(random() * 100);
      const before = relay.counters.abandoned;
      const passage = Buffer.from(`"edge":"left","x":"`.padEnd(bytes, 'x').concat('"}'));
      const from = pair[Math.floor(random() * 2)];
      const { verdict } = relay.accept(from, checkedCrossing(++crossing, 1, passage));
      const evicted = relay.counters.abandoned - before;
      if (evicted > 0) happened.evicted++;
      if (verdict !== 'accepted') assert.equal(evicted, 0, verdict);
      if (verdict === 'mailbox-full') happened.full++;
      balances(harness);
      if (n % 500 === 0) {
        // Desktops of worlds that stay poll; nobody reads.
        for (const desktop of open.flat()) harness.poll(desktop);
        harness.pass(TICK_MS);
        harness.answers.length = 0;
      }
    }
    t.diagnostic(JSON.stringify(happened));
    assert.ok(happened.evicted > 0 && happened.full > 0 && happened.kept > 50);
  });

  it('looks at no more than EVICTION_LOOKS_MAX blocks between two steps of the clock', () => {
    const harness = new RelayHarness({ slots: 10_000 });
    const { relay } = harness;
    let looked = 0;
    const { visitBlocks } = relay.mailboxes;
    relay.mailboxes.visitBlocks = (slot, visit) =>
      visitBlocks.call(relay.mailboxes, slot, (block, bytes) => {
        looked++;
        return visit(block, bytes);
      });
    const long = Buffer.from(`"edge":"left","x":"`.padEnd(690, 'x').concat('"}'));
    const short = Buffer.from(`"edge":"left","x":"`.padEnd(290, 'x').concat('"}'));
    for (let world = 0; world < 12; world++) {
      const [owner] = harness.joinMany(1, `world ${world}`);
      for (let n = 1; n <= CROSSINGS_BURST_MAX; n++) relay.accept(owner, checkedCrossing(n, 1, short));
      relay.leave(owner.slot);
    }
    const desktops = harness.joinMany(60, 'office');
    const throwAll = (from: number) => {
      for (const thrower of desktops)
        for (let n = from; n < from + 60; n++) relay.accept(thrower, checkedCrossing(n, 1, long));
    };
    throwAll(1);
    assert.ok(relay.counters.refusedFull > 1000);
    assert.equal(relay.counters.abandoned, 0);
    assert.ok(looked > 2000 && looked <= EVICTION_LOOKS_MAX, `${looked}`);
    harness.pass(1000);
    throwAll(1000);
    assert.ok(looked > EVICTION_LOOKS_MAX && looked <= 2 * EVICTION_LOOKS_MAX, `${looked}`);
  });

  it('keeps at most KEPT_SHARE_MAX of the slab for desktops that have ended, and evicts the rest in steps', () => {
    const harness = new RelayHarness({ slots: 20_000, slabBytes: 100 << 20 });
    const { relay } = harness;
    const short = Buffer.from(`"edge":"left","x":"`.padEnd(290, 'x').concat('"}'));
    const max = KEPT_SHARE_MAX * (100 << 20);
    const worlds = Math.floor(max / (384 * CROSSINGS_BURST_MAX));
    const owners: Identity[] = [];
    for (let world = 0; world < worlds + 40; world++) {
      const [owner] = harness.joinMany(1, `world ${world}`);
      owners.push(owner);
      for (let n = 1; n <= CROSSINGS_BURST_MAX; n++)
        assert.equal(relay.accept(owner, checkedCrossing(n, 1, short)).verdict, 'accepted');
      if (world < worlds) relay.leave(owner.slot);
    }
    harness.nowMs += TICK_MS;
    relay.advance(harness.nowMs);
    assert.equal(relay.counters.abandoned, 0, 'up to the limit nothing is evicted');
    for (const owner of owners.slice(worlds)) relay.leave(owner.slot);
    let steps = 0;
    for (let before = 0; relay.advance(harness.nowMs); steps++) {
      const evicted: number = relay.counters.abandoned - before;
      assert.ok(evicted > 0 && evicted <= EVICTED_SPRITES_PER_STEP_MAX + CROSSINGS_BURST_MAX, `${evicted}`);
      before = relay.counters.abandoned;
      assert.ok(steps <= EVICTED_PER_STEP_MAX);
    }
    assert.equal(relay.counters.abandoned, 40 * CROSSINGS_BURST_MAX, 'the oldest');
    assert.equal(relay.torus.find('world 39'), undefined);
    assert.ok(relay.torus.find('world 40'));
    balances(harness);
  });

  it('leaves no state to the next owner of the slot', () => {
    const harness = new RelayHarness({ slots: 2 });
    const [ada, bob] = harness.joinMany(2);
    harness.throw(ada, 50);
    harness.throw(bob, 9);
    harness.pass(NEIGHBOURS_STEP_MS);
    harness.relay.leave(bob.slot);
    const eve = harness.join();
    assert.equal(eve.slot, bob.slot);
    assert.ok(harness.isParked(harness.poll(eve)), 'eve does not get the notification that was due for bob');
    harness.relay.endTurn();
    assert.equal(harness.relay.mailboxes.count(eve.slot), 0);
    assert.deepEqual(harness.throw(eve, 1), 'accepted');
    const ticket = harness.poll(eve, 0);
    assert.ok(harness.isParked(ticket));
    harness.relay.endTurn();
    assert.ok(harness.isParked(ticket));
  });
});

describe('relay, going down', () => {
  it('answers every parked poll with bye, each with its own delay', () => {
    const harness = new RelayHarness();
    const desktops = harness.joinMany(5);
    const tickets = harness.settle(...desktops);
    harness.luck = 0;
    harness.relay.drain();
    for (const ticket of tickets) {
      const { status, body } = harness.answered(ticket);
      assert.equal(status, 200);
      assert.deepEqual(body.events, [{ type: 'bye', retryAfterMs: 0.1 * RECONNECT_MS_MAX }]);
    }
    harness.luck = 1;
    assert.deepEqual(harness.ask(desktops[0]).body.events, [{ type: 'bye', retryAfterMs: RECONNECT_MS_MAX }]);
    assert.equal(harness.relay.parkedCount, 0);
  });

  it('sends desktops away before it refuses anything: throws are accepted, and wait for them', () => {
    const harness = new RelayHarness();
    const [ada, bob] = harness.joinMany(2);
    const tickets = harness.settle(ada, bob);
    harness.luck = 0;
    harness.relay.sendAway(RETURN_MS_MIN);
    for (const ticket of tickets) {
      assert.deepEqual(harness.answered(ticket).body.events, [{ type: 'bye', retryAfterMs: 0.1 * RETURN_MS_MIN }]);
    }
    assert.deepEqual(harness.throw(ada, 1), 'accepted');
    assert.equal(harness.ask(bob).body.events[0].type, 'sprite');
    harness.luck = 1;
    harness.relay.drain();
    assert.deepEqual(harness.throw(ada, 2), 'draining');
    assert.deepEqual(harness.ask(ada).body.events, [{ type: 'bye', retryAfterMs: RETURN_MS_MIN }]);
  });

  it('refuses throws, and leaves polls parked until the next process serves; then it sends RETURNS_PER_TICK there in a tick', () => {
    for (const count of [RETURNS_PER_TICK - 1, RETURNS_PER_TICK, RETURNS_PER_TICK + 1]) {
      const harness = new RelayHarness({ slots: count });
      const desktops = harness.joinMany(count);
      harness.settle(...desktops);
      harness.relay.refuse();
      harness.pass(TICK_MS);
      assert.equal(harness.relay.parkedCount, count);
      assert.equal(harness.throw(desktops[0], 1), 'draining');
      harness.relay.sendAway(0);
      assert.equal(harness.relay.parkedCount, Math.max(0, count - RETURNS_PER_TICK));
      assert.equal(harness.relay.advance(harness.nowMs), false, 'no more is due in this tick');
      assert.equal(harness.relay.parkedCount, 0);
    }
  });

  it('ends no lease during a drain, which may take longer than a lease', () => {
    const harness = new RelayHarness();
    const [ada, bob, eve] = harness.joinMany(3);
    harness.settle(ada, bob, eve);
    harness.relay.leave(eve.slot);
    harness.relay.drain();
    for (let n = 0; n < 4; n++) harness.pass(LEASE_MS);
    for (const desktop of [ada, bob]) assert.equal(harness.relay.desktops.authenticate(desktop), 'live');
    assert.equal(harness.relay.counters.leasesEnded, 0);
  });

  it('answers at most DUE_PER_STEP_MAX parked polls in one step, however many there are', () => {
    for (const count of [DUE_PER_STEP_MAX - 1, DUE_PER_STEP_MAX, DUE_PER_STEP_MAX + 1, 3 * DUE_PER_STEP_MAX + 7]) {
      const harness = new RelayHarness({ slots: count + 10 });
      const tickets = harness.settle(...harness.joinMany(count));
      const steps: number[] = [];
      let isMoreDue = true;
      harness.relay.drain();
      for (;;) {
        assert.ok(harness.answers.every(({ body }) => body.events[0].type === 'bye'));
        steps.push(harness.answers.length);
        harness.answers.length = 0;
        if (!isMoreDue) break;
        isMoreDue = harness.relay.advance(harness.nowMs);
      }
      assert.ok(Math.max(...steps) <= DUE_PER_STEP_MAX);
      assert.equal(
        steps.reduce((sum, step) => sum + step, 0),
        tickets.length,
      );
      assert.equal(harness.relay.parkedCount, 0);
    }
  });

  it('looks at DRAINED_PER_STEP_MAX slots in one step', () => {
    for (const [slots, steps] of [
      [DRAINED_PER_STEP_MAX - 1, 1],
      [DRAINED_PER_STEP_MAX, 1],
      [DRAINED_PER_STEP_MAX + 1, 2],
      [3 * DRAINED_PER_STEP_MAX + 1, 4],
    ]) {
      const harness = new RelayHarness({ slots });
      harness.relay.drain();
      let calls = 1;
      while (harness.relay.advance(harness.nowMs)) calls++;
      assert.equal(calls, Math.max(1, steps - 1));
    }
  });

  it('answers a poll that comes between the steps at once, and once', () => {
    const harness = new RelayHarness({ slots: 2 * DUE_PER_STEP_MAX });
    const desktops = harness.joinMany(2 * DUE_PER_STEP_MAX);
    harness.settle(...desktops);
    harness.relay.drain();
    harness.answers.length = 0;
    const last = desktops[desktops.length - 1];
    const again = harness.ask(last);
    assert.deepEqual(types(again), ['bye']);
    assert.deepEqual(types(harness.answers[0]), [], 'the poll that the newer one replaced');
    harness.answers.length = 0;
    while (harness.relay.advance(harness.nowMs));
    assert.equal(harness.answers.length, DUE_PER_STEP_MAX - 1);
    assert.equal(harness.relay.parkedCount, 0);
  });

  it('refuses joins and crossings, but still answers polls with waiting sprites', () => {
    const harness = new RelayHarness();
    const [ada, bob] = harness.joinMany(2);
    harness.throw(ada, 1, 'right', 'last');
    harness.relay.drain();
    refuses('draining', () => harness.join());
    assert.equal(harness.throw(ada, 2), 'draining');
    assert.deepEqual(names(harness.ask(bob)), ['last']);
    assert.deepEqual(types(harness.ask(bob, 1)), ['bye']);
    balances(harness);
  });

  it('still accepts the repeat of an accepted crossing: its sender must not take the sprite back', () => {
    const harness = new RelayHarness();
    const [ada] = harness.joinMany(2);
    harness.throw(ada, 1);
    harness.relay.drain();
    assert.equal(harness.throw(ada, 1), 'repeated');
  });
});

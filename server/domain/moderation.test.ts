/** The relay with desktops that mute others, and with notices for everybody. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RelayHarness } from '../test/relay_harness.ts';
import type { Identity } from '../wire/identity.ts';
import { ProblemError } from '../wire/problem.ts';
import { EDGES, type Edge, LEASE_MS, MUTES_MAX } from '../wire/rules.ts';
import { NOTICE_SLOTS_PER_STEP } from './news.ts';
import { MUTE_HOPS_MAX, MUTES_TOTAL_MAX } from './slots/mutes.ts';
import { DUE_PER_STEP_MAX } from './state/limits.ts';

const EVENT = { type: 'removed', file: 'ab'.repeat(32) };

class Harness extends RelayHarness {
  constructor(slots = 100) {
    super({ slots });
  }

  /** Throws a sprite that is named after its number; returns the verdict, and to which desktop it went. */
  send(from: Identity, crossing: number, edge: Edge = 'right') {
    const { verdict, body, end } = this.throwForResponse(from, crossing, edge, `${crossing}`);
    return { verdict, to: JSON.parse(body.toString('utf8', 0, end)).to?.desktop as string | undefined };
  }

  /** Parks a poll after everything that is due. */
  park(identity: Identity): number {
    for (;;) {
      const ticket = this.poll(identity);
      if (this.isParked(ticket)) return ticket;
    }
  }

  eventsOf(ticket: number): object[] | undefined {
    return this.answers.find((answer) => answer.ticket === ticket)?.body.events;
  }
}

const refuses = (code: string, act: () => unknown) =>
  assert.throws(act, (error) => error instanceof ProblemError && error.document.code === code);

describe('relay, mutes', () => {
  it('move a throw of the muted one on in its direction; the response names the muter', () => {
    const harness = new Harness();
    const { relay } = harness;
    const [ann, bob, carol] = harness.joinMany(3);
    relay.mute(bob.slot, ann);
    assert.deepEqual(harness.send(ann, 1, 'right'), { verdict: 'accepted', to: harness.id(bob) });
    assert.equal(relay.mailboxes.count(bob.slot), 0);
    assert.equal(relay.mailboxes.count(carol.slot), 1);
    // A repeat changes nothing and has the same response.
    assert.deepEqual(harness.send(ann, 1, 'right'), { verdict: 'repeated', to: harness.id(bob) });
    // What others throw is not moved.
    assert.equal(harness.send(carol, 1, 'left').verdict, 'accepted');
    assert.equal(relay.mailboxes.count(bob.slot), 1);
    relay.unmute(bob.slot, ann);
    harness.send(ann, 2, 'right');
    assert.equal(relay.mailboxes.count(bob.slot), 2);
    assert.equal(relay.counters.accepted, relay.waiting);
  });

  it('let a throw bounce in a world of two, and in a world of one', () => {
    const harness = new Harness();
    const { relay } = harness;
    const [ann] = harness.joinMany(1);
    relay.mute(ann.slot, ann);
    assert.equal(harness.send(ann, 1).verdict, 'mailbox-full');
    relay.unmute(ann.slot, ann);
    const [bob] = harness.joinMany(1);
    relay.mute(bob.slot, ann);
    for (const edge of EDGES) assert.equal(harness.send(ann, 1, edge).verdict, 'mailbox-full');
    assert.equal(relay.waiting, 0);
    // Nothing has changed: the same number is accepted later.
    relay.unmute(bob.slot, ann);
    assert.equal(harness.send(ann, 1).verdict, 'accepted');
  });

  for (const [count, verdict] of [
    [MUTE_HOPS_MAX - 1, 'accepted'],
    [MUTE_HOPS_MAX, 'mailbox-full'],
    [MUTE_HOPS_MAX + 1, 'mailbox-full'],
  ] as const) {
    it(`of ${count} desktops in a row: the throw is ${verdict}`, () => {
      const harness = new Harness();
      const { relay } = harness;
      const row = harness.joinMany(20);
      for (let n = 1; n <= count; n++) relay.mute(row[n].slot, row[0]);
      assert.equal(harness.send(row[0], 1).verdict, verdict);
      assert.equal(relay.waiting, verdict === 'accepted' ? 1 : 0);
      if (verdict === 'accepted') assert.equal(relay.mailboxes.count(row[count + 1].slot), 1);
    });
  }

  it('end with the muter and with the muted one; the next owners of their slots are not concerned', () => {
    const harness = new Harness();
    const { relay } = harness;
    const [ann, bob] = harness.joinMany(3);
    relay.mute(bob.slot, ann);
    relay.leave(ann.slot);
    const [next] = harness.joinMany(1);
    assert.equal(next.slot, ann.slot);
    harness.send(next, 1, 'left');
    harness.send(next, 2, 'right');
    assert.equal(relay.mutes.total, 1);
    relay.leave(bob.slot);
    assert.equal(relay.mutes.total, 0);
  });

  it(`are at most ${MUTES_MAX} of one desktop`, () => {
    const harness = new Harness();
    const [ann] = harness.joinMany(1);
    for (let slot = 0; slot < MUTES_MAX; slot++) harness.relay.mute(ann.slot, { slot, generation: 9 });
    refuses('list-full', () => harness.relay.mute(ann.slot, { slot: MUTES_MAX, generation: 9 }));
    harness.relay.mute(ann.slot, { slot: 0, generation: 9 });
  });

  it(`are at most ${MUTES_TOTAL_MAX} of all desktops`, () => {
    const harness = new Harness(MUTES_TOTAL_MAX / MUTES_MAX + 1);
    const all = harness.joinMany(MUTES_TOTAL_MAX / MUTES_MAX + 1);
    for (const { slot } of all.slice(1)) {
      for (let n = 0; n < MUTES_MAX; n++) harness.relay.mute(slot, { slot: n, generation: 9 });
    }
    refuses('relay-full', () => harness.relay.mute(all[0].slot, { slot: 0, generation: 9 }));
    // The receiver without a mute has no flag.
    assert.equal(harness.send(all[1], 1, 'left').verdict, 'accepted');
  });
});

describe('relay, notices', () => {
  it('wake parked polls, ride with sprites, and are sent once', () => {
    const harness = new Harness();
    const [ann, bob] = harness.joinMany(2);
    harness.pass(2_000);
    const parked = harness.park(ann);
    harness.park(bob);
    harness.relay.notify(EVENT);
    harness.send(bob, 1, 'right');
    assert.equal(harness.eventsOf(parked), undefined);
    harness.pass(1);
    const events = harness.eventsOf(parked) as { type: string }[];
    assert.deepEqual(
      events.map(({ type }) => type),
      ['sprite', 'removed'],
    );
    assert.deepEqual(events[1], EVENT);
    // The cursor counts sprites only.
    const again = harness.poll(ann, 1);
    assert.equal(harness.eventsOf(again), undefined);
    const seen = harness.answers.filter(({ body }) => JSON.stringify(body).includes('removed'));
    assert.equal(seen.length, 2, 'one for each desktop');
  });

  it('wait for a desktop that does not poll now, and are not for one that joins later', () => {
    const harness = new Harness();
    const [ann] = harness.joinMany(1);
    harness.pass(2_000);
    harness.park(ann);
    const closed = harness.park(ann);
    harness.relay.down.closed(closed, ann.slot);
    harness.relay.notify(EVENT);
    harness.pass(LEASE_MS / 2);
    const [bob] = harness.joinMany(1);
    harness.pass(2_000);
    const late = harness.eventsOf(harness.poll(ann)) ?? [];
    assert.ok(late.some((event) => JSON.stringify(event) === JSON.stringify(EVENT)));
    const first = harness.eventsOf(harness.poll(bob)) ?? [];
    assert.ok(!JSON.stringify(first).includes('removed'));
  });

  it(`wake at most ${DUE_PER_STEP_MAX} desktops in a step, and everybody in the end`, () => {
    const count = 3 * DUE_PER_STEP_MAX + 1;
    const harness = new Harness(count + 50);
    const all = harness.joinMany(count);
    harness.pass(2_000);
    const tickets = all.map((identity) => harness.park(identity));
    harness.relay.notify(EVENT);
    const before = harness.answers.length;
    harness.relay.advance(harness.nowMs);
    assert.equal(harness.answers.length - before, DUE_PER_STEP_MAX);
    harness.pass(0);
    for (const ticket of tickets) assert.deepEqual(harness.eventsOf(ticket), [EVENT]);
  });

  it('look at NOTICE_SLOTS_PER_STEP slots in a step: one below, at the limit, one above', () => {
    for (const [slots, steps] of [
      [NOTICE_SLOTS_PER_STEP - 1, 1],
      [NOTICE_SLOTS_PER_STEP, 1],
      [NOTICE_SLOTS_PER_STEP + 1, 2],
    ]) {
      const harness = new Harness(slots);
      harness.relay.notify(EVENT);
      assert.equal(harness.pass(0), steps, `${slots} slots`);
    }
  });

  it('that come while an earlier one is being sent reach everybody too', () => {
    const harness = new Harness(1000);
    const all = harness.joinMany(600);
    harness.pass(2_000);
    for (const identity of all) harness.park(identity);
    harness.relay.notify({ type: 'announcement', text: '1' });
    harness.relay.advance(harness.nowMs);
    for (const identity of all.slice(0, 100)) harness.park(identity);
    harness.relay.notify({ type: 'announcement', text: '2' });
    harness.pass(0);
    const texts = harness.answers.flatMap(({ body }) => body.events.map(({ text }: { text?: string }) => text));
    // Those of the first step that have not polled again get the second text with their next poll.
    const notPolled = DUE_PER_STEP_MAX - 100;
    assert.equal(texts.filter((text) => text === '1').length, 600);
    assert.equal(texts.filter((text) => text === '2').length, 600 - notPolled);
  });
});

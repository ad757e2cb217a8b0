import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EPOCH, NO_CURSOR, type RecordedAnswer, RelayHarness } from '../test/relay_harness.ts';
import type { Identity } from '../wire/identity.ts';
import { DelayedPolls } from './delayed_polls.ts';
import { TICK_MS } from './slots/deadlines.ts';
import {
  DUE_PER_STEP_MAX,
  NEIGHBOURS_STEP_MS,
  POLL_DELAY_MS,
  PROMPT_POLLS_MAX,
  PROMPT_POLLS_WINDOW_MS,
} from './state/limits.ts';

/** Desktops whose tests give the tickets of their polls. */
class Harness extends RelayHarness {
  constructor() {
    super({ slots: 8, slabBytes: 1 << 20 });
  }

  /** A desktop that was sent its neighbours, so its next poll is parked. */
  seat(world = 'w'): Identity {
    const identity = this.join('', { world });
    this.pass(NEIGHBOURS_STEP_MS);
    this.pollAs(identity, 2 ** 40 + identity.slot);
    return identity;
  }

  pollAs(identity: Identity, ticket: number): void {
    this.relay.poll(identity, ticket, EPOCH, NO_CURSOR);
  }

  /** The status of a ticket's answer, and the types of its events; undefined while it has none. */
  answer(ticket: number): { status: number; types: string[] } | undefined {
    const found = this.answers.filter((answer) => answer.ticket === ticket);
    assert.ok(found.length <= 1, `ticket ${ticket} is answered once`);
    return found[0] && { status: found[0].status, types: typesIn(found[0]) };
  }

  deliver(from: Identity, crossing: number): void {
    assert.equal(this.throw(from, crossing), 'accepted');
    this.relay.endTurn();
  }
}

const typesIn = ({ body }: RecordedAnswer): string[] => (body?.events ?? []).map(({ type }: { type: string }) => type);

describe('replaced polls', () => {
  it('are answered at once up to the limit; one more waits for the delay, no shorter and no longer', () => {
    const harness = new Harness();
    const ann = harness.seat();
    for (let ticket = 0; ticket <= PROMPT_POLLS_MAX; ticket++) harness.pollAs(ann, ticket);
    const prompt = Array.from({ length: PROMPT_POLLS_MAX }, (_, n) => n);
    for (const ticket of prompt) assert.deepEqual(harness.answer(ticket), { status: 200, types: [] });
    harness.pollAs(ann, 100);
    assert.equal(harness.relay.delayedPolls.count, 1);
    harness.pass(POLL_DELAY_MS - TICK_MS);
    assert.equal(harness.isParked(PROMPT_POLLS_MAX), true);
    harness.pass(TICK_MS);
    assert.deepEqual(harness.answer(PROMPT_POLLS_MAX), { status: 200, types: [] });
    assert.equal(harness.isParked(100), true, 'the newest is still parked');
    assert.equal(harness.relay.delayedPolls.count, 0);
  });

  it('slow two clients with one token down to a few polls a second, and lose no sprite', () => {
    const harness = new Harness();
    const ann = harness.seat();
    let ticket = 0;
    let polls = 0;
    const clients = [-1, -1];
    const seconds = 60;
    for (let step = 0; step < (seconds * 1000) / TICK_MS; step++) {
      for (let again = true; again; ) {
        again = false;
        for (const n of [0, 1]) {
          if (clients[n] >= 0 && harness.isParked(clients[n])) continue;
          clients[n] = ticket++;
          harness.pollAs(ann, clients[n]);
          again = true;
          assert.ok(polls++ < 10 * seconds, 'the two clients do not poll without end');
        }
      }
      harness.pass(TICK_MS);
    }
    const windows = (seconds * 1000) / PROMPT_POLLS_WINDOW_MS;
    const most = windows * PROMPT_POLLS_MAX + (2 * seconds * 1000) / POLL_DELAY_MS;
    assert.ok(polls <= most, `${polls} polls in ${seconds} s`);
    harness.deliver(ann, 1);
    assert.equal(harness.answers.filter((answer) => typesIn(answer).includes('sprite')).length, 1);
  });

  it('are forgotten when their connection closes, and answered when their client sends more', () => {
    const harness = new Harness();
    const ann = harness.seat();
    for (let ticket = 0; ticket <= PROMPT_POLLS_MAX + 2; ticket++) harness.pollAs(ann, ticket);
    const [closed, outdated] = [PROMPT_POLLS_MAX, PROMPT_POLLS_MAX + 1];
    assert.equal(harness.relay.delayedPolls.count, 2);
    assert.equal(harness.relay.down.closed(closed, ann.slot), true);
    assert.equal(harness.relay.down.closed(closed, ann.slot), false);
    harness.relay.down.outdated(outdated, ann.slot);
    assert.deepEqual(harness.answer(outdated), { status: 200, types: [] });
    harness.pass(2 * POLL_DELAY_MS);
    assert.equal(harness.isParked(closed), true);
    assert.equal(harness.relay.parkedCount, 1, 'the newest is still parked');
  });

  it('are answered desktop-ended when their desktop has ended, and at once when the relay goes down', () => {
    const harness = new Harness();
    const [ann, bob] = [harness.seat('a'), harness.seat('b')];
    for (let ticket = 0; ticket <= PROMPT_POLLS_MAX + 1; ticket++) {
      harness.pollAs(ann, ticket);
      harness.pollAs(bob, 100 + ticket);
    }
    harness.relay.leave(ann.slot);
    harness.pass(POLL_DELAY_MS - TICK_MS);
    assert.equal(harness.relay.delayedPolls.count, 2);
    harness.relay.drain();
    assert.equal(harness.relay.delayedPolls.count, 0);
    assert.equal(harness.answer(PROMPT_POLLS_MAX)?.status, 410);
    assert.equal(harness.answer(100 + PROMPT_POLLS_MAX)?.status, 200);
  });

  it('are counted from zero in each window, and for the next desktop in the slot', () => {
    const polls = new DelayedPolls(2);
    let ticket = 0;
    const holds = (slot: number, nowMs: number) => polls.hold(ticket++, slot, 1, nowMs, false);
    for (let n = 0; n < PROMPT_POLLS_MAX; n++) assert.equal(holds(0, 0), false);
    assert.equal(holds(0, PROMPT_POLLS_WINDOW_MS - 1), true);
    assert.equal(holds(1, PROMPT_POLLS_WINDOW_MS - 1), false);
    assert.equal(holds(0, PROMPT_POLLS_WINDOW_MS), false);
    for (let n = 1; n < PROMPT_POLLS_MAX; n++) holds(0, PROMPT_POLLS_WINDOW_MS);
    assert.equal(holds(0, PROMPT_POLLS_WINDOW_MS), true);
    polls.restart(0);
    assert.equal(holds(0, PROMPT_POLLS_WINDOW_MS), false);
  });

  it('are answered in steps when many are due', () => {
    const polls = new DelayedPolls(1);
    for (let n = 0; n < PROMPT_POLLS_MAX + DUE_PER_STEP_MAX + 1; n++) polls.hold(n, 0, 1, 0, false);
    const answered: number[] = [];
    const step = () => polls.answerDue(POLL_DELAY_MS, DUE_PER_STEP_MAX, (ticket) => answered.push(ticket));
    assert.equal(step(), true);
    assert.equal(answered.length, DUE_PER_STEP_MAX);
    assert.equal(step(), false);
    assert.equal(answered.length, DUE_PER_STEP_MAX + 1);
  });
});

describe('polls that ask for the same sprites again', () => {
  /** Ann has been sent a sprite and does not acknowledge it. */
  function begin() {
    const harness = new Harness();
    const ann = harness.seat();
    harness.deliver(ann, 1);
    harness.pollAs(ann, 50);
    const typesOf = (ticket: number) => harness.answer(ticket)?.types;
    return { harness, ann, typesOf };
  }

  it('are answered at once up to the limit; one more gets the sprites after the delay', () => {
    const { harness, ann, typesOf } = begin();
    for (let ticket = 0; ticket < PROMPT_POLLS_MAX; ticket++) {
      harness.pollAs(ann, ticket);
      assert.deepEqual(typesOf(ticket), ['sprite']);
    }
    harness.pollAs(ann, 100);
    harness.pass(POLL_DELAY_MS - TICK_MS);
    assert.equal(typesOf(100), undefined);
    harness.pass(TICK_MS);
    assert.deepEqual(typesOf(100), ['sprite']);
    assert.equal(harness.relay.counters.replaced, 0);
  });

  it('get nothing when a newer poll is there: that has the sprites', () => {
    const { harness, ann, typesOf } = begin();
    for (let ticket = 0; ticket < PROMPT_POLLS_MAX; ticket++) harness.pollAs(ann, ticket);
    harness.pollAs(ann, 100);
    harness.relay.poll(ann, 101, EPOCH, 1);
    harness.pass(POLL_DELAY_MS);
    assert.deepEqual(typesOf(100), []);
    harness.deliver(ann, 2);
    assert.deepEqual(typesOf(101), ['sprite']);
  });

  it('are no repeats when they acknowledge what was sent', () => {
    const { harness, ann, typesOf } = begin();
    for (let seq = 1; seq <= 3 * PROMPT_POLLS_MAX; seq++) {
      harness.deliver(ann, seq + 1);
      harness.relay.poll(ann, seq, EPOCH, seq);
      assert.deepEqual(typesOf(seq), ['sprite'], `${seq}`);
    }
  });
});

describe('relay, a receiver without room', () => {
  it('gets no batch: the sprites wait in the mailbox, and are sent once there is room', () => {
    const harness = new Harness();
    const ann = harness.seat();
    harness.hasRoom = (ticket) => ticket >= 10;
    harness.pollAs(ann, 1);
    harness.deliver(ann, 1);
    assert.equal(harness.isParked(1), true, 'a parked poll is not woken');
    harness.pollAs(ann, 2);
    assert.deepEqual(harness.answer(1)?.types, [], 'it is replaced as usual');
    assert.equal(harness.isParked(2), true, 'a new poll is parked although a sprite waits');
    assert.equal(harness.relay.waiting, 1);
    harness.relay.down.retryDeferred();
    harness.relay.endTurn();
    assert.equal(harness.isParked(2), true, 'there is still no room');
    harness.hasRoom = () => true;
    harness.relay.down.retryDeferred();
    harness.relay.endTurn();
    assert.deepEqual(harness.answer(2)?.types, ['sprite']);
  });

  it('is pinged without sprites, and does not delay the desktop’s poll at another receiver', () => {
    const harness = new Harness();
    const ann = harness.seat();
    harness.hasRoom = (ticket) => ticket >= 10;
    harness.pollAs(ann, 1);
    harness.deliver(ann, 1);
    harness.pass(200_000);
    assert.deepEqual(harness.answer(1)?.types, ['ping', 'neighbours']);
    const bob = harness.seat('other');
    harness.pollAs(bob, 3);
    harness.deliver(bob, 1);
    harness.relay.down.closed(3, bob.slot);
    harness.pollAs(bob, 11);
    assert.deepEqual(harness.answer(11)?.types, ['sprite']);
  });
});

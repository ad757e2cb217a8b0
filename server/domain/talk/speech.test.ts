/** Sayings through the relay: who hears them, in which batches, beside which sprites. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomOf } from '../../test/random.ts';
import { type Guest, RelayHarness } from '../../test/relay_harness.ts';
import { readCursor } from '../../wire/cursor.ts';
import type { Identity } from '../../wire/identity.ts';
import { type ProblemCode, ProblemError } from '../../wire/problem.ts';
import {
  PING_MS,
  POLL_BYTES_MAX,
  RESPONSE_BYTES_MAX,
  SAYINGS_BYTES_PER_POLL_MAX,
  SAYINGS_PER_POLL_MAX,
} from '../../wire/rules.ts';
import type { RelayOptions } from '../relay.ts';
import { TICK_MS } from '../slots/deadlines.ts';
import {
  HEARER_COST,
  HEARERS_MAX,
  HEARERS_PER_STEP_MAX,
  MAILBOX_EVENTS_MAX,
  SAYING_COST,
  SAYINGS_BURST_MAX,
  SAYINGS_STEP_MS,
  SPEECH_COST_PER_SECOND_MAX,
} from '../state/limits.ts';
import { ANSWER_BYTES_MAX } from '../way_down.ts';
import { MISSED_BYTES_MAX } from './sayings.ts';

interface Batch {
  cursor: string;
  // biome-ignore lint/suspicious/noExplicitAny: what an event holds is what these tests ask.
  events: any[];
  /** The part that is shared with other answers. */
  shared: Buffer | undefined;
}

class Harness extends RelayHarness {
  #sayings = 0;

  constructor(options: Partial<RelayOptions> = {}) {
    super({ slots: 3000, slabBytes: 16 << 20, ...options });
  }

  /** Desktops that have been told their neighbours, so that only what tests do answers their polls. */
  settled(count: number, world?: string): Guest[] {
    const desktops = this.joinMany(count, world);
    this.tick(3000);
    for (const desktop of desktops) this.relay.down.closed(this.poll(desktop), desktop.slot);
    return desktops;
  }

  batch(ticket: number): Batch | undefined {
    const answer = this.answers.find((one) => one.ticket === ticket);
    return answer && { ...answer.body, shared: answer.shared };
  }

  /** Polls, waits for two rounds, and returns the batch; undefined when the poll is still parked, and then unparks it. */
  take(desktop: Identity, seq = -1): Batch | undefined {
    const ticket = this.poll(desktop, seq);
    this.tick(2 * SAYINGS_STEP_MS + TICK_MS);
    if (this.isParked(ticket)) this.relay.down.closed(ticket, desktop.slot);
    return this.batch(ticket);
  }

  say(desktop: Identity, text: string, saying = ++this.#sayings): number | null {
    return this.relay.say(desktop.slot, { saying, text });
  }

  refused(desktop: Identity, text: string, saying?: number): ProblemCode | undefined {
    try {
      this.say(desktop, text, saying);
    } catch (error) {
      assert.ok(error instanceof ProblemError);
      return error.document.code;
    }
    return undefined;
  }
}

const textsOf = (batch: Batch | undefined) =>
  batch?.events.filter(({ type }) => type === 'saying').map(({ text }) => text);

describe('a saying', () => {
  it('is heard by everybody in a private world, the speaker included, within two steps of the clock', () => {
    const harness = new Harness();
    const [ann, bob, carol] = harness.settled(3, 'w');
    const other = harness.settled(1, 'other')[0];
    const tickets = [ann, bob, carol].map((desktop) => harness.poll(desktop));
    const elsewhere = harness.poll(other);
    assert.equal(harness.say(ann, 'Hello'), 2);
    harness.tick(SAYINGS_STEP_MS + TICK_MS);
    const from = { desktop: harness.relay.desktops.id(ann.slot), name: harness.relay.desktops.name(ann.slot) };
    const [own, right, left] = tickets.map((ticket) => harness.batch(ticket)?.events);
    assert.deepEqual(own, [{ type: 'saying', from, text: 'Hello' }]);
    assert.deepEqual(right, [{ type: 'saying', from, text: 'Hello', edge: 'left' }]);
    assert.deepEqual(left, [{ type: 'saying', from, text: 'Hello', edge: 'right' }]);
    assert.ok(harness.isParked(elsewhere), 'another world');
    assert.equal(harness.relay.speech.counters.said, 1);
  });

  it('is heard by the neighbours only in the default world, or where the option says so', () => {
    for (const [sayings, world, heard] of [
      [undefined, undefined, 4],
      [undefined, 'w', 99],
      ['worlds', undefined, 99],
      ['worlds', 'w', 99],
      ['neighbours', undefined, 4],
      ['neighbours', 'w', 4],
    ] as const) {
      const harness = new Harness({ sayings });
      const [ann] = harness.settled(100, world);
      assert.equal(harness.say(ann, 'Hello'), heard, `${sayings} in ${world}`);
    }
    const harness = new Harness({ sayings: 'off' });
    assert.equal(harness.refused(harness.join(), 'Hello'), 'sayings-off');
  });

  it('is heard by HEARERS_MAX in a larger world', () => {
    const harness = new Harness();
    const desktops = harness.settled(HEARERS_MAX + 500, 'w');
    assert.equal(harness.say(desktops[700], 'Hello'), HEARERS_MAX - 1);
    assert.equal(harness.relay.speech.sayings.waitingCount, HEARERS_MAX);
  });

  it('waits for a desktop that does not poll, and is given up with it', () => {
    const harness = new Harness();
    const [ann, bob] = harness.settled(2, 'w');
    harness.say(ann, 'One');
    harness.tick(1000);
    harness.say(ann, 'Two');
    assert.deepEqual(textsOf(harness.take(bob)), ['One', 'Two']);
    harness.say(ann, 'Three');
    harness.relay.leave(bob.slot);
    harness.take(ann);
    const { heard, sent, missed, givenUp } = harness.relay.speech.sayings.counters;
    assert.deepEqual([heard, sent, missed, givenUp], [6, 5, 0, 1]);
    const dora = harness.join('', { world: 'w' });
    assert.equal(dora.slot, bob.slot);
    assert.deepEqual(textsOf(harness.take(dora)) ?? [], [], 'the next owner of the slot');
  });

  it('is answered again but not said again when it is repeated, and refused when it is too old to know', () => {
    const harness = new Harness();
    const [ann, bob] = harness.settled(2, 'w');
    assert.equal(harness.say(ann, 'One', 40), 1);
    assert.equal(harness.say(ann, 'One', 40), 1);
    assert.equal(harness.say(ann, 'Two', 39), 1);
    assert.equal(harness.say(ann, 'One', 40), null, 'another one was accepted since');
    assert.equal(harness.refused(ann, 'Old', 7), 'saying-stale');
    assert.deepEqual(textsOf(harness.take(bob)), ['One', 'Two']);
    assert.deepEqual({ ...harness.relay.speech.counters }, { said: 2, repeated: 2, refusedFast: 0, refusedBusy: 0 });
  });

  it('is refused above the rate of its desktop: one below, at the limit, one above; a repeat is not', () => {
    const harness = new Harness();
    const [ann, bob] = harness.settled(2, 'w');
    for (let n = 1; n <= SAYINGS_BURST_MAX; n++) assert.equal(harness.refused(ann, `${n}`, n), undefined);
    assert.equal(harness.refused(ann, 'one too many', SAYINGS_BURST_MAX + 1), 'too-fast');
    assert.equal(harness.refused(ann, '1', 1), undefined);
    assert.equal(harness.refused(bob, 'Hello'), undefined);
    assert.equal(textsOf(harness.take(bob))?.length, SAYINGS_BURST_MAX + 1);
    harness.tick(500);
    assert.equal(harness.refused(ann, 'one too many', SAYINGS_BURST_MAX + 1), undefined, 'it was not accepted before');
  });

  it('is refused above the budget of the whole relay: one below, at the limit, one above', () => {
    const harness = new Harness();
    const desktops = harness.settled(HEARERS_MAX, 'w');
    let said = 0;
    const sayNext = () =>
      harness.refused(desktops[said % HEARERS_MAX], 'Hello', 1 + Math.floor(said / HEARERS_MAX)) === undefined;
    while (sayNext()) said++;
    // The first one makes batches for all; the others ride with them.
    const budget = SPEECH_COST_PER_SECOND_MAX - HEARERS_MAX * HEARER_COST;
    assert.equal(said, Math.floor(budget / (SAYING_COST + HEARERS_MAX)));
    assert.equal(harness.relay.speech.counters.refusedBusy, 1);
    harness.tick(TICK_MS);
    assert.equal(sayNext(), true, 'a little later');
  });

  it('is refused while the relay goes down, but its repeat is answered', () => {
    const harness = new Harness();
    const [ann] = harness.settled(1, 'w');
    harness.say(ann, 'One', 1);
    harness.relay.drain();
    assert.equal(harness.refused(ann, 'Two', 2), 'draining');
    assert.equal(harness.say(ann, 'One', 1), 0);
  });

  it('does not reach a desktop that mutes its speaker, who does not notice', () => {
    const harness = new Harness();
    const [ann, bob, carol] = harness.settled(3, 'w');
    harness.relay.mute(bob.slot, ann);
    assert.equal(harness.say(ann, 'Hello'), 2);
    assert.equal(harness.say(carol, 'Hi'), 2);
    assert.deepEqual(textsOf(harness.take(bob)), ['Hi']);
    assert.deepEqual(textsOf(harness.take(carol)), ['Hello', 'Hi']);
    harness.relay.unmute(bob.slot, ann);
    harness.say(ann, 'Again');
    assert.deepEqual(textsOf(harness.take(bob)), ['Again']);
  });

  it('of a desktop that the operator ends is not heard any more, but counted as missed', () => {
    const harness = new Harness();
    const [ann, bob] = harness.settled(2, 'w');
    harness.say(ann, 'rude');
    harness.say(bob, 'kind');
    harness.relay.silence(ann.slot);
    harness.relay.leave(ann.slot);
    const batch = harness.take(bob);
    assert.deepEqual(
      batch?.events
        .filter(({ type }) => type !== 'neighbours')
        .map(({ type, text, sayings }) => [type, text ?? sayings]),
      [
        ['missed', 1],
        ['saying', 'kind'],
      ],
    );
  });
});

describe('a round of sayings', () => {
  it('gives each hearer one batch with all that was said, and one Buffer to all in a large world', () => {
    const harness = new Harness();
    const desktops = harness.settled(300, 'w');
    const tickets = desktops.map((desktop) => harness.poll(desktop));
    for (let n = 0; n < 5; n++) harness.say(desktops[n], `${n}`);
    harness.tick(SAYINGS_STEP_MS + TICK_MS);
    const batches = tickets.map((ticket) => harness.batch(ticket));
    for (const batch of batches) assert.deepEqual(textsOf(batch), ['0', '1', '2', '3', '4']);
    assert.equal(new Set(batches.map((batch) => batch?.shared)).size, 1);
    // A step answers HEARERS_PER_STEP_MAX of them.
    for (const desktop of desktops) harness.poll(desktop);
    harness.tick(SAYINGS_STEP_MS);
    harness.say(desktops[0], 'again');
    const wakes = harness.relay.counters.wakes;
    harness.nowMs += 2 * SAYINGS_STEP_MS;
    const steps: number[] = [];
    for (let more = true; more; ) {
      more = harness.relay.advance(harness.nowMs);
      steps.push(harness.relay.counters.wakes - wakes);
    }
    const expected = steps.map((_, n) => Math.min(300, (n + 1) * HEARERS_PER_STEP_MAX));
    assert.deepEqual([steps, steps.at(-1)], [expected, 300]);
  });

  it('does not answer a poll more often than once in SAYINGS_STEP_MS', () => {
    const harness = new Harness();
    const desktops = harness.settled(40, 'w');
    const [bob] = desktops;
    let batches = 0;
    let ticket = harness.poll(bob);
    const ticks = 200;
    for (let n = 0; n < ticks; n++) {
      // Something is said in each tick.
      harness.say(desktops[n % 40], `${n}`);
      harness.tick(TICK_MS);
      if (harness.isParked(ticket)) continue;
      batches++;
      ticket = harness.poll(bob);
    }
    assert.equal(batches, (ticks * TICK_MS) / SAYINGS_STEP_MS);
  });

  it('leaves sayings waiting while their receiver has no room for them, and sprites still pass', () => {
    const harness = new Harness();
    const [ann, bob] = harness.settled(2, 'w');
    harness.hasRoomForSayings = false;
    const ticket = harness.poll(bob);
    harness.say(ann, 'Hello');
    harness.tick(1000);
    assert.ok(harness.isParked(ticket));
    assert.equal(harness.throw(ann, 1), 'accepted');
    harness.relay.endTurn();
    assert.deepEqual(
      harness.batch(ticket)?.events.map(({ type }) => type),
      ['sprite'],
    );
    harness.hasRoomForSayings = true;
    assert.deepEqual(textsOf(harness.take(bob, 1)), ['Hello']);
  });

  it('adds what waits to a batch of sprites, whose cursor counts sprites only', () => {
    const harness = new Harness();
    const [ann, bob] = harness.settled(2, 'w');
    harness.say(ann, 'Hello');
    harness.throw(ann, 1, 'right', 'Cat');
    const batch = harness.batch(harness.poll(bob)) as Batch;
    assert.deepEqual(
      batch.events.map(({ type, text, sprite }) => [type, text ?? sprite.name]),
      [
        ['sprite', 'Cat'],
        ['saying', 'Hello'],
      ],
    );
    assert.match(batch.cursor, /-1$/);
    // The batch is lost: the sprite comes again, the saying does not.
    const again = harness.batch(harness.poll(bob)) as Batch;
    assert.deepEqual(
      again.events.map(({ type, seq }) => [type, seq]),
      [['sprite', 1]],
    );
    assert.equal(harness.relay.mailboxes.count(bob.slot), 1);
  });

  it('rides with a ping, too', () => {
    const harness = new Harness();
    const [ann, bob] = harness.settled(2, 'w');
    harness.hasRoomForSayings = false;
    harness.poll(ann);
    const ticket = harness.poll(bob);
    const pings = harness.relay.counters.pings;
    harness.tick(PING_MS - 1000);
    harness.say(ann, 'Hello');
    // The ping comes before the round of its step.
    harness.tick(1000 - TICK_MS);
    assert.equal(harness.relay.counters.pings, pings);
    harness.hasRoomForSayings = true;
    harness.tick(TICK_MS);
    assert.deepEqual(
      harness.batch(ticket)?.events.map(({ type }) => type),
      ['ping', 'neighbours', 'saying'],
    );
  });

  it('never makes a batch longer than clients read, nor than the relay has room for', () => {
    // Sprites, four neighbours, notices and what was missed are the own part; the sayings are shared.
    assert.ok(ANSWER_BYTES_MAX >= POLL_BYTES_MAX);
    assert.ok(ANSWER_BYTES_MAX + MISSED_BYTES_MAX + SAYINGS_BYTES_PER_POLL_MAX + 64 <= RESPONSE_BYTES_MAX);
    const harness = new Harness();
    const desktops = harness.settled(64, 'w');
    const [ann, bob] = desktops;
    for (let n = 1; n <= MAILBOX_EVENTS_MAX / 2; n++) harness.throw(ann, n, 'right', '"'.repeat(64));
    for (let n = 0; n < SAYINGS_PER_POLL_MAX * 2; n++) {
      harness.tick(TICK_MS);
      harness.say(desktops[n % 64], '"'.repeat(280));
    }
    const batch = harness.batch(harness.poll(bob)) as Batch;
    assert.equal(batch.events.filter(({ type }) => type === 'sprite').length, 64);
    const said = textsOf(batch)?.length as number;
    assert.equal(said + harness.relay.speech.waiting(bob.slot), SAYINGS_PER_POLL_MAX * 2);
    assert.ok(said > 0 && said < SAYINGS_PER_POLL_MAX);
    assert.ok(JSON.stringify(batch).length > POLL_BYTES_MAX);
  });
});

describe('sprites beside a storm of sayings', () => {
  it('are neither refused, nor lost, nor doubled, nor delayed beyond the end of their turn', (t) => {
    const random = randomOf(t);
    const pick = (end: number) => Math.floor(random() * end);
    const harness = new Harness();
    const desktops = harness.settled(40, 'w');
    const seqs = new Map(desktops.map((desktop) => [desktop, 0]));
    const tickets = new Map(desktops.map((desktop) => [desktop, harness.poll(desktop)]));
    const thrown = new Set<string>();
    const caught = new Set<string>();
    const numbers = new Map(desktops.map((desktop) => [desktop, 0]));
    const next = (desktop: Guest) => {
      numbers.set(desktop, (numbers.get(desktop) as number) + 1);
      return numbers.get(desktop) as number;
    };
    const receive = (desktop: Guest, isLost: boolean) => {
      const batch = harness.batch(tickets.get(desktop) as number);
      if (!batch) return;
      const cursor = { epoch: 0, seq: 0 };
      readCursor(batch.cursor, cursor);
      if (!isLost) {
        for (const { type, sprite } of batch.events) {
          if (type !== 'sprite') continue;
          assert.ok(!caught.has(sprite.name), 'no sprite comes twice');
          caught.add(sprite.name);
        }
        seqs.set(desktop, cursor.seq);
      }
      tickets.set(desktop, harness.poll(desktop, seqs.get(desktop)));
    };
    for (let step = 0; step < 3000; step++) {
      const desktop = desktops[pick(desktops.length)];
      const choice = random();
      if (choice < 0.5) harness.refused(desktop, `${step}`);
      else if (choice < 0.7) {
        assert.equal(harness.throw(desktop, next(desktop), 'right', `s${step}`), 'accepted');
        thrown.add(`s${step}`);
        const to = desktops.find(({ slot }) => slot === harness.relay.torus.neighbour(desktop.slot, 1)) as Guest;
        harness.relay.endTurn();
        assert.ok(
          !harness.isParked(tickets.get(to) as number),
          'the poll of the receiver is answered in the same turn',
        );
      } else if (choice < 0.9) receive(desktop, random() < 0.1);
      else harness.tick(TICK_MS);
      for (const each of desktops) if (random() < 0.5) receive(each, false);
    }
    for (let round = 0; round < 4; round++) {
      harness.relay.endTurn();
      for (const desktop of desktops) receive(desktop, false);
    }
    assert.deepEqual(caught, thrown);
    const { accepted, acknowledged } = harness.relay.counters;
    assert.equal(accepted, acknowledged + harness.relay.waiting);
    const { heard, sent, missed, givenUp } = harness.relay.speech.sayings.counters;
    assert.ok(heard > 10_000 && sent > 0.9 * heard, `${heard} heard, ${sent} sent`);
    assert.equal(heard, sent + missed + givenUp + harness.relay.speech.sayings.waitingCount);
  });
});

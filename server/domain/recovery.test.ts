import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkedCrossing } from '../test/passages.ts';
import { pickFrom, randomOf } from '../test/random.ts';
import { makeRelay, swapWith } from '../test/relay_harness.ts';
import type { Identity } from '../wire/identity.ts';
import { ProblemError } from '../wire/problem.ts';
import type { EdgeNumber } from '../wire/rules.ts';
import { Recovery, RecoveryError, TooSmall } from './recovery.ts';
import type { Relay } from './relay.ts';
import type { DesktopRow, Facts } from './state/facts.ts';

const SLOTS = 40;
const WORLDS = ['commons', 'red', 'blue'];

function make(slots = SLOTS, random = () => 0.5): Relay {
  const room = Buffer.alloc(1 << 17);
  return makeRelay({
    ...{ slots, slabBytes: 32 << 20, epoch: 1, nowMs: 1000, random },
    mailboxEventsMax: 8,
    answers: { room: () => room, roomAt: () => 0, answer: () => {} },
    randomize: (words) => {
      for (let n = 0; n < 4; n++) words[n] = random() * 2 ** 32;
    },
  });
}

/** The bytes of an event stand somewhere in a page. */
function eventShown([slot, isSent, { edge, arrived, body, start, end }]: Parameters<Facts['event']>): unknown[] {
  return [slot, isSent, edge, arrived, body.toString('utf8', start, end)];
}

/** The state of all slots of a relay, as text, and who received the last throw of each live desktop. */
function stateOf(relay: Relay): string[] {
  const lines: string[] = [];
  const noteReceiver = ({ slot, newestCrossing, lastAcceptedBehind }: DesktopRow) =>
    lines.push(`receiver ${relay.desktops.receiverOf(slot, newestCrossing - lastAcceptedBehind)}`);
  const facts = new Proxy({} as Facts, {
    get:
      (_, fact) =>
      (...members: unknown[]) => {
        const shown = fact === 'event' ? eventShown(members as Parameters<Facts['event']>) : members;
        lines.push(`${String(fact)} ${JSON.stringify(shown)}`);
        if (fact === 'desktop') noteReceiver(members[0] as DesktopRow);
      },
  });
  for (let slot = 0; slot < relay.desktops.untouched; slot++) relay.writeState(slot, facts);
  return lines;
}

function same(actual: Relay, expected: Relay): void {
  assert.deepEqual(stateOf(actual), stateOf(expected));
  assert.equal(actual.waiting, expected.waiting);
  assert.equal(actual.desktops.count, expected.desktops.count);
  assert.equal(actual.keptBytes, expected.keptBytes);
  assert.equal(actual.slab.usedBytes, expected.slab.usedBytes);
  for (let slot = 0; slot < expected.desktops.untouched; slot++) {
    if (expected.desktops.isLive(slot))
      assert.deepEqual(actual.directory.describe(slot), expected.directory.describe(slot));
  }
}

/** Desktops that join, throw, poll and leave at random. */
class Crowd {
  readonly relay: Relay;
  readonly #random: () => number;
  readonly #desktops: Identity[] = [];
  #crossing = 0;
  #nowMs = 1000;

  constructor(random: () => number) {
    this.#random = random;
    this.relay = make(SLOTS, random);
  }

  step(): void {
    const { relay } = this;
    const pick = pickFrom(this.#random);
    const what = this.#random();
    const desktop = this.#desktops[pick(this.#desktops.length)];
    if (!desktop || what < 0.1) this.#join(WORLDS[pick(WORLDS.length)]);
    else if (relay.desktops.authenticate(desktop) !== 'live') this.#desktops.splice(this.#desktops.indexOf(desktop), 1);
    else if (what < 0.6) {
      const edge = pick(4) as EdgeNumber;
      relay.accept(desktop, checkedCrossing(++this.#crossing, edge, `"edge":"left","n":${this.#crossing}}`));
    } else if (what < 0.85) {
      const newest = relay.mailboxes.newest(desktop.slot);
      relay.poll(desktop, this.#crossing, 1, Math.max(0, newest - pick(2)));
    } else if (what < 0.93) relay.leave(desktop.slot);
    else if (what < 0.95) relay.renewInvitation(desktop.slot, new Uint32Array(4));
    else if (what < 0.96) relay.mute(desktop.slot, this.#desktops[pick(this.#desktops.length)]);
    else if (what < 0.97) relay.setShows(desktop.slot, !relay.desktops.shows(desktop.slot));
    else if (what < 0.98) swapWith(relay, desktop, this.#desktops[pick(this.#desktops.length)]);
    else if (what < 0.985) relay.setNamed(desktop.slot, !relay.desktops.isNamed(desktop.slot));
    else {
      this.#nowMs += 1000;
      relay.advance(this.#nowMs);
    }
  }

  #join(world: string): void {
    const token = new Uint32Array(4);
    try {
      const slot = this.relay.join({ name: `d${this.#crossing}`, world }, token, new Uint32Array(4));
      this.#desktops.push({ slot, generation: this.relay.desktops.generation(slot), token });
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
    }
  }
}

/** Passes each fact on to those receivers that are there when it happens. */
function tee(receivers: readonly Facts[]): Facts {
  return new Proxy({} as Facts, {
    get: (_, fact) =>
      fact === 'hasRoom'
        ? true
        : (...members: unknown[]) => {
            for (const receiver of receivers)
              (receiver[fact as keyof Facts] as (...all: unknown[]) => void)(...members);
          },
  });
}

/** Passes facts on, but not that sprites are about to move. */
function teeWith(receiver: Facts, moving: (slot: number) => void): Facts {
  const facts = tee([receiver]);
  return new Proxy(facts, { get: (_, fact) => (fact === 'moving' ? moving : facts[fact as keyof Facts]) });
}

function finish(relay: Relay, recovery: Recovery, { counters }: Relay): void {
  recovery.counters(counters.accepted, counters.acknowledged, counters.abandoned);
  recovery.finish();
  assert.equal(relay.counters.accepted, counters.accepted);
}

describe('recovery', () => {
  it('reaches the same state from all facts, at any moment', (t) => {
    const random = randomOf(t);
    const crowd = new Crowd(random);
    const receivers: Facts[] = [];
    const copies = Array.from({ length: 20 }, () => make());
    receivers.push(...copies.map((relay) => new Recovery(relay, 1000)));
    crowd.relay.setFacts(tee(receivers));
    for (const copy of copies) {
      for (let step = 0; step < 150; step++) crowd.step();
      const recovery = receivers.shift() as Recovery;
      finish(copy, recovery, crowd.relay);
      same(copy, crowd.relay);
    }
  });

  it('reaches the same state from a snapshot, if each slot is written before its sprites move', (t) => {
    const random = randomOf(t);
    const crowd = new Crowd(random);
    const receivers: Facts[] = [];
    crowd.relay.setFacts(tee(receivers));
    for (let round = 0; round < 15; round++) {
      for (let step = 0; step < 100; step++) crowd.step();
      const copy = make();
      const recovery = new Recovery(copy, 1000);
      let next = 0;
      const early = new Set<number>();
      const moving = (slot: number) => {
        if (slot < next || early.has(slot)) return;
        early.add(slot);
        crowd.relay.writeState(slot, recovery);
      };
      receivers[0] = teeWith(recovery, moving);
      while (next < crowd.relay.desktops.untouched) {
        for (let step = 0; step < 3; step++) crowd.step();
        if (!early.has(next)) crowd.relay.writeState(next, recovery);
        next++;
      }
      for (let step = 0; step < 50; step++) crowd.step();
      receivers.length = 0;
      finish(copy, recovery, crowd.relay);
      same(copy, crowd.relay);
    }
  });

  it('refuses facts that contradict each other', () => {
    const relay = make();
    const token = new Uint32Array(4);
    relay.join({ name: '' }, token, new Uint32Array(4));
    const facts = () => {
      const recovery = new Recovery(make(), 1000);
      relay.writeState(0, recovery);
      return recovery;
    };
    assert.throws(() => facts().acknowledged(0, 1), RecoveryError);
    assert.throws(() => facts().sent(0, 1), RecoveryError);
    assert.throws(() => facts().moved(0, 1, 0, 1), RecoveryError);
    const gap = facts();
    gap.place(0, 1);
    assert.throws(() => gap.finish(), /place 1 of a world of 1 desktops is not that of slot 0/);
    const untold = facts();
    untold.free(2, 1);
    assert.throws(() => untold.finish(), /slot 1 was used, but nothing tells its state/);
    const uncounted = facts();
    uncounted.counters(1, 0, 0);
    assert.throws(() => uncounted.finish(), /1 sprites were accepted/);
    facts().finish();
  });

  it('says which option makes room', () => {
    const recovery = new Recovery(make(2), 1000);
    assert.throws(
      () => recovery.free(2, 1),
      (error) => error instanceof TooSmall && /--max-desktops 3/.test(error.message),
    );
  });
});

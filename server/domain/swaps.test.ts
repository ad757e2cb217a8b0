import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pickFrom, randomOf } from '../test/random.ts';
import { type Guest, RelayHarness, swapWith } from '../test/relay_harness.ts';
import type { ProblemCode, ProblemError } from '../wire/problem.ts';
import { AWAY_MS, COMPANY_MAX, EDGES, type EdgeNumber, opposite, SWAP_LEASE_MS } from '../wire/rules.ts';
import { SWAPS_OPEN_MAX } from './slots/swap_requests.ts';
import { NEIGHBOURS_STEP_MS, SWAPS_BURST_MAX, SWAPS_PER_MINUTE_MAX } from './state/limits.ts';
import { wayBetween } from './state/torus.ts';

interface SwapEvent {
  with?: { name: string };
  from?: { desktop: string; name: string };
  leaseMs?: number;
}

/** Desktops in one private world, and what they do about their places. */
class Party extends RelayHarness {
  guests: Guest[] = [];

  constructor(size: number, world = 'party', slots = 200) {
    super({ slots });
    for (let n = 0; n < size; n++) this.guests.push(this.join(`guest ${n}`, { world }));
  }

  nameOf({ slot }: Guest): string {
    return this.relay.desktops.name(slot);
  }

  askFor(asker: Guest, asked: Guest, name = this.nameOf(asked)): 'asked' | 'done' {
    const { torus, swaps } = this.relay;
    const { count, width } = torus.worldOf(asker.slot);
    const way = wayBetween(torus.placeOf(asker.slot), torus.placeOf(asked.slot), count, width);
    return swaps.ask(asker.slot, { name, ...way }).swap;
  }

  reply(asked: Guest, from: Guest, accept = true): void {
    this.relay.swaps.answer(asked.slot, { from, accept });
  }

  places(): number[] {
    return this.guests.map(({ slot }) => this.relay.torus.placeOf(slot));
  }

  /** The swap event that the parked poll of a ticket is answered with; null while it is parked. */
  told(ticket: number): SwapEvent | null {
    this.relay.endTurn();
    if (this.isParked(ticket)) return null;
    const events = this.answered(ticket).body.events.filter(({ type }: { type: string }) => type === 'swap');
    assert.equal(events.length, 1);
    const [{ type: _, ...event }] = events;
    return event;
  }
}

const isRefused = (code: ProblemCode) => (error: unknown) => (error as ProblemError).document.code === code;

describe('two desktops', () => {
  it('change places when one asks and the other agrees, and all are told within a step', () => {
    const party = new Party(9);
    const [ann, bob] = [party.guests[1], party.guests[6]];
    const tickets = party.settle(...party.guests);
    assert.equal(party.askFor(ann, bob), 'asked');
    const from = { desktop: party.id(ann), name: 'guest 1' };
    assert.deepEqual(party.told(tickets[6]), { from, leaseMs: SWAP_LEASE_MS });
    assert.deepEqual(party.places(), [0, 1, 2, 3, 4, 5, 6, 7, 8], 'so far');
    party.reply(bob, ann);
    assert.deepEqual(party.places(), [0, 6, 2, 3, 4, 5, 1, 7, 8]);
    assert.deepEqual(party.told(tickets[1]), { with: { desktop: party.id(bob), name: 'guest 6' } });
    party.pass(NEIGHBOURS_STEP_MS);
    for (const [n, ticket] of tickets.entries()) {
      if (n === 1 || n === 6) continue;
      const types = party.answered(ticket).body.events.map(({ type }: { type: string }) => type);
      assert.deepEqual(types, ['neighbours', 'company'], `guest ${n}`);
    }
  });

  it('stay when one declines, and who asks can’t tell that from silence', () => {
    const ends = (end: (party: Party, ann: Guest, bob: Guest) => void) => {
      const party = new Party(3);
      const [ann, bob] = party.guests;
      const [ticket] = party.settle(ann, bob);
      party.askFor(ann, bob);
      end(party, ann, bob);
      assert.equal(party.told(ticket), null);
      assert.deepEqual(party.places(), [0, 1, 2]);
      return party.askFor(ann, bob);
    };
    assert.equal(
      ends((party, ann, bob) => party.reply(bob, ann, false)),
      'asked',
    );
    assert.equal(
      ends(() => {}),
      'asked',
    );
    assert.equal(
      ends((party, ann, bob) => party.relay.mute(bob.slot, ann)),
      'asked',
    );
  });

  it('can’t change places after the question has ended, at its last moment they can', () => {
    for (const late of [0, 1]) {
      const party = new Party(3);
      const [ann, bob] = party.guests;
      const [, first] = party.settle(ann, bob);
      party.askFor(ann, bob);
      assert.ok(party.told(first)?.from);
      const [, ticket] = party.settle(ann, bob);
      party.pass(SWAP_LEASE_MS - NEIGHBOURS_STEP_MS - 1 + late);
      if (late === 0) {
        party.reply(bob, ann);
        assert.deepEqual(party.places(), [1, 0, 2]);
        continue;
      }
      assert.deepEqual(party.told(ticket), {}, 'nobody asks any more');
      assert.throws(() => party.reply(bob, ann), isRefused('swap-gone'));
      party.reply(bob, ann, false);
      assert.deepEqual(party.places(), [0, 1, 2]);
    }
  });

  it('are not asked by one who mutes', () => {
    const party = new Party(2);
    const [ann, bob] = party.guests;
    const [, ticket] = party.settle(ann, bob);
    party.relay.mute(bob.slot, ann);
    assert.equal(party.askFor(ann, bob), 'asked');
    assert.equal(party.told(ticket), null);
    assert.throws(() => party.reply(bob, ann), isRefused('swap-gone'));
  });
});

describe('a free place', () => {
  it('is that of a desktop that has been away for AWAY_MS: another one gets it at once, and the relay tells the one away', () => {
    const party = new Party(3);
    const [ann, bob, carol] = party.guests;
    const [, bobs] = party.settle(ann, bob, carol);
    party.relay.down.closed(bobs, bob.slot);
    party.pass(AWAY_MS - 1);
    assert.equal(party.askFor(ann, bob), 'asked');
    party.pass(1);
    assert.equal(party.askFor(ann, bob), 'done');
    assert.deepEqual(party.places(), [1, 0, 2]);
    assert.deepEqual(party.told(party.poll(bob)), { with: { desktop: party.id(ann), name: 'guest 0' } });
  });

  it('is that of a resident', () => {
    const party = new Party(3);
    const resident = party.join('Moss (resident)', { world: 'party' });
    assert.equal(party.askFor(party.guests[0], resident), 'done');
    assert.deepEqual(party.places(), [3, 1, 2]);
  });
});

describe('a question', () => {
  it('is one for each who asks: a newer one replaces it', () => {
    const party = new Party(4);
    const [ann, bob, carol] = party.guests;
    const [, bobs, carols] = party.settle(ann, bob, carol);
    party.askFor(ann, bob);
    assert.ok(party.told(bobs)?.from);
    const [, again] = party.settle(ann, bob);
    party.askFor(ann, carol);
    assert.deepEqual(party.told(again), {});
    assert.ok(party.told(carols)?.from);
    assert.throws(() => party.reply(bob, ann), isRefused('swap-gone'));
    party.reply(carol, ann);
    assert.deepEqual(party.places(), [2, 1, 0, 3]);
  });

  it('waits until an earlier one is answered', () => {
    const party = new Party(4);
    const [ann, bob, carol] = party.guests;
    const [, , first] = party.settle(ann, bob, carol);
    party.askFor(ann, carol);
    party.askFor(bob, carol);
    assert.equal(party.told(first)?.from?.name, 'guest 0');
    const [, , second] = party.settle(ann, bob, carol);
    party.reply(carol, ann, false);
    assert.equal(party.told(second)?.from?.name, 'guest 1');
  });

  it('ends when either desktop leaves; the next desktop in that slot has no part in it', () => {
    const party = new Party(4);
    const [ann, bob, carol] = party.guests;
    const [, bobs] = party.settle(ann, bob);
    party.askFor(ann, bob);
    assert.ok(party.told(bobs)?.from);
    const [, again] = party.settle(ann, bob);
    party.relay.leave(ann.slot);
    assert.deepEqual(party.told(again), {});
    const next = party.join('next', { world: 'party' });
    assert.equal(next.slot, ann.slot);
    party.askFor(next, bob);
    assert.throws(() => party.reply(bob, ann), isRefused('swap-gone'), 'that was another one');
    party.askFor(carol, bob);
    party.relay.leave(bob.slot);
    party.guests[1] = party.join('new', { world: 'party' });
    assert.throws(() => party.reply(party.guests[1], carol), isRefused('swap-gone'));
  });

  it('is refused when nobody of that name sits there, to oneself, in a large world and in commons', () => {
    const party = new Party(5);
    const [ann, bob] = party.guests;
    assert.throws(() => party.askFor(ann, bob, 'guest 2'), isRefused('swap-gone'));
    assert.throws(() => party.askFor(ann, ann), isRefused('swap-gone'));
    for (const [size, world, isRight] of [
      [COMPANY_MAX, 'party', true],
      [COMPANY_MAX + 1, 'party', false],
      [5, 'commons', false],
    ] as const) {
      const other = new Party(size, world);
      const ask = () => other.askFor(other.guests[0], other.guests[1]);
      if (isRight) assert.equal(ask(), 'asked');
      else assert.throws(ask, isRefused('swap-gone'));
    }
  });

  it(`is refused after ${SWAPS_BURST_MAX} at once, until time for one has passed; one of another desktop is not`, () => {
    const party = new Party(4);
    const [ann, bob, carol] = party.guests;
    for (let n = 0; n < SWAPS_BURST_MAX; n++) party.askFor(ann, bob);
    assert.throws(() => party.askFor(ann, bob), isRefused('too-fast'));
    party.askFor(carol, bob);
    party.settle(ann, bob);
    party.pass(60_000 / SWAPS_PER_MINUTE_MAX - NEIGHBOURS_STEP_MS - 1);
    assert.throws(() => party.askFor(ann, bob), isRefused('too-fast'));
    party.pass(1);
    party.askFor(ann, bob);
  });

  it(`is refused while ${SWAPS_OPEN_MAX} are open, and while the relay stops`, () => {
    const party = new Party(0, 'party', SWAPS_OPEN_MAX + 4);
    for (let n = 0; n <= SWAPS_OPEN_MAX / 2; n++) {
      party.guests.push(
        party.join(`left ${n}`, { world: `pair ${n}` }),
        party.join(`right ${n}`, { world: `pair ${n}` }),
      );
    }
    for (let n = 0; n < SWAPS_OPEN_MAX; n++) party.askFor(party.guests[n], party.guests[n ^ 1]);
    const [ann, bob] = party.guests.slice(-2);
    assert.throws(() => party.askFor(ann, bob), isRefused('relay-busy'));
    party.reply(party.guests[1], party.guests[0], false);
    assert.equal(party.askFor(ann, bob), 'asked');
    party.relay.drain();
    assert.throws(() => party.askFor(bob, ann), isRefused('draining'));
  });
});

describe('the torus', () => {
  it('is a bijection with the same ways back after any joins, leaves and swaps (seeded)', (t) => {
    const random = randomOf(t);
    const pick = pickFrom(random);
    let swaps = 0;
    for (let round = 0; round < 60; round++) {
      const party = new Party(1 + pick(COMPANY_MAX - 1));
      const { relay } = party;
      for (let step = 0; step < 40; step++) {
        const what = random();
        if (what < 0.15 && party.guests.length < COMPANY_MAX)
          party.guests.push(
            party.join(`more ${step}`, { world: 'party', near: party.guests[pick(party.guests.length)] }),
          );
        else if (what < 0.3 && party.guests.length > 1) {
          relay.leave(party.guests.splice(pick(party.guests.length), 1)[0].slot);
        } else if (swapWith(relay, party.guests[pick(party.guests.length)], party.guests[pick(party.guests.length)]))
          swaps++;
        assert.deepEqual(
          party.places().sort((a, b) => a - b),
          party.guests.map((_, place) => place),
        );
        for (const { slot } of party.guests) {
          for (let edge = 0; edge < EDGES.length; edge++) {
            const neighbour = relay.torus.neighbour(slot, edge as EdgeNumber);
            assert.equal(relay.torus.neighbour(neighbour, opposite(edge as EdgeNumber)), slot);
            assert.equal(neighbour === slot, party.guests.length === 1);
          }
        }
      }
    }
    assert.ok(swaps > 300, `${swaps}`);
  });
});

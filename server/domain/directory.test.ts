import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RelayHarness } from '../test/relay_harness.ts';
import { AWAY_MS, COMPANY_MAX, LEASE_MS } from '../wire/rules.ts';
import { TICK_MS } from './slots/deadlines.ts';
import { NEIGHBOURS_STEP_MS } from './state/limits.ts';

describe('company', () => {
  it('is everybody else in a private world of COMPANY_MAX, and the neighbours in one of one more', () => {
    for (const size of [COMPANY_MAX - 1, COMPANY_MAX, COMPANY_MAX + 1]) {
      const harness = new RelayHarness();
      const [{ slot }] = harness.joinMany(size, 'party');
      const { desktops, company } = harness.relay.directory.company(slot);
      assert.equal(desktops, size);
      assert.equal(company.length, size <= COMPANY_MAX ? size - 1 : 4, `${size}`);
      const places = new Set(company.map(({ column, row }) => `${column} ${row}`));
      assert.equal(places.size, company.length);
      for (const place of ['-1 0', '1 0', '0 -1', '0 1']) assert.ok(places.has(place), `${size}: ${place}`);
    }
  });

  it('is nobody for a desktop that is alone, and one entry for the only other one', () => {
    for (const world of ['commons', 'party']) {
      const harness = new RelayHarness();
      const [{ slot }] = harness.joinMany(1, world);
      assert.deepEqual(harness.relay.directory.company(slot), { desktops: 1, residents: 0, company: [] });
      harness.joinMany(1, world);
      const { desktops, company } = harness.relay.directory.company(slot);
      assert.deepEqual([desktops, company.length], [2, 1]);
    }
  });

  it('is the neighbours in commons, however small it is', () => {
    const harness = new RelayHarness();
    const [{ slot }] = harness.joinMany(9);
    const { desktops, company } = harness.relay.directory.company(slot);
    assert.deepEqual([desktops, company.length], [9, 4]);
  });

  it('counts residents apart, whether all of them are listed or not', () => {
    for (const [world, size] of [
      ['commons', 9],
      ['party', 2],
    ] as const) {
      const harness = new RelayHarness();
      const [{ slot }] = harness.joinMany(size, world);
      harness.join('Moss (resident)', { world });
      const { desktops, residents } = harness.relay.directory.company(slot);
      assert.deepEqual([desktops, residents], [size + 1, 1], world);
    }
  });

  it('has names, and neither ids nor tokens', () => {
    const harness = new RelayHarness();
    const [{ slot }] = harness.joinMany(3, 'party');
    for (const one of harness.relay.directory.company(slot).company) {
      assert.deepEqual(Object.keys(one), ['name', 'column', 'row']);
    }
  });

  it('says for how long one without a poll has been away, until it polls again', () => {
    const harness = new RelayHarness();
    const [ann, bob] = harness.joinMany(2, 'party');
    const [, ticket] = harness.settle(ann, bob);
    const away = () => harness.relay.directory.company(ann.slot).company.map(({ awaySeconds }) => awaySeconds);
    assert.deepEqual(away(), [undefined]);
    harness.relay.down.closed(ticket, bob.slot);
    harness.pass(AWAY_MS - 1);
    assert.deepEqual(away(), [undefined]);
    harness.pass(1);
    assert.deepEqual(away(), [AWAY_MS / 1000]);
    harness.settle(bob);
    assert.deepEqual(away(), [undefined]);
  });
});

describe('company, the event', () => {
  /** Whether each of these desktops has been told of its company by now. */
  function told(harness: RelayHarness, tickets: number[]): boolean[] {
    harness.pass(NEIGHBOURS_STEP_MS);
    return tickets.map((ticket) => {
      if (harness.isParked(ticket)) return false;
      const types = harness.answered(ticket).body.events.map(({ type }: { type: string }) => type);
      assert.equal(types.filter((type: string) => type === 'company').length, 1);
      return true;
    });
  }

  it('comes to everybody in a private world of up to COMPANY_MAX when one joins or leaves, once a step', () => {
    const harness = new RelayHarness();
    const guests = harness.joinMany(COMPANY_MAX - 2, 'party');
    let tickets = harness.settle(...guests);
    const late = harness.joinMany(2, 'party');
    assert.ok(told(harness, tickets).every((is) => is));
    tickets = harness.settle(...guests);
    harness.relay.leave(late[0].slot);
    assert.ok(told(harness, tickets).every((is) => is));
  });

  it('comes to nobody in a larger world, and to nobody in commons', () => {
    for (const [size, world] of [
      [COMPANY_MAX, 'party'],
      [2, 'commons'],
    ] as const) {
      const harness = new RelayHarness();
      harness.settle(...harness.joinMany(size, world));
      harness.joinMany(1, world);
      harness.pass(NEIGHBOURS_STEP_MS);
      const events = harness.answers.flatMap(({ body }) => body.events);
      assert.ok(events.every(({ type }) => type === 'neighbours'));
    }
  });

  it('says that one has gone away and has come back; the lease is as long as ever', () => {
    const harness = new RelayHarness();
    const [ann, bob] = harness.joinMany(2, 'party');
    const [ticket, bobs] = harness.settle(ann, bob);
    harness.relay.down.closed(bobs, bob.slot);
    harness.pass(AWAY_MS - 1 - NEIGHBOURS_STEP_MS);
    assert.deepEqual(told(harness, [ticket]), [false]);
    harness.pass(1);
    assert.deepEqual(told(harness, [ticket]), [true]);
    const [next] = harness.settle(ann);
    harness.poll(bob);
    assert.deepEqual(told(harness, [next]), [true]);
    const [last, bobsLast] = harness.settle(ann, bob);
    harness.relay.down.closed(bobsLast, bob.slot);
    harness.tick(LEASE_MS - TICK_MS);
    assert.equal(harness.relay.counters.leasesEnded, 0);
    harness.tick(2 * TICK_MS);
    assert.equal(harness.relay.counters.leasesEnded, 1);
    assert.deepEqual(told(harness, [last]), [true]);
  });
});

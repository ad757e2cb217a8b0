import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RelayHarness } from '../test/relay_harness.ts';
import { AWAY_MS, COMPANY_MAX } from '../wire/rules.ts';

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
      assert.deepEqual(harness.relay.directory.company(slot), { desktops: 1, company: [] });
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
    harness.pass(AWAY_MS);
    assert.deepEqual(away(), [undefined]);
    harness.pass(1000);
    assert.deepEqual(away(), [AWAY_MS / 1000 + 1]);
    harness.settle(bob);
    assert.deepEqual(away(), [undefined]);
  });
});

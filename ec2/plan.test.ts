import assert from 'node:assert/strict';
import { it, describe as suite } from 'node:test';
import {
  addressesFor,
  DESKTOPS_PER_ADDRESS_MAX,
  DESKTOPS_PER_INSTANCE_MAX,
  decide,
  describe,
  INSTANCES_MAX,
  MINUTES_MAX,
  type Observed,
  planFleet,
  SPOT_HEADROOM,
  spent,
  usd,
  type Wanted,
} from './plan.ts';
import { USER_DATA_BYTES_MAX } from './user_data.ts';

const NOW = Date.UTC(2026, 10, 21);

const WANTED: Wanted = {
  ...{ fleet: 'swarm-261121-0000-abcd', role: 'swarm', owner: 'ann', region: 'eu-west-1', bucket: 'sprites-ann' },
  ...{ buy: 'on-demand', types: ['c6i.large'], instances: 20, atLeast: 20, minutes: 60, maxCostUsd: 100 },
  load: { desktops: 5_000, rate: 100, seconds: 30, relay: 'http://relay.example:8080/' },
};

const OBSERVED: Observed = {
  nowMs: NOW,
  types: { read: [{ name: 'c6i.large', architectures: ['x86_64'], vcpus: 2, memoryMiB: 4096, addressesMax: 10 }] },
  image: { read: { id: 'ami-1', architecture: 'x86_64', rootDevice: '/dev/xvda', rootGib: 8 } },
  prices: {
    instance: { 'c6i.large': { read: 0.1 } },
    address: { read: 0.005 },
    volume: { read: 0.073 },
    transfer: { read: 0.09 },
  },
  quotaVcpus: { read: 64 },
  runningVcpus: { read: 24 },
  credentialsEndMs: { read: undefined },
  bundle: 'x86_64',
  userDataBytes: 8_000,
};

const planned = (wanted: Partial<Wanted> = {}, observed: Partial<Observed> = {}) =>
  planFleet({ ...WANTED, ...wanted }, { ...OBSERVED, ...observed });

suite('plan', () => {
  it('allows the start when there is no refusal and no doubt', () => {
    const plan = planned();
    assert.deepEqual([plan.refusals, plan.doubts], [[], []]);
    assert.equal(decide(plan, false), 'go');
  });

  it('adds up hours, addresses, volumes and traffic', () => {
    const { cost } = planned();
    const gigabytes = (20 * (5_000 * 2_000 + 100 * 30 * 1_000)) / 1e9;
    const wanted = 20 * 0.1 + 20 * 0.005 + (20 * 8 * 0.073) / 730 + gigabytes * 0.09;
    assert.ok(Math.abs(cost.usdAtMost - wanted) < 1e-9, `${cost.usdAtMost} ${wanted}`);
    assert.equal(planned({ minutes: 30 }).cost.lines[0].usd, 1);
  });

  it('counts a spot instance at the most it may pay, and several types at the most expensive one', () => {
    const instance = { 'c6i.large': { read: 0.02 }, 'm6i.large': { read: 0.03 } };
    const types = {
      read: ['c6i.large', 'm6i.large'].map((name) => ({
        name,
        architectures: ['x86_64'],
        vcpus: 2,
        memoryMiB: 4096,
        addressesMax: 10,
      })),
    };
    const plan = planned(
      { buy: 'fleet', types: ['c6i.large', 'm6i.large'] },
      { prices: { ...OBSERVED.prices, instance }, types },
    );
    assert.ok(Math.abs((plan.cost.lines[0].usd as number) - 20 * 0.03 * SPOT_HEADROOM) < 1e-9);
    assert.deepEqual(plan.refusals, []);
  });

  it('refuses a cost above --max-cost, but not one equal to it', () => {
    const { usdAtMost } = planned().cost;
    assert.deepEqual(planned({ maxCostUsd: usdAtMost }).refusals, []);
    assert.match(planned({ maxCostUsd: usdAtMost - 0.0001 }).refusals[0], /more than --max-cost/);
  });

  it('refuses more vCPUs than the quota has free, and says how many instances fit', () => {
    assert.deepEqual(planned({ instances: 20 }).refusals, []); // 40 of 64 − 24
    const [refusal] = planned({ instances: 21 }).refusals;
    assert.match(refusal, /needs 42 vCPUs, and of the account's 64 .* 40 are free, enough for 20 instances/);
    assert.match(planned({}, { runningVcpus: { read: 64 } }).refusals[0], /0 are free, enough for 0/);
  });

  it('needs --yes when a price or a quota is not known, and names each cause once', () => {
    const unread = { unread: 'pricing: forbidden' };
    const prices = { instance: { 'c6i.large': unread }, address: unread, volume: unread, transfer: unread };
    const plan = planned({}, { prices, quotaVcpus: { unread: 'quota: throttled' } });
    assert.deepEqual(plan.doubts, [
      'price of c6i.large, price of a public IPv4 address, price of volumes, price of traffic: pricing: forbidden',
      'vCPU quota: quota: throttled',
    ]);
    assert.equal(decide(plan, false), 'needs-yes');
    assert.equal(decide(plan, true), 'go');
    assert.match(describe(plan), / \? {2}20 × c6i\.large/);
    assert.match(describe(plan), /at most \+ what is not known/);
  });

  it('refuses even with --yes', () => {
    assert.equal(decide(planned({ maxCostUsd: 0 }), true), 'refused');
  });

  it('refuses a type that does not exist, has another architecture, or is too small', () => {
    const arm = {
      read: [{ name: 'c6i.large', architectures: ['arm64'], vcpus: 2, memoryMiB: 4096, addressesMax: 10 }],
    };
    assert.match(planned({}, { types: { read: [] } }).refusals[0], /no instance type c6i.large in eu-west-1/);
    assert.match(planned({}, { types: arm }).refusals[0], /is arm64, and this machine builds for x86_64/);
    const image = { read: { id: 'ami-2', architecture: 'arm64', rootDevice: '/dev/xvda', rootGib: 8 } };
    assert.match(planned({}, { image }).refusals[0], /image ami-2 is arm64/);
    const small = {
      read: [{ name: 'c6i.large', architectures: ['x86_64'], vcpus: 2, memoryMiB: 64, addressesMax: 10 }],
    };
    assert.match(planned({}, { types: small }).refusals[0], /too much for the 64 MiB/);
  });

  it('refuses credentials that expire before the fleet ends', () => {
    assert.deepEqual(planned({}, { credentialsEndMs: { read: NOW + 3_600_000 } }).refusals, []);
    assert.match(planned({}, { credentialsEndMs: { read: NOW + 3_599_999 } }).refusals[0], /expire in 59 minutes/);
  });

  it('accepts each limit itself and refuses one more', () => {
    const rich = { maxCostUsd: 1e6 };
    const room = {
      quotaVcpus: { read: 1e6 },
      types: { read: [{ name: 'c6i.large', architectures: ['x86_64'], vcpus: 2, memoryMiB: 1e6, addressesMax: 50 }] },
    };
    const of = (wanted: Partial<Wanted>, observed: Partial<Observed> = {}) =>
      planned({ ...rich, ...wanted }, { ...room, ...observed }).refusals;
    for (const [at, above] of [
      [{ instances: INSTANCES_MAX }, { instances: INSTANCES_MAX + 1 }],
      [{ minutes: MINUTES_MAX }, { minutes: MINUTES_MAX + 1 }],
      [
        { load: { desktops: DESKTOPS_PER_INSTANCE_MAX, rate: 1, seconds: 1, relay: '' } },
        { load: { desktops: DESKTOPS_PER_INSTANCE_MAX + 1, rate: 1, seconds: 1, relay: '' } },
      ],
    ] as const) {
      assert.deepEqual(of(at), []);
      assert.equal(of(above).length, 1);
    }
    assert.deepEqual(of({}, { userDataBytes: USER_DATA_BYTES_MAX }), []);
    assert.match(of({}, { userDataBytes: USER_DATA_BYTES_MAX + 1 })[0], /16385 bytes, and EC2 accepts 16384/);
    assert.match(of({ role: 'relay', instances: 2 })[0], /A relay is one instance/);
    assert.match(of({ role: 'relay', relays: 3, instances: 3 })[0], /3 relays and NATS are 4 instances/);
    assert.deepEqual(of({ role: 'relay', relays: 3, instances: 4 }), []);
    assert.match(of({ role: 'relay', relays: 3, instances: 4, buy: 'fleet' })[0], /use --buy on-demand or spot/);
    assert.match(of({ types: ['c6i.large', 'c6i.large'] })[0], /Several types are for --buy fleet/);
  });

  it('gives instances as many private addresses as their desktops need ports', () => {
    const desktops = [0, 1, DESKTOPS_PER_ADDRESS_MAX, DESKTOPS_PER_ADDRESS_MAX + 1, DESKTOPS_PER_INSTANCE_MAX];
    assert.deepEqual(desktops.map(addressesFor), [1, 1, 1, 2, 10]);
    const of = (amount: number, addressesMax: number) => {
      const types = {
        read: [{ name: 'c6i.large', architectures: ['x86_64'], vcpus: 2, memoryMiB: 4096, addressesMax }],
      };
      return planned({ load: { desktops: amount, rate: 1, seconds: 1, relay: '' } }, { types }).refusals;
    };
    assert.deepEqual(of(DESKTOPS_PER_ADDRESS_MAX, 1), []);
    assert.deepEqual(of(2 * DESKTOPS_PER_ADDRESS_MAX, 2), []);
    assert.match(
      of(DESKTOPS_PER_ADDRESS_MAX + 1, 1)[0],
      /60001 desktops need 2 private addresses, and a c6i\.large has at most 1/,
    );
    assert.match(of(2 * DESKTOPS_PER_ADDRESS_MAX + 1, 2)[0], /need 3 private addresses/);
  });

  it('makes ten million desktops of a hundred instances, for a few dollars', () => {
    const load = { desktops: 100_000, rate: 200, seconds: 60, relay: 'http://10.0.0.5:8080/' };
    const plan = planned({ instances: 100, atLeast: 100, load }, { quotaVcpus: { read: 224 } });
    assert.deepEqual(plan.refusals, []);
    const text = describe(plan);
    assert.match(text, /10,000,000 desktops, 20,000 sprites\/s for 60 s/);
    assert.match(text, /addresses +2 private ones each, so the relay must be in the same network \(VPC\)/);
    const gigabytes = (100 * (100_000 * 2_000 + 200 * 60 * 1_000)) / 1e9;
    const hour = 100 * (0.1 + 0.005 + (8 * 0.073) / 730);
    assert.ok(Math.abs(plan.cost.usdAtMost - hour - gigabytes * 0.09) < 1e-9, `${plan.cost.usdAtMost}`);
    assert.match(
      planned({ instances: 100, load }, { quotaVcpus: { read: 223 } }).refusals[0],
      /enough for 99 instances/,
    );
  });

  it('is described in a text for people', () => {
    const text = describe(planned());
    assert.match(text, /20 × c6i\.large, on demand, 40 vCPUs/);
    assert.match(text, /100,000 desktops, 2,000 sprites\/s for 30 s, at http:\/\/relay\.example:8080\//);
    assert.match(text, /each instance after 60 minutes at the latest, by itself/);
    assert.match(text, /\$2\.14 {2}at most \(--max-cost 100\)/);
  });
});

suite('cost', () => {
  it('counts the seconds of each instance, but at least a minute', () => {
    const lived = (seconds: number) => [{ type: 'c6i.large', fromMs: 0, untilMs: seconds * 1000, rootGib: 0 }];
    const prices = { ...OBSERVED.prices, address: { read: 0 } };
    assert.ok(Math.abs(spent(lived(3600), prices).usd - 0.1) < 1e-12);
    assert.equal(spent(lived(1), prices).usd, spent(lived(60), prices).usd);
    assert.ok(spent(lived(61), prices).usd > spent(lived(60), prices).usd);
    assert.deepEqual(spent([], prices), { usd: 0, hours: 0, unknown: [] });
  });

  it('names everything whose price is not known', () => {
    const prices = { ...OBSERVED.prices, volume: { unread: 'x' } };
    const { unknown } = spent([{ type: 'c6i.xlarge', fromMs: 0, untilMs: 1, rootGib: 8 }], prices);
    assert.deepEqual(unknown.sort(), ['c6i.xlarge', 'volumes']);
  });

  it('is written in cents, and is never shown as 0 when it is more than 0', () => {
    assert.deepEqual([0, 0.00001, 0.0123, 0.1, 12.345].map(usd), [
      '$0.0000',
      '< $0.0001',
      '$0.0123',
      '$0.10',
      '$12.35',
    ]);
  });
});

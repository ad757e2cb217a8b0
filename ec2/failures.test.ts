/** What AWS refuses, under the real SDK clients: a clear message each time, and nothing left running. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { connect } from './aws.ts';
import { boot, observe, type Places, sendOff, takeDown, type World } from './fleet.ts';
import type { Load } from './job.ts';
import { decide, type Plan, planFleet, type Wanted } from './plan.ts';
import { installMoto, type Moto, NOBODY, startMoto } from './test/moto.ts';
import { type Answers, ec2Error, json, product, type Stub, stub } from './test/stub.ts';

const why = installMoto();

const LOAD: Load = {
  ...{
    relay: new URL('http://relay.example:8080/'),
    desktops: 10,
    rate: 1,
    seconds: 1,
    warmUpSeconds: 0,
    connectRate: 10,
  },
  more: [],
};
const PLACES: Places = { readySeconds: 60 };
const BUNDLE = { file: import.meta.filename, sha256: 'ab'.repeat(32), sizeBytes: 1 };

/** Prices and a quota, as AWS tells them and moto does not. */
const known: Answers = ({ name, body }) => {
  if (name === 'servicequotas GetServiceQuota') return json({ Quota: { QuotaCode: 'L-1', Value: 64 } });
  if (name !== 'pricing GetProducts') return undefined;
  if (body.includes('AmazonVPC')) return json({ PriceList: [product('USE1-PublicIPv4:InUseAddress', '0.005')] });
  if (body.includes('gp3')) return json({ PriceList: [product('EBS:VolumeUsage.gp3', '0.08')] });
  if (body.includes('AWSDataTransfer')) return json({ PriceList: [product('USE1-DataTransfer-Out-Bytes', '0.09')] });
  return json({ PriceList: [product('BoxUsage:c6i.large', '0.085'), product('UnusedBox:c6i.large', '9')] });
};

describe('a fleet that AWS refuses', { skip: why ?? false, timeout: 120_000 }, () => {
  let moto: Moto;
  let made = 0;

  before(async () => {
    Object.assign(process.env, NOBODY);
    moto = await startMoto();
  });
  after(async () => moto?.stop());

  /** A fleet of `wanted` in an account that answers so; its own region, so that tests do not see each other's. */
  function account(answers: Answers, wanted: Partial<Wanted> = {}) {
    const under: Stub = stub((call, before) => answers(call, before) ?? known(call, before));
    const region = [
      'us-east-1',
      'us-east-2',
      'us-west-1',
      'us-west-2',
      'eu-west-1',
      'eu-west-2',
      'eu-west-3',
      'eu-central-1',
      'eu-north-1',
      'ap-south-1',
      'ap-northeast-1',
      'ap-southeast-1',
      'ap-southeast-2',
      'sa-east-1',
      'ca-central-1',
      'ap-northeast-2',
    ][made++];
    const said: string[] = [];
    const controller = new AbortController();
    let nowMs = Date.now();
    const world: World = {
      aws: connect({ region, endpoint: moto.url, requestHandler: under.handler }),
      say: (line) => said.push(line),
      nowMs: () => nowMs,
      sleep: async (ms) => {
        nowMs += ms;
      },
      signal: controller.signal,
    };
    const fleet: Wanted = {
      ...{
        fleet: `swarm-261121-0000-000${made.toString(16)}`,
        role: 'swarm',
        owner: 'ann',
        region,
        bucket: `sprites-failures-${made}`,
      },
      ...{ buy: 'on-demand', types: ['c6i.large'], instances: 4, atLeast: 4, minutes: 60, maxCostUsd: 5, ...wanted },
    };
    return {
      under,
      said,
      world,
      fleet,
      controller,
      plan: async () => planFleet(fleet, await observe(world, fleet, PLACES)),
    };
  }

  const start = (world: World, plan: Plan) => boot(world, plan, BUNDLE, PLACES, LOAD);

  async function nothingLeft({ aws }: World, fleet: string): Promise<void> {
    const instances = await aws.instances(fleet);
    assert.deepEqual(
      instances.filter(({ state }) => state !== 'terminated'),
      [],
    );
    assert.deepEqual(await aws.leftovers(fleet), []);
  }

  /** Boots, and expects this message. */
  async function refused(answers: Answers, message: RegExp, wanted: Partial<Wanted> = {}) {
    const one = account(answers, wanted);
    const plan = await one.plan();
    assert.deepEqual(plan.refusals, []);
    await assert.rejects(start(one.world, plan), message);
    return one;
  }

  it('is planned with prices and a quota, and goes, when all can be read', async () => {
    const { plan, world, fleet } = account(() => undefined);
    const ready = await plan();
    assert.deepEqual([ready.doubts, ready.refusals], [[], []]);
    assert.equal(decide(ready, false), 'go');
    assert.ok(Math.abs((ready.cost.lines[0].usd as number) - 4 * 0.085) < 1e-9);
    const record = await start(world, ready);
    assert.equal(record.started.length, 4);
    assert.equal((await world.aws.instances(fleet.fleet)).length, 4);
  });

  it('for its quota, before anything is started', async () => {
    const small: Answers = ({ name }) => (name.startsWith('servicequotas') ? json({ Quota: { Value: 5 } }) : undefined);
    const { plan, under } = account(small);
    const { refusals } = await plan();
    assert.match(refusals[0], /takes 8 vCPUs, and of the account's 5 .* 5 are free, enough for 2 instances/);
    assert.ok(!under.calls.some(({ name }) => name === 'ec2 RunInstances'));
  });

  it('for its quota when starting: one try, the fleet is taken down', async () => {
    const full: Answers = ({ name, body }) =>
      name === 'ec2 RunInstances' && !body.includes('DryRun=true') ? ec2Error(400, 'VcpuLimitExceeded') : undefined;
    const { under, world, fleet, said } = await refused(full, /quota of vCPUs is too small.*VcpuLimitExceeded/);
    assert.equal(
      under.calls.filter(({ name, body }) => name === 'ec2 RunInstances' && !body.includes('DryRun=true')).length,
      1,
    );
    assert.match(said.join('\n'), /deleted the security group[\s\S]*Nothing of swarm-.* is left running/);
    await nothingLeft(world, fleet.fleet);
  });

  it('for want of capacity: three tries, the fleet is taken down', async () => {
    const none: Answers = ({ name, body }) =>
      name === 'ec2 RunInstances' && !body.includes('DryRun=true')
        ? ec2Error(500, 'InsufficientInstanceCapacity')
        : undefined;
    const { under, world, fleet } = await refused(
      none,
      /no such machines free there now.*InsufficientInstanceCapacity/,
    );
    const tries = under.calls.filter(({ name, body }) => name === 'ec2 RunInstances' && !body.includes('DryRun=true'));
    assert.equal(tries.length, 3);
    // The same token each time: whichever of them AWS carried out, it is one fleet.
    assert.equal(new Set(tries.map(({ body }) => /ClientToken=([^&]+)/.exec(body)?.[1])).size, 1);
    await nothingLeft(world, fleet.fleet);
  });

  it('by throttling is asked again, and goes', async () => {
    const busy: Answers = ({ name, body }, before) =>
      name === 'ec2 RunInstances' && !body.includes('DryRun=true') && before < 3
        ? ec2Error(503, 'RequestLimitExceeded')
        : undefined;
    const { plan, world, fleet } = account(busy);
    const record = await start(world, await plan());
    assert.equal(record.started.length, 4);
    assert.equal((await world.aws.instances(fleet.fleet)).length, 4);
  });

  it('by throttling for good is told so', async () => {
    const busy: Answers = ({ name, body }) =>
      name === 'ec2 RunInstances' && !body.includes('DryRun=true') ? ec2Error(503, 'RequestLimitExceeded') : undefined;
    const { world, fleet } = await refused(busy, /fewer requests, after every retry.*RequestLimitExceeded/);
    await nothingLeft(world, fleet.fleet);
  });

  it('with its price and quota untold needs --yes, and says what is missing', async () => {
    const mute: Answers = ({ name }) => {
      if (name.startsWith('pricing')) return json({ PriceList: [] });
      return name.startsWith('servicequotas')
        ? json({ __type: 'AccessDeniedException', message: 'no' }, 400)
        : undefined;
    };
    const plan = await account(mute).plan();
    assert.equal(decide(plan, false), 'needs-yes');
    assert.match(plan.doubts.join('\n'), /price of c6i\.large, price of volumes: the price list of AmazonEC2 has none/);
    assert.match(plan.doubts.join('\n'), /vCPU quota: quota: these credentials may not do it.*policy\.json/);
  });

  it('with expired credentials says so, everywhere once', async () => {
    const expired: Answers = ({ name }) =>
      name.startsWith('ec2') ? ec2Error(400, 'RequestExpired') : json({ __type: 'ExpiredTokenException' }, 400);
    const { plan, world } = account(expired);
    const { doubts } = await plan();
    assert.match(doubts.join('\n'), /the credentials have expired: renew them.*RequestExpired/);
    assert.ok(doubts.length <= 8, doubts.join('\n'));
    await assert.rejects(world.aws.instances(), /the credentials have expired/);
  });

  it('with credentials that expire while it runs says when it ends by itself', async () => {
    let over = false;
    const expiring: Answers = ({ name }) =>
      over && name.startsWith('ec2') ? ec2Error(400, 'RequestExpired') : undefined;
    const { plan, world, said } = account(expiring);
    const record = await start(world, await plan());
    over = true;
    await assert.rejects(sendOff(world, record), /the credentials have expired/);
    assert.match(
      said.at(-1) as string,
      /NOT TAKEN DOWN: .*expired.* powers itself off by \d{4}-\d\d-\d\d \d\d:\d\d UTC.*npm run fleet -- down --fleet swarm-/,
    );
  });

  it('by half gives the half back, and says why', async () => {
    const { Errors, half } = { Errors: 'InsufficientInstanceCapacity', half: 2 };
    const answers: Answers = ({ name, body }) => {
      if (name !== 'ec2 CreateFleet') return undefined;
      const running = `<instanceIds>${'i-0aaaaaaaaaaaaaaa1 i-0aaaaaaaaaaaaaaa2'
        .split(' ')
        .slice(0, half)
        .map((id) => `<item>${id}</item>`)
        .join('')}</instanceIds>`;
      return {
        status: 200,
        body: `<CreateFleetResponse><fleetId>fleet-1</fleetId><errorSet><item><errorCode>${Errors}</errorCode><errorMessage>no</errorMessage></item></errorSet><fleetInstanceSet><item>${running}</item></fleetInstanceSet></CreateFleetResponse>`,
        headers: { 'content-type': `text/xml;length=${body.length}` },
      };
    };
    const message = /EC2 started 2 of 4 instances, fewer than 4: EC2: AWS has no such machines free there now/;
    const { world, fleet } = await refused(answers, message, { buy: 'fleet' });
    await nothingLeft(world, fleet.fleet);
  });

  it('at the barrier, ready in part, gives all back unless a part is enough', async () => {
    const one = account(() => undefined, { instances: 3, atLeast: 3 });
    const record = await start(one.world, await one.plan());
    const { bucket, fleet } = one.fleet;
    for (const id of record.started.slice(0, 2))
      await one.world.aws.put(bucket, `runs/${fleet}/${id}.ready.json`, '{}');
    await assert.rejects(sendOff(one.world, record), /2 of 3 instances are ready: 1 not ready in time, fewer than 3/);
    await nothingLeft(one.world, fleet);
  });

  it('by an answer that was lost finds what was started after all, and ends it', async () => {
    let started = false;
    const lost: Answers = ({ name, body }) => {
      if (name === 'ec2 RunInstances' && !body.includes('DryRun=true')) {
        if (started) return ec2Error(400, 'InvalidParameterValue', 'lost');
        started = true;
      }
      return undefined;
    };
    const one = account(lost);
    const plan = await one.plan();
    const { launch } = one.world.aws;
    one.world.aws.launch = async (what) => {
      await launch(what);
      throw new Error('socket hang up');
    };
    await assert.rejects(start(one.world, plan), /socket hang up/);
    assert.equal((await one.world.aws.instances(one.fleet.fleet)).length, 4);
    await nothingLeft(one.world, one.fleet.fleet);
  });

  it('is asked for as one-time spot, with a bound of its price and an end by itself', async () => {
    const spot: Answers = ({ name }) =>
      name === 'ec2 DescribeSpotPriceHistory'
        ? {
            status: 200,
            body: '<DescribeSpotPriceHistoryResponse><spotPriceHistorySet><item><spotPrice>0.03</spotPrice></item><item><spotPrice>0.04</spotPrice></item></spotPriceHistorySet></DescribeSpotPriceHistoryResponse>',
            headers: { 'content-type': 'text/xml' },
          }
        : undefined;
    const { plan, world, under } = account(spot, { buy: 'spot' });
    const ready = await plan();
    assert.deepEqual(ready.doubts, []);
    await start(world, ready);
    const asked = new URLSearchParams(under.calls.findLast(({ name }) => name === 'ec2 RunInstances')?.body);
    assert.equal(asked.get('InstanceMarketOptions.SpotOptions.SpotInstanceType'), 'one-time');
    assert.equal(asked.get('InstanceMarketOptions.SpotOptions.InstanceInterruptionBehavior'), 'terminate');
    assert.equal(asked.get('InstanceMarketOptions.SpotOptions.MaxPrice'), '0.050000'); // the dearest zone's, and headroom
    assert.equal(asked.get('InstanceInitiatedShutdownBehavior'), 'terminate');
    assert.equal(asked.get('BlockDeviceMapping.1.Ebs.DeleteOnTermination'), 'true');
    assert.equal(asked.get('MetadataOptions.HttpTokens'), 'required');
    assert.deepEqual([asked.get('MinCount'), asked.get('MaxCount')], ['4', '4']);
  });

  it('waits for a security group that is still in use, and deletes it', async () => {
    const used: Answers = ({ name }, before) =>
      name === 'ec2 DeleteSecurityGroup' && before < 2 ? ec2Error(400, 'DependencyViolation') : undefined;
    const { plan, world, under, fleet } = account(used);
    await start(world, await plan());
    await takeDown(world, fleet.fleet);
    assert.equal(under.calls.filter(({ name }) => name === 'ec2 DeleteSecurityGroup').length, 3);
    await nothingLeft(world, fleet.fleet);
  });

  it('for its cost is not started', async () => {
    const { plan } = account(() => undefined, { maxCostUsd: 0.1 });
    assert.match((await plan()).refusals[0], /more than --max-cost 0\.1/);
  });
});

/** Failures of AWS, below the real SDK clients: each gives a clear message and leaves nothing running. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { connect } from '../aws.ts';
import { type BootOptions, boot, type Context, type FleetRecord, observe, runLoad, takeDown } from '../fleet.ts';
import type { Load } from '../job.ts';
import { decide, type Plan, planFleet, type Wanted } from '../plan.ts';
import { sharedMoto } from './account.ts';
import { installMoto, type Moto, NOBODY } from './moto.ts';
import { BUNDLE } from './stand_in.ts';
import { ec2Error, json, product, type Responder, type Stub, stub } from './stub.ts';

const why = installMoto();

const LOAD: Load = {
  ...{
    relays: [new URL('http://relay.example:8080/')],
    desktops: 10,
    rate: 1,
    seconds: 1,
    warmUpSeconds: 0,
    connectRate: 10,
  },
  thresholds: [],
  more: {},
};
const BOOT_OPTIONS: BootOptions = { readySeconds: 60 };

/** Prices and a quota, which moto does not have, in AWS's format. */
const pricesAndQuota: Responder = ({ name, body }) => {
  if (name === 'servicequotas GetServiceQuota') return json({ Quota: { QuotaCode: 'L-1', Value: 64 } });
  if (name !== 'pricing GetProducts') return undefined;
  if (body.includes('AmazonVPC')) return json({ PriceList: [product('USE1-PublicIPv4:InUseAddress', '0.005')] });
  if (body.includes('gp3')) return json({ PriceList: [product('EBS:VolumeUsage.gp3', '0.08')] });
  if (body.includes('AWSDataTransfer')) return json({ PriceList: [product('USE1-DataTransfer-Out-Bytes', '0.09')] });
  return json({ PriceList: [product('BoxUsage:c6i.large', '0.085'), product('UnusedBox:c6i.large', '9')] });
};

describe('fleet, when AWS refuses or fails', { skip: why ?? false, timeout: 900_000 }, () => {
  let moto: Moto;
  let made = 0;

  before(async () => {
    Object.assign(process.env, NOBODY);
    moto = await sharedMoto();
  });

  /** A fleet in an account that responds as `responder` does. Each has its own region, so tests do not see each other's fleets. */
  function account(responder: Responder, wanted: Partial<Wanted> = {}) {
    const stubbed: Stub = stub((call, before) => responder(call, before) ?? pricesAndQuota(call, before));
    const region = [
      'us-east-2',
      'us-west-1',
      'us-west-2',
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
      'ap-northeast-3',
      'ap-east-1',
      'af-south-1',
      'eu-south-1',
      'me-south-1',
      'ap-southeast-3',
      'ap-south-2',
      'eu-central-2',
      'me-central-1',
      'il-central-1',
      'ap-southeast-4',
    ][made++];
    assert.ok(region, 'a region for each');
    const said: string[] = [];
    const controller = new AbortController();
    let nowMs = Date.now();
    const context: Context = {
      aws: connect({ region, endpoint: moto.url, requestHandler: stubbed.handler }),
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
      stubbed,
      said,
      context,
      fleet,
      controller,
      plan: async () => planFleet(fleet, await observe(context, fleet, BOOT_OPTIONS)),
    };
  }

  const start = (context: Context, plan: Plan) =>
    boot(context, { plan, bundle: BUNDLE, bootOptions: BOOT_OPTIONS, load: LOAD });

  async function nothingLeft({ aws }: Context, fleet: string): Promise<void> {
    const instances = await aws.compute.instances(fleet);
    assert.deepEqual(
      instances.filter(({ state }) => state !== 'terminated'),
      [],
    );
    assert.deepEqual(await aws.compute.leftovers(fleet), []);
  }

  /** Boots a fleet and expects it to be refused with this message. */
  async function refused(responder: Responder, message: RegExp, wanted: Partial<Wanted> = {}) {
    const one = account(responder, wanted);
    const plan = await one.plan();
    assert.deepEqual(plan.refusals, []);
    await assert.rejects(start(one.context, plan), message);
    return one;
  }

  it('is planned with prices and a quota and starts, when everything can be read', async () => {
    const { plan, context, fleet } = account(() => undefined);
    const ready = await plan();
    assert.deepEqual([ready.doubts, ready.refusals], [[], []]);
    assert.equal(decide(ready, false), 'go');
    assert.ok(Math.abs((ready.cost.lines[0].usd as number) - 4 * 0.085) < 1e-9);
    const record = await start(context, ready);
    assert.equal(record.started.length, 4);
    assert.equal((await context.aws.compute.instances(fleet.fleet)).length, 4);
  });

  it('is refused before anything is started when the quota is too small', async () => {
    const small: Responder = ({ name }) =>
      name.startsWith('servicequotas') ? json({ Quota: { Value: 5 } }) : undefined;
    const { plan, stubbed } = account(small);
    const { refusals } = await plan();
    assert.match(refusals[0], /needs 8 vCPUs, and of the account's 5 .* 5 are free, enough for 2 instances/);
    assert.ok(!stubbed.calls.some(({ name }) => name === 'ec2 RunInstances'));
  });

  it('is taken down after one attempt when the quota is exceeded at the start', async () => {
    const full: Responder = ({ name, body }) =>
      name === 'ec2 RunInstances' && !body.includes('DryRun=true') ? ec2Error(400, 'VcpuLimitExceeded') : undefined;
    const { stubbed, context, fleet, said } = await refused(full, /quota of vCPUs is too small.*VcpuLimitExceeded/);
    assert.equal(
      stubbed.calls.filter(({ name, body }) => name === 'ec2 RunInstances' && !body.includes('DryRun=true')).length,
      1,
    );
    assert.match(said.join('\n'), /deleted the security group[\s\S]*Nothing of swarm-.* is left running/);
    await nothingLeft(context, fleet.fleet);
  });

  it('is taken down when no zone has capacity, after three attempts for all and for some in each', async () => {
    const none: Responder = ({ name, body }) =>
      name === 'ec2 RunInstances' && !body.includes('DryRun=true')
        ? ec2Error(500, 'InsufficientInstanceCapacity')
        : undefined;
    const { stubbed, context, fleet } = await refused(
      none,
      /no such machines free there now.*InsufficientInstanceCapacity/,
    );
    const tries = stubbed.calls.filter(
      ({ name, body }) => name === 'ec2 RunInstances' && !body.includes('DryRun=true'),
    );
    const { subnets } = await context.aws.compute.network();
    assert.ok(subnets.length > 1);
    // The attempts of one request have one token, so AWS starts its instances once, whichever attempt it carries out.
    const tokens = Map.groupBy(tries, ({ body }) => /ClientToken=([^&]+)/.exec(body)?.[1]);
    assert.deepEqual(
      [...tokens.values()].map((attempts) => attempts.length),
      Array(2 * subnets.length).fill(3),
    );
    const asked = [...tokens.values()].map(([{ body }]) => new URLSearchParams(body));
    assert.deepEqual(
      asked.map((form) => [form.get('MinCount'), form.get('MaxCount'), form.get('SubnetId')]),
      [...subnets.map((subnet) => ['4', '4', subnet]), ...subnets.map((subnet) => ['1', '4', subnet])],
    );
    await nothingLeft(context, fleet.fleet);
  });

  it('starts in a second zone when the first has no capacity for all', async () => {
    let first: string | null = null;
    const full: Responder = ({ name, body }) => {
      const form = new URLSearchParams(body);
      if (name !== 'ec2 RunInstances' || form.has('DryRun')) return undefined;
      first ??= form.get('SubnetId');
      return form.get('SubnetId') === first ? ec2Error(500, 'InsufficientInstanceCapacity') : undefined;
    };
    const { plan, context, fleet } = account(full, { buy: 'spot' });
    const record = await start(context, await plan());
    assert.equal(record.started.length, 4);
    assert.equal(new Set((await context.aws.compute.instances(fleet.fleet)).map(({ zone }) => zone)).size, 1);
  });

  it('is asked for in another zone, in the dry run too, when one does not have the type', async () => {
    const old: Responder = ({ name, body }) => {
      const subnet = new URLSearchParams(body).get('SubnetId');
      if (name !== 'ec2 RunInstances') return undefined;
      first ??= subnet;
      return subnet === first ? ec2Error(400, 'Unsupported') : undefined;
    };
    let first: string | null = null;
    const { plan, context } = account(old);
    assert.equal((await start(context, await plan())).started.length, 4);
    const everywhere: Responder = ({ name }) =>
      name === 'ec2 RunInstances' ? ec2Error(400, 'Unsupported') : undefined;
    const { context: other, fleet } = await refused(everywhere, /does not support this type.*Unsupported/);
    await nothingLeft(other, fleet.fleet);
  });

  it('takes what each zone has when none has all, and starts with --at-least of them', async () => {
    // Each zone has one machine: moto starts MinCount.
    const few: Responder = ({ name, body }) => {
      const form = new URLSearchParams(body);
      if (name !== 'ec2 RunInstances' || form.has('DryRun') || form.get('MinCount') === '1') return undefined;
      return ec2Error(500, 'InsufficientInstanceCapacity');
    };
    const { plan, context, fleet, said } = account(few, { buy: 'spot', instances: 40, atLeast: 2 });
    const record = await start(context, await plan());
    const zones = (await context.aws.compute.network()).subnets.length;
    assert.equal(record.started.length, zones);
    assert.equal(new Set((await context.aws.compute.instances(fleet.fleet)).map(({ zone }) => zone)).size, zones);
    assert.match(
      said.join('\n'),
      new RegExp(`${zones} of 40 instances started[\\s\\S]*some did not start: .*InsufficientInstance`),
    );
  });

  it('keeps the instances that run already when a later zone meets the quota', async () => {
    let started = 0;
    const quota: Responder = ({ name, body }) => {
      const form = new URLSearchParams(body);
      if (name !== 'ec2 RunInstances' || form.has('DryRun')) return undefined;
      if (form.get('MinCount') !== '1') return ec2Error(500, 'InsufficientInstanceCapacity');
      return started++ === 0 ? undefined : ec2Error(400, 'VcpuLimitExceeded');
    };
    const { plan, context, said } = account(quota, { buy: 'spot', atLeast: 1 });
    const record = await start(context, await plan());
    assert.equal(record.started.length, 1);
    assert.match(said.join('\n'), /some did not start: .*VcpuLimitExceeded/);
  });

  it('starts after retries when requests are throttled', async () => {
    const busy: Responder = ({ name, body }, before) =>
      name === 'ec2 RunInstances' && !body.includes('DryRun=true') && before < 3
        ? ec2Error(503, 'RequestLimitExceeded')
        : undefined;
    const { plan, context, fleet } = account(busy);
    const record = await start(context, await plan());
    assert.equal(record.started.length, 4);
    assert.equal((await context.aws.compute.instances(fleet.fleet)).length, 4);
  });

  it('is taken down, with a message, when throttling does not end', async () => {
    const busy: Responder = ({ name, body }) =>
      name === 'ec2 RunInstances' && !body.includes('DryRun=true') ? ec2Error(503, 'RequestLimitExceeded') : undefined;
    const { context, fleet } = await refused(busy, /fewer requests, even after every retry.*RequestLimitExceeded/);
    await nothingLeft(context, fleet.fleet);
  });

  it('needs --yes when price and quota are not known, and says what is missing', async () => {
    const mute: Responder = ({ name }) => {
      if (name.startsWith('pricing')) return json({ PriceList: [] });
      return name.startsWith('servicequotas')
        ? json({ __type: 'AccessDeniedException', message: 'no' }, 400)
        : undefined;
    };
    const plan = await account(mute).plan();
    assert.equal(decide(plan, false), 'needs-yes');
    assert.match(plan.doubts.join('\n'), /price of c6i\.large, price of volumes: the price list of AmazonEC2 has none/);
    assert.match(plan.doubts.join('\n'), /vCPU quota: quota: these credentials are not allowed to do it.*policy\.json/);
  });

  it('reports expired credentials once for each kind of error', async () => {
    const expired: Responder = ({ name }) =>
      name.startsWith('ec2') ? ec2Error(400, 'RequestExpired') : json({ __type: 'ExpiredTokenException' }, 400);
    const { plan, context } = account(expired);
    const { doubts } = await plan();
    assert.match(doubts.join('\n'), /the credentials have expired: renew them.*RequestExpired/);
    assert.ok(doubts.length <= 8, doubts.join('\n'));
    await assert.rejects(context.aws.compute.instances(), /the credentials have expired/);
  });

  it('says when it ends by itself if the credentials expire while it runs', async () => {
    let over = false;
    const expiring: Responder = ({ name }) =>
      over && name.startsWith('ec2') ? ec2Error(400, 'RequestExpired') : undefined;
    const { plan, context, said } = account(expiring);
    const record = await start(context, await plan());
    over = true;
    await assert.rejects(runLoad(context, record), /the credentials have expired/);
    assert.match(
      said.at(-1) as string,
      /NOT TAKEN DOWN: .*expired.* powers itself off by \d{4}-\d\d-\d\d \d\d:\d\d UTC.*npm run fleet -- down --fleet swarm-/,
    );
  });

  it('terminates the half that started when half is not enough, and says why', async () => {
    const partial: Responder = ({ name, body }) => {
      if (name !== 'ec2 CreateFleet') return undefined;
      const ids = ['i-0aaaaaaaaaaaaaaa1', 'i-0aaaaaaaaaaaaaaa2'].map((id) => `<item>${id}</item>`);
      return {
        status: 200,
        body: `<CreateFleetResponse><fleetId>fleet-1</fleetId><errorSet><item><errorCode>InsufficientInstanceCapacity</errorCode><errorMessage>no</errorMessage></item></errorSet><fleetInstanceSet><item><instanceIds>${ids.join('')}</instanceIds></item></fleetInstanceSet></CreateFleetResponse>`,
        headers: { 'content-type': `text/xml;length=${body.length}` },
      };
    };
    const message = /EC2 started 2 of 4 instances, fewer than 4: EC2: AWS has no such machines free there now/;
    const { context, fleet } = await refused(partial, message, { buy: 'fleet' });
    await nothingLeft(context, fleet.fleet);
  });

  it('is taken down at the barrier when too few instances are ready', async () => {
    const one = account(() => undefined, { instances: 3, atLeast: 3 });
    const record = await start(one.context, await one.plan());
    const { bucket, fleet } = one.fleet;
    for (const id of record.started.slice(0, 2))
      await one.context.aws.buckets.put(bucket, `runs/${fleet}/${id}.ready.json`, '{}');
    await assert.rejects(runLoad(one.context, record), /2 of 3 instances are ready: 1 not ready in time, fewer than 3/);
    await nothingLeft(one.context, fleet);
  });

  /** A fleet whose instances post what `posts` says, each when the command waits for it. */
  async function ran(posts: (record: FleetRecord) => [id: string, end: string][][], wanted: Partial<Wanted> = {}) {
    const one = account(() => undefined, wanted);
    const record = await start(one.context, await one.plan());
    const steps = posts(record);
    const { sleep } = one.context;
    const { bucket, fleet } = one.fleet;
    const signals: (number | null | undefined)[] = [];
    const context: Context = {
      ...one.context,
      sleep: async (ms) => {
        for (const [id, end] of steps.shift() ?? [])
          await one.context.aws.buckets.put(bucket, `runs/${fleet}/${id}${end}`, '{}');
        await sleep(ms);
      },
    };
    const { buckets } = context.aws;
    const put = buckets.put.bind(buckets);
    buckets.put = async (where, key, body) => {
      if (key.endsWith('throw.json')) signals.push(JSON.parse(body as string).startAtMs);
      await put(where, key, body);
    };
    const { missing } = await runLoad(context, record);
    return { ...one, missing, signals };
  }

  it('throws at one time on all instances, after all of them have parked', async () => {
    const { missing, signals, said, context } = await ran((record) => [
      record.started.map((id) => [id, '.ready.json']),
      record.started.slice(1).map((id) => [id, '.parked.json']),
      [[record.started[0], '.parked.json']],
      record.started.map((id) => [id, '.result.json']),
    ]);
    const atParked = said.indexOf('parked: 3 of 4');
    assert.ok(atParked > said.findIndex((line) => /4 instances connect at/.test(line)), said.join('\n'));
    assert.ok(atParked < said.findIndex((line) => /4 instances throw from/.test(line)), said.join('\n'));
    assert.equal(missing, '');
    assert.equal(signals.length, 1);
    assert.ok((signals[0] as number) > 0 && (signals[0] as number) <= context.nowMs() + 5000);
  });

  it('throws nothing when too few have parked, and collects what they found out', async () => {
    const { missing, signals, said } = await ran((record) => [
      record.started.map((id) => [id, '.ready.json']),
      [
        ...record.started.slice(1).map((id): [string, string] => [id, '.parked.json']),
        [record.started[0], '.result.json'],
        [record.started[0], '.log'],
      ],
      record.started.map((id) => [id, '.result.json']),
    ]);
    assert.equal(missing, '3 of 4 instances are parked: 1 failed and posted a log');
    assert.deepEqual(signals, [null]);
    assert.match(said.join('\n'), /Nothing is thrown/);
  });

  it('throws with those that have parked when they are enough, and says which are missing', async () => {
    const { missing, signals } = await ran(
      (record) => [
        record.started.map((id) => [id, '.ready.json']),
        [...record.started.slice(1).map((id): [string, string] => [id, '.parked.json']), [record.started[0], '.log']],
        record.started.slice(1).map((id) => [id, '.result.json']),
      ],
      { atLeast: 3 },
    );
    assert.equal(missing, '3 of 4 instances are parked: 1 failed and posted a log');
    assert.equal(signals.length, 1);
    assert.ok(signals[0] !== null);
  });

  it('finds and terminates what was started when the response to the launch is lost', async () => {
    let started = false;
    const lost: Responder = ({ name, body }) => {
      if (name === 'ec2 RunInstances' && !body.includes('DryRun=true')) {
        if (started) return ec2Error(400, 'InvalidParameterValue', 'lost');
        started = true;
      }
      return undefined;
    };
    const one = account(lost);
    const plan = await one.plan();
    const { compute } = one.context.aws;
    const launch = compute.launch.bind(compute);
    compute.launch = async (what) => {
      await launch(what);
      throw new Error('socket hang up');
    };
    await assert.rejects(start(one.context, plan), /socket hang up/);
    assert.equal((await one.context.aws.compute.instances(one.fleet.fleet)).length, 4);
    await nothingLeft(one.context, one.fleet.fleet);
  });

  it('is requested as one-time spot with a price limit, and terminates on shutdown', async () => {
    const spot: Responder = ({ name }) =>
      name === 'ec2 DescribeSpotPriceHistory'
        ? {
            status: 200,
            body: '<DescribeSpotPriceHistoryResponse><spotPriceHistorySet><item><spotPrice>0.03</spotPrice></item><item><spotPrice>0.04</spotPrice></item></spotPriceHistorySet></DescribeSpotPriceHistoryResponse>',
            headers: { 'content-type': 'text/xml' },
          }
        : undefined;
    const { plan, context, stubbed } = account(spot, { buy: 'spot' });
    const ready = await plan();
    assert.deepEqual(ready.doubts, []);
    await start(context, ready);
    const request = new URLSearchParams(stubbed.calls.findLast(({ name }) => name === 'ec2 RunInstances')?.body);
    assert.equal(request.get('InstanceMarketOptions.SpotOptions.SpotInstanceType'), 'one-time');
    assert.equal(request.get('InstanceMarketOptions.SpotOptions.InstanceInterruptionBehavior'), 'terminate');
    assert.equal(request.get('InstanceMarketOptions.SpotOptions.MaxPrice'), '0.050000'); // the most expensive zone's price, with headroom
    assert.equal(request.get('InstanceInitiatedShutdownBehavior'), 'terminate');
    assert.equal(request.get('BlockDeviceMapping.1.Ebs.DeleteOnTermination'), 'true');
    assert.equal(request.get('MetadataOptions.HttpTokens'), 'required');
    assert.deepEqual([request.get('MinCount'), request.get('MaxCount')], ['4', '4']);
  });

  it('asks EC2 in the dry run for what it then starts: the same group, subnet and addresses', async () => {
    const load = { desktops: 130_000, rate: 1, seconds: 1, relay: 'http://10.0.0.5:8080/' };
    const { plan, context, stubbed } = account(() => undefined, { load });
    await start(context, await plan());
    const [dry, real] = stubbed.calls
      .filter(({ name }) => name === 'ec2 RunInstances')
      .map(({ body }) => new URLSearchParams(body));
    assert.deepEqual([dry.get('DryRun'), real.get('DryRun')], ['true', null]);
    for (const form of [dry, real]) {
      const of = (name: string) => form.get(`NetworkInterface.1.${name}`);
      assert.equal(of('SecondaryPrivateIpAddressCount'), '2');
      assert.match(of('SecurityGroupId.1') as string, /^sg-/);
      assert.match(of('SubnetId') as string, /^subnet-/);
      assert.deepEqual([of('DeviceIndex'), of('DeleteOnTermination')], ['0', 'true']);
      assert.deepEqual([form.get('SecurityGroupId.1'), form.get('SubnetId')], [null, null]);
    }
    assert.equal(dry.get('NetworkInterface.1.SecurityGroupId.1'), real.get('NetworkInterface.1.SecurityGroupId.1'));
  });

  it('has its addresses and group in the template of a fleet, whose requests name the subnets', async () => {
    const load = { desktops: 60_001, rate: 1, seconds: 1, relay: 'http://10.0.0.5:8080/' };
    const { plan, context, stubbed } = account(() => undefined, { buy: 'fleet', load });
    await start(context, await plan());
    const form = (operation: string) =>
      new URLSearchParams(stubbed.calls.find(({ name }) => name === `ec2 ${operation}`)?.body);
    const template = form('CreateLaunchTemplate');
    assert.equal(template.get('LaunchTemplateData.NetworkInterface.1.SecondaryPrivateIpAddressCount'), '1');
    assert.match([...template.keys()].join(' '), /LaunchTemplateData\.NetworkInterface\.1\.(SecurityGroupId|Groups)/);
    assert.doesNotMatch([...template.keys()].join(' '), /SubnetId/);
    assert.match([...form('CreateFleet').keys()].join(' '), /Overrides\.\d+\.SubnetId/);
  });

  it('waits until its security group is no longer in use, and deletes it', async () => {
    const used: Responder = ({ name }, before) =>
      name === 'ec2 DeleteSecurityGroup' && before < 2 ? ec2Error(400, 'DependencyViolation') : undefined;
    const { plan, context, stubbed, fleet } = account(used);
    await start(context, await plan());
    await takeDown(context, fleet.fleet);
    assert.equal(stubbed.calls.filter(({ name }) => name === 'ec2 DeleteSecurityGroup').length, 3);
    await nothingLeft(context, fleet.fleet);
  });

  it('is refused when it may cost more than --max-cost', async () => {
    const { plan } = account(() => undefined, { maxCostUsd: 0.1 });
    assert.match((await plan()).refusals[0], /more than --max-cost 0\.1/);
  });
});

/** A cluster of relays with moto: NATS first, then relays that know its private address; and nothing is left when one part fails. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DescribeInstanceAttributeCommand, DescribeSecurityGroupsCommand, EC2Client } from '@aws-sdk/client-ec2';
import { ALIVE } from '../aws/instances.ts';
import { type Aws, connect } from '../aws.ts';
import { boot, type Context, type FleetRecord, observe, takeDown, updateJob, waitForRelays } from '../fleet.ts';
import { keys, NATS_PORT, readJob } from '../job.ts';
import { describe as describePlan, type Plan, planFleet, type Wanted } from '../plan.ts';
import { sharedMoto } from './account.ts';
import { installMoto, type Moto, NOBODY } from './moto.ts';
import { BUNDLE } from './stand_in.ts';
import { ec2Error, type Responder, stub } from './stub.ts';

const REGION = 'eu-west-1';
const BUCKET = 'sprites-cluster-test';
const BOOT_OPTIONS = { readySeconds: 60, allow: ['203.0.113.7/32', '172.31.0.0/16'] };

const why = installMoto();

describe('fleet, a cluster of relays', { skip: why ?? false, timeout: 900_000 }, () => {
  let moto: Moto;
  let ec2: EC2Client;
  let made = 0;
  before(async () => {
    Object.assign(process.env, NOBODY);
    moto = await sharedMoto();
    ec2 = new EC2Client({ region: REGION, endpoint: moto.url });
  });
  after(() => ec2?.destroy());

  async function planned(
    responder: Responder = () => undefined,
  ): Promise<{ context: Context; plan: Plan; said: string[] }> {
    const said: string[] = [];
    let nowMs = Date.now();
    const context: Context = {
      aws: connect({ region: REGION, endpoint: moto.url, requestHandler: stub(responder).handler }),
      say: (line) => void said.push(line),
      nowMs: () => nowMs,
      sleep: async (ms) => {
        nowMs += ms;
      },
      signal: new AbortController().signal,
    };
    const wanted: Wanted = {
      ...{ fleet: `relay-261122-0000-00${(made++).toString(16).padStart(2, '0')}`, role: 'relay', owner: 'ann' },
      ...{ region: REGION, bucket: BUCKET, buy: 'on-demand', types: ['c6i.large'], relays: 3 },
      ...{ instances: 4, atLeast: 4, minutes: 60, maxCostUsd: 100, admission: 'strict' },
    };
    return { context, plan: planFleet(wanted, await observe(context, wanted, BOOT_OPTIONS)), said };
  }

  const alive = async (aws: Aws, fleet: string) =>
    (await aws.compute.instances(fleet)).filter(({ state }) => ALIVE.includes(state));

  async function ready({ aws }: Context, { started, wanted }: FleetRecord): Promise<void> {
    for (const id of started)
      await aws.buckets.put(wanted.bucket, `${keys.prefix(wanted.fleet)}${id}.ready.json`, '{}');
  }

  it('is a NATS server and relays that reach it at its private address, in the plan and in their jobs', async () => {
    const { context, plan, said } = await planned();
    const { aws } = context;
    assert.match(
      describePlan(plan),
      /instances +4 × c6i\.large.*\n[\s\S]*cluster +a NATS server, and 3 relays that reach it/,
    );
    const record = await boot(context, { plan, bundle: BUNDLE, bootOptions: BOOT_OPTIONS });
    const { fleet } = record.wanted;
    const instances = await alive(aws, fleet);
    assert.deepEqual(instances.map(({ role }) => role).sort(), ['nats', 'relay', 'relay', 'relay']);
    const nats = instances.find(({ role }) => role === 'nats');
    assert.match(nats?.privateAddress ?? '', /^\d+\.\d+\.\d+\.\d+$/);
    assert.equal(record.nats, nats?.privateAddress);
    assert.equal(record.started[0], nats?.id);
    assert.ok(
      said.some((line) => line.startsWith(`4 of 4 instances started: ${nats?.id} `)),
      said.join('\n'),
    );
    const job = readJob(await aws.buckets.get(BUCKET, keys.job(fleet)));
    assert.match(
      job.arguments.join(' '),
      new RegExp(
        `--admission strict --residents 0 --nats nats://${nats?.privateAddress}:4222 --nats-plaintext --relay-name %i ` +
          '--public-url http://%a:8080 --public-events-url http://%a:8081$',
      ),
    );
    const natsJob = readJob(await aws.buckets.get(BUCKET, keys.natsJob(fleet)));
    assert.match(natsJob.arguments.join(' '), /--port 4222 --jetstream --store_dir /);
    const scripts = await Promise.all(
      instances.map(async ({ id: InstanceId, role }) => {
        const request = new DescribeInstanceAttributeCommand({ InstanceId, Attribute: 'userData' });
        const { UserData } = await ec2.send(request);
        return { role, script: Buffer.from(UserData?.Value ?? '', 'base64').toString('utf8') };
      }),
    );
    for (const { role, script } of scripts) {
      assert.match(script, role === 'nats' ? /\/nats\.job\?/ : /\/job\?/);
      assert.match(script, role === 'nats' ? /Description=NATS server of Sprites/ : /Description=Sprites relay/);
    }
    await takeDown(context, fleet);
  });

  it('opens the ports of the relays to those who are allowed, and that of NATS to nobody but the fleet', async () => {
    const { context, plan } = await planned();
    const { wanted } = await boot(context, { plan, bundle: BUNDLE, bootOptions: BOOT_OPTIONS });
    const Filters = [{ Name: 'tag:sprites:fleet', Values: [wanted.fleet] }];
    const { SecurityGroups = [] } = await ec2.send(new DescribeSecurityGroupsCommand({ Filters }));
    const [{ GroupId, IpPermissions = [] }] = SecurityGroups;
    assert.equal(SecurityGroups.length, 1);
    const opened = IpPermissions.map(({ FromPort, IpRanges = [], Ipv6Ranges = [], UserIdGroupPairs = [] }) => [
      FromPort,
      [...IpRanges.map(({ CidrIp }) => CidrIp), ...Ipv6Ranges.map(({ CidrIpv6 }) => CidrIpv6)].join(),
      UserIdGroupPairs.map((pair) => pair.GroupId).join(),
    ]).sort();
    const allowed = BOOT_OPTIONS.allow.join();
    assert.deepEqual(opened, [
      [NATS_PORT, '', GroupId],
      [8080, allowed, ''],
      [8081, allowed, ''],
    ]);
    await takeDown(context, wanted.fleet);
  });

  it('is ready when NATS and all relays are, and is then known by the addresses of its relays', async () => {
    const { context, plan } = await planned();
    const record = await boot(context, { plan, bundle: BUNDLE, bootOptions: BOOT_OPTIONS });
    await ready(context, record);
    const urls = await waitForRelays(context, record);
    assert.equal(new Set(urls).size, 3);
    for (const url of urls) assert.match(url, /^http:\/\/\S+:8080\/$/);
    await updateJob(context, record, { ...BUNDLE, sha256: 'cd'.repeat(32) });
    const job = readJob(await context.aws.buckets.get(BUCKET, keys.job(record.wanted.fleet)));
    assert.equal(job.sha256, 'cd'.repeat(32));
    assert.ok(job.arguments.includes(`nats://${record.nats}:${NATS_PORT}`), 'an update keeps the cluster together');
    await takeDown(context, record.wanted.fleet);
    assert.deepEqual(await alive(context.aws, record.wanted.fleet), []);
    assert.deepEqual(await context.aws.compute.leftovers(record.wanted.fleet), []);
  });

  it('leaves nothing behind when the relays or NATS can not be started', async () => {
    for (const lacks of ['NATS', 'relays']) {
      const { context, plan } = await planned(({ name, body }) =>
        name === 'ec2 RunInstances' && !body.includes('DryRun=true') && body.includes('-nats-') === (lacks === 'NATS')
          ? ec2Error(500, 'InsufficientInstanceCapacity')
          : undefined,
      );
      await assert.rejects(
        boot(context, { plan, bundle: BUNDLE, bootOptions: BOOT_OPTIONS }),
        /InsufficientInstanceCapacity|EC2 (?:started|did not start)/,
      );
      assert.deepEqual(await alive(context.aws, plan.wanted.fleet), [], lacks);
      assert.deepEqual(await context.aws.compute.leftovers(plan.wanted.fleet), []);
    }
  });
});

/**
 * The command with moto, as people use it: up, run, status, down, an interrupt; and what instances are started with.
 *
 * Only what an interrupt ends runs in a process of its own. The bundle has a stand-in; boot.long.test.ts starts instances with it.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import {
  DescribeInstanceAttributeCommand,
  DescribeInstancesCommand,
  DescribeLaunchTemplateVersionsCommand,
  DescribeSecurityGroupsCommand,
  EC2Client,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import { GetBucketLifecycleConfigurationCommand, S3Client } from '@aws-sdk/client-s3';
import { connect } from '../aws.ts';
import { fleet as fleetCommand } from '../bin/fleet.ts';
import { readRecord } from '../fleet.ts';
import { keys, readJob } from '../job.ts';
import { USER_DATA_BYTES_MAX } from '../user_data.ts';
import { sharedMoto } from './account.ts';
import { installMoto, type Moto, NOBODY } from './moto.ts';
import { BUNDLE } from './stand_in.ts';

const COMMAND = [
  process.execPath,
  '--disable-warning=ExperimentalWarning',
  join(import.meta.dirname, 'fleet_program.ts'),
];
const LOAD = ['--url', 'http://relay.example:8080/', '--yes'];
const BUCKET = 'sprites-fleet-test';

const why = installMoto();

describe('npm run fleet', { skip: why ?? false, timeout: 900_000 }, () => {
  let moto: Moto;
  let ec2: EC2Client;
  const environment: NodeJS.ProcessEnv = { ...NOBODY, AWS_REGION: 'us-east-1', SPRITES_BUCKET: BUCKET };

  before(async () => {
    moto = await sharedMoto();
    environment.AWS_ENDPOINT_URL = moto.url;
    Object.assign(process.env, environment);
    const credentials = { accessKeyId: NOBODY.AWS_ACCESS_KEY_ID, secretAccessKey: NOBODY.AWS_SECRET_ACCESS_KEY };
    ec2 = new EC2Client({ region: 'us-east-1', endpoint: moto.url, credentials });
  });

  // A failed test may leave instances running; the next one must not see them.
  afterEach(async () => {
    const { Reservations = [] } = await ec2.send(new DescribeInstancesCommand({}));
    const InstanceIds = Reservations.flatMap(
      ({ Instances }) => Instances?.map(({ InstanceId }) => InstanceId as string) ?? [],
    );
    if (InstanceIds.length > 0) await ec2.send(new TerminateInstancesCommand({ InstanceIds }));
  });

  after(() => ec2?.destroy());

  async function fleet(...words: string[]) {
    const texts = { out: '', err: '' };
    const code = await fleetCommand(
      {
        argv: words,
        environment: process.env,
        print: (text) => {
          texts.out += `${text}\n`;
        },
        complain: (text) => {
          texts.err += `${text}\n`;
        },
      },
      async () => BUNDLE,
    );
    for (const text of Object.values(texts)) assert.ok(!text.includes(NOBODY.AWS_SECRET_ACCESS_KEY));
    return { code, ...texts, name: /(?:swarm|relay)-\d{6}-\d{4}-[0-9a-f]{4}/.exec(texts.out)?.[0] ?? '' };
  }

  /** Starts the command in its own process, calls `look` when its instances run, and interrupts it. */
  async function interrupted(words: readonly string[], look: () => Promise<void>) {
    const child = spawn(COMMAND[0], [...COMMAND.slice(1), ...words], { stdio: ['ignore', 'ignore', 'pipe'] });
    const closed = once(child, 'close');
    try {
      let err = '';
      child.stderr.setEncoding('utf8').on('data', (text) => {
        err += text;
      });
      while (!/ready: 0 of/.test(err)) {
        await Promise.race([once(child.stderr, 'data'), closed]);
        assert.equal(child.exitCode, null, err);
      }
      await look();
      child.kill('SIGINT');
      const [code] = await closed;
      return { code, err };
    } finally {
      child.kill('SIGKILL');
    }
  }

  const instances = async (name: string) => {
    const Filters = [{ Name: 'tag:sprites:fleet', Values: [name] }];
    const { Reservations = [] } = await ec2.send(new DescribeInstancesCommand({ Filters }));
    return Reservations.flatMap(({ Instances }) => Instances ?? []);
  };

  const groups = async (name: string) =>
    (await ec2.send(new DescribeSecurityGroupsCommand({ Filters: [{ Name: 'tag:sprites:fleet', Values: [name] }] })))
      .SecurityGroups ?? [];

  for (const [buy, more] of [
    ['on-demand', []],
    ['spot', []],
    ['fleet', ['--type', 'c6i.large,m6i.large']],
  ] as const) {
    it(`starts, reports its state and is taken down, bought ${buy}`, async () => {
      const up = await fleet(
        'up',
        ...LOAD,
        '--buy',
        buy,
        '--instances',
        '3',
        '--owner',
        'ann',
        '--minutes',
        '30',
        ...more,
      );
      assert.equal(up.code, 0, up.err);
      const running = await instances(up.name);
      assert.equal(running.length, 3);
      for (const { Tags = [], InstanceLifecycle } of running) {
        const tags = Object.fromEntries(Tags.map(({ Key, Value }) => [Key, Value]));
        assert.equal(tags['sprites:owner'], 'ann');
        const left = Date.parse(tags['sprites:deadline'] as string) - Date.now();
        assert.ok(left > 28 * 60_000 && left <= 30 * 60_000, `${left}`);
        assert.equal(InstanceLifecycle === 'spot', buy !== 'on-demand');
      }
      const status = await fleet('status');
      assert.match(status.out, /us-east-1: 3 running/);
      assert.equal(
        (await fleet('status', '--fleet', up.name)).out.match(new RegExp(`${up.name} .*running`, 'g'))?.length,
        3,
      );
      const down = await fleet('down', '--fleet', up.name);
      assert.equal(down.code, 0, down.err);
      assert.match(down.out, /3 terminated, and nothing of it is left/);
      assert.ok((await instances(up.name)).every(({ State }) => State?.Name === 'terminated'));
      assert.deepEqual(await groups(up.name), []);
      assert.match((await fleet('status')).out, /nothing is running/);
    });
  }

  it('starts instances that end by themselves, with the boot script as user data', async () => {
    const { name, code, err } = await fleet('up', ...LOAD, '--buy', 'spot', '--instances', '1', '--type', 't3.micro');
    assert.equal(code, 0, err);
    const [{ InstanceId, SecurityGroups = [] }] = await instances(name);
    const attribute = async (Attribute: 'userData' | 'instanceInitiatedShutdownBehavior') =>
      ec2.send(new DescribeInstanceAttributeCommand({ InstanceId, Attribute }));
    assert.equal(
      (await attribute('instanceInitiatedShutdownBehavior')).InstanceInitiatedShutdownBehavior?.Value,
      'terminate',
    );
    const script = Buffer.from((await attribute('userData')).UserData?.Value ?? '', 'base64').toString('utf8');
    assert.ok(Buffer.byteLength(script) <= USER_DATA_BYTES_MAX);
    assert.match(script, /^#!\/bin\/bash\nSPRITES_MINUTES='60'\n/);
    assert.match(script, /^SPRITES_PREFIX='runs\/swarm-/m);
    assert.match(script, /^trap finish EXIT$/m);
    assert.ok(!script.includes(NOBODY.AWS_SECRET_ACCESS_KEY));
    const [group] = await groups(name);
    assert.deepEqual(
      SecurityGroups.map(({ GroupId }) => GroupId),
      [group.GroupId],
    );
    assert.deepEqual(group.IpPermissions, []);
    await fleet('down', '--fleet', name);
  });

  it('puts the same script into the launch template of a fleet', async () => {
    const { name } = await fleet('up', ...LOAD, '--buy', 'fleet', '--instances', '1');
    const request = new DescribeLaunchTemplateVersionsCommand({ LaunchTemplateName: `sprites-${name}` });
    const { LaunchTemplateVersions = [] } = await ec2.send(request);
    const data = LaunchTemplateVersions[0].LaunchTemplateData;
    assert.match(Buffer.from(data?.UserData ?? '', 'base64').toString('utf8'), /^#!\/bin\/bash\nSPRITES_MINUTES='60'/);
    assert.equal(data?.InstanceInitiatedShutdownBehavior, 'terminate');
    await fleet('down', '--fleet', name);
    await assert.rejects(ec2.send(request));
  });

  it('opens only the two ports of a relay, and only to the given addresses', async () => {
    const allowed = '203.0.113.7/32,172.31.0.0/16';
    const words = ['up', '--relay', '--yes', '--allow', allowed, '--ready-within', '600'];
    const { code } = await interrupted(words, async () => {
      const { SecurityGroups = [] } = await ec2.send(
        new DescribeSecurityGroupsCommand({ Filters: [{ Name: 'tag:sprites:role', Values: ['relay'] }] }),
      );
      const opened = SecurityGroups[0].IpPermissions?.flatMap(({ FromPort, ToPort, IpRanges }) => [
        FromPort,
        ToPort,
        IpRanges?.map(({ CidrIp }) => CidrIp).join(),
      ]);
      assert.deepEqual(opened?.sort(), [8080, 8080, 8081, 8081, allowed, allowed].sort());
    });
    assert.equal(code, 1);
    assert.match((await fleet('status')).out, /nothing is running/);
  });

  it('takes everything down when it is interrupted, says in one line what is left running, and exits 1', async () => {
    const { code, err } = await interrupted(['run', ...LOAD, '--instances', '2'], async () => {
      assert.match((await fleet('status')).out, /2 running/);
    });
    assert.equal(code, 1);
    assert.match(err, /Interrupted.*\n.*Taking the fleet down[\s\S]*Nothing of swarm-.* is left running/);
    assert.doesNotMatch(err, /^\s+at /m);
    assert.match(err, /^Interrupted: nothing of swarm-[\d-]+[0-9a-f]{4} is running\.\n$/m);
    assert.match(err.trimEnd().split('\n').at(-1) as string, /^Interrupted: /);
    assert.match((await fleet('status')).out, /nothing is running/);
  });

  it('starts nothing in a dry run, and asks EC2 whether it would start the fleet', async () => {
    const before = (await ec2.send(new DescribeInstancesCommand({}))).Reservations?.length;
    const dry = await fleet('up', ...LOAD, '--dry-run');
    assert.equal(dry.code, 0, dry.err);
    assert.match(dry.out, /Cost, if everything runs to its end/);
    assert.match(dry.err, /Dry run: EC2 would start it/);
    assert.equal((await ec2.send(new DescribeInstancesCommand({}))).Reservations?.length, before);
    assert.deepEqual(await groups(dry.name), []);
  });

  it('starts nothing without --yes while a price is not known', async () => {
    const up = await fleet('up', '--url', 'http://relay.example:8080/');
    assert.equal(up.code, 1);
    assert.match(up.out, /Not known \(--yes continues without it\)/);
    assert.match(up.err, /Nothing was started/);
    assert.deepEqual(await instances(up.name), []);
  });

  it('reaps everything past its deadline, whoever started it, and nothing else', async () => {
    const young = await fleet('up', ...LOAD, '--instances', '1');
    const old = await fleet('up', ...LOAD, '--instances', '1', '--owner', 'bob');
    const { CreateTagsCommand } = await import('@aws-sdk/client-ec2');
    const past = [{ Key: 'sprites:deadline', Value: '2026-01-01T00:00:00.000Z' }];
    const [instance] = await instances(old.name);
    const [group] = await groups(old.name);
    await ec2.send(
      new CreateTagsCommand({ Resources: [instance.InstanceId as string, group.GroupId as string], Tags: past }),
    );
    assert.match((await fleet('status')).out, /PAST ITS DEADLINE/);
    assert.match((await fleet('reap', '--dry-run')).out, new RegExp(`1 would be terminated ${instance.InstanceId}`));
    assert.match((await fleet('reap')).out, /1 terminated/);
    assert.equal((await instances(old.name))[0].State?.Name, 'terminated');
    assert.equal((await instances(young.name))[0].State?.Name, 'running');
    assert.match((await fleet('down', '--all')).out, /1 terminated/);
  });

  it('reports what instances have cost', async () => {
    const { name } = await fleet('up', ...LOAD, '--instances', '1');
    assert.match(
      (await fleet('cost', '--fleet', name)).out,
      new RegExp(`^${name} .*price not known.*0\\.02 instance hours, 1 running`, 'm'),
    );
    await fleet('down', '--fleet', name);
  });

  it('runs a fleet that is booted with the load of the command line, and writes it down', async () => {
    const { name, err } = await fleet('up', ...LOAD, '--instances', '1', '--desktops', '100');
    assert.match(err, /1 of 1 instances started/);
    const changes = ['--desktops', '250', '--rate', '0', '--ready-within', '1', '--', '--sprite-bytes', '400'];
    // No instance of moto ever is ready: with the 300 s of the boot this would take as long.
    const run = await fleet('run', '--fleet', name, ...changes);
    assert.equal(run.code, 1);
    assert.match(run.err, /0 of 1 instances are ready/);
    const aws = connect({ region: 'us-east-1', endpoint: moto.url });
    const { load, wanted, readySeconds } = await readRecord(aws, BUCKET, name);
    assert.deepEqual([load?.desktops, load?.rate, load?.seconds, load?.more], [250, 0, 30, { spriteBytes: 400 }]);
    assert.deepEqual([wanted.load?.desktops, wanted.instances, readySeconds], [250, 1, 1]);
  });

  it('names the latest bundle in the job of a script that was pasted, until its addresses expire', async () => {
    const script = await fleet('user-data', ...LOAD.slice(0, 2), '--desktops', '70', '--valid-hours', '1');
    const { name } = script;
    const aws = connect({ region: 'us-east-1', endpoint: moto.url });
    const before = readJob(await aws.buckets.get(BUCKET, keys.job(name)));
    await aws.buckets.put(BUCKET, keys.job(name), 'stale');
    const updated = await fleet('update', '--fleet', name);
    assert.equal(updated.code, 0, updated.err);
    assert.match(updated.err, /runs the latest code after its next boot/);
    const after = readJob(await aws.buckets.get(BUCKET, keys.job(name)));
    assert.deepEqual({ ...after, bundle: '' }, { ...before, bundle: '' });
    assert.match(after.plan?.world ?? '', /^swarm-\S+-%i$/);
    assert.equal(
      Object.values(after.plan?.mix ?? {}).reduce((sum, some) => sum + some, 0),
      70,
    );
    const record = await readRecord(aws, BUCKET, name);
    await aws.buckets.put(BUCKET, keys.fleet(name), JSON.stringify({ ...record, deadlineMs: Date.now() - 1 }));
    const late = await fleet('update', '--fleet', name);
    assert.equal(late.code, 1);
    assert.match(late.err, /ended at 20\S+Z, and so did the addresses in its boot script/);
  });

  it('prints a script that fits into user data even with the long token of a session, and contains no secret', async () => {
    const token = 'T'.repeat(1_500); // about 1,200 are usual
    process.env.AWS_SESSION_TOKEN = token;
    const { code, out, err, name } = await fleet(
      'user-data',
      '--url',
      'http://relay.example:8080/',
      '--desktops',
      '5000',
    );
    delete process.env.AWS_SESSION_TOKEN;
    assert.equal(code, 0, err);
    assert.match(out, /^#!\/bin\/bash\n/);
    assert.ok(out.split(token).length > 2, 'the token is part of the signed addresses');
    assert.ok(Buffer.byteLength(out) <= USER_DATA_BYTES_MAX, `${Buffer.byteLength(out)}`);
    assert.match(err, new RegExp(`collect --fleet ${name}`));
  });

  it('creates a bucket whose objects expire', async () => {
    const credentials = { accessKeyId: NOBODY.AWS_ACCESS_KEY_ID, secretAccessKey: NOBODY.AWS_SECRET_ACCESS_KEY };
    const s3 = new S3Client({ region: 'us-east-1', endpoint: moto.url, credentials, forcePathStyle: true });
    const { Rules = [] } = await s3.send(new GetBucketLifecycleConfigurationCommand({ Bucket: BUCKET }));
    assert.deepEqual(
      Rules.map(({ Status, Expiration }) => [Status, Expiration?.Days]),
      [['Enabled', 7]],
    );
    s3.destroy();
  });
});

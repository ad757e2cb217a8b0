/**
 * policy.json against every call that the fleet command makes: the lives of fleets of each kind are recorded below the real SDK,
 * and an evaluator of IAM's rules decides about each call. moto itself enforces no policy.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connect } from '../aws.ts';
import { collect } from '../collect.ts';
import { boot, type Context, observe, rehearse, runLoad, takeDown } from '../fleet.ts';
import type { Load } from '../job.ts';
import { planFleet, type Wanted } from '../plan.ts';
import { sharedMoto } from './account.ts';
import { authorizations } from './authorizations.ts';
import { type AccessRequest, evaluate, type Policy } from './iam.ts';
import { installMoto, type Moto, NOBODY } from './moto.ts';
import { BUNDLE } from './stand_in.ts';
import { type Call, stub } from './stub.ts';

const POLICY = JSON.parse(readFileSync(join(import.meta.dirname, '../policy.json'), 'utf8')) as Policy;
const REGION = 'eu-south-2';
const BUCKET = 'sprites-policy-test';
const BOOT_OPTIONS = { readySeconds: 60, allow: ['203.0.113.7/32'] };
const LOAD: Load = {
  ...{ relays: [new URL('http://relay.example:8080/')], desktops: 10, rate: 1, seconds: 1, warmUpSeconds: 0 },
  ...{ connectRate: 10, thresholds: [], more: {} },
};

const why = installMoto();

describe('policy', { skip: why ?? false, timeout: 900_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'sprites-policy-'));
  let moto: Moto;
  let made = 0;
  before(async () => {
    Object.assign(process.env, NOBODY);
    moto = await sharedMoto();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** The whole life of a fleet with this way to buy. Returns every call that was made. */
  async function calls(changes: Partial<Wanted>): Promise<Call[]> {
    const recorded = stub(({ name }) =>
      name === 'ec2 GetConsoleOutput'
        ? { status: 200, body: '<GetConsoleOutputResponse/>', headers: { 'content-type': 'text/xml' } }
        : undefined,
    );
    let nowMs = Date.now();
    const context: Context = {
      aws: connect({ region: REGION, endpoint: moto.url, requestHandler: recorded.handler }),
      say: () => {},
      nowMs: () => nowMs,
      sleep: async (ms) => {
        nowMs += ms;
      },
      signal: new AbortController().signal,
    };
    const wanted: Wanted = {
      ...{ fleet: `swarm-261121-0000-00${(made++).toString(16).padStart(2, '0')}`, role: 'swarm', owner: 'ann' },
      ...{ region: REGION, bucket: `${BUCKET}-${made}`, buy: 'on-demand', types: ['c6i.large'] },
      ...{ instances: 2, atLeast: 2, minutes: 60, maxCostUsd: 100 },
      ...changes,
    };
    const plan = planFleet(wanted, await observe(context, wanted, BOOT_OPTIONS));
    await rehearse(context, plan, BOOT_OPTIONS);
    const record = await boot(context, {
      plan,
      bundle: BUNDLE,
      bootOptions: BOOT_OPTIONS,
      load: wanted.role === 'swarm' ? LOAD : undefined,
    });
    const { fleet, bucket } = record.wanted;
    for (const id of record.started) {
      // Signed by the same user, so the policy is asked about what instances do, too.
      recorded.calls.push({ name: `s3 GET /${bucket}/runs/${fleet}/job`, body: '' });
      for (const end of ['ready', 'parked'])
        await context.aws.buckets.put(bucket, `runs/${fleet}/${id}.${end}.json`, '{}');
      await context.aws.buckets.put(bucket, `runs/${fleet}/${id}.log`, 'ended');
    }
    await runLoad(context, record).catch(() => {}); // every instance has posted a log, so it takes the fleet down
    await collect(context.aws, record, join(folder, fleet), nowMs);
    await context.aws.compute.regions();
    await context.aws.compute.consoleOutput(record.started[0]);
    await takeDown(context, fleet);
    return recorded.calls;
  }

  function refused(made: readonly Call[]): string[] {
    const requests = authorizations(made, REGION).flatMap(([call, all]) => all.map((one) => ({ call, one })));
    return requests
      .filter(({ one }) => evaluate(POLICY, one) !== 'allowed')
      .map(({ call, one }) => `${call.name}: ${one.action} on ${one.resource} with ${JSON.stringify(one.context)}`);
  }

  const fleets: [string, Partial<Wanted>, string[]][] = [
    ['on demand', {}, ['RunInstances', 'CreateSecurityGroup', 'TerminateInstances', 'DeleteSecurityGroup']],
    ['as spot', { buy: 'spot' }, ['RunInstances']],
    [
      'as a fleet of several types',
      { buy: 'fleet', types: ['c6i.large', 'm6i.large'] },
      ['CreateFleet', 'DeleteLaunchTemplate'],
    ],
    [
      'with several private addresses',
      { buy: 'spot', load: { desktops: 100_000, rate: 1, seconds: 1, relay: 'http://relay.example:8080/' } },
      ['RunInstances'],
    ],
    ['as a relay', { role: 'relay', instances: 1, atLeast: 1 }, ['AuthorizeSecurityGroupIngress']],
    [
      'as a cluster of relays',
      { role: 'relay', relays: 3, instances: 4, atLeast: 4, buy: 'spot' },
      ['AuthorizeSecurityGroupIngress', 'RunInstances'],
    ],
  ];
  for (const [how, wanted, operations] of fleets) {
    it(`allows every call in the life of instances that are bought ${how}, the dry run included`, async () => {
      const made = await calls(wanted);
      for (const operation of operations) {
        assert.ok(
          made.some(({ name }) => name === `ec2 ${operation}`),
          `${operation} is not among the calls`,
        );
      }
      assert.ok(made.some(({ body }) => body.includes('DryRun=true')));
      assert.deepEqual(refused(made), []);
    });
  }

  it('allows EC2 to create the role that the first spot instance of an account needs', () => {
    for (const service of ['spot', 'ec2fleet']) {
      const resource = `arn:aws:iam::123456789012:role/aws-service-role/${service}.amazonaws.com/AWSServiceRoleForIt`;
      const context = { 'iam:AWSServiceName': `${service}.amazonaws.com` };
      assert.equal(evaluate(POLICY, { action: 'iam:CreateServiceLinkedRole', resource, context }), 'allowed');
    }
  });

  const tags = { 'aws:RequestTag/sprites:fleet': 'f', 'aws:RequestTag/sprites:deadline': 'd' };
  const own = { 'aws:ResourceTag/sprites:fleet': 'f' };
  const arn = (what: string) => `arn:aws:ec2:${REGION}:123456789012:${what}`;
  const forbidden: [string, AccessRequest][] = [
    [
      'an instance without a deadline',
      request('ec2:RunInstances', arn('instance/*'), { 'aws:RequestTag/sprites:fleet': 'f' }),
    ],
    [
      'an instance without a fleet',
      request('ec2:RunInstances', arn('instance/*'), { 'aws:RequestTag/sprites:deadline': 'd' }),
    ],
    ["the network's default security group", request('ec2:RunInstances', arn('security-group/sg-default'), {})],
    ['a launch template of somebody else', request('ec2:CreateFleet', arn('launch-template/lt-1'), {})],
    ['tagging an instance that exists', request('ec2:CreateTags', arn('instance/i-1'), { ...tags, ...own })],
    ['terminating an instance of no fleet', request('ec2:TerminateInstances', arn('instance/i-1'), {})],
    ['opening ports of another group', request('ec2:AuthorizeSecurityGroupIngress', arn('security-group/sg-1'), {})],
    ['deleting another group', request('ec2:DeleteSecurityGroup', arn('security-group/sg-1'), tags)],
    ['stopping an instance', request('ec2:StopInstances', arn('instance/i-1'), own)],
    ['another bucket', request('s3:GetObject', 'arn:aws:s3:::payroll/2026.csv', {})],
    ['deleting objects', request('s3:DeleteObject', 'arn:aws:s3:::sprites-a/runs/f/job', {})],
    [
      'parameters that are not images',
      request('ssm:GetParameter', `arn:aws:ssm:${REGION}:123456789012:parameter/secret`, {}),
    ],
    [
      'a role for another service',
      request('iam:CreateServiceLinkedRole', 'arn:aws:iam::123456789012:role/aws-service-role/x', {
        'iam:AWSServiceName': 'elasticbeanstalk.amazonaws.com',
      }),
    ],
  ];
  for (const [what, one] of forbidden) {
    it(`does not allow ${what}`, () => assert.equal(evaluate(POLICY, one), 'implicitly denied'));
  }
});

function request(action: string, resource: string, context: AccessRequest['context']): AccessRequest {
  return { action, resource, context };
}

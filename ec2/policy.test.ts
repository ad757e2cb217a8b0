/** policy.json allows the calls that aws.ts and aws/ make, and nothing else. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

interface Statement {
  Sid: string;
  Effect: string;
  Action: string | string[];
  Resource: string | string[];
  Condition?: object;
}

/** The only programs that may import the SDK. Commands are looked for in exactly these. */
const IMPORTERS = [
  'aws.ts',
  'aws/bucket.ts',
  'aws/compute.ts',
  'aws/instances.ts',
  'aws/launch.ts',
  'aws/prices.ts',
  'aws/quotas.ts',
  'aws/tags.ts',
];
const read = (file: string) => readFileSync(join(import.meta.dirname, file), 'utf8');

const { Statement: STATEMENTS } = JSON.parse(read('policy.json')) as { Statement: Statement[] };
const ALLOWED = STATEMENTS.flatMap(({ Action }) => Action);

const SERVICES: Record<string, string> = {
  'client-ec2': 'ec2',
  'client-s3': 's3',
  'client-ssm': 'ssm',
  'client-service-quotas': 'servicequotas',
  'client-pricing': 'pricing',
};

/** Actions whose name in IAM differs from the command's; source: the service authorization reference of S3. */
const ACTION_OF: Record<string, string> = {
  's3:HeadBucket': 's3:ListBucket',
  's3:ListObjectsV2': 's3:ListBucket',
  's3:HeadObject': 's3:GetObject',
  's3:PutBucketLifecycleConfiguration': 's3:PutLifecycleConfiguration',
};

/** Actions EC2 performs for the caller: tagging at launch, and creating the role that an account's first spot instance needs. */
const IMPLIED = ['ec2:CreateTags', 'iam:CreateServiceLinkedRole'];

/** The actions of every command that is constructed in IMPORTERS, or whose pages are read there. */
function requestedActions(): string[] {
  const actions = IMPORTERS.flatMap((file) => {
    const source = read(file);
    const imports = [...source.matchAll(/import \{([^}]*)\} from '@aws-sdk\/([\w-]+)'/g)];
    const serviceOf = new Map(
      imports.flatMap(([, names, from]) =>
        [...names.matchAll(/(\w+)Command\b|\bpaginate(\w+)/g)].map(([, name, paged]) => [
          name ?? paged,
          SERVICES[from],
        ]),
      ),
    );
    const asked = [...source.matchAll(/new (\w+)Command\(|\bpaginate(\w+)\(/g)].map(([, name, paged]) => name ?? paged);
    return asked.map((name) => `${serviceOf.get(name)}:${name}`);
  });
  return [...new Set(actions.map((action) => ACTION_OF[action] ?? action))].sort();
}

describe('policy', () => {
  it('allows the requested actions and nothing else', () => {
    const actions = requestedActions();
    assert.ok(actions.length > 20 && actions.every((action) => /^[a-z0-9]+:[A-Z]\w+$/.test(action)), actions.join(' '));
    assert.deepEqual([...new Set(ALLOWED)].sort(), [...actions, ...IMPLIED].sort());
  });

  it('does not allow starting anything without a deadline or changing anything outside a fleet', () => {
    const ofAction = (action: string) => STATEMENTS.filter(({ Action }) => [Action].flat().includes(action));
    for (const action of [
      'ec2:TerminateInstances',
      'ec2:DeleteSecurityGroup',
      'ec2:DeleteLaunchTemplate',
      'ec2:AuthorizeSecurityGroupIngress',
    ]) {
      for (const { Condition } of ofAction(action))
        assert.match(JSON.stringify(Condition), /aws:ResourceTag\/sprites:fleet":"false"/);
    }
    const instances = ofAction('ec2:RunInstances').filter(({ Resource }) =>
      [Resource].flat().some((one) => one.includes(':instance/')),
    );
    assert.equal(instances.length, 1);
    assert.match(JSON.stringify(instances[0].Condition), /aws:RequestTag\/sprites:deadline":"false"/);
    assert.match(JSON.stringify(ofAction('ec2:CreateTags').map(({ Condition }) => Condition)), /ec2:CreateAction/);
  });

  it('has no star among its actions, and a star as resource only where EC2 supports nothing narrower', () => {
    assert.deepEqual(
      ALLOWED.filter((action) => action.includes('*')),
      [],
    );
    assert.deepEqual(
      STATEMENTS.filter(({ Resource }) => Resource === '*').map(({ Sid }) => Sid),
      ['Read', 'EndFleetResources'],
    );
  });

  it('covers every use of the SDK, because no other program imports it', () => {
    const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' });
    const programs = files.filter(
      (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('test/'),
    );
    const importing = programs.filter((file) => /from '@aws-sdk\//.test(read(file)));
    assert.deepEqual(importing.sort(), IMPORTERS);
  });
});

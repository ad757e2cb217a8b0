/** The policy allows what aws.ts asks for, and nothing else. */
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

const SOURCE = readFileSync(join(import.meta.dirname, 'aws.ts'), 'utf8');
const { Statement: STATEMENTS } = JSON.parse(readFileSync(join(import.meta.dirname, 'policy.json'), 'utf8')) as {
  Statement: Statement[];
};
const ALLOWED = STATEMENTS.flatMap(({ Action }) => Action);

const SERVICES: Record<string, string> = {
  'client-ec2': 'ec2',
  'client-s3': 's3',
  'client-ssm': 'ssm',
  'client-service-quotas': 'servicequotas',
  'client-pricing': 'pricing',
};

/** Where IAM calls an action otherwise than the command; source: the service authorization reference of S3. */
const CALLED: Record<string, string> = {
  's3:HeadBucket': 's3:ListBucket',
  's3:ListObjectsV2': 's3:ListBucket',
  's3:HeadObject': 's3:GetObject',
  's3:DeleteObjects': 's3:DeleteObject',
  's3:PutBucketLifecycleConfiguration': 's3:PutLifecycleConfiguration',
};

/** What EC2 does in the name of who asks: tags that come with a launch, the role spot instances need once in an account. */
const IMPLIED = ['ec2:CreateTags', 'iam:CreateServiceLinkedRole'];

/** Actions of every command that aws.ts makes. */
function asked(): string[] {
  const imports = [...SOURCE.matchAll(/import \{([^}]*)\} from '@aws-sdk\/([\w-]+)'/g)];
  const serviceOf = new Map(
    imports.flatMap(([, names, from]) =>
      [...names.matchAll(/(\w+)Command\b/g)].map(([, name]) => [name, SERVICES[from]]),
    ),
  );
  const made = [...SOURCE.matchAll(/new (\w+)Command\(/g)].map(([, name]) => `${serviceOf.get(name)}:${name}`);
  return [...new Set(made.map((action) => CALLED[action] ?? action))].sort();
}

describe('policy', () => {
  it('allows what is asked for, and nothing else', () => {
    const actions = asked();
    assert.ok(actions.length > 20 && actions.every((action) => /^[a-z0-9]+:[A-Z]\w+$/.test(action)), actions.join(' '));
    assert.deepEqual([...new Set(ALLOWED)].sort(), [...actions, ...IMPLIED].sort());
  });

  it('lets nobody start what has no deadline, or touch what is not a fleet', () => {
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

  it('has no star among its actions, and stars as resources only where EC2 knows no others', () => {
    assert.deepEqual(
      ALLOWED.filter((action) => action.includes('*')),
      [],
    );
    assert.deepEqual(
      STATEMENTS.filter(({ Resource }) => Resource === '*').map(({ Sid }) => Sid),
      ['Look', 'EndWhatIsOurs'],
    );
  });

  it('covers the whole use of the SDK: no other file imports it', () => {
    const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' });
    const programs = files.filter(
      (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('test/'),
    );
    const importing = programs.filter((file) =>
      /from '@aws-sdk\//.test(readFileSync(join(import.meta.dirname, file), 'utf8')),
    );
    assert.deepEqual(importing, ['aws.ts']);
  });
});

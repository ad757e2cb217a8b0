/**
 * What AWS asks a policy about each call: which action on which resources, with which condition keys.
 *
 * A call that creates something is asked about once for each resource that it creates or uses, and once more for tagging each
 * of them. Invariant: a call that is not translated here throws, so that none is left out.
 * Source: Service Authorization Reference, "Actions, resources, and condition keys for Amazon EC2" (and S3, Systems Manager,
 * Service Quotas, Price List); EC2 User Guide, "Grant permission to tag Amazon EC2 resources during creation".
 */
import type { AccessRequest } from './iam.ts';
import type { Call } from './stub.ts';

type Tags = Readonly<Record<string, string>>;

const ACCOUNT = '123456789012';

/** The tags of everything that earlier calls created, by id. */
type Known = Map<string, Tags>;

/** The requests of all calls, in order. A resource has the tags with which an earlier one of the calls created it. */
export function authorizations(calls: readonly Call[], region: string): [call: Call, requests: AccessRequest[]][] {
  const known: Known = new Map();
  const templates = new Map<string, URLSearchParams>();
  return calls.map((call) => {
    const requests = requestsOf(call, region, known, templates);
    return [call, requests];
  });
}

function requestsOf(
  { name, body, response = '' }: Call,
  region: string,
  known: Known,
  templates: Map<string, URLSearchParams>,
): AccessRequest[] {
  const [service, operation, path = ''] = name.split(' ');
  if (service === 's3') return [s3Request(operation, path, body)];
  if (service === 'pricing') return [{ action: `pricing:${operation}`, resource: '*', context: {} }];
  if (service === 'servicequotas') {
    const { ServiceCode, QuotaCode } = JSON.parse(body);
    const resource = `arn:aws:servicequotas:${region}:${ACCOUNT}:${ServiceCode}/${QuotaCode}`;
    return [{ action: `servicequotas:${operation}`, resource, context: {} }];
  }
  if (service === 'ssm') {
    return [
      { action: `ssm:${operation}`, resource: `arn:aws:ssm:${region}::parameter${JSON.parse(body).Name}`, context: {} },
    ];
  }
  const form = new URLSearchParams(body);
  const action = `ec2:${operation}`;
  const arn = (kind: string, id: string, account = ACCOUNT) => `arn:aws:ec2:${region}:${account}:${kind}/${id}`;
  const existing = (kind: string, id: string, by = action): AccessRequest => ({
    ...{ action: by, resource: arn(kind, id) },
    context: tagContext('aws:ResourceTag', known.get(id) ?? {}),
  });
  const created = (kind: string, tags: Tags | undefined, by = action): AccessRequest => ({
    ...{ action: by, resource: arn(kind, '*') },
    context: tagContext('aws:RequestTag', tags ?? {}),
  });
  const tagging = (tagged: ReadonlyMap<string, Tags>, createAction: string): AccessRequest[] =>
    [...tagged].map(([kind, tags]) => ({
      ...{ action: 'ec2:CreateTags', resource: arn(kind, '*') },
      context: { ...tagContext('aws:RequestTag', tags), 'ec2:CreateAction': createAction },
    }));
  /** Everything that starting instances creates and uses. Without a group it uses the network's default one. */
  const starting = (by: string, what: URLSearchParams, tagged: ReadonlyMap<string, Tags>, isSpot: boolean) => {
    const groups = [...what].filter(([key]) => /SecurityGroupId\.\d+$/.test(key)).map(([, id]) => id);
    const subnets = [...what].filter(([key]) => /SubnetId$/.test(key)).map(([, id]) => id);
    return [
      { action: by, resource: arn('image', what.get('ImageId') ?? '*', ''), context: {} },
      { action: by, resource: arn('snapshot', 'snap-1', ''), context: {} },
      created('instance', tagged.get('instance'), by),
      created('volume', tagged.get('volume'), by),
      created('network-interface', tagged.get('network-interface'), by),
      ...(groups.length > 0 ? groups : ['sg-default']).map((id) => existing('security-group', id, by)),
      ...(subnets.length > 0 ? subnets : ['subnet-default']).map((id) => existing('subnet', id, by)),
      ...(isSpot ? [created('spot-instances-request', tagged.get('spot-instances-request'), by)] : []),
    ];
  };
  const ids = (pattern: RegExp) => [...response.matchAll(pattern)].map(([, id]) => id);
  const list = (prefix: string) => [...form].filter(([key]) => key.startsWith(prefix)).map(([, value]) => value);
  const tagged = tagsIn(form, 'TagSpecification');
  const remember = (kind: string, pattern: RegExp) => {
    for (const id of ids(pattern)) known.set(id, tagged.get(kind) ?? {});
  };
  if (/^Describe/.test(operation)) return [{ action, resource: '*', context: {} }];
  switch (operation) {
    case 'CreateSecurityGroup':
      remember('security-group', /<groupId>(sg-\w+)/g);
      return [
        created('security-group', tagged.get('security-group')),
        existing('vpc', form.get('VpcId') as string),
        ...tagging(tagged, operation),
      ];
    case 'CreateLaunchTemplate': {
      remember('launch-template', /<launchTemplateId>(lt-\w+)/g);
      const inside = [...form].filter(([key]) => key.startsWith('LaunchTemplateData.'));
      const template = new URLSearchParams(
        inside.map(([key, value]) => [key.slice('LaunchTemplateData.'.length), value]),
      );
      for (const id of ids(/<launchTemplateId>(lt-\w+)/g)) templates.set(id, template);
      return [created('launch-template', tagged.get('launch-template')), ...tagging(tagged, operation)];
    }
    case 'RunInstances':
      remember('instance', /<instanceId>(i-\w+)/g);
      return [
        ...starting(action, form, tagged, form.has('InstanceMarketOptions.MarketType')),
        ...tagging(tagged, operation),
      ];
    case 'CreateFleet': {
      remember('instance', /<item>(i-\w+)/g);
      const id = form.get('LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateId') as string;
      const template = templates.get(id) as URLSearchParams;
      const whole = new URLSearchParams([...template, ...form]);
      const all = new Map([...tagsIn(template, 'TagSpecification'), ...tagged]);
      const { fleet, ...ofInstances } = Object.fromEntries(all);
      return [
        created('fleet', fleet),
        // An instant fleet starts its instances in the caller's name.
        ...[action, 'ec2:RunInstances'].flatMap((by) => [
          existing('launch-template', id, by),
          ...starting(by, whole, all, true),
        ]),
        ...tagging(new Map([['fleet', fleet]]), operation),
        ...['CreateFleet', 'RunInstances'].flatMap((by) => tagging(new Map(Object.entries(ofInstances)), by)),
      ];
    }
    case 'AuthorizeSecurityGroupIngress':
    case 'DeleteSecurityGroup':
      return [existing('security-group', form.get('GroupId') as string)];
    case 'DeleteLaunchTemplate':
      return [existing('launch-template', form.get('LaunchTemplateId') as string)];
    case 'TerminateInstances':
      return list('InstanceId.').map((id) => existing('instance', id));
    case 'GetConsoleOutput':
      return [existing('instance', form.get('InstanceId') as string)];
    default:
      throw new Error(`${name} is not translated`);
  }
}

function s3Request(method: string, path: string, body: string): AccessRequest {
  const [, bucket, ...rest] = path.split('/');
  const key = rest.join('/');
  if (key !== '') {
    const action = { GET: 's3:GetObject', HEAD: 's3:GetObject', PUT: 's3:PutObject', POST: 's3:PutObject' }[method];
    if (action) return { action, resource: `arn:aws:s3:::${bucket}/${key}`, context: {} };
  } else {
    const put = body.includes('LifecycleConfiguration') ? 's3:PutLifecycleConfiguration' : 's3:CreateBucket';
    const action = { GET: 's3:ListBucket', HEAD: 's3:ListBucket', PUT: put }[method];
    if (action) return { action, resource: `arn:aws:s3:::${bucket}`, context: {} };
  }
  throw new Error(`s3 ${method} ${path} is not translated`);
}

/** Tags by kind of resource, of the fields `PREFIX.1.ResourceType`, `PREFIX.1.Tag.1.Key` and so on. */
function tagsIn(form: URLSearchParams, prefix: string): Map<string, Tags> {
  const tagged = new Map<string, Tags>();
  for (let i = 1; form.has(`${prefix}.${i}.ResourceType`); i++) {
    const tags: Record<string, string> = {};
    for (let j = 1; form.has(`${prefix}.${i}.Tag.${j}.Key`); j++) {
      tags[form.get(`${prefix}.${i}.Tag.${j}.Key`) as string] = form.get(`${prefix}.${i}.Tag.${j}.Value`) ?? '';
    }
    tagged.set(form.get(`${prefix}.${i}.ResourceType`) as string, tags);
  }
  return tagged;
}

function tagContext(key: string, tags: Tags): Record<string, string> {
  return Object.fromEntries(Object.entries(tags).map(([name, value]) => [`${key}/${name}`, value]));
}

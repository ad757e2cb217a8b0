/**
 * AWS: all that is asked of it, and the only file that knows its SDK.
 *
 * Invariant: everything that is started carries the fleet's tags from its first moment (never by a second call), can be
 * asked for again without starting it twice, and is told to terminate when it shuts down. Refusals come as `Refused`, after
 * the SDK's own retries. A test holds policy.json against the commands named here.
 */
import { readFileSync } from 'node:fs';
import {
  AuthorizeSecurityGroupIngressCommand,
  CreateFleetCommand,
  CreateLaunchTemplateCommand,
  CreateSecurityGroupCommand,
  DeleteLaunchTemplateCommand,
  DeleteSecurityGroupCommand,
  DescribeImagesCommand,
  DescribeInstancesCommand,
  DescribeInstanceTypesCommand,
  DescribeLaunchTemplatesCommand,
  DescribeRegionsCommand,
  DescribeSecurityGroupsCommand,
  DescribeSpotPriceHistoryCommand,
  DescribeSubnetsCommand,
  DescribeVpcsCommand,
  EC2Client,
  type Instance as Ec2Instance,
  type Filter,
  GetConsoleOutputCommand,
  type ResourceType,
  RunInstancesCommand,
  type RunInstancesCommandInput,
  type TagSpecification,
  TerminateInstancesCommand,
  type _InstanceType as TypeName,
} from '@aws-sdk/client-ec2';
import { GetProductsCommand, type Filter as PriceFilter, PricingClient } from '@aws-sdk/client-pricing';
import {
  CreateBucketCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutBucketLifecycleConfigurationCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { GetServiceQuotaCommand, ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { explain, Refused } from './explain.ts';
import type { Architecture, Buy, Image, InstanceType, Prices, Reading } from './plan.ts';

/** Where the account is reached. `requestHandler` lets tests answer chosen calls under the SDK's own retries. */
export interface Connection {
  region: string;
  /** All services at one address, such as a simulator's on the loopback. */
  endpoint?: string;
  requestHandler?: EC2Client['config']['requestHandler'];
}

export interface Launch {
  fleet: string;
  role: 'swarm' | 'relay';
  owner: string;
  deadlineMs: number;
  buy: Buy;
  types: readonly string[];
  instances: number;
  atLeast: number;
  image: Image;
  userData: string;
  group?: string;
  subnets: readonly string[];
  /** The most a spot instance may pay for an hour; undefined: up to the on-demand price, EC2's own bound. */
  hourUsdMax?: number;
}

export interface Instance {
  id: string;
  fleet: string;
  owner: string;
  role: string;
  type: string;
  state: string;
  market: 'spot' | 'on-demand';
  zone: string;
  launchedMs: number;
  /** When it ended, as EC2 tells it. */
  endedMs?: number;
  deadlineMs: number;
  address?: string;
  /** Why it is in its state, in EC2's words. */
  reason: string;
}

/** What is left of a fleet besides instances. */
export interface Leftover {
  kind: 'security group' | 'launch template';
  id: string;
  fleet: string;
  owner: string;
  deadlineMs: number;
}

export interface Uploading {
  url: string;
  fields: Record<string, string>;
}

const TAG = { fleet: 'sprites:fleet', owner: 'sprites:owner', deadline: 'sprites:deadline', role: 'sprites:role' };

/** Instances of these states cost money, or will. */
export const ALIVE = ['pending', 'running', 'stopping', 'stopped'];

/** Retries of the SDK, with its own growing pauses. */
const ATTEMPTS_MAX = 3;

/** The price list is kept in few places; this one serves all. */
const PRICING_REGION = 'us-east-1';

/** Quotas count vCPUs of these families; others have quotas of their own. */
const STANDARD_FAMILY = /^[acdhimrtz]\d/;
const QUOTA = { 'on-demand': 'L-1216C47A', spot: 'L-34B43A08', fleet: 'L-34B43A08' } as const;

/** Amazon Linux 2023: kept by AWS, small, and the same name in every region. */
const IMAGE_PARAMETER = {
  x86_64: '/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64',
  arm64: '/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-arm64',
} as const;

/** Results and bundles are of use for days, and nobody remembers to delete them. */
const OBJECT_DAYS_MAX = 7;

/** A result with a histogram a second is some hundred KB. */
const UPLOAD_BYTES_MAX = 64 * 2 ** 20;

/** Price of EC2, of one spot market, is a dollar amount an hour per zone; the dearest counts. */
const SPOT_PRODUCT = 'Linux/UNIX';

export type Aws = ReturnType<typeof connect>;

/** The account, as far as a fleet needs it. Every function throws Refused. */
export function connect({ region, endpoint, requestHandler }: Connection) {
  const common = {
    region,
    maxAttempts: ATTEMPTS_MAX,
    ...(endpoint && { endpoint }),
    ...(requestHandler && { requestHandler }),
  };
  const ec2 = new EC2Client(common);
  const s3 = new S3Client({ ...common, forcePathStyle: endpoint !== undefined });
  const ssm = new SSMClient(common);
  const quotas = new ServiceQuotasClient(common);
  const pricing = new PricingClient({ ...common, region: PRICING_REGION });

  return {
    region,

    /** When the credentials end; undefined: never by themselves. */
    async credentialsEndMs(): Promise<number | undefined> {
      const { expiration } = await asked('credentials', s3.config.credentials());
      return expiration?.getTime();
    },

    async types(names: readonly string[]): Promise<InstanceType[]> {
      const request = new DescribeInstanceTypesCommand({ Filters: [{ Name: 'instance-type', Values: [...names] }] });
      const { InstanceTypes = [] } = await asked('instance types', ec2.send(request));
      return InstanceTypes.map((type) => ({
        name: type.InstanceType as string,
        architectures: type.ProcessorInfo?.SupportedArchitectures ?? [],
        vcpus: type.VCpuInfo?.DefaultVCpus ?? 0,
        memoryMiB: type.MemoryInfo?.SizeInMiB ?? 0,
      }));
    },

    /** The image of this id, or the newest Amazon Linux 2023. */
    async image(architecture: Architecture, id?: string): Promise<Image> {
      const wanted = id ?? (await parameter(IMAGE_PARAMETER[architecture]));
      const { Images = [] } = await asked('image', ec2.send(new DescribeImagesCommand({ ImageIds: [wanted] })));
      const [image] = Images;
      if (!image) throw new Refused('InvalidAMIID.NotFound', `image: there is no ${wanted} in ${region}`);
      const rootDevice = image.RootDeviceName ?? '/dev/xvda';
      const root = image.BlockDeviceMappings?.find((device) => device.DeviceName === rootDevice);
      return { id: wanted, architecture: image.Architecture ?? '', rootDevice, rootGib: root?.Ebs?.VolumeSize ?? 8 };
    },

    /** vCPUs the account may run of what is bought so. */
    async quotaVcpus(buy: Buy, types: readonly string[]): Promise<number> {
      const other = types.find((type) => !STANDARD_FAMILY.test(type));
      if (other) throw new Refused('family', `the quota of ${other}'s family is not one of the standard ones`);
      const request = new GetServiceQuotaCommand({ ServiceCode: 'ec2', QuotaCode: QUOTA[buy] });
      const { Quota } = await asked('quota', quotas.send(request));
      if (Quota?.Value === undefined) throw new Refused('quota', 'quota: AWS answered without a value');
      return Quota.Value;
    },

    /** vCPUs of the same quota that run already, of whatever. */
    async runningVcpus(buy: Buy): Promise<number> {
      const all = await instancesOf([{ Name: 'instance-state-name', Values: ['pending', 'running', 'stopping'] }]);
      const same = all.filter(
        (one) =>
          STANDARD_FAMILY.test(one.InstanceType ?? '') && (one.InstanceLifecycle === 'spot') === (buy !== 'on-demand'),
      );
      return same.reduce(
        (sum, { CpuOptions }) => sum + (CpuOptions?.CoreCount ?? 1) * (CpuOptions?.ThreadsPerCore ?? 1),
        0,
      );
    },

    /** What it costs there; each price is read for itself. */
    async prices(buy: Buy, types: readonly string[], nowMs: number): Promise<Prices> {
      const hour = (type: string) => (buy === 'on-demand' ? onDemandPrice(type) : spotPrice(type, nowMs));
      const [instance, address, volume, transfer] = await Promise.all([
        Promise.all(types.map(async (type) => [type, await reading(() => hour(type))] as const)),
        reading(() => listPrice('AmazonVPC', { group: 'VPCPublicIPv4Address' }, /InUseAddress/)),
        reading(() => listPrice('AmazonEC2', { productFamily: 'Storage', volumeApiName: 'gp3' }, /VolumeUsage/)),
        reading(() =>
          listPrice(
            'AWSDataTransfer',
            { transferType: 'AWS Outbound', toLocation: 'External' },
            /DataTransfer-Out-Bytes/,
            'fromRegionCode',
          ),
        ),
      ]);
      return { instance: Object.fromEntries(instance), address, volume, transfer };
    },

    /** Whether EC2 would let these credentials start it: asked with DryRun, nothing is started. */
    async rehearse(launch: Launch): Promise<void> {
      try {
        await ec2.send(new RunInstancesCommand({ ...runInstances(launch), DryRun: true }));
      } catch (error) {
        if ((error as Error).name !== 'DryRunOperation')
          throw explain(error, 'asking EC2 for these instances (dry run)');
      }
    },

    /** Starts them, all or as many as EC2 has but at least `atLeast`; says why others are missing. */
    async launch(launch: Launch): Promise<{ ids: string[]; missing: string[] }> {
      return launch.buy === 'fleet' ? await launchFleet(launch) : await launchInstances(launch);
    },

    async instances(fleet?: string): Promise<Instance[]> {
      const filter = fleet ? { Name: `tag:${TAG.fleet}`, Values: [fleet] } : { Name: 'tag-key', Values: [TAG.fleet] };
      return (await instancesOf([filter])).map(readInstance);
    },

    async terminate(ids: readonly string[]): Promise<void> {
      if (ids.length === 0) return;
      await asked('terminating instances', ec2.send(new TerminateInstancesCommand({ InstanceIds: [...ids] })));
    },

    /** The last that an instance wrote to its console, where it told of an end that it could not post. */
    async consoleOutput(id: string): Promise<string> {
      const request = new GetConsoleOutputCommand({ InstanceId: id, Latest: false });
      const { Output } = await asked(`console of ${id}`, ec2.send(request));
      return Output ? Buffer.from(Output, 'base64').toString('utf8') : '';
    },

    /** The network of a subnet, or else the default one, and the subnets to start in; none given: EC2 chooses. */
    async network(subnet?: string): Promise<{ vpc: string; subnets: string[] }> {
      if (subnet) {
        const request = new DescribeSubnetsCommand({ SubnetIds: [subnet] });
        const { Subnets = [] } = await asked(`subnet ${subnet}`, ec2.send(request));
        return { vpc: Subnets[0]?.VpcId as string, subnets: [subnet] };
      }
      const request = new DescribeVpcsCommand({ Filters: [{ Name: 'is-default', Values: ['true'] }] });
      const { Vpcs = [] } = await asked('default network', ec2.send(request));
      const vpc = Vpcs[0]?.VpcId;
      if (!vpc) throw new Refused('network', `there is no default network in ${region}: name a --subnet`);
      const ofVpc = new DescribeSubnetsCommand({
        Filters: [
          { Name: 'vpc-id', Values: [vpc] },
          { Name: 'default-for-az', Values: ['true'] },
        ],
      });
      const { Subnets = [] } = await asked('default subnets', ec2.send(ofVpc));
      return { vpc, subnets: Subnets.flatMap(({ SubnetId }) => SubnetId ?? []) };
    },

    /** A security group for the fleet: nothing comes in, but for `ports` from `from`. */
    async createGroup(
      launch: Pick<Launch, 'fleet' | 'owner' | 'role' | 'deadlineMs'>,
      vpc: string,
      ports: readonly number[],
      from: string,
    ): Promise<string> {
      const request = new CreateSecurityGroupCommand({
        GroupName: `sprites-${launch.fleet}`,
        Description: `Sprites ${launch.role} ${launch.fleet}`,
        VpcId: vpc,
        TagSpecifications: tags(launch, ['security-group']),
      });
      const { GroupId } = await asked('creating the security group', ec2.send(request));
      if (ports.length > 0) {
        const range = from.includes(':') ? { Ipv6Ranges: [{ CidrIpv6: from }] } : { IpRanges: [{ CidrIp: from }] };
        const permissions = ports.map((port) => ({ IpProtocol: 'tcp', FromPort: port, ToPort: port, ...range }));
        const opening = new AuthorizeSecurityGroupIngressCommand({ GroupId, IpPermissions: permissions });
        await asked(`opening ports to ${from}`, ec2.send(opening));
      }
      return GroupId as string;
    },

    /** Security groups and launch templates that fleets left behind; they cost nothing. */
    async leftovers(fleet?: string): Promise<Leftover[]> {
      const Filters: Filter[] = [
        fleet ? { Name: `tag:${TAG.fleet}`, Values: [fleet] } : { Name: 'tag-key', Values: [TAG.fleet] },
      ];
      const groups = await asked('security groups', ec2.send(new DescribeSecurityGroupsCommand({ Filters })));
      const templates = await asked('launch templates', ec2.send(new DescribeLaunchTemplatesCommand({ Filters })));
      return [
        ...(groups.SecurityGroups ?? []).map((group) => ({
          kind: 'security group' as const,
          id: group.GroupId as string,
          ...readTags(group.Tags),
        })),
        ...(templates.LaunchTemplates ?? []).map((template) => ({
          kind: 'launch template' as const,
          id: template.LaunchTemplateId as string,
          ...readTags(template.Tags),
        })),
      ];
    },

    async remove({ kind, id }: Leftover): Promise<void> {
      const request =
        kind === 'security group'
          ? ec2.send(new DeleteSecurityGroupCommand({ GroupId: id }))
          : ec2.send(new DeleteLaunchTemplateCommand({ LaunchTemplateId: id }));
      await asked(`deleting the ${kind} ${id}`, request as Promise<unknown>);
    },

    async regions(): Promise<string[]> {
      const { Regions = [] } = await asked('regions', ec2.send(new DescribeRegionsCommand({})));
      return Regions.flatMap(({ RegionName }) => RegionName ?? []).sort();
    },

    /** Makes the bucket if it is not there; what lies in it is deleted after a week. */
    async ensureBucket(Bucket: string): Promise<void> {
      const there = await s3.send(new HeadBucketCommand({ Bucket })).then(
        () => true,
        (error) => {
          if (error.name === 'NotFound' || error.name === 'NoSuchBucket') return false;
          throw explain(error.name === '403' ? { name: 'BucketAlreadyExists' } : error, `bucket ${Bucket}`);
        },
      );
      if (there) return;
      // us-east-1 is the one region that may not be named.
      const place =
        region === 'us-east-1' ? {} : { CreateBucketConfiguration: { LocationConstraint: region as never } };
      await asked(`creating the bucket ${Bucket}`, s3.send(new CreateBucketCommand({ Bucket, ...place })));
      const Rules = [
        { ID: 'sprites', Status: 'Enabled' as const, Filter: { Prefix: '' }, Expiration: { Days: OBJECT_DAYS_MAX } },
      ];
      const request = new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules } });
      await asked(`lifecycle of ${Bucket}`, s3.send(request));
    },

    async put(Bucket: string, Key: string, body: string | Uint8Array): Promise<void> {
      await asked(`writing ${Key}`, s3.send(new PutObjectCommand({ Bucket, Key, Body: body })));
    },

    /** Puts the file there, unless it is there. */
    async putFile(Bucket: string, Key: string, file: string): Promise<void> {
      const there = await s3.send(new HeadObjectCommand({ Bucket, Key })).then(
        () => true,
        () => false,
      );
      if (there) return;
      await asked(`uploading ${Key}`, s3.send(new PutObjectCommand({ Bucket, Key, Body: readFileSync(file) })));
    },

    async get(Bucket: string, Key: string): Promise<string> {
      const { Body } = await asked(`reading ${Key}`, s3.send(new GetObjectCommand({ Bucket, Key })));
      return (await Body?.transformToString()) ?? '';
    },

    async list(Bucket: string, Prefix: string): Promise<string[]> {
      const found: string[] = [];
      let ContinuationToken: string | undefined;
      do {
        const request = new ListObjectsV2Command({ Bucket, Prefix, ContinuationToken });
        const page = await asked(`listing ${Bucket}`, s3.send(request));
        found.push(...(page.Contents ?? []).flatMap(({ Key }) => Key ?? []));
        ContinuationToken = page.NextContinuationToken;
      } while (ContinuationToken);
      return found;
    },

    async deleteObjects(Bucket: string, keys: readonly string[]): Promise<void> {
      for (let at = 0; at < keys.length; at += 1000) {
        const Objects = keys.slice(at, at + 1000).map((Key) => ({ Key }));
        await asked('deleting objects', s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } })));
      }
    },

    /** An address anyone may read this one object at, so long. */
    async readable(Bucket: string, Key: string, seconds: number): Promise<string> {
      const request = new GetObjectCommand({ Bucket, Key });
      return asked('signing an address', getSignedUrl(s3, request, { expiresIn: seconds }));
    },

    /** A form by which anyone may write objects under `prefix`, so long and so large. */
    async writable(Bucket: string, prefix: string, seconds: number): Promise<Uploading> {
      const Conditions = [
        ['starts-with', '$key', prefix],
        ['content-length-range', 0, UPLOAD_BYTES_MAX],
      ] as never;
      // The SDK wants a key; the instance names its own, under the prefix.
      const Key = `${prefix}\${filename}`;
      const { url, fields } = await asked(
        'signing a form',
        createPresignedPost(s3, { Bucket, Key, Conditions, Expires: seconds }),
      );
      const { key: _, ...rest } = fields;
      return { url, fields: rest };
    },
  };

  async function parameter(Name: string): Promise<string> {
    const { Parameter } = await asked(`image parameter ${Name}`, ssm.send(new GetParameterCommand({ Name })));
    if (!Parameter?.Value) throw new Refused('ParameterNotFound', `image parameter ${Name}: it has no value`);
    return Parameter.Value;
  }

  async function instancesOf(Filters: Filter[]): Promise<Ec2Instance[]> {
    const found: Ec2Instance[] = [];
    let NextToken: string | undefined;
    do {
      const page = await asked('instances', ec2.send(new DescribeInstancesCommand({ Filters, NextToken })));
      found.push(...(page.Reservations ?? []).flatMap(({ Instances }) => Instances ?? []));
      NextToken = page.NextToken;
    } while (NextToken);
    return found;
  }

  async function launchInstances(launch: Launch): Promise<{ ids: string[]; missing: string[] }> {
    const { Instances = [] } = await asked(
      'starting instances',
      ec2.send(new RunInstancesCommand(runInstances(launch))),
    );
    const ids = Instances.flatMap(({ InstanceId }) => InstanceId ?? []);
    const short = launch.instances - ids.length;
    return { ids, missing: short > 0 ? [`EC2 had ${short} fewer`] : [] };
  }

  /** CreateFleet wants its launch in a template; the template is deleted with the fleet. */
  async function launchFleet(launch: Launch): Promise<{ ids: string[]; missing: string[] }> {
    const template = new CreateLaunchTemplateCommand({
      LaunchTemplateName: `sprites-${launch.fleet}`,
      LaunchTemplateData: launchData(launch),
      TagSpecifications: tags(launch, ['launch-template']),
    });
    const { LaunchTemplate } = await asked('creating the launch template', ec2.send(template));
    const places = launch.subnets.length > 0 ? launch.subnets.map((SubnetId) => ({ SubnetId })) : [{}];
    const Overrides = launch.types.flatMap((type) =>
      places.map((place) => ({ InstanceType: type as TypeName, ...place })),
    );
    const request = new CreateFleetCommand({
      Type: 'instant',
      ClientToken: launch.fleet,
      LaunchTemplateConfigs: [
        {
          LaunchTemplateSpecification: { LaunchTemplateId: LaunchTemplate?.LaunchTemplateId, Version: '1' },
          Overrides,
        },
      ],
      TargetCapacitySpecification: { TotalTargetCapacity: launch.instances, DefaultTargetCapacityType: 'spot' },
      SpotOptions: {
        AllocationStrategy: 'price-capacity-optimized',
        InstanceInterruptionBehavior: 'terminate',
        ...(launch.hourUsdMax !== undefined && { MaxTotalPrice: (launch.hourUsdMax * launch.instances).toFixed(6) }),
      },
      TagSpecifications: tags(launch, ['fleet', 'instance']),
    });
    const { Instances = [], Errors = [] } = await asked('starting a fleet', ec2.send(request));
    return {
      ids: Instances.flatMap(({ InstanceIds }) => InstanceIds ?? []),
      missing: [
        ...new Set(
          Errors.map(
            ({ ErrorCode = 'unknown', ErrorMessage = '' }) =>
              explain({ name: ErrorCode, message: ErrorMessage }, 'EC2').message,
          ),
        ),
      ],
    };
  }

  async function onDemandPrice(type: string): Promise<number> {
    const plain = { operatingSystem: 'Linux', tenancy: 'Shared', preInstalledSw: 'NA', capacitystatus: 'Used' };
    return listPrice('AmazonEC2', { instanceType: type, ...plain }, /BoxUsage/);
  }

  /** Of the dearest zone: which one EC2 takes is not known before. */
  async function spotPrice(type: string, nowMs: number): Promise<number> {
    const request = new DescribeSpotPriceHistoryCommand({
      InstanceTypes: [type as TypeName],
      ProductDescriptions: [SPOT_PRODUCT],
      StartTime: new Date(nowMs),
    });
    const { SpotPriceHistory = [] } = await asked(`spot price of ${type}`, ec2.send(request));
    const prices = SpotPriceHistory.map(({ SpotPrice }) => Number(SpotPrice)).filter((price) => price > 0);
    if (prices.length === 0) throw new Refused('price', `there is no spot price of ${type} in ${region}`);
    return Math.max(...prices);
  }

  /** The dearest first tier of the products that match: an upper bound, and normally there is one. */
  async function listPrice(
    service: string,
    fields: Record<string, string>,
    usage: RegExp,
    regionField = 'regionCode',
  ): Promise<number> {
    const Filters: PriceFilter[] = Object.entries({ [regionField]: region, ...fields }).map(([Field, Value]) => ({
      Type: 'TERM_MATCH',
      Field,
      Value,
    }));
    const request = new GetProductsCommand({ ServiceCode: service, Filters, MaxResults: 100 });
    const { PriceList = [] } = await asked('price list', pricing.send(request));
    const prices = (PriceList as unknown[]).flatMap((product) => pricesOf(String(product), usage));
    if (prices.length === 0) throw new Refused('price', `the price list of ${service} has none of ${region}`);
    return Math.max(...prices);
  }
}

/** Amounts above 0 of a product of the price list, if its usage is of this kind. */
function pricesOf(product: string, usage: RegExp): number[] {
  const parsed = JSON.parse(product) as {
    product?: { attributes?: { usagetype?: string } };
    terms?: { OnDemand?: Record<string, { priceDimensions: Record<string, { pricePerUnit: { USD?: string } }> }> };
  };
  if (!usage.test(parsed.product?.attributes?.usagetype ?? '')) return [];
  return Object.values(parsed.terms?.OnDemand ?? {})
    .flatMap(({ priceDimensions }) => Object.values(priceDimensions))
    .map(({ pricePerUnit }) => Number(pricePerUnit.USD))
    .filter((price) => price > 0);
}

/** What RunInstances is told, beyond what every launch is. */
function runInstances(launch: Launch): RunInstancesCommandInput {
  const { buy, types, subnets, hourUsdMax } = launch;
  const spot = {
    MarketType: 'spot' as const,
    SpotOptions: {
      SpotInstanceType: 'one-time' as const,
      InstanceInterruptionBehavior: 'terminate' as const,
      ...(hourUsdMax !== undefined && { MaxPrice: hourUsdMax.toFixed(6) }),
    },
  };
  return {
    ...launchData(launch),
    ClientToken: launch.fleet,
    MinCount: launch.atLeast,
    MaxCount: launch.instances,
    InstanceType: types[0] as TypeName,
    ...(buy === 'spot' && { InstanceMarketOptions: spot }),
    ...(subnets.length === 1 && { SubnetId: subnets[0] }),
    TagSpecifications: tags(launch, [
      'instance',
      'volume',
      ...(buy === 'spot' ? ['spot-instances-request' as const] : []),
    ]),
  };
}

/** What every launch is told. Each layer that ends an instance by itself is said aloud, whatever the defaults are. */
function launchData({ types, image, userData, group, ...launch }: Launch) {
  return {
    ImageId: image.id,
    UserData: Buffer.from(userData).toString('base64'),
    InstanceInitiatedShutdownBehavior: 'terminate' as const,
    ...(group && { SecurityGroupIds: [group] }),
    // Bursting beyond a T's share would be billed apart.
    ...(types.every((type) => /^t\d/.test(type)) && { CreditSpecification: { CpuCredits: 'standard' } }),
    MetadataOptions: { HttpTokens: 'required' as const, HttpPutResponseHopLimit: 1 },
    BlockDeviceMappings: [
      {
        DeviceName: image.rootDevice,
        Ebs: { DeleteOnTermination: true, VolumeType: 'gp3' as const, VolumeSize: image.rootGib },
      },
    ],
    TagSpecifications: tags(launch, ['instance', 'volume']),
  };
}

function tags(
  launch: Pick<Launch, 'fleet' | 'owner' | 'role' | 'deadlineMs'>,
  resources: readonly ResourceType[],
): TagSpecification[] {
  const Tags = [
    { Key: 'Name', Value: `sprites-${launch.role}-${launch.fleet}` },
    { Key: TAG.fleet, Value: launch.fleet },
    { Key: TAG.owner, Value: launch.owner },
    { Key: TAG.role, Value: launch.role },
    { Key: TAG.deadline, Value: new Date(launch.deadlineMs).toISOString() },
  ];
  return resources.map((ResourceType) => ({ ResourceType, Tags }));
}

function readTags(found: readonly { Key?: string; Value?: string }[] = []) {
  const value = (key: string) => found.find(({ Key }) => Key === key)?.Value ?? '';
  return {
    fleet: value(TAG.fleet),
    owner: value(TAG.owner),
    role: value(TAG.role),
    // Without a deadline it is nobody's: past it.
    deadlineMs: Date.parse(value(TAG.deadline)) || 0,
  };
}

function readInstance(instance: Ec2Instance): Instance {
  const reason = instance.StateTransitionReason ?? '';
  const [, ended] = /\((\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?:GMT|UTC)\)/.exec(reason) ?? [];
  const dead = !ALIVE.includes(instance.State?.Name ?? '');
  return {
    id: instance.InstanceId as string,
    ...readTags(instance.Tags),
    type: instance.InstanceType ?? '',
    state: instance.State?.Name ?? 'unknown',
    market: instance.InstanceLifecycle === 'spot' ? 'spot' : 'on-demand',
    zone: instance.Placement?.AvailabilityZone ?? '',
    launchedMs: instance.LaunchTime?.getTime() ?? 0,
    ...(dead && ended !== undefined && { endedMs: Date.parse(`${ended.replace(' ', 'T')}Z`) }),
    ...(instance.PublicDnsName || instance.PublicIpAddress
      ? { address: instance.PublicDnsName || instance.PublicIpAddress }
      : {}),
    reason: instance.StateReason?.Message ?? reason,
  };
}

async function asked<T>(doing: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw explain(error, doing);
  }
}

/** A reading that may fail: why it did is told, and nothing else stops. */
export async function reading<T>(read: () => Promise<T>): Promise<Reading<T>> {
  try {
    return { read: await read() };
  } catch (error) {
    return { unread: explain(error, 'reading').message };
  }
}

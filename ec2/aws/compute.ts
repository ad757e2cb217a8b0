/**
 * Instances and what they need: types, images, networks, security groups, launch templates.
 *
 * Invariant: everything is created with the fleet's tags, and a repeated request does not start a fleet twice.
 */
import {
  AuthorizeSecurityGroupIngressCommand,
  CreateFleetCommand,
  CreateLaunchTemplateCommand,
  CreateSecurityGroupCommand,
  DeleteLaunchTemplateCommand,
  DeleteSecurityGroupCommand,
  DescribeImagesCommand,
  DescribeInstanceTypesCommand,
  DescribeRegionsCommand,
  DescribeSubnetsCommand,
  DescribeVpcsCommand,
  type EC2Client,
  GetConsoleOutputCommand,
  paginateDescribeLaunchTemplates,
  paginateDescribeSecurityGroups,
  RunInstancesCommand,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import { GetParameterCommand, type SSMClient } from '@aws-sdk/client-ssm';
import { explain, Refused } from '../explain.ts';
import type { Architecture, Image, InstanceType } from '../plan.ts';
import { call } from './call.ts';
import { describeInstances, type Instance, readInstance } from './instances.ts';
import { createFleetInput, type Launch, runInstancesInput, templateData } from './launch.ts';
import { fleetFilter, readTags, type Tagged, writeTags } from './tags.ts';

interface Launched {
  ids: string[];
  missing: string[];
}

/** Which connections a security group lets in. */
interface OpenPorts {
  ports: readonly number[];
  /** Address blocks that may connect to `ports`. */
  from: readonly string[];
  /** Ports that only the group's own instances may connect to. */
  innerPorts: readonly number[];
}

/** What remains of a fleet besides its instances. */
export interface Leftover {
  kind: 'security group' | 'launch template';
  id: string;
  fleet: string;
  owner: string;
  deadlineMs: number;
}

/** Amazon Linux 2023: maintained by AWS, small, and under the same name in every region. */
const IMAGE_PARAMETER = {
  x86_64: '/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64',
  arm64: '/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-arm64',
} as const;

/** A zone that has too few of these machines, or none for this price; another zone may have them. */
const LACKING = [
  'InsufficientInstanceCapacity',
  'InsufficientHostCapacity',
  'UnfulfillableCapacity',
  'SpotMaxPriceTooLow',
  'Unsupported',
];

const tcp = (port: number) => ({ IpProtocol: 'tcp', FromPort: port, ToPort: port });

/** The subnets to try; undefined: EC2 chooses. */
function zonesOf({ subnets }: Launch): readonly (string | undefined)[] {
  return subnets.length > 0 ? subnets : [undefined];
}

/** Instances and what they need, in one region. Every method throws Refused. */
export class Compute {
  readonly #ec2: EC2Client;
  readonly #ssm: SSMClient;
  readonly #region: string;

  constructor(ec2: EC2Client, ssm: SSMClient, region: string) {
    this.#ec2 = ec2;
    this.#ssm = ssm;
    this.#region = region;
  }

  /** The regions that this account can use. */
  async regions(): Promise<string[]> {
    const { Regions = [] } = await call('regions', this.#ec2.send(new DescribeRegionsCommand({})));
    return Regions.flatMap(({ RegionName }) => RegionName ?? []).sort();
  }

  /** Shape  types that do not exist in this region are missing. */
  async types(names: readonly string[]): Promise<InstanceType[]> {
    const request = new DescribeInstanceTypesCommand({ Filters: [{ Name: 'instance-type', Values: [...names] }] });
    const { InstanceTypes = [] } = await call('instance types', this.#ec2.send(request));
    return InstanceTypes.map((type) => ({
      name: type.InstanceType as string,
      architectures: type.ProcessorInfo?.SupportedArchitectures ?? [],
      vcpus: type.VCpuInfo?.DefaultVCpus ?? 0,
      memoryMiB: type.MemoryInfo?.SizeInMiB ?? 0,
      addressesMax: type.NetworkInfo?.Ipv4AddressesPerInterface ?? 1,
    }));
  }

  /** The image with this id; without an id, the newest Amazon Linux 2023. */
  async image(architecture: Architecture, id?: string): Promise<Image> {
    const wanted = id ?? (await this.#parameter(IMAGE_PARAMETER[architecture]));
    const { Images = [] } = await call('image', this.#ec2.send(new DescribeImagesCommand({ ImageIds: [wanted] })));
    const [image] = Images;
    if (!image) throw new Refused('InvalidAMIID.NotFound', `image: there is no ${wanted} in ${this.#region}`);
    const rootDevice = image.RootDeviceName ?? '/dev/xvda';
    const root = image.BlockDeviceMappings?.find((device) => device.DeviceName === rootDevice);
    return { id: wanted, architecture: image.Architecture ?? '', rootDevice, rootGib: root?.Ebs?.VolumeSize ?? 8 };
  }

  async #parameter(Name: string): Promise<string> {
    const { Parameter } = await call(`image parameter ${Name}`, this.#ssm.send(new GetParameterCommand({ Name })));
    if (!Parameter?.Value) throw new Refused('ParameterNotFound', `image parameter ${Name}: it has no value`);
    return Parameter.Value;
  }

  /** The network of the subnet, or else the default one, and the subnets to start in. Without subnets EC2 chooses. */
  async network(subnet?: string): Promise<{ vpc: string; subnets: string[] }> {
    if (subnet) {
      const request = new DescribeSubnetsCommand({ SubnetIds: [subnet] });
      const { Subnets = [] } = await call(`subnet ${subnet}`, this.#ec2.send(request));
      return { vpc: Subnets[0]?.VpcId as string, subnets: [subnet] };
    }
    const request = new DescribeVpcsCommand({ Filters: [{ Name: 'is-default', Values: ['true'] }] });
    const { Vpcs = [] } = await call('default network', this.#ec2.send(request));
    const vpc = Vpcs[0]?.VpcId;
    if (!vpc) throw new Refused('network', `there is no default network in ${this.#region}: name a --subnet`);
    const ofVpc = new DescribeSubnetsCommand({
      Filters: [
        { Name: 'vpc-id', Values: [vpc] },
        { Name: 'default-for-az', Values: ['true'] },
      ],
    });
    const { Subnets = [] } = await call('default subnets', this.#ec2.send(ofVpc));
    return { vpc, subnets: Subnets.flatMap(({ SubnetId }) => SubnetId ?? []) };
  }

  /** Creates the fleet's security group, with only these ports open. Returns its id. */
  async createGroup(fleet: Tagged, vpc: string, { ports, from, innerPorts }: OpenPorts): Promise<string> {
    const request = new CreateSecurityGroupCommand({
      GroupName: `sprites-${fleet.fleet}`,
      Description: `Sprites ${fleet.role} ${fleet.fleet}`,
      VpcId: vpc,
      TagSpecifications: writeTags(fleet, ['security-group']),
    });
    const { GroupId } = await call('creating the security group', this.#ec2.send(request));
    if (ports.length > 0) {
      const IpRanges = from.filter((block) => !block.includes(':')).map((CidrIp) => ({ CidrIp }));
      const Ipv6Ranges = from.filter((block) => block.includes(':')).map((CidrIpv6) => ({ CidrIpv6 }));
      const ranges = { ...(IpRanges.length > 0 && { IpRanges }), ...(Ipv6Ranges.length > 0 && { Ipv6Ranges }) };
      const inner = { UserIdGroupPairs: [{ GroupId }] };
      const permissions = [
        ...ports.map((port) => ({ ...tcp(port), ...ranges })),
        ...innerPorts.map((port) => ({ ...tcp(port), ...inner })),
      ];
      const opening = new AuthorizeSecurityGroupIngressCommand({ GroupId, IpPermissions: permissions });
      await call(`opening ports to ${from.join(', ')}`, this.#ec2.send(opening));
    }
    return GroupId as string;
  }

  /** Asks EC2 whether these credentials may start the fleet with its group (DryRun). Starts nothing; throws Refused when not. */
  async rehearse(launch: Launch): Promise<void> {
    const { atLeast: least, instances: most } = launch;
    let refused: Refused | undefined;
    for (const subnet of zonesOf(launch)) {
      const input = runInstancesInput(launch, { subnet, least, most, part: 0 });
      try {
        await this.#ec2.send(new RunInstancesCommand({ ...input, DryRun: true }));
        return;
      } catch (error) {
        if ((error as Error).name === 'DryRunOperation') return;
        refused = explain(error, 'asking EC2 for these instances (dry run)');
        if (!LACKING.includes(refused.code)) throw refused;
      }
    }
    throw refused as Refused;
  }

  /** Starts all instances, or as many as EC2 has but at least `atLeast`. `missing` says why the others did not start. */
  async launch(launch: Launch): Promise<Launched> {
    return launch.buy === 'fleet' ? await this.#launchFleet(launch) : await this.#launchInstances(launch);
  }

  /**
   * Asks zone by zone: first for all instances in one zone, because traffic between zones costs, and then for as many as each
   * zone has. Another error than a lack of machines ends it: when some instances run already, it is reported with them.
   */
  async #launchInstances(launch: Launch): Promise<Launched> {
    const zones = zonesOf(launch);
    const ids: string[] = [];
    const missing = new Map<string, string>();
    let part = 0;
    for (const isWhole of [true, false]) {
      for (const subnet of zones) {
        const left = launch.instances - ids.length;
        if (left === 0) return { ids, missing: [] };
        if (!isWhole && left === 1 && ids.length === 0) continue; // it was asked for already
        part += 1;
        const input = runInstancesInput(launch, { subnet, least: isWhole ? left : 1, most: left, part });
        try {
          const { Instances = [] } = await call('starting instances', this.#ec2.send(new RunInstancesCommand(input)));
          ids.push(...Instances.flatMap(({ InstanceId }) => InstanceId ?? []));
        } catch (error) {
          const { code, message } = error as Refused;
          if (!LACKING.includes(code) && ids.length === 0) throw error;
          missing.set(code, message);
          if (!LACKING.includes(code)) return { ids, missing: [...missing.values()] };
        }
      }
    }
    return { ids, missing: ids.length < launch.instances ? [...missing.values()] : [] };
  }

  /** CreateFleet accepts a launch only as a template. The template is deleted with the fleet. */
  async #launchFleet(launch: Launch): Promise<Launched> {
    const template = new CreateLaunchTemplateCommand({
      LaunchTemplateName: `sprites-${launch.fleet}`,
      LaunchTemplateData: templateData(launch),
      TagSpecifications: writeTags(launch, ['launch-template']),
    });
    const { LaunchTemplate } = await call('creating the launch template', this.#ec2.send(template));
    const request = new CreateFleetCommand(createFleetInput(launch, LaunchTemplate?.LaunchTemplateId));
    const { Instances = [], Errors = [] } = await call('starting a fleet', this.#ec2.send(request));
    const reasons = Errors.map(
      ({ ErrorCode = 'unknown', ErrorMessage = '' }) =>
        explain({ name: ErrorCode, message: ErrorMessage }, 'EC2').message,
    );
    return { ids: Instances.flatMap(({ InstanceIds }) => InstanceIds ?? []), missing: [...new Set(reasons)] };
  }

  /** The instances of this fleet, or of every fleet; terminated ones too, for about an hour. */
  async instances(fleet?: string): Promise<Instance[]> {
    return (await describeInstances(this.#ec2, [fleetFilter(fleet)])).map(readInstance);
  }

  async terminate(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await call('terminating instances', this.#ec2.send(new TerminateInstancesCommand({ InstanceIds: [...ids] })));
  }

  /** The end of what an instance wrote to its console. An instance that can't post its log writes it there. */
  async consoleOutput(id: string): Promise<string> {
    const request = new GetConsoleOutputCommand({ InstanceId: id, Latest: false });
    const { Output } = await call(`console of ${id}`, this.#ec2.send(request));
    return Output ? Buffer.from(Output, 'base64').toString('utf8') : '';
  }

  /** Security groups and launch templates of this fleet, or of every fleet. They cost nothing. */
  async leftovers(fleet?: string): Promise<Leftover[]> {
    const Filters = [fleetFilter(fleet)];
    const client = { client: this.#ec2 };
    const groups = Array.fromAsync(paginateDescribeSecurityGroups(client, { Filters }));
    const inGroups = (await call('security groups', groups)).flatMap(({ SecurityGroups = [] }) => SecurityGroups);
    const templates = Array.fromAsync(paginateDescribeLaunchTemplates(client, { Filters }));
    const inTemplates = (await call('launch templates', templates)).flatMap(
      ({ LaunchTemplates = [] }) => LaunchTemplates,
    );
    return [
      ...inGroups.map(({ GroupId: id = '', Tags }) => ({ kind: 'security group' as const, id, ...readTags(Tags) })),
      ...inTemplates.map(({ LaunchTemplateId: id = '', Tags }) => ({
        kind: 'launch template' as const,
        id,
        ...readTags(Tags),
      })),
    ];
  }

  async remove({ kind, id }: Leftover): Promise<void> {
    const request =
      kind === 'security group'
        ? this.#ec2.send(new DeleteSecurityGroupCommand({ GroupId: id }))
        : this.#ec2.send(new DeleteLaunchTemplateCommand({ LaunchTemplateId: id }));
    await call(`deleting the ${kind} ${id}`, request as Promise<unknown>);
  }
}

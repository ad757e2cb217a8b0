/**
 * How instances are requested from EC2. Pure: a launch goes in, the input of a command comes out.
 *
 * Invariant: every way in which an instance ends by itself (terminate on shutdown, one-time spot, delete on termination) is
 * set explicitly, whatever the account's defaults are.
 */
import type { CreateFleetCommandInput, RunInstancesCommandInput, _InstanceType as TypeName } from '@aws-sdk/client-ec2';
import type { Buy, Image } from '../plan.ts';
import { type Tagged, writeTags } from './tags.ts';

export interface Launch extends Tagged {
  buy: Buy;
  types: readonly string[];
  instances: number;
  atLeast: number;
  image: Image;
  userData: string;
  group?: string;
  /** One in each zone to start in; empty: EC2 chooses. */
  subnets: readonly string[];
  /** Private addresses of each instance. */
  addresses: number;
  /** The most a spot instance may pay for an hour; undefined: EC2's own limit, which is the on-demand price. */
  hourUsdMax?: number;
}

/** One request for instances: where, how many, and its part of the token. */
interface Portion {
  subnet?: string;
  least: number;
  most: number;
  /** Differs between the requests of one launch. */
  part: number;
}

/** ClientToken makes a repeated request return the first one's instances instead of starting more. */
export function runInstancesInput(launch: Launch, { subnet, least, most, part }: Portion): RunInstancesCommandInput {
  const { buy, types, hourUsdMax } = launch;
  const spot = {
    MarketType: 'spot' as const,
    SpotOptions: {
      SpotInstanceType: 'one-time' as const,
      InstanceInterruptionBehavior: 'terminate' as const,
      ...(hourUsdMax !== undefined && { MaxPrice: hourUsdMax.toFixed(6) }),
    },
  };
  return {
    ...templateData(launch, subnet),
    ClientToken: `${launch.fleet}${launch.role === 'nats' ? '-nats' : ''}-${part}`,
    MinCount: least,
    MaxCount: most,
    InstanceType: types[0] as TypeName,
    ...(buy === 'spot' && { InstanceMarketOptions: spot }),
    TagSpecifications: writeTags(launch, [
      'instance',
      'volume',
      ...(buy === 'spot' ? ['spot-instances-request' as const] : []),
    ]),
  };
}

export function createFleetInput(launch: Launch, templateId: string | undefined): CreateFleetCommandInput {
  const places = launch.subnets.length > 0 ? launch.subnets.map((SubnetId) => ({ SubnetId })) : [{}];
  const Overrides = launch.types.flatMap((type) =>
    places.map((place) => ({ InstanceType: type as TypeName, ...place })),
  );
  return {
    Type: 'instant',
    ClientToken: launch.fleet,
    LaunchTemplateConfigs: [{ LaunchTemplateSpecification: { LaunchTemplateId: templateId, Version: '1' }, Overrides }],
    TargetCapacitySpecification: { TotalTargetCapacity: launch.instances, DefaultTargetCapacityType: 'spot' },
    SpotOptions: {
      AllocationStrategy: 'price-capacity-optimized',
      InstanceInterruptionBehavior: 'terminate',
      ...(launch.hourUsdMax !== undefined && { MaxTotalPrice: (launch.hourUsdMax * launch.instances).toFixed(6) }),
    },
    TagSpecifications: writeTags(launch, ['fleet', 'instance']),
  };
}

/**
 * What every request has in common, whether it is sent as it is or put into a launch template. The subnets of a template are
 * in its fleet's overrides.
 */
export function templateData({ types, image, userData, group, addresses, ...launch }: Launch, subnet?: string) {
  return {
    ImageId: image.id,
    UserData: Buffer.from(userData).toString('base64'),
    InstanceInitiatedShutdownBehavior: 'terminate' as const,
    ...networkOf(group, addresses, subnet),
    // With unlimited credits, EC2 bills what a T instance uses beyond its share.
    ...(types.every((type) => /^t\d/.test(type)) && { CreditSpecification: { CpuCredits: 'standard' } }),
    MetadataOptions: { HttpTokens: 'required' as const, HttpPutResponseHopLimit: 1 },
    BlockDeviceMappings: [
      {
        DeviceName: image.rootDevice,
        Ebs: { DeleteOnTermination: true, VolumeType: 'gp3' as const, VolumeSize: image.rootGib },
      },
    ],
    TagSpecifications: writeTags(launch, ['instance', 'volume']),
  };
}

/** With several addresses the interface is described, and then EC2 rejects a group or a subnet beside it. */
function networkOf(group: string | undefined, addresses: number, subnet: string | undefined) {
  if (addresses === 1) return { ...(group && { SecurityGroupIds: [group] }), ...(subnet && { SubnetId: subnet }) };
  return {
    NetworkInterfaces: [
      {
        DeviceIndex: 0,
        SecondaryPrivateIpAddressCount: addresses - 1,
        DeleteOnTermination: true,
        ...(group && { Groups: [group] }),
        ...(subnet && { SubnetId: subnet }),
      },
    ],
  };
}

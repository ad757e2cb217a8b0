/** Instances as EC2 reports them, and which of them cost money. */
import {
  type EC2Client,
  type Instance as Ec2Instance,
  type Filter,
  paginateDescribeInstances,
} from '@aws-sdk/client-ec2';
import { call } from './call.ts';
import { readTags } from './tags.ts';

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
  /** When it ended, if it has ended and EC2 reports the time. */
  endedMs?: number;
  deadlineMs: number;
  address?: string;
  privateAddress?: string;
  /** Why it is in its state, in EC2's words. */
  reason: string;
}

/** Instances in these states cost money, or soon will. */
export const ALIVE = ['pending', 'running', 'stopping', 'stopped'];

/** Every instance that matches, page by page. Throws Refused. */
export async function describeInstances(ec2: EC2Client, Filters: Filter[]): Promise<Ec2Instance[]> {
  const pages = await call('instances', Array.fromAsync(paginateDescribeInstances({ client: ec2 }, { Filters })));
  return pages.flatMap(({ Reservations = [] }) => Reservations.flatMap(({ Instances = [] }) => Instances));
}

export function readInstance(instance: Ec2Instance): Instance {
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
    ...(instance.PrivateIpAddress && { privateAddress: instance.PrivateIpAddress }),
    reason: instance.StateReason?.Message ?? reason,
  };
}

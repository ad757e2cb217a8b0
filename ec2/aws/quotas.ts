/** How many vCPUs the account may run, and how many it runs already. */
import type { EC2Client } from '@aws-sdk/client-ec2';
import { GetServiceQuotaCommand, type ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { Refused } from '../explain.ts';
import type { Buy } from '../plan.ts';
import { call } from './call.ts';
import { describeInstances } from './instances.ts';

/** Every function throws Refused. */
export interface Quotas {
  /** vCPUs the account may run of instances bought in this way. Throws Refused for a type outside the standard families. */
  quotaVcpus(buy: Buy, types: readonly string[]): Promise<number>;
  /** vCPUs of all running instances that count against the same quota, not only those of fleets. */
  runningVcpus(buy: Buy): Promise<number>;
}

/** The quotas below count the vCPUs of these families; other families have other quotas. */
const STANDARD_FAMILY = /^[acdhimrtz]\d/;
const QUOTA = { 'on-demand': 'L-1216C47A', spot: 'L-34B43A08', fleet: 'L-34B43A08' } as const;

export function openQuotas(ec2: EC2Client, quotas: ServiceQuotasClient): Quotas {
  return {
    async quotaVcpus(buy, types) {
      const other = types.find((type) => !STANDARD_FAMILY.test(type));
      if (other) throw new Refused('family', `the quota of ${other}'s family is not one of the standard ones`);
      const request = new GetServiceQuotaCommand({ ServiceCode: 'ec2', QuotaCode: QUOTA[buy] });
      const { Quota } = await call('quota', quotas.send(request));
      if (Quota?.Value === undefined) throw new Refused('quota', 'quota: AWS answered without a value');
      return Quota.Value;
    },

    async runningVcpus(buy) {
      const all = await describeInstances(ec2, [
        { Name: 'instance-state-name', Values: ['pending', 'running', 'stopping'] },
      ]);
      const same = all.filter(
        (one) =>
          STANDARD_FAMILY.test(one.InstanceType ?? '') && (one.InstanceLifecycle === 'spot') === (buy !== 'on-demand'),
      );
      return same.reduce(
        (sum, { CpuOptions }) => sum + (CpuOptions?.CoreCount ?? 1) * (CpuOptions?.ThreadsPerCore ?? 1),
        0,
      );
    },
  };
}

/** How many vCPUs the account may run, and how many it runs already. */
import type { EC2Client } from '@aws-sdk/client-ec2';
import { GetServiceQuotaCommand, type ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { Refused } from '../explain.ts';
import type { Buy } from '../plan.ts';
import { call } from './call.ts';
import { describeInstances } from './instances.ts';

/** The quotas below count the vCPUs of these families; other families have other quotas. */
const STANDARD_FAMILY = /^[acdhimrtz]\d/;
const QUOTA = { 'on-demand': 'L-1216C47A', spot: 'L-34B43A08', fleet: 'L-34B43A08' } as const;

/** The vCPUs of an account in one region. Every method throws Refused. */
export class Quotas {
  readonly #ec2: EC2Client;
  readonly #quotas: ServiceQuotasClient;

  constructor(ec2: EC2Client, quotas: ServiceQuotasClient) {
    this.#ec2 = ec2;
    this.#quotas = quotas;
  }

  /** vCPUs the account may run of instances bought in this way. Throws Refused for a type outside the standard families. */
  async quotaVcpus(buy: Buy, types: readonly string[]): Promise<number> {
    const other = types.find((type) => !STANDARD_FAMILY.test(type));
    if (other) throw new Refused('family', `the quota of ${other}'s family is not one of the standard ones`);
    const request = new GetServiceQuotaCommand({ ServiceCode: 'ec2', QuotaCode: QUOTA[buy] });
    const { Quota } = await call('quota', this.#quotas.send(request));
    if (Quota?.Value === undefined) throw new Refused('quota', 'quota: AWS answered without a value');
    return Quota.Value;
  }

  /** vCPUs of all running instances that count against the same quota, not only those of fleets. */
  async runningVcpus(buy: Buy): Promise<number> {
    const all = await describeInstances(this.#ec2, [
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
  }
}

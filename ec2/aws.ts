/**
 * AWS: all that fleets ask of it. This file and those in aws/ are the only ones that import its SDK.
 *
 * Invariant: everything that is started carries the fleet's tags from the first moment (never by a second call), a repeated
 * request does not start it twice, and it terminates when it shuts down. A refusal is thrown as `Refused`, after the SDK's
 * own retries. A test holds policy.json against the commands named in these files.
 */
import { EC2Client } from '@aws-sdk/client-ec2';
import { PricingClient } from '@aws-sdk/client-pricing';
import { S3Client } from '@aws-sdk/client-s3';
import { ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { SSMClient } from '@aws-sdk/client-ssm';
import { Buckets } from './aws/bucket.ts';
import { call } from './aws/call.ts';
import { Compute } from './aws/compute.ts';
import { PRICING_REGION, Pricing } from './aws/prices.ts';
import { Quotas } from './aws/quotas.ts';

/** One region of an account, as far as a fleet needs it. */
export interface Aws {
  readonly region: string;
  readonly compute: Compute;
  readonly buckets: Buckets;
  readonly pricing: Pricing;
  readonly quotas: Quotas;
  /** When the credentials expire; undefined when they don't expire by themselves. Throws Refused. */
  credentialsEndMs(): Promise<number | undefined>;
}

/** How the account is reached. Tests pass a `requestHandler` that answers chosen calls below the SDK's own retries. */
export interface Connection {
  region: string;
  /** One address for all services, such as a simulator on the loopback. */
  endpoint?: string;
  requestHandler?: EC2Client['config']['requestHandler'];
}

/** Attempts of the SDK for each call, with growing pauses between them. */
const ATTEMPTS_MAX = 3;

/** Sends no request. */
export function connect({ region, endpoint, requestHandler }: Connection): Aws {
  const common = {
    region,
    maxAttempts: ATTEMPTS_MAX,
    ...(endpoint && { endpoint }),
    ...(requestHandler && { requestHandler }),
  };
  const ec2 = new EC2Client(common);
  const s3 = new S3Client({ ...common, forcePathStyle: endpoint !== undefined });
  const pricing = new PricingClient({ ...common, region: PRICING_REGION });
  return {
    region,
    compute: new Compute(ec2, new SSMClient(common), region),
    buckets: new Buckets(s3, region),
    pricing: new Pricing(ec2, pricing, region),
    quotas: new Quotas(ec2, new ServiceQuotasClient(common)),
    async credentialsEndMs() {
      const { expiration } = await call('credentials', s3.config.credentials());
      return expiration?.getTime();
    },
  };
}

/**
 * What instances, addresses, volumes and traffic cost in one region.
 *
 * Invariant: when several prices match, the highest is returned, so a cost that is calculated from them is an upper bound.
 */
import { DescribeSpotPriceHistoryCommand, type EC2Client, type _InstanceType as TypeName } from '@aws-sdk/client-ec2';
import { type Filter, GetProductsCommand, type PricingClient } from '@aws-sdk/client-pricing';
import { Refused } from '../explain.ts';
import type { Buy, Prices } from '../plan.ts';
import { call, reading } from './call.ts';

export interface Pricing {
  /** Today's prices. Each is read separately; one that can't be read does not hide the others. */
  prices(buy: Buy, types: readonly string[], nowMs: number): Promise<Prices>;
}

/** The price list is served from a few regions only, and each of them has the prices of all regions. */
export const PRICING_REGION = 'us-east-1';

/** Spot prices differ by operating system. */
const SPOT_PRODUCT = 'Linux/UNIX';

/** `pricing` must be a client of PRICING_REGION. */
export function openPricing(ec2: EC2Client, pricing: PricingClient, region: string): Pricing {
  return {
    async prices(buy, types, nowMs) {
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
  };

  async function onDemandPrice(type: string): Promise<number> {
    const plain = { operatingSystem: 'Linux', tenancy: 'Shared', preInstalledSw: 'NA', capacitystatus: 'Used' };
    return listPrice('AmazonEC2', { instanceType: type, ...plain }, /BoxUsage/);
  }

  /** The price in the most expensive zone, because EC2 chooses the zone. */
  async function spotPrice(type: string, nowMs: number): Promise<number> {
    const request = new DescribeSpotPriceHistoryCommand({
      InstanceTypes: [type as TypeName],
      ProductDescriptions: [SPOT_PRODUCT],
      StartTime: new Date(nowMs),
    });
    const { SpotPriceHistory = [] } = await call(`spot price of ${type}`, ec2.send(request));
    const prices = SpotPriceHistory.map(({ SpotPrice }) => Number(SpotPrice)).filter((price) => price > 0);
    if (prices.length === 0) throw new Refused('price', `there is no spot price of ${type} in ${region}`);
    return Math.max(...prices);
  }

  /** The highest price of the products that match. Normally one product matches. */
  async function listPrice(
    service: string,
    fields: Record<string, string>,
    usage: RegExp,
    regionField = 'regionCode',
  ): Promise<number> {
    const Filters: Filter[] = Object.entries({ [regionField]: region, ...fields }).map(([Field, Value]) => ({
      Type: 'TERM_MATCH',
      Field,
      Value,
    }));
    const request = new GetProductsCommand({ ServiceCode: service, Filters, MaxResults: 100 });
    const { PriceList = [] } = await call('price list', pricing.send(request));
    const prices = (PriceList as unknown[]).flatMap((product) => pricesOf(String(product), usage));
    if (prices.length === 0) throw new Refused('price', `the price list of ${service} has none of ${region}`);
    return Math.max(...prices);
  }
}

/** The prices above 0 of one product of the price list; empty when its usage type does not match `usage`. */
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

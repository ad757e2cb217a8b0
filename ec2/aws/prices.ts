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

/** The price list is served from a few regions only, and each of them has the prices of all regions. */
export const PRICING_REGION = 'us-east-1';

/** Spot prices differ by operating system. */
const SPOT_PRODUCT = 'Linux/UNIX';

/** What one region costs. */
export class Pricing {
  readonly #ec2: EC2Client;
  readonly #list: PricingClient;
  readonly #region: string;

  /** `list` must be a client of PRICING_REGION. */
  constructor(ec2: EC2Client, list: PricingClient, region: string) {
    this.#ec2 = ec2;
    this.#list = list;
    this.#region = region;
  }

  /** Today's prices. Each is read separately; one that can't be read does not hide the others. */
  async today(buy: Buy, types: readonly string[], nowMs: number): Promise<Prices> {
    const hour = (type: string) => (buy === 'on-demand' ? this.#onDemandPrice(type) : this.#spotPrice(type, nowMs));
    const [instance, address, volume, transfer] = await Promise.all([
      Promise.all(types.map(async (type) => [type, await reading(() => hour(type))] as const)),
      reading(() => this.#listPrice('AmazonVPC', { group: 'VPCPublicIPv4Address' }, /InUseAddress/)),
      reading(() => this.#listPrice('AmazonEC2', { productFamily: 'Storage', volumeApiName: 'gp3' }, /VolumeUsage/)),
      reading(() =>
        this.#listPrice(
          'AWSDataTransfer',
          { transferType: 'AWS Outbound', toLocation: 'External' },
          /DataTransfer-Out-Bytes/,
          'fromRegionCode',
        ),
      ),
    ]);
    return { instance: Object.fromEntries(instance), address, volume, transfer };
  }

  async #onDemandPrice(type: string): Promise<number> {
    const plain = { operatingSystem: 'Linux', tenancy: 'Shared', preInstalledSw: 'NA', capacitystatus: 'Used' };
    return this.#listPrice('AmazonEC2', { instanceType: type, ...plain }, /BoxUsage/);
  }

  /** The price in the most expensive zone, because EC2 chooses the zone. */
  async #spotPrice(type: string, nowMs: number): Promise<number> {
    const request = new DescribeSpotPriceHistoryCommand({
      InstanceTypes: [type as TypeName],
      ProductDescriptions: [SPOT_PRODUCT],
      StartTime: new Date(nowMs),
    });
    const { SpotPriceHistory = [] } = await call(`spot price of ${type}`, this.#ec2.send(request));
    const prices = SpotPriceHistory.map(({ SpotPrice }) => Number(SpotPrice)).filter((price) => price > 0);
    if (prices.length === 0) throw new Refused('price', `there is no spot price of ${type} in ${this.#region}`);
    return Math.max(...prices);
  }

  /** The highest price of the products that match. Normally one product matches. */
  async #listPrice(
    service: string,
    fields: Record<string, string>,
    usage: RegExp,
    regionField = 'regionCode',
  ): Promise<number> {
    const Filters: Filter[] = Object.entries({ [regionField]: this.#region, ...fields }).map(([Field, Value]) => ({
      Type: 'TERM_MATCH',
      Field,
      Value,
    }));
    const request = new GetProductsCommand({ ServiceCode: service, Filters, MaxResults: 100 });
    const { PriceList = [] } = await call('price list', this.#list.send(request));
    const prices = (PriceList as unknown[]).flatMap((product) => pricesOf(String(product), usage));
    if (prices.length === 0) throw new Refused('price', `the price list of ${service} has none of ${this.#region}`);
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

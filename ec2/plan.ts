/**
 * The plan of a fleet: what would be started, what it costs at most, and every reason not to start it.
 *
 * Pure: the wanted fleet and the readings of the account go in, a decision and a text come out.
 * Invariant: nothing is assumed about what could not be read. It becomes a doubt, which only --yes overrides; nothing
 * overrides a refusal. The cost is an upper bound: every instance runs until its own clock powers it off, at the highest price
 * it may pay.
 */
import { tooLarge } from './user_data.ts';

export type Architecture = 'x86_64' | 'arm64';

/** How instances are bought. `fleet` is one instant request for spot instances of any of several types. */
export const BUYS = ['on-demand', 'spot', 'fleet'] as const;
export type Buy = (typeof BUYS)[number];

export interface Wanted {
  /** The name in the tags and in the keys of the bucket. */
  fleet: string;
  role: 'swarm' | 'relay';
  owner: string;
  region: string;
  bucket: string;
  buy: Buy;
  /** More than one only with `fleet`. */
  types: readonly string[];
  instances: number;
  /** With fewer instances than this the fleet is terminated at once. */
  atLeast: number;
  /** Minutes after which each instance powers itself off. */
  minutes: number;
  maxCostUsd: number;
  /** Limits by address of a relay; a swarm has none. */
  admission?: 'open' | 'strict';
  /** Relays that share one world; one more instance is their NATS server. Undefined: one relay, or a swarm. */
  relays?: number;
  /** For each instance: desktops, throws a second, and for how many seconds they throw. A relay has no load. */
  load?: { desktops: number; rate: number; seconds: number; relay: string };
}

/** Something that was requested from AWS: its value, or why it could not be read. */
export type Reading<T> = { read: T } | { unread: string };

export interface InstanceType {
  name: string;
  architectures: readonly string[];
  vcpus: number;
  memoryMiB: number;
  /** Private IPv4 addresses of its first network interface. */
  addressesMax: number;
}

export interface Image {
  id: string;
  architecture: string;
  rootDevice: string;
  rootGib: number;
}

/** US dollars. */
export interface Prices {
  /** An hour of each type, for the way it is bought. */
  instance: Readonly<Record<string, Reading<number>>>;
  /** An hour of a public IPv4 address. */
  address: Reading<number>;
  /** A GiB of a gp3 volume for a month. */
  volume: Reading<number>;
  /** A GB of traffic to the internet. */
  transfer: Reading<number>;
}

export interface Observed {
  nowMs: number;
  types: Reading<readonly InstanceType[]>;
  image: Reading<Image>;
  prices: Prices;
  /** vCPUs of this kind that the account may run, and those it already runs. */
  quotaVcpus: Reading<number>;
  runningVcpus: Reading<number>;
  /** When the credentials expire; undefined: they don't. */
  credentialsEndMs: Reading<number | undefined>;
  bundle: Architecture;
  userDataBytes: number;
}

interface CostLine {
  what: string;
  /** Undefined when its price could not be read. */
  usd: number | undefined;
}

export interface Plan {
  wanted: Wanted;
  observed: Observed;
  cost: { lines: readonly CostLine[]; usdAtMost: number };
  refusals: readonly string[];
  doubts: readonly string[];
}

/** Instances of one command. Ten times the fleet of 2012; the default quota of a region does not allow more anyway. */
export const INSTANCES_MAX = 200;

/** A day: a bound on what a forgotten fleet costs, and on how long its signed addresses are valid. */
export const MINUTES_MAX = 24 * 60;

/** Ports from one source address to one port of the relay. The boot script allows 1024 to 65535; some are still closing. */
export const DESKTOPS_PER_ADDRESS_MAX = 60_000;

/** With ten private addresses, as many as the first interface of a *.large has. A hundred instances reach 10 million with two. */
export const DESKTOPS_PER_INSTANCE_MAX = 10 * DESKTOPS_PER_ADDRESS_MAX;

/** Memory of an instance for each desktop: the engine's tables and the kernel's share of two connections. */
const DESKTOP_KIB = 16;

/** EC2 takes a spot instance back when it would cost more than this times today's price. So there is a bound, and prices may move. */
export const SPOT_HEADROOM = 1.25;

/** Bytes the swarm sends for each sprite: a throw, a poll, and their TCP. 846 were measured (README.md); this is a bound. */
const BYTES_PER_SPRITE = 1_000;

/** Bytes the swarm sends once for each desktop: connecting, joining, the first poll, leaving. 973 were measured. */
const BYTES_PER_DESKTOP = 2_000;

const HOURS_PER_MONTH = 730;
const BYTES_PER_GB = 1e9;

/** How many private addresses an instance needs for its desktops. */
export function addressesFor(desktops: number): number {
  return Math.max(1, Math.ceil(desktops / DESKTOPS_PER_ADDRESS_MAX));
}

export function planFleet(wanted: Wanted, observed: Observed): Plan {
  const cost = costOf(wanted, observed);
  const refusals = [
    ...sizeRefusals(wanted),
    ...typeRefusals(wanted, observed),
    ...quotaRefusals(wanted, observed),
    ...timeRefusals(wanted, observed),
  ];
  const large = tooLarge(observed.userDataBytes);
  if (large) refusals.push(large);
  if (cost.usdAtMost > wanted.maxCostUsd) {
    refusals.push(
      `It may cost ${usd(cost.usdAtMost)}, more than --max-cost ${wanted.maxCostUsd}: fewer instances or hours, a smaller type, or a higher --max-cost.`,
    );
  }
  return { wanted, observed, cost, refusals, doubts: doubtsOf(observed) };
}

/** Whether the plan may be carried out: `needs-yes` when --yes would allow it. */
export function decide(plan: Plan, yes: boolean): 'go' | 'refused' | 'needs-yes' {
  if (plan.refusals.length > 0) return 'refused';
  return plan.doubts.length > 0 && !yes ? 'needs-yes' : 'go';
}

/** The plan as a text for people. */
export function describe(plan: Plan): string {
  const { wanted, observed, cost } = plan;
  const vcpus = vcpusOf(wanted, observed);
  const image =
    'read' in observed.image ? `${observed.image.read.id} (${observed.image.read.architecture})` : 'unknown';
  const { instances, types, buy, atLeast, minutes, load, relays } = wanted;
  const addresses = addressesFor(load?.desktops ?? 0);
  const rows: [name: string, value: string | false | undefined][] = [
    ['fleet', `${wanted.fleet}, of ${wanted.owner}, in ${wanted.region}`],
    ['instances', `${instances} × ${types.join(' or ')}, ${BOUGHT[buy]}${vcpus ? `, ${vcpus} vCPUs` : ''}`],
    ['at least', atLeast < instances && `${atLeast}`],
    ['image', image],
    ['ends', `each instance after ${minutes} minutes at the latest, by itself`],
    ['swarm', load && describeLoad(instances, load)],
    ['cluster', relays !== undefined && `a NATS server, and ${relays} relays that reach it at its private address`],
    [
      'addresses',
      addresses > 1 &&
        `${addresses} private ones each, so the relay must be in the same network (VPC), by its private address`,
    ],
    ['bucket', wanted.bucket],
  ];
  const table = rows.flatMap(([name, value]) => (value ? `  ${name.padEnd(11)}${value}` : []));
  const money = cost.lines.map(
    ({ what, usd: part }) => `  ${(part === undefined ? '?' : usd(part)).padStart(11)}  ${what}`,
  );
  const unknown = cost.lines.some((line) => line.usd === undefined) ? ' + what is not known' : '';
  return [
    ...table,
    '',
    'Cost, if everything runs to its end:',
    ...money,
    `  ${usd(cost.usdAtMost).padStart(11)}  at most${unknown} (--max-cost ${wanted.maxCostUsd})`,
    ...(plan.doubts.length > 0
      ? ['', 'Not known (--yes continues without it):', ...plan.doubts.map((line) => `  - ${line}`)]
      : []),
    ...(plan.refusals.length > 0 ? ['', 'Refused:', ...plan.refusals.map((line) => `  - ${line}`)] : []),
  ].join('\n');
}

const BOUGHT: Record<Buy, string> = {
  'on-demand': 'on demand',
  spot: 'one-time spot',
  fleet: 'an instant fleet of one-time spot',
};

function describeLoad(instances: number, { desktops, rate, seconds, relay }: NonNullable<Wanted['load']>): string {
  const throwing = rate > 0 ? `${count(instances * rate)} sprites/s for ${seconds} s` : `sitting for ${seconds} s`;
  return `${count(instances * desktops)} desktops, ${throwing}, at ${relay}`;
}

/** The highest price an instance of this fleet may pay for an hour; undefined when the price of one of its types is unknown. */
export function highestPrice(wanted: Wanted, prices: Prices): number | undefined {
  const hours = wanted.types.map((type) => known(prices.instance[type]));
  if (hours.some((price) => price === undefined)) return undefined;
  return Math.max(...(hours as number[])) * (wanted.buy === 'on-demand' ? 1 : SPOT_HEADROOM);
}

function costOf(wanted: Wanted, observed: Observed): Plan['cost'] {
  const { prices, image } = observed;
  const hours = wanted.minutes / 60;
  const instanceHours = wanted.instances * hours;
  const times = (price: number | undefined, amount: number) => (price === undefined ? undefined : price * amount);
  const hour = highestPrice(wanted, prices);
  const headroom = wanted.buy === 'on-demand' ? '' : `, the most a spot instance may pay: ${SPOT_HEADROOM} × today's`;
  const rootGib = 'read' in image ? image.read.rootGib : undefined;
  const gigabytes = gigabytesOut(wanted);
  const lines: CostLine[] = [
    {
      what: `${wanted.instances} × ${wanted.types.join(' or ')} for ${wanted.minutes} min${hour ? ` at ${usd(hour)} an hour${headroom}` : ''}`,
      usd: times(hour, instanceHours),
    },
    { what: 'their public IPv4 addresses', usd: times(known(prices.address), instanceHours) },
    {
      what: `their root volumes${rootGib === undefined ? '' : `, ${rootGib} GiB each`}`,
      usd: rootGib === undefined ? undefined : times(known(prices.volume), (rootGib * instanceHours) / HOURS_PER_MONTH),
    },
  ];
  if (gigabytes > 0) {
    const what = `${gigabytes.toFixed(3)} GB of traffic out, if the relay is reached over the internet`;
    lines.push({ what, usd: times(known(prices.transfer), gigabytes) });
  }
  return { lines, usdAtMost: lines.reduce((sum, line) => sum + (line.usd ?? 0), 0) };
}

/** What a swarm sends. What a relay sends depends on its desktops; the README says how to calculate it. */
function gigabytesOut({ instances, load }: Wanted): number {
  if (!load) return 0;
  return (instances * (load.desktops * BYTES_PER_DESKTOP + load.rate * load.seconds * BYTES_PER_SPRITE)) / BYTES_PER_GB;
}

function sizeRefusals({ instances, minutes, types, buy, load, role, relays }: Wanted): string[] {
  const refusals: string[] = [];
  if (instances > INSTANCES_MAX)
    refusals.push(`${instances} instances are more than ${INSTANCES_MAX}, the most for one command.`);
  if (role === 'relay' && instances !== (relays === undefined ? 1 : relays + 1)) {
    refusals.push(
      relays === undefined ? 'A relay is one instance.' : `${relays} relays and NATS are ${relays + 1} instances.`,
    );
  }
  if (relays !== undefined && buy === 'fleet') {
    refusals.push('Relays are started after their NATS server, of the same type: use --buy on-demand or spot.');
  }
  if (minutes > MINUTES_MAX) refusals.push(`${minutes} minutes are more than ${MINUTES_MAX}, a day.`);
  if (types.length > 1 && buy !== 'fleet') refusals.push('Several types are for --buy fleet: give one --type.');
  if (load && load.desktops > DESKTOPS_PER_INSTANCE_MAX) {
    refusals.push(
      `${load.desktops} desktops on an instance are more than ${DESKTOPS_PER_INSTANCE_MAX}, the ports of ten addresses: use more instances.`,
    );
  }
  return refusals;
}

function typeRefusals(wanted: Wanted, observed: Observed): string[] {
  const refusals: string[] = [];
  for (const name of wanted.types) {
    const type = known(observed.types)?.find((one) => one.name === name);
    if (!type) {
      if ('read' in observed.types) refusals.push(`There is no instance type ${name} in ${wanted.region}.`);
      continue;
    }
    if (!type.architectures.includes(observed.bundle)) {
      refusals.push(
        `${name} is ${type.architectures.join('/')}, and this machine builds for ${observed.bundle}: choose another type, or run this command on such a machine.`,
      );
    }
    const addresses = addressesFor(wanted.load?.desktops ?? 0);
    if (addresses > type.addressesMax) {
      refusals.push(
        `${wanted.load?.desktops} desktops need ${addresses} private addresses, and a ${name} has at most ${type.addressesMax}: use more instances or a larger type.`,
      );
    }
    const neededMiB = ((wanted.load?.desktops ?? 0) * DESKTOP_KIB) / 1024;
    if (neededMiB > type.memoryMiB * 0.75) {
      refusals.push(
        `${wanted.load?.desktops} desktops need about ${Math.ceil(neededMiB)} MiB, too much for the ${type.memoryMiB} MiB of a ${name}.`,
      );
    }
  }
  const image = known(observed.image);
  if (image && image.architecture !== observed.bundle) {
    refusals.push(`The image ${image.id} is ${image.architecture}, and this machine builds for ${observed.bundle}.`);
  }
  return refusals;
}

function quotaRefusals(wanted: Wanted, observed: Observed): string[] {
  const [quota, running] = [known(observed.quotaVcpus), known(observed.runningVcpus)];
  const vcpus = vcpusOf(wanted, observed);
  if (quota === undefined || running === undefined || vcpus === undefined) return [];
  const free = Math.max(0, quota - running);
  if (vcpus <= free) return [];
  const kind = wanted.buy === 'on-demand' ? 'On-Demand' : 'Spot';
  const fits = Math.floor(free / (vcpus / wanted.instances));
  return [
    `It needs ${vcpus} vCPUs, and of the account's ${quota} (quota "${kind} Standard", ${wanted.region}) ${free} are free, enough for ${fits} instances: use fewer, or request more under Service Quotas.`,
  ];
}

function timeRefusals(wanted: Wanted, observed: Observed): string[] {
  const endMs = known(observed.credentialsEndMs);
  if (endMs === undefined || endMs >= observed.nowMs + wanted.minutes * 60_000) return [];
  const minutes = Math.max(0, Math.floor((endMs - observed.nowMs) / 60_000));
  return [
    `The credentials expire in ${minutes} minutes, before the fleet ends. Addresses signed with them expire too, and the fleet could not be taken down. Renew them, or use --minutes ${minutes}.`,
  ];
}

/** One sentence for each cause, with everything that could not be read because of it. */
function doubtsOf({ types, image, prices, quotaVcpus, runningVcpus, credentialsEndMs }: Observed): string[] {
  const readings: [string, Reading<unknown>][] = [
    ['instance types', types],
    ['image', image],
    ...Object.entries(prices.instance).map(([type, price]): [string, Reading<unknown>] => [`price of ${type}`, price]),
    ['price of a public IPv4 address', prices.address],
    ['price of volumes', prices.volume],
    ['price of traffic', prices.transfer],
    ['vCPU quota', quotaVcpus],
    ['vCPUs already running', runningVcpus],
    ['expiry of the credentials', credentialsEndMs],
  ];
  const byReason = new Map<string, string[]>();
  for (const [what, reading] of readings) {
    if ('unread' in reading) byReason.set(reading.unread, [...(byReason.get(reading.unread) ?? []), what]);
  }
  return [...byReason].map(([reason, what]) => `${what.join(', ')}: ${reason}`);
}

/** vCPUs of the whole fleet if all instances are of its largest type; undefined when the types could not be read. */
function vcpusOf(wanted: Wanted, observed: Observed): number | undefined {
  const sizes = wanted.types.map((name) => known(observed.types)?.find((type) => type.name === name)?.vcpus);
  if (sizes.length === 0 || sizes.some((size) => size === undefined)) return undefined;
  return Math.max(...(sizes as number[])) * wanted.instances;
}

export function known<T>(reading: Reading<T> | undefined): T | undefined {
  return reading && 'read' in reading ? reading.read : undefined;
}

/** US dollars for people: cents and fractions of them matter here. */
export function usd(amount: number): string {
  if (amount > 0 && amount < 0.0001) return '< $0.0001';
  return `$${amount.toFixed(amount < 0.1 ? 4 : 2)}`;
}

export function count(amount: number): string {
  return amount.toLocaleString('en-US', { maximumFractionDigits: 1 });
}

/** What determines the cost of one instance. */
interface Lifetime {
  type: string;
  fromMs: number;
  /** When it ended; now, if it still runs. */
  untilMs: number;
  rootGib: number;
}

/** EC2 bills seconds, but at least a minute. */
const BILLED_MS_MIN = 60_000;

/** What instances have cost so far. `unknown` names everything whose price is not known; it is left out of the sum. */
export function spent(lived: readonly Lifetime[], prices: Prices): { usd: number; hours: number; unknown: string[] } {
  const unknown = new Set<string>();
  const price = (reading: Reading<number> | undefined, what: string) => {
    const value = known(reading);
    if (value === undefined) unknown.add(what);
    return value ?? 0;
  };
  let [total, hours] = [0, 0];
  for (const { type, fromMs, untilMs, rootGib } of lived) {
    const lasted = Math.max(untilMs - fromMs, BILLED_MS_MIN) / 3_600_000;
    const volume = (price(prices.volume, 'volumes') * rootGib) / HOURS_PER_MONTH;
    total += lasted * (price(prices.instance[type], type) + price(prices.address, 'public IPv4 addresses') + volume);
    hours += lasted;
  }
  return { usd: total, hours, unknown: [...unknown] };
}

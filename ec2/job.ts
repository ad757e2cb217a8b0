/**
 * What an instance receives: the job it fetches at boot, go.json, the signal to connect, and throw.json, the signal to throw.
 *
 * A job is lines of name=value, so that the boot script can read it before it has a program of the bundle. slice.ts reads
 * go.json and throw.json. Invariant: readJob() returns what writeJob() was given, and no value needs quoting.
 */
import { engineOrigin } from '../loadtest/run/plan.ts';
import { countsOf } from '../loadtest/run/scenario.ts';
import { isWorldShared, type Place } from '../loadtest/run/share.ts';
import { ENGINE_PLAN, type EnginePlan } from '../tools/engine_plan.ts';

export interface Job {
  /** Address of the bundle, and the hash that its content must have. */
  bundle: string;
  sha256: string;
  /** Ports of the relay, for the rules that turn off connection tracking. */
  ports: readonly number[];
  /** Address of go.json; undefined: the instance starts at once. */
  go?: string;
  /** Address of throw.json; present when `go` is. */
  throw?: string;
  /** How long to wait for go.json, and again for throw.json. */
  waitSeconds: number;
  /** Arguments for the relay or NATS. */
  arguments: readonly string[];
  /** The engine's plan, where the job is a swarm's. */
  plan?: EnginePlan;
}

/** go.json: when to connect, and the engine's plan for each instance that takes part. */
export interface Go {
  startAtMs: number;
  slices: Readonly<Record<string, EnginePlan>>;
}

/** throw.json: when the first sprite is thrown, on every instance; null: too few have parked, and nothing is thrown. */
export interface ThrowSignal {
  startAtMs: number | null;
}

/** Keys in the bucket. Everything of a fleet is under one prefix, so one policy and one listing cover it. */
export const keys = {
  prefix: (fleet: string) => `runs/${fleet}/`,
  job: (fleet: string) => `runs/${fleet}/job`,
  natsJob: (fleet: string) => `runs/${fleet}/nats.job`,
  go: (fleet: string) => `runs/${fleet}/go.json`,
  throw: (fleet: string) => `runs/${fleet}/throw.json`,
  samples: (fleet: string) => `runs/${fleet}/relay.samples.json`,
  fleet: (fleet: string) => `runs/${fleet}/fleet.json`,
  bundle: (sha256: string) => `bundles/${sha256}.tar.gz`,
} as const;

/** What an instance posts: its key is the fleet's prefix, the instance's id, and one of these suffixes. */
export const POSTED = { ready: '.ready.json', parked: '.parked.json', result: '.result.json', log: '.log' } as const;

/** Throws Error when a value has several lines or can't be an argument. */
export function writeJob(job: Job): string {
  const lines: Record<string, string> = {
    bundle: job.bundle,
    sha256: job.sha256,
    ports: job.ports.join(', '),
    ...(job.go !== undefined && { go: job.go }),
    ...(job.throw !== undefined && { throw: job.throw }),
    wait: String(job.waitSeconds),
    arguments: writeArguments(job.arguments),
    ...(job.plan !== undefined && { plan: JSON.stringify(job.plan) }),
  };
  for (const [name, value] of Object.entries(lines)) {
    if (/[\r\n]/.test(value)) throw new Error(`${name} of the job has more than one line`);
  }
  return Object.entries(lines)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

/** Throws Error with a sentence for people when the text is not a job. */
export function readJob(text: string): Job {
  const lines = new Map(
    text.split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  const required = (name: string) => {
    const value = lines.get(name);
    if (value === undefined) throw new Error(`the job has no ${name}`);
    return value;
  };
  const [go, throwing, plan] = [lines.get('go'), lines.get('throw'), lines.get('plan')];
  return {
    bundle: required('bundle'),
    sha256: required('sha256'),
    ports: required('ports').split(', ').map(Number),
    ...(go !== undefined && { go }),
    ...(throwing !== undefined && { throw: throwing }),
    waitSeconds: Number(required('wait')),
    arguments: required('arguments')
      .split(' ')
      .filter((part) => part !== ''),
    ...(plan !== undefined && { plan: JSON.parse(plan) }),
  };
}

/** Joins arguments with spaces. Throws Error when one contains anything that a shell could interpret. */
export function writeArguments(words: readonly string[]): string {
  const odd = words.find((word) => !/^[\w.,:/=%+@-]+$/.test(word));
  if (odd !== undefined) throw new Error(`${JSON.stringify(odd)} can't be an argument`);
  return words.join(' ');
}

/** Instances replace this by their own id, in the arguments of their job and in the plan's names. */
export const INSTANCE = '%i';

/** The same, by their public address. */
const PUBLIC_ADDRESS = '%a';

/** The port of NATS, which only the instances of its fleet can reach. */
export const NATS_PORT = 4222;

/** JetStream stores the buckets that relays share: what their operators have decided, and the homes of private worlds. */
export const NATS_ARGUMENTS: readonly string[] = [
  ...['--addr', '0.0.0.0', '--port', `${NATS_PORT}`],
  ...['--jetstream', '--store_dir', '/var/lib/sprites-nats'],
];

/**
 * A relay's arguments. `nats`: the private address of its NATS server, with which it shares one world with others. Those send desktops to
 * its public addresses.
 */
export function relayArguments(admission: string, nats: string | undefined): string[] {
  const alone = ['--port', '8080', '--events-port', '8081', '--admission', admission, '--residents', '0'];
  if (nats === undefined) return alone;
  return [
    ...[...alone, '--nats', `nats://${nats}:${NATS_PORT}`, '--nats-plaintext', '--relay-name', INSTANCE],
    ...['--public-url', `http://${PUBLIC_ADDRESS}:8080`, '--public-events-url', `http://${PUBLIC_ADDRESS}:8081`],
  ];
}

export interface Load {
  /** The addresses at which the relay's site is opened; several of a cluster, whose one world all instances share. */
  relays: readonly URL[];
  /** On each instance. */
  desktops: number;
  /** Throws a second of each instance; with 0 nothing is thrown. */
  rate: number;
  seconds: number;
  warmUpSeconds: number;
  /** Desktops a second that each instance connects. */
  connectRate: number;
  /** What the merged report must meet, such as "lost == 0". */
  thresholds: readonly string[];
  /** The scenario, when the load comes from one: how long it lets desktops connect and settle, and what the engine does. */
  scenario?: { name: string; shows: string; parkSeconds: number; plan: EnginePlan };
  /** What else the command line changes of the engine's plan; of `mix` shares, not numbers. */
  more: Partial<EnginePlan>;
}

/** So many desktops throw, unless a scenario says otherwise: a rate needs no more, and each takes a connection of its own. */
const SENDERS_MAX = 1000;

/** Seconds within which the desktops of an instance must be parked: twice as long as planned and a minute, or what a scenario says. */
export function parkSeconds({ desktops, connectRate, scenario }: Omit<Load, 'relays'>): number {
  return Math.max(Math.ceil((2 * desktops) / connectRate) + 60, Math.ceil(scenario?.parkSeconds ?? 0));
}

/**
 * The engine's plan for one instance. `place` is its own among those that throw together.
 *
 * At one relay each instance has its own world. At several all of them play in the one that these share, and their results have one
 * account when they are merged.
 */
export function enginePlanOf(load: Load, fleet: string, instance: string, place: Place = ENGINE_PLAN): EnginePlan {
  return {
    ...(load.scenario?.plan ?? planOf(load)),
    apis: load.relays.map(engineOrigin),
    ...(isWorldShared(load.relays)
      ? { world: '', machines: place.machines, fleet: place.fleet, machine: place.machine }
      : { world: `${fleet}-${instance}` }),
    name: instance,
    connectTimeout: parkSeconds(load),
    leave: true,
    printSeconds: false,
    ...load.more,
    ...(load.more.mix && { mix: countsOf(load.more.mix, load.desktops) }),
  };
}

function planOf({ desktops, rate, seconds, warmUpSeconds, connectRate }: Load): EnginePlan {
  const throwing = rate > 0 ? Math.min(desktops, SENDERS_MAX) : 0;
  return {
    ...ENGINE_PLAN,
    mix: { throwing, sitting: desktops - throwing },
    load: rate > 0 ? { kind: 'rate', perSecond: rate } : { kind: 'sitting' },
    connectRate,
    warmUp: warmUpSeconds,
    duration: seconds,
  };
}

/** The options of `npm run fleet`. Everything is checked here, before AWS is asked anything. */
import { randomBytes } from 'node:crypto';
import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { readThreshold } from '../../loadtest/report/verdict.ts';
import { readChanges } from '../../loadtest/run/plan.ts';
import { isWorldShared, WHY_NOBODY_TALKS } from '../../loadtest/run/share.ts';
import {
  type CommandLine,
  type Command as CommandTable,
  flagOf,
  form,
  goingWith,
  Misused,
  matching,
  number,
  oneOf,
  repeated,
  text,
  toggle,
  whole,
} from '../../tools/command.ts';
import type { EnginePlan } from '../../tools/engine_plan.ts';
import { type BootOptions, namesOf } from '../fleet.ts';
import type { Load } from '../job.ts';
import { BUYS, DESKTOPS_PER_INSTANCE_MAX, INSTANCES_MAX, MINUTES_MAX, type Wanted } from '../plan.ts';
import { leftOut, readShare } from '../scenario.ts';
import type { Changes } from './changes.ts';

const COMMANDS = {
  plan: ['', 'show what would be started and what it costs; starts nothing'],
  up: ['', 'boot the instances; they wait for `run`, and end by themselves'],
  run: ['', 'boot (or use --fleet), swarm, collect, take down'],
  status: ['', 'list instances, and what they have posted'],
  collect: ['', 'fetch the results of --fleet and merge them'],
  down: ['', 'terminate --fleet, or --all of yours, and wait until they are gone'],
  reap: ['', 'terminate every fleet that is past its deadline, whoever started it'],
  cost: ['', 'what instances have cost so far'],
  'user-data': ['', 'print a boot script to paste into the EC2 console'],
  update: ['', 'name the latest bundle in the job of --fleet, for instances that are started again'],
} as const;
export type Command = keyof typeof COMMANDS;

const STARTS = ['plan', 'up', 'run', 'user-data'];

const LOAD_FLAGS = {
  url: form(
    'URL',
    'the relay, as its site is opened: http://host:port/ or https://host/; several of a cluster have commas between, and all instances play in their one world',
    'an http or https URL, or several with commas between',
    readUrls,
  ),
  scenario: text(
    'NAME',
    'a scenario of the swarm, a file or a kept one: its load is divided among the instances, its thresholds judge the merged report',
  ),
  threshold: repeated(text('SENTENCE', 'what the merged report must meet, such as "p99 < 50ms" or "lost == 0"')),
  desktops: whole('N', 'desktops on each instance', [1, DESKTOPS_PER_INSTANCE_MAX], 1000),
  rate: number('R', 'sprites a second that each instance throws; 0: none', [0, 10_000_000], 100),
  seconds: number('N', 'how long they throw', [1, 86_400], 30),
  warmUp: number('N', 'seconds of throwing before it counts', [0, 3600], 2),
  connectRate: number('N', 'desktops a second that each instance connects', [1, 1_000_000], 1000),
  readyWithin: whole(
    'N',
    'seconds until all must be ready; after that the ready ones start, if they are --at-least',
    [1, 3600],
    300,
  ),
};

/** Options of the load that a scenario replaces. */
const SCENARIO_DECIDES = ['desktops', 'rate', 'seconds', 'warmUp', 'connectRate'] as const;

const ADMISSIONS = ['open', 'strict'] as const;

const INSTANCE_FLAGS = {
  instances: whole('N', 'how many', [1, INSTANCES_MAX], 2),
  atLeast: { ...whole('N', 'if EC2 starts fewer, they are given back', [1, INSTANCES_MAX]), shown: 'all' },
  type: {
    ...form(
      'LIST',
      'instance type (c6g.large where this machine is arm64); several with --buy fleet',
      'an instance type such as c6i.large, or several with commas between them',
      (given) => (/^[a-z0-9-]+\.[a-z0-9-]+(,[a-z0-9-]+\.[a-z0-9-]+)*$/.test(given) ? given.split(',') : undefined),
    ),
    shown: 'c6i.large',
  },
  buy: oneOf('HOW', 'how they are bought', BUYS, 'spot'),
  minutes: whole('N', 'each instance powers itself off after this', [1, MINUTES_MAX], 60),
  maxCost: number('USD', 'refuse a fleet that may cost more', [0, 100_000], 1, 4),
  relay: toggle('a relay instead of a swarm, on one instance'),
  relays: {
    ...whole('N', 'this many relays that share one world, and a NATS server, each on its own instance', [
      2,
      INSTANCES_MAX - 1,
    ]),
    shown: 'none',
  },
  allow: form(
    'LIST',
    'who may reach that relay: your.address/32,172.31.0.0/16, or 0.0.0.0/0 for everyone',
    'an address block such as 203.0.113.7/32, or several with commas between them',
    (given) => (/^[0-9a-f.:]+\/\d{1,3}(,[0-9a-f.:]+\/\d{1,3})*$/.test(given) ? given.split(',') : undefined),
  ),
  admission: oneOf('KIND', 'limits by address of that relay; open, so that it can be swarmed', ADMISSIONS, 'open'),
  image: { ...matching('AMI', 'image', 'an id such as ami-0abc', /^ami-[0-9a-f]+$/), shown: 'Amazon Linux 2023' },
  subnet: {
    ...matching('ID', 'subnet', 'an id such as subnet-0abc', /^subnet-[0-9a-f]+$/),
    shown: 'of the default network',
  },
};

const PLACE_FLAGS = {
  region: { ...text('NAME', 'region'), shown: 'AWS_REGION', variables: ['AWS_REGION', 'AWS_DEFAULT_REGION'] },
  bucket: {
    ...text('NAME', 'where bundle and results are stored: sprites-…; it is made if it does not exist', ''),
    shown: 'SPRITES_BUCKET',
    variables: ['SPRITES_BUCKET'],
  },
  ...goingWith(['run', 'status', 'collect', 'down', 'reap', 'cost', 'update'], {
    fleet: matching(
      'NAME',
      'a fleet that exists',
      'a name that `up` or `status` printed',
      /^(?:swarm|relay)-[0-9]{6}-[0-9]{4}-[0-9a-f]{4}$/,
    ),
  }),
  ...goingWith([...STARTS, 'down'], {
    owner: { ...matching('NAME', 'goes into the tags', 'a plain name', /^[\w.@-]{1,64}$/), shown: 'your login' },
  }),
  ...goingWith(['run', 'up'], {
    relayFleet: matching(
      'NAME',
      "the fleet of the relay that is swarmed: its relay's own figures go into the report",
      'the name of a relay that `up` printed',
      /^relay-[0-9]{6}-[0-9]{4}-[0-9a-f]{4}$/,
    ),
  }),
  ...goingWith(['run'], {
    adminUrl: matching(
      'URL',
      'the admin port of the relay that is swarmed, instead of --relay-fleet',
      'http://HOST:PORT',
      /^https?:\/\/[^/\s]+\/?$/,
    ),
    adminTokenFile: text('FILE', 'its admin token'),
  }),
  ...goingWith(['run', 'collect'], { out: { ...text('DIR', 'where results go'), shown: 'build/fleet/NAME' } }),
  ...goingWith(['user-data'], { validHours: whole('N', 'how long the addresses in the script work', [1, 7 * 24], 24) }),
  ...goingWith(['down'], { all: toggle('all fleets of --owner') }),
  ...goingWith(['status', 'reap'], { allRegions: toggle('look into every region') }),
  ...goingWith(['up', 'run', 'down', 'reap'], { dryRun: toggle('print what would be done, and do nothing') }),
  ...goingWith(STARTS, { yes: toggle('continue although a price or a quota is not known') }),
};

const SECTIONS = {
  'The load': goingWith(STARTS, LOAD_FLAGS),
  'The instances': goingWith(STARTS, INSTANCE_FLAGS),
  'The fleet': PLACE_FLAGS,
};

export const FLAGS = { ...SECTIONS['The load'], ...SECTIONS['The instances'], ...PLACE_FLAGS };

export const COMMAND: CommandTable<typeof FLAGS> = {
  usage: ['npm run fleet -- COMMAND [options] [-- options of npm run swarm]'],
  about: 'Boots instances of EC2 that swarm a relay, or one that is a relay. See ec2/README.md.',
  commands: COMMANDS,
  needsCommand: true,
  takesRest: true,
  options: FLAGS,
  sections: SECTIONS,
  notes: [
    'run --fleet uses the load that the fleet was booted with; options of the load change it, options of the instances are\n' +
      'rejected.',
    'Credentials: as with every tool of AWS (AWS_PROFILE, …).',
  ],
  failed: 'or refused, or interrupted',
};

export interface Options {
  command: Command;
  wanted: Wanted;
  bootOptions: BootOptions;
  load: Load | undefined;
  /** For `run --fleet`: what the command line changes of the load that the fleet was booted with. */
  changes: Changes;
  /** The name of a fleet that exists, from --fleet. */
  fleet: string | undefined;
  endpoint: string | undefined;
  /** The fleet of the relay, from --relay-fleet. */
  relayFleet: string | undefined;
  /** Where the relay's own figures are asked. */
  admin: { url: string; tokenFile: string } | undefined;
  /** Settings of --scenario that a fleet leaves out. */
  leftOut: readonly string[];
  out: string;
  validSeconds: number;
  allRegions: boolean;
  dryRun: boolean;
  yes: boolean;
}

/** Throws Misused for options that do not go together. */
export function optionsOf(line: CommandLine<typeof FLAGS>, environment: NodeJS.ProcessEnv): Options {
  const { values } = line;
  const size = sizeOf(line);
  check(line, size);
  const load = size.role === 'swarm' ? loadOf(line, size.instances) : undefined;
  if (load) checkTime(load, values.minutes);
  const wanted = wantedOf(line, size, load);
  const { fleet, relayFleet, image, subnet, allow, adminUrl, adminTokenFile, scenario } = values;
  return {
    command: line.words[0] as Command,
    wanted,
    bootOptions: {
      readySeconds: values.readyWithin,
      ...(image && { image }),
      ...(subnet && { subnet }),
      ...(allow && { allow }),
    },
    load,
    changes: changesOf(line),
    fleet,
    endpoint: environment.AWS_ENDPOINT_URL || undefined,
    relayFleet,
    leftOut: scenario === undefined ? [] : leftOut(scenario),
    admin: adminUrl && adminTokenFile ? { url: adminUrl, tokenFile: adminTokenFile } : undefined,
    out: resolve(values.out ?? `build/fleet/${wanted.fleet}`),
    validSeconds: values.validHours * 3600,
    allRegions: values.allRegions,
    dryRun: values.dryRun,
    yes: values.yes,
  };
}

type Size = Pick<Wanted, 'role' | 'instances'>;

/** What the instances are, and how many. A cluster of relays has a NATS server besides. */
function sizeOf({ values: { relay, relays, instances }, given }: CommandLine<typeof FLAGS>): Size {
  if (relays !== undefined) return { role: 'relay', instances: relays + 1 };
  return { role: relay ? 'relay' : 'swarm', instances: relay && !given.has('instances') ? 1 : instances };
}

/** Throws Misused for what no table of options can say: options that need, exclude or limit each other. */
function check({ words, values, given, rest }: CommandLine<typeof FLAGS>, { role, instances }: Size): void {
  const command = words[0] as Command;
  const { region, bucket, fleet, atLeast, relays, adminUrl, adminTokenFile, relayFleet } = values;
  if (relays !== undefined) checkCluster(command, given);
  if (fleet !== undefined && command === 'run') checkRunOf(fleet, given);
  const isRelay = role === 'relay';
  const isBucket = /^sprites-[a-z0-9-]{1,55}$/.test(bucket);
  const refusals: [isWrong: boolean, sentence: string][] = [
    [
      atLeast !== undefined && atLeast > instances,
      `--at-least: must be a whole number from 1 to ${instances} (--instances), not "${atLeast}".`,
    ],
    [!region, '--region: say which, or set AWS_REGION.'],
    [needsBucket(command) && bucket === '', '--bucket: say which, or set SPRITES_BUCKET.'],
    [
      needsBucket(command) && !isBucket,
      `--bucket: must be sprites-… of lower-case letters, digits and hyphens (the policy allows no others), not ${JSON.stringify(bucket)}.`,
    ],
    [
      rest.length > 0 && !starts(command),
      `${rest[0]}: options of the swarm go with ${STARTS.join(', ')}, not with ${command}.`,
    ],
    [(adminUrl === undefined) !== (adminTokenFile === undefined), '--admin-url and --admin-token-file go together.'],
    [
      adminUrl !== undefined && relayFleet !== undefined,
      '--relay-fleet: its relay posts its figures itself: leave --admin-url out.',
    ],
    [starts(command) && !isRelay && !values.url && !fleet, '--url: say which relay to swarm.'],
    [
      command === 'user-data' && (values.url?.length ?? 0) > 1,
      '--url: instances from the console do not know of each other, so they have no world in common: give one relay.',
    ],
    [isRelay && command === 'run' && relays === undefined, '--relay: goes with up; a relay does not run a load.'],
    [
      isRelay && starts(command) && command !== 'user-data' && !values.allow,
      '--allow: must be an address block such as 203.0.113.7/32: say who may reach the relay.',
    ],
    [['collect', 'update'].includes(command) && !fleet, '--fleet: say which fleet.'],
    [command === 'down' && !fleet && !values.all, '--fleet: say which fleet, or --all of yours.'],
  ];
  const refusal = refusals.find(([isWrong]) => isWrong);
  if (refusal) throw new Misused(refusal[1]);
}

function checkTime({ warmUpSeconds, seconds, desktops, connectRate }: Load, minutes: number): void {
  const all = warmUpSeconds + seconds + desktops / connectRate;
  if (all <= minutes * 60) return;
  throw new Misused(`--minutes: must be at least ${Math.ceil(all / 60)}, which the load takes, not "${minutes}".`);
}

function wantedOf({ values }: CommandLine<typeof FLAGS>, { role, instances }: Size, load: Load | undefined): Wanted {
  const { region, bucket, buy, minutes, owner, atLeast, type, maxCost, admission, relays } = values;
  return {
    fleet: values.fleet ?? `${role}-${stamp()}`,
    role,
    region: region as string,
    bucket,
    buy,
    instances,
    minutes,
    owner: owner ?? userInfo().username,
    atLeast: atLeast ?? instances,
    types: type ?? [process.arch === 'arm64' ? 'c6g.large' : FLAGS.type.shown],
    maxCostUsd: maxCost,
    ...(role === 'relay' && { admission }),
    ...(relays !== undefined && { relays }),
    ...(load && {
      load: {
        desktops: load.desktops,
        rate: load.rate,
        relay: namesOf(load.relays),
        seconds: load.seconds + load.warmUpSeconds,
      },
    }),
  };
}

const starts = (command: Command) => STARTS.includes(command);
const needsBucket = (command: Command) => starts(command) || ['collect', 'update'].includes(command);

/** `run --fleet` can change the load, because instances learn it when they start; what they are was decided at boot. */
function checkRunOf(fleet: string, given: ReadonlySet<string>): void {
  const others = ['scenario', 'dryRun', 'yes', 'owner'];
  const fixed = [...given].find((name) => name in INSTANCE_FLAGS || others.includes(name));
  if (fixed === undefined) return;
  const changeable = Object.keys(LOAD_FLAGS)
    .filter((name) => !others.includes(name))
    .map((name) => `--${flagOf(name)}`);
  throw new Misused(
    `--${flagOf(fixed)}: ${fleet} is booted already; with --fleet only ${changeable.join(', ')} and options of the swarm can change.`,
  );
}

/** Throws Misused for options that a cluster of relays decides, and for a boot script, which only one of its two kinds could have. */
function checkCluster(command: Command, given: ReadonlySet<string>): void {
  if (command === 'user-data') throw new Misused('--relays: instances from the console have no address of NATS yet.');
  const decided = ['relay', 'instances', 'atLeast', 'url'].find((name) => given.has(name));
  if (decided !== undefined) throw new Misused(`--${flagOf(decided)}: --relays decides it: leave one of them out.`);
}

function loadOf({ values, given, rest }: CommandLine<typeof FLAGS>, instances: number): Load | undefined {
  if (values.url === undefined) return undefined;
  const relays = values.url.map(reachable);
  const thresholds = values.threshold.map((threshold) => readThreshold(threshold).text);
  const more = readChanges(rest);
  if (values.scenario === undefined) {
    const { desktops, rate, seconds, warmUp: warmUpSeconds, connectRate } = values;
    checkMix(more.mix, rate > 0, relays);
    return { relays, desktops, rate, seconds, warmUpSeconds, connectRate, thresholds, more };
  }
  const decided = SCENARIO_DECIDES.find((name) => given.has(name));
  if (decided) throw new Misused(`--${flagOf(decided)}: the scenario decides it: leave one of them out.`);
  const share = readShare(values.scenario, instances, relays);
  checkMix(more.mix, share.rate > 0, relays);
  return { relays, ...share, thresholds: [...share.thresholds, ...thresholds], more };
}

/** Throws Misused for shares that do not fit the load: desktops throw if and only if there is a rate. */
function checkMix(mix: EnginePlan['mix'] | undefined, isThrown: boolean, relays: readonly URL[]): void {
  if (isWorldShared(relays) && (mix?.talking ?? 0) > 0) throw new Misused(`--mix: ${WHY_NOBODY_TALKS}.`);
  if (mix === undefined || (mix.throwing ?? 0) > 0 === isThrown) return;
  throw new Misused(
    isThrown
      ? '--mix has no desktop that throws: add throwing=…, or give --rate 0.'
      : '--mix has desktops that throw, and yet --rate is 0.',
  );
}

function changesOf({ values, given, rest }: CommandLine<typeof FLAGS>): Changes {
  return {
    ...(given.has('url') && values.url && { relays: values.url.map(reachable) }),
    ...(given.has('desktops') && { desktops: values.desktops }),
    ...(given.has('rate') && { rate: values.rate }),
    ...(given.has('seconds') && { seconds: values.seconds }),
    ...(given.has('warmUp') && { warmUpSeconds: values.warmUp }),
    ...(given.has('connectRate') && { connectRate: values.connectRate }),
    ...(given.has('threshold') && { thresholds: values.threshold.map((threshold) => readThreshold(threshold).text) }),
    ...(given.has('readyWithin') && { readySeconds: values.readyWithin }),
    ...(rest.length > 0 && { more: readChanges(rest) }),
  };
}

function readUrls(given: string): URL[] | undefined {
  const urls = given.split(',').map((one) => (URL.canParse(one) ? new URL(one) : undefined));
  return urls.every((url) => url?.protocol === 'http:' || url?.protocol === 'https:') ? (urls as URL[]) : undefined;
}

/** Throws Misused for an address that names the machine it is used on: on an instance that is the instance. */
function reachable(url: URL): URL {
  if (/^(?:(?:.+\.)?localhost|127\.[\d.]+|0\.0\.0\.0|\[::1?\])\.?$/.test(url.hostname)) {
    throw new Misused(
      `--url: instances can't reach ${url.hostname}, which names the machine it is used on: give an address of the relay that EC2 can reach.`,
    );
  }
  return url;
}

/** `261121-0412-7f3a`: the time, and random digits, so that two fleets that start at once have different names. */
function stamp(): string {
  const [date, time] = new Date().toISOString().slice(2, 16).split('T');
  return `${date.replaceAll('-', '')}-${time.replace(':', '')}-${randomBytes(2).toString('hex')}`;
}

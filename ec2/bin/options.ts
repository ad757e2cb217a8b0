/** The fleet command's options: one table, from which both --help and reading are made. Checked before AWS is asked anything. */
import { randomBytes } from 'node:crypto';
import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Places } from '../fleet.ts';
import { type Load, writeArguments } from '../job.ts';
import { BUYS, type Wanted } from '../plan.ts';

export const COMMANDS = {
  plan: 'what would be started and what it costs; starts nothing',
  up: 'boot the instances; they wait for `run`, and end by themselves',
  run: 'boot (or take --fleet), swarm, collect, take down',
  status: 'instances that are there, and what they have posted',
  collect: 'fetch the results of --fleet and merge them',
  down: 'terminate --fleet, or --all of yours, and wait until they are gone',
  reap: 'terminate whatever is past its deadline, whoever started it',
  cost: 'what instances have cost so far',
  'user-data': 'print a boot script to paste into the EC2 console',
} as const;
export type Command = keyof typeof COMMANDS;

/** Flags with their value's name, default and meaning, by what they are about. */
export const FLAGS = {
  url: ['URL', '', 'the relay, as its site is opened: http://host:port/'],
  desktops: ['N', '1000', 'desktops on each instance'],
  rate: ['R', '100', 'sprites a second that each instance throws; 0: nobody throws'],
  seconds: ['N', '30', 'how long they throw'],
  'warm-up': ['N', '2', 'seconds of throwing before it counts'],
  'connect-rate': ['N', '1000', 'desktops a second that each instance connects'],
  'ready-within': ['N', '300', 'seconds until all must be ready; else those go who are, if they are --at-least'],

  instances: ['N', '2', 'how many'],
  'at-least': ['N', 'all', 'with fewer the fleet is given back'],
  type: ['LIST', 'c6i.large', 'instance type (c6g.large where this machine is arm64); several with --buy fleet'],
  buy: ['HOW', 'spot', BUYS.join(', ')],
  minutes: ['N', '60', 'after these each instance powers itself off'],
  'max-cost': ['USD', '1', 'refuse what may cost more'],
  relay: ['', '', 'a relay instead of a swarm, on one instance'],
  allow: ['CIDR', '', 'who may reach that relay: your.address/32, or 0.0.0.0/0 for everyone'],

  region: ['NAME', 'AWS_REGION', 'region'],
  bucket: ['NAME', 'SPRITES_BUCKET', 'for bundle and results, made if need be; sprites-…'],
  image: ['AMI', 'Amazon Linux 2023', 'image'],
  subnet: ['ID', 'of the default network', 'subnet'],
  fleet: ['NAME', '', 'a fleet that is there'],
  owner: ['NAME', 'your login', 'goes into the tags'],
  out: ['DIR', 'build/fleet/NAME', 'where results go'],
  'valid-hours': ['N', '24', 'user-data: how long its addresses work'],

  all: ['', '', 'down: all fleets of --owner'],
  'all-regions': ['', '', 'status, reap: everywhere'],
  'dry-run': ['', '', 'print the plan, ask EC2 whether it would, start nothing'],
  yes: ['', '', 'go on although a price or a quota is not known'],
} as const;
type Flag = keyof typeof FLAGS;

export interface Options {
  command: Command;
  wanted: Wanted;
  places: Places;
  load: Load | undefined;
  /** A fleet that was named, not made up. */
  fleet: string | undefined;
  endpoint: string | undefined;
  out: string;
  validSeconds: number;
  all: boolean;
  allRegions: boolean;
  dryRun: boolean;
  yes: boolean;
}

/** A command line that can't be understood: which flag, what was wrong, and what it takes. */
export class Misused extends Error {}

export function help(): string {
  const commands = Object.entries(COMMANDS).map(([name, meaning]) => `  ${name.padEnd(28)}${meaning}`);
  const flags = Object.entries(FLAGS).map(([flag, [value, otherwise, meaning]]) => {
    const tail = otherwise === '' ? '' : ` [${otherwise}]`;
    return `  ${`--${flag} ${value}`.trimEnd().padEnd(28)}${meaning}${tail}`;
  });
  return [
    'Usage: npm run fleet -- COMMAND [options] [-- flags of swarm-engine]',
    '',
    'Boots instances of EC2 that swarm a relay, or one that is a relay. See ec2/README.md.',
    '',
    ...commands,
    '',
    ...flags,
    `  ${'--help'.padEnd(28)}this text`,
    '',
    'Exit: 0 done, 1 failed or refused, 2 misused. Credentials: as with every tool of AWS (AWS_PROFILE, …).',
  ].join('\n');
}

/** Reads the command line. Throws Misused. */
export function readOptions(argv: readonly string[], environment: NodeJS.ProcessEnv): Options | 'help' {
  const { values, command, more } = parse(argv);
  if (values.help || command === undefined) return 'help';
  const text = (flag: Flag) => values[flag] as string | undefined;
  const amount = (flag: Flag, least: number, most: number): number => {
    const value = text(flag) ?? FLAGS[flag][1];
    if (!/^\d{1,9}(\.\d{1,6})?$/.test(value) || Number(value) < least || Number(value) > most) {
      throw new Misused(`--${flag}: must be a number from ${least} to ${most}, not ${JSON.stringify(value)}.`);
    }
    return Number(value);
  };
  const whole = (flag: Flag, least: number, most: number): number => {
    const value = amount(flag, least, most);
    if (!Number.isInteger(value)) throw new Misused(`--${flag}: must be a whole number, not ${value}.`);
    return value;
  };
  const word = (flag: Flag, value: string, form: RegExp, like: string): string => {
    if (!form.test(value)) throw new Misused(`--${flag}: must be ${like}, not ${JSON.stringify(value)}.`);
    return value;
  };
  const buy = (text('buy') ?? FLAGS.buy[1]) as Wanted['buy'];
  if (!BUYS.includes(buy)) throw new Misused(`--buy: must be one of ${BUYS.join(', ')}.`);
  const role = values.relay ? 'relay' : 'swarm';
  const instances = text('instances') === undefined && role === 'relay' ? 1 : whole('instances', 1, 10_000);
  const atLeast = text('at-least') === undefined ? instances : whole('at-least', 1, instances);
  const owner = word('owner', text('owner') ?? userInfo().username, /^[\w.@-]{1,64}$/, 'a plain name');
  const fleet = text('fleet') && word('fleet', text('fleet') as string, FLEET, 'a name that `up` or `status` printed');
  const region = text('region') ?? environment.AWS_REGION ?? environment.AWS_DEFAULT_REGION;
  if (!region) throw new Misused('--region: say which, or set AWS_REGION.');
  const bucket = text('bucket') ?? environment.SPRITES_BUCKET ?? '';
  if (needsBucket(command))
    word(
      'bucket',
      bucket,
      /^sprites-[a-z0-9-]{1,55}$/,
      'sprites-… of lower-case letters, digits and hyphens (the policy allows no others)',
    );
  const load = readLoad(role, text('url'), amount, whole, more);
  if (needsLoad(command) && role === 'swarm' && !load && !fleet)
    throw new Misused('--url: say which relay is to be swarmed.');
  if (role === 'relay' && command === 'run') throw new Misused('--relay: goes with up; a relay does not run a load.');
  const allow = text('allow');
  if (role === 'relay' && needsLoad(command) && command !== 'user-data') {
    word('allow', allow ?? '', /^[0-9a-f.:]+\/\d{1,3}$/, 'an address block such as 203.0.113.7/32');
  }
  if (command === 'collect' && !fleet) throw new Misused('--fleet: say which fleet.');
  if (command === 'down' && !fleet && !values.all) throw new Misused('--fleet: say which fleet, or --all of yours.');
  const name = fleet || `${role}-${stamp()}`;
  const minutes = whole('minutes', 1, 100_000);
  const seconds = load ? load.warmUpSeconds + load.seconds + load.desktops / load.connectRate : 0;
  if (seconds > minutes * 60)
    throw new Misused(`--minutes: ${minutes} are fewer than the ${Math.ceil(seconds / 60)} the load takes.`);
  const types = (text('type') ?? (process.arch === 'arm64' ? 'c6g.large' : FLAGS.type[1])).split(',');
  for (const type of types) word('type', type, /^[a-z0-9-]+\.[a-z0-9-]+$/, 'an instance type such as c6i.large');
  return {
    command,
    wanted: {
      ...{ fleet: name, role, owner, region, bucket, buy, types, instances, atLeast, minutes },
      maxCostUsd: amount('max-cost', 0, 100_000),
      ...(load && {
        load: {
          desktops: load.desktops,
          rate: load.rate,
          seconds: load.seconds + load.warmUpSeconds,
          relay: load.relay.href,
        },
      }),
    },
    places: {
      readySeconds: whole('ready-within', 1, 3600),
      ...(text('image') && {
        image: word('image', text('image') as string, /^ami-[0-9a-f]+$/, 'an id such as ami-0abc'),
      }),
      ...(text('subnet') && {
        subnet: word('subnet', text('subnet') as string, /^subnet-[0-9a-f]+$/, 'an id such as subnet-0abc'),
      }),
      ...(allow && { allow }),
    },
    load,
    fleet,
    endpoint: environment.AWS_ENDPOINT_URL || undefined,
    out: resolve(text('out') ?? `build/fleet/${name}`),
    validSeconds: whole('valid-hours', 1, 7 * 24) * 3600,
    all: values.all === true,
    allRegions: values['all-regions'] === true,
    dryRun: values['dry-run'] === true,
    yes: values.yes === true,
  };
}

const FLEET = /^(?:swarm|relay)-[0-9]{6}-[0-9]{4}-[0-9a-f]{4}$/;

const needsLoad = (command: Command) => ['plan', 'up', 'run', 'user-data'].includes(command);
const needsBucket = (command: Command) => needsLoad(command) || command === 'collect';

function parse(argv: readonly string[]) {
  const options = Object.fromEntries(
    Object.entries(FLAGS).map(([flag, [value]]) => [
      flag,
      { type: value === '' ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  const end = argv.indexOf('--');
  const own = end < 0 ? argv : argv.slice(0, end);
  try {
    const { values, positionals } = parseArgs({
      args: [...own],
      allowPositionals: true,
      options: { ...options, help: { type: 'boolean' } },
    });
    const [command, ...rest] = positionals;
    if (command !== undefined && !(command in COMMANDS))
      throw new Misused(`There is no command ${JSON.stringify(command)}. See --help.`);
    if (rest.length > 0) throw new Misused(`${JSON.stringify(rest[0])} is no option. See --help.`);
    return {
      values: values as Record<string, string | boolean | undefined>,
      command: command as Command | undefined,
      more: end < 0 ? [] : argv.slice(end + 1),
    };
  } catch (error) {
    if (error instanceof Misused) throw error;
    throw new Misused(`${(error as Error).message.split('. ')[0]}. See --help.`);
  }
}

type Amount = (flag: Flag, least: number, most: number) => number;

function readLoad(
  role: Wanted['role'],
  url: string | undefined,
  amount: Amount,
  whole: Amount,
  more: readonly string[],
): Load | undefined {
  if (url === undefined || role === 'relay') return undefined;
  const relay = URL.canParse(url) ? new URL(url) : undefined;
  if (relay?.protocol !== 'http:') throw new Misused('--url: must be an http URL; the engine speaks plain HTTP.');
  try {
    writeArguments([...more, relay.host]);
  } catch (error) {
    throw new Misused(`${(error as Error).message}.`);
  }
  return {
    relay,
    desktops: whole('desktops', 1, 10_000_000),
    rate: amount('rate', 0, 10_000_000),
    seconds: amount('seconds', 1, 86_400),
    warmUpSeconds: amount('warm-up', 0, 3600),
    connectRate: amount('connect-rate', 1, 1_000_000),
    more,
  };
}

/** `261121-0412-7f3a`: when, and something that two who start at once do not share. */
function stamp(): string {
  const [date, time] = new Date().toISOString().slice(2, 16).split('T');
  return `${date.replaceAll('-', '')}-${time.replace(':', '')}-${randomBytes(2).toString('hex')}`;
}

/** The relay's options: flags, and the same as SPRITES_… variables; a flag wins. Checked before anything is started. */
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { PrimaryOptions } from '../roles/primary.ts';
import { SLOTS_MAX } from '../wire/identity.ts';

export interface Options extends PrimaryOptions {
  logLevel: string;
}

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'];

/** Flags with their value's name, default and meaning; --help is made of it. */
export const FLAGS = {
  port: ['N', '8080', 'site, API and crossings; 0 picks a free one'],
  'events-port': ['N', '8081', 'long-polls; 0 picks a free one'],
  'admin-port': ['N', '8083', 'metrics and admin; 0 picks a free one'],
  'admin-host': ['ADDRESS', '127.0.0.1', 'address of the admin port'],
  host: ['ADDRESS', '::', 'address of the other two'],
  'public-url': ['URL', '', 'where clients reach the API and the site, behind a proxy'],
  'public-events-url': ['URL', '', 'where clients reach the long-polls, behind a proxy'],
  data: ['DIR', './data', 'sprite files and the admin token'],
  workers: ['N', 'cores', 'worker processes; 0: everything in one process, the fewest hops'],
  front: ['KIND', 'auto', 'native, portable, or auto: native where it is built'],
  'max-desktops': ['N', 'auto', 'desktops at once; auto: what files and memory carry'],
  'admin-token-file': ['FILE', 'DATA/admin-token', 'made with mode 0600 when absent'],
  'log-level': ['LEVEL', 'info', LOG_LEVELS.join(', ')],
} as const;

type Flag = keyof typeof FLAGS;

export function help(): string {
  const flags = Object.entries(FLAGS).map(([flag, [value, otherwise, meaning]]) => {
    const tail = otherwise === '' ? '' : ` [${otherwise}]`;
    return `  ${`--${flag} ${value}`.padEnd(28)}${meaning}${tail}`;
  });
  return [
    'Usage: npm start -- [options]',
    '',
    'Starts the relay: the site and API, the long-polls, and the admin port.',
    '',
    ...flags,
    `  ${'--help'.padEnd(28)}this text`,
    '',
    'Each option can be given as a variable too: --events-port 9001 is SPRITES_EVENTS_PORT=9001.',
    'V8 flags go into SPRITES_NODE_FLAGS; they come after those the launcher chooses.',
  ].join('\n');
}

/** A flag that can't be understood. Its message says which, what was wrong, and what it takes. */
export class Misused extends Error {}

/** Reads the options. Answers 'help' when asked for it. Throws Misused. */
export function readOptions(argv: readonly string[], environment: NodeJS.ProcessEnv): Options | 'help' {
  const options = Object.fromEntries(Object.keys(FLAGS).map((flag) => [flag, { type: 'string' as const }]));
  let values: Record<string, unknown>;
  try {
    values = parseArgs({ args: [...argv], options: { ...options, help: { type: 'boolean' } } }).values;
  } catch (error) {
    throw new Misused(`${(error as Error).message.split('. ')[0]}. See --help.`);
  }
  if (values.help) return 'help';
  const text = (flag: Flag): string | undefined => {
    const variable = environment[`SPRITES_${flag.toUpperCase().replaceAll('-', '_')}`];
    return (values[flag] as string | undefined) ?? (variable === '' ? undefined : variable);
  };
  const number = (flag: Flag, least: number, most: number): number | undefined => {
    const value = text(flag);
    if (value === undefined) return undefined;
    if (!/^\d{1,9}$/.test(value) || Number(value) < least || Number(value) > most) {
      throw new Misused(`--${flag}: must be a whole number from ${least} to ${most}, not ${JSON.stringify(value)}.`);
    }
    return Number(value);
  };
  const oneOf = <T extends string>(flag: Flag, choices: readonly T[], otherwise: T): T => {
    const value = text(flag) ?? otherwise;
    if (!choices.includes(value as T)) throw new Misused(`--${flag}: must be one of ${choices.join(', ')}.`);
    return value as T;
  };
  const data = resolve(text('data') ?? FLAGS.data[1]);
  return {
    port: number('port', 0, 65_535) ?? 8080,
    eventsPort: number('events-port', 0, 65_535) ?? 8081,
    adminPort: number('admin-port', 0, 65_535) ?? 8083,
    adminHost: text('admin-host') ?? FLAGS['admin-host'][1],
    host: text('host') ?? FLAGS.host[1],
    publicUrl: url('public-url', text('public-url')),
    publicEventsUrl: url('public-events-url', text('public-events-url')),
    data,
    workers: number('workers', 0, 256) ?? availableParallelism(),
    front: oneOf('front', ['auto', 'native', 'portable'], 'auto'),
    maxDesktops: number('max-desktops', 1, SLOTS_MAX),
    adminTokenFile: resolve(text('admin-token-file') ?? `${data}/admin-token`),
    logLevel: oneOf('log-level', LOG_LEVELS, 'info'),
  };
}

function url(flag: Flag, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const parsed = URL.canParse(value) ? new URL(value) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol)) throw new Misused(`--${flag}: must be an http or https URL.`);
  return value.replace(/\/+$/, '');
}

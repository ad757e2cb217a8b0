/** The relay's options. Each is also a SPRITES_… variable; the command line wins. */
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import {
  type Command,
  flagOf,
  form,
  helpOf,
  Misused,
  number,
  oneOf,
  readCommandLine,
  text,
  toggle,
  type Values,
  whole,
  withVariables,
} from '../../tools/command.ts';
import { STAGE_TOLERANCE_PX_MAX } from '../domain/state/limits.ts';
import { SAYINGS } from '../domain/talk/hearers.ts';
import { readNetwork } from '../moderation/ip_network.ts';
import { CLUSTER_CORES_MIN, planWorkers } from '../operator/workers.ts';
import { DURABILITIES } from '../roles/journaling.ts';
import type { PrimaryOptions } from '../roles/primary.ts';
import { RESIDENTS_DEFAULT, RESIDENTS_MAX } from '../roles/residents_process.ts';
import { isRelayName, RELAY_NAME_BYTES_MAX, SLOTS_MAX } from '../wire/identity.ts';
import { PICTURES } from '../wire/pictures.ts';
import { PING_MS, PING_SECONDS_MAX, PING_SECONDS_MIN, STAGE_TOLERANCE_PX } from '../wire/rules.ts';

export { Misused };

export interface Options extends PrimaryOptions {
  logLevel: string;
}

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'] as const;

export const FRONTS = ['auto', 'native', 'portable'] as const;

const IPCS = ['auto', 'ring', 'channel'] as const;

export const ADMISSIONS = ['strict', 'open'] as const;

export const WORKERS_MAX = 256;

const PORT = [0, 65_535] as const;

/** Addresses that stand for all of a machine. */
const EVERY_ADDRESS: ReadonlySet<string> = new Set(['::', '0.0.0.0']);

const WORKERS = whole('N', '', [0, WORKERS_MAX]);

const TOLERANCE = number('PX', '', [0, STAGE_TOLERANCE_PX_MAX], STAGE_TOLERANCE_PX);

const url = (meaning: string) =>
  form('URL', meaning, 'an http or https URL', (given) => readUrl(given)?.replace(/\/+$/, ''));

/** Returns what is an http or https URL. */
function readUrl(given: string): string | undefined {
  return URL.canParse(given) && /^https?:$/.test(new URL(given).protocol) ? given : undefined;
}

export const FLAGS = withVariables('SPRITES', {
  port: whole('N', 'site, API and crossings; 0 picks a free one', PORT, 8080),
  eventsPort: whole('N', 'long-polls; 0 picks a free one', PORT, 8081),
  adminPort: whole('N', 'metrics and admin; 0 picks a free one', PORT, 8083),
  adminHost: text('ADDRESS', 'address of the admin port', '127.0.0.1'),
  host: text('ADDRESS', 'address of the ports for the API and the long-polls', '::'),
  publicUrl: url('where clients reach the relay, behind a proxy'),
  publicEventsUrl: url('where clients reach the long-polls, if not by that URL'),
  contact: form(
    'ADDRESS',
    'where visitors reach the operator; without it, by the feedback form',
    'an e-mail address, or an http or https URL',
    (given) => (/^[^\s@<>]+@[^\s@<>]+$/.test(given) ? given : readUrl(given)),
  ),
  rules: text('FILE', 'the rules of this relay, in Markdown, for a page of the site'),
  data: text(
    'DIR',
    'the data directory: journal, sprite files, bans and reports, gallery, feedback, residents, admin token, recordings',
    './data',
  ),
  workers: {
    ...form<'auto' | number, 'auto'>(
      'N',
      `worker processes; 0: everything in one process; auto: 0 on fewer than ${CLUSTER_CORES_MIN} cores, else one for each core but one`,
      `${WORKERS.must}, or auto`,
      (given) => (given === 'auto' ? given : (WORKERS.read(given) as number | undefined)),
      'auto',
    ),
    shown: 'auto',
  },
  front: {
    ...oneOf('KIND', 'what serves the connections', FRONTS, 'auto'),
    meaning: 'what serves the connections: native, portable, or auto: native where it is built',
  },
  ipc: {
    ...oneOf('KIND', '', IPCS, 'auto'),
    meaning:
      "how workers talk to the master: ring (shared memory), channel (Node's own), or auto: ring with the native front",
  },
  residents: whole(
    'N',
    'programs that keep people company in commons while few are there; 0 for none',
    [0, RESIDENTS_MAX],
    RESIDENTS_DEFAULT,
  ),
  pictures: {
    ...oneOf('KIND', '', PICTURES, 'any'),
    meaning: "strangers' pictures it carries: any, known (no uploads), or shipped (only its own characters)",
  },
  sayings: form(
    'WHO',
    'who hears a saying: worlds, neighbours, or off; without it, all in a private world, and the neighbours in commons',
    `one of ${SAYINGS.join(', ')}`,
    (given) => SAYINGS.find((option) => option === given),
  ),
  stageTolerance: {
    ...form<number | 'off', number>(
      'PX',
      'how far a sprite may be from where watchers expect it before its stage is forwarded; off: every stage is',
      `${TOLERANCE.must}, or off`,
      (given) => (given === 'off' ? given : (TOLERANCE.read(given) as number | undefined)),
      TOLERANCE.fallback,
    ),
    shown: TOLERANCE.shown,
  },
  pingSeconds: whole(
    'N',
    'how long the relay holds a poll while there is nothing to send; more than 120 only where no proxy cuts idle connections',
    [PING_SECONDS_MIN, PING_SECONDS_MAX],
    PING_MS / 1000,
  ),
  durability: {
    ...oneOf('KIND', '', DURABILITIES, 'process'),
    meaning: 'what an accepted sprite survives: process (the death of any process), machine (a power cut too), or none',
  },
  maxDesktops: { ...whole('N', 'desktops at once; auto: what files and memory allow', [1, SLOTS_MAX]), shown: 'auto' },
  adminTokenFile: {
    ...text('FILE', 'the admin token; made with mode 0600 if it does not exist'),
    shown: 'DATA/admin-token',
  },
  admission: oneOf('KIND', 'limits by address: strict, or open for none', ADMISSIONS, 'strict'),
  trustProxy: form(
    'CIDR[,CIDR]',
    'proxies whose X-Forwarded-For is believed',
    'addresses or networks, like 127.0.0.1,fd00::/8',
    (given) => {
      const proxies = given.split(',');
      return proxies.every((proxy) => readNetwork(proxy) !== undefined) ? proxies : undefined;
    },
  ),
  nats: form(
    'URL',
    'joins a cluster: shares the world commons with other relays through this NATS server',
    'a nats: or tls: URL',
    (given) => {
      const parsed = URL.canParse(given) ? new URL(given) : undefined;
      const isNats = parsed !== undefined && /^(nats|tls):$/.test(parsed.protocol) && parsed.hostname !== '';
      return isNats && /^\/?$/.test(parsed.pathname) && parsed.username === '' ? given.replace(/\/+$/, '') : undefined;
    },
  ),
  relayName: form(
    'NAME',
    'the name of this relay, which no other relay of the cluster has',
    `1 to ${RELAY_NAME_BYTES_MAX} small letters, digits and hyphens`,
    (given) => (isRelayName(given) ? given : undefined),
  ),
  natsCredentials: text('FILE', "the JWT and seed of a NATS user, or its nkey's seed, as NATS tools write them"),
  natsPlaintext: toggle('allows nats: without TLS to another machine, in a network that strangers cannot read'),
  logLevel: oneOf('LEVEL', 'least severe line that is logged', LOG_LEVELS, 'info'),
});

export const COMMAND: Command<typeof FLAGS> = {
  usage: ['npm start -- [options]'],
  about: 'Starts the relay: the site and API, the long-polls, and the admin port.',
  options: FLAGS,
  notes: [
    'Each option can be given as a variable too: --events-port 9001 is SPRITES_EVENTS_PORT=9001.\n' +
      'V8 flags go into SPRITES_NODE_FLAGS; they come after those that the launcher chooses.',
  ],
};

export const help = (): string => helpOf(COMMAND);

/** Reads the options. Returns 'help' when asked for it. Throws Misused. */
export function readOptions(argv: readonly string[], environment: NodeJS.ProcessEnv): Options | 'help' {
  const line = readCommandLine(COMMAND, argv, environment);
  return line === 'help' ? line : optionsOf(line.values);
}

/** Throws Misused for options that do not go together. */
export function optionsOf(values: Values<typeof FLAGS>): Options {
  checkPorts(values);
  checkNats(values);
  const rules = values.rules && resolve(values.rules);
  if (rules !== undefined && !statSync(rules, { throwIfNoEntry: false })?.isFile())
    throw new Misused(`--rules: there is no file ${rules}.`);
  const data = resolve(values.data);
  return {
    ...values,
    data,
    rules,
    trustProxy: values.trustProxy ?? [],
    workers: planWorkers(values.workers, availableParallelism()),
    adminTokenFile: resolve(values.adminTokenFile ?? `${data}/admin-token`),
  };
}

/** Throws Misused when two listeners of the relay would want one port of the same address. */
function checkPorts({ port, eventsPort, adminPort, host, adminHost }: Values<typeof FLAGS>): void {
  const throwIfSame = (option: string, own: number, other: string, others: number) => {
    if (own !== 0 && own === others) throw new Misused(`${option}: must differ from ${other}, which is ${others} too.`);
  };
  throwIfSame('--events-port', eventsPort, '--port', port);
  if (host !== adminHost && !EVERY_ADDRESS.has(host) && !EVERY_ADDRESS.has(adminHost)) return;
  throwIfSame('--admin-port', adminPort, '--port', port);
  throwIfSame('--admin-port', adminPort, '--events-port', eventsPort);
}

/** Throws Misused for options of a cluster that do not go together. */
function checkNats({ nats, relayName, natsCredentials, natsPlaintext }: Values<typeof FLAGS>): void {
  if (nats === undefined) {
    const lonely = Object.entries({ relayName, natsCredentials }).find(([, value]) => value !== undefined)?.[0];
    if (lonely !== undefined) throw new Misused(`--${flagOf(lonely)}: needs --nats.`);
    return;
  }
  if (relayName === undefined)
    throw new Misused('--nats: needs --relay-name, which no other relay of the cluster has.');
  const { protocol, hostname } = new URL(nats);
  if (protocol === 'nats:' && !natsPlaintext && !isLoopback(hostname)) {
    throw new Misused(
      `--nats: ${hostname} is another machine, and nats: is not encrypted; use tls:, or --nats-plaintext in a network that strangers cannot read.`,
    );
  }
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

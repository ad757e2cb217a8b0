/**
 * `npm run admin`: sends a request to the admin port of a relay on this machine, and prints the answer.
 *
 * The token comes from the file that the relay made. Recordings hold tokens, so they are written to files that only their
 * owner may read: into the relay's data directory, unless --output names a file.
 */
import { createWriteStream, existsSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import {
  type Command,
  goingWith,
  Misused,
  makeFolder,
  runCommand,
  type Surroundings,
  surroundings,
  text,
  toggle,
  type Values,
  whole,
  withVariables,
} from '../../tools/command.ts';
import type { MemoryReport } from '../metrics/memory.ts';
import { PROFILE_SECONDS_MAX } from '../metrics/recording.ts';
import type { Collection } from '../operator/garbage_collection.ts';
import { backupCommand } from './admin_backup.ts';
import { journalCommand } from './admin_journal.ts';
import { MODERATION_COMMANDS, MODERATION_OPTIONS, moderationQuery } from './admin_moderation.ts';
import { profileListCommand } from './admin_profile.ts';
import type { Print, Query } from './admin_query.ts';
import { RELAYS_COMMANDS, relaysQuery } from './admin_relays.ts';
import { FLAGS as RELAY_FLAGS } from './options.ts';

const OPTIONS = {
  ...goingWith(['profile'], { seconds: whole('N', 'length of a profile', [1, PROFILE_SECONDS_MAX], 10) }),
  ...goingWith(['who', 'worlds'], {
    from: whole('N', 'go on from here in a long list', [0, 2 ** 32 - 1], 0),
  }),
  ...MODERATION_OPTIONS,
  ...goingWith(['drain'], { restart: toggle('the next process of the relay takes its place') }),
  ...goingWith(['heap-snapshot', 'profile', 'profile-list', 'journal'], {
    output: {
      ...text('FILE', 'where a recording or an export goes; a file that does not exist yet'),
      shown: 'DATA/recordings/NAME',
    },
  }),
  ...goingWith(['heap-snapshot'], { force: toggle('take a snapshot of a large heap too') }),
  ...goingWith(['gc', 'heap', 'heap-snapshot', 'profile'], {
    process: text('NAME', 'which process: master, worker:1 …, or a process id', 'master'),
  }),
  json: toggle("print the relay's answer as it is"),
  ...withVariables('SPRITES', {
    adminPort: whole('N', "port of the relay's admin", [1, 65_535], RELAY_FLAGS.adminPort.fallback),
    adminHost: text('ADDRESS', 'address of that port', RELAY_FLAGS.adminHost.fallback),
    data: text('DIR', "the relay's data directory", RELAY_FLAGS.data.fallback),
    adminTokenFile: { ...text('FILE', 'the admin token'), shown: 'DATA/admin-token' },
  }),
};

export const COMMAND: Command<typeof OPTIONS> = {
  usage: ['npm run admin -- COMMAND [options]'],
  about: 'Asks the admin port of a relay on this machine.',
  commands: {
    gc: ['[minor|major]', 'collect garbage; prints memory before and after, and the longest block [minor]'],
    heap: ['', 'what memory is made of'],
    'heap-snapshot': ['', 'write a .heapsnapshot; stops the relay while it is taken'],
    profile: [
      '[cpu|heap|threads]',
      'write a profile of the next --seconds [cpu]; threads: of all threads, by wall clock',
    ],
    'profile-list': [
      'FILE [EARLIER]',
      'list the functions of a .cpuprofile, a .speedscope.json or the text of perf script by their time, or what has changed since an earlier one; with --output, write them for KCachegrind, or to a file .svg as a picture; asks no relay',
    ],
    ...MODERATION_COMMANDS,
    ...RELAYS_COMMANDS,
    journal: [
      'check|export',
      'read the journal in DATA: check says whether it is whole, export prints each fact as a line of JSON',
    ],
    backup: ['DIR', 'copy DATA to a new folder, also while the relay runs; a relay starts with the copy as --data'],
    drain: [
      '',
      'shut the relay down: it accepts no newcomers and tells polls when to come back; in a cluster, it hands what waits on to other relays',
    ],
  },
  needsCommand: true,
  options: OPTIONS,
  notes: [
    'The last four can be given as variables of the relay too: --admin-port 9003 is SPRITES_ADMIN_PORT=9003.',
    "Recordings open in Chrome's DevTools: snapshot and heap profile under Memory, CPU profile under Performance;\n" +
      'a profile of threads opens on https://www.speedscope.app, which reads it in the browser.\n' +
      'They hold what is in memory, tokens among it: keep them to yourself.',
  ],
};

/** Where the relay is, and the token for it. */
interface Target {
  host: string;
  port: number;
  token: string;
}

/** A request whose answer is written to a file. */
interface Recording {
  method: 'POST';
  path: string;
}

/** Runs the command. Returns the exit code. */
export function run(around: Surroundings): Promise<number> {
  return runCommand(
    COMMAND,
    async ({ words, values }) => {
      const data = resolve(values.data);
      // npm changes to the package's folder; a relative path is meant from where the user is.
      const folder = around.environment.INIT_CWD ?? process.cwd();
      const file = values.output === undefined ? undefined : resolve(folder, values.output);
      if (words[0] === 'profile-list') return profileListCommand(words.slice(1), folder, file, around.print);
      if (words[0] === 'journal') return journalCommand(words.slice(1), data, file, around.print);
      if (words[0] === 'backup') {
        await backupCommand(words.slice(1), data, folder, around.print);
        return undefined;
      }
      const request = requestOf(words, values);
      const target = { host: values.adminHost, port: values.adminPort, token: tokenIn(tokenFileOf(values)) };
      if ('show' in request) await carryOut(request, target, values.json, around.print);
      else await record(request, target, file, join(data, 'recordings'), around.print);
      return undefined;
    },
    around,
  );
}

function requestOf([command, ...words]: readonly string[], values: Values<typeof OPTIONS>): Query | Recording {
  if (command in MODERATION_COMMANDS) return moderationQuery(command, words, values);
  if (command in RELAYS_COMMANDS) return relaysQuery(words);
  const kind = (...known: [string, ...string[]]): string => {
    const [given = known[0], ...more] = words;
    if (!known.includes(given) || more.length > 0) {
      throw new Misused(
        `${command}: must be followed by ${known.join(' or ')}, not ${JSON.stringify(words.join(' '))}.`,
      );
    }
    return given;
  };
  const of = `process=${encodeURIComponent(values.process)}`;
  switch (command) {
    case 'gc':
      return { method: 'POST', path: `/admin/gc?kind=${kind('minor', 'major')}&${of}`, show: showCollection };
    case 'heap':
      return { method: 'GET', path: `/admin/heap?${of}`, show: showHeap };
    case 'heap-snapshot':
      return { method: 'POST', path: `/admin/heap-snapshot?force=${values.force ? 1 : 0}&${of}` };
    case 'profile':
      return {
        method: 'POST',
        path: `/admin/profile?kind=${kind('cpu', 'heap', 'threads')}&seconds=${values.seconds}&${of}`,
      };
    default:
      return {
        method: 'POST',
        path: `/admin/drain?restart=${values.restart ? 1 : 0}`,
        show: (_, print) => print(values.restart ? 'The relay restarts.' : 'The relay is shutting down.'),
      };
  }
}

function tokenFileOf({ adminTokenFile, data }: Values<typeof OPTIONS>): string {
  return resolve(adminTokenFile ?? join(data, 'admin-token'));
}

/** Throws Error with the name of the file, and what to do. */
function tokenIn(file: string): string {
  if (!existsSync(file)) {
    throw new Error(
      `There is no admin token at ${file}. A relay makes it at its first start; --data names its directory.`,
    );
  }
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new Error(`The admin token could not be read: ${(error as Error).message}.`);
  }
}

async function carryOut(
  { method, path, body, show }: Query,
  target: Target,
  json: boolean,
  print: Print,
): Promise<void> {
  const answer = await textOf(await ask(method, path, target, body));
  if (json) {
    print(answer);
    return;
  }
  const parsed = JSON.parse(answer);
  show(parsed as never, print);
  if (parsed.unsaved !== undefined) print(`It is done, but not saved: ${parsed.unsaved}`);
}

/**
 * Writes a recording to a new file: `output`, or one in `folder` with the relay's name for it.
 *
 * Throws Error when `output` exists, before the relay is asked for anything.
 */
async function record(
  { method, path }: Recording,
  target: Target,
  output: string | undefined,
  folder: string,
  print: Print,
): Promise<void> {
  if (output && existsSync(output)) throw new Error(`${output} exists already; name another file with --output.`);
  makeFolder(output ? dirname(output) : folder, output ? '--output' : '--data', 0o700);
  const response = await ask(method, path, target);
  const named = /filename="([\w.-]+)"/.exec(response.headers['content-disposition'] ?? '')?.[1];
  const file = output ?? join(folder, named ?? 'recording');
  await pipeline(response, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  const opensIn = file.endsWith('.speedscope.json') ? 'on https://www.speedscope.app' : "in Chrome's DevTools";
  print(`Written to ${file}; it opens ${opensIn}. It holds tokens: only you may read it, keep it so.`);
}

/** The relay's answer, when it is a success. Throws Error with the relay's reason, or why there is no answer. */
async function ask(
  method: string,
  path: string,
  { host, port, token }: Target,
  body?: object,
): Promise<http.IncomingMessage> {
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    http
      .request({ host, port, method, path, headers }, resolve)
      .on('error', reject)
      .end(body && JSON.stringify(body));
  }).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ECONNREFUSED' ? 'nothing listens there' : error.message;
    throw new Error(
      `The relay's admin port at ${host}:${port} could not be asked: ${why}. --admin-port names another port.`,
    );
  });
  if (response.statusCode && response.statusCode < 300) return response;
  if (response.statusCode === 401) {
    response.resume();
    throw new Error('The relay rejects this token: it belongs to another relay. --data names the directory of yours.');
  }
  const text = await textOf(response);
  throw new Error(`The relay refused: ${detailIn(text) ?? `status ${response.statusCode}`}`);
}

function detailIn(text: string): string | undefined {
  try {
    return JSON.parse(text).detail;
  } catch {
    return undefined;
  }
}

async function textOf(response: http.IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of response.setEncoding('utf8')) text += part;
  return text;
}

const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

function showCollection({ kind, tookMs, longestBlockMs, before, after }: Collection, print: Print): void {
  print(`A ${kind} collection: ${tookMs.toFixed(1)} ms, longest block of the loop ${longestBlockMs.toFixed(1)} ms`);
  for (const what of ['heapUsed', 'heapTotal', 'external', 'rss'] as const) {
    print(`  ${what.padEnd(10)} ${mib(before[what]).padStart(12)} → ${mib(after[what])}`);
  }
}

function showHeap({ memory, heap, spaces, mailboxes, kernel }: MemoryReport, print: Print): void {
  const row = (name: string, bytes: number, rest = '') => print(`${name.padEnd(24)} ${mib(bytes).padStart(12)}${rest}`);
  row('resident', memory.rss);
  row('heap of V8', memory.heapUsed, ` of ${mib(heap.heap_size_limit)} at most`);
  for (const { space_name, space_used_size, space_size } of spaces) {
    if (space_size > 0) row(`  ${space_name}`, space_used_size, ` of ${mib(space_size)}`);
  }
  row('external', memory.external, ' Buffers and typed arrays');
  if (mailboxes) row('mailboxes', mailboxes.usedBytes, ` of ${mib(mailboxes.bytes)} at most`);
  if (!kernel) return;
  row('TCP buffers (kernel)', kernel.tcpBufferBytes, ` of ${kernel.tcpSockets} sockets`);
  row('kernel slab', kernel.slabBytes, ' of the whole machine');
}

if (import.meta.main) process.exitCode = await run(surroundings());

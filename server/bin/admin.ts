/**
 * `npm run admin`: asks the admin port of a relay on this machine, and says what it answered.
 *
 * The token comes from the file the relay made. Recordings are written to files that only their owner may read.
 * Exit 0: done; 1: the relay refused or could not be reached; 2: misused.
 */
import { createWriteStream, existsSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { FLAGS as RELAY_FLAGS } from './options.ts';

export const HELP = `Usage: npm run admin -- COMMAND [options]

  gc [minor|major]         collects; prints memory before and after, and the longest block [minor]
  heap                     what memory is made of
  heap-snapshot            writes a .heapsnapshot; stops the relay while it is taken
  profile [cpu|heap]       writes a .cpuprofile or .heapprofile of the next --seconds [cpu]
  desktops                 lists desktops: id, world, place, what waits, name; a thousand at a time
  drain                    takes the relay down: no newcomers, polls are told when to come back

  --seconds N              length of a profile [10]
  --from N                 desktops from this slot on [0]
  --output FILE            where a recording goes; it must not be there yet [the relay's name for it]
  --force                  a heap snapshot of a large heap all the same
  --json                   prints what the relay answered, as it is
  --admin-port N           port of the relay's admin [8083]
  --admin-host ADDRESS     and its address [127.0.0.1]
  --data DIR               the relay's data directory, where its admin token is [./data]
  --admin-token-file FILE  or the file itself [DATA/admin-token]
  --help                   this text

The last four can be given as the relay's variables too: --admin-port 9003 is SPRITES_ADMIN_PORT=9003.
Recordings open in Chrome's DevTools: snapshot and heap profile under Memory, CPU profile under Performance. They hold
what the program holds, tokens among it: keep them to yourself.`;

export const OPTIONS = {
  seconds: { type: 'string' },
  from: { type: 'string' },
  output: { type: 'string' },
  force: { type: 'boolean' },
  json: { type: 'boolean' },
  'admin-port': { type: 'string' },
  'admin-host': { type: 'string' },
  data: { type: 'string' },
  'admin-token-file': { type: 'string' },
  help: { type: 'boolean' },
} as const;

const EXIT_FAILED = 1;
const EXIT_MISUSED = 2;

type Values = { [Name in keyof typeof OPTIONS]?: string | boolean };
type Say = (text: string) => void;

/** A fault of the command line; its message says which. */
class Misused extends Error {}

/** Where the relay is, and the right to ask it. */
interface Target {
  host: string;
  port: number;
  token: string;
}

/** What is asked, and how its answer reads for people. */
interface Errand {
  method: 'GET' | 'POST';
  path: string;
  tell(answer: never, say: Say): void;
}

/** A recording has no text: it becomes a file. */
interface Download {
  method: 'POST';
  path: string;
  output: string | undefined;
}

/** Runs the command. Answers the exit code; says what came of it. */
export async function run(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  say: Say,
  complain: Say,
): Promise<number> {
  try {
    const { values, positionals } = read(argv);
    if (values.help) {
      say(HELP);
      return 0;
    }
    const errand = errandOf(positionals, values);
    const target = targetOf(values, environment);
    if ('tell' in errand) await carryOut(errand, target, values.json === true, say);
    // npm changes to the package's folder; paths are meant from where the person is.
    else await fetchTo(errand, target, environment.INIT_CWD ?? process.cwd(), say);
    return 0;
  } catch (error) {
    complain((error as Error).message);
    return error instanceof Misused ? EXIT_MISUSED : EXIT_FAILED;
  }
}

function read(argv: readonly string[]): { values: Values; positionals: string[] } {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new Misused(`${(error as Error).message.split('. ')[0]}. See --help.`);
  }
}

function errandOf([command, ...words]: string[], values: Values): Errand | Download {
  const output = values.output as string | undefined;
  const word = (...known: string[]): string => {
    const [given = known[0], ...more] = words;
    if (!known.includes(given) || more.length > 0) {
      const wanted = known.length > 0 ? `${known.join(' or ')}` : 'nothing';
      throw new Misused(`${command} takes ${wanted} after it, not ${JSON.stringify(words.join(' '))}. See --help.`);
    }
    return given;
  };
  const alone = () => {
    if (words.length > 0) word();
  };
  switch (command) {
    case 'gc':
      return { method: 'POST', path: `/admin/gc?kind=${word('minor', 'major')}`, tell: tellCollection };
    case 'heap':
      alone();
      return { method: 'GET', path: '/admin/heap', tell: tellHeap };
    case 'heap-snapshot':
      alone();
      return { method: 'POST', path: `/admin/heap-snapshot${values.force ? '?force=1' : ''}`, output };
    case 'profile': {
      const seconds = encodeURIComponent(String(values.seconds ?? '10'));
      return { method: 'POST', path: `/admin/profile?kind=${word('cpu', 'heap')}&seconds=${seconds}`, output };
    }
    case 'desktops':
      alone();
      return {
        method: 'GET',
        path: `/admin/desktops?from=${encodeURIComponent(String(values.from ?? '0'))}`,
        tell: tellDesktops,
      };
    case 'drain':
      alone();
      return { method: 'POST', path: '/admin/drain', tell: (_, say) => say('The relay is going down.') };
    case undefined:
      throw new Misused(HELP);
    default:
      throw new Misused(`There is no command ${JSON.stringify(command)}. See --help.`);
  }
}

/** Throws Error when the token can't be read: says which file, and what to do. */
function targetOf(values: Values, environment: NodeJS.ProcessEnv): Target {
  const text = (flag: 'admin-port' | 'admin-host' | 'data' | 'admin-token-file'): string | undefined => {
    const variable = environment[`SPRITES_${flag.toUpperCase().replaceAll('-', '_')}`];
    return (values[flag] as string | undefined) ?? (variable === '' ? undefined : variable);
  };
  const port = text('admin-port') ?? RELAY_FLAGS['admin-port'][1];
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535) {
    throw new Misused(`--admin-port: must be a whole number from 1 to 65535, not ${JSON.stringify(port)}.`);
  }
  const file = resolve(text('admin-token-file') ?? `${text('data') ?? RELAY_FLAGS.data[1]}/admin-token`);
  if (!existsSync(file)) {
    throw new Error(
      `There is no admin token at ${file}. A relay makes it at its first start; --data names its directory.`,
    );
  }
  return { host: text('admin-host') ?? RELAY_FLAGS['admin-host'][1], port: Number(port), token: tokenIn(file) };
}

function tokenIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new Error(`The admin token could not be read: ${(error as Error).message}.`);
  }
}

async function carryOut({ method, path, tell }: Errand, target: Target, json: boolean, say: Say): Promise<void> {
  const text = await textOf(await ask(method, path, target));
  if (json) say(text);
  else tell(JSON.parse(text) as never, say);
}

/** Writes a recording to a new file. Throws Error when it is there already, before the relay is asked for anything. */
async function fetchTo({ method, path, output }: Download, target: Target, folder: string, say: Say): Promise<void> {
  const wanted = output === undefined ? undefined : resolve(folder, output);
  if (wanted && existsSync(wanted)) throw new Error(`${wanted} is there already; name another with --output.`);
  const response = await ask(method, path, target);
  const named = /filename="([\w.-]+)"/.exec(response.headers['content-disposition'] ?? '')?.[1];
  const file = wanted ?? resolve(folder, named ?? 'recording');
  await pipeline(response, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  say(`Written to ${file}; it opens in Chrome's DevTools.`);
}

/** An answer of the relay that is what was asked for. Throws Error with what it said instead, or why it said nothing. */
async function ask(method: string, path: string, { host, port, token }: Target): Promise<http.IncomingMessage> {
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    http.request({ host, port, method, path, headers }, resolve).on('error', reject).end();
  }).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ECONNREFUSED' ? 'nothing listens there' : error.message;
    throw new Error(
      `The relay's admin port at ${host}:${port} could not be asked: ${why}. --admin-port names another.`,
    );
  });
  if (response.statusCode && response.statusCode < 300) return response;
  if (response.statusCode === 401) {
    response.resume();
    throw new Error('The relay does not take this token: it is of another relay. --data names the directory of yours.');
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

interface Collected {
  kind: string;
  tookMs: number;
  longestBlockMs: number;
  before: NodeJS.MemoryUsage;
  after: NodeJS.MemoryUsage;
}

function tellCollection({ kind, tookMs, longestBlockMs, before, after }: Collected, say: Say): void {
  say(`A ${kind} collection: ${tookMs.toFixed(1)} ms, longest block of the loop ${longestBlockMs.toFixed(1)} ms`);
  for (const what of ['heapUsed', 'heapTotal', 'external', 'rss'] as const) {
    say(`  ${what.padEnd(10)} ${mib(before[what]).padStart(12)} → ${mib(after[what])}`);
  }
}

interface Memory {
  memory: NodeJS.MemoryUsage;
  heap: { heap_size_limit: number };
  spaces: { space_name: string; space_used_size: number; space_size: number }[];
  mailboxes: { usedBytes: number; bytes: number };
  kernel: { tcpBufferBytes: number; tcpSockets: number; slabBytes: number } | null;
}

function tellHeap({ memory, heap, spaces, mailboxes, kernel }: Memory, say: Say): void {
  const row = (name: string, bytes: number, rest = '') => say(`${name.padEnd(24)} ${mib(bytes).padStart(12)}${rest}`);
  row('resident', memory.rss);
  row('heap of V8', memory.heapUsed, ` of ${mib(heap.heap_size_limit)} at the most`);
  for (const { space_name, space_used_size, space_size } of spaces) {
    if (space_size > 0) row(`  ${space_name}`, space_used_size, ` of ${mib(space_size)}`);
  }
  row('external', memory.external, ' Buffers and typed arrays');
  row('mailboxes', mailboxes.usedBytes, ` of ${mib(mailboxes.bytes)} at the most`);
  if (!kernel) return;
  row('TCP buffers (kernel)', kernel.tcpBufferBytes, ` of ${kernel.tcpSockets} sockets`);
  row('kernel slab', kernel.slabBytes, ' of the whole machine');
}

interface Listed {
  count: number;
  desktops: { desktop: string; name: string; world: string; place: number; waiting: number }[];
  next: number | null;
}

function tellDesktops({ count, desktops, next }: Listed, say: Say): void {
  say(`${count} desktops${next === null ? '' : `; ${desktops.length} of them here, the next with --from ${next}`}`);
  for (const { desktop, world, place, waiting, name } of desktops) {
    say(`  ${desktop.padEnd(16)} ${`${world}[${place}]`.padEnd(20)} ${`${waiting} waiting`.padEnd(12)} ${name}`);
  }
}

if (import.meta.main) {
  process.exitCode = await run(process.argv.slice(2), process.env, console.log, console.error);
}

/**
 * A relay in its own process, started as `npm start` starts it, on free ports of the loopback.
 *
 * Invariant: when the process of the test has ended, the relay's process and data directory are gone, whatever happened.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, watch } from 'node:fs';
import http from 'node:http';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, PORT_MAX } from '../../tools/bench/free_ports.ts';

const ROOT = join(import.meta.dirname, '../..');

/** How long to wait for a relay to be ready, or for a condition, in ms. */
const PATIENCE_MS = 60_000;

/** For the `describe` of every suite: a suite that hangs fails, and its relay is stopped. */
export const BOUNDED = { timeout: 900_000 } as const;

/** How many lines of the log stop() returns. */
const LAST_LINES = 20;

export interface Ports {
  api: number;
  events: number;
  admin: number;
}

export interface RelayOptions {
  /** Default 2. */
  workers?: number;
  /** Default portable. */
  front?: 'portable' | 'native';
  /** Default open: the clients of a test have one address. */
  admission?: 'open' | 'strict';
  /** Default 0: a test that is not about them meets none. */
  residents?: number;
  /** Variables added to the environment. */
  env?: Record<string, string>;
  /** Soft and hard limit of open files. */
  ulimitFiles?: number;
  /** Flags added to the command line. */
  args?: string[];
  /** Default: ports that the system chooses. A relay that is started again on the same ones needs lastingPorts(). */
  ports?: Ports;
  /** The project whose relay it is: another version of it. Default: this one. */
  root?: string;
  /** A data directory that exists and stays. Default: a new one, removed with the relay. */
  data?: string;
}

/** A line of the log. The `msg` of a line that is not JSON is its text; it counts as an error unless a good start prints it. */
export interface LogLine {
  msg: string;
  level: number;
  [field: string]: unknown;
}

/** Levels of the log, as pino numbers them. */
export const LEVEL = { info: 30, warn: 40, error: 50 } as const;

export interface Stopped {
  /** Exit code; null when a signal ended it. */
  code: number | null;
  lastLines: LogLine[];
}

export interface RelayProcess {
  readonly ports: Ports;
  /** The newest of the log: a worker that died and was forked again has a new pid. */
  readonly pids: { master: number; workers: number[] };
  readonly adminToken: string;
  /** Base of the API and the site. */
  readonly url: string;
  readonly eventsUrl: string;
  readonly adminUrl: string;
  readonly data: string;
  /** Everything logged so far. */
  readonly log: readonly LogLine[];
  /** Resolves to the first line, logged already or later, that the predicate holds for. */
  waitForLog(predicate: (line: LogLine) => boolean): Promise<LogLine>;
  /** Metrics by name and labels, as in the text, such as `sprites_waiting`. */
  metrics(): Promise<Map<string, number>>;
  /** Sends SIGTERM, unless the relay has ended already, and waits until it has. */
  stop(): Promise<Stopped>;
  /** Sends a signal to one of its processes. */
  kill(pid: number, signal: NodeJS.Signals): void;
}

const running = new Set<ChildProcess>();
const directories = new Set<string>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  for (const data of directories) rmSync(data, { recursive: true, force: true });
});
// With the exit code of a shell, so that a report tells who was ended from one that failed.
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => process.exit(128 + constants.signals[signal]));

/** Ports for a relay that must know its own before it starts, or is started again on them: the system gives them to no other program. */
export async function lastingPorts(): Promise<Ports> {
  const [api, events, admin] = await freePorts(3);
  return { api, events, admin };
}

/** Starts the process. */
function launch(options: RelayOptions, data: string): ChildProcess {
  const { api, events, admin } = options.ports ?? { api: 0, events: 0, admin: 0 };
  const root = options.root ?? ROOT;
  const command = [
    ...[
      process.execPath,
      join(root, 'tools/launch.js'),
      'relay',
      '--host',
      '127.0.0.1',
      '--data',
      data,
      '--log-level',
      'info',
    ],
    ...['--port', `${api}`, '--events-port', `${events}`, '--admin-port', `${admin}`],
    ...['--workers', `${options.workers ?? 2}`, '--front', options.front ?? 'portable'],
    ...['--admission', options.admission ?? 'open'],
    ...(options.args ?? []),
  ];
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SPRITES_|NODE_(?!COMPILE_CACHE$))/.test(name));
  // Without a launcher beside it, the relay is the process that a test starts and kills. The first versions have no option for residents.
  const own = { SPRITES_RESTART: 'never', SPRITES_RESIDENTS: `${options.residents ?? 0}` };
  const env = { ...Object.fromEntries(inherited), ...own, ...options.env };
  const limited = options.ulimitFiles ? ['sh', '-c', `ulimit -n ${options.ulimitFiles}; exec "$@"`, 'sh'] : [];
  const [program, ...args] = [...limited, ...command];
  const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Starts a relay and resolves when it is ready. Throws when it ends before that, with its last lines. */
export async function startRelay(options: RelayOptions = {}): Promise<RelayProcess> {
  if (Math.max(...Object.values(options.ports ?? {})) > PORT_MAX) {
    throw new Error('the system may have given these ports to another program: take them from lastingPorts()');
  }
  const data = options.data ?? mkdtempSync(join(tmpdir(), 'sprites-relay-'));
  if (options.data === undefined) directories.add(data);
  const child = launch(options, data);
  const log = new Log(child);
  const ended = new Promise<Stopped>((resolve) => {
    child.once('close', (code) => {
      if (directories.delete(data)) rmSync(data, { recursive: true, force: true });
      resolve({ code, lastLines: log.lines.slice(-LAST_LINES) });
    });
  });
  const ready = await log
    .waitFor(({ msg }) => msg === 'relay ready')
    .catch((error) => {
      child.kill('SIGKILL');
      throw error;
    });
  const ports = ready.ports as Ports;
  const adminToken = readFileSync(join(data, 'admin-token'), 'utf8').trim();
  return {
    ...{ ports, adminToken, data, log: log.lines },
    url: `http://127.0.0.1:${ports.api}`,
    eventsUrl: `http://127.0.0.1:${ports.events}`,
    adminUrl: `http://127.0.0.1:${ports.admin}`,
    get pids() {
      const { master } = ready.pids as { master: number };
      const last = log.lines.findLast(({ msg }) => msg === 'worker ready' || msg === 'relay ready') as LogLine;
      return {
        master,
        workers: last === ready ? (ready.pids as RelayProcess['pids']).workers : (last.pids as number[]),
      };
    },
    waitForLog: (predicate) => log.waitFor(predicate),
    metrics: async () => readMetrics(await get(`http://127.0.0.1:${ports.admin}/metrics`, adminToken)),
    kill: (pid, signal) => void process.kill(pid, signal),
    stop: () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      return ended;
    },
  };
}

/** Runs a relay that ends by itself: it is misused, prints its help, or cannot start; or gets a signal as soon as it has made a file. */
export async function runRelay(
  options: RelayOptions,
  early?: { signal: NodeJS.Signals; file: string },
): Promise<{ code: number | null; out: string; err: string }> {
  const data = mkdtempSync(join(tmpdir(), 'sprites-relay-'));
  const child = launch(options, data);
  const watcher = early && watch(data, (_, name) => name === early.file && child.kill(early.signal));
  const texts = { out: '', err: '' };
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    texts.out += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    texts.err += text;
  });
  const late = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(late);
  watcher?.close();
  rmSync(data, { recursive: true, force: true });
  return { code, ...texts };
}

/** Waits until `condition` holds. Throws with the sentence when it does not within PATIENCE_MS. */
export async function until(sentence: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (performance.now() > untilMs) throw new Error(`Waited in vain until ${sentence}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The lines that a process prints, and the waits for one of them. */
class Log {
  readonly lines: LogLine[] = [];
  readonly #waiting = new Set<() => void>();
  #ended = false;

  constructor(child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr]) {
      let rest = '';
      stream?.setEncoding('utf8').on('data', (text: string) => {
        const parts = (rest + text).split('\n');
        rest = parts.pop() as string;
        for (const part of parts) this.lines.push(readLine(part));
        for (const look of this.#waiting) look();
      });
    }
    child.once('close', () => {
      this.#ended = true;
      for (const look of this.#waiting) look();
    });
  }

  waitFor(predicate: (line: LogLine) => boolean): Promise<LogLine> {
    return new Promise((resolve, reject) => {
      const fail = (why: string) => {
        settle();
        const last = this.lines.slice(-LAST_LINES).map((line) => JSON.stringify(line));
        reject(new Error(`The relay ${why}. Its last lines:\n${last.join('\n')}`));
      };
      const late = setTimeout(() => fail('never logged the line that the test waits for'), PATIENCE_MS);
      const settle = () => {
        clearTimeout(late);
        this.#waiting.delete(look);
      };
      const look = () => {
        const line = this.lines.find(predicate);
        if (line) {
          settle();
          resolve(line);
        } else if (this.#ended) fail('ended before it logged the line that the test waits for');
      };
      this.#waiting.add(look);
      look();
    });
  }
}

/** What a good start prints besides pino's lines; the launcher builds the addon when its sources have changed. */
const GOOD_START = /^(?:Sprites is running|V8 runs with|Building the addon|Waiting for process)/;

function readLine(text: string): LogLine {
  try {
    const line = JSON.parse(text);
    if (typeof line === 'object' && line !== null) return line;
  } catch {
    // The line is not pino's.
  }
  return { msg: text, level: GOOD_START.test(text) ? LEVEL.info : LEVEL.error };
}

/** Returns the body of a GET request. */
function get(url: string, token: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { headers: { authorization: `Bearer ${token}` }, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      response.on('end', () => {
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`${url} answered ${response.statusCode}: ${text}`));
      });
    });
    request.on('error', reject);
  });
}

function readMetrics(text: string): Map<string, number> {
  const metrics = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name, value] = /^([^#\s]\S*) (\S+)$/.exec(line) ?? [];
    if (name) metrics.set(name, Number(value));
  }
  return metrics;
}

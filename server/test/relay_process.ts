/**
 * A relay as a process of its own, started the way `npm start` starts it, on free ports of the loopback.
 *
 * Invariant: whatever happens to the test, the process and its data directory are gone when the test's process is.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const LAUNCHER = join(ROOT, 'tools/launch.js');

/** A relay that is not ready, or has not said what is waited for, within this is broken; in ms. */
const PATIENCE_MS = 20_000;

/** For the `describe` of every suite: what hangs fails, and its relay ends. */
export const BOUNDED = { timeout: 120_000 } as const;

/** Lines of the log that stop() hands back. */
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
  /** Variables added to the environment. */
  env?: Record<string, string>;
  /** Soft and hard limit of open files. */
  ulimitFiles?: number;
  /** Flags added to the command line. */
  args?: string[];
  /** Default: free ones. */
  ports?: Ports;
}

/** A line of the log; one that is no JSON has its text as `msg`, and is an error unless it is one of a start that went well. */
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
  /** As the log last told them: workers that died and were forked again have new ones. */
  readonly pids: { master: number; workers: number[] };
  readonly adminToken: string;
  /** Base of the API and the site. */
  readonly url: string;
  readonly eventsUrl: string;
  readonly adminUrl: string;
  readonly data: string;
  /** Everything it has logged so far. */
  readonly log: readonly LogLine[];
  /** The first line of the log, now or later, that the predicate holds for. */
  waitForLog(predicate: (line: LogLine) => boolean): Promise<LogLine>;
  /** Metrics by name and labels as they stand in the text, such as `sprites_waiting`. */
  metrics(): Promise<Map<string, number>>;
  /** Sends SIGTERM, unless it has ended already, and waits for the end. */
  stop(): Promise<Stopped>;
  /** Signals one of its processes. */
  kill(pid: number, signal: NodeJS.Signals): void;
}

const running = new Set<ChildProcess>();
const directories = new Set<string>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  for (const data of directories) rmSync(data, { recursive: true, force: true });
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));

/** The relay's command line and environment, whether it is to stay or to fail at once. */
function launch(options: RelayOptions, data: string): ChildProcess {
  const { api, events, admin } = options.ports ?? { api: 0, events: 0, admin: 0 };
  const command = [
    ...[process.execPath, LAUNCHER, 'relay', '--host', '127.0.0.1', '--data', data, '--log-level', 'info'],
    ...['--port', `${api}`, '--events-port', `${events}`, '--admin-port', `${admin}`],
    ...['--workers', `${options.workers ?? 2}`, '--front', options.front ?? 'portable'],
    ...(options.args ?? []),
  ];
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SPRITES_|NODE_)/.test(name));
  const env = { ...Object.fromEntries(inherited), ...options.env };
  const limited = options.ulimitFiles ? ['sh', '-c', `ulimit -n ${options.ulimitFiles}; exec "$@"`, 'sh'] : [];
  const [program, ...args] = [...limited, ...command];
  const child = spawn(program, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Starts a relay; resolves when it is ready. Throws when it ends before that: says with which lines. */
export async function startRelay(options: RelayOptions = {}): Promise<RelayProcess> {
  const data = mkdtempSync(join(tmpdir(), 'sprites-relay-'));
  directories.add(data);
  const child = launch(options, data);
  const log = new Log(child);
  const ended = new Promise<Stopped>((resolve) => {
    child.once('close', (code) => {
      rmSync(data, { recursive: true, force: true });
      directories.delete(data);
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

/** Runs a relay that ends by itself: misused, asked for help, or unable to start. */
export async function runRelay(options: RelayOptions): Promise<{ code: number | null; out: string; err: string }> {
  const data = mkdtempSync(join(tmpdir(), 'sprites-relay-'));
  const child = launch(options, data);
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
  rmSync(data, { recursive: true, force: true });
  return { code, ...texts };
}

/** Looks again and again until `condition` holds. Throws, with the sentence, when it never does. */
export async function until(sentence: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (performance.now() > untilMs) throw new Error(`It never came to be: ${sentence}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** What a process prints, as lines, and who waits for one. */
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
      const give = (why: string) => {
        settle();
        const last = this.lines.slice(-LAST_LINES).map((line) => JSON.stringify(line));
        reject(new Error(`The relay ${why}. Its last lines:\n${last.join('\n')}`));
      };
      const late = setTimeout(() => give('never logged what was waited for'), PATIENCE_MS);
      const settle = () => {
        clearTimeout(late);
        this.#waiting.delete(look);
      };
      const look = () => {
        const line = this.lines.find(predicate);
        if (line) {
          settle();
          resolve(line);
        } else if (this.#ended) give('ended before it logged what was waited for');
      };
      this.#waiting.add(look);
      look();
    });
  }
}

function readLine(text: string): LogLine {
  try {
    const line = JSON.parse(text);
    if (typeof line === 'object' && line !== null) return line;
  } catch {
    // Not one of pino's.
  }
  return { msg: text, level: /^(?:Sprites is running|V8 runs with)/.test(text) ? LEVEL.info : LEVEL.error };
}

/** The text of an admin path. */
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

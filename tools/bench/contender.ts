/**
 * A contender of a bench: a relay of one shape, or the floor, as a process whose ports and pids are known.
 *
 * Invariant: stop() ends exactly the process that was started, by its pid, and removes the data directory that start() made.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { FLOOR } from '../build.js';

/** How much of its last output a message quotes, when it could not start. */
const OUTPUT_CHARACTERS_MAX = 500;

const LAUNCHER = join(import.meta.dirname, '../launch.js');
const RELAY = join(import.meta.dirname, '../../server/bin/relay.ts');

export interface Ports {
  api: number;
  events: number;
  admin: number;
}

/** What runs: a relay with this front and number of workers (its own default when left out), or a program without a front. */
export interface Shape {
  name: string;
  /** The program of a shape without a front, which picks its ports and prints them as the floor does; the floor when left out. */
  program?: string;
  front?: 'auto' | 'native' | 'portable';
  workers?: number;
  flags?: readonly string[];
  /** The ports of a relay; free ones when left out. */
  ports?: Ports;
  /** Node's flags, instead of those that the launcher chooses. */
  nodeFlags?: readonly string[];
  /** The data directory, which stop() keeps; a new one, which stop() removes, when left out. */
  data?: string;
  /** Whether a launcher stays beside the relay, which can restart it then: one more process on its cores. It needs `ports`. */
  hasLauncher?: boolean;
}

export const FLOOR_SHAPE: Shape = { name: 'floor (C, hardly any HTTP)' };

export interface Contender {
  shape: Shape;
  api: number;
  events: number;
  /** 0 for a program. */
  admin: number;
  pids: number[];
  /** Prometheus values by name; empty for a program. */
  metrics(): Promise<Map<string, number>>;
  /** Collects garbage by POST /admin/gc; fails on a program. */
  collect(kind: 'minor' | 'major'): Promise<Collected>;
  /** Restarts a relay that has a launcher, as `admin drain --restart` does; resolves when the next process is ready. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The part of the answer to POST /admin/gc that benches read. */
export interface Collected {
  longestBlockMs: number;
  before: { heapUsed: number };
  after: { heapUsed: number };
}

export async function start(shape: Shape): Promise<Contender> {
  return shape.front === undefined ? startProgram(shape) : startRelay(shape);
}

async function startProgram(shape: Shape): Promise<Contender> {
  const child = spawn(shape.program ?? FLOOR, ['0', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await firstLine(child, (text) => text.startsWith('floor '));
  const [, api, events] = line.split(' ').map(Number);
  return {
    shape,
    api,
    events,
    admin: 0,
    pids: [child.pid as number],
    metrics: async () => new Map(),
    collect: () => Promise.reject(new Error(`${shape.name} has no heap`)),
    restart: () => Promise.reject(new Error(`${shape.name} has no launcher`)),
    stop: () => end(child),
  };
}

async function startRelay(shape: Shape): Promise<Contender> {
  const data = shape.data ?? (await mkdtemp(join(tmpdir(), 'sprites-bench-')));
  // All clients of a bench have one address: limits by address would measure themselves. Its account knows no residents.
  const open = ['--admission', 'open', '--residents', '0'];
  const { api, events, admin } = shape.ports ?? { api: 0, events: 0, admin: 0 };
  const ports = ['--port', `${api}`, '--events-port', `${events}`, '--admin-port', `${admin}`, '--host', '127.0.0.1'];
  const workers = shape.workers === undefined ? [] : ['--workers', String(shape.workers)];
  const role = ['--front', String(shape.front), ...workers, '--data', data];
  const program = shape.nodeFlags ? [...shape.nodeFlags, RELAY] : [LAUNCHER, 'relay'];
  const child = spawn(process.execPath, [...program, ...ports, ...role, ...open, ...(shape.flags ?? [])], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, SPRITES_RESTART: shape.hasLauncher ? '' : 'never' },
  });
  const nextReady = () => firstLine(child, (text) => text.includes('"msg":"relay ready"'));
  const ready = JSON.parse(await nextReady());
  const token = (await readFile(join(data, 'admin-token'), 'utf8')).trim();
  return {
    shape,
    api: ready.ports.api,
    events: ready.ports.events,
    admin: ready.ports.admin,
    pids: [ready.pids.master, ...ready.pids.workers],
    metrics: async () => readMetrics(await askAdmin(ready.ports.admin, token, '/metrics')),
    collect: async (kind) => JSON.parse(await askAdmin(ready.ports.admin, token, `/admin/gc?kind=${kind}`, 'POST')),
    restart: async () => {
      const isReady = nextReady();
      child.kill('SIGUSR2');
      await isReady;
    },
    stop: async () => {
      await end(child);
      if (shape.data === undefined) await rm(data, { recursive: true, force: true });
    },
  };
}

async function firstLine(child: ChildProcess, wanted: (line: string) => boolean): Promise<string> {
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const found = Promise.withResolvers<string>();
  lines.on('line', (line) => wanted(line) && found.resolve(line));
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-OUTPUT_CHARACTERS_MAX);
  });
  // When it has ended and all it said has been read.
  child.once('close', (code) => {
    found.reject(new Error(`a contender ended with ${code} before it was ready: ${said.trim()}`));
  });
  return found.promise;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

async function askAdmin(port: number, token: string, path: string, method = 'GET'): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
  return text;
}

/** The values of a page of metrics (Prometheus' text format), by name with labels. Other lines are skipped. */
export function readMetrics(text: string): Map<string, number> {
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const space = line.lastIndexOf(' ');
    const value = Number(line.slice(space + 1));
    if (space > 0 && !line.startsWith('#') && !Number.isNaN(value)) values.set(line.slice(0, space), value);
  }
  return values;
}

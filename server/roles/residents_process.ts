/**
 * The process of the residents (residents/): started with the relay, started again when it dies, and ended with the relay.
 *
 * Invariant: none runs when nothing is wanted of it: no resident, and none from before that still has sprites.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Logger } from 'pino';

const PROGRAM = join(import.meta.dirname, '../residents/main.ts');
const SOURCES = pathToFileURL(join(import.meta.dirname, '../residents/sources.js')).href;

/** The file of their seats and sprites, in the data directory. */
export const RESIDENTS_FILE = 'residents.json';

/** One for each temper (residents/tempers.ts). By default there are two: with one visitor, everybody is beside everybody. */
export const RESIDENTS_MAX = 4;
export const RESIDENTS_DEFAULT = 2;

/** The pause before a process that died is started again, in ms; doubled each time up to the longest. */
const RESTART_MS = 500;
const RESTART_MS_MAX = 60_000;
const STEADY_MS = 60_000;

/** A small heap: it holds a few sprites. */
const LEAN_FLAGS = ['--max-semi-space-size=1', '--max-old-space-size=32', '--v8-pool-size=1', '--single-threaded-gc'];

export interface ResidentsOptions {
  readonly residents: number;
  readonly host: string;
  readonly data: string;
}

export class ResidentsProcess {
  readonly #log: Logger;
  readonly #settings: string;
  readonly #mayBeNeeded: () => boolean;
  #child: ChildProcess | undefined;
  #restartMs = RESTART_MS;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor({ residents, host, data }: ResidentsOptions, ports: { api: number; events: number }, log: Logger) {
    this.#log = log;
    const file = join(data, RESIDENTS_FILE);
    const at = (port: number) => `http://${hostOf(host)}:${port}`;
    this.#settings = JSON.stringify({ api: at(ports.api), events: at(ports.events), count: residents, file });
    this.#mayBeNeeded = () => residents > 0 || existsSync(file);
    this.#start();
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#child?.kill('SIGKILL'); // what it is responsible for is in its file
  }

  #start(): void {
    if (this.#isClosed || !this.#mayBeNeeded()) return;
    const startMs = performance.now();
    const child = spawn(process.execPath, [...LEAN_FLAGS, '--import', SOURCES, PROGRAM], {
      env: { ...process.env, SPRITES_RESIDENTS: this.#settings, UV_THREADPOOL_SIZE: '1', NODE_OPTIONS: '' },
      stdio: ['pipe', 'ignore', 'inherit', 'ipc'],
    });
    child.stdin?.on('error', () => {}); // it died early, and is started again
    child.stdin?.end(modules());
    this.#child = child;
    this.#log.info({ residentsPid: child.pid }, 'residents started');
    child.on('error', (err) => this.#log.error({ err }, 'the residents could not be started'));
    child.on('exit', (code, signal) => {
      this.#child = undefined;
      if (this.#isClosed || code === 0) return;
      if (performance.now() - startMs > STEADY_MS) this.#restartMs = RESTART_MS;
      this.#log.warn({ code, signal, inMs: this.#restartMs }, 'the residents died; they are started again');
      this.#timer = setTimeout(() => this.#start(), this.#restartMs);
      this.#restartMs = Math.min(2 * this.#restartMs, RESTART_MS_MAX);
    });
  }
}

let sources: string | undefined;

/** The program and all modules that it imports, without their types, as sources.js reads them. */
function modules(): string {
  sources ??= JSON.stringify(Object.fromEntries(readModules(pathToFileURL(PROGRAM).href)));
  return sources;
}

function readModules(program: string): Map<string, string> {
  const found = new Map([[program, '']]);
  for (const url of found.keys()) {
    const source = stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8'));
    found.set(url, source);
    for (const [, path] of source.matchAll(/\b(?:from |import\()'(\.[^']+\.ts)'/g)) {
      const next = new URL(path, url).href;
      if (!found.has(next)) found.set(next, '');
    }
  }
  return found;
}

/** The host by which a process of this machine reaches a listener. */
function hostOf(host: string): string {
  if (host === '::' || host === '0.0.0.0') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

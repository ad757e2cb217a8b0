/**
 * A station of the chaos run: one relay of the cluster, which is started, hurt and started again on the same ports and data directory.
 *
 * It runs under its launcher, as `npm start` runs it, so a master that dies alone is started again by that. Its processes are those whose command
 * line names its data directory: nothing else is ever signalled.
 * Invariant: after stop(), none of its processes is left.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, readdirSync, readFileSync, type WriteStream, writeFileSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { type Ports, readMetrics } from '../../../tools/bench/contender.ts';
import { FaultyLink } from '../faulty_link.ts';
import { SLOTS } from './custody.ts';

const ROOT = join(import.meta.dirname, '../../..');
const LAUNCHER = join(ROOT, 'tools/launch.js');
const CLOCK = pathToFileURL(join(import.meta.dirname, 'shifted_clock.ts')).href;

/** How long a relay may take to start or to stop on a busy machine, in ms. */
const PATIENCE_MS = 240_000;

/** Bytes of the log of one relay that are kept on disk. */
const LOG_BYTES_MAX = 64 << 20;

/** Lines that are kept in memory. */
const LINES_MAX = 200;

/** The level of errors in the log, as pino numbers them. */
const ERROR = 50;

/** How long to wait for a page of the admin port, in ms. */
const ADMIN_MS = 5_000;

export interface StationOptions {
  name: string;
  /** The folder of the run; the station has folders of its own in it. */
  folder: string;
  ports: Ports;
  workers: number;
  front: 'native' | 'portable';
  durability: 'process' | 'machine';
  natsPort: () => number;
  /** Called when a process of it has ended or failed although nothing was done to it. */
  alarm: (what: string) => void;
}

interface LogLine {
  msg: string;
  level: number;
  pids?: { master: number; workers: number[] } | number[];
}

export class Station {
  readonly name: string;
  readonly url: string;
  readonly data: string;
  readonly options: StationOptions;
  link!: FaultyLink;
  starts = 0;
  readonly #clockFile: string;
  #launcher: ChildProcess | undefined;
  #log: WriteStream | undefined;
  #loggedBytes = 0;
  readonly #lines: string[] = [];
  #master = 0;
  #ready = 0;
  /** The launcher is to end: its end is no alarm. */
  #isEnding = true;
  /** The run is over: nothing is started or waited for any more. */
  #isClosed = false;
  #waiters: (() => void)[] = [];

  constructor(options: StationOptions) {
    this.options = options;
    this.name = options.name;
    this.url = `http://127.0.0.1:${options.ports.api}`;
    this.data = join(options.folder, options.name, 'data');
    this.#clockFile = join(options.folder, `${options.name}.clock`);
    writeFileSync(this.#clockFile, '0');
  }

  /** Makes its folder and its link to NATS. */
  async open(): Promise<void> {
    await mkdir(this.data, { recursive: true });
    this.#log = createWriteStream(join(this.options.folder, `${this.name}.log`));
    this.link = await FaultyLink.to(this.options.natsPort);
  }

  /** Starts the launcher, and waits until the relay is ready. Throws when it does not start. */
  async start(): Promise<void> {
    if (this.#isClosed) throw new Error(`${this.name}: the run is over`);
    const { ports, workers, front, durability } = this.options;
    const args = [
      ...[
        'relay',
        '--host',
        '127.0.0.1',
        '--data',
        this.data,
        '--admission',
        'open',
        '--ping-seconds',
        '30',
        '--residents',
        '0',
      ],
      ...['--port', `${ports.api}`, '--events-port', `${ports.events}`, '--admin-port', `${ports.admin}`],
      ...['--public-url', this.url, '--public-events-url', `http://127.0.0.1:${ports.events}`],
      ...['--workers', `${workers}`, '--front', front, '--durability', durability, '--max-desktops', `${SLOTS - 96}`],
      ...['--nats', `nats://127.0.0.1:${this.link.port}`, '--relay-name', this.name],
    ];
    const inherited = Object.entries(process.env).filter(([name]) => !/^(SPRITES_|NODE_)/.test(name));
    const env = {
      ...Object.fromEntries(inherited),
      SPRITES_NODE_FLAGS: `--import=${CLOCK}`,
      SPRITES_CHAOS_CLOCK: this.#clockFile,
      // The launcher then ends with this process, however that dies.
      npm_lifecycle_event: 'bench',
    };
    const child = spawn(process.execPath, [LAUNCHER, ...args], {
      cwd: ROOT,
      env,
      stdio: ['ignore', 'pipe', 'pipe'] as const,
      // Ctrl-C is for the run, and not for its relays.
      detached: true,
    });
    this.#launcher = child;
    this.#isEnding = false;
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream as NodeJS.ReadableStream }).on('line', (line) => this.#read(line));
    }
    child.once('exit', (code, signal) => {
      if (this.#launcher !== child) return;
      this.#launcher = undefined;
      if (!this.#isEnding) this.options.alarm(`${this.name} ended by itself (${signal ?? code}): ${this.lastLines(3)}`);
      this.#wake();
    });
    const before = this.#ready;
    await this.until('is ready', () => this.#ready > before || this.#launcher !== child);
    if (this.#ready === before) throw new Error(`${this.name} does not start: ${this.lastLines(5)}`);
  }

  #read(line: string): void {
    this.#loggedBytes += line.length + 1;
    if (this.#loggedBytes < LOG_BYTES_MAX) this.#log?.write(`${line}\n`);
    if (this.#lines.push(line) > LINES_MAX) this.#lines.shift();
    if (!line.startsWith('{')) return;
    const { msg, level, pids } = JSON.parse(line) as LogLine;
    if (msg === 'relay ready' && pids && !Array.isArray(pids)) {
      this.#master = pids.master;
      this.#ready++;
      this.starts++;
    }
    // A worker that a fault has killed or stopped dies with an error in the log, with a second one if it was starting; others are faults of the relay.
    const isKilled =
      msg.startsWith('a worker died') || (msg === 'a worker did not start' && line.includes('(SIGKILL)'));
    if (level >= ERROR && !isKilled) this.options.alarm(`${this.name} logged: ${line.slice(0, 2_000)}`);
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }

  /** Resolves when the condition holds; it is tried after each line of the log, and now and then. Throws when it takes too long. */
  async until(what: string, condition: () => boolean): Promise<void> {
    await this.#wait(what, () => this.#isClosed || condition());
    if (this.#isClosed) throw new Error(`${this.name}: the run is over`);
  }

  async #wait(what: string, condition: () => boolean): Promise<void> {
    const untilMs = performance.now() + PATIENCE_MS;
    while (!condition()) {
      if (performance.now() > untilMs) throw new Error(`${this.name}: waited too long until it ${what}`);
      await new Promise<void>((resolve) => {
        this.#waiters.push(resolve);
        setTimeout(resolve, 50);
      });
    }
  }

  lastLines(count: number): string {
    return this.#lines.slice(-count).join('\n');
  }

  get isUp(): boolean {
    return this.#launcher !== undefined && isAlive(this.#master, this.data);
  }

  get readies(): number {
    return this.#ready;
  }

  get master(): number {
    return this.#master;
  }

  get launcher(): number | undefined {
    return this.#launcher?.pid;
  }

  /** The pids of its worker processes. */
  workers(): number[] {
    return this.processes().filter((pid) => pid !== this.#master && pid !== this.launcher);
  }

  /** The pids of all its processes. */
  processes(): number[] {
    return processesOf(this.data);
  }

  /** Sends a signal to a process of this station; does nothing when it has ended. */
  signal(pid: number, signal: NodeJS.Signals): void {
    if (isAlive(pid, this.data)) process.kill(pid, signal);
  }

  /** Tells the launcher something, such as SIGTERM: a stop for good. */
  tell(signal: NodeJS.Signals): void {
    if (signal !== 'SIGUSR2') this.#isEnding = true;
    this.#launcher?.kill(signal);
  }

  /** SIGKILL to all its processes, and waits until none is left. */
  kill(): Promise<void> {
    this.#isEnding = true;
    return this.#wait('is dead', () => {
      for (const pid of this.processes()) this.signal(pid, 'SIGKILL');
      return this.#launcher === undefined && this.processes().length === 0;
    });
  }

  /** Waits until all its processes have ended. */
  async ended(): Promise<void> {
    this.#isEnding = true;
    await this.until('has ended', () => this.#launcher === undefined && this.processes().length === 0);
  }

  /** Copies its data directory to a folder beside it while its master is stopped, as the disk of a dead machine would be. Resolves to the folder. */
  async copy(): Promise<string> {
    const copy = join(this.options.folder, this.name, 'copy');
    await rm(copy, { recursive: true, force: true });
    this.signal(this.#master, 'SIGSTOP');
    try {
      await cp(this.data, copy, { recursive: true });
    } finally {
      this.signal(this.#master, 'SIGCONT');
    }
    return copy;
  }

  /** Puts a copy back. REQUIRES: no process of it is left. */
  async putBack(copy: string): Promise<void> {
    await rm(this.data, { recursive: true, force: true });
    await rename(copy, this.data);
  }

  /** Sets its wall clock to this many ms beside that of the machine. */
  shiftClock(ms: number): void {
    writeFileSync(this.#clockFile, `${ms}`);
  }

  /** Metrics by name. Throws when the admin port does not answer. */
  async metrics(): Promise<Map<string, number>> {
    const token = (await readFile(join(this.data, 'admin-token'), 'utf8')).trim();
    const answer = await fetch(`http://127.0.0.1:${this.options.ports.admin}/metrics`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(ADMIN_MS),
    });
    return readMetrics(await answer.text());
  }

  /** Ends everything. */
  async stop(): Promise<void> {
    this.#isClosed = true;
    await this.kill();
    this.link?.close();
    this.#log?.end();
  }
}

/** The processes whose command line names this data directory. */
export function processesOf(data: string): number[] {
  return readdirSync('/proc').flatMap((name) =>
    /^\d+$/.test(name) && isAlive(Number(name), data) ? [Number(name)] : [],
  );
}

/** Whether this is a process of the station with this data directory, and not a dead one that nobody has waited for. */
function isAlive(pid: number, data: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(data);
  } catch {
    return false;
  }
}

/** A NATS server for tests and benches, on a free port of the loopback. It ends with the process that started it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installHint } from '../machine.js';
import { freePorts } from './free_ports.ts';

/** Why this machine can't run NATS; false if it can. */
export function whyNoNats(): string | false {
  const { error } = spawnSync('nats-server', ['--version']);
  return error ? `needs nats-server: ${installHint(['nats-server'])}` : false;
}

/** What it prints when it accepts connections. */
const READY = 'Server is ready';

const running = new Set<ChildProcess>();
const folders = new Set<string>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder for what JetStream stores, also over a restart. */
function storeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sprites-nats-'));
  folders.add(folder);
  return folder;
}

export class NatsServer {
  readonly port: number;
  readonly #args: readonly string[];
  #child!: ChildProcess;

  private constructor(port: number, args: readonly string[]) {
    this.port = port;
    this.#args = args;
  }

  /** `args`: more of nats-server's own, such as `-c FILE`; without any it has JetStream. Throws Error with what it printed when it does not start. */
  static async start(...args: string[]): Promise<NatsServer> {
    const [port] = await freePorts(1);
    const server = new NatsServer(port, args.length > 0 ? args : ['-js', '-sd', storeFolder()]);
    await server.restart();
    return server;
  }

  /** With JetStream, on a port that the caller has chosen, and with a folder that stays the caller's. */
  static async startOn(port: number, folder: string): Promise<NatsServer> {
    const server = new NatsServer(port, ['-js', '-sd', folder]);
    await server.restart();
    return server;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  /** Starts it again, after kill(). */
  async restart(): Promise<void> {
    const child = spawn('nats-server', ['-a', '127.0.0.1', '-p', `${this.port}`, ...this.#args], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child = child;
    running.add(child);
    child.once('exit', () => running.delete(child));
    let printed = '';
    // Its log is read to the end: a NATS that can't write its log ends.
    await new Promise<void>((resolve) => {
      child.stderr.setEncoding('utf8').on('data', (part: string) => {
        if (printed.includes(READY)) return;
        printed += part;
        if (printed.includes(READY)) resolve();
      });
      child.once('close', () => resolve());
    });
    if (!printed.includes(READY)) throw new Error(`nats-server ended:\n${printed}`);
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}

/** A NATS server with JetStream for tests, on a free port of the loopback. It ends with the test's process. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installHint } from '../../tools/machine.js';
import { freePorts } from '../bench/free_ports.ts';

/** Why this machine can't run NATS; false if it can. */
export function whyNoNats(): string | false {
  const { error } = spawnSync('nats-server', ['--version']);
  return error ? `needs nats-server: ${installHint(['nats-server'])}` : false;
}

const running = new Set<ChildProcess>();
const folders = new Set<string>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

export class NatsServer {
  readonly port: number;
  /** What JetStream stores, also over a restart. */
  readonly #store = mkdtempSync(join(tmpdir(), 'sprites-nats-'));
  #child!: ChildProcess;

  private constructor(port: number) {
    this.port = port;
    folders.add(this.#store);
  }

  static async start(): Promise<NatsServer> {
    const [port] = await freePorts(1);
    const server = new NatsServer(port);
    await server.restart();
    return server;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** Starts it again, after kill(). */
  async restart(): Promise<void> {
    const child = spawn('nats-server', ['-a', '127.0.0.1', '-p', `${this.port}`, '-js', '-sd', this.#store], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child = child;
    running.add(child);
    child.once('exit', () => running.delete(child));
    let said = '';
    for await (const part of child.stderr.setEncoding('utf8')) {
      said += part;
      if (said.includes('Server is ready')) break;
    }
    if (!said.includes('Server is ready')) throw new Error(`nats-server ended:\n${said}`);
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}

/**
 * The cluster: worker processes that the master forks, by default one per core. They share the API port.
 *
 * Invariant: a worker that dies is replaced, unless the relay is draining.
 */
import cluster, { type Worker as Process } from 'node:cluster';
import { once } from 'node:events';
import net from 'node:net';
import type { Logger } from 'pino';
import { AggregatorRegistry, type Registry } from 'prom-client';
import type { Front } from '../front/front.ts';
import { IpcLink, receiveFrame } from './ipc.ts';
import type { Master } from './master.ts';
import type { FromWorker, WorkerSettings } from './worker_process.ts';
import { addressesOf, eventsListener, type Workers, type WorkersSetup } from './workers.ts';

/**
 * The delay before a dead worker is replaced, in ms: RESTART_MS, doubled up to RESTART_MS_MAX for each worker that lived for
 * less than RESTART_MS_MAX.
 */
const RESTART_MS = 100;
const RESTART_MS_MAX = 5_000;

export class Cluster implements Workers {
  readonly front: Front;
  readonly ports: { readonly api: number; readonly events: number };
  readonly #processes: WorkerProcesses;
  readonly #registry: Registry;
  readonly #aggregator = new AggregatorRegistry();

  /**
   * Resolves when the front listens and all workers are ready.
   *
   * Throws  Error with the system's reason when a port is taken; or when a worker ends before it is ready.
   */
  static async start({ master, plan, options, registry, log }: WorkersSetup): Promise<Cluster> {
    cluster.setupPrimary({ serialization: 'advanced' });
    // This front has no port that receives crossings.
    const front = plan.make([eventsListener(options)], { ...master.handlers, crossing: () => {} });
    master.setFront(front);
    const [eventsPort] = await front.listen();
    const { host, port, data, admission, trustProxy } = options;
    if (port !== 0) await throwIfTaken(host, port);
    const addresses = { ...addressesOf(options), eventsPort, apiPort: port };
    const settings = { host, port, data, front: options.front, addresses, admission, trustProxy };
    const processes = new WorkerProcesses(master, settings, log);
    const apiPort = await processes.start(options.workers);
    return new Cluster(front, { api: apiPort, events: eventsPort }, processes, registry);
  }

  private constructor(front: Front, ports: Workers['ports'], processes: WorkerProcesses, registry: Registry) {
    this.front = front;
    this.ports = ports;
    this.#processes = processes;
    this.#registry = registry;
  }

  get pids(): number[] {
    return this.#processes.pids;
  }

  get readyCount(): number {
    return this.#processes.readyCount;
  }

  async metrics(): Promise<string> {
    const own = await this.#registry.metrics();
    return this.readyCount > 0 ? `${own}\n${await this.#aggregator.clusterMetrics()}` : own;
  }

  drain(): void {
    this.#processes.drain();
  }

  /** A draining worker exits when it has answered everything. */
  isBusy(): boolean {
    return this.readyCount > 0;
  }

  close(): void {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL');
  }
}

/** Forks worker processes and replaces those that die. */
class WorkerProcesses {
  readonly #master: Master;
  readonly #settings: WorkerSettings;
  readonly #log: Logger;
  readonly #ready = new Set<Process>();
  #restartMs = RESTART_MS;
  #draining = false;

  constructor(master: Master, settings: WorkerSettings, log: Logger) {
    this.#master = master;
    this.#settings = settings;
    this.#log = log;
  }

  get readyCount(): number {
    return this.#ready.size;
  }

  get pids(): number[] {
    return [...this.#ready].map((worker) => worker.process.pid as number);
  }

  /** Forks `count` workers; resolves to the port they share. If that is 0, the first worker picks it. */
  async start(count: number): Promise<number> {
    const port = await this.#fork();
    this.#settings.port = port;
    this.#settings.addresses.apiPort = port;
    await Promise.all(Array.from({ length: count - 1 }, () => this.#fork()));
    return port;
  }

  drain(): void {
    this.#draining = true;
    for (const worker of this.#ready) worker.send({ type: 'drain' });
  }

  /** Forks a worker; resolves to its port when it is ready, rejects when it ends before that. */
  #fork(): Promise<number> {
    const startMs = performance.now();
    const worker = cluster.fork({ SPRITES_WORKER: JSON.stringify(this.#settings) });
    const link = this.#master.addLink(new IpcLink((frame) => this.#send(worker, frame)));
    return new Promise((resolve, reject) => {
      worker.on('message', (message: Uint8Array | FromWorker) => {
        if (message instanceof Uint8Array) receiveFrame(this.#master, link, message);
        else if (message?.type === 'ready') {
          this.#ready.add(worker);
          resolve(message.port);
        } else if (message?.type === 'failed') reject(new Error(message.why));
      });
      worker.once('exit', (code, signal) => {
        this.#ready.delete(worker);
        this.#master.removeLink(link);
        reject(new Error(`a worker ended before it was ready (${signal ?? code})`));
        if (!this.#draining) this.#replace(worker, `${signal ?? code}`, performance.now() - startMs);
      });
    });
  }

  /** Sends a frame of answers. If that fails, the worker is killed: its clients lose their connections and retry. */
  #send(worker: Process, frame: Buffer): void {
    if (!worker.isConnected()) return;
    worker.send(frame, undefined, undefined, (error) => {
      if (!error) return;
      if (!worker.isDead()) this.#log.error({ err: error, pid: worker.process.pid }, 'a worker could not be answered');
      worker.process.kill('SIGKILL');
    });
  }

  #replace(worker: Process, how: string, livedMs: number): void {
    this.#restartMs = livedMs < RESTART_MS_MAX ? Math.min(this.#restartMs * 2, RESTART_MS_MAX) : RESTART_MS;
    // Until the first worker has picked the port, its failure is a failure of start(), which reports it.
    if (this.#settings.port === 0) return;
    this.#log.error({ pid: worker.process.pid, how, againMs: this.#restartMs }, 'a worker died; forking another');
    setTimeout(() => {
      if (this.#draining) return;
      this.#fork().then(
        () => this.#log.info({ pids: this.pids }, 'worker ready'),
        (error) => this.#log.error({ err: error }, 'a worker did not start'),
      );
    }, this.#restartMs);
  }
}

/**
 * Throws the system's error when another program has the port. Workers open it with SO_REUSEPORT, so without this check
 * they would share it with another relay.
 */
async function throwIfTaken(host: string, port: number): Promise<void> {
  const probe = net.createServer();
  try {
    await once(probe.listen({ host, port, exclusive: true }), 'listening');
    await once(probe.close(), 'close');
  } catch (error) {
    // A system without IPv6 has no `::`; the front binds another address then.
    if ((error as NodeJS.ErrnoException).code !== 'EAFNOSUPPORT') throw error;
  }
}

/**
 * The worker pool: processes that the master forks, by default one per core. They share the API port.
 *
 * Invariant: a worker that dies or hangs is replaced, unless the relay is draining. A fork that fails is tried again.
 */
import cluster, { type Worker as Process } from 'node:cluster';
import type { Logger } from 'pino';
import { Gauge, type Registry } from 'prom-client';
import type { Front } from '../front/front.ts';
import { type MetricsRequest, WorkerMetrics } from '../metrics/worker_metrics.ts';
import { type Refusals, type WorkerSample, WorkerSamples } from '../metrics/worker_samples.ts';
import type { ModerationCopy } from '../moderation/bans.ts';
import type { ModerationMessage } from '../moderation/moderator.ts';
import { isTakingSnapshot } from '../operator/process_requests.ts';
import {
  addressesOf,
  chooseIpc,
  connectionsPerAddress,
  eventsListener,
  type IpcKind,
  type Workers,
  type WorkersSetup,
} from '../operator/workers.ts';
import { Confirmations } from '../processes/confirmations.ts';
import { type FrameReceiver, FrameRing } from '../processes/frame_ring.ts';
import { HEARTBEAT_MS, Heartbeats } from '../processes/heartbeats.ts';
import { IpcLink, receiveFrame } from '../processes/ipc.ts';
import type { Master } from '../processes/master.ts';
import { MalformedFrame } from '../wire/frame.ts';
import { throwIfTaken } from './free_port.ts';
import type { FromWorker, ToWorker, WorkerSettings } from './worker_process.ts';

/**
 * The delay before a worker is replaced, in ms: RESTART_MS, doubled up to RESTART_MS_MAX for each worker that lived for less
 * than RESTART_MS_MAX or could not be forked.
 */
const RESTART_MS = 100;
const RESTART_MS_MAX = 5_000;

export class WorkerPool implements Workers {
  readonly front: Front;
  readonly ports: { readonly api: number; readonly events: number };
  readonly #processes: WorkerProcesses;
  readonly #registry: Registry;
  readonly #unanswered: Gauge;
  readonly #samples = new WorkerSamples();

  /**
   * Resolves when the front listens and all workers are ready.
   *
   * Throws  Error with the system's reason when a port is taken; or when a worker ends before it is ready.
   */
  static async start({ master, plan, options, registry, log, bans }: WorkersSetup): Promise<WorkerPool> {
    cluster.setupPrimary({ serialization: 'advanced' });
    const ipc = chooseIpc(options);
    // This front has no port that receives crossings, sayings and stages.
    const front = plan.make(
      [eventsListener(options)],
      { ...master.handlers, crossing: () => {}, saying: () => {}, stage: () => {} },
      connectionsPerAddress(options),
    );
    master.turns.links.addFront(front);
    const [eventsPort] = await front.listen();
    const { host, port, data, admission, trustProxy, pictures } = options;
    if (port !== 0) await throwIfTaken(host, port);
    const addresses = { ...addressesOf(options), eventsPort, apiPort: port };
    const isInCluster = options.nats !== undefined;
    const settings = {
      host,
      port,
      data,
      front: options.front,
      addresses,
      admission,
      trustProxy,
      pictures,
      isInCluster,
    };
    const processes = new WorkerProcesses({ master, settings, ipc, log, bans });
    const apiPort = await processes.start(options.workers);
    return new WorkerPool(front, { api: apiPort, events: eventsPort }, processes, registry);
  }

  private constructor(front: Front, ports: Workers['ports'], processes: WorkerProcesses, registry: Registry) {
    this.front = front;
    this.ports = ports;
    this.#processes = processes;
    this.#registry = registry;
    this.#unanswered = new Gauge({
      name: 'sprites_workers_unanswered',
      help: 'Workers whose metrics are missing from this scrape, because they did not answer',
      registers: [registry],
    });
  }

  get pids(): number[] {
    return this.#processes.pids;
  }

  get ipc(): IpcKind {
    return this.#processes.ipc;
  }

  get readyCount(): number {
    return this.#processes.readyCount;
  }

  get refused(): Refusals {
    return this.#samples.refused;
  }

  samples(): WorkerSample[] {
    return this.#samples.newest;
  }

  /** Resolves within WORKER_METRICS_MS_MAX, without the metrics of workers that do not answer. */
  async metrics(): Promise<string> {
    const { text, unanswered } = await this.#processes.metrics();
    this.#unanswered.set(unanswered);
    return `${await this.#registry.metrics()}\n${text}`;
  }

  moderate(message: ModerationMessage): Promise<void> {
    return this.#processes.moderate(message);
  }

  drain(): void {
    this.#processes.drain();
  }

  /** A draining worker exits when it has answered everything. */
  isBusy(): boolean {
    return this.readyCount > 0;
  }

  close(): void {
    this.#processes.close();
    this.#samples.close();
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL');
  }
}

interface WorkerProcessesSetup {
  master: Master;
  settings: WorkerSettings;
  ipc: IpcKind;
  log: Logger;
  bans: () => ModerationCopy;
}

/** The standard streams and the channel of a worker. The descriptors of its ring come after them. */
const STREAMS = ['inherit', 'inherit', 'inherit', 'ipc'] as const;

/** Forks worker processes and replaces those that die or hang. */
class WorkerProcesses {
  /** How frames are exchanged with workers; one that has no ring uses the channel. */
  readonly ipc: IpcKind;
  readonly #master: Master;
  readonly #settings: WorkerSettings;
  readonly #log: Logger;
  readonly #bans: () => ModerationCopy;
  readonly #ready = new Set<Process>();
  /** Those that are ready, and those that start. */
  readonly #running = new Set<Process>();
  readonly #heartbeats = new Heartbeats<Process>();
  readonly #beats: NodeJS.Timeout;
  readonly #metrics = new WorkerMetrics();
  readonly #confirmations = new Confirmations<Process>();
  /** What to do when a worker has ended, or is given up because it hangs. */
  readonly #ends = new Map<Process, (how: string) => void>();
  #restartMs = RESTART_MS;
  #draining = false;

  constructor({ master, settings, ipc, log, bans }: WorkerProcessesSetup) {
    this.ipc = ipc;
    this.#master = master;
    this.#settings = settings;
    this.#log = log;
    this.#bans = bans;
    this.#beats = setInterval(() => this.#killHung(), HEARTBEAT_MS).unref();
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

  /** Tells every worker, also those that start. Resolves when all of them enforce it. */
  moderate(message: ModerationMessage): Promise<void> {
    const { number, confirmed } = this.#confirmations.expect(this.#running);
    for (const worker of this.#running) this.#tell(worker, { type: 'moderation', number, message });
    return confirmed;
  }

  drain(): void {
    this.#draining = true;
    for (const worker of this.#ready) this.#tell(worker, { type: 'drain' });
  }

  close(): void {
    clearInterval(this.#beats);
  }

  /** The summed metrics of the workers. Those that are late are not asked. */
  async metrics(): Promise<{ text: string; unanswered: number }> {
    const asked = [...this.#ready].filter((worker) => !this.#heartbeats.isLate(worker));
    const late = this.#ready.size - asked.length;
    const senders = asked.map((worker) => (request: MetricsRequest) => this.#tell(worker, request));
    const { text, unanswered } = await this.#metrics.collect(senders);
    return { text, unanswered: unanswered + late };
  }

  /** Forks a worker; resolves to its port when it is ready, rejects when it cannot be forked or ends before that. */
  #fork(): Promise<number> {
    const startMs = performance.now();
    return new Promise((resolve, reject) => {
      let worker: Process;
      /** Whether the worker has opened its end of the ring; its first message says so. */
      let usesRing = false;
      const ring = this.#makeRing({
        frame: (frame) => receiveFrame(this.#master, link, frame),
        turn: () => {
          this.#heartbeats.heard(worker);
          this.#master.turns.end();
        },
        broken: (why) => this.#killFaulty(worker, why),
      });
      try {
        worker = this.#forkProcess(ring);
      } catch (error) {
        ring?.close();
        this.#retryFork(error as Error);
        reject(error);
        return;
      }
      const link = this.#master.turns.links.add(
        new IpcLink(
          (frame, onSent) => {
            // A large frame leaves in the middle of a turn.
            this.#master.turns.commit();
            if (ring && usesRing) ring.send(frame, onSent);
            else this.#send(worker, frame, onSent);
          },
          () => this.#master.turns.linkHasRoom(),
        ),
      );
      this.#running.add(worker);
      this.#heartbeats.add(worker);
      const forget = () => {
        this.#ends.delete(worker);
        this.#running.delete(worker);
        this.#confirmations.forget(worker);
        this.#ready.delete(worker);
        this.#heartbeats.remove(worker);
        this.#master.turns.removeLink(link);
        ring?.close();
      };
      this.#ends.set(worker, (how) => {
        forget();
        reject(new Error(`a worker ended before it was ready (${how})`));
        if (!this.#draining) this.#replace(worker, how, performance.now() - startMs);
      });
      worker.on('message', (message: Uint8Array | FromWorker) => {
        this.#heartbeats.heard(worker);
        if (message instanceof Uint8Array) this.#receive(worker, link, message);
        else if (message?.type === 'starting') {
          usesRing = message.ring;
          if (ring && !usesRing) ring.close();
          const bans = { type: 'bans', bans: this.#bans() } as const;
          this.#tell(worker, { type: 'moderation', number: 0, message: bans });
        } else if (message?.type === 'ready') {
          this.#ready.add(worker);
          this.#heartbeats.ready(worker);
          resolve(message.port);
        } else if (message?.type === 'failed') reject(new Error(message.why));
        else if (message?.type === 'moderated') this.#confirmations.confirm(worker, message.number);
        else if (message?.type === 'metrics') this.#metrics.receive(message);
      });
      worker.on('error', (error) => {
        if (worker.process.pid !== undefined) {
          this.#log.warn({ err: error, pid: worker.process.pid }, 'a worker process reported an error');
          return;
        }
        // The system has refused the process. There is no `exit` then, and node:cluster keeps its worker.
        delete cluster.workers?.[worker.id];
        forget();
        this.#retryFork(error);
        reject(error);
      });
      worker.once('exit', (code, signal) => this.#ends.get(worker)?.(`${signal ?? code}`));
    });
  }

  /** Makes the end of a ring for a worker that is to be forked; undefined when it has to use the channel. */
  #makeRing(receiver: FrameReceiver): FrameRing | undefined {
    if (this.ipc === 'channel') return undefined;
    try {
      return new FrameRing(receiver);
    } catch (error) {
      this.#log.warn({ err: error }, 'no shared memory for a worker; its frames go through the channel');
      return undefined;
    }
  }

  #forkProcess(ring: FrameRing | undefined): Process {
    const descriptors = ring?.descriptors ?? [];
    cluster.setupPrimary({ stdio: [...STREAMS, ...descriptors] });
    const settings = { ...this.#settings, ring: ring && descriptors.map((_, n) => STREAMS.length + n) };
    const worker = cluster.fork({ SPRITES_WORKER: JSON.stringify(settings) });
    ring?.passedOn();
    return worker;
  }

  /** Receives a frame that came through the channel. */
  #receive(worker: Process, link: number, frame: Uint8Array): void {
    try {
      receiveFrame(this.#master, link, frame);
    } catch (error) {
      if (!(error instanceof MalformedFrame)) throw error;
      this.#killFaulty(worker, error.message);
    }
    this.#master.turns.end();
  }

  /** Kills a worker that has sent something that is not a frame. Its clients' connections break, and the clients retry. */
  #killFaulty(worker: Process, why: string): void {
    this.#log.error({ pid: worker.process.pid, why }, 'a worker sent a malformed frame; killing it');
    worker.process.kill('SIGKILL');
    this.#ends.get(worker)?.('malformed frame');
  }

  /** Kills the workers that hang. Their clients' connections break, and the clients retry. */
  #killHung(): void {
    for (const worker of this.#ready) if (isTakingSnapshot(worker.process.pid)) this.#heartbeats.heard(worker);
    for (const worker of this.#heartbeats.beat()) {
      worker.process.kill('SIGKILL');
      // A process in an uninterruptible system call ends later; it is replaced now.
      this.#ends.get(worker)?.('silent');
    }
  }

  #tell(worker: Process, message: ToWorker): void {
    if (worker.isConnected()) worker.send(message, undefined, undefined, () => {});
  }

  /** Sends a frame of answers. If that fails, the worker is killed: its clients lose their connections and retry. */
  #send(worker: Process, frame: Buffer, onSent: () => void): void {
    if (!worker.isConnected()) return;
    worker.send(frame, undefined, undefined, (error) => {
      onSent();
      if (!error) return;
      if (!worker.isDead()) this.#log.error({ err: error, pid: worker.process.pid }, 'a worker could not be answered');
      worker.process.kill('SIGKILL');
    });
  }

  #replace(worker: Process, how: string, livedMs: number): void {
    const againMs = this.#restartDelay(livedMs < RESTART_MS_MAX);
    // Until the first worker has picked the port, its failure is a failure of start(), which reports it.
    if (this.#settings.port === 0) return;
    this.#log.error({ pid: worker.process.pid, how, againMs }, 'a worker died; forking another');
    this.#forkLater(againMs);
  }

  /** The system has refused a process, for lack of memory, processes or files: others may free some. */
  #retryFork(error: Error): void {
    if (this.#settings.port === 0 || this.#draining) return;
    const againMs = this.#restartDelay(true);
    this.#log.error({ err: error, againMs }, 'a worker could not be forked; trying again');
    this.#forkLater(againMs);
  }

  #restartDelay(doubled: boolean): number {
    this.#restartMs = doubled ? Math.min(this.#restartMs * 2, RESTART_MS_MAX) : RESTART_MS;
    return this.#restartMs;
  }

  #forkLater(delayMs: number): void {
    setTimeout(() => {
      if (this.#draining) return;
      this.#fork().then(
        () => this.#log.info({ pids: this.pids }, 'worker ready'),
        (error) => {
          // A relay that stops kills a worker that is starting.
          if (!this.#draining) this.#log.error({ err: error }, 'a worker did not start');
        },
      );
    }, delayMs);
  }
}

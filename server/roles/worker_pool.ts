/**
 * The worker pool: processes that the master forks. They share the API port.
 *
 * Invariant: a worker that dies or hangs is replaced, unless the relay is draining. A fork that fails is tried again.
 */
import cluster, { type Worker as Process } from 'node:cluster';
import type { Logger } from 'pino';
import { Gauge, type Registry } from 'prom-client';
import { commit } from '../../tools/version.js';
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

/** The standard streams and the channel of a worker. The descriptors of its ring come after them. */
const STREAMS = ['inherit', 'inherit', 'inherit', 'ipc'] as const;

/** A worker process that is ready, or starts. */
interface Running {
  readonly worker: Process;
  /** Its number among the links of the master. */
  readonly link: number;
  readonly ring: FrameRing | undefined;
  /** Whether the worker has opened its end of the ring; its first message says so. */
  usesRing: boolean;
  readonly startMs: number;
  /** Resolves to its port; rejects when it ends before it is ready. */
  readonly ready: PromiseWithResolvers<number>;
}

export class WorkerPool implements Workers {
  readonly front: Front;
  /** One that has no ring uses the channel. */
  readonly ipc: IpcKind;
  readonly #master: Master;
  readonly #settings: WorkerSettings;
  readonly #registry: Registry;
  readonly #log: Logger;
  readonly #bans: () => ModerationCopy;
  readonly #ready = new Set<Process>();
  readonly #running = new Map<Process, Running>();
  readonly #heartbeats = new Heartbeats<Process>();
  readonly #beats: NodeJS.Timeout;
  readonly #metrics = new WorkerMetrics();
  readonly #unanswered: Gauge;
  readonly #samples = new WorkerSamples();
  readonly #confirmations = new Confirmations<Process>();
  #restartMs = RESTART_MS;
  #draining = false;

  /**
   * Resolves when the front listens and all workers are ready.
   *
   * Throws  Error with the system's reason when a port is taken; or when a worker ends before it is ready.
   */
  static async start(setup: WorkersSetup): Promise<WorkerPool> {
    const { master, plan, options } = setup;
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
    const { host, port, data, contact, rules, admission, trustProxy, pictures } = options;
    if (port !== 0) await throwIfTaken(host, port);
    const pool = new WorkerPool(setup, front, ipc, {
      host,
      port,
      data,
      front: options.front,
      addresses: { ...addressesOf(options), eventsPort, apiPort: port },
      operator: { contact, rules, commit: commit() },
      admission,
      trustProxy,
      pictures,
      isInCluster: options.nats !== undefined,
    });
    await pool.#start(options.workers.count);
    return pool;
  }

  private constructor(
    { master, registry, log, bans }: WorkersSetup,
    front: Front,
    ipc: IpcKind,
    settings: WorkerSettings,
  ) {
    this.front = front;
    this.ipc = ipc;
    this.#master = master;
    this.#settings = settings;
    this.#registry = registry;
    this.#log = log;
    this.#bans = bans;
    this.#beats = setInterval(() => this.#killHung(), HEARTBEAT_MS).unref();
    this.#unanswered = new Gauge({
      name: 'sprites_workers_unanswered',
      help: 'Workers whose metrics are missing from this scrape, because they did not answer',
      registers: [registry],
    });
  }

  get ports(): Workers['ports'] {
    return { api: this.#settings.port, events: this.#settings.addresses.eventsPort };
  }

  get pids(): number[] {
    return [...this.#ready].map((worker) => worker.process.pid as number);
  }

  get readyCount(): number {
    return this.#ready.size;
  }

  get refused(): Refusals {
    return this.#samples.refused;
  }

  takeMalformed(): WorkerSample['malformed'] {
    return this.#samples.takeMalformed();
  }

  samples(): WorkerSample[] {
    return this.#samples.newest;
  }

  /** Resolves within WORKER_METRICS_MS_MAX, without the metrics of workers that are late or do not answer. */
  async metrics(): Promise<string> {
    const asked = [...this.#ready].filter((worker) => !this.#heartbeats.isLate(worker));
    const late = this.#ready.size - asked.length;
    const senders = asked.map((worker) => (request: MetricsRequest) => this.#tell(worker, request));
    const { text, unanswered } = await this.#metrics.collect(senders);
    this.#unanswered.set(unanswered + late);
    return `${await this.#registry.metrics()}\n${text}`;
  }

  /** Tells every worker, also those that start. */
  moderate(message: ModerationMessage): Promise<void> {
    const running = [...this.#running.keys()];
    const { number, confirmed } = this.#confirmations.expect(running);
    for (const worker of running) this.#tell(worker, { type: 'moderation', number, message });
    return confirmed;
  }

  drain(): void {
    this.#draining = true;
    for (const worker of this.#ready) this.#tell(worker, { type: 'drain' });
  }

  /** A draining worker exits when it has answered everything. */
  isBusy(): boolean {
    return this.readyCount > 0;
  }

  close(): void {
    clearInterval(this.#beats);
    this.#samples.close();
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL');
  }

  /** Forks `count` workers, which share a port. If that is 0, the first worker picks it. */
  async #start(count: number): Promise<void> {
    const port = await this.#fork();
    this.#settings.port = port;
    this.#settings.addresses.apiPort = port;
    await Promise.all(Array.from({ length: count - 1 }, () => this.#fork()));
  }

  /** Forks a worker; resolves to its port when it is ready, rejects when it cannot be forked or ends before that. */
  async #fork(): Promise<number> {
    const startMs = performance.now();
    const { turns } = this.#master;
    let running: Running;
    const ring = this.#makeRing({
      frame: (frame) => receiveFrame(this.#master, running.link, frame),
      turn: () => {
        this.#heartbeats.heard(running.worker);
        turns.end();
      },
      broken: (why) => this.#killFaulty(running.worker, why),
    });
    let worker: Process;
    try {
      worker = this.#forkProcess(ring);
    } catch (error) {
      ring?.close();
      this.#retryFork(error as Error);
      throw error;
    }
    const link = turns.links.add(
      new IpcLink(
        (frame, onSent) => this.#send(running, frame, onSent),
        () => turns.linkHasRoom(),
      ),
    );
    running = { worker, link, ring, usesRing: false, startMs, ready: Promise.withResolvers() };
    this.#running.set(worker, running);
    this.#heartbeats.add(worker);
    worker.on('message', (message: Uint8Array | FromWorker) => this.#receive(running, message));
    worker.on('error', (error) => this.#handleError(running, error));
    worker.once('exit', (code, signal) => this.#end(worker, `${signal ?? code}`));
    return running.ready.promise;
  }

  /** Receives what came through the channel. */
  #receive(running: Running, message: Uint8Array | FromWorker): void {
    const { worker, ready } = running;
    this.#heartbeats.heard(worker);
    if (message instanceof Uint8Array) this.#receiveFrame(running, message);
    else if (message?.type === 'starting') this.#answerStart(running, message.ring);
    else if (message?.type === 'ready') {
      this.#ready.add(worker);
      this.#heartbeats.ready(worker);
      ready.resolve(message.port);
    } else if (message?.type === 'failed') ready.reject(new Error(message.why));
    else if (message?.type === 'moderated') this.#confirmations.confirm(worker, message.number);
    else if (message?.type === 'metrics') this.#metrics.receive(message);
  }

  #receiveFrame({ worker, link }: Running, frame: Uint8Array): void {
    try {
      receiveFrame(this.#master, link, frame);
    } catch (error) {
      if (!(error instanceof MalformedFrame)) throw error;
      this.#killFaulty(worker, error.message);
    }
    this.#master.turns.end();
  }

  #answerStart(running: Running, usesRing: boolean): void {
    running.usesRing = usesRing;
    if (!usesRing) running.ring?.close();
    const message = { type: 'bans', bans: this.#bans() } as const;
    this.#tell(running.worker, { type: 'moderation', number: 0, message });
  }

  #handleError(running: Running, error: Error): void {
    const { worker, ready } = running;
    if (worker.process.pid !== undefined) {
      this.#log.warn({ err: error, workerPid: worker.process.pid }, 'a worker process reported an error');
      return;
    }
    // The system has refused the process. There is no `exit` then, and node:cluster keeps its worker.
    delete cluster.workers?.[worker.id];
    this.#forget(running);
    this.#retryFork(error);
    ready.reject(error);
  }

  /** A worker has ended, or is given up because it hangs: it is replaced. */
  #end(worker: Process, how: string): void {
    const running = this.#running.get(worker);
    if (!running) return;
    this.#forget(running);
    running.ready.reject(new Error(`a worker ended before it was ready (${how})`));
    if (!this.#draining) this.#replace(worker, how, performance.now() - running.startMs);
  }

  #forget({ worker, link, ring }: Running): void {
    this.#running.delete(worker);
    this.#confirmations.forget(worker);
    this.#ready.delete(worker);
    this.#heartbeats.remove(worker);
    this.#master.turns.removeLink(link);
    ring?.close();
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

  /** Kills a worker that has sent something that is not a frame. Its clients' connections break, and the clients retry. */
  #killFaulty(worker: Process, why: string): void {
    this.#log.error({ workerPid: worker.process.pid, why }, 'a worker sent a malformed frame; killing it');
    worker.process.kill('SIGKILL');
    this.#end(worker, 'malformed frame');
  }

  /** Kills the workers that hang. Their clients' connections break, and the clients retry. */
  #killHung(): void {
    for (const worker of this.#ready) if (isTakingSnapshot(worker.process.pid)) this.#heartbeats.heard(worker);
    for (const worker of this.#heartbeats.beat()) {
      worker.process.kill('SIGKILL');
      // A process in an uninterruptible system call ends later; it is replaced now.
      this.#end(worker, 'silent');
    }
  }

  #tell(worker: Process, message: ToWorker): void {
    if (worker.isConnected()) worker.send(message, undefined, undefined, () => {});
  }

  /** Sends a frame of answers. If the channel fails, the worker is killed: its clients lose their connections and retry. */
  #send({ worker, ring, usesRing }: Running, frame: Buffer, onSent: () => void): void {
    // A large frame leaves in the middle of a turn.
    this.#master.turns.commit();
    if (ring && usesRing) {
      ring.send(frame, onSent);
      return;
    }
    if (!worker.isConnected()) return;
    worker.send(frame, undefined, undefined, (error) => {
      onSent();
      if (!error) return;
      if (!worker.isDead())
        this.#log.error({ err: error, workerPid: worker.process.pid }, 'a worker could not be answered');
      worker.process.kill('SIGKILL');
    });
  }

  #replace(worker: Process, how: string, livedMs: number): void {
    const againMs = this.#restartDelay(livedMs < RESTART_MS_MAX);
    // Until the first worker has picked the port, its failure is a failure of start(), which reports it.
    if (this.#settings.port === 0) return;
    this.#log.error({ workerPid: worker.process.pid, how, againMs }, 'a worker died; forking another');
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

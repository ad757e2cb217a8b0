/**
 * The worker pool: processes that the master forks. They share the API port.
 *
 * Invariant: a worker that dies or hangs is replaced, unless the relay is draining. A fork that fails is tried again.
 */
import { ok } from 'node:assert';
import cluster, { type Worker as Process } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { commit } from '../../tools/version.js';
import type { Front } from '../front/front.ts';
import { GIVING_WAY_MS, type Malformed } from '../http/worker.ts';
import { gaugesIn } from '../metrics/gauges.ts';
import { type Refusals, type WorkerSample, WorkerSamples } from '../metrics/worker_samples.ts';
import type { ModerationMessage } from '../moderation/moderator.ts';
import { isTakingSnapshot } from '../operator/process_requests.ts';
import {
  addressesOf,
  chooseIpc,
  connectionsPerAddress,
  eventsListener,
  type IpcKind,
  type PreparedWorkers,
  type Workers,
  type WorkersOptions,
  type WorkersSetup,
} from '../operator/workers.ts';
import { Confirmations } from '../processes/confirmations.ts';
import { type FrameReceiver, FrameRing } from '../processes/frame_ring.ts';
import { HEARTBEAT_MS, Heartbeats } from '../processes/heartbeats.ts';
import { IpcLink, receiveFrame } from '../processes/ipc.ts';
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

const NO_LINK = -1;

/** What the workers need when their ports are open. */
interface Parts extends Pick<WorkersSetup, 'master' | 'bans'> {
  readonly front: Front;
}

/** A worker process that is ready, or starts. */
interface Running {
  readonly worker: Process;
  /** Its number among the links of the master, or NO_LINK while it loads. */
  link: number;
  readonly ring: FrameRing | undefined;
  /** Whether the worker has opened its end of the ring; its first message says so. */
  usesRing: boolean;
  readonly startMs: number;
  /** Resolves when its program is loaded, before it has a port; rejects when it ends before that. */
  readonly loaded: PromiseWithResolvers<void>;
  /** Resolves to its port; rejects when it ends before it is ready. */
  readonly ready: PromiseWithResolvers<number>;
}

export class WorkerPool implements Workers {
  /** One that has no ring uses the channel. */
  readonly ipc: IpcKind;
  readonly #settings: WorkerSettings;
  readonly #log: Logger;
  /** The port of the workers. */
  #port: number;
  /** Undefined until the ports are open. */
  #parts: Parts | undefined;
  readonly #ready = new Set<Process>();
  readonly #running = new Map<Process, Running>();
  readonly #heartbeats = new Heartbeats<Process>();
  readonly #beats: NodeJS.Timeout;
  readonly #samples = new WorkerSamples<Process>();
  readonly #confirmations = new Confirmations<Process>();
  #restartMs = RESTART_MS;
  #draining = false;
  #isListening = false;

  /**
   * Forks the workers. Resolves when they have loaded, to what opens the ports.
   *
   * Throws  Error when a worker ends before it has loaded.
   */
  static async prepare(options: WorkersOptions, log: Logger): Promise<PreparedWorkers> {
    cluster.setupPrimary({ serialization: 'advanced' });
    const pool = new WorkerPool(options, log);
    const forked = Array.from({ length: options.workers.count }, () => pool.#fork());
    await Promise.all(forked.map(({ loaded }) => loaded.promise));
    return { listenBeside: () => pool.#listenBeside(), start: (setup) => pool.#open(setup) };
  }

  private constructor(options: WorkersOptions, log: Logger) {
    const { host, port, data, contact, rules, front, eventsPort, admission, trustProxy, pictures, nats } = options;
    this.ipc = chooseIpc(options);
    this.#log = log;
    this.#port = port;
    const addresses = { ...addressesOf(options), eventsPort, apiPort: port };
    const operator = { contact, rules, commit: commit() };
    this.#settings = {
      host,
      data,
      front,
      addresses,
      operator,
      admission,
      trustProxy,
      pictures,
      isInCluster: nats !== undefined,
    };
    this.#beats = setInterval(() => this.#killHung(), HEARTBEAT_MS).unref();
  }

  async #listenBeside(): Promise<void> {
    await this.#tellAll((number) => ({ type: 'listen', number, port: this.#port }));
    this.#isListening = true;
  }

  /**
   * Resolves when the front listens and all workers are ready.
   *
   * Throws  Error with the system's reason when a port is taken; or when a worker ends before it is ready.
   */
  async #open({ master, plan, options, registry, bans }: WorkersSetup): Promise<WorkerPool> {
    // This front has no port that receives crossings, sayings and stages.
    const front = plan.make(
      [eventsListener(options)],
      { ...master.handlers, crossing: () => {}, saying: () => {}, stage: () => {} },
      connectionsPerAddress(options),
    );
    master.turns.links.addFront(front);
    const [eventsPort] = await front.listen();
    this.#settings.addresses.eventsPort = eventsPort;
    if (this.#port !== 0 && !this.#isListening) await throwIfTaken(options.host, this.#port);
    const help = 'Workers whose metrics are missing from this scrape, because they are silent';
    gaugesIn(registry)('sprites_workers_unanswered', help, () => [...this.#ready].filter(this.#isLate).length);
    this.#parts = { master, front, bans };
    // They share the port. If it is 0, the first one picks it.
    const [first, ...others] = this.#running.values();
    this.#port = await this.#begin(first, this.#parts);
    this.#settings.addresses.apiPort = this.#port;
    await Promise.all(others.map((running) => this.#begin(running, this.#parts as Parts)));
    return this;
  }

  get front(): Front {
    return this.#opened.front;
  }

  /** What open() got. */
  get #opened(): Parts {
    ok(this.#parts, 'the pool is open');
    return this.#parts;
  }

  get ports(): Workers['ports'] {
    return { api: this.#port, events: this.#settings.addresses.eventsPort };
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

  takeMalformed(): Malformed {
    return this.#samples.takeMalformed();
  }

  samples(): WorkerSample[] {
    return this.#samples.newest(this.#isLate);
  }

  readonly #isLate = (worker: Process): boolean => this.#heartbeats.isLate(worker);

  moderate(message: ModerationMessage): Promise<void> {
    return this.#tellAll((number) => ({ type: 'moderation', number, message }));
  }

  async giveWay(): Promise<void> {
    this.#draining = true;
    this.front.drain();
    await this.#tellAll((number) => ({ type: 'give-way', number }));
    // What they had sent on their rings before may come later than their answers.
    await sleep(GIVING_WAY_MS);
  }

  /** Tells every worker, also those that start. Resolves when each has done it, or has ended. */
  #tellAll(messageOf: (number: number) => ToWorker): Promise<void> {
    const running = [...this.#running.keys()];
    const { number, confirmed } = this.#confirmations.expect(running);
    for (const worker of running) this.#tell(worker, messageOf(number));
    return confirmed;
  }

  drain(again: boolean): void {
    this.#draining = true;
    for (const worker of this.#ready) this.#tell(worker, { type: 'drain', again });
  }

  /** A draining worker exits when it has answered everything. */
  isBusy(): boolean {
    return this.readyCount > 0;
  }

  close(): void {
    clearInterval(this.#beats);
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL');
  }

  /** Forks a worker, which loads. Throws the system's error when it can't be forked. */
  #fork(): Running {
    const startMs = performance.now();
    let running: Running;
    const ring = this.#makeRing({
      frame: (frame) => receiveFrame(this.#opened.master, running.link, frame),
      turn: () => {
        this.#heartbeats.heard(running.worker);
        this.#parts?.master.turns.end();
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
    const [loaded, ready] = [Promise.withResolvers<void>(), Promise.withResolvers<number>()];
    // One that ends while it is not waited for is replaced all the same.
    for (const { promise } of [loaded, ready]) promise.catch(() => {});
    running = { worker, link: NO_LINK, ring, usesRing: false, startMs, loaded, ready };
    this.#running.set(worker, running);
    this.#heartbeats.add(worker);
    worker.on('message', (message: Uint8Array | FromWorker) => this.#receive(running, message));
    worker.on('error', (error) => this.#handleError(running, error));
    worker.once('exit', (code, signal) => this.#end(worker, `${signal ?? code}`));
    return running;
  }

  /** Has a worker open its port as soon as it has loaded. Resolves to the port; rejects when it ends before that. */
  async #begin(running: Running, { master: { turns }, bans }: Parts): Promise<number> {
    await running.loaded.promise;
    const { worker } = running;
    this.#heartbeats.add(worker);
    running.link = turns.links.add(
      new IpcLink(
        (frame, onSent) => this.#send(running, frame, onSent),
        () => turns.linkHasRoom(),
      ),
    );
    this.#tell(worker, { type: 'moderation', number: 0, message: { type: 'bans', bans: bans() } });
    const { eventsPort } = this.#settings.addresses;
    this.#tell(worker, { type: 'open', port: this.#port, eventsPort });
    return running.ready.promise;
  }

  /** Receives what came through the channel. */
  #receive(running: Running, message: Uint8Array | FromWorker): void {
    const { worker, ready } = running;
    this.#heartbeats.heard(worker);
    if (message instanceof Uint8Array) this.#receiveFrame(running, message);
    else if (message?.type === 'starting') this.#hasLoaded(running, message.ring);
    else if (message?.type === 'ready') {
      this.#ready.add(worker);
      this.#heartbeats.ready(worker);
      ready.resolve(message.port);
    } else if (message?.type === 'failed') ready.reject(new Error(message.why));
    else if (message?.type === 'done') this.#confirmations.confirm(worker, message.number);
    else if (message?.type === 'alive' && this.#running.has(worker)) {
      this.#samples.receive(worker, message.sample, message.malformed);
    }
  }

  #receiveFrame({ worker, link }: Running, frame: Uint8Array): void {
    const { master } = this.#opened;
    try {
      receiveFrame(master, link, frame);
    } catch (error) {
      if (!(error instanceof MalformedFrame)) throw error;
      this.#killFaulty(worker, error.message);
    }
    master.turns.end();
  }

  #hasLoaded(running: Running, usesRing: boolean): void {
    running.usesRing = usesRing;
    if (!usesRing) running.ring?.close();
    // It may wait for another process of this relay to end, and is silent meanwhile.
    this.#heartbeats.remove(running.worker);
    running.loaded.resolve();
  }

  #handleError(running: Running, error: Error): void {
    const { worker, loaded, ready } = running;
    if (worker.process.pid !== undefined) {
      this.#log.warn({ err: error, workerPid: worker.process.pid }, 'a worker process reported an error');
      return;
    }
    // The system has refused the process. There is no `exit` then, and node:cluster keeps its worker.
    delete cluster.workers?.[worker.id];
    this.#forget(running);
    this.#retryFork(error);
    loaded.reject(error);
    ready.reject(error);
  }

  /** A worker has ended, or is given up because it hangs: it is replaced. */
  #end(worker: Process, how: string): void {
    const running = this.#running.get(worker);
    if (!running) return;
    this.#forget(running);
    const error = new Error(`a worker ended before it was ready (${how})`);
    running.loaded.reject(error);
    running.ready.reject(error);
    if (!this.#draining) this.#replace(worker, how, performance.now() - running.startMs);
  }

  #forget({ worker, link, ring }: Running): void {
    this.#running.delete(worker);
    this.#confirmations.forget(worker);
    this.#ready.delete(worker);
    this.#samples.remove(worker);
    this.#heartbeats.remove(worker);
    if (link !== NO_LINK) this.#opened.master.turns.removeLink(link);
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
    this.#opened.master.turns.commit();
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
    if (this.#port === 0) return;
    this.#log.error({ workerPid: worker.process.pid, how, againMs }, 'a worker died; forking another');
    this.#forkLater(againMs);
  }

  /** The system has refused a process, for lack of memory, processes or files: others may free some. */
  #retryFork(error: Error): void {
    if (this.#port === 0 || this.#draining) return;
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
      this.#forkAgain().then(
        () => this.#log.info({ pids: this.pids }, 'worker ready'),
        (error) => {
          // A relay that stops kills a worker that is starting.
          if (!this.#draining) this.#log.error({ err: error }, 'a worker did not start');
        },
      );
    }, delayMs);
  }

  /** One that is forked before the ports are open is begun with the others. */
  async #forkAgain(): Promise<void> {
    const running = this.#fork();
    if (this.#parts) await this.#begin(running, this.#parts);
  }
}

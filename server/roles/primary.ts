/**
 * The primary process: the master with its front and admin port, and the workers it forks (or the one it is itself).
 *
 * Invariant: a worker that dies is forked again, unless the relay is going down. The relay goes down in this order:
 * nothing new is taken, parked polls are told to come back, what they still ask for is answered, then everything closes.
 */
import cluster, { type Worker as Process } from 'node:cluster';
import { randomFillSync, randomInt } from 'node:crypto';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { getHeapStatistics } from 'node:v8';
import type { Logger } from 'pino';
import { AggregatorRegistry, Registry } from 'prom-client';
import { TICK_MS } from '../domain/deadlines.ts';
import { Relay } from '../domain/relay.ts';
import { planFront } from '../front/choice.ts';
import type { Front, FrontHandlers, FrontListener } from '../front/front.ts';
import { whyNoNativeFront } from '../front/native.ts';
import { adminServer, adminToken } from './admin.ts';
import type { PublicAddresses } from './api.ts';
import { apiListener } from './api_listener.ts';
import {
  connectionsFor,
  connectionsWanted,
  desktopsFor,
  FILES_WISHED,
  fileLimit,
  pollsByHeap,
  pollsByMemory,
  slabBytes,
} from './capacity.ts';
import { masterGauges, workerGauges } from './gauges.ts';
import { IpcLink, receiveFrame } from './ipc.ts';
import { DirectUplink, Master } from './master.ts';
import { Worker } from './worker.ts';
import type { FromWorker, WorkerSettings } from './worker_process.ts';

/** What the relay does with the time between "no more" and the end, in ms. Together below the 5 s a stop may take. */
const LAST_POLLS_MS = 500; // polls on their way get what waits for them, or "come back later"
const LAST_ANSWERS_MS = 3_000; // answers on their way get out, connections close
/** How often the closing looks whether all is done. */
const CLOSING_STEP_MS = 20;

/** The most the relay's clock moves at once: a master that was stopped (a paused machine) must not take it for silence of its desktops. */
const CLOCK_STEP_MS_MAX = 1_000;

/** A worker that dies is forked again after this; twice as late each time it lived for less than RESTART_MS_MAX. */
const RESTART_MS = 100;
const RESTART_MS_MAX = 5_000;

export interface PrimaryOptions {
  port: number;
  eventsPort: number;
  adminPort: number;
  adminHost: string;
  host: string;
  publicUrl?: string;
  publicEventsUrl?: string;
  data: string;
  workers: number;
  front: 'auto' | 'native' | 'portable';
  maxDesktops?: number;
  adminTokenFile: string;
}

export interface Primary {
  /** Where a browser finds the site. */
  url: string;
  /** Takes the relay down; the same as POST /admin/drain. */
  stop(): void;
  /** Resolves when everything is closed. */
  stopped: Promise<void>;
}

/** Starts everything; resolves when the relay is ready. Throws what the system said when a port or file can't be had. */
export async function startPrimary(options: PrimaryOptions, log: Logger): Promise<Primary> {
  const token = adminToken(options.adminTokenFile);
  const files = fileLimit();
  const kind = options.front === 'portable' || whyNoNativeFront() ? 'portable' : 'native';
  const heapBytes = getHeapStatistics().heap_size_limit;
  const connectionsWished =
    options.maxDesktops === undefined ? connectionsFor(files) : connectionsWanted(options.maxDesktops);
  const plan = planFront(
    options.front,
    Math.min(connectionsWished, pollsByMemory(kind), pollsByHeap(kind, heapBytes)),
    connectionsFor(files),
    options.workers === 0,
  );
  const { connectionsMax } = plan;
  const slots = options.maxDesktops ?? desktopsFor(connectionsMax, 1 + options.workers);
  if (files < FILES_WISHED) {
    const remedy = `raise it with "ulimit -n ${1 << 16}" (or LimitNOFILE= of the service) before starting`;
    log.warn(
      { files, connectionsMax },
      `the file limit of ${files} allows ${connectionsMax} long-polls only; ${remedy}`,
    );
  }
  const master = new Master((answers) => makeRelay(slots, answers));
  const { relay } = master;

  const registry = new Registry();
  const cast: Cast = options.workers === 0 ? new OneProcess(master, registry) : new Cluster(master, options, log);
  const events: FrontListener = { host: options.host, port: options.eventsPort, shared: false, routes: 'events' };
  const handlers: FrontHandlers = { ...master.handlers, crossing: () => {} };
  const addresses = { url: options.publicUrl, eventsUrl: options.publicEventsUrl, eventsPort: 0, apiPort: 0 };
  const own = await cast.listener(options, addresses, log);
  const front = plan.make(own ? [events, own] : [events], own ? cast.handlers(handlers) : handlers);
  master.face(front);
  cast.face(front);
  const [eventsPort, ownPort] = await front.listen();
  addresses.eventsPort = eventsPort;
  addresses.apiPort = ownPort ?? (await cast.start(addresses));

  const stopClock = startClock((nowMs) => master.advance(nowMs));
  masterGauges(
    registry,
    relay,
    () => front,
    () => cast.readyCount,
  );
  const ports = { api: addresses.apiPort, events: eventsPort, admin: 0 };
  const stopped = Promise.withResolvers<void>();
  const stop = () => {
    if (!relay.draining) closeDown().then(stopped.resolve, stopped.reject);
  };
  const admin = adminServer({
    relay,
    log,
    token,
    data: options.data,
    metrics: async () => `${await registry.metrics()}\n${await cast.metrics()}`,
    status: () => ({ ready: !relay.draining && cast.readyCount > 0, draining: relay.draining, ports }),
    drain: stop,
  });
  admin.listen(options.adminPort, options.adminHost);
  await once(admin, 'listening');
  ports.admin = (admin.address() as AddressInfo).port;
  log.info(
    {
      ports,
      pids: { master: process.pid, workers: cast.pids() },
      front: { kind: plan.kind, threads: plan.threads, reason: plan.reason },
      capacity: { files, heapBytes, connections: connectionsMax, desktops: slots, mailboxBytes: slabBytes() },
      node: process.version,
      flags: process.execArgv,
    },
    'relay ready',
  );
  return { url: options.publicUrl ?? `http://localhost:${ports.api}`, stop, stopped: stopped.promise };

  async function closeDown(): Promise<void> {
    log.info({ desktops: relay.desktops.count, parked: relay.parkedCount, waiting: relay.waiting }, 'going down');
    cast.drain();
    master.drain();
    await sleep(LAST_POLLS_MS);
    front.drain();
    const untilMs = performance.now() + LAST_ANSWERS_MS;
    while ((front.gauges().waiting > 0 || cast.busy()) && performance.now() < untilMs) await sleep(CLOSING_STEP_MS);
    stopClock();
    await cast.close();
    await front.close();
    admin.closeAllConnections();
    admin.close();
    log.info({ counters: relay.counters, waiting: relay.waiting }, 'relay stopped');
  }
}

function makeRelay(slots: number, answers: ConstructorParameters<typeof Relay>[0]['answers']): Relay {
  return new Relay({
    slots,
    slabBytes: slabBytes(),
    epoch: randomInt(2 ** 32),
    generationBase: randomInt(1, 2 ** 31),
    nowMs: performance.now(),
    answers,
    randomize: randomFillSync,
    random: Math.random,
  });
}

/** Throws what the system says when somebody has the port. Workers share theirs, so they would share it with another relay too. */
async function mustBeFree(host: string, port: number): Promise<void> {
  const probe = net.createServer();
  try {
    await once(probe.listen({ host, port, exclusive: true }), 'listening');
    await once(probe.close(), 'close');
  } catch (error) {
    // A system without IPv6 has no `::`; the front knows what to bind instead.
    if ((error as NodeJS.ErrnoException).code !== 'EAFNOSUPPORT') throw error;
  }
}

/** Tells the time every tick, and again with each turn of the loop while `tell` says that more is due. Answers how to end it. */
function startClock(tell: (nowMs: number) => boolean): () => void {
  let nowMs = performance.now();
  let lastMs = nowMs;
  let again: NodeJS.Immediate | undefined;
  const step = () => {
    again = tell(nowMs) ? setImmediate(step) : undefined;
  };
  const ticks = setInterval(() => {
    const elapsedMs = performance.now() - lastMs;
    lastMs += elapsedMs;
    nowMs += Math.min(elapsedMs, CLOCK_STEP_MS_MAX);
    if (!again) step();
  }, TICK_MS);
  return () => {
    clearInterval(ticks);
    clearImmediate(again);
  };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Who plays the workers' part: this process, or others. */
interface Cast {
  readonly readyCount: number;
  /** The API listener of this process, if it is the worker itself. */
  listener(options: PrimaryOptions, addresses: PublicAddresses, log: Logger): Promise<FrontListener | undefined>;
  handlers(own: FrontHandlers): FrontHandlers;
  face(front: Front): void;
  /** Starts the workers; resolves to the port they listen on. */
  start(addresses: PublicAddresses): Promise<number>;
  pids(): number[];
  metrics(): Promise<string>;
  drain(): void;
  busy(): boolean;
  close(): Promise<void>;
}

/** `--workers 0`: the worker's part within the master, without a hop. */
class OneProcess implements Cast {
  readonly readyCount = 1;
  readonly #worker: Worker;
  readonly #registry: Registry;
  #front: Front | undefined;
  #closeSockets = () => {};

  constructor(master: Master, registry: Registry) {
    this.#worker = new Worker((answered) => new DirectUplink(master, answered));
    this.#registry = registry;
  }

  async listener(options: PrimaryOptions, addresses: PublicAddresses, log: Logger): Promise<FrontListener> {
    const at = { host: options.host, port: options.port, shared: false };
    const { listener, sockets } = await apiListener(this.#worker, options.data, addresses, at, log);
    this.#closeSockets = () => sockets.close();
    workerGauges(this.#registry, this.#worker, sockets, () => this.#front as Front);
    return listener;
  }

  handlers(own: FrontHandlers): FrontHandlers {
    return { ...own, crossing: this.#worker.handlers.crossing };
  }

  face(front: Front): void {
    this.#front = front;
    this.#worker.face(front);
  }

  start(addresses: PublicAddresses): Promise<number> {
    return Promise.resolve(addresses.apiPort);
  }

  pids(): number[] {
    return [];
  }

  metrics(): Promise<string> {
    return Promise.resolve('');
  }

  drain(): void {
    this.#worker.drain();
  }

  busy(): boolean {
    return this.#worker.pendingCount > 0;
  }

  async close(): Promise<void> {
    this.#closeSockets();
  }
}

/** One worker process a core, restarted when it dies. */
class Cluster implements Cast {
  readonly #master: Master;
  readonly #options: PrimaryOptions;
  readonly #log: Logger;
  readonly #ready = new Set<Process>();
  readonly #metrics = new AggregatorRegistry();
  #settings: WorkerSettings | undefined;
  #restartMs = RESTART_MS;
  #draining = false;

  constructor(master: Master, options: PrimaryOptions, log: Logger) {
    this.#master = master;
    this.#options = options;
    this.#log = log;
    cluster.setupPrimary({ serialization: 'advanced' });
  }

  get readyCount(): number {
    return this.#ready.size;
  }

  async listener(): Promise<undefined> {}

  handlers(own: FrontHandlers): FrontHandlers {
    return own;
  }

  face(): void {}

  /** The first worker picks the port when it is 0; the others share it. */
  async start(addresses: PublicAddresses): Promise<number> {
    const { host, data, front, port } = this.#options;
    if (port !== 0) await mustBeFree(host, port);
    this.#settings = { host, data, front, port, addresses: { ...addresses, apiPort: port } };
    const picked = await this.#fork();
    this.#settings.port = picked;
    this.#settings.addresses.apiPort = picked;
    await Promise.all(Array.from({ length: this.#options.workers - 1 }, () => this.#fork()));
    return picked;
  }

  pids(): number[] {
    return [...this.#ready].map((worker) => worker.process.pid as number);
  }

  metrics(): Promise<string> {
    return this.#ready.size > 0 ? this.#metrics.clusterMetrics() : Promise.resolve('');
  }

  drain(): void {
    this.#draining = true;
    for (const worker of this.#ready) worker.send({ type: 'drain' });
  }

  busy(): boolean {
    return this.#ready.size > 0;
  }

  async close(): Promise<void> {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL');
  }

  /** Forks a worker; resolves to its port when it is ready. Rejects when it dies before. */
  #fork(): Promise<number> {
    const bornMs = performance.now();
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
        this.#master.dropLink(link);
        reject(new Error(`a worker ended before it was ready (${signal ?? code})`));
        if (!this.#draining) this.#forkAgain(worker, `${signal ?? code}`, performance.now() - bornMs);
      });
    });
  }

  /** A worker that can't be answered is ended: its clients see their connections break, and throw again elsewhere. */
  #send(worker: Process, frame: Buffer): void {
    if (!worker.isConnected()) return;
    worker.send(frame, undefined, undefined, (error) => {
      if (!error) return;
      if (!worker.isDead()) this.#log.error({ err: error, pid: worker.process.pid }, 'a worker could not be answered');
      worker.process.kill('SIGKILL');
    });
  }

  #forkAgain(worker: Process, how: string, livedMs: number): void {
    this.#restartMs = livedMs < RESTART_MS_MAX ? Math.min(this.#restartMs * 2, RESTART_MS_MAX) : RESTART_MS;
    // Before the first worker has found its port, a failure is the start's, and told there.
    if (this.#settings?.port === 0) return;
    this.#log.error({ pid: worker.process.pid, how, againMs: this.#restartMs }, 'a worker died; forking another');
    setTimeout(() => {
      if (this.#draining) return;
      this.#fork().then(
        () => this.#log.info({ pids: this.pids() }, 'worker ready'),
        (error) => this.#log.error({ err: error }, 'a worker did not start'),
      );
    }, this.#restartMs);
  }
}

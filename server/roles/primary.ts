/** The primary process: starts the master with its workers, its admin port and its clock. shutdown.ts takes them down. */
import { randomBytes, randomFillSync, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { commit, VERSION } from '../../tools/version.js';
import type { Bucket } from '../cluster/bucket.ts';
import { Homes } from '../cluster/homes.ts';
import { OperatorRequests } from '../cluster/operator_requests.ts';
import type { PeerNetwork } from '../cluster/peer_network.ts';
import { beginMembership, Peering } from '../cluster/peering.ts';
import { SharedModeration } from '../cluster/shared_moderation.ts';
import { type Admission, Relay } from '../domain/relay.ts';
import type { SayingsOption } from '../domain/talk/hearers.ts';
import type { AnswerSink } from '../domain/way_down.ts';
import { type FrontPlan, planFront } from '../front/choice.ts';
import { connectionsFor, fileLimit } from '../front/file_limit.ts';
import { addon, whyNoNativeFront } from '../front/native.ts';
import { StrictAdmission } from '../http/admission.ts';
import { CHARACTERS_FOLDER } from '../http/site.ts';
import { masterGauges, workerGauges } from '../metrics/gauges.ts';
import { DELAY_STEP_MS, LoopDelay } from '../metrics/loop_delay.ts';
import { GalleryList } from '../moderation/gallery_list.ts';
import { ModerationList } from '../moderation/moderation_list.ts';
import { type ModerationMessage, Moderator } from '../moderation/moderator.ts';
import { adminServer } from '../operator/admin.ts';
import { adminToken } from '../operator/admin_token.ts';
import {
  connectionsForDesktops,
  desktopsFor,
  FILES_RECOMMENDED,
  pollsByHeap,
  pollsByMemory,
  slabBytes,
  whyFewerPolls,
} from '../operator/capacity.ts';
import { sampledGauges } from '../operator/sampled_gauges.ts';
import { Sampler } from '../operator/sampler.ts';
import type { PreparedWorkers, Workers, WorkersOptions, WorkersPlan } from '../operator/workers.ts';
import { Flights } from '../processes/flights.ts';
import { Master } from '../processes/master.ts';
import { Seats } from '../processes/seats.ts';
import { Turns } from '../processes/turns.ts';
import { FeedbackFile } from '../store/feedback_file.ts';
import { hashCharacters } from '../store/sprite_store.ts';
import { GENERATION_KEY_BYTES } from '../wire/generations.ts';
import { Clock } from './clock.ts';
import { type DurabilityOption, JOURNAL_FOLDER, Journaling } from './journaling.ts';
import { OneProcess } from './one_process.ts';
import { ResidentsProcess } from './residents_process.ts';
import { type Parts, type StopKind, shutDown } from './shutdown.ts';
import { hasSuccession, prepareNext } from './succession.ts';
import { WorkerPool } from './worker_pool.ts';

/** Bytes of the claims of all private worlds of a cluster: a million and a half of them, 180 bytes each. */
const HOMES_BYTES_MAX = 256 << 20;

/** Bytes of what operators have decided: four times the bans that one relay holds, and those that ended within thirty days. */
const MODERATION_BYTES_MAX = 16 << 20;

export interface PrimaryOptions extends WorkersOptions {
  adminPort: number;
  adminHost: string;
  maxDesktops?: number;
  adminTokenFile: string;
  durability: DurabilityOption;
  /** Who hears sayings. Default: everybody in private worlds, the four neighbours in the default world. */
  sayings?: SayingsOption;
  /** The name of this relay in its cluster. REQUIRED with `nats`. */
  relayName?: string;
  natsCredentials?: string;
  /** How far a sprite may be from where a watcher expects it before its stage is forwarded, in px; 'off': every stage is. */
  stageTolerance: number | 'off';
  /** How many residents keep people company. */
  residents: number;
  /** Seconds after which a parked poll is answered with a ping. */
  pingSeconds: number;
}

interface Primary {
  /** The URL of the site. */
  url: string;
  /** Takes the relay down; the same as POST /admin/drain. `again`: it is to be started again. */
  stop(again?: boolean): void;
  /** Resolves when everything is closed, to whether the relay is to be started again. */
  stopped: Promise<boolean>;
  /** Logs that the relay is ready. Call it when signals have handlers: a program that reads this line may send one at once. */
  announce(): void;
}

/** What a start has done before it needs the journal or a port. */
export interface Prepared {
  readonly token: string;
  readonly capacity: Capacity;
  /** The hashes of the pictures that ship with the relay. */
  readonly shipped: readonly string[];
  readonly workers: PreparedWorkers;
}

/** Does what needs neither the journal nor a port, while another process of this relay may serve yet. */
export async function preparePrimary(options: PrimaryOptions, log: Logger): Promise<Prepared> {
  const token = await adminToken(options.adminTokenFile, log);
  const capacity = planCapacity(options, log);
  commit(); // git is asked now
  const [shipped, workers] = await Promise.all([
    hashCharacters(CHARACTERS_FOLDER),
    (options.workers.count === 0 ? OneProcess : WorkerPool).prepare(options, log),
    options.nats === undefined || import('../cluster/nats.ts'),
  ]);
  return { token, capacity, shipped, workers };
}

/** Starts everything; resolves when the relay is ready. Throws the system's error when a port or file is not available. */
export async function startPrimary(
  options: PrimaryOptions,
  { token, capacity, shipped, workers: preparedWorkers }: Prepared,
  log: Logger,
): Promise<Primary> {
  const startMs = performance.now();
  const { turns, journaling, admission } = await startTurns(options, capacity, startMs, log);
  const { relay } = turns;
  const stopRequest = new StopRequest(log);
  const moderation = startModeration(options, turns, shipped, log, (message) => workers.moderate(message));
  const { moderator, lists, flights } = moderation;
  const seats = new Seats(relay, moderator, options.nats === undefined ? undefined : options.relayName);
  // Before the first request: a throw that another relay may have accepted must not be accepted again.
  const superseded = () => stopRequest.makeSuperseded();
  const cluster = await joinCluster(options, { turns, seats, gallery: lists.gallery, superseded }, log);
  const { peering, homes } = cluster;
  const master = new Master({ turns, seats, moderation: moderator, homes, files: peering, flights });
  const registry = new Registry();
  const setup = { master, plan: capacity.plan, options, registry, log, bans: () => moderator.copy };
  const workers: Workers = await preparedWorkers.start(setup);
  const others = openToCluster(cluster, options, workers.ports, moderator, log);
  // The relay's time stood still while it recovered and its workers started, so that no lease ran meanwhile.
  const loopDelay = new LoopDelay(DELAY_STEP_MS);
  const clock = startClock(startMs, turns, loopDelay, (nowMs) => {
    journaling?.tick(nowMs);
    flights.advance(nowMs, Date.now());
  });
  for (const part of [journaling, peering, homes]) part?.gauges(registry);
  const sampler = startSampling(registry, relay, workers, loopDelay, admission);
  const ports = { ...workers.ports, admin: 0 };
  const admin = adminServer({
    relay,
    moderator,
    log,
    token,
    data: options.data,
    metrics: () => registry.metrics(),
    processes: () => sampler.names,
    history: (after) =>
      sampler.history.document(after, {
        ...sampler.about,
        cluster: peering?.describe() ?? null,
        isJournalFull: journaling !== undefined && !journaling.journal.hasRoom,
        waiting: { reports: lists.list.reports.length, pictures: lists.gallery.waitingCount },
      }),
    status: () => ({ ready: !relay.draining && workers.readyCount > 0, draining: relay.draining, ports }),
    drain: (again) => stopRequest.make(again),
    compactJournal: async () => (await journaling?.compact()) ?? true,
    peering: () => peering,
    others,
  });
  if (options.publicUrl !== undefined) peering?.addresses.announce(options.publicUrl);
  admin.listen(options.adminPort, options.adminHost);
  await once(admin, 'listening');
  ports.admin = (admin.address() as AddressInfo).port;
  const residents = new ResidentsProcess(options, workers.ports, log);
  const supporting = { journaling, lists, sampler, clock, residents };
  const parts: Parts = { turns, workers, peering, homes, ...supporting, admin, options, log };
  return {
    url: options.publicUrl ?? `http://localhost:${ports.api}`,
    stop: (again) => stopRequest.make(again),
    stopped: stopRequest.made.then((request) => shutDown(parts, request)),
    announce: () => announce(capacity, options.workers, ports, workers, log),
  };
}

/** The clock of the relay; `advance` is called before the turns advance. */
function startClock(startMs: number, turns: Turns, loopDelay: LoopDelay, advance: (nowMs: number) => void): Clock {
  const { relay } = turns;
  const clock = new Clock(startMs, {
    advance: (nowMs) => {
      advance(nowMs);
      return turns.advance(nowMs);
    },
    isBusy: () => relay.draining || relay.delayedPolls.count > 0,
    quiet: (isQuiet) => loopDelay.pause(isQuiet),
  });
  turns.onActivity(clock.wake);
  return clock;
}

/** The first request to stop: by a signal, by the operator, or by a later relay that has taken over the name. */
class StopRequest {
  readonly #made = Promise.withResolvers<StopKind>();
  readonly #log: Logger;
  #isPreparing = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Resolves with the first request. */
  get made(): Promise<StopKind> {
    return this.#made.promise;
  }

  /** A restart waits until the next process has loaded, if the launcher can start one beside this. */
  make(again = false): void {
    if (again && hasSuccession()) void this.#prepareNext();
    else this.#made.resolve({ again, isFollowed: false, isSuperseded: false });
  }

  makeSuperseded(): void {
    this.#made.resolve({ again: false, isFollowed: false, isSuperseded: true });
  }

  async #prepareNext(): Promise<void> {
    if (this.#isPreparing) return;
    this.#isPreparing = true;
    this.#log.info('the next process of this relay loads; this one serves on until it has');
    if (await prepareNext()) this.#made.resolve({ again: true, isFollowed: true, isSuperseded: false });
    else {
      this.#log.error('the next process of this relay did not start, so this one serves on');
      this.#isPreparing = false;
    }
  }
}

/** What this process can hold. */
interface Capacity {
  readonly plan: FrontPlan;
  readonly slots: number;
  readonly files: number;
  readonly heapBytes: number;
}

/** Plans what this process can hold, and logs what is less than was asked for, with the remedy. */
function planCapacity(options: PrimaryOptions, log: Logger): Capacity {
  const files = fileLimit();
  const kind = options.front === 'portable' || whyNoNativeFront() ? 'portable' : 'native';
  const heapBytes = getHeapStatistics().heap_size_limit;
  const connectionsRequested =
    options.maxDesktops === undefined ? connectionsFor(files) : connectionsForDesktops(options.maxDesktops);
  const [byMemory, byHeap] = [pollsByMemory(kind), pollsByHeap(kind, heapBytes)];
  const connections = Math.min(connectionsRequested, byMemory, byHeap);
  const plan = planFront(options.front, connections, connectionsFor(files), options.workers.count === 0);
  const { connectionsMax } = plan;
  const slots = options.maxDesktops ?? desktopsFor(connectionsMax, 1 + options.workers.count);
  if (files < FILES_RECOMMENDED) {
    const remedy = `raise it with "ulimit -n ${1 << 16}" (or LimitNOFILE= of the service) before starting`;
    log.warn(
      { files, connectionsMax },
      `the file limit of ${files} allows ${connectionsMax} long-polls only; ${remedy}`,
    );
  }
  const whyFewer = whyFewerPolls(slots, { connections: connectionsMax, byMemory, byHeap });
  if (options.maxDesktops !== undefined && whyFewer !== undefined) log.warn({ connectionsMax }, whyFewer);
  return { plan, slots, files, heapBytes };
}

/** Makes the relay with what its journal has of it. */
async function startTurns(
  options: PrimaryOptions,
  { plan, slots }: Capacity,
  startMs: number,
  log: Logger,
): Promise<{ turns: Turns; journaling?: Journaling; admission?: StrictAdmission }> {
  const { data, durability } = options;
  const admission = options.admission === 'strict' ? new StrictAdmission(slots) : undefined;
  const calls = plan.kind === 'native' ? addon() : undefined;
  const journaling = durability === 'none' ? undefined : new Journaling(data, durability, log, calls);
  if (!journaling && existsSync(join(data, JOURNAL_FOLDER))) {
    log.warn('with --durability none the relay starts empty: it neither reads nor writes the journal that is there');
  }
  await journaling?.lockCopies();
  const state = journaling?.journal ?? newState();
  const turns = new Turns(
    (answers) => makeRelay(slots, startMs, answers, state, admission, options),
    journaling?.journal,
  );
  journaling?.recover(turns.relay, startMs);
  const frames = turns.relay.peerMemory.inFlight;
  if (options.nats === undefined && frames > 0) {
    log.warn(
      { frames },
      'sprites on their way to other relays have no verdict yet; without --nats they get none, and those that are thrown again may be doubled',
    );
  }
  return { turns, journaling, admission };
}

/** The files of what operators and users have decided and said. */
interface Lists {
  readonly list: ModerationList;
  readonly gallery: GalleryList;
  readonly feedback: FeedbackFile;
}

/** `send` tells the workers. */
function startModeration(
  { data }: PrimaryOptions,
  turns: Turns,
  shipped: readonly string[],
  log: Logger,
  send: (message: ModerationMessage) => Promise<void>,
): { moderator: Moderator; lists: Lists; flights: Flights } {
  const lists = {
    list: new ModerationList(data, log),
    gallery: new GalleryList(data, log),
    feedback: new FeedbackFile(data, log),
  };
  const flights = new Flights(turns.relay);
  const moderator = new Moderator({ turns, ...lists, flights, shipped, log, send });
  return { moderator, lists, flights };
}

/** Registers the metrics of the master, and begins its history. */
function startSampling(
  registry: Registry,
  relay: Relay,
  workers: Workers,
  loopDelay: LoopDelay,
  admission?: StrictAdmission,
): Sampler {
  const { front } = workers;
  masterGauges(registry, {
    relay,
    front,
    workers: () => workers.readyCount,
    loopDelay: loopDelay.reader(),
    admission,
  });
  workerGauges(registry, () => workers.samples());
  const joinsRefused = () => admission?.refused ?? 0;
  const sampler = new Sampler({ relay, front, workers, loopDelay: loopDelay.reader(), joinsRefused });
  sampledGauges(registry, sampler);
  sampler.start();
  return sampler;
}

/** Tells the other relays where this one is, now that its ports are open, and shares moderation with them. */
function openToCluster(
  { peering, homes, decisions, network }: ClusterParts,
  { publicUrl: url, publicEventsUrl: eventsUrl, relayName }: PrimaryOptions,
  ports: Workers['ports'],
  moderator: Moderator,
  log: Logger,
): OperatorRequests | undefined {
  homes?.open({
    addresses: { url, eventsUrl, apiPort: ports.api, eventsPort: ports.events },
    end: (slots, detail) => moderator.end(slots, detail),
  });
  const name = relayName as string;
  if (decisions) new SharedModeration({ name, bucket: decisions, moderator, log });
  if (!network || !peering) return undefined;
  const { membership, files } = peering;
  return new OperatorRequests({ name, network, moderator, log, membership, files });
}

function announce(
  { plan, slots, files, heapBytes }: Capacity,
  planned: WorkersPlan,
  ports: { api: number; events: number; admin: number },
  workers: Workers,
  log: Logger,
): void {
  log.info(
    {
      ports,
      pids: { master: process.pid, workers: workers.pids },
      front: { kind: plan.kind, threads: plan.threads, reason: plan.reason },
      workers: planned,
      ipc: workers.ipc,
      capacity: { files, heapBytes, connections: plan.connectionsMax, desktops: slots, mailboxBytes: slabBytes() },
      version: VERSION,
      commit: commit(),
      node: process.version,
      flags: process.execArgv,
    },
    'relay ready',
  );
}

/** What ties this relay to the others of its cluster; nothing without one. */
interface ClusterParts {
  readonly peering?: Peering;
  readonly homes?: Homes;
  readonly decisions?: Bucket;
  readonly network?: PeerNetwork;
}

/** What of this relay is tied to the others. */
interface Joining {
  readonly turns: Turns;
  readonly seats: Seats;
  readonly gallery: GalleryList;
  superseded(): void;
}

/** Joins the cluster, if there is one. NATS's client is loaded only then. */
async function joinCluster(
  { nats, relayName = '', natsCredentials: credentials, data }: PrimaryOptions,
  { turns, seats, gallery, superseded }: Joining,
  log: Logger,
): Promise<ClusterParts> {
  if (nats === undefined) return {};
  const { NatsNetwork } = await import('../cluster/nats.ts');
  const network = new NatsNetwork({ url: nats, name: `sprites ${relayName}`, credentials }, log);
  const membership = beginMembership(relayName, turns.relay);
  const bucket = network.bucket('sprites-homes', HOMES_BYTES_MAX);
  const homes = new Homes({ name: relayName, turns, seats, membership, network, bucket, log });
  const forgotten = (name: string) => {
    homes
      .forget(name)
      .catch((err) =>
        log.warn({ err, relay: name }, 'the claims of a forgotten relay are not removed; the next joins do it'),
      );
  };
  const listedAt = (file: string) => gallery.relayOf(file);
  const peering = new Peering({ turns, membership, network, data, log, superseded, forgotten, listedAt });
  return { peering, homes, decisions: network.bucket('sprites-moderation', MODERATION_BYTES_MAX), network };
}

/** What identifies the state of a relay, here of one that begins. */
function newState(): { epoch: number; generationKey: Uint8Array } {
  return { epoch: randomInt(2 ** 32), generationKey: randomBytes(GENERATION_KEY_BYTES) };
}

function makeRelay(
  slots: number,
  nowMs: number,
  answers: AnswerSink,
  { epoch, generationKey }: ReturnType<typeof newState>,
  admission: Admission | undefined,
  { sayings, stageTolerance, pingSeconds }: PrimaryOptions,
): Relay {
  return new Relay({
    slots,
    slabBytes: slabBytes(),
    epoch,
    generationKey,
    nowMs,
    answers,
    randomize: randomFillSync,
    random: Math.random,
    admission,
    sayings,
    peeks: { tolerancePx: stageTolerance },
    pingMs: pingSeconds * 1000,
    preciseMs: () => performance.now(),
  });
}

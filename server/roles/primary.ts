/**
 * The primary process: the master with its workers, its admin port and its clock; starts them and takes them down.
 *
 * The relay goes down in this order: new requests are refused, parked polls are told to come back later, pending requests
 * are answered, then everything closes. In a cluster, a relay that is not started again also hands on what waits in its mailboxes, and gives
 * up its private worlds.
 */
import { randomBytes, randomFillSync, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import type { Bucket } from '../cluster/bucket.ts';
import { Homes } from '../cluster/homes.ts';
import type { PeerNetwork } from '../cluster/network.ts';
import { OperatorRequests } from '../cluster/operator_requests.ts';
import { Peering } from '../cluster/peering.ts';
import { SharedModeration } from '../cluster/shared_moderation.ts';
import type { SayingsOption } from '../domain/hearers.ts';
import { type Admission, type AnswerSink, Relay } from '../domain/relay.ts';
import { planFront } from '../front/choice.ts';
import { addon, whyNoNativeFront } from '../front/native.ts';
import { StrictAdmission } from '../http/admission.ts';
import { CHARACTERS_FOLDER } from '../http/site.ts';
import { masterGauges } from '../metrics/gauges.ts';
import { DELAY_STEP_MS, LoopDelay } from '../metrics/loop_delay.ts';
import { GalleryList } from '../moderation/gallery_list.ts';
import { ModerationList } from '../moderation/moderation_list.ts';
import { type ModerationMessage, Moderator } from '../moderation/moderator.ts';
import { adminServer } from '../operator/admin.ts';
import { adminToken } from '../operator/admin_token.ts';
import {
  connectionsFor,
  connectionsForDesktops,
  desktopsFor,
  FILES_RECOMMENDED,
  fileLimit,
  pollsByHeap,
  pollsByMemory,
  slabBytes,
  whyFewerPolls,
} from '../operator/capacity.ts';
import { sampledGauges } from '../operator/sampled_gauges.ts';
import { Sampler } from '../operator/sampler.ts';
import type { Workers, WorkersOptions } from '../operator/workers.ts';
import { Flights } from '../processes/flights.ts';
import { Master } from '../processes/master.ts';
import { FeedbackFile } from '../store/feedback_file.ts';
import { hashCharacters } from '../store/sprite_store.ts';
import { GENERATION_KEY_BYTES } from '../wire/generations.ts';
import { startClock } from './clock.ts';
import { CLOSING_STEP_MS, LAST_POLLS_MS, waitsOn } from './closing.ts';
import { Cluster } from './cluster.ts';
import { type DurabilityOption, JOURNAL_FOLDER, Journaling } from './journaling.ts';
import { OneProcess } from './one_process.ts';

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
  /** Seconds after which a parked poll is answered with a ping. */
  pingSeconds: number;
}

export interface Primary {
  /** The URL of the site. */
  url: string;
  /** Takes the relay down; the same as POST /admin/drain. `again`: it is to be started again. */
  stop(again?: boolean): void;
  /** Resolves when everything is closed, to whether the relay is to be started again. */
  stopped: Promise<boolean>;
  /** Logs that the relay is ready. Call it when signals have handlers: a program that reads this line may send one at once. */
  announce(): void;
}

/** Starts everything; resolves when the relay is ready. Throws the system's error when a port or file is not available. */
export async function startPrimary(options: PrimaryOptions, log: Logger): Promise<Primary> {
  const token = adminToken(options.adminTokenFile, log);
  const files = fileLimit();
  const kind = options.front === 'portable' || whyNoNativeFront() ? 'portable' : 'native';
  const heapBytes = getHeapStatistics().heap_size_limit;
  const connectionsRequested =
    options.maxDesktops === undefined ? connectionsFor(files) : connectionsForDesktops(options.maxDesktops);
  const [byMemory, byHeap] = [pollsByMemory(kind), pollsByHeap(kind, heapBytes)];
  const plan = planFront(
    options.front,
    Math.min(connectionsRequested, byMemory, byHeap),
    connectionsFor(files),
    options.workers === 0,
  );
  const { connectionsMax } = plan;
  const slots = options.maxDesktops ?? desktopsFor(connectionsMax, 1 + options.workers);
  if (files < FILES_RECOMMENDED) {
    const remedy = `raise it with "ulimit -n ${1 << 16}" (or LimitNOFILE= of the service) before starting`;
    log.warn(
      { files, connectionsMax },
      `the file limit of ${files} allows ${connectionsMax} long-polls only; ${remedy}`,
    );
  }
  const whyFewer = whyFewerPolls(slots, { connections: connectionsMax, byMemory, byHeap });
  if (options.maxDesktops !== undefined && whyFewer !== undefined) log.warn({ connectionsMax }, whyFewer);
  const admission = options.admission === 'strict' ? new StrictAdmission(slots) : undefined;
  const { durability } = options;
  const calls = plan.kind === 'native' ? addon() : undefined;
  const journaling = durability === 'none' ? undefined : new Journaling(options.data, durability, log, calls);
  if (!journaling && existsSync(join(options.data, JOURNAL_FOLDER))) {
    log.warn('with --durability none the relay starts empty: it neither reads nor writes the journal that is there');
  }
  const startMs = performance.now();
  const state = journaling?.journal ?? newState();
  const master = new Master((answers) => makeRelay(slots, startMs, answers, state, admission, options));
  const { relay } = master;
  if (journaling) {
    journaling.recover(relay, startMs);
    master.setCommitting(journaling.journal);
  }
  if (options.nats === undefined && relay.peerMemory.inFlight > 0) {
    log.warn(
      { frames: relay.peerMemory.inFlight },
      'sprites on their way to other relays have no verdict yet; without --nats they get none, and those that are thrown again may be doubled',
    );
  }
  // Before the first request: a throw that another relay may have accepted must not be accepted again.
  let isSuperseded = false;
  const { peering, homes, decisions, network } = await startPeering(options, master, log, () => {
    isSuperseded = true;
    stop();
  });
  const list = new ModerationList(options.data, log);
  const gallery = new GalleryList(options.data, log);
  const feedback = new FeedbackFile(options.data, log);
  const flights = new Flights();
  master.setFlights(flights);
  const shipped = await hashCharacters(CHARACTERS_FOLDER);
  const send = (message: ModerationMessage) => workers.moderate(message);
  const moderator = new Moderator({ master, list, gallery, feedback, flights, shipped, log, send });
  master.setModeration(moderator);
  const registry = new Registry();
  const setup = { master, plan, options, registry, log, bans: () => moderator.copy };
  const workers: Workers = await (options.workers === 0 ? OneProcess : Cluster).start(setup);
  const { front } = workers;
  const { publicUrl: url, publicEventsUrl: eventsUrl } = options;
  homes?.open({
    addresses: { url, eventsUrl, apiPort: workers.ports.api, eventsPort: workers.ports.events },
    end: (slots, detail) => moderator.end(slots, detail),
  });
  const name = options.relayName as string;
  if (decisions) new SharedModeration({ name, bucket: decisions, moderator, log });
  if (peering) peering.listedAt = (file) => gallery.relayOf(file);
  const others =
    network &&
    peering &&
    new OperatorRequests({
      name,
      network,
      moderator,
      log,
      membership: peering.membership,
      files: peering.files,
    });
  // The relay's time stood still while it recovered and its workers started, so that no lease ran meanwhile.
  const stopClock = startClock(startMs, (nowMs) => {
    journaling?.journal.tick(nowMs);
    return master.advance(nowMs);
  });
  const loopDelay = new LoopDelay(DELAY_STEP_MS);
  masterGauges(
    registry,
    relay,
    () => front,
    () => workers.readyCount,
    loopDelay.reader(),
    admission,
  );
  journaling?.gauges(registry);
  peering?.gauges(registry);
  homes?.gauges(registry);
  const sampler = new Sampler({
    relay,
    front,
    workers,
    loopDelay: loopDelay.reader(),
    joinsRefused: () => admission?.refused ?? 0,
  });
  sampledGauges(registry, sampler);
  sampler.start();
  const ports = { ...workers.ports, admin: 0 };
  const stopped = Promise.withResolvers<boolean>();
  const stop = (again = false) => {
    if (!relay.draining) closeDown(again).then(() => stopped.resolve(again), stopped.reject);
  };
  const admin = adminServer({
    relay,
    moderator,
    log,
    token,
    data: options.data,
    metrics: () => workers.metrics(),
    processes: () => sampler.names,
    history: (after) => sampler.history.document(after, { ...sampler.about, cluster: peering?.describe() ?? null }),
    status: () => ({ ready: !relay.draining && workers.readyCount > 0, draining: relay.draining, ports }),
    drain: stop,
    peering: () => peering,
    others,
  });
  if (options.publicUrl !== undefined) peering?.addresses.announce(options.publicUrl);
  admin.listen(options.adminPort, options.adminHost);
  await once(admin, 'listening');
  ports.admin = (admin.address() as AddressInfo).port;
  const announce = () =>
    log.info(
      {
        ports,
        pids: { master: process.pid, workers: workers.pids },
        front: { kind: plan.kind, threads: plan.threads, reason: plan.reason },
        ipc: workers.ipc,
        capacity: { files, heapBytes, connections: connectionsMax, desktops: slots, mailboxBytes: slabBytes() },
        node: process.version,
        flags: process.execArgv,
      },
      'relay ready',
    );
  return { url: options.publicUrl ?? `http://localhost:${ports.api}`, stop, stopped: stopped.promise, announce };

  async function closeDown(again: boolean): Promise<void> {
    const { parkedCount, waiting } = relay;
    log.info({ desktops: relay.desktops.count, parked: parkedCount, waiting, again }, 'going down');
    workers.drain();
    const handsOver = !again && peering?.reachesOthers === true;
    // Where sprites can't follow, desktops are not sent.
    master.drain(handsOver ? peering.addresses.others() : []);
    peering?.leave();
    await sleep(LAST_POLLS_MS);
    if (handsOver) relay.handOver();
    // The claims of a relay that was superseded are those of the later one, which has its name.
    let isGivingUp = homes !== undefined && !again && !isSuperseded;
    if (isGivingUp) {
      void homes?.giveUp().then((worlds) => {
        isGivingUp = false;
        if (worlds > 0)
          log.info({ worlds }, 'private worlds of this relay have no home now; the next joins give them one');
      });
    }
    front.drain();
    const drainedMs = performance.now();
    const isAnswering = () => front.gauges().waiting > 0 || workers.isBusy();
    // The first desktop may join another relay only now.
    const isHanding = () => isGivingUp || (handsOver && !relay.isHandedOver && peering.hasOthers);
    while (waitsOn(performance.now() - drainedMs, parkedCount, isAnswering(), isHanding()))
      await sleep(CLOSING_STEP_MS);
    if (handsOver) {
      const { handed } = peering.peers.counters;
      log.info({ handed, waiting: relay.waiting }, 'handed sprites on to other relays');
    }
    if (peering && !again) warnOfWaiting(relay, options, log);
    stopClock();
    sampler.stop();
    workers.close();
    await front.close();
    await peering?.close();
    await Promise.all([list.close(), gallery.close(), feedback.close()]);
    await journaling?.close();
    admin.closeAllConnections();
    admin.close();
    log.info({ counters: relay.counters, waiting: relay.waiting }, 'relay stopped');
  }
}

/** A relay of a cluster stops for good: says what nobody gets until it is started again. */
function warnOfWaiting(relay: Relay, { data, durability }: PrimaryOptions, log: Logger): void {
  const inCustody = relay.peerMemory.custody.size;
  if (relay.waiting + inCustody === 0) return;
  const { mailboxes, worlds } = relay.waitingIn;
  const left = { sprites: relay.waiting + inCustody, desktops: mailboxes, worlds };
  if (durability === 'none')
    log.warn(left, 'sprites that were accepted are lost: this relay stops, and has no journal');
  else {
    log.warn(
      { ...left, journal: join(data, JOURNAL_FOLDER) },
      'sprites that were accepted stay in the journal of this relay, which stops; start it again with it, and they go on',
    );
  }
}

/** Joins the cluster, if there is one. NATS's client is loaded only then. */
async function startPeering(
  { nats, relayName = '', natsCredentials: credentials, data }: PrimaryOptions,
  master: Master,
  log: Logger,
  superseded: () => void,
): Promise<{ peering?: Peering; homes?: Homes; decisions?: Bucket; network?: PeerNetwork }> {
  if (nats === undefined) return {};
  const { NatsNetwork } = await import('../cluster/nats.ts');
  const network = new NatsNetwork({ url: nats, name: `sprites ${relayName}`, credentials }, log);
  const peering = new Peering({ name: relayName, master, network, data, log, superseded });
  const bucket = network.bucket('sprites-homes', HOMES_BYTES_MAX);
  const homes = new Homes({ name: relayName, master, membership: peering.membership, network, bucket, log });
  peering.forgotten = (name) => {
    homes
      .forget(name)
      .catch((err) =>
        log.warn({ err, relay: name }, 'the claims of a forgotten relay are not removed; the next joins do it'),
      );
  };
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

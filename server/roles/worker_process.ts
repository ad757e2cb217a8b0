/**
 * A worker process: a worker with its own front and an uplink over IPC to the master.
 */
import { ok } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { planFront } from '../front/choice.ts';
import { connectionsFor, fileLimit } from '../front/file_limit.ts';
import type { Front, FrontListener } from '../front/front.ts';
import { openListener } from '../front/native.ts';
import type { AdmissionKind } from '../http/admission.ts';
import type { PublicAddresses } from '../http/api.ts';
import { type ApiListener, type ApiSetup, makeApiListener, openPictures } from '../http/api_listener.ts';
import { ClientAddresses, warnOfForwarded } from '../http/client_address.ts';
import { type Malformed, Worker } from '../http/worker.ts';
import { SAMPLE_MS } from '../metrics/history.ts';
import { LoopDelay, WORKER_DELAY_STEP_MS } from '../metrics/loop_delay.ts';
import { type SampledParts, takeSample, type WorkerSample } from '../metrics/worker_samples.ts';
import type { ModerationMessage } from '../moderation/moderator.ts';
import { pollsByMemory } from '../operator/capacity.ts';
import { answerRequests } from '../operator/process_requests.ts';
import { connectionsPerAddress, workerAdmission } from '../operator/workers.ts';
import { type FrameReceiver, FrameRing } from '../processes/frame_ring.ts';
import { HEARTBEAT_MS } from '../processes/heartbeats.ts';
import { IpcUplink } from '../processes/ipc.ts';
import { PendingRequests } from '../processes/pending.ts';
import type { Pictures } from '../wire/pictures.ts';
import { CLOSING_STEP_MS, LAST_ANSWERS_MS, LAST_POLLS_MS } from './closing.ts';

/** The settings that the master passes to a worker in the environment variable SPRITES_WORKER. */
export interface WorkerSettings {
  host: string;
  data: string;
  front: 'auto' | 'native' | 'portable';
  addresses: PublicAddresses;
  operator: ApiSetup['operator'];
  admission: AdmissionKind;
  trustProxy: readonly string[];
  pictures: Pictures;
  isInCluster: boolean;
  /** The descriptors of the worker's end of the ring; undefined when frames go through the channel. */
  ring?: readonly number[];
}

/**
 * Messages from the master to a worker, beside frames. One with a number is answered with `done` and that number. A worker that has loaded gets
 * the bans first, with the number 0, and then `open`.
 */
export type ToWorker =
  /** Opens its port: 0 picks a free one. */
  | { type: 'open'; port: number; eventsPort: number }
  /** Listens on its port beside a worker of the process before: who connects waits until it opens. */
  | { type: 'listen'; number: number; port: number }
  /** As Workers.giveWay(). */
  | { type: 'give-way'; number: number }
  /** `again`: the next process of the relay is to open the port soon. */
  | { type: 'drain'; again: boolean }
  | { type: 'moderation'; number: number; message: ModerationMessage };

/** Messages from a worker to the master, beside frames. */
export type FromWorker =
  /** It has loaded. */
  | { type: 'starting'; ring: boolean }
  | { type: 'ready'; port: number }
  | { type: 'failed'; why: string }
  /** It runs, and how. */
  | { type: 'alive'; sample: WorkerSample; malformed: Malformed }
  | { type: 'done'; number: number };

/** How long a draining worker still reads requests that have begun, in ms: a little less than the master gives its last polls. */
const LAST_REQUESTS_MS = 400;
ok(LAST_REQUESTS_MS < LAST_POLLS_MS);

/** Sends a message to the master. Without a master it does nothing: this process is about to end. */
function send(message: FromWorker): void {
  // The callback receives the error of a master that ends meanwhile; without it the error would end this process.
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

/** Sends a frame through the channel. */
function sendFrame(frame: Buffer, done: (failed: boolean) => void): void {
  if (!process.connected || !process.send) done(true);
  else process.send(frame, undefined, undefined, (error) => done(Boolean(error)));
}

export async function startWorker(settings: WorkerSettings, log: Logger): Promise<void> {
  const pictures = await openPictures(settings.data, settings.pictures, log);
  const pending = new PendingRequests();
  let front: Front;
  const ring = openRing(
    settings,
    {
      frame: (frame) => uplink.receive(frame),
      turn: () => front.flush(),
      broken: (why) => {
        throw new Error(`the master sent a malformed frame: ${why}`);
      },
    },
    log,
  );
  const uplink = new IpcUplink(ring ? (frame, done) => ring.send(frame, () => done(false)) : sendFrame, pending);
  const worker = new Worker(uplink, pending, pictures.gate);
  worker.isInCluster = settings.isInCluster;
  const admission = workerAdmission(settings);
  const api = makeApiListener({
    worker,
    pictures,
    addresses: settings.addresses,
    operator: settings.operator,
    at: { host: settings.host, port: 0, shared: true },
    log,
    clients: new ClientAddresses(settings.trustProxy, warnOfForwarded(log)),
    admission,
  });
  front = makeFront(settings, worker, api.listener);
  worker.setFront(front);
  const told = obeyMaster({ worker, uplink, front, ...api });
  // Without a master no request can be answered. Clients reconnect and reach another worker, if the relay still runs.
  process.on('disconnect', () => process.exit(0));
  try {
    send({ type: 'starting', ring: ring !== undefined });
    const opened = await told;
    settings.addresses.eventsPort = opened.eventsPort;
    api.listener.port = opened.port;
    const [port] = await front.listen();
    settings.addresses.apiPort = port;
    send({ type: 'ready', port });
    sendHeartbeats({ worker, front, sockets: api.sockets, store: pictures.store, admission });
    answerRequests();
  } catch (error) {
    send({ type: 'failed', why: (error as Error).message });
    process.exitCode = 1;
    process.disconnect?.();
  }
}

/** Tells the master from now on that this process runs, and how. */
function sendHeartbeats(parts: SampledParts): void {
  const delay = new LoopDelay(WORKER_DELAY_STEP_MS);
  const longestBlock = delay.reader();
  let loopDelayMaxSeconds = 0;
  let beats = 0;
  const beat = () => {
    if (beats++ % (SAMPLE_MS / HEARTBEAT_MS) === 0) loopDelayMaxSeconds = longestBlock();
    const sample = takeSample(parts, loopDelayMaxSeconds);
    send({ type: 'alive', sample, malformed: parts.worker.takeMalformed() });
    delay.pause(sample.connections === 0 && sample.sockets === 0);
  };
  beat();
  setInterval(beat, HEARTBEAT_MS).unref();
}

/** What a worker is made of, as far as its master tells it what to do. */
interface Parts extends ApiListener {
  readonly worker: Worker;
  readonly uplink: IpcUplink;
  readonly front: Front;
}

/** Opens the worker's end of the ring. If that fails (say, because the addon was built again meanwhile), frames go through the channel. */
function openRing({ ring }: WorkerSettings, receiver: FrameReceiver, log: Logger): FrameRing | undefined {
  if (!ring) return undefined;
  try {
    return new FrameRing(receiver, ring);
  } catch (error) {
    log.warn({ err: error }, 'the shared memory cannot be opened; frames go through the channel');
    return undefined;
  }
}

/** Makes the front of the API. */
function makeFront(settings: WorkerSettings, { handlers }: Worker, listener: FrontListener): Front {
  // A connection to the API needs no more memory than a parked poll.
  const connections = Math.min(connectionsFor(fileLimit()), pollsByMemory('portable'));
  // A worker passes most requests on to express and ws, so its front runs on the same thread.
  const plan = planFront(settings.front, connections, connections, true);
  return plan.make(
    [listener],
    { ...handlers, poll: () => {}, closed: () => {}, outdated: () => {} },
    connectionsPerAddress(settings),
  );
}

/** Does from now on what the master tells. Resolves when it has told to open the port. */
function obeyMaster(parts: Parts): Promise<Extract<ToWorker, { type: 'open' }>> {
  const { worker, uplink, front, listener, moderate } = parts;
  const opened = Promise.withResolvers<Extract<ToWorker, { type: 'open' }>>();
  process.on('message', (message: Uint8Array | ToWorker) => {
    if (message instanceof Uint8Array) {
      uplink.receive(message);
      front.flush();
    } else if (message?.type === 'open') opened.resolve(message);
    else if (message?.type === 'drain') void closeDown(parts, message.again ? 0 : LAST_REQUESTS_MS);
    else if (message?.type === 'moderation') void done(message, moderate(message.message));
    else if (message?.type === 'listen') void done(message, listenBeside(listener, message.port));
    else if (message?.type === 'give-way') void done(message, worker.giveWay());
  });
  return opened.promise;
}

/** Tells the master when this worker has done what a message says. */
async function done({ number }: { number: number }, acting: Promise<void>): Promise<void> {
  await acting;
  send({ type: 'done', number });
}

async function listenBeside(listener: FrontListener, port: number): Promise<void> {
  // What keeps it from listening now is said when it opens its port.
  listener.descriptor = await openListener(listener.host, port).catch(() => undefined);
}

/** Answers what is left, and lets the process end. Requests that have half arrived have so many ms. */
async function closeDown({ worker, front, sockets }: Parts, lastRequestsMs: number): Promise<void> {
  worker.drain();
  front.drain();
  // A request that has half arrived is refused when it is complete, not cut off.
  await sleep(lastRequestsMs);
  const untilMs = performance.now() + LAST_ANSWERS_MS;
  const isBusy = () => worker.pendingCount > 0 || front.gauges().waiting > 0;
  while (isBusy() && performance.now() < untilMs) await sleep(CLOSING_STEP_MS);
  sockets.close();
  await sleep(CLOSING_STEP_MS);
  process.disconnect?.();
}

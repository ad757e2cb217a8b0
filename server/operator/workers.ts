/**
 * The workers: the part of a relay that handles every request but the long-polls.
 *
 * There are two: `WorkerPool` (worker_pool.ts) runs them as processes, `OneProcess` (one_process.ts) runs one inside the master.
 * Each also starts the front of the long-polls, because in one process both ports belong to the same front.
 */
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { FrontPlan } from '../front/choice.ts';
import type { Front, FrontListener } from '../front/front.ts';
import { whyNoNativeFront } from '../front/native.ts';
import { type AdmissionKind, CONNECTIONS_MAX, WorkerAdmission } from '../http/admission.ts';
import type { PublicAddresses } from '../http/api.ts';
import type { Malformed } from '../http/worker.ts';
import type { Refusals, WorkerSample } from '../metrics/worker_samples.ts';
import type { ModerationCopy } from '../moderation/bans.ts';
import type { ModerationMessage } from '../moderation/moderator.ts';
import type { Master } from '../processes/master.ts';
import type { Pictures } from '../wire/pictures.ts';

/**
 * The least number of cores with which `--workers auto` starts workers. On fewer, measured with the clients on the same cores, one process
 * carries more than a cluster, and a sprite costs less: half as much at 2,000 a second. DECISIONS.md (Processes and libraries) says where.
 */
export const CLUSTER_CORES_MIN = 3;

/** How many workers a relay has, and why: a sentence for the log. */
export interface WorkersPlan {
  readonly count: number;
  readonly cores: number;
  readonly reason: string;
}

/**
 * Plans the workers on so many cores.
 *
 * Shape   `cores`: those that this process may use, by its affinity and the CPU limit of its container; os.availableParallelism() has both.
 */
export function planWorkers(wanted: number | 'auto', cores: number): WorkersPlan {
  if (wanted !== 'auto') return { count: wanted, cores, reason: `asked for by --workers ${wanted}` };
  const allowed = `this process may use ${cores} core${cores === 1 ? '' : 's'}`;
  if (cores < CLUSTER_CORES_MIN) {
    return { count: 0, cores, reason: `${allowed}, and below ${CLUSTER_CORES_MIN} one process is the cheapest` };
  }
  return { count: cores - 1, cores, reason: `${allowed}: one for the master, and a worker on each of the others` };
}

/** How the master and its workers exchange frames: through shared memory, or through Node's channel. */
export type IpcKind = 'ring' | 'channel';

export interface WorkersOptions {
  port: number;
  eventsPort: number;
  host: string;
  publicUrl?: string;
  publicEventsUrl?: string;
  /** Where visitors reach the operator: an e-mail address or a URL. */
  contact?: string;
  /** The path of the operator's rules, in Markdown. */
  rules?: string;
  data: string;
  workers: WorkersPlan;
  front: 'auto' | 'native' | 'portable';
  ipc: 'auto' | IpcKind;
  pictures: Pictures;
  admission: AdmissionKind;
  /** The NATS through which the default world is shared with other relays. */
  nats?: string;
  /** Addresses and networks of the proxies whose X-Forwarded-For counts. */
  trustProxy: readonly string[];
}

/** What both kinds start from. */
export interface WorkersSetup {
  master: Master;
  plan: FrontPlan;
  options: WorkersOptions;
  registry: Registry;
  log: Logger;
  /** The bans, for a worker that starts. */
  bans: () => ModerationCopy;
}

/** Workers that have loaded, and have no port yet. */
export interface PreparedWorkers {
  /** Listens on the port of the API beside the process before: who connects waits. REQUIRES: canListenBeside(). */
  listenBeside(): Promise<void>;
  /** Opens the ports. */
  start(setup: WorkersSetup): Promise<Workers>;
}

/** Whether the next process can listen beside the one before: on Linux, with the native front, on a port that is the same for both. */
export function canListenBeside({ front, port }: Pick<WorkersOptions, 'front' | 'port'>): boolean {
  return front !== 'portable' && whyNoNativeFront() === undefined && port !== 0;
}

export interface Workers {
  /** The front that holds the long-polls. It is listening. */
  readonly front: Front;
  readonly ports: { readonly api: number; readonly events: number };
  /** How frames are exchanged; undefined in one process. */
  readonly ipc: IpcKind | undefined;
  /** Process ids of the worker processes that are ready. */
  readonly pids: readonly number[];
  /** Workers that handle requests now. */
  readonly readyCount: number;
  /** Tells every worker. Resolves when all of them enforce it; one that hangs is replaced, and its successor does. */
  moderate(message: ModerationMessage): Promise<void>;
  /** What the workers have refused since start, by reason. */
  readonly refused: Refusals;
  /** What the workers have counted since the last call. */
  takeMalformed(): Malformed;
  /** The newest sample of each worker that does not hang. */
  samples(): readonly WorkerSample[];
  /** Accepts no more connections. Resolves when those who had connected have asked; from then on its workers drain. */
  giveWay(): Promise<void>;
  /** From now on new requests are refused; pending ones are still answered. `again`: the next process is to open the ports soon. */
  drain(again: boolean): void;
  /** Whether a drained worker still has something to answer. */
  isBusy(): boolean;
  /** Stops the workers. The caller closes the front. */
  close(): void;
}

/**
 * Chooses how frames are exchanged. Rings need the addon, and a relay with the portable front uses the channel unless it is asked for rings.
 *
 * Throws  Error when rings were asked for and the addon is not available; the message says why.
 */
export function chooseIpc({ ipc, front }: Pick<WorkersOptions, 'ipc' | 'front'>): IpcKind {
  const why = whyNoNativeFront();
  if (ipc === 'ring' && why) throw new Error(`--ipc ring: ${why}`);
  if (ipc === 'auto') return front === 'portable' || why ? 'channel' : 'ring';
  return ipc;
}

/** The listener of the long-polls. */
export function eventsListener({ host, eventsPort }: WorkersOptions): FrontListener {
  return { host, port: eventsPort, shared: false, routes: 'events' };
}

/** The public addresses, whose ports are filled in once they are known. */
export function addressesOf({ publicUrl, publicEventsUrl }: WorkersOptions): PublicAddresses {
  return { url: publicUrl, eventsUrl: publicEventsUrl, eventsPort: 0, apiPort: 0 };
}

/** A worker's admission by address; undefined when it has no limits. */
export function workerAdmission(
  options: Pick<WorkersOptions, 'admission' | 'trustProxy'>,
): WorkerAdmission | undefined {
  return options.admission === 'strict' ? new WorkerAdmission(options.trustProxy) : undefined;
}

/**
 * How many connections a front accepts from one address; 0 for no limit. Behind a proxy there is none, because all clients
 * connect from the proxy's address.
 */
export function connectionsPerAddress({
  admission,
  trustProxy,
}: Pick<WorkersOptions, 'admission' | 'trustProxy'>): number {
  return admission === 'strict' && trustProxy.length === 0 ? CONNECTIONS_MAX : 0;
}

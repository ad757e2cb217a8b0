/**
 * What the workers tell the master about themselves: a sample of each with every heartbeat. Metrics and history are read from the newest.
 *
 * Invariant: refusals never fall; those of a worker that has ended are still counted.
 */
import { getHeapStatistics } from 'node:v8';
import type { Front } from '../front/front.ts';
import type { WorkerAdmission } from '../http/admission.ts';
import type { SocketDesktops } from '../http/socket_desktop.ts';
import type { Malformed, Worker } from '../http/worker.ts';
import type { SpriteStore } from '../store/sprite_store.ts';

/** How many requests and connections were refused since start, by reason. */
export type Refusals = Record<string, number>;

/** What a worker is made of, as far as it is sampled. */
export interface SampledParts {
  readonly worker: Worker;
  readonly front: Front;
  readonly sockets: SocketDesktops;
  readonly store: SpriteStore;
  readonly admission: WorkerAdmission | undefined;
}

export type WorkerSample = ReturnType<typeof takeSample>;

/** Takes a sample of this process. `loopDelayMaxSeconds`: the longest block of its loop in some five seconds. */
export function takeSample({ worker, front, sockets, store, admission }: SampledParts, loopDelayMaxSeconds: number) {
  const { user, system } = process.cpuUsage();
  const { connections, refused } = front.gauges();
  const refusals: Refusals = {
    malformed: worker.malformed,
    'relay-busy': worker.busy,
    'picture-refused': worker.pictureRefused,
    connections: refused,
    'limits by address': admission?.refused ?? 0,
  };
  return {
    pid: process.pid,
    rssBytes: residentBytes(),
    heapBytes: getHeapStatistics().used_heap_size,
    cpuSeconds: (user + system) / 1e6,
    loopDelayMaxSeconds,
    refused: refusals,
    pending: worker.pendingCount,
    sockets: sockets.count,
    unreadBytes: sockets.unreadBytes,
    connections,
    stored: { files: store.count, bytes: store.bytes, evicted: store.evicted },
    uploadBytes: store.uploads.used,
    sendingBytes: store.sendingBytes,
  };
}

/** Resident memory of this process in bytes; NaN while no file can be opened. */
export function residentBytes(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    return Number.NaN;
  }
}

/** In the master: the newest sample of each live worker. */
export class WorkerSamples<W> {
  readonly #newest = new Map<W, WorkerSample>();
  /** What workers had refused that have ended. */
  readonly #ended: Refusals = {};
  #malformed: Malformed = [];

  /** Refusals of all workers, of those that have ended too. */
  get refused(): Refusals {
    const sum = { ...this.#ended };
    for (const { refused } of this.#newest.values()) addRefusals(sum, refused);
    return sum;
  }

  /** The newest sample of each worker that is not late. */
  newest(isLate: (worker: W) => boolean): WorkerSample[] {
    return Array.from(this.#newest)
      .filter(([worker]) => !isLate(worker))
      .map(([, sample]) => sample);
  }

  /** What came with the samples since the last call. */
  takeMalformed(): Malformed {
    const taken = this.#malformed;
    this.#malformed = [];
    return taken;
  }

  receive(worker: W, sample: WorkerSample, malformed: Malformed): void {
    this.#newest.set(worker, sample);
    this.#malformed.push(...malformed);
  }

  /** A worker has ended. */
  remove(worker: W): void {
    addRefusals(this.#ended, this.#newest.get(worker)?.refused ?? {});
    this.#newest.delete(worker);
  }
}

/** Adds refusals to a sum, reason by reason. */
export function addRefusals(sum: Refusals, more: Refusals): void {
  for (const [reason, count] of Object.entries(more)) sum[reason] = (sum[reason] ?? 0) + count;
}

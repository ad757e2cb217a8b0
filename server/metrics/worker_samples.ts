/**
 * What the workers tell the master about themselves: a small message of each, every SAMPLE_MS.
 *
 * Invariant: refusals never fall; those of a worker that has died are still counted.
 */
import cluster, { type Worker as Process } from 'node:cluster';
import { getHeapStatistics } from 'node:v8';
import type { Front } from '../front/front.ts';
import type { WorkerAdmission } from '../http/admission.ts';
import type { Worker } from '../http/worker.ts';
import { SAMPLE_MS } from './history.ts';
import type { LoopDelay } from './loop_delay.ts';

/**
 * A worker whose newest sample is older than this, in ms, hangs. Master and workers sample on clocks of their own, so one
 * sample may arrive just after the master's, and the next one just before it.
 */
const SAMPLE_AGE_MS_MAX = 2.5 * SAMPLE_MS;

/** How many requests and connections were refused since start, by reason. */
export type Refusals = Record<string, number>;

export interface WorkerSample {
  pid: number;
  rssBytes: number;
  heapBytes: number;
  loopDelayMaxSeconds: number;
  refused: Refusals;
  /** See Worker.takeMalformed(). */
  malformed: [slot: number, times: number][];
}

/** In a worker process: sends samples to the master from now on. */
export function sendSamples(worker: Worker, front: Front, delay: LoopDelay, admission?: WorkerAdmission): void {
  const loopDelay = delay.reader();
  const send = () => {
    const sample: WorkerSample = {
      pid: process.pid,
      rssBytes: residentBytes(),
      heapBytes: getHeapStatistics().used_heap_size,
      loopDelayMaxSeconds: loopDelay(),
      refused: workerRefusals(worker, front, admission),
      malformed: worker.takeMalformed(),
    };
    // A sample that can't be sent is missing in the history.
    if (process.connected) process.send?.({ type: 'sample', sample }, undefined, undefined, () => {});
  };
  send();
  setInterval(send, SAMPLE_MS).unref();
}

/** Why a worker has refused. */
export function workerRefusals(worker: Worker, front: Front | undefined, admission?: WorkerAdmission): Refusals {
  const { malformed, busy, pictureRefused } = worker;
  return {
    malformed,
    'relay-busy': busy,
    'picture-refused': pictureRefused,
    connections: front?.gauges().refused ?? 0,
    'limits by address': admission?.refused ?? 0,
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
export class WorkerSamples {
  readonly #byPid = new Map<number, { sample: WorkerSample; arrivedMs: number }>();
  /** What workers had refused that have ended. */
  readonly #ended: Refusals = {};

  /** What the samples had since the last takeMalformed(). */
  #malformed: WorkerSample['malformed'] = [];

  constructor() {
    cluster.on('message', this.#receive);
    cluster.on('exit', this.#remove);
  }

  /** Refusals of all workers, of those that have ended too. */
  get refused(): Refusals {
    const sum = { ...this.#ended };
    for (const { sample } of this.#byPid.values()) addRefusals(sum, sample.refused);
    return sum;
  }

  /** The newest sample of each worker that does not hang. */
  get newest(): WorkerSample[] {
    const sinceMs = performance.now() - SAMPLE_AGE_MS_MAX;
    return [...this.#byPid.values()].filter(({ arrivedMs }) => arrivedMs > sinceMs).map(({ sample }) => sample);
  }

  takeMalformed(): WorkerSample['malformed'] {
    const taken = this.#malformed;
    this.#malformed = [];
    return taken;
  }

  close(): void {
    cluster.off('message', this.#receive);
    cluster.off('exit', this.#remove);
  }

  readonly #receive = ({ process }: Process, message: { type?: string; sample: WorkerSample }): void => {
    if (message?.type !== 'sample' || !process.pid) return;
    this.#byPid.set(process.pid, { sample: message.sample, arrivedMs: performance.now() });
    this.#malformed.push(...message.sample.malformed);
  };

  readonly #remove = ({ process }: Process): void => {
    const last = this.#byPid.get(process.pid as number);
    if (!last) return;
    this.#byPid.delete(process.pid as number);
    addRefusals(this.#ended, last.sample.refused);
  };
}

/** Adds refusals to a sum, reason by reason. */
export function addRefusals(sum: Refusals, more: Refusals): void {
  for (const [reason, count] of Object.entries(more)) sum[reason] = (sum[reason] ?? 0) + count;
}

/**
 * Samples of the whole relay, one every SAMPLE_MS: what the history, the operator's page and some of the metrics show.
 *
 * Processes are called `master`, `worker:1`, `worker:2` …: a worker that is forked in place of a dead one gets its name.
 * Cost: below 0.3 ms in one go. The threads are read a few at a time, in turns of their own.
 */
import { availableParallelism } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import type { Relay } from '../domain/relay.ts';
import { waitWithin } from '../domain/state/waits.ts';
import type { Front } from '../front/front.ts';
import { History, SAMPLE_MS } from '../metrics/history.ts';
import { type MachineTime, machineTime, threadIds, threadTime } from '../metrics/proc.ts';
import { addRefusals, type Refusals, residentBytes } from '../metrics/worker_samples.ts';
import type { Workers } from './workers.ts';

/** Threads that are read in one turn of the loop: 0.2 ms. A native front may have a hundred, a machine many workers. */
export const THREADS_PER_TURN_MAX = 8;

export interface SamplerSources {
  relay: Relay;
  front: Front;
  workers: Pick<Workers, 'pids' | 'samples' | 'refused' | 'takeMalformed'>;
  /** Joins refused by a limit by address, since start. */
  joinsRefused: () => number;
  /** Returns the longest block of the master's loop since its previous call, in seconds. */
  loopDelay: () => number;
}

/** The waits of so many samples together are one minute's. */
const MINUTE_SAMPLES = 60_000 / SAMPLE_MS;

/** CPU of the threads of a process that have the same name. */
interface ThreadGroup {
  process: string;
  thread: string;
  cpuSeconds: number;
}

/** A process's memory and loop, as metrics show them. */
export interface ProcessState {
  rssBytes: number;
  heapBytes: number;
  loopDelayMaxSeconds: number;
}

export class Sampler {
  readonly history: History;
  /** The newest values. */
  threads: readonly ThreadGroup[] = [];
  processes: ReadonlyMap<string, ProcessState> = new Map();
  machine: MachineTime = { busySeconds: 0, stealSeconds: 0 };
  readonly #names = new ProcessNames();
  readonly #sources: SamplerSources;
  /** The counts of waits at the newest samples, one more than a minute has: the oldest first. */
  readonly #waits: Float64Array[] = [];
  readonly #before = new Map<string, { value: number; atMs: number }>();
  #timer: NodeJS.Timeout | undefined;
  #busy = false;

  constructor(sources: SamplerSources) {
    this.#sources = sources;
    this.history = new History(Date.now());
  }

  /** The processes that run now. */
  get names(): ProcessNames {
    this.#names.update(process.pid, this.#sources.workers.pids);
    return this.#names;
  }

  /** Takes the first sample now, and one every SAMPLE_MS. */
  start(): void {
    void this.sample();
    this.#timer = setInterval(() => void this.sample(), SAMPLE_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Refusals since start, by reason. */
  get refused(): Refusals {
    const { relay, front, workers, joinsRefused } = this.#sources;
    const { refusedFull, refusedFast, refusedPicture } = relay.counters;
    const sum = {
      'mailbox-full': refusedFull,
      'too-fast': refusedFast,
      'picture-refused': refusedPicture,
      connections: front.gauges().refused,
      'limits by address': joinsRefused(),
    };
    addRefusals(sum, workers.refused);
    return sum;
  }

  /** What a client of the history must know beside its series. */
  get about(): object {
    return { cores: availableParallelism(), processes: Object.fromEntries(this.names.pids) };
  }

  /** Takes a sample. Resolves when the threads too have been read. */
  async sample(): Promise<void> {
    // On a machine so slow that the previous sample is not complete, its successor is left out.
    if (this.#busy) return;
    this.#busy = true;
    try {
      this.history.begin(Date.now());
      this.#sampleRelay();
      this.#sampleProcesses();
      this.#sampleMachine();
      await this.#sampleThreads();
    } finally {
      this.#busy = false;
    }
  }

  #sampleRelay(): void {
    const { relay, workers } = this.#sources;
    for (const [slot, times] of workers.takeMalformed()) relay.clients.refused(slot, 'malformed', times);
    this.history.set('desktops', relay.desktops.count);
    this.history.set('parked', relay.parkedCount);
    this.history.set('waiting', relay.waiting);
    this.#setRate('sprites/accepted', relay.counters.accepted);
    this.#setRate('sprites/acknowledged', relay.counters.acknowledged);
    this.#setRate('sayings/said', relay.speech.counters.said);
    this.#setRate('sayings/heard', relay.speech.sayings.counters.heard);
    this.#sampleWaits();
    this.history.set('slab', relay.slab.usedBytes);
    for (const [reason, count] of Object.entries(this.refused)) this.#setRate(`refused/${reason}`, count);
  }

  /** Within which time half, and 99 %, of the sprites of the last minute were sent. */
  #sampleWaits(): void {
    const newest = this.#sources.relay.waits.counts.slice();
    const [oldest = newest.slice().fill(0)] = this.#waits;
    const minute = newest.map((count, bucket) => count - oldest[bucket]);
    this.history.set('wait/p50', waitWithin(0.5, minute));
    this.history.set('wait/p99', waitWithin(0.99, minute));
    if (this.#waits.push(newest) > MINUTE_SAMPLES) this.#waits.shift();
  }

  #sampleProcesses(): void {
    const { workers, loopDelay } = this.#sources;
    const heapBytes = getHeapStatistics().used_heap_size;
    const states = new Map([['master', { rssBytes: residentBytes(), heapBytes, loopDelayMaxSeconds: loopDelay() }]]);
    for (const { pid, ...state } of workers.samples()) {
      const name = this.names.nameOf(pid);
      if (name && !states.has(name)) states.set(name, state);
    }
    for (const [name, { rssBytes, heapBytes, loopDelayMaxSeconds }] of states) {
      this.history.set(`rss/${name}`, rssBytes);
      this.history.set(`heap/${name}`, heapBytes);
      this.history.set(`delay/${name}`, loopDelayMaxSeconds * 1000);
    }
    this.processes = states;
  }

  #sampleMachine(): void {
    const time = machineTime();
    if (!time) return;
    this.machine = time;
    this.#setRate('machine/busy', time.busySeconds);
    this.#setRate('machine/steal', time.stealSeconds);
  }

  async #sampleThreads(): Promise<void> {
    const groups = new Map<string, ThreadGroup>();
    let read = 0;
    await nextTurn();
    for (const [name, pid] of [...this.names.pids]) {
      for (const tid of threadIds(pid)) {
        if (read++ === THREADS_PER_TURN_MAX) {
          await nextTurn();
          read = 1;
        }
        const time = threadTime(pid, tid);
        if (!time) continue;
        const thread = groupName(time.name);
        const group = groups.get(`${name}/${thread}`) ?? { process: name, thread, cpuSeconds: 0 };
        group.cpuSeconds += time.cpuSeconds;
        groups.set(`${name}/${thread}`, group);
      }
    }
    this.threads = [...groups.values()];
    for (const [key, { cpuSeconds }] of groups) this.#setRate(`cpu/${key}`, cpuSeconds);
  }

  /** Sets how fast a counter rises, in units a second; unknown at first, and after it has fallen: it is another process's. */
  #setRate(name: string, value: number): void {
    const atMs = performance.now();
    const before = this.#before.get(name);
    const rate = before && value >= before.value ? ((value - before.value) * 1000) / (atMs - before.atMs) : Number.NaN;
    if (this.history.set(name, rate)) this.#before.set(name, { value, atMs });
  }
}

/** Threads whose names differ only in a number, such as the I/O threads `front-1`, `front-2`, are one group. */
function groupName(thread: string): string {
  return thread.replace(/-\d+$/, '').replace(/[^\w.-]/g, '_');
}

/** Names for processes: `master`, and for each worker the lowest number that no other live worker has. */
export class ProcessNames {
  /** In order: the master, then the workers by number. */
  readonly pids = new Map<string, number>();

  update(master: number, workers: readonly number[]): void {
    for (const [name, pid] of this.pids) if (pid !== master && !workers.includes(pid)) this.pids.delete(name);
    this.pids.set('master', master);
    const named = new Set(this.pids.values());
    for (const pid of workers) {
      if (named.has(pid)) continue;
      let number = 1;
      while (this.pids.has(`worker:${number}`)) number++;
      this.pids.set(`worker:${number}`, pid);
    }
  }

  nameOf(pid: number): string | undefined {
    for (const [name, named] of this.pids) if (named === pid) return name;
    return undefined;
  }
}

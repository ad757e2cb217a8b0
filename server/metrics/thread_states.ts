/**
 * What all threads of this process do, sampled from /proc: those of JavaScript, of V8, of libuv, and of the native front.
 *
 * A sample says whether a thread runs or waits, and in which system call and which function of the kernel. It does not say
 * where in the program that is: this is what can be had without privileges, and without a thread noticing.
 * Threads: runs on a thread of its own (thread_sampler.ts), because a blocked loop is what it must see.
 * Cost: two reads for each thread and sample, some 5 µs. Memory: 2 bytes for each thread and sample; see the limits.
 */
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import type { SpeedscopeFile } from './speedscope.ts';
import { syscallName } from './syscalls.ts';

/** Threads that are sampled. A relay with a million desktops has some 70; those beyond the limit are counted only. */
const PROFILED_THREADS_MAX = 128;

/** Time between two samples, in ms. */
export const THREAD_SAMPLE_MS = 10;

/** Samples between two looks for new threads. */
const SAMPLES_PER_SCAN = 50;

/** Different states of one process, as (thread, state, system call, function): further ones count as `other`. */
const STATES_MAX = 4_096;

const READ_BYTES_MAX = 512;

/** The threads of this process, whichever of them asks. */
const TASKS = '/proc/self/task';

interface Thread {
  tid: number;
  name: string;
  /** Descriptors of its `stat`, `syscall` and `wchan`; undefined where the file can't be opened. */
  files: Record<'stat' | 'syscall' | 'wchan', number | undefined>;
  /** The number of its first sample. */
  first: number;
  /** The number of a state, for each sample from the first one on. */
  states: Uint16Array;
  count: number;
}

export class ThreadStates {
  readonly #samplesMax: number;
  readonly #threadsMax: number;
  readonly #isLeftOut: (name: string) => boolean;
  readonly #threads = new Map<number, Thread>();
  readonly #ended: Thread[] = [];
  readonly #stateNumbers = new Map<string, number>([['other', 0]]);
  readonly #weights: Float32Array;
  readonly #bytes = Buffer.alloc(READ_BYTES_MAX);
  #count = 0;
  #lastMs: number;
  /** Threads that were not sampled because there are too many. */
  left = 0;

  /** `isLeftOut` returns whether a thread with a name is not sampled: the one that samples. */
  constructor(
    samplesMax: number,
    nowMs: number,
    isLeftOut: (name: string) => boolean,
    threadsMax = PROFILED_THREADS_MAX,
  ) {
    this.#samplesMax = samplesMax;
    this.#isLeftOut = isLeftOut;
    this.#threadsMax = threadsMax;
    this.#weights = new Float32Array(samplesMax);
    this.#lastMs = nowMs;
  }

  get isFull(): boolean {
    return this.#count === this.#samplesMax;
  }

  /** Takes a sample: what each thread does now counts for the time since the previous sample. */
  sample(nowMs: number): void {
    if (this.isFull) return;
    if (this.#count % SAMPLES_PER_SCAN === 0) this.#scan();
    this.#weights[this.#count] = nowMs - this.#lastMs;
    this.#lastMs = nowMs;
    for (const thread of this.#threads.values()) {
      const state = this.#stateOf(thread);
      if (state === undefined) this.#end(thread);
      else thread.states[thread.count++] = state;
    }
    this.#count++;
  }

  /** Adds a profile of each thread to a file. */
  addTo(file: SpeedscopeFile): void {
    const names = [...this.#stateNumbers.keys()];
    const all = [...this.#ended, ...this.#threads.values()].filter(({ count }) => count > 0);
    for (const thread of all.toSorted((a, b) => a.tid - b.tid)) {
      const title = `${thread.name} (${thread.tid})`;
      const bottom = file.frame({ name: title });
      const stacks = names.map((name) => [bottom, ...name.split('›').map((part) => file.frame({ name: part }))]);
      const startMs = this.#weights.subarray(0, thread.first).reduce((sum, weight) => sum + weight, 0);
      const weights = this.#weights.subarray(thread.first, thread.first + thread.count);
      file.add(title, startMs, weights, (i) => stacks[thread.states[i]]);
    }
  }

  close(): void {
    for (const thread of [...this.#threads.values()]) this.#end(thread);
  }

  /** Looks for new threads. */
  #scan(): void {
    this.left = 0;
    for (const entry of readdirSync(TASKS)) {
      const tid = Number(entry);
      if (this.#threads.has(tid)) continue;
      if (this.#threads.size + this.#ended.length === this.#threadsMax) {
        this.left++;
        continue;
      }
      const path = `${TASKS}/${entry}`;
      const open = (name: string) => {
        try {
          return openSync(`${path}/${name}`, 'r');
        } catch {
          return undefined; // the thread has ended, or the system forbids it
        }
      };
      const stat = open('stat');
      const text = this.#read(stat);
      const name = text?.slice(text.indexOf('(') + 1, text.lastIndexOf(')'));
      if (name === undefined || this.#isLeftOut(name)) {
        if (stat !== undefined) closeSync(stat);
        continue;
      }
      this.#threads.set(tid, {
        tid,
        name,
        files: { stat, syscall: open('syscall'), wchan: open('wchan') },
        first: this.#count,
        states: new Uint16Array(this.#samplesMax - this.#count),
        count: 0,
      });
    }
  }

  /** The number of what a thread does: `running`, or `sleeping›epoll_wait›do_epoll_wait`. Undefined when it has ended. */
  #stateOf({ files }: Thread): number | undefined {
    const stat = this.#read(files.stat);
    if (stat === undefined) return undefined;
    const state = stat[stat.lastIndexOf(')') + 2];
    if (state === 'R') return this.#numberOf('running, or ready to run');
    const parts = [state === 'D' ? 'waiting for a device' : state === 'S' ? 'sleeping' : `state ${state}`];
    const call = this.#read(files.syscall);
    if (call && /^\d/.test(call)) parts.push(syscallName(Number.parseInt(call, 10)));
    const where = this.#read(files.wchan);
    if (where && where !== '0') parts.push(where);
    return this.#numberOf(parts.join('›'));
  }

  #numberOf(state: string): number {
    let number = this.#stateNumbers.get(state);
    if (number === undefined) {
      if (this.#stateNumbers.size === STATES_MAX) return 0;
      number = this.#stateNumbers.size;
      this.#stateNumbers.set(state, number);
    }
    return number;
  }

  #read(file: number | undefined): string | undefined {
    if (file === undefined) return undefined;
    try {
      return this.#bytes.toString('latin1', 0, readSync(file, this.#bytes, 0, READ_BYTES_MAX, 0)).trimEnd();
    } catch {
      return undefined;
    }
  }

  #end(thread: Thread): void {
    for (const file of Object.values(thread.files)) if (file !== undefined) closeSync(file);
    this.#threads.delete(thread.tid);
    this.#ended.push(thread);
  }
}

/**
 * Recordings of this process: for Chrome's DevTools a heap snapshot, a profile of the CPU, a profile of allocations; for
 * speedscope a profile of all threads by wall clock.
 *
 * Each is a stream that must be read to its end or destroyed. Recordings contain strings of the program, tokens among them:
 * their files are readable by this user only, and are removed before the first byte is sent.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { open, rm } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapStatistics, writeHeapSnapshot } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { ProblemError } from '../wire/problem.ts';
import type { ThreadSamplerData } from './thread_sampler.ts';
import { THREAD_SAMPLE_MS } from './thread_states.ts';

/** The cost of a snapshot, measured with small objects. It blocks everything else. */
const SNAPSHOT_SECONDS_PER_MIB = 0.06;
const SNAPSHOT_MEMORY_FACTOR = 18;

/** A snapshot of a larger heap, in bytes, must be forced: this one blocks the relay for some 4 s, far less than a lease. */
export const SNAPSHOT_HEAP_BYTES_MAX = 64 * 2 ** 20;

/** The longest profile, in seconds: its samples are kept in memory, and serializing them at the end blocks the loop. */
export const PROFILE_SECONDS_MAX = 120;

export const PROFILES = ['cpu', 'heap', 'threads'] as const;
export type ProfileKind = (typeof PROFILES)[number];

/** Time between two samples of the CPU, in µs. */
const CPU_SAMPLE_US = 1000;
/** Bytes between two sampled allocations, on average: V8's own default. */
const HEAP_SAMPLE_BYTES = 32 * 1024;

/** The name of the thread that samples the others; the kernel knows its first 15 bytes. */
const SAMPLER_NAME = 'thread-sampler';

/** Characters written at once. */
const CHUNK_LENGTH = 64 * 1024;

/** The content of a recording, and the file name to save it under: DevTools need the extension. */
export interface Recording {
  fileName: string;
  bytes: Readable;
}

/**
 * Takes a snapshot of the heap, through a temporary file in `folder`.
 *
 * Throws  heap-too-large   more than SNAPSHOT_HEAP_BYTES_MAX is in use and it is not forced: says what it would cost.
 */
export async function snapshotHeap(folder: string, forced: boolean): Promise<Recording> {
  if (!forced) mustBeSmall(getHeapStatistics().used_heap_size);
  const path = join(folder, `${randomUUID()}.heapsnapshot`);
  try {
    writeHeapSnapshot(path);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
  return { fileName: nameOf('heapsnapshot'), bytes: await readAndRemove(path) };
}

/** Opens a file and removes it: the stream is all that is left of it. */
export async function readAndRemove(path: string): Promise<Readable> {
  try {
    return (await open(path)).createReadStream();
  } finally {
    await rm(path, { force: true });
  }
}

/** Throws heap-too-large when a snapshot of a heap with `usedBytes` must be forced. */
export function mustBeSmall(usedBytes: number): void {
  if (usedBytes <= SNAPSHOT_HEAP_BYTES_MAX) return;
  const mib = (bytes: number) => Math.round(bytes / 2 ** 20);
  throw new ProblemError(
    'heap-too-large',
    `The heap holds ${mib(usedBytes)} MiB; above ${mib(SNAPSHOT_HEAP_BYTES_MAX)} a snapshot stops the relay for some ` +
      `${Math.round(mib(usedBytes) * SNAPSHOT_SECONDS_PER_MIB)} s and takes some ` +
      `${mib(usedBytes * SNAPSHOT_MEMORY_FACTOR)} MiB of memory. Add force=1 to take it anyway.`,
  );
}

/**
 * Profiles this process for `seconds`, or until `ended` is aborted. A profile of threads goes through a temporary file in
 * `folder`.
 *
 * Throws  not-found   a profile of threads where the system is not Linux.
 */
export async function profile(
  kind: ProfileKind,
  seconds: number,
  folder: string,
  ended: AbortSignal,
): Promise<Recording> {
  if (kind === 'threads' && process.platform !== 'linux') {
    throw new ProblemError('not-found', 'A profile of threads needs /proc of Linux.');
  }
  const session = new Session();
  session.connect();
  try {
    if (kind === 'threads') {
      const path = join(folder, `${randomUUID()}.speedscope.json`);
      await sampleThreads(session, path, seconds, wait);
      return { fileName: nameOf('speedscope.json'), bytes: await readAndRemove(path) };
    }
    const content = kind === 'cpu' ? await sampleCpu(session, wait) : await sampleHeap(session, wait);
    return { fileName: nameOf(`${kind}profile`), bytes: Readable.from(chunksOf(JSON.stringify(content))) };
  } finally {
    session.disconnect();
  }

  async function wait(): Promise<void> {
    try {
      await sleep(seconds * 1000, undefined, { signal: ended });
    } catch {
      // The client has disconnected: the samples are dropped with the answer.
    }
  }
}

/** Lets a thread sample all threads, and V8 the JavaScript of this one. Resolves when both are in the file at `path`. */
async function sampleThreads(session: Session, path: string, seconds: number, wait: () => Promise<void>) {
  const title = `pid ${process.pid}, ${new Date().toISOString()}`;
  const workerData: ThreadSamplerData = { path, seconds, name: SAMPLER_NAME, title };
  const sampler = new Worker(new URL('./thread_sampler.ts', import.meta.url), { workerData, name: SAMPLER_NAME });
  try {
    await once(sampler, 'message'); // it samples
    const cpu = await sampleCpu(session, wait, THREAD_SAMPLE_MS * 1000);
    sampler.postMessage(cpu);
    await once(sampler, 'message'); // it has written the file
  } finally {
    await sampler.terminate();
  }
}

async function sampleCpu(session: Session, wait: () => Promise<void>, interval = CPU_SAMPLE_US): Promise<object> {
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval });
  await session.post('Profiler.start');
  await wait();
  return (await session.post('Profiler.stop')).profile;
}

async function sampleHeap(session: Session, wait: () => Promise<void>): Promise<object> {
  await session.post('HeapProfiler.startSampling', { samplingInterval: HEAP_SAMPLE_BYTES });
  await wait();
  const { profile } = await session.post('HeapProfiler.stopSampling');
  return withoutStrays(profile as unknown as HeapProfile);
}

interface HeapNode {
  readonly id: number;
  readonly children: readonly HeapNode[];
}

/** A profile of allocations as V8 gives it; the types of Node leave `samples` out. */
interface HeapProfile {
  readonly head: HeapNode;
  readonly samples: readonly { readonly nodeId: number; readonly size: number }[];
}

/**
 * V8 goes on sampling while it makes the tree. What is allocated then has nodes that are not in it, in one profile of seventy on a busy machine;
 * such samples are not of the program, and are left out.
 */
export function withoutStrays<Profile extends HeapProfile>(profile: Profile): Profile {
  const ids = new Set<number>();
  const visit = ({ id, children }: HeapNode): void => {
    ids.add(id);
    children.forEach(visit);
  };
  visit(profile.head);
  return { ...profile, samples: profile.samples.filter(({ nodeId }) => ids.has(nodeId)) };
}

function* chunksOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += CHUNK_LENGTH) yield text.slice(at, at + CHUNK_LENGTH);
}

function nameOf(extension: string): string {
  const time = new Date().toISOString().replaceAll(/[:.]/g, '-');
  return `sprites-${process.pid}-${time}.${extension}`;
}

/**
 * What an operator may ask of one process of the relay: a collection, what memory is made of, a snapshot, a profile.
 *
 * The master carries out what concerns itself. For a worker it sends a message and gets one in return. A recording of a worker
 * goes through a file in the data directory: the worker writes it, the master streams it, and neither holds it in memory.
 * Invariant: when a request has ended, in whatever way, its file is removed.
 */
import cluster, { type Worker as Process } from 'node:cluster';
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type MemoryReport, memoryReport } from '../metrics/memory.ts';
import { type ProfileKind, profile, type Recording, readAndRemove, snapshotHeap } from '../metrics/recording.ts';
import { type ProblemDocument, ProblemError } from '../wire/problem.ts';
import { type Collection, type CollectionKind, collect } from './garbage_collection.ts';

export type ProcessRequest =
  | { kind: 'gc'; collection: CollectionKind }
  | { kind: 'heap' }
  | { kind: 'heap-snapshot'; forced: boolean }
  | { kind: 'profile'; profile: ProfileKind; seconds: number };

/** What there is to answer: a document, or a recording. */
type ProcessAnswer = { document: Collection | MemoryReport } | { recording: Recording };

/** How long a worker may take beyond the length of a profile, in ms. It is twice what a snapshot of SNAPSHOT_HEAP_BYTES_MAX needs. */
const WORKER_ANSWER_MS_MAX = 10_000;

/** The same for a snapshot that is forced: of 2 GiB, the largest heap that V8 gives a worker by itself. */
const FORCED_ANSWER_MS_MAX = 300_000;

/** Messages to a worker. */
type ToWorker =
  | { type: 'process-request'; id: number; path: string; folder: string; request: ProcessRequest }
  | { type: 'process-request-ended'; id: number };

/** The message of a worker. A recording is in the file at the path it was given. */
interface FromWorker {
  type: 'process-answer';
  id: number;
  document?: Collection | MemoryReport;
  fileName?: string;
  problem?: ProblemDocument;
}

/** Carries a request out in this process. `mailboxes`: the slab, if this is the master. `folder`: for temporary files. */
export async function carryOut(
  request: ProcessRequest,
  mailboxes: MemoryReport['mailboxes'],
  folder: string,
  ended: AbortSignal,
): Promise<ProcessAnswer> {
  switch (request.kind) {
    case 'gc':
      return { document: await collect(request.collection) };
    case 'heap':
      return { document: memoryReport(mailboxes) };
    case 'heap-snapshot':
      return { recording: await snapshotHeap(folder, request.forced) };
    case 'profile':
      return { recording: await profile(request.profile, request.seconds, folder, ended) };
  }
}

/** In a worker: carries out what the master asks for from now on. */
export function answerRequests(): void {
  const running = new Map<number, AbortController>();
  const answer = (message: FromWorker) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => {});
  };
  process.on('message', async (message: ToWorker) => {
    if (message?.type === 'process-request-ended') running.get(message.id)?.abort();
    if (message?.type !== 'process-request') return;
    const { id, path, folder, request } = message;
    const ended = new AbortController();
    running.set(id, ended);
    try {
      const done = await carryOut(request, null, folder, ended.signal);
      if ('document' in done) answer({ type: 'process-answer', id, document: done.document });
      else {
        await pipeline(done.recording.bytes, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
        // A request that has ended wants no file.
        if (ended.signal.aborted) await rm(path, { force: true });
        answer({ type: 'process-answer', id, fileName: done.recording.fileName });
      }
    } catch (error) {
      await rm(path, { force: true });
      const internal = new ProblemError('internal', `The worker failed: ${(error as Error).message}`);
      answer({ type: 'process-answer', id, problem: (error instanceof ProblemError ? error : internal).document });
    } finally {
      running.delete(id);
    }
  });
}

let lastId = 0;

/** Workers, by pid, that write a snapshot: they send nothing meanwhile, and do not hang. */
const snapshotting = new Set<number>();

/** Returns whether a worker is silent because the operator asked it for a snapshot. It is for answerTime() at most. */
export function isTakingSnapshot(pid: number | undefined): boolean {
  return pid !== undefined && snapshotting.has(pid);
}

/**
 * In the master: has a worker carry a request out.
 *
 * Throws  the worker's problem; relay-busy   the worker does not answer, or ends before it does.
 */
export async function askWorker(
  pid: number,
  request: ProcessRequest,
  folder: string,
  ended: AbortSignal,
): Promise<ProcessAnswer> {
  const worker = Object.values(cluster.workers ?? {}).find((one) => one?.process.pid === pid);
  if (!worker) throw new ProblemError('not-found', `There is no worker with the pid ${pid} any more.`);
  const id = ++lastId;
  const path = join(folder, `${randomUUID()}.recording`);
  const tell = (message: ToWorker) => {
    if (worker.isConnected()) worker.send(message, undefined, undefined, () => {});
  };
  const end = () => tell({ type: 'process-request-ended', id });
  ended.addEventListener('abort', end, { once: true });
  const wait = answerOf(worker, id, answerTime(request));
  if (request.kind === 'heap-snapshot') snapshotting.add(pid);
  try {
    tell({ type: 'process-request', id, path, folder, request });
    const { document, fileName, problem } = await wait;
    if (problem) throw new ProblemError(problem.code, problem.detail);
    if (document) return { document };
    return { recording: { fileName: fileName as string, bytes: await readAndRemove(path) } };
  } catch (error) {
    end();
    await rm(path, { force: true });
    // The client has gone, and with it the file.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && ended.aborted) throw busy(pid, 'was told to stop');
    throw error;
  } finally {
    snapshotting.delete(pid);
    ended.removeEventListener('abort', end);
  }
}

function answerTime(request: ProcessRequest): number {
  if (request.kind === 'heap-snapshot' && request.forced) return FORCED_ANSWER_MS_MAX;
  return WORKER_ANSWER_MS_MAX + (request.kind === 'profile' ? request.seconds * 1000 : 0);
}

/** Resolves to the worker's answer to request `id`. */
function answerOf(worker: Process, id: number, limitMs: number): Promise<FromWorker> {
  const { promise, resolve, reject } = Promise.withResolvers<FromWorker>();
  const pid = worker.process.pid as number;
  const receive = (message: FromWorker) => {
    if (message?.type === 'process-answer' && message.id === id) resolve(message);
  };
  const exited = () => reject(busy(pid, 'ended before it answered'));
  const late = setTimeout(() => reject(busy(pid, `did not answer within ${limitMs / 1000} s`)), limitMs);
  worker.on('message', receive);
  worker.once('exit', exited);
  return promise.finally(() => {
    clearTimeout(late);
    worker.off('message', receive);
    worker.off('exit', exited);
  });
}

function busy(pid: number, what: string): ProblemError {
  return new ProblemError('relay-busy', `The worker with the pid ${pid} ${what}.`);
}

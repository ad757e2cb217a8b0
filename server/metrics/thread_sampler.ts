/**
 * The thread that samples all others, until the main thread sends it the profile of its JavaScript. Then it writes both to a
 * file, in the format of speedscope, and ends.
 */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { type CpuProfile, SpeedscopeFile } from './speedscope.ts';
import { THREAD_SAMPLE_MS, ThreadStates } from './thread_states.ts';

export interface ThreadSamplerData {
  /** The file to write; it does not exist yet. */
  path: string;
  seconds: number;
  /** The kernel's name of this thread. */
  name: string;
  title: string;
}

const { path, seconds, name, title } = workerData as ThreadSamplerData;
// A late timer skips samples, so there are never more.
const samplesMax = Math.ceil((seconds * 1000) / THREAD_SAMPLE_MS) + 1;
const startMs = performance.now();
const states = new ThreadStates(samplesMax, startMs, (other) => other === name);
const timer = setInterval(() => states.sample(performance.now()), THREAD_SAMPLE_MS);

parentPort?.once('message', (profile: CpuProfile) => {
  clearInterval(timer);
  states.close();
  const file = new SpeedscopeFile(states.left > 0 ? `${title}, without ${states.left} more threads` : title);
  file.addCpuProfile('JavaScript of the main thread', 0, profile);
  states.addTo(file);
  const descriptor = openSync(path, 'wx', 0o600);
  try {
    for (const piece of file.text()) writeSync(descriptor, piece);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
  parentPort?.postMessage('written');
});
parentPort?.postMessage('sampling');

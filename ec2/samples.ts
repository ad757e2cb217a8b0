/**
 * The relay's own figures during a fleet's run, as a swarm on one machine has them: one sample a second.
 *
 * A relay on an instance posts its samples itself, in chunks below its own prefix, because its admin port is closed to others.
 * The command asks another relay at `--admin-url` and writes one object below the prefix of the swarm. Times are on the wall
 * clock of the machine that asked; clocks of one region differ by milliseconds.
 */

import type { RelaySample } from '../loadtest/report/relay_sample.ts';
import type { EngineResult } from '../tools/engine_result.ts';
import type { Buckets } from './aws/bucket.ts';
import { keys } from './job.ts';

export const SAMPLE_EVERY_MS = 1_000;

/** Samples of a chunk: an object costs $0.000005, and when a run ends, the last chunk must not be far away. */
export const CHUNK_SAMPLES = 5;

/** How long before and after a run chunks are read: two of them, because a chunk is named by its first sample. */
const MARGIN_MS = 2 * CHUNK_SAMPLES * SAMPLE_EVERY_MS;

/** Name of the chunk of this instance that begins with a sample at `atMs`. */
export function chunkName(id: string, atMs: number): string {
  return `${id}.${atMs}.samples.json`;
}

/** Samples once a second until `stop`, which returns all samples. A sample that can't be read is a gap. */
export function record(ask: () => Promise<RelaySample | undefined>): { stop(): RelaySample[] } {
  const samples: RelaySample[] = [];
  const timer = setInterval(async () => {
    const sample = await ask().catch(() => undefined);
    if (sample && sample.atMs > (samples.at(-1)?.atMs ?? 0)) samples.push(sample);
  }, SAMPLE_EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      return samples;
    },
  };
}

/** A fleet, and that of its relay where the relay posts samples itself. */
export interface Sampled {
  bucket: string;
  fleet: string;
  relayFleet?: string;
}

/** All samples of the relay in the time of these results, in order; empty when nobody sampled it. Throws Refused. */
export async function readSamples(
  buckets: Pick<Buckets, 'list' | 'get'>,
  { bucket, fleet, relayFleet }: Sampled,
  posted: readonly string[],
  parts: readonly EngineResult[],
): Promise<RelaySample[]> {
  const fromMs = Math.min(...parts.map(({ startedAtMs }) => startedAtMs)) - MARGIN_MS;
  const untilMs =
    Math.max(...parts.map(({ window, drainedAtMs }) => Math.max(window.untilMs, drainedAtMs))) + MARGIN_MS;
  const chunks = relayFleet === undefined ? [] : await buckets.list(bucket, keys.prefix(relayFleet));
  const within = chunks.filter((key) => {
    const atMs = Number(/\.(\d+)\.samples\.json$/.exec(key)?.[1] ?? Number.NaN);
    return atMs >= fromMs && atMs <= untilMs;
  });
  const own = posted.filter((key) => key === keys.samples(fleet));
  const texts = await Promise.all([...within, ...own].map((key) => buckets.get(bucket, key)));
  return texts.flatMap((text) => JSON.parse(text) as RelaySample[]).sort((a, b) => a.atMs - b.atMs);
}

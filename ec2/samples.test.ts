import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RelaySample } from '../loadtest/report/relay_sample.ts';
import { resultOf, START_MS } from '../loadtest/test/results.ts';
import { keys } from './job.ts';
import { CHUNK_SAMPLES, chunkName, readSamples, record, SAMPLE_EVERY_MS } from './samples.ts';

const FLEET = 'swarm-261121-0000-abcd';
const RELAY = 'relay-261121-0000-abcd';
const CHUNK_MS = CHUNK_SAMPLES * SAMPLE_EVERY_MS;

const chunk = (atMs: number): RelaySample[] =>
  Array.from({ length: CHUNK_SAMPLES }, (_, i) => ({ atMs: atMs + i * SAMPLE_EVERY_MS }));

/** A bucket with these objects; counts what is read. */
function bucketOf(objects: Record<string, unknown>) {
  const read: string[] = [];
  const bucket = {
    list: async (_: string, prefix: string) => Object.keys(objects).filter((key) => key.startsWith(prefix)),
    get: async (_: string, key: string) => {
      read.push(key);
      return JSON.stringify(objects[key]);
    },
  };
  return { bucket, read };
}

const of = (relayFleet?: string) => ({ bucket: 'b', fleet: FLEET, relayFleet });

describe('samples of the relay', () => {
  it('are those that the relay posted during the run, in order, and none of another hour', async () => {
    const at = (ms: number) => `${keys.prefix(RELAY)}${chunkName('i-1', ms)}`;
    const [before, first, last, later] = [-3_600_000, -CHUNK_MS, 5_000, 3_600_000].map((ms) => START_MS + ms);
    const objects = Object.fromEntries([last, before, first, later].map((ms) => [at(ms), chunk(ms)]));
    const { bucket, read } = bucketOf({ ...objects, [`${keys.prefix(RELAY)}i-1.ready.json`]: {} });
    const samples = await readSamples(bucket, of(RELAY), [], [resultOf([1])]);
    assert.deepEqual(samples, [...chunk(first), ...chunk(last)]);
    assert.equal(read.length, 2);
  });

  it('are those that the command took, when it asked the relay itself', async () => {
    const key = keys.samples(FLEET);
    const { bucket } = bucketOf({ [key]: chunk(START_MS) });
    assert.deepEqual(await readSamples(bucket, of(), [key], [resultOf([1])]), chunk(START_MS));
    assert.deepEqual(await readSamples(bucket, of(), [], [resultOf([1])]), []);
  });

  it('are taken once a second, with a gap where the relay did not answer', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    let asked = 0;
    const { stop } = record(async () => {
      asked++;
      if (asked === 2) throw new Error('busy');
      return asked === 3 ? undefined : { atMs: asked };
    });
    for (let i = 0; i < 4; i++) {
      t.mock.timers.tick(SAMPLE_EVERY_MS);
      await Promise.resolve();
    }
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(stop(), [{ atMs: 1 }, { atMs: 4 }]);
    t.mock.timers.tick(SAMPLE_EVERY_MS);
    assert.equal(asked, 4);
  });
});

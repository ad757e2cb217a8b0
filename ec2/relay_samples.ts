/**
 * Posts the samples of the relay on this instance. boot/relay.sh runs it as a unit with the bundle's Node.
 *
 *   node relay_samples.ts --id ID --admin-url http://127.0.0.1:8083 --admin-token-file FILE
 *
 * The form for posting is in the environment. A chunk that can't be posted is dropped, and so is a gap in the report.
 */
import { parseArgs } from 'node:util';
import type { RelaySample } from '../loadtest/report/relay_sample.ts';
import { adminOf } from '../loadtest/run/relay_target.ts';
import { post } from './post.ts';
import { CHUNK_SAMPLES, chunkName, SAMPLE_EVERY_MS } from './samples.ts';

const { values } = parseArgs({
  options: { id: { type: 'string' }, 'admin-url': { type: 'string' }, 'admin-token-file': { type: 'string' } },
});
const { id = '', 'admin-url': url = '', 'admin-token-file': tokenFile = '' } = values;

const ask = adminOf(url, tokenFile);
let chunk: RelaySample[] = [];
setInterval(async () => {
  const sample = await ask().catch(() => undefined);
  if (sample) chunk.push(sample);
  if (chunk.length < CHUNK_SAMPLES) return;
  const full = chunk;
  chunk = [];
  await post(chunkName(id, full[0].atMs), JSON.stringify(full), process.env).catch((error: Error) =>
    console.error(error.message),
  );
}, SAMPLE_EVERY_MS);

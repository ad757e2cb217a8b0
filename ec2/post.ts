/** Posts an object to the bucket with the signed form of the boot script, as its `post` does. */
import { setTimeout as sleep } from 'node:timers/promises';

const TRIES = 4;
const RETRY_MS = 1_000;
const REQUEST_MS_MAX = 30_000;

/**
 * Writes `body` as `name` below the fleet's prefix. Without an address for results it does nothing.
 *
 * Throws Error when every try failed. The message has no address, because addresses are signed.
 */
export async function post(name: string, body: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const { SPRITES_RESULTS: url, SPRITES_PREFIX: prefix = '', SPRITES_FIELDS: fields = '' } = environment;
  if (!url) return;
  const form = new FormData();
  form.append('key', `${prefix}${name}`);
  for (const line of fields.split('\n'))
    form.append(line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1));
  form.append('file', new Blob([body]), name); // last: S3 ignores what follows the file
  for (let attempt = 1; ; attempt++) {
    const request = { method: 'POST', body: form, signal: AbortSignal.timeout(REQUEST_MS_MAX) };
    const response = await fetch(url, request).catch((error: Error) => error);
    if (response instanceof Response && response.ok) return;
    const why = response instanceof Error ? response.message : `HTTP ${response.status}`;
    if (attempt === TRIES) throw new Error(`${name} could not be posted: ${why}`);
    await sleep(RETRY_MS);
  }
}

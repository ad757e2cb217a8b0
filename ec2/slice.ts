/**
 * The slice: one instance's part of the load. The boot script runs it with the bundle's Node.
 *
 *   node slice.ts ready --job FILE --id ID              prints facts about the machine, which proves that the bundle works
 *   node slice.ts run --job FILE --id ID --out FILE     waits for go.json and the start, runs the engine, writes its result
 *
 * Exit: the engine's code (0 done, 1 failed, 2 misused); 3 when go.json never appeared, 4 when this instance is not in it.
 */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { thisMachine } from '../loadtest/run/machine.ts';
import { type Go, readJob } from './job.ts';

const ENGINE = join(import.meta.dirname, '../build/swarm/swarm-engine');
const COMMIT = join(import.meta.dirname, '../commit');

/** Pause between two requests for go.json: a fifth of the time from go.json to the start. */
const POLL_MS = 1_000;
const REQUEST_MS_MAX = 5_000;

const EXIT_NO_GO = 3;
const EXIT_LEFT_OUT = 4;

/** Polls until go.json exists and returns it; undefined when it does not exist in time. */
async function waitForGo(url: string, waitSeconds: number): Promise<Go | undefined> {
  const untilMs = performance.now() + waitSeconds * 1000;
  let last = '';
  while (performance.now() < untilMs) {
    const response = await fetch(url, { signal: AbortSignal.timeout(REQUEST_MS_MAX) }).catch((error: Error) => error);
    if (response instanceof Response && response.ok) return (await response.json()) as Go;
    // S3 responds 404 to a missing key, or 403 when the signer may not list the bucket.
    const why = response instanceof Error ? response.message : `HTTP ${response.status}`;
    if (why !== last) console.error(`no go.json yet: ${why}`);
    last = why;
    await sleep(POLL_MS);
  }
  return undefined;
}

/** Runs the engine. Its last line on stdout is the result; its stderr goes to the log. Returns its exit code. */
function runEngine(words: readonly string[], out: string): Promise<number> {
  console.error(`swarm-engine ${words.join(' ')}`);
  const child = spawn(ENGINE, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  let last = '';
  createInterface({ input: child.stdout }).on('line', (line) => {
    last = line;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (last.includes('"phase":"done"')) writeFileSync(out, `${last}\n`);
      resolve(code ?? 1);
    });
  });
}

async function run(jobFile: string, id: string, out: string): Promise<number> {
  const job = readJob(readFileSync(jobFile, 'utf8'));
  if (job.go === undefined)
    return runEngine(
      job.arguments.map((word) => word.replaceAll('%i', id)),
      out,
    );
  const go = await waitForGo(job.go, job.waitSeconds);
  if (go === undefined) {
    console.error(`FAILED: no go.json within ${job.waitSeconds} s`);
    return EXIT_NO_GO;
  }
  const words = go.slices[id];
  if (words === undefined) {
    console.error('FAILED: the fleet started without this instance, which was ready too late');
    return EXIT_LEFT_OUT;
  }
  console.error(`starts at ${new Date(go.startAtMs).toISOString()}`);
  await sleep(Math.max(0, go.startAtMs - Date.now()));
  return runEngine(words, out);
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { job: { type: 'string' }, id: { type: 'string' }, out: { type: 'string' } },
});
const { job = '', id = '', out = '' } = values;
if (positionals[0] === 'ready') {
  readJob(readFileSync(job, 'utf8'));
  // There is no git checkout here; the bundle has the commit in a file.
  console.log(JSON.stringify({ ...thisMachine(), name: id, commit: readFileSync(COMMIT, 'utf8').trim() }));
} else {
  process.exitCode = await run(job, id, out);
}

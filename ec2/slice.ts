/**
 * The slice: one instance's part of the load, run there by the boot script with the bundle's Node.
 *
 *   node slice.ts ready --job FILE --id ID              prints what machine this is; so the bundle works here
 *   node slice.ts run --job FILE --id ID --out FILE     waits for go.json and its time, runs the engine, writes its result
 *
 * Exit: as the engine's (0 done, 1 failed, 2 misused); 3 when the word to go never came, 4 when others go without this one.
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

/** How often go.json is asked for: a tenth of the notice that instances get of the start. */
const ASK_MS = 1_000;
const ASK_PATIENCE_MS = 5_000;

const EXIT_NO_GO = 3;
const EXIT_LEFT_OUT = 4;

/** The word to go; undefined when it does not come in time. */
async function waitForGo(url: string, waitSeconds: number): Promise<Go | undefined> {
  const untilMs = performance.now() + waitSeconds * 1000;
  let last = '';
  while (performance.now() < untilMs) {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ASK_PATIENCE_MS) }).catch((error: Error) => error);
    if (answer instanceof Response && answer.ok) return (await answer.json()) as Go;
    // 404 is what a missing key is; 403 is the same to who may not list the bucket.
    const told = answer instanceof Error ? answer.message : `HTTP ${answer.status}`;
    if (told !== last) console.error(`no go.json yet: ${told}`);
    last = told;
    await sleep(ASK_MS);
  }
  return undefined;
}

/** Runs the engine; its last line on stdout is the result, what it says on stderr is for the log. */
function engine(words: readonly string[], out: string): Promise<number> {
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
    return engine(
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
    console.error('FAILED: the fleet went without this instance, it was ready too late');
    return EXIT_LEFT_OUT;
  }
  console.error(`starts at ${new Date(go.startAtMs).toISOString()}`);
  await sleep(Math.max(0, go.startAtMs - Date.now()));
  return engine(words, out);
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { job: { type: 'string' }, id: { type: 'string' }, out: { type: 'string' } },
});
const { job = '', id = '', out = '' } = values;
if (positionals[0] === 'ready') {
  readJob(readFileSync(job, 'utf8'));
  // No checkout is here to ask; the bundle says what it was made of.
  console.log(JSON.stringify({ ...thisMachine(), name: id, commit: readFileSync(COMMIT, 'utf8').trim() }));
} else {
  process.exitCode = await run(job, id, out);
}

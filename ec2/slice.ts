/**
 * The slice: one instance's part of the load. The boot script runs it with the bundle's Node.
 *
 *   node slice.ts ready --job FILE --id ID              prints facts about the machine, which proves that the bundle works
 *   node slice.ts run --job FILE --id ID --out FILE     waits for go.json, runs the engine, and writes its result
 *
 * With a barrier it posts `ID.parked.json` when the engine has parked all desktops, waits for throw.json, and hands its time to
 * the engine, so that all instances throw from the same moment. boot/swarm.sh passes the form for posting and the machine's
 * addresses in the environment. The engine gets a process for each vCPU, and every address as a source.
 *
 * Exit: the engine's code (0 done, 1 failed, 2 misused); 3 when go.json never appeared, 4 when this instance is not in it.
 */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { thisMachine } from '../loadtest/run/machine.ts';
import { type EnginePlan, planLine } from '../tools/engine_plan.ts';
import { withMachine } from './engine_machine.ts';
import { type Go, INSTANCE, type Job, POSTED, readJob, type ThrowSignal } from './job.ts';
import { post } from './post.ts';

const ENGINE = join(import.meta.dirname, '../build/swarm/swarm-engine');

/** Pause between two requests for go.json or throw.json: a fifth of the time from there to the start. */
const POLL_MS = 1_000;
const REQUEST_MS_MAX = 5_000;

const EXIT_NO_GO = 3;
const EXIT_LEFT_OUT = 4;

/** Polls until the object exists and returns it; undefined when it does not exist in time. */
async function waitFor<T>(what: string, url: string, waitSeconds: number): Promise<T | undefined> {
  const untilMs = performance.now() + waitSeconds * 1000;
  let last = '';
  while (performance.now() < untilMs) {
    const response = await fetch(url, { signal: AbortSignal.timeout(REQUEST_MS_MAX) }).catch((error: Error) => error);
    if (response instanceof Response && response.ok) return (await response.json()) as T;
    // S3 responds 404 to a missing key, or 403 when the signer may not list the bucket.
    const why = response instanceof Error ? response.message : `HTTP ${response.status}`;
    if (why !== last) console.error(`no ${what} yet: ${why}`);
    last = why;
    await sleep(POLL_MS);
  }
  return undefined;
}

/** Posts that all desktops are parked. Returns the line for the engine's stdin; undefined: it must not throw. */
async function agreeOnStart({ throw: url, waitSeconds }: Job, id: string): Promise<string | undefined> {
  console.error('all desktops are parked');
  await post(`${id}${POSTED.parked}`, JSON.stringify({ parkedAtMs: Date.now() }), process.env);
  const signal = await waitFor<ThrowSignal>('throw.json', url as string, waitSeconds);
  if (signal === undefined || signal.startAtMs === null) {
    console.error(signal === undefined ? `FAILED: no throw.json within ${waitSeconds} s` : 'the fleet does not throw');
    return undefined;
  }
  console.error(`throws from ${new Date(signal.startAtMs).toISOString()}`);
  return `${signal.startAtMs}\n`;
}

/** Runs the engine. Its last line on stdout is the result; its stderr goes to the log. Returns its exit code. */
function runEngine(given: EnginePlan, out: string, parked?: () => Promise<string | undefined>): Promise<number> {
  const plan = withMachine({ ...given, startOnStdin: parked !== undefined }, machine());
  console.error(`swarm-engine ${JSON.stringify(plan)}`);
  const child = spawn(ENGINE, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => {}); // the engine may end before it reads the start signal
  child.stdin.write(planLine(plan));
  if (!parked) child.stdin.end();
  let last = '';
  createInterface({ input: child.stdout }).on('line', (line) => {
    last = line;
    if (!parked || !line.startsWith('{"phase":"parked"')) return;
    parked().then(
      (start) => child.stdin.end(start ?? ''),
      (error: Error) => {
        console.error(`FAILED: ${error.message}`);
        child.stdin.end();
      },
    );
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (last.includes('"phase":"done"')) writeFileSync(out, `${last}\n`);
      resolve(code ?? 1);
    });
  });
}

function machine() {
  const addresses = (process.env.SPRITES_ADDRESSES ?? '').split(/\s+/).filter((address) => address !== '');
  return { vcpus: availableParallelism(), addresses };
}

async function run(jobFile: string, id: string, out: string): Promise<number> {
  const job = readJob(readFileSync(jobFile, 'utf8'));
  if (job.go === undefined) {
    console.error('no barrier: this instance throws when its own desktops are parked, in a window of its own');
    if (job.plan === undefined) throw new Error('the job has no plan');
    const own = (text: string) => text.replaceAll(INSTANCE, id);
    return runEngine({ ...job.plan, world: own(job.plan.world), name: own(job.plan.name) }, out);
  }
  const go = await waitFor<Go>('go.json', job.go, job.waitSeconds);
  if (go === undefined) {
    console.error(`FAILED: no go.json within ${job.waitSeconds} s`);
    return EXIT_NO_GO;
  }
  const plan = go.slices[id];
  if (plan === undefined) {
    console.error('FAILED: the fleet started without this instance, which was ready too late');
    return EXIT_LEFT_OUT;
  }
  console.error(`connects at ${new Date(go.startAtMs).toISOString()}`);
  await sleep(Math.max(0, go.startAtMs - Date.now()));
  return runEngine(plan, out, job.throw === undefined ? undefined : () => agreeOnStart(job, id));
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { job: { type: 'string' }, id: { type: 'string' }, out: { type: 'string' } },
});
const { job = '', id = '', out = '' } = values;
if (positionals[0] === 'ready') {
  readJob(readFileSync(job, 'utf8'));
  console.log(JSON.stringify({ ...thisMachine(), name: id }));
} else {
  process.exitCode = await run(job, id, out);
}

/**
 * One run: starts a relay and the engine, and reads the relay's own figures once a second.
 *
 * Invariant: everything that was started has ended when `run` returns or throws. The engine's result is kept whenever it
 * printed one, also when the relay died or the run was interrupted. Cost: one small request to the relay's admin port a
 * second.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { ENGINE } from '../../tools/build.js';
import { planLine } from '../../tools/engine_plan.ts';
import { type EngineResult, type EngineSecond, readResult } from '../../tools/engine_result.ts';
import { type RelayAccount, relayAccountOf, withGauge, withGaugeOfFleet } from '../report/relay_account.ts';
import type { RelaySample } from '../report/relay_sample.ts';
import { AbortWatch } from './abort.ts';
import { type MachineFacts, type Plan, plan } from './plan.ts';
import { charactersOf, openRelay, type RelayTarget, type Stop } from './relay_target.ts';
import { isRestarted, type Scenario } from './scenario.ts';

export const SAMPLE_EVERY_MS = 1000;

/** How often the relay is asked for its gauges after the run, once a second, before they are taken to be unknown. */
const LAST_SAMPLE_TRIES_MAX = 10;

/** The last lines of the engine's stderr, which go into the error message when it fails. */
const ERROR_LINES_MAX = 5;

/** What a run reports while it is on. */
export interface Progress {
  /** `relay` is a description of the relay. */
  begins(plan: Plan, relay: string): void;
  second(second: EngineSecond, sample: RelaySample | undefined): void;
  restarts(how: Stop): void;
  restarted(seconds: number): void;
  /** `why` is a sentence. */
  aborts(why: string): void;
}

export interface CompletedRun {
  result: EngineResult;
  /** The engine's last line; what it calls lost is compared with the relay's gauge. */
  text: string;
  samples: RelaySample[];
  /** What the relay itself counted; undefined when it has no gauges or was restarted. */
  relayAccount: RelayAccount | undefined;
  plan: Plan;
  relayDescription: string;
}

/**
 * Does one run. `signal` ends it early, as an interrupt does.
 *
 * Throws Misused when the run can't be planned, Error when relay or engine can't be started or the engine ends without a result.
 */
export async function run(
  scenario: Scenario,
  desktops: number,
  machine: MachineFacts,
  progress: Progress,
  signal?: AbortSignal,
): Promise<CompletedRun> {
  const relay = await openRelay(scenario, desktops);
  try {
    const pictures = scenario.settings.lively ? await charactersOf(relay.target) : [];
    const planned = plan(scenario, desktops, machine, { ...relay.target, pictures });
    progress.begins(planned, relay.description);
    const samples: RelaySample[] = [];
    const sampling = setInterval(async () => {
      const sample = await relay.sample();
      if (sample && sample.atMs > (samples.at(-1)?.atMs ?? 0)) samples.push(sample);
    }, SAMPLE_EVERY_MS);
    const before = await relay.sample();
    try {
      const window = { fromMs: Number.POSITIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY };
      const aborted = { why: '' };
      const text = await runEngine(planned, scenario, relay, progress, samples, window, aborted, signal);
      const within = samples.filter(({ atMs }) => atMs >= window.fromMs && atMs <= window.untilMs);
      const ended = readResult(text, 'the engine');
      const printed = aborted.why === '' ? ended : { ...ended, message: aborted.why };
      const after = relay.hasGauges ? await sampleAtLast(relay, printed.ok ? LAST_SAMPLE_TRIES_MAX : 1) : undefined;
      // Desktops that have left waited for nothing any more when `after` was read.
      const atDrain = () => withGaugeOfFleet([printed], samples).results[0];
      const leaves = planned.engine.leave;
      const compared = () => (leaves ? atDrain() : withGauge(printed, after?.waiting));
      const result = relay.hasGauges ? compared() : printed;
      return {
        result,
        text: JSON.stringify(result),
        samples,
        relayAccount: forgets(scenario) ? undefined : relayAccountOf(before, after, relay.isOwn, within),
        plan: planned,
        relayDescription: relay.description,
      };
    } finally {
      clearInterval(sampling);
    }
  } finally {
    await relay.stop();
  }
}

/** Whether the relay counts from 0 again in this run, because it is restarted and has no journal. */
function forgets({ settings }: Scenario): boolean {
  return settings.restartAt > 0 && settings.durability === 'none';
}

/** A sample after the run. The relay may be busy for a moment. Undefined when it does not answer at all. */
async function sampleAtLast(relay: RelayTarget, tries: number): Promise<RelaySample | undefined> {
  for (let i = 0; i < tries; i++) {
    const waited = new Promise<undefined>((resolve) => setTimeout(resolve, SAMPLE_EVERY_MS));
    const sample = await Promise.race([relay.sample(), waited]);
    if (sample) return sample;
    await waited;
  }
  return undefined;
}

/** Runs the engine to its end. Returns its last line. */
async function runEngine(
  { engine: enginePlan }: Plan,
  { settings, aborts }: Scenario,
  relay: RelayTarget,
  progress: Progress,
  samples: readonly RelaySample[],
  window: { fromMs: number; untilMs: number },
  aborted: { why: string },
  signal: AbortSignal | undefined,
): Promise<string> {
  // nice becomes the engine: it has the same process id, and its slices inherit the niceness.
  const [program, before] = settings.nice > 0 ? ['nice', ['-n', String(settings.nice), ENGINE]] : [ENGINE, []];
  const engine = spawn(program, before, { stdio: ['pipe', 'pipe', 'pipe'] });
  engine.stdin.on('error', () => {}); // an engine that ends at once says why on stderr
  engine.stdin.end(planLine(enginePlan));
  // It then ends the run and prints what it has.
  const stopForwarding = onInterrupt((name) => engine.kill(name === 'SIGHUP' ? 'SIGTERM' : name));
  const end = () => engine.kill('SIGTERM');
  if (signal?.aborted) end();
  signal?.addEventListener('abort', end);
  const errors: string[] = [];
  createInterface({ input: engine.stderr }).on('line', (line) => {
    if (line.startsWith('swarm-engine: ')) errors.push(line.slice('swarm-engine: '.length));
    errors.splice(0, errors.length - ERROR_LINES_MAX);
  });
  let last = '';
  const abort = new AbortWatch(aborts);
  let restarting: Promise<void> | undefined;
  const windowEnd = new AbortController();
  let failed: Error | undefined;
  createInterface({ input: engine.stdout }).on('line', (line) => {
    last = line;
    const { second, phase } = JSON.parse(line) as { second?: EngineSecond; phase?: string };
    if (second) {
      progress.second(second, samples.at(-1));
      const why = abort.feed(second);
      if (why !== undefined) {
        aborted.why = why;
        progress.aborts(why);
        engine.kill('SIGTERM');
      }
    }
    if (phase === 'measure') window.fromMs = Date.now();
    if (phase === 'drain') {
      window.untilMs = Date.now();
      windowEnd.abort();
    }
    if (phase === 'measure' && relay.restart && isRestarted(settings)) {
      restarting = restartInWindow(settings, relay.restart, progress, windowEnd.signal).catch((error: Error) => {
        failed = error;
        engine.kill('SIGTERM');
      });
    }
  });
  const [code, killedBy] = await once(engine, 'close').finally(stopForwarding);
  signal?.removeEventListener('abort', end);
  windowEnd.abort();
  await restarting;
  if (failed) throw failed;
  if (!last.startsWith('{"phase":"done"')) {
    throw new Error(
      `the engine ended with ${killedBy ? `signal ${killedBy}` : `exit code ${code}`} before it printed a result${errors.map((line) => `: ${line}`).join('')}`,
    );
  }
  return last;
}

/** Restarts the relay as the settings say: once, or each time it has been there for a while, until the window ends. */
async function restartInWindow(
  { restartAt, killRelayEvery }: Scenario['settings'],
  restart: (how: Stop) => Promise<void>,
  progress: Progress,
  windowEnd: AbortSignal,
): Promise<void> {
  for (let n = 1; ; n++) {
    const seconds = killRelayEvery || restartAt;
    const isOver = await sleep(seconds * 1000, false, { signal: windowEnd }).catch(() => true);
    if (isOver) return;
    const how = killRelayEvery === 0 ? 'restart' : n % 2 === 1 ? 'kill master' : 'kill all';
    progress.restarts(how);
    const startMs = performance.now();
    await restart(how);
    progress.restarted((performance.now() - startMs) / 1000);
    if (killRelayEvery === 0) return;
  }
}

/** Calls `act` at each interrupt of this process. Returns a function that ends this. */
export function onInterrupt(act: (signal: NodeJS.Signals) => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, act);
  return () => {
    for (const signal of signals) process.off(signal, act);
  };
}

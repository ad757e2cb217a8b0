/**
 * One run: a relay, the engine, and the relay's own figures once a second beside it.
 *
 * Invariant: whatever was started has ended when `run` returns or throws, and an engine that could account for itself did,
 * also when the relay died or the run was interrupted. Cost: one small request to the relay's admin port a second.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { ENGINE } from '../../tools/build.js';
import { type EngineResult, type EngineSecond, readResult } from '../report/engine_result.ts';
import type { RelaySample } from '../report/relay_sample.ts';
import { type MachineFacts, type Plan, plan } from './plan.ts';
import { type RelayTarget, relayOf } from './relay_target.ts';
import type { Scenario } from './scenario.ts';

const SAMPLE_EVERY_MS = 1000;

/** Of what the engine says on stderr, kept for the message when it fails. */
const SAID_LINES_MAX = 5;

export interface Told {
  begins(plan: Plan, relayIs: string): void;
  second(second: EngineSecond, sample: RelaySample | undefined): void;
  restarts(): void;
}

export interface Ran {
  result: EngineResult;
  /** The engine's last line, as it came. */
  text: string;
  samples: RelaySample[];
  plan: Plan;
  relayIs: string;
}

/** Throws Misused when it can't be planned, Error when relay or engine can't be started or the engine ends without account. */
export async function run(scenario: Scenario, desktops: number, machine: MachineFacts, told: Told): Promise<Ran> {
  const relay = await relayOf(scenario, desktops);
  try {
    const planned = plan(scenario, desktops, machine, relay.target);
    told.begins(planned, relay.is);
    const samples: RelaySample[] = [];
    const sampling = setInterval(async () => {
      const sample = await relay.sample();
      if (sample && sample.atMs > (samples.at(-1)?.atMs ?? 0)) samples.push(sample);
    }, SAMPLE_EVERY_MS);
    try {
      const text = await conduct(planned, scenario, relay, told, samples);
      return { result: readResult(text, 'the engine'), text, samples, plan: planned, relayIs: relay.is };
    } finally {
      clearInterval(sampling);
    }
  } finally {
    await relay.stop();
  }
}

/** The engine from its start to its last line. */
async function conduct(
  { flags }: Plan,
  { settings }: Scenario,
  relay: RelayTarget,
  told: Told,
  samples: readonly RelaySample[],
): Promise<string> {
  const engine = spawn(ENGINE, flags, { stdio: ['ignore', 'pipe', 'pipe'] });
  const unpass = passSignals(engine);
  const said: string[] = [];
  createInterface({ input: engine.stderr }).on('line', (line) => {
    if (line.startsWith('swarm-engine: ')) said.push(line.slice('swarm-engine: '.length));
    said.splice(0, said.length - SAID_LINES_MAX);
  });
  let last = '';
  let restarting: Promise<void> | undefined;
  let failed: Error | undefined;
  createInterface({ input: engine.stdout }).on('line', (line) => {
    last = line;
    const { second, phase } = JSON.parse(line) as { second?: EngineSecond; phase?: string };
    if (second) told.second(second, samples.at(-1));
    if (phase === 'measure' && settings.restartAt > 0 && relay.restart) {
      restarting = restartAfter(settings.restartAt, relay.restart, told).catch((error: Error) => {
        failed = error;
        engine.kill('SIGTERM');
      });
    }
  });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  engine.once('error', reject);
  engine.once('close', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
  const ended = await promise.finally(unpass);
  await restarting;
  if (failed) throw failed;
  if (!last.startsWith('{"phase":"done"')) {
    throw new Error(
      `the engine ended with ${ended} before it could account for itself${said.map((line) => `: ${line}`).join('')}`,
    );
  }
  return last;
}

async function restartAfter(seconds: number, restart: () => Promise<void>, told: Told): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  told.restarts();
  await restart();
}

/** An interrupt is the engine's: it ends the run and tells what it has. */
function passSignals(engine: ChildProcess): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const pass = (signal: NodeJS.Signals) => engine.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal);
  for (const signal of signals) process.on(signal, pass);
  return () => {
    for (const signal of signals) process.off(signal, pass);
  };
}

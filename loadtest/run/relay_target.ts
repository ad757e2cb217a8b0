/**
 * The relay of a run: one that is given by its address, or one that the swarm starts for itself and stops again.
 *
 * Invariant: `sample` never throws and never waits for long; a relay too busy to tell is a gap in its figures. What was
 * started is stopped by stop(), whatever became of the run.
 */
import { readFileSync } from 'node:fs';
import { type Contender, start } from '../../tools/bench/contender.ts';
import { type RelaySample, readMetrics, sampleOf } from '../report/relay_sample.ts';
import type { Target } from './plan.ts';
import type { Scenario } from './scenario.ts';

/** A relay that has not told its metrics by then is busy with something better. */
const SAMPLE_MS_MAX = 900;

export interface RelayTarget {
  target: Target;
  /** For people. */
  is: string;
  /** Undefined: it tells nothing, or not now. */
  sample(): Promise<RelaySample | undefined>;
  /** Stops it and starts it anew on the same ports; only one that was started here. */
  restart?(): Promise<void>;
  stop(): Promise<void>;
}

/** Throws Error when the relay can't be started, or its admin port can't be asked. */
export async function relayOf(scenario: Scenario, desktops: number): Promise<RelayTarget> {
  return scenario.settings.url === '' ? startOwn(scenario, desktops) : useGiven(scenario);
}

async function startOwn({ settings }: Scenario, desktops: number): Promise<RelayTarget> {
  const { front, workers } = settings;
  const maxDesktops = [
    '--max-desktops',
    String(settings.maxDesktops ?? roomFor(settings.throwConnections, workers, desktops)),
  ];
  const shape = { name: front, front, workers, flags: maxDesktops };
  let relay: Contender = await started(shape);
  const ports = () => [
    ...['--port', String(relay.api), '--events-port', String(relay.events), '--admin-port', String(relay.admin)],
  ];
  // A relay that is started anew has other processes; the engine takes the end of one it watches for the end of the run.
  const pids = settings.restartAt > 0 ? [] : relay.pids;
  return {
    target: { api: `127.0.0.1:${relay.api}`, pids, local: true },
    is: `${front} front, ${workers === 0 ? 'one process' : workers === undefined ? 'workers by cores' : `${workers} worker${workers === 1 ? '' : 's'}`}, on the same machine`,
    sample: async () => {
      const metrics = await quietly(relay.metrics());
      return metrics && sampleOf(metrics, Date.now());
    },
    restart: async () => {
      const flags = [...maxDesktops, ...ports()];
      await relay.stop();
      relay = await started({ ...shape, flags });
    },
    stop: () => relay.stop(),
  };
}

/** With one process for all, throws come in by the same front and want room too. */
function roomFor(throwConnections: number | undefined, workers: number | undefined, desktops: number): number {
  const room = workers === 0 ? desktops + (throwConnections ?? desktops) : desktops;
  return Math.ceil(room * 1.02) + 100; // some leave and join anew, and are there twice for a moment
}

async function started(shape: Parameters<typeof start>[0]): Promise<Contender> {
  try {
    return await start(shape);
  } catch (error) {
    throw new Error(`the relay could not be started: ${(error as Error).message.replace(/^a contender /, 'it ')}`);
  }
}

async function useGiven({ settings }: Scenario): Promise<RelayTarget> {
  const { hostname, port } = new URL(settings.url);
  const api = `${hostname}:${port || 80}`;
  const pids = settings.watchPids === '' ? [] : settings.watchPids.split(',').map(Number);
  const target: Target = {
    api,
    events: settings.events || undefined,
    crossings: settings.crossings || undefined,
    pids,
    local: /^(127\.[\d.]+|localhost|\[::1\])$/.test(hostname),
  };
  const ask = settings.adminUrl === '' ? undefined : adminOf(settings.adminUrl, settings.adminTokenFile);
  await ask?.(); // an address or token that is wrong is told before the run, not missed after it
  return {
    target,
    is: settings.url,
    sample: async () => (ask ? quietly(ask()) : undefined),
    stop: async () => {},
  };
}

function adminOf(url: string, tokenFile: string): () => Promise<RelaySample> {
  const authorization = `Bearer ${readFileSync(tokenFile, 'utf8').trim()}`;
  const metrics = new URL('/metrics', url);
  return async () => {
    const answer = await fetch(metrics, {
      headers: { authorization },
      signal: AbortSignal.timeout(SAMPLE_MS_MAX),
    }).catch((error: Error) => {
      throw new Error(`${metrics}: ${(error.cause as Error | undefined)?.message ?? error.message}`);
    });
    if (!answer.ok)
      throw new Error(`${metrics}: ${answer.status} ${answer.statusText}; is the token of ${tokenFile} right?`);
    return sampleOf(readMetrics(await answer.text()), Date.now());
  };
}

async function quietly<T>(asked: Promise<T>): Promise<T | undefined> {
  return asked.catch(() => undefined);
}

/**
 * The relay of a run: a given one at its address, several of one cluster, or one that the swarm starts and stops again.
 *
 * Invariant: `sample` never throws and never waits for long; when the relay is too busy to answer, its figures have a gap.
 * A relay that was started here is stopped by stop(), however the run ended.
 */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Contender, FLOOR_SHAPE, readMetrics, start } from '../../tools/bench/contender.ts';
import { freePorts } from '../../tools/bench/free_ports.ts';
import { readText } from '../../tools/command.ts';
import { addSamples, type RelaySample, sampleOf } from '../report/relay_sample.ts';
import { filesMax } from './machine.ts';
import { connectionsOf, engineOrigin, type Target } from './plan.ts';
import { isRestarted, type Scenario, type Settings } from './scenario.ts';

/** A relay that has not answered by then is too busy; its figures get a gap. */
const SAMPLE_MS_MAX = 900;

/** A relay that has not sent its list of characters by then has none for this run. */
const CHARACTERS_MS_MAX = 10_000;

/** How a relay is restarted: as an operator does it, or by SIGKILL of its master or of all its processes at once. */
export type Stop = 'restart' | 'kill master' | 'kill all';

/** A killed relay whose processes are still there after this time is given up, in ms. */
const END_MS_MAX = 30_000;

export interface RelayTarget {
  target: Target;
  /** For people. */
  description: string;
  /** Whether it has metrics, and the swarm may read them. */
  hasGauges: boolean;
  /** Whether the swarm started it, so that nobody else throws there. */
  isOwn: boolean;
  /** Undefined when it has no metrics, or does not answer now. */
  sample(): Promise<RelaySample | undefined>;
  /**
   * Stops it and starts it again on the same ports with the same data; absent for a given relay. Rejects when it does not
   * start.
   */
  restart?(how: Stop): Promise<void>;
  stop(): Promise<void>;
}

/** Throws Error when the relay can't be started, or its admin port can't be asked. */
export async function openRelay(scenario: Scenario, desktops: number): Promise<RelayTarget> {
  const { urls, front } = scenario.settings;
  if (urls.length > 0) return useGiven(scenario);
  return front === 'floor' ? startFloors(scenario, desktops) : startOwn(scenario, front, desktops);
}

/** The share of a process's files that the connections of a floor may take. */
const FLOOR_FILES_SHARE = 0.9;

/** As many floors as the open files of one process make necessary, each with its part of the desktops, like relays of a cluster. */
async function startFloors(scenario: Scenario, desktops: number): Promise<RelayTarget> {
  const wanted = Math.ceil(connectionsOf(scenario, desktops) / (filesMax() * FLOOR_FILES_SHARE));
  const floors: Contender[] = [];
  const stop = async () => {
    for (const floor of floors) await floor.stop();
  };
  try {
    while (floors.length < wanted) floors.push(await start(FLOOR_SHAPE));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    target: {
      apis: floors.map(({ api }) => `127.0.0.1:${api}`),
      pids: floors.flatMap(({ pids }) => pids),
      local: true,
    },
    description: `the C floor, ${wanted === 1 ? 'one process' : `${wanted} processes`}, on the same machine`,
    hasGauges: false,
    isOwn: true,
    sample: async () => undefined,
    stop,
  };
}

async function startOwn(
  scenario: Scenario,
  front: Exclude<Settings['front'], 'floor'>,
  desktops: number,
): Promise<RelayTarget> {
  const { settings } = scenario;
  const { workers } = settings;
  const maxDesktops = ['--max-desktops', String(settings.maxDesktops ?? roomFor(scenario, desktops))];
  const data = await mkdtemp(join(tmpdir(), 'sprites-swarm-'));
  const flags = [...maxDesktops, '--durability', settings.durability];
  // A relay that is restarted keeps its ports.
  const hasLauncher = settings.restartAt > 0;
  const [api, events, admin] = hasLauncher ? await freePorts(3) : [0, 0, 0];
  const shape = { name: front, front, workers, flags, data, hasLauncher, ports: { api, events, admin } };
  let relay: Contender = await started(shape);
  const count = relay.pids.length - 1;
  // A restarted relay has new processes, and the engine ends the run when a process that it watches ends.
  const pids = isRestarted(settings) ? [] : relay.pids;
  return {
    target: { apis: [`127.0.0.1:${relay.api}`], pids, local: true },
    description: `${front} front, ${count === 0 ? 'one process' : `${count} worker${count === 1 ? '' : 's'}`}, on the same machine`,
    hasGauges: true,
    isOwn: true,
    sample: async () => {
      const metrics = await relay.metrics().catch(() => undefined);
      return metrics && sampleOf(metrics, Date.now());
    },
    restart: async (how) => {
      if (how === 'restart') return relay.restart();
      const { pids } = relay;
      for (const pid of how === 'kill all' ? pids : pids.slice(0, 1)) kill(pid);
      await relay.stop();
      // Workers notice the death of their master by themselves, and hold the ports until then.
      await ended(pids);
      relay = await started({ ...shape, ports: { api: relay.api, events: relay.events, admin: relay.admin } });
    },
    stop: async () => {
      await relay.stop();
      await rm(data, { recursive: true, force: true });
    },
  };
}

/** In one process, throws, sayings and peeks arrive on the same front and need room too. Without `workers` it may be one. */
function roomFor(scenario: Scenario, desktops: number): number {
  const room = scenario.settings.workers ? desktops : connectionsOf(scenario, desktops);
  return Math.ceil(room * 1.02) + 100; // a desktop that leaves and joins again counts twice for a moment
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** Whether the process has not ended. One that has ended may be listed until its parent has read that. Linux only. */
function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Waits until these processes have ended. Throws when they have not in END_MS_MAX. */
async function ended(pids: readonly number[]): Promise<void> {
  const untilMs = performance.now() + END_MS_MAX;
  while (pids.some(isRunning)) {
    if (performance.now() > untilMs) throw new Error(`processes of a killed relay are still there: ${pids.join(', ')}`);
    await sleep(10);
  }
}

async function started(shape: Parameters<typeof start>[0]): Promise<Contender> {
  try {
    return await start(shape);
  } catch (error) {
    throw new Error(`the relay could not be started: ${(error as Error).message.replace(/^a contender /, 'it ')}`);
  }
}

async function useGiven({ settings }: Scenario): Promise<RelayTarget> {
  const urls = settings.urls.map((url) => new URL(url));
  const pids = settings.watchPids === '' ? [] : settings.watchPids.split(',').map(Number);
  const target: Target = {
    apis: urls.map(engineOrigin),
    events: settings.events || undefined,
    crossings: settings.crossings || undefined,
    socket: settings.socket || undefined,
    pids,
    local: urls.every(({ hostname }) => /^(127\.[\d.]+|localhost|\[::1\])$/.test(hostname)),
  };
  const ask = settings.adminUrl === '' ? undefined : adminsOf(settings.adminUrl, settings.adminTokenFile);
  await ask?.(); // reports a wrong address or token before the run, not after it
  return {
    target,
    description:
      urls.length === 1 ? settings.urls[0] : `${urls.length} relays of one cluster: ${settings.urls.join(', ')}`,
    hasGauges: ask !== undefined,
    isOwn: false,
    sample: async () => ask?.().catch(() => undefined),
    stop: async () => {},
  };
}

/** Returns the SHA-256 of each character that a relay ships with; none when it has no site, or does not answer. */
export async function charactersOf({ apis: [first] }: Target): Promise<string[]> {
  try {
    const url = `${first.includes('://') ? first : `http://${first}`}/sprites/index.json`;
    const response = await fetch(url, { signal: AbortSignal.timeout(CHARACTERS_MS_MAX) });
    const characters: { file: string }[] = await response.json();
    return characters.map(({ file }) => file);
  } catch {
    return [];
  }
}

/** Reads a sample at the admin port of each relay, and adds them. `urls` and `tokenFiles` have commas between them. Throws as adminOf(). */
function adminsOf(urls: string, tokenFiles: string): () => Promise<RelaySample> {
  const files = tokenFiles.split(',');
  const admins = urls.split(',').map((url, n) => adminOf(url, files[n] ?? files[0]));
  return async () => addSamples(await Promise.all(admins.map((ask) => ask())));
}

/** Reads a sample at an admin port. Throws Misused when there is no token. */
export function adminOf(url: string, tokenFile: string): () => Promise<RelaySample> {
  const ask = metricsOf(url, tokenFile);
  return async () => sampleOf(await ask(), Date.now());
}

/** Asks an admin port for its metrics. The returned function throws Error, a sentence, when it does not answer in time. */
export function metricsOf(url: string, tokenFile: string): () => Promise<Map<string, number>> {
  const authorization = `Bearer ${readText(tokenFile, '--admin-token-file').trim()}`;
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
    return readMetrics(await answer.text());
  };
}

/**
 * A scenario: the description of a run, read from a file, from flags, or from both, and checked. Flags win.
 *
 * Each setting stands once in SETTINGS: `--throw-every 5s` on the command line is `"throwEvery": "5s"` in a file, read by
 * the same function. Invariant: every Scenario that `readScenario` returns can be planned; contradictions were rejected.
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { LEASE_MS } from '../../server/wire/rules.ts';
import {
  duration,
  form,
  Misused,
  matching,
  number,
  oneOf,
  readSeconds,
  readText,
  readValue,
  text,
  toggle,
  type Values,
  whole,
} from '../../tools/command.ts';
import { BEHAVIOURS, type Behaviour, ENGINE_PLAN, type EngineLoad, type RampStage } from '../../tools/engine_plan.ts';
import { didYouMean } from '../../tools/nearest.js';
import { isToldByRelay, readThreshold, type Threshold } from '../report/verdict.ts';
import { readAbort } from './abort.ts';
import { readSources } from './sources.ts';

type Mix = Partial<Record<Behaviour, number>>;

/** What desktops hold and throw on. */
const TRANSPORTS = ['poll', 'socket'] as const;

/** What the engine knows, and a rate that is said for each throwing desktop. */
export type Load = EngineLoad | { kind: 'every'; seconds: number };

export interface Scenario {
  name: string;
  /** A sentence; empty for a scenario that comes from flags only. */
  shows: string;
  /** More than one: a sweep, one run each. */
  desktops: number[];
  load: Load;
  /** Shares, of any sum above 0. */
  mix: Mix;
  settings: Settings;
  thresholds: Threshold[];
  /** When one of these has not held for some seconds, the run ends. */
  aborts: Threshold[];
}

const DURATION_SECONDS_MIN = 0.1;
const SECONDS_MAX = 7 * 24 * 3600; // the engine's own bound: a typing error must not hold a machine for a year
export const DESKTOPS_MAX = 2 ** 24 - 1; // a desktop's index has six hex digits in a sprite's tag
export const THROWS_PER_SECOND_MAX = 1e7;
const STAGES_MAX = 100; // more than anybody writes by hand
const RUNS_MAX = 100;
/** Far above what a relay takes, to see it refuse. */
export const TALK_RATE_MAX = 100;
const RELAYS_MAX = 64; // the engine's own bound
const API = /^https?:\/\/[^/\s,]+\/?$/;
/** Below the relay's lease: when a lease ends, the desktop's sprites are delivered to another. */
const READ_LATE_SECONDS_MAX = LEASE_MS / 1000 - 5;

const time = (fallback: number, meaning: string, min = 0) => duration('T', meaning, [min, SECONDS_MAX], fallback);
const some = (value: string, meaning: string) => text(value, meaning, '');
const address = (value: string, meaning: string, must: string, pattern: RegExp) =>
  matching(value, meaning, must, pattern, '');

/** Settings under the headings that --help has. */
export const SECTIONS = {
  'The load': {
    desktops: {
      ...form(
        'N',
        'fake desktops; a list such as 10,50,100 is a sweep: one run for each',
        `a whole number from 1 to ${DESKTOPS_MAX}, or several such as 10,50,100`,
        readDesktops,
        [1000],
      ),
      shown: '1000',
    },
    throwEvery: { ...time(0, 'how often each throwing desktop throws'), shown: '5s' },
    rate: {
      ...number('R', 'instead: throws a second, of all desktops together', [0.001, THROWS_PER_SECOND_MAX], 0),
      shown: '',
    },
    stages: form(
      'T:R,…',
      'instead: throws a second that ramp from 0 to R within T, and so on; 0s:R is a jump. They are the whole window',
      `at most ${STAGES_MAX} stages such as 30s:1000,2m:1000,30s:0, of which some rate is above 0`,
      (given) => (readStages(given) ? given : undefined),
      '',
    ),
    inFlight: {
      ...whole('N', 'instead: a closed loop with this many sprites in flight', [1, 1_000_000], 0),
      shown: '',
    },
    sitting: toggle('instead: no desktop throws'),
    mix: {
      ...form(
        'SHARES',
        `shares of ${BEHAVIOURS.join(', ')}`,
        'a list of shares such as throwing=80,sitting=20',
        readMix,
        {},
      ),
      shown: 'throwing=1',
    },
    transport: oneOf(
      'KIND',
      'what desktops use: long-polls and a POST for each throw and saying, or a WebSocket for all',
      TRANSPORTS,
      ENGINE_PLAN.transport,
    ),
    throwConnections: form(
      'N',
      'connections that throws share, or "each": every throw opens one, which the relay closes; one for each throwing desktop unless given',
      `a whole number from 1 to ${DESKTOPS_MAX}, or each`,
      readThrowConnections,
    ),
    arrivals: oneOf(
      'KIND',
      'gaps between throws: all alike, or as independent people throw',
      ['even', 'random'],
      ENGINE_PLAN.arrivals,
    ),
    lively: toggle(
      "sprites show the relay's characters, and desktops have the friendly names that it gives: for people who watch",
    ),
    spriteBytes: whole('N', 'pad the body of a throw to this many bytes', [1, 1024]),
    seed: whole('N', 'seed of everything random', [0, Number.MAX_SAFE_INTEGER], ENGINE_PLAN.seed),
    talkRate: number(
      'R',
      'sayings a second of each desktop that talks; a relay takes 2 over a longer time',
      [0.001, TALK_RATE_MAX],
      ENGINE_PLAN.talkRate,
    ),
    actEvery: time(
      ENGINE_PLAN.actEvery,
      'how often a storming desktop reconnects, a churning one leaves, a hostile one strikes',
    ),
    readLate: time(ENGINE_PLAN.readLate, 'how late a slow desktop reads an answer'),
  },
  'The phases': {
    connectRate: whole('N', 'desktops that connect a second', [1, 1e7], ENGINE_PLAN.connectRate),
    connectBatch: whole('N', 'desktops that connect at the same moment', [1, DESKTOPS_MAX], ENGINE_PLAN.connectBatch),
    connectTimeout: time(ENGINE_PLAN.connectTimeout, 'how long the desktops have to connect and park'),
    settle: time(ENGINE_PLAN.settle, 'quiet time before the first throw'),
    warmUp: time(ENGINE_PLAN.warmUp, 'throws that do not count for latency and CPU'),
    duration: time(ENGINE_PLAN.duration, 'the measured window', DURATION_SECONDS_MIN),
    drain: time(ENGINE_PLAN.drain, 'how long to wait at most for sprites in flight'),
    postTimeout: time(ENGINE_PLAN.postTimeout, 'a throw without an answer has timed out after this'),
    lateAfter: time(ENGINE_PLAN.lateAfter, 'an arrival this long after it was due is late'),
    slipMax: time(
      ENGINE_PLAN.slipMax,
      'the swarm is the limit when one throw in a hundred leaves later than this; more for a swarm with --nice',
    ),
    goneAfter: time(
      ENGINE_PLAN.goneAfter,
      'a relay that refuses connections and answers nothing for so long is gone, and the run ends',
    ),
    pollOverdue: time(ENGINE_PLAN.pollOverdue, 'a poll without an answer is overdue after this'),
  },
  'The relay': {
    url: address(
      'URL',
      'its API; without it the swarm starts its own relay',
      'http://HOST:PORT or https://HOST:PORT',
      API,
    ),
    urls: {
      ...form(
        'URL,…',
        'instead: the APIs of several relays of one cluster; each gets the same number of desktops. They join the world commons unless --world is given',
        `at most ${RELAYS_MAX} different ones, like http://HOST:PORT,http://HOST:PORT`,
        readUrls,
        [],
      ),
      shown: '',
    },
    ca: some('FILE', 'trust the certificates in this PEM file instead of those that the system trusts'),
    events: address('HOST:PORT', 'where polls go, instead of where the relay says', 'HOST:PORT', /^\S+:\d{1,5}$/),
    crossings: address('HOST:PORT', 'where throws go, instead of where the relay says', 'HOST:PORT', /^\S+:\d{1,5}$/),
    socket: address('HOST:PORT', 'where sockets go, instead of where the relay says', 'HOST:PORT', /^\S+:\d{1,5}$/),
    world: some('NAME', 'the world to join; with --url a new one that nobody else is in'),
    adminUrl: address(
      'URL',
      'its admin port, where its own figures are; with --urls, one for each, in the same order: A,B,C',
      'http://HOST:PORT',
      /^https?:\/\/[^/\s,]+\/?(,https?:\/\/[^/\s,]+\/?)*$/,
    ),
    adminTokenFile: some('FILE', 'the admin token; with --urls one for each relay, or one that all have'),
    watchPids: address('PIDS', 'its processes, if it runs here: 12,13', 'process ids such as 12,13', /^\d+(,\d+)*$/),
    front: oneOf(
      'KIND',
      'front of the relay that is started; floor: instead of a relay the C program of the benches that does the least',
      ['auto', 'native', 'portable', 'floor'],
      'auto',
    ),
    workers: whole('N', 'worker processes of that relay; 0: everything in one process', [0, 64]),
    maxDesktops: whole('N', '--max-desktops of that relay; what the swarm needs unless given', [1, DESKTOPS_MAX]),
    durability: oneOf('KIND', 'what a 202 of that relay survives', ['process', 'machine', 'none'], 'process'),
    restartAt: { ...time(0, 'restart that relay this long into the window'), shown: '' },
    killRelayEvery: {
      ...time(
        0,
        'kill that relay when it has run for T, and start it again, until the window ends: its master, then all of its processes, in turns',
      ),
      shown: '',
    },
  },
  'The machine': {
    isolate: toggle('relay and swarm run in their own network namespace, with all its ports'),
    sources: form(
      'LIST',
      'local IPv4 addresses to connect from: 10.0.0.5-10.0.0.9',
      'IPv4 addresses and ranges such as 10.0.0.5-10.0.0.9,10.0.1.1',
      (given) => (readSources(given) ? given : undefined),
      '',
    ),
    processes: whole(
      'N',
      'engine processes; as many as throws need unless given, and always as many as open files need',
      [1, 4095],
    ),
    nice: whole('N', 'niceness of the swarm, so that a relay on the same machine comes first', [0, 19], 0),
  },
  'The report': {
    runs: whole('N', 'repeat the run this often, so that compare knows the spread', [1, RUNS_MAX], 1),
    out: some('DIR', 'keep the report here as text, JSON, page, .hgrm and JUnit, and the results of the engines'),
    quiet: toggle('print no line a second'),
  },
} as const;

export const SETTINGS = {
  ...SECTIONS['The load'],
  ...SECTIONS['The phases'],
  ...SECTIONS['The relay'],
  ...SECTIONS['The machine'],
  ...SECTIONS['The report'],
};
export type Settings = Values<typeof SETTINGS>;

/** Whether the swarm restarts its relay during the run. */
export function isRestarted({ restartAt, killRelayEvery }: Settings): boolean {
  return restartAt > 0 || killRelayEvery > 0;
}

/** Settings from a command line: their values, and which of them were on it. */
export interface Flags {
  values: Settings & { threshold: readonly string[]; abort: readonly string[] };
  given: ReadonlySet<string>;
}

const KEPT = join(import.meta.dirname, '../scenarios');

/** The names of the scenarios that are kept here. */
export function keptScenarios(): string[] {
  return readdirSync(KEPT).map((file) => basename(file, '.json'));
}

/** The text of a scenario: `word` is a file or a kept name. Throws Misused. */
export function openScenario(word: string): { json: string; where: string } {
  const path = existsSync(word) ? word : join(KEPT, `${word}.json`);
  if (!existsSync(path)) {
    const kept = keptScenarios();
    throw new Misused(
      `There is no scenario ${JSON.stringify(word)}: give a file, or one of ${kept.join(', ')}.${didYouMean(word, kept)}`,
    );
  }
  return { json: readText(path), where: word };
}

/** What a file has besides settings. */
const FILE_ONLY = ['name', 'shows', 'thresholds', 'aborts'];

/**
 * The scenario that a file's JSON (undefined: there is none) and flags make together.
 *
 * Throws Misused, a sentence that names the setting and, for a setting of the file, `where`.
 */
export function readScenario(file: { json: string; where: string } | undefined, { values, given }: Flags): Scenario {
  const fromFile = file
    ? readFile(file.json, file.where)
    : { name: 'swarm', shows: '', thresholds: [], aborts: [], given: new Map<string, string>() };
  const isLoadGiven = [...given].some(isLoad);
  const settings = Object.fromEntries(
    Object.entries(SETTINGS).map(([name, setting]) => {
      const kept = fromFile.given.get(name);
      // A load on the command line replaces the load of the file, of whatever kind.
      const isReplaced = given.has(name) || (isLoad(name) && isLoadGiven);
      if (kept === undefined || isReplaced) return [name, values[name as keyof Settings]];
      return [name, readValue(setting, kept, `${file?.where}: ${name}`)];
    }),
  ) as Settings;
  if (settings.url !== '') {
    if (settings.urls.length > 0) throw new Misused('give only one of --url and --urls');
    settings.urls = [settings.url];
  }
  const load = loadOf(settings);
  if (load.kind === 'stages') {
    settings.duration = load.stages.reduce((sum, { seconds }) => sum + seconds, 0);
    settings.warmUp = 0;
  }
  const mix = mixOf(settings.mix, load);
  checkTogether(settings, load, mix);
  const thresholds = [...fromFile.thresholds, ...values.threshold].map(readThreshold);
  const aborts = [...fromFile.aborts, ...values.abort].map(readAbort);
  const { name, shows } = fromFile;
  const scenario = { name, shows, desktops: settings.desktops, load, mix, settings, thresholds, aborts };
  return settings.front === 'floor' ? onFloor(scenario) : scenario;
}

/** The scenario for the C floor: without the thresholds for what only a relay tells of itself. */
export function onFloor({ thresholds, settings, ...scenario }: Scenario): Scenario {
  return {
    ...scenario,
    thresholds: thresholds.filter((threshold) => !isToldByRelay(threshold)),
    settings: { ...settings, front: 'floor' },
  };
}

/** The number of desktops of each behaviour: whole numbers whose sum is `desktops`; the largest remainders are rounded up. */
export function countsOf(mix: Mix, desktops: number): Record<Behaviour, number> {
  const total = BEHAVIOURS.reduce((sum, behaviour) => sum + (mix[behaviour] ?? 0), 0);
  const exact = BEHAVIOURS.map((behaviour) => (desktops * (mix[behaviour] ?? 0)) / total);
  const counts = exact.map(Math.floor);
  const order = exact.map((_, i) => i).sort((a, b) => exact[b] - counts[b] - (exact[a] - counts[a]));
  const missing = desktops - counts.reduce((sum, n) => sum + n, 0);
  for (let i = 0; i < missing; i++) counts[order[i]]++;
  return Object.fromEntries(BEHAVIOURS.map((behaviour, i) => [behaviour, counts[i]])) as Record<Behaviour, number>;
}

function readFile(json: string, where: string) {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new Misused(`${where}: not JSON: ${(error as Error).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Misused(`${where}: must be an object with settings, like {"desktops": 1000, "throwEvery": "5s"}`);
  }
  const given = new Map<string, string>();
  for (const [name, one] of Object.entries(value)) {
    if (FILE_ONLY.includes(name)) continue;
    if (!Object.hasOwn(SETTINGS, name)) {
      throw new Misused(
        `${where}: there is no setting "${name}"; there are ${[...FILE_ONLY, ...Object.keys(SETTINGS)].join(', ')}`,
      );
    }
    given.set(name, asText(one));
  }
  const { name, shows, thresholds, aborts } = value as Record<string, unknown>;
  for (const [key, one] of Object.entries({ name, shows })) {
    if (one !== undefined && typeof one !== 'string') throw new Misused(`${where}: ${key} must be text`);
  }
  for (const [key, one] of Object.entries({ thresholds, aborts })) {
    if (one !== undefined && !(Array.isArray(one) && one.every((sentence) => typeof sentence === 'string'))) {
      throw new Misused(`${where}: ${key} must be a list of sentences like "p99 < 50ms"`);
    }
  }
  return {
    name: String(name ?? 'swarm'),
    shows: String(shows ?? ''),
    thresholds: (thresholds ?? []) as string[],
    aborts: (aborts ?? []) as string[],
    given,
  };
}

/** A value of a file in the form of the command line. */
function asText(value: unknown): string {
  if (Array.isArray(value)) return value.map(asText).join(',');
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([key, one]) => `${key}=${asText(one)}`)
      .join(',');
  }
  return String(value);
}

const LOADS = ['throwEvery', 'rate', 'stages', 'inFlight', 'sitting'];
const isLoad = (name: string) => LOADS.includes(name);

function loadOf({ throwEvery, rate, stages, inFlight, sitting }: Settings): Load {
  const loads: Load[] = [];
  if (throwEvery > 0) loads.push({ kind: 'every', seconds: throwEvery });
  if (rate > 0) loads.push({ kind: 'rate', perSecond: rate });
  if (stages !== '') loads.push({ kind: 'stages', stages: readStages(stages) as RampStage[] });
  if (inFlight > 0) loads.push({ kind: 'closed', inFlight });
  if (sitting) loads.push({ kind: 'sitting' });
  if (loads.length > 1) {
    throw new Misused('give only one of --throw-every, --rate, --stages, --in-flight and --sitting');
  }
  return loads[0] ?? { kind: 'every', seconds: 5 };
}

function mixOf(mix: Mix, load: Load): Mix {
  if (Object.keys(mix).length > 0) return mix;
  return load.kind === 'sitting' ? { sitting: 1 } : { throwing: 1 };
}

/** Throws Misused for settings that contradict each other. */
function checkTogether(settings: Settings, load: Load, mix: Mix): void {
  const throwing = (mix.throwing ?? 0) > 0;
  const refusals: Refusals = [
    [load.kind === 'sitting' && throwing, '--sitting, and yet --mix has desktops that throw'],
    [load.kind !== 'sitting' && !throwing, '--mix has no desktop that throws: add throwing=…, or give --sitting'],
    ...settings.desktops.flatMap((desktops) => countRefusals(countsOf(mix, desktops), desktops, throwing)),
    [
      settings.transport === 'socket' && settings.throwConnections !== undefined,
      '--throw-connections are POSTs; with --transport socket each desktop throws on its socket',
    ],
    [
      settings.readLate > READ_LATE_SECONDS_MAX,
      `--read-late must be at most ${READ_LATE_SECONDS_MAX} s: a desktop that is silent for longer loses its lease`,
    ],
    [
      settings.front === 'floor' && !floorCarries(settings, mix),
      '--front floor only carries throws, between long-polls',
    ],
    ...relayRefusals(settings),
    ...restartRefusals(settings),
  ];
  const refusal = refusals.find(([isWrong]) => isWrong);
  if (refusal) throw new Misused(refusal[1]);
}

type Refusals = [isWrong: boolean, why: string][];

/** The floor knows three requests: join, poll, throw. */
const floorCarries = (settings: Settings, mix: Mix): boolean =>
  settings.transport === 'poll' &&
  !isRestarted(settings) &&
  Object.entries(mix).every(([behaviour, share]) => share === 0 || behaviour === 'throwing' || behaviour === 'sitting');

function countRefusals(counts: Record<Behaviour, number>, desktops: number, throwing: boolean): Refusals {
  return [
    [throwing && counts.throwing === 0, `--mix: none of ${desktops} desktops would throw: raise the share of throwing`],
    [counts.hostile === desktops, '--mix has only hostile desktops: add some for them to disturb'],
  ];
}

function relayRefusals({ urls, ca, adminUrl, adminTokenFile, isolate, ...settings }: Settings): Refusals {
  const isGiven = urls.length > 0;
  const ownAddress = (['events', 'crossings', 'socket'] as const).find((name) => settings[name] !== '');
  const [admins, files] = [adminUrl, adminTokenFile].map((list) => list.split(',').length);
  const hasAdmin = adminUrl !== '';
  return [
    [isGiven && isolate, '--isolate starts its own relay, inside: leave --url out'],
    [isGiven && settings.restartAt > 0, '--restart-at restarts a relay that the swarm started: leave --url out'],
    [
      isGiven && settings.killRelayEvery > 0,
      '--kill-relay-every kills a relay that the swarm started: leave --url out',
    ],
    [
      urls.length > 1 && ownAddress !== undefined,
      `--${ownAddress} belongs to one relay: leave it out, or give --url instead of --urls`,
    ],
    [ca !== '' && !isGiven, '--ca: the relay that the swarm starts has no TLS: leave it out, or give --url'],
    [hasAdmin !== (adminTokenFile !== ''), '--admin-url and --admin-token-file go together'],
    [hasAdmin && !isGiven, '--admin-url belongs to a relay given by --url'],
    [
      hasAdmin && admins !== urls.length,
      `--admin-url: must be one for each relay, ${urls.length} in the order of --urls, not ${admins}`,
    ],
    [
      hasAdmin && files !== 1 && files !== admins,
      `--admin-token-file: must be one for each relay, or one that all have, not ${files}`,
    ],
  ];
}

function restartRefusals({ restartAt, killRelayEvery, duration, durability }: Settings): Refusals {
  const isKilled = killRelayEvery > 0;
  return [
    [restartAt > 0 && restartAt >= duration, '--restart-at must lie within --duration'],
    [isKilled && restartAt > 0, 'give only one of --restart-at and --kill-relay-every'],
    [isKilled && killRelayEvery >= duration, '--kill-relay-every must be less than --duration'],
    [
      isKilled && durability === 'none',
      '--kill-relay-every: with --durability none a killed relay knows no desktop any more',
    ],
  ];
}

function readUrls(given: string): string[] | undefined {
  const urls = given.split(',');
  const wrong = urls.find((url) => !API.test(url));
  if (wrong !== undefined) {
    throw new Misused(`--urls: ${JSON.stringify(wrong)} is not an http or https URL such as http://HOST:PORT`);
  }
  const isUnique = new Set(urls.map((url) => new URL(url).host)).size === urls.length;
  return isUnique && urls.length <= RELAYS_MAX ? urls : undefined;
}

function readThrowConnections(given: string): number | 'each' | undefined {
  if (given === 'each') return given;
  return /^\d{1,8}$/.test(given) && Number(given) >= 1 && Number(given) <= DESKTOPS_MAX ? Number(given) : undefined;
}

function readDesktops(given: string): number[] | undefined {
  const numbers = given.split(',').map((one) => (/^\d+$/.test(one.trim()) ? Number(one) : 0));
  return numbers.every((n) => n >= 1 && n <= DESKTOPS_MAX) ? numbers : undefined;
}

/** "30s:1000,2m:1000": how long each stage lasts, and the throws a second at its end. */
function readStages(given: string): RampStage[] | undefined {
  const stages = given.split(',').map((part): RampStage | undefined => {
    const [, lasts, rate] = /^\s*([\d.]+ ?[a-zµ]*):(\d+(?:\.\d+)?)\s*$/.exec(part) ?? [];
    const seconds = lasts === undefined ? undefined : readSeconds(lasts);
    return seconds === undefined || Number(rate) > THROWS_PER_SECOND_MAX
      ? undefined
      : { seconds, perSecond: Number(rate) };
  });
  const known = stages.filter((stage) => stage !== undefined);
  const seconds = known.reduce((sum, stage) => sum + stage.seconds, 0);
  if (known.length < stages.length || known.length > STAGES_MAX) return undefined;
  if (seconds < DURATION_SECONDS_MIN || seconds > SECONDS_MAX) return undefined;
  // A single jump at the very end throws nothing.
  const throwing = known.some(({ perSecond }, i) => perSecond > 0 && (known[i].seconds > 0 || i + 1 < known.length));
  return throwing ? known : undefined;
}

function readMix(given: string): Mix | undefined {
  const mix: Mix = {};
  for (const part of given.split(',')) {
    const [, name, share] = /^\s*(\w+)\s*[=:]\s*(\d+(?:\.\d+)?)%?\s*$/.exec(part) ?? [];
    const behaviour = BEHAVIOURS.find((one) => one === name);
    if (behaviour === undefined || behaviour in mix) return undefined;
    mix[behaviour] = Number(share);
  }
  return Object.values(mix).some((share) => share > 0) ? mix : undefined;
}

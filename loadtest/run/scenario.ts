/**
 * A scenario: what a run is to be, checked. Out of a file, out of flags, or both: flags win.
 *
 * Each setting stands once in SETTINGS: `--throw-every 5s` on the command line is `"throwEvery": "5s"` in a file, read by
 * the same function. Invariant: a Scenario that was returned can be planned; what contradicts itself was refused.
 */
import { parseArgs } from 'node:util';
import { readSeconds } from '../report/units.ts';
import { readThreshold, type Threshold } from '../report/verdict.ts';

/** What a fake desktop does, besides holding its poll. engine/behaviour.h says how. */
export const BEHAVIOURS = ['sitting', 'throwing', 'storming', 'churning', 'slow', 'hostile'] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];
export type Mix = Partial<Record<Behaviour, number>>;

export type Load =
  | { kind: 'every'; seconds: number }
  | { kind: 'rate'; perSecond: number }
  | { kind: 'closed'; inFlight: number }
  | { kind: 'sitting' };

export interface Scenario {
  name: string;
  /** A sentence; empty when the scenario is flags alone. */
  shows: string;
  /** More than one: a sweep, one run each. */
  desktops: number[];
  load: Load;
  /** Shares, of any sum above 0. */
  mix: Mix;
  settings: Settings;
  thresholds: Threshold[];
}

/** A scenario, or a command line, that can't be: its message says which setting, what was wrong and what it takes. */
export class Misused extends Error {}

interface Setting<T> {
  /** What the value is, for --help; empty for a switch. */
  value: string;
  otherwise: T;
  /** As --help tells the default; '' when there is none. */
  default: string;
  meaning: string;
  /** Undefined: not of the form. */
  read(text: string): T | undefined;
}

const SECONDS_MAX = 7 * 24 * 3600; // the engine's own bound: a typing error must not hold a machine for a year
const DESKTOPS_MAX = 2 ** 24 - 1; // a desktop's index has six hex digits in a sprite's tag
const RUNS_MAX = 100;
/** Below the relay's lease of 30 s: a desktop that is taken for gone has its sprites delivered to another. */
const READ_LATE_SECONDS_MAX = 25;

const time = (otherwise: number, meaning: string): Setting<number> => ({
  value: 'T',
  otherwise,
  default: `${otherwise}s`,
  meaning,
  read: (text) => {
    const seconds = readSeconds(text);
    return seconds !== undefined && seconds <= SECONDS_MAX ? seconds : undefined;
  },
});
const whole = <T extends number | undefined>(otherwise: T, max: number, meaning: string): Setting<number | T> => ({
  value: 'N',
  otherwise,
  default: otherwise === undefined ? '' : String(otherwise),
  meaning,
  read: (text) => (/^\d+$/.test(text) && Number(text) <= max ? Number(text) : undefined),
});
const text = (value: string, meaning: string): Setting<string> => ({
  value,
  otherwise: '',
  default: '',
  meaning,
  read: (given) => (given === '' ? undefined : given),
});
const toggle = (meaning: string): Setting<boolean> => ({
  value: '',
  otherwise: false,
  default: '',
  meaning,
  read: (given) => (given === 'true' ? true : given === 'false' ? false : undefined),
});
const choice = <T extends string>(choices: readonly T[], meaning: string): Setting<T> => ({
  value: choices.join('|'),
  otherwise: choices[0],
  default: choices[0],
  meaning,
  read: (given) => choices.find((one) => one === given),
});

/** Groups as --help shows them. */
const GROUPS = {
  'The load': {
    desktops: {
      value: 'N',
      otherwise: [1000],
      default: '1000',
      meaning: 'fake desktops; several, 10,50,100, are a sweep: one run each',
      read: readDesktops,
    } as Setting<number[]>,
    throwEvery: { ...time(0, 'each throwing desktop throws so often'), default: '5s' },
    rate: {
      value: 'R',
      otherwise: 0,
      default: '',
      meaning: 'instead: so many throws a second, of all together',
      read: (given) =>
        /^\d+(\.\d+)?$/.test(given) && Number(given) > 0 && Number(given) <= 1e7 ? Number(given) : undefined,
    } as Setting<number>,
    inFlight: whole(0, 1_000_000, 'instead: a closed loop of so many relays in flight'),
    sitting: toggle('instead: nobody throws'),
    mix: {
      value: 'SHARES',
      otherwise: {},
      default: 'throwing=1',
      meaning: `shares of ${BEHAVIOURS.join(', ')}`,
      read: readMix,
    } as Setting<Mix>,
    throwConnections: whole(
      undefined,
      DESKTOPS_MAX,
      'connections that throws share; one for each thrower unless given',
    ),
    arrivals: choice(['even', 'random'], 'gaps all alike, or as independent people throw'),
    spriteBytes: whole(undefined, 1024, 'pad the body of a throw up to this'),
    seed: whole(1, Number.MAX_SAFE_INTEGER, 'of everything random'),
    actEvery: time(5, 'how often who storms reconnects, churns leaves, and is hostile strikes'),
    readLate: time(2, 'how late who is slow reads an answer'),
  },
  'The phases': {
    connectRate: whole(10_000, 1e7, 'desktops that come a second'),
    connectBatch: whole(1, DESKTOPS_MAX, 'so many of them at once'),
    connectTimeout: time(120, 'until all must be parked'),
    settle: time(1, 'quiet before the first throw'),
    warmUp: time(2, 'throws that do not count for latency and CPU'),
    duration: time(30, 'the measured window'),
    drain: time(10, 'at most, for what is under way'),
    postTimeout: time(10, 'a throw without an answer has timed out'),
    lateAfter: time(1, 'an arrival so long after it was due is late'),
    pollOverdue: time(150, 'a poll that does not come back'),
  },
  'The relay': {
    url: text('URL', 'http://HOST:PORT of its API; a relay is started when it is left out'),
    events: text('HOST:PORT', 'where polls go, instead of where the relay says'),
    crossings: text('HOST:PORT', 'where throws go, instead of where the relay says'),
    world: text('NAME', 'the world to join; with --url one that nobody else is in'),
    adminUrl: text('URL', 'http://HOST:PORT of its admin port, for its own figures'),
    adminTokenFile: text('FILE', 'the admin token'),
    watchPids: text('PIDS', 'its processes, if it runs here: 12,13'),
    front: choice(['auto', 'native', 'portable'], 'of the relay that is started'),
    workers: whole(undefined, 64, 'of it; 0: everything in one process'),
    maxDesktops: whole(undefined, DESKTOPS_MAX, 'of it; what the swarm needs unless given'),
    restartAt: { ...time(0, 'stop it and start it anew, so long into the window'), default: '' },
  },
  'The machine': {
    isolate: toggle('relay and swarm in a network namespace of their own, with all its ports'),
    sources: text('LIST', 'local IPv4 addresses to come from: 10.0.0.5-10.0.0.9'),
    processes: whole(undefined, 4095, 'of the engine; as many as files and throws demand unless given'),
  },
  'The report': {
    runs: whole(1, RUNS_MAX, 'the same so many times, so that compare knows the spread'),
    out: text('DIR', 'keep report.txt, report.json, report.html and the engines’ results here'),
    quiet: toggle('no line a second'),
  },
};

const SETTINGS = {
  ...GROUPS['The load'],
  ...GROUPS['The phases'],
  ...GROUPS['The relay'],
  ...GROUPS['The machine'],
  ...GROUPS['The report'],
};
type Value<S> = S extends Setting<infer T> ? T : never;
export type Settings = { [Name in keyof typeof SETTINGS]: Value<(typeof SETTINGS)[Name]> };

/** What a file has besides. */
const FILE_ONLY = ['name', 'shows', 'thresholds'];

const flagOf = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** What --help says of the settings. */
export function settingsHelp(): string {
  return Object.entries(GROUPS)
    .map(([group, settings]) => {
      const lines = Object.entries(settings as Record<string, Setting<unknown>>).map(
        ([name, { value, default: said, meaning }]) =>
          `  ${`--${flagOf(name)} ${value}`.padEnd(28)}${meaning}${said === '' ? '' : ` [${said}]`}`.trimEnd(),
      );
      return [`${group}:`, ...lines].join('\n');
    })
    .join('\n\n');
}

/** What a command line says: positional words and settings, as text. Throws Misused. */
export function readFlags(argv: readonly string[]): {
  words: string[];
  given: Map<string, string>;
  thresholds: string[];
} {
  const options: Record<string, { type: 'string' | 'boolean'; multiple?: boolean }> = {
    threshold: { type: 'string', multiple: true },
  };
  const names = new Map<string, string>();
  for (const [name, { value }] of Object.entries(SETTINGS)) {
    names.set(flagOf(name), name);
    options[flagOf(name)] = { type: value === '' ? 'boolean' : 'string' };
  }
  const { values, positionals } = parsed(argv, options);
  const given = new Map<string, string>();
  for (const [flag, value] of Object.entries(values)) {
    const name = names.get(flag);
    if (name !== undefined) given.set(name, String(value));
  }
  return { words: positionals, given, thresholds: (values.threshold ?? []) as string[] };
}

/**
 * The scenario that a file's JSON (undefined: there is none) and flags make together.
 *
 * Throws Misused, a sentence that names the setting and, for what came from the file, `where`.
 */
export function readScenario(
  file: { json: string; where: string } | undefined,
  flags: { given: ReadonlyMap<string, string>; thresholds: readonly string[] },
): Scenario {
  const fromFile = file
    ? readFile(file.json, file.where)
    : { name: 'swarm', shows: '', thresholds: [], given: new Map() };
  const settings = Object.fromEntries(
    Object.entries(SETTINGS).map(([name, setting]) => {
      const flag = flags.given.get(name);
      if (flag !== undefined) return [name, readSetting(setting, flag, `--${flagOf(name)}`)];
      const kept = fromFile.given.get(name);
      // A load on the command line replaces the load of the file, of whatever kind.
      if (kept !== undefined && !(isLoad(name) && [...flags.given.keys()].some(isLoad))) {
        return [name, readSetting(setting, kept, `${file?.where}: ${name}`)];
      }
      return [name, setting.otherwise];
    }),
  ) as Settings;
  try {
    const thresholds = [...fromFile.thresholds, ...flags.thresholds].map(readThreshold);
    const load = loadOf(settings);
    const mix = mixOf(settings.mix, load);
    contradictions(settings, load, mix);
    return { name: fromFile.name, shows: fromFile.shows, desktops: settings.desktops, load, mix, settings, thresholds };
  } catch (error) {
    throw new Misused((error as Error).message);
  }
}

/** How many desktops do what: shares of `desktops`, whole numbers whose sum it is; remainders go to the largest. */
export function countsOf(mix: Mix, desktops: number): Record<Behaviour, number> {
  const total = BEHAVIOURS.reduce((sum, behaviour) => sum + (mix[behaviour] ?? 0), 0);
  const exact = BEHAVIOURS.map((behaviour) => (desktops * (mix[behaviour] ?? 0)) / total);
  const counts = exact.map(Math.floor);
  const order = exact.map((_, i) => i).sort((a, b) => exact[b] - counts[b] - (exact[a] - counts[a]));
  const missing = desktops - counts.reduce((sum, n) => sum + n, 0);
  for (let i = 0; i < missing; i++) counts[order[i]]++;
  return Object.fromEntries(BEHAVIOURS.map((behaviour, i) => [behaviour, counts[i]])) as Record<Behaviour, number>;
}

function parsed(argv: readonly string[], options: Record<string, { type: 'string' | 'boolean'; multiple?: boolean }>) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true });
  } catch (error) {
    throw new Misused((error as Error).message.split(/\. |\n/)[0].replace(/\.$/, ''));
  }
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
  const { name, shows, thresholds } = value as { name?: unknown; shows?: unknown; thresholds?: unknown };
  for (const [key, one] of Object.entries({ name, shows })) {
    if (one !== undefined && typeof one !== 'string') throw new Misused(`${where}: ${key} must be text`);
  }
  if (thresholds !== undefined && !(Array.isArray(thresholds) && thresholds.every((one) => typeof one === 'string'))) {
    throw new Misused(`${where}: thresholds must be a list of sentences like "p99 < 50ms"`);
  }
  return {
    name: String(name ?? 'swarm'),
    shows: String(shows ?? ''),
    thresholds: (thresholds ?? []) as string[],
    given,
  };
}

/** A value of a file as it would stand on the command line. */
function asText(value: unknown): string {
  if (Array.isArray(value)) return value.map(asText).join(',');
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([key, one]) => `${key}=${asText(one)}`)
      .join(',');
  }
  return String(value);
}

function readSetting(setting: Setting<unknown>, given: string, called: string): unknown {
  const value = setting.read(given);
  if (value === undefined) throw new Misused(`${called}: "${given}" is not ${wanted(setting)}`);
  return value;
}

function wanted({ value, meaning }: Setting<unknown>): string {
  const forms: Record<string, string> = {
    T: 'a time like 10, 500ms, 2s or 1m',
    N: 'a whole number it takes',
    R: 'a number a second, above 0',
    SHARES: 'a list of shares like throwing=80,sitting=20',
    '': 'true or false',
  };
  return `${forms[value] ?? `one of its values, ${value}`} (${meaning})`;
}

const LOADS = ['throwEvery', 'rate', 'inFlight', 'sitting'];
const isLoad = (name: string) => LOADS.includes(name);

function loadOf({ throwEvery, rate, inFlight, sitting }: Settings): Load {
  const loads: Load[] = [];
  if (throwEvery > 0) loads.push({ kind: 'every', seconds: throwEvery });
  if (rate > 0) loads.push({ kind: 'rate', perSecond: rate });
  if (inFlight > 0) loads.push({ kind: 'closed', inFlight });
  if (sitting) loads.push({ kind: 'sitting' });
  if (loads.length > 1) throw new Misused('say one of --throw-every, --rate, --in-flight and --sitting');
  return loads[0] ?? { kind: 'every', seconds: 5 };
}

function mixOf(mix: Mix, load: Load): Mix {
  if (Object.keys(mix).length > 0) return mix;
  return load.kind === 'sitting' ? { sitting: 1 } : { throwing: 1 };
}

function contradictions(settings: Settings, load: Load, mix: Mix): void {
  const throwing = (mix.throwing ?? 0) > 0;
  if (load.kind === 'sitting' && throwing) throw new Misused('--sitting, and yet --mix has somebody throwing');
  if (load.kind !== 'sitting' && !throwing)
    throw new Misused('--mix has nobody throwing: add throwing=…, or say --sitting');
  for (const desktops of settings.desktops) {
    const counts = countsOf(mix, desktops);
    if (throwing && counts.throwing === 0)
      throw new Misused(`of ${desktops} desktops none would throw: raise its share`);
    if (counts.hostile === desktops)
      throw new Misused('--mix is hostile alone: somebody must be there to be disturbed');
  }
  if (settings.duration < 0.1) throw new Misused('--duration must be at least 100ms');
  if (settings.readLate > READ_LATE_SECONDS_MAX) {
    throw new Misused(
      `--read-late must be at most ${READ_LATE_SECONDS_MAX} s: whoever is silent for longer loses its lease`,
    );
  }
  if (settings.runs < 1) throw new Misused('--runs must be at least 1');
  if (settings.connectRate < 1 || settings.connectBatch < 1)
    throw new Misused('--connect-rate and --connect-batch must be at least 1');
  if (settings.url !== '') {
    if (settings.isolate) throw new Misused('--isolate starts a relay of its own, inside: leave --url out');
    if (settings.restartAt > 0) throw new Misused('--restart-at needs a relay of its own: leave --url out');
    if (!/^http:\/\/[^/]+\/?$/.test(settings.url))
      throw new Misused(`--url: "${settings.url}" is not http://HOST:PORT`);
  }
  if (settings.adminUrl !== '' && !/^https?:\/\/[^/]+\/?$/.test(settings.adminUrl)) {
    throw new Misused(`--admin-url: "${settings.adminUrl}" is not http://HOST:PORT`);
  }
  if ((settings.adminUrl === '') !== (settings.adminTokenFile === '')) {
    throw new Misused('--admin-url and --admin-token-file go together');
  }
  if (settings.adminUrl !== '' && settings.url === '') throw new Misused('--admin-url is for a relay given by --url');
  if (settings.restartAt >= settings.duration && settings.restartAt > 0) {
    throw new Misused('--restart-at must lie within --duration');
  }
}

function readDesktops(given: string): number[] | undefined {
  const numbers = given.split(',').map((one) => (/^\d+$/.test(one.trim()) ? Number(one) : 0));
  return numbers.every((n) => n >= 1 && n <= DESKTOPS_MAX) ? numbers : undefined;
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

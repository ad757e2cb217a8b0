/**
 * A scenario of the swarm on a fleet: the same file as on one machine, divided among the instances.
 *
 * Desktops, throws and connections are those of the whole scenario, so each of n instances gets an n-th, rounded up. Invariant:
 * what a fleet can't do is rejected with the setting's name; only settings of a relay that the swarm would start itself, and
 * those of one machine, are left out (LEFT_OUT).
 */
import { engineOrigin, plan } from '../loadtest/run/plan.ts';
import { openScenario, readScenario, type Scenario, SETTINGS } from '../loadtest/run/scenario.ts';
import { Misused, readCommandLine } from '../tools/command.ts';
import type { Load } from './job.ts';

/**
 * The relay is given, an instance has its own addresses and processes (engine_machine.ts) and is not niced, and nobody watches the
 * whole fleet to abort it.
 */
const LEFT_OUT = [
  'aborts',
  'nice',
  'isolate',
  'front',
  'workers',
  'maxDesktops',
  'sources',
  'processes',
  'quiet',
  'out',
];

/** An instance decides what its machine can hold; plan.ts of the fleet has checked memory and addresses. */
const ANY_MACHINE = { files: 2 ** 30, ports: 2 ** 30, memoryBytes: Number.POSITIVE_INFINITY };

/** The kinds of load that shareOf() divides: by desktops, or by throws a second. */
const DIVIDED: readonly string[] = ['every', 'rate', 'sitting', 'stages'] satisfies Scenario['load']['kind'][];

/** The settings of a load that a scenario decides. */
type ScenarioLoad = Pick<
  Load,
  'desktops' | 'rate' | 'seconds' | 'warmUpSeconds' | 'connectRate' | 'scenario' | 'thresholds'
>;

/** The part of the scenario for each of `instances` machines. `word` is a file or a kept name. Throws Misused. */
export function readShare(word: string, instances: number, relay: URL): ScenarioLoad {
  const file = openScenario(word);
  const line = readCommandLine({ usage: [], about: '', options: SETTINGS }, []);
  if (line === 'help') throw new Error('--help is not a setting');
  const flags = { values: { ...line.values, threshold: [], abort: [] }, given: line.given };
  return shareOf(readScenario(file, flags), instances, relay);
}

/** One machine's part of a scenario. Throws Misused. */
function shareOf(scenario: Scenario, instances: number, relay: URL): ScenarioLoad {
  const { settings, load, name, shows } = scenario;
  for (const [setting, why] of refusalsOf(scenario)) throw new Misused(`${name}: ${setting}: ${why}.`);
  const of = (whole: number) => Math.max(1, Math.ceil(whole / instances));
  const desktops = of(settings.desktops[0]);
  const connectRate = Math.max(1, settings.connectRate / instances);
  const { throwConnections } = settings;
  const share: Scenario = {
    ...scenario,
    desktops: [desktops],
    load: loadOf(load, instances),
    aborts: [],
    settings: {
      ...settings,
      desktops: [desktops],
      connectRate,
      connectBatch: of(settings.connectBatch),
      processes: undefined,
      sources: '',
      world: '',
      throwConnections: throwConnections === undefined ? undefined : of(throwConnections),
    },
  };
  const { events, crossings, socket } = settings;
  const target = {
    apis: [engineOrigin(relay)],
    pids: [],
    local: false,
    events: events || undefined,
    crossings: crossings || undefined,
    socket: socket || undefined,
  };
  const { engine, rate } = plan(share, desktops, ANY_MACHINE, target);
  return {
    desktops,
    rate,
    connectRate,
    seconds: settings.duration,
    warmUpSeconds: settings.warmUp,
    thresholds: scenario.thresholds.map(({ text }) => text),
    scenario: {
      name,
      shows,
      parkSeconds: settings.connectTimeout + settings.settle,
      plan: { ...engine, processes: 0 }, // as many as the instance has vCPUs
    },
  };
}

/** One machine's part of the throws. Those of each desktop need no dividing. */
function loadOf(load: Scenario['load'], instances: number): Scenario['load'] {
  if (load.kind === 'rate') return { kind: 'rate', perSecond: load.perSecond / instances };
  if (load.kind !== 'stages') return load;
  return { ...load, stages: load.stages.map((stage) => ({ ...stage, perSecond: stage.perSecond / instances })) };
}

/** What a fleet can't do, each with its reason. */
function refusalsOf({ settings, load }: Scenario): [setting: string, why: string][] {
  const refusals: [boolean, string, string][] = [
    [settings.desktops.length > 1, 'desktops', 'a fleet runs one load; a sweep is one run for each number of desktops'],
    [settings.runs > 1, 'runs', 'a fleet runs once'],
    [settings.restartAt > 0, 'restartAt', "the relay is not the fleet's, so it can't restart it"],
    [settings.urls.length > 0, 'url', 'give it on the command line'],
    [settings.watchPids !== '', 'watchPids', "the relay's processes are on another machine"],
    [load.kind === 'closed', 'inFlight', 'a closed loop has no rate, so its traffic and its cost are not known'],
    [!DIVIDED.includes(load.kind), load.kind, "a fleet can't divide this load among its instances"],
  ];
  return refusals.flatMap(([isWanted, setting, why]) => (isWanted ? [[setting, why] as [string, string]] : []));
}

/** The names of the settings that a fleet leaves out, of those that the file has. For the plan. */
export function leftOut(word: string): string[] {
  return Object.keys(JSON.parse(openScenario(word).json)).filter((setting) => LEFT_OUT.includes(setting));
}

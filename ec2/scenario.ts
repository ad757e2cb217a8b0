/**
 * A scenario of the swarm on a fleet: the same file as on one machine, divided among the instances.
 *
 * Invariant: what a fleet can't do is rejected with the setting's name; only settings of a relay that the swarm would start itself, and
 * those of one machine, are left out (LEFT_OUT).
 */
import { engineOrigin, plan } from '../loadtest/run/plan.ts';
import { openScenario, readScenario, type Scenario, SETTINGS } from '../loadtest/run/scenario.ts';
import { shareOf as divided, refusalsOf } from '../loadtest/run/share.ts';
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

/** The settings of a load that a scenario decides. */
type ScenarioLoad = Pick<
  Load,
  'desktops' | 'rate' | 'seconds' | 'warmUpSeconds' | 'connectRate' | 'scenario' | 'thresholds'
>;

/** The part of the scenario for each of `instances` machines. `word` is a file or a kept name. Throws Misused. */
export function readShare(word: string, instances: number, relays: readonly URL[]): ScenarioLoad {
  const file = openScenario(word);
  const line = readCommandLine({ usage: [], about: '', options: SETTINGS }, []);
  if (line === 'help') throw new Error('--help is not a setting');
  const flags = { values: { ...line.values, threshold: [], abort: [] }, given: line.given };
  return shareOf(readScenario(file, flags), instances, relays);
}

/** One machine's part of a scenario. Throws Misused. */
function shareOf(scenario: Scenario, instances: number, relays: readonly URL[]): ScenarioLoad {
  const { settings, name, shows } = scenario;
  const given: [string, string][] = settings.urls.length > 0 ? [['url', 'give it on the command line']] : [];
  for (const [setting, why] of [...refusalsOf(scenario, relays), ...given])
    throw new Misused(`${name}: ${setting}: ${why}.`);
  const share = divided(scenario, instances);
  const [desktops] = share.desktops;
  const { connectRate } = share.settings;
  const { events, crossings, socket } = settings;
  const target = {
    apis: relays.map(engineOrigin),
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

/** The names of the settings that a fleet leaves out, of those that the file has. For the plan. */
export function leftOut(word: string): string[] {
  return Object.keys(JSON.parse(openScenario(word).json)).filter((setting) => LEFT_OUT.includes(setting));
}

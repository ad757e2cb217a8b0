/**
 * A scenario divided among machines: the part of each. Pure, but for the number of a run (`placesOf`).
 *
 * Desktops, throws and connections are those of the whole scenario, so each of n machines gets an n-th, rounded up. Invariant: what
 * several machines can't do is rejected with the setting's name (`refusalsOf`).
 */
import { randomInt } from 'node:crypto';
import type { EnginePlan } from '../../tools/engine_plan.ts';
import type { Scenario } from './scenario.ts';

/** Why nobody may talk in a world that machines share. */
export const WHY_NOBODY_TALKS = 'what is heard on another machine has no account: leave talking out, or give one relay';

/** The kinds of load that are divided: by desktops, or by throws a second. */
const DIVIDED: readonly string[] = ['every', 'rate', 'sitting', 'stages'] satisfies Scenario['load']['kind'][];

/**
 * The part of each of `machines`. Nobody watches all of them to abort the run. The world is one of its own for each at one relay, and
 * the one that relays share (`isWorldShared`).
 */
export function shareOf(scenario: Scenario, machines: number): Scenario {
  const { settings, load } = scenario;
  const of = (whole: number) => Math.max(1, Math.ceil(whole / machines));
  const desktops = [of(settings.desktops[0])];
  const { throwConnections } = settings;
  return {
    ...scenario,
    desktops,
    load: loadOf(load, machines),
    aborts: [],
    settings: {
      ...settings,
      desktops,
      connectRate: Math.max(1, settings.connectRate / machines),
      connectBatch: of(settings.connectBatch),
      processes: undefined,
      sources: '',
      world: '',
      throwConnections: typeof throwConnections === 'number' ? of(throwConnections) : throwConnections,
    },
  };
}

/** One machine's part of the throws. Those of each desktop need no dividing. */
function loadOf(load: Scenario['load'], machines: number): Scenario['load'] {
  if (load.kind === 'rate') return { kind: 'rate', perSecond: load.perSecond / machines };
  if (load.kind !== 'stages') return load;
  return { ...load, stages: load.stages.map((stage) => ({ ...stage, perSecond: stage.perSecond / machines })) };
}

/** Relays of a cluster have only their default world in common: with several, all machines play there, and have one account. */
export function isWorldShared(relays: readonly unknown[]): boolean {
  return relays.length > 1;
}

/** The place of a machine in a fleet that shares a world, as members of its plan. */
export type Place = Pick<EnginePlan, 'machines' | 'fleet' | 'machine'>;

/** `fleet` has two bytes in the name of each sprite. */
const FLEET_MAX = 0xffff;

/** The places of so many machines in one run. Its number is new, because sprites of an earlier run may still be in the world. */
export function placesOf(machines: number): Place[] {
  const fleet = randomInt(1, FLEET_MAX + 1);
  return Array.from({ length: machines }, (_, machine) => ({ machines, fleet, machine }));
}

/** What several machines can't do at so many relays, each with its reason. */
export function refusalsOf(
  { settings, load, mix }: Scenario,
  relays: readonly unknown[],
): [setting: string, why: string][] {
  const refusals: [boolean, string, string][] = [
    [settings.desktops.length > 1, 'desktops', 'several machines run one load; a sweep is one run for each number'],
    [settings.runs > 1, 'runs', 'several machines run once'],
    [settings.restartAt > 0, 'restartAt', 'the relay is not theirs, so they can not restart it'],
    [settings.watchPids !== '', 'watchPids', "the relay's processes are on another machine"],
    [isWorldShared(relays) && (mix.talking ?? 0) > 0, 'mix', WHY_NOBODY_TALKS],
    [load.kind === 'closed', 'inFlight', 'a closed loop has no rate, so its traffic and its cost are not known'],
    [!DIVIDED.includes(load.kind), load.kind, 'this load can not be divided among machines'],
  ];
  return refusals.flatMap(([isWanted, setting, why]) => (isWanted ? [[setting, why] as [string, string]] : []));
}

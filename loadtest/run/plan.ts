/**
 * The plan of a run: the engine's plan, and what the machine must provide. Pure.
 *
 * Throws decide how many processes are wanted of the engine, ports how many source addresses it has, and memory whether the run
 * is possible at all. Invariant: the engine accepts every plan that is made here, unless the limit of open files is too low for it.
 */
import { Misused, readCommandLine } from '../../tools/command.ts';
import { BEHAVIOURS, type Behaviour, ENGINE_PLAN, type EnginePlan, type RampStage } from '../../tools/engine_plan.ts';
import { bytes, count } from '../report/units.ts';
import { countsOf, isRestarted, type Load, type Scenario, SETTINGS, type Settings } from './scenario.ts';

/** What a swarm needs to know about a machine. */
export interface MachineFacts {
  /** Ports that one source address has for connections to one peer. */
  ports: number;
  memoryBytes: number;
}

/** The addresses and processes of the relay. */
export interface Target {
  /** host:port, after https:// when it has TLS; several for the relays of one cluster. */
  apis: readonly string[];
  events?: string;
  crossings?: string;
  socket?: string;
  /** SHA-256 in hex of the pictures that sprites show. */
  pictures?: readonly string[];
  /** Its processes, if they run on this machine. */
  pids: readonly number[];
  /** It runs on this machine: both ends of every connection take memory here, and every 127.x.y.z can be a source. */
  local: boolean;
}

export interface Plan {
  engine: EnginePlan;
  desktops: number;
  counts: Record<Behaviour, number>;
  /** Throws a second that are due, of all desktops together; the most with stages, 0 in a closed loop. */
  rate: number;
  connections: number;
  sources: string;
  /** What will probably go wrong; each is a sentence. */
  warnings: string[];
}

/**
 * The share of an address's ports that can be used. Linux connects from the ports of one parity first, and looks at one after the
 * other: with nearly all of these taken, a connection costs it milliseconds. Others may still be in TIME_WAIT from the run before.
 */
const PORTS_SHARE = 0.25;

/** How long Linux keeps the port of a connection that has ended, on the side that closed it first. */
const TIME_WAIT_SECONDS = 60;

/** A relay that is restarted may refuse connections for so long, on a busy machine, and as much longer as it takes to answer all polls. */
const RESTART_SECONDS_MAX = 30;
const ANSWERED_PER_SECOND = 5_000;

/** Throws a second of one engine process: some two thirds of what one core can throw (NUMBERS.md). */
const THROWS_PER_PROCESS = 40_000;

/** Kernel memory of a connection, measured with a million of them: 8.7 GiB of slab for both ends. */
const CONNECTION_BYTES = { oneEnd: 4_700, bothEnds: 9_400 };

/** Throws Misused when this machine can't do the run; the message says what would help. */
export function plan(scenario: Scenario, desktops: number, machine: MachineFacts, target: Target): Plan {
  const { settings, load, mix } = scenario;
  const counts = countsOf(mix, desktops);
  const hasSockets = settings.transport === 'socket';
  const throwConnections = throwConnectionsOf(scenario, counts);
  const connections = connectionsOf(scenario, desktops);
  const isEach = settings.throwConnections === 'each';
  const rate = rateOf(load, counts.throwing);
  const relays = target.apis.length;
  const isShared = !hasSockets && !isEach && throwConnections < counts.throwing;
  if (isShared && throwConnections < relays)
    throw new Misused(`--throw-connections must be at least ${relays} here: one for each relay`);
  const closed = isEach ? rate * Math.min(TIME_WAIT_SECONDS, settings.warmUp + settings.duration) : 0;
  const sources = settings.sources || sourcesFor(connections + closed, machine, target);
  const engine: EnginePlan = {
    ...ENGINE_PLAN,
    ...membersOf(settings, AS_GIVEN),
    apis: target.apis,
    events: target.events ?? '',
    crossings: target.crossings ?? '',
    socket: target.socket ?? '',
    pictures: target.pictures ?? [],
    mix: Object.fromEntries(BEHAVIOURS.flatMap((one) => (counts[one] > 0 ? [[one, counts[one]]] : []))),
    load: load.kind === 'every' ? { kind: 'rate', perSecond: rate } : load,
    throwConnections: isEach ? 'each' : throwConnections,
    spriteBytes: settings.spriteBytes ?? 0,
    goneAfter: goneAfterOf(settings, desktops),
    // A relay that was running before goes on: a desktop that stayed would keep the sprites of the next run until its lease ends.
    leave: settings.urls.length > 0,
    printSeconds: true,
    processes: settings.processes ?? Math.ceil(rate / THROWS_PER_PROCESS),
    sources,
    watchPids: target.pids,
  };
  const warnings = warningsOf(connections, machine, target);
  return { engine, desktops, counts, rate, connections, sources, warnings };
}

/** The settings that the engine's plan has under the same name, with the same value. */
const AS_GIVEN = [
  ...(['ca', 'world', 'transport', 'arrivals', 'seed', 'talkRate', 'actEvery', 'readLate'] as const),
  ...(['connectRate', 'connectBatch', 'connectTimeout', 'settle', 'warmUp', 'duration', 'drain'] as const),
  ...(['postTimeout', 'lateAfter', 'slipMax', 'pollOverdue'] as const),
];

/** Of AS_GIVEN and these, a command line may change a plan that was made elsewhere. Of `mix` it changes the shares. */
const CHANGEABLE = [
  ...AS_GIVEN,
  'mix',
  'goneAfter',
  'throwConnections',
  'spriteBytes',
  'processes',
  'sources',
] as const;

function membersOf(settings: Partial<Settings>, names: readonly (keyof Settings & keyof EnginePlan)[]) {
  return Object.fromEntries(names.map((name) => [name, settings[name]])) as Partial<EnginePlan>;
}

/** Members of an engine's plan, from flags of the swarm such as --sprite-bytes 400. Throws Misused. */
export function readChanges(words: readonly string[]): Partial<EnginePlan> {
  const options = Object.fromEntries(CHANGEABLE.map((name) => [name, SETTINGS[name]])) as Pick<
    typeof SETTINGS,
    (typeof CHANGEABLE)[number]
  >;
  const line = readCommandLine({ usage: [], about: '', options }, words);
  if (line === 'help') throw new Misused('--help: goes before --, and lists the settings of `npm run swarm` there');
  return membersOf(
    line.values,
    CHANGEABLE.filter((name) => line.given.has(name)),
  );
}

/** A relay's address as the engine takes it: host:port, after https:// when it has TLS. */
export function engineOrigin({ protocol, hostname, port }: URL): string {
  return protocol === 'https:' ? `https://${hostname}:${port || 443}` : `${hostname}:${port || 80}`;
}

/** "1,000 desktops throw every 5 s: 200 sprites/s for 30 s" */
export function describeLoad({ load, settings }: Scenario, { desktops, counts, rate }: Plan): string {
  const transport = settings.transport === 'socket' ? ', on sockets' : '';
  const seconds = `for ${settings.duration} s${transport}`;
  const some = counts.throwing < desktops ? `${count(counts.throwing)} of ${count(desktops)}` : count(desktops);
  switch (load.kind) {
    case 'every':
      return `${some} desktops, each throwing every ${load.seconds} s: ${count(rate)} sprites/s ${seconds}`;
    case 'rate':
      return `${some} desktops throwing ${count(rate)} sprites/s ${seconds}`;
    case 'stages':
      return `${some} desktops throwing sprites: ${describeStages(load.stages)}${transport}`;
    case 'closed':
      return `${some} desktops, ${count(load.inFlight)} sprites in flight at any time, ${seconds}`;
    case 'sitting':
      return `${count(desktops)} desktops, held ${seconds}`;
  }
}

/** "ramping to 1,000/s in 30 s, 1,000/s for 120 s": stages as a sentence. */
function describeStages(stages: readonly RampStage[]): string {
  return stages
    .map(({ seconds, perSecond }, i) => {
      const before = stages[i - 1]?.perSecond ?? 0;
      if (seconds === 0) return `jumping to ${count(perSecond)}/s`;
      return perSecond === before
        ? `${count(perSecond)}/s for ${seconds} s`
        : `ramping to ${count(perSecond)}/s in ${seconds} s`;
    })
    .join(', ');
}

/** Throws a second; the most with stages, 0 where none are due at fixed times. */
export function rateOf(load: Load, throwing: number): number {
  if (load.kind === 'every') return throwing / load.seconds;
  if (load.kind === 'rate') return load.perSecond;
  return load.kind === 'stages' ? Math.max(...load.stages.map(({ perSecond }) => perSecond)) : 0;
}

/**
 * How many seconds a run still takes at most, in this phase, `inPhase` seconds after it began. While desktops connect, it is
 * what the plan expects.
 */
export function secondsLeft({ settings }: Scenario, { desktops }: Plan, phase: string, inPhase: number): number {
  const lasts: Record<string, number> = {
    connect: desktops / settings.connectRate,
    settle: settings.settle,
    warmUp: settings.warmUp,
    measure: settings.duration,
    drain: settings.drain,
  };
  const names = Object.keys(lasts);
  const now = names.indexOf(phase);
  if (now < 0) return 0;
  // A drain mostly ends at once, so it counts only while it lasts.
  const later = names.slice(now + 1).filter((name) => name !== 'drain');
  return Math.max(0, lasts[phase] - inPhase) + later.reduce((sum, name) => sum + lasts[name], 0);
}

/** "250,000 throwing", or the numbers that the shares come to. */
export function describeMix({ counts }: Plan): string {
  return BEHAVIOURS.filter((behaviour) => counts[behaviour] > 0)
    .map((behaviour) => `${count(counts[behaviour])} ${behaviour}`)
    .join(', ');
}

function sourcesFor(connections: number, { ports }: MachineFacts, { local }: Target): string {
  const wanted = Math.ceil(connections / (ports * PORTS_SHARE));
  if (local) return wanted > 1 ? `127.0.0.1-127.0.${wanted >> 8}.${wanted & 255}` : '';
  if (connections > ports) {
    throw new Misused(
      `${count(connections)} connections need ${wanted} source addresses here, of ${count(ports)} ports each: give --sources A-B, or widen net.ipv4.ip_local_port_range`,
    );
  }
  return '';
}

function throwConnectionsOf({ settings, load }: Scenario, { throwing }: Record<Behaviour, number>): number {
  if (settings.transport === 'socket') return 0;
  const { throwConnections = throwing } = settings;
  // A connection that is opened for one throw is expected to take at most a second.
  const inASecond = load.kind === 'closed' ? load.inFlight : Math.ceil(rateOf(load, throwing)) + 1;
  return Math.min(throwConnections === 'each' ? inASecond : throwConnections, throwing);
}

/** Connections of the swarm. A desktop that talks has one to the API, too, unless it is on a socket; one that peeks has one. */
export function connectionsOf(scenario: Scenario, desktops: number): number {
  const counts = countsOf(scenario.mix, desktops);
  const hasSockets = scenario.settings.transport === 'socket';
  return desktops + throwConnectionsOf(scenario, counts) + counts.peeking + (hasSockets ? 0 : counts.talking);
}

/** Kernel memory that the connections of a scenario take on this machine; `local`: the relay runs here too. */
export function memoryFor(scenario: Scenario, desktops: number, local: boolean): number {
  return connectionsOf(scenario, desktops) * (local ? CONNECTION_BYTES.bothEnds : CONNECTION_BYTES.oneEnd);
}

function warningsOf(connections: number, { memoryBytes }: MachineFacts, { local }: Target): string[] {
  const wanted = connections * (local ? CONNECTION_BYTES.bothEnds : CONNECTION_BYTES.oneEnd);
  if (wanted <= memoryBytes) return [];
  return [
    `${count(connections)} connections take some ${bytes(wanted)} of the kernel's memory, and ${bytes(memoryBytes)} are available`,
  ];
}

function goneAfterOf(settings: Settings, desktops: number): number {
  if (!isRestarted(settings)) return settings.goneAfter;
  return Math.max(settings.goneAfter, RESTART_SECONDS_MAX + desktops / ANSWERED_PER_SECOND);
}

/**
 * The plan of swarm-engine: the one JSON document that it reads, on its stdin.
 *
 * loadtest/run/plan.ts makes it from the settings of `npm run swarm`, and benches make it themselves. The document is complete: the
 * engine has no defaults, and a member that is absent, unknown or of another type ends it with exit code 2. To add a member:
 * here, in loadtest/engine/plan/options.cc, which reads it, and in loadtest/engine/test/plan_json.h.
 *
 * Units   times are in seconds. A member that is named like a setting of the swarm means the same.
 */

/** What a fake desktop does, besides holding its poll. loadtest/engine/plan/behaviour.h says how. */
export const BEHAVIOURS = [
  ...(['sitting', 'throwing', 'talking', 'peeking', 'storming', 'churning', 'slow', 'hostile'] as const),
];
export type Behaviour = (typeof BEHAVIOURS)[number];

/** A part of a load that ramps: from the rate before it to `perSecond`, in a straight line; within 0 seconds it jumps. */
export interface RampStage {
  seconds: number;
  perSecond: number;
}

/** Throws of the whole run. Stages begin at 0 a second and last for the whole window, without a warm-up. */
export type EngineLoad =
  | { kind: 'stages'; stages: readonly RampStage[] }
  | { kind: 'rate'; perSecond: number }
  | { kind: 'closed'; inFlight: number }
  | { kind: 'sitting' };

export interface EnginePlan {
  /** HOST:PORT of each relay, after https:// when it has TLS, for joins and leaves. Each gets the same number of desktops. */
  apis: readonly string[];
  /** Where polls, throws and sockets go, with one relay; '': the address in the answer to a join. */
  events: string;
  crossings: string;
  socket: string;
  /** A PEM file whose certificates are trusted instead of those that the system trusts; '': these. */
  ca: string;
  /** '': the relay's default. */
  world: string;
  /** Desktops are called NAME-0, NAME-1, … */
  name: string;
  /**
   * How many machines play in this world and have one account, which is made when their results are merged. Of several, they have the
   * same `fleet`, from 1 to 65,535, and each has its own `machine`, from 0. Nobody talks there.
   */
  machines: number;
  fleet: number;
  machine: number;
  /** SHA-256 in hex of what sprites show. With some, desktops have the friendly names that the relay gives them. */
  pictures: readonly string[];
  /** How many desktops have each behaviour. Some throw, unless the load is sitting. */
  mix: Readonly<Partial<Record<Behaviour, number>>>;
  load: EngineLoad;
  transport: 'poll' | 'socket';
  /**
   * With several relays and a rate or stages: desktops that have neighbours at their own relay and at another one throw only to the
   * former, or only to the latter, once the warm-up has shown which is which.
   */
  toward: 'any' | 'within' | 'across';
  /** Connections that all throws share; 0: one for each desktop that throws; 'each': one for each throw. On sockets it is 0. */
  throwConnections: number | 'each';
  arrivals: 'even' | 'random';
  /** 0: throws are not padded. */
  spriteBytes: number;
  seed: number;
  /** Sayings a second of each desktop that talks: to the API, or on its socket. They are those of the warm-up and the window. */
  talkRate: number;
  actEvery: number;
  readLate: number;
  /** Desktops a second. */
  connectRate: number;
  connectBatch: number;
  connectTimeout: number;
  settle: number;
  warmUp: number;
  duration: number;
  drain: number;
  postTimeout: number;
  goneAfter: number;
  lateAfter: number;
  slipMax: number;
  pollOverdue: number;
  /** At the end, desktops leave the relay. */
  leave: boolean;
  /**
   * When all are parked, the engine waits for one more line on its stdin: the wall-clock time of the first throw, in ms, so that
   * several machines start together.
   */
  startOnStdin: boolean;
  /** A line {"second": …} on stdout each second, besides those of the phases. */
  printSeconds: boolean;
  /** So many are wanted: there are fewer when some would have nothing to do, and more when the descriptors of so few are not enough. */
  processes: number;
  /** Local IPv4 addresses to connect from; '': on loopback, 127.0.0.1 and as many after it as needed. */
  sources: string;
  /** Processes whose CPU and memory are measured; the run ends when one of them does. */
  watchPids: readonly number[];
}

/** What a plan is where nothing else is said. The settings of the swarm have the same defaults. */
export const ENGINE_PLAN: EnginePlan = {
  apis: ['127.0.0.1:8080'],
  events: '',
  crossings: '',
  socket: '',
  ca: '',
  world: '',
  name: 'fake',
  machines: 1,
  fleet: 0,
  machine: 0,
  pictures: [],
  mix: { sitting: 1000 },
  load: { kind: 'sitting' },
  transport: 'poll',
  toward: 'any',
  throwConnections: 0,
  arrivals: 'even',
  spriteBytes: 0,
  seed: 1,
  talkRate: 1,
  actEvery: 5,
  readLate: 2,
  connectRate: 10_000,
  connectBatch: 1,
  connectTimeout: 120,
  settle: 1,
  warmUp: 2,
  duration: 30,
  drain: 10,
  postTimeout: 10,
  goneAfter: 5,
  lateAfter: 1,
  slipMax: 0.002,
  pollOverdue: 150, // the longest poll lasts 120 s + 10 %; the rest is margin
  leave: false,
  startOnStdin: false,
  printSeconds: false,
  processes: 0,
  sources: '',
  watchPids: [],
};

/** The text for the engine's stdin. */
export function planLine(plan: EnginePlan): string {
  return `${JSON.stringify(plan)}\n`;
}

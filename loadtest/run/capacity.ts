/**
 * The capacity of a relay: a search over runs of one scenario, each as long as its percentile needs.
 *
 * What is searched for is the rate with which all desktops together throw (or talk, where nobody throws), or the number of desktops at a
 * rate that is given. Invariant: `findCapacity` ends within its time, and an interrupted search returns what it knows. Who was the limit
 * of a run that did not hold is said by that run: the machine when its cores were busy, the swarm when its report says so, else the relay.
 */
import { Misused, sentenceOf } from '../../tools/command.ts';
import type { Capacity, CapacityPoint, CapacityTry, Contender } from '../report/capacity.ts';
import type { Report } from '../report/merge.ts';
import { count, number } from '../report/units.ts';
import { judge, readThreshold, type Threshold } from '../report/verdict.ts';
import { type MachineFacts, memoryFor, rateOf } from './plan.ts';
import { countsOf, DESKTOPS_MAX, onFloor, type Scenario, TALK_RATE_MAX, THROWS_PER_SECOND_MAX } from './scenario.ts';
import { type Bounds, knownOf, type Next, search } from './search.ts';

/** Without thresholds of its own a scenario has these. */
const THRESHOLDS = [
  ...['parked == desktops', 'lost == 0', 'undelivered == 0', 'duplicated == 0', 'misrouted == 0', 'corrupted == 0'],
  ...['refused == 0', 'achieved >= 99%', 'p99 < 10ms'],
];

/** A window has at least so many sprites beyond its percentile, so that one of them decides nothing. */
const BEYOND_PERCENTILE = 50;

/** Shorter windows miss what happens once a second or two, such as a long collection of garbage. */
const STEP_SECONDS_MIN = 5;

/** The confirming run takes at most this share of the time that there is. */
const CONFIRM_SHARE = 1 / 6;

/** The swarm may itself be late by this share of what a threshold allows; it is in the latency. */
const SLIP_SHARE = 0.5;

/** A machine with a smaller share of its cores idle is busy. */
const IDLE_SHARE_MIN = 0.1;

/** Of the memory that is available; the rest is for the relay and the swarm. */
const MEMORY_SHARE = 0.7;

/** What a run that is ended early, its relay and the report still take. */
const END_SECONDS = 5;

const FIRST_RATE_MIN = 1000;
/** Sprites a second. A run far beyond the capacity takes long to drain, and says little. */
const FIRST_RATE_MAX = 10_000;
const LEAST_DESKTOPS = 10;
/** Sprites or sayings a second. */
const LEAST_RATE = 1;

/** One run, judged, and how many of the machine's cores were idle in its window. */
export interface Measured {
  report: Report;
  idleCores?: number;
}

/** Does a run. `signal` ends it early. */
type Measure = (scenario: Scenario, desktops: number, signal: AbortSignal) => Promise<Measured>;

interface CapacityOptions {
  over: 'rate' | 'desktops';
  contenders: readonly Contender[];
  secondsMax: number;
  machine: MachineFacts;
  /** Ends the search. */
  signal: AbortSignal;
  /** A line for people. */
  tell(line: string): void;
}

/** The capacity, and the report of the run at it; undefined when no run ended. Throws when no run is possible. */
export async function findCapacity(
  given: Scenario,
  measure: Measure,
  { over, contenders, secondsMax, ...options }: CapacityOptions,
): Promise<Report | undefined> {
  const scenario = forSearch(given);
  const endMs = performance.now() + (secondsMax - END_SECONDS) * 1000;
  const searches = scenario.desktops.flatMap((desktops) => contenders.map((contender) => ({ desktops, contender })));
  const points: CapacityPoint[] = [];
  let shown: Report | undefined;
  for (const [i, { desktops, contender }] of searches.entries()) {
    if (options.signal.aborted) break;
    const seconds = (endMs - performance.now()) / 1000 / (searches.length - i);
    const found = await searchOne(scenario, desktops, contender, over, seconds, measure, options);
    points.push(found.point);
    if (contender === 'relay' || !shown) shown = found.report ?? shown;
  }
  if (!shown) return undefined;
  const own =
    points.findLast(({ contender, tries }) => contender === 'relay' && tries.length > 0) ??
    (points.find(({ tries }) => tries.length > 0) as CapacityPoint);
  const capacity: Capacity = {
    ...own,
    over,
    unit: isTalk(scenario) ? 'sayings' : 'sprites',
    thresholds: scenario.thresholds.map(({ text }) => text),
    points,
  };
  return { ...shown, capacity };
}

const isTalk = ({ load }: Scenario): boolean => load.kind === 'sitting';

/** The scenario with thresholds, and with as much slip as they allow. */
function forSearch(given: Scenario): Scenario {
  const thresholds = given.thresholds.length > 0 ? given.thresholds : THRESHOLDS.map(readThreshold);
  const latencies = thresholds.filter(({ figure }) => quantileOf(figure) !== undefined).map(({ value }) => value / 1e6);
  const slipMax = Math.max(given.settings.slipMax, SLIP_SHARE * Math.min(...latencies, Number.POSITIVE_INFINITY));
  return {
    ...given,
    thresholds,
    settings: { ...given.settings, slipMax: Number.isFinite(slipMax) ? slipMax : given.settings.slipMax },
  };
}

/** "p99" and "hearing.p99" are 0.99; undefined for what is no percentile. */
function quantileOf(figure: string): number | undefined {
  const digits = /(?:^|\.)p(\d\d(?:\.\d)?)$/.exec(figure)?.[1];
  return digits === undefined ? undefined : Number(digits) / 100;
}

/** How long a window must be at this rate, in seconds. */
export function windowSeconds(thresholds: readonly Threshold[], perSecond: number): number {
  const most = Math.max(0.5, ...thresholds.flatMap(({ figure }) => quantileOf(figure) ?? []));
  const sprites = Math.round(BEYOND_PERCENTILE / (1 - most));
  return Math.max(STEP_SECONDS_MIN, Math.ceil(sprites / perSecond));
}

async function searchOne(
  scenario: Scenario,
  desktops: number,
  contender: Contender,
  over: CapacityOptions['over'],
  seconds: number,
  measure: Measure,
  { machine, signal, tell }: Omit<CapacityOptions, 'over' | 'contenders' | 'secondsMax'>,
): Promise<{ point: CapacityPoint; report?: Report }> {
  const startMs = performance.now();
  const timeLeft = () => seconds - (performance.now() - startMs) / 1000;
  const rate = rateIn(scenario, desktops);
  const longSeconds = Math.round(Math.min(scenario.settings.duration, seconds * CONFIRM_SHARE));
  const windowOf = ({ at, long }: Next) => {
    const needed = windowSeconds(scenario.thresholds, over === 'rate' ? at : rate);
    return long ? Math.max(needed, longSeconds) : needed;
  };
  const bounds = boundsOf(scenario, desktops, over, rate, machine);
  const ended = AbortSignal.any([signal, AbortSignal.timeout(Math.max(0, Math.round(seconds * 1000)))]);
  // What a run takes besides its window: the longest so far, because one that does not hold drains.
  let besides = 0;
  const reports = new Map<CapacityTry, Report>();
  const found = await search<CapacityTry>(
    bounds,
    (next) => {
      const confirming = next.long ? 0 : windowOf({ at: next.at, long: true }) + besides;
      return windowOf(next) + besides + confirming <= timeLeft();
    },
    async (next) => {
      if (ended.aborted) return undefined;
      const runStartMs = performance.now();
      const count = over === 'rate' ? desktops : Math.round(next.at);
      const seconds = windowOf(next);
      const run = stepOf(scenario, contender, count, over === 'rate' ? next.at : rate, seconds);
      const measured = await measure(run, count, ended).catch((error: Error) => error);
      const hasFailed = measured instanceof Error;
      if (ended.aborted && (hasFailed || !measured.report.ok)) return undefined;
      if (hasFailed && reports.size === 0) throw measured;
      const tried = hasFailed ? failedTry(measured, next) : triedOf(measured, next, run);
      besides = Math.max(besides, (performance.now() - runStartMs) / 1000 - seconds);
      if (!hasFailed) reports.set(tried, measured.report);
      tell(lineOf(tried, contender, over));
      return tried;
    },
  );
  const { held, notHeld, confirmed } = knownOf(found.tries);
  const limit = notHeld?.limit ?? (held && over === 'desktops' && held.at === bounds.most ? 'machine' : 'none');
  const point: CapacityPoint = {
    contender,
    desktops: over === 'rate' ? desktops : (held?.at ?? 0),
    perSecond: over === 'rate' ? (held?.at ?? 0) : rate,
    confirmed,
    atMost: notHeld?.at ?? null,
    limit,
    limitReason: notHeld?.reason ?? (limit === 'machine' ? 'more connections do not fit in its memory' : ''),
    threshold: notHeld?.broken[0] ?? '',
    ended: found.ended === 'interrupted' && !signal.aborted ? 'time' : found.ended,
    tries: found.tries,
  };
  const last = held ?? found.tries.at(-1);
  return { point, report: last && reports.get(last) };
}

/** What all desktops together throw, or say, when nothing is searched for. */
function rateIn({ load, mix, settings }: Scenario, desktops: number): number {
  const counts = countsOf(mix, desktops);
  return load.kind === 'sitting' ? settings.talkRate * counts.talking : rateOf(load, counts.throwing);
}

function boundsOf(
  scenario: Scenario,
  desktops: number,
  over: CapacityOptions['over'],
  rate: number,
  machine: MachineFacts,
): Bounds {
  if (over === 'desktops') {
    const each = memoryFor(scenario, 1000, scenario.settings.urls.length === 0) / 1000;
    const most = Math.floor(Math.min(DESKTOPS_MAX, (MEMORY_SHARE * machine.memoryBytes) / each));
    return { first: desktops, least: LEAST_DESKTOPS, most };
  }
  const most = isTalk(scenario) ? TALK_RATE_MAX * countsOf(scenario.mix, desktops).talking : THROWS_PER_SECOND_MAX;
  return {
    first: isTalk(scenario) ? rate : Math.min(FIRST_RATE_MAX, Math.max(FIRST_RATE_MIN, rate)),
    least: LEAST_RATE,
    most,
  };
}

/** The scenario of one run. */
function stepOf(
  scenario: Scenario,
  contender: Contender,
  desktops: number,
  perSecond: number,
  seconds: number,
): Scenario {
  const settings = { ...scenario.settings, duration: seconds, drain: Math.min(scenario.settings.drain, seconds) };
  const step: Scenario = isTalk(scenario)
    ? { ...scenario, settings: { ...settings, talkRate: perSecond / countsOf(scenario.mix, desktops).talking } }
    : { ...scenario, load: { kind: 'rate', perSecond }, settings };
  return contender === 'floor' ? onFloor(step) : step;
}

/** What a run showed. A run that is not complete did not hold. */
function triedOf({ report, idleCores }: Measured, { at, long }: Next, scenario: Scenario): CapacityTry {
  const { relay, swarm, window, pass } = report;
  const { p50, p99 } = isTalk(scenario) ? report.hearingUs : report.latencyUs;
  const [{ cores }] = report.machines;
  const isBusy = idleCores !== undefined && idleCores < IDLE_SHARE_MIN * cores;
  const limit = pass ? 'none' : isBusy ? 'machine' : report.limit === 'swarm' ? 'swarm' : 'relay';
  const taken = [
    ['the relay', relay.cpuCores ?? 0],
    ['the swarm', swarm.cpuCores],
    ['other programs', Math.max(0, cores - (idleCores ?? 0) - (relay.cpuCores ?? 0) - swarm.cpuCores)],
  ] as const;
  const busy = `its ${cores} cores were busy: ${taken.map(([who, n]) => `${who} took ${number(n)}`).join(', ')}`;
  const said = report.ok ? report.limitReason : report.message;
  // A threshold that was not judged is named only if its value is wrong.
  const { judgements } = judge({ ...report, limit: 'none' }, scenario.thresholds);
  const wrong = judgements.filter(({ outcome }) => outcome === 'broken');
  return {
    at,
    long,
    holds: pass,
    limit,
    reason: pass ? '' : [limit === 'machine' ? busy : '', said].filter((one) => one !== '').join('; '),
    broken: wrong.map(({ threshold, value }) => `${threshold}: ${value}`),
    seconds: window.seconds,
    deliveredPerS: isTalk(scenario)
      ? (report.sayings.heardInWindow ?? 0) / (window.seconds || 1)
      : window.deliveredPerS,
    p50Us: p50,
    p99Us: p99,
    relayCores: relay.cpuCores,
    swarmCores: swarm.cpuCores,
  };
}

/** A run that could not be: what a machine can't do is misuse of a plan. */
function failedTry(error: Error, { at, long }: Next): CapacityTry {
  return {
    at,
    long,
    holds: false,
    limit: error instanceof Misused ? 'machine' : 'relay',
    reason: sentenceOf(error).replace(/\.$/, ''),
    broken: [],
    seconds: 0,
    deliveredPerS: 0,
    p50Us: 0,
    p99Us: 0,
    relayCores: null,
    swarmCores: 0,
  };
}

function lineOf({ at, long, holds, limit, broken, reason }: CapacityTry, contender: Contender, over: string): string {
  const value = over === 'rate' ? `${number(at)}/s` : `${count(at)} desktops`;
  const what = `${contender === 'floor' ? 'C floor, ' : ''}${value}${long ? ', longer' : ''}`;
  const why = broken.join('; ') || reason;
  return holds ? `${what}: holds` : `${what}: does not hold (${why}); the limit: ${limit}`;
}

/** Throws Misused unless the capacity of this scenario can be searched for. */
export function checkSearchable(scenario: Scenario, over: CapacityOptions['over'], floor: boolean): void {
  const { load, mix, desktops, settings } = scenario;
  const isTalking = (mix.talking ?? 0) > 0;
  const refusals: [boolean, string][] = [
    [load.kind === 'sitting' && !isTalking, 'capacity needs desktops that throw or talk: leave --sitting out'],
    [load.kind === 'closed', 'capacity sets the rate itself: leave --in-flight out'],
    [load.kind === 'stages', 'capacity sets the rate itself: leave --stages out'],
    [floor && isTalking, 'the C floor only carries throws: leave --floor out, or talking'],
    [settings.runs > 1, 'capacity repeats runs itself: leave --runs out'],
    [over === 'desktops' && desktops.length > 1, 'with --rate, capacity searches for desktops: give one number first'],
    [settings.restartAt > 0 || settings.killRelayEvery > 0, 'capacity is that of a relay that nobody restarts'],
  ];
  const refusal = refusals.find(([isWrong]) => isWrong);
  if (refusal) throw new Misused(refusal[1]);
}

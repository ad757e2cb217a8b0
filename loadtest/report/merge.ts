/**
 * Merging: makes one report of the results of all engines of a run, on one machine or on a fleet.
 *
 * Pure: no clock, no file, no network. `merge(parts, origin)` takes the result of each machine's engine (`tools/engine_result.ts`
 * reads and checks it) and returns the `Report` that `report.json` contains; `report.ts` and `page.ts` show it. Counts are
 * added. Histograms are merged as histograms, for the whole run and for each second, so every percentile is that of one list
 * of all values. CPU is added and divided by all sprites together. Nothing is averaged.
 *
 * Invariant: the counts of a report add up if those of its parts did, and `ok` is false if it is false in any part. Rates are
 * those of the time that the windows of all machines have in common, so they are never overstated. When a machine is missing,
 * or the windows do not coincide, the report has a `voidReason` and does not pass.
 * Requirements: all parts ran one scenario and started together (`startOnStdin` of the engine's plan). The ledger of a sprite is in the
 * memory of the machine that threw it, so each machine had its own world, or counted the sprites of the others (visitors.ts).
 *
 *     const parts = files.map((file) => readResult(readFileSync(file, 'utf8'), file));
 *     const report = judge(merge(parts, { name: 'fleet', command, machines }), scenario.thresholds);
 */

import {
  type Bucket,
  COUNTS,
  type EngineResult,
  type EngineSecond,
  GROUPS,
  type Groups,
  type HistogramName,
  type Histograms,
  type Limit,
  PER_SPRITE,
  type PerSprite,
  type Quantiles,
  SECOND_COUNTS,
  SECOND_LEVELS,
  type Use,
} from '../../tools/engine_result.ts';
import type { Capacity } from './capacity.ts';
import { type Histogram, mergeHistograms, quantilesUs } from './histogram.ts';
import { addRelayAccounts, type RelayAccount } from './relay_account.ts';
import { cpuSecondsOver, gcMaxMs, type RelaySample } from './relay_sample.ts';
import { count, duration } from './units.ts';
import { settled } from './visitors.ts';

/** A machine that took part. A figure means little without its machine. */
export interface Machine {
  name: string;
  cores: number;
  model: string;
  memoryBytes: number;
  system: string;
  node: string;
  /** Absent in a report of a release that did not know it. */
  version?: string;
  commit: string;
}

/** Where a report comes from. */
export interface Origin {
  name: string;
  /** What the scenario shows; a sentence. */
  shows?: string;
  /** The command that repeats the run. */
  command: string;
  machines: readonly Machine[];
  /** A description of the load: "1,000 desktops, each throwing every 5 s: 200 sprites/s for 30 s". */
  load?: string;
  /** A description of the relay: "native front, 1 worker", or its address. */
  relay?: string;
  /** Which machines have no result, and why; a sentence. Empty or absent: all of them have one. */
  missing?: string;
  /** The machines had no barrier: each threw when its own desktops were parked. */
  unaligned?: boolean;
  /** Whether the relay was restarted during the run. */
  restarted?: boolean;
  /** The relay's own figures, about one a second, in order of time; times are on the clock of the first part. */
  samples?: readonly RelaySample[];
  /** What the relay itself counted during the run. */
  relayAccount?: RelayAccount;
}

export interface ReportSecond extends Omit<EngineSecond, 'latencyBucketsNs'> {
  heapBytes?: number;
  gcMaxMs?: number;
  loopDelayMaxMs?: number;
}

/** The relay's figures. null: not known, because the relay could not be watched. */
interface RelayFigures extends PerSprite<number | null> {
  cpuCores: number | null;
  /** At the end of the run. `rssBytesParked` is from when all desktops were parked and no sprite had flown yet. */
  rssBytes: number | null;
  rssBytesParked: number | null;
  bytesPerParkedPoll: number | null;
  /** The maximum in the measured window. */
  heapBytes: number | null;
  /** The longest pause of the garbage collector in the measured window: the upper bound of its bucket. */
  gcMaxMs: number | null;
  loopDelayMaxMs: number | null;
}

interface SwarmFigures extends Use {
  busiestProcessCores: number;
  processes: number;
  rssBytes: number;
  bytesPerDesktop: number;
}

/** The figures of one run; `compare` compares them. */
export interface Figures extends Record<(typeof COUNTS)[number], number> {
  ok: boolean;
  message: string;
  desktops: number;
  senders: number;
  rate: number;
  parked: number;
  /** Of several machines: the time that their windows have in common. */
  window: { seconds: number; offeredPerS: number; deliveredPerS: number; delivered: number; offered: number };
  latencyUs: Quantiles;
  relay: RelayFigures;
  swarm: SwarmFigures;
  connectSeconds: number;
  /** After a restart: from the second in which desktops lost their polls to the one in which all were parked again. */
  recoverySeconds: number | null;
  limit: Limit;
  /** A sentence; empty when `limit` is none. */
  limitReason: string;
}

type Outcome = 'held' | 'broken' | 'void';

/** A threshold of the scenario and its outcome; `void`: the swarm was the limit or the run is void, so the figure is not the relay's. */
export interface Judgement {
  threshold: string;
  value: string;
  outcome: Outcome;
}

/** The content of `report.json`. Names end with the unit of their times; counts are of the whole run, except in `window`. */
export interface Report extends Figures, Groups {
  format: 'sprites-swarm/1';
  name: string;
  shows: string;
  command: string;
  /** ISO 8601, UTC. */
  startedAt: string;
  machines: readonly Machine[];
  load: string;
  relayIs: string;
  mode: EngineResult['mode'];
  transport: EngineResult['transport'];
  seed: number;
  /** Why the figures are not those of the load that was asked for; a sentence. Empty: they are. */
  voidReason: string;
  pass: boolean;
  judgements: Judgement[];
  /** Of delivered: thrown by another machine of the fleet. Absent in a report of a release that had no such fleets. */
  visitors?: number;
  /** Of sprites that arrived at desktops which storm, churn or read late. */
  awayUs: Quantiles;
  answerUs: Quantiles;
  slipUs: Quantiles;
  hearingUs: Quantiles;
  kernel: { tcpMemoryBytes: number; slabBytes: number; slabBytesBefore: number };
  seconds: ReportSecond[];
  latencyBucketsNs: Bucket[];
  awayBucketsNs: Bucket[];
  /** What the relay itself counted; absent where it was not asked. */
  relayAccount?: RelayAccount;
  /** Of a search for it: the report is that of the run at the capacity. */
  capacity?: Capacity;
  /** Each run by itself; more than one with --runs, for sweeps, and for machines that had no barrier. */
  runs: Figures[];
}

/**
 * The report of one run.
 *
 * Throws Error when there are no parts, or when the parts are of different modes or transports.
 */
export function merge(given: readonly EngineResult[], origin: Origin): Report {
  const [first] = given;
  if (!first) throw new Error('there is no result to merge');
  for (const name of ['mode', 'transport'] as const) {
    const other = given.find((part) => part[name] !== first[name]);
    if (other) throw new Error(`results of different loads cannot be merged: ${first[name]} and ${other[name]}`);
  }
  const parts = settled(given);
  const seconds = mergeSeconds(parts, origin.samples ?? []);
  const histograms = { latency: histogramIn(parts, 'latency'), away: histogramIn(parts, 'away') };
  const figures = figuresOf(parts, origin, seconds, histograms);
  const voidReason = sentences([origin.missing ?? '', windowsApart(parts, origin.unaligned)]);
  return {
    format: 'sprites-swarm/1',
    name: origin.name,
    shows: origin.shows ?? '',
    command: origin.command,
    startedAt: new Date(Math.min(...parts.map((part) => part.startedAtMs))).toISOString(),
    machines: origin.machines,
    load: origin.load ?? '',
    relayIs: origin.relay ?? '',
    mode: first.mode,
    transport: first.transport,
    seed: first.seed,
    ...figures,
    voidReason,
    pass: figures.ok && voidReason === '',
    judgements: [],
    ...groupsOf(parts),
    visitors: sum(parts, ({ visitors }) => visitors?.delivered ?? 0),
    awayUs: quantilesUs(histograms.away),
    answerUs: quantilesUs(histogramIn(parts, 'answer')),
    slipUs: quantilesUs(histogramIn(parts, 'slip')),
    hearingUs: quantilesUs(histogramIn(parts, 'hearing')),
    kernel: {
      tcpMemoryBytes: sum(parts, (part) => part.kernel.parked.tcpMemoryBytes),
      slabBytes: sum(parts, (part) => part.kernel.parked.slabBytes),
      slabBytesBefore: sum(parts, (part) => part.kernel.before.slabBytes),
    },
    seconds,
    latencyBucketsNs: histograms.latency.buckets,
    awayBucketsNs: histograms.away.buckets,
    ...(origin.relayAccount ? { relayAccount: origin.relayAccount } : {}),
    // Each machine by itself, in its own window, rather than a mixture of them.
    runs: origin.unaligned && parts.length > 1 ? parts.flatMap((part) => merge([part], origin).runs) : [figures],
  };
}

function figuresOf(
  parts: readonly EngineResult[],
  origin: Origin,
  seconds: readonly ReportSecond[],
  { latency, away }: Record<'latency' | 'away', Histogram>,
): Figures {
  const window = windowOf(parts);
  const parked = sum(parts, (part) => part.parked);
  return {
    ...totals(parts, [...COUNTS, 'desktops', 'senders', 'rate']),
    ok: parts.every((part) => part.ok),
    message: sentences(parts.map((part) => part.message)),
    parked,
    window,
    latencyUs: latencyOf(parts, latency, away),
    relay: relayFiguresOf(parts, window, seconds, origin.samples ?? []),
    swarm: swarmFiguresOf(parts),
    connectSeconds: Math.max(...parts.map((part) => part.joins.seconds ?? 0)),
    recoverySeconds: origin.restarted ? recoveryOf(seconds, parked) : null,
    ...limitOf([...parts, limitBetween(parts, window)]),
  };
}

/** The share of what was offered that a relay must deliver, or it is the limit. The engine has the same for one machine. */
const ACHIEVED_SHARE = 0.99;

/** A machine that shares its world does not know how much of what it threw has arrived: all of them together do. */
function limitBetween(parts: readonly EngineResult[], { offered, delivered }: Figures['window']): Limited {
  const isReached = parts.some(({ visitors }) => visitors) && delivered < ACHIEVED_SHARE * offered;
  return isReached
    ? { limit: 'relay', limitReason: 'less than 99 % of the throws offered in the measured window were delivered' }
    : { limit: 'none', limitReason: '' };
}

/** A throw that did not arrive counts as slower than any that did. */
function latencyOf(parts: readonly { due: number }[], latency: Histogram, away: Histogram): Quantiles {
  return quantilesUs(latency, Math.max(latency.count, sum(parts, ({ due }) => due) - away.count));
}

/**
 * The report of several runs of one load. Counts and histograms are those of all runs together; states (desktops, memory) are
 * those of the last run; `runs` has each run by itself, for `compare`.
 */
export function overRuns(reports: readonly Report[]): Report {
  const last = reports.at(-1);
  if (!last) throw new Error('there is no run to report');
  if (reports.length === 1) return last;
  const latency = histogramIn(reports, 'latency');
  const away = histogramIn(reports, 'away');
  const runs = reports.flatMap((report) => report.runs);
  const over = (of: (report: Report) => number) => sum(reports, of);
  const window = {
    seconds: over((report) => report.window.seconds),
    offered: over((report) => report.window.offered),
    delivered: over((report) => report.window.delivered),
  };
  return {
    ...last,
    ...totals(reports, COUNTS),
    startedAt: reports[0].startedAt,
    ok: reports.every(({ ok }) => ok),
    message: sentences(reports.map(({ message }) => message)),
    window: { ...window, ...perSecond(window) },
    latencyUs: latencyOf(reports, latency, away),
    latencyBucketsNs: latency.buckets,
    awayUs: quantilesUs(away),
    awayBucketsNs: away.buckets,
    ...groupsOf(reports),
    relayAccount: addRelayAccounts(reports.map(({ relayAccount }) => relayAccount)),
    relay: {
      ...last.relay,
      ...perSpriteOver(reports, ({ relay }) => relay, null),
      gcMaxMs: most(reports.map(({ relay }) => relay.gcMaxMs)),
      loopDelayMaxMs: most(reports.map(({ relay }) => relay.loopDelayMaxMs)),
    },
    ...limitOf(reports),
    voidReason: sentences(reports.map(({ voidReason }) => voidReason)),
    pass: reports.every(({ pass }) => pass),
    runs,
  };
}

/**
 * The points of a sweep as one report: the figures are those of the last point, and `runs` has every run of every point. A
 * limit or a broken threshold of any point counts for the whole sweep. `message` says why a point is missing; empty: none is.
 */
export function overSweep(points: readonly Report[], message: string): Report {
  const last = points.at(-1);
  if (!last) throw new Error('there is no run to report');
  const isComplete = message === '';
  return {
    ...last,
    ok: last.ok && isComplete,
    message,
    ...limitOf(points),
    voidReason: sentences(points.map(({ voidReason }) => voidReason)),
    judgements: last.judgements.map((_, i) => worstOf(points, i)),
    pass: isComplete && points.every(({ pass }) => pass),
    runs: points.flatMap(({ runs }) => runs),
  };
}

/** The judgement of the `i`th threshold at the point where it is worst: broken before void before held. */
function worstOf(points: readonly Report[], i: number): Judgement {
  const judged = points.map(({ desktops, judgements }) => ({ desktops, ...judgements[i] }));
  const { desktops, ...worst } =
    judged.find(({ outcome }) => outcome === 'broken') ??
    judged.find(({ outcome }) => outcome === 'void') ??
    (judged.at(-1) as (typeof judged)[number]);
  const isOnlyPoint = points.every((point) => point.desktops === desktops);
  return isOnlyPoint ? worst : { ...worst, value: `${worst.value} with ${count(desktops)} desktops` };
}

/** The histogram of this name in all parts together. */
function histogramIn<Name extends HistogramName>(parts: readonly Histograms<Name>[], name: Name): Histogram {
  return mergeHistograms(
    parts.map((part) => {
      const { count, mean, max }: Quantiles = part[`${name}Us`];
      return { buckets: part[`${name}BucketsNs`], count, mean: mean * 1000, max: max * 1000 };
    }),
  );
}

/** How long joins took is no count, and left out. */
function groupsOf(parts: readonly Groups[]): Groups {
  const groups = Object.fromEntries(GROUPS.map((name) => [name, addUp(parts.map((part) => part[name]))])) as Groups;
  delete groups.joins.seconds;
  return groups;
}

/** The sum of each of these members. */
function totals<Name extends string>(parts: readonly Record<Name, number>[], names: readonly Name[]) {
  return Object.fromEntries(names.map((name) => [name, sum(parts, (part) => part[name])])) as Record<Name, number>;
}

/**
 * The share of each machine's window that all windows must have in common. Below it the relay never bore the load that was
 * asked for. Clocks of one region differ by milliseconds, so a start that is a second late in half a minute is a fault.
 */
export const WINDOW_COMMON_SHARE_MIN = 0.97;

/**
 * What all machines offered and delivered in the time that their windows have in common. Of a window that is longer, its
 * share is counted; windowsApart() bounds what this can hide.
 */
function windowOf(parts: readonly EngineResult[]): Figures['window'] {
  const commonMs = lengthOf(commonWindow(parts));
  const counted = (of: (window: EngineResult['window']) => number) =>
    Math.round(sum(parts, ({ window }) => (lengthOf(window) === 0 ? 0 : (of(window) * commonMs) / lengthOf(window))));
  const window =
    parts.length === 1
      ? parts[0].window
      : {
          seconds: commonMs / 1000,
          offered: counted(({ offered }) => offered),
          delivered: counted(({ delivered }) => delivered),
        };
  const { seconds, offered, delivered } = window;
  return { seconds, offered, delivered, ...perSecond(window) };
}

/** In ms on the wall clock. It is empty, and ends before it begins, when there is no such time. */
function commonWindow(parts: readonly EngineResult[]): { fromMs: number; untilMs: number } {
  return {
    fromMs: Math.max(...parts.map(({ window }) => window.fromMs)),
    untilMs: Math.min(...parts.map(({ window }) => window.untilMs)),
  };
}

function lengthOf({ fromMs, untilMs }: { fromMs: number; untilMs: number }): number {
  return Math.max(0, untilMs - fromMs);
}

/** Why the windows do not measure one load; empty when they do. */
function windowsApart(parts: readonly EngineResult[], unaligned = false): string {
  const commonMs = lengthOf(commonWindow(parts));
  const longestMs = Math.max(...parts.map(({ window }) => lengthOf(window)));
  if (commonMs >= longestMs * WINDOW_COMMON_SHARE_MIN) return '';
  const apart = `the windows of the ${parts.length} machines have only ${duration(commonMs / 1000)} of ${duration(longestMs / 1000)} in common`;
  const because = 'because they were started from the console, without a barrier';
  return unaligned ? `${apart}, ${because}: judge each machine by itself` : apart;
}

function perSecond({ seconds, offered, delivered }: { seconds: number; offered: number; delivered: number }) {
  return {
    offeredPerS: seconds > 0 ? offered / seconds : 0,
    deliveredPerS: seconds > 0 ? delivered / seconds : 0,
  };
}

function swarmFiguresOf(parts: readonly EngineResult[]): SwarmFigures {
  const rssBytes = sum(parts, (part) => part.swarm.rssBytes);
  const desktops = sum(parts, (part) => part.desktops);
  return {
    ...perSpriteOver(parts, ({ swarm }) => swarm, 0),
    cpuCores: sum(parts, (part) => part.swarm.cpuCores),
    busiestProcessCores: Math.max(...parts.map((part) => part.swarm.busiestProcessCores)),
    processes: sum(parts, (part) => part.processes),
    rssBytes,
    bytesPerDesktop: desktops === 0 ? 0 : rssBytes / desktops,
  };
}

/** The exact figures of /proc where an engine watched the relay; else those of the relay's own metrics. */
function relayFiguresOf(
  parts: readonly EngineResult[],
  window: Figures['window'],
  seconds: readonly ReportSecond[],
  samples: readonly RelaySample[],
): RelayFigures {
  const measured = seconds.filter(({ phase }) => phase === 'measure');
  const within = samplesWithin(parts, samples);
  const [begin, end] = [within[0], within.at(-1)];
  const span = begin && end && begin !== end ? { begin, end } : undefined;
  const common = {
    heapBytes: most(measured.map((second) => second.heapBytes)),
    gcMaxMs: most(within.slice(1).map((sample, i) => gcMaxMs(within[i], sample))),
    loopDelayMaxMs: most(measured.map((second) => second.loopDelayMaxMs)),
  };
  const watching = parts.find((part) => part.relay !== undefined);
  if (watching?.relay) {
    const { relay } = watching;
    return {
      ...perSpriteOver([watching], () => relay, null, window.delivered),
      cpuCores: relay.cpuCores,
      rssBytes: relay.rssBytes.end,
      rssBytesParked: relay.rssBytes.parked,
      bytesPerParkedPoll: relay.bytesPerParkedPoll,
      ...common,
    };
  }
  const cpu = span && cpuSecondsOver(within);
  const spanS = span ? (span.end.atMs - span.begin.atMs) / 1000 : 0;
  return {
    cpuUsPerSprite: cpu === undefined || window.delivered === 0 ? null : ((cpu / spanS) * 1e6) / window.deliveredPerS,
    userUsPerSprite: null,
    systemUsPerSprite: null,
    cpuCores: cpu === undefined ? null : cpu / spanS,
    rssBytes: samples.at(-1)?.rssBytes ?? null,
    rssBytesParked: begin?.rssBytes ?? null,
    bytesPerParkedPoll: null,
    ...common,
  };
}

/** The samples that were taken in the measured window: the time that the windows of all machines have in common. */
export function samplesWithin(parts: readonly EngineResult[], samples: readonly RelaySample[]): RelaySample[] {
  const { fromMs, untilMs } = commonWindow(parts);
  return samples.filter(({ atMs }) => atMs >= fromMs && atMs <= untilMs);
}

function recoveryOf(seconds: readonly ReportSecond[], parked: number): number | null {
  const measured = seconds.filter(({ phase }) => phase === 'measure');
  const gone = measured.findIndex((second) => second.parked < parked);
  const back = measured.findIndex((second, i) => i > gone && second.parked >= parked);
  return gone < 0 || back < 0 ? null : measured[back].atS - measured[gone].atS + 1;
}

/** The limit of the run. The swarm comes first, because then the run says nothing about the relay. */
function limitOf(parts: readonly Limited[]): Limited {
  for (const limit of ['swarm', 'relay'] as const) {
    const found = parts.find((part) => part.limit === limit);
    if (found) return { limit, limitReason: found.limitReason };
  }
  return { limit: 'none', limitReason: '' };
}

type Limited = Pick<Figures, 'limit' | 'limitReason'>;

/** The seconds of one machine so far, and the latencies in its window. */
export function soFar(startedAtMs: number, seconds: readonly EngineSecond[], samples: readonly RelaySample[]) {
  const measured = seconds.filter(({ phase }) => phase === 'measure');
  const latency = mergeHistograms(measured.map(secondsHistogram));
  return {
    seconds: mergeSeconds([{ startedAtMs, seconds }], samples),
    latencyUs: quantilesUs(latency),
    latencyBucketsNs: latency.buckets,
  };
}

/**
 * Merges second by second. The seconds of a machine that began later are moved by that time.
 *
 * Shape   a late machine reports two rows in one second and none in the one before: counts add up, and what stands (connections, memory,
 *         cores) is that of the newest row of each machine, not the sum.
 */
function mergeSeconds(
  parts: readonly { startedAtMs: number; seconds: readonly EngineSecond[] }[],
  samples: readonly RelaySample[],
): ReportSecond[] {
  const startedAtMs = Math.min(...parts.map((part) => part.startedAtMs));
  const machines = parts.map((part) => {
    const offset = Math.round((part.startedAtMs - startedAtMs) / 1000);
    return Map.groupBy(part.seconds, ({ atS }) => offset + Math.round(atS));
  });
  const rising = [...new Set(machines.flatMap((rows) => [...rows.keys()]))].sort((a, b) => a - b);
  const ends = machines.map((rows) => Math.max(...rows.keys()));
  const newest: (EngineSecond | undefined)[] = machines.map(() => undefined);
  return rising.map((at) => {
    const rows = machines.flatMap((ofMachine) => ofMachine.get(at) ?? []);
    const standing = machines.flatMap((ofMachine, machine) => {
      newest[machine] = ofMachine.get(at)?.at(-1) ?? newest[machine];
      return at <= ends[machine] ? (newest[machine] ?? []) : [];
    });
    return withSample(mergeSecond(at, rows, standing), startedAtMs, samples);
  });
}

/** `rows`: all of that second. `standing`: the newest one of each machine. */
function mergeSecond(atS: number, rows: readonly EngineSecond[], standing: readonly EngineSecond[]): ReportSecond {
  const latency = quantilesUs(mergeHistograms(rows.map((second) => secondsHistogram(second))));
  return {
    atS,
    phase: rows[0].phase,
    ...totals(rows, SECOND_COUNTS),
    ...totals(standing, SECOND_LEVELS),
    p50Us: latency.p50,
    p90Us: latency.p90,
    p99Us: latency.p99,
    p999Us: latency.p999,
    maxUs: latency.max,
  };
}

/** The latencies of one second. */
function secondsHistogram({ latencyBucketsNs, maxUs }: EngineSecond): Histogram {
  const count = sum(latencyBucketsNs, ([, , n]) => n);
  const total = sum(latencyBucketsNs, ([low, high, n]) => ((low + high) / 2) * n);
  return { buckets: latencyBucketsNs, count, mean: count === 0 ? 0 : total / count, max: maxUs * 1000 };
}

/** Adds the relay's own figures: the last sample before the end of that second. */
function withSample(second: ReportSecond, startedAtMs: number, samples: readonly RelaySample[]): ReportSecond {
  const end = startedAtMs + second.atS * 1000;
  const index = samples.findLastIndex(({ atMs }) => atMs <= end && atMs > end - 2000);
  if (index < 0) return second;
  const [before, sample] = [samples[index - 1], samples[index]];
  const cpu = before && cpuSecondsOver([before, sample]);
  return {
    ...second,
    relayCores: second.relayCores || (cpu === undefined ? 0 : cpu / ((sample.atMs - before.atMs) / 1000)),
    relayRssBytes: second.relayRssBytes || (sample.rssBytes ?? 0),
    heapBytes: sample.heapBytes,
    gcMaxMs: before && gcMaxMs(before, sample),
    loopDelayMaxMs: sample.loopDelayMaxMs,
  };
}

/** CPU a sprite over all `delivered` ones; `none` where nothing was delivered, or some part does not know it. */
function perSpriteOver<Part extends { window: { delivered: number } }, None>(
  parts: readonly Part[],
  of: (part: Part) => PerSprite<number | null>,
  none: None,
  delivered = sum(parts, ({ window }) => window.delivered),
): PerSprite<number | None> {
  const over = (name: keyof PerSprite<number>) => {
    if (delivered === 0 || parts.some((part) => of(part)[name] === null)) return none;
    return sum(parts, (part) => (of(part)[name] as number) * part.window.delivered) / delivered;
  };
  return Object.fromEntries(PER_SPRITE.map((name) => [name, over(name)])) as PerSprite<number | None>;
}

function most(values: readonly (number | null | undefined)[]): number | null {
  const known = values.filter((value) => value !== null && value !== undefined);
  return known.length === 0 ? null : Math.max(...known);
}

function addUp(tables: readonly Record<string, number>[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const table of tables) {
    for (const [name, value] of Object.entries(table)) total[name] = (total[name] ?? 0) + value;
  }
  return total;
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

/** The messages that are not empty, each once. */
function sentences(messages: readonly string[]): string {
  return [...new Set(messages.filter((message) => message !== ''))].join('; ');
}

/**
 * The verdict: does a run meet the thresholds of its scenario?
 *
 * A threshold is a sentence such as `p99 < 50ms` or `lost == 0`: a figure, a comparison, and a value in the figure's unit. A
 * count can also be compared with another count or a share of it: `parked == desktops`, `refused <= 1% of offered`; such a
 * threshold holds at every size. Figures that depend on time (latency, CPU, rates) are void when the swarm was the limit,
 * because they do not describe the relay then. Counts (lost, refused, …) are exact in any case. A percentile counts a throw that
 * did not arrive as slower than any that did. Invariant: a report passes iff its run is complete, its accounts agree and every
 * threshold held; a void threshold did not hold.
 */
import { median } from '../../tools/bench/spread.ts';
import { Misused, readBytes, readSeconds } from '../../tools/command.ts';
import { COUNTS } from '../../tools/engine_result.ts';
import { accountsAgree, notArrived } from './account.ts';
import { NEVER_US } from './histogram.ts';
import type { Figures, Judgement, Report, ReportSecond } from './merge.ts';
import { bytes, count, inUs, number, time } from './units.ts';

export interface Threshold {
  text: string;
  figure: string;
  comparison: Comparison;
  /** In the figure's unit; where `of` is set, a share of that figure, 0…1. */
  value: number;
  /** The count that `value` is a share of. */
  of?: string;
}

type Comparison = '<' | '<=' | '==' | '>=' | '>';

interface Unit {
  name: string;
  read(text: string): number | undefined;
  show(value: number): string;
}

interface Figure {
  unit: Unit;
  /** Whether it depends on time, and so describes the relay only while the swarm is not the limit. */
  timed: boolean;
  of(report: Report): number | null;
}

const TIME: Unit = {
  name: 'a time like 50ms',
  read: (text) => {
    const seconds = /[a-zµ]/.test(text) ? readSeconds(text) : undefined;
    return seconds === undefined ? undefined : seconds * 1e6;
  },
  show: time,
};
const COUNT: Unit = { name: 'a whole number, another count, or a share like 1% of offered', read: plain, show: count };
const NUMBER: Unit = { name: 'a number', read: plain, show: number };
const BYTES: Unit = { name: 'a size like 300MiB', read: readBytes, show: bytes };
const SHARE: Unit = {
  name: 'a share like 99%',
  read: (text) => (text.endsWith('%') ? plain(text.slice(0, -1)) : undefined),
  show: (value) => `${value.toFixed(2)} %`,
};

/** The figures that a threshold can name. */
export const FIGURES: Record<string, Figure> = {
  p50: latency('p50'),
  p90: latency('p90'),
  p99: latency('p99'),
  'p99.9': latency('p999'),
  max: latency('max'),
  'away.p50': quantile('awayUs', 'p50'),
  'away.p99': quantile('awayUs', 'p99'),
  'away.max': quantile('awayUs', 'max'),
  'hearing.p50': quantile('hearingUs', 'p50'),
  'hearing.p99': quantile('hearingUs', 'p99'),
  'hearing.max': quantile('hearingUs', 'max'),
  notArrived: counted(notArrived),
  ...Object.fromEntries(COUNTS.map((name) => [name, counted((report) => report[name])])),
  ...Object.fromEntries(
    ['accepted', 'refused', 'missed', 'gone', 'lost', 'again', 'unowed', 'corrupted'].map((name) => [
      `sayings.${name}`,
      counted((report) => report.sayings[name] ?? 0),
    ]),
  ),
  ...Object.fromEntries(
    ['accepted', 'refused', 'failed', 'seen', 'old', 'corrupted'].map((name) => [
      `peeks.${name}`,
      counted((report) => report.peeks[name] ?? 0),
    ]),
  ),
  desktops: counted((report) => report.desktops),
  parked: counted((report) => report.parked),
  overdue: counted((report) => report.polls.overdue ?? 0),
  achieved: {
    unit: SHARE,
    timed: true,
    of: ({ due, window }) => (due === 0 ? null : (100 * window.delivered) / due),
  },
  deliveredPerS: { unit: NUMBER, timed: true, of: ({ window }) => window.deliveredPerS },
  cpuUsPerSprite: { unit: NUMBER, timed: true, of: ({ relay }) => relay.cpuUsPerSprite },
  counted: { unit: COUNT, timed: false, of: ({ relayAccount }) => relayAccount?.counted?.least ?? null },
  rssGrowth: { unit: SHARE, timed: false, of: ({ seconds }) => growth(seconds, ({ relayRssBytes }) => relayRssBytes) },
  p99Growth: { unit: SHARE, timed: true, of: ({ seconds }) => growth(seconds, ({ p99Us }) => p99Us) },
  rss: { unit: BYTES, timed: false, of: ({ relay }) => relay.rssBytes },
  heap: { unit: BYTES, timed: false, of: ({ relay }) => relay.heapBytes },
  bytesPerParkedPoll: { unit: BYTES, timed: false, of: ({ relay }) => relay.bytesPerParkedPoll },
  recovered: {
    unit: TIME,
    timed: false,
    of: ({ recoverySeconds }) => (recoverySeconds === null ? null : recoverySeconds * 1e6),
  },
  gcMax: { unit: TIME, timed: true, of: ({ relay }) => inUs(relay.gcMaxMs) },
  loopDelayMax: { unit: TIME, timed: true, of: ({ relay }) => inUs(relay.loopDelayMaxMs) },
};

/** Figures that a relay tells of itself, so the C floor has none. */
const TOLD_BY_RELAY = ['counted', 'heap', 'gcMax', 'loopDelayMax'];

export function isToldByRelay({ figure }: Threshold): boolean {
  return TOLD_BY_RELAY.includes(figure);
}

export const COMPARE: Record<Comparison, (a: number, b: number) => boolean> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '==': (a, b) => a === b,
  '>=': (a, b) => a >= b,
  '>': (a, b) => a > b,
};

/** Throws Misused, a sentence that says what a threshold must be. */
export function readThreshold(text: string): Threshold {
  const read = /^\s*([\w.]+)\s*(<=|>=|==|<|>)\s*(\S.*?)\s*$/.exec(text);
  if (!read) throw new Misused(`"${text}" is not a threshold: write one like "p99 < 50ms" or "lost == 0"`);
  const [, figure, comparison, written] = read;
  const known = Object.hasOwn(FIGURES, figure) ? FIGURES[figure] : undefined;
  if (!known)
    throw new Misused(`"${text}": there is no figure "${figure}"; there are ${Object.keys(FIGURES).join(', ')}`);
  const value = known.unit.read(written);
  const right = value === undefined ? readShare(known.unit, written) : { value };
  if (right === undefined)
    throw new Misused(`"${text}": ${figure} is compared with ${known.unit.name}, not "${written}"`);
  return { text: `${figure} ${comparison} ${written}`, figure, comparison: comparison as Comparison, ...right };
}

/** "desktops" or "1% of offered"; undefined for anything else. */
function readShare(unit: Unit, written: string): { value: number; of: string } | undefined {
  const [, percent = '100', of] = /^(?:(\d+(?:\.\d+)?) ?% of )?([a-zA-Z]+)$/.exec(written) ?? [];
  if (unit !== COUNT || of === undefined || !Object.hasOwn(FIGURES, of) || FIGURES[of].unit !== COUNT) return undefined;
  return { value: Number(percent) / 100, of };
}

/** The unit of a figure that `readThreshold` accepts. */
export function unitOf(figure: string): Pick<Unit, 'show'> {
  return FIGURES[figure].unit;
}

/** The report with every threshold judged, and whether it passes. */
export function judge(report: Report, thresholds: readonly Threshold[]): Report {
  const judgements = thresholds.map((threshold) => judgeOne(report, threshold));
  const isHeld = judgements.every(({ outcome }) => outcome === 'held');
  const pass = report.ok && report.voidReason === '' && accountsAgree(report) && isHeld;
  return { ...report, judgements, pass };
}

/** The sentence for a user whose swarm was the limit; empty when it was not. */
export function generatorSentence(report: LimitOf): string {
  if (report.limit !== 'swarm') return '';
  const points = limitedPoints(report);
  const [subject, which] =
    points === '' ? ['The swarm', 'this run'] : [`With ${points} desktops the swarm`, 'those runs'];
  return `${subject} was the limit, not the relay: ${report.limitReason}. Latency, CPU and rates of ${which} are not the relay's figures.`;
}

/** The same for the relay. */
export function relaySentence(report: LimitOf): string {
  if (report.limit !== 'relay') return '';
  const points = limitedPoints(report);
  return `${points === '' ? 'The relay' : `With ${points} desktops the relay`} was the limit: ${report.limitReason}.`;
}

/** What was the limit, for the last lines of a report: of one run, or of all runs of a sweep. */
export function limitSentence(report: LimitOf): string {
  if (report.limit === 'none') return 'neither relay nor swarm';
  const points = limitedPoints(report);
  return `${report.limit}${points === '' ? '' : `, with ${points} desktops`}: ${report.limitReason}`;
}

type LimitOf = Pick<Report, 'limit' | 'limitReason'> & { runs?: readonly Pick<Figures, 'desktops' | 'limit'>[] };

export function isSweep(runs: readonly Pick<Figures, 'desktops'>[]): boolean {
  return new Set(runs.map(({ desktops }) => desktops)).size > 1;
}

/** "10 and 1,000": the points of a sweep where the limit was reached; empty for a report that is not a sweep. */
function limitedPoints({ limit, runs = [] }: LimitOf): string {
  if (!isSweep(runs)) return '';
  const points = runs.filter((run) => run.limit === limit).map(({ desktops }) => count(desktops));
  return new Intl.ListFormat('en').format(new Set(points));
}

function judgeOne(report: Report, { text, figure, comparison, value, of: base }: Threshold): Judgement {
  const { of, unit, timed } = FIGURES[figure];
  const found = of(report);
  const whole = base === undefined ? 1 : FIGURES[base].of(report);
  if (found === null || whole === null) return { threshold: text, value: 'not known', outcome: 'broken' };
  const holds = COMPARE[comparison](found, value * whole);
  // A count that is wrong in a part of the load, such as a lost sprite, is wrong whatever the rest would have shown.
  const isVoid = timed ? report.limit === 'swarm' || report.voidReason !== '' : report.voidReason !== '' && holds;
  const outcome = isVoid ? 'void' : holds ? 'held' : 'broken';
  const shown = base === undefined ? unit.show(found) : `${unit.show(found)} of ${unit.show(whole)} ${base}`;
  return { threshold: text, value: shown, outcome };
}

function quantile(of: 'awayUs' | 'hearingUs', name: 'p50' | 'p99' | 'max'): Figure {
  return { unit: TIME, timed: true, of: (report) => (report[of].count === 0 ? null : report[of][name]) };
}

function latency(name: 'p50' | 'p90' | 'p99' | 'p999' | 'max'): Figure {
  const orNever = (us: number) => (us >= NEVER_US ? Number.POSITIVE_INFINITY : us);
  return { unit: TIME, timed: true, of: ({ latencyUs }) => (latencyUs.count === 0 ? null : orNever(latencyUs[name])) };
}

/** How much the median of the last fifth of the window is above that of its first fifth, in percent; null when not known. */
function growth(seconds: readonly ReportSecond[], of: (second: ReportSecond) => number): number | null {
  const values = seconds.filter(({ phase }) => phase === 'measure').map(of);
  const fifth = Math.floor(values.length / 5);
  if (fifth === 0) return null;
  const [first, last] = [values.slice(0, fifth), values.slice(-fifth)].map(median);
  return first > 0 ? (100 * (last - first)) / first : null;
}

function counted(of: (report: Report) => number): Figure {
  return { unit: COUNT, timed: false, of };
}

function plain(text: string): number | undefined {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}

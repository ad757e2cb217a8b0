/**
 * The verdict: does a run hold what its scenario demands?
 *
 * A threshold is a sentence, `p99 < 50ms` or `lost == 0`: a figure, a comparison, a value in the figure's unit. Figures of
 * the relay (latency, CPU, memory, rates) are void when the swarm was the limit: they are then not the relay's. What was
 * counted (lost, refused, …) is exact in any case. Invariant: a report passes iff its run is complete and every threshold
 * held; a void one did not.
 */
import { COUNTS } from './engine_result.ts';
import type { Judgement, Report } from './merge.ts';
import { bytes, count, number, readBytes, readSeconds, time } from './units.ts';

export interface Threshold {
  text: string;
  figure: string;
  comparison: Comparison;
  value: number;
}

type Comparison = '<' | '<=' | '==' | '>=' | '>';

interface Unit {
  name: string;
  read(text: string): number | undefined;
  show(value: number): string;
}

interface Figure {
  unit: Unit;
  /** Whether it says something of the relay only while the swarm is not the limit. */
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
const COUNT: Unit = { name: 'a whole number', read: plain, show: count };
const NUMBER: Unit = { name: 'a number', read: plain, show: number };
const BYTES: Unit = { name: 'a size like 300MiB', read: readBytes, show: bytes };
const SHARE: Unit = {
  name: 'a share like 99%',
  read: (text) => (text.endsWith('%') ? plain(text.slice(0, -1)) : undefined),
  show: (value) => `${value.toFixed(2)} %`,
};

/** What a threshold can be about. */
export const FIGURES: Record<string, Figure> = {
  p50: latency('p50'),
  p90: latency('p90'),
  p99: latency('p99'),
  'p99.9': latency('p999'),
  max: latency('max'),
  ...Object.fromEntries(COUNTS.map((name) => [name, counted((report) => report[name])])),
  parked: counted((report) => report.parked),
  overdue: counted((report) => report.polls.overdue ?? 0),
  achieved: {
    unit: SHARE,
    timed: true,
    of: ({ window }) => (window.offered === 0 ? null : (100 * window.delivered) / window.offered),
  },
  deliveredPerS: { unit: NUMBER, timed: true, of: ({ window }) => window.deliveredPerS },
  cpuUsPerSprite: { unit: NUMBER, timed: true, of: ({ relay }) => relay.cpuUsPerSprite },
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

const COMPARE: Record<Comparison, (a: number, b: number) => boolean> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '==': (a, b) => a === b,
  '>=': (a, b) => a >= b,
  '>': (a, b) => a > b,
};

/** Throws Error, a sentence that says what a threshold must be. */
export function readThreshold(text: string): Threshold {
  const read = /^\s*([\w.]+)\s*(<=|>=|==|<|>)\s*(\S.*?)\s*$/.exec(text);
  if (!read) throw new Error(`"${text}" is no threshold: write one like "p99 < 50ms" or "lost == 0"`);
  const [, figure, comparison, written] = read;
  const known = Object.hasOwn(FIGURES, figure) ? FIGURES[figure] : undefined;
  if (!known)
    throw new Error(`"${text}": there is no figure "${figure}"; there are ${Object.keys(FIGURES).join(', ')}`);
  const value = known.unit.read(written);
  if (value === undefined)
    throw new Error(`"${text}": ${figure} is compared with ${known.unit.name}, not "${written}"`);
  return { text: `${figure} ${comparison} ${written}`, figure, comparison: comparison as Comparison, value };
}

/** The report with every threshold judged, and whether it passes. */
export function judge(report: Report, thresholds: readonly Threshold[]): Report {
  const judgements = thresholds.map((threshold) => judgeOne(report, threshold));
  return { ...report, judgements, pass: report.ok && judgements.every(({ outcome }) => outcome === 'held') };
}

/** What to tell a user whose swarm was the limit; empty when it was not. */
export function generatorSentence({ limit, limitReason }: Pick<Report, 'limit' | 'limitReason'>): string {
  if (limit !== 'swarm') return '';
  return `The swarm was the limit, not the relay: ${limitReason}. Latency, CPU and rates of this run are not the relay's figures.`;
}

function judgeOne(report: Report, { text, figure, comparison, value }: Threshold): Judgement {
  const { of, unit, timed } = FIGURES[figure];
  const found = of(report);
  if (found === null) return { threshold: text, value: 'not known', outcome: 'broken' };
  const outcome = timed && report.limit === 'swarm' ? 'void' : COMPARE[comparison](found, value) ? 'held' : 'broken';
  return { threshold: text, value: unit.show(found), outcome };
}

function latency(name: 'p50' | 'p90' | 'p99' | 'p999' | 'max'): Figure {
  return { unit: TIME, timed: true, of: ({ latencyUs }) => (latencyUs.count === 0 ? null : latencyUs[name]) };
}

function counted(of: (report: Report) => number): Figure {
  return { unit: COUNT, timed: false, of };
}

function plain(text: string): number | undefined {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}

function inUs(ms: number | null): number | null {
  return ms === null ? null : ms * 1000;
}

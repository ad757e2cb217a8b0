/**
 * Compare: did a change make a difference? Takes two reports of several runs each, and shows for each figure the difference
 * of the means with its uncertainty. The points of a sweep are different loads: each is compared with the same point of the
 * other report, and only its own runs are repetitions of each other.
 *
 * The interval is Welch's, 95 %: two samples of unequal variance, Student's t with the degrees of freedom of Welch and
 * Satterthwaite. It assumes that runs do not depend on each other and that figures are roughly normal over runs. With fewer
 * than two runs of either report there is no interval, and the text says so. Figures are compared one by one: of twenty, one
 * differs by chance. A fault, such as a lost sprite, needs no interval: where there was none before, one is worse.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { mean, studentT, variance } from '../../tools/bench/student.ts';
import { Misused, readText } from '../../tools/command.ts';
import { NEVER_US } from './histogram.ts';
import type { Figures, Report } from './merge.ts';
import { aligned, bytes, count, inUs, number, time } from './units.ts';
import { isSweep } from './verdict.ts';

interface Compared {
  name: string;
  of(figures: Figures): number | null;
  show(value: number): string;
  /** Whether less is better, more is, or neither; `none`: it is a fault, and any is worse than none. */
  better: 'less' | 'more' | 'neither' | 'none';
}

const us = (value: number) => time(Math.abs(value));
const COMPARED: Compared[] = [
  { name: 'p50', of: ({ latencyUs }) => timed(latencyUs.p50), show: us, better: 'less' },
  { name: 'p90', of: ({ latencyUs }) => timed(latencyUs.p90), show: us, better: 'less' },
  { name: 'p99', of: ({ latencyUs }) => timed(latencyUs.p99), show: us, better: 'less' },
  { name: 'p99.9', of: ({ latencyUs }) => timed(latencyUs.p999), show: us, better: 'less' },
  { name: 'max', of: ({ latencyUs }) => timed(latencyUs.max), show: us, better: 'less' },
  { name: 'sprites/s', of: ({ window }) => timed(window.deliveredPerS), show: number, better: 'more' },
  { name: 'relay CPU a sprite', of: ({ relay }) => relay.cpuUsPerSprite, show: us, better: 'less' },
  { name: 'relay cores', of: ({ relay }) => relay.cpuCores, show: number, better: 'less' },
  { name: 'relay RSS, end', of: ({ relay }) => relay.rssBytes, show: bytes, better: 'less' },
  { name: 'bytes a desktop', of: ({ relay }) => relay.bytesPerParkedPoll, show: number, better: 'less' },
  { name: 'V8 heap', of: ({ relay }) => relay.heapBytes, show: bytes, better: 'less' },
  { name: 'longest GC pause', of: ({ relay }) => inUs(relay.gcMaxMs), show: us, better: 'less' },
  { name: 'refused', of: ({ refused }) => refused, show: number, better: 'less' },
  ...(['lost', 'undelivered', 'duplicated', 'misrouted', 'corrupted'] as const).map(
    (name): Compared => ({ name, of: (figures) => figures[name], show: number, better: 'none' }),
  ),
  { name: 'swarm CPU a sprite', of: ({ swarm }) => timed(swarm.cpuUsPerSprite), show: us, better: 'neither' },
];

interface Difference {
  a: number;
  b: number;
  /** b − a, and half the width of its 95 % interval; undefined: too few runs. */
  difference: number;
  uncertainty: number | undefined;
}

/** Two samples; Welch's interval at 95 %. */
export function difference(a: readonly number[], b: readonly number[]): Difference {
  const [meanA, meanB] = [mean(a), mean(b)];
  const known = { a: meanA, b: meanB, difference: meanB - meanA };
  if (a.length < 2 || b.length < 2) return { ...known, uncertainty: undefined };
  const [partA, partB] = [variance(a) / a.length, variance(b) / b.length];
  const error = Math.sqrt(partA + partB);
  if (error === 0) return { ...known, uncertainty: 0 };
  const freedom = (partA + partB) ** 2 / (partA ** 2 / (a.length - 1) + partB ** 2 / (b.length - 1));
  return { ...known, uncertainty: studentT(freedom) * error };
}

type Word = 'better' | 'worse' | 'differs' | 'no significant difference' | 'uncertain: too few runs';

/** One figure of both reports as text, and whether it differs. */
export interface ComparedRow {
  name: string;
  a: string;
  b: string;
  change: string;
  percent: string;
  word: Word;
}

/** One load: the runs of both reports with the same number of desktops. */
interface ComparedPoint {
  /** "1,000 desktops"; empty when neither report is a sweep. */
  title: string;
  rows: ComparedRow[];
}

export interface Comparison {
  names: readonly [string, string];
  reports: readonly [Report, Report];
  warnings: string[];
  points: ComparedPoint[];
  footnote: string;
  /** Whether any figure at any point is worse in B. */
  isWorse: boolean;
  /** Whether a figure has too few runs to be judged, or the swarm was the limit of a run. */
  isUncertain: boolean;
}

/** Compares two reports, each given by its file or the folder it is in. Throws Misused. */
export function comparisonOfFiles(paths: readonly string[]): Comparison {
  if (paths.length !== 2)
    throw new Misused('compare takes two reports: npm run swarm -- compare A/report.json B/report.json');
  const [a, b] = paths.map(readReport);
  return comparisonOf(a, b, paths as [string, string]);
}

export function comparisonOf(a: Report, b: Report, names: readonly [string, string]): Comparison {
  const points = pointsOf(a, b).map(({ title, runs }): ComparedPoint => ({ title, rows: rowsOf(runs) }));
  const hasWord = (wanted: Word) => points.some(({ rows }) => rows.some(({ word }) => word === wanted));
  return {
    names,
    reports: [a, b],
    warnings: warnings(a, b),
    points,
    footnote: footnote(pointsOf(a, b).flatMap(({ runs }) => runs)),
    isWorse: hasWord('worse'),
    isUncertain: hasWord('uncertain: too few runs') || [a, b].some(({ runs }) => runs.some(isLimited)),
  };
}

export function textOf({ names, reports, warnings, points, footnote }: Comparison): string {
  const rows = points.flatMap(({ title, rows }) => [
    ...(title === '' ? [] : [[title, '', '', '', '', '']]),
    ...rows.map(({ name, a, b, change, percent, word }) => [name, a, b, change, percent, word]),
  ]);
  const table = aligned([['', 'A', 'B', 'B − A', '', ''], ...rows], (column) => column === 0 || column === 5, '   ');
  return [
    `A  ${names[0]}   ${summaryOf(reports[0])}`,
    `B  ${names[1]}   ${summaryOf(reports[1])}`,
    ...warnings,
    '',
    ...table,
    '',
    footnote,
  ].join('\n');
}

interface Point {
  title: string;
  runs: readonly [Figures[], Figures[]];
}

/** The loads that both reports have. Two reports of one load each are compared also when their loads differ. */
function pointsOf(a: Report, b: Report): Point[] {
  if (!isSweep(a.runs) && !isSweep(b.runs)) return [{ title: '', runs: [a.runs, b.runs] }];
  return common(a, b).map((desktops) => {
    const at = ({ runs }: Report) => runs.filter((run) => run.desktops === desktops);
    return { title: `${count(desktops)} desktops`, runs: [at(a), at(b)] };
  });
}

function common(a: Report, b: Report): number[] {
  const known = new Set(b.runs.map(({ desktops }) => desktops));
  return [...new Set(a.runs.map(({ desktops }) => desktops))].filter((desktops) => known.has(desktops));
}

function rowsOf([a, b]: Point['runs']): ComparedRow[] {
  return COMPARED.flatMap(({ name, of, show, better }) => {
    const [valuesA, valuesB] = [a, b].map((runs) => runs.map(of).filter((value) => value !== null));
    if (valuesA.length === 0 || valuesB.length === 0) return [];
    // A percentile that fell on a throw that did not arrive is no time, so it has no mean.
    const [neverA, neverB] = [valuesA, valuesB].map(
      (values) => show === us && values.some((value) => value >= NEVER_US),
    );
    if (neverA || neverB) {
      const shown = (values: readonly number[], isNever: boolean) => (isNever ? 'never' : show(mean(values)));
      const word = neverA === neverB ? 'no significant difference' : neverB ? 'worse' : 'better';
      return [{ name, a: shown(valuesA, neverA), b: shown(valuesB, neverB), change: '', percent: '', word }];
    }
    const found = difference(valuesA, valuesB);
    if (found.a === 0 && found.b === 0) return [];
    const [change, percent] = changeOf(found, show);
    return [{ name, a: show(found.a), b: show(found.b), change, percent, word: wordOf(found, better) }];
  });
}

function summaryOf({ load, runs }: Report): string {
  return `${load}, ${runs.length} run${runs.length === 1 ? '' : 's'}`;
}

/** Whether the swarm was the limit of a run, not the relay. */
function isLimited({ limit }: Report['runs'][number]): boolean {
  return limit === 'swarm';
}

function warnings(a: Report, b: Report): string[] {
  const said: string[] = [];
  if (a.load !== b.load) said.push('Warning: the loads differ, and that alone makes the figures differ.');
  const machines = [a, b].map((report) => report.machines.map(({ model, cores }) => `${cores} × ${model}`).join(', '));
  if (machines[0] !== machines[1]) said.push('Warning: the machines differ.');
  const isEither = isSweep(a.runs) || isSweep(b.runs);
  const both = new Set(common(a, b));
  const alone = [...a.runs, ...b.runs].map(({ desktops }) => desktops).filter((desktops) => !both.has(desktops));
  if (isEither && alone.length > 0) {
    const points = new Intl.ListFormat('en').format(new Set(alone.map(count)));
    said.push(`Warning: only one of the reports has runs with ${points} desktops; they are left out.`);
  }
  for (const [name, { runs }] of [
    ['A', a],
    ['B', b],
  ] as const) {
    const limited = runs.filter(isLimited).length;
    if (limited > 0)
      said.push(
        `Warning: in ${limited} of ${runs.length} runs of ${name} the swarm was the limit; they say little about the relay.`,
      );
  }
  return said;
}

function changeOf({ a, difference: by, uncertainty }: Difference, show: (value: number) => string): [string, string] {
  const sign = by < 0 ? '−' : '+';
  const change = `${sign}${show(Math.abs(by))}${uncertainty === undefined ? '' : ` ± ${show(uncertainty)}`}`;
  const percent = a === 0 ? '' : `${sign}${Math.abs((100 * by) / a).toFixed(1)} %`;
  return [change, percent];
}

function wordOf({ a, difference: by, uncertainty }: Difference, better: Compared['better']): Word {
  if (better === 'none' && a === 0 && by > 0) return 'worse';
  if (uncertainty === undefined) return 'uncertain: too few runs';
  if (Math.abs(by) <= uncertainty) return 'no significant difference';
  if (better === 'neither') return 'differs';
  return by < 0 === (better !== 'more') ? 'better' : 'worse';
}

function footnote(groups: readonly Figures[][]): string {
  if (groups.some((runs) => runs.length < 2)) {
    return 'One run knows no spread: run both with --runs 5 or more to learn whether a difference is real.';
  }
  return "± is Welch's 95 % interval of the difference of the means over runs. Of twenty figures, one differs by chance.";
}

/** A report from its file, or from the folder it is in. Throws Misused. */
export function readReport(path: string): Report {
  const file = statSync(path, { throwIfNoEntry: false })?.isDirectory() ? join(path, 'report.json') : path;
  const report = parsed(readText(file));
  if (!isReport(report)) throw new Misused(`${file} is not a report of the swarm: give the report.json of --out`);
  return report;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether it has every member that `compare` reads. */
function isReport(value: unknown): value is Report {
  if (!isObject(value) || value.format !== 'sprites-swarm/1') return false;
  const { runs, machines } = value;
  if (!Array.isArray(machines) || !machines.every(isObject)) return false;
  if (!Array.isArray(runs) || runs.length === 0) return false;
  return runs.every((run) => isObject(run) && [run.latencyUs, run.window, run.relay, run.swarm].every(isObject));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** 0 means that no sprite flew, so there is nothing to compare. */
function timed(value: number): number | null {
  return value === 0 ? null : value;
}

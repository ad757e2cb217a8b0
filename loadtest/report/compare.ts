/**
 * Compare: did a change make a difference? Takes two reports of several runs each, and shows for each figure the difference
 * of the means with its uncertainty.
 *
 * The interval is Welch's, 95 %: two samples of unequal variance, Student's t with the degrees of freedom of Welch and
 * Satterthwaite. It assumes that runs do not depend on each other and that figures are roughly normal over runs. With fewer
 * than two runs of either report there is no interval, and the text says so. Figures are compared one by one: of twenty, one
 * differs by chance.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Misused, readInput, sentenceOf } from '../../tools/command.ts';
import type { Figures, Report } from './merge.ts';
import { bytes, number, time } from './units.ts';

interface Compared {
  name: string;
  of(figures: Figures): number | null;
  show(value: number): string;
  /** Whether less is better, more is, or neither. */
  better: 'less' | 'more' | 'neither';
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
  { name: 'lost', of: ({ lost }) => lost, show: number, better: 'less' },
  { name: 'swarm CPU a sprite', of: ({ swarm }) => timed(swarm.cpuUsPerSprite), show: us, better: 'neither' },
];

export interface Difference {
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

/** The text for two reports, each given by its file or the folder it is in. Throws Misused. */
export function compareFiles(paths: readonly string[]): string {
  if (paths.length !== 2)
    throw new Misused('compare takes two reports: npm run swarm -- compare A/report.json B/report.json');
  const [a, b] = paths.map(readReport);
  return compare(a, b, paths as [string, string]);
}

export function compare(a: Report, b: Report, [nameA, nameB]: readonly [string, string]): string {
  const rows = COMPARED.flatMap(({ name, of, show, better }) => {
    const [valuesA, valuesB] = [a, b].map(({ runs }) => runs.map(of).filter((value) => value !== null));
    if (valuesA.length === 0 || valuesB.length === 0) return [];
    const found = difference(valuesA, valuesB);
    if (found.a === 0 && found.b === 0) return [];
    return [[name, show(found.a), show(found.b), ...changeOf(found, show), wordOf(found, better)]];
  });
  const cells = [['', 'A', 'B', 'B − A', '', ''], ...rows];
  const widths = cells[0].map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  const table = cells.map((row) =>
    row
      .map((cell, i) => (i === 0 || i === 5 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])))
      .join('   ')
      .trimEnd(),
  );
  return [
    `A  ${nameA}   ${summaryOf(a)}`,
    `B  ${nameB}   ${summaryOf(b)}`,
    ...warnings(a, b),
    '',
    ...table,
    '',
    footnote(a, b),
  ].join('\n');
}

function summaryOf({ load, runs }: Report): string {
  return `${load}, ${runs.length} run${runs.length === 1 ? '' : 's'}`;
}

function warnings(a: Report, b: Report): string[] {
  const said: string[] = [];
  if (a.load !== b.load) said.push('Warning: the loads differ, and that alone makes the figures differ.');
  const machines = [a, b].map((report) => report.machines.map(({ model, cores }) => `${cores} × ${model}`).join(', '));
  if (machines[0] !== machines[1]) said.push('Warning: the machines differ.');
  for (const [name, { runs }] of [
    ['A', a],
    ['B', b],
  ] as const) {
    const limited = runs.filter(({ limit }) => limit === 'swarm').length;
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

function wordOf({ difference: by, uncertainty }: Difference, better: Compared['better']): string {
  if (uncertainty === undefined) return 'uncertain: too few runs';
  if (Math.abs(by) <= uncertainty) return 'no significant difference';
  if (better === 'neither') return 'differs';
  return by < 0 === (better === 'less') ? 'better' : 'worse';
}

function footnote(a: Report, b: Report): string {
  if (a.runs.length < 2 || b.runs.length < 2) {
    return 'One run knows no spread: run both with --runs 5 or more to learn whether a difference is real.';
  }
  return "± is Welch's 95 % interval of the difference of the means over runs. Of twenty figures, one differs by chance.";
}

function readReport(path: string): Report {
  const file = statSync(path, { throwIfNoEntry: false })?.isDirectory() ? join(path, 'report.json') : path;
  let text: string;
  try {
    text = readInput(file).toString('utf8');
  } catch (error) {
    throw new Misused(sentenceOf(error));
  }
  const report = parsed(text);
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

/** Two-sided 95 % points of Student's t for 1, 2, … 30 degrees of freedom; beyond, 1.96 + 2.5 / f is right to 0.01. */
const T95 = [
  ...[12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131],
  ...[2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042],
];

/** The degrees are rounded down, which makes the interval a little too wide rather than too narrow. */
function studentT(freedom: number): number {
  const whole = Math.max(1, Math.floor(freedom + 1e-9));
  return T95[whole - 1] ?? 1.96 + 2.5 / whole;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function variance(values: readonly number[]): number {
  const middle = mean(values);
  return values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1);
}

/** 0 means that no sprite flew, so there is nothing to compare. */
function timed(value: number): number | null {
  return value === 0 ? null : value;
}

function inUs(ms: number | null): number | null {
  return ms === null ? null : ms * 1000;
}

/**
 * A history of runs: every report in the given folders, oldest first, with its main figures. So a drift over weeks is visible that
 * no comparison of two reports shows. Pure, except `readHistory`.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Misused } from '../../tools/command.ts';
import { type Axis, CORES, lines, TIME } from './chart.ts';
import { readReport } from './compare.ts';
import { documentOf, figure, table } from './document.ts';
import { NEVER_US } from './histogram.ts';
import type { Report } from './merge.ts';
import { aligned, count, known, number, time } from './units.ts';
import { verdictWord } from './words.ts';

export interface Kept {
  folder: string;
  report: Report;
}

/** The reports in these folders and in the folders directly inside them, oldest first. Throws Misused when there are none. */
export function readHistory(folders: readonly string[]): Kept[] {
  const found = folders.flatMap((folder) => {
    if (existsSync(join(folder, 'report.json'))) return [folder];
    if (!existsSync(folder)) throw new Misused(`There is no folder ${folder}.`);
    const inside = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return inside.map(({ name }) => join(folder, name)).filter((one) => existsSync(join(one, 'report.json')));
  });
  if (found.length === 0) {
    throw new Misused('history takes folders that --out made, or a folder of them: npm run swarm -- history results');
  }
  return found
    .map((folder) => ({ folder, report: readReport(folder) }))
    .sort((a, b) => a.report.startedAt.localeCompare(b.report.startedAt));
}

/** Each column: its head, the text of its cell for a report, and what kind of text that is. Without a kind it is a number. */
const COLUMNS: [head: string, of: (kept: Kept) => string, kind?: 'text' | 'path'][] = [
  ['began', ({ report }) => report.startedAt.slice(0, 16).replace('T', ' '), 'text'],
  ['scenario', ({ report }) => report.name, 'text'],
  ['commit', ({ report }) => report.machines[0]?.commit ?? '–', 'text'],
  ['desktops', ({ report }) => count(report.desktops)],
  ['sprites/s', ({ report }) => number(report.window.deliveredPerS)],
  ['p50', ({ report }) => latency(report, 'p50')],
  ['p99', ({ report }) => latency(report, 'p99')],
  ['CPU-µs', ({ report }) => known(report.relay.cpuUsPerSprite, number)],
  ['lost', ({ report }) => count(report.lost)],
  ['verdict', ({ report }) => verdictWord(report), 'text'],
  ['folder', ({ folder }) => folder, 'path'],
];

export function historyText(all: readonly Kept[]): string {
  const cells = [COLUMNS.map(([head]) => head), ...all.map((kept) => COLUMNS.map(([, of]) => of(kept)))];
  return `${aligned(cells, (column) => COLUMNS[column][2] !== undefined).join('\n')}\n`;
}

/** One row a run, and for each scenario with several runs a chart of its p99 and its CPU over the runs. */
export function historyPage(all: readonly Kept[]): string {
  const heads = COLUMNS.map(([head]) => head);
  const rows = all.map((kept) => COLUMNS.map(([, of]) => of(kept)));
  const columns = COLUMNS.map(([, , kind = '']) => kind);
  const names = [...new Set(all.map(({ report }) => report.name))];
  const charts = names.flatMap((name) =>
    chartsOf(
      name,
      all.filter(({ report }) => report.name === name),
    ),
  );
  const main = [
    `<header><p class="kind">Sprites swarm</p><h1>History</h1><p class="load">${all.length} reports</p></header>`,
    charts.length === 0 ? '' : `<section class="charts">${charts.join('\n')}</section>`,
    `<section class="wide">${table(heads, rows, { columns })}</section>`,
  ];
  return documentOf('History of swarms', main.join('\n'));
}

function chartsOf(name: string, all: readonly Kept[]): string[] {
  if (all.length < 2) return [];
  const x = all.map((_, i) => i + 1);
  const chart = (title: string, unit: string, of: (report: Report) => number | undefined, axis: Axis) => {
    const values = all.map(({ report }) => of(report));
    if (values.every((value) => value === undefined)) return '';
    const series = [{ name, colour: 1, values }];
    return figure(`${name}: ${title}`, unit, [], lines(title, { x, series, axis, unit: '' }));
  };
  const flown = ({ latencyUs }: Report, us: number) => (latencyUs.count === 0 || us >= NEVER_US ? undefined : us);
  return [
    chart('p99', 'by run', (report) => flown(report, report.latencyUs.p99), TIME),
    chart('relay CPU a sprite', 'µs, by run', ({ relay }) => relay.cpuUsPerSprite ?? undefined, CORES),
  ].filter((one) => one !== '');
}

function latency({ latencyUs }: Report, name: 'p50' | 'p99'): string {
  return latencyUs.count === 0 ? '–' : time(latencyUs[name]);
}

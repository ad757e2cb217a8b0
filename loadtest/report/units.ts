/**
 * Figures as people read them: times, bytes, counts. One place, so that text, page and messages agree.
 *
 * Three significant digits, because a run of some seconds can't know more; counts are exact.
 */

import { NEVER_US } from './histogram.ts';

const COUNT = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** "250,000" */
export const count = (value: number): string => COUNT.format(value);

/** "0.16", "12.3", "4,812": three significant digits, whole above a hundred. */
export function number(value: number): string {
  const size = Math.abs(value);
  if (size >= 99.95) return COUNT.format(value);
  if (size >= 9.995) return value.toFixed(1);
  return value === 0 ? '0' : value.toFixed(2);
}

/** "86 µs", "12.6 ms", "1.20 s"; "never" for a throw that did not arrive */
export function time(us: number): string {
  if (us >= NEVER_US) return 'never';
  if (us >= 999_950) return `${number(us / 1e6)} s`;
  if (us >= 999.5) return `${number(us / 1000)} ms`;
  return `${us >= 9.995 ? COUNT.format(us) : number(us)} µs`;
}

export const inUs = (ms: number | null): number | null => (ms === null ? null : ms * 1000);

/** "512 bytes", "4.66 KiB", "275 MiB" */
export function bytes(value: number): string {
  const size = Math.abs(value);
  for (const [unit, scale] of [
    ['GiB', 2 ** 30],
    ['MiB', 2 ** 20],
    ['KiB', 2 ** 10],
  ] as const) {
    if (size >= scale) return `${number(value / scale)} ${unit}`;
  }
  return `${COUNT.format(value)} bytes`;
}

/** A table as lines: each column is as wide as its widest cell. A cell is at the right of its column, or `atLeft`. */
export function aligned(
  rows: readonly (readonly string[])[],
  atLeft: (column: number) => boolean = () => false,
  gap = '  ',
): string[] {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const cell = (text: string, i: number) => (atLeft(i) ? text.padEnd(widths[i]) : text.padStart(widths[i]));
  return rows.map((row) => row.map(cell).join(gap).trimEnd());
}

/** A phase of a run, as the engine calls it, in the words of people. */
export const phaseWord = (phase: string): string => (phase === 'warmUp' ? 'warm-up' : phase);

/** Lines until the column names are repeated. */
const SCREENFUL = 20;

/** A column of a table that grows. A kind says that it is text. */
type GrowingColumn = readonly [head: string, width: number, of: unknown, kind?: 'text'];

/** The `n`th line, from 0, of a table that grows, with the column names above it where they are due. */
export function growingLine(n: number, columns: readonly GrowingColumn[], cells: readonly string[]): string {
  const line = (texts: readonly string[]) =>
    texts
      .map((text, i) => (columns[i][3] === 'text' ? text.padEnd(columns[i][1]) : text.padStart(columns[i][1])))
      .join('  ');
  return n % SCREENFUL === 0 ? `${line(columns.map(([head]) => head))}\n${line(cells)}` : line(cells);
}

/** As it is shown; a dash where it is not known. */
export function known(value: number | null | undefined, show: (value: number) => string): string {
  return value === null || value === undefined ? '–' : show(value);
}

/** "90 s", "12 min", "1 h 30 min" */
export function duration(seconds: number): string {
  if (seconds < 120) return `${number(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

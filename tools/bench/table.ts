/** Markdown tables, and the line about the machine that stands beside figures. */
import { cpus, release, totalmem } from 'node:os';
import { commit } from '../version.js';

/** A Markdown table; numbers are aligned to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${head.map((_, column) => cells[column] ?? '').join(' | ')} |`;
  return [line(head), line(head.map((_, column) => (column === 0 ? '---' : '--:'))), ...rows.map(line)].join('\n');
}

/** The machine, the versions and the commit, which must stand beside every figure. */
export function machine(): string {
  const cores = cpus();
  const memoryGiB = Math.round(totalmem() / 2 ** 30);
  return `${cores.length} × ${cores[0]?.model.trim()}, ${memoryGiB} GiB, Linux ${release()}, Node ${process.version}, commit ${commit()}`;
}

export const us = (value: number): string =>
  value >= 10_000 ? `${(value / 1000).toFixed(1)} ms` : `${value.toFixed(0)} µs`;
export const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;

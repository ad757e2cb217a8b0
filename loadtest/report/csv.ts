/** The seconds of a run as CSV (RFC 4180), one line each, for a spreadsheet or a plot. Pure. An unknown figure is empty. */
import type { Report, ReportSecond } from './merge.ts';

const COLUMNS: readonly (keyof ReportSecond)[] = [
  ...(['atS', 'phase', 'parked', 'connections', 'sent', 'accepted', 'delivered', 'refused'] as const),
  ...(['p50Us', 'p90Us', 'p99Us', 'p999Us', 'maxUs', 'relayCores', 'swarmCores', 'relayRssBytes'] as const),
  ...(['heapBytes', 'gcMaxMs', 'loopDelayMaxMs', 'tcpMemoryBytes', 'slabBytes'] as const),
];

export function csv({ seconds }: Pick<Report, 'seconds'>): string {
  const lines = seconds.map((second) => COLUMNS.map((name) => second[name] ?? '').join(','));
  return `${[COLUMNS.join(','), ...lines].join('\r\n')}\r\n`;
}

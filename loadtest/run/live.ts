/** The live table: one line a second during a run, with the column names above every screenful. Pure: returns text. */
import type { EngineSecond } from '../report/engine_result.ts';
import type { RelaySample } from '../report/relay_sample.ts';
import { bytes, count, duration, time } from '../report/units.ts';
import type { Scenario } from './scenario.ts';

interface Column {
  head: string;
  width: number;
  of(second: EngineSecond, sample: RelaySample | undefined, leftS: number): string;
}

const PHASES: Record<string, string> = { warmUp: 'warm-up' };

const FIRST: Column[] = [
  { head: 'time', width: 6, of: ({ atS }) => `${atS.toFixed(0)} s` },
  { head: 'left', width: 6, of: (_second, _sample, leftS) => duration(Math.ceil(leftS)).replace(/\.0+ s$/, ' s') },
  { head: 'phase', width: 8, of: ({ phase }) => PHASES[phase] ?? phase },
  { head: 'connections', width: 11, of: ({ connections }) => count(connections) },
  { head: 'parked', width: 9, of: ({ parked }) => count(parked) },
];
const FLIGHTS: Column[] = [
  { head: 'sprites/s', width: 9, of: ({ delivered }) => count(delivered) },
  { head: 'refused', width: 7, of: ({ refused }) => count(refused) },
  { head: 'p50', width: 8, of: (second) => latency(second, second.p50Us) },
  { head: 'p99', width: 8, of: (second) => latency(second, second.p99Us) },
  { head: 'p99.9', width: 8, of: (second) => latency(second, second.p999Us) },
  { head: 'max', width: 8, of: (second) => latency(second, second.maxUs) },
];
const TALK: Column[] = [
  { head: 'heard/s', width: 9, of: ({ heard }) => count(heard) },
  { head: 'missed', width: 6, of: ({ hearingsMissed }) => count(hearingsMissed) },
  { head: 'read/s', width: 9, of: ({ bytesIn }) => bytes(bytesIn) },
];
const LAST: Column[] = [
  { head: 'relay', width: 5, of: ({ relayCores }) => relayCores.toFixed(2) },
  { head: 'RSS', width: 8, of: (second, sample) => bytes(second.relayRssBytes || (sample?.rssBytes ?? 0)) },
  { head: 'swarm', width: 5, of: ({ swarmCores }) => swarmCores.toFixed(2) },
];

/** Lines until the column names are repeated. */
const SCREENFUL = 20;

/**
 * The `n`th line of a run, from 0, with the column names above it where they are due: of sprites and of sayings, if there are any. It still
 * takes some `leftS` seconds.
 */
export function liveLine(
  n: number,
  { load, mix }: Pick<Scenario, 'load' | 'mix'>,
  second: EngineSecond,
  sample: RelaySample | undefined,
  leftS: number,
): string {
  const flights = load.kind === 'sitting' ? [] : FLIGHTS;
  const columns = [...FIRST, ...flights, ...(mix.talking ? TALK : []), ...LAST];
  const line = (cell: (column: Column) => string) =>
    columns
      .map((column) =>
        column.head === 'phase' ? cell(column).padEnd(column.width) : cell(column).padStart(column.width),
      )
      .join('  ');
  const row = line((column) => column.of(second, sample, leftS));
  return n % SCREENFUL === 0 ? `${line(({ head }) => head)}\n${row}` : row;
}

function latency({ latencyBucketsNs }: EngineSecond, us: number): string {
  return latencyBucketsNs.length === 0 ? '–' : time(us);
}

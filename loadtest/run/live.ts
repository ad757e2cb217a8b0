/** The live table: one line a second during a run, with the column names above every screenful. Pure: returns text. */
import type { EngineSecond } from '../../tools/engine_result.ts';
import type { RelaySample } from '../report/relay_sample.ts';
import { bytes, count, duration, growingLine, phaseWord, time } from '../report/units.ts';
import type { Scenario } from './scenario.ts';

type Column = [
  head: string,
  width: number,
  of: (second: EngineSecond, sample: RelaySample | undefined, leftS: number) => string,
  kind?: 'text',
];

const FIRST: Column[] = [
  ['time', 6, ({ atS }) => `${atS.toFixed(0)} s`],
  ['left', 6, (_second, _sample, leftS) => duration(Math.ceil(leftS)).replace(/\.0+ s$/, ' s')],
  ['phase', 8, ({ phase }) => phaseWord(phase), 'text'],
  ['connections', 11, ({ connections }) => count(connections)],
  ['parked', 9, ({ parked }) => count(parked)],
];
const FLIGHTS: Column[] = [
  ['sprites/s', 9, ({ delivered }) => count(delivered)],
  ['refused', 7, ({ refused }) => count(refused)],
  ['p50', 8, (second) => latency(second, second.p50Us)],
  ['p99', 8, (second) => latency(second, second.p99Us)],
  ['p99.9', 8, (second) => latency(second, second.p999Us)],
  ['max', 8, (second) => latency(second, second.maxUs)],
];
const TALK: Column[] = [
  ['heard/s', 9, ({ heard }) => count(heard)],
  ['missed', 6, ({ hearingsMissed }) => count(hearingsMissed)],
  ['read/s', 9, ({ bytesIn }) => bytes(bytesIn)],
];
const LAST: Column[] = [
  ['relay', 5, ({ relayCores }) => relayCores.toFixed(2)],
  ['RSS', 8, (second, sample) => bytes(second.relayRssBytes || (sample?.rssBytes ?? 0))],
  ['swarm', 5, ({ swarmCores }) => swarmCores.toFixed(2)],
];

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
  const cells = columns.map(([, , of]) => of(second, sample, leftS));
  return growingLine(n, columns, cells);
}

function latency({ latencyBucketsNs }: EngineSecond, us: number): string {
  return latencyBucketsNs.length === 0 ? '–' : time(us);
}

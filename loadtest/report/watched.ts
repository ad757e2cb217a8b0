/**
 * The record of a live relay: who was there, what flew, and how the relay was, second by second, from its own gauges.
 *
 * Pure, except `keepWatch`. Nobody threw for the swarm here, so there is no account: the figures are the relay's. Rates are of one
 * second. Invariant: a second whose figures could not be read is absent, and never zero.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { median } from '../../tools/bench/spread.ts';
import { BYTES, CORES, COUNT, escaped, TIME } from './chart.ts';
import { documentOf, header, type Tile, tilesOf } from './document.ts';
import { keepPage } from './growing.ts';
import { type TimeChart, timeChart, timeCharts } from './time_charts.ts';
import { bytes, count, duration, growingLine, known, number, time } from './units.ts';

export interface WatchSecond {
  atS: number;
  desktops: number;
  parked: number;
  joinedPerS: number;
  leftPerS: number;
  acceptedPerS: number;
  refusedPerS: number;
  waiting: number;
  /** How long the relay took for its site, asked once: what somebody felt who came by just then. */
  answerUs?: number;
  /** How long a sprite took from one canary to the other and back; absent without canaries, and when it took too long. */
  roundTripUs?: number;
  cores?: number;
  rssBytes?: number;
  heapBytes?: number;
  loopDelayMaxMs?: number;
  gcMaxMs?: number;
}

export interface Watched {
  format: 'sprites-watch/1';
  url: string;
  /** ISO 8601, UTC. */
  startedAt: string;
  /** Seconds in which the relay did not answer. */
  missed: number;
  /** What flew from the first second to the last. */
  accepted: number;
  refused: number;
  /** The same by the relay's reason; only those that it gave. */
  refusedByReason: Record<string, number>;
  joined: number;
  left: number;
  /** Seconds in which the sprite of the canaries did not come back in time; absent when there were none, or no canaries. */
  tripsMissed?: number;
  seconds: WatchSecond[];
}

/** Writes report.html, report.txt and report.json into `folder`, which exists. */
export function keepWatch(watched: Watched, folder: string): void {
  keepPage(folder, watchPage(watched));
  writeFileSync(join(folder, 'report.txt'), watchText(watched));
  writeFileSync(join(folder, 'report.json'), `${JSON.stringify(watched, null, 1)}\n`);
}

const CELLS: [head: string, width: number, of: (second: WatchSecond) => string][] = [
  ['time', 8, ({ atS }) => duration(Math.round(atS))],
  ['desktops', 9, ({ desktops }) => count(desktops)],
  ['parked', 9, ({ parked }) => count(parked)],
  ['sprites/s', 9, ({ acceptedPerS }) => number(acceptedPerS)],
  ['refused/s', 9, ({ refusedPerS }) => number(refusedPerS)],
  ['waiting', 8, ({ waiting }) => count(waiting)],
  ['answer', 8, ({ answerUs }) => known(answerUs, time)],
  ['canaries', 8, ({ roundTripUs }) => known(roundTripUs, time)],
  ['loop', 8, ({ loopDelayMaxMs }) => known(loopDelayMaxMs, (ms) => time(ms * 1000))],
  ['cores', 6, ({ cores }) => known(cores, number)],
  ['RSS', 9, ({ rssBytes }) => known(rssBytes, bytes)],
];

/** The line of the last second; the `n`th line of a record, from 0. */
export function watchLine(n: number, { seconds }: Watched): string {
  const last = seconds.at(-1);
  if (!last) return 'The relay has not answered yet.';
  const cells = CELLS.map(([, , of]) => of(last));
  return growingLine(n, CELLS, cells);
}

export function watchText(watched: Watched): string {
  const { seconds, url, startedAt, missed } = watched;
  const most = (of: (second: WatchSecond) => number | undefined, show = count) => known(mostOf(seconds, of), show);
  const answers = seconds.flatMap(({ answerUs }) => answerUs ?? []);
  const pause = (ms: number) => (ms === 0 ? 'no pause' : `≤ ${time(ms * 1000)}`);
  const rows: [string, string][] = [
    ['relay', url],
    ['began', `${startedAt.slice(0, 19).replace('T', ' ')} UTC, for ${duration(seconds.at(-1)?.atS ?? 0)}`],
    [
      'desktops',
      `at most ${most(({ desktops }) => desktops)}; ${count(watched.joined)} joined, ${count(watched.left)} left`,
    ],
    ['sprites', `${count(watched.accepted)} accepted, at most ${most(({ acceptedPerS }) => acceptedPerS)} a second`],
    ['refused', `${count(watched.refused)}${reasonsOf(watched)}`],
    ['waiting', `at most ${most(({ waiting }) => waiting)}`],
    ['answer', `median ${medianText(answers)}, longest ${most(({ answerUs }) => answerUs, time)}`],
    ...tripRows(watched),
    [
      'loop, longest',
      most(
        ({ loopDelayMaxMs }) => loopDelayMaxMs,
        (ms) => time(ms * 1000),
      ),
    ],
    ['GC, longest', most(({ gcMaxMs }) => gcMaxMs, pause)],
    ['RSS, most', most(({ rssBytes }) => rssBytes, bytes)],
    ...(missed === 0 ? [] : [['no answer', `in ${count(missed)} seconds`] as [string, string]]),
  ];
  return `Watched\n${rows.map(([name, value]) => `  ${name.padEnd(14)}${value}`).join('\n')}\n`;
}

/** ": 20 picture-refused, 3 too-fast" */
function reasonsOf({ refusedByReason }: Watched): string {
  const reasons = Object.entries(refusedByReason).map(([reason, n]) => `${count(n)} ${reason}`);
  return reasons.length === 0 ? '' : `: ${reasons.join(', ')}`;
}

const medianText = (us: readonly number[]): string => known(us.length === 0 ? undefined : median(us), time);

function tripRows({ seconds, tripsMissed = 0 }: Watched): [string, string][] {
  const trips = seconds.flatMap(({ roundTripUs }) => roundTripUs ?? []);
  if (trips.length + tripsMissed === 0) return [];
  const late = tripsMissed === 0 ? '' : `; too late, or refused, ${count(tripsMissed)} times`;
  return [
    [
      'round trip',
      `of the canaries, there and back: median ${medianText(trips)}, longest ${known(trips.length > 0 ? Math.max(...trips) : undefined, time)}${late}`,
    ],
  ];
}

/** The record as a page; with `refreshSeconds` one that grows. */
export function watchPage(watched: Watched, refreshSeconds?: number): string {
  const { seconds, url, startedAt } = watched;
  const last = seconds.at(-1);
  const most = (of: (second: WatchSecond) => number | undefined, show = count) => known(mostOf(seconds, of), show);
  const tiles: Tile[] = [
    ['desktops', known(last?.desktops, count), `at most ${most(({ desktops }) => desktops)}`],
    ['sprites accepted', count(watched.accepted), `${known(last?.acceptedPerS, number)} in the last second`],
    ['refused', count(watched.refused), reasonsOf(watched).slice(2)],
    ['waiting now', known(last?.waiting, count), ''],
    ['answer', known(last?.answerUs, time), `longest ${most(({ answerUs }) => answerUs, time)}`],
  ];
  const word = refreshSeconds === undefined ? 'WATCHED' : 'WATCHING';
  const when = `${startedAt.slice(0, 19).replace('T', ' ')} UTC, ${duration(last?.atS ?? 0)}`;
  const head = header('Sprites relay, watched', url, { word, colour: 'pass' }, [
    `<p class="load">${escaped(when)}</p>`,
  ]);
  const charts = seconds.length < 2 ? [] : timeCharts(CHARTS, seconds);
  const main = [head, tilesOf(tiles), `<section class="charts">${charts.join('\n')}</section>`];
  return documentOf(`${url}: ${word.toLowerCase()}`, main.join('\n'), refreshSeconds);
}

const inUs = (ms: number | undefined) => (ms === undefined ? undefined : ms * 1000);

const CHARTS: readonly TimeChart<WatchSecond>[] = [
  timeChart('Desktops', '', COUNT, [
    ['desktops', 6, ({ desktops }) => desktops, 'area'],
    ['parked polls', 1, ({ parked }) => parked],
  ]),
  timeChart('Coming and going', 'a second', COUNT, [
    ['joined', 1, ({ joinedPerS }) => joinedPerS],
    ['left', 4, ({ leftPerS }) => leftPerS],
  ]),
  timeChart('Sprites a second', '', COUNT, [
    ['accepted', 1, ({ acceptedPerS }) => acceptedPerS, 'area'],
    ['refused', 4, ({ refusedPerS }) => refusedPerS],
  ]),
  timeChart('Waiting sprites', '', COUNT, [['waiting', 2, ({ waiting }) => waiting, 'area']]),
  timeChart('Latency', 'of each second', TIME, [
    ['answer', 1, ({ answerUs }) => answerUs],
    ['round trip', 3, ({ roundTripUs }) => roundTripUs],
    ['loop, longest', 2, ({ loopDelayMaxMs }) => inUs(loopDelayMaxMs)],
    ['GC, longest', 5, ({ gcMaxMs }) => inUs(gcMaxMs)],
  ]),
  timeChart('CPU', 'cores', CORES, [['relay', 1, ({ cores }) => cores, 'area']]),
  timeChart('Memory', '', BYTES, [
    ['RSS', 1, ({ rssBytes }) => rssBytes, 'area'],
    ['V8 heap', 5, ({ heapBytes }) => heapBytes],
  ]),
];

function mostOf(seconds: readonly WatchSecond[], of: (second: WatchSecond) => number | undefined): number | undefined {
  const values = seconds.flatMap((second) => of(second) ?? []);
  return values.length === 0 ? undefined : values.reduce((most, value) => Math.max(most, value));
}

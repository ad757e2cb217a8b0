/**
 * The record of a live relay: who was there, what flew, and how the relay was, second by second, from its own gauges.
 *
 * Pure, except `keepWatch`. Nobody threw for the swarm here, so there is no account: the figures are the relay's. Rates are of one
 * second. Invariant: a second whose figures could not be read is absent, and never zero.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Axis, escaped, lines, type Series } from './chart.ts';
import { keepPage } from './growing.ts';
import { BYTES, CORES, COUNT, documentOf, figure, TIME, tilesOf } from './page.ts';
import { bytes, count, duration, number, time } from './units.ts';

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
  joined: number;
  left: number;
  seconds: WatchSecond[];
}

/** Writes report.html, report.txt and report.json into `folder`, which exists. */
export function keepWatch(watched: Watched, folder: string): void {
  keepPage(folder, watchPage(watched));
  writeFileSync(join(folder, 'report.txt'), watchText(watched));
  writeFileSync(join(folder, 'report.json'), `${JSON.stringify(watched, null, 1)}\n`);
}

/** Lines until the column names are repeated. */
const SCREENFUL = 20;
const CELLS: [head: string, width: number, of: (second: WatchSecond) => string][] = [
  ['time', 8, ({ atS }) => duration(Math.round(atS))],
  ['desktops', 9, ({ desktops }) => count(desktops)],
  ['parked', 9, ({ parked }) => count(parked)],
  ['sprites/s', 9, ({ acceptedPerS }) => number(acceptedPerS)],
  ['refused/s', 9, ({ refusedPerS }) => number(refusedPerS)],
  ['waiting', 8, ({ waiting }) => count(waiting)],
  ['answer', 8, ({ answerUs }) => known(answerUs, time)],
  ['loop', 8, ({ loopDelayMaxMs }) => known(loopDelayMaxMs, (ms) => time(ms * 1000))],
  ['cores', 6, ({ cores }) => known(cores, number)],
  ['RSS', 9, ({ rssBytes }) => known(rssBytes, bytes)],
];

/** The line of the last second; the `n`th line of a record, from 0. */
export function watchLine(n: number, { seconds }: Watched): string {
  const last = seconds.at(-1);
  if (!last) return 'The relay has not answered yet.';
  const row = CELLS.map(([, width, of]) => of(last).padStart(width)).join('  ');
  return n % SCREENFUL === 0 ? `${CELLS.map(([head, width]) => head.padStart(width)).join('  ')}\n${row}` : row;
}

export function watchText(watched: Watched): string {
  const { seconds, url, startedAt, missed } = watched;
  const most = (of: (second: WatchSecond) => number | undefined) => known(mostOf(seconds, of), (value) => count(value));
  const median = medianOf(seconds.flatMap(({ answerUs }) => answerUs ?? []));
  const slowest = mostOf(seconds, ({ answerUs }) => answerUs);
  const rows: [string, string][] = [
    ['relay', url],
    ['began', `${startedAt.slice(0, 19).replace('T', ' ')} UTC, for ${duration(seconds.at(-1)?.atS ?? 0)}`],
    [
      'desktops',
      `at most ${most(({ desktops }) => desktops)}; ${count(watched.joined)} joined, ${count(watched.left)} left`,
    ],
    ['sprites', `${count(watched.accepted)} accepted, at most ${most(({ acceptedPerS }) => acceptedPerS)} a second`],
    ['refused', count(watched.refused)],
    ['waiting', `at most ${most(({ waiting }) => waiting)}`],
    ['answer', `median ${known(median, time)}, longest ${known(slowest, time)}`],
    [
      'loop, longest',
      known(
        mostOf(seconds, ({ loopDelayMaxMs }) => loopDelayMaxMs),
        (ms) => time(ms * 1000),
      ),
    ],
    [
      'GC, longest',
      known(
        mostOf(seconds, ({ gcMaxMs }) => gcMaxMs),
        (ms) => (ms === 0 ? 'no pause' : `≤ ${time(ms * 1000)}`),
      ),
    ],
    [
      'RSS, most',
      known(
        mostOf(seconds, ({ rssBytes }) => rssBytes),
        bytes,
      ),
    ],
    ...(missed === 0 ? [] : [['no answer', `in ${count(missed)} seconds`] as [string, string]]),
  ];
  return `Watched\n${rows.map(([name, value]) => `  ${name.padEnd(14)}${value}`).join('\n')}\n`;
}

/** The record as a page; with `refreshSeconds` one that grows. */
export function watchPage(watched: Watched, refreshSeconds?: number): string {
  const { seconds, url, startedAt } = watched;
  const last = seconds.at(-1);
  const tiles: [string, string, string][] = [
    [
      'desktops',
      known(last?.desktops, count),
      `at most ${known(
        mostOf(seconds, ({ desktops }) => desktops),
        count,
      )}`,
    ],
    ['sprites accepted', count(watched.accepted), `${known(last?.acceptedPerS, number)} in the last second`],
    ['refused', count(watched.refused), ''],
    ['waiting now', known(last?.waiting, count), ''],
    [
      'answer',
      known(last?.answerUs, time),
      `longest ${known(
        mostOf(seconds, ({ answerUs }) => answerUs),
        time,
      )}`,
    ],
  ];
  const word = refreshSeconds === undefined ? 'WATCHED' : 'WATCHING';
  const head = `<header>
<p class="kind">Sprites relay, watched</p>
<h1>${escaped(url)} <span class="verdict pass">${word}</span></h1>
<p class="load">${escaped(startedAt.slice(0, 19).replace('T', ' '))} UTC, ${escaped(duration(last?.atS ?? 0))}</p>
</header>`;
  const main = [head, tilesOf(tiles), `<section class="charts">${chartsOf(seconds).join('\n')}</section>`];
  return documentOf(`${url}: ${word.toLowerCase()}`, main.join('\n'), refreshSeconds);
}

function chartsOf(seconds: readonly WatchSecond[]): string[] {
  if (seconds.length < 2) return [];
  const of = (
    name: string,
    colour: number,
    value: (second: WatchSecond) => number | undefined,
    area = false,
  ): Series => ({
    name,
    colour,
    area,
    values: seconds.map(value),
  });
  const chart = (title: string, unit: string, series: Series[], axis: Axis) => {
    const drawn = series.filter(({ values }) => values.some((value) => value !== undefined));
    const x = seconds.map(({ atS }) => atS);
    return drawn.length === 0 ? '' : figure(title, unit, drawn, lines(title, x, drawn, axis));
  };
  const memory = [of('RSS', 1, ({ rssBytes }) => rssBytes, true), of('V8 heap', 5, ({ heapBytes }) => heapBytes)];
  const inUs = (ms: number | undefined) => (ms === undefined ? undefined : ms * 1000);
  return [
    chart(
      'Desktops',
      '',
      [of('desktops', 6, ({ desktops }) => desktops, true), of('parked polls', 1, ({ parked }) => parked)],
      COUNT,
    ),
    chart(
      'Coming and going',
      'a second',
      [of('joined', 1, ({ joinedPerS }) => joinedPerS), of('left', 4, ({ leftPerS }) => leftPerS)],
      COUNT,
    ),
    chart(
      'Sprites a second',
      '',
      [of('accepted', 1, ({ acceptedPerS }) => acceptedPerS, true), of('refused', 4, ({ refusedPerS }) => refusedPerS)],
      COUNT,
    ),
    chart('Waiting sprites', '', [of('waiting', 2, ({ waiting }) => waiting, true)], COUNT),
    chart(
      'Latency',
      'of each second',
      [
        of('answer', 1, ({ answerUs }) => answerUs),
        of('loop, longest', 2, ({ loopDelayMaxMs }) => inUs(loopDelayMaxMs)),
        of('GC, longest', 5, ({ gcMaxMs }) => inUs(gcMaxMs)),
      ],
      TIME,
    ),
    chart('CPU', 'cores', [of('relay', 1, ({ cores }) => cores, true)], CORES),
    chart('Memory', '', memory, BYTES(Math.max(...memory.flatMap(({ values }) => values.map((value) => value ?? 0))))),
  ].filter((one) => one !== '');
}

function mostOf(seconds: readonly WatchSecond[], of: (second: WatchSecond) => number | undefined): number | undefined {
  const values = seconds.flatMap((second) => of(second) ?? []);
  return values.length === 0 ? undefined : values.reduce((most, value) => Math.max(most, value));
}

function medianOf(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

function known(value: number | undefined, show: (value: number) => string): string {
  return value === undefined ? '–' : show(value);
}

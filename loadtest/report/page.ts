/**
 * The report as a page: one HTML file that contains everything, its charts too, and needs no script and no request.
 *
 * Pure. The page's Content-Security-Policy forbids scripts and requests. Every text from a user or a relay is escaped.
 */
import { accountOf, notArrived } from './account.ts';
import { capacitySection } from './capacity.ts';
import { type Axis, type Bar, BYTES, barsOf, CORES, COUNT, distribution, escaped, TIME, TIME_FROM_0 } from './chart.ts';
import { type Badge, documentOf, figure, header, type Tile, table, tilesOf } from './document.ts';
import { PAGE_REFRESH_SECONDS } from './growing.ts';
import { NEVER_US } from './histogram.ts';
import type { Figures, Report, ReportSecond } from './merge.ts';
import { costRows, oddities, percentileRows, runRow, spriteRows } from './rows.ts';
import { type TimeChart, timeChart, timeCharts } from './time_charts.ts';
import { bytes, count, duration, known, number, phaseWord, time } from './units.ts';
import { isSweep, limitSentence } from './verdict.ts';
import { complaints, describeMachine, verdictWord } from './words.ts';

export function page(report: Report): string {
  const word = verdictWord(report);
  const main = [
    head(report, 'Sprites swarm report', { word, colour: word.toLowerCase() }),
    report.capacity ? capacitySection(report.capacity) : '',
    tiles(report),
    ...complaints(report).map((sentence) => `<p class="complaint">${escaped(sentence)}</p>`),
    charts(report, report.runs),
    tables(report),
    foot(report, limitSentence(report)),
  ];
  return documentOf(`${report.name}: ${word.toLowerCase()}`, main.join('\n'));
}

/** What is known of a run that is still on. */
export type Growing = Pick<Report, Described | Drawn>;
type Described = 'name' | 'load' | 'shows' | 'command' | 'machines' | 'relayIs' | 'startedAt' | 'seed';
type Drawn = 'mode' | 'desktops' | 'seconds' | 'latencyUs' | 'latencyBucketsNs';

/**
 * The page of a run that is still on: the charts so far, what is `left`, and the runs before it. A browser reads it again and
 * again, so it grows. It has no verdict and no account: these are known at the end.
 */
export function growingPage(report: Growing, left: string, before: readonly Figures[]): string {
  const { seconds, latencyUs, mode } = report;
  const last = seconds.at(-1);
  const flying = mode !== 'sitting';
  const measured = seconds.filter(({ phase }) => phase === 'measure');
  const sum = (all: readonly ReportSecond[], name: 'delivered' | 'refused') =>
    all.reduce((total, second) => total + second[name], 0);
  const rate = measured.length > 0 ? sum(measured, 'delivered') / measured.length : 0;
  const p99 = latencyUs.count === 0 ? '–' : time(latencyUs.p99);
  const all: (Tile | false)[] = [
    ['phase', phaseWord(last?.phase ?? 'connect'), left === '' ? '' : `${left} left`],
    ['desktops', count(report.desktops), `${count(last?.parked ?? 0)} parked`],
    flying && ['sprites a second', number(last?.delivered ?? 0), `${number(rate)} in the window so far`],
    flying && ['p99 so far', p99, `of ${count(latencyUs.count)} sprites`],
    flying && ['refused', count(sum(seconds, 'refused')), `${count(last?.refused ?? 0)} in the last second`],
    ['relay', `${number(last?.relayCores ?? 0)} cores`, bytes(last?.relayRssBytes ?? 0)],
  ];
  const main = [
    head(report, 'Sprites swarm, running', { word: 'RUNNING', colour: 'void' }),
    tilesOf(all),
    charts(report),
    before.length === 0 ? '' : runsTable(before),
    foot(report),
  ];
  return documentOf(`${report.name}: running`, main.join('\n'), PAGE_REFRESH_SECONDS);
}

function head({ name, load, shows }: Growing, kind: string, badge: Badge): string {
  const below = shows === '' ? [] : [`<p class="shows">${escaped(shows)}</p>`];
  return header(kind, name, badge, [`<p class="load">${escaped(load)}</p>`, ...below]);
}

function tiles(report: Report): string {
  const { latencyUs, window, relay } = report;
  const wrong = report.lost + report.undelivered + report.duplicated + report.misrouted + report.corrupted;
  const flying = report.mode !== 'sitting';
  const p99 = latencyUs.count === 0 ? '–' : time(latencyUs.p99);
  const due = window.seconds > 0 ? report.due / window.seconds : 0;
  const cpu = known(relay.cpuUsPerSprite, (us) => `${number(us)} µs`);
  const grown = relay.bytesPerParkedPoll === null ? '' : `${number(relay.bytesPerParkedPoll)} bytes grown a desktop`;
  const all: (Tile | false)[] = [
    ['desktops', count(report.desktops), `${count(report.parked)} parked after ${duration(report.connectSeconds)}`],
    flying && ['sprites a second', number(window.deliveredPerS), `${number(due)} were due`],
    flying && ['p99 latency', p99, `p50 ${time(latencyUs.p50)}, max ${time(latencyUs.max)}`],
    flying && ['lost or wrong', count(wrong), `of ${count(report.accepted)} accepted`],
    flying && ['relay CPU a sprite', cpu, `${known(relay.cpuCores, number)} cores`],
    report.recoverySeconds !== null && ['all back after', duration(report.recoverySeconds), 'from the first lost poll'],
    ['relay memory', known(relay.rssBytes, bytes), grown],
  ];
  return tilesOf(all);
}

/** `runs`: those of a sweep. A run that is still on has none. */
function charts(report: Growing, runs: readonly Figures[] = []): string {
  const { seconds } = report;
  const sweep = isSweep(runs);
  const figures = [
    ...(sweep ? sweepCharts(runs) : []),
    ...(seconds.length > 1 ? overTime(report) : []),
    ...(report.latencyUs.count > 0 ? [latencyDistribution(report)] : []),
  ];
  const which = sweep ? `<p class="note">Over time: the last run, ${count(report.desktops)} desktops.</p>` : '';
  return `${which}<section class="charts">${figures.join('\n')}</section>`;
}

function sweepCharts(runs: readonly Figures[]): string[] {
  const bars = (title: string, unit: string, drawn: readonly Bar[], axis: Axis) =>
    figure(title, unit, [], barsOf(title, drawn, axis));
  const costs = runs.flatMap(({ desktops, relay: { cpuCores } }) =>
    cpuCores === null ? [] : [{ label: count(desktops), value: cpuCores, text: number(cpuCores) }],
  );
  const latencies = runs.map(({ desktops, latencyUs: { p99 } }) => ({
    label: count(desktops),
    value: p99,
    text: time(p99),
  }));
  return [
    bars('Relay CPU by number of desktops', 'cores, at the same sprites a second', costs, CORES),
    bars('Latency p99 by number of desktops', 'from due to arrival', latencies, TIME_FROM_0),
  ];
}

/** A second, with how much the kernel's objects have grown since the first one. */
type DrawnSecond = ReportSecond & { slabGrownBytes: number };

const positive = (value: number) => (value > 0 ? value : undefined);

/** The latency of a second in which a sprite arrived. */
const ofSprites = (value: (second: ReportSecond) => number) => (second: ReportSecond) =>
  second.maxUs > 0 ? value(second) : undefined;

const CONNECTIONS: TimeChart<DrawnSecond> = timeChart('Connections', 'open', COUNT, [
  ['connections', 6, ({ connections }) => connections, 'area'],
  ['parked polls', 1, ({ parked }) => parked],
]);

const FLIGHTS: readonly TimeChart<DrawnSecond>[] = [
  timeChart('Sprites a second', '', COUNT, [
    ['delivered', 1, ({ delivered }) => delivered, 'area'],
    ['sent', 6, ({ sent }) => sent],
    ['refused', 4, ({ refused }) => refused],
  ]),
  timeChart('Latency over time', 'of each second', TIME, [
    ['max', 4, ofSprites(({ maxUs }) => maxUs)],
    ['p99.9', 2, ofSprites(({ p999Us }) => p999Us)],
    ['p99', 5, ofSprites(({ p99Us }) => p99Us)],
    ['p50', 1, ofSprites(({ p50Us }) => p50Us)],
  ]),
];

const TALK: readonly TimeChart<DrawnSecond>[] = [
  timeChart('Sayings a second', 'once for each that hears them', COUNT, [
    ['heard', 1, ({ heard }) => heard, 'area'],
    ['missed', 4, ({ hearingsMissed }) => hearingsMissed],
  ]),
];

const MILLISECONDS: Axis = { scale: 'linear', format: (ms) => `${ms} ms` };

const MACHINE: readonly TimeChart<DrawnSecond>[] = [
  timeChart('CPU', 'cores', CORES, [
    ['relay', 1, ({ relayCores }) => relayCores, 'area'],
    ['swarm', 2, ({ swarmCores }) => swarmCores],
  ]),
  timeChart('Relay memory', '', BYTES, [
    ['RSS', 1, ({ relayRssBytes }) => positive(relayRssBytes), 'area'],
    ['V8 heap', 5, ({ heapBytes }) => heapBytes],
  ]),
  timeChart('Pauses of the relay', 'longest of each second', MILLISECONDS, [
    ['collector', 5, ({ gcMaxMs }) => gcMaxMs],
    ['loop', 2, ({ loopDelayMaxMs }) => loopDelayMaxMs],
  ]),
  timeChart('Kernel memory', 'of this machine', BYTES, [
    ['objects, grown', 6, ({ slabGrownBytes }) => slabGrownBytes, 'area'],
    ['socket buffers', 2, ({ tcpMemoryBytes }) => tcpMemoryBytes],
  ]),
];

function overTime({ seconds, mode }: Growing): string[] {
  const slabLeast = Math.min(...seconds.map(({ slabBytes }) => slabBytes));
  const drawn = seconds.map((second) => ({ ...second, slabGrownBytes: second.slabBytes - slabLeast }));
  const talk = seconds.some(({ heard }) => heard > 0) ? TALK : [];
  const charts = [CONNECTIONS, ...(mode === 'sitting' ? [] : FLIGHTS), ...talk, ...MACHINE];
  return timeCharts(charts, drawn, windowOf(seconds));
}

function windowOf(seconds: readonly ReportSecond[]): [number, number] | undefined {
  const measured = seconds.filter(({ phase }) => phase === 'measure');
  const last = measured.at(-1);
  return last && [measured[0].atS - 1, last.atS];
}

function latencyDistribution({ latencyUs, latencyBucketsNs }: Growing): string {
  const us = latencyBucketsNs.map(([low, high, n]) => [low / 1000, high / 1000, n] as const);
  const marks = [
    { name: 'p50', value: latencyUs.p50 },
    { name: 'p99', value: latencyUs.p99 },
    { name: 'p99.9', value: latencyUs.p999 },
    { name: 'max', value: latencyUs.max },
  ].filter(({ value }) => value < NEVER_US);
  return figure(
    'Latency distribution',
    `share of ${count(latencyUs.count)} sprites in the measured window`,
    [],
    distribution('Latency distribution', us, marks, TIME),
  );
}

function tables(report: Report): string {
  const flown = report.mode !== 'sitting';
  const judged = report.judgements.map(({ threshold, value, outcome }) => [
    threshold,
    value,
    outcome === 'void' ? 'not judged' : outcome,
  ]);
  return `<section class="tables">
${judged.length === 0 ? '' : table(['thresholds', 'found', ''], judged)}
${flown ? table(['sprites', ''], [...spriteRows(report).map(shortRow), ...oddities(report)]) : ''}
${flown ? table(['latency', ''], latencyRows(report)) : ''}
${table(['cost', 'relay', 'swarm'], costRows(report))}
</section>
${accountOf(report).length > 0 ? `<section class="wide">${table(['accounts, each side from other counters', '', ''], accountRows(report))}</section>` : ''}
${report.runs.length > 1 ? runsTable(report.runs) : ''}`;
}

/** The reasons of refusals stand nowhere else on the page. */
function shortRow([what, n, beside]: ReturnType<typeof spriteRows>[number]): [string, string] {
  return [what, what === 'refused' && beside !== '' ? `${n} (${beside})` : n];
}

function latencyRows(report: Report): [string, string][] {
  const { latencyUs, awayUs } = report;
  const away: [string, string][] = [
    ['away, p50', time(awayUs.p50)],
    ['away, p99', time(awayUs.p99)],
  ];
  return [
    ...percentileRows(report),
    ['mean', latencyUs.count === 0 ? '–' : time(latencyUs.mean)],
    ['did not arrive', count(notArrived(report))],
    ...(awayUs.count > 0 ? away : []),
  ];
}

function accountRows(report: Report): string[][] {
  return accountOf(report).map(({ equation, left, right, holds }) => [
    equation,
    holds && left === right ? count(left) : `${count(left)} and ${count(right)}`,
    holds ? 'agree' : 'do not agree',
  ]);
}

const RUN_COLUMNS = [
  ...['run', 'desktops', 'sprites/s', 'p50', 'p99', 'p99.9', 'max'],
  ...['relay cores', 'CPU-µs a sprite', 'lost', 'limit'],
];

function runsTable(runs: readonly Figures[]): string {
  return `<section class="wide">${table(RUN_COLUMNS, runs.map(runRow))}</section>`;
}

/** `limit`: what it was; a run that is still on has none. */
function foot(report: Growing, limit?: string): string {
  const machines = report.machines.map((machine) => `<dt>machine</dt><dd>${escaped(describeMachine(machine))}</dd>`);
  return `<footer><dl>
<dt>relay</dt><dd>${escaped(report.relayIs)}</dd>
${machines.join('\n')}
<dt>began</dt><dd>${report.startedAt.slice(0, 19).replace('T', ' ')} UTC, seed ${report.seed}</dd>
${limit === undefined ? '' : `<dt>limit</dt><dd>${escaped(limit)}</dd>\n`}<dt>again</dt><dd><code>${escaped(report.command)}</code></dd>
</dl>
<p>Latency counts from when a throw was due by a schedule that was fixed before the run, so a relay that stalls cannot hide it.
Every sprite is counted by the desktop that threw it and by the desktop that caught it. A throw that did not arrive counts as slower
than any that did; a percentile that falls on one is never. The shaded area is the measured window; counts are of the whole run.
Percentiles come from merged histograms and are at most 0.4 % off.</p></footer>`;
}

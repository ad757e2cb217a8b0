/**
 * The report as a page: one HTML file that contains everything, its charts too, and needs no script and no request.
 *
 * Pure. The page's Content-Security-Policy forbids scripts and requests. Every text from a user or a relay is escaped.
 */
import { accountOf, notArrived } from './account.ts';
import { type Axis, barsOf, distribution, escaped, lines, type Series } from './chart.ts';
import { PAGE_REFRESH_SECONDS } from './growing.ts';
import { NEVER_US, percentile } from './histogram.ts';
import type { Figures, Report, ReportSecond } from './merge.ts';
import { bytes, count, duration, number, time } from './units.ts';
import { isSweep, limitSentence } from './verdict.ts';
import { complaints, describeMachine, verdictWord } from './words.ts';

export function page(report: Report): string {
  const title = `${report.name}: ${verdictWord(report).toLowerCase()}`;
  const main = [
    head(report),
    tiles(report),
    ...complaints(report).map((sentence) => `<p class="complaint">${escaped(sentence)}</p>`),
    charts(report),
    tables(report),
    foot(report),
  ];
  return documentOf(title, main.join('\n'));
}

/**
 * The page of a run that is still on: the charts so far, what is `left`, and the runs before it. A browser reads it again and
 * again, so it grows. It has no verdict and no account: these are known at the end.
 */
export function growingPage(report: Report, left: string, before: readonly Figures[]): string {
  const { seconds, latencyUs, window, mode } = report;
  const last = seconds.at(-1);
  const flying = mode !== 'sitting';
  const rate = window.seconds > 0 ? window.delivered / window.seconds : 0;
  const all: [string, string, string][] = [
    ['phase', PHASES[last?.phase ?? ''] ?? last?.phase ?? 'connect', left === '' ? '' : `${left} left`],
    ['desktops', count(report.desktops), `${count(report.parked)} parked`],
    ...(flying
      ? ([
          ['sprites a second', number(last?.delivered ?? 0), `${number(rate)} in the window so far`],
          ['p99 so far', latencyUs.count === 0 ? '–' : time(latencyUs.p99), `of ${count(latencyUs.count)} sprites`],
          ['refused', count(report.refused), `${count(last?.refused ?? 0)} in the last second`],
        ] as [string, string, string][])
      : []),
    ['relay', `${number(last?.relayCores ?? 0)} cores`, bytes(last?.relayRssBytes ?? 0)],
  ];
  const shows = report.shows === '' ? '' : `<p class="shows">${escaped(report.shows)}</p>`;
  const main = [
    `<header>\n<p class="kind">Sprites swarm, running</p>
<h1>${escaped(report.name)} <span class="verdict void">RUNNING</span></h1>
<p class="load">${escaped(report.load)}</p>\n${shows}\n</header>`,
    tilesOf(all),
    charts({ ...report, runs: report.runs.slice(-1) }),
    before.length === 0 ? '' : runsTable({ ...report, runs: [...before] }),
    foot(report),
  ];
  return documentOf(`${report.name}: running`, main.join('\n'), PAGE_REFRESH_SECONDS);
}

const PHASES: Record<string, string> = { warmUp: 'warm-up' };

/** A whole page. With `refreshSeconds` the browser reads it again so often: a page that grows. */
export function documentOf(title: string, main: string, refreshSeconds?: number): string {
  const refresh = refreshSeconds === undefined ? '' : `\n<meta http-equiv="refresh" content="${refreshSeconds}">`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">${refresh}
<title>${escaped(title)}</title>
<style>${STYLE}</style>
<main>
${main}
</main>
</html>
`;
}

function head(report: Report): string {
  const word = verdictWord(report);
  const shows = report.shows === '' ? '' : `<p class="shows">${escaped(report.shows)}</p>`;
  return `<header>
<p class="kind">Sprites swarm report</p>
<h1>${escaped(report.name)} <span class="verdict ${word.toLowerCase()}">${word}</span></h1>
<p class="load">${escaped(report.load)}</p>
${shows}
</header>`;
}

function tiles(report: Report): string {
  const { latencyUs, window, relay } = report;
  const wrong = report.lost + report.undelivered + report.duplicated + report.misrouted + report.corrupted;
  const flying = report.mode !== 'sitting';
  const all: [string, string, string][] = [
    ['desktops', count(report.desktops), `${count(report.parked)} parked after ${duration(report.connectSeconds)}`],
    ...(flying
      ? ([
          [
            'sprites a second',
            number(window.deliveredPerS),
            `${number(window.seconds > 0 ? report.due / window.seconds : 0)} were due`,
          ],
          [
            'p99 latency',
            latencyUs.count === 0 ? '–' : time(latencyUs.p99),
            `p50 ${time(latencyUs.p50)}, max ${time(latencyUs.max)}`,
          ],
          ['lost or wrong', count(wrong), `of ${count(report.accepted)} accepted`],
          [
            'relay CPU a sprite',
            relay.cpuUsPerSprite === null ? '–' : `${number(relay.cpuUsPerSprite)} µs`,
            `${relay.cpuCores === null ? '–' : number(relay.cpuCores)} cores`,
          ],
        ] as [string, string, string][])
      : []),
    ...(report.recoverySeconds === null
      ? []
      : ([['all back after', duration(report.recoverySeconds), 'from the first lost poll']] as [
          string,
          string,
          string,
        ][])),
    [
      'relay memory',
      relay.rssBytes === null ? '–' : bytes(relay.rssBytes),
      relay.bytesPerParkedPoll === null ? '' : `${number(relay.bytesPerParkedPoll)} bytes grown a desktop`,
    ],
  ];
  return tilesOf(all);
}

/** Figures in large type: name, value, and what stands below. */
export function tilesOf(tiles: readonly (readonly [name: string, value: string, beside: string])[]): string {
  const tile = ([name, value, beside]: (typeof tiles)[number]) =>
    `<div class="tile"><p class="name">${escaped(name)}</p><p class="figure">${escaped(value)}</p><p class="beside">${escaped(beside)}</p></div>`;
  return `<section class="tiles">${tiles.map(tile).join('')}</section>`;
}

/** Axis labels: "1 ms", not "1.00 ms". */
const short = (text: string) => text.replace(/(\d)\.0+(?= |$)/, '$1');
export const TIME: Axis = { scale: 'log', format: (us) => short(time(us)) };
export const BYTES = (most: number): Axis => ({
  scale: 'linear',
  unit: [2 ** 30, 2 ** 20, 2 ** 10].find((unit) => most >= unit) ?? 1,
  format: (value) => (value === 0 ? '0' : short(bytes(value))),
});
export const COUNT: Axis = { scale: 'linear', format: count };
export const CORES: Axis = { scale: 'linear', format: (value) => String(value) };

function charts(report: Report): string {
  const { seconds } = report;
  const sweep = isSweep(report.runs);
  const figures = [
    ...(sweep ? sweepCharts(report) : []),
    ...(seconds.length > 1 ? overTime(report) : []),
    ...(report.latencyUs.count > 0 ? [latencyDistribution(report)] : []),
  ];
  const which = sweep ? `<p class="note">Over time: the last run, ${count(report.desktops)} desktops.</p>` : '';
  return `${which}<section class="charts">${figures.join('\n')}</section>`;
}

function sweepCharts({ runs }: Report): string[] {
  const costs = runs.filter(({ relay }) => relay.cpuCores !== null);
  return [
    figure(
      'Relay CPU by number of desktops',
      'cores, at the same sprites a second',
      [],
      barsOf(
        'Relay CPU by number of desktops',
        costs.map(({ desktops, relay }) => ({
          label: count(desktops),
          value: relay.cpuCores ?? 0,
          text: number(relay.cpuCores ?? 0),
        })),
        CORES,
      ),
    ),
    figure(
      'Latency p99 by number of desktops',
      'from due to arrival',
      [],
      barsOf(
        'Latency p99 by number of desktops',
        runs.map(({ desktops, latencyUs }) => ({
          label: count(desktops),
          value: latencyUs.p99,
          text: time(latencyUs.p99),
        })),
        { scale: 'linear', format: (us) => (us === 0 ? '0' : short(time(us))) },
      ),
    ),
  ];
}

function overTime(report: Report): string[] {
  const { seconds } = report;
  const flying = report.mode !== 'sitting';
  const of = (
    name: string,
    colour: number,
    value: (second: ReportSecond) => number | undefined,
    area = false,
  ): Series => ({
    name,
    colour,
    area,
    values: seconds.map(value),
  });
  const timed = (value: (second: ReportSecond) => number) => (second: ReportSecond) =>
    second.maxUs > 0 ? value(second) : undefined;
  const known = (value: number) => (value > 0 ? value : undefined);
  const slabBefore = Math.min(...seconds.map(({ slabBytes }) => slabBytes));
  const pauses = [
    of('collector', 5, ({ gcMaxMs }) => (gcMaxMs === undefined ? undefined : gcMaxMs)),
    of('loop', 2, ({ loopDelayMaxMs }) => loopDelayMaxMs),
  ];
  const memory = [
    of('RSS', 1, ({ relayRssBytes }) => known(relayRssBytes), true),
    of('V8 heap', 5, ({ heapBytes }) => heapBytes),
  ];
  const kernel = [
    of('objects, grown', 6, ({ slabBytes }) => slabBytes - slabBefore, true),
    of('socket buffers', 2, ({ tcpMemoryBytes }) => tcpMemoryBytes),
  ];
  const chart = (title: string, unit: string, series: Series[], axis: Axis) => {
    const drawn = series.filter(({ values }) => values.some((value) => value !== undefined));
    const x = seconds.map(({ atS }) => atS);
    return drawn.length === 0 ? '' : figure(title, unit, drawn, lines(title, x, drawn, axis, windowOf(seconds)));
  };
  const most = (series: Series[]) => Math.max(...series.flatMap(({ values }) => values.map((value) => value ?? 0)));
  return [
    chart(
      'Connections',
      'open',
      [of('connections', 6, ({ connections }) => connections, true), of('parked polls', 1, ({ parked }) => parked)],
      COUNT,
    ),
    flying
      ? chart(
          'Sprites a second',
          '',
          [
            of('delivered', 1, ({ delivered }) => delivered, true),
            of('sent', 6, ({ sent }) => sent),
            of('refused', 4, ({ refused }) => refused),
          ],
          COUNT,
        )
      : '',
    flying
      ? chart(
          'Latency over time',
          'of each second',
          [
            of(
              'max',
              4,
              timed(({ maxUs }) => maxUs),
            ),
            of(
              'p99.9',
              2,
              timed(({ p999Us }) => p999Us),
            ),
            of(
              'p99',
              5,
              timed(({ p99Us }) => p99Us),
            ),
            of(
              'p50',
              1,
              timed(({ p50Us }) => p50Us),
            ),
          ],
          TIME,
        )
      : '',
    chart(
      'CPU',
      'cores',
      [of('relay', 1, ({ relayCores }) => relayCores, true), of('swarm', 2, ({ swarmCores }) => swarmCores)],
      CORES,
    ),
    chart('Relay memory', '', memory, BYTES(most(memory))),
    chart('Pauses of the relay', 'longest of each second', pauses, { scale: 'linear', format: (ms) => `${ms} ms` }),
    chart('Kernel memory', 'of this machine', kernel, BYTES(most(kernel))),
  ].filter((one) => one !== '');
}

function windowOf(seconds: readonly ReportSecond[]): [number, number] | undefined {
  const measured = seconds.filter(({ phase }) => phase === 'measure');
  const last = measured.at(-1);
  return last && [measured[0].atS - 1, last.atS];
}

function latencyDistribution(report: Report): string {
  const { latencyUs, latencyBucketsNs } = report;
  const population = latencyUs.count + notArrived(report);
  const us = latencyBucketsNs.map(([low, high, n]) => [low / 1000, high / 1000, n] as const);
  const histogram = { buckets: us, count: latencyUs.count, mean: latencyUs.mean, max: latencyUs.max };
  const marks = [
    ...(
      [
        ['p50', 0.5],
        ['p99', 0.99],
        ['p99.9', 0.999],
      ] as const
    )
      .map(([name, share]) => ({ name, value: percentile({ ...histogram, buckets: [...us] }, share, population) }))
      .filter(({ value }) => value < NEVER_US),
    { name: 'max', value: latencyUs.max },
  ];
  return figure(
    'Latency distribution',
    `share of ${count(latencyUs.count)} sprites in the measured window`,
    [],
    distribution('Latency distribution', us, marks, TIME),
  );
}

export function figure(title: string, unit: string, series: readonly Series[], drawing: string): string {
  const legend = series
    .map(
      ({ name, colour }) =>
        `<span class="key"><i style="background:var(--series-${colour})"></i>${escaped(name)}</span>`,
    )
    .join('');
  return `<figure><figcaption><b>${escaped(title)}</b> <span class="unit">${escaped(unit)}</span>${legend === '' ? '' : `<span class="legend">${legend}</span>`}</figcaption>${drawing}</figure>`;
}

function tables(report: Report): string {
  const { relay, swarm } = report;
  const dash = (value: number | null, show: (value: number) => string) => (value === null ? '–' : show(value));
  const us = (value: number | null) => dash(value, (known) => `${number(known)} µs`);
  const account: [string, string][] = [
    ['scheduled', count(report.scheduled)],
    ['skipped', `${count(report.skipped)}${report.missed === 0 ? '' : ` (${count(report.missed)} missed)`}`],
    ['offered', count(report.offered)],
    ['accepted', count(report.accepted)],
    ['delivered', count(report.delivered)],
    [
      'refused',
      `${count(report.refused)} ${Object.entries(report.refusedByCode)
        .map(([code, n]) => `(${count(n)} ${code})`)
        .join(' ')}`,
    ],
    ['undelivered', count(report.undelivered)],
    ['lost', count(report.lost)],
    ['duplicated', count(report.duplicated)],
    ['misrouted', count(report.misrouted)],
    ['corrupted', count(report.corrupted)],
    ['forwarded', count(report.forwarded)],
    ['from other relays', count(report.across)],
    ['late', count(report.late)],
    ['timed out', count(report.timedOut)],
    ['failed', count(report.failed)],
    ['arrived away', count(report.away)],
  ];
  const accounts = accountOf(report).map(({ equation, left, right, holds }): string[] => [
    equation,
    holds && left === right ? count(left) : `${count(left)} and ${count(right)}`,
    holds ? 'agree' : 'do not agree',
  ]);
  const latency: [string, string][] = (['p50', 'p90', 'p99', 'p999', 'max', 'mean'] as const).map((name) => [
    name === 'p999' ? 'p99.9' : name,
    report.latencyUs.count === 0 ? '–' : time(report.latencyUs[name]),
  ]);
  latency.push(['did not arrive', count(notArrived(report))]);
  if (report.awayUs.count > 0) {
    latency.push(['away, p50', time(report.awayUs.p50)], ['away, p99', time(report.awayUs.p99)]);
  }
  const cost: [string, string, string][] = [
    ['CPU a sprite', us(relay.cpuUsPerSprite), us(report.mode === 'sitting' ? null : swarm.cpuUsPerSprite)],
    ['of it user', us(relay.userUsPerSprite), us(report.mode === 'sitting' ? null : swarm.userUsPerSprite)],
    ['cores', dash(relay.cpuCores, number), number(swarm.cpuCores)],
    ['RSS, parked', dash(relay.rssBytesParked, bytes), bytes(swarm.rssBytes)],
    ['bytes a desktop', dash(relay.bytesPerParkedPoll, number), number(swarm.bytesPerDesktop)],
    ['V8 heap', dash(relay.heapBytes, bytes), ''],
    ['GC pause, longest', dash(relay.gcMaxMs, (ms) => (ms === 0 ? 'none' : `≤ ${time(ms * 1000)}`)), ''],
    ['loop, longest', dash(relay.loopDelayMaxMs, (ms) => time(ms * 1000)), ''],
  ];
  const thresholds = report.judgements.map(({ threshold, value, outcome }): string[] => [
    threshold,
    value,
    outcome === 'void' ? 'not judged' : outcome,
  ]);
  return `<section class="tables">
${thresholds.length === 0 ? '' : table(['thresholds', 'found', ''], thresholds)}
${report.mode === 'sitting' ? '' : table(['sprites', ''], account)}
${report.mode === 'sitting' ? '' : table(['latency', ''], latency)}
${table(['cost', 'relay', 'swarm'], cost)}
</section>
${report.mode === 'sitting' ? '' : `<section class="wide">${table(['accounts, each side from other counters', '', ''], accounts)}</section>`}
${report.runs.length > 1 ? runsTable(report) : ''}`;
}

function runsTable({ runs }: Report): string {
  const rows = runs.map(({ desktops, window, latencyUs, relay, lost, limit }, i) => [
    String(i + 1),
    count(desktops),
    number(window.deliveredPerS),
    time(latencyUs.p50),
    time(latencyUs.p99),
    time(latencyUs.p999),
    time(latencyUs.max),
    relay.cpuCores === null ? '–' : number(relay.cpuCores),
    relay.cpuUsPerSprite === null ? '–' : number(relay.cpuUsPerSprite),
    count(lost),
    limit,
  ]);
  const names = [
    'run',
    'desktops',
    'sprites/s',
    'p50',
    'p99',
    'p99.9',
    'max',
    'relay cores',
    'CPU-µs a sprite',
    'lost',
    'limit',
  ];
  return `<section class="wide">${table(names, rows)}</section>`;
}

function table(names: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (row: readonly string[], tag: string) =>
    row.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join('');
  return `<table><thead><tr>${cells(names, 'th')}</tr></thead><tbody>${rows
    .map((row) => `<tr>${cells(row, 'td')}</tr>`)
    .join('')}</tbody></table>`;
}

function foot(report: Report): string {
  const machines = report.machines.map((machine) => `<dt>machine</dt><dd>${escaped(describeMachine(machine))}</dd>`);
  return `<footer><dl>
<dt>relay</dt><dd>${escaped(report.relayIs)}</dd>
${machines.join('\n')}
<dt>began</dt><dd>${report.startedAt.slice(0, 19).replace('T', ' ')} UTC, seed ${report.seed}</dd>
<dt>limit</dt><dd>${escaped(limitSentence(report))}</dd>
<dt>again</dt><dd><code>${escaped(report.command)}</code></dd>
</dl>
<p>Latency counts from when a throw was due by a schedule that was fixed before the run, so a relay that stalls cannot hide it.
Every sprite is counted by the desktop that threw it and by the desktop that caught it. A throw that did not arrive counts as slower
than any that did; a percentile that falls on one is never. The shaded area is the measured window; counts are of the whole run.
Percentiles come from merged histograms and are at most 0.4 % off.</p></footer>`;
}

const STYLE = `
:root{color-scheme:light dark;--paper:#fbfbfa;--card:#fff;--ink:#1c2024;--soft:#5f6872;--hair:#e4e6e9;--grid:#eceef0;--window:#f3f5f8;
--series-1:#2563c9;--series-2:#e07b00;--series-3:#0c8f6a;--series-4:#cf2e3c;--series-5:#7a4fc9;--series-6:#8a97a6;--good:#0c7f5c;--bad:#c22533;--doubt:#a86200}
@media (prefers-color-scheme:dark){:root{--paper:#14171a;--card:#1b1f24;--ink:#e8eaed;--soft:#98a2ad;--hair:#2c323a;--grid:#262c33;--window:#20262d;
--series-1:#6ea3f5;--series-2:#f2a34b;--series-3:#43c39a;--series-4:#f0707b;--series-5:#b095f0;--series-6:#7b8896;--good:#43c39a;--bad:#f0707b;--doubt:#f2a34b}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums}
main{max-width:1180px;margin:0 auto;padding:36px 28px 48px}
p{margin:0}
header{margin-bottom:22px}
.kind{color:var(--soft);font-size:13px;letter-spacing:.02em}
h1{font-size:30px;line-height:1.25;margin:2px 0 6px;font-weight:650;display:flex;gap:14px;align-items:center;flex-wrap:wrap}
.verdict{font-size:13px;font-weight:650;letter-spacing:.06em;padding:3px 11px;border-radius:99px;color:#fff;background:var(--bad)}
.verdict.pass{background:var(--good)}
tr.worse td:last-child{color:var(--bad);font-weight:600}
tr.better td:last-child{color:var(--good);font-weight:600}
.verdict.void{background:var(--doubt)}
@media (prefers-color-scheme:dark){.verdict{color:#14171a}}
.load{font-size:17px}
.shows{color:var(--soft);max-width:80ch;margin-top:6px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(165px,1fr));gap:12px;margin-bottom:18px}
.tile{background:var(--card);border:1px solid var(--hair);border-radius:10px;padding:12px 16px}
.tile .name{color:var(--soft);font-size:13px}
.tile .figure{font-size:25px;font-weight:600;line-height:1.3;white-space:nowrap}
.tile .beside{color:var(--soft);font-size:13px}
.complaint{border-left:4px solid var(--doubt);background:var(--card);padding:10px 16px;margin:0 0 12px;border-radius:0 8px 8px 0}
.note{color:var(--soft);margin:4px 0 10px}
.charts{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:14px;margin-bottom:14px}
.tables{display:flex;flex-wrap:wrap;gap:14px;align-items:start;margin-bottom:14px}
.tables table{flex:1 1 auto;width:auto}
figure,table{background:var(--card);border:1px solid var(--hair);border-radius:10px;margin:0}
figure{padding:12px 14px 6px}
figcaption{font-size:14px;display:flex;gap:4px 10px;flex-wrap:wrap;align-items:baseline;min-height:24px}
.unit{color:var(--soft);font-size:13px}
.legend{margin-left:auto;display:flex;gap:12px;flex-wrap:wrap;font-size:13px}
.key i{display:inline-block;width:11px;height:11px;border-radius:3px;margin-right:5px;vertical-align:-1px}
svg{display:block;width:100%;height:auto;margin-top:4px}
svg text{font-size:11.5px;fill:var(--soft);text-anchor:middle}
svg text.end{text-anchor:end}
svg text.start{text-anchor:start}
svg text.value{fill:var(--ink);font-weight:600}
svg text.mark{fill:var(--ink);font-size:11px;paint-order:stroke;stroke:var(--card);stroke-width:3px;stroke-dasharray:none;stroke-opacity:1}
.grid{stroke:var(--grid)}
.axis,.notch{stroke:var(--soft);stroke-opacity:.55}
.line{fill:none;stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}
.area{opacity:.13}
line.mark{stroke:var(--ink);stroke-opacity:.45;stroke-dasharray:3 3}
.window{fill:var(--window)}
.hover{fill:transparent}
.hover:hover{fill:var(--ink);fill-opacity:.06}
.wide{margin-bottom:14px;overflow-x:auto}
table{border-collapse:separate;border-spacing:0;width:100%;font-size:14px;padding:12px 16px}
th{font-weight:400;color:var(--soft);font-size:13px}
th:first-child{color:var(--ink);font-weight:600;font-size:14px}
th,td{text-align:right;padding:3px 0 3px 14px;border-bottom:1px solid var(--grid);white-space:nowrap}
th:first-child,td:first-child{text-align:left;padding-left:0}
.text,.path{text-align:left}
td.path{white-space:normal;overflow-wrap:anywhere}
tbody tr:last-child td{border-bottom:0}
footer{color:var(--soft);font-size:13px;margin-top:24px}
dl{display:grid;grid-template-columns:max-content 1fr;gap:3px 16px;margin:0 0 14px}
dt{color:var(--soft)}
dd{margin:0;color:var(--ink);overflow-wrap:anywhere}
footer p{max-width:96ch}
code{font:12.5px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
@media (max-width:760px){.charts{grid-template-columns:1fr}main{padding:24px 14px}}
@media print{body{background:#fff}figure,table,.tile{break-inside:avoid}}
`;

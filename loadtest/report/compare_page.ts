/** A comparison as a page: what `compare --out DIR` keeps. Pure. Like the report, one file without a script or a request. */
import { type Axis, barsOf, CORES, escaped, TIME_FROM_0 } from './chart.ts';
import type { Comparison } from './compare.ts';
import { type Badge, documentOf, figure, header, table } from './document.ts';
import { NEVER_US } from './histogram.ts';
import { number, time } from './units.ts';

export function comparePage(comparison: Comparison): string {
  const { names, reports, warnings, points, footnote } = comparison;
  const badge = badgeOf(comparison);
  const sides = names.map((name, i) => `${'AB'[i]}: ${name}, ${reports[i].load}, ${reports[i].startedAt.slice(0, 10)}`);
  const head = header(
    'Sprites swarm, compared',
    reports[1].name,
    badge,
    sides.map((side) => `<p class="load">${escaped(side)}</p>`),
  );
  const tables = points.map(({ title, rows }) => {
    const cells = rows.map(({ name, a, b, change, percent, word }) => [name, a, b, change, percent, word]);
    const marked = rows.map(({ word }) => (word === 'worse' || word === 'better' ? word : ''));
    const names = [title || 'figure', 'A', 'B', 'B − A', '', ''];
    return `<section class="wide">${table(names, cells, { rows: marked })}</section>`;
  });
  const said = warnings.map((warning) => `<p class="complaint">${escaped(warning)}</p>`);
  const main = [head, ...said, chartsOf(comparison), ...tables, `<footer><p>${escaped(footnote)}</p></footer>`];
  return documentOf(`${names[0]} and ${names[1]}: ${badge.word.toLowerCase()}`, main.join('\n'));
}

function badgeOf({ isWorse, isUncertain }: Comparison): Badge {
  if (isWorse) return { word: 'WORSE', colour: 'fail' };
  return isUncertain ? { word: 'UNCERTAIN', colour: 'void' } : { word: 'NOT WORSE', colour: 'pass' };
}

/** The runs of both reports side by side, one bar each: the spread that the intervals are made of. */
function chartsOf({ reports }: Comparison): string {
  const runs = reports.flatMap(({ runs: all }, i) => all.map((run, n) => ({ label: `${'AB'[i]}${n + 1}`, run })));
  const bars = (
    title: string,
    unit: string,
    of: (run: (typeof runs)[number]['run']) => number,
    show: (n: number) => string,
    axis: Axis,
  ) => {
    const known = runs.filter(({ run }) => of(run) > 0 && of(run) < NEVER_US);
    if (known.length === 0 || runs.length > BARS_MAX) return '';
    const drawn = known.map(({ label, run }) => ({ label, value: of(run), text: show(of(run)) }));
    return figure(title, unit, [], barsOf(title, drawn, axis));
  };
  const figures = [
    bars('Latency p99', 'of each run', ({ latencyUs }) => latencyUs.p99, time, TIME_FROM_0),
    bars('Relay CPU a sprite', 'µs, of each run', ({ relay }) => relay.cpuUsPerSprite ?? 0, number, CORES),
  ].filter((one) => one !== '');
  return figures.length === 0 ? '' : `<section class="charts">${figures.join('\n')}</section>`;
}

/** More bars than this are narrower than their labels. */
const BARS_MAX = 16;

/**
 * A chart of grouped bars with their uncertainty, as an SVG file that a Markdown page can show in light and dark.
 *
 * Invariant: every number in the SVG is finite. Cost: O(bars).
 */
import type { Interval } from '../../tools/bench/student.ts';

export interface BarGroup {
  label: string;
  /** One for each series, in their order. */
  bars: readonly Interval[];
}

export interface BarChart {
  title: string;
  /** What the heights are. */
  unit: string;
  series: readonly string[];
  groups: readonly BarGroup[];
}

const SIZE = { width: 720, height: 360 };
const PLOT = { left: 64, right: 704, top: 84, bottom: 316 };

/** Of the series, in their order: distinct for colour-blind readers, on light and dark. */
const COLOURS = ['#4878cf', '#d65f5f', '#3f9b6a', '#b47cc7'];

const STYLE =
  'text{font:13px system-ui,sans-serif;fill:#333}.title{font-weight:600;font-size:15px}.grid{stroke:#999;stroke-opacity:.35}' +
  '.whisker{stroke:#333;stroke-width:1.5;fill:none}' +
  '@media (prefers-color-scheme:dark){text{fill:#ddd}.whisker{stroke:#ddd}}';

/** Grid lines, the axis included. */
const STEPS = 4;

export function barChart({ title, unit, series, groups }: BarChart): string {
  const tops = groups.flatMap(({ bars }) => bars.map((bar) => bar.mean + spreadOf(bar)));
  const top = niceTop(Math.max(0, ...tops));
  const y = (value: number) => PLOT.bottom - (Math.min(Math.max(value, 0), top) / top) * (PLOT.bottom - PLOT.top);
  const parts = [
    `<text class="title" x="${PLOT.left}" y="24">${escaped(title)}</text>`,
    `<text x="${PLOT.left}" y="${PLOT.top - 8}">${escaped(unit)}</text>`,
    ...series.map((name, index) => legend(name, index)),
    ...Array.from({ length: STEPS + 1 }, (_, step) => gridLine((top * step) / STEPS, y)),
    ...groups.map((group, index) => groupOf(group, index, groups.length, series, y)),
  ];
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" role="img" ` +
    `aria-label="${escaped(title)}"><style>${STYLE}</style>${parts.join('')}</svg>\n`
  );
}

function legend(name: string, index: number): string {
  const x = PLOT.left + index * 210;
  return (
    `<rect x="${x}" y="34" width="12" height="12" fill="${COLOURS[index % COLOURS.length]}"/>` +
    `<text x="${x + 18}" y="45">${escaped(name)}</text>`
  );
}

function gridLine(value: number, y: (value: number) => number): string {
  const at = fixed(y(value));
  return (
    `<line class="grid" x1="${PLOT.left}" x2="${PLOT.right}" y1="${at}" y2="${at}"/>` +
    `<text x="${PLOT.left - 8}" y="${fixed(y(value) + 4)}" text-anchor="end">${Number(value.toPrecision(3))}</text>`
  );
}

function groupOf(
  { label, bars }: BarGroup,
  index: number,
  count: number,
  series: readonly string[],
  y: (value: number) => number,
): string {
  const step = (PLOT.right - PLOT.left) / count;
  const width = Math.min(48, (step * 0.8) / series.length);
  const start = PLOT.left + (index + 0.5) * step - (width * series.length) / 2;
  const drawn = bars.map((bar, number) => {
    const x = start + number * width;
    const [middle, spread] = [x + width / 2, spreadOf(bar)];
    const [low, high] = [y(bar.mean - spread), y(bar.mean + spread)];
    const whisker = `M${fixed(middle)} ${fixed(low)}V${fixed(high)}M${fixed(middle - 5)} ${fixed(high)}h10M${fixed(middle - 5)} ${fixed(low)}h10`;
    const tip = `${label}, ${series[number]}: ${Number(bar.mean.toPrecision(3))} ± ${Number(spread.toPrecision(2))}`;
    return (
      `<rect x="${fixed(x + 1)}" y="${fixed(y(bar.mean))}" width="${fixed(width - 2)}" height="${fixed(PLOT.bottom - y(bar.mean))}" ` +
      `fill="${COLOURS[number % COLOURS.length]}"><title>${escaped(tip)}</title></rect>` +
      (spread > 0 ? `<path class="whisker" d="${whisker}"/>` : '')
    );
  });
  const name = `<text x="${fixed(PLOT.left + (index + 0.5) * step)}" y="${PLOT.bottom + 22}" text-anchor="middle">${escaped(label)}</text>`;
  return drawn.join('') + name;
}

/** 0 when it is not known. */
const spreadOf = ({ uncertainty }: Interval): number => (Number.isFinite(uncertainty) ? uncertainty : 0);

/** The next of 1, 2, 2.5, 5 and 10 times a power of ten, times STEPS / 4. */
function niceTop(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 2.5, 4, 5, 10].find((nice) => nice * power >= value) ?? 10);
}

const fixed = (value: number): string => String(Number(value.toFixed(1)));

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

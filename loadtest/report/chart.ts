/**
 * Charts as SVG text: lines over time, a distribution, bars. They need no script, font or request, so a report is one file
 * that prints and still opens in twenty years.
 *
 * Colours are CSS variables (`--series-1` …), which the page defines for light and dark. Invariant: every number in the SVG
 * is finite, and every text is escaped. Cost: O(points).
 */

import type { Bucket } from '../../tools/engine_result.ts';
import { binned } from './histogram.ts';
import { bytes, count, time } from './units.ts';

export interface Axis {
  /** On a `log` axis 0 is shown at the lowest value. */
  scale: 'linear' | 'log';
  /** Steps of a linear axis are multiples of this: 1, or 2 ** 20 for MiB. Default 1. */
  unit?: number;
  format(value: number): string;
}

export interface Series {
  name: string;
  /** N of the page's `--series-N`, from 1. */
  colour: number;
  /** One for each x value; undefined where the value is not known. */
  values: readonly (number | undefined)[];
  /** Whether the space down to the axis is filled. */
  area?: boolean;
}

export interface Bar {
  label: string;
  value: number;
  /** The text above the bar. */
  text: string;
}

interface Mark {
  name: string;
  value: number;
}

/** Axis labels: "1 ms", not "1.00 ms". */
const short = (text: string) => text.replace(/(\d)\.0+(?= |$)/, '$1');
export const TIME: Axis = { scale: 'log', format: (us) => short(time(us)) };
export const TIME_FROM_0: Axis = { scale: 'linear', format: (us) => (us === 0 ? '0' : short(time(us))) };
export const BYTES = (most: number): Axis => ({
  scale: 'linear',
  unit: [2 ** 30, 2 ** 20, 2 ** 10].find((unit) => most >= unit) ?? 1,
  format: (value) => (value === 0 ? '0' : short(bytes(value))),
});
export const COUNT: Axis = { scale: 'linear', format: count };
export const CORES: Axis = { scale: 'linear', format: (value) => String(value) };

const SIZE = { width: 560, height: 250 };
const PLOT = { left: 62, right: 548, top: 14, bottom: 218 };

export interface Lines {
  x: readonly number[];
  series: readonly Series[];
  axis: Axis;
  /** The measured part of x, which is shaded. */
  window?: readonly [number, number];
  /** Of x; seconds by default. */
  unit?: string;
  /** Whether x, of which every value is then above 0, is logarithmic. */
  log?: boolean;
}

/** Lines over x. */
export function lines(label: string, { x, series, axis, window, unit = ' s', log = false }: Lines): string {
  const known = series.flatMap(({ values }) => values.filter((value) => value !== undefined));
  const y = scaleOf(axis, known);
  const first = x[0] ?? (log ? 1 : 0);
  const last = Math.max(x.at(-1) ?? 1, first + 1);
  const share = (value: number) =>
    log ? Math.log(value / first) / Math.log(last / first) : (value - first) / (last - first);
  const at = (value: number) => along(share(value));
  const ticks = log ? logTicks(first, last) : niceTicks(first, last, 7, 1).filter((tick) => tick >= first);
  return svg(label, [
    window ? shade(at(window[0]), at(window[1])) : '',
    gridOf(y, axis),
    ...ticks.map((tick) => xTick(at(tick), `${log ? COUNT.format(tick) : tick}${unit}`)),
    ...series.map((one) => line(x.map(at), one, y)),
    ...hovers({ x, series, axis, unit }, at),
  ]);
}

/** Columns of a chart that show their values when the pointer rests on them: more are too narrow to point at. */
const HOVERS_MAX = 240;

/** What the pointer shows, without a script: one column for each x, or for several with the values of the last of them. */
function hovers({ x, series, axis, unit }: Lines, at: (value: number) => number): string[] {
  const step = Math.max(1, Math.ceil(x.length / HOVERS_MAX));
  const columns: string[] = [];
  for (let i = step - 1; i < x.length; i += step) {
    const known = series.flatMap(({ name, values }) => {
      const value = values[i];
      return value === undefined || !Number.isFinite(value) ? [] : [`${name} ${axis.format(value)}`];
    });
    if (known.length === 0) continue;
    const [from, to] = [at(x[Math.max(0, i - step)]), at(x[i])];
    const title = [`${Number(x[i].toFixed(1))}${unit}`, ...known].join('\n');
    columns.push(
      `<rect class="hover" x="${fixed(from)}" y="${PLOT.top}" width="${fixed(Math.max(1, to - from))}" height="${PLOT.bottom - PLOT.top}"><title>${escaped(title)}</title></rect>`,
    );
  }
  return columns;
}

const BINS_PER_DECADE = 20;

/** The distribution of values on a logarithmic axis, as shares of all values in equal steps. `marks` are vertical lines. */
export function distribution(label: string, buckets: readonly Bucket[], marks: readonly Mark[], axis: Axis): string {
  const total = buckets.reduce((sum, [, , n]) => sum + n, 0);
  const bins = binned(buckets, BINS_PER_DECADE).map(([from, to, n]) => [from, to, n / total] as const);
  const [low, high] = [bins[0]?.[0] ?? 1, bins.at(-1)?.[1] ?? 10];
  const highest = Math.max(...bins.map(([, , share]) => share), 1e-9);
  const span = Math.log10(high / low) || 1;
  const at = (value: number) => along(Math.min(1, Math.max(0, Math.log10(value / low) / span)));
  const percent: Axis = { scale: 'linear', format: (value) => `${Number((value * 100).toPrecision(3))} %` };
  const y = scaleOf(percent, [highest * 1.18]); // leaves room for the names of the marks
  return svg(label, [
    gridOf(y, percent),
    ...decades(low, high).map((tick) => xTick(at(tick), axis.format(tick))),
    ...bins.map(([from, to, share]) =>
      rect(at(from), y.at(share), Math.max(1, at(to) - at(from) - 0.6), PLOT.bottom - y.at(share), 1),
    ),
    ...marksOf(marks, at),
  ]);
}

/** Bars side by side. */
export function barsOf(label: string, bars: readonly Bar[], axis: Axis): string {
  const y = scaleOf(
    axis,
    bars.map(({ value }) => value),
  );
  const step = (PLOT.right - PLOT.left) / Math.max(1, bars.length);
  const width = Math.min(64, step * 0.64);
  return svg(label, [
    gridOf(y, axis),
    ...bars.flatMap(({ label: name, value, text }, i) => {
      const middle = PLOT.left + step * (i + 0.5);
      const top = y.at(value);
      return [
        rect(middle - width / 2, top, width, PLOT.bottom - top, 1, name),
        textAt(middle, top - 6, text, 'value'),
        textAt(middle, PLOT.bottom + 18, name, 'tick'),
      ];
    }),
  ]);
}

interface Scale {
  ticks: number[];
  at(value: number): number;
}

function scaleOf({ scale, unit = 1 }: Axis, given: readonly number[]): Scale {
  const values = given.filter(Number.isFinite);
  const height = PLOT.bottom - PLOT.top;
  if (scale === 'log') {
    const positive = values.filter((value) => value > 0);
    const low = 10 ** Math.floor(Math.log10(Math.min(...positive, 1e12)));
    const high = Math.max(10 ** Math.ceil(Math.log10(Math.max(...positive, 1))), low * 10);
    const [from, span] = positive.length === 0 ? [1, 1] : [low, Math.log10(high / low)];
    return {
      ticks: positive.length === 0 ? [] : decades(low, high),
      at: (value) => PLOT.bottom - height * Math.max(0, Math.log10(Math.max(value, from) / from) / span),
    };
  }
  const most = Math.max(...values, 0);
  const ticks = niceTicks(0, most === 0 ? unit : most * 1.04, 5, most < unit ? 0 : unit);
  const top = Math.max(ticks.at(-1) ?? 1, most * 1.04, Number.MIN_VALUE);
  return { ticks, at: (value) => PLOT.bottom - (height * value) / top };
}

/** At most `most` ticks from `low` to `high`, in steps of 1, 2 or 5 times a power of ten; of `unit`, if that is not 0. */
function niceTicks(low: number, high: number, most: number, unit: number): number[] {
  const scale = unit || 1;
  const rough = (high - low) / scale / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = scale * power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const ticks = [];
  for (let n = Math.ceil(low / step); n * step <= high * 1.0001; n++) ticks.push(Number((n * step).toPrecision(12)));
  return ticks;
}

/** At most some eight: 1, 2 and 5 times each power of ten within the range, or the powers alone. */
function logTicks(low: number, high: number): number[] {
  const powers = decades(low / 10, high);
  const fine = powers.flatMap((power) => [1, 2, 5].map((factor) => factor * power));
  return (high / low > 300 ? powers : fine).filter((tick) => tick >= low * 0.9999 && tick <= high * 1.0001);
}

function decades(low: number, high: number): number[] {
  const ticks = [];
  for (let n = Math.ceil(Math.log10(low) - 1e-9); 10 ** n <= high * 1.0001; n++) ticks.push(10 ** n);
  return ticks;
}

/** Writes names beside their lines; where two names would overlap, the later one is a row lower. */
function marksOf(marks: readonly Mark[], at: (value: number) => number): string[] {
  const rowEnds: number[] = [];
  return marks.map(({ name, value }) => {
    const x = at(value);
    const left = x + 4 + name.length * 6.2 > PLOT.right;
    const begin = left ? x - 4 - name.length * 6.2 : x + 4;
    let row = rowEnds.findIndex((end) => end <= begin);
    if (row < 0) row = rowEnds.length;
    rowEnds[row] = begin + name.length * 6.2 + 6;
    const y = PLOT.top + 10 + row * 13;
    return `<line class="mark" x1="${fixed(x)}" x2="${fixed(x)}" y1="${PLOT.top}" y2="${PLOT.bottom}"/>${textAt(left ? x - 4 : x + 4, y, name, left ? 'mark end' : 'mark start')}`;
  });
}

/** A line, with gaps where values are not known. */
function line(x: readonly number[], { name, colour, values, area }: Series, y: Scale): string {
  const stretches: string[][] = [[]];
  const ends: [number, number][] = [];
  for (const [i, value] of values.entries()) {
    const stretch = stretches[stretches.length - 1];
    if (value === undefined || !Number.isFinite(value)) {
      if (stretch.length > 0) stretches.push([]);
      continue;
    }
    stretch.push(`${fixed(x[i])} ${fixed(y.at(value))}`);
    ends[stretches.length - 1] = [ends[stretches.length - 1]?.[0] ?? x[i], x[i]];
  }
  const drawn = stretches.filter((stretch) => stretch.length > 0).map((stretch) => `M${stretch.join('L')}`);
  if (drawn.length === 0) return '';
  const under = drawn.map(
    (path, i) => `${path}L${fixed(ends[i][1])} ${PLOT.bottom}L${fixed(ends[i][0])} ${PLOT.bottom}Z`,
  );
  const fill = area ? `<path class="area" d="${under.join('')}" style="fill:var(--series-${colour})"/>` : '';
  return `${fill}<path class="line" d="${drawn.join('')}" style="stroke:var(--series-${colour})"><title>${escaped(name)}</title></path>`;
}

function gridOf(y: Scale, axis: Axis): string {
  return y.ticks
    .map((tick) => {
      const height = fixed(y.at(tick));
      return `<line class="grid" x1="${PLOT.left}" x2="${PLOT.right}" y1="${height}" y2="${height}"/>${textAt(PLOT.left - 8, y.at(tick) + 4, axis.format(tick), 'tick end')}`;
    })
    .join('');
}

function shade(from: number, to: number): string {
  return `<rect class="window" x="${fixed(from)}" y="${PLOT.top}" width="${fixed(Math.max(0, to - from))}" height="${PLOT.bottom - PLOT.top}"/>`;
}

function rect(x: number, y: number, width: number, height: number, colour: number, title = ''): string {
  const said = title === '' ? '' : `<title>${escaped(title)}</title>`;
  return `<rect class="bar" x="${fixed(x)}" y="${fixed(y)}" width="${fixed(width)}" height="${fixed(Math.max(0, height))}" style="fill:var(--series-${colour})">${said}</rect>`;
}

function xTick(x: number, text: string): string {
  return `<line class="notch" x1="${fixed(x)}" x2="${fixed(x)}" y1="${PLOT.bottom}" y2="${PLOT.bottom + 4}"/>${textAt(x, PLOT.bottom + 18, text, 'tick')}`;
}

function textAt(x: number, y: number, text: string, kind: string): string {
  return `<text class="${kind}" x="${fixed(x)}" y="${fixed(y)}">${escaped(text)}</text>`;
}

function svg(label: string, parts: readonly string[]): string {
  const axis = `<line class="axis" x1="${PLOT.left}" x2="${PLOT.right}" y1="${PLOT.bottom}" y2="${PLOT.bottom}"/>`;
  return `<svg viewBox="0 0 ${SIZE.width} ${SIZE.height}" role="img" aria-label="${escaped(label)}">${parts.join('')}${axis}</svg>`;
}

/** A drawing as a file of its own, for a document that shows pictures: with its title, the names of its series, and colours. */
export function standalone(title: string, series: readonly Series[], drawing: string): string {
  const [head, colours] = [26, ['', '#2563c9', '#e07b00', '#0c8f6a', '#cf2e3c', '#7a4fc9', '#8a97a6']];
  const style = `text{font:11.5px system-ui,sans-serif;fill:#5f6872;text-anchor:middle}.end{text-anchor:end}.start{text-anchor:start}
.title{font-weight:600;fill:#1c2024}.grid{stroke:#eceef0}.axis,.notch{stroke:#5f6872;stroke-opacity:.55}.window{fill:#f0f3f7}
.line{fill:none;stroke-width:1.8;stroke-linejoin:round}.area{opacity:.13}.hover{fill:transparent}`;
  const names = series.map(({ name }) => name.length * 6.2 + 22);
  const keys = series.map(({ name, colour }, i) => {
    const x = PLOT.right - names.slice(i).reduce((sum, width) => sum + width, 0);
    return `<rect x="${fixed(x)}" y="8" width="10" height="10" fill="${colours[colour]}"/>${textAt(x + 14, 17, name, 'start')}`;
  });
  const inside = drawing
    .replace(/^<svg [^>]*>|<\/svg>$/g, '')
    .replace(/var\(--series-(\d)\)/g, (_, colour) => colours[Number(colour)]);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height + 2 * head}" width="${SIZE.width}" role="img" aria-label="${escaped(title)}">
<style>${style}</style><rect width="100%" height="100%" fill="#fff"/>${textAt(12, SIZE.height + 2 * head - 14, title, 'title start')}${keys.join('')}
<g transform="translate(0 ${head})">${inside}</g></svg>
`;
}

const along = (share: number): number => PLOT.left + (PLOT.right - PLOT.left) * share;

/** Rounds to a tenth of a pixel. A number that is not finite would break the picture, so it becomes 0. */
const fixed = (value: number): string => (Number.isFinite(value) ? Number(value.toFixed(1)) : 0).toString();

export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

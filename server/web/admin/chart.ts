/**
 * A chart over time as SVG, with a legend that shows the newest value of each series, or the values under the pointer.
 *
 * Invariant: values that are not known are gaps in the line. Colours are the style sheet's `--series-N`, so that it makes
 * them light and dark. Cost: O(values) for each draw().
 */
import type { Values } from './readings.ts';

export interface Series {
  name: string;
  /** 1 … 8. */
  colour: number;
  values: Values;
}

export interface ChartOptions {
  title: string;
  /** Says what the numbers are. */
  unit: string;
  format(value: number): string;
  /** The series lie on top of each other, so that the upper edge is their sum. */
  stacked?: boolean;
  /** The lowest value at the upper end of the axis, so that noise does not look like a mountain. */
  topMin: number;
  /** The upper end of the axis is at most this. */
  topMax?: number;
  /** Steps of the axis are multiples of powers of this: 1024 for bytes. Default 10. */
  base?: 10 | 1024;
  /** Returns what it shows now. */
  series(): Series[];
}

/** A series as it is drawn: a line, and in a stack the area down to `low`. */
interface Layer {
  series: Series;
  low?: Values;
  high: Values;
}

/** What is drawn: times, from left to right, and values up to `top`, in a picture of this width in px. */
interface Scale {
  from: number;
  to: number;
  top: number;
  width: number;
}

const NAMESPACE = 'http://www.w3.org/2000/svg';
const HEIGHT = 150;
const MARGIN = { left: 54, right: 8, top: 8, bottom: 20 };

/** The shortest time that a chart shows, in ms: a relay that has just started has a short line at the right. */
const SPAN_MS_MIN = 300_000;

/** Steps between two labels of the time axis, in minutes. */
const TIME_STEPS = [1, 2, 5, 10];

/** Ticks are at most this many. */
const TICKS_MAX = 4;

export class Chart {
  readonly element = document.createElement('section');
  readonly #options: ChartOptions;
  readonly #svg = document.createElementNS(NAMESPACE, 'svg');
  readonly #legend = document.createElement('ul');
  #times: readonly number[] = [];
  #series: readonly Series[] = [];

  /** `onCursor` gets the index of the sample under the pointer, or undefined when the pointer has left. */
  constructor(options: ChartOptions, onCursor: (index: number | undefined) => void) {
    this.#options = options;
    const title = document.createElement('h2');
    title.append(options.title, Object.assign(document.createElement('small'), { textContent: options.unit }));
    this.element.className = 'chart';
    this.#legend.className = 'legend';
    this.#svg.setAttribute('role', 'img');
    this.#svg.setAttribute('aria-label', `${options.title}, ${options.unit}, over time`);
    this.element.append(title, this.#legend, this.#svg);
    this.#svg.addEventListener('pointermove', ({ clientX }) => onCursor(this.#sampleAt(clientX)));
    this.#svg.addEventListener('pointerleave', () => onCursor(undefined));
  }

  /** Draws the samples. Times are in Unix ms and rise. */
  draw(times: readonly number[], stepMs: number, cursor: number | undefined): void {
    const series = this.#options.series();
    this.#times = times;
    this.#series = series;
    const layers: Layer[] = this.#options.stacked
      ? stack(series)
      : series.map((one) => ({ series: one, high: one.values }));
    const scale = { ...this.#span(), top: this.#top(layers.flatMap(({ high }) => high)), width: this.#svg.clientWidth };
    this.#svg.replaceChildren(
      ...this.#grid(scale),
      ...timeAxis(scale),
      // The lowest layer is drawn last, so that its line is on top.
      ...layers.map((layer) => this.#layer(layer, scale, stepMs)).reverse(),
    );
    this.showCursor(cursor);
  }

  /** Shows the values of a sample in the legend; those of the newest one when `index` is undefined. */
  showCursor(index: number | undefined): void {
    this.#svg.querySelector('.cursor')?.remove();
    const at = index ?? this.#times.length - 1;
    if (index !== undefined) {
      const x = xOf(this.#times[index], { ...this.#span(), width: this.#svg.clientWidth });
      this.#svg.append(shape('line', { class: 'cursor', x1: x, x2: x, y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom }));
    }
    this.#legend.replaceChildren(...this.#series.map((one) => this.#legendItem(one, one.values[at] ?? null)));
  }

  #legendItem({ name, colour }: Series, value: number | null): HTMLElement {
    const item = document.createElement('li');
    const swatch = document.createElement('i');
    swatch.className = 'fill';
    const number = document.createElement('b');
    number.textContent = value === null ? '–' : this.#options.format(value);
    paint(item, colour).append(swatch, name, number);
    return item;
  }

  #span(): { from: number; to: number } {
    const to = this.#times.at(-1) ?? Date.now();
    return { from: Math.min(this.#times[0] ?? to, to - SPAN_MS_MIN), to };
  }

  #sampleAt(clientX: number): number | undefined {
    const box = this.#svg.getBoundingClientRect();
    const { from, to } = this.#span();
    const share = (clientX - box.left - MARGIN.left) / (box.width - MARGIN.left - MARGIN.right);
    const timeMs = from + share * (to - from);
    let nearest: number | undefined;
    for (const [i, time] of this.#times.entries()) {
      if (nearest === undefined || Math.abs(time - timeMs) < Math.abs(this.#times[nearest] - timeMs)) nearest = i;
    }
    return nearest;
  }

  #top(values: Values): number {
    const { topMin, topMax = Number.POSITIVE_INFINITY, base = 10 } = this.#options;
    const highest = Math.max(topMin, ...values.filter((value) => value !== null));
    const step = niceStep(highest / TICKS_MAX, base);
    return Math.min(topMax, Math.ceil(highest / step - 1e-9) * step);
  }

  #grid({ top, width }: Scale): Node[] {
    const { format, base = 10 } = this.#options;
    const step = niceStep(top / TICKS_MAX, base);
    const nodes: Node[] = [];
    for (let n = 0; n * step <= top * 1.0001; n++) {
      const y = yOf(n * step, top);
      nodes.push(
        shape('line', { class: n === 0 ? 'axis' : 'grid', x1: MARGIN.left, x2: width - MARGIN.right, y1: y, y2: y }),
        label(MARGIN.left - 6, y + 4, 'end', format(n * step)),
      );
    }
    return nodes;
  }

  /** Draws a layer in as many parts as the gaps leave. */
  #layer({ series, low, high }: Layer, scale: Scale, stepMs: number): Node {
    const point = (i: number, value: number) =>
      `${xOf(this.#times[i], scale).toFixed(1)} ${yOf(value, scale.top).toFixed(1)}`;
    const lines: string[] = [];
    const areas: string[] = [];
    for (const [first, last] of runs(this.#times, high, stepMs)) {
      const indices = Array.from({ length: last - first + 1 }, (_, n) => first + n);
      const upper = indices.map((i) => point(i, high[i] as number)).join('L');
      // A single sample is a short dash.
      lines.push(`M${upper}${first === last ? 'h2' : ''}`);
      if (low) {
        const lower = indices.toReversed().map((i) => point(i, low[i] ?? 0));
        areas.push(`M${upper}L${lower.join('L')}Z`);
      }
    }
    const group = paint(shape('g', { 'data-series': series.name }), series.colour);
    if (low) group.append(shape('path', { class: 'fill', d: areas.join(''), 'fill-opacity': 0.32 }));
    group.append(shape('path', { class: 'line', d: lines.join(''), fill: 'none' }));
    return group;
  }
}

function timeAxis(scale: Scale): Node[] {
  const { from, to, width } = scale;
  const minutes = (to - from) / 60_000;
  const stepMs = 60_000 * (TIME_STEPS.find((step) => minutes / step <= 7) ?? 10);
  // Labels stand at whole steps of the reader's own clock.
  const zoneMs = new Date(to).getTimezoneOffset() * 60_000;
  const nodes: Node[] = [];
  for (let time = Math.ceil((from - zoneMs) / stepMs) * stepMs + zoneMs; time <= to; time += stepMs) {
    const x = xOf(time, scale);
    if (x > width - 22) break; // its text would be cut off
    const text = new Date(time).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
    nodes.push(label(Math.max(x, MARGIN.left + 12), HEIGHT - 4, 'middle', text));
  }
  return nodes;
}

/** Each series on top of the sum of those before it. */
function stack(series: readonly Series[]): Layer[] {
  let low: Values = series[0]?.values.map(() => 0) ?? [];
  return series.map((one) => {
    const bottom = low;
    const high = one.values.map((value, i) => (value === null ? null : (bottom[i] ?? 0) + value));
    low = high.map((value, i) => value ?? bottom[i]);
    return { series: one, low: bottom, high };
  });
}

/** The first and last index of each run of known values without a pause between them. */
export function runs(times: readonly number[], values: Values, stepMs: number): [number, number][] {
  const found: [number, number][] = [];
  for (let i = 0; i < values.length; i++) {
    if (values[i] === null) continue;
    const last = found.at(-1);
    if (last && last[1] === i - 1 && times[i] - times[i - 1] < 2.5 * stepMs) last[1] = i;
    else found.push([i, i]);
  }
  return found;
}

/** The smallest of 1, 2 and 5 times a power of ten that is at least `rough`; 1, 2, 4 … times a power of 1024. */
export function niceStep(rough: number, base: 10 | 1024): number {
  if (base === 1024) return 2 ** Math.ceil(Math.log2(rough));
  const power = 10 ** Math.floor(Math.log10(rough));
  return Number((power * ([1, 2, 5].find((factor) => factor * power >= rough * 0.9999) ?? 10)).toPrecision(3));
}

function xOf(time: number, { from, to, width }: Omit<Scale, 'top'>): number {
  return MARGIN.left + ((time - from) / (to - from)) * (width - MARGIN.left - MARGIN.right);
}

function yOf(value: number, top: number): number {
  return HEIGHT - MARGIN.bottom - Math.min(1, value / top) * (HEIGHT - MARGIN.top - MARGIN.bottom);
}

/** Gives an element, and what is in it, the colour of a series. */
function paint<One extends ElementCSSInlineStyle>(element: One, colour: number): One {
  element.style.setProperty('--colour', `var(--series-${colour})`);
  return element;
}

function shape(name: string, attributes: Record<string, string | number>): SVGElement {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, String(value));
  return element;
}

function label(x: number, y: number, anchor: 'end' | 'middle', text: string): SVGElement {
  const element = shape('text', { x, y, 'text-anchor': anchor });
  element.textContent = text;
  return element;
}

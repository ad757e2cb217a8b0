/** Charts over time: a table says which lines each of them draws from the seconds of a run. Pure. */
import { type Axis, lines, type Series } from './chart.ts';
import { figure } from './document.ts';

export interface TimeChart<Second> {
  title: string;
  unit: string;
  /** A function of the highest value, where the axis depends on it. */
  axis: Axis | ((most: number) => Axis);
  series: readonly TimeSeries<Second>[];
}

/** `colour`: N of the page's `--series-N`. A value is undefined where it is not known. */
type TimeSeries<Second> = readonly [
  name: string,
  colour: number,
  value: (second: Second) => number | undefined,
  fill?: 'area',
];

/** A chart, to be drawn from the seconds of a run. */
export function timeChart<Second>(
  title: string,
  unit: string,
  axis: TimeChart<Second>['axis'],
  series: TimeChart<Second>['series'],
): TimeChart<Second> {
  return { title, unit, axis, series };
}

/** Draws the charts of which a value is known. `window`, the measured part, is shaded. */
export function timeCharts<Second extends { atS: number }>(
  charts: readonly TimeChart<Second>[],
  seconds: readonly Second[],
  window?: readonly [number, number],
): string[] {
  const x = seconds.map(({ atS }) => atS);
  return charts.flatMap(({ title, unit, axis, series }) => {
    const drawn = series
      .map(
        ([name, colour, value, fill]): Series => ({ name, colour, values: seconds.map(value), area: fill === 'area' }),
      )
      .filter(({ values }) => values.some((value) => value !== undefined));
    if (drawn.length === 0) return [];
    const most = Math.max(...drawn.flatMap(({ values }) => values.map((value) => value ?? 0)));
    const scale = typeof axis === 'function' ? axis(most) : axis;
    return [figure(title, unit, drawn, lines(title, { x, series: drawn, axis: scale, window }))];
  });
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type BarChart, barChart } from './bar_chart.ts';

const chartOf = (chart: Partial<BarChart> = {}): string =>
  barChart({
    ...{ title: 'CPU', unit: '%', series: ['a', 'b'] },
    groups: [
      {
        label: '10',
        bars: [
          { mean: 1, uncertainty: 0.5 },
          { mean: 2, uncertainty: Number.NaN },
        ],
      },
      {
        label: '20',
        bars: [
          { mean: 0, uncertainty: 0 },
          { mean: 40, uncertainty: 9 },
        ],
      },
    ],
    ...chart,
  });

/** The heights of the bars, without the squares of the legend. */
const heightsOf = (svg: string): number[] =>
  [...svg.matchAll(/<rect [^>]*height="([\d.]+)"[^>]*><title>/g)].map(([, height]) => Number(height));

describe('a chart of grouped bars', () => {
  it('has a bar for each series of each group, as high as its mean, and a whisker where the uncertainty is known', () => {
    const svg = chartOf();
    const [first, second, none, highest] = heightsOf(svg);
    assert.equal(heightsOf(svg).length, 4);
    assert.ok(Math.abs(second - 2 * first) < 0.2 && Math.abs(highest - 40 * first) < 5, `${heightsOf(svg)}`);
    assert.equal(none, 0);
    assert.equal(svg.match(/class="whisker" d=/g)?.length, 2);
    assert.doesNotMatch(svg, /NaN|Infinity|undefined/);
  });

  it('has only finite numbers when there are no values, and escapes texts', () => {
    assert.doesNotMatch(chartOf({ groups: [] }), /NaN|Infinity|undefined/);
    assert.doesNotMatch(chartOf({ groups: [{ label: '', bars: [{ mean: 0, uncertainty: 0 }] }] }), /NaN|Infinity/);
    const svg = chartOf({ title: '<b> & "c"', series: ['<i>'], groups: [{ label: '<g>', bars: [] }] });
    for (const raw of ['<b>', '<i>', '<g>', '"c"']) assert.ok(!svg.includes(raw), raw);
  });
});

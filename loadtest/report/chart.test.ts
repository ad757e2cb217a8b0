import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Axis, barsOf, distribution, lines, type Series, standalone } from './chart.ts';

const COUNT: Axis = { scale: 'linear', format: String };
const LOG: Axis = { scale: 'log', format: String };
const series = (values: Series['values'], area = false): Series => ({ name: 'a', colour: 1, values, area });
const paths = (svg: string, kind: string) => svg.match(new RegExp(`<path class="${kind}" d="([^"]*)"`))?.[1] ?? '';

describe('chart', () => {
  it('leaves a gap where a value is not known, in the line and in the area below it', () => {
    const svg = lines('x', { x: [1, 2, 3, 4, 5], series: [series([1, 2, undefined, 4, 5], true)], axis: COUNT });
    assert.equal(paths(svg, 'line').match(/M/g)?.length, 2);
    const stretches = paths(svg, 'area')
      .split('Z')
      .filter((stretch) => stretch !== '');
    assert.equal(stretches.length, 2);
    for (const stretch of stretches) {
      const xs = [...stretch.matchAll(/[ML]([\d.]+) /g)].map(([, x]) => Number(x));
      assert.equal(xs[0], xs.at(-1), stretch);
    }
  });

  it('shows the values of each second to a pointer, of several together where there are many', () => {
    const titles = (svg: string) =>
      [...svg.matchAll(/class="hover".*?<title>(.*?)<\/title>/gs)].map(([, title]) => title);
    const two = [series([1, undefined, 3]), { ...series([4, 5, 6]), name: 'b<' }];
    assert.deepEqual(titles(lines('x', { x: [1, 2, 3], series: two, axis: COUNT })), [
      '1 s\na 1\nb&#60; 4',
      '2 s\nb&#60; 5',
      '3 s\na 3\nb&#60; 6',
    ]);
    const hour = Array.from({ length: 3600 }, (_, i) => i + 1);
    const many = titles(lines('x', { x: hour, series: [series(hour)], axis: COUNT }));
    assert.equal(many.length, 240);
    assert.equal(many.at(-1), '3600 s\na 3600');
  });

  it('draws no line when no value is known', () => {
    assert.equal(paths(lines('x', { x: [1, 2], series: [series([undefined, undefined])], axis: COUNT }), 'line'), '');
  });

  it('contains only finite numbers, whatever it is given', () => {
    const odd = [
      lines('x', { x: [], series: [series([])], axis: COUNT }),
      lines('x', { x: [1], series: [series([0])], axis: LOG }),
      lines('x', { x: [1, 2], series: [series([0, Number.POSITIVE_INFINITY])], axis: LOG }),
      lines('x', { x: [1, 2], series: [series([0, 0])], axis: { ...COUNT, unit: 2 ** 20 } }),
      distribution('x', [], [], LOG),
      distribution('x', [[5, 5, 1]], [{ name: 'p50', value: 5 }], LOG),
      barsOf('x', [], COUNT),
      barsOf('x', [{ label: 'a', value: 0, text: '0' }], COUNT),
    ];
    for (const svg of odd) assert.doesNotMatch(svg, /NaN|Infinity|undefined/);
  });

  it('draws a bar of twice the value twice as high', () => {
    const heights = [
      ...barsOf(
        'x',
        [1, 2].map((value) => ({ label: 'a', value, text: '' })),
        COUNT,
      ).matchAll(/height="([\d.]+)"/g),
    ];
    assert.ok(Math.abs(Number(heights[1][1]) - 2 * Number(heights[0][1])) < 0.2);
  });

  it('has ticks at 1, 2 or 5 times a power of ten, in the unit of the axis', () => {
    const ticks = (most: number, axis: Axis) =>
      [...lines('x', { x: [1, 2], series: [series([0, most])], axis: axis }).matchAll(/tick end"[^>]*>([^<]*)</g)].map(
        ([, text]) => text,
      );
    assert.deepEqual(ticks(16_000, COUNT), ['0', '5000', '10000', '15000']);
    assert.deepEqual(
      ticks(260 * 2 ** 20, { scale: 'linear', unit: 2 ** 20, format: (value) => `${value / 2 ** 20} MiB` }),
      [...['0 MiB', '100 MiB', '200 MiB']],
    );
  });

  it('escapes text', () => {
    assert.match(barsOf('<&"', [{ label: '<b>', value: 1, text: '&' }], COUNT), /aria-label="&#60;&#38;&#34;"/);
  });

  it('draws lines over a logarithmic axis, from one value or none too', () => {
    const drawn = (x: number[]) =>
      lines('by rate', { x, series: [{ name: 'p99', colour: 1, values: x }], axis: COUNT, unit: '/s', log: true });
    const svg = drawn([1000, 2000, 16_000]);
    for (const tick of ['1,000/s', '2,000/s', '5,000/s', '10,000/s']) assert.ok(svg.includes(`>${tick}<`), tick);
    for (const x of [[], [1000], [10, 1_000_000]]) assert.doesNotMatch(drawn(x), /NaN|Infinity|undefined/);
  });

  it('makes a drawing a file of its own, which needs no style of a page', () => {
    const two = [series([1, 2]), { ...series([3, 4]), name: 'b<', colour: 2 }];
    const file = standalone('CPU & memory', two, lines('x', { x: [1, 2], series: two, axis: COUNT }));
    assert.equal(file.match(/<svg /g)?.length, 1);
    assert.equal(file.match(/<\/svg>/g)?.length, 1);
    assert.doesNotMatch(file, /var\(|NaN|undefined/);
    for (const text of ['CPU &#38; memory', 'b&#60;']) assert.ok(file.includes(`>${text}<`), text);
    const keys = [...file.matchAll(/height="10" fill="(#\w+)"/g)].map(([, colour]) => colour);
    assert.equal(new Set(keys).size, 2);
    for (const colour of keys) assert.match(file, new RegExp(`class="line"[^>]*stroke:${colour}`));
  });
});

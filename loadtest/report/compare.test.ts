import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { randomFrom } from '../../tools/bench/random.ts';
import { Misused } from '../../tools/command.ts';
import { resultOf } from '../test/results.ts';
import { comparisonOf, comparisonOfFiles, difference, textOf } from './compare.ts';
import { merge, overRuns, overSweep, type Report } from './merge.ts';

const ORIGIN = { name: 'a test', command: 'npm run swarm', machines: [], load: 'the same load' };

/** One run for each latency; all its sprites have that latency. */
function runs(latenciesUs: readonly number[]): Report {
  return overRuns(latenciesUs.map((us) => merge([resultOf(Array(1000).fill(us * 1000))], ORIGIN)));
}

const compare = (...reports: Parameters<typeof comparisonOf>) => textOf(comparisonOf(...reports));

describe('compare', () => {
  it("is Welch's interval", () => {
    // Worked by hand: s² = 2.5 and 10, n = 5 each: error = √2.5, f = 5.88, t(5) = 2.571.
    const found = difference([1, 2, 3, 4, 5], [2, 4, 6, 8, 10]);
    assert.equal(found.difference, 3);
    assert.ok(Math.abs((found.uncertainty as number) - 2.571 * Math.sqrt(2.5)) < 1e-9);
  });

  it('has no interval for one run, and an interval of 0 for runs that are all equal', () => {
    assert.equal(difference([1], [2, 3]).uncertainty, undefined);
    assert.equal(difference([5, 5, 5], [5, 5]).uncertainty, 0);
  });

  it('contains the true difference in about 95 of 100 trials', () => {
    const random = randomFrom(7); // the trial is the same every time
    const uniform = () => random() + 2 ** -33; // never 0
    const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
    let held = 0;
    for (let trial = 0; trial < 2000; trial++) {
      const a = Array.from({ length: 5 }, () => 10 + normal());
      const b = Array.from({ length: 5 }, () => 12 + 2 * normal());
      const found = difference(a, b);
      if (Math.abs(found.difference - 2) <= (found.uncertainty as number)) held++;
    }
    assert.ok(held > 1860 && held < 1960, `${held} of 2000`);
  });

  it('says better or worse, and neither when the spread is wider than the difference', () => {
    const slow = runs([1000, 1010, 990, 1005, 995]);
    const fast = runs([500, 510, 490, 505, 495]);
    assert.match(compare(slow, fast, ['A', 'B']), /^p99 .*−\d+ µs ± \d+ µs +−50\.\d % +better$/m);
    assert.match(compare(fast, slow, ['A', 'B']), /^p99 .*\+\d+ µs ± \d+ µs +\+\d+\.\d % +worse$/m);
    const wide = runs([500, 1500, 900, 1300, 700]);
    assert.match(compare(slow, wide, ['A', 'B']), /^p99 .*no significant difference$/m);
  });

  it('compares the points of a sweep one by one: they are no repetitions of each other', () => {
    const sweep = (byDesktops: Record<number, number[]>) =>
      overSweep(
        Object.entries(byDesktops).map(([desktops, latencies]) =>
          overRuns(
            latencies.map((us) =>
              merge([resultOf(Array(1000).fill(us * 1000), { desktops: Number(desktops) })], ORIGIN),
            ),
          ),
        ),
        '',
      );
    // A hundred desktops got slower, a thousand did not. Taken together, the spread of the points would hide it.
    const before = sweep({ 100: [100, 101, 102], 1000: [5000, 5050, 5100] });
    const after = sweep({ 100: [200, 201, 202], 1000: [5000, 5050, 5100] });
    const { points, isWorse } = comparisonOf(before, after, ['A', 'B']);
    assert.deepEqual(
      points.map(({ title, rows }) => [title, rows.find(({ name }) => name === 'p99')?.word]),
      [
        ['100 desktops', 'worse'],
        ['1,000 desktops', 'no significant difference'],
      ],
    );
    assert.equal(isWorse, true);
    assert.equal(comparisonOf(before, before, ['A', 'B']).isWorse, false);
    // Two points with one run each: there is no spread at all.
    const once = sweep({ 100: [100], 1000: [5000] });
    assert.match(compare(once, once, ['A', 'B']), /One run knows no spread/);
    const wider = sweep({ 100: [100, 101], 5000: [9000, 9001] });
    assert.match(
      compare(before, wider, ['A', 'B']),
      /only one of the reports has runs with 1,000 and 5,000 desktops; they are left out/,
    );
  });

  it('calls a percentile that became never worse, whatever its spread', () => {
    const some = merge([resultOf(Array(100).fill(1000))], ORIGIN);
    const never = merge([resultOf(Array(100).fill(1000), { due: 110 })], ORIGIN);
    assert.match(compare(some, never, ['A', 'B']), /^p99 +1\.00 µs +never +worse$/m);
    assert.match(compare(never, some, ['A', 'B']), /^p99 +never +1\.00 µs +better$/m);
    assert.match(compare(never, never, ['A', 'B']), /^p99 +never +never +no significant difference$/m);
  });

  it('calls a fault worse where there was none, also with one run each', () => {
    const run = (changes: Parameters<typeof resultOf>[1]) => merge([resultOf([1000], changes)], ORIGIN);
    for (const fault of ['lost', 'undelivered', 'duplicated', 'misrouted', 'corrupted'] as const) {
      assert.equal(comparisonOf(run({}), run({ [fault]: 1 }), ['A', 'B']).isWorse, true, fault);
      assert.equal(comparisonOf(run({ [fault]: 1 }), run({}), ['A', 'B']).isWorse, false, fault);
    }
  });

  it('says that one run has no spread, and that loads differ', () => {
    const text = compare(runs([1000]), { ...runs([2000]), load: 'another' }, ['A', 'B']);
    assert.match(text, /One run knows no spread/);
    assert.match(text, /uncertain: too few runs/);
    assert.match(text, /Warning: the loads differ/);
  });

  it('rejects what is not a report, with the name of the file', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'sprites-compare-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const good = join(folder, 'report.json');
    writeFileSync(good, JSON.stringify(runs([1000, 1010])));
    assert.match(textOf(comparisonOfFiles([good, folder])), /^p99 /m);
    const bad = join(folder, 'bad.json');
    const format = 'sprites-swarm/1';
    for (const value of [
      null,
      5,
      [],
      {},
      { format },
      { format, runs: [] },
      { format, machines: [], runs: [{}] },
      'x',
    ]) {
      writeFileSync(bad, JSON.stringify(value));
      assert.throws(() => comparisonOfFiles([good, bad]), {
        constructor: Misused,
        message: `${bad} is not a report of the swarm: give the report.json of --out`,
      });
    }
    writeFileSync(bad, 'PNG');
    assert.throws(() => comparisonOfFiles([bad, good]), { constructor: Misused, message: /is not a report/ });
    const missing = join(folder, 'none.json');
    assert.throws(() => comparisonOfFiles([missing, good]), {
      constructor: Misused,
      message: `There is no file ${missing}.`,
    });
    assert.throws(() => comparisonOfFiles([good]), { constructor: Misused, message: /takes two reports/ });
  });
});

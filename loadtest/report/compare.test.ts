import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Misused } from '../../tools/command.ts';
import { resultOf } from '../test/results.ts';
import { compare, compareFiles, difference } from './compare.ts';
import { merge, overRuns, type Report } from './merge.ts';

const ORIGIN = { name: 'a test', command: 'npm run swarm', machines: [], load: 'the same load' };

/** One run for each latency; all its sprites have that latency. */
function runs(latenciesUs: readonly number[]): Report {
  return overRuns(latenciesUs.map((us) => merge([resultOf(Array(1000).fill(us * 1000))], ORIGIN)));
}

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
    // A fixed generator: the trial is the same every time.
    let state = 7;
    const uniform = () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return (state + 0.5) / 2 ** 32;
    };
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
    assert.match(compareFiles([good, folder]), /^p99 /m);
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
      assert.throws(() => compareFiles([good, bad]), {
        constructor: Misused,
        message: `${bad} is not a report of the swarm: give the report.json of --out`,
      });
    }
    writeFileSync(bad, 'PNG');
    assert.throws(() => compareFiles([bad, good]), { constructor: Misused, message: /is not a report/ });
    const missing = join(folder, 'none.json');
    assert.throws(() => compareFiles([missing, good]), {
      constructor: Misused,
      message: `There is no file ${missing}.`,
    });
    assert.throws(() => compareFiles([good]), { constructor: Misused, message: /takes two reports/ });
  });
});

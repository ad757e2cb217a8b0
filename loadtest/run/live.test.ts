import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readFlags } from '../test/flags.ts';
import { secondOf } from '../test/results.ts';
import { liveLine } from './live.ts';
import { readScenario } from './scenario.ts';

describe('the live table', () => {
  const second = secondOf(7, [1000], { heard: 800_000, hearingsMissed: 3, bytesIn: 5e7 });
  const linesOf = (n: number, ...flags: string[]) =>
    liveLine(n, readScenario(undefined, readFlags(flags)), second, undefined, 60).split('\n');

  it('has columns for sprites and for sayings where there are any, below their names', () => {
    const columns = (...flags: string[]) => linesOf(0, ...flags)[0].match(/\S+\/s/g);
    assert.deepEqual(columns(), ['sprites/s']);
    assert.deepEqual(columns('--mix', 'throwing=1,talking=1'), ['sprites/s', 'heard/s', 'read/s']);
    assert.deepEqual(columns('--sitting', '--mix', 'talking=1'), ['heard/s', 'read/s']);
    assert.equal(columns('--sitting'), null);
    const [names, row] = linesOf(0, '--sitting', '--mix', 'talking=1');
    assert.equal(row.length, names.length);
    assert.match(row, / 800,000 +3 +47\.7 MiB /);
  });

  it('repeats the names after twenty lines', () => {
    assert.deepEqual(
      [1, 19, 20].map((n) => linesOf(n).length),
      [1, 1, 2],
    );
  });
});

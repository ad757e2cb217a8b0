import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Misused } from '../../tools/command.ts';
import { folderOf } from '../test/command.ts';
import { resultOf } from '../test/results.ts';
import { comparisonOf } from './compare.ts';
import { comparePage } from './compare_page.ts';
import { NEVER_US } from './histogram.ts';
import { historyPage, historyText, readHistory } from './history.ts';
import { merge, overRuns } from './merge.ts';

const reportOf = (name: string, us: number, startedAtMs: number) =>
  merge([resultOf(Array(100).fill(us * 1000), { startedAtMs })], {
    ...{ name, command: 'npm run swarm', machines: [], load: 'a <load>' },
  });

describe('history', () => {
  it('lists the reports of a folder of folders, oldest first, with a chart for a scenario that ran several times', (t) => {
    const results = folderOf(t);
    for (const [folder, name, us, at] of [
      ['c', 'village', 300, 3e12],
      ['a', 'village', 100, 1e12],
      ['b', 'crowd', 200, 2e12],
    ] as const) {
      mkdirSync(join(results, folder));
      writeFileSync(join(results, folder, 'report.json'), JSON.stringify(reportOf(name, us, at)));
    }
    mkdirSync(join(results, 'empty'));
    const all = readHistory([results]);
    assert.deepEqual(
      all.map(({ report }) => report.latencyUs.max),
      [100, 200, 300],
    );
    assert.match(historyText(all), /^began +scenario +commit.*\n2001-09-09 .*village.*\n.*crowd.*\n.*village/);
    const html = historyPage(all);
    assert.match(html, /<b>village: p99<\/b>/);
    assert.match(html, /<td class="text">village<\/td>.*<td class="path">[^<]+\/c<\/td>/s);
    assert.doesNotMatch(html, /<b>crowd: p99|NaN|undefined/);
    assert.deepEqual(
      readHistory([join(results, 'b'), join(results, 'a')]).map(({ report }) => report.name),
      [...['village', 'crowd']],
    );
  });

  it('says what it takes when there is no report', (t) => {
    assert.throws(() => readHistory([folderOf(t)]), { constructor: Misused, message: /^history takes folders/ });
    assert.throws(() => readHistory([]), { constructor: Misused });
    assert.throws(() => readHistory(['/nowhere']), { constructor: Misused, message: 'There is no folder /nowhere.' });
  });
});

describe('page of a comparison', () => {
  const runs = (latencies: readonly number[]) => overRuns(latencies.map((us) => reportOf('village', us, 1e12)));

  it('shows the words of the text, marks what is worse, and escapes every name', () => {
    const html = comparePage(comparisonOf(runs([100, 101, 99]), runs([200, 201, 199]), ['<a>', 'b']));
    assert.match(html, /badge fail">WORSE/);
    assert.match(html, /<tr class="worse"><td>p99<\/td>/);
    assert.match(html, /<b>Latency p99<\/b>/);
    assert.doesNotMatch(html, /<a>|a <load>|NaN|undefined/);
    const same = runs([100, 101, 99]);
    assert.match(comparePage(comparisonOf(same, same, ['a', 'b'])), /badge pass">NOT WORSE/);
  });

  it('is uncertain when the runs are too few, or the swarm was their limit', () => {
    const once = runs([100]);
    assert.match(comparePage(comparisonOf(once, once, ['a', 'b'])), /badge void">UNCERTAIN/);
    const often = runs([100, 101, 99]);
    const limited = { ...often, runs: often.runs.map((run) => ({ ...run, limit: 'swarm' as const })) };
    assert.match(comparePage(comparisonOf(often, limited, ['a', 'b'])), /badge void">UNCERTAIN/);
  });

  it('draws no bar for a run in which the percentile never arrived', () => {
    const arrived = runs([100, 101, 99]);
    const latencyUs = { ...arrived.runs[0].latencyUs, p99: NEVER_US };
    const never = { ...arrived, runs: arrived.runs.map((run) => ({ ...run, latencyUs })) };
    assert.doesNotMatch(comparePage(comparisonOf(never, never, ['a', 'b'])), /<b>Latency p99<\/b>/);
  });
});

/** What other tools read: .hgrm and JUnit. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { EngineResult } from '../../tools/engine_result.ts';
import { folderOf } from '../test/command.ts';
import { resultOf, secondOf } from '../test/results.ts';
import { hgrm } from './hgrm.ts';
import { junit } from './junit.ts';
import { merge, type Report } from './merge.ts';
import { keep } from './report.ts';
import { judge, readThreshold } from './verdict.ts';

const ORIGIN = { name: 'a "test" <&>', command: 'npm run swarm', machines: [] };

function reportOf(
  latencies: readonly number[],
  changes: Partial<EngineResult> = {},
  thresholds: string[] = [],
): Report {
  return judge(merge([resultOf(latencies, changes)], ORIGIN), thresholds.map(readThreshold));
}

describe('.hgrm', () => {
  const rowsOf = (text: string) =>
    text
      .split('\n')
      .filter((line) => /^ +[\d.]+ /.test(line))
      .map((line) => line.trim().split(/ +/).map(Number));

  it('has rising values and shares up to 1, and each share is that of its count', () => {
    const rows = rowsOf(hgrm(reportOf(Array.from({ length: 1000 }, (_, i) => (i + 1) * 1e6))));
    assert.deepEqual(rows.at(-1)?.slice(0, 3), [1000, 1, 1000]);
    for (const [i, [value, share, seen]] of rows.entries()) {
      assert.ok(i === 0 || (value >= rows[i - 1][0] && share >= rows[i - 1][1]), `row ${i}`);
      assert.ok(seen / 1000 >= share, `row ${i}: ${seen} of 1000 are at least ${share}`);
    }
    // Buckets are 0.8 % wide at most.
    const median = rows.find(([, share]) => share === 0.5) as number[];
    assert.ok(Math.abs(median[0] - 500) < 5, String(median));
  });

  it('ends below 1 when throws did not arrive', () => {
    const text = hgrm(reportOf(Array(90).fill(1e6), { due: 100 }));
    assert.deepEqual(rowsOf(text).at(-1)?.slice(0, 3), [1, 0.9, 90]);
    assert.match(text, /^#\[Not arrived = 10, /m);
  });

  it('is well-formed for one value, and for none', () => {
    assert.match(hgrm(reportOf([5e6])), /^ +5\.000 1\.000000000000 +1$/m);
    assert.match(hgrm(reportOf([])), /Total count += {2,}0\]/);
  });
});

describe('junit', () => {
  it('has a case for completeness, accounts and each threshold, and escapes every text', () => {
    const xml = junit(reportOf([1000], {}, ['lost == 0', 'p99 < 1µs']));
    assert.match(xml, /<testsuite name="a &#34;test&#34; &#60;&#38;&#62;" tests="4" failures="1" errors="0"/);
    assert.match(xml, /name="p99 &#60; 1µs"><failure message="it was 1\.00 µs"\/>/);
    assert.doesNotMatch(xml, /<test"|a "test"/);
  });

  it('calls a threshold that could not be judged an error, and an incomplete run a failure', () => {
    const limited = reportOf([1000], { limit: 'swarm', limitReason: 'late' }, ['p99 < 1s']);
    assert.match(junit(limited), /errors="1".*/);
    assert.match(junit(limited), /<error message="not judged, it was 1\.00 µs\. The swarm was the limit/);
    assert.match(junit(reportOf([1000], { ok: false, message: 'gone' })), /<failure message="gone"\/>/);
    assert.match(junit(reportOf([1000], { arrived: 0 })), /name="the accounts agree"><failure message="accepted = /);
  });
});

describe('keep', () => {
  it('writes every form of the report', (t) => {
    const folder = folderOf(t);
    keep(reportOf([1000], { seconds: [secondOf(1, [1000])] }), folder);
    const written = ['junit.xml', 'latency.hgrm', 'report.html', 'report.json', 'report.txt'];
    assert.deepEqual(readdirSync(folder).sort(), written);
  });
});

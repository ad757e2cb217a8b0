/** On what suites cost when they last ran. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { BUILDS } from './builds.ts';
import { SuiteCosts } from './suite_costs.ts';

describe('suite costs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'suite-costs-'));
  const path = join(folder, 'build', 'costs.json');

  it('expect of a suite what it took last, in this run or an earlier one', (t) => {
    t.after(() => rmSync(folder, { recursive: true }));
    const costs = new SuiteCosts(path);
    costs.note('a.test.ts', { seconds: 40, cpuSeconds: 3 });
    costs.note('a.test.ts', { seconds: 30, cpuSeconds: 3 });
    costs.note('b.test.ts', { seconds: 90, cpuSeconds: 1 });
    assert.equal(costs.expected('a.test.ts', 4), 30);
    costs.write();
    assert.equal(new SuiteCosts(path).expected('b.test.ts', 0), 90);
    assert.deepEqual(
      new SuiteCosts(path).slowest(['a.test.ts', 'b.test.ts', 'c.test.ts']).map(([suite]) => suite),
      ['b.test.ts', 'a.test.ts'],
    );
    writeFileSync(path, '{"a.test.ts":');
    assert.equal(new SuiteCosts(path).slowest(['a.test.ts']).length, 0, 'a file that is half written');
  });

  it('expect of an unknown suite more, the more is built for it', () => {
    const costs = new SuiteCosts(join(folder, 'none.json'));
    assert.ok(costs.expected('a.test.ts', 2) > costs.expected('a.test.ts', 1));
    assert.ok(costs.expected('a.test.ts', 1) > costs.expected('a.test.ts', 0));
  });

  it('expect the most of an unknown suite that says itself that it takes long, and of a known one what it took', () => {
    const costs = new SuiteCosts(join(folder, 'none.json'));
    assert.ok(costs.expected('a.test.ts', 0, true) > costs.expected('a.test.ts', BUILDS.length));
    costs.note('a.test.ts', { seconds: 3, cpuSeconds: 1 });
    assert.equal(costs.expected('a.test.ts', 0, true), 3);
  });
});

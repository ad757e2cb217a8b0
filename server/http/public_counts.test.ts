import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ProblemError } from '../wire/problem.ts';
import { COUNTS_MS, PublicCounts } from './public_counts.ts';

describe('public counts', () => {
  it('ask the master once in COUNTS_MS, however many clients ask', async () => {
    let nowMs = 7;
    let asked = 0;
    const query = async () => ({ status: 200, body: Buffer.from(`${++asked}`), retryAfterSeconds: 0 });
    const counts = new PublicCounts({ query }, () => nowMs);
    const read = async () => Number((await counts.read()).body);
    assert.deepEqual(await Promise.all(Array.from({ length: 100 }, read)), Array(100).fill(1));
    nowMs += COUNTS_MS - 1;
    assert.equal(await read(), 1);
    nowMs += 1;
    assert.deepEqual([await read(), await read()], [2, 2]);
  });

  it('ask again after a refusal', async () => {
    let asked = 0;
    const query = async () => {
      if (++asked === 1) throw new ProblemError('draining', 'Later.');
      return { status: 200, body: Buffer.from('{}'), retryAfterSeconds: 0 };
    };
    const counts = new PublicCounts({ query }, () => 0);
    await assert.rejects(counts.read(), ProblemError);
    assert.equal((await counts.read()).status, 200);
    assert.equal(asked, 2);
  });
});

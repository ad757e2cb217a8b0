import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Confirmations } from './confirmations.ts';

/** Whether a promise is settled after all that is due now has run. */
async function isDone(promise: Promise<void>): Promise<boolean> {
  let done = false;
  void promise.then(() => {
    done = true;
  });
  await new Promise(setImmediate);
  return done;
}

describe('confirmations', () => {
  it('are complete when every receiver has confirmed this message, and not before', async () => {
    const confirmations = new Confirmations<string>();
    const first = confirmations.expect(['a', 'b']);
    const second = confirmations.expect(['a', 'b']);
    confirmations.confirm('a', first.number);
    confirmations.confirm('a', first.number);
    confirmations.confirm('b', second.number);
    assert.equal(await isDone(first.confirmed), false);
    confirmations.confirm('b', first.number);
    assert.equal(await isDone(first.confirmed), true);
    assert.equal(await isDone(second.confirmed), false);
  });

  it('do not wait for a receiver that has ended, nor when there is none', async () => {
    const confirmations = new Confirmations<string>();
    assert.equal(await isDone(confirmations.expect([]).confirmed), true);
    const both = [confirmations.expect(['a']), confirmations.expect(['a', 'b'])];
    confirmations.forget('a');
    assert.deepEqual([await isDone(both[0].confirmed), await isDone(both[1].confirmed)], [true, false]);
    confirmations.forget('b');
    assert.equal(await isDone(both[1].confirmed), true);
    confirmations.confirm('a', 99);
  });
});

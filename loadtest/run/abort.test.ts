import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Misused } from '../../tools/command.ts';
import { secondOf } from '../test/results.ts';
import { ABORT_SECONDS, AbortWatch, readAbort } from './abort.ts';

const slow = (phase = 'measure') => secondOf(1, [1000], { phase, p99Us: 2000 });
const fast = () => secondOf(1, [1000], { p99Us: 500 });
const watch = () => new AbortWatch([readAbort('refused <= 5'), readAbort('p99 < 1ms')]);

describe('abort', () => {
  it('ends a run when a threshold has not held for so many seconds in a row, and says so once', () => {
    const abort = watch();
    for (let i = 1; i < ABORT_SECONDS; i++) assert.equal(abort.feed(slow()), undefined);
    assert.equal(
      abort.feed(slow()),
      'aborted, because "p99 < 1ms" had not held for 5 seconds in a row; it was 2.00 ms',
    );
    assert.equal(abort.feed(slow()), undefined);
  });

  it('begins again after a second in which it held', () => {
    const abort = watch();
    for (let i = 1; i < ABORT_SECONDS; i++) abort.feed(slow());
    abort.feed(fast());
    for (let i = 1; i < ABORT_SECONDS; i++) assert.equal(abort.feed(slow()), undefined);
    assert.notEqual(abort.feed(slow()), undefined);
  });

  it('judges only the window, and no second in which nothing arrived', () => {
    const abort = watch();
    for (let i = 0; i < 3 * ABORT_SECONDS; i++) {
      assert.equal(abort.feed(slow('warmUp')), undefined);
      assert.equal(abort.feed(secondOf(1, [])), undefined);
    }
  });

  it('rejects a figure that a second does not have', () => {
    for (const wrong of ['lost == 0', 'parked == desktops', 'speed > 5', 'p99']) {
      assert.throws(() => readAbort(wrong), { constructor: Misused });
    }
  });
});

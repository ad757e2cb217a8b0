import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { TICK_MS } from '../domain/slots/deadlines.ts';
import { Clock } from './clock.ts';

/** A clock whose time a test moves, with the times to which it advanced the relay. */
function start(t: TestContext, isBusy = () => false) {
  t.mock.timers.enable({ apis: ['setInterval', 'setImmediate'] });
  let realMs = 1000;
  t.mock.method(performance, 'now', () => realMs);
  const advanced: number[] = [];
  const quiet: boolean[] = [];
  const clock = new Clock(0, {
    advance: (nowMs) => {
      advanced.push(nowMs);
      return false;
    },
    isBusy,
    quiet: (isQuiet) => quiet.push(isQuiet),
  });
  const pass = (ms: number) => {
    for (let left = ms; left > 0; left -= TICK_MS) {
      realMs += TICK_MS;
      t.mock.timers.tick(TICK_MS);
    }
  };
  const pause = (ms: number) => {
    realMs += ms;
  };
  return { clock, advanced, quiet, pass, pause };
}

describe('the clock of a relay', () => {
  it('ticks seldom when nothing has happened for two seconds, and often from the next turn on', (t) => {
    const { clock, advanced, quiet, pass } = start(t);
    pass(2000);
    assert.deepEqual([advanced.length, advanced.at(-1), quiet], [40, 2000, [true]]);
    pass(5000);
    assert.deepEqual([advanced.length, advanced.at(-1)], [50, 7000]);
    clock.wake();
    pass(1000);
    assert.deepEqual([advanced.length, advanced.at(-1), quiet], [70, 8000, [true, false]]);
    clock.stop();
    pass(1000);
    assert.equal(advanced.length, 70);
  });

  it('stays awake while something happens, or is due', (t) => {
    let isBusy = true;
    const { clock, quiet, pass } = start(t, () => isBusy);
    pass(10_000);
    isBusy = false;
    for (let n = 0; n < 10; n++) {
      pass(1950);
      clock.wake();
    }
    assert.deepEqual(quiet, []);
    pass(2000);
    assert.deepEqual(quiet, [true]);
  });

  it('moves by twenty ticks at most after a pause of the process', (t) => {
    const { advanced, pass, pause } = start(t);
    pause(3_600_000);
    pass(TICK_MS);
    assert.equal(advanced.at(-1), 1000);
    pass(2000);
    pause(3_600_000);
    pass(500);
    assert.equal(advanced.at(-1), 1000 + 1950 + 10_000);
  });
});

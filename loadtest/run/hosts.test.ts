import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resultOf, START_MS } from '../test/results.ts';
import { clockFrom, inOurTime, readFacts } from './hosts.ts';

describe('hosts', () => {
  it('compare clocks by the shortest answer', () => {
    const asks = [
      { askedMs: 1000, answeredMs: 1080, theirMs: 6071 },
      { askedMs: 2000, answeredMs: 2004, theirMs: 7001.5 },
      { askedMs: 3000, answeredMs: 3020, theirMs: 8019 },
    ];
    assert.deepEqual(clockFrom(asks), { aheadMs: 4999.5, uncertainMs: 2 });
  });

  it("tell a result in this machine's time", () => {
    const theirs = resultOf([1000], { drainedAtMs: 0 });
    const ours = inOurTime(theirs, { aheadMs: 4999.5, uncertainMs: 2 });
    assert.deepEqual([ours.startedAtMs, ours.drainedAtMs], [START_MS - 5000, 0]);
    assert.deepEqual([ours.window.fromMs, ours.window.untilMs], [START_MS - 5000, START_MS + 5000]);
    assert.equal(ours.delivered, theirs.delivered);
  });

  it('say what machine they are, whatever they leave out', () => {
    const said = '4\n32768\t60999\nMemTotal: 2048 kB\nMemAvailable: 1024 kB\nLinux 6.1\nmodel name\t: A CPU\n';
    const { facts, machine } = readFacts('a', said, { aheadMs: -3.25, uncertainMs: 0.5 });
    assert.deepEqual(facts, { ports: 28_232, memoryBytes: 2 ** 20 });
    assert.deepEqual(
      [machine.name, machine.cores, machine.model, machine.memoryBytes, machine.system],
      ['a, clock -3.3 ms ahead ± 0.5 ms', 4, 'A CPU', 2 ** 21, 'Linux 6.1'],
    );
    assert.throws(() => readFacts('b', 'busybox', { aheadMs: 0, uncertainMs: 0 }), /b does not say what machine it is/);
  });
});

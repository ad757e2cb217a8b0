import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { machineTime, parseMachine, parseThread, threadIds, threadTime } from './proc.ts';

const isLinux = process.platform === 'linux';
const STAT = (name: string) =>
  `4933 (${name}) S 4923 4923 580 0 -1 4194368 3 0 0 0 150 25 0 0 20 0 12 0 494904 2434109440 18519 18446744073709551615`;

describe('/proc', () => {
  it('has the name and the time of a thread', () => {
    assert.deepEqual(parseThread(STAT('libuv-worker'), 1, 4933), { tid: 4933, name: 'libuv-worker', cpuSeconds: 1.75 });
    assert.equal(parseThread(STAT('node'), 4933, 4933).name, 'main');
  });

  it('parses names with spaces and parentheses', () => {
    for (const name of ['a) S 1 (b', ') (', '', ')))))))))))))))'])
      assert.deepEqual(parseThread(STAT(name), 1, 2), { tid: 2, name, cpuSeconds: 1.75 });
  });

  it('has the time of the machine, also of a kernel that does not count steal', () => {
    const line = 'cpu  100 20 30 4000 50 6 7 800 9 9\ncpu0 1 1 1 1';
    assert.deepEqual(parseMachine(line), { busySeconds: 1.63, stealSeconds: 8 });
    assert.equal(parseMachine('cpu  100 20 30 4000 50 6 7\n').stealSeconds, 0);
  });

  it('reads this process, and knows nothing of one that does not exist', { skip: !isLinux }, () => {
    const tids = threadIds(process.pid);
    assert.ok(tids.includes(process.pid));
    for (const tid of tids) assert.ok((threadTime(process.pid, tid)?.cpuSeconds ?? -1) >= 0);
    assert.ok((machineTime()?.busySeconds ?? 0) > 0);
    assert.deepEqual(threadIds(2 ** 30), []);
    assert.equal(threadTime(2 ** 30, 2 ** 30), undefined);
  });
});

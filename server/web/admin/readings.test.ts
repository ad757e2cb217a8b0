import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { niceStep, runs } from './chart.ts';
import { type HistoryDocument, inOrder, Readings } from './readings.ts';

const answer = (first: number, times: number[], series: HistoryDocument['series'], started = 1): HistoryDocument => ({
  ...{ started, stepMs: 5000, samplesMax: 4, cores: 2, processes: {}, cluster: null, first, times, series },
  ...{ isJournalFull: false, waiting: { reports: 0, pictures: 0 } },
});

describe('readings', () => {
  it('put answers together, and keep the newest samples', () => {
    const readings = new Readings();
    readings.append(answer(1, [10, 20], { a: [1, 2] }));
    readings.append(answer(3, [30], { a: [3], b: [7] }));
    assert.deepEqual(readings.values('b'), [null, null, 7]);
    readings.append(answer(4, [], {}));
    readings.append(answer(4, [40, 50], { b: [8, 9] }));
    assert.deepEqual(readings.times, [20, 30, 40, 50]);
    assert.deepEqual(readings.values('a'), [2, 3, null, null]);
    assert.deepEqual(readings.values('b'), [null, 7, 8, 9]);
    assert.equal(readings.newest, 5);
  });

  it('drop a series that has no value any more', () => {
    const readings = new Readings();
    readings.append(answer(1, [10], { 'cpu/worker:1/main': [1] }));
    readings.append(answer(2, [20, 30, 40, 50], { desktops: [1, 1, 1, 1] }));
    assert.deepEqual(readings.names('cpu/'), []);
  });

  it('start again when the relay has restarted, or samples are missing', () => {
    const readings = new Readings();
    readings.append(answer(1, [10, 20], { a: [1, 2] }));
    readings.append(answer(1, [90], { a: [5] }, 2));
    assert.deepEqual([readings.times, readings.values('a')], [[90], [5]]);
    readings.append(answer(5, [99], { a: [6] }, 2));
    assert.deepEqual([readings.times, readings.newest], [[99], 5]);
  });

  it('add series up, except where none of them has a value', () => {
    const readings = new Readings();
    readings.append(answer(1, [1, 2, 3], { a: [1, null, null], b: [2, 5, null] }));
    assert.deepEqual(readings.sum(['a', 'b']), [3, 5, null]);
  });

  it('name processes in the order of their numbers', () => {
    assert.deepEqual(inOrder(['worker:10', 'worker:2', 'master']), ['master', 'worker:2', 'worker:10']);
  });
});

describe('a chart', () => {
  it('breaks a line where a value is missing, and where samples are', () => {
    assert.deepEqual(runs([0, 5, 10, 15, 20], [1, 2, null, 4, 5], 5), [
      [0, 1],
      [3, 4],
    ]);
    assert.deepEqual(runs([0, 5, 100], [1, 2, 3], 5), [
      [0, 1],
      [2, 2],
    ]);
    assert.deepEqual(runs([0], [null], 5), []);
  });

  it('has ticks at round numbers', () => {
    assert.deepEqual(
      [0.03, 0.25, 1, 3, 7, 450].map((rough) => niceStep(rough, 10)),
      [0.05, 0.5, 1, 5, 10, 500],
    );
    assert.equal(niceStep(700, 1024), 1024);
  });
});

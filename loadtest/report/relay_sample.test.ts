import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readMetrics } from '../../tools/bench/contender.ts';
import { addSamples, cpuSecondsOver, gcMaxMs, type RelaySample, sampleOf } from './relay_sample.ts';

const METRICS = `# HELP process_cpu_seconds_total Total
process_cpu_seconds_total{role="master"} 1.5
process_resident_memory_bytes{role="master"} 100000
sprites_worker_cpu_seconds 0.5
sprites_worker_rss_bytes Nan
nodejs_heap_size_used_bytes{role="master"} 7000
sprites_loop_delay_max_seconds 0.0125
sprites_polls_parked 42
sprites_gc_pause_seconds_bucket{le="0.001"} 5
sprites_gc_pause_seconds_bucket{le="0.005"} 8
sprites_gc_pause_seconds_bucket{le="+Inf"} 9
sprites_gc_pause_seconds_sum 0.02
sprites_gc_pause_seconds_count 9
`;

const pauses = (count: number, seconds: number, below: number, above: number): RelaySample => ({
  atMs: 0,
  gcPauses: { count, seconds, atMost: [[0.001, below] as const, [0.005, above] as const] },
});

describe('relay sample', () => {
  it('adds up master and workers, and skips values that are not numbers', () => {
    const sample = sampleOf(readMetrics(METRICS), 5);
    assert.deepEqual(sample, {
      atMs: 5,
      cpuSeconds: 2,
      rssBytes: 100_000,
      heapBytes: 7000,
      gcPauses: {
        count: 9,
        seconds: 0.02,
        atMost: [
          [0.001, 5],
          [0.005, 8],
        ],
      },
      loopDelayMaxMs: 12.5,
      desktops: undefined,
      parked: 42,
      waiting: undefined,
      accepted: undefined,
    });
  });

  it('adds up the relays of a cluster, and knows no sum when one of them does not answer a figure', () => {
    const one = { ...sampleOf(readMetrics(METRICS), 5), waiting: 2, accepted: 10 };
    const other = { ...sampleOf(readMetrics(METRICS), 7), waiting: 3, loopDelayMaxMs: 50 };
    assert.deepEqual(addSamples([one]), one);
    assert.deepEqual(addSamples([one, other]), {
      ...{ atMs: 7, cpuSeconds: 4, rssBytes: 200_000, heapBytes: 14_000, loopDelayMaxMs: 50, parked: 84, waiting: 5 },
      gcPauses: {
        count: 18,
        seconds: 0.04,
        atMost: [
          [0.001, 10],
          [0.005, 16],
        ],
      },
      desktops: undefined,
      accepted: undefined,
    });
    const bounds = { ...other, gcPauses: { count: 1, seconds: 1, atMost: [[0.001, 1]] as const } };
    assert.equal(addSamples([one, bounds]).gcPauses, undefined);
  });

  it('finds nothing in the metrics of another server', () => {
    assert.equal(sampleOf(readMetrics('go_goroutines 5\n'), 5).cpuSeconds, undefined);
  });

  it('has the bucket of the longest pause, and never more than all pauses together', () => {
    const before = pauses(2, 0.001, 2, 2);
    assert.equal(gcMaxMs(before, before), 0);
    assert.equal(gcMaxMs(before, pauses(4, 0.1, 4, 4)), 1);
    assert.equal(gcMaxMs(before, pauses(4, 0.1, 3, 4)), 5);
    assert.equal(gcMaxMs(before, pauses(3, 0.004, 2, 3)), 3);
    assert.equal(gcMaxMs(before, pauses(3, 0.201, 2, 2)), 200);
    assert.equal(gcMaxMs({ atMs: 0 }, before), undefined);
  });

  it('counts from 0 again when the relay was restarted', () => {
    assert.equal(gcMaxMs(pauses(9, 0.9, 5, 9), pauses(2, 0.1, 2, 2)), 1);
    const cpu = [3, 4, 0.5, 1].map((cpuSeconds, atMs) => ({ atMs, cpuSeconds }));
    assert.equal(cpuSecondsOver(cpu), 2);
    assert.equal(cpuSecondsOver([{ atMs: 0 }, { atMs: 1 }]), undefined);
  });
});

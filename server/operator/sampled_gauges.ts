/**
 * Metrics that come from the sampler: CPU by thread, memory by process, steal, refusals by reason.
 *
 * They are as old as the newest sample, at most SAMPLE_MS. A scrape therefore reads nothing from /proc and waits for no worker.
 */
import type { Registry } from 'prom-client';
import { countersIn, rowsIn } from '../metrics/gauges.ts';
import type { ProcessState, Sampler } from './sampler.ts';

export function sampledGauges(registry: Registry, sampler: Sampler): void {
  rowsIn(registry, 'counter', ['process', 'thread'])(
    'sprites_cpu_seconds_total',
    'CPU by process and by the name of its threads',
    () => sampler.threads.map(({ process, thread, cpuSeconds }) => [{ process, thread }, cpuSeconds]),
  );
  rowsIn(registry, 'counter', ['reason'])(
    'sprites_refused_total',
    'Crossings, requests and connections refused, by reason',
    () => Object.entries(sampler.refused).map(([reason, count]) => [{ reason }, count]),
  );
  const counter = countersIn(registry);
  counter(
    'sprites_machine_busy_seconds_total',
    'CPU of all programs of this machine',
    () => sampler.machine.busySeconds,
  );
  counter(
    'sprites_machine_steal_seconds_total',
    'CPU that the hypervisor gave to other machines',
    () => sampler.machine.stealSeconds,
  );
  const gauge = rowsIn(registry, 'gauge', ['process']);
  const add = (name: string, help: string, value: (state: ProcessState) => number) =>
    gauge(name, help, () => Array.from(sampler.processes, ([process, state]) => [{ process }, value(state)] as const));
  add('sprites_resident_bytes', 'Resident memory by process', ({ rssBytes }) => rssBytes);
  add('sprites_heap_bytes', "V8's heap in use, by process", ({ heapBytes }) => heapBytes);
  add(
    'sprites_process_loop_delay_max_seconds',
    'Longest block of the event loop in the newest sample, by process',
    ({ loopDelayMaxSeconds }) => loopDelayMaxSeconds,
  );
}

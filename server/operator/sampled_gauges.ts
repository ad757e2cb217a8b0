/**
 * Metrics that come from the sampler: CPU by thread, memory by process, steal, refusals by reason.
 *
 * They are as old as the newest sample, at most SAMPLE_MS. A scrape therefore reads nothing from /proc and waits for no worker.
 */
import { Counter, Gauge, type Registry } from 'prom-client';
import { countersIn } from '../metrics/gauges.ts';
import type { ProcessState, Sampler } from './sampler.ts';

export function sampledGauges(registry: Registry, sampler: Sampler): void {
  addCpu(registry, sampler);
  addRefusals(registry, sampler);
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
  const add = (name: string, help: string, value: (state: ProcessState) => number) =>
    addByProcess(registry, sampler, { name, help, value });
  add('sprites_resident_bytes', 'Resident memory by process', ({ rssBytes }) => rssBytes);
  add('sprites_heap_bytes', "V8's heap in use, by process", ({ heapBytes }) => heapBytes);
  add(
    'sprites_process_loop_delay_max_seconds',
    'Longest block of the event loop in the newest sample, by process',
    ({ loopDelayMaxSeconds }) => loopDelayMaxSeconds,
  );
}

function addCpu(registry: Registry, sampler: Sampler): void {
  const cpu: Counter<'process' | 'thread'> = new Counter({
    name: 'sprites_cpu_seconds_total',
    help: 'CPU by process and by the name of its threads',
    registers: [registry],
    labelNames: ['process', 'thread'],
    collect: () => {
      cpu.reset();
      for (const { process, thread, cpuSeconds } of sampler.threads) cpu.inc({ process, thread }, cpuSeconds);
    },
  });
}

function addRefusals(registry: Registry, sampler: Sampler): void {
  const refused: Counter<'reason'> = new Counter({
    name: 'sprites_refused_total',
    help: 'Crossings, requests and connections refused, by reason',
    registers: [registry],
    labelNames: ['reason'],
    collect: () => {
      refused.reset();
      for (const [reason, count] of Object.entries(sampler.refused)) refused.inc({ reason }, count);
    },
  });
}

interface ByProcess {
  name: string;
  help: string;
  value: (state: ProcessState) => number;
}

function addByProcess(registry: Registry, sampler: Sampler, { name, help, value }: ByProcess): void {
  const gauge: Gauge<'process'> = new Gauge({
    name,
    help,
    registers: [registry],
    labelNames: ['process'],
    collect: () => {
      gauge.reset();
      for (const [process, state] of sampler.processes) gauge.set({ process }, value(state));
    },
  });
}

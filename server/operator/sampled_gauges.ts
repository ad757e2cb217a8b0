/**
 * Metrics that come from the sampler: CPU by thread, memory by process, steal, refusals by reason.
 *
 * They are as old as the newest sample, at most SAMPLE_MS. A scrape therefore reads nothing from /proc and waits for no worker.
 */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { ProcessState, Sampler } from './sampler.ts';

export function sampledGauges(registry: Registry, sampler: Sampler): void {
  const registers = [registry];
  const cpu: Counter<'process' | 'thread'> = new Counter({
    name: 'sprites_cpu_seconds_total',
    help: 'CPU by process and by the name of its threads',
    registers,
    labelNames: ['process', 'thread'],
    collect: () => {
      cpu.reset();
      for (const { process, thread, cpuSeconds } of sampler.threads) cpu.inc({ process, thread }, cpuSeconds);
    },
  });
  const refused: Counter<'reason'> = new Counter({
    name: 'sprites_refused_total',
    help: 'Crossings, requests and connections refused, by reason',
    registers,
    labelNames: ['reason'],
    collect: () => {
      refused.reset();
      for (const [reason, count] of Object.entries(sampler.refused)) refused.inc({ reason }, count);
    },
  });
  const machine = (name: string, help: string, value: () => number) => {
    const counter: Counter = new Counter({
      name,
      help,
      registers,
      collect: () => {
        counter.reset();
        counter.inc(value());
      },
    });
  };
  machine(
    'sprites_machine_busy_seconds_total',
    'CPU of all programs of this machine',
    () => sampler.machine.busySeconds,
  );
  machine(
    'sprites_machine_steal_seconds_total',
    'CPU that the hypervisor gave to other machines',
    () => sampler.machine.stealSeconds,
  );
  const byProcess = (name: string, help: string, value: (state: ProcessState) => number) => {
    const gauge: Gauge<'process'> = new Gauge({
      name,
      help,
      registers,
      labelNames: ['process'],
      collect: () => {
        gauge.reset();
        for (const [process, state] of sampler.processes) gauge.set({ process }, value(state));
      },
    });
  };
  byProcess('sprites_resident_bytes', 'Resident memory by process', ({ rssBytes }) => rssBytes);
  byProcess('sprites_heap_bytes', "V8's heap in use, by process", ({ heapBytes }) => heapBytes);
  byProcess(
    'sprites_process_loop_delay_max_seconds',
    'Longest block of the event loop in the newest sample, by process',
    ({ loopDelayMaxSeconds }) => loopDelayMaxSeconds,
  );
}

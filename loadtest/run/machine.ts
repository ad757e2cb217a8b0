/** The machine that the swarm runs on: the facts that a plan needs, and the description that a report shows. */
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, freemem, getPriority, release, totalmem, type } from 'node:os';
import { commit, VERSION } from '../../tools/version.js';
import type { Machine } from '../report/merge.ts';
import type { MachineFacts } from './plan.ts';

/** Assumed where the system has no such files: systemd's hard limit for a session, and the default port range of Linux. */
const FILES_ASSUMED = 4096;
const PORTS_ASSUMED = [32_768, 60_999];

export function machineFacts(): MachineFacts {
  const [low, high] = numbersIn(read('/proc/sys/net/ipv4/ip_local_port_range')) ?? PORTS_ASSUMED;
  const available = /^MemAvailable:\s+(\d+) kB/m.exec(read('/proc/meminfo'))?.[1];
  return {
    ports: high - low + 1,
    memoryBytes: available === undefined ? freemem() : Number(available) * 1024,
  };
}

/** How many open files a process may have. */
export function filesMax(): number {
  const limit = /^Max open files\s+\S+\s+(\d+|unlimited)/m.exec(read('/proc/self/limits'))?.[1];
  return limit === 'unlimited' ? 2 ** 30 : Number(limit ?? FILES_ASSUMED);
}

export function thisMachine(): Machine {
  return {
    name: 'this machine',
    cores: availableParallelism(),
    model: cpus()[0]?.model.trim() ?? 'unknown',
    memoryBytes: totalmem(),
    system: `${type()} ${release()}`,
    node: process.version,
    version: VERSION,
    commit: commit(),
  };
}

/**
 * Seconds for which the machine's cores have been idle since it started. What niced programs take counts as idle, unless this program
 * is niced too.
 */
export function idleSeconds(): number {
  const isNice = getPriority() > 0;
  return cpus().reduce((sum, { times: { idle, nice } }) => sum + idle + (isNice ? 0 : nice), 0) / 1000;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function numbersIn(text: string): number[] | undefined {
  return text.match(/\d+/g)?.map(Number);
}
